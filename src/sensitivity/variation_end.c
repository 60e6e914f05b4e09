/* Where a part ends, and how that varies: at its own length, at a collision, at the arrest of a slip. */
#include "sensitivity/variation_part.h"

/* d(exp): the right Jacobian of the rotation vector phi, applied to x. */
static ss_vec3 right_jacobian(ss_vec3 phi, ss_vec3 x) {
  const double angle = v3_norm(phi), square = angle * angle;
  const double a = angle > 1e-3 ? (1 - cos(angle)) / square : 0.5 - square / 24;
  const double b = angle > 1e-3 ? (angle - sin(angle)) / (square * angle) : 1.0 / 6 - square / 120;
  const ss_vec3 once = v3_cross(phi, x);
  return v3_axpy(v3_axpy(x, -a, once), b, v3_cross(phi, once));
}

/* Variation of q (+) tau [v + gamma f delta], f = tau/h, and of v + f delta. */
void part_vary_end(const part_work *w, const direction *d, const outcome *o, double tau, double dtau, double *q,
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
      const double speed = kept->v[j] + sim->trial.asked.gamma * f * kept->delta[j];
      path[c] = tau * speed;
      change[c] = dtau * speed + tau * (d->v[j] + sim->trial.asked.gamma * (f * o->delta[j] + df * kept->delta[j]));
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
double part_vary_collision(part_work *w, const direction *d, const outcome *o, const ss_contact *hit, double tau,
                           double *q, double *v) {
  ss_sim *sim = w->sim;
  const double f = tau / w->h;
  ss_pose pose[2];
  ss_contact_point at;
  nominal_restore(sim, &w->kept);
  for (int side = 0; side < 2; side++) pose[side] = ss_advance_body(sim, hit->body[side], sim->trial.delta, tau, f);
  ss_contact_at(sim->model, hit, &pose[0], &pose[1], &at);
  for (int i = 0; i < sim->model->n_v; i++)
    sim->scratch.v[i] = w->kept.v[i] + 2 * sim->trial.asked.gamma * f * w->kept.delta[i];
  const double rate = ss_contact_rate(sim->model, hit, &at, &pose[0], &pose[1], sim->scratch.v);
  part_vary_end(w, d, o, tau, 0, q, v);
  double change = ss_contact_rate(sim->model, hit, &at, &pose[0], &pose[1], q);
  if (hit->at.gap <= 0) {
    for (int side = 0; side < 2; side++) pose[side] = ss_pose_of(w->kept.q, hit->body[side]);
    change -= ss_contact_rate(sim->model, hit, &hit->at, &pose[0], &pose[1], d->q);
  }
  return rate != 0 ? -change / rate : 0;
}

/* ---- arrest ---- */

static double slip_product(const ss_sim *sim, const arrest *a) {
  ss_vec3 before[SS_SLIP_KINDS], after[SS_SLIP_KINDS];
  ss_slips_at(sim, a->contact, sim->state.t, sim->state.q, sim->state.v, before);
  ss_slips_at(sim, a->contact, sim->state.t, sim->trial.q_end, sim->trial.v_end, after);
  return v3_dot(before[a->kind], after[a->kind]);
}

/* The slip that the part brought to an end. */
arrest part_find_arrest(const ss_sim *sim) {
  arrest best = {0};
  double least = HUGE_VAL;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0 || c->n_rows < 2) continue;
    ss_vec3 before[SS_SLIP_KINDS] = {{0}}, after[SS_SLIP_KINDS] = {{0}};
    ss_slips_at(sim, c, sim->state.t, sim->state.q, sim->state.v, before);
    ss_slips_at(sim, c, sim->state.t, sim->trial.q_end, sim->trial.v_end, after);
    for (int kind = 0; kind < (c->n_rows > c->n_forces ? SS_SLIP_KINDS : 1); kind++) {
      const double size = v3_dot(before[kind], before[kind]);
      if (!(size > 1e-20 * sim->part.speed_bound * sim->part.speed_bound)) continue;
      const double left = fabs(v3_dot(before[kind], after[kind])) / size;
      if (left < least) best = (arrest){c, kind}, least = left;
    }
  }
  return best;
}

/* Slip that is nearly nothing, left over from an arrest before, ends at once: what a disturbance adds to it ends with it. So
 * the contact sticks, by the velocity at the end alone (alpha = 1). */
bool part_ends_at_once(const ss_sim *sim, const arrest *a) {
  ss_vec3 before[SS_SLIP_KINDS];
  ss_slips_at(sim, a->contact, sim->state.t, sim->state.q, sim->state.v, before);
  return v3_norm(before[a->kind]) < 1e-5 * sim->part.speed_bound;
}

/* plus.w = d(J v) along d. */
static ss_status vary_row_velocities(part_work *w, const direction *d, ss_error *error) {
  ss_sim *sim = w->sim;
  const ss_problem *p = &sim->trial.problem;
  const direction still = {w->zero, w->zero, NULL, 0, 0};
  const double s = difference_size(sim, &w->kept, d, w->h);
  ss_status status = SS_OK;
  for (int side = -1; side <= 1 && status == SS_OK && s > 0; side += 2) {
    response *out = side < 0 ? &w->minus : &w->plus;
    move_state(sim, &w->kept, d, side * s);
    status = part_evaluate(w, w->h, w->kept.delta, out, error);
    for (int i = 0; i < p->n; i++) out->w[i] = ss_row_dot(sim->model, &p->rows[i], sim->state.v);
  }
  for (int i = 0; i < p->n; i++) w->plus.w[i] = s > 0 ? (w->plus.w[i] - w->minus.w[i]) / (2 * s) : 0;
  move_state(sim, &w->kept, &still, 0);
  return status == SS_OK ? part_evaluate(w, w->h, w->kept.delta, &w->minus, error) : status;
}

ss_status part_stick_at_once(part_work *w, const arrest *a, const double *dq, double *dv, ss_error *error) {
  ss_sim *sim = w->sim;
  const ss_problem *p = &sim->trial.problem;
  const direction d = {dq, dv, NULL, 0, 0};
  ss_status status = vary_row_velocities(w, &d, error);
  if (status != SS_OK) return status;
  double *z = SS_ARENA_ARRAY(w->arena, double, 2 * (size_t)p->n);
  if (!z) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  double *slack = z + p->n;
  copy_numbers(z, w->kept.z, (size_t)p->n);
  copy_numbers(slack, w->kept.slack, (size_t)p->n);
  for (int k = 1; k < a->contact->n_rows; k++) z[a->contact->row + k] = slack[a->contact->row + k] = 0;
  for (int i = 0; i < p->n; i++) w->plus.w[i] *= sim->trial.asked.alpha;
  const ss_cp problem = {.n = p->n, .n_blocks = p->n_blocks, .G = w->G, .g = p->g, .blocks = p->blocks};
  status = vary_multipliers(&problem, z, slack, w->plus.w, NULL, sim->solver.cp, w->dz, error);
  if (status != SS_OK) return status;
  spread_multipliers(sim, w->dz, w->minus.delta);
  for (int i = 0; i < sim->model->n_v; i++) dv[i] += w->minus.delta[i];
  return SS_OK;
}

/* d(before . after) along a direction and its outcome. */
double part_vary_slip(part_work *w, const arrest *a, const direction *d, const outcome *o, double *q, double *v) {
  ss_sim *sim = w->sim;
  part_vary_end(w, d, o, w->h, o->h, q, v);
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
    copy_numbers(sim->trial.q_end, sim->state.q, 7 * (size_t)sim->model->n_bodies);
    copy_numbers(sim->trial.v_end, sim->state.v, (size_t)sim->model->n_v);
    move_state(sim, &w->kept, d, by);
    value[side] = slip_product(sim, a);
  }
  nominal_restore(sim, &w->kept);
  return (value[1] - value[0]) / (2 * step);
}
