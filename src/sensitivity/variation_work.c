#include "sensitivity/variation_work.h"

#include <string.h>

static ss_status out_of_memory_here(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

/* ---- the nominal state ---- */

static double *keep(ss_arena *arena, const double *from, size_t n) {
  double *copy = SS_ARENA_ARRAY(arena, double, n + 1);
  if (copy) copy_numbers(copy, from, n);
  return copy;
}

ss_status nominal_save(const ss_sim *sim, ss_arena *arena, nominal *out, ss_error *error) {
  const size_t nq = 7 * (size_t)sim->model->n_bodies, nv = (size_t)sim->model->n_v, n = (size_t)sim->trial.problem.n;
  *out = (nominal){.q = keep(arena, sim->state.q, nq),
                   .v = keep(arena, sim->state.v, nv),
                   .t = sim->state.t,
                   .z = keep(arena, sim->trial.problem.z, n),
                   .slack = keep(arena, sim->trial.problem.slack, n),
                   .delta = keep(arena, sim->trial.delta, nv),
                   .v_end = keep(arena, sim->trial.v_end, nv),
                   .q_end = keep(arena, sim->trial.q_end, nq),
                   .patch_start = keep(arena, sim->trial.patch_start, (size_t)sim->trial.n_patch),
                   .patch_end = keep(arena, sim->trial.patch_end, (size_t)sim->trial.n_patch),
                   .contacts = SS_ARENA_ARRAY(arena, ss_contact, sim->trial.n_contacts + 1)};
  if (!out->q || !out->v || !out->z || !out->slack || !out->delta || !out->v_end || !out->q_end || !out->patch_start ||
      !out->patch_end || !out->contacts)
    return out_of_memory_here(error);
  if (sim->trial.n_contacts)
    memcpy(out->contacts, sim->trial.contacts, sizeof(ss_contact) * (size_t)sim->trial.n_contacts);
  return SS_OK;
}

void nominal_restore(ss_sim *sim, const nominal *kept) {
  const size_t nq = 7 * (size_t)sim->model->n_bodies, nv = (size_t)sim->model->n_v, n = (size_t)sim->trial.problem.n;
  copy_numbers(sim->state.q, kept->q, nq);
  copy_numbers(sim->state.v, kept->v, nv);
  sim->state.t = kept->t;
  if (n) {
    copy_numbers(sim->trial.problem.z, kept->z, n);
    copy_numbers(sim->trial.problem.slack, kept->slack, n);
  }
  copy_numbers(sim->trial.delta, kept->delta, nv);
  copy_numbers(sim->trial.v_end, kept->v_end, nv);
  copy_numbers(sim->trial.q_end, kept->q_end, nq);
  if (sim->trial.n_patch) {
    copy_numbers(sim->trial.patch_start, kept->patch_start, (size_t)sim->trial.n_patch);
    copy_numbers(sim->trial.patch_end, kept->patch_end, (size_t)sim->trial.n_patch);
  }
  if (sim->trial.n_contacts)
    memcpy(sim->trial.contacts, kept->contacts, sizeof(ss_contact) * (size_t)sim->trial.n_contacts);
}

ss_status response_create(const ss_sim *sim, ss_arena *arena, response *out, ss_error *error) {
  out->w = SS_ARENA_ARRAY(arena, double, sim->trial.problem.n + 1);
  out->delta = SS_ARENA_ARRAY(arena, double, sim->model->n_v + 1);
  out->patch = SS_ARENA_ARRAY(arena, double, sim->trial.n_patch + 1);
  return out->w && out->delta && out->patch ? SS_OK : out_of_memory_here(error);
}

/* ---- moved states ---- */

void move_state(ss_sim *sim, const nominal *kept, const direction *d, double s) {
  const ss_model *model = sim->model;
  for (int k = 0; k < model->n_bodies; k++) {
    ss_vec3 linear, angular;
    ss_twist_of(model, d->q, k, &linear, &angular);
    ss_pose pose = ss_pose_of(kept->q, k);
    pose.position = v3_axpy(pose.position, s, linear);
    if (model->bodies[k].turns)
      pose.orientation = quat_normalize(quat_multiply(pose.orientation, quat_exp(v3_scale(s, angular))));
    ss_store_pose(sim->state.q, k, pose);
  }
  for (int i = 0; i < model->n_v; i++) sim->state.v[i] = kept->v[i] + s * d->v[i];
  for (int i = 0; i < sim->trial.n_patch; i++)
    sim->trial.patch_start[i] = kept->patch_start[i] + (d->patch ? s * d->patch[i] : 0);
  sim->state.t = kept->t + s * d->t;
}

/* Slow slip turns by a small disturbance already: no more than a hundredth of it. */
static double slip_limit(const ss_sim *sim, const nominal *kept, const direction *d) {
  static const double share = 0.01;
  double least = HUGE_VAL;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0 || c->n_forces < 2 || c->stuck || !c->pair) continue;
    ss_vec3 slip[SS_SLIP_KINDS], change[SS_SLIP_KINDS];
    ss_slips_at(sim, c, sim->state.t, kept->q, kept->v, slip);
    ss_slips_at(sim, c, sim->state.t, kept->q, d->v, change);
    if (v3_norm(slip[0]) > 0 && v3_norm(change[0]) > 0)
      least = fmin(least, share * v3_norm(slip[0]) / v3_norm(change[0]));
  }
  return least;
}

double difference_size(const ss_sim *sim, const nominal *kept, const direction *d, double h) {
  static const double relative = 6e-6; /* cube root of the rounding error */
  double largest = 0;
  for (int i = 0; i < sim->model->n_v; i++)
    largest = fmax(largest, fmax(fabs(d->q[i]) / sim->model->length, fabs(d->v[i]) / sim->part.speed_bound));
  if (h > 0) largest = fmax(largest, fmax(fabs(d->t), fabs(d->h)) / h);
  return largest > 0 && isfinite(largest) ? fmin(relative / largest, slip_limit(sim, kept, d)) : 0;
}

void relook(ss_sim *sim) {
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    if (!c->active && !c->touching) continue;
    const bool closed = c->closed;
    const ss_pose a = ss_pose_of(sim->state.q, c->body[0]), b = ss_pose_of(sim->state.q, c->body[1]);
    ss_contact_at(sim->model, c, &a, &b, &c->at);
    c->rate = ss_contact_rate(sim->model, c, &c->at, &a, &b, sim->state.v);
    c->pressed = c->twisted = v3(0, 0, 0);
    ss_contact_remember(sim, c);
    c->closed = closed;
    if (!c->patch) continue;
    c->direction[0] = c->at.normal; /* the tangents turn with it in the second order only */
    if (ss_touch_find(&sim->state, c->key) && ss_touch_find(&sim->state, c->key)->n_patch == 2 * c->patch->n) continue;
    if (c->patch->delta && c->pressed_in) continue; /* given */
    for (int e = 0; e < c->patch->n_elements; e++)  /* a new patch begins with the overlap */
      ss_patch_start(sim, c)[e * c->patch->n_directions] = fmax(0, -ss_element_gap(sim, c, &c->at, e));
  }
}

static void add_patch_compliance(const ss_sim *sim, const ss_contact *c, const double *z, double *w) {
  const int rows = c->n_rows, count = rows * c->patch->n_elements, d = c->patch->n_directions;
  for (int i = 0; i < count; i++) {
    const double *line = c->patch->flexibility + (size_t)(i / rows * d + i % rows) * (size_t)c->patch->n;
    for (int j = 0; j < count; j++)
      w[c->row + i] += line[j / rows * d + j % rows] / sim->trial.problem.h * z[c->row + j];
  }
}

void slack_of(const ss_sim *sim, const double *v, double alpha, const double *delta, const double *z, double *w) {
  const ss_problem *p = &sim->trial.problem;
  for (int i = 0; i < p->n; i++)
    w[i] = ss_row_dot(sim->model, &p->rows[i], v) + alpha * ss_row_dot(sim->model, &p->rows[i], delta) + p->offset[i] +
           p->compliance[i] * z[i];
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (sim->trial.contacts[i].patch && sim->trial.contacts[i].row >= 0)
      add_patch_compliance(sim, &sim->trial.contacts[i], z, w);
}

void spread_multipliers(ss_sim *sim, const double *z, double *out) {
  copy_numbers(sim->trial.problem.z, z, (size_t)sim->trial.problem.n);
  ss_velocity_change(sim);
  for (int i = 0; i < sim->model->n_v; i++) out[i] = sim->trial.delta[i] - sim->trial.dv_free[i];
}

/* ---- the solution's response ---- */

/* The active set's system is solved twice, with and without dw: it is linear, so that the difference is the derivative
 * whatever the size of dw; that is made comparable to the multipliers. */
ss_status vary_multipliers(const ss_cp *problem, const double *z, const double *slack, const double *dw,
                           const double *dextra, ss_cp_workspace *memory, double *out, ss_error *error) {
  const int n = problem->n;
  if (n == 0) return SS_OK;
  const scratch_mark mark = scratch_now(memory);
  active_set set;
  ss_block *blocks = SCRATCH(memory, ss_block, problem->n_blocks);
  double *with = SCRATCH(memory, double, 3 * (size_t)n);
  if (!blocks || !with) {
    scratch_release(memory, mark);
    return out_of_memory_here(error);
  }
  double *without = with + n, *w = without + n, size = 0, change = 0;
  if (problem->n_blocks) memcpy(blocks, problem->blocks, sizeof *blocks * (size_t)problem->n_blocks);
  ss_cp copy = *problem;
  copy.blocks = blocks;
  ss_status status = active_set_create(&copy, memory, &set, error);
  if (status == SS_OK) {
    for (int i = 0; i < n; i++) {
      size = fmax(size, fmax(fabs(slack[i]), fabs(problem->G[(size_t)i * ((size_t)n + 1)] * z[i])));
      change = fmax(change, fabs(dw[i]));
    }
    for (int b = 0; dextra && b < problem->n_blocks; b++)
      change = fmax(change, fabs(dextra[b] * problem->G[(size_t)blocks[b].first * ((size_t)n + 1)]));
    const double s = change > 0 && size > 0 ? size / change : 1;
    (void)active_set_guess(&set, z, slack);
    copy_numbers(without, z, (size_t)n);
    copy_numbers(with, z, (size_t)n);
    (void)active_set_solve(&set, without, slack);
    for (int b = 0; dextra && b < problem->n_blocks; b++) blocks[b].extra += s * dextra[b];
    for (int i = 0; i < n; i++) w[i] = slack[i] + s * dw[i];
    (void)active_set_solve(&set, with, w);
    for (int i = 0; i < n; i++) out[i] = (with[i] - without[i]) / s;
  }
  scratch_release(memory, mark);
  return status;
}
