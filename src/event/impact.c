/* Impacts (LIT section 6, MATH section 2), all touching contacts together.
 *
 * Poisson: compression is the step problem with h = 0 and alpha = 1; decompression is the same problem started from the
 * compressed velocity with the extra impulse e c_n along each normal. Coulomb's law holds in both phases: the friction
 * of the decompression is bounded by mu (e c_n + c_x). LIT (6.6) bounds it by mu c_x alone, which makes a ball that
 * slides through a bounce lose mu c_n of its tangential momentum instead of mu (1 + e) c_n.
 * Newton: n.v+ + e n.v- >= 0 in compression (and decompression, where contacts of both laws meet).
 *
 * Where the compression has no certified solution (wedged bodies), nothing is applied, and the rest of the step holds the
 * contacts without locating anything. Where the decompression has none, nothing is returned: the impact ends with the
 * compression, and is counted.
 *
 * A contact that has bounced several times within one step, and whose further bounces would all end before the step
 * does, comes to rest at once: accumulating bounces (Zeno) end. */
#include "step/step.h"

#include <string.h>

enum { RATTLES = 4, PATIENCE = 16, MANY_ROWS = 100 };

/* Restitution of this collision. The flight after it takes 2 e |rate| / a, all later ones together 1/(1-e) of that; where
 * they all end within a small share of the step, the contact comes to rest at once. a: how fast the bodies are being
 * driven together, from the part of the step that led here. What is cut short shifts positions by the square of that
 * time, at random: with the whole step instead of a share it would be seen beside the scheme's own h^2. A contact that
 * bounces on and on in one step (e near 1) does not get that far. */
static double restitution(const ss_sim *sim, const ss_contact *c) {
  static const double share = 1. / 32;
  if (sim->crowd.settling || c->hits >= SS_MOST_BOUNCES) return 0;
  if (c->restitution == 0 || c->restitution >= 1) return c->restitution;
  double driven = sim->step.acceleration;
  if (sim->trial.asked.h > 0) {
    ss_contact_place place;
    sim->mechanics->place(sim, c, sim->state.t, sim->state.q, &place);
    driven = -sim->mechanics->rate(sim, c, &place, sim->trial.delta) / sim->trial.asked.h;
  }
  if (c->hits >= RATTLES)
    driven = fmax(driven, sim->step.acceleration); /* corners that throw each other about are driven back too */
  if (!(driven > 0)) return c->restitution;
  const double accumulated = -2 * c->restitution * c->rate / driven / (1 - c->restitution);
  return accumulated <= (c->hits < PATIENCE ? share : 1) * sim->step.h ? 0 : c->restitution;
}

bool ss_obeys_newton(const ss_sim *sim, const ss_contact *c) {
  if (sim->part.newton_fails) return false;
  const ss_restitution law = c->law->has_restitution_law ? c->law->restitution_law : sim->options.restitution;
  return law == SS_RESTITUTION_NEWTON;
}

/* Energy that friction takes: impulse times mean slip. Where slip is reversed by the blow of the normal impulses, friction
 * opposes it as it is in the end (Coulomb's law of the phase), and gives back a part of what they took: that is theirs. */
static double friction_loss(const ss_sim *sim, const double *v_before) {
  double sum = 0;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    double taken = 0;
    for (int k = 1; c->row >= 0 && k < c->n_rows; k++) {
      const ss_row *row = &sim->trial.problem.rows[c->row + k];
      const double mean = (ss_row_dot(sim->model, row, v_before) + ss_row_dot(sim->model, row, sim->state.v)) / 2;
      taken -= c->impulse[k] * (mean + (sim->system ? sim->trial.problem.drive[c->row + k] : 0));
    }
    sum += fmax(taken, 0);
  }
  return sum;
}

static bool demands(const ss_sim *sim, const ss_contact *c) {
  return c->row >= 0 && c->rate < 0 && ss_obeys_newton(sim, c);
}

/* Newton: contacts must part with e times the speed at which they met. */
static bool demands_speed(const ss_sim *sim) {
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (sim->trial.contacts[i].bounce > 0 && demands(sim, &sim->trial.contacts[i])) return true;
  return false;
}

static void demand(ss_sim *sim, int sign) {
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (demands(sim, c)) sim->trial.problem.g[c->row] += sign * (c->bounce * c->rate);
  }
}

/* Bodies that are wedged cannot part from both sides: Newton's law contradicts itself there, while the compression of
 * Poisson's always has a solution. This impact follows the latter, and is counted. */
static ss_status without_newton(ss_sim *sim, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  demand(sim, -1);
  sim->part.newton_fails = true;
  sim->report.solves.newton_fails++;
  memset(p->z, 0, sizeof(double) * (size_t)p->n);
  return ss_solve(sim, error);
}

/* Solves the problem as it stands and applies its impulses and the returned ones, if it is certified. driven: the work of
 * constraints that move by themselves. */
static ss_status phase(ss_sim *sim, double *lost_to_friction, double *driven, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  SS_TRY(ss_turn_polygons(sim, error));
  SS_TRY(ss_solve(sim, error));
  if (!sim->trial.certified && demands_speed(sim)) SS_TRY(without_newton(sim, error));
  if (!sim->trial.certified) return SS_OK;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0) continue;
    p->z[c->row] += c->returned;
    c->total = v3_add(c->total, v3_axpy(c->pressed, c->returned, c->at.normal));
  }
  if (sim->watch.variation) SS_TRY(sim->watch.vary->phase(sim, error));
  memcpy(sim->scratch.v, sim->state.v, sizeof(double) * (size_t)sim->model->n_v);
  ss_add_joint_impulses(sim, 1);
  ss_velocity_change(sim);
  for (int i = 0; i < sim->model->n_v; i++) sim->state.v[i] += sim->trial.delta[i];
  *lost_to_friction += friction_loss(sim, sim->scratch.v);
  for (int i = 0; sim->system && i < p->n; i++) *driven -= p->z[i] * p->drive[i];
  return SS_OK;
}

/* The velocities that the returned impulses make, to g; slack is free to use. */
static void add_returned(ss_sim *sim) {
  ss_problem *p = &sim->trial.problem;
  double *z = p->z;
  for (int i = 0; i < p->n; i++) p->slack[i] = z[i];
  memset(z, 0, sizeof(double) * (size_t)p->n);
  for (int k = 0; k < sim->trial.n_contacts; k++)
    if (sim->trial.contacts[k].row >= 0) z[sim->trial.contacts[k].row] = sim->trial.contacts[k].returned;
  double *kept = p->slack, *made = p->pushed; /* nothing is pushed in an impact */
  ss_rows_apply(sim, z, made);
  for (int i = 0; i < p->n; i++) {
    p->g[i] += made[i];
    z[i] = kept[i];
    made[i] = 0;
  }
}

/* From compression to decompression: the velocities reached are the new g, the returned impulses act on them and count
 * for friction. False: nothing is returned. Where a blow falls on bodies at rest the decompression is the compression times e,
 * but for the friction of what bounces: a large problem starts from there, a small one from nothing. */
static bool decompress(ss_sim *sim) {
  ss_problem *p = &sim->trial.problem;
  bool any = false;
  double most = 0;
  for (int i = 0; i < p->n; i++) p->g[i] = p->slack[i] - p->compliance[i] * p->z[i];
  for (int k = 0; k < sim->trial.n_contacts; k++) {
    ss_contact *c = &sim->trial.contacts[k];
    if (c->row < 0) continue;
    /* an open contact's impulse may be below zero within the residual that is allowed */
    c->returned = ss_obeys_newton(sim, c) ? 0 : c->bounce * fmax(c->impulse[0], 0);
    any |= c->returned > 0;
    if (c->returned > 0) most = fmax(most, c->bounce);
    p->blocks[c->block].extra = c->returned;
    if (!p->divided) ss_problem_add_column(p, c->row, c->returned, p->g);
  }
  if (p->divided && any) add_returned(sim);
  if (p->n < MANY_ROWS) most = 0;
  for (int i = 0; i < p->n; i++) p->z[i] *= most;
  for (int k = 0; k < sim->trial.n_contacts; k++) {
    const ss_contact *c = &sim->trial.contacts[k];
    if (c->row >= 0) p->z[c->row] = fmax(p->z[c->row] - c->returned, 0);
  }
  return any;
}

static bool concerns(const ss_contact *c, int body) { return c->body[0] == body || c->body[1] == body; }

/* Whether the blow went on through bodies that only touched, and could have returned it: a chain of balls. */
static bool is_passed_on(const ss_sim *sim, double speed_tolerance) {
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    const bool chained = c->row >= 0 && c->pair && c->restitution > 0 && c->body[0] >= 0 && c->body[1] >= 0;
    if (!chained || c->rate < -speed_tolerance || !(v3_dot(c->total, c->at.normal) > 0)) continue;
    for (int k = 0; k < sim->trial.n_contacts; k++) {
      const ss_contact *blow = &sim->trial.contacts[k];
      const bool next = concerns(blow, c->body[0]) || concerns(blow, c->body[1]);
      if (next && blow->row >= 0 && blow->rate < -speed_tolerance) return true;
    }
  }
  return false;
}

/* Contacts that do not bounce and that the impact lets go so slowly that gravity would bring them back at once, within a
 * 32nd of the step, stay in the problem's hands, which holds or releases them, instead of hopping: an edge that lands on one
 * end after the other does so with half the speed each time, and in a heap each of these hops is a collision that all
 * bodies wait for. */
static void finish(ss_sim *sim, double created) {
  const double speed_tolerance = sim->part.speed_tolerance;
  const double idle = sim->step.h * sim->step.acceleration / 64;
  if (sim->model->restitution_anywhere) sim->report.solves.passed_on += is_passed_on(sim, speed_tolerance);
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0) continue;
    const bool hit = c->rate < -speed_tolerance && c->touching && !c->closed;
    const double leaves =
        ss_row_dot(sim->model, &sim->trial.problem.rows[c->row], sim->state.v) + sim->trial.problem.offset[c->row];
    const bool bounces = c->bounce > 0 && c->rate < -speed_tolerance;
    c->closed = leaves <= (bounces ? speed_tolerance : fmax(speed_tolerance, idle));
    c->pressed = c->total;
    if (!hit) continue;
    c->hits++;
    c->hops = c->bounce == 0 ? c->hops + 1 : 0;
    ss_emit(sim, SS_COLLISION, c, created);
  }
}

ss_status ss_impact(ss_sim *sim, ss_error *error) {
  const double before = sim->mechanics->kinetic_energy(sim, sim->state.v);
  ss_problem *p = &sim->trial.problem;
  double friction = 0, driven = 0;
  sim->part.newton_fails = false;
  sim->report.solves.impacts++;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    c->bounce = restitution(sim, c);
    c->returned = 0;
    c->total = v3(0, 0, 0);
  }
  sim->mechanics->forces_none(sim);
  SS_TRY(ss_rows_impact(sim, error));
  /* not from the forces of the last part: a stress among wedged bodies would be taken for an impulse, and returned */
  memset(p->z, 0, sizeof(double) * (size_t)p->n);
  SS_TRY(ss_discretise(sim, 1, error));
  demand(sim, 1);
  SS_TRY(phase(sim, &friction, &driven, error));
  if (!sim->trial.certified) return SS_OK;
  if (decompress(sim)) SS_TRY(phase(sim, &friction, &driven, error));
  sim->report.solves.unreturned += !sim->trial.certified;
  sim->trial.certified = true; /* the compression is */
  if (sim->watch.variation) SS_TRY(sim->watch.vary->impact(sim, error));
  sim->trial.asked.h = 0; /* delta is no longer that of a part */
  const double lost = before + driven - sim->mechanics->kinetic_energy(sim, sim->state.v);
  sim->report.energy.work += driven;
  sim->report.energy.friction_loss += friction;
  sim->report.energy.impact_loss += lost - friction;
  if (lost < 0) sim->report.created_by_impacts -= lost;
  if (sim->trial.n_active > sim->report.contacts_maximum) sim->report.contacts_maximum = sim->trial.n_active;
  finish(sim, lost < 0 ? -lost : 0);
  return ss_touch_store(sim, error);
}
