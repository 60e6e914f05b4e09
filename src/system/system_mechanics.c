/* The mechanics of a user-defined system (sim/mechanics.h): q and v are its coordinates, all gaps are contacts at all
 * times, and a contact's "world" has its normal as x axis and its friction directions as y and z axis. */
#include "system/system.h"
#include "la/rows.h"

#include <string.h>

static const ss_spot *spot_of(const ss_sim *sim, double t, const double *q, unsigned what) {
  return ss_spot_at(sim->system, t, q, what);
}

enum { CONTACT = SS_SPOT_GAPS | SS_SPOT_NORMALS | SS_SPOT_FRICTION };

/* What a row . v would be if nothing in the sum cancelled. */
static double most(const double *row, const double *v, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += fabs(row[i] * v[i]);
  return sum;
}

/* ---- positions ---- */

static void advance(const ss_sim *sim, const double *delta, double tau, double fraction, double *q) {
  for (int i = 0; i < sim->model->n_v; i++)
    q[i] = sim->state.q[i] + tau * (sim->state.v[i] + (delta ? sim->trial.asked.gamma * fraction * delta[i] : 0));
}

static void shift(const ss_sim *sim, const double *twist, double *q) {
  for (int i = 0; i < sim->model->n_v; i++) q[i] = sim->state.q[i] + twist[i];
}

/* ---- joints ---- */

static void joints(const ss_sim *sim, double t, const double *q, double *residuals, ss_row *rows, double *drive) {
  const size_t n = (size_t)sim->model->n_v, count = (size_t)sim->model->n_joint_rows;
  const ss_spot *s = spot_of(sim, t, q, (residuals ? SS_SPOT_JOINTS : 0) | (rows || drive ? SS_SPOT_JOINT_ROWS : 0));
  if (residuals) memcpy(residuals, s->theta, sizeof(double) * count);
  for (size_t i = 0; rows && i < count; i++) rows[i] = ss_row_dense(s->nu + i * n);
  if (drive) memcpy(drive, s->nu_rate, sizeof(double) * count);
}

/* ---- contacts ---- */

static const double *slip_row(const ss_sim *sim, const ss_spot *s, int gap, int direction) {
  return s->slip + (size_t)(sim->model->system->first_direction[gap] + direction) * (size_t)sim->model->n_v;
}

static void place(const ss_sim *sim, const ss_contact *c, double t, const double *q, ss_contact_place *out) {
  const int gap = c->body[0];
  const ss_spot *s = spot_of(sim, t, q, CONTACT);
  const double *slip_rate = s->slip_rate + sim->model->system->first_direction[gap];
  const int n = c->law->tangents;
  *out = (ss_contact_place){.spot = s, .at = {.gap = s->gap[gap], .normal = {1, 0, 0}}};
  out->drive = v3(s->gap_rate[gap], n > 0 ? slip_rate[0] : 0, n > 1 ? slip_rate[1] : 0);
}

static void place_on_path(const ss_sim *sim, const ss_contact *c, const double *delta, double tau, double fraction,
                          ss_contact_place *out) {
  advance(sim, delta, tau, fraction, sim->system->path_q);
  place(sim, c, sim->state.t + tau, sim->system->path_q, out);
}

static ss_row row(const ss_sim *sim, const ss_contact *c, const ss_contact_place *at, ss_vec3 direction) {
  const int n = sim->model->n_v, gap = c->body[0];
  double *out = sim->system->row;
  const double *normal = at->spot->normal + (size_t)gap * (size_t)n;
  for (int i = 0; i < n; i++) out[i] = direction.x * normal[i];
  for (int k = 0; k < c->law->tangents; k++) {
    const double factor = k == 0 ? direction.y : direction.z, *along = slip_row(sim, at->spot, gap, k);
    for (int i = 0; i < n; i++) out[i] += factor * along[i];
  }
  return ss_row_dense(out);
}

static double rate(const ss_sim *sim, const ss_contact *c, const ss_contact_place *at, const double *v) {
  return dot(at->spot->normal + (size_t)c->body[0] * (size_t)sim->model->n_v, v, sim->model->n_v);
}

static ss_vec3 velocity(const ss_sim *sim, const ss_contact *c, const ss_contact_place *at, const double *v) {
  const int n = sim->model->n_v, gap = c->body[0], tangents = c->law->tangents;
  return v3(rate(sim, c, at, v), tangents > 0 ? dot(slip_row(sim, at->spot, gap, 0), v, n) : 0,
            tangents > 1 ? dot(slip_row(sim, at->spot, gap, 1), v, n) : 0);
}

static double depth(const ss_sim *sim, const ss_contact *c, const ss_contact_place *at) {
  (void)sim, (void)c;
  return -at->at.gap;
}

static ss_status find_contacts(ss_sim *sim, double h, ss_error *error) {
  (void)h;
  const ss_system_model *system = sim->model->system;
  const int n = system->def.n_gaps;
  const ss_status status =
      ss_grow((void **)&sim->trial.contacts, &sim->trial.contact_capacity, n, sizeof *sim->trial.contacts, error);
  if (status != SS_OK) return status;
  sim->trial.n_contacts = n;
  for (int i = 0; i < n; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    const ss_law *law = &system->laws[i];
    *c = (ss_contact){.key = (uint64_t)i,
                      .shape = {-1, -1},
                      .body = {i, SS_WORLD},
                      .law = law,
                      .mu = law->mu,
                      .restitution = law->restitution,
                      .row = -1};
    ss_contact_place at;
    place(sim, c, sim->state.t, sim->state.q, &at);
    c->at = at.at;
    c->rate = ss_gap_rate(sim, c, &at, sim->state.v);
    ss_contact_remember(sim, c);
  }
  return SS_OK;
}

static void path_velocity(ss_sim *sim, const ss_contact *c, double fraction) {
  (void)c;
  for (int i = 0; i < sim->model->n_v; i++)
    sim->scratch.v[i] = sim->state.v[i] + 2 * sim->trial.asked.gamma * fraction * sim->trial.delta[i];
}

/* ---- measures ---- */

/* Twice what the gradients at both ends allow. */
static double closing_speed(const ss_sim *sim, const ss_contact *c) {
  const int n = sim->model->n_v, gap = c->body[0];
  const ss_spot *start = spot_of(sim, sim->state.t, sim->state.q, CONTACT);
  const double before = most(start->normal + (size_t)gap * (size_t)n, sim->state.v, n) + fabs(start->gap_rate[gap]);
  const ss_spot *end = spot_of(sim, sim->state.t + sim->trial.asked.h, sim->trial.q_end, CONTACT);
  const double after = most(end->normal + (size_t)gap * (size_t)n, sim->scratch.v, n) + fabs(end->gap_rate[gap]);
  return 2 * fmax(before, after);
}

static double fastest(const double *rows, const double *drive, int count, const double *v, int n) {
  double largest = 0;
  for (int i = 0; i < count; i++) largest = fmax(largest, most(rows + (size_t)i * (size_t)n, v, n) + fabs(drive[i]));
  return largest;
}

/* Of gaps, slips and joints, by their gradients at the present position. */
static double largest_speed(const ss_sim *sim, const double *v) {
  const int n = sim->model->n_v;
  const ss_system_model *system = sim->model->system;
  double largest = 0;
  for (int i = 0; i < n; i++) {
    if (!isfinite(v[i])) return INFINITY;
    largest = fmax(largest, fabs(v[i]));
  }
  if (system->def.n_gaps + sim->model->n_joint_rows == 0) return largest;
  const ss_spot *s = spot_of(sim, sim->state.t, sim->state.q, CONTACT | SS_SPOT_JOINT_ROWS);
  largest = fastest(s->normal, s->gap_rate, system->def.n_gaps, v, n);
  largest = fmax(largest, fastest(s->slip, s->slip_rate, system->n_directions, v, n));
  return fmax(largest, fastest(s->nu, s->nu_rate, sim->model->n_joint_rows, v, n));
}

static double kinetic_energy(const ss_sim *sim, const double *v) {
  const int n = sim->model->n_v;
  const ss_spot *s = spot_of(sim, sim->state.t, sim->state.q, SS_SPOT_MASS);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += v[i] * dot(s->mass + (size_t)i * (size_t)n, v, n);
  return sum / 2;
}

static double potential_energy(const ss_sim *sim) {
  return ss_system_potential(sim->system, sim->state.t, sim->state.q);
}

/* ---- what a sim needs ---- */

ss_status ss_system_allocate(ss_sim *sim, ss_error *error) {
  sim->system = ss_system_work_create(sim->arena, sim->model->system, sim->options.step);
  return sim->system ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
}

ss_status ss_system_refused(const ss_sim *sim, ss_error *error) {
  if (sim->system->failure.status == SS_OK) return SS_OK;
  if (error) *error = sim->system->failure;
  return sim->system->failure.status;
}

void ss_forgive(ss_sim *sim) { sim->system->failure = (ss_error){0}; }

void ss_system_probe(ss_sim *sim) {
  (void)spot_of(sim, sim->state.t, sim->state.q, CONTACT | SS_SPOT_MASS | SS_SPOT_JOINTS | SS_SPOT_JOINT_ROWS);
  (void)potential_energy(sim);
}

const ss_mechanics ss_system_mechanics = {
    .begin_step = ss_system_begin_step,
    .find_contacts = find_contacts,
    .forces = ss_system_forces,
    .forces_none = ss_system_forces_none,
    .joints = joints,
    .advance = advance,
    .shift = shift,
    .place = place,
    .place_on_path = place_on_path,
    .row = row,
    .velocity = velocity,
    .rate = rate,
    .depth = depth,
    .path_velocity = path_velocity,
    .closing_speed = closing_speed,
    .largest_speed = largest_speed,
    .kinetic_energy = kinetic_energy,
    .potential_energy = potential_energy,
    .force_work = ss_system_force_work,
};
