/* Rows of the step's problem: joints, stiff forces, contacts. After this stage there are only rows and blocks.
 *
 *     joints        nu . va = 0
 *     stiff forces  g . va + R z + s = 0: the linearly implicit spring-damper, kappa = alpha h (d + gamma h k):
 *                   z = h f - alpha h^2 k g.v - kappa g.(v+ - v) is its impulse, so R = alpha/kappa and
 *                   s = -g.v - R (h f - alpha h^2 k g.v). As kappa grows R goes to zero: a rigid link (LIT
 * Theorem 9.3), with no stiff entry anywhere contacts      0 <= n.va + s perp c_n >= 0 and friction; s lets a gap that
 * has drifted open close again */
#include "scheme/scheme.h"

#include <string.h>

/* Numbers per row: eight or nine single ones, and A^-1 J^T; in a system J too, in all coordinates. */
static size_t numbers_per_row(const ss_sim *sim) { return sim->system ? 9 + 2 * (size_t)sim->model->n_v : 8 + 12; }

static void divide(const ss_sim *sim, ss_problem *p, int capacity) {
  double *next = p->numbers;
  double **const parts[] = {&p->offset, &p->compliance, &p->pushed, &p->g,    &p->z,
                            &p->slack,  &p->scale,      &p->weight, &p->drive};
  const size_t n = sizeof parts / sizeof *parts - (sim->system ? 0 : 1);
  for (size_t i = 0; i < n; i++, next += capacity) *parts[i] = next;
  p->w = next;
  if (sim->system) p->dense = p->w + (size_t)capacity * (size_t)sim->model->n_v;
  p->capacity = capacity;
}

static ss_status reserve_problem(const ss_sim *sim, ss_problem *p, int rows, int blocks, ss_error *error) {
  ss_status status = ss_grow((void **)&p->blocks, &p->block_capacity, blocks, sizeof *p->blocks, error);
  if (status != SS_OK || rows <= p->capacity) return status;
  const int capacity = rows < 8 ? 8 : rows + rows / 2;
  ss_free(p->rows);
  ss_free(p->numbers);
  ss_free(p->next_row);
  p->capacity = 0;
  p->rows = ss_alloc(sizeof *p->rows * (size_t)capacity);
  p->numbers = ss_alloc(sizeof(double) * (size_t)capacity * numbers_per_row(sim));
  p->next_row = ss_alloc(sizeof *p->next_row * 2 * (size_t)capacity);
  if (!p->rows || !p->numbers || !p->next_row)
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory: %d contact and joint rows", rows);
  divide(sim, p, capacity);
  return SS_OK;
}

static ss_status reserve(ss_sim *sim, int rows, int blocks, ss_error *error) {
  ss_status status = SS_OK;
  ss_trial *trial;
  for (int i = 0; status == SS_OK && (trial = ss_trial_free(sim, i)); i++)
    status = reserve_problem(sim, &trial->problem, rows, blocks, error);
  return status;
}

/* A system's rows are kept with the problem: they are needed until the next one is posed. */
static void put_row(ss_sim *sim, int i, ss_row row) {
  ss_problem *p = &sim->trial.problem;
  p->rows[i] = row;
  if (!sim->system) return;
  const size_t n = (size_t)sim->model->n_v;
  memcpy(p->dense + (size_t)i * n, row.dense, sizeof(double) * n);
  p->rows[i] = ss_row_dense(p->dense + (size_t)i * n);
}

static void add_block(ss_problem *p, ss_block_kind kind, int first, int size) {
  p->blocks[p->n_blocks++] = (ss_block){.kind = kind, .first = first, .size = size};
}

static void choose_gradient_positions(ss_sim *sim, double h) {
  const bool iterated = sim->trial.iterate_q && h > 0;
  sim->trial.grad_q = iterated ? sim->trial.iterate_q : sim->state.q;
  sim->trial.grad_t = sim->state.t + (iterated ? h : 0);
  if (h > 0 && sim->scheme->rows_at_midpoint) { /* LIT (5.2) */
    sim->mechanics->advance(sim, NULL, h / 2, 0, sim->trial.mid_q);
    sim->trial.grad_q = sim->trial.mid_q;
    sim->trial.grad_t = sim->state.t + h / 2;
  }
}

/* A velocity that does not respect a constraint exactly changes its sign with every step for alpha = 1/2 (MDI section
 * 9.1). The impulse that does so is small (h^2), but a short part of a step would turn it into a large force, and find
 * stick, slip and contact ending where they do not. Where transitions are located, a part of size tau reverses its share
 * tau/h only: nu . va = (1 - tau/h) nu(q) . v, so that the force is that of a whole step. This is what is kept. */
static double kept_share(const ss_sim *sim, double tau) {
  const bool matters = ss_locates_transitions(sim) && sim->scheme->rows_at_midpoint;
  return matters && tau > 0 && tau < sim->step.h ? 1 - tau / sim->step.h : 0;
}

static void keep_joint_velocities(ss_sim *sim, double share) {
  const ss_model *model = sim->model;
  double *drive = sim->system ? sim->basis.drive : NULL;
  sim->mechanics->joints(sim, sim->state.t, sim->state.q, NULL, sim->basis.rows, drive);
  for (int i = 0; i < sim->basis.n; i++) {
    const int row = sim->basis.n == model->n_joint_rows ? i : sim->basis.row[i];
    const double rate = ss_row_dot(model, &sim->basis.rows[row], sim->state.v) + (drive ? drive[row] : 0);
    sim->trial.problem.offset[i] -= share * rate;
  }
}

void ss_basis_residuals(ss_sim *sim, double t, const double *q, double *out) {
  const ss_basis *basis = &sim->basis;
  sim->mechanics->joints(sim, t, q, sim->joints.residuals, NULL, NULL);
  for (int i = 0; i < basis->n; i++) out[i] = sim->joints.residuals[basis->row[i]];
}

/* Drift is taken back by one rule, for joints and contacts: a violation s is closed at the speed push s/T. push is the share of
 * it that can be closed without violence (step/push.c), T the time in which it is closed: the full step, however short the part,
 * so that a short remainder does not turn rounding into a kick; of automatic steps the largest. Schemes that iterate to the
 * positions at the end of the part ask for them there, in fixed steps. */
static double closing_time(const ss_sim *sim, double h) {
  return sim->trial.iterate_q && sim->options.tolerance == 0 ? h : fmax(sim->step.drift_time, h);
}

/* The joints' equations that are not redundant. */
static void joint_rows(ss_sim *sim, double h) {
  const ss_model *model = sim->model;
  ss_problem *p = &sim->trial.problem;
  const int n = sim->basis.n;
  const bool all = n == model->n_joint_rows;
  ss_row *rows = all && !sim->system ? p->rows : sim->basis.rows;
  sim->mechanics->joints(sim, sim->trial.grad_t, sim->trial.grad_q, NULL, rows, sim->system ? sim->basis.drive : NULL);
  for (int i = 0; i < n; i++) {
    if (rows != p->rows) put_row(sim, i, rows[sim->basis.row[i]]);
    p->offset[i] = p->compliance[i] = 0;
    if (sim->system) p->offset[i] = p->drive[i] = sim->basis.drive[sim->basis.row[i]];
  }
  p->n = p->n_joint = n;
  const bool iterated = h > 0 && sim->trial.iterate_q;
  if (iterated || (h > 0 && sim->options.stabilization == SS_STABILIZATION_ANITESCU_HART)) {
    ss_basis_residuals(sim, sim->state.t, sim->state.q, p->pushed); /* nu . va = -push Theta/T */
    for (int i = 0; i < n && !iterated; i++) p->pushed[i] *= sim->trial.asked.push / closing_time(sim, h);
    for (int i = 0; i < n && !iterated; i++) p->offset[i] += p->pushed[i];
  }
  if (iterated) { /* Theta(q^) + nu.(q+ - q^) = (1 - push h/T) Theta(q) */
    const double taken = sim->trial.asked.push * (h / closing_time(sim, h));
    ss_basis_residuals(sim, sim->state.t + h, sim->trial.iterate_q, p->offset);
    for (int i = 0; i < n; i++) {
      const double left = (1 - taken) * p->pushed[i];
      p->offset[i] = (p->offset[i] - left) / h - ss_row_dot(model, &p->rows[i], sim->trial.iterate_v);
      p->pushed[i] *= taken / h;
    }
  }
  const double share = kept_share(sim, h);
  if (share > 0) keep_joint_velocities(sim, share);
}

/* How much of the extension of a spring a part of size tau takes back. Turning within a step stretches a link by O(h^2), and
 * the next step takes that back, at a speed of O(h). A short part would do so at O(h^2/tau), and what no motion ever had
 * would become motion: like the velocities above it takes its share tau/h only, where the step does not resolve the spring. */
static double taken_share(const ss_sim *sim, const ss_force *force, const ss_row *row, double tau) {
  const double h = sim->step.h;
  const bool unresolved = tau < h && h * h * force->stiffness * ss_row_inverse_mass(sim->model, row) >= 1;
  return unresolved && !sim->scheme->theta ? tau / h : 1;
}

static void stiff_rows(ss_sim *sim, double h) {
  ss_problem *p = &sim->trial.problem;
  for (int k = 0; k < sim->model->n_forces; k++) {
    const ss_force *force = &sim->model->forces[k];
    double kappa;
    if (!ss_force_is_row(sim, force, h, &kappa)) continue;
    const ss_link link = ss_link_at(sim->model, force, sim->trial.force_q, sim->state.angle, sim->trial.force_v);
    const double stretched = taken_share(sim, force, &link.row, h) * (link.length - force->rest_length);
    const double tension = force->stiffness * stretched + force->damping * link.rate;
    const double rate = sim->scheme->theta ? ss_row_dot(sim->model, &link.row, sim->state.v) : link.rate;
    const double ahead = sim->scheme->theta ? kappa * ss_row_dot(sim->model, &link.row, sim->trial.guess) /* Newton */
                                            : -sim->trial.asked.alpha * h * h * force->stiffness * rate;
    p->rows[p->n] = link.row;
    p->compliance[p->n] = sim->trial.asked.alpha / kappa;
    p->offset[p->n] = -rate - sim->trial.asked.alpha / kappa * (ahead - h * tension);
    p->n++;
  }
}

/* Impacts: a force too stiff for the step to resolve acts as the link it stands for, so that the limit of stiffness is the
 * linked system in impacts too: fully implicit over the step, g.v+ + z/kappa = 0 with kappa = h (d + h k), where kappa
 * exceeds the mass it acts on. Softer ones do nothing in an instant. */
static void stiff_impact_rows(ss_sim *sim) {
  ss_problem *p = &sim->trial.problem;
  const double h = sim->step.h;
  for (int k = 0; k < sim->model->n_forces; k++) {
    const ss_force *force = &sim->model->forces[k];
    double kappa;
    if (!ss_force_is_row(sim, force, h, &kappa)) continue;
    const ss_link link = ss_link_at(sim->model, force, sim->state.q, sim->state.angle, sim->state.v);
    kappa = h * (force->damping + h * force->stiffness);
    if (kappa * ss_row_inverse_mass(sim->model, &link.row) < 1) continue;
    p->rows[p->n] = link.row;
    p->compliance[p->n] = 1 / kappa;
    p->offset[p->n] = 0;
    p->n++;
  }
}

static ss_contact_place place_contact(const ss_sim *sim, const ss_contact *c, double h) {
  ss_contact_place place = {.at = c->at};
  if (h > 0 && sim->scheme->rows_at_midpoint && !sim->crowd.dense) {
    sim->mechanics->place_on_path(sim, c, NULL, h / 2, 0, &place);
    /* A corner that leaves the face it stands on, or a normal that jumps, belongs to another contact. */
    if (!place.at.left && v3_dot(place.at.normal, c->at.normal) > 0.9) return place;
    place.at = c->at;
  }
  const bool iterated = h > 0 && sim->trial.iterate_q;
  const double *q = iterated ? sim->trial.iterate_q : sim->state.q;
  if (sim->system)
    sim->mechanics->place(sim, c, sim->state.t + (iterated ? h : 0), q, &place);
  else
    for (int side = 0; side < 2; side++) place.pose[side] = ss_pose_of(q, c->body[side]);
  return place;
}

/* The same for a closed contact: its normal velocity and, where it sticks, its slip. Not what is too fast for an error. */
static void keep_contact_velocity(ss_sim *sim, const ss_contact *c, double share) {
  static const double slow = 0.1;
  double *offset = sim->trial.problem.offset + c->row;
  if (fabs(c->rate) <= slow * sim->part.speed_bound) offset[0] -= share * c->rate;
  if (c->fixed && !c->was_stuck && ss_locates(sim, SS_EVENT_FACET)) {
    ss_face_keep_velocity(sim, c, share, slow * sim->part.speed_bound, offset);
    return;
  }
  for (int k = c->n_forces; k < c->n_rows; k++) {
    const double rate = ss_row_dot(sim->model, &sim->trial.problem.rows[c->row + k], sim->state.v);
    if (c->was_held >> c->motion[k] & 1 && fabs(rate) <= slow * sim->part.speed_bound) offset[k] -= share * rate;
  }
  if (!c->was_stuck || c->n_forces < 2) return;
  ss_contact_place place;
  sim->mechanics->place(sim, c, sim->state.t, sim->state.q, &place);
  const ss_vec3 velocity = v3_add(sim->mechanics->velocity(sim, c, &place, sim->state.v), place.drive);
  const ss_vec3 slip = v3_axpy(velocity, -v3_dot(velocity, c->at.normal), c->at.normal);
  if (v3_norm(slip) > slow * sim->part.speed_bound) return;
  for (int k = 1; k < c->n_forces; k++) offset[k] -= share * v3_dot(c->direction[k], slip);
}

/* Forces go on as they were: in a part of another size, or after an impact, the impulses do not. */
static double guess(const ss_contact *c, int k, double h) {
  const ss_vec3 d = c->direction[k];
  const bool known = h > 0 && k < c->n_forces && v3_dot(c->force, c->force) > 0;
  return known ? h * v3_dot(c->force, d) / v3_dot(d, d) : c->closed ? c->impulse[k] : 0;
}

/* A gentle landing (event/crowd.c has the derivation). */
static double landing_offset(const ss_sim *sim, double gap, double rate, double h) {
  const double open = fmax(gap, 0) / h;
  if (rate >= 0) return open;
  const double u =
      sim->trial.asked.gamma > 0 ? fmax((-open - (1 - sim->trial.asked.gamma) * rate) / sim->trial.asked.gamma, 0) : 0;
  return fmax(-(1 - sim->trial.asked.alpha) * rate - sim->trial.asked.alpha * u, 0);
}

/* The rows of a contact, from c->row on. */
static void fill_rows(ss_sim *sim, ss_contact *c, double h, double normal_offset) {
  ss_problem *p = &sim->trial.problem;
  const ss_contact_place place = place_contact(sim, c, h);
  ss_friction_directions(sim, c, &place);
  for (int k = 0; k < c->n_rows; k++) {
    const int i = c->row + k;
    put_row(sim, i,
            k < c->n_forces ? sim->mechanics->row(sim, c, &place, c->direction[k])
                            : ss_row_turn(sim->model, c->body[0], place.pose[0].orientation, c->body[1],
                                          place.pose[1].orientation, c->direction[k]));
    p->offset[i] = k == 0 ? normal_offset : 0;
    if (k == 0 && h > 0 && c->lands)
      p->offset[i] = landing_offset(sim, c->at.gap, ss_row_dot(sim->model, &p->rows[i], sim->state.v), h);
    p->pushed[i] = c->bounce > 0 ? 0 : fmin(p->offset[i], 0);
    if (sim->system) p->offset[i] += p->drive[i] = v3_dot(c->direction[k], place.drive);
    if (k == 0 && h > 0 &&
        sim->trial.iterate_q) { /* ST section 3.4: Phi(q^) + n.(q+ - q^) >= (1 - push h/T) min(Phi(q), 0) */
      const double depth = fmin(c->start_gap, 0), taken = sim->trial.asked.push * (h / closing_time(sim, h));
      p->offset[i] = (c->at.gap - (1 - taken) * depth) / h - ss_row_dot(sim->model, &p->rows[i], sim->trial.iterate_v);
      p->pushed[i] = taken * depth / h;
    }
    p->compliance[i] = 0;
    p->z[i] = guess(c, k, h);
  }
  const double share = c->closed ? kept_share(sim, h) : 0;
  if (share > 0) keep_contact_velocity(sim, c, share);
}

/* Its block, once its rows are where they stay. */
static void add_contact_block(ss_sim *sim, ss_contact *c) {
  ss_problem *p = &sim->trial.problem;
  p->n = c->row + c->n_rows;
  for (int side = 0; side < 2 && !sim->system; side++)
    if (c->body[side] >= 0) sim->trial.touched[c->body[side]] = true;
  add_block(p, c->mu > 0 ? SS_BLOCK_FRICTION : SS_BLOCK_NONNEGATIVE, c->row, c->n_rows);
  c->block = p->n_blocks - 1;
  ss_block *block = &p->blocks[c->block];
  block->mu = c->mu;
  block->cone = ss_friction_cone(sim, c);
  block->directions = sim->options.directions;
  if (block->kind == SS_BLOCK_FRICTION && block->cone == SS_CONE_GENERATED) {
    const ss_friction_table *table = ss_friction_corners(sim, c);
    block->directions = table->n;
    block->generators = table->corners;
  }
}

static void contact_rows(ss_sim *sim, ss_contact *c, double h, double normal_offset) {
  c->row = sim->trial.problem.n;
  fill_rows(sim, c, h, normal_offset);
  add_contact_block(sim, c);
}

bool ss_gap_stays(const ss_sim *sim, const ss_contact *c) {
  static const double share = 1e-5;
  const ss_shape *shapes = sim->model->shapes;
  if (!sim->crowd.dense && !(sim->crowd.landing_speed > 0)) return false;
  if (!c->closed && !(sim->crowd.dense && (c->met || c->hops > 0))) return false;
  const bool small = c->pair && (sim->crowd.dense || c->idle);
  const double size = small ? fmin(shapes[c->shape[0]].reach, shapes[c->shape[1]].reach) : 0;
  return fabs(c->at.gap) <= fmax(share * size, ss_touch_gap(sim));
}

/* A slack that is wrong by 4 residual unit/scale (trial.c) makes a gap wrong by that times h. */
double ss_crowd_residual(const ss_sim *sim, double unit) {
  static const double share = 8e-5; /* of the smaller shape */
  const ss_problem *p = &sim->trial.problem;
  const ss_shape *shapes = sim->model->shapes;
  double least = HUGE_VAL;
  for (int i = 0; i < sim->trial.n_contacts && sim->crowd.dense; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    const double size = c->pair ? fmin(shapes[c->shape[0]].reach, shapes[c->shape[1]].reach) : 0;
    if (c->row >= 0 && size > 0) least = fmin(least, size * p->scale[c->row]);
  }
  return sim->crowd.dense ? share * least / (4 * p->h * unit) : HUGE_VAL;
}

/* A whole step of a crowd at once (event/crowd.c). */
static double crowd_offset(const ss_sim *sim, const ss_contact *c, double h) {
  if (c->bounce > 0) return c->bounce * c->rate;
  if (ss_gap_stays(sim, c)) return 0;
  if (c->at.gap < 0) return sim->trial.asked.push * c->at.gap / fmax(sim->step.drift_time, h);
  return c->at.gap / h;
}

/* Position level: Phi/h. Velocity level: zero, but a closed contact whose gap has drifted open may close it again; where
 * transitions are located over a full step, so that a short part does not find it without load. A penetration is drift. */
static double normal_offset(const ss_sim *sim, const ss_contact *c, double h) {
  if (sim->crowd.dense) return crowd_offset(sim, c, h);
  if (c->at.gap >= 0 && ss_gap_stays(sim, c)) return 0;
  const bool gently = c->closed && ss_locates_transitions(sim) && !sim->scheme->position_level;
  if (c->at.gap >= 0) return c->at.gap / (gently ? sim->step.drift_time : h);
  const bool held = sim->scheme->position_level || sim->options.stabilization == SS_STABILIZATION_ANITESCU_HART;
  return held ? sim->trial.asked.push * c->at.gap / closing_time(sim, h) : 0;
}

void ss_keep_guess(ss_sim *sim) {
  const ss_problem *p = &sim->trial.problem;
  for (int i = 0; i < p->first_contact && p->h > 0; i++) sim->joints.free_guess[i] = p->z[i] / p->h;
}

static ss_status begin(ss_sim *sim, double h, bool forces, ss_error *error) {
  const int free_rows = sim->model->n_joint_rows + sim->model->n_forces;
  const int motors = h > 0 ? sim->model->n_motors : 0, most = sim->model->moments_anywhere ? SS_CONTACT_ROWS : 3;
  /* contacts have elements only while they are active in a step; in an impact's problem they are points */
  const int places = sim->trial.n_contacts + (sim->scheme->compliant ? ss_patch_elements(sim) : 0);
  ss_problem *p = &sim->trial.problem;
  ss_keep_guess(sim);
  p->first_contact = 0;
  const ss_status status = reserve(sim, free_rows + motors + most * places, 1 + motors + places, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < free_rows + motors; i++) p->z[i] = h * sim->joints.free_guess[i];
  p->n = p->n_blocks = p->n_joint = 0;
  p->h = h;
  sim->solver.islands.count = 0;
  sim->solver.chained = NULL;
  memset(sim->trial.touched, 0, sizeof *sim->trial.touched * (size_t)sim->model->n_bodies);
  memset(sim->trial.rests, 0, sizeof *sim->trial.rests * (size_t)sim->model->n_bodies);
  if (p->capacity) memset(p->pushed, 0, sizeof(double) * (size_t)p->capacity);
  if (sim->model->n_joints || sim->system) choose_gradient_positions(sim, h);
  if (sim->model->n_joint_rows) joint_rows(sim, h);
  if (forces && h > 0) stiff_rows(sim, h);
  if (forces && h == 0) stiff_impact_rows(sim);
  p->n_free = p->n;
  if (p->n) add_block(p, SS_BLOCK_FREE, 0, p->n);
  if (motors) ss_motor_rows(sim, sim->trial.grad_q, h);
  p->first_contact = p->n;
  return SS_OK;
}

/* ---- many contacts, on threads ---- */

typedef struct rows_job {
  ss_sim *sim;
  double h;
} rows_job;

static void fill_some(void *user, int worker, int from, int to) {
  (void)worker;
  const rows_job *job = user;
  for (int i = from; i < to; i++) {
    ss_contact *c = &job->sim->trial.contacts[i];
    if (c->row >= 0) fill_rows(job->sim, c, job->h, normal_offset(job->sim, c, job->h));
  }
}

/* Moves the rows of a contact to row `to`, before them. */
static void move_rows(ss_problem *p, ss_contact *c, int to) {
  double *const numbers[] = {p->offset, p->pushed, p->compliance, p->z};
  const size_t n = (size_t)c->n_rows;
  memmove(p->rows + to, p->rows + c->row, sizeof *p->rows * n);
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    memmove(numbers[k] + to, numbers[k] + c->row, sizeof(double) * n);
  c->row = to;
}

/* Every contact fills as many places as it may need; the rows close up afterwards. */
static void contact_rows_of_all(ss_sim *sim, double h) {
  enum { CONTACTS_AT_A_TIME = 64 };
  ss_problem *p = &sim->trial.problem;
  const int most = sim->model->moments_anywhere ? SS_CONTACT_ROWS : 3;
  int next = p->n;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    c->row = c->active ? next : -1;
    next += c->active ? most : 0;
  }
  rows_job job = {sim, h};
  ss_threads_for(sim->threads, sim->trial.n_contacts, CONTACTS_AT_A_TIME, fill_some, &job);
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0) continue;
    if (c->row != p->n) move_rows(p, c, p->n);
    add_contact_block(sim, c);
  }
  if (next > p->n) memset(p->pushed + p->n, 0, sizeof(double) * (size_t)(next - p->n));
}

ss_status ss_rows_step(ss_sim *sim, double h, ss_error *error) {
  ss_status status = begin(sim, h, true, error);
  if (status == SS_OK && !sim->system && !sim->scheme->compliant) {
    contact_rows_of_all(sim, h);
    return SS_OK;
  }
  for (int i = 0; status == SS_OK && i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    c->row = -1;
    if (!c->active) continue;
    if (c->patch)
      status = ss_patch_rows(sim, c, h, error);
    else
      contact_rows(sim, c, h, normal_offset(sim, c, h));
  }
  return status;
}

ss_status ss_rows_impact(ss_sim *sim, ss_error *error) {
  const ss_status status = begin(sim, 0, true, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    c->row = -1;
    if (c->active || c->touching) contact_rows(sim, c, 0, 0);
  }
  return SS_OK;
}

/* Whether the contact's feature is no longer one of its pair: an edge that has been turned away may have any gap. */
static bool left_behind(const ss_sim *sim, const ss_contact *c, const ss_contact_place *place) {
  return c->at.gap < 0 && -c->at.gap > 1.001 * sim->mechanics->depth(sim, c, place) + 1e-12 * sim->model->length;
}

/* Joints, and the normals of contacts that are closed or overlap, all at the present position. */
ss_status ss_rows_projection(ss_sim *sim, bool again, ss_error *error) {
  const ss_status status = begin(sim, 0, false, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    ss_contact_place place;
    sim->mechanics->place(sim, c, sim->state.t, sim->state.q, &place);
    c->at = place.at;
    const bool held = again && c->row >= 0;
    c->row = -1;
    if ((!c->closed && !held && c->at.gap >= 0) || left_behind(sim, c, &place)) continue;
    const double mu = c->mu;
    c->mu = 0;
    contact_rows(sim, c, 0, 0);
    c->mu = mu;
    sim->trial.problem.z[c->row] = 0;
  }
  return SS_OK;
}
