/* The compiled model: immutable after ss_model_create, everything in centre-of-mass frames and packed coordinates. */
#ifndef SS_MODEL_MODEL_H
#define SS_MODEL_MODEL_H

#include "core/arena.h"
#include "core/math3.h"
#include "geom/geom.h"
#include "model/body_names.h"

#include <stickslip/sim.h>
#include <stickslip/system.h>

typedef struct ss_body {
  const char *name;
  unsigned freedom;
  int n;                     /* free velocity coordinates, 1..6 */
  int first;                 /* where they start in v */
  signed char slot[6];       /* x y z rx ry rz -> place among the n, or -1: locked, not in the linear algebra */
  signed char coordinate[6]; /* the inverse map */
  bool turns;                /* has a rotational coordinate */
  bool gyroscopic;           /* has at least two, and axes that differ, so that F(v) matters */
  double mass;
  ss_mat3 inertia;        /* about the centre of mass, body frame */
  double m[36], minv[36]; /* mass block and its inverse, n x n row-major */
  ss_vec3 com;            /* centre of mass in the body's frame */
  double reach;           /* radius about the centre of mass that contains all shapes; INFINITY with a half-space */
  ss_pose pose;           /* at t = 0, of the centre-of-mass frame */
} ss_body;

enum { SS_JOINT_ROWS = 6 }; /* no joint has more scalar equations */

typedef struct ss_joint {
  ss_joint_type type;
  const char *name;
  int body[2];
  ss_vec3 anchor[2]; /* centre-of-mass frames */
  ss_quat frame[2];  /* joint frame in each body's frame; its x axis is the joint's axis */
  ss_quat start[2];  /* joint frames in the world's frame at t = 0: gears count their angles from there */
  double length;     /* distance; rolling: radius */
  bool ball;         /* rolling: no axle */
  double weight[3];  /* gear: of the first wheel's angle, the second's, and the centre line's */
  double pitch;      /* screw: advance per radian */
  double origin;     /* gear, screw: the left side at t = 0 */
  unsigned row_mask; /* equations that involve a free coordinate; the others are left out */
  int n_rows, first_row;
  int n_angles, first_angle; /* angles that the state counts beyond a full turn */
  bool has_limits, has_motor;
  double limits[2], motor_speed, motor_effort;
  const ss_expression *motor_speed_at, *motor_effort_at; /* NULL: motor_speed, motor_effort */
  int motor_held[2];                                     /* speed, effort: as in ss_force */
  int motor;                                             /* its number among the motors */
} ss_joint;

typedef struct ss_force {
  ss_force_type type;
  int body[2];
  const struct ss_joint *joint; /* a spring in a joint: lengths are the joint's angles or displacements; else NULL */
  ss_vec3 anchor[2];            /* centre-of-mass frames */
  double stiffness, rest_length, damping;
  ss_jacobian jacobian;
  const ss_expression *force[3], *torque[3];
  int held[6]; /* force, torque: number among the held expressions, -1: it does not depend on the state */
} ss_force;

/* An expression that depends on the state: evaluated at the start of a step and held over it. */
typedef struct ss_held {
  const ss_expression *expression;
  const char *what; /* for messages */
  ss_mark mark;
  bool effort; /* of a motor: not negative */
} ss_held;

typedef struct ss_output {
  const char *name;
  const ss_expression *value;
} ss_output;

/* How contacts of a pair give. */
typedef struct ss_compliance_law {
  ss_compliance_def def;           /* complete: what the pair does not say is the scene's */
  bool own_stiffness, own_damping; /* said by the pair itself: goes before what its materials say */
} ss_compliance_law;

/* A set of friction forces and moments by its corners: what they are in the rows of a contact, each row in units of its own size. */
typedef struct ss_friction_table {
  int n_rows;                /* friction rows */
  int axis[SS_GENERATOR];    /* [n_rows] which of the five numbers of a generator each of them is */
  double size[SS_GENERATOR]; /* [n_rows] the largest of that number over the generators: its unit */
  int n;                     /* corners */
  const double *corners;     /* [n][n_rows] */
} ss_friction_table;

/* What happens between two materials or bodies. */
typedef struct ss_law {
  bool collide, anisotropic;
  double friction, restitution;
  double across;           /* anisotropic: coefficient across the axis; friction is the one along it */
  double torsion, rolling; /* lengths: moment per normal force */
  int tangents;            /* systems: friction directions; 0: as many as there are in the plane or in space */
  double mu;               /* scale of the friction set: directions are given in units of it (scheme/friction.c) */
  bool has_restitution_law;
  ss_restitution restitution_law;
  bool has_polygon, has_axis;
  ss_polygon polygon;
  ss_vec3 axis; /* in the frame of the body of shape `frame` (0 or 1) */
  int frame;
  const ss_friction_table *generators; /* NULL: by the coefficients above */
  const ss_compliance_law *compliance;
  int compliance_side; /* which shape (0 or 1) is the first of the pair's `between`; without: the first in the model */
  double softness; /* weight in the choice between redundant impulses: 1, or by the stiffness that the scene gives */
} ss_law;

typedef struct ss_law_override {
  int body[2];     /* index, SS_WORLD, or ANY_BODY */
  int material[2]; /* index or -1: any */
  bool collide, has_axis;
  double friction, restitution, across, torsion, rolling; /* NAN: keep */
  ss_vec3 axis;
  bool has_restitution_law;
  ss_restitution restitution_law;
  bool has_polygon;
  ss_polygon polygon;
  const ss_friction_table *generators; /* NULL: keep, unless friction is given */
  const ss_compliance_law *compliance; /* NULL: keep */
} ss_law_override;
enum { SS_ANY_BODY = -2 };

/* A user-defined system (system/). */
typedef struct ss_system_model {
  ss_system def;          /* with its own copies of arrays and names */
  ss_law *laws;           /* [n_gaps] */
  int *first_direction;   /* [n_gaps] where a gap's rows start in D */
  int n_directions;       /* of all gaps */
  const char **row_names; /* [n_joints + n_pfaffian] */
} ss_system_model;

struct ss_model {
  ss_arena *arena;
  const char *scene_name, *source, *file, *text;
  ss_planar planar;
  ss_vec3 gravity;
  ss_vec3 plane_normal; /* planar scenes */
  int n_q;              /* numbers of a position: 7 per body, or the coordinates of a system */
  int n_bodies, n_v, n_shapes, n_joints, n_joint_rows, n_angles, n_limits, n_motors, n_forces, n_materials, n_overrides;
  int n_inputs, n_outputs, n_variables, n_held;
  ss_parameter *inputs; /* with their defaults */
  ss_output *outputs;
  ss_variable *variables; /* of all expressions */
  ss_held *held;
  ss_body *bodies;
  ss_shape *shapes; /* ordered by body, the world's last */
  ss_joint *joints;
  ss_force *forces;
  ss_material_def *materials;
  ss_law_override *overrides;
  double length; /* typical length: tolerances are relative to it */
  bool restitution_anywhere, friction_anywhere;
  bool newton_anywhere;         /* a contact that obeys Newton's law of restitution whatever the simulation says */
  bool moments_anywhere;        /* torsion or rolling resistance */
  ss_simulation simulation;     /* the scene's own */
  ss_compliance_law compliance; /* of pairs that do not say otherwise */
  double stiffest[2];  /* the least compliance of surfaces given by stiffness, and by Young's modulus; 0: none */
  double pressed_in;   /* by how much bodies overlap at t = 0 that are meant to be deformed there */
  bool compliant;      /* the scene, a material or a pair says how contacts give */
  double *q0;          /* systems: coordinates at t = 0 */
  double *v0;          /* velocities at t = 0 */
  uint64_t parameters; /* hash of the scene's parameters as they were set */
  const ss_system_model *system; /* a user-defined system: no bodies, shapes, joints or forces then; else NULL */
};

/* A model's law for two shapes: materials combined, then overrides in the order of the scene. */
ss_law ss_model_law(const ss_model *model, const ss_shape *a, const ss_shape *b);

/* How much a surface gives: 1/stiffness (*kind 0), else (1 - nu^2)/E (1); 0 where it says neither. */
double ss_surface_compliance(ss_elastic elastic, double stiffness, int *kind);

/* Zeros with an arena of its own; NULL with the error where there is no memory. */
ss_model *ss_model_blank(ss_error *error);

/* Pose of a body's centre-of-mass frame, the identity for the world. */
static inline ss_pose ss_pose_of(const double *q, int body) {
  if (body < 0) return pose_identity();
  const double *p = q + (size_t)body * 7;
  return (ss_pose){{p[0], p[1], p[2]}, {p[3], p[4], p[5], p[6]}};
}

/* Velocity coordinates of a body as two vectors: world-frame linear, body-frame angular. Locked ones are zero. */
static inline void ss_twist_of(const ss_model *model, const double *v, int body, ss_vec3 *linear, ss_vec3 *angular) {
  double c[6] = {0};
  if (body >= 0) {
    const ss_body *b = &model->bodies[body];
    for (int i = 0; i < b->n; i++) c[b->coordinate[i]] = v[b->first + i];
  }
  *linear = v3(c[0], c[1], c[2]);
  *angular = v3(c[3], c[4], c[5]);
}

#endif
