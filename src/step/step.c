/* One step. Start reading here.
 *
 *     broad phase -> narrow phase -> active set -> forces, rows, discretise -> solve -> advance -> events -> observe
 *
 * A step of size h is taken in parts: a part ends where a collision is located, or where the step does. Before a part
 * begins, contacts that touch and approach collide (impact). A problem whose solution the judge does not accept is
 * never applied: the part is halved and tried again, and the run stops where that does not help. */
#include "step/workspace.h"

#include <string.h>

enum { MOST_PARTS = 20000, MOST_TRANSITIONS = 12, MOST_CUTS = 10, MOST_SINKS = 8, MOST_LANDINGS = 4 };

/* Pairs and contacts for a part of size h, and what the active ones demand. */
static ss_status find_contacts(ss_sim *sim, double h, double *speed_tolerance, bool *collides_now, ss_error *error) {
  ss_status status = sim->mechanics->find_contacts(sim, h, error);
  if (status == SS_OK) status = ss_refused(sim, error);
  if (status == SS_OK) ss_active_set(sim, speed_tolerance, collides_now);
  ss_lap(sim, SS_STAGE_SEARCH);
  return status;
}

/* One problem, linearised about the start or about the latest iterate. */
ss_status ss_attempt_once(ss_sim *sim, double h, bool *certified, ss_error *error) {
  sim->mechanics->forces(sim, h);
  ss_status status = ss_rows_step(sim, h, error);
  ss_lap(sim, SS_STAGE_ROWS);
  if (status == SS_OK) status = ss_refused(sim, error);
  if (status != SS_OK) return status;
  *certified = false;
  if (ss_patch_is_large(sim)) status = ss_patch_solve(sim, sim->alpha, certified, error);
  if (status == SS_OK && !*certified) {
    status = ss_discretise(sim, sim->alpha, error);
    if (status != SS_OK) return status;
    ss_lap(sim, SS_STAGE_ROWS);
    if (ss_polygon_is_doubtful(sim)) status = ss_turn_polygons(sim, error);
    if (status == SS_OK) status = ss_solve(sim, certified, error);
    if (status == SS_OK && *certified && !sim->variation && ss_polygon_is_astray(sim)) {
      status = ss_turn_polygons(sim, error);
      if (status == SS_OK) status = ss_solve(sim, certified, error);
    }
  }
  ss_lap(sim, SS_STAGE_SOLVE);
  if (status != SS_OK) return status;
  if (sim->calmed && (!*certified || ss_calm_gives(sim))) { /* once more without */
    sim->calm_fails = true;
    return ss_attempt_once(sim, h, certified, error);
  }
  if (!*certified) return status;
  sim->report.solves.calmed += sim->calmed;
  ss_advance(sim, h);
  sim->last_attempt = h;
  *certified = isfinite(sim->mechanics->largest_speed(sim, sim->v_end));
  sim->not_finite = !*certified;
  ss_lap(sim, SS_STAGE_ADVANCE);
  return SS_OK;
}

ss_status ss_attempt(ss_sim *sim, double h, bool *certified, ss_error *error) {
  if (sim->scheme->theta) return ss_attempt_theta(sim, h, certified, error);
  return (sim->scheme->iterated ? ss_attempt_iterated : ss_attempt_once)(sim, h, certified, error);
}

/* Whether a crowd's contact that has closed in the part stays: it neither bounces nor goes on approaching, which the next part ends. */
static bool comes_to_rest(const ss_sim *sim, const ss_contact *c, double speed_tolerance) {
  const double rate = ss_row_dot(sim->model, &sim->problem.rows[c->row], sim->v_end);
  return c->bounce == 0 && rate >= -(speed_tolerance + c->blur);
}

/* Whether a contact closes on a body that already pressed on another, with friction: at position level the blow is dealt out in two steps, and
 * friction with it (docs/theory.md). */
static bool splits_a_blow(const ss_sim *sim, const ss_contact *c) {
  if (!sim->scheme->position_level || sim->locate_collisions || !sim->model->friction_anywhere) return false;
  for (int i = 0; i < sim->n_contacts; i++) {
    const ss_contact *other = &sim->contacts[i];
    if (other == c || other->row < 0 || !other->pressed_before || !(c->mu > 0 || other->mu > 0)) continue;
    for (int side = 0; side < 2; side++)
      if (c->body[side] >= 0 && (c->body[side] == other->body[0] || c->body[side] == other->body[1])) return true;
  }
  return false;
}

/* What the solution says of each contact: carrying, stuck, gone. */
static void judge_contacts(ss_sim *sim, double speed_tolerance) {
  const bool velocity_level = !sim->scheme->position_level || sim->locate_collisions;
  for (int i = 0; i < sim->n_contacts; i++) {
    ss_contact *c = &sim->contacts[i];
    if (c->row < 0) continue;
    const bool carries = c->impulse[0] > 0;
    /* one of several feet may carry nothing and stay; at position level the slack is the gap that opens, over the step */
    bool closed = carries || ((velocity_level || c->closed) && !c->patch &&
                              sim->problem.slack[c->row] <= speed_tolerance + c->blur);
    if (sim->dense && closed) closed = comes_to_rest(sim, c, speed_tolerance);
    if (c->closed && !closed) ss_emit(sim, SS_TAKE_OFF, c, 0);
    if (!c->closed && !c->met && (closed || (sim->dense && carries)) && c->rate < -speed_tolerance) {
      ss_emit(sim, SS_COLLISION, c, 0);
      sim->report.solves.split_blows += splits_a_blow(sim, c);
    }
    if (sim->dense && carries && !closed && c->bounce == 0) c->hops++; /* so that it is remembered */
    if (carries && c->pressed_before && c->n_rows > 1 && c->stuck != c->was_stuck)
      ss_emit(sim, c->stuck ? SS_STICK : SS_SLIP, c, 0);
    else if (c->fixed && carries && c->pressed_before && c->face && c->last_face && c->face != c->last_face)
      ss_emit(sim, SS_FACET, c, 0);
    ss_tell_beginnings(sim, c);
    c->closed = closed;
  }
}

/* Moves the state to tau inside the part just solved, or to its end. */
static void accept(ss_sim *sim, double h, double tau) {
  const double fraction = tau / h;
  const ss_model *model = sim->model;
  if (tau < h) {
    sim->mechanics->advance(sim, sim->delta, tau, fraction, sim->q_end);
    for (int i = 0; i < model->n_v; i++) sim->v_end[i] = sim->state.v[i] + fraction * sim->delta[i];
  }
  if (model->n_angles) {
    for (int i = 0; i < model->n_v; i++) sim->scratch_v[i] = sim->state.v[i] + sim->gamma * fraction * sim->delta[i];
    ss_joint_angles_follow(model, sim->state.q, sim->q_end, sim->scratch_v, tau, sim->state.angle);
  }
  memcpy(sim->state.q, sim->q_end, sizeof(double) * (size_t)model->n_q);
  memcpy(sim->state.v, sim->v_end, sizeof(double) * (size_t)model->n_v);
  sim->state.t += tau;
  if (sim->options.tolerance > 0) ss_estimate_note(sim, tau, fraction);
}

/* Whether an active contact would end a good deal deeper than it started: rows hold at the start of the part (or in its
 * middle), and a body that turns or rolls over far in it leaves them. */
static bool sinks(const ss_sim *sim, double h) {
  static const double share = 0.01, far = 0.1;
  const ss_model *model = sim->model;
  for (int i = 0; i < sim->n_contacts; i++) {
    const ss_contact *c = &sim->contacts[i];
    if (c->row < 0 || !c->pair || c->patch) continue;
    const double size = fmin(model->shapes[c->shape[0]].reach, model->shapes[c->shape[1]].reach);
    if (!(size > 0) || sim->speed_bound * h < far * size) continue;
    const ss_pose a = ss_pose_of(sim->q_end, c->body[0]), b = ss_pose_of(sim->q_end, c->body[1]);
    if (ss_contact_depth(model, c, &a, &b) > share * size + fmax(-c->at.gap, 0)) return true;
  }
  return false;
}

/* The scheme's own weights, until a crowd needs others. */
static void begin_part(ss_sim *sim) {
  sim->alpha = sim->scheme_alpha;
  sim->gamma = sim->scheme_gamma;
  sim->dense = false;
}

/* Solves a part of size *h, or a shorter one where that has no certified solution; *impact: a collision comes first. collides: something
 * does in the part. */
static ss_status solve_part(ss_sim *sim, bool collides, double *h, double *speed_tolerance, bool *impact,
                            ss_error *error) {
  sim->push = 1;
  sim->calm_fails = false;
  sim->speed_bound = 1.5 * sim->mechanics->largest_speed(sim, sim->state.v) + 2 * *h * sim->acceleration;
  for (int cuts = 0; cuts <= MOST_CUTS;) {
    bool certified = false;
    ss_status status = find_contacts(sim, *h, speed_tolerance, impact, error);
    *impact &= !sim->exhausted;
    if (status != SS_OK) return status;
    begin_part(sim);
    const bool dense = ss_crowd_is_dense(sim, *h),
               at_once = dense && (*impact || collides || ss_crowd_collides(sim, *h));
    *impact &= !dense;
    if (*impact) return SS_OK;
    if (at_once) ss_crowd_begin(sim, *h);
    status = (at_once ? ss_crowd_part : ss_attempt)(sim, *h, &certified, error);
    const double whole = *h;
    sim->jammed = sim->arrested = sim->released = false;
    if (status == SS_OK && certified && !at_once && !sim->exhausted && sim->transitions < MOST_TRANSITIONS) {
      status = ss_locate_jam(sim, h, &certified, error);
      const double runs = *h;
      sim->jammed = runs < whole;
      if (status == SS_OK && certified && (sim->located & (SS_EVENT_STICK_SLIP | SS_EVENT_FACET)))
        status = ss_locate_arrest(sim, h, &certified, error);
      sim->arrested = *h < runs;
      const double slides = *h;
      if (status == SS_OK && certified && (sim->located & ~(unsigned)SS_EVENT_COLLISION))
        status = ss_locate_release(sim, h, &certified, error);
      sim->released = *h < slides;
      sim->arrested &= !sim->released;
      sim->transitions += *h < whole;
    }
    if (status == SS_OK) status = ss_push_gently(sim, *h, &certified, error);
    if (status != SS_OK) return status;
    if (!certified) {
      const bool shorter = !ss_pushes(sim); /* once the same without pushing anything out, then shorter */
      sim->push = 0;
      if (!shorter) continue;
      cuts++;
      sim->report.solves.cuts++;
      *h /= 2;
      continue;
    }
    if (cuts < MOST_SINKS && (sinks(sim, *h) || (sim->dense && sim->overlooked))) {
      cuts++;
      sim->report.solves.cuts++;
      *h /= 2;
      continue;
    }
    const double speed = sim->mechanics->largest_speed(sim, sim->v_end);
    if (speed <= sim->speed_bound) return SS_OK;
    sim->speed_bound = 1.5 * speed; /* faster than was assumed: contacts may have been overlooked */
  }
  if (sim->problem.divided && ss_assemble(sim, error) != SS_OK)
    return SS_ERROR_MEMORY; /* for whoever wants to see it */
  return ss_fail(error, SS_ERROR_UNCERTIFIED, "no certified step at t = %.17g, even with h = %.3g%s", sim->state.t, *h,
                 sim->not_finite ? ": velocities are not finite" : "");
}

static ss_status show_problem(ss_sim *sim, ss_error *error) {
  for (int i = 0; i < sim->n_observers && sim->problem.n > 0; i++) {
    const ss_observer *o = &sim->observers[i];
    if (!o->problem) continue;
    sim->kept_quiet = true;
    if (sim->quiet) continue;
    ss_status status = SS_OK;
    if (sim->problem.structured) status = ss_discretise_dense(sim, error);
    if (sim->problem.divided) status = ss_assemble(sim, error);
    if (status != SS_OK) return status;
    const ss_cp problem = ss_problem_view(&sim->problem);
    status = o->problem(o->user, sim, &problem, sim->problem.z, error);
    if (status != SS_OK) return status;
  }
  return SS_OK;
}

/* The first collision in the part of size h that was solved. What lands gently before it is held, and the part solved again;
 * what still lands then is located like any other collision. */
static ss_status land(ss_sim *sim, double h, double *tau, bool *found, ss_error *error) {
  bool certified = true;
  for (int round = 0; round < MOST_LANDINGS; round++) {
    *tau = ss_first_collision(sim, h, false, found);
    if (ss_hold_landings(sim, *tau) == 0) return SS_OK;
    ss_status status = ss_attempt(sim, h, &certified, error);
    if (status == SS_OK) status = ss_push_gently(sim, h, &certified, error);
    if (status != SS_OK) return status;
    if (certified) continue;
    for (int i = 0; i < sim->n_contacts; i++) { /* as it was */
      sim->contacts[i].active &= !sim->contacts[i].lands;
      sim->contacts[i].lands = false;
    }
    status = ss_attempt(sim, h, &certified, error);
    if (status != SS_OK) return status;
    break;
  }
  *tau = ss_first_collision(sim, h, true, found);
  return SS_OK;
}

/* Where the part of size *h ends: at its first collision, or as a whole. The velocity at a collision is interpolated
 * between the part's ends (LIT section 6), which is wrong by tau (h - tau)/2 times its second derivative: second order,
 * with a factor that depends on where in the step the collision falls. Where transitions are located, too, the part is
 * solved again for little more than its own length, and the factor goes. */
static ss_status end_of_part(ss_sim *sim, double *h, double *tau, ss_error *error) {
  static const double margins[] = {1. / 1024, 1. / 64}, instant = 1e-6;
  const double whole = *h;
  bool found = false, certified = true;
  ss_status status = SS_OK;
  *tau = whole;
  sim->hit = -1;
  sim->refined = false;
  if (!sim->locate_collisions || sim->exhausted || sim->dense) return SS_OK;
  status = land(sim, whole, tau, &found, error);
  const double first = *tau;
  if (status != SS_OK || !found || !sim->solves_to_collisions || first < instant * whole) return status;
  found = false;
  for (int i = 0; i < 2 && !found && first * (1 + margins[i]) < whole; i++) {
    *h = first * (1 + margins[i]);
    status = ss_attempt(sim, *h, &certified, error);
    if (status == SS_OK) status = ss_push_gently(sim, *h, &certified, error);
    if (status == SS_OK && !certified) status = ss_attempt(sim, *h = whole, &certified, error); /* as it was */
    if (status != SS_OK) return status;
    *tau = ss_first_collision(sim, *h, true, &found);
  }
  sim->refined = *h < whole;
  return SS_OK;
}

/* One impact (taken = 0) or one part of at most h. */
static ss_status part(ss_sim *sim, double h, double *taken, bool *collided, ss_error *error) {
  const double remaining = h;
  double speed_tolerance;
  bool impact = false;
  ss_status status = solve_part(sim, false, &h, &speed_tolerance, &impact, error);
  if (status != SS_OK) return status;
  if (impact) {
    *taken = 0;
    *collided = sim->control.broken = true;
    bool certified = false;
    status = ss_impact(sim, speed_tolerance, &certified, error);
    if (status == SS_OK && certified) status = ss_deal(sim, 1, error);
    sim->report.solves.cuts += status == SS_OK && !certified;
    sim->exhausted |= !certified;
    ss_lap(sim, SS_STAGE_EVENTS);
    return status;
  }
  double tau;
  status = end_of_part(sim, &h, &tau, error);
  if (status == SS_OK && tau < h && ss_crowd_is_dense(sim, h)) { /* nothing is located in so dense a crowd */
    tau = h = remaining;
    status = solve_part(sim, true, &h, &speed_tolerance, &impact, error);
    tau = h;
  }
  if (status == SS_OK) status = show_problem(sim, error);
  if (status != SS_OK) return status;
  if (sim->variation) status = ss_vary_part(sim, remaining, h, tau, sim->hit, error);
  if (status == SS_OK && sim->weak) status = ss_weak_part(sim, tau, error);
  if (status != SS_OK) return status;
  ss_lap(sim, SS_STAGE_EVENTS);
  const double open = sim->dense ? ss_ledger_open(sim) : 0, energy = sim->dense ? ss_total_energy(sim) : 0;
  const double work = sim->report.energy.work;
  ss_ledger_part(sim, h, tau / h);
  ss_add_joint_impulses(sim, tau / h);
  ss_add_motor_impulses(sim, tau / h);
  status = ss_deal(sim, tau / h, error);
  if (status != SS_OK) return status;
  judge_contacts(sim, speed_tolerance);
  if (sim->model->moments_anywhere && tau == h) ss_note_ends(sim);
  if (sim->model->n_forces) ss_ledger_links(sim, h, tau / h, false);
  accept(sim, h, tau);
  if (sim->model->n_forces) ss_ledger_links(sim, h, tau / h, true);
  if (sim->dense) ss_ledger_crowd(sim, open, energy, work);
  if (sim->arrested && tau == h && ss_velocities_alternate(sim)) ss_make_consistent(sim);
  if (sim->model->moments_anywhere && tau == h) ss_tell_ends(sim);
  *taken = tau;
  status = ss_touch_store(sim, error);
  if (status == SS_OK && sim->variation) status = ss_vary_store(sim, error);
  ss_lap(sim, SS_STAGE_OBSERVE);
  return status == SS_OK ? ss_refused(sim, error) : status;
}

ss_status ss_step_save(ss_sim *sim, ss_error *error) {
  const ss_state *s = &sim->state;
  ss_status status =
      ss_grow((void **)&sim->touch_saved, &sim->touch_saved_capacity, s->n_touch, sizeof *s->touch, error);
  if (status == SS_OK)
    status = ss_grow((void **)&sim->patch_saved, &sim->patch_saved_capacity, s->n_patch, sizeof *s->patch, error);
  if (status != SS_OK) return status;
  memcpy(sim->q_saved, s->q, sizeof(double) * (size_t)sim->model->n_q);
  memcpy(sim->v_saved, s->v, sizeof(double) * (size_t)sim->model->n_v);
  if (sim->model->n_angles) memcpy(sim->angle_saved, s->angle, sizeof(double) * (size_t)sim->model->n_angles);
  if (s->n_touch) memcpy(sim->touch_saved, s->touch, sizeof *s->touch * (size_t)s->n_touch);
  sim->n_touch_saved = s->n_touch;
  if (s->n_patch) memcpy(sim->patch_saved, s->patch, sizeof *s->patch * (size_t)s->n_patch);
  sim->n_patch_saved = s->n_patch;
  sim->report_saved = sim->report;
  sim->t_saved = s->t;
  if (sim->options.tolerance > 0) ss_estimate_save(sim);
  return SS_OK;
}

void ss_step_restore(ss_sim *sim) {
  ss_state *s = &sim->state;
  ss_deal_begin(sim);
  memcpy(s->q, sim->q_saved, sizeof(double) * (size_t)sim->model->n_q);
  memcpy(s->v, sim->v_saved, sizeof(double) * (size_t)sim->model->n_v);
  if (sim->model->n_angles) memcpy(s->angle, sim->angle_saved, sizeof(double) * (size_t)sim->model->n_angles);
  if (sim->n_touch_saved) memcpy(s->touch, sim->touch_saved, sizeof *s->touch * (size_t)sim->n_touch_saved);
  s->n_touch = sim->n_touch_saved;
  if (sim->n_patch_saved) memcpy(s->patch, sim->patch_saved, sizeof *s->patch * (size_t)sim->n_patch_saved);
  s->n_patch = sim->n_patch_saved;
  s->t = sim->t_saved;
  sim->report = sim->report_saved;
  if (sim->options.tolerance > 0) ss_estimate_restore(sim);
}

static ss_status observe(ss_sim *sim, bool collided, ss_error *error) {
  ss_report *report = &sim->report;
  ss_ledger_step(sim);
  ss_certify_position(sim);
  ss_measure_variation(sim, collided);
  if (sim->n_active > report->contacts_maximum) report->contacts_maximum = sim->n_active;
  sim->state.step++;
  const ss_status audited = ss_audit_step(sim, error);
  if (audited != SS_OK) return audited;
  ss_doubts_update(sim);
  report->contacts_mean += (sim->n_active - report->contacts_mean) / (double)sim->state.step;
  for (int i = 0; i < sim->n_observers; i++) {
    const ss_status status = sim->observers[i].step(sim->observers[i].user, sim, error);
    if (status != SS_OK) return status;
  }
  return SS_OK;
}

/* The step has come to its end: what was counted in it counts no longer. */
static void finish(ss_sim *sim, double end) {
  for (int i = 0; i < sim->state.n_touch; i++) sim->state.touch[i].hits = sim->state.touch[i].hops = 0;
  sim->control.transitions = 0;
  sim->state.t = end;
}

ss_status ss_fail_of_work(const ss_sim *sim, ss_error *error) {
  return ss_fail(error, SS_ERROR_UNCERTIFIED,
                 "step %ld has used up its work at t = %.9g: speeds have grown to %.2g, and nearly all of the energy "
                 "(%.2g) came from nowhere; try a smaller step, or a linearly implicit scheme for springs",
                 sim->state.step + 1, sim->state.t, sim->mechanics->largest_speed(sim, sim->state.v),
                 sim->mechanics->kinetic_energy(sim, sim->state.v));
}

/* The work of a step is bounded: when it is used up, the rest of the step locates nothing. Where the energy has blown up there is
 * nothing left to be followed, bodies hit each other thousands of times in a step, and the run ends. */
static ss_status check_work(ss_sim *sim, int parts, ss_error *error) {
  enum { MOST_LOOKS = 1000000, LOOKS_PER_CONTACT = 20000, BLOWN_UP = 20 };
  const long most = MOST_LOOKS + (long)LOOKS_PER_CONTACT * sim->n_contacts;
  sim->exhausted |= parts >= MOST_PARTS || sim->looks > most;
  if (sim->looks <= most / BLOWN_UP || !ss_has_blown_up(sim)) return SS_OK;
  return ss_fail_of_work(sim, error);
}

ss_status ss_step_advance(ss_sim *sim, double end, bool *collided, ss_error *error) {
  static const double instant = 1e-9; /* an event so shortly behind the start belongs to it */
  ss_status status = SS_OK;
  sim->h = end - sim->state.t;
  sim->drift_time = sim->options.tolerance > 0 ? sim->options.largest_step : sim->h;
  sim->exhausted = false;
  sim->looks = sim->tried = 0;
  sim->spent = false;
  sim->transitions = sim->stops_at_events ? sim->control.transitions : 0;
  if (sim->system) ss_forgive(sim);
  sim->mechanics->begin_step(sim);
  status = ss_hold_signals(sim, error);
  double remaining = sim->h;
  bool goes_on = true;
  for (int parts = 0; status == SS_OK && goes_on; parts++) {
    double taken = 0;
    status = check_work(sim, parts, error);
    if (status != SS_OK) break;
    sim->starts = parts == 0;
    status = part(sim, remaining, &taken, collided, error);
    remaining = taken >= remaining ? 0 : remaining - taken;
    goes_on = remaining > 0 && !(sim->stops_at_events && sim->h - remaining > instant * sim->h);
  }
  const bool hits_next =
      remaining > 0 && sim->hit >= 0; /* the projection would end the approach before the impact does */
  if (status == SS_OK && sim->options.stabilization == SS_STABILIZATION_PROJECTION && !hits_next)
    status = ss_project(sim, error);
  if (status == SS_OK && sim->exact.on && !hits_next) status = ss_hold_joints(sim, error);
  sim->control.transitions = sim->transitions;
  begin_part(sim);
  if (status == SS_OK && !ss_state_is_finite(sim)) {
    sim->not_finite = true;
    status = ss_fail(error, SS_ERROR_UNCERTIFIED, "positions, velocities or energies are not finite at t = %.9g", end);
  }
  if (remaining == 0) finish(sim, end);
  if (status == SS_OK && sim->system) {
    ss_system_probe(sim);
    status = ss_refused(sim, error);
  }
  return status;
}

ss_status ss_sim_step(ss_sim *sim, ss_error *error) {
  if (ss_sim_done(sim)) return SS_OK;
  /* A last step that is whole ends where it would in a longer run, to the last bit: a run that goes on from there is that
   * run. */
  const double whole = (double)(sim->state.step + 1) * sim->options.step, duration = sim->options.duration;
  const bool cut = sim->state.step + 1 >= sim->steps_total && fabs(whole - duration) > 1e-12 * duration;
  const double end = cut ? duration : whole;
  bool collided = false;
  if (sim->timed) sim->clock = ss_seconds();
  ss_clear_impulses(sim);
  ss_deal_begin(sim);
  ss_status status = ss_step_save(sim, error);
  if (status == SS_OK)
    status = sim->options.tolerance > 0 ? ss_step_automatic(sim, &collided, error)
                                        : ss_step_advance(sim, end, &collided, error);
  if (status != SS_OK) {
    ss_step_restore(sim);
    sim->report.certificate.certified &= status == SS_ERROR_STOPPED; /* of the steps before */
    if (status == SS_ERROR_UNCERTIFIED && (sim->not_finite || !ss_problem_is_finite(sim)))
      ss_doubts_not_finite(sim, end);
    return status;
  }
  ss_forget_pushes(sim);
  ss_keep_guess(sim);
  ss_deal_end(sim);
  status = ss_basis_check(sim, error);
  if (status != SS_OK) return status;
  status = observe(sim, collided, error);
  ss_lap(sim, SS_STAGE_OBSERVE);
  return status;
}
