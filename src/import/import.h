/* Models of other programs on their way to a scene: a tree of parts, each with its mass, its shapes and how it may move
 * relative to its parent. The readers (urdf.c, mjcf.c) fill it in, build.c makes the scene. */
#ifndef SS_IMPORT_IMPORT_H
#define SS_IMPORT_IMPORT_H

#include "core/math3.h"
#include "core/words.h"
#include "io/xml_tree.h"

#include <stickslip/io.h>

enum { SS_IMPORT_MOTIONS = 6, SS_IMPORT_WORLD = -1 };

/* One way in which a part may move: about or along an axis, about a point, in a plane, freely. */
typedef enum ss_motion_kind { SS_HINGE, SS_SLIDE, SS_BALL, SS_PLANE, SS_FREE } ss_motion_kind;

typedef struct ss_import_motion {
  ss_motion_kind kind;
  const char *name;
  ss_vec3 point, axis; /* world frame, in the model's initial position; plane: its normal */
  bool limited;
  double lower, upper; /* from the initial position */
} ss_import_motion;

/* Mass, centre of mass and inertia about it, in the part's frame. */
typedef struct ss_import_mass {
  double mass;
  ss_vec3 center;
  ss_mat3 inertia;
} ss_import_mass;

typedef struct ss_import_part {
  const char *name;
  int parent;      /* index, or SS_IMPORT_WORLD */
  bool has_parent; /* URDF: it is the child of a joint */
  int carrier;     /* the part that moves on its behalf (build.c): itself, or the one it is attached to */
  ss_pose pose;    /* world frame */
  ss_import_mass mass;
  ss_shape_def *shapes;
  int n_shapes, shape_capacity;
  ss_import_motion motions[SS_IMPORT_MOTIONS];
  int n_motions;                 /* 0: rigidly attached to the parent */
  unsigned contype, conaffinity; /* MJCF: of all its geoms together */
  ss_mark mark;
} ss_import_part;

/* Closes a loop: a point in common (spherical), or everything (fixed). */
typedef struct ss_import_closure {
  int part[2];
  ss_vec3 point; /* world frame */
  bool fixed;
} ss_import_closure;

typedef struct ss_import_exclusion {
  int part[2];
} ss_import_exclusion;

/* Something that the scene leaves out or decides, and how often. */
typedef struct ss_import_remark {
  char text[200];
  int count;
} ss_import_remark;

typedef struct ss_import {
  ss_arena *arena;
  const char *file, *name;
  ss_vec3 gravity;
  double step;
  ss_import_part *parts;
  int n_parts, part_capacity;
  ss_import_closure *closures;
  int n_closures, closure_capacity;
  ss_import_exclusion *exclusions;
  int n_exclusions, exclusion_capacity;
  ss_material_def *materials;
  int n_materials, material_capacity;
  ss_import_remark *remarks;
  int n_remarks, remark_capacity;
  int n_included; /* MJCF: files */
  ss_error *error;
} ss_import;

#define SS_IMPORT_FAIL(import, element, ...)                                                                           \
  ss_fail_place((import)->error, SS_ERROR_INPUT, (import)->file, (element)->mark, __VA_ARGS__)

/* ---- import.c: what both readers need ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void
ss_import_note(ss_import *import, const char *format, ...);

ss_import_part *ss_import_add_part(ss_import *import, const char *name, int parent, ss_pose pose); /* NULL: no memory */
ss_status ss_import_add_shape(ss_import *import, ss_import_part *part, const ss_shape_def *shape);
ss_status ss_import_add_closure(ss_import *import, const ss_import_closure *closure);
ss_status ss_import_exclude(ss_import *import, int a, int b);
int ss_import_find(const ss_import *import, const char *name); /* -2: there is none */
/* The name of a material with this friction, made where there is none. NULL: no memory. */
const char *ss_import_material(ss_import *import, double friction);

/* Reads `count` numbers of an attribute; false where it is not there. Wrong ones are an error in *status. */
bool ss_import_numbers(ss_import *import, const ss_xml *element, const char *attribute, int count, double *numbers,
                       ss_status *status);
bool ss_import_vector(ss_import *import, const ss_xml *element, const char *attribute, ss_vec3 *vector,
                      ss_status *status);
/* How many numbers there are, at most `most`; -1: not only numbers. */
int ss_import_count(const char *text, double *numbers, int most);

ss_quat ss_quat_from_rpy(double roll, double pitch, double yaw);
ss_quat ss_quat_from_axis(ss_vec3 axis, double angle);
ss_quat ss_quat_between(ss_vec3 from, ss_vec3 to); /* unit vectors */
ss_quat ss_quat_from_axes(ss_vec3 x, ss_vec3 y);   /* y is made perpendicular */

/* ---- mass.c ---- */

ss_mat3 ss_inertia_of(const double six[6]); /* xx yy zz xy xz yz */
/* Adds a mass that is given in a frame with this pose in the part's. */
void ss_mass_add(ss_import_mass *sum, const ss_import_mass *more, const ss_pose *pose);
double ss_solid_volume(const ss_shape_def *shape);
ss_import_mass ss_solid_mass(const ss_shape_def *shape, double mass); /* in the shape's frame */

/* ---- mesh.c ---- */

/* Reads the mesh that the model names (package://, file://, or beside the model) into the shape, which becomes a mesh. False:
 * it is left out, and that is noted. */
bool ss_import_mesh_file(ss_import *import, const char *name, ss_vec3 scale, ss_shape_def *shape);
/* The convex hull instead of the mesh. *possible false: there is none, and that is noted. */
ss_status ss_import_make_convex(ss_import *import, ss_shape_def *shape, bool *possible);
/* The mesh, where a scene can have it in its world; else its convex hull. */
ss_status ss_import_keep_mesh(ss_import *import, ss_shape_def *shape, bool *possible);

/* ---- readers and the writer ---- */

ss_status ss_import_urdf(ss_import *import, const ss_xml *robot, bool fixed_base);
ss_status ss_import_mjcf(ss_import *import, ss_xml *mujoco);
/* Merges what is rigidly connected, makes bodies and joints, exempts what overlaps from contact. */
ss_status ss_import_build(ss_import *import, ss_scene *scene);
/* A planar scene where nothing leaves a plane (flatten.c). */
ss_status ss_import_flatten(ss_import *import, ss_scene *scene);

#endif
