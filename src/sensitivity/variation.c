/* Variations of the parts of a step.
 *
 * The discrete step is differentiated as it is computed, by the implicit function theorem at the solution found:
 *
 *     delta = A^-1 (kt + J^T z),   w = J (v + alpha delta) + s + R z,   the active set's equations for (z, w)
 *
 *     d w = (d/dx w at fixed z) dx + G dz,   C^T d w + D dy = 0,   dz = B dy         (cp/active.c)
 *
 * so that stick stays stick, slip stays slip and turns its direction, open stays open, whatever a finite disturbance would
 * do. Derivatives of the smooth data at fixed z (forces, gradients, gaps) are central differences along dx, which are
 * good to about ten digits: nothing is solved in them. The theta rule's forces depend on the solution itself; there the
 * same holds for (z, delta) together.
 *
 * Where a part ends in an event its length varies too: d tau = - d(event) / (d event / d tau), for the gap at a collision and
 * for the slip at an arrest; the next part begins earlier or later by that (saltation). The end of sticking or contact
 * is found by bisection, in steps, and does not vary; forces are continuous there.
 *
 * Undefined at a transition that happens exactly at the end of a step, or with contacts that only just touch: the active
 * set's side of the kink is taken. */
#include "sensitivity/variation.h"

#include "la/lu.h"
#include "sensitivity/variation_work.h"

#include <string.h>

static ss_status out_of_memory_here(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

enum { MOST_ROWS = 1500 };

ss_status ss_variation_possible(const ss_sim *sim, ss_error *error) {
  if (sim->scheme->iterated)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities are not available for the scheme %s",
                   sim->scheme->name);
  if (sim->options.stabilization == SS_STABILIZATION_PROJECTION)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities are not available with stabilization: projection");
  if (sim->options.tolerance > 0)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities are not available with an automatic step size");
  if (sim->model->n_motors)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities are not available for motors");
  return SS_OK;
}

ss_status ss_variation_attach(ss_sim *sim, ss_variation *variation, int n, const double *dv, ss_error *error) {
  const size_t nv = (size_t)sim->model->n_v;
  *variation = (ss_variation){.n = n};
  variation->q = ss_alloc(sizeof(double) * (2 * nv * (size_t)n + (size_t)n + nv));
  if (!variation->q) return out_of_memory_here(error);
  variation->v = variation->q + nv * (size_t)n;
  variation->t = variation->v + nv * (size_t)n;
  variation->v_before = variation->t + n;
  copy_numbers(variation->v, dv, nv * (size_t)n);
  sim->variation = variation;
  return SS_OK;
}

void ss_variation_detach(ss_sim *sim, ss_variation *variation) {
  sim->variation = NULL;
  ss_free(variation->q);
  ss_free(variation->patch);
  ss_free(variation->patch_end);
  ss_free(variation->z[0]);
  *variation = (ss_variation){0};
}

/* ---- one part ---- */

typedef struct part_work {
  ss_sim *sim;
  ss_arena *arena;
  nominal kept;
  double h;
  double *G;          /* [n][n] of the solved problem; with the theta rule's feedback */
  double *feedback_w; /* theta rule: [n][n_v] d w / d guess; NULL: none */
  double *feedback;   /* [n_v][n_v] (1 - d delta / d guess)^-1 */
  response plus, minus;
  double *dz, *zero; /* [n]; [n_v] zeros */
} part_work;

/* What a direction leads to. */
typedef struct outcome {
  double *delta; /* [n_v] d(v+ - v) */
  double *patch; /* [n_patch] */
  double h;
} outcome;

static ss_status evaluate(part_work *w, double h, const double *guess, response *out, ss_error *error) {
  ss_sim *sim = w->sim;
  ss_problem *p = &sim->problem;
  relook(sim);
  if (sim->scheme->theta) ss_theta_state(sim, h, guess);
  ss_forces(sim, h);
  ss_status status = ss_rows_step(sim, h, error);
  if (status != SS_OK) return status;
  if (sim->coupling.active)
    for (int i = 0; i < p->n; i++)
      ss_couple_row(sim, &p->rows[i], sim->coupling.w + (size_t)i * (size_t)sim->coupling.n);
  ss_spread(sim, sim->alpha);
  copy_numbers(p->z, w->kept.z, (size_t)p->n);
  ss_velocity_change(sim);
  copy_numbers(out->delta, sim->delta, (size_t)sim->model->n_v);
  slack_of(sim, sim->state.v, sim->alpha, sim->delta, p->z, out->w);
  if (sim->scheme->compliant) {
    ss_patch_advance(sim, h);
    copy_numbers(out->patch, sim->patch_end, (size_t)sim->n_patch);
  }
  return SS_OK;
}

/* plus = (plus - minus) / (2 s) */
static void subtract(const part_work *w, double s) {
  for (int i = 0; i < w->sim->problem.n; i++) w->plus.w[i] = (w->plus.w[i] - w->minus.w[i]) / (2 * s);
  for (int i = 0; i < w->sim->model->n_v; i++) w->plus.delta[i] = (w->plus.delta[i] - w->minus.delta[i]) / (2 * s);
  for (int i = 0; i < w->sim->n_patch; i++) w->plus.patch[i] = (w->plus.patch[i] - w->minus.patch[i]) / (2 * s);
}

/* Derivatives of the data along d at fixed multipliers (and guess), in plus. */
static ss_status differentiate_data(part_work *w, const direction *d, ss_error *error) {
  const double s = difference_size(w->sim, &w->kept, d, w->h);
  if (s == 0) {
    subtract(w, 0.5); /* both are zero or stale: */
    zero_numbers(w->plus.w, (size_t)w->sim->problem.n);
    zero_numbers(w->plus.delta, (size_t)w->sim->model->n_v);
    zero_numbers(w->plus.patch, (size_t)w->sim->n_patch);
  }
  ss_status status = SS_OK;
  for (int side = -1; side <= 1 && status == SS_OK && s > 0; side += 2) {
    move_state(w->sim, &w->kept, d, side * s);
    status = evaluate(w, w->h + side * s * d->h, w->kept.delta, side < 0 ? &w->minus : &w->plus, error);
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
static ss_status prepare_feedback(part_work *w, ss_error *error) {
  ss_sim *sim = w->sim;
  const int nv = sim->model->n_v, n = sim->problem.n;
  if (!sim->scheme->theta || !ss_theta_iterates(sim)) return SS_OK;
  w->feedback_w = SS_ARENA_ARRAY(w->arena, double, (size_t)(n + 1) * (size_t)nv);
  w->feedback = SS_ARENA_ARRAY(w->arena, double, (size_t)nv *(size_t)nv);
  double *matrix = SS_ARENA_ARRAY(w->arena, double, (size_t)nv *(size_t)nv);
  double *guess = SS_ARENA_ARRAY(w->arena, double, nv);
  if (!w->feedback_w || !w->feedback || !matrix || !guess) return out_of_memory_here(error);
  const direction still = {w->zero, w->zero, NULL, 0, 0};
  for (int j = 0; j < nv; j++) {
    const double s = 6e-6 * fmax(sim->speed_bound, fabs(w->kept.delta[j]));
    for (int side = -1; side <= 1; side += 2) {
      copy_numbers(guess, w->kept.delta, (size_t)nv);
      guess[j] += side * s;
      move_state(sim, &w->kept, &still, 0);
      const ss_status status = evaluate(w, w->h, guess, side < 0 ? &w->minus : &w->plus, error);
      if (status != SS_OK) return status;
    }
    subtract(w, s);
    for (int i = 0; i < nv; i++) matrix[i * nv + j] = (i == j) - w->plus.delta[i];
    for (int i = 0; i < n; i++) w->feedback_w[(ptrdiff_t)i * nv + j] = w->plus.w[i];
  }
  return ss_invert(matrix, nv, w->feedback)
             ? SS_OK
             : ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities: the theta rule's forces are singular");
}

/* G, and with feedback G + K_w (1 - K)^-1 W. */
static ss_status prepare_matrix(part_work *w, ss_error *error) {
  ss_sim *sim = w->sim;
  const int n = sim->problem.n, nv = sim->model->n_v;
  w->G = SS_ARENA_ARRAY(w->arena, double, (size_t)n *(size_t)n + 1);
  double *column = SS_ARENA_ARRAY(w->arena, double, 2 * (size_t)nv + 2 * (size_t)n + 1);
  if (!w->G || !column) return out_of_memory_here(error);
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

static ss_status respond(part_work *w, const direction *d, outcome *out, ss_error *error) {
  ss_sim *sim = w->sim;
  const ss_problem *p = &sim->problem;
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
  copy_numbers(out->patch, w->plus.patch, (size_t)sim->n_patch);
  out->h = d->h;
  if (n == 0) return SS_OK;
  move_state(sim, &w->kept, &still, 0); /* the problem's blocks and A^-1 J^T at the nominal state again */
  status = evaluate(w, w->h, w->kept.delta, &w->minus, error);
  const ss_cp problem = {.n = n, .n_blocks = p->n_blocks, .G = w->G, .g = p->g, .blocks = p->blocks};
  if (status == SS_OK)
    status = vary_multipliers(&problem, w->kept.z, w->kept.slack, w->plus.w, NULL, sim->cp, w->dz, error);
  if (status != SS_OK) return status;
  spread_multipliers(sim, w->dz, w->minus.delta);
  if (w->feedback)
    product(w->feedback, w->minus.delta, nv, nv, w->plus.delta);
  else
    copy_numbers(w->plus.delta, w->minus.delta, (size_t)nv);
  for (int i = 0; i < nv; i++) out->delta[i] += w->plus.delta[i];
  for (int k = 0; k < sim->n_contacts; k++) { /* delta+ answers to z by E^-1 */
    const ss_contact *c = &sim->contacts[k];
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

/* ---- the end of a part ---- */

/* d(exp): the right Jacobian of the rotation vector phi, applied to x. */
static ss_vec3 right_jacobian(ss_vec3 phi, ss_vec3 x) {
  const double angle = v3_norm(phi), square = angle * angle;
  const double a = angle > 1e-3 ? (1 - cos(angle)) / square : 0.5 - square / 24;
  const double b = angle > 1e-3 ? (angle - sin(angle)) / (square * angle) : 1.0 / 6 - square / 120;
  const ss_vec3 once = v3_cross(phi, x);
  return v3_axpy(v3_axpy(x, -a, once), b, v3_cross(phi, once));
}

/* Variation of q (+) tau [v + gamma f delta], f = tau/h, and of v + f delta. */
static void vary_end(const part_work *w, const direction *d, const outcome *o, double tau, double dtau, double *q,
                     double *v) {
  const ss_sim *sim = w->sim;
  const nominal *kept = &w->kept;
  const double f = tau / w->h, df = (dtau - f * o->h) / w->h;
  double path[6], change[6];
  for (int k = 0; k < sim->model->n_bodies; k++) {
    const ss_body *body = &sim->model->bodies[k];
    memset(path, 0, sizeof path);
    memset(change, 0, sizeof change);
    ss_vec3 linear, turn;
    ss_twist_of(sim->model, d->q, k, &linear, &turn);
    for (int i = 0; i < body->n; i++) {
      const int j = body->first + i, c = body->coordinate[i];
      const double speed = kept->v[j] + sim->gamma * f * kept->delta[j];
      path[c] = tau * speed;
      change[c] = dtau * speed + tau * (d->v[j] + sim->gamma * (f * o->delta[j] + df * kept->delta[j]));
      v[j] = d->v[j] + f * o->delta[j] + df * kept->delta[j];
    }
    const ss_vec3 phi = v3(path[3], path[4], path[5]);
    const ss_vec3 turned = v3_add(quat_rotate(quat_conjugate(quat_exp(phi)), turn),
                                  right_jacobian(phi, v3(change[3], change[4], change[5])));
    const ss_vec3 moved = v3_add(linear, v3(change[0], change[1], change[2]));
    for (int i = 0; i < body->n; i++) {
      const int c = body->coordinate[i];
      q[body->first + i] = c < 3 ? v3_get(moved, c) : v3_get(turned, c - 3);
    }
  }
}

/* d tau of a collision at tau: the gap (of a contact that began at the surface: its excess over the start's) stays
 * zero. */
static double vary_collision(part_work *w, const direction *d, const outcome *o, const ss_contact *hit, double tau,
                             double *q, double *v) {
  ss_sim *sim = w->sim;
  const double f = tau / w->h;
  ss_pose pose[2];
  ss_contact_point at;
  nominal_restore(sim, &w->kept);
  for (int side = 0; side < 2; side++) pose[side] = ss_advance_body(sim, hit->body[side], sim->delta, tau, f);
  ss_contact_at(sim->model, hit, &pose[0], &pose[1], &at);
  for (int i = 0; i < sim->model->n_v; i++) sim->scratch_v[i] = w->kept.v[i] + 2 * sim->gamma * f * w->kept.delta[i];
  const double rate = ss_contact_rate(sim->model, hit, &at, &pose[0], &pose[1], sim->scratch_v);
  vary_end(w, d, o, tau, 0, q, v);
  double change = ss_contact_rate(sim->model, hit, &at, &pose[0], &pose[1], q);
  if (hit->at.gap <= 0) {
    for (int side = 0; side < 2; side++) pose[side] = ss_pose_of(w->kept.q, hit->body[side]);
    change -= ss_contact_rate(sim->model, hit, &hit->at, &pose[0], &pose[1], d->q);
  }
  return rate != 0 ? -change / rate : 0;
}

/* ---- arrest ---- */

typedef struct arrest {
  const ss_contact *contact;
  int kind;
} arrest;

static double slip_product(const ss_sim *sim, const arrest *a) {
  ss_vec3 before[SS_SLIP_KINDS], after[SS_SLIP_KINDS];
  ss_slips_at(sim, a->contact, sim->state.t, sim->state.q, sim->state.v, before);
  ss_slips_at(sim, a->contact, sim->state.t, sim->q_end, sim->v_end, after);
  return v3_dot(before[a->kind], after[a->kind]);
}

/* The slip that the part brought to an end. */
static arrest find_arrest(const ss_sim *sim) {
  arrest best = {0};
  double least = HUGE_VAL;
  for (int i = 0; i < sim->n_contacts; i++) {
    const ss_contact *c = &sim->contacts[i];
    if (c->row < 0 || c->n_rows < 2) continue;
    ss_vec3 before[SS_SLIP_KINDS] = {{0}}, after[SS_SLIP_KINDS] = {{0}};
    ss_slips_at(sim, c, sim->state.t, sim->state.q, sim->state.v, before);
    ss_slips_at(sim, c, sim->state.t, sim->q_end, sim->v_end, after);
    for (int kind = 0; kind < (c->n_rows > c->n_forces ? SS_SLIP_KINDS : 1); kind++) {
      const double size = v3_dot(before[kind], before[kind]);
      if (!(size > 1e-20 * sim->speed_bound * sim->speed_bound)) continue;
      const double left = fabs(v3_dot(before[kind], after[kind])) / size;
      if (left < least) best = (arrest){c, kind}, least = left;
    }
  }
  return best;
}

/* Slip that is nearly nothing, left over from an arrest before, ends at once: what a disturbance adds to it ends with it. So
 * the contact sticks, by the velocity at the end alone (alpha = 1). */
static bool ends_at_once(const ss_sim *sim, const arrest *a) {
  ss_vec3 before[SS_SLIP_KINDS];
  ss_slips_at(sim, a->contact, sim->state.t, sim->state.q, sim->state.v, before);
  return v3_norm(before[a->kind]) < 1e-5 * sim->speed_bound;
}

/* plus.w = d(J v) along d. */
static ss_status vary_row_velocities(part_work *w, const direction *d, ss_error *error) {
  ss_sim *sim = w->sim;
  const ss_problem *p = &sim->problem;
  const direction still = {w->zero, w->zero, NULL, 0, 0};
  const double s = difference_size(sim, &w->kept, d, w->h);
  ss_status status = SS_OK;
  for (int side = -1; side <= 1 && status == SS_OK && s > 0; side += 2) {
    response *out = side < 0 ? &w->minus : &w->plus;
    move_state(sim, &w->kept, d, side * s);
    status = evaluate(w, w->h, w->kept.delta, out, error);
    for (int i = 0; i < p->n; i++) out->w[i] = ss_row_dot(sim->model, &p->rows[i], sim->state.v);
  }
  for (int i = 0; i < p->n; i++) w->plus.w[i] = s > 0 ? (w->plus.w[i] - w->minus.w[i]) / (2 * s) : 0;
  move_state(sim, &w->kept, &still, 0);
  return status == SS_OK ? evaluate(w, w->h, w->kept.delta, &w->minus, error) : status;
}

static ss_status stick_at_once(part_work *w, const arrest *a, const double *dq, double *dv, ss_error *error) {
  ss_sim *sim = w->sim;
  const ss_problem *p = &sim->problem;
  const direction d = {dq, dv, NULL, 0, 0};
  ss_status status = vary_row_velocities(w, &d, error);
  if (status != SS_OK) return status;
  double *z = SS_ARENA_ARRAY(w->arena, double, 2 * (size_t)p->n);
  if (!z) return out_of_memory_here(error);
  double *slack = z + p->n;
  copy_numbers(z, w->kept.z, (size_t)p->n);
  copy_numbers(slack, w->kept.slack, (size_t)p->n);
  for (int k = 1; k < a->contact->n_rows; k++) z[a->contact->row + k] = slack[a->contact->row + k] = 0;
  for (int i = 0; i < p->n; i++) w->plus.w[i] *= sim->alpha;
  const ss_cp problem = {.n = p->n, .n_blocks = p->n_blocks, .G = w->G, .g = p->g, .blocks = p->blocks};
  status = vary_multipliers(&problem, z, slack, w->plus.w, NULL, sim->cp, w->dz, error);
  if (status != SS_OK) return status;
  spread_multipliers(sim, w->dz, w->minus.delta);
  for (int i = 0; i < sim->model->n_v; i++) dv[i] += w->minus.delta[i];
  return SS_OK;
}

/* d(before . after) along a direction and its outcome. */
static double vary_slip(part_work *w, const arrest *a, const direction *d, const outcome *o, double *q, double *v) {
  ss_sim *sim = w->sim;
  vary_end(w, d, o, w->h, o->h, q, v);
  nominal end = w->kept;
  end.q = w->kept.q_end;
  end.v = w->kept.v_end;
  const direction at_end = {q, v, NULL, 0, 0};
  const double s = fmin(difference_size(sim, &w->kept, d, w->h), difference_size(sim, &w->kept, &at_end, w->h));
  const double step = s > 0 ? s : difference_size(sim, &w->kept, &at_end, w->h);
  double value[2] = {0};
  if (!(step > 0)) return 0;
  for (int side = 0; side < 2; side++) {
    const double by = side ? step : -step;
    move_state(sim, &end, &at_end, by);
    copy_numbers(sim->q_end, sim->state.q, 7 * (size_t)sim->model->n_bodies);
    copy_numbers(sim->v_end, sim->state.v, (size_t)sim->model->n_v);
    move_state(sim, &w->kept, d, by);
    value[side] = slip_product(sim, a);
  }
  nominal_restore(sim, &w->kept);
  return (value[1] - value[0]) / (2 * step);
}

static ss_status create_outcome(const part_work *w, outcome *o, ss_error *error) {
  o->delta = SS_ARENA_ARRAY(w->arena, double, w->sim->model->n_v + 1);
  o->patch = SS_ARENA_ARRAY(w->arena, double, w->sim->n_patch + 1);
  return o->delta && o->patch ? SS_OK : out_of_memory_here(error);
}

/* ---- all directions ---- */

static ss_status prepare(part_work *w, ss_error *error) {
  ss_sim *sim = w->sim;
  ss_variation *x = sim->variation;
  const direction still = {NULL, NULL, NULL, 0, 0};
  if (sim->jammed)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities: a contact jams at t = %.6g", sim->state.t);
  for (int i = 0; i < sim->n_contacts; i++)
    if (sim->contacts[i].row >= 0 && sim->contacts[i].fixed)
      return ss_fail(error, SS_ERROR_UNSUPPORTED,
                     "exact sensitivities: not through the corners of a fixed friction polygon (t = %.6g)",
                     sim->state.t);
  if (sim->problem.n > MOST_ROWS)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities: a problem with %d rows is too large",
                   sim->problem.n);
  ss_status status = nominal_save(sim, w->arena, &w->kept, error);
  if (status == SS_OK) status = response_create(sim, w->arena, &w->plus, error);
  if (status == SS_OK) status = response_create(sim, w->arena, &w->minus, error);
  w->dz = SS_ARENA_ARRAY(w->arena, double, sim->problem.n + 1);
  w->zero = SS_ARENA_ARRAY(w->arena, double, sim->model->n_v + 1);
  if (!w->dz || !w->zero) return out_of_memory_here(error);
  if (status == SS_OK)
    status = ss_grow((void **)&x->patch_end, &x->patch_end_capacity, x->n * sim->n_patch, sizeof(double), error);
  if (status == SS_OK) status = prepare_feedback(w, error);
  if (status != SS_OK) return status;
  direction nothing = still;
  nothing.q = nothing.v = w->zero;
  move_state(sim, &w->kept, &nothing, 0);
  status = evaluate(w, w->h, w->kept.delta, &w->minus, error);
  return status == SS_OK ? prepare_matrix(w, error) : status;
}

/* Variations of the deformations at the start of the part, contact by contact, from those of the state. */
static void gather_patches(const ss_sim *sim, const double *from, double *out) {
  zero_numbers(out, (size_t)(sim->n_patch + 1));
  for (int i = 0; i < sim->n_contacts; i++) {
    const ss_contact *c = &sim->contacts[i];
    const ss_touch *touch = c->patch ? ss_touch_find(&sim->state, c->key) : NULL;
    if (touch && touch->n_patch == 2 * c->patch->n)
      copy_numbers(out + c->memory, from + touch->patch, (size_t)c->patch->n);
  }
}

static ss_status vary(part_work *w, double remaining, double tau, const ss_contact *hit, bool arrested,
                      ss_error *error) {
  ss_sim *sim = w->sim;
  ss_variation *x = sim->variation;
  const int nv = sim->model->n_v;
  outcome o = {0}, longer = {0};
  double *q = SS_ARENA_ARRAY(w->arena, double, 2 * (size_t)nv + 2);
  double *patch = SS_ARENA_ARRAY(w->arena, double, sim->n_patch + 1);
  ss_status status = q && patch ? create_outcome(w, &o, error) : out_of_memory_here(error);
  if (status == SS_OK) status = create_outcome(w, &longer, error);
  if (status != SS_OK) return status;
  double *v = q + nv, slip_rate = 0, stretch = 0;
  const direction lengthen = {w->zero, w->zero, NULL, 0, 1};
  nominal_restore(sim, &w->kept);
  arrest stop = {0};
  if (arrested) stop = find_arrest(sim);
  const bool at_once = stop.contact && ends_at_once(sim, &stop);
  for (int k = 0; at_once && k < x->n && status == SS_OK; k++)
    status = stick_at_once(w, &stop, x->q + (ptrdiff_t)k * nv, x->v + (ptrdiff_t)k * nv, error);
  if (at_once) return status;
  if (stop.contact) {
    status = respond(w, &lengthen, &longer, error);
    if (status == SS_OK) slip_rate = vary_slip(w, &stop, &lengthen, &longer, q, v);
  }
  /* A part that was solved again for its own length has a length that varies with it, h = (1 + margin) tau. */
  const bool refined = hit && sim->refined;
  if (refined && status == SS_OK) {
    status = respond(w, &lengthen, &longer, error);
    if (status == SS_OK) stretch = vary_collision(w, &lengthen, &longer, hit, tau, q, v);
  }
  for (int k = 0; k < x->n && status == SS_OK; k++) {
    double *dq = x->q + (ptrdiff_t)k * nv, *dv = x->v + (ptrdiff_t)k * nv;
    gather_patches(sim, x->patch ? x->patch + (ptrdiff_t)k * sim->state.n_patch : NULL, patch);
    const bool fixed = stop.contact && slip_rate != 0;
    direction d = {dq, dv, patch, x->t[k], fixed || refined || sim->released ? 0 : -x->t[k] * w->h / remaining};
    status = respond(w, &d, &o, error);
    if (status != SS_OK) break;
    if (fixed) {
      o.h = -vary_slip(w, &stop, &d, &o, q, v) / slip_rate;
      for (int i = 0; i < nv; i++) o.delta[i] += o.h * longer.delta[i];
    }
    if (refined) {
      const double ratio = w->h / tau;
      o.h = ratio * vary_collision(w, &d, &o, hit, tau, q, v) / (1 - ratio * stretch);
      for (int i = 0; i < nv; i++) o.delta[i] += o.h * longer.delta[i];
    }
    const double dtau = hit ? vary_collision(w, &d, &o, hit, tau, q, v) : o.h;
    vary_end(w, &d, &o, tau, dtau, q, v);
    copy_numbers(dq, q, (size_t)nv);
    copy_numbers(dv, v, (size_t)nv);
    if (sim->n_patch) copy_numbers(x->patch_end + (ptrdiff_t)k * sim->n_patch, o.patch, (size_t)sim->n_patch);
    x->t[k] = tau >= remaining ? 0 : x->t[k] + dtau;
  }
  return status;
}

ss_status ss_vary_part(ss_sim *sim, double remaining, double h, double tau, int hit, ss_error *error) {
  part_work w = {.sim = sim, .arena = ss_arena_create(), .h = h};
  if (!w.arena) return out_of_memory_here(error);
  ss_status status = prepare(&w, error);
  if (status == SS_OK) status = vary(&w, remaining, tau, hit >= 0 ? &w.kept.contacts[hit] : NULL, sim->arrested, error);
  if (w.zero) { /* the problem as it was solved: the ledger reads it */
    const direction still = {w.zero, w.zero, NULL, 0, 0};
    move_state(sim, &w.kept, &still, 0);
    if (status == SS_OK) status = evaluate(&w, h, w.kept.delta, &w.minus, error);
    nominal_restore(sim, &w.kept);
  }
  ss_arena_destroy(w.arena);
  return status;
}

ss_status ss_vary_store(ss_sim *sim, ss_error *error) {
  ss_variation *x = sim->variation;
  const int width = sim->state.n_patch;
  ss_status status = ss_grow((void **)&x->patch, &x->patch_capacity, x->n * width, sizeof(double), error);
  for (int i = 0; i < sim->n_contacts && status == SS_OK; i++) {
    const ss_contact *c = &sim->contacts[i];
    const ss_touch *touch = c->patch ? ss_touch_find(&sim->state, c->key) : NULL;
    if (!touch || touch->patch < 0) continue;
    for (int k = 0; k < x->n; k++)
      copy_numbers(x->patch + (ptrdiff_t)k * width + touch->patch,
                   x->patch_end + (ptrdiff_t)k * sim->n_patch + c->memory, (size_t)c->patch->n);
  }
  return status;
}
