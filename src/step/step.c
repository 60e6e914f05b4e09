/* One step. Start reading here.
 *
 *     broad phase -> narrow phase -> active set -> forces, rows, discretise -> solve -> advance -> events -> observe
 *
 * A step of size h is taken in parts: a part ends where a collision is located, or where the step does. Before a part
 * begins, contacts that touch and approach collide (impact). A problem whose solution the judge does not accept is
 * never applied: the part is halved and tried again, and the run stops where that does not help. */
#include "step/step.h"

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

/* Whether a crowd's contact that has closed in the part stays: it neither bounces nor goes on approaching, which the next part ends. */
static bool comes_to_rest(const ss_sim *sim, const ss_contact *c, double speed_tolerance) {
  const double rate = ss_row_dot(sim->model, &sim->trial.problem.rows[c->row], sim->trial.v_end);
  return c->bounce == 0 && rate >= -(speed_tolerance + c->blur);
}

/* What the solution says of each contact: carrying, stuck, gone. */
static void judge_contacts(ss_sim *sim, double speed_tolerance) {
  const bool velocity_level = !sim->scheme->position_level || sim->chosen.locate_collisions;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0) continue;
    const bool carries = c->impulse[0] > 0;
    /* one of several feet may carry nothing and stay; at position level the slack is the gap that opens, over the step */
    bool closed = carries || ((velocity_level || c->closed) && !c->patch &&
                              sim->trial.problem.slack[c->row] <= speed_tolerance + c->blur);
    if (sim->crowd.dense && closed) closed = comes_to_rest(sim, c, speed_tolerance);
    if (c->closed && !closed) ss_emit(sim, SS_TAKE_OFF, c, 0);
    if (!c->closed && !c->met && (closed || (sim->crowd.dense && carries)) && c->rate < -speed_tolerance)
      ss_emit(sim, SS_COLLISION, c, 0);
    if (sim->crowd.dense && carries && !closed && c->bounce == 0) c->hops++; /* so that it is remembered */
    if (carries && c->pressed_before && c->n_rows > 1 && c->stuck != c->was_stuck)
      ss_emit(sim, c->stuck ? SS_STICK : SS_SLIP, c, 0);
    else if (c->fixed && carries && c->pressed_before && c->face && c->last_face && c->face != c->last_face)
      ss_emit(sim, SS_FACET, c, 0);
    c->closed = closed;
  }
}

/* Moves the state to tau inside the part just solved, or to its end. */
static void accept(ss_sim *sim, double h, double tau) {
  const double fraction = tau / h;
  const ss_model *model = sim->model;
  if (tau < h) {
    sim->mechanics->advance(sim, sim->trial.delta, tau, fraction, sim->trial.q_end);
    for (int i = 0; i < model->n_v; i++) sim->trial.v_end[i] = sim->state.v[i] + fraction * sim->trial.delta[i];
  }
  if (model->n_angles) {
    for (int i = 0; i < model->n_v; i++)
      sim->scratch.v[i] = sim->state.v[i] + sim->trial.asked.gamma * fraction * sim->trial.delta[i];
    ss_joint_angles_follow(model, sim->state.q, sim->trial.q_end, sim->scratch.v, tau, sim->state.angle);
  }
  memcpy(sim->state.q, sim->trial.q_end, sizeof(double) * (size_t)model->n_q);
  memcpy(sim->state.v, sim->trial.v_end, sizeof(double) * (size_t)model->n_v);
  sim->state.t += tau;
  if (sim->options.tolerance > 0) ss_estimate_note(sim, tau, fraction);
}

/* Whether an active contact would end a good deal deeper than it started: rows hold at the start of the part (or in its
 * middle), and a body that turns or rolls over far in it leaves them. */
static bool sinks(const ss_sim *sim, double h) {
  static const double share = 0.01, far = 0.1;
  const ss_model *model = sim->model;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0 || !c->pair || c->patch) continue;
    const double size = fmin(model->shapes[c->shape[0]].reach, model->shapes[c->shape[1]].reach);
    if (!(size > 0) || sim->part.speed_bound * h < far * size) continue;
    const ss_pose a = ss_pose_of(sim->trial.q_end, c->body[0]), b = ss_pose_of(sim->trial.q_end, c->body[1]);
    if (ss_contact_depth(model, c, &a, &b) > share * size + fmax(-c->at.gap, 0)) return true;
  }
  return false;
}

/* The scheme's own weights, until a crowd needs others. */
static void begin_part(ss_sim *sim) {
  sim->part.asked.alpha = sim->trial.asked.alpha = sim->chosen.alpha;
  sim->part.asked.gamma = sim->trial.asked.gamma = sim->chosen.gamma;
  sim->n_kept = 0;
  sim->crowd.dense = false;
}

/* Solves a part of size *h, or a shorter one where that has no certified solution; *impact: a collision comes first. collides: something
 * does in the part. */
static ss_status solve_part(ss_sim *sim, bool collides, double *h, double *speed_tolerance, bool *impact,
                            ss_error *error) {
  sim->part.asked.push = 1;
  sim->crowd.calm_fails = false;
  sim->part.speed_bound = 1.5 * sim->mechanics->largest_speed(sim, sim->state.v) + 2 * *h * sim->step.acceleration;
  for (int cuts = 0; cuts <= MOST_CUTS;) {
    bool certified = false;
    ss_status status = find_contacts(sim, *h, speed_tolerance, impact, error);
    *impact &= !sim->step.exhausted;
    if (status != SS_OK) return status;
    begin_part(sim);
    const bool dense = ss_crowd_is_dense(sim, *h),
               at_once = dense && (*impact || collides || ss_crowd_collides(sim, *h));
    *impact &= !dense;
    if (*impact) return SS_OK;
    if (at_once) ss_crowd_begin(sim, *h);
    status = (at_once ? ss_crowd_part : ss_attempt)(sim, *h, &certified, error);
    const double whole = *h;
    sim->part.jammed = sim->part.arrested = sim->part.released = false;
    if (status == SS_OK && certified && !at_once && !sim->step.exhausted && sim->step.transitions < MOST_TRANSITIONS) {
      status = ss_locate_jam(sim, h, &certified, error);
      const double runs = *h;
      sim->part.jammed = runs < whole;
      if (status == SS_OK && certified && (sim->chosen.located & (SS_EVENT_STICK_SLIP | SS_EVENT_FACET)))
        status = ss_locate_arrest(sim, h, &certified, error);
      sim->part.arrested = *h < runs;
      const double slides = *h;
      if (status == SS_OK && certified && (sim->chosen.located & ~(unsigned)SS_EVENT_COLLISION))
        status = ss_locate_release(sim, h, &certified, error);
      sim->part.released = *h < slides;
      sim->part.arrested &= !sim->part.released;
      sim->step.transitions += *h < whole;
    }
    if (status == SS_OK) status = ss_push_gently(sim, *h, &certified, error);
    if (status != SS_OK) return status;
    if (!certified) {
      const bool shorter = !ss_pushes(sim); /* once the same without pushing anything out, then shorter */
      sim->part.asked.push = 0;
      if (!shorter) continue;
      cuts++;
      sim->report.solves.cuts++;
      *h /= 2;
      continue;
    }
    if (cuts < MOST_SINKS && (sinks(sim, *h) || (sim->crowd.dense && sim->crowd.overlooked))) {
      cuts++;
      sim->report.solves.cuts++;
      *h /= 2;
      continue;
    }
    const double speed = sim->mechanics->largest_speed(sim, sim->trial.v_end);
    if (speed <= sim->part.speed_bound) return SS_OK;
    sim->part.speed_bound = 1.5 * speed; /* faster than was assumed: contacts may have been overlooked */
  }
  if (sim->trial.problem.divided && ss_assemble(sim, error) != SS_OK)
    return SS_ERROR_MEMORY; /* for whoever wants to see it */
  return ss_fail(error, SS_ERROR_UNCERTIFIED, "no certified step at t = %.17g, even with h = %.3g%s", sim->state.t, *h,
                 sim->step.not_finite ? ": velocities are not finite" : "");
}

static ss_status show_problem(ss_sim *sim, ss_error *error) {
  for (int i = 0; i < sim->watch.n_observers && sim->trial.problem.n > 0; i++) {
    const ss_observer *o = &sim->watch.observers[i];
    if (!o->problem) continue;
    sim->watch.kept_quiet = true;
    if (sim->watch.quiet) continue;
    ss_status status = SS_OK;
    if (sim->trial.problem.structured) status = ss_discretise_dense(sim, error);
    if (sim->trial.problem.divided) status = ss_assemble(sim, error);
    if (status != SS_OK) return status;
    const ss_cp problem = ss_problem_view(&sim->trial.problem);
    status = o->problem(o->user, sim, &problem, sim->trial.problem.z, error);
    if (status != SS_OK) return status;
  }
  return SS_OK;
}

static bool something_lands(const ss_sim *sim, double until) {
  for (int i = 0; i < sim->trial.n_contacts && sim->crowd.landing_speed > 0; i++)
    if (!sim->trial.contacts[i].active && sim->trial.contacts[i].lands_at < until) return true;
  return false;
}

/* The first collision in the part of size h that was solved. What lands gently before it is held, and the part solved again;
 * what still lands then is located like any other collision. */
static ss_status land(ss_sim *sim, double h, double *tau, bool *found, ss_error *error) {
  bool certified = true;
  for (int round = 0; round < MOST_LANDINGS; round++) {
    *tau = ss_first_collision(sim, h, false, found);
    if (!something_lands(sim, *tau)) return SS_OK;
    ss_status status = ss_trial_keep(sim, error);
    if (status != SS_OK) return status;
    (void)ss_hold_landings(sim, *tau);
    status = ss_attempt(sim, h, &certified, error);
    if (status == SS_OK) status = ss_push_gently(sim, h, &certified, error);
    if (status != SS_OK) return status;
    if (!certified) {
      ss_trial_back(sim); /* without them */
      break;
    }
    ss_trial_drop(sim);
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
  sim->part.hit = -1;
  sim->part.refined = false;
  if (!sim->chosen.locate_collisions || sim->step.exhausted || sim->crowd.dense) return SS_OK;
  status = land(sim, whole, tau, &found, error);
  const double first = *tau;
  if (status != SS_OK || !found || !sim->chosen.solves_to_collisions || first < instant * whole) return status;
  found = false;
  for (int i = 0; i < 2 && !found && first * (1 + margins[i]) < whole; i++) {
    *h = first * (1 + margins[i]);
    if (i == 0) status = ss_trial_keep(sim, error);
    if (status == SS_OK) status = ss_attempt(sim, *h, &certified, error);
    if (status == SS_OK) status = ss_push_gently(sim, *h, &certified, error);
    if (status != SS_OK) return status;
    if (!certified) {
      ss_trial_back(sim);
      *h = whole;
    }
    *tau = ss_first_collision(sim, *h, true, &found);
    if (!certified) return SS_OK;
  }
  if (*h < whole) ss_trial_drop(sim);
  sim->part.refined = *h < whole;
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
    sim->step.exhausted |= !certified;
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
  if (sim->watch.variation) status = sim->watch.vary->part(sim, remaining, h, tau, sim->part.hit, error);
  if (status == SS_OK && sim->watch.weak) status = ss_weak_part(sim, tau, error);
  if (status != SS_OK) return status;
  ss_lap(sim, SS_STAGE_EVENTS);
  const double open = sim->crowd.dense ? ss_ledger_open(sim) : 0, energy = sim->crowd.dense ? ss_total_energy(sim) : 0;
  const double work = sim->report.energy.work;
  ss_ledger_part(sim, h, tau / h);
  ss_add_joint_impulses(sim, tau / h);
  ss_add_motor_impulses(sim, tau / h);
  status = ss_deal(sim, tau / h, error);
  if (status != SS_OK) return status;
  judge_contacts(sim, speed_tolerance);
  if (sim->model->moments_anywhere && tau == h) ss_note_ends(sim);
  accept(sim, h, tau);
  if (sim->crowd.dense) ss_ledger_crowd(sim, open, energy, work);
  if (sim->part.arrested && tau == h && ss_velocities_alternate(sim)) ss_make_consistent(sim);
  if (sim->model->moments_anywhere && tau == h) ss_tell_ends(sim);
  *taken = tau;
  status = ss_touch_store(sim, error);
  if (status == SS_OK && sim->watch.variation) status = sim->watch.vary->store(sim, error);
  ss_lap(sim, SS_STAGE_OBSERVE);
  return status == SS_OK ? ss_refused(sim, error) : status;
}

ss_status ss_step_save(ss_sim *sim, ss_error *error) {
  const ss_state *s = &sim->state;
  ss_status status =
      ss_grow((void **)&sim->saved.touch, &sim->saved.touch_capacity, s->n_touch, sizeof *s->touch, error);
  if (status == SS_OK)
    status = ss_grow((void **)&sim->saved.patch, &sim->saved.patch_capacity, s->n_patch, sizeof *s->patch, error);
  if (status != SS_OK) return status;
  memcpy(sim->saved.q, s->q, sizeof(double) * (size_t)sim->model->n_q);
  memcpy(sim->saved.v, s->v, sizeof(double) * (size_t)sim->model->n_v);
  if (sim->model->n_angles) memcpy(sim->saved.angle, s->angle, sizeof(double) * (size_t)sim->model->n_angles);
  if (s->n_touch) memcpy(sim->saved.touch, s->touch, sizeof *s->touch * (size_t)s->n_touch);
  sim->saved.n_touch = s->n_touch;
  if (s->n_patch) memcpy(sim->saved.patch, s->patch, sizeof *s->patch * (size_t)s->n_patch);
  sim->saved.n_patch = s->n_patch;
  sim->saved.report = sim->report;
  sim->saved.t = s->t;
  if (sim->options.tolerance > 0) ss_estimate_save(sim);
  return SS_OK;
}

void ss_step_restore(ss_sim *sim) {
  ss_state *s = &sim->state;
  ss_deal_begin(sim);
  memcpy(s->q, sim->saved.q, sizeof(double) * (size_t)sim->model->n_q);
  memcpy(s->v, sim->saved.v, sizeof(double) * (size_t)sim->model->n_v);
  if (sim->model->n_angles) memcpy(s->angle, sim->saved.angle, sizeof(double) * (size_t)sim->model->n_angles);
  if (sim->saved.n_touch) memcpy(s->touch, sim->saved.touch, sizeof *s->touch * (size_t)sim->saved.n_touch);
  s->n_touch = sim->saved.n_touch;
  if (sim->saved.n_patch) memcpy(s->patch, sim->saved.patch, sizeof *s->patch * (size_t)sim->saved.n_patch);
  s->n_patch = sim->saved.n_patch;
  s->t = sim->saved.t;
  sim->report = sim->saved.report;
  if (sim->options.tolerance > 0) ss_estimate_restore(sim);
}

static ss_status observe(ss_sim *sim, bool collided, ss_error *error) {
  ss_report *report = &sim->report;
  ss_ledger_step(sim);
  ss_certify_position(sim);
  ss_measure_variation(sim, collided);
  if (sim->trial.n_active > report->contacts_maximum) report->contacts_maximum = sim->trial.n_active;
  sim->state.step++;
  const ss_status audited = ss_audit_step(sim, error);
  if (audited != SS_OK) return audited;
  ss_doubts_update(sim);
  report->contacts_mean += (sim->trial.n_active - report->contacts_mean) / (double)sim->state.step;
  for (int i = 0; i < sim->watch.n_observers; i++) {
    const ss_status status = sim->watch.observers[i].step(sim->watch.observers[i].user, sim, error);
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
  const long most = MOST_LOOKS + (long)LOOKS_PER_CONTACT * sim->trial.n_contacts;
  sim->step.exhausted |= parts >= MOST_PARTS || sim->step.looks > most;
  if (sim->step.looks <= most / BLOWN_UP || !ss_has_blown_up(sim)) return SS_OK;
  return ss_fail_of_work(sim, error);
}

ss_status ss_step_advance(ss_sim *sim, double end, bool *collided, ss_error *error) {
  static const double instant = 1e-9; /* an event so shortly behind the start belongs to it */
  ss_status status = SS_OK;
  sim->step.h = end - sim->state.t;
  sim->step.drift_time = sim->options.tolerance > 0 ? sim->options.largest_step : sim->step.h;
  sim->step.exhausted = false;
  sim->step.looks = sim->step.tried = 0;
  sim->step.spent = false;
  sim->step.transitions = sim->step.stops_at_events ? sim->control.transitions : 0;
  if (sim->system) ss_forgive(sim);
  sim->mechanics->begin_step(sim);
  status = ss_hold_signals(sim, error);
  double remaining = sim->step.h;
  bool goes_on = true;
  for (int parts = 0; status == SS_OK && goes_on; parts++) {
    double taken = 0;
    status = check_work(sim, parts, error);
    if (status != SS_OK) break;
    sim->step.starts = parts == 0;
    status = part(sim, remaining, &taken, collided, error);
    remaining = taken >= remaining ? 0 : remaining - taken;
    goes_on = remaining > 0 && !(sim->step.stops_at_events && sim->step.h - remaining > instant * sim->step.h);
  }
  const bool hits_next =
      remaining > 0 && sim->part.hit >= 0; /* the projection would end the approach before the impact does */
  if (status == SS_OK && sim->options.stabilization == SS_STABILIZATION_PROJECTION && !hits_next)
    status = ss_project(sim, error);
  if (status == SS_OK && sim->exact.on && !hits_next) status = ss_hold_joints(sim, error);
  sim->control.transitions = sim->step.transitions;
  begin_part(sim);
  if (status == SS_OK && !ss_state_is_finite(sim)) {
    sim->step.not_finite = true;
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
  if (sim->clock.on) sim->clock.last = ss_seconds();
  ss_clear_impulses(sim);
  ss_deal_begin(sim);
  ss_status status = ss_step_save(sim, error);
  if (status == SS_OK)
    status = sim->options.tolerance > 0 ? ss_step_automatic(sim, &collided, error)
                                        : ss_step_advance(sim, end, &collided, error);
  if (status != SS_OK) {
    ss_step_restore(sim);
    sim->report.certificate.certified &= status == SS_ERROR_STOPPED; /* of the steps before */
    if (status == SS_ERROR_UNCERTIFIED && (sim->step.not_finite || !ss_problem_is_finite(sim)))
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
