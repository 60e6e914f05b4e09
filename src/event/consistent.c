/* Velocities as events see them: those of the state, but consistent with joints and closed contacts.
 *
 * A scheme with alpha = 1/2 leaves velocities beside their constraints by O(h^2), to the one side and to the other in turn
 * (MDI section 9.1). Positions do not suffer, but an event at which a velocity vanishes would be found early or late by
 * O(h^2) depending on the parity of the step, and the order of convergence would not settle. What alternates is what the
 * forces W of constraints can do: joints, and pressing contacts with the friction that belongs to them. Without it,
 *
 *     v - M^-1 W (J M^-1 W)^-1 J v
 *
 * respects the rows J of joints and contacts. Where slip ends, friction changes, and with it W: what alternated before
 * would stay in the slip as an error, so that the state goes on from the consistent velocity there, as it does from
 * impacts; its impulses are recorded, its energy is stabilization's. The sensitivities of a run leave this correction out.
 *
 * For bodies with few rows that do not repeat each other; velocities are taken as they are otherwise. */
#include "step/step.h"

#include "la/dense.h"

#include <string.h>

enum { MOST_ROWS = 40 };

bool ss_velocities_alternate(const ss_sim *sim) {
  return sim->scheme->rows_at_midpoint && sim->basis.n > 0 && sim->basis.n <= MOST_ROWS && !sim->system;
}

/* M^-1 row^T, added to out. */
static void spread(const ss_model *model, const ss_row *row, double factor, double *out) {
  for (int side = 0; side < 2; side++) {
    if (row->body[side] < 0) continue;
    const ss_body *b = &model->bodies[row->body[side]];
    for (int i = 0; i < b->n; i++)
      for (int j = 0; j < b->n; j++) out[b->first + i] += factor * b->minv[i * b->n + j] * row->j[side][j];
  }
}

/* A pressing contact's force per normal force, as it was in the part that was solved last. */
static ss_vec3 force_of(const ss_contact *c, ss_vec3 normal) {
  ss_vec3 force = normal;
  for (int k = 1; k < c->n_forces; k++) force = v3_axpy(force, c->impulse[k] / c->impulse[0], c->direction[k]);
  return force;
}

/* Rows of the posed joint equations and of the contacts that press, of their forces, and what takes the alternation away. */
typedef struct correction {
  int n;
  ss_row rows[2 * MOST_ROWS], forces[2 * MOST_ROWS];
  ss_contact *contact[2 * MOST_ROWS]; /* NULL: a joint's row */
  ss_vec3 direction[2 * MOST_ROWS];   /* contacts: of the force */
  double multiplier[2 * MOST_ROWS];
} correction;

static void gather(ss_sim *sim, double t, const double *q, correction *c) {
  c->n = sim->basis.n;
  sim->mechanics->joints(sim, t, q, NULL, sim->basis.rows, NULL);
  for (int i = 0; i < c->n; i++) {
    c->rows[i] = c->forces[i] = sim->basis.rows[sim->basis.row[i]];
    c->contact[i] = NULL;
  }
  for (int i = 0; i < sim->trial.n_contacts && c->n < 2 * MOST_ROWS; i++) {
    ss_contact *contact = &sim->trial.contacts[i];
    if (contact->row < 0 || !(contact->impulse[0] > 0)) continue;
    ss_contact_place place;
    sim->mechanics->place(sim, contact, t, q, &place);
    c->contact[c->n] = contact;
    c->direction[c->n] = force_of(contact, place.at.normal);
    c->rows[c->n] = sim->mechanics->row(sim, contact, &place, place.at.normal);
    c->forces[c->n] = sim->mechanics->row(sim, contact, &place, c->direction[c->n]);
    c->n++;
  }
}

/* Solves for the multipliers, rows and columns scaled by `unit`; false where rows nearly repeat each other (the feet of a
 * table): what they would share out anyhow is not known well enough. */
static bool solve(double *matrix, int n, const double *unit, double *right) {
  static const double independent = 1e-6;
  int pivot[2 * MOST_ROWS];
  for (int i = 0; i < n; i++) {
    right[i] *= unit[i];
    for (int j = 0; j < n; j++) matrix[i * n + j] *= unit[i] * unit[j];
  }
  if (!ss_dense_factor(matrix, n, 0, pivot)) return false;
  for (int i = 0; i < n; i++)
    if (!(fabs(matrix[i * n + i]) > independent)) return false;
  ss_dense_solve(matrix, n, pivot, right, 1);
  for (int i = 0; i < n; i++) right[i] *= unit[i];
  return true;
}

/* False: none. */
static bool find(ss_sim *sim, double t, const double *q, const double *v, correction *c) {
  const ss_model *model = sim->model;
  double matrix[4 * MOST_ROWS * MOST_ROWS], unit[2 * MOST_ROWS];
  gather(sim, t, q, c);
  for (int j = 0; j < c->n; j++) {
    memset(sim->scratch.v, 0, sizeof(double) * (size_t)model->n_v);
    spread(model, &c->forces[j], 1, sim->scratch.v);
    for (int i = 0; i < c->n; i++) matrix[i * c->n + j] = ss_row_dot(model, &c->rows[i], sim->scratch.v);
    c->multiplier[j] = -ss_row_dot(model, &c->rows[j], v);
    const double size = ss_row_inverse_mass(model, &c->rows[j]);
    unit[j] = size > 0 ? 1 / sqrt(size) : 0;
  }
  return solve(matrix, c->n, unit, c->multiplier);
}

void ss_consistent_velocity(ss_sim *sim, double t, const double *q, const double *v, double *out) {
  correction c;
  memcpy(out, v, sizeof(double) * (size_t)sim->model->n_v);
  if (!find(sim, t, q, v, &c)) return;
  for (int j = 0; j < c.n; j++) spread(sim->model, &c.forces[j], c.multiplier[j], out);
}

void ss_make_consistent(ss_sim *sim) {
  correction c;
  if (!find(sim, sim->state.t, sim->state.q, sim->state.v, &c)) return;
  const double before = sim->mechanics->kinetic_energy(sim, sim->state.v);
  for (int j = 0; j < c.n; j++) {
    spread(sim->model, &c.forces[j], c.multiplier[j], sim->state.v);
    if (c.contact[j])
      ss_deal_more(sim, c.contact[j]->key, v3_scale(c.multiplier[j], c.direction[j]));
    else
      sim->joints.impulse[sim->basis.row[j]] += c.multiplier[j];
  }
  sim->report.energy.stabilization += sim->mechanics->kinetic_energy(sim, sim->state.v) - before;
}
