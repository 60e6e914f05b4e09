/* A scene: the description of bodies, shapes, joints, forces and of how to simulate them. Filled in by hand (C) or by
 * ss_scene_load (stickslip/io.h), and compiled to a model (stickslip/sim.h). All strings and arrays that are handed to
 * ss_scene_add_* are copied. Units are the user's own; SI is assumed by the default gravity.
 *
 * Words here, scene keys and documentation are the same. */
#ifndef STICKSLIP_SCENE_H
#define STICKSLIP_SCENE_H

#include <stickslip/base.h>
#include <stickslip/cp.h>
#include <stickslip/expression.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SS_WORLD (-1) /* index that stands for the immovable world where a body is expected */

/* Velocity coordinates: x y z of the centre of mass in the world's frame, rx ry rz about the body's own axes. */
enum { SS_X = 1, SS_Y = 2, SS_Z = 4, SS_RX = 8, SS_RY = 16, SS_RZ = 32, SS_ALL = 63 };

typedef enum ss_planar { SS_SPATIAL, SS_PLANAR_XY, SS_PLANAR_XZ, SS_PLANAR_YZ } ss_planar;

/* An isotropic elastic material; young 0: none given. */
typedef struct ss_elastic {
  double young, poisson;
} ss_elastic;

typedef enum ss_damping {
  SS_DAMPING_CRITICAL, /* C = 2 sqrt(K) */
  SS_DAMPING_RAYLEIGH, /* C = a + b K */
  SS_DAMPING_GIVEN
} ss_damping;

/* What a force on one element does to the others. */
typedef enum ss_influence {
  SS_INFLUENCE_HALF_SPACE, /* Boussinesq and Cerruti (DCC appendix A) */
  SS_INFLUENCE_CELLS,      /* the same half-space under loads that are even over square cells (Love) */
  SS_INFLUENCE_HALF_PLANE  /* planar scenes: lines of load on an elastic half-plane */
} ss_influence;

/* How the surface of a body gives, for the compliant schemes. All zero: it is rigid. */
typedef struct ss_surface {
  ss_elastic elastic;
  double stiffness[2]; /* instead of elastic: normal and tangential, per element */
  bool has_damping;    /* else the scene's */
  ss_damping law;
  double damping[2]; /* SS_DAMPING_RAYLEIGH: a and b; SS_DAMPING_GIVEN: normal and tangential, per element */
} ss_surface;

typedef struct ss_material_def {
  const char *name;
  double friction;
  double restitution;
  double torsion; /* soft finger: moment about the normal per normal force, a length */
  double rolling; /* rolling resistance: moment about the tangents per normal force, a length */
  ss_surface compliance;
  ss_mark mark;
} ss_material_def;

typedef enum ss_restitution { SS_RESTITUTION_POISSON, SS_RESTITUTION_NEWTON } ss_restitution;

/* How the polygon of a polyhedral cone, or the square of a pyramid, lies in the tangent plane: turned in every part of a
 * step so that a corner (an axis) points along the slip, or fixed. */
typedef enum ss_polygon { SS_POLYGON_TURNING, SS_POLYGON_FIXED } ss_polygon;

enum { SS_GENERATOR = 5, SS_MOST_GENERATORS = 1000 }; /* numbers of a friction generator; generators of a pair */

/* Override for a pair of materials, of bodies, or of one of each. NAN: keep what the materials say, which is the
 * geometric mean of the two frictions and the larger of the two restitutions, torsions and rolling resistances.
 *
 * Where has_axis, friction is anisotropic: friction forces fill an ellipse with the half axes friction (along the axis)
 * and friction_across, in units of the normal force; the axis is fixed to the body of the first of `between`. With a
 * fixed polygon friction_across may be NAN: the axis is where its first corner points, and friction is the same in all
 * directions but for the corners.
 *
 * Generators (ST section 3.1) replace all of these: friction per normal force is the convex hull of zero and of n_generators rows of five
 * numbers, (d1, d2, torsion, roll1, roll2): forces along the axis and across it, moments about the normal, the axis and across it. Without
 * an axis the first tangent is that of a fixed polygon. In planar scenes d1 is the one tangent, roll2 the moment about the plane's
 * normal, and the others are zero. */
typedef struct ss_contact_def {
  const char *between[2]; /* names of materials or bodies, or "world" */
  bool collide;
  double friction, restitution;
  bool has_axis;
  ss_vec3 axis;
  double friction_across;
  double torsion, rolling;
  int n_generators; /* 0: none */
  const double (*generators)[SS_GENERATOR];
  bool has_restitution_law; /* else that of the simulation */
  ss_restitution restitution_law;
  bool has_polygon; /* likewise */
  ss_polygon polygon;
  /* Of this pair, before what its materials say; what it leaves out is the scene's. Lives as long as the scene. */
  const struct ss_compliance_def *compliance;
  ss_mark mark;
} ss_contact_def;

typedef enum ss_shape_type {
  SS_SHAPE_POINT,
  SS_SHAPE_SPHERE,
  SS_SHAPE_HALF_SPACE,
  SS_SHAPE_BOX,
  SS_SHAPE_CONVEX, /* the convex hull of points */
  SS_SHAPE_CAPSULE,
  SS_SHAPE_ELLIPSOID,
  SS_SHAPE_ELLIPSE, /* planar scenes: an elliptic cylinder of depth 1 across the plane */
  SS_SHAPE_CYLINDER,
  SS_SHAPE_MESH,         /* triangles, in the world only: solid behind them */
  SS_SHAPE_HEIGHT_FIELD, /* heights over a grid, in the world only: solid below */
  SS_SHAPE_TYPES
} ss_shape_type;

typedef struct ss_shape_def {
  ss_shape_type type;
  ss_pose pose;          /* of the shape in its body's frame */
  double radius;         /* sphere, capsule, cylinder */
  double length;         /* capsule: between the centres of its end spheres; cylinder: between its ends */
  ss_vec3 size;          /* box: full edge lengths */
  ss_vec3 semi_axes;     /* ellipsoid; ellipse: 0 along the axis across the plane */
  ss_vec3 axis;          /* capsule, cylinder: direction in the shape's frame, any length but zero */
  const ss_vec3 *points; /* convex: at least four, not in one plane; mesh: corners of the triangles; copied */
  int n_points;
  int corners;          /* convex: so many of the hull's corners are kept, at most 200; 0: all, and more are an error */
  const int *triangles; /* mesh: three points each, from 0, counterclockwise from outside; copied */
  int n_triangles;
  const double *heights; /* height-field: along z; rows follow each other along y, their numbers along x */
  int rows, columns;     /* at least two of each */
  ss_vec3 spacing;       /* of the grid: x, y; the shape's origin is in the middle of the grid */
  ss_vec3 normal;        /* half-space: points out of the material, in the body's frame, any length but zero */
  double offset;         /* half-space: the solid is {x : normal . x <= offset} with the normal normalised */
  const char *material;  /* NULL: the one named "default" */
  ss_mark mark;
} ss_shape_def;

typedef struct ss_body_def {
  const char *name;
  unsigned freedom; /* SS_X | ... */
  double mass;      /* NAN: from density and shapes */
  double density;   /* NAN: mass is given */
  bool has_inertia;
  double inertia[6]; /* Ixx Iyy Izz Ixy Ixz Iyz about the centre of mass, in the body's frame; else from the shapes */
  bool has_center_of_mass;
  ss_vec3 center_of_mass;   /* in the body's frame; else from the shapes, or the origin where there is an inertia */
  ss_pose pose;             /* of the body's frame */
  ss_vec3 velocity;         /* of the body frame's origin, world frame */
  ss_vec3 angular_velocity; /* world frame */
  const ss_shape_def *shapes;
  int n_shapes;
  ss_mark mark;
} ss_body_def;

typedef enum ss_joint_type {
  SS_JOINT_DISTANCE,
  SS_JOINT_REVOLUTE,
  SS_JOINT_SPHERICAL,
  SS_JOINT_PRISMATIC,
  SS_JOINT_FIXED,
  SS_JOINT_CYLINDRICAL,
  SS_JOINT_UNIVERSAL,
  SS_JOINT_PLANAR,
  SS_JOINT_POINT_ON_LINE,
  SS_JOINT_GEAR,
  SS_JOINT_SCREW,
  SS_JOINT_ROLLING,
  SS_JOINT_KNIFE_EDGE,
  SS_JOINT_TYPES
} ss_joint_type;

/* anchors and axes are in each body's own frame. A joint built with `at` (one point and all directions in the world's
 * frame at t = 0) leaves the anchors to the compiler: set has_at. Without it `axis` and `normal` are in the first
 * body's frame, `blade` and the wheel's `axis` in the second's. Angles and displacements are those of the second body
 * relative to the first; angles count from zero at t = 0 and go on beyond a full turn (docs/joints.md). */
typedef struct ss_joint_def {
  ss_joint_type type;
  const char *name; /* may be NULL */
  int body[2];      /* index or SS_WORLD */
  bool has_at;
  ss_vec3 at; /* world frame, at t = 0 */
  ss_vec3 anchor[2];
  bool has_axis;
  ss_vec3 axis; /* revolute, prismatic, cylindrical, screw, point-on-line, gear with radii; rolling: the wheel's axle */
  double length;         /* distance; NAN: the distance at t = 0 */
  bool world_directions; /* all directions are in the world's frame at t = 0, as with has_at */
  bool has_axes;
  ss_vec3 axes[2]; /* universal, gear with ratio: one fixed in each body */
  bool has_normal;
  ss_vec3 normal; /* planar, rolling, knife-edge: of the plane */
  double offset;  /* rolling: the plane is {x : normal . x = offset} in the first body's frame */
  double radius;  /* rolling */
  ss_vec3 center; /* rolling: of the wheel, in the second body's frame */
  bool has_blade;
  ss_vec3 blade;   /* knife-edge: where it glides */
  double radii[2]; /* gear: pitch radii, one negative where it meshes inside; NAN: ratio is given */
  double ratio;    /* gear: angle_1 + ratio angle_2 = 0; NAN: radii are given */
  double pitch;    /* screw: advance per turn, right-handed where positive */
  bool has_limits;
  double limits[2]; /* of the revolute angle, the prismatic, cylindrical or screw displacement, the distance */
  bool has_motor;
  double motor_speed,
      motor_effort; /* wanted rate of the angle (revolute, screw) or displacement; largest torque or force */
  /* Functions of t, inputs and the state, instead of motor_speed and motor_effort; NULL: constants. */
  const ss_expression *motor_speed_at, *motor_effort_at;
  bool has_spring;                                      /* revolute, prismatic */
  double spring_stiffness, spring_damping, spring_rest; /* rest: angle or displacement; NAN: that of t = 0 */
  ss_mark mark;
} ss_joint_def;

typedef enum ss_force_type {
  SS_FORCE_SPRING,
  SS_FORCE_DAMPER,
  SS_FORCE_SPRING_DAMPER,
  SS_FORCE_APPLIED,
  SS_FORCE_TYPES
} ss_force_type;

/* Jacobians of springs and dampers in the linearly implicit schemes. */
typedef enum ss_jacobian {
  SS_JACOBIAN_DEFAULT, /* rank one; exact where trapezoidal steps are chosen by a tolerance and few bodies are coupled */
  SS_JACOBIAN_RANK_ONE, /* LIT (9.2), (9.3): solvable for every step, stiffly stable */
  SS_JACOBIAN_EXACT     /* second order; used where the system matrix stays positive definite, else rank one */
} ss_jacobian;

typedef struct ss_force_def {
  ss_force_type type;
  const char *name;                       /* may be NULL */
  int body[2];                            /* spring, damper, spring-damper; applied: body[0] */
  ss_vec3 anchor[2];                      /* in each body's own frame; applied: anchor[0] is the point of attack */
  double stiffness, rest_length, damping; /* rest_length NAN: the length at t = 0 */
  ss_jacobian jacobian;
  const ss_expression *force[3];  /* applied: world frame, functions of t, inputs and the state; NULL is zero */
  const ss_expression *torque[3]; /* applied: world frame */
  ss_mark mark;
} ss_force_def;

/* Compliant contact (DCC section 2.2): a patch of elements x elements (planar: elements) springs and dampers around
 * every contact, lambda = K delta + C delta'. K is the inverse of the elastic half-space's influence matrix, or given. */
typedef struct ss_compliance_def {
  bool given;
  ss_elastic elastic; /* of contacts between materials that have none of their own: one elastic body on a rigid one */
  int elements;       /* along a side; 1: the lumped model; 0: not said (a pair: the scene's; the scene: 1) */
  double spacing;     /* of neighbouring elements; 0: not said */
  /* K and C as given, row-major, elements in the order of rows along the second tangent, (n, t, o) per element
   * (planar: (n, t)). n_stiffness numbers: 0 none, 2 normal and tangential per element, else the whole matrix. */
  const double *stiffness, *damping;
  int n_stiffness, n_damping;
  bool has_damping; /* a pair: else the materials', or the scene's */
  ss_damping law;
  double rayleigh[2];
  bool has_influence; /* a pair: else the scene's */
  ss_influence influence;
  double thickness; /* half-plane: of the bodies across the plane; 0: 1 */
  double datum;     /* half-plane: distance at which displacements vanish; 0: ten times the patch */
  /* Normal and tangential deformations couple, unless the bodies are of the same material; not with transport, unless it
   * is said. */
  bool has_coupling, coupling;
  bool has_transport,
      transport; /* material flows through the patch and takes its deformation along (scheme/patch_rows.c) */
  /* K(q) = stiffness_factor K, C(q) = damping_factor C (BVP (5), condition (D)), at the start of each step; NULL: 1. */
  const ss_expression *stiffness_factor, *damping_factor;
  /* Coefficients of friction, element by element; none: the pair's for all. */
  const double *friction;
  int n_friction;
  /* Deformations at t = 0 (BVP (12)), (n, t, o) for all elements or for each; none: surfaces that overlap give way. */
  const double *delta;
  int n_delta;
  ss_mark mark;
} ss_compliance_def;

/* Events that are located inside a step. */
enum { SS_EVENT_COLLISION = 1, SS_EVENT_STICK_SLIP = 2, SS_EVENT_TAKE_OFF = 4, SS_EVENT_FACET = 8, SS_EVENTS_ALL = 15 };

/* What is done about positions that drift off their joints and contacts (docs/stabilization.md). */
typedef enum ss_stabilization {
  SS_STABILIZATION_NONE,
  SS_STABILIZATION_ANITESCU_HART, /* the residual enters the velocity constraint's right side */
  SS_STABILIZATION_PROJECTION,    /* positions and velocities are projected in the mass norm after each step */
  SS_STABILIZATION_EXACT          /* joints hold after each step, with the energy that the step left; the default */
} ss_stabilization;

/* How automatic steps know their error (docs/steps.md). */
typedef enum ss_estimate {
  SS_ESTIMATE_PAIR,  /* from results of two orders of the same step problem */
  SS_ESTIMATE_HALVES /* every step is also taken in two halves */
} ss_estimate;

/* How to simulate. Zero-initialised is not valid: start from ss_simulation_default. */
typedef struct ss_simulation {
  const char *scheme;  /* a name from the table of schemes */
  double alpha, gamma; /* `gavrea` only */
  double theta;        /* `compliant-theta` only: weight of the old state, in [0, 1] */
  double step, duration;
  /* Automatic step size where positive (then `step` is not used): error of the positions per unit of time, a length. Steps
   * end on multiples of largest_step; 0: a 64th of the duration. */
  double tolerance, largest_step;
  ss_estimate estimate;
  ss_cone cone;
  int directions;
  ss_polygon polygon;
  ss_restitution restitution;
  bool has_events; /* false: the scheme's own choice */
  unsigned events;
  ss_stabilization stabilization;
  const char *solver;
  double residual; /* of the complementarity problem, up to which a step counts as certified */
  bool sleep;      /* steps of a scene at rest, which are all the same, are not computed */
  ss_mark mark;
} ss_simulation;

ss_simulation ss_simulation_default(void);

/* ---- boundary-value problems (BVP (13)): conditions that are linear in v(0) and the final state ---- */

typedef enum ss_coordinate {
  SS_POSITION = 0, /* + 0, 1, 2: x, y, z of the body's frame */
  SS_ROTATION = 3, /* + 0, 1, 2: rotation vector (axis times angle) of the body's frame */
  SS_VELOCITY = 6,
  SS_SPIN = 9,         /* angular velocity, world frame */
  SS_DEFORMATION = 12, /* of an element between two bodies: normal and tangents, in the contact's frame */
  SS_COORDINATES = 15
} ss_coordinate;

typedef struct ss_quantity {
  bool final; /* at the end; else at t = 0 */
  int body;
  int coordinate; /* SS_POSITION + axis etc. */
  int other;      /* deformations: the other body, or SS_WORLD, which body may be too; the normal points to body */
  int element;    /* and the element, counted from 0 over all patches between the two */
} ss_quantity;

/* sum of factors[i] quantities[i] = value */
typedef struct ss_condition_def {
  const char *text; /* as written */
  const ss_quantity *quantities;
  const double *factors;
  int n;
  double value;
  ss_mark mark;
} ss_condition_def;

typedef struct ss_boundary_def {
  bool given;
  const ss_condition_def *conditions;
  const ss_quantity *unknown; /* initial velocities to be found */
  int n_conditions, n_unknown;
  double tolerance;         /* of the conditions */
  int starts;               /* how many starting points are tried */
  double seconds;           /* budget of the search; 0: none */
  bool exact_sensitivities; /* derivatives carried along the run; else differences of runs */
  int segments;             /* multiple shooting: parts of the duration; 1: single shooting */
  /* Continuation: the parameter goes from `from` to its declared value in so many steps; NULL: none. */
  const char *parameter;
  double from, target;
  int steps;
  ss_mark mark;
} ss_boundary_def;

/* ---- inputs and outputs (docs/inputs-and-outputs.md) ---- */

/* What expressions may use beside parameters and t. */
typedef enum ss_variable_kind {
  SS_VARIABLE_INPUT,          /* index[0] */
  SS_VARIABLE_BODY,           /* of body index[0]: component index[1] of x y z vx vy vz wx wy wz */
  SS_VARIABLE_JOINT_POSITION, /* of joint index[0] */
  SS_VARIABLE_JOINT_SPEED,
  SS_VARIABLE_JOINT_FORCE,     /* of its motor */
  SS_VARIABLE_CONTACT_NORMAL,  /* between bodies index[0] and index[1] */
  SS_VARIABLE_CONTACT_TANGENT, /* likewise */
} ss_variable_kind;

typedef struct ss_variable {
  ss_variable_kind kind;
  int index[2];
  ss_mark mark; /* where it was used first */
} ss_variable;

/* A number of interest at every instant: recorded, printed, plotted. */
typedef struct ss_output_def {
  const char *name;
  const char *text; /* the expression as it was written */
  const ss_expression *value;
  ss_mark mark;
} ss_output_def;

typedef struct ss_scene {
  const char *file; /* where it came from; NULL if built in C */
  const char *name, *source;
  const char *text; /* the file as it was read; NULL if built in C */
  ss_planar planar;
  ss_vec3 gravity;
  ss_material_def *materials;
  ss_contact_def *contacts;
  ss_shape_def *world_shapes;
  ss_body_def *bodies;
  ss_joint_def *joints;
  ss_force_def *forces;
  int n_materials, n_contacts, n_world_shapes, n_bodies, n_joints, n_forces;
  ss_simulation simulation;
  ss_parameter *parameters; /* those that a scene file declares, as they were set */
  int n_parameters;
  ss_parameter *inputs; /* numbers that may change between steps, with their defaults */
  ss_output_def *outputs;
  ss_variable *variables; /* of all expressions */
  int n_inputs, n_outputs, n_variables;
  ss_compliance_def compliance; /* its arrays live as long as the scene */
  ss_boundary_def boundary;     /* likewise */
  struct ss_arena *arena;       /* owns everything above */
} ss_scene;

/* An empty spatial scene with gravity 9.81 along -z. */
ss_status ss_scene_create(ss_scene **out, ss_error *error);
void ss_scene_destroy(ss_scene *scene);

/* Planar scenes: bodies lose the coordinates out of the plane, friction acts in the plane, gravity becomes 9.81 along
 * the plane's second axis, downwards. Call before bodies are added. */
void ss_scene_set_planar(ss_scene *scene, ss_planar planar);

ss_shape_def ss_shape_default(ss_shape_type type);
ss_body_def ss_body_default(const char *name);
ss_joint_def ss_joint_default(ss_joint_type type, int body_a, int body_b);
ss_force_def ss_force_default(ss_force_type type);

ss_status ss_scene_add_material(ss_scene *scene, const ss_material_def *material, ss_error *error);
ss_status ss_scene_add_contact(ss_scene *scene, const ss_contact_def *contact, ss_error *error);
ss_status ss_scene_add_world_shape(ss_scene *scene, const ss_shape_def *shape, ss_error *error);
ss_status ss_scene_add_body(ss_scene *scene, const ss_body_def *body, ss_error *error); /* index: n_bodies - 1 */
ss_status ss_scene_add_joint(ss_scene *scene, const ss_joint_def *joint, ss_error *error);
ss_status ss_scene_add_force(ss_scene *scene, const ss_force_def *force, ss_error *error);

/* Inputs are used in expressions like parameters; ss_sim_set_input changes them. Names: letters, digits, '_'. */
ss_status ss_scene_add_input(ss_scene *scene, const char *name, double value, ss_error *error);
/* An output by its text: inputs, bodies and joints that it names must be there already. */
ss_status ss_scene_add_output(ss_scene *scene, const char *name, const char *text, ss_error *error);
/* An expression for applied forces, torques and motors of this scene, likewise; it lives as long as the scene. */
ss_status ss_scene_expression(ss_scene *scene, const char *text, const ss_expression **out, ss_error *error);

/* Index of the body with this name, SS_WORLD for "world", -2 if there is none. */
int ss_scene_find_body(const ss_scene *scene, const char *name);

/* Whether the scheme of this name is for contacts that give; such a scheme needs a compliant scene. */
bool ss_scheme_is_compliant(const char *name);

/* Whether the scene, one of its materials or one of its pairs says how contacts give. */
bool ss_scene_is_compliant(const ss_scene *scene);

/* Tables (name and one line of explanation per row, ended by NULL) behind `stickslip list`. */
/* The SS_EVENT_... of a kind of event by its name in scenes, `length` characters long; 0: there is none. */
unsigned ss_event_bit(const char *name, size_t length);

const ss_table_row *ss_table_schemes(void);
const ss_table_row *ss_table_joints(void);
const ss_table_row *ss_table_forces(void);
const ss_table_row *ss_table_shapes(void);
const ss_table_row *ss_table_laws(void);

#ifdef __cplusplus
}
#endif

#endif
