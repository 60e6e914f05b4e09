/* A patch in the step's problem: n_rows rows and one block per element, R = E^-1 / h between all of them.
 *
 * Normal condition of an element with gap Psi_e (contact point's gap plus Hertz's paraboloid):
 *   compliant        0 <= s_n for elements that carry force (DCC 2.3); an element that is open may close its gap
 *   compliant-theta  0 <= (Psi + delta)/h + s_n for all (BVP (16)) */
#include "core/words.h"
#include "scheme/scheme.h"

#include <string.h>

int ss_patch_elements(const ss_sim *sim) {
  int sum = 0;
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (sim->trial.contacts[i].active)
      sum += sim->trial.contacts[i].patch ? sim->trial.contacts[i].patch->n_elements : 1;
  return sum;
}

/* Component of the patch that row k of element e belongs to. */
static int component(const ss_contact *c, int e, int k) { return e * c->patch->n_directions + k; }

/* Rows of an element; their offsets but for the gap are -E^-1 K delta. */
static void element_rows(ss_sim *sim, const ss_contact *c, const ss_pose pose[2], int e) {
  ss_problem *p = &sim->trial.problem;
  const int n = c->patch->n;
  const double *delta = ss_patch_start(sim, c), *impulse = delta + n;
  const ss_vec3 shift = ss_element_shift(c, e);
  p->blocks[p->n_blocks++] = (ss_block){.kind = c->mu > 0 ? SS_BLOCK_FRICTION : SS_BLOCK_NONNEGATIVE,
                                        .first = p->n,
                                        .size = c->n_rows,
                                        .mu = c->patch->friction ? c->patch->friction[e] : c->mu,
                                        .cone = sim->options.cone,
                                        .directions = sim->options.directions};
  for (int k = 0; k < c->n_rows; k++) {
    const double *line = c->patch->recovery + (size_t)component(c, e, k) * (size_t)n;
    double sum = 0;
    for (int j = 0; j < n; j++) sum += line[j] * delta[j];
    p->rows[p->n] = ss_row_points(sim->model, c->body[0], &pose[0], v3_add(c->at.point_a, shift), c->body[1], &pose[1],
                                  v3_add(c->at.point_b, shift), c->direction[k]);
    p->offset[p->n] = -sum;
    p->compliance[p->n] = 0;
    p->z[p->n] = impulse[component(c, e, k)];
    p->n++;
  }
}

/* ---- how material flows through a patch ----
 *
 * The elements of a patch are places around the contact point and go with it, while the bodies' material passes through
 * them: a wheel that rolls at the speed V has the flow -V. Velocities of surfaces in the step's rows are those of material
 * points; the gap of an element is that of a place,
 *
 *     d Psi/dt = n.(v_a - v_b) - u_a.grad z_a + u_b.grad z_b      u: flow of a side, z: height of its surface over the tangent plane
 *
 * so that the normal row of an element has the offset - sum of u.kappa r over both sides, kappa the curvature, r the place.
 * Without it the front of a rolling patch is pressed in by the turning of the wheel, the rear is lifted.
 *
 * Deformations belong to material, too. With transport, those at the start of a step are those that the flow brings to
 * the elements, delta(r - h u), so that (delta+ - delta*)/h is the rate of a material point and steady rolling has creep
 * (Carter; Vermeulen and Johnson; Kalker). The field is interpolated by cubics; around the patch it is what the forces on
 * the elements make of the half-space there, or zero for springs. u is the mean of both sides' by their compliances.
 *
 * u comes from where the contact point and the material at it were a step before at the present velocities. */

/* u_a and u_b, world frame, in the tangent plane. */
void ss_patch_flow(const ss_sim *sim, const ss_contact *c, double h, ss_vec3 u[2]) {
  ss_pose now[2], before[2];
  for (int side = 0; side < 2; side++) {
    now[side] = ss_pose_of(sim->state.q, c->body[side]);
    before[side] = ss_advance_body(sim, c->body[side], NULL, -h, 1);
  }
  ss_contact_point at;
  ss_contact_at(sim->model, c, &before[0], &before[1], &at);
  const ss_vec3 point = v3_scale(0.5, v3_add(c->at.point_a, c->at.point_b));
  const ss_vec3 was = v3_scale(0.5, v3_add(at.point_a, at.point_b));
  for (int side = 0; side < 2; side++) {
    const ss_vec3 material = pose_point(&before[side], pose_local(&now[side], point));
    const ss_vec3 flow = v3_scale(1 / h, v3_sub(was, material));
    u[side] = v3_axpy(flow, -v3_dot(flow, c->at.normal), c->at.normal);
  }
}

/* u.kappa r of a side. */
static double bend(const ss_sim *sim, const ss_contact *c, int side, const ss_pose *body, ss_vec3 u, ss_vec3 r) {
  const ss_shape *shape = &sim->model->shapes[c->shape[side]];
  const ss_pose pose = ss_shape_pose(shape, body);
  const ss_vec3 outward = side == 0 ? v3_neg(c->at.normal) : c->at.normal;
  const double speed = v3_norm(u), size = v3_norm(r);
  if (!(speed > 0) || !(size > 0)) return 0;
  const ss_vec3 step = v3_scale(size / speed, u); /* as long as r: the form is quadratic */
  return speed / size *
         (ss_shape_curvature(shape, &pose, outward, v3_add(r, step)) -
          ss_shape_curvature(shape, &pose, outward, v3_sub(r, step))) /
         4;
}

double ss_patch_convection(const ss_sim *sim, const ss_contact *c, const ss_pose body[2], const ss_vec3 u[2], int e) {
  const ss_vec3 r = ss_element_shift(c, e);
  return bend(sim, c, 0, &body[0], u[0], r) + bend(sim, c, 1, &body[1], u[1], r);
}

const double *ss_patch_transport(ss_sim *sim, const ss_contact *c, double h, const ss_vec3 u[2]) {
  const ss_touch *touch = ss_touch_find(&sim->state, c->key);
  const ss_patch *p = c->patch;
  if (!touch || touch->n_patch != 2 * p->n) return NULL; /* it has just appeared */
  const ss_vec3 flow = v3_add(v3_scale(p->share[0], u[0]), v3_scale(p->share[1], u[1]));
  const double shift[2] = {h * v3_dot(flow, c->direction[1]) / p->spacing,
                           h * v3_dot(flow, c->direction[2]) / p->spacing};
  double *delta = ss_patch_start(sim, c);
  memcpy(delta, sim->state.patch + touch->patch, sizeof(double) * (size_t)p->n);
  ss_patch_shift(p, shift, delta);
  return sim->state.patch + touch->patch;
}

/* ---- rows ---- */

/* K(q) and C(q) at the start of the step, BVP (16). */
static ss_status scale_law(const ss_sim *sim, const ss_contact *c, ss_error *error) {
  const ss_compliance_def *def = &c->law->compliance->def;
  const ss_expression *const expressions[2] = {def->stiffness_factor, def->damping_factor};
  static const char *const names[2] = {"stiffness_factor", "damping_factor"};
  double factor[2] = {1, 1};
  for (int i = 0; i < 2; i++) {
    if (expressions[i]) factor[i] = ss_signal_value(sim, expressions[i], sim->state.t);
    if (!(factor[i] > 0) || !isfinite(factor[i]))
      return ss_fail_place(error, SS_ERROR_INPUT, sim->model->file, def->mark,
                           "compliance: '%s' is %g at t = %.9g: it must be positive", names[i], factor[i],
                           sim->state.t);
  }
  ss_patch_scale(c->patch, factor);
  return SS_OK;
}

ss_status ss_patch_rows(ss_sim *sim, ss_contact *c, double h, ss_error *error) {
  const double usual = sim->options.step; /* ends of steps are rounded: one set of matrices for all of them */
  ss_status status = c->patch->K0 ? scale_law(sim, c, error) : SS_OK;
  if (status != SS_OK) return status;
  status = ss_patch_prepare(c->patch, fabs(h - usual) <= 1e-12 * usual ? usual : h, error);
  if (status != SS_OK) return status;
  ss_vec3 flow[2];
  const bool flows = c->patch->transport && c->patch->n_elements > 1;
  if (flows) ss_patch_flow(sim, c, h, flow);
  const double *before = flows ? ss_patch_transport(sim, c, h, flow) : NULL;
  const double *delta = ss_patch_start(sim, c), *impulse = delta + c->patch->n;
  const ss_pose pose[2] = {ss_pose_of(sim->state.q, c->body[0]), ss_pose_of(sim->state.q, c->body[1])};
  c->row = sim->trial.problem.n;
  c->block = sim->trial.problem.n_blocks;
  c->n_rows = c->n_forces = c->mu > 0 ? c->patch->n_directions : 1;
  for (int e = 0; e < c->patch->n_elements; e++) {
    const int row = sim->trial.problem.n, normal = component(c, e, 0);
    element_rows(sim, c, pose, e);
    if (flows) sim->trial.problem.offset[row] -= ss_patch_convection(sim, c, pose, flow, e);
    const double gap = ss_element_gap(sim, c, &c->at, e) + delta[normal];
    if (sim->scheme->position_level)
      sim->trial.problem.offset[row] += gap / h;
    else if (!(impulse[normal] > 0))
      sim->trial.problem.offset[row] += fmax(0, gap) / h;
    else if (before) /* its gap is closed at the place, whatever material comes there */
      sim->trial.problem.offset[row] += (delta[normal] - before[normal]) / h;
  }
  return SS_OK;
}

static void stiffen(const ss_sim *sim, const ss_contact *c, double *G) {
  const ss_problem *p = &sim->trial.problem;
  const size_t n = (size_t)c->patch->n;
  const int rows = c->n_rows, count = rows * c->patch->n_elements;
  for (int i = 0; i < count; i++) {
    const double *line = c->patch->flexibility + (size_t)component(c, i / rows, i % rows) * n;
    double *out = G + (size_t)(c->row + i) * (size_t)p->n + (size_t)c->row;
    for (int j = 0; j < count; j++) out[j] += line[component(c, j / rows, j % rows)] / p->h;
  }
}

/* In an impact's problem (h = 0) contacts are points without elements: nothing is added. */
void ss_patch_stiffen(const ss_sim *sim, double *G) {
  if (!(sim->trial.problem.h > 0)) return;
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (sim->trial.contacts[i].patch && sim->trial.contacts[i].row >= 0) stiffen(sim, &sim->trial.contacts[i], G);
}

/* Sums over the elements; a patch sticks as long as one of its elements does. */
void ss_patch_distribute(const ss_sim *sim, ss_contact *c, const double *w) {
  const ss_problem *p = &sim->trial.problem;
  for (int k = 0; k < c->n_rows; k++) c->impulse[k] = 0;
  for (int e = 0; e < c->patch->n_elements; e++) {
    const int row = c->row + e * c->n_rows;
    double slip = 0;
    for (int k = 0; k < c->n_rows; k++) {
      c->impulse[k] += p->z[row + k];
      c->pressed = v3_axpy(c->pressed, p->z[row + k], c->direction[k]);
      if (k > 0) slip += w[row + k] * w[row + k];
    }
    c->stuck |= c->n_rows > 1 && p->z[row] > 0 && sqrt(slip) <= ss_patch_still(sim);
  }
}

/* delta+ = delta + E^-1 (z - h K delta) */
static void advance_patch(ss_sim *sim, const ss_contact *c, double h) {
  const int n = c->patch->n;
  const double *delta = ss_patch_start(sim, c);
  double *end = ss_patch_end(sim, c), *impulse = end + n;
  memset(impulse, 0, sizeof(double) * (size_t)n);
  for (int i = 0; i < c->n_rows * c->patch->n_elements; i++)
    impulse[component(c, i / c->n_rows, i % c->n_rows)] = sim->trial.problem.z[c->row + i];
  for (int i = 0; i < n; i++) {
    const double *given = c->patch->flexibility + (size_t)i * (size_t)n;
    const double *back = c->patch->recovery + (size_t)i * (size_t)n;
    double sum = delta[i];
    for (int j = 0; j < n; j++) sum += given[j] * impulse[j] - h * back[j] * delta[j];
    end[i] = sum;
  }
}

void ss_patch_advance(ss_sim *sim, double h) {
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (sim->trial.contacts[i].patch && sim->trial.contacts[i].row >= 0) advance_patch(sim, &sim->trial.contacts[i], h);
}
