/* At t = 0 no two bodies may overlap deeply. Surfaces that give may be pressed in: what they overlap by is their
 * deformation (BVP (12)), as long as it is small beside the bodies. */
#include "contact/contact.h"
#include "contact/sweep_and_prune.h"
#include "core/arena.h"
#include "core/words.h"

/* How deep the two shapes are in each other, if that is more than rounding of the input explains; else 0. */
static double deep_overlap(const ss_model *model, const ss_candidate *c) {
  const ss_shape *a = &model->shapes[c->shape[0]], *b = &model->shapes[c->shape[1]];
  const ss_pose world = pose_identity();
  const ss_pose pa = ss_shape_pose(a, a->body < 0 ? &world : &model->bodies[a->body].pose);
  const ss_pose pb = ss_shape_pose(b, b->body < 0 ? &world : &model->bodies[b->body].pose);
  ss_contact_point points[SS_PAIR_CONTACTS];
  const int n = c->pair->collide(a, &pa, b, &pb, 0, points);
  const double smaller = fmin(a->reach, b->reach);
  const double allowed = fmax(1e-6 * model->length, 1e-3 * (isfinite(smaller) ? smaller : 0));
  for (int i = 0; i < n; i++)
    if (points[i].gap < -allowed) return -points[i].gap;
  return 0;
}

/* Whether the overlap can be taken for a deformation. */
static bool is_pressed_in(const ss_model *model, const ss_candidate *c, double depth) {
  if (!model->compliant || !ss_scheme_is_compliant(model->simulation.scheme)) return false;
  const double smaller = fmin(model->shapes[c->shape[0]].reach, model->shapes[c->shape[1]].reach);
  return isfinite(smaller) && depth <= 0.25 * smaller;
}

/* Joints that leave a pair of surfaces around them no way to part. */
static bool holds_together(const ss_joint *joint) {
  const ss_joint_type type = joint->type;
  return joint->body[0] >= 0 && joint->body[1] >= 0 &&
         (type == SS_JOINT_REVOLUTE || type == SS_JOINT_SPHERICAL || type == SS_JOINT_FIXED ||
          type == SS_JOINT_CYLINDRICAL || type == SS_JOINT_UNIVERSAL || type == SS_JOINT_PRISMATIC ||
          type == SS_JOINT_SCREW);
}

static bool shapes_touch(const ss_model *model, int i, int j) {
  ss_candidate c;
  ss_contact_point points[SS_PAIR_CONTACTS];
  if (!ss_candidate_make(model, i, j, &c)) return false;
  const ss_shape *a = &model->shapes[c.shape[0]], *b = &model->shapes[c.shape[1]];
  const ss_pose pa = ss_shape_pose(a, &model->bodies[a->body].pose);
  const ss_pose pb = ss_shape_pose(b, &model->bodies[b->body].pose);
  return c.pair->collide(a, &pa, b, &pb, 1e-6 * model->length, points) > 0;
}

bool ss_model_joined_touch(const ss_model *model, int bodies[2]) {
  for (int k = 0; k < model->n_joints; k++) {
    const ss_joint *joint = &model->joints[k];
    for (int i = 0; i < model->n_shapes && holds_together(joint); i++) {
      for (int j = 0; j < model->n_shapes && model->shapes[i].body == joint->body[0]; j++) {
        if (model->shapes[j].body != joint->body[1] || !shapes_touch(model, i, j)) continue;
        bodies[0] = joint->body[0];
        bodies[1] = joint->body[1];
        return true;
      }
    }
  }
  return false;
}

static ss_status overlap_error(const ss_model *model, const ss_scene *scene, const ss_candidate *c, double depth,
                               ss_error *error) {
  const int a = model->shapes[c->shape[0]].body, b = model->shapes[c->shape[1]].body;
  return ss_fail_place(error, SS_ERROR_INPUT, scene->file, scene->bodies[a >= 0 ? a : b].mark,
                       "'%s' and '%s' overlap by %g at the start; move them apart, or exempt them with "
                       "contacts: [{between: [%s, %s], collide: false}]",
                       ss_model_body_name(model, a), ss_model_body_name(model, b), depth, ss_model_body_name(model, a),
                       ss_model_body_name(model, b));
}

static void compute_boxes(const ss_model *model, double *boxes, int *order) {
  for (int i = 0; i < model->n_shapes; i++) {
    const ss_shape *shape = &model->shapes[i];
    const ss_pose world = pose_identity();
    const ss_pose pose = ss_shape_pose(shape, shape->body < 0 ? &world : &model->bodies[shape->body].pose);
    ss_vec3 low, high;
    ss_shape_bounds(shape, &pose, &low, &high);
    memcpy(boxes + 6 * (size_t)i, (double[6]){low.x, low.y, low.z, high.x, high.y, high.z}, 6 * sizeof *boxes);
    order[i] = i;
  }
}

/* Of all deep overlaps the one of the shapes that come first in the scene. */
ss_status ss_check_overlap(ss_model *model, const ss_scene *scene, ss_error *error) {
  const int n = model->n_shapes;
  double *boxes = ss_alloc(sizeof *boxes * 6 * (size_t)n + 1);
  int *order = ss_alloc(sizeof *order * 2 * (size_t)n + 1);
  if (!boxes || !order) {
    ss_free(boxes);
    ss_free(order);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  compute_boxes(model, boxes, order);
  const int axis = ss_sweep_axis(boxes, n, 0);
  ss_sweep_sort(boxes, axis, n, order, order + n);
  ss_sweep sweep = {boxes, order, n, axis, 0, 0};
  ss_candidate first = {0}, candidate;
  double first_depth = 0;
  int best[2] = {n, n}, i, j;
  while (ss_sweep_next(&sweep, &i, &j)) {
    const int a = i < j ? i : j, b = i < j ? j : i;
    if (a > best[0] || (a == best[0] && b > best[1]) || !ss_candidate_make(model, a, b, &candidate)) continue;
    const double depth = deep_overlap(model, &candidate);
    if (depth == 0) continue;
    if (is_pressed_in(model, &candidate, depth)) {
      model->pressed_in = fmax(model->pressed_in, depth);
      continue;
    }
    first = candidate, first_depth = depth, best[0] = a, best[1] = b;
  }
  ss_free(boxes);
  ss_free(order);
  return first_depth > 0 ? overlap_error(model, scene, &first, first_depth, error) : SS_OK;
}
