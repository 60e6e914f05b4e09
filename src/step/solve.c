/* Solve: hands the problem to the complementarity solver and keeps what the judge says of the answer. */
#include "step/workspace.h"

#include <time.h>

static double seconds_now(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

ss_cp ss_problem_view(const ss_problem *p) {
  return (ss_cp){.n = p->n, .n_blocks = p->n_blocks, .G = p->G, .g = p->g, .blocks = p->blocks};
}

/* Impulses and slip of every active contact, from z and w. */
static void distribute(ss_sim *sim, const double *w) {
  const ss_problem *p = &sim->problem;
  for (int i = 0; i < sim->n_contacts; i++) {
    ss_contact *c = &sim->contacts[i];
    c->stuck = false;
    c->when = (double)NAN;
    c->load = c->ratio = 0;
    c->pressed = v3(0, 0, 0);
    c->impulse[0] = c->impulse[1] = c->impulse[2] = 0;
    if (c->row < 0) continue;
    for (int e = 0; e < ss_contact_elements(c); e++) { /* a patch sticks as long as one of its elements does */
      const int row = c->row + e * c->n_rows;
      double slip = 0;
      for (int k = 0; k < c->n_rows; k++) {
        c->impulse[k] += p->z[row + k];
        c->pressed = v3_axpy(c->pressed, p->z[row + k], k == 0 ? c->at.normal : c->tangent[k - 1]);
        if (k > 0) slip += w[row + k] * w[row + k];
      }
      c->stuck |= c->n_rows > 1 && p->z[row] > 0 && sqrt(slip) <= 1e-9 * (1e-3 + sim->speed_bound);
    }
    c->when = p->h > 0 ? sim->state.t + p->h / 2 : (double)NAN; /* an impact says nothing of forces */
    c->load = c->impulse[0] / p->h;
    c->ratio = c->n_rows > 1 && c->impulse[0] > 0
                   ? sqrt(c->impulse[1] * c->impulse[1] + c->impulse[2] * c->impulse[2]) / (c->mu * c->impulse[0])
                   : 0;
  }
}

ss_status ss_solve(ss_sim *sim, bool *certified, ss_error *error) {
  ss_problem *p = &sim->problem;
  ss_solves *solves = &sim->report.solves;
  *certified = true;
  if (p->n == 0) {
    distribute(sim, p->slack);
    return SS_OK;
  }
  const ss_cp problem = ss_problem_view(p);
  const ss_cp_options options = {.solver = sim->options.solver, .tolerance = sim->options.tolerance};
  ss_cp_result result;
  const double start = seconds_now();
  const ss_status status = ss_cp_solve(&problem, &options, true, p->z, sim->cp, &result, error);
  solves->seconds += seconds_now() - start;
  if (status != SS_OK) return status;
  solves->count++;
  solves->iterations += result.iterations;
  solves->fallbacks += result.fallbacks;
  const double residual = ss_cp_judge(&problem, p->z, p->slack);
  *certified = residual <= sim->options.tolerance; /* false for NaN */
  if (!*certified) return SS_OK;
  ss_certify_problem(sim, residual);
  distribute(sim, p->slack);
  return SS_OK;
}
