/* Solve: hands the problem to the complementarity solver and keeps what the judge says of the answer.
 *
 * Solver and judge see it in natural units, z' = z/(d s) and w' = d w/s: d (one per row, one per friction block) makes
 * the diagonal of G about 1, s makes the largest |g| about 1. Both z' and w' are then square roots of energies, so that
 * min(z', w') is meant as written, and the residual does not depend on the user's units or on how masses differ. d and s
 * are powers of two: going there and back is exact. */
#include "step/workspace.h"

#include <string.h>
#include <time.h>

double ss_seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

ss_cp ss_problem_view(const ss_problem *p) {
  return (ss_cp){.n = p->n,
                 .n_blocks = p->n_blocks,
                 .G = p->large ? NULL : p->G,
                 .sparse = p->large ? &p->listed.matrix : NULL,
                 .g = p->g,
                 .blocks = p->blocks};
}

/* Friction over its limit: 1 where it slides, in the norm of the block's set. */
static double friction_ratio(const ss_sim *sim, const ss_contact *c) {
  if (c->n_rows < 2 || !(c->impulse[0] > 0)) return 0;
  if (c->fixed) return ss_face_ratio(sim, c);
  if (ss_friction_cone(sim, c) == SS_CONE_GENERATED)
    return ss_cp_friction_gauge(&sim->problem.blocks[c->block], c->impulse + 1) / (c->mu * c->impulse[0]);
  const bool box = ss_friction_cone(sim, c) == SS_CONE_PYRAMID, ball = ss_friction_cone(sim, c) == SS_CONE_QUADRATIC;
  double square = 0, largest = 0;
  for (int k = 1; k < (ball ? c->n_rows : c->n_forces); k++) {
    square += c->impulse[k] * c->impulse[k];
    largest = fmax(largest, fabs(c->impulse[k]));
  }
  return (box ? largest : sqrt(square)) / (c->mu * c->impulse[0]);
}

/* Whether two contacts hold the same bodies on the same plane by the same friction, both of them stuck. */
static bool hold_together(const ss_sim *sim, const ss_contact *a, const ss_contact *b) {
  static const double parallel = 1e-9;
  return a->body[0] == b->body[0] && a->body[1] == b->body[1] && a->stuck && b->stuck && a->mu == b->mu &&
         a->law->generators == b->law->generators && !a->fixed && !b->fixed && a->n_rows == a->n_forces &&
         b->n_rows == b->n_forces && !a->limit && !b->limit && ss_friction_cone(sim, a) != SS_CONE_PYRAMID &&
         ss_friction_cone(sim, b) != SS_CONE_PYRAMID && v3_dot(a->direction[0], b->direction[0]) > 1 - parallel;
}

/* How feet that stand together share their load is not unique, and says nothing of when they will slide: their sum does. */
static void share_ratios(ss_sim *sim) {
  for (int i = 0, end; i < sim->n_contacts; i = end) {
    ss_contact *first = &sim->contacts[i];
    ss_vec3 force = first->pressed;
    double sum[SS_CONTACT_ROWS];
    memcpy(sum, first->impulse, sizeof sum);
    for (end = i + 1; end < sim->n_contacts && hold_together(sim, first, &sim->contacts[end]); end++) {
      force = v3_add(force, sim->contacts[end].pressed);
      for (int k = 0; k < first->n_rows; k++) sum[k] += sim->contacts[end].impulse[k];
    }
    if (end == i + 1) continue;
    if (first->law->generators) { /* in a frame that does not turn: the same rows for all of them */
      const double all = ss_cp_friction_gauge(&sim->problem.blocks[first->block], sum + 1) / (first->mu * sum[0]);
      for (int k = i; k < end; k++) sim->contacts[k].ratio = all;
      continue;
    }
    const double load = v3_dot(force, first->direction[0]);
    const double ratio = v3_norm(v3_axpy(force, -load, first->direction[0])) / (first->mu * load);
    for (int k = i; k < end; k++) sim->contacts[k].ratio = ratio;
  }
}

/* Impulses and slip of every active contact, from z and w; worst: largest entry of the residual, in units of s/d. */
void ss_distribute(ss_sim *sim, const double *w, double worst, double s) {
  const ss_problem *p = &sim->problem;
  for (int i = 0; i < sim->n_contacts; i++) {
    ss_contact *c = &sim->contacts[i];
    c->stuck = c->opens = false;
    c->face = 0;
    c->when = (double)NAN;
    c->load = c->ratio = 0;
    c->pressed = c->twisted = c->turn = v3(0, 0, 0);
    c->impulse[0] = c->blur = c->grip = 0;
    c->held = 0;
    if (c->row < 0) continue;
    c->blur = worst * s / p->scale[c->row];
    if (c->patch) {
      ss_patch_distribute(sim, c, w);
      continue;
    }
    double slip = 0;
    for (int k = 0; k < c->n_rows; k++) {
      ss_vec3 *sum = k < c->n_forces ? &c->pressed : &c->twisted;
      c->impulse[k] = p->z[c->row + k];
      *sum = v3_axpy(*sum, c->impulse[k], c->direction[k]);
      if (k == 0 || k >= c->n_forces) continue;
      slip += w[c->row + k] * w[c->row + k];
      if (p->h > 0) /* G z = w - g */
        c->turn =
            v3_axpy(c->turn, (w[c->row + k] - p->g[c->row + k]) / (p->h * v3_dot(c->direction[k], c->direction[k])),
                    c->direction[k]);
    }
    if (p->h > 0) c->force = v3_scale(1 / p->h, c->pressed);
    c->when = p->h > 0 ? sim->state.t + p->h / 2 : (double)NAN; /* an impact says nothing of forces */
    c->load = c->impulse[0] / p->h;
    /* a foot without load neither starts to stick nor lets go while the others hold it */
    /* nor does one that stuck slide at a speed that the residual leaves open */
    const double still = fmax(1e-9 * sim->speed_bound, c->was_stuck ? c->blur : 0);
    c->stuck = c->n_forces > 1 && (c->impulse[0] > 0 || c->was_stuck) && sqrt(slip) <= still;
    c->opens = !(c->impulse[0] > 0) && w[c->row] > 1e-9 * sim->speed_bound;
    if (c->fixed && c->impulse[0] > 0) c->face = ss_face_of_slip(sim, c, w + c->row);
    c->ratio = friction_ratio(sim, c);
    if (c->n_rows > c->n_forces) ss_note_held(sim, c, w + c->row);
    if (c->n_forces == 3 && p->h > 0)
      c->grip = ss_problem_diagonal(sim, c->row + 1) * hypot(c->impulse[1], c->impulse[2]) / p->h;
    if (c->stuck) c->turn = v3(0, 0, 0); /* where it would slip to is not where it did not */
  }
  if (sim->located & SS_EVENT_STICK_SLIP) share_ratios(sim);
}

static double power_near(double x) { return x > 0 && isfinite(x) ? ldexp(1, ilogb(x)) : 1; }

/* 2^-(exponent/2), rounded down: with the floor other units give other powers, and nothing else changes. */
static double root_power(double x) {
  const int exponent = ilogb(x);
  return ldexp(1, -(exponent >= 0 ? exponent / 2 : (exponent - 1) / 2));
}

/* d of rows first .. first + size - 1, which share it. */
static void scale_rows(ss_sim *sim, int first, int size) {
  ss_problem *p = &sim->problem;
  double sum = 0;
  for (int i = first; i < first + size; i++) sum += ss_problem_diagonal(sim, i);
  const double d = sum > 0 && isfinite(sum) ? root_power(sum / size) : 1;
  for (int i = first; i < first + size; i++) p->scale[i] = d;
}

/* To natural units, or back to the user's. */
static void convert(ss_problem *p, double s, bool back) {
  const double unit = back ? 1 / s : s;
  ss_problem_rescale(p, back);
  for (int i = 0; i < p->n; i++) {
    const double d = back ? 1 / p->scale[i] : p->scale[i];
    p->g[i] *= d / unit;
    p->slack[i] *= d / unit;
    p->z[i] /= d * unit;
  }
  for (int b = 0; b < p->n_blocks; b++) {
    const double d = p->scale[p->blocks[b].first];
    p->blocks[b].extra /= (back ? 1 / d : d) * unit;
    p->blocks[b].lower /= (back ? 1 / d : d) * unit;
    p->blocks[b].upper /= (back ? 1 / d : d) * unit;
  }
}

/* Returns s. What is slower than a thousandth of the present speeds need not be resolved by itself. */
static double to_natural_units(ss_sim *sim) {
  ss_problem *p = &sim->problem;
  const double speed = sim->speed_bound;
  for (int b = 0; b < p->n_blocks; b++) {
    const ss_block *block = &p->blocks[b];
    const int together = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    for (int i = block->first; i < block->first + block->size; i += together) scale_rows(sim, i, together);
  }
  double largest = 0;
  for (int i = 0; i < p->n; i++) largest = fmax(largest, p->scale[i] * fmax(fabs(p->g[i]), 1e-3 * speed));
  const double s = power_near(largest);
  for (int i = 0; i < p->n; i++) p->weight[i] = p->scale[i] * p->scale[i];
  convert(p, s, false);
  return s;
}

/* Whether there are forces of the last part to start from. Few rows start from zero as well: what comes of it is more exact. */
static bool has_guess(const double *z, int n) {
  enum { FEW = 64 };
  for (int i = 0; i < n && n > FEW; i++)
    if (z[i] != 0) return true;
  return n <= FEW;
}

ss_status ss_solve_rows(ss_sim *sim, ss_cp *problem, const int *rows, const ss_cp_options *options, double *z,
                        ss_cp_result *result, ss_error *error) {
  const ss_status status = ss_add_factors(sim, rows, problem, error);
  return status ? status : ss_cp_solve(problem, options, has_guess(z, problem->n), z, sim->cp, result, error);
}

/* What the guess of a divided problem makes of it: its slacks, in user's units, and which islands rest with it. */
static ss_status look_at_guess(ss_sim *sim, ss_error *error) {
  ss_problem *p = &sim->problem;
  int count;
  const ss_status status = ss_find_islands(sim, &count, error);
  if (status != SS_OK) return status;
  ss_rows_apply(sim, p->z, p->slack);
  for (int i = 0; i < p->n; i++) p->slack[i] += p->g[i];
  ss_rest_begin(sim);
  return SS_OK;
}

/* Asked between the solvers that are tried. Where the energy has blown up, a step may try a few only. */
static bool has_to_stop(void *user) {
  enum { MOST_TRIED = 16 };
  ss_sim *sim = user;
  if (sim->stop && sim->stop(sim->stop_user)) return true;
  sim->spent = ++sim->tried > MOST_TRIED && ss_has_blown_up(sim);
  return sim->spent;
}

/* With a solver that knows of complementarity; in natural units. */
static ss_status solve_dense(ss_sim *sim, bool *certified, ss_error *error) {
  ss_problem *p = &sim->problem;
  ss_solves *solves = &sim->report.solves;
  ss_status status = p->divided ? look_at_guess(sim, error) : SS_OK;
  if (status != SS_OK) return status;
  const double s = to_natural_units(sim);
  ss_cp problem = ss_problem_view(p);
  problem.compliance = p->weight;
  const ss_cp_options options = {.solver = sim->options.solver,
                                 .tolerance = sim->options.residual,
                                 .iteration_limit = sim->iteration_limit,
                                 .stop = has_to_stop,
                                 .stop_user = sim};
  ss_cp_result result = {0};
  const double start = ss_seconds();
  double residual = 0;
  if (p->divided)
    status = ss_solve_islands(sim, &options, &result, &residual, error);
  else
    status = ss_solve_rows(sim, &problem, NULL, &options, p->z, &result, error);
  solves->seconds += ss_seconds() - start;
  solves->count++;
  solves->rows += p->n;
  solves->iterations += result.iterations;
  solves->fallbacks += result.fallbacks;
  if (status == SS_OK) {
    if (!p->divided) residual = ss_cp_judge(&problem, p->z, p->slack);
    *certified = residual <= sim->options.residual; /* false for NaN */
    if (*certified) ss_certify_problem(sim, residual);
  }
  convert(p, s, true);
  if (p->divided && status == SS_OK && *certified) ss_rest_end(sim);
  p->blur = 4 * residual; /* the judge divides by 1 + |g| <= 3 */
  p->unit = s;
  return status == SS_ERROR_STOPPED && sim->spent ? ss_fail_of_work(sim, error) : status;
}

ss_status ss_solve_problem(ss_sim *sim, bool *certified, ss_error *error) {
  ss_problem *p = &sim->problem;
  ss_solves *solves = &sim->report.solves;
  *certified = true;
  p->blur = 0;
  p->unit = 1;
  if (p->n == 0) return SS_OK;
  if (p->sparse) {
    const double start = ss_seconds(), residual = ss_solve_sparse(sim);
    solves->seconds += ss_seconds() - start;
    solves->iterations++;
    if (residual <= sim->options.residual) {
      solves->count++;
      solves->rows += p->n;
      ss_certify_problem(sim, residual);
      return SS_OK;
    }
    solves->fallbacks++;
    const ss_status status = ss_discretise_dense(sim, error);
    if (status != SS_OK) return status;
  }
  return solve_dense(sim, certified, error);
}

ss_status ss_solve(ss_sim *sim, bool *certified, ss_error *error) {
  const ss_status status = ss_solve_problem(sim, certified, error);
  if (status == SS_OK && *certified) ss_distribute(sim, sim->problem.slack, sim->problem.blur, sim->problem.unit);
  return status;
}
