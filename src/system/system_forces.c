/* A, kt and A^-1 kt of a user-defined system (LIT (2.7), (2.8), MATH section 1):
 *
 *     A  = M - alpha h Kv - alpha gamma h^2 Kq
 *     kt = h [(1-alpha) k(t,q,v) + alpha k(t+h,q,v)] + alpha h^2 Kq v        Kq, Kv: zero in explicit schemes
 *
 * M is (1-alpha) M(t,q) + alpha M(t+h,q), or that of the middle where the system says so, or that of the latest iterate in
 * stewart-trinkle-implicit. Where the symmetric part of A is not positive definite (a force that grows with the
 * displacement, and a long step) the part goes on with A = M, kt without Kq: explicit forces. */
#include "la/dense.h"
#include "system/system.h"

#include <string.h>

static const double least_pivot = 1e-12;

static const double *mass_at(const ss_sim *sim, double t, const double *q) {
  return ss_spot_at(sim->system, t, q, SS_SPOT_MASS)->mass;
}

/* M of a part of size h, in the workspace. */
static void step_mass(ss_sim *sim, double h) {
  ss_system_work *w = sim->system;
  const size_t n = (size_t)sim->model->n_v, square = n * n;
  const ss_system *def = &sim->model->system->def;
  const double t = sim->state.t, *q = sim->state.q;
  if (h == 0 || def->constant_mass) {
    memcpy(w->mass, mass_at(sim, t, q), sizeof(double) * square);
  } else if (sim->trial.iterate_q) {
    memcpy(w->mass, mass_at(sim, t + h, sim->trial.iterate_q), sizeof(double) * square);
  } else if (def->mass_at_midpoint) {
    sim->mechanics->advance(sim, NULL, h / 2, 0, w->path_q);
    memcpy(w->mass, mass_at(sim, t + h / 2, w->path_q), sizeof(double) * square);
  } else {
    memcpy(w->mass, mass_at(sim, t + h, q), sizeof(double) * square);
    if (sim->trial.asked.alpha == 1) return;
    const double *now = mass_at(sim, t, q);
    for (size_t i = 0; i < square; i++)
      w->mass[i] = (1 - sim->trial.asked.alpha) * now[i] + sim->trial.asked.alpha * w->mass[i];
  }
}

/* The inverse of a, which is destroyed; a mass that has become singular is a failure of its function. */
static void invert(ss_sim *sim, double *a) {
  ss_system_work *w = sim->system;
  if (ss_dense_inverse(a, sim->model->n_v, w->inverse) || w->failure.status) return;
  (void)ss_fail(&w->failure, SS_ERROR_CALLBACK,
                "the function 'mass' of the system returned a singular matrix at t = %.9g", sim->state.t);
}

/* A in w->a with the Jacobians; false where it is not positive definite. */
static bool add_jacobians(ss_sim *sim, double h) {
  ss_system_work *w = sim->system;
  const int n = sim->model->n_v;
  ss_system_force_jacobian(w, sim->state.t + h, sim->state.q, sim->state.v, w->kq, w->kv);
  for (int i = 0; i < n * n; i++)
    w->a[i] -= sim->trial.asked.alpha * h * (w->kv[i] + sim->trial.asked.gamma * h * w->kq[i]);
  if (!ss_positive_definite(w->a, n, least_pivot, w->scratch)) return false;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sim->trial.kt[i] += sim->trial.asked.alpha * h * h * w->kq[i * n + j] * sim->state.v[j];
  return true;
}

void ss_system_forces(ss_sim *sim, double h) {
  ss_system_work *w = sim->system;
  const int n = sim->model->n_v;
  const size_t square = sizeof(double) * (size_t)n * (size_t)n;
  step_mass(sim, h);
  memset(sim->trial.kt, 0, sizeof(double) * (size_t)n);
  for (int end = sim->trial.asked.alpha < 1 ? 0 : 1; end < 2; end++) {
    ss_system_force(w, sim->state.t + (end ? h : 0), sim->state.q, sim->state.v, w->k);
    for (int i = 0; i < n; i++)
      sim->trial.kt[i] += h * (end ? sim->trial.asked.alpha : 1 - sim->trial.asked.alpha) * w->k[i];
  }
  memcpy(w->a, w->mass, square);
  sim->trial.definite = !sim->scheme->implicit_forces || !w->system->def.force || add_jacobians(sim, h);
  if (!sim->trial.definite) memcpy(w->a, w->mass, square);
  invert(sim, w->a);
  for (int i = 0; i < n; i++) {
    sim->trial.dv_free[i] = 0;
    for (int j = 0; j < n; j++) sim->trial.dv_free[i] += w->inverse[i * n + j] * sim->trial.kt[j];
  }
}

void ss_system_forces_none(ss_sim *sim) {
  ss_system_work *w = sim->system;
  const size_t n = (size_t)sim->model->n_v;
  step_mass(sim, 0);
  memcpy(w->a, w->mass, sizeof(double) * n * n);
  invert(sim, w->a);
  memset(sim->trial.kt, 0, sizeof(double) * n);
  memset(sim->trial.dv_free, 0, sizeof(double) * n);
}

/* The largest acceleration of a gap that the forces give. */
void ss_system_begin_step(ss_sim *sim) {
  ss_system_work *w = sim->system;
  const int n = sim->model->n_v, gaps = sim->model->system->def.n_gaps;
  sim->step.acceleration = 0;
  if (gaps == 0) return;
  ss_system_forces_none(sim);
  ss_system_force(w, sim->state.t, sim->state.q, sim->state.v, w->k);
  const ss_spot *s = ss_spot_at(w, sim->state.t, sim->state.q, SS_SPOT_NORMALS);
  for (int i = 0; i < n; i++) {
    w->row[i] = 0;
    for (int j = 0; j < n; j++) w->row[i] += w->inverse[i * n + j] * w->k[j];
  }
  for (int g = 0; g < gaps; g++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += s->normal[g * n + i] * w->row[i];
    sim->step.acceleration = fmax(sim->step.acceleration, fabs(sum));
  }
}
