/* Transitions of friction and contact inside a step: slip to stick, stick to slip, take-off, change of the friction facets
 * (MDI section 4, LIT; for facets see scheme/friction_faces.c, too).
 *
 * Arrest. Where slip ends, the friction force jumps, so the step must end there: the size tau of the part is found at
 * which the slip velocity at its end, along its initial direction, vanishes. For alpha < 1 a longer part would overshoot
 * (v+ = -v in the worst case, the oscillation of MDI Figure 9.1); for alpha = 1 it would stick early. Each trial is a
 * solution of the step problem for its own tau; slip is nearly linear in tau, so that the secant takes few of them.
 *
 * Release. Where a stuck contact starts to slip or a closed one opens, the force is continuous. The step problem of size
 * tau changes its answer at the tau_s whose mean force reaches the limit; a force that varies linearly reaches it itself
 * at tau_s/2, which is where the part ends. A change that happens for every tau is happening now. */
#include "step/step.h"

enum { MOST_TRIALS = 30, BISECTIONS = 20 };
enum { MOMENTS = 1U << SS_MOTION_SPIN | 1U << SS_MOTION_ROLL };

/* The velocities that friction opposes, at configuration q: slip of the points, and where there are moments, spin about
 * the normal and rolling about the tangents, as lengths per time. */
enum { SLIP = SS_MOTION_SLIP, SPIN = SS_MOTION_SPIN, ROLL = SS_MOTION_ROLL, KINDS = SS_SLIP_KINDS };

void ss_slips_at(const ss_sim *sim, const ss_contact *c, double t, const double *q, const double *v,
                 ss_vec3 out[KINDS]) {
  ss_contact_place place;
  sim->mechanics->place(sim, c, t, q, &place);
  const ss_vec3 normal = place.at.normal;
  const ss_vec3 velocity = v3_add(sim->mechanics->velocity(sim, c, &place, v), place.drive);
  out[SLIP] = v3_axpy(velocity, -v3_dot(velocity, normal), normal);
  if (c->n_rows == c->n_forces) return;
  ss_vec3 linear, turn_a, turn_b;
  ss_twist_of(sim->model, v, c->body[0], &linear, &turn_a);
  ss_twist_of(sim->model, v, c->body[1], &linear, &turn_b);
  const ss_vec3 turn =
      v3_sub(quat_rotate(place.pose[0].orientation, turn_a), quat_rotate(place.pose[1].orientation, turn_b));
  const double length = sim->model->length, spin = v3_dot(turn, normal);
  const unsigned motions = ss_contact_motions(c);
  out[SPIN] = v3_scale(motions >> SPIN & 1 ? length * spin : 0, normal);
  out[ROLL] = motions >> ROLL & 1 ? v3_scale(length, v3_axpy(turn, -spin, normal)) : v3(0, 0, 0);
}

/* after as a fraction of before, along its direction; 1 where it only turns, which is no arrest. */
static double left_of(ss_vec3 before, ss_vec3 after) {
  const double size = v3_dot(before, before), along = v3_dot(before, after) / size;
  const ss_vec3 across = v3_axpy(after, -along, before);
  return along < 0 && v3_dot(across, across) > 0.01 * size ? 1 : along;
}

/* What is left at the end of a contact's initial slip, for these velocities at the start and the end; 1 where it does not
 * slide. */
static double slip_left_of(const ss_sim *sim, const ss_contact *c, const double *v, const double *v_end) {
  const double still = 1e-10 * sim->part.speed_bound;
  const bool moments = c->n_rows > c->n_forces;
  if (c->row < 0 || c->n_rows < 2 || c->impulse[0] <= 0 || (c->was_stuck && !moments)) return 1;
  /* faces of one set for forces and moments tell where it stops as a whole; a spin alone that passes through zero ends nothing */
  if (moments && c->fixed && ss_locates(sim, SS_EVENT_FACET) && ss_friction_cone(sim, c) != SS_CONE_PYRAMID) return 1;
  double least = 1;
  ss_vec3 before[KINDS], after[KINDS];
  ss_slips_at(sim, c, sim->state.t, sim->state.q, v, before);
  ss_slips_at(sim, c, sim->state.t + sim->trial.asked.h, sim->trial.q_end, v_end, after);
  for (int kind = c->was_stuck || c->n_forces < 2 ? SPIN : SLIP; kind < (moments ? KINDS : SPIN); kind++) {
    const double size = v3_dot(before[kind], before[kind]);
    if (size > still * still) least = fmin(least, left_of(before[kind], after[kind]));
  }
  return least;
}

/* The smallest of them over all contacts, and of the distances from the borders of fixed polygons. */
static double least_left(const ss_sim *sim, const double *v, const double *v_end) {
  double least = 1;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (ss_locates(sim, SS_EVENT_STICK_SLIP)) least = fmin(least, slip_left_of(sim, c, v, v_end));
    if (c->fixed && c->row >= 0 && c->impulse[0] > 0 && ss_locates(sim, SS_EVENT_FACET))
      least = fmin(least, ss_face_left(sim, c, v, v_end));
  }
  return least;
}

/* Far from an arrest the state's own velocities say so. */
static double slip_left(ss_sim *sim) {
  static const double far = 0.5;
  const double plain = least_left(sim, sim->state.v, sim->trial.v_end);
  if (plain > far || !ss_velocities_alternate(sim)) return plain;
  double *v = sim->scratch.consistent, *v_end = v + sim->model->n_v;
  ss_consistent_velocity(sim, sim->state.t, sim->state.q, sim->state.v, v);
  ss_consistent_velocity(sim, sim->state.t + sim->trial.asked.h, sim->trial.q_end, sim->trial.v_end, v_end);
  return least_left(sim, v, v_end);
}

static bool slips_below(const ss_sim *sim, const ss_contact *c, double speed) {
  if (speed == 0 || c->row < 0) return false;
  ss_vec3 slip[KINDS];
  ss_slips_at(sim, c, sim->state.t, sim->state.q, sim->state.v, slip);
  return v3_norm(slip[SLIP]) <= speed;
}

static void find_reversing(void *user, int from, int to, double *largest) {
  const ss_sim *sim = user;
  const double slow =
      sim->crowd.landing_speed > 0 ? sim->step.h * sim->step.acceleration : 0; /* what friction may well stop */
  for (int i = from; i < to; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0 || c->idle || slips_below(sim, c, slow)) continue;
    if (slip_left_of(sim, c, sim->state.v, sim->trial.v_end) <= -0.999) *largest = fmax(*largest, c->impulse[0]);
  }
}

/* Largest normal impulse of a contact whose slip is reversed. */
static double reversing_impulse(ss_sim *sim) { return ss_most(sim, sim->trial.n_contacts, find_reversing, sim); }

/* Where slip is reversed (v+ = -v) by an impulse that does not shrink with the part, the contact jams: the paradox of
 * Painleve (ST section 1.4). Weighted velocities below alpha = 1 would hand it twice the impulse that stops it, so that
 * it is taken by a very short part with alpha = 1, which brings the contact to rest. */
ss_status ss_locate_jam(ss_sim *sim, ss_error *error) {
  static const double shorter = 1e-4;
  const double impulse = sim->part.asked.alpha < 1 ? reversing_impulse(sim) : 0;
  if (impulse == 0) return SS_OK;
  ss_asked asked = sim->part.asked;
  asked.alpha = 1;
  asked.h = shorter * sim->trial.asked.h;
  ss_trial_keep(sim);
  SS_TRY(ss_attempt(sim, asked.h, error));
  if (!sim->trial.certified) return SS_OK;
  if (!(reversing_impulse(sim) > 0.1 * impulse)) {
    ss_trial_back(sim);
    return SS_OK;
  }
  ss_trial_drop(sim);
  return sim->chosen.attempt(sim, asked, error);
}

ss_status ss_locate_arrest(ss_sim *sim, ss_error *error) {
  static const double small = 1e-12;
  const bool overshoots = sim->part.asked.alpha < 1;
  const double h = sim->trial.asked.h;
  double low = 0, high = h, high_left = slip_left(sim);
  if (high_left > (overshoots ? -small : small)) return SS_OK; /* none, or it ends exactly here */
  /* For alpha = 1 slip stays zero beyond its end, but for rounding: the trial must fall short of it, by a little. */
  const double aim = overshoots ? 0 : small / 2, none = aim / 2;
  /* Trials in which friction acts as it does before the arrest, the last two of them, are what the secant goes through;
   * overshooting ones belong to them for alpha < 1, up to where the slip is reversed. */
  const double smooth = overshoots ? -0.999 : none;
  double before = 0, before_left = 1, last = 0, last_left = 1;
  if (high_left > smooth) last = high, last_left = high_left;
  const int kept = sim->n_kept;
  bool falls_short = false; /* the trial in hand is that of `low`, which is kept while longer ones are tried */
  for (int trial = 0; trial < MOST_TRIALS && high - low > 1e-15 * h; trial++) {
    double tau = (low + high) / 2;
    if (last > 0)
      tau = last + (aim - last_left) * (last - before) / (last_left - before_left);
    else if (high_left < -small)
      tau = high / (1 - high_left);
    if (!(tau > low) || !(tau < high) || trial % 8 == 7) tau = (low + high) / 2;
    if (falls_short) {
      if (sim->n_kept > kept) ss_trial_drop(sim);
      ss_trial_keep(sim);
    }
    SS_TRY(ss_attempt(sim, tau, error));
    if (!sim->trial.certified) return SS_OK;
    const double left = slip_left(sim);
    falls_short = left > none;
    if (falls_short)
      low = tau;
    else
      high = tau, high_left = left;
    if (left > smooth) {
      before = last, before_left = last_left;
      last = tau, last_left = left;
    }
    if (fabs(left) <= small && (overshoots || falls_short)) {
      falls_short = true;
      break;
    }
  }
  if (sim->n_kept > kept) (falls_short ? ss_trial_drop : ss_trial_back)(sim);
  return SS_OK;
}

/* Whether friction lets go a moment that it has held, or its share of what friction can hold has reached `limit`. */
bool ss_moments_let_go(const ss_contact *c, double limit) {
  if (c->was_held & ~c->held & MOMENTS) return true;
  for (int m = SS_MOTION_SPIN; m < SS_MOTIONS; m++)
    if (c->was_held >> m & 1 && c->moment_ratio[m] >= limit) return true;
  return false;
}

/* Whether a contact that stuck or pressed before does so no longer in the solved part. `closely`: shortly behind the start of slip its
 * speed, which grows with the square of time, is still below what counts as none; that the force is at its limit is seen at once. */
static bool released(const ss_sim *sim, bool closely) {
  static const double at_limit = 1 - 1e-12;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0 || !c->closed) continue;
    const bool presses = c->impulse[0] > 0;
    if (ss_locates(sim, SS_EVENT_TAKE_OFF) && c->pressed_before && c->opens) return true;
    if (ss_locates(sim, SS_EVENT_STICK_SLIP) && c->was_stuck && presses &&
        (!c->stuck || (closely && c->ratio >= at_limit)))
      return true;
    if (ss_locates(sim, SS_EVENT_STICK_SLIP) && presses && ss_moments_let_go(c, closely ? at_limit : HUGE_VAL))
      return true;
    if (ss_locates(sim, SS_EVENT_FACET) && c->fixed && presses &&
        (ss_face_let_go(sim, c) ||
         (closely && c->face == c->last_face && ss_face_holds(sim, c, c->face) && c->ratio >= at_limit)))
      return true;
  }
  return false;
}

/* Where in the part (0 to h) a quantity with mean `now`, and `before` around an earlier time, crosses `limit` if it goes on
 * changing at that rate; h where it does not. */
double ss_crossing(double before, double when_before, double now, double when, double limit, double h) {
  const double slope = (now - before) / (when - when_before);
  const double tau = h / 2 + (limit - now) / slope;
  return tau > 0 && tau < h ? tau : h; /* h also for NaN: nothing is remembered */
}

/* Where friction will let go a moment: each one at its own limit (a box), or all that is held at once, where |z|_S = mu z_n. */
double ss_moments_foreseen(const ss_sim *sim, const ss_contact *c, double h) {
  const bool slip_held = c->n_forces < 2 || (c->was_stuck && c->stuck), rises = c->ratio > c->last_ratio;
  const bool box = ss_friction_cone(sim, c) == SS_CONE_PYRAMID;
  const unsigned held = c->held & c->was_held;
  double first = h;
  if (!box) {
    const bool all = slip_held && held == (ss_contact_motions(c) & MOMENTS);
    return all && rises ? ss_crossing(c->last_ratio, c->last_when, c->ratio, c->when, 1, h) : h;
  }
  if (c->n_forces > 1 && slip_held && rises) first = ss_crossing(c->last_ratio, c->last_when, c->ratio, c->when, 1, h);
  for (int m = SS_MOTION_SPIN; m < SS_MOTIONS; m++)
    if (held >> m & 1 && c->moment_ratio[m] > c->last_moment_ratio[m])
      first = fmin(first, ss_crossing(c->last_moment_ratio[m], c->last_when, c->moment_ratio[m], c->when, 1, h));
  return first;
}

/* Earliest release inside a part whose mean forces are still within their limits. */
static double foreseen(const ss_sim *sim, double h) {
  double first = h;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0 || !c->closed || !c->pressed_before) continue;
    if (ss_locates(sim, SS_EVENT_TAKE_OFF))
      first = fmin(first, ss_crossing(c->last_load, c->last_when, c->load, c->when, 0, h));
    if (ss_locates(sim, SS_EVENT_STICK_SLIP) && c->n_rows > c->n_forces)
      first = fmin(first, ss_moments_foreseen(sim, c, h));
    else if (ss_locates(sim, SS_EVENT_STICK_SLIP) && c->was_stuck && c->stuck && c->ratio > c->last_ratio)
      first = fmin(first, ss_crossing(c->last_ratio, c->last_when, c->ratio, c->when, 1, h));
    if (ss_locates(sim, SS_EVENT_FACET) && c->fixed && c->face == c->last_face && c->ratio > c->last_ratio &&
        ss_face_holds(sim, c, c->face))
      first = fmin(first, ss_crossing(c->last_ratio, c->last_when, c->ratio, c->when, 1, h));
  }
  return first;
}

ss_status ss_locate_release(ss_sim *sim, ss_error *error) {
  const double h = sim->trial.asked.h, now = 1e-2 * h; /* a change within so short a part is happening already */
  double low = 0, high = h;
  if (!released(sim, false)) {
    const double tau = foreseen(sim, h);
    return tau > h - now ? SS_OK : ss_attempt(sim, tau, error);
  }
  ss_trial_keep(sim);
  for (int k = 0; k < BISECTIONS && high > now; k++) {
    const double tau = k == 0 ? now : (low + high) / 2;
    SS_TRY(ss_attempt(sim, tau, error));
    if (!sim->trial.certified) return SS_OK;
    *(released(sim, true) ? &high : &low) = tau;
  }
  if (!(low > now)) { /* it happens now: the whole part is one with the change */
    ss_trial_back(sim);
    return SS_OK;
  }
  ss_trial_drop(sim);
  return ss_attempt(sim, low / 2, error);
}

/* What friction has held before has ended then: the little that alternates about its constraint does not end again. */
static bool ends(const ss_contact *c, int motion, ss_vec3 before, ss_vec3 after, double still) {
  return !(c->was_held >> motion & 1) && v3_norm(before) > still && v3_norm(after) <= 1e-8 * v3_norm(before);
}

void ss_note_ends(ss_sim *sim) {
  const double still = 1e-10 * sim->part.speed_bound, end = sim->state.t + sim->trial.asked.h;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    c->spin_ends = c->roll_ends = false;
    if (c->row < 0 || c->patch || c->n_rows == c->n_forces || c->impulse[0] <= 0) continue;
    ss_vec3 before[KINDS], after[KINDS];
    ss_slips_at(sim, c, sim->state.t, sim->state.q, sim->state.v, before);
    ss_slips_at(sim, c, end, sim->trial.q_end, sim->trial.v_end, after);
    c->spin_ends = ends(c, SPIN, before[SPIN], after[SPIN], still);
    c->roll_ends = ends(c, ROLL, before[ROLL], after[ROLL], still);
  }
}
