/* Variations of an impact: its one or two phases (compression, decompression) are problems like that of a part,
 *
 *     v_c = v + W z_1,            w_1 = J v_c + s                    active set 1
 *     v+  = v_c + W (z_2 + r),    w_2 = J v+ + s,   r = e z_1n       active set 2, friction bounded by mu (z_2n + r)
 *
 * with W = M^-1 J^T, and s = e J_n v for contacts that obey Newton's law. Data at fixed multipliers by central
 * differences, multipliers through the active sets, as in variation.c. */
#include "sensitivity/variation_work.h"

#include <string.h>

static ss_status out_of_memory_here(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

typedef struct impact_work {
  ss_sim *sim;
  ss_arena *arena;
  nominal kept;
  double *G;                 /* [n][n] */
  double *velocity[2];       /* [n_v] changes by each phase, for one side of a difference */
  double *slack[2];          /* [n] */
  double *base[2], *bw[2];   /* the other side */
  double *dz[2], *dr, *open; /* [n] multipliers, returned impulses; scratch */
  double *dv;                /* [n_v] */
  double *dextra;            /* [n_blocks] */
} impact_work;

/* The phase that was just solved, before its impulses act; the returned ones are in z already. */
ss_status ss_vary_phase(ss_sim *sim, ss_error *error) {
  ss_variation *x = sim->watch.variation;
  const ss_problem *p = &sim->trial.problem;
  if (x->phases == 0 && p->n > x->row_capacity) {
    ss_free(x->z[0]);
    x->row_capacity = 0;
    const size_t capacity = (size_t)p->n * 2;
    x->z[0] = ss_alloc(sizeof(double) * 6 * capacity);
    if (!x->z[0]) return out_of_memory_here(error);
    x->row_capacity = (int)capacity;
    x->z[1] = x->z[0] + capacity;
    for (int k = 0; k < 2; k++) x->slack[k] = x->z[0] + (size_t)(2 + k) * capacity;
    for (int k = 0; k < 2; k++) x->extra[k] = x->z[0] + (size_t)(4 + k) * capacity;
  }
  if (x->phases == 0) copy_numbers(x->v_before, sim->state.v, (size_t)sim->model->n_v);
  if (p->n) {
    copy_numbers(x->z[x->phases], p->z, (size_t)p->n);
    copy_numbers(x->slack[x->phases], p->slack, (size_t)p->n);
  }
  for (int b = 0; b < p->n_blocks; b++) x->extra[x->phases][b] = p->blocks[b].extra;
  x->phases++;
  return SS_OK;
}

/* Velocity changes and slacks of all phases at the moved state, multipliers held. */
static ss_status evaluate(impact_work *w, double *velocity[2], double *slack[2], ss_error *error) {
  ss_sim *sim = w->sim;
  const ss_variation *x = sim->watch.variation;
  relook(sim);
  ss_forces_none(sim);
  const ss_status status = ss_rows_impact(sim, error);
  if (status != SS_OK) return status;
  ss_spread(sim, 1);
  for (int k = 0; k < x->phases; k++) {
    spread_multipliers(sim, x->z[k], velocity[k]);
    if (k > 0)
      for (int i = 0; i < sim->model->n_v; i++) velocity[k][i] += velocity[k - 1][i];
    slack_of(sim, sim->state.v, 1, velocity[k], x->z[k], slack[k]);
    for (int i = 0; i < sim->trial.n_contacts; i++) {
      const ss_contact *c = &sim->trial.contacts[i];
      if (c->row >= 0 && w->kept.contacts[i].rate < 0 && ss_obeys_newton(sim, c))
        slack[k][c->row] += c->bounce * c->rate;
    }
  }
  return SS_OK;
}

static ss_status prepare(impact_work *w, ss_error *error) {
  ss_sim *sim = w->sim;
  const size_t n = (size_t)sim->trial.problem.n + 1, nv = (size_t)sim->model->n_v + 1;
  ss_status status = nominal_save(sim, w->arena, &w->kept, error);
  if (status != SS_OK) return status;
  copy_numbers(w->kept.v, sim->watch.variation->v_before, (size_t)sim->model->n_v);
  double *numbers = SS_ARENA_ARRAY(w->arena, double, 5 * nv + 8 * n + (size_t)sim->trial.problem.n_blocks + n * n);
  if (!numbers) return out_of_memory_here(error);
  for (int k = 0; k < 2; k++) {
    w->velocity[k] = numbers, numbers += nv;
    w->base[k] = numbers, numbers += nv;
    w->slack[k] = numbers, numbers += n;
    w->bw[k] = numbers, numbers += n;
    w->dz[k] = numbers, numbers += n;
  }
  w->dv = numbers, numbers += nv;
  w->dr = numbers, numbers += n;
  w->open = numbers, numbers += n;
  w->dextra = numbers, numbers += sim->trial.problem.n_blocks;
  w->G = numbers;
  return SS_OK;
}

static void multiply(const double *G, const double *x, int n, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i] += G[(size_t)i * (size_t)n + (size_t)j] * x[j];
}

/* The solution of phase k answers to `slack` (derivatives of the data). */
static ss_status vary_phase(impact_work *w, int k, const double *dextra, ss_error *error) {
  ss_sim *sim = w->sim;
  ss_problem *p = &sim->trial.problem;
  const ss_variation *x = sim->watch.variation;
  for (int b = 0; b < p->n_blocks; b++) p->blocks[b].extra = x->extra[k][b];
  copy_numbers(w->open, x->z[k], (size_t)p->n);
  for (int i = 0; i < sim->trial.n_contacts; i++) /* the active set knows z without what is returned */
    if (sim->trial.contacts[i].row >= 0)
      w->open[sim->trial.contacts[i].row] -= x->extra[k][sim->trial.contacts[i].block];
  const ss_cp problem = {.n = p->n, .n_blocks = p->n_blocks, .G = w->G, .g = p->g, .blocks = p->blocks};
  return vary_multipliers(&problem, w->open, x->slack[k], w->slack[k], dextra, sim->solver.cp, w->dz[k], error);
}

static ss_status vary_direction(impact_work *w, const double *dq, double *dv, ss_error *error) {
  ss_sim *sim = w->sim;
  const ss_variation *x = sim->watch.variation;
  const int nv = sim->model->n_v, n = sim->trial.problem.n, last = x->phases - 1;
  const direction d = {dq, dv, NULL, 0, 0};
  const double s = difference_size(sim, &w->kept, &d, 0);
  if (s == 0) return SS_OK;
  move_state(sim, &w->kept, &d, -s);
  ss_status status = evaluate(w, w->base, w->bw, error);
  move_state(sim, &w->kept, &d, s);
  if (status == SS_OK) status = evaluate(w, w->velocity, w->slack, error);
  if (status != SS_OK) return status;
  for (int k = 0; k <= last; k++) {
    for (int i = 0; i < nv; i++) w->velocity[k][i] = (w->velocity[k][i] - w->base[k][i]) / (2 * s);
    for (int i = 0; i < n; i++) w->slack[k][i] = (w->slack[k][i] - w->bw[k][i]) / (2 * s);
  }
  const direction still = {dq, dv, NULL, 0, 0};
  move_state(sim, &w->kept, &still, 0);
  status = evaluate(w, w->base, w->bw, error);
  if (status == SS_OK) ss_fill_dense(sim, w->G);
  if (status == SS_OK) status = vary_phase(w, 0, NULL, error);
  if (status == SS_OK && last > 0) {
    zero_numbers(w->dextra, (size_t)sim->trial.problem.n_blocks);
    copy_numbers(w->dr, w->dz[0], (size_t)n);
    for (int i = 0; i < sim->trial.problem.n_free; i++) /* compliance restarts with the phase */
      w->slack[1][i] -= sim->trial.problem.compliance[i] * w->dz[0][i];
    for (int i = 0; i < sim->trial.n_contacts; i++) {
      const ss_contact *c = &w->kept.contacts[i];
      if (c->row < 0 || !(c->returned > 0)) continue;
      w->dextra[c->block] = c->bounce * w->dz[0][c->row];
      w->dr[c->row] += w->dextra[c->block];
    }
    multiply(w->G, w->dr, n, w->slack[1]);
    status = vary_phase(w, 1, w->dextra, error);
    for (int i = 0; i < n; i++) w->dz[1][i] += w->dr[i];
  }
  if (status != SS_OK) return status;
  spread_multipliers(sim, w->dz[last], w->dv);
  for (int i = 0; i < nv; i++) dv[i] += w->velocity[last][i] + w->dv[i];
  return SS_OK;
}

ss_status ss_vary_impact(ss_sim *sim, ss_error *error) {
  ss_variation *x = sim->watch.variation;
  impact_work w = {.sim = sim, .arena = ss_arena_create()};
  const int nv = sim->model->n_v;
  if (!w.arena) return out_of_memory_here(error);
  double *after = SS_ARENA_ARRAY(w.arena, double, nv + 1);
  ss_status status = after ? prepare(&w, error) : out_of_memory_here(error);
  if (status == SS_OK) {
    copy_numbers(after, sim->state.v, (size_t)nv);
    for (int k = 0; k < x->n && status == SS_OK; k++)
      status = vary_direction(&w, x->q + (ptrdiff_t)k * nv, x->v + (ptrdiff_t)k * nv, error);
    nominal_restore(sim, &w.kept);
    copy_numbers(sim->state.v, after, (size_t)nv);
  }
  x->phases = 0;
  ss_arena_destroy(w.arena);
  return status;
}
