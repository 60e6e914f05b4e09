/* MJCF: bodies inside bodies, attributes with defaults by class, several joints per body. */
#include "import/mjcf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- bodies ---- */

static ss_status read_inertial(const ss_mjcf *m, const ss_xml *e, ss_import_mass *mass) {
  ss_status status = SS_OK;
  const ss_pose pose = ss_mjcf_pose(m, e, NULL, &status);
  ss_import_mass own = {0};
  double six[6] = {0};
  if (ss_mjcf_numbers(m, e, NULL, "mass", &own.mass, 1, &status) != 1 && !status)
    status = SS_IMPORT_FAIL(m->import, e, "<inertial> needs a mass");
  const int n = ss_mjcf_numbers(m, e, NULL, "diaginertia", six, 3, &status);
  if (n == 0 && ss_mjcf_numbers(m, e, NULL, "fullinertia", six, 6, &status) == 0 && !status)
    return SS_IMPORT_FAIL(m->import, e, "<inertial> needs diaginertia or fullinertia");
  own.inertia = ss_inertia_of(six);
  *mass = (ss_import_mass){0};
  ss_mass_add(mass, &own, &pose);
  return status;
}

static ss_status read_limits(const ss_mjcf *m, const ss_xml *e, const ss_mjcf_class *class, double unit,
                             ss_import_motion *motion) {
  ss_status status = SS_OK;
  double range[2], ref = 0;
  const bool given = ss_mjcf_numbers(m, e, class, "range", range, 2, &status) == 2;
  (void)ss_mjcf_numbers(m, e, class, "ref", &ref, 1, &status);
  const char *limited = ss_mjcf_text(e, class, "limited");
  const bool automatic = !limited || strcmp(limited, "auto") == 0;
  motion->limited = given && (automatic ? m->autolimits : strcmp(limited, "true") == 0);
  if (status || !motion->limited) return status;
  motion->lower = unit * (range[0] - ref);
  motion->upper = unit * (range[1] - ref);
  if (motion->lower <= 0 && motion->upper >= 0 && motion->lower < motion->upper) return SS_OK;
  ss_import_note(m->import, "limits of '%s' do not contain the initial position: left out",
                 ss_printable(motion->name).text);
  motion->limited = false;
  return SS_OK;
}

static ss_status read_joint(const ss_mjcf *m, const ss_xml *e, const ss_mjcf_class *around, ss_import_part *part) {
  const ss_mjcf_class *class = ss_mjcf_class_of(m, e, around);
  const char *type = ss_mjcf_text(e, class, "type"), *name = ss_xml_attribute(e, "name");
  if (part->n_motions == SS_IMPORT_MOTIONS) return SS_IMPORT_FAIL(m->import, e, "more than six joints on a body");
  ss_import_motion motion = {.kind = SS_HINGE, .name = name ? name : "", .axis = {0, 0, 1}};
  if (type && strcmp(type, "slide") == 0) motion.kind = SS_SLIDE;
  if (type && strcmp(type, "ball") == 0) motion.kind = SS_BALL;
  if ((type && strcmp(type, "free") == 0) || strcmp(e->name, "freejoint") == 0) motion.kind = SS_FREE;
  ss_status status = SS_OK;
  double x[3];
  if (ss_mjcf_numbers(m, e, class, "axis", x, 3, &status) == 3) motion.axis = v3(x[0], x[1], x[2]);
  ss_vec3 pos = v3(0, 0, 0);
  if (ss_mjcf_numbers(m, e, class, "pos", x, 3, &status) == 3) pos = v3(x[0], x[1], x[2]);
  if (!status && !(v3_norm(motion.axis) > 0)) status = SS_IMPORT_FAIL(m->import, e, "the axis must not be zero");
  if (status) return status;
  motion.axis = quat_rotate(part->pose.orientation, v3_normalize(motion.axis));
  motion.point = pose_point(&part->pose, pos);
  if (motion.kind == SS_HINGE || motion.kind == SS_SLIDE)
    SS_TRY(read_limits(m, e, class, motion.kind == SS_HINGE ? m->angle : 1, &motion));
  static const char *const attributes[] = {"damping", "stiffness", "frictionloss", "armature", NULL};
  for (const char *const *a = attributes; *a; a++) ss_mjcf_left_out(m, e, class, *a);
  part->motions[part->n_motions++] = motion;
  return SS_OK;
}

static ss_status read_body(ss_mjcf *m, const ss_xml *body, int parent, const ss_mjcf_class *around);

/* Everything inside a body (or the world body) but its own pose. */
static ss_status read_contents(ss_mjcf *m, const ss_xml *body, int index, const ss_mjcf_class *around) {
  ss_import *i = m->import;
  ss_import_mass mass = {0};
  for (const ss_xml *e = body->first; e; e = e->next) {
    if (strcmp(e->name, "geom") == 0) SS_TRY(ss_mjcf_geom(m, e, around, &i->parts[index], &mass));
    if (strcmp(e->name, "joint") == 0 || strcmp(e->name, "freejoint") == 0)
      SS_TRY(read_joint(m, e, around, &i->parts[index]));
    if (strcmp(e->name, "composite") == 0 || strcmp(e->name, "flexcomp") == 0 || strcmp(e->name, "attach") == 0 ||
        strcmp(e->name, "frame") == 0 || strcmp(e->name, "replicate") == 0)
      return SS_IMPORT_FAIL(i, e, "<%s> cannot be represented", e->name);
  }
  const ss_xml *inertial = ss_xml_child(body, "inertial");
  if (inertial && m->inertia != SS_INERTIA_FROM_GEOMS) SS_TRY(read_inertial(m, inertial, &mass));
  if (isnan(mass.mass) && strcmp(body->name, "body") == 0)
    return SS_IMPORT_FAIL(i, body, "the mass of '%s' would come from a mesh; give it an <inertial>",
                          ss_printable(i->parts[index].name).text);
  if (!isnan(mass.mass)) i->parts[index].mass = mass;
  for (const ss_xml *e = ss_xml_child(body, "body"); e; e = ss_xml_next(e, "body"))
    SS_TRY(read_body(m, e, index, around));
  return SS_OK;
}

static ss_status read_body(ss_mjcf *m, const ss_xml *body, int parent, const ss_mjcf_class *around) {
  ss_import *i = m->import;
  const char *child = ss_xml_attribute(body, "childclass"), *name = ss_xml_attribute(body, "name");
  if (child) around = ss_mjcf_class_named(m, child);
  if (child && !around) return SS_IMPORT_FAIL(i, body, "there is no class '%s'", ss_printable(child).text);
  char made[32];
  (void)snprintf(made, sizeof made, "body-%d", ++m->unnamed);
  if (!name) name = ss_arena_strdup(i->arena, made);
  ss_status status = SS_OK;
  const ss_pose local = ss_mjcf_pose(m, body, NULL, &status);
  if (status) return status;
  if (!name || !ss_import_add_part(i, name, parent, pose_compose(&i->parts[parent].pose, &local)))
    return ss_fail(i->error, SS_ERROR_MEMORY, "out of memory");
  const int index = i->n_parts - 1;
  i->parts[index].mark = body->mark;
  if (ss_mjcf_is(body, NULL, "mocap", "true")) ss_import_note(i, "mocap body: it stays where it is");
  return read_contents(m, body, index, around);
}

/* ---- options ---- */

static ss_status read_compiler(ss_mjcf *m, const ss_xml *e) {
  const char *sequence = ss_xml_attribute(e, "eulerseq"), *inertia = ss_xml_attribute(e, "inertiafromgeom");
  if (ss_mjcf_is(e, NULL, "angle", "radian")) m->angle = 1;
  if (ss_mjcf_is(e, NULL, "autolimits", "false")) m->autolimits = false;
  if (ss_mjcf_is(e, NULL, "coordinate", "global"))
    return SS_IMPORT_FAIL(m->import, e, "coordinate=\"global\" cannot be read");
  if (inertia && strcmp(inertia, "true") == 0) m->inertia = SS_INERTIA_FROM_GEOMS;
  if (inertia && strcmp(inertia, "false") == 0) m->inertia = SS_INERTIA_GIVEN;
  static const char *const attributes[] = {"settotalmass", "boundmass", "boundinertia", NULL};
  for (const char *const *a = attributes; *a; a++) ss_mjcf_left_out(m, e, NULL, *a);
  if (ss_xml_attribute(e, "assetdir")) m->meshdir = ss_xml_attribute(e, "assetdir");
  if (ss_xml_attribute(e, "meshdir")) m->meshdir = ss_xml_attribute(e, "meshdir");
  if (!sequence) return SS_OK;
  if (strlen(sequence) != 3 || strspn(sequence, "xyzXYZ") != 3)
    return SS_IMPORT_FAIL(m->import, e, "eulerseq must be three of x, y, z, X, Y, Z");
  memcpy(m->sequence, sequence, 3);
  return SS_OK;
}

static ss_status read_option(ss_mjcf *m, const ss_xml *e) {
  ss_status status = SS_OK;
  double x[3];
  if (ss_mjcf_numbers(m, e, NULL, "gravity", x, 3, &status) == 3) m->import->gravity = v3(x[0], x[1], x[2]);
  if (ss_mjcf_numbers(m, e, NULL, "timestep", x, 1, &status) == 1 && x[0] > 0) m->import->step = x[0];
  static const char *const attributes[] = {"wind", "density", "viscosity", NULL};
  for (const char *const *a = attributes; *a; a++) ss_mjcf_left_out(m, e, NULL, *a);
  const ss_xml *flag = ss_xml_child(e, "flag");
  if (flag && ss_mjcf_is(flag, NULL, "gravity", "disable")) m->import->gravity = v3(0, 0, 0);
  if (flag && (ss_mjcf_is(flag, NULL, "contact", "disable") || ss_mjcf_is(flag, NULL, "constraint", "disable"))) {
    m->no_contact = true;
    ss_import_note(m->import, "contact is disabled in the model: shapes are left out");
  }
  return status;
}

/* ---- loops, exclusions, collision masks ---- */

static ss_status read_equality(ss_import *i, const ss_xml *equality) {
  for (const ss_xml *e = equality->first; e; e = e->next) {
    const char *one = ss_xml_attribute(e, "body1"), *two = ss_xml_attribute(e, "body2");
    const bool connect = strcmp(e->name, "connect") == 0, weld = strcmp(e->name, "weld") == 0;
    if (ss_mjcf_is(e, NULL, "active", "false")) continue;
    if ((!connect && !weld) || !one) {
      ss_import_note(i, "equality <%s>%s: left out", e->name, one || !(connect || weld) ? "" : " of sites");
      continue;
    }
    ss_import_closure c = {.part = {ss_import_find(i, one), two ? ss_import_find(i, two) : SS_IMPORT_WORLD},
                           .fixed = weld};
    if (c.part[0] == -2 || c.part[1] == -2)
      return SS_IMPORT_FAIL(i, e, "there is no body '%s'", ss_printable(c.part[0] == -2 ? one : two).text);
    const ss_pose pose = c.part[0] < 0 ? pose_identity() : i->parts[c.part[0]].pose;
    ss_vec3 anchor = v3(0, 0, 0);
    ss_status status = SS_OK;
    (void)ss_import_vector(i, e, "anchor", &anchor, &status);
    if (status) return status;
    if (weld && ss_xml_attribute(e, "relpose"))
      ss_import_note(i, "relpose of a weld: left out, the initial one is kept");
    c.point = pose_point(&pose, anchor);
    SS_TRY(ss_import_add_closure(i, &c));
  }
  return SS_OK;
}

static ss_status read_contact(ss_import *i, const ss_xml *contact) {
  for (const ss_xml *e = contact->first; e; e = e->next) {
    const char *one = ss_xml_attribute(e, "body1"), *two = ss_xml_attribute(e, "body2");
    if (strcmp(e->name, "exclude") != 0 || !one || !two) {
      ss_import_note(i, "contact <%s>: left out", e->name);
      continue;
    }
    const int a = ss_import_find(i, one), b = ss_import_find(i, two);
    if (a == -2 || b == -2)
      return SS_IMPORT_FAIL(i, e, "there is no body '%s'", ss_printable(a == -2 ? one : two).text);
    SS_TRY(ss_import_exclude(i, a, b));
  }
  return SS_OK;
}

/* Bodies none of whose geoms can meet. */
static ss_status apply_masks(ss_import *i) {
  for (int a = 0; a < i->n_parts; a++)
    for (int b = 0; b < a; b++) {
      const ss_import_part *p = &i->parts[a], *q = &i->parts[b];
      if (p->n_shapes == 0 || q->n_shapes == 0 || (p->n_motions == 0 && q->n_motions == 0)) continue;
      if (!(p->contype & q->conaffinity) && !(q->contype & p->conaffinity)) SS_TRY(ss_import_exclude(i, a, b));
    }
  return SS_OK;
}

/* ---- the file ---- */

static void remark_on_sections(ss_import *i, const ss_xml *mujoco) {
  static const char *const read[] = {"compiler", "option", "default", "worldbody", "equality",
                                     "contact",  "asset",  "visual",  "statistic", "size"};
  for (const ss_xml *e = mujoco->first; e; e = e->next) {
    bool known = false;
    for (size_t k = 0; k < sizeof read / sizeof *read; k++) known = known || strcmp(read[k], e->name) == 0;
    if (!known) ss_import_note(i, "<%s>: left out", ss_printable(e->name).text);
  }
}

ss_status ss_import_mjcf(ss_import *i, ss_xml *mujoco) {
  ss_mjcf m = {
      .import = i, .root = mujoco, .meshdir = "", .angle = acos(-1) / 180, .sequence = "xyz", .autolimits = true};
  i->name = ss_xml_attribute(mujoco, "model");
  SS_TRY(ss_mjcf_include(i, mujoco, 0));
  SS_TRY(ss_mjcf_read_defaults(&m, mujoco));
  remark_on_sections(i, mujoco);
  for (const ss_xml *e = mujoco->first; e; e = e->next) {
    if (strcmp(e->name, "compiler") == 0) SS_TRY(read_compiler(&m, e));
    if (strcmp(e->name, "option") == 0) SS_TRY(read_option(&m, e));
  }
  if (!ss_import_add_part(i, "world", SS_IMPORT_WORLD, pose_identity()))
    return ss_fail(i->error, SS_ERROR_MEMORY, "out of memory");
  for (const ss_xml *e = ss_xml_child(mujoco, "worldbody"); e; e = ss_xml_next(e, "worldbody"))
    SS_TRY(read_contents(&m, e, 0, NULL));
  for (const ss_xml *e = mujoco->first; e; e = e->next) {
    if (strcmp(e->name, "equality") == 0) SS_TRY(read_equality(i, e));
    if (strcmp(e->name, "contact") == 0) SS_TRY(read_contact(i, e));
  }
  SS_TRY(apply_masks(i));
  if (i->n_materials > 1)
    ss_import_note(i, "pairs of different friction: the geometric mean here, the larger one in MuJoCo");
  return SS_OK;
}
