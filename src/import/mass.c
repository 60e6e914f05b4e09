/* Masses of solids, and their sums. */
#include "import/import.h"

#include <math.h>

ss_mat3 ss_inertia_of(const double six[6]) {
  return (ss_mat3){{{six[0], six[3], six[4]}, {six[3], six[1], six[5]}, {six[4], six[5], six[2]}}};
}

/* m (d.d 1 - d d^T): what a mass away from the centre adds. */
static void add_steiner(ss_mat3 *sum, double mass, ss_vec3 d) {
  const double square = v3_dot(d, d);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum->m[i][j] += mass * ((i == j ? square : 0) - v3_get(d, i) * v3_get(d, j));
}

static ss_mat3 turned(const ss_mat3 *inertia, ss_quat q) {
  const ss_mat3 r = quat_matrix(q);
  const ss_mat3 half = mat3_matmul(&r, inertia);
  ss_mat3 out;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out.m[i][j] = 0;
      for (int k = 0; k < 3; k++) out.m[i][j] += half.m[i][k] * r.m[j][k];
    }
  return out;
}

void ss_mass_add(ss_import_mass *sum, const ss_import_mass *more, const ss_pose *pose) {
  if (more->mass <= 0) return;
  const ss_vec3 center = pose_point(pose, more->center);
  const double mass = sum->mass + more->mass;
  const ss_vec3 common = v3_scale(1 / mass, v3_add(v3_scale(sum->mass, sum->center), v3_scale(more->mass, center)));
  const ss_mat3 inertia = turned(&more->inertia, pose->orientation);
  add_steiner(&sum->inertia, sum->mass, v3_sub(sum->center, common));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum->inertia.m[i][j] += inertia.m[i][j];
  add_steiner(&sum->inertia, more->mass, v3_sub(center, common));
  sum->center = common;
  sum->mass = mass;
}

/* Capsules and cylinders lie along the shape's x axis; `length` is that between the centres of a capsule's ends. */
double ss_solid_volume(const ss_shape_def *s) {
  const double pi = acos(-1), r = s->radius;
  switch (s->type) {
  case SS_SHAPE_CYLINDER:
    return pi * r * r * s->length;
  case SS_SHAPE_SPHERE:
    return 4 * pi / 3 * r * r * r;
  case SS_SHAPE_CAPSULE:
    return pi * r * r * s->length + 4 * pi / 3 * r * r * r;
  case SS_SHAPE_BOX:
    return s->size.x * s->size.y * s->size.z;
  case SS_SHAPE_ELLIPSOID:
    return 4 * pi / 3 * s->semi_axes.x * s->semi_axes.y * s->semi_axes.z;
  default:
    return 0;
  }
}

static ss_mat3 diagonal(double x, double y, double z) { return (ss_mat3){{{x, 0, 0}, {0, y, 0}, {0, 0, z}}}; }

ss_import_mass ss_solid_mass(const ss_shape_def *s, double mass) {
  const double r = s->radius, l = s->length;
  const ss_vec3 a = s->type == SS_SHAPE_BOX ? s->size : s->semi_axes;
  const ss_vec3 square = v3(a.x * a.x, a.y * a.y, a.z * a.z);
  ss_import_mass out = {.mass = mass};
  if (s->type == SS_SHAPE_CYLINDER) {
    const double across = mass * (3 * r * r + l * l) / 12;
    out.inertia = diagonal(mass * r * r / 2, across, across);
  } else if (s->type == SS_SHAPE_CAPSULE) {
    const double caps = mass * 4 * r / (3 * l + 4 * r), middle = mass - caps; /* both ends together are a ball */
    const double along = middle * r * r / 2 + caps * 2 * r * r / 5;
    const double across = middle * (3 * r * r + l * l) / 12 + caps * (2 * r * r / 5 + l * l / 4 + 3 * l * r / 8);
    out.inertia = diagonal(along, across, across);
  } else if (s->type == SS_SHAPE_SPHERE) {
    out.inertia = diagonal(0.4 * mass * r * r, 0.4 * mass * r * r, 0.4 * mass * r * r);
  } else {
    const double share = mass / (s->type == SS_SHAPE_BOX ? 12 : 5);
    out.inertia = diagonal(share * (square.y + square.z), share * (square.x + square.z), share * (square.x + square.y));
  }
  return out;
}
