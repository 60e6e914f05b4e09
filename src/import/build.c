/* From the tree of parts to the scene: what is rigidly connected becomes one body, ways to move become joints. */
#include "import/import.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double ANGLE = 1e-6; /* axes that differ by less are the same */

static int carrier(const ss_import *i, int part) { return part < 0 ? part : i->parts[part].carrier; }

/* The part that moves on behalf of each one: itself, or the one it is attached to. What is found on the way up is kept, so
 * that a chain of fixed joints takes a walk and not one per link. */
static void find_carriers(ss_import *i) {
  enum { UNKNOWN = -2 };
  for (int k = 0; k < i->n_parts; k++) i->parts[k].carrier = i->parts[k].n_motions > 0 ? k : UNKNOWN;
  for (int k = 0; k < i->n_parts; k++) {
    int top = k;
    while (top >= 0 && i->parts[top].carrier == UNKNOWN) top = i->parts[top].parent;
    const int found = carrier(i, top);
    for (int p = k; p != top; p = i->parts[p].parent) i->parts[p].carrier = found;
  }
}

static const char *body_name(const ss_import *i, int part) { return part < 0 ? "world" : i->parts[part].name; }

/* ---- bodies ---- */

static ss_pose relative(const ss_pose *base, const ss_pose *pose) {
  return (ss_pose){pose_local(base, pose->position),
                   quat_multiply(quat_conjugate(base->orientation), pose->orientation)};
}

/* A half-space lives in the world's frame alone. */
static ss_status world_shape(ss_import *i, ss_scene *scene, ss_shape_def shape, const ss_pose *pose) {
  if (shape.type == SS_SHAPE_HALF_SPACE) {
    const ss_pose own = pose_compose(pose, &shape.pose);
    shape.normal = quat_rotate(own.orientation, v3(0, 0, 1));
    shape.offset = v3_dot(shape.normal, own.position);
    shape.pose = pose_identity();
  } else {
    bool possible = true;
    shape.pose = pose_compose(pose, &shape.pose);
    if (shape.type == SS_SHAPE_MESH) SS_TRY(ss_import_keep_mesh(i, &shape, &possible));
    if (!possible) return SS_OK;
  }
  return ss_scene_add_world_shape(scene, &shape, i->error);
}

static ss_status body_shapes(ss_import *i, int body, ss_shape_def **out, int *n) {
  int room = 0;
  for (int k = 0; k < i->n_parts; k++) room += carrier(i, k) == body ? i->parts[k].n_shapes : 0;
  *out = SS_ARENA_ARRAY(i->arena, ss_shape_def, room + 1);
  if (!*out) return ss_fail(i->error, SS_ERROR_MEMORY, "out of memory");
  *n = 0;
  for (int k = 0; k < i->n_parts; k++) {
    if (carrier(i, k) != body) continue;
    const ss_pose at = relative(&i->parts[body].pose, &i->parts[k].pose);
    for (int s = 0; s < i->parts[k].n_shapes; s++) {
      ss_shape_def shape = i->parts[k].shapes[s];
      bool possible = true;
      shape.pose = pose_compose(&at, &shape.pose);
      if (shape.type == SS_SHAPE_MESH) SS_TRY(ss_import_make_convex(i, &shape, &possible));
      if (shape.type == SS_SHAPE_HALF_SPACE || shape.type == SS_SHAPE_HEIGHT_FIELD)
        ss_import_note(i, "%s on the moving body '%s': left out",
                       shape.type == SS_SHAPE_HALF_SPACE ? "plane" : "height field",
                       ss_printable(i->parts[body].name).text);
      else if (possible)
        (*out)[(*n)++] = shape;
    }
  }
  return SS_OK;
}

static ss_status add_body(ss_import *i, ss_scene *scene, int body) {
  const ss_import_part *part = &i->parts[body];
  ss_import_mass mass = {0};
  for (int k = 0; k < i->n_parts; k++) {
    if (carrier(i, k) != body) continue;
    const ss_pose at = relative(&part->pose, &i->parts[k].pose);
    ss_mass_add(&mass, &i->parts[k].mass, &at);
  }
  if (!(mass.mass > 0))
    return SS_IMPORT_FAIL(i, part, "'%s' can move but has no mass: a scene cannot have such a body",
                          ss_printable(part->name).text);
  ss_shape_def *shapes = NULL;
  int n = 0;
  SS_TRY(body_shapes(i, body, &shapes, &n));
  ss_body_def def = ss_body_default(part->name);
  const ss_mat3 *I = &mass.inertia;
  const double six[6] = {I->m[0][0], I->m[1][1], I->m[2][2], I->m[0][1], I->m[0][2], I->m[1][2]};
  def.mass = mass.mass;
  def.has_inertia = true;
  memcpy(def.inertia, six, sizeof six);
  def.has_center_of_mass = true;
  def.center_of_mass = mass.center;
  def.pose = part->pose;
  def.shapes = shapes;
  def.n_shapes = n;
  def.mark = part->mark;
  return ss_scene_add_body(scene, &def, i->error);
}

/* ---- joints ---- */

static bool parallel(ss_vec3 a, ss_vec3 b) { return v3_norm(v3_cross(a, b)) < ANGLE; }
static bool perpendicular(ss_vec3 a, ss_vec3 b) { return fabs(v3_dot(a, b)) < ANGLE; }

/* Which joint a set of motions is; false: none. Hinges come first, then slides (sorted by the caller). */
static bool match(const ss_import_motion *m, int n, ss_joint_def *j) {
  const int hinges = n > 0 && m[0].kind == SS_HINGE
                         ? (n > 1 && m[1].kind == SS_HINGE ? (n > 2 && m[2].kind == SS_HINGE ? 3 : 2) : 1)
                         : 0;
  const bool one_point = hinges < 2 || (v3_norm(v3_sub(m[0].point, m[1].point)) < 1e-9 &&
                                        (hinges < 3 || v3_norm(v3_sub(m[0].point, m[2].point)) < 1e-9));
  j->has_at = true;
  j->at = m[0].point;
  j->axis = m[0].axis;
  j->has_axis = true;
  const bool in_plane = n == 3 && hinges == 1 && m[1].kind == SS_SLIDE && m[2].kind == SS_SLIDE &&
                        perpendicular(m[0].axis, m[1].axis) && perpendicular(m[0].axis, m[2].axis) &&
                        !parallel(m[1].axis, m[2].axis);
  const bool about_point =
      n == 3 && hinges == 3 && one_point && fabs(v3_dot(m[0].axis, v3_cross(m[1].axis, m[2].axis))) > ANGLE;
  if (n == 1 && m[0].kind == SS_HINGE) {
    j->type = SS_JOINT_REVOLUTE;
  } else if (n == 1 && m[0].kind == SS_SLIDE) {
    j->type = SS_JOINT_PRISMATIC;
  } else if ((n == 1 && m[0].kind == SS_PLANE) || in_plane) {
    j->type = SS_JOINT_PLANAR;
    j->has_axis = false;
    j->has_normal = true;
    j->normal = m[0].axis;
  } else if ((n == 1 && m[0].kind == SS_BALL) || about_point) {
    j->type = SS_JOINT_SPHERICAL;
    j->has_axis = false;
  } else if (n == 2 && hinges == 1 && m[1].kind == SS_SLIDE && parallel(m[0].axis, m[1].axis)) {
    j->type = SS_JOINT_CYLINDRICAL;
  } else if (n == 2 && hinges == 2 && one_point && perpendicular(m[0].axis, m[1].axis)) {
    j->type = SS_JOINT_UNIVERSAL;
    j->has_axis = false;
    j->has_axes = true;
    j->axes[0] = m[0].axis;
    j->axes[1] = m[1].axis;
  } else {
    return false;
  }
  return true;
}

static void sort_motions(ss_import_motion *m, int n) {
  for (int k = 1; k < n; k++)
    for (int l = k; l > 0 && m[l - 1].kind > m[l].kind; l--) {
      const ss_import_motion kept = m[l];
      m[l] = m[l - 1];
      m[l - 1] = kept;
    }
}

/* Six independent motions, or a free joint: nothing holds it. */
static bool is_free(const ss_import_motion *m, int n) {
  if (n > 0 && m[n - 1].kind == SS_FREE) return true;
  int slides = 0, hinges = 0, balls = 0;
  for (int k = 0; k < n; k++) {
    slides += m[k].kind == SS_SLIDE;
    hinges += m[k].kind == SS_HINGE;
    balls += m[k].kind == SS_BALL;
  }
  return slides == 3 && (balls == 1 || hinges == 3);
}

/* Slides along two axes of the world: no joint, but coordinates that are locked. */
static bool lock_to_plane(const ss_import_part *p, ss_body_def *body) {
  static const unsigned bits[3] = {SS_X, SS_Y, SS_Z};
  const ss_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  unsigned freedom = 0;
  for (int k = 0; k < p->n_motions; k++)
    for (int axis = 0; axis < 3; axis++)
      if (p->motions[k].kind == SS_SLIDE && parallel(p->motions[k].axis, axes[axis])) freedom |= bits[axis];
  const bool two = freedom == (SS_X | SS_Y) || freedom == (SS_X | SS_Z) || freedom == (SS_Y | SS_Z);
  if (p->n_motions != 2 || !two) return false;
  body->freedom = freedom;
  return true;
}

static ss_status add_joint(ss_import *i, ss_scene *scene, const int *body, int part) {
  ss_import_part *p = &i->parts[part];
  sort_motions(p->motions, p->n_motions);
  if (is_free(p->motions, p->n_motions)) return SS_OK;
  const int parent = carrier(i, p->parent);
  if (parent < 0 && lock_to_plane(p, &scene->bodies[body[part]])) {
    for (int k = 0; k < p->n_motions; k++)
      if (p->motions[k].limited) ss_import_note(i, "limits of '%s': left out", ss_printable(p->name).text);
    return SS_OK;
  }
  ss_joint_def j = ss_joint_default(SS_JOINT_FIXED, parent < 0 ? SS_WORLD : body[parent], body[part]);
  if (!match(p->motions, p->n_motions, &j))
    return SS_IMPORT_FAIL(i, p, "'%s' moves in %d ways at once that no joint of a scene has",
                          ss_printable(p->name).text, p->n_motions);
  j.name = p->motions[0].name && *p->motions[0].name ? p->motions[0].name : NULL;
  const ss_import_motion *limited = NULL;
  for (int k = 0; k < p->n_motions; k++)
    if (p->motions[k].limited) limited = &p->motions[k];
  const bool takes_limits = p->n_motions == 1 && (j.type == SS_JOINT_REVOLUTE || j.type == SS_JOINT_PRISMATIC);
  if (limited && takes_limits) {
    j.has_limits = true;
    j.limits[0] = limited->lower;
    j.limits[1] = limited->upper;
  } else if (limited) {
    ss_import_note(i, "limits of '%s': left out, a %s joint has none", ss_printable(p->name).text,
                   ss_table_joints()[j.type].name);
  }
  return ss_scene_add_joint(scene, &j, i->error);
}

static ss_status add_closures(ss_import *i, ss_scene *scene, const int *body) {
  for (int k = 0; k < i->n_closures; k++) {
    const ss_import_closure *c = &i->closures[k];
    int ends[2];
    for (int side = 0; side < 2; side++) {
      const int part = carrier(i, c->part[side]);
      ends[side] = part < 0 ? SS_WORLD : body[part];
    }
    if (ends[0] == ends[1]) continue;
    const bool swap = ends[1] == SS_WORLD;
    ss_joint_def j = ss_joint_default(c->fixed ? SS_JOINT_FIXED : SS_JOINT_SPHERICAL, ends[swap], ends[!swap]);
    j.has_at = true;
    j.at = c->point;
    SS_TRY(ss_scene_add_joint(scene, &j, i->error));
  }
  return SS_OK;
}

/* ---- contact ---- */

static ss_status exempt(ss_import *i, ss_scene *scene, int a, int b) {
  a = carrier(i, a);
  b = carrier(i, b);
  if (a == b) return SS_OK;
  const char *names[2] = {body_name(i, a), body_name(i, b)};
  for (int k = 0; k < scene->n_contacts; k++)
    if ((strcmp(scene->contacts[k].between[0], names[0]) == 0 &&
         strcmp(scene->contacts[k].between[1], names[1]) == 0) ||
        (strcmp(scene->contacts[k].between[0], names[1]) == 0 && strcmp(scene->contacts[k].between[1], names[0]) == 0))
      return SS_OK;
  const ss_contact_def contact = {.between = {names[0], names[1]},
                                  .collide = false,
                                  .friction = NAN,
                                  .restitution = NAN,
                                  .friction_across = NAN,
                                  .torsion = NAN,
                                  .rolling = NAN};
  return ss_scene_add_contact(scene, &contact, i->error);
}

static bool has_shapes(const ss_import *i, int body) {
  for (int k = 0; k < i->n_parts; k++)
    if (carrier(i, k) == body && i->parts[k].n_shapes > 0) return true;
  return false;
}

static ss_status exempt_neighbours(ss_import *i, ss_scene *scene) {
  for (int k = 0; k < i->n_parts; k++) {
    if (i->parts[k].n_motions == 0) continue;
    const int parent = carrier(i, i->parts[k].parent);
    if (parent < 0 || !has_shapes(i, k) || !has_shapes(i, parent)) continue;
    SS_TRY(exempt(i, scene, k, parent));
    ss_import_note(i, "a body and the one that it is jointed to do not touch each other");
  }
  for (int k = 0; k < i->n_exclusions; k++)
    SS_TRY(exempt(i, scene, i->exclusions[k].part[0], i->exclusions[k].part[1]));
  return SS_OK;
}

/* The pair that the compiler complains about, if that is its complaint. */
static bool overlapping(const ss_import *i, const ss_error *error, int pair[2]) {
  for (pair[0] = -1; pair[0] < i->n_parts; pair[0]++)
    for (pair[1] = -1; pair[1] < i->n_parts; pair[1]++) {
      char start[256];
      (void)snprintf(start, sizeof start, "'%s' and '%s' overlap", body_name(i, pair[0]), body_name(i, pair[1]));
      if (pair[0] != pair[1] && strncmp(error->message, start, strlen(start)) == 0) return true;
    }
  return false;
}

/* Compiles it; what overlaps in the initial position is exempted from contact until it compiles. */
static ss_status settle(ss_import *i, ss_scene *scene) {
  for (int tries = 0; tries <= i->n_parts * i->n_parts; tries++) {
    ss_model *model = NULL;
    ss_error error = {0};
    const ss_status status = ss_model_create(scene, &model, &error);
    ss_model_destroy(model);
    int pair[2];
    if (status == SS_OK) return SS_OK;
    if (!overlapping(i, &error, pair)) {
      *i->error = error;
      (void)snprintf(i->error->file, sizeof i->error->file, "%s", i->file);
      return status;
    }
    ss_import_note(i, "'%s' and '%s' overlap in the initial position: they do not touch each other",
                   ss_printable(body_name(i, pair[0])).text, ss_printable(body_name(i, pair[1])).text);
    SS_TRY(exempt(i, scene, pair[0], pair[1]));
  }
  return ss_fail(i->error, SS_ERROR_INPUT, "the bodies overlap");
}

ss_status ss_import_build(ss_import *i, ss_scene *scene) {
  int *body = SS_ARENA_ARRAY(i->arena, int, i->n_parts + 1); /* index in the scene */
  if (!body) return ss_fail(i->error, SS_ERROR_MEMORY, "out of memory");
  find_carriers(i);
  scene->gravity = i->gravity;
  scene->name = ss_arena_strdup(scene->arena, i->name && *i->name ? i->name : i->file);
  for (int k = 0; k < i->n_materials; k++) SS_TRY(ss_scene_add_material(scene, &i->materials[k], i->error));
  for (int k = 0; k < i->n_parts; k++) {
    if (carrier(i, k) < 0)
      for (int s = 0; s < i->parts[k].n_shapes; s++)
        SS_TRY(world_shape(i, scene, i->parts[k].shapes[s], &i->parts[k].pose));
    if (i->parts[k].n_motions == 0) continue;
    body[k] = scene->n_bodies;
    SS_TRY(add_body(i, scene, k));
  }
  if (scene->n_bodies == 0) return ss_fail_place(i->error, SS_ERROR_INPUT, i->file, (ss_mark){0, 0}, "nothing moves");
  for (int k = 0; k < i->n_parts; k++)
    if (i->parts[k].n_motions > 0) SS_TRY(add_joint(i, scene, body, k));
  SS_TRY(add_closures(i, scene, body));
  SS_TRY(exempt_neighbours(i, scene));
  SS_TRY(ss_import_flatten(i, scene));
  scene->simulation.scheme = "moreau";
  scene->simulation.step = i->step;
  scene->simulation.duration = 2;
  ss_import_note(i, "scheme moreau, step %g, duration 2: change them in the scene", i->step);
  return settle(i, scene);
}
