/* Pairs of shapes, and contact points at any configuration. */
#include "contact/contact.h"

#include "geom/segment.h"

/* Meshes have features of 32 bits, and are in the world, whose shapes are the last ones: their number from the end is short
 * (ss_compile_bodies sees to that). */
static uint64_t key_of_shapes(const ss_model *model, const int shape[2]) {
  if (!model->shapes[shape[1]].mesh) return (uint64_t)shape[0] << 44 | (uint64_t)shape[1] << 24;
  return UINT64_C(1) << 62 | (uint64_t)shape[0] << 44 | (uint64_t)(model->n_shapes - 1 - shape[1]) << 32;
}

bool ss_candidate_make(const ss_model *model, int i, int j, ss_candidate *out) {
  const ss_shape *a = &model->shapes[i], *b = &model->shapes[j];
  if (a->body == b->body) return false;
  bool swapped = false;
  out->pair = ss_pair_find(a->type, b->type, &swapped);
  if (!out->pair) return false;
  out->law = ss_model_law(model, a, b);
  out->shape[0] = swapped ? j : i;
  out->shape[1] = swapped ? i : j;
  out->key = key_of_shapes(model, out->shape);
  if (swapped) {
    out->law.frame = 1 - out->law.frame;
    out->law.compliance_side = 1 - out->law.compliance_side;
  }
  return out->law.collide;
}

uint64_t ss_contact_key(const ss_candidate *candidate, uint32_t feature) { return candidate->key | feature; }

void ss_key_shapes(const ss_model *model, uint64_t key, int shape[2]) {
  const bool mesh = key >> 62 & 1;
  shape[0] = (int)(key >> 44 & 0x3ffff);
  shape[1] = mesh ? model->n_shapes - 1 - (int)(key >> 32 & 0xfff) : (int)(key >> 24 & 0xfffff);
}

uint64_t ss_key_renumber(const ss_model *from, const ss_model *to, const int *number, uint64_t key) {
  int shape[2];
  ss_key_shapes(from, key, shape);
  const uint64_t feature = key & (from->shapes[shape[1]].mesh ? 0xffffffff : 0xffffff);
  shape[0] = number[shape[0]];
  shape[1] = number[shape[1]];
  return key_of_shapes(to, shape) | feature;
}

/* A capsule around the shape: its axis and radius. False: the shape is not bounded, or is not convex. */
static bool capsule_around(const ss_shape *shape, const ss_pose *pose, ss_segment *axis, double *radius) {
  if (!isfinite(shape->reach) || shape->mesh) return false;
  *axis = (ss_segment){pose->position, v3(1, 0, 0), 0};
  *radius = shape->reach;
  ss_vec3 along = v3(1, 0, 0);
  if (shape->type == SS_SHAPE_CAPSULE || shape->type == SS_SHAPE_CYLINDER) {
    axis->half = shape->half.x;
    *radius = shape->radius;
  } else if (shape->type == SS_SHAPE_BOX) {
    const double x = shape->half.x, y = shape->half.y, z = shape->half.z;
    const bool first = x >= y && x >= z, second = !first && y >= z;
    along = first ? v3(1, 0, 0) : second ? v3(0, 1, 0) : v3(0, 0, 1);
    axis->half = first ? x : second ? y : z;
    *radius = first ? hypot(y, z) : second ? hypot(x, z) : hypot(x, y);
  }
  if (axis->half > 0) axis->axis = quat_rotate(pose->orientation, along);
  return true;
}

/* The distance of the axes of the capsules around two shapes, and the sum of their radii; false: one has none. */
static bool axes_distance(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double *between,
                          double *radii) {
  ss_segment axis[2];
  double radius[2], s, t;
  if (!capsule_around(a, pa, &axis[0], &radius[0]) || !capsule_around(b, pb, &axis[1], &radius[1])) return false;
  segments_closest(&axis[0], &axis[1], &s, &t);
  *between = v3_norm(v3_sub(segment_point(&axis[0], s), segment_point(&axis[1], t)));
  *radii = radius[0] + radius[1];
  return true;
}

bool ss_shapes_are_apart(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double distance) {
  double between, radii;
  return axes_distance(a, pa, b, pb, &between, &radii) && between > (radii + distance) * (1 + 1e-12);
}

double ss_shapes_distance(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb) {
  double between, radii;
  return axes_distance(a, pa, b, pb, &between, &radii) ? fmax(between * (1 - 1e-12) - radii, 0) : 0;
}

void ss_contact_at(const ss_model *model, const ss_contact *contact, const ss_pose *body_a, const ss_pose *body_b,
                   ss_contact_point *out) {
  if (!contact->pair) {
    *out = contact->at;
    out->gap = ss_limit_gap(model, contact, body_a, body_b);
    return;
  }
  const ss_shape *a = &model->shapes[contact->shape[0]], *b = &model->shapes[contact->shape[1]];
  const ss_pose pa = ss_shape_pose(a, body_a), pb = ss_shape_pose(b, body_b);
  out->left = false;
  contact->pair->gap(a, &pa, b, &pb, contact->at.feature, out);
}

double ss_contact_depth(const ss_model *model, const ss_contact *contact, const ss_pose *body_a,
                        const ss_pose *body_b) {
  ss_contact_point at, now[SS_PAIR_CONTACTS];
  ss_contact_at(model, contact, body_a, body_b, &at);
  if (!contact->pair || at.gap >= 0) return -at.gap;
  const ss_shape *a = &model->shapes[contact->shape[0]], *b = &model->shapes[contact->shape[1]];
  const ss_pose pa = ss_shape_pose(a, body_a), pb = ss_shape_pose(b, body_b);
  const int n = contact->pair->collide(a, &pa, b, &pb, 0, now);
  double depth = 0;
  for (int i = 0; i < n; i++) depth = fmax(depth, -now[i].gap);
  return depth;
}

static ss_vec3 point_velocity(const ss_model *model, int body, const ss_pose *pose, const double *v, ss_vec3 point) {
  if (body < 0) return v3(0, 0, 0);
  ss_vec3 linear, angular;
  ss_twist_of(model, v, body, &linear, &angular);
  if (!model->bodies[body].turns) return linear;
  return v3_add(linear, v3_cross(quat_rotate(pose->orientation, angular), v3_sub(point, pose->position)));
}

ss_vec3 ss_contact_velocity(const ss_model *model, const ss_contact *contact, const ss_contact_point *at,
                            const ss_pose *body_a, const ss_pose *body_b, const double *v) {
  return v3_sub(point_velocity(model, contact->body[0], body_a, v, at->point_a),
                point_velocity(model, contact->body[1], body_b, v, at->point_b));
}

double ss_contact_rate(const ss_model *model, const ss_contact *contact, const ss_contact_point *at,
                       const ss_pose *body_a, const ss_pose *body_b, const double *v) {
  if (!contact->pair) {
    const ss_row row = ss_limit_row(model, contact, body_a, body_b);
    return ss_row_dot(model, &row, v);
  }
  return v3_dot(at->normal, ss_contact_velocity(model, contact, at, body_a, body_b, v));
}
