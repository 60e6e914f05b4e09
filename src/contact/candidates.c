/* Pairs of shapes, and contact points at any configuration. */
#include "contact/contact.h"

#include "contact/limits.h"

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

void ss_contact_at(const ss_model *model, const ss_contact *contact, const ss_pose *body_a, const ss_pose *body_b,
                   ss_contact_point *out) {
  if (!contact->pair) {
    *out = contact->at;
    out->gap = ss_limit_gap(model, contact, body_a, body_b);
    return;
  }
  const ss_shape *a = &model->shapes[contact->shape[0]], *b = &model->shapes[contact->shape[1]];
  const ss_pose pa = ss_shape_pose(a, body_a), pb = ss_shape_pose(b, body_b);
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
