/* Response of a part's solution to a direction: data by central differences at fixed multipliers, then the equations of
 * the active set, and the theta rule's feedback (variation.c has the derivation). */
#include "sensitivity/variation_part.h"

#include "la/dense.h"

ss_status part_evaluate(part_work *w, double h, const double *guess, response *out, ss_error *error) {
  ss_sim *sim = w->sim;
  ss_problem *p = &sim->trial.problem;
  relook(sim);
  if (sim->scheme->theta) ss_theta_state(sim, h, guess);
  ss_forces(sim, h);
  ss_status status = ss_rows_step(sim, h, error);
  if (status != SS_OK) return status;
  if (sim->trial.coupling.active)
    for (int i = 0; i < p->n; i++)
      ss_couple_row(sim, &p->rows[i], sim->trial.coupling.w + (size_t)i * (size_t)sim->trial.coupling.n);
  ss_spread(sim, sim->trial.asked.alpha);
  copy_numbers(p->z, w->kept.z, (size_t)p->n);
  ss_velocity_change(sim);
  copy_numbers(out->delta, sim->trial.delta, (size_t)sim->model->n_v);
  slack_of(sim, sim->state.v, sim->trial.asked.alpha, sim->trial.delta, p->z, out->w);
  if (sim->scheme->compliant) {
    ss_patch_advance(sim, h);
    copy_numbers(out->patch, sim->trial.patch_end, (size_t)sim->trial.n_patch);
  }
  return SS_OK;
}

/* plus = (plus - minus) / (2 s) */
static void subtract(const part_work *w, double s) {
  for (int i = 0; i < w->sim->trial.problem.n; i++) w->plus.w[i] = (w->plus.w[i] - w->minus.w[i]) / (2 * s);
  for (int i = 0; i < w->sim->model->n_v; i++) w->plus.delta[i] = (w->plus.delta[i] - w->minus.delta[i]) / (2 * s);
  for (int i = 0; i < w->sim->trial.n_patch; i++) w->plus.patch[i] = (w->plus.patch[i] - w->minus.patch[i]) / (2 * s);
}

/* Derivatives of the data along d at fixed multipliers (and guess), in plus. */
static ss_status differentiate_data(part_work *w, const direction *d, ss_error *error) {
  const double s = difference_size(w->sim, &w->kept, d, w->h);
  if (s == 0) {
    subtract(w, 0.5); /* both are zero or stale: */
    zero_numbers(w->plus.w, (size_t)w->sim->trial.problem.n);
    zero_numbers(w->plus.delta, (size_t)w->sim->model->n_v);
    zero_numbers(w->plus.patch, (size_t)w->sim->trial.n_patch);
  }
  ss_status status = SS_OK;
  for (int side = -1; side <= 1 && status == SS_OK && s > 0; side += 2) {
    move_state(w->sim, &w->kept, d, side * s);
    status = part_evaluate(w, w->h + side * s * d->h, w->kept.delta, side < 0 ? &w->minus : &w->plus, error);
  }
  if (status == SS_OK && s > 0) subtract(w, s);
  return status;
}

static void product(const double *a, const double *x, int rows, int columns, double *out) {
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int j = 0; j < columns; j++) sum += a[(size_t)i * (size_t)columns + (size_t)j] * x[j];
    out[i] = sum;
  }
}

/* The theta rule: delta answers to itself. */
ss_status part_prepare_feedback(part_work *w, ss_error *error) {
  ss_sim *sim = w->sim;
  const int nv = sim->model->n_v, n = sim->trial.problem.n;
  if (!sim->scheme->theta || !ss_theta_iterates(sim)) return SS_OK;
  w->feedback_w = SS_ARENA_ARRAY(w->arena, double, (size_t)(n + 1) * (size_t)nv);
  w->feedback = SS_ARENA_ARRAY(w->arena, double, (size_t)nv *(size_t)nv);
  double *matrix = SS_ARENA_ARRAY(w->arena, double, (size_t)nv *(size_t)nv);
  double *guess = SS_ARENA_ARRAY(w->arena, double, nv);
  if (!w->feedback_w || !w->feedback || !matrix || !guess) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const direction still = {w->zero, w->zero, NULL, 0, 0};
  for (int j = 0; j < nv; j++) {
    const double s = 6e-6 * fmax(sim->part.speed_bound, fabs(w->kept.delta[j]));
    for (int side = -1; side <= 1; side += 2) {
      copy_numbers(guess, w->kept.delta, (size_t)nv);
      guess[j] += side * s;
      move_state(sim, &w->kept, &still, 0);
      const ss_status status = part_evaluate(w, w->h, guess, side < 0 ? &w->minus : &w->plus, error);
      if (status != SS_OK) return status;
    }
    subtract(w, s);
    for (int i = 0; i < nv; i++) matrix[i * nv + j] = (i == j) - w->plus.delta[i];
    for (int i = 0; i < n; i++) w->feedback_w[(ptrdiff_t)i * nv + j] = w->plus.w[i];
  }
  return ss_dense_inverse(matrix, nv, w->feedback)
             ? SS_OK
             : ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities: the theta rule's forces are singular");
}

/* G, and with feedback G + K_w (1 - K)^-1 W. */
ss_status part_prepare_matrix(part_work *w, ss_error *error) {
  ss_sim *sim = w->sim;
  const int n = sim->trial.problem.n, nv = sim->model->n_v;
  w->G = SS_ARENA_ARRAY(w->arena, double, (size_t)n *(size_t)n + 1);
  double *column = SS_ARENA_ARRAY(w->arena, double, 2 * (size_t)nv + 2 * (size_t)n + 1);
  if (!w->G || !column) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (n == 0) return SS_OK;
  ss_fill_dense(sim, w->G);
  if (!w->feedback) return SS_OK;
  double *fed = column + nv, *unit = fed + nv, *add = unit + n;
  for (int j = 0; j < n; j++) {
    unit[j] = 1;
    spread_multipliers(sim, unit, column);
    unit[j] = 0;
    product(w->feedback, column, nv, nv, fed);
    product(w->feedback_w, fed, n, nv, add);
    for (int i = 0; i < n; i++) w->G[(size_t)i * (size_t)n + (size_t)j] += add[i];
  }
  return SS_OK;
}

ss_status part_respond(part_work *w, const direction *d, outcome *out, ss_error *error) {
  ss_sim *sim = w->sim;
  const ss_problem *p = &sim->trial.problem;
  const int n = p->n, nv = sim->model->n_v;
  const direction still = {w->zero, w->zero, NULL, 0, 0};
  ss_status status = differentiate_data(w, d, error);
  if (status != SS_OK) return status;
  if (w->feedback) {
    product(w->feedback, w->plus.delta, nv, nv, out->delta);
    product(w->feedback_w, out->delta, n, nv, w->minus.w);
    for (int i = 0; i < n; i++) w->plus.w[i] += w->minus.w[i];
  } else {
    copy_numbers(out->delta, w->plus.delta, (size_t)nv);
  }
  copy_numbers(out->patch, w->plus.patch, (size_t)sim->trial.n_patch);
  out->h = d->h;
  if (n == 0) return SS_OK;
  move_state(sim, &w->kept, &still, 0); /* the problem's blocks and A^-1 J^T at the nominal state again */
  status = part_evaluate(w, w->h, w->kept.delta, &w->minus, error);
  const ss_cp problem = {.n = n, .n_blocks = p->n_blocks, .G = w->G, .g = p->g, .blocks = p->blocks};
  if (status == SS_OK)
    status = vary_multipliers(&problem, w->kept.z, w->kept.slack, w->plus.w, NULL, sim->solver.cp, w->dz, error);
  if (status != SS_OK) return status;
  spread_multipliers(sim, w->dz, w->minus.delta);
  if (w->feedback)
    product(w->feedback, w->minus.delta, nv, nv, w->plus.delta);
  else
    copy_numbers(w->plus.delta, w->minus.delta, (size_t)nv);
  for (int i = 0; i < nv; i++) out->delta[i] += w->plus.delta[i];
  for (int k = 0; k < sim->trial.n_contacts; k++) { /* delta+ answers to z by E^-1 */
    const ss_contact *c = &sim->trial.contacts[k];
    if (!c->patch || c->row < 0) continue;
    const int m = c->patch->n, rows = c->n_rows, directions = c->patch->n_directions;
    for (int i = 0; i < m; i++)
      for (int j = 0; j < rows * c->patch->n_elements; j++)
        out->patch[c->memory + i] +=
            c->patch->flexibility[(size_t)i * (size_t)m + (size_t)(j / rows * directions + j % rows)] *
            w->dz[c->row + j];
  }
  return SS_OK;
}
