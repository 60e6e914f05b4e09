/* Crowds: everything that is not located exactly, and why. Off for few bodies: with fewer than 16 contacts that are closed or have
 * collided in the step, every collision is located; so it is in runs with a tolerance or with sensitivities.
 *
 *     contacts   what happens                                    error
 *     >= 16      gentle landings are held by the problem         positions: v h, v < g h/2
 *                what swings at rest is stopped, rest stays       velocities: g h/16, once; 16 residual g h per step
 *     >= 64      steps with collisions are one problem           of order one: positions v h at a collision
 *                (>= 16 where eight pairs of bodies collide in one step, none of them with e = 1)
 *
 * Contacts are those of the scene, closed ones of other clusters (apart.c) among them; for the last line 16 of them are the cluster's own: a
 * ball that bounces beside a heap is located.
 *
 * The last line holds where the scene does not name the events to be located.
 *
 * == Gentle landings ==
 *
 * In a heap that comes to rest most collisions are slower than what gravity makes of a hundredth of the step: a foot that an
 * impact elsewhere has lifted, a ball that the others let down. Each of them located would end a part, for all bodies,
 * with an impact and the rest of the step to be solved anew, dozens of times per step. Instead the part's own problem lets
 * them land. A contact with gap Phi that approaches at v = -n.v is held by n.v+ >= u, with
 *
 *     u = max(0, p),    Phi + h [(1-gamma) n.v + gamma p] = 0
 *
 * so that at the end of the part it neither approaches nor overlaps; what stays open (at most v h/2) closes in the next part.
 * Its impulse acts while n.va = (1-alpha) n.v + alpha u <= 0: it takes energy, and never gives any. Positions err by less
 * than v h.
 *
 * v is below g h/2: what is not returned then are bounces that take 2 e v/(g (1-e)) <= h, all of them together; with e above 1/2
 * the speed is lower by (1-e)/e. Bodies without gravity, which nothing drives together, do not land.
 *
 * A blow goes through a wall or a stack in dozens of collisions, microseconds one after the other, for gaps that are much smaller
 * than what landings leave open. Contacts that approach each other faster, across at most v h/16, therefore collide at once
 * (event/active_set.c), all of them in one impact.
 *
 * With alpha = 1/2 a contact that is pressed and approaches is reflected, for ever. Steps of a crowd therefore begin with an
 * impact where closed contacts approach (ss_settles); where nothing else collides it returns nothing.
 *
 * == Rest ==
 *
 * Constraints on va = alpha v+ + (1-alpha) v keep velocities that lie beside them for ever: with alpha = 1/2 what an impact or
 * a solver's residual leaves, however small, changes its sign with every step (MDI section 9.1), and the forces of a heap at
 * rest change with it. Each step would be a new problem, which the forces before do not solve. In a crowd (is_crowd below) bodies
 * that hold each other and are all slower than what gravity makes of a 16th of the step are therefore stopped, by
 *
 *     J v+ = 0    instead of    J va = 0        offset -(1-alpha) J v, for all rows of all contacts of the island
 *
 * (For some of the rows alone, feet that repeat each other would contradict each other.) The impulses z do the work z.Jv/2 by
 * it. Where that is above zero, with the forces before or with those that are found, the island is left as it is: in the next
 * step it has the other sign. No energy is created.
 * Positions move by the speed times h/2, once. Bodies that move are not touched: their order is two. Nor are mechanisms, whose
 * joints have rows of the same kind, and systems.
 *
 * An island is at rest where its bodies are slower than what the residual leaves open (16 residual g h), where the impulses of
 * the last part change that by no more, and where these impulses solve the problem of bodies at rest, by the judge. Its
 * velocities are then set to zero, and positions stay as they are, to the last bit: the next step has the same problem, and
 * the same answer. The error is a momentum of at most m 16 residual g h per body and step. What is remembered of its contacts stays as it
 * is, too; where everything rests, steps are not computed at all (sim/sleep.c).
 *
 * == A whole step at once ==
 *
 * Hundreds of collisions per step, each of which moves a few bodies, would each end a part for all of them. Where many contacts
 * are busy and something collides, the rest of the step is one problem instead, with alpha = gamma = 1 and contacts at position
 * level (ST (3)): Phi/h + n.v+ >= 0 for all contacts that may close. A gap of spheres is a convex function of their places, so
 * that none of them ends below zero; other shapes turn, and overlap by (h w)^2 times their size, which is pushed back
 * (step/push.c). Contacts that turn out to close though nothing said so are added, and the problem is solved again; so are
 * features that meet only at the end of the step, as they are at its start. Where they are not to be followed back there and
 * the shapes end in each other by more than 2e-4 of their size, the part is halved.
 * Bodies that nothing holds keep the scheme's own gamma: they fly as they do in any other step.
 *
 * The gaps of contacts that carried force are left as they are while they are within 1e-5 of the shapes' size: n.v+ >= 0. A step leaves
 * gaps of (v h)^2/2r where bodies roll over each other, and in a heap whose contacts stick the rows depend on each other: to close such
 * gaps exactly contradicts sticking, and is possible only after forces have grown along the heap's self-stresses until something slips.
 * Sweeps need as many iterations for that as the gap is small. So do other steps of a crowd with contacts of idle bodies: heaps could not
 * rest.
 *
 * The residual is relative to the largest speed: it leaves millimetres per second open where blows are fast. The problem is solved so that
 * no gap errs by more than 8e-5 of the smaller shape's size (ss_crowd_residual), if that is less than the scene's residual, which decides
 * as ever. Impulses start from the last step's, those of contacts that have just met and still approach among them.
 *
 * Gyroscopic torques act on free bodies (A of forces.c); impulses change velocities by M. With A = M - h [Iw]x for both, G would
 * not be symmetric, and what is redundant (a ball on the floor and at a wall) would only nearly be so. Impulses then take energy in
 * the norm of M, and the free motion creates none; the splitting is of order one, as the step is.
 *
 * Restitution: a contact that meets at the speed v within the step parts with n.v+ >= e v (Moreau), if gravity does not take that
 * back within the step. Newton's law may create energy among contacts of different e or with friction. Where the bodies are
 * faster than their free motion would be, the step is solved again without restitution, and counted as not returned. */
#include "step/step.h"

/* Whether many contacts are closed or have collided in this step. */
static bool is_crowd(const ss_sim *sim) {
  int busy = sim->crowd.elsewhere;
  for (int i = 0; i < sim->trial.n_contacts && busy < SS_CROWD; i++)
    busy += sim->trial.contacts[i].closed || sim->trial.contacts[i].hits > 0;
  return busy >= SS_CROWD;
}

static bool needs_all(const ss_sim *sim) {
  return sim->options.tolerance > 0 || sim->watch.variation || !ss_locates(sim, SS_EVENT_COLLISION);
}

void ss_landing_begin(ss_sim *sim) {
  static const double share = 0.5;
  sim->crowd.landing_speed = needs_all(sim) || !is_crowd(sim) ? 0 : share * sim->step.h * sim->step.acceleration;
}

double ss_landing_speed(const ss_sim *sim, const ss_contact *c) {
  const double e = c->restitution;
  if (e >= 1 && c->hits < SS_MOST_BOUNCES) return 0;
  return sim->crowd.landing_speed * (e > 0.5 && e < 1 ? (1 - e) / e : 1);
}

bool ss_lands_gently(const ss_sim *sim, const ss_contact *c, double rate) {
  return sim->crowd.landing_speed > 0 && rate >= -ss_landing_speed(sim, c);
}

bool ss_settles(const ss_sim *sim, const ss_contact *c) {
  return sim->crowd.landing_speed > 0 && sim->step.starts && c->restitution < 1 && c->rate < -ss_gentle_speed(sim);
}

static bool lands(const ss_contact *c, double until) { return !c->active && c->lands_at < until; }

static bool something_lands(const ss_sim *sim, double until) {
  for (int i = 0; i < sim->trial.n_contacts && sim->crowd.landing_speed > 0; i++)
    if (lands(&sim->trial.contacts[i], until)) return true;
  return false;
}

/* Those that would land after the part's end are watched as before. */
static void hold_landings(ss_sim *sim, double until) {
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    if (lands(c, until)) c->active = c->lands = true;
  }
}

/* The first collision in the trial. What lands gently before it is held, and the trial solved again; what still lands then is located
 * like any other collision. */
ss_status ss_land(ss_sim *sim, ss_error *error) {
  enum { MOST_LANDINGS = 4 };
  for (int round = 0; round < MOST_LANDINGS; round++) {
    const double first = ss_first_collision(sim, false);
    if (!something_lands(sim, first)) return SS_OK;
    ss_trial_keep(sim);
    hold_landings(sim, first);
    SS_TRY(ss_attempt_gently(sim, sim->trial.asked.h, error));
    if (!sim->trial.certified) {
      ss_trial_back(sim); /* without them */
      break;
    }
    ss_trial_drop(sim);
  }
  ss_first_collision(sim, true);
  return SS_OK;
}

/* ---- rest ---- */

bool ss_calms(const ss_sim *sim) {
  return sim->crowd.landing_speed > 0 && !sim->crowd.calm_fails && sim->trial.asked.alpha < 1 && !sim->system &&
         !sim->trial.iterate_q && !ss_locates_transitions(sim) && sim->model->n_joints == 0 &&
         sim->model->n_forces == 0;
}

static double row_speed(const ss_sim *sim, int i) {
  return ss_row_dot(sim->model, &sim->trial.problem.rows[i], sim->state.v);
}

static void weigh_block(ss_sim *sim, int b) {
  const ss_block *block = &sim->trial.problem.blocks[b];
  const ss_row *row = &sim->trial.problem.rows[block->first];
  double work = 0;
  for (int i = block->first; i < block->first + block->size; i++) work += sim->trial.problem.z[i] * row_speed(sim, i);
  const bool idle = ss_is_idle(sim, row->body[0]) && ss_is_idle(sim, row->body[1]);
  sim->solver.islands.part[b] = idle ? work : HUGE_VAL;
}

/* The work that stopping each island does with the problem's z; infinite where one of its bodies moves. What a landing takes is not set
 * against what is given elsewhere: its row is not stopped, and may end with much less work than z.Jv. */
static void weigh(ss_sim *sim, double *works) {
  const ss_islands *s = &sim->solver.islands;
  const int blocks = sim->trial.problem.n_blocks;
  ss_each(sim, blocks, weigh_block);
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->row >= 0 && c->lands) s->part[c->block] = fmax(s->part[c->block], 0);
  }
  for (int k = 0; k < s->count; k++) works[k] = 0;
  for (int b = 0; b < blocks; b++) works[s->island[b]] += s->part[b];
}

/* Stops the contacts of islands that are to be stopped; counts rows that had a speed. */
static void stop_contacts(void *user, int from, int to, double *stopped) {
  ss_sim *sim = user;
  const ss_islands *s = &sim->solver.islands;
  for (int i = from; i < to; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0 || c->lands || s->work[s->island[c->block]] > 0) continue;
    for (int k = c->row; k < c->row + c->n_rows; k++) {
      const double speed = row_speed(sim, k);
      sim->trial.problem.offset[k] -= (1 - sim->trial.asked.alpha) * speed;
      *stopped += speed != 0;
    }
  }
}

ss_status ss_calm(ss_sim *sim, ss_error *error) {
  double stopped = 0;
  sim->trial.calmed = false;
  if (!ss_calms(sim)) return SS_OK;
  SS_TRY(ss_find_islands(sim, error));
  weigh(sim, sim->solver.islands.work);
  ss_sums(sim, sim->trial.n_contacts, stop_contacts, sim, &stopped, 1);
  sim->trial.calmed = stopped > 0;
  return SS_OK;
}

/* A velocity that the residual leaves open; gravity makes more of it at once where nothing holds. */
static double open_speed(const ss_sim *sim) {
  return fmin(16 * sim->options.residual, 1. / 16) * sim->step.h * sim->step.acceleration;
}

static bool may_rest(const ss_sim *sim) {
  return sim->crowd.landing_speed > 0 && sim->trial.problem.h > 0 && !sim->trial.iterate_q &&
         !ss_locates_transitions(sim) && sim->model->n_joints == 0 && sim->model->n_forces == 0 && !sim->inputs.pulled;
}

/* scratch_v: A^-1 J^T z of the guess */
static void note_still(ss_sim *sim, int body) {
  const double most = open_speed(sim), *v = sim->state.v;
  const ss_body *b = &sim->model->bodies[body];
  double *change = sim->scratch.v;
  for (int i = b->first; i < b->first + b->n; i++) change[i] += sim->trial.dv_free[i];
  sim->crowd.still[body] =
      ss_body_speed(sim->model, body, v) <= most && ss_body_speed(sim->model, body, change) <= most;
}

static bool is_still(const ss_sim *sim, int body) { return body < 0 || sim->crowd.still[body]; }

static void note_moving(ss_sim *sim, int i) {
  const ss_contact *c = &sim->trial.contacts[i];
  if (c->row < 0) return;
  const bool moves = c->at.gap > ss_touch_gap(sim) && !ss_gap_stays(sim, c);
  sim->solver.islands.part[c->block] = !is_still(sim, c->body[0]) || !is_still(sim, c->body[1]) || c->lands || moves ||
                                       sim->trial.problem.pushed[c->row] != 0;
}

static void stand(ss_sim *sim, int b) {
  ss_problem *p = &sim->trial.problem;
  const ss_islands *s = &sim->solver.islands;
  for (int i = p->blocks[b].first; s->rests[s->island[b]] && i < p->blocks[b].first + p->blocks[b].size; i++)
    p->slack[i] = p->alpha * ss_row_dot(sim->model, &p->rows[i], sim->scratch.v);
}

void ss_rest_begin(ss_sim *sim) {
  const ss_islands *s = &sim->solver.islands;
  const bool may = may_rest(sim);
  const int blocks = sim->trial.problem.n_blocks;
  for (int k = 0; k < s->count; k++) s->rests[k] = may;
  if (!may) return;
  ss_each(sim, sim->model->n_bodies, note_still);
  ss_each(sim, sim->trial.n_contacts, note_moving);
  for (int b = 0; b < blocks; b++)
    if (s->part[b] != 0) s->rests[s->island[b]] = false;
  ss_each(sim, blocks, stand);
}

void ss_rest_end(ss_sim *sim) {
  const ss_islands *s = &sim->solver.islands;
  for (int k = 0; k < sim->model->n_bodies; k++) {
    const int island = ss_island_of(sim, k);
    sim->trial.rests[k] = island >= 0 && s->rests[island];
  }
}

bool ss_calm_gives(ss_sim *sim) {
  const ss_islands *s = &sim->solver.islands;
  double *found = s->work + sim->trial.problem.n_blocks;
  weigh(sim, found);
  for (int k = 0; k < s->count; k++)
    if (s->work[k] <= 0 && found[k] > 0) return true;
  return false;
}

/* ---- a whole step at once ---- */

/* Closes within the time h if it goes on as it does. */
static bool closes(const ss_sim *sim, const ss_contact *c, double h) {
  if (c->at.gap <= ss_touch_gap(sim)) return !c->closed && c->rate < -ss_gentle_speed(sim);
  return !c->closed && c->at.gap <= h * (h * sim->step.acceleration - c->rate);
}

/* And not gently. */
static bool strikes(const ss_sim *sim, const ss_contact *c, double h) {
  return closes(sim, c, h) && c->rate < -0.5 * sim->step.h * sim->step.acceleration;
}

static bool may_be_dense(const ss_sim *sim) {
  const bool told = sim->options.has_events && ss_locates(sim, SS_EVENT_COLLISION);
  return !needs_all(sim) && !told && !sim->system && !sim->scheme->position_level && !sim->scheme->compliant &&
         !sim->step.exhausted;
}

bool ss_crowd_is_dense(const ss_sim *sim, double h) {
  enum { FEW = 16, MANY = 64, COLLISIONS = 8 };
  if (!may_be_dense(sim)) return false;
  int busy = 0, pairs = 0;
  const ss_contact *last = NULL; /* that collides */
  bool elastic = false;
  for (int i = 0; i < sim->trial.n_contacts && busy < MANY; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    const bool collides = c->hits > 0 || strikes(sim, c, h);
    if (c->limit || !(c->closed || collides || closes(sim, c, h))) continue;
    busy++;
    if (!collides) continue;
    elastic |= c->restitution >= 1;
    pairs += !last || last->body[0] != c->body[0] || last->body[1] != c->body[1];
    last = c;
  }
  return busy >= FEW && (busy + sim->crowd.elsewhere >= MANY || (pairs >= COLLISIONS && !elastic));
}

bool ss_crowd_collides(const ss_sim *sim, double h) {
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (closes(sim, &sim->trial.contacts[i], h)) return true;
  return false;
}

/* Restitution of a contact in such a step; 0 where gravity takes the bounce back at once. */
static double returns(const ss_sim *sim, const ss_contact *c, double h) {
  const bool meets = !c->closed && c->rate < 0 && c->at.gap <= -h * c->rate;
  return meets && c->restitution * -c->rate > h * sim->step.acceleration ? c->restitution : 0;
}

static void hold(ss_sim *sim, ss_contact *c) {
  if (!c->active) sim->trial.n_active += !c->limit;
  c->active = true;
}

/* How fast the gap would close if either of the two bodies were stopped, or neither. */
static double closing_speed(const ss_sim *sim, const ss_contact *c) {
  ss_vec3 linear[2] = {v3(0, 0, 0), v3(0, 0, 0)}, angular;
  for (int side = 0; side < 2; side++)
    if (c->body[side] >= 0) ss_twist_of(sim->model, sim->state.v, c->body[side], &linear[side], &angular);
  return fmax(-c->rate, fmax(v3_dot(linear[1], c->at.normal), -v3_dot(linear[0], c->at.normal)));
}

/* Those that are closed or may close. */
void ss_crowd_begin(ss_sim *sim, double h) {
  sim->crowd.dense = true;
  sim->part.asked.alpha = sim->part.asked.gamma = 1;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    c->lands = false;
    c->bounce = returns(sim, c, h);
    if (c->at.gap <= h * (closing_speed(sim, c) + 2 * h * sim->step.acceleration) + ss_touch_gap(sim)) hold(sim, c);
  }
}

/* Holds the contacts that overlap at the end of the solved part, by features that were not there at its start, too; how many. */
static ss_status hold_overlooked(ss_sim *sim, double h, int *held, ss_error *error) {
  const double deep = 1e-3 * h * h * sim->step.acceleration + ss_touch_gap(sim);
  int n = 0, added;
  SS_TRY(ss_add_features(sim, sim->trial.q_end, deep, &added, error));
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    if (c->active) continue;
    ss_contact_place place;
    sim->mechanics->place(sim, c, sim->state.t + h, sim->trial.q_end, &place);
    if (place.at.gap >= -deep) continue;
    hold(sim, c);
    n++;
  }
  *held = n;
  return SS_OK;
}

/* Faster than without contacts; positions that are pushed back are step/push.c's affair. */
static bool gains(ss_sim *sim) {
  bool returned = false;
  for (int i = 0; i < sim->trial.n_contacts; i++)
    returned |= sim->trial.contacts[i].row >= 0 && sim->trial.contacts[i].bounce > 0;
  if (!returned) return false;
  for (int i = 0; i < sim->model->n_v; i++) sim->scratch.v[i] = sim->state.v[i] + sim->trial.dv_free[i];
  const double free = sim->mechanics->kinetic_energy(sim, sim->scratch.v);
  return sim->mechanics->kinetic_energy(sim, sim->trial.v_end) > free * (1 + 1e-9);
}

/* Solved once more without restitution; false: there was none. */
static bool drop_restitution(ss_sim *sim) {
  bool any = false;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    any |= sim->trial.contacts[i].bounce > 0;
    sim->trial.contacts[i].bounce = 0;
  }
  sim->report.solves.unreturned += any;
  return any;
}

ss_status ss_crowd_part(ss_sim *sim, ss_error *error) {
  enum { ROUNDS = 6 };
  int held = 1;
  for (int round = 0; round < ROUNDS && held > 0; round++) {
    SS_TRY(ss_attempt(sim, sim->part.asked.h, error));
    if (sim->trial.certified && !gains(sim))
      SS_TRY(hold_overlooked(sim, sim->part.asked.h, &held, error));
    else if (!drop_restitution(sim))
      return SS_OK; /* not certified */
  }
  return SS_OK;
}
