/* Rows of the step's problem: joints, stiff forces, contacts. After this stage there are only rows and blocks.
 *
 *     joints        nu . va = 0
 *     stiff forces  g . va + R z + s = 0: the linearly implicit spring-damper, kappa = alpha h (d + gamma h k):
 *                   z = h f - alpha h^2 k g.v - kappa g.(v+ - v) is its impulse, so R = alpha/kappa and
 *                   s = -g.v - R (h f - alpha h^2 k g.v). As kappa grows R goes to zero: a rigid link (LIT
 * Theorem 9.3), with no stiff entry anywhere contacts      0 <= n.va + s perp c_n >= 0 and friction; s lets a gap that
 * has drifted open close again
 *
 * The first tangent of a frictional contact points where the contact slips, or would: a polygon has its corner there,
 * so that the friction force does not depend on how the scene is turned. */
#include "step/workspace.h"

static ss_status reserve(ss_problem *p, int rows, int blocks, ss_error *error) {
  ss_status status = ss_grow((void **)&p->blocks, &p->block_capacity, blocks, sizeof *p->blocks, error);
  if (status != SS_OK || rows <= p->capacity) return status;
  const int capacity = rows < 8 ? 8 : rows + rows / 2;
  ss_free(p->rows);
  ss_free(p->numbers);
  p->capacity = 0;
  p->rows = ss_alloc(sizeof *p->rows * (size_t)capacity);
  p->numbers = ss_alloc(sizeof(double) * (size_t)capacity * ((size_t)capacity + 17));
  if (!p->rows || !p->numbers) return ss_fail(error, SS_ERROR_MEMORY, "out of memory: %d contact and joint rows", rows);
  double *next = p->numbers;
  double **const parts[] = {&p->offset, &p->compliance, &p->g, &p->z, &p->slack};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++, next += capacity) *parts[i] = next;
  p->w = next;
  p->G = next + 12 * (size_t)capacity;
  p->capacity = capacity;
  return SS_OK;
}

static void add_block(ss_problem *p, ss_block_kind kind, int first, int size) {
  p->blocks[p->n_blocks++] = (ss_block){.kind = kind, .first = first, .size = size};
}

static int count_stiff(const ss_sim *sim, double h) {
  int count = 0;
  double kappa;
  for (int k = 0; k < sim->model->n_forces; k++) count += ss_force_is_row(sim, &sim->model->forces[k], h, &kappa);
  return count;
}

static void joint_rows(ss_sim *sim, double h) {
  const ss_model *model = sim->model;
  ss_problem *p = &sim->problem;
  const double *q = sim->state.q;
  if (h > 0 && sim->scheme->rows_at_midpoint) { /* LIT (5.2) */
    for (int k = 0; k < model->n_bodies; k++) ss_store_pose(sim->mid_q, k, ss_advance_body(sim, k, NULL, h / 2, 0));
    q = sim->mid_q;
  }
  ss_joints_evaluate(model, q, NULL, p->rows);
  for (int i = 0; i < model->n_joint_rows; i++) p->offset[i] = p->compliance[i] = 0;
  p->n = p->n_joint = model->n_joint_rows;
}

static void stiff_rows(ss_sim *sim, double h) {
  ss_problem *p = &sim->problem;
  for (int k = 0; k < sim->model->n_forces; k++) {
    const ss_force *force = &sim->model->forces[k];
    double kappa;
    if (!ss_force_is_row(sim, force, h, &kappa)) continue;
    const ss_link link = ss_link_at(sim->model, force, sim->state.q, sim->state.v);
    const double tension = force->stiffness * (link.length - force->rest_length) + force->damping * link.rate;
    const double impulse = -h * tension - sim->alpha * h * h * force->stiffness * link.rate;
    p->rows[p->n] = link.row;
    p->compliance[p->n] = sim->alpha / kappa;
    p->offset[p->n] = -link.rate - sim->alpha / kappa * impulse;
    p->n++;
  }
}

/* Where the rows of a contact are taken: bodies and contact point. */
typedef struct contact_place {
  ss_pose pose[2];
  ss_contact_point at;
} contact_place;

static contact_place place_contact(const ss_sim *sim, const ss_contact *c, double h) {
  contact_place place;
  const bool middle = h > 0 && sim->scheme->rows_at_midpoint;
  for (int side = 0; side < 2; side++)
    place.pose[side] =
        middle ? ss_advance_body(sim, c->body[side], NULL, h / 2, 0) : ss_pose_of(sim->state.q, c->body[side]);
  if (middle)
    ss_contact_at(sim->model, c, &place.pose[0], &place.pose[1], &place.at);
  else
    place.at = c->at;
  return place;
}

/* Row of both bodies for one direction at a point shifted from the contact point. */
static ss_row shifted_row(const ss_sim *sim, const ss_contact *c, const contact_place *place, ss_vec3 shift,
                          ss_vec3 direction) {
  return ss_row_points(sim->model, c->body[0], &place->pose[0], v3_add(place->at.point_a, shift), c->body[1],
                       &place->pose[1], v3_add(place->at.point_b, shift), direction);
}

static ss_row contact_row(const ss_sim *sim, const ss_contact *c, const contact_place *place, ss_vec3 direction) {
  return shifted_row(sim, c, place, v3(0, 0, 0), direction);
}

static void choose_tangents(const ss_sim *sim, ss_contact *c, const contact_place *place) {
  const ss_vec3 n = place->at.normal;
  if (sim->model->planar != SS_SPATIAL) {
    c->tangent[0] = v3_normalize(v3_cross(n, sim->model->plane_normal));
    c->n_rows = 2;
    return;
  }
  c->n_rows = 3;
  const ss_vec3 u = v3_perpendicular(n), w = v3_cross(n, u);
  double x = v3_dot(c->pressed, u), y = v3_dot(c->pressed, w);
  if (!c->was_stuck || x * x + y * y == 0) { /* the slip that would follow without the contact */
    const ss_row row_u = contact_row(sim, c, place, u), row_w = contact_row(sim, c, place, w);
    x = ss_row_dot(sim->model, &row_u, sim->state.v) + ss_row_dot(sim->model, &row_u, sim->dv_free);
    y = ss_row_dot(sim->model, &row_w, sim->state.v) + ss_row_dot(sim->model, &row_w, sim->dv_free);
  }
  const double length = sqrt(x * x + y * y);
  c->tangent[0] =
      length > 1e-13 * (1 + sim->speed_bound) ? v3_add(v3_scale(x / length, u), v3_scale(y / length, w)) : u;
  c->tangent[1] = v3_cross(n, c->tangent[0]);
}

static void contact_rows(ss_sim *sim, ss_contact *c, double h, double normal_offset) {
  ss_problem *p = &sim->problem;
  c->row = p->n;
  c->block = p->n_blocks;
  const contact_place place = place_contact(sim, c, h);
  c->n_rows = 1;
  if (c->patch && c->mu > 0)
    c->n_rows = c->patch->n_directions;
  else if (c->mu > 0)
    choose_tangents(sim, c, &place);
  for (int e = 0; e < ss_contact_elements(c); e++) {
    const ss_vec3 shift = ss_element_shift(c, e);
    add_block(p, c->mu > 0 ? SS_BLOCK_FRICTION : SS_BLOCK_NONNEGATIVE, p->n, c->n_rows);
    ss_block *block = &p->blocks[p->n_blocks - 1];
    block->mu = c->mu;
    block->cone = sim->options.cone;
    block->directions = sim->options.directions;
    for (int k = 0; k < c->n_rows; k++) {
      const ss_vec3 direction = k == 0 ? place.at.normal : c->tangent[k - 1];
      p->rows[p->n] = shifted_row(sim, c, &place, shift, direction);
      p->offset[p->n] = k == 0 ? normal_offset : 0;
      p->compliance[p->n] = 0;
      p->z[p->n] = c->closed ? v3_dot(c->pressed, direction) : 0;
      p->n++;
    }
  }
}

/* Position level: Phi/h. Velocity level: zero, but a closed contact whose gap has drifted open may close it again.
 * A penetration is divided by the full step, so that a short remainder does not turn rounding into a kick. */
static double normal_offset(const ss_sim *sim, const ss_contact *c, double h) {
  if (c->at.gap >= 0) return c->at.gap / h;
  return sim->scheme->position_level ? c->at.gap / sim->h : 0;
}

static ss_status begin(ss_sim *sim, double h, bool stiff, ss_error *error) {
  const int free_rows = sim->model->n_joint_rows + (stiff ? count_stiff(sim, h) : 0);
  int elements = 0;
  for (int i = 0; i < sim->n_contacts; i++) elements += ss_contact_elements(&sim->contacts[i]);
  const ss_status status = reserve(&sim->problem, free_rows + 3 * elements, 1 + elements, error);
  if (status != SS_OK) return status;
  ss_problem *p = &sim->problem;
  p->n = p->n_blocks = p->n_joint = 0;
  p->h = h;
  if (sim->model->n_joint_rows) joint_rows(sim, h);
  if (stiff) stiff_rows(sim, h);
  p->n_free = p->n;
  if (p->n) add_block(p, SS_BLOCK_FREE, 0, p->n);
  return SS_OK;
}

ss_status ss_rows_step(ss_sim *sim, double h, ss_error *error) {
  ss_status status = begin(sim, h, sim->model->n_forces > 0, error);
  for (int i = 0; status == SS_OK && i < sim->n_contacts; i++) {
    ss_contact *c = &sim->contacts[i];
    c->row = -1;
    if (c->active) contact_rows(sim, c, h, c->patch ? 0 : normal_offset(sim, c, h));
    if (c->active && c->patch) status = ss_patch_offsets(sim, c, h, error);
  }
  return status;
}

ss_status ss_rows_impact(ss_sim *sim, ss_error *error) {
  const ss_status status = begin(sim, 0, false, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < sim->n_contacts; i++) {
    ss_contact *c = &sim->contacts[i];
    c->row = -1;
    if (c->active || c->touching) contact_rows(sim, c, 0, 0);
  }
  return SS_OK;
}
