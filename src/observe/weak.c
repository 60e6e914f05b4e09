#include <stickslip/weak.h>

#include "la/dense.h"
#include "observe/observe.h"

#include <string.h>

enum { TESTS = 8 };

/* C^-1 of a patch's law. */
typedef struct inverse_damping {
  const ss_patch *law;
  double *matrix; /* [n][n]; NULL: C is singular */
  struct inverse_damping *next;
} inverse_damping;

/* What a patch has gathered since it appeared. */
typedef struct patch_sum {
  uint64_t key;
  int n;
  double *open; /* [n] delta - delta_0 - integral */
} patch_sum;

struct ss_weak {
  ss_sim *sim;
  ss_arena *arena;
  double *q, *v;                 /* [7 n_bodies], [n_v]: in between */
  double *row;                   /* [n_v] generalised force */
  double *momentum, *kinematics; /* [n_v] sums */
  ss_row *joints;                /* [n_joint_rows] */
  inverse_damping *laws;
  patch_sum *patches;
  int n_patches, patch_capacity;
  double tests[TESTS]; /* int (test - lambda_t) . s */
  double complementarity, cone, friction, gap, worst_momentum, worst_kinematics, worst_compliance;
};

/* ---- the right side of the equations of motion ---- */

static void add_force(ss_weak *w, const ss_force *force, double t) {
  const ss_model *model = w->sim->model;
  if (force->type != SS_FORCE_APPLIED) {
    const ss_link link = ss_link_at(model, force, w->q, w->sim->state.angle, w->v);
    const double tension = force->stiffness * (link.length - force->rest_length) + force->damping * link.rate;
    ss_row_add(model, &link.row, -tension, w->row);
    return;
  }
  const ss_pose pose = ss_pose_of(w->q, force->body[0]);
  double f[3], m[3];
  for (int i = 0; i < 3; i++) {
    f[i] = ss_force_component(w->sim, force, i, t);
    m[i] = ss_force_component(w->sim, force, 3 + i, t);
  }
  const ss_vec3 direction = v3(f[0], f[1], f[2]), arm = quat_rotate(pose.orientation, force->anchor[0]);
  ss_row row = {.body = {SS_WORLD, SS_WORLD}};
  ss_row_set(model, &row, 0, force->body[0], pose.orientation, direction,
             v3_add(v3(m[0], m[1], m[2]), v3_cross(arm, direction)));
  ss_row_add(model, &row, 1, w->row);
}

/* Gravity, gyroscopic torque, force elements at (t, q, v). */
static void add_forces(ss_weak *w, double t) {
  const ss_model *model = w->sim->model;
  const double g[3] = {model->gravity.x, model->gravity.y, model->gravity.z};
  for (int k = 0; k < model->n_bodies; k++) {
    const ss_body *body = &model->bodies[k];
    ss_vec3 linear, spin;
    ss_twist_of(model, w->v, k, &linear, &spin);
    const ss_vec3 torque = v3_cross(mat3_mul(&body->inertia, spin), spin);
    for (int i = 0; i < body->n; i++) {
      const int c = body->coordinate[i];
      w->row[body->first + i] += c < 3 ? body->mass * g[c] : body->gyroscopic ? v3_get(torque, c - 3) : 0;
    }
  }
  for (int k = 0; k < model->n_forces; k++) add_force(w, &model->forces[k], t);
}

static void add_joints(ss_weak *w, double h) {
  ss_sim *sim = w->sim;
  if (sim->model->n_joint_rows == 0) return;
  ss_joints_evaluate(sim->model, w->q, NULL, NULL, w->joints);
  for (int i = 0; i < sim->basis.n; i++)
    ss_row_add(sim->model, &w->joints[sim->basis.row[i]], sim->trial.problem.z[i] / h, w->row);
}

/* ---- patches ---- */

static const double *inverse_of(ss_weak *w, const ss_patch *law) {
  for (const inverse_damping *known = w->laws; known; known = known->next)
    if (known->law == law) return known->matrix;
  const size_t square = (size_t)law->n * (size_t)law->n;
  double *matrix = SS_ARENA_ARRAY(w->arena, double, square);
  inverse_damping *entry = SS_ARENA_ARRAY(w->arena, inverse_damping, 1);
  if (!matrix || !entry) return NULL;
  memcpy(matrix, law->C, sizeof(double) * square);
  if (!ss_spd_inverse(matrix, law->n)) matrix = NULL;
  *entry = (inverse_damping){law, matrix, w->laws};
  w->laws = entry;
  return matrix;
}

/* Row `line` of C^-1 (lambda - K delta), with delta at the fraction f of the part. */
static double deformation_rate(const ss_weak *w, const ss_contact *c, const double *inverse, int line, double f,
                               double h) {
  const ss_patch *p = c->patch;
  const double *start = ss_patch_start(w->sim, c), *end = ss_patch_end(w->sim, c), *impulse = end + p->n;
  const size_t n = (size_t)p->n;
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    double force = impulse[i] / h;
    for (size_t j = 0; j < n; j++) force -= p->K[i * n + j] * ((1 - f) * start[j] + f * end[j]);
    sum += inverse[(size_t)line * n + i] * force;
  }
  return sum;
}

/* Friction of one element at one time: the worst test function and the smooth ones. */
static void gather_friction(ss_weak *w, const ss_contact *c, int e, ss_vec3 velocity, const double rate[2], double t,
                            double weight, double h) {
  const int d = c->patch->n_directions;
  const double *impulse = ss_patch_end(w->sim, c) + c->patch->n + (ptrdiff_t)e * d;
  const double normal = (c->patch->friction ? c->patch->friction[e] : c->mu) * impulse[0] / h;
  double slip[2] = {0}, force[2] = {0}, work = 0;
  for (int k = 1; k < d; k++) {
    slip[k - 1] = rate[k - 1] + v3_dot(velocity, c->direction[k]);
    force[k - 1] = impulse[k] / h;
    work += slip[k - 1] * force[k - 1];
  }
  w->friction += weight * (normal * hypot(slip[0], slip[1]) + work);
  w->cone += weight * fmax(0, hypot(force[0], force[1]) - normal);
  for (int i = 0; i < TESTS; i++) {
    const double phase = 2 * 3.14159265358979323846 * (i * t / w->sim->options.duration + i / (double)TESTS);
    w->tests[i] += weight * (normal * (cos(phase) * slip[0] + sin(phase) * slip[1]) - work);
  }
}

/* Gamma^T lambda at the place in between, and the integrals (b) and (c). */
static void gather_contact(ss_weak *w, const ss_contact *c, double f, double t, double weight, double h) {
  const ss_sim *sim = w->sim;
  const ss_model *model = sim->model;
  const ss_pose pose[2] = {ss_pose_of(w->q, c->body[0]), ss_pose_of(w->q, c->body[1])};
  const double *inverse = inverse_of(w, c->patch);
  const int d = c->patch->n_directions, n = c->patch->n;
  const double *start = ss_patch_start(sim, c), *end = ss_patch_end(sim, c), *impulse = end + n;
  ss_contact_point at;
  ss_contact_at(model, c, &pose[0], &pose[1], &at);
  for (int e = 0; e < c->patch->n_elements; e++) {
    const int first = e * d;
    const ss_vec3 shift = ss_element_shift(c, e);
    ss_contact_point there = at;
    there.point_a = v3_add(at.point_a, shift);
    there.point_b = v3_add(at.point_b, shift);
    for (int k = 0; k < c->n_rows; k++) {
      const ss_row row = ss_row_points(model, c->body[0], &pose[0], there.point_a, c->body[1], &pose[1], there.point_b,
                                       k == 0 ? at.normal : c->direction[k]);
      ss_row_add(model, &row, impulse[first + k] / h, w->row);
    }
    const double gap = ss_element_gap_at(sim, c, &at, pose, e) + (1 - f) * start[first] + f * end[first];
    w->complementarity += weight * impulse[first] / h * gap;
    if (c->n_rows < 2 || !inverse) continue;
    const ss_vec3 velocity = ss_contact_velocity(model, c, &there, &pose[0], &pose[1], w->v);
    double rate[2] = {0};
    for (int k = 1; k < d; k++) rate[k - 1] = deformation_rate(w, c, inverse, first + k, f, h);
    gather_friction(w, c, e, velocity, rate, t, weight, h);
  }
}

static patch_sum *find_sum(ss_weak *w, const ss_contact *c, ss_error *error) {
  for (int i = 0; i < w->n_patches; i++)
    if (w->patches[i].key == c->key && w->patches[i].n == c->patch->n) return &w->patches[i];
  if (ss_grow((void **)&w->patches, &w->patch_capacity, w->n_patches + 1, sizeof *w->patches, error) != SS_OK)
    return NULL;
  patch_sum *sum = &w->patches[w->n_patches];
  *sum = (patch_sum){.key = c->key, .n = c->patch->n, .open = SS_ARENA_ARRAY(w->arena, double, c->patch->n)};
  if (!sum->open) {
    (void)ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  w->n_patches++;
  return sum;
}

/* delta(t) - delta(0) - integral: the integrand is linear in between, so that the middle gives it exactly. */
static ss_status gather_deformations(ss_weak *w, const ss_contact *c, double h, ss_error *error) {
  const double *inverse = inverse_of(w, c->patch);
  if (!inverse) {
    w->worst_compliance = w->friction = (double)NAN;
    return SS_OK;
  }
  patch_sum *sum = find_sum(w, c, error);
  if (!sum) return SS_ERROR_MEMORY;
  const ss_touch *before = ss_touch_find(&w->sim->state, c->key);
  if (!before || before->patch < 0) memset(sum->open, 0, sizeof(double) * (size_t)sum->n); /* it has just appeared */
  const double *start = ss_patch_start(w->sim, c), *end = ss_patch_end(w->sim, c);
  for (int i = 0; i < c->patch->n; i++) {
    sum->open[i] += end[i] - start[i] - h * deformation_rate(w, c, inverse, i, 0.5, h);
    w->worst_compliance = fmax(w->worst_compliance, fabs(sum->open[i]));
  }
  return SS_OK;
}

/* ---- one part of a step ---- */

/* q, v at the fraction f of the part. */
static void interpolate(ss_weak *w, double f) {
  const ss_sim *sim = w->sim;
  for (int k = 0; k < sim->model->n_bodies; k++) {
    const ss_pose a = ss_pose_of(sim->state.q, k), b = ss_pose_of(sim->trial.q_end, k);
    const ss_vec3 turn = quat_log(quat_multiply(quat_conjugate(a.orientation), b.orientation));
    ss_store_pose(w->q, k,
                  (ss_pose){v3_axpy(a.position, f, v3_sub(b.position, a.position)),
                            quat_normalize(quat_multiply(a.orientation, quat_exp(v3_scale(f, turn))))});
  }
  for (int i = 0; i < sim->model->n_v; i++) w->v[i] = (1 - f) * sim->state.v[i] + f * sim->trial.v_end[i];
}

/* Sums momentum -= weight M^-1 (f + Gamma^T lambda). */
static void add_momentum(ss_weak *w, double weight) {
  const ss_model *model = w->sim->model;
  for (int k = 0; k < model->n_bodies; k++) {
    const ss_body *body = &model->bodies[k];
    for (int i = 0; i < body->n; i++)
      for (int j = 0; j < body->n; j++)
        w->momentum[body->first + i] -= weight * body->minv[i * body->n + j] * w->row[body->first + j];
  }
}

static void gather_kinematics(ss_weak *w, double h) {
  const ss_sim *sim = w->sim;
  for (int k = 0; k < sim->model->n_bodies; k++) {
    const ss_body *body = &sim->model->bodies[k];
    const ss_pose a = ss_pose_of(sim->state.q, k), b = ss_pose_of(sim->trial.q_end, k);
    const ss_vec3 moved = v3_sub(b.position, a.position);
    const ss_vec3 turned = quat_log(quat_multiply(quat_conjugate(a.orientation), b.orientation));
    for (int i = 0; i < body->n; i++) {
      const int c = body->coordinate[i], j = body->first + i;
      w->kinematics[j] +=
          (c < 3 ? v3_get(moved, c) : v3_get(turned, c - 3)) - h * (sim->state.v[j] + sim->trial.v_end[j]) / 2;
      w->worst_kinematics = fmax(w->worst_kinematics, fabs(w->kinematics[j]));
    }
  }
}

ss_status ss_weak_part(ss_sim *sim, double h, ss_error *error) {
  static const double gauss[2] = {0.21132486540518712, 0.78867513459481288};
  ss_weak *w = sim->watch.weak;
  for (int point = 0; point < 2; point++) {
    const double f = gauss[point], t = sim->state.t + f * h;
    interpolate(w, f);
    memset(w->row, 0, sizeof(double) * (size_t)sim->model->n_v);
    add_forces(w, t);
    add_joints(w, h);
    for (int i = 0; i < sim->trial.n_contacts; i++)
      if (sim->trial.contacts[i].patch && sim->trial.contacts[i].row >= 0)
        gather_contact(w, &sim->trial.contacts[i], f, t, h / 2, h);
    add_momentum(w, h / 2);
  }
  for (int i = 0; i < sim->model->n_v; i++) {
    w->momentum[i] += sim->trial.v_end[i] - sim->state.v[i];
    w->worst_momentum = fmax(w->worst_momentum, fabs(w->momentum[i]));
  }
  gather_kinematics(w, h);
  interpolate(w, 1);
  ss_status status = SS_OK;
  for (int i = 0; i < sim->trial.n_contacts && status == SS_OK; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (!c->patch || c->row < 0) continue;
    const ss_pose pose[2] = {ss_pose_of(w->q, c->body[0]), ss_pose_of(w->q, c->body[1])};
    ss_contact_point at;
    ss_contact_at(sim->model, c, &pose[0], &pose[1], &at);
    for (int e = 0; e < c->patch->n_elements; e++)
      w->gap = fmax(w->gap, -ss_element_gap_at(sim, c, &at, pose, e) -
                                ss_patch_end(sim, c)[(ptrdiff_t)e * c->patch->n_directions]);
    status = gather_deformations(w, c, h, error);
  }
  return status;
}

/* ---- life ---- */

ss_status ss_weak_create(ss_sim *sim, ss_weak **out, ss_error *error) {
  *out = NULL;
  if (!sim->scheme->compliant)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "weak solutions (BVP Definition 2) belong to the compliant schemes");
  if (sim->model->n_motors || sim->model->n_limits)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "weak solutions (BVP Definition 2) know neither motors nor limits");
  if (sim->options.tolerance > 0)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "weak solutions are measured with a given step size only");
  const size_t nv = (size_t)sim->model->n_v;
  ss_arena *arena = ss_arena_create();
  ss_weak *w = arena ? SS_ARENA_ARRAY(arena, ss_weak, 1) : NULL;
  double *numbers = w ? SS_ARENA_ARRAY(arena, double, 7 * (size_t)sim->model->n_bodies + 4 * nv + 1) : NULL;
  ss_row *joints = w ? SS_ARENA_ARRAY(arena, ss_row, sim->model->n_joint_rows + 1) : NULL;
  if (!numbers || !joints) {
    ss_arena_destroy(arena);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  *w = (ss_weak){.sim = sim, .arena = arena, .joints = joints, .v = numbers};
  w->row = numbers + nv;
  w->momentum = w->row + nv;
  w->kinematics = w->momentum + nv;
  w->q = w->kinematics + nv;
  sim->watch.weak = w;
  *out = w;
  return SS_OK;
}

void ss_weak_destroy(ss_weak *weak) {
  if (!weak) return;
  weak->sim->watch.weak = NULL;
  ss_free(weak->patches);
  ss_arena_destroy(weak->arena);
}

ss_weak_residuals ss_weak_measure(const ss_weak *w) {
  double tested = 0;
  for (int i = 0; i < TESTS; i++) tested = fmax(tested, -w->tests[i]);
  return (ss_weak_residuals){.momentum = w->worst_momentum,
                             .kinematics = w->worst_kinematics,
                             .compliance = w->worst_compliance,
                             .gap = w->gap,
                             .complementarity = fabs(w->complementarity),
                             .cone = w->cone,
                             .friction = w->friction,
                             .friction_tested = isnan(w->friction) ? (double)NAN : tested};
}
