/* What may end a part before the step does: a table, and the loop that runs it over a solved trial.
 *
 *     event       watched                                located by                     what happens there          told
 *     jam         slip reversed by an impulse that       a very short part              alpha = 1 stops the slip
 *                 does not shrink with the part
 *     arrest      slip, or the distance from the next    trials of other sizes until    velocities are made         stick, facet,
 *                 border of a fixed polygon              it vanishes at the end         consistent                  end of spin, rolling
 *     release     force against its limit                bisection, or extrapolation    nothing: it is continuous   slip, take-off, facet
 *     collision   gaps along the path                    roots of cubics                the next part begins with   collision
 *                                                                                       an impact (impact.c)
 *
 * Between them stand two rows that are no events: positions pushed back too violently, and trials that cannot be accepted, for which
 * a shorter part is tried. Order matters: each row sees the trial as those above have left it. Which events are located is `events:` of
 * the scene; located or not, they are told. What is not located although the scene says so is crowd.c's affair. */
#include "step/step.h"

enum { MOST_TRANSITIONS = 12, MOST_CUTS = 10, MOST_SINKS = 8 };

/* ---- transitions ---- */

static bool watches_transitions(const ss_sim *sim) {
  return sim->trial.certified && !sim->crowd.dense && !sim->step.exhausted && sim->step.transitions < MOST_TRANSITIONS;
}

static bool watches_arrests(const ss_sim *sim) {
  return watches_transitions(sim) && (sim->chosen.located & (SS_EVENT_STICK_SLIP | SS_EVENT_FACET));
}

static bool watches_releases(const ss_sim *sim) { return watches_transitions(sim) && ss_locates_transitions(sim); }

/* ---- the trial itself ---- */

static bool is_certified(const ss_sim *sim) { return sim->trial.certified; }
static bool always(const ss_sim *sim) {
  (void)sim;
  return true;
}

/* By how much the bodies of a contact that are not round turn in the part, at most. */
static double turns(const ss_sim *sim, const ss_contact *c, double h) {
  double most = 0;
  for (int k = 0; k < 2; k++) {
    const ss_shape *shape = &sim->model->shapes[c->shape[k]];
    ss_vec3 linear, angular;
    if (c->body[k] < 0 || shape->reach <= shape->radius) continue;
    ss_twist_of(sim->model, sim->trial.v_end, c->body[k], &linear, &angular);
    most = fmax(most, h * v3_norm(angular));
  }
  return most;
}

/* Whether an active contact would end a good deal deeper than it started: rows hold at the start of the part (or in its
 * middle), and a body that turns or rolls over far in it leaves them. */
static bool sinks(const ss_sim *sim, const ss_contact *c, double h) {
  static const double share = 0.01, far = 0.1, wide = 1; /* wide: radians; what turns further may be through */
  const ss_model *model = sim->model;
  if (c->row < 0 || !c->pair || c->patch || c->kept) return false;
  const double size = fmin(model->shapes[c->shape[0]].reach, model->shapes[c->shape[1]].reach);
  if (!(size > 0) || sim->part.speed_bound * h < far * size) return false;
  if (turns(sim, c, h) > wide) return true;
  const ss_pose a = ss_pose_of(sim->trial.q_end, c->body[0]), b = ss_pose_of(sim->trial.q_end, c->body[1]);
  return ss_contact_depth(model, c, &a, &b) > share * size + fmax(-c->at.gap, 0);
}

static void count_sinking(void *user, int from, int to, double *count) {
  const ss_sim *sim = user;
  for (int i = from; i < to && *count == 0; i++) *count += sinks(sim, &sim->trial.contacts[i], sim->part.asked.h);
}

static bool something_sinks(ss_sim *sim) {
  double count;
  ss_sums(sim, sim->trial.n_contacts, count_sinking, sim, &count, 1);
  return count > 0;
}

/* Half the part, if there is to be another trial at all. */
static ss_status cut(ss_sim *sim, ss_error *error) {
  sim->report.solves.cuts++;
  sim->part.asked.h /= 2;
  if (++sim->part.cuts <= MOST_CUTS) return SS_OK;
  if (sim->trial.problem.divided && ss_assemble(sim, error) != SS_OK)
    return SS_ERROR_MEMORY; /* for whoever wants to see it */
  const int pushed = ss_pushed_without_end(sim, sim->state.t, sim->state.t + sim->part.asked.h);
  if (pushed >= 0)
    return ss_fail(error, SS_ERROR_UNCERTIFIED, "the force on '%s' is not finite shortly after t = %.17g",
                   sim->model->bodies[pushed].name, sim->state.t);
  return ss_fail(error, SS_ERROR_UNCERTIFIED, "no certified step at t = %.17g, even with h = %.3g%s", sim->state.t,
                 sim->part.asked.h, sim->step.not_finite ? ": velocities are not finite" : "");
}

static ss_status check_trial(ss_sim *sim, ss_error *error) {
  ss_part *part = &sim->part;
  part->again = true;
  if (!sim->trial.certified) {
    const bool shorter = !ss_pushes(sim); /* once the same without pushing anything out, then shorter */
    part->asked.push = 0;
    return shorter ? cut(sim, error) : SS_OK;
  }
  if (part->cuts < MOST_SINKS && (something_sinks(sim) || (sim->crowd.dense && sim->crowd.overlooked)))
    return cut(sim, error);
  const double speed = sim->mechanics->largest_speed(sim, sim->trial.v_end);
  const bool faster = speed > part->speed_bound; /* than was assumed: contacts may have been overlooked */
  if (faster) part->speed_bound = 1.5 * speed;
  part->again = faster || ss_aside_may_meet(sim, part->asked.h);
  return SS_OK;
}

/* ---- collisions ---- */

static bool watches_collisions(const ss_sim *sim) {
  return ss_locates(sim, SS_EVENT_COLLISION) && !sim->step.exhausted && !sim->crowd.dense;
}

/* Where slip ends, friction changes, and what alternated about the constraints would stay in the slip (consistent.c). */
static void become_consistent(ss_sim *sim) {
  if (ss_velocities_alternate(sim)) ss_make_consistent(sim);
}

/* ---- the table ---- */

typedef struct ss_event_row {
  const char *name;
  unsigned ends; /* SS_ENDS_...: what ends the part where it is shortened; 0: no event */
  bool (*watched)(const ss_sim *sim);
  ss_status (*locate)(ss_sim *sim, ss_error *error); /* shortens the trial to end there */
  void (*happens)(ss_sim *sim); /* once the state is there, at the end of the trial; NULL: nothing */
} ss_event_row;

static const ss_event_row table[] = {
    {"jam", SS_ENDS_JAM, watches_transitions, ss_locate_jam, NULL},
    {"arrest", SS_ENDS_ARREST, watches_arrests, ss_locate_arrest, become_consistent},
    {"release", SS_ENDS_RELEASE, watches_releases, ss_locate_release, NULL},
    {"push", 0, is_certified, ss_push_gently, NULL},
    {"trial", 0, always, check_trial, NULL},
    {"collision", 0, watches_collisions, ss_locate_collision, NULL}, /* part->hit says which */
};
enum { ROWS = sizeof table / sizeof *table };

ss_status ss_locate_events(ss_sim *sim, ss_error *error) {
  ss_part *part = &sim->part;
  part->ends = 0;
  part->hit = -1;
  part->end = INFINITY;
  part->refined = part->again = false;
  SS_TRY(ss_trial_reserve(sim, error));
  for (int i = 0; i < ROWS && !part->again; i++) {
    if (!table[i].watched(sim)) continue;
    SS_TRY(table[i].locate(sim, error));
    if (part->again || !sim->trial.certified || !(sim->trial.asked.h < part->asked.h)) continue;
    part->asked.h = sim->trial.asked.h;
    part->ends |= table[i].ends;
  }
  sim->step.transitions += part->ends != 0;
  if (part->ends & SS_ENDS_RELEASE) part->ends &= ~(unsigned)SS_ENDS_ARREST;
  part->end = fmin(part->end, part->asked.h);
  return SS_OK;
}

/* The part ends where a slip does. */
static bool ends_in_arrest(const ss_sim *sim) {
  return sim->part.end == sim->part.asked.h && (sim->part.ends & SS_ENDS_ARREST);
}

void ss_events_happen(ss_sim *sim) {
  const bool arrest = ends_in_arrest(sim);
  if (sim->part.end < sim->part.asked.h) return;
  for (int i = 0; i < ROWS; i++)
    if (table[i].happens && (sim->part.ends & table[i].ends)) table[i].happens(sim);
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (arrest && c->slip_ends) ss_emit(sim, SS_STICK, c, 0);
    if (c->spin_ends) ss_emit(sim, SS_SPIN_END, c, 0);
    if (c->roll_ends) ss_emit(sim, SS_ROLL_END, c, 0);
  }
}

/* ---- what is told ---- */

/* Whether a crowd's contact that has closed in the part stays: it neither bounces nor goes on approaching, which the next part ends. */
static bool comes_to_rest(const ss_sim *sim, const ss_contact *c) {
  const double rate = ss_row_dot(sim->model, &sim->trial.problem.rows[c->row], sim->trial.v_end);
  return c->bounce == 0 && rate >= -(sim->part.speed_tolerance + c->blur);
}

/* Whether the contact is closed at the part's end: one of several feet may carry nothing and stay; at position level the slack is the gap
 * that opens, over the step. */
static bool stays_closed(const ss_sim *sim, const ss_contact *c, bool carries) {
  const bool velocity_level = !sim->scheme->position_level || ss_locates(sim, SS_EVENT_COLLISION);
  const bool closed = carries || ((velocity_level || c->closed) && !c->patch &&
                                  sim->trial.problem.slack[c->row] <= sim->part.speed_tolerance + c->blur);
  return closed && (!sim->crowd.dense || comes_to_rest(sim, c));
}

/* Whether a contact closes on a body that already pressed on another, with friction: at position level the blow is dealt out in two steps, and
 * friction with it (docs/theory.md). */
static bool splits_a_blow(const ss_sim *sim, const ss_contact *c) {
  if (!sim->scheme->position_level || ss_locates(sim, SS_EVENT_COLLISION) || !sim->model->friction_anywhere)
    return false;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *other = &sim->trial.contacts[i];
    if (other == c || other->row < 0 || !other->pressed_before || !(c->mu > 0 || other->mu > 0)) continue;
    for (int side = 0; side < 2; side++)
      if (c->body[side] >= 0 && (c->body[side] == other->body[0] || c->body[side] == other->body[1])) return true;
  }
  return false;
}

/* What the solution says of a contact whose fields still say how it was before. */
static void tell(ss_sim *sim, ss_contact *c) {
  const bool carries = c->impulse[0] > 0, closed = stays_closed(sim, c, carries), dense = sim->crowd.dense;
  const bool collides = !c->closed && !c->met && (closed || (dense && carries)) && c->rate < -sim->part.speed_tolerance;
  const bool changes = carries && c->pressed_before && c->n_rows > 1 && c->stuck != c->was_stuck;
  const bool turns_face = !changes && c->pressed_before && c->face && c->last_face && c->face != c->last_face;
  const unsigned let_go = carries && c->pressed_before && !c->patch ? c->was_held & ~c->held : 0;
  const struct {
    ss_event_kind kind;
    bool holds;
  } told[] = {
      {SS_TAKE_OFF, c->closed && !closed},
      {SS_COLLISION, collides},
      {SS_STICK,
       changes && c->stuck && !ends_in_arrest(sim)}, /* else at the part's end: with alpha = 1 it sticks already */
      {SS_SLIP, changes && !c->stuck},
      {SS_FACET, turns_face},
      {SS_SPIN_BEGIN, let_go >> SS_MOTION_SPIN & 1},
      {SS_ROLL_BEGIN, let_go >> SS_MOTION_ROLL & 1},
  };
  for (size_t k = 0; k < sizeof told / sizeof *told; k++)
    if (told[k].holds) ss_emit(sim, told[k].kind, c, 0);
  c->slip_ends = changes && c->stuck;
  if (collides) sim->report.solves.split_blows += splits_a_blow(sim, c);
  if (dense && carries && !closed && c->bounce == 0) c->hops++; /* so that it is remembered */
  c->closed = closed;
}

void ss_tell_contacts(ss_sim *sim) {
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (sim->trial.contacts[i].row >= 0 && !sim->trial.contacts[i].kept) tell(sim, &sim->trial.contacts[i]);
}
