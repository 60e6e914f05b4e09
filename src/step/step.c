/* One step. Start reading here. What happens, in this order, and where:
 *
 *     a scene at rest: only time goes on                                          sim/sleep.c
 *     bodies far from each other take the step by themselves, asleep or not      apart.c
 *     the state is saved                                                          save_state
 *     expressions and inputs are held                                             begin_step
 *     while time is left, a part of the step:                                     begin_part
 *         contacts are found, and which of them are held or collide               find_contacts: contact/, event/active_set.c
 *         where touching contacts approach, they collide: the next part           collide: event/impact.c
 *         else a trial for the time that is left:                                 trial.c
 *             forces, rows, matrix                                                scheme/
 *             solve, judge                                                        cp/
 *             where it leads                                                      scheme/
 *         (in a dense crowd the same without events)                              event/crowd.c
 *         events shorten the trial: jam, arrest, release, collision               event/events.c
 *         a trial that cannot be accepted: again, shorter                         the same
 *         the ledger books it, reports and events are told, the state moves there accept_part
 *         what happens there, and what is remembered of the contacts              event/events.c, contact/touch.c
 *     positions are pulled back onto the joints                                   end_step: project.c, exact.c
 *     ledger, certificate, audits, observers                                      observe
 *
 * A problem whose solution the judge does not accept is never applied. If the step fails, the saved state is restored. */
#include "step/step.h"

#include <string.h>

/* ---- a part ---- */

static void ask_as_usual(ss_sim *sim) {
  sim->part.asked.alpha = sim->trial.asked.alpha = sim->chosen.alpha;
  sim->part.asked.gamma = sim->trial.asked.gamma = sim->chosen.gamma;
  sim->crowd.dense = false;
}

void ss_part_begin(ss_sim *sim, bool collides) {
  ss_part *part = &sim->part;
  part->asked.h = sim->step.left;
  part->asked.push = 1;
  part->cuts = 0;
  part->collides = collides;
  part->again = true;
  sim->crowd.calm_fails = sim->search.looks_at_all = false;
  part->speed_bound =
      1.5 * sim->mechanics->largest_speed(sim, sim->state.v) + 2 * part->asked.h * sim->step.acceleration;
}

/* Pairs and contacts for a trial, what the active ones demand, and whether the trial is a crowd's. */
static ss_status find_contacts(ss_sim *sim, ss_error *error) {
  ss_part *part = &sim->part;
  sim->n_kept = 0;
  SS_TRY(sim->mechanics->find_contacts(sim, part->asked.h, error));
  SS_TRY(ss_refused(sim, error));
  ss_active_set(sim);
  ss_lap(sim, SS_STAGE_SEARCH);
  part->impact &= !sim->step.exhausted;
  ask_as_usual(sim);
  if (!ss_crowd_is_dense(sim, part->asked.h)) return SS_OK;
  if (part->impact || part->collides || ss_crowd_collides(sim, part->asked.h)) ss_crowd_begin(sim, part->asked.h);
  part->impact = false;
  return SS_OK;
}

/* Contacts that touch and approach collide; no time passes. */
static ss_status collide(ss_sim *sim, ss_error *error) {
  sim->part.end = 0;
  sim->control.broken = true;
  SS_TRY(ss_impact(sim, error));
  if (sim->trial.certified) SS_TRY(ss_deal(sim, 1, error));
  sim->report.solves.cuts += !sim->trial.certified;
  sim->step.exhausted |= !sim->trial.certified;
  ss_lap(sim, SS_STAGE_EVENTS);
  return SS_OK;
}

static ss_status show_problem(ss_sim *sim, ss_error *error) {
  for (int i = 0; i < sim->watch.n_observers && sim->trial.problem.n > 0; i++) {
    const ss_observer *o = &sim->watch.observers[i];
    if (!o->problem) continue;
    sim->watch.kept_quiet = true;
    if (sim->watch.quiet) continue;
    if (sim->trial.problem.structured) SS_TRY(ss_discretise_dense(sim, error));
    if (sim->trial.problem.divided) SS_TRY(ss_assemble(sim, error));
    const ss_cp problem = ss_problem_view(&sim->trial.problem);
    SS_TRY(o->problem(o->user, sim, &problem, sim->trial.problem.z, error));
  }
  return SS_OK;
}

/* Moves the state to where the part ends, inside its trial or with it. */
static void move(ss_sim *sim) {
  const double h = sim->part.asked.h, tau = sim->part.end, fraction = tau / h;
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
  sim->step.way += tau * sim->part.speed_bound;
  if (sim->options.tolerance > 0) ss_estimate_note(sim, tau, fraction);
}

/* The trial counts up to the part's end: work and impulses are booked, contacts told, the state moves there. */
static ss_status accept_part(ss_sim *sim, ss_error *error) {
  const double h = sim->part.asked.h, tau = sim->part.end;
  const bool dense = sim->crowd.dense;
  SS_TRY(show_problem(sim, error));
  if (sim->watch.variation) SS_TRY(sim->watch.vary->part(sim, sim->step.left, h, tau, sim->part.hit, error));
  if (sim->watch.weak) SS_TRY(ss_weak_part(sim, tau, error));
  ss_lap(sim, SS_STAGE_EVENTS);
  const double open = dense ? ss_ledger_open(sim) : 0, energy = dense ? ss_total_energy(sim) : 0;
  const double work = sim->report.energy.work;
  ss_ledger_part(sim, h, tau / h);
  ss_add_joint_impulses(sim, tau / h);
  ss_add_motor_impulses(sim, tau / h);
  SS_TRY(ss_deal(sim, tau / h, error));
  ss_tell_contacts(sim);
  if (sim->model->moments_anywhere) ss_note_ends(sim);
  if (sim->model->n_forces) ss_ledger_links(sim, h, tau / h, false);
  move(sim);
  if (sim->model->n_forces) ss_ledger_links(sim, h, tau / h, true);
  if (dense) ss_ledger_crowd(sim, open, energy, work);
  ss_events_happen(sim);
  SS_TRY(ss_touch_store(sim, error));
  if (sim->watch.variation) SS_TRY(sim->watch.vary->store(sim, error));
  ss_lap(sim, SS_STAGE_OBSERVE);
  SS_TRY(ss_refused(sim, error));
  sim->step.left = tau >= sim->step.left ? 0 : sim->step.left - tau;
  return SS_OK;
}

/* ---- a step ---- */

static void copy(void *to, const void *from, int n, size_t size) {
  if (n) memcpy(to, from, size * (size_t)n);
}

void ss_place_copy(const ss_sim *sim, ss_state *to, const ss_state *from) {
  copy(to->q, from->q, sim->model->n_q, sizeof *to->q);
  copy(to->v, from->v, sim->model->n_v, sizeof *to->v);
  copy(to->angle, from->angle, sim->model->n_angles, sizeof *to->angle);
}

static void copy_state(const ss_sim *sim, ss_state *to, const ss_state *from) {
  ss_place_copy(sim, to, from);
  copy(to->touch, from->touch, from->n_touch, sizeof *to->touch);
  copy(to->patch, from->patch, from->n_patch, sizeof *to->patch);
  to->n_touch = from->n_touch;
  to->n_patch = from->n_patch;
  to->t = from->t;
}

static ss_status save_state(ss_sim *sim, ss_error *error) {
  ss_state *kept = &sim->saved.state;
  SS_TRY(SS_GROW(kept->touch, kept->touch_capacity, sim->state.n_touch, error));
  SS_TRY(SS_GROW(kept->patch, kept->patch_capacity, sim->state.n_patch, error));
  copy_state(sim, kept, &sim->state);
  sim->saved.report = sim->report;
  if (sim->options.tolerance > 0) ss_estimate_save(sim);
  return SS_OK;
}

void ss_step_restore(ss_sim *sim) {
  ss_deal_begin(sim);
  copy_state(sim, &sim->state, &sim->saved.state);
  sim->report = sim->saved.report;
  if (sim->options.tolerance > 0) ss_estimate_restore(sim);
}

static ss_status observe(ss_sim *sim, bool collided, ss_error *error) {
  ss_report *report = &sim->report;
  ss_ledger_step(sim);
  if (sim->crowd.slept == 0) ss_certify_position(sim);
  ss_measure_variation(sim, collided);
  if (sim->trial.n_active > report->contacts_maximum) report->contacts_maximum = sim->trial.n_active;
  sim->state.step++;
  ss_lap(sim, SS_STAGE_OBSERVE);
  SS_TRY(ss_audit_step(sim, error));
  ss_lap(sim, SS_STAGE_AUDIT);
  ss_doubts_update(sim);
  report->contacts_mean += (sim->trial.n_active - report->contacts_mean) / (double)sim->state.step;
  for (int i = 0; i < sim->watch.n_observers; i++) {
    const ss_observer *o = &sim->watch.observers[i];
    if (o->step) SS_TRY(o->step(o->user, sim, error));
  }
  return SS_OK;
}

ss_status ss_fail_of_work(const ss_sim *sim, ss_error *error) {
  const double energy = sim->mechanics->kinetic_energy(sim, sim->state.v);
  if (!isfinite(energy))
    return ss_fail(
        error, SS_ERROR_UNCERTIFIED,
        "step %ld has used up its work at t = %.9g: speeds have grown until they are not finite; try a smaller "
        "step, or a linearly implicit scheme for springs",
        sim->state.step + 1, sim->state.t);
  return ss_fail(error, SS_ERROR_UNCERTIFIED,
                 "step %ld has used up its work at t = %.9g: speeds have grown to %.2g, and nearly all of the energy "
                 "(%.2g) came from nowhere; try a smaller step, or a linearly implicit scheme for springs",
                 sim->state.step + 1, sim->state.t, sim->mechanics->largest_speed(sim, sim->state.v), energy);
}

ss_status ss_fail_of_solving(const ss_sim *sim, ss_error *error) {
  return ss_fail(
      error, SS_ERROR_UNCERTIFIED,
      "step %ld has used up its work at t = %.9g: %.2g operations on contact problems of %d rows; try a smaller "
      "step, another scheme or cone, fewer contacts or patch elements, or a larger residual",
      sim->state.step + 1, sim->state.t, (double)sim->step.operations, sim->trial.problem.n);
}

/* The work of a step is bounded: when it is used up, the rest of the step locates nothing. Where the energy has blown up there is
 * nothing left to be followed, bodies hit each other thousands of times in a step, and the run ends. */
static ss_status begin_part(ss_sim *sim, int parts, ss_error *error) {
  enum { MOST_PARTS = 20000, MOST_LOOKS = 1000000, LOOKS_PER_CONTACT = 20000, BLOWN_UP = 20 };
  const long most = MOST_LOOKS + (long)LOOKS_PER_CONTACT * sim->trial.n_contacts;
  sim->step.exhausted |= parts >= MOST_PARTS || sim->step.looks > most;
  if (sim->step.looks > most / BLOWN_UP && ss_has_blown_up(sim)) return ss_fail_of_work(sim, error);
  sim->step.starts = parts == 0;
  ss_part_begin(sim, false);
  return SS_OK;
}

static ss_status begin_step(ss_sim *sim, double end, ss_error *error) {
  sim->step = (ss_step){.h = end - sim->state.t,
                        .left = end - sim->state.t,
                        .acceleration = sim->step.acceleration,
                        .stops_at_events = sim->step.stops_at_events,
                        .not_finite = sim->step.not_finite,
                        .transitions = sim->step.stops_at_events ? sim->control.transitions : 0};
  sim->step.drift_time = sim->options.tolerance > 0 ? sim->options.largest_step : sim->step.h;
  if (sim->system) ss_forgive(sim);
  sim->mechanics->begin_step(sim);
  return ss_hold_signals(sim, error);
}

/* Whether there is another part. An event so shortly behind the start belongs to it. */
static bool goes_on(const ss_sim *sim) {
  static const double instant = 1e-9;
  const ss_step *step = &sim->step;
  return step->left > 0 && !(step->stops_at_events && step->h - step->left > instant * step->h);
}

/* Positions are pulled back, unless a collision comes next: the projection would end the approach before the impact does. */
static ss_status pull_back(ss_sim *sim, double end, ss_error *error) {
  const bool hits_next = sim->step.left > 0 && sim->part.hit >= 0;
  if (sim->options.stabilization == SS_STABILIZATION_PROJECTION && !hits_next) SS_TRY(ss_project(sim, error));
  if (sim->exact.on && !hits_next) SS_TRY(ss_hold_joints(sim, error));
  if (ss_state_is_finite(sim)) return SS_OK;
  sim->step.not_finite = true;
  return ss_fail(error, SS_ERROR_UNCERTIFIED, "positions, velocities or energies are not finite at t = %.9g", end);
}

static ss_status end_step(ss_sim *sim, double end, ss_status status, ss_error *error) {
  if (status == SS_OK) status = pull_back(sim, end, error);
  ask_as_usual(sim);
  sim->control.transitions = sim->step.transitions;
  if (sim->step.left == 0) { /* what was counted in the step counts no longer */
    for (int i = 0; i < sim->state.n_touch; i++) sim->state.touch[i].hits = sim->state.touch[i].hops = 0;
    sim->control.transitions = 0;
    sim->state.t = end;
  }
  if (status != SS_OK || !sim->system) return status;
  ss_system_probe(sim);
  return ss_refused(sim, error);
}

ss_status ss_step_advance(ss_sim *sim, double end, bool *collided, ss_error *error) {
  ss_part *part = &sim->part;
  ss_status status = begin_step(sim, end, error);
  for (int parts = 0; status == SS_OK && goes_on(sim); parts++) {
    status = begin_part(sim, parts, error);
    while (status == SS_OK && part->again) {
      status = find_contacts(sim, error);
      if (status != SS_OK || part->impact) break;
      status = sim->crowd.dense ? ss_crowd_part(sim, error) : sim->chosen.attempt(sim, part->asked, error);
      if (status == SS_OK) status = ss_locate_events(sim, error);
    }
    if (status == SS_OK) status = part->impact ? collide(sim, error) : accept_part(sim, error);
    *collided |= part->impact;
  }
  return end_step(sim, end, status, error);
}

/* Where the step ends. A last step that is whole ends where it would in a longer run, to the last bit: a run that goes on from there is
 * that run. */
static double end_of_step(const ss_sim *sim) {
  const double whole = (double)(sim->state.step + 1) * sim->options.step, duration = sim->options.duration;
  const bool cut = sim->state.step + 1 >= sim->steps_total && fabs(whole - duration) > 1e-12 * duration;
  return cut ? duration : whole;
}

/* It has failed: as if it had not begun. */
static ss_status undo(ss_sim *sim, double end, ss_status status) {
  ss_step_restore(sim);
  sim->report.certificate.certified &= status == SS_ERROR_STOPPED; /* of the steps before */
  if (status == SS_ERROR_UNCERTIFIED && (sim->step.not_finite || !ss_problem_is_finite(sim)))
    ss_doubts_not_finite(sim, end);
  return status;
}

ss_status ss_sim_step(ss_sim *sim, ss_error *error) {
  if (ss_sim_done(sim)) return SS_OK;
  const double end = end_of_step(sim);
  bool collided = false, several = false, took = false;
  if (sim->clock.on) sim->clock.last = ss_seconds();
  if (ss_sleep_on(sim, end)) return observe(sim, false, error);
  ss_clear_impulses(sim);
  ss_status status = ss_apart_find(sim, end, &several, error);
  if (status == SS_OK) status = save_state(sim, error);
  if (status == SS_OK && several) status = ss_apart_advance(sim, end, &took, &collided, error);
  if (!took) ss_deal_begin(sim);
  if (status == SS_OK && !took)
    status = sim->options.tolerance > 0 ? ss_step_automatic(sim, &collided, error)
                                        : ss_step_advance(sim, end, &collided, error);
  if (status != SS_OK) return undo(sim, end, status);
  ss_forget_pushes(sim);
  ss_keep_guess(sim);
  ss_deal_end(sim);
  if (!took) ss_sleep_begin(sim);
  SS_TRY(ss_basis_check(sim, error));
  SS_TRY(observe(sim, collided, error));
  ss_lap(sim, SS_STAGE_OBSERVE);
  return SS_OK;
}
