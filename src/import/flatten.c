/* Robots whose parts all move in one plane become planar scenes: three coordinates per body, two rows per hinge and one tangent per
 * contact say the same there as six, five and two, and a step costs a third to a fifth.
 *
 * A body moves in the plane with normal p where joints lead from the world to it that keep p: hinges about p, slides across it, planar
 * joints of that plane, rigid ones; or where it slides along two axes of the plane. Contact planes of the world have to contain p, and
 * every shape one that a planar scene can have; shapes that may touch have the same middle plane, or are side by side. Bodies keep their places beside each other along p by their shapes. */
#include "import/import.h"
#include "model/plane.h"

#include <math.h>
#include <string.h>

static const double ALONG = 1e-9; /* sine: directions that differ by less are the same */

static bool is_along(ss_vec3 a, ss_vec3 p) { return v3_norm(v3_cross(a, p)) <= ALONG * v3_norm(a); }
static bool is_across(ss_vec3 a, ss_vec3 p) { return fabs(v3_dot(a, p)) <= ALONG * v3_norm(a); }

/* Whether a joint keeps its bodies parallel to the plane. */
static bool keeps(const ss_joint_def *j, ss_vec3 p) {
  if (j->type == SS_JOINT_REVOLUTE) return is_along(j->axis, p);
  if (j->type == SS_JOINT_PRISMATIC) return is_across(j->axis, p);
  if (j->type == SS_JOINT_PLANAR) return is_along(j->normal, p);
  return j->type == SS_JOINT_FIXED;
}

/* A convex shape of a planar scene is a prism. */
static bool may_have(const ss_shape_def *s, ss_vec3 p) {
  if (s->type == SS_SHAPE_HALF_SPACE) return is_across(s->normal, p);
  return s->type != SS_SHAPE_CONVEX && s->type != SS_SHAPE_MESH && s->type != SS_SHAPE_HEIGHT_FIELD;
}

/* Whether a joint, or locked coordinates, lead to every body; `held` [n_bodies] is scratch. */
static bool moves_in(const ss_scene *scene, const ss_plane *plane, ss_vec3 p, bool *held) {
  for (int k = 0; k < scene->n_bodies; k++) {
    const ss_body_def *b = &scene->bodies[k];
    held[k] = (b->freedom & ~plane->freedom) == 0;
    if (!is_along(quat_rotate(b->pose.orientation, p), p) || v3_dot(quat_rotate(b->pose.orientation, p), p) < 0)
      return false;
    for (int s = 0; s < b->n_shapes; s++)
      if (!may_have(&b->shapes[s], p)) return false;
  }
  for (int s = 0; s < scene->n_world_shapes; s++)
    if (!may_have(&scene->world_shapes[s], p)) return false;
  for (int k = 0; k < scene->n_joints; k++)
    if (scene->joints[k].type != SS_JOINT_SPHERICAL && !keeps(&scene->joints[k], p)) return false;
  int found = 1, all = 0;
  while (found > 0) { /* parts stand behind their parents: twice round, unless loops are closed */
    found = 0;
    for (int k = 0; k < scene->n_joints; k++) {
      const ss_joint_def *j = &scene->joints[k];
      if (j->type == SS_JOINT_SPHERICAL) continue; /* a hinge between bodies that others hold */
      const bool a = j->body[0] < 0 || held[j->body[0]], b = j->body[1] < 0 || held[j->body[1]];
      if (a == b) continue;
      held[j->body[a ? 1 : 0]] = true;
      found++;
    }
  }
  for (int k = 0; k < scene->n_bodies; k++) all += held[k];
  return all == scene->n_bodies;
}

/* Half the width of a shape across the plane, or more. */
static double width_across(const ss_shape_def *s, ss_vec3 p) {
  const ss_vec3 own = quat_rotate(quat_conjugate(s->pose.orientation), p);
  switch (s->type) {
  case SS_SHAPE_BOX:
    return (s->size.x * fabs(own.x) + s->size.y * fabs(own.y) + s->size.z * fabs(own.z)) / 2;
  case SS_SHAPE_CAPSULE:
  case SS_SHAPE_CYLINDER:
    return s->radius + s->length / 2 * fabs(v3_dot(own, v3_normalize(s->axis)));
  case SS_SHAPE_ELLIPSOID:
    return fmax(s->semi_axes.x, fmax(s->semi_axes.y, s->semi_axes.z));
  default:
    return s->radius;
  }
}

/* Two shapes that meet obliquely across the plane have an outline of their contact that no prism has. */
static bool meet_obliquely(const ss_shape_def *a, double at_a, const ss_shape_def *b, double at_b, ss_vec3 p) {
  if (a->type == SS_SHAPE_HALF_SPACE || b->type == SS_SHAPE_HALF_SPACE) return false;
  const double apart = fabs(at_a + v3_dot(a->pose.position, p) - at_b - v3_dot(b->pose.position, p));
  const double widths = width_across(a, p) + width_across(b, p);
  return apart > ALONG * widths && apart < (1 - ALONG) * widths;
}

/* The shapes of a body, or of the world, and where its origin is across the plane. */
typedef struct group {
  const char *name;
  const ss_shape_def *shapes;
  int n;
  double at;
} group;

static group group_of(const ss_scene *scene, int k, ss_vec3 p) {
  if (k < 0) return (group){"world", scene->world_shapes, scene->n_world_shapes, 0};
  const ss_body_def *b = &scene->bodies[k];
  return (group){b->name, b->shapes, b->n_shapes, v3_dot(b->pose.position, p)};
}

static bool are_exempt(const ss_scene *scene, const char *a, const char *b) {
  for (int k = 0; k < scene->n_contacts; k++) {
    const char *const *between = scene->contacts[k].between;
    if ((strcmp(between[0], a) == 0 && strcmp(between[1], b) == 0) ||
        (strcmp(between[0], b) == 0 && strcmp(between[1], a) == 0))
      return true;
  }
  return false;
}

/* Whether shapes that may touch have the same middle plane, or are side by side. */
static bool meet_in(const ss_scene *scene, ss_vec3 p) {
  for (int i = 0; i < scene->n_bodies; i++)
    for (int j = -1; j < i; j++) {
      const group a = group_of(scene, i, p), b = group_of(scene, j, p);
      if (are_exempt(scene, a.name, b.name)) continue;
      for (int s = 0; s < a.n; s++)
        for (int t = 0; t < b.n; t++)
          if (meet_obliquely(&a.shapes[s], a.at, &b.shapes[t], b.at, p)) return false;
    }
  return true;
}

static ss_vec3 flat(ss_vec3 x, ss_vec3 p) { return v3_axpy(x, -v3_dot(x, p), p); }

/* Into the plane; what stood beside it is beside the body's origin then. */
static ss_status flatten_body(ss_scene *scene, ss_body_def *b, ss_vec3 p) {
  const double off = v3_dot(b->pose.position, p);
  b->freedom &= ss_plane_of(scene->planar).freedom;
  b->pose.position = flat(b->pose.position, p);
  b->center_of_mass = flat(b->center_of_mass, p);
  if (off == 0 || b->n_shapes == 0) return SS_OK;
  ss_shape_def *shapes = SS_ARENA_ARRAY(scene->arena, ss_shape_def, b->n_shapes);
  if (!shapes) return SS_ERROR_MEMORY;
  for (int s = 0; s < b->n_shapes; s++) {
    shapes[s] = b->shapes[s];
    shapes[s].pose.position = v3_axpy(shapes[s].pose.position, off, p);
  }
  b->shapes = shapes;
  return SS_OK;
}

static ss_status flatten(ss_scene *scene, ss_planar planar, ss_vec3 p) {
  const ss_vec3 gravity = flat(scene->gravity, p);
  ss_scene_set_planar(scene, planar);
  scene->gravity = gravity;
  for (int k = 0; k < scene->n_bodies; k++) SS_TRY(flatten_body(scene, &scene->bodies[k], p));
  int kept = 0;
  for (int k = 0; k < scene->n_joints; k++) {
    ss_joint_def j = scene->joints[k];
    if (j.type == SS_JOINT_PLANAR) continue; /* holds nothing */
    j.at = flat(j.at, p);
    scene->joints[kept++] = j;
  }
  scene->n_joints = kept;
  return SS_OK;
}

ss_status ss_import_flatten(ss_import *i, ss_scene *scene) {
  static const ss_planar planes[] = {SS_PLANAR_XY, SS_PLANAR_XZ, SS_PLANAR_YZ};
  bool *held = SS_ARENA_ARRAY(i->arena, bool, scene->n_bodies + 1);
  if (!held) return ss_fail(i->error, SS_ERROR_MEMORY, "out of memory");
  for (int k = 0; k < 3; k++) {
    const ss_plane plane = ss_plane_of(planes[k]);
    const ss_vec3 p = ss_axis_vector(plane.normal);
    if (!moves_in(scene, &plane, p, held) || !meet_in(scene, p)) continue;
    ss_import_note(i, "all bodies move in the %c%c plane: a planar scene", "xyz"[plane.axes[0]], "xyz"[plane.axes[1]]);
    return flatten(scene, planes[k], p) ? ss_fail(i->error, SS_ERROR_MEMORY, "out of memory") : SS_OK;
  }
  return SS_OK;
}
