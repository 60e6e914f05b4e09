#include "bvp/knot.h"

#include "la/dense.h"

#include <string.h>

static ss_status out_of_memory(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

ss_status ss_knot_create(const ss_model *model, ss_arena *arena, ss_state *knot, ss_error *error) {
  *knot = (ss_state){0};
  knot->q = SS_ARENA_ARRAY(arena, double, 7 * (size_t)model->n_bodies);
  knot->v = SS_ARENA_ARRAY(arena, double, (size_t)model->n_v);
  knot->angle = SS_ARENA_ARRAY(arena, double, (size_t)model->n_angles);
  return knot->q && knot->v && knot->angle ? SS_OK : out_of_memory(error);
}

void ss_knot_free(ss_state *knot) {
  ss_free(knot->touch);
  ss_free(knot->patch);
  knot->touch = NULL;
  knot->patch = NULL;
  knot->n_touch = knot->touch_capacity = knot->n_patch = knot->patch_capacity = 0;
}

static ss_status copy_contacts(const ss_state *from, ss_state *to, ss_error *error) {
  ss_status status = ss_grow((void **)&to->touch, &to->touch_capacity, from->n_touch, sizeof *to->touch, error);
  if (status == SS_OK)
    status = ss_grow((void **)&to->patch, &to->patch_capacity, from->n_patch, sizeof *to->patch, error);
  if (status != SS_OK) return status;
  if (from->n_touch) memcpy(to->touch, from->touch, sizeof *to->touch * (size_t)from->n_touch);
  if (from->n_patch) memcpy(to->patch, from->patch, sizeof *to->patch * (size_t)from->n_patch);
  to->n_touch = from->n_touch;
  to->n_patch = from->n_patch;
  return SS_OK;
}

ss_status ss_knot_copy(const ss_model *model, const ss_state *from, ss_state *to, ss_error *error) {
  to->t = from->t;
  to->step = from->step;
  memcpy(to->q, from->q, sizeof(double) * 7 * (size_t)model->n_bodies);
  memcpy(to->v, from->v, sizeof(double) * (size_t)model->n_v);
  if (model->n_angles) memcpy(to->angle, from->angle, sizeof(double) * (size_t)model->n_angles);
  return copy_contacts(from, to, error);
}

ss_status ss_knot_install(const ss_state *knot, long step, ss_sim *sim, ss_error *error) {
  const ss_status status = ss_knot_copy(sim->model, knot, &sim->state, error);
  sim->state.step = step;
  sim->state.t = (double)step * sim->options.step;
  sim->trial.asked.h = 0;
  return status == SS_OK ? ss_basis_select(sim, error) : status;
}

/* ---- coordinates ---- */

static int deformations(const ss_touch *touch) { return touch->patch < 0 ? 0 : touch->n_patch / 2; }

int ss_knot_size(const ss_model *model, const ss_state *knot) {
  int size = 2 * model->n_v;
  for (int i = 0; i < knot->n_touch; i++) size += deformations(&knot->touch[i]);
  return size;
}

static double deformation_unit(const ss_state *knot) {
  double largest = 0;
  for (int i = 0; i < knot->n_touch; i++)
    for (int k = 0; k < deformations(&knot->touch[i]); k++)
      largest = fmax(largest, fabs(knot->patch[knot->touch[i].patch + k]));
  return largest > 0 ? largest : 1;
}

void ss_knot_move(const ss_model *model, ss_state *knot, const double *increments, double factor) {
  const double unit = deformation_unit(knot);
  for (int k = 0; k < model->n_bodies; k++) {
    ss_vec3 linear, angular;
    ss_twist_of(model, increments, k, &linear, &angular);
    ss_pose before = ss_pose_of(knot->q, k), pose = before;
    pose.position = v3_axpy(pose.position, factor, linear);
    if (model->bodies[k].turns)
      pose.orientation = quat_normalize(quat_multiply(before.orientation, quat_exp(v3_scale(factor, angular))));
    ss_store_pose(knot->q, k, pose);
  }
  for (int i = 0; i < model->n_v; i++) knot->v[i] += factor * increments[model->n_v + i];
  const double *d = increments + (ptrdiff_t)2 * model->n_v;
  for (int i = 0; i < knot->n_touch; i++)
    for (int k = 0; k < deformations(&knot->touch[i]); k++)
      knot->patch[knot->touch[i].patch + k] += factor * unit * *d++;
}

static void put(const ss_body *body, ss_vec3 linear, ss_vec3 angular, double *out) {
  for (int i = 0; i < body->n; i++) {
    const int c = body->coordinate[i];
    out[body->first + i] = c < 3 ? v3_get(linear, c) : v3_get(angular, c - 3);
  }
}

void ss_knot_difference(const ss_model *model, const ss_state *knot, const ss_state *end, double *out) {
  for (int k = 0; k < model->n_bodies; k++) {
    const ss_pose a = ss_pose_of(knot->q, k), b = ss_pose_of(end->q, k);
    put(&model->bodies[k], v3_sub(b.position, a.position),
        quat_log(quat_multiply(quat_conjugate(a.orientation), b.orientation)), out);
  }
  for (int i = 0; i < model->n_v; i++) out[model->n_v + i] = end->v[i] - knot->v[i];
  double *d = out + (ptrdiff_t)2 * model->n_v;
  const double unit = deformation_unit(knot);
  for (int i = 0; i < knot->n_touch; i++) {
    const ss_touch *mine = &knot->touch[i], *other = ss_touch_find(end, mine->key);
    const bool known = other && deformations(other) == deformations(mine);
    for (int k = 0; k < deformations(mine); k++)
      *d++ = known ? (end->patch[other->patch + k] - knot->patch[mine->patch + k]) / unit : 0;
  }
}

ss_status ss_knot_refresh(const ss_model *model, ss_state *knot, const ss_state *end, ss_error *error) {
  ss_state old = *knot; /* keeps its arrays of contacts while the knot gets new ones */
  knot->touch = NULL;
  knot->patch = NULL;
  knot->n_touch = knot->touch_capacity = knot->n_patch = knot->patch_capacity = 0;
  const ss_status status = copy_contacts(end, knot, error);
  for (int i = 0; status == SS_OK && i < knot->n_touch; i++) {
    const ss_touch *mine = &knot->touch[i], *before = ss_touch_find(&old, mine->key);
    if (!before || deformations(before) != deformations(mine) || deformations(mine) == 0) continue;
    memcpy(knot->patch + mine->patch, old.patch + before->patch, sizeof(double) * (size_t)deformations(mine));
  }
  ss_knot_free(&old);
  if (model->n_angles) memcpy(knot->angle, end->angle, sizeof(double) * (size_t)model->n_angles);
  return status;
}

/* ---- joints ---- */

/* Rows of all joints with the memory that a correction needs. */
typedef struct joint_rows {
  int n;
  ss_row *rows;              /* [n] */
  double *target, *residual; /* [n] */
  double *gram;              /* [n][n] */
  double *step;              /* [2 n_v] */
} joint_rows;

static void add_transposed(const ss_model *model, const ss_row *row, double factor, double *v) {
  for (int side = 0; side < 2; side++) {
    if (row->body[side] < 0) continue;
    const ss_body *body = &model->bodies[row->body[side]];
    for (int i = 0; i < body->n; i++) v[body->first + i] += factor * row->j[side][i];
  }
}

/* step = J^T (J J^T)^-1 residual, the least one; a little regularisation, because rows may be redundant. */
static void least_step(const ss_model *model, joint_rows *j) {
  double trace = 0;
  for (int a = 0; a < j->n; a++) {
    memset(j->step, 0, sizeof(double) * 2 * (size_t)model->n_v);
    add_transposed(model, &j->rows[a], 1, j->step);
    for (int b = 0; b < j->n; b++) j->gram[a * j->n + b] = ss_row_dot(model, &j->rows[b], j->step);
    trace += j->gram[a * j->n + a];
  }
  for (int a = 0; a < j->n; a++) j->gram[a * j->n + a] += 1e-13 * trace;
  memset(j->step, 0, sizeof(double) * 2 * (size_t)model->n_v);
  if (!ss_spd_inverse(j->gram, j->n)) return;
  for (int a = 0; a < j->n; a++) {
    double factor = 0;
    for (int b = 0; b < j->n; b++) factor += j->gram[a * j->n + b] * j->residual[b];
    add_transposed(model, &j->rows[a], factor, j->step);
  }
}

static void retract(const ss_model *model, ss_state *knot, const ss_state *end, joint_rows *j) {
  enum { MOST = 20 };
  ss_joints_evaluate(model, end->q, end->angle, j->target, NULL);
  for (int k = 0; k < MOST; k++) {
    double worst = 0;
    ss_joints_evaluate(model, knot->q, end->angle, j->residual, j->rows);
    for (int i = 0; i < j->n; i++) {
      j->residual[i] = j->target[i] - j->residual[i];
      worst = fmax(worst, fabs(j->residual[i]));
    }
    if (!(worst > 1e-14 * model->length)) break;
    least_step(model, j);
    ss_knot_move(model, knot, j->step, 1);
  }
  ss_joints_evaluate(model, end->q, end->angle, NULL, j->rows);
  for (int i = 0; i < j->n; i++) j->target[i] = ss_row_dot(model, &j->rows[i], end->v);
  ss_joints_evaluate(model, knot->q, end->angle, NULL, j->rows);
  for (int i = 0; i < j->n; i++) j->residual[i] = j->target[i] - ss_row_dot(model, &j->rows[i], knot->v);
  least_step(model, j);
  for (int i = 0; i < model->n_v; i++) knot->v[i] += j->step[i];
}

ss_status ss_knot_retract(const ss_model *model, ss_state *knot, const ss_state *end, ss_error *error) {
  const size_t n = (size_t)model->n_joint_rows, size = (size_t)ss_knot_size(model, knot);
  if (n == 0) return SS_OK;
  joint_rows j = {.n = model->n_joint_rows, .rows = ss_alloc(sizeof(ss_row) * n)};
  j.gram = ss_alloc(sizeof(double) * (n * n + 2 * n + size));
  const bool good = j.rows && j.gram;
  if (good) {
    j.target = j.gram + n * n;
    j.residual = j.target + n;
    j.step = j.residual + n;
    retract(model, knot, end, &j);
  }
  ss_free(j.rows);
  ss_free(j.gram);
  return good ? SS_OK : out_of_memory(error);
}

/* Deformations are small against everything else: positions are moved by less than they are. */
double ss_knot_increment(const ss_model *model, const ss_state *knot, int j) {
  static const double relative = 1e-7, small = 1e-3;
  if (j >= 2 * model->n_v) return relative;
  if (j >= model->n_v) return relative * (1 + fabs(knot->v[j - model->n_v]));
  return fmin(relative * fmax(model->length, relative), small * deformation_unit(knot));
}
