/* URDF: links in any order, joints that say which is whose child. Collision geometry is taken, visual geometry is not. */
#include "import/import.h"

#include <math.h>
#include <string.h>

static const double FRICTION = 0.5; /* URDF has none */

static ss_pose origin_of(ss_import *i, const ss_xml *e, ss_status *status) {
  ss_pose pose = pose_identity();
  const ss_xml *origin = e ? ss_xml_child(e, "origin") : NULL;
  if (!origin) return pose;
  double rpy[3];
  (void)ss_import_vector(i, origin, "xyz", &pose.position, status);
  if (ss_import_numbers(i, origin, "rpy", 3, rpy, status)) pose.orientation = ss_quat_from_rpy(rpy[0], rpy[1], rpy[2]);
  return pose;
}

/* ---- links ---- */

static ss_status read_inertial(ss_import *i, const ss_xml *link, ss_import_part *part) {
  const ss_xml *inertial = ss_xml_child(link, "inertial");
  if (!inertial) return SS_OK;
  ss_status status = SS_OK;
  const ss_pose pose = origin_of(i, inertial, &status);
  const ss_xml *mass = ss_xml_child(inertial, "mass"), *inertia = ss_xml_child(inertial, "inertia");
  ss_import_mass own = {0};
  if (mass) (void)ss_import_numbers(i, mass, "value", 1, &own.mass, &status);
  static const char *const names[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  double six[6] = {0};
  for (int k = 0; inertia && k < 6; k++) (void)ss_import_numbers(i, inertia, names[k], 1, &six[k], &status);
  own.inertia = ss_inertia_of(six);
  if (status) return status;
  if (own.mass < 0) return SS_IMPORT_FAIL(i, mass, "the mass of the link '%s' is negative", part->name);
  ss_mass_add(&part->mass, &own, &pose);
  return SS_OK;
}

/* True: `shape` is one that a scene can have. */
static bool read_geometry(ss_import *i, const ss_xml *geometry, ss_shape_def *shape, ss_status *status) {
  const ss_xml *e = geometry->first;
  if (!e) return false;
  if (strcmp(e->name, "box") == 0) {
    *shape = ss_shape_default(SS_SHAPE_BOX);
    return ss_import_vector(i, e, "size", &shape->size, status);
  }
  if (strcmp(e->name, "sphere") == 0) {
    *shape = ss_shape_default(SS_SHAPE_SPHERE);
    return ss_import_numbers(i, e, "radius", 1, &shape->radius, status);
  }
  if (strcmp(e->name, "capsule") == 0 || strcmp(e->name, "cylinder") == 0) {
    *shape = ss_shape_default(strcmp(e->name, "cylinder") == 0 ? SS_SHAPE_CYLINDER : SS_SHAPE_CAPSULE);
    shape->axis = v3(0, 0, 1);
    return ss_import_numbers(i, e, "radius", 1, &shape->radius, status) &&
           ss_import_numbers(i, e, "length", 1, &shape->length, status);
  }
  if (strcmp(e->name, "mesh") == 0 && ss_xml_attribute(e, "filename")) {
    ss_vec3 scale = v3(1, 1, 1);
    *shape = ss_shape_default(SS_SHAPE_MESH);
    (void)ss_import_vector(i, e, "scale", &scale, status);
    return !*status && ss_import_mesh_file(i, ss_xml_attribute(e, "filename"), scale, shape);
  }
  ss_import_note(i, "shape <%s>: not available in this version, left out", ss_printable(e->name).text);
  return false;
}

static ss_status read_collisions(ss_import *i, const ss_xml *link, ss_import_part *part) {
  ss_status status = SS_OK;
  for (const ss_xml *c = ss_xml_child(link, "collision"); c && !status; c = ss_xml_next(c, "collision")) {
    const ss_xml *geometry = ss_xml_child(c, "geometry");
    ss_shape_def shape;
    if (!geometry || !read_geometry(i, geometry, &shape, &status)) continue;
    shape.pose = origin_of(i, c, &status);
    shape.material = ss_import_material(i, FRICTION);
    if (!shape.material) return ss_fail(i->error, SS_ERROR_MEMORY, "out of memory");
    if (!status) status = ss_import_add_shape(i, part, &shape);
  }
  if (ss_xml_child(link, "visual") && !ss_xml_child(link, "collision"))
    ss_import_note(i, "link with visual geometry only: it touches nothing");
  return status;
}

static ss_status read_links(ss_import *i, const ss_xml *robot) {
  for (const ss_xml *link = ss_xml_child(robot, "link"); link; link = ss_xml_next(link, "link")) {
    const char *name = ss_xml_attribute(link, "name");
    if (!name || !*name) return SS_IMPORT_FAIL(i, link, "a link needs a name");
    if (ss_import_find(i, name) >= 0)
      return SS_IMPORT_FAIL(i, link, "there are two links '%s'", ss_printable(name).text);
    ss_import_part *part = ss_import_add_part(i, name, SS_IMPORT_WORLD, pose_identity());
    if (!part) return ss_fail(i->error, SS_ERROR_MEMORY, "out of memory");
    part->mark = link->mark;
    SS_TRY(read_inertial(i, link, part));
    SS_TRY(read_collisions(i, link, part));
  }
  return SS_OK;
}

/* ---- joints ---- */

typedef struct joint {
  const ss_xml *xml;
  int parent, child;
  bool placed;
} joint;

static ss_status joint_end(ss_import *i, const ss_xml *j, const char *side, int *part) {
  const ss_xml *e = ss_xml_child(j, side);
  const char *name = e ? ss_xml_attribute(e, "link") : NULL;
  if (!name) return SS_IMPORT_FAIL(i, j, "the joint needs a <%s link=\"..\"/>", side);
  *part = ss_import_find(i, name);
  if (*part == -2) return SS_IMPORT_FAIL(i, e, "there is no link '%s'", ss_printable(name).text);
  return SS_OK;
}

static void remark_on_joint(ss_import *i, const ss_xml *j) {
  const ss_xml *dynamics = ss_xml_child(j, "dynamics");
  double x[1];
  if (dynamics && ss_xml_attribute(dynamics, "damping") &&
      ss_import_count(ss_xml_attribute(dynamics, "damping"), x, 1) == 1 && x[0] != 0)
    ss_import_note(i, "damping of a joint: left out");
  if (dynamics && ss_xml_attribute(dynamics, "friction") &&
      ss_import_count(ss_xml_attribute(dynamics, "friction"), x, 1) == 1 && x[0] != 0)
    ss_import_note(i, "friction of a joint: left out");
  if (ss_xml_child(j, "mimic")) ss_import_note(i, "<mimic>: left out, the joint moves on its own");
  if (ss_xml_child(j, "limit"))
    ss_import_note(i, "largest effort and velocity of a joint: left out, joints are passive");
}

static ss_status read_limit(ss_import *i, const ss_xml *j, ss_import_motion *m) {
  const ss_xml *limit = ss_xml_child(j, "limit");
  ss_status status = SS_OK;
  if (limit) {
    const bool given = ss_import_numbers(i, limit, "lower", 1, &m->lower, &status) |
                       ss_import_numbers(i, limit, "upper", 1, &m->upper, &status);
    m->limited = given && m->lower < m->upper;
    if (given && !m->limited)
      ss_import_note(i, "limits of '%s' leave no room to move: left out", ss_printable(m->name).text);
    if (m->limited && (m->lower > 0 || m->upper < 0)) {
      ss_import_note(i, "limits of '%s' do not contain the initial position: left out", ss_printable(m->name).text);
      m->limited = false;
    }
  }
  return status;
}

/* The motion of a joint whose child has its pose already. */
static ss_status read_motion(ss_import *i, const ss_xml *j, ss_import_part *child) {
  static const struct {
    const char *word;
    ss_motion_kind kind;
  } words[] = {{"revolute", SS_HINGE}, {"continuous", SS_HINGE}, {"prismatic", SS_SLIDE},
               {"floating", SS_FREE},  {"planar", SS_PLANE},     {"spherical", SS_BALL}};
  const char *type = ss_xml_attribute(j, "type");
  if (!type) return SS_IMPORT_FAIL(i, j, "the joint needs a type");
  if (strcmp(type, "fixed") == 0) return SS_OK;
  const char *name = ss_xml_attribute(j, "name");
  ss_import_motion m = {.name = name ? name : "", .axis = {1, 0, 0}, .point = child->pose.position};
  size_t k = 0;
  while (k < sizeof words / sizeof *words && strcmp(words[k].word, type) != 0) k++;
  if (k == sizeof words / sizeof *words)
    return SS_IMPORT_FAIL(i, j, "unknown type of joint '%s'", ss_printable(type).text);
  m.kind = words[k].kind;
  ss_status status = SS_OK;
  const ss_xml *axis = ss_xml_child(j, "axis");
  if (axis) (void)ss_import_vector(i, axis, "xyz", &m.axis, &status);
  if (!status && !(v3_norm(m.axis) > 0)) status = SS_IMPORT_FAIL(i, axis ? axis : j, "the axis must not be zero");
  m.axis = quat_rotate(child->pose.orientation, v3_normalize(m.axis));
  const bool bounded = strcmp(type, "revolute") == 0 || strcmp(type, "prismatic") == 0;
  if (!status && bounded) status = read_limit(i, j, &m);
  remark_on_joint(i, j);
  child->motions[child->n_motions++] = m;
  return status;
}

/* Gives the child of a joint its pose and its motion. */
static ss_status place_child(ss_import *i, joint *j) {
  ss_status status = SS_OK;
  const ss_pose base = j->parent == SS_IMPORT_WORLD ? pose_identity() : i->parts[j->parent].pose;
  const ss_pose local = origin_of(i, j->xml, &status);
  if (status) return status;
  j->placed = true;
  i->parts[j->child].parent = j->parent;
  i->parts[j->child].pose = pose_compose(&base, &local);
  return read_motion(i, j->xml, &i->parts[j->child]);
}

/* The joints by their parents: those of `part` are order[first[part + 1]] .. order[first[part + 2] - 1]; the world is -1. */
typedef struct joint_tree {
  joint *joints;
  int *first, *order;
  int *queue; /* of parts whose children are still to be placed: a chain may have any length */
} joint_tree;

static ss_status sort_joints(ss_import *i, joint *joints, int n, joint_tree *tree) {
  const int n_parents = i->n_parts + 1;
  *tree = (joint_tree){.joints = joints,
                       .first = SS_ARENA_ARRAY(i->arena, int, n_parents + 1),
                       .order = SS_ARENA_ARRAY(i->arena, int, n + 1),
                       .queue = SS_ARENA_ARRAY(i->arena, int, n + 1)};
  if (!tree->first || !tree->order || !tree->queue) return ss_fail(i->error, SS_ERROR_MEMORY, "out of memory");
  for (int k = 0; k < n; k++) tree->first[joints[k].parent + 2]++;
  for (int p = 0; p < n_parents; p++) tree->first[p + 1] += tree->first[p];
  for (int k = n - 1; k >= 0; k--) tree->order[--tree->first[joints[k].parent + 2]] = k;
  for (int p = 0; p < n_parents; p++) tree->first[p] = tree->first[p + 1];
  tree->first[n_parents] = n;
  return SS_OK;
}

static ss_status place(ss_import *i, const joint_tree *tree, int root) {
  int n_queue = 0;
  for (int part = root, next = 0;; part = tree->queue[next++]) {
    for (int k = tree->first[part + 1]; k < tree->first[part + 2]; k++) {
      joint *j = &tree->joints[tree->order[k]];
      SS_TRY(place_child(i, j));
      tree->queue[n_queue++] = j->child;
    }
    if (next == n_queue) return SS_OK;
  }
}

static ss_status read_joints(ss_import *i, const ss_xml *robot, joint **out, int *n) {
  *n = 0;
  for (const ss_xml *j = ss_xml_child(robot, "joint"); j; j = ss_xml_next(j, "joint")) ++*n;
  *out = SS_ARENA_ARRAY(i->arena, joint, *n + 1);
  if (!*out) return ss_fail(i->error, SS_ERROR_MEMORY, "out of memory");
  joint *at = *out;
  for (const ss_xml *j = ss_xml_child(robot, "joint"); j; j = ss_xml_next(j, "joint"), at++) {
    at->xml = j;
    SS_TRY(joint_end(i, j, "parent", &at->parent));
    SS_TRY(joint_end(i, j, "child", &at->child));
    if (at->child < 0) return SS_IMPORT_FAIL(i, j, "the world is nobody's child");
    ss_import_part *child = &i->parts[at->child];
    if (child->has_parent)
      return SS_IMPORT_FAIL(i, j, "the link '%s' is the child of two joints", ss_printable(child->name).text);
    child->has_parent = true;
  }
  return SS_OK;
}

/* The links that are nobody's child: attached to the world, or free. */
static ss_status place_roots(ss_import *i, joint *joints, int n, bool fixed_base) {
  joint_tree tree;
  SS_TRY(sort_joints(i, joints, n, &tree));
  for (int k = 0; k < i->n_parts; k++) {
    ss_import_part *part = &i->parts[k];
    if (part->has_parent) continue;
    const bool world = strcmp(part->name, "world") == 0;
    if (!world && !fixed_base && part->mass.mass > 0) {
      part->motions[part->n_motions++] = (ss_import_motion){.kind = SS_FREE, .name = ""};
      ss_import_note(i, "the base '%s' is free: nothing in the file holds it (--fix-base attaches it to the world)",
                     ss_printable(part->name).text);
    } else if (!world) {
      ss_import_note(i, "the base '%s' is attached to the world%s", ss_printable(part->name).text,
                     fixed_base ? "" : ": it has no mass");
    }
    SS_TRY(place(i, &tree, k));
  }
  SS_TRY(place(i, &tree, SS_IMPORT_WORLD));
  for (int j = 0; j < n; j++)
    if (!joints[j].placed) return SS_IMPORT_FAIL(i, joints[j].xml, "the joints form a loop");
  return SS_OK;
}

ss_status ss_import_urdf(ss_import *i, const ss_xml *robot, bool fixed_base) {
  i->name = ss_xml_attribute(robot, "name");
  for (const ss_xml *e = robot->first; e; e = e->next)
    if (strcmp(e->name, "link") != 0 && strcmp(e->name, "joint") != 0 && strcmp(e->name, "material") != 0)
      ss_import_note(i, "<%s>: left out", ss_printable(e->name).text);
  SS_TRY(read_links(i, robot));
  if (i->n_parts == 0) return SS_IMPORT_FAIL(i, robot, "the robot has no links");
  joint *joints = NULL;
  int n = 0;
  SS_TRY(read_joints(i, robot, &joints, &n));
  SS_TRY(place_roots(i, joints, n, fixed_base));
  if (i->n_materials > 0) ss_import_note(i, "URDF says nothing about friction: %g is written, restitution 0", FRICTION);
  return SS_OK;
}
