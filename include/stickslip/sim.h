/* Simulation: a model is compiled from a scene, a sim owns a state and advances it.
 *
 *     const ss_model *   immutable, shared by threads
 *     ss_state           time, positions, velocities, contact memory: copied, saved, restored
 *     ss_sim             model + state + options + workspace; ss_sim_step is the only thing that advances time */
#ifndef STICKSLIP_SIM_H
#define STICKSLIP_SIM_H

#include <stickslip/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_model ss_model;
typedef struct ss_sim ss_sim;

/* Compiles: checks masses, names, joints that must hold and bodies that must not overlap at t = 0. */
ss_status ss_model_create(const ss_scene *scene, ss_model **out, ss_error *error);
void ss_model_destroy(ss_model *model);

/* By number: NULL, NAN or false where there is none of this number. */
int ss_model_bodies(const ss_model *model);
int ss_model_coordinates(const ss_model *model);                 /* velocity coordinates of all bodies together */
int ss_model_joint_rows(const ss_model *model);                  /* scalar joint equations */
const char *ss_model_body_name(const ss_model *model, int body); /* "world" for SS_WORLD; systems: the gap's */
/* Whether two bodies that a joint holds together touch at the start, as neighbours with shapes around their joint do, and which:
 * the first such joint's. Their contacts are redundant with it, which costs time and may wedge them. */
bool ss_model_joined_touch(const ss_model *model, int bodies[2]);
double ss_model_body_mass(const ss_model *model, int body);
/* The joint that scalar joint equation `row` belongs to: its name, or "joint N". */
const char *ss_model_joint_row_name(const ss_model *model, int row);
/* Joints, inputs and outputs, in the order of the scene. A joint without a name is "joint N". find: -1 where there is none (of
 * bodies -2, and SS_WORLD for "world"). */
int ss_model_joints(const ss_model *model);
const char *ss_model_joint_name(const ss_model *model, int joint);
bool ss_model_joint_has_position(const ss_model *model,
                                 int joint); /* revolute, prismatic, cylindrical, screw, distance */
bool ss_model_joint_has_motor(const ss_model *model, int joint);
int ss_model_inputs(const ss_model *model);
const char *ss_model_input_name(const ss_model *model, int input);
double ss_model_input_default(const ss_model *model, int input);
int ss_model_outputs(const ss_model *model);
const char *ss_model_output_name(const ss_model *model, int output);
int ss_model_find_body(const ss_model *model, const char *name);
int ss_model_find_joint(const ss_model *model, const char *name);
int ss_model_find_input(const ss_model *model, const char *name);
int ss_model_find_output(const ss_model *model, const char *name);
/* The scene's name, and its text as it was read (NULL if built in C), for results that say where they come from. */
const char *ss_model_scene_name(const ss_model *model);
const ss_simulation *ss_model_simulation(const ss_model *model); /* the scene's own */
const char *ss_model_scene_text(const ss_model *model);

/* A touching contact that the next step must remember. */
typedef struct ss_touch {
  uint64_t key;       /* shape pair and feature */
  int hits;           /* collisions within the current step: bouncing that accumulates comes to rest */
  int hops;           /* those of them that did not bounce, or took no time */
  bool closed;        /* carries force, or would */
  bool stuck;         /* friction holds it */
  bool rests;         /* with all bodies of its island, since the start of a whole step (event/crowd.c) */
  int64_t face;       /* of a friction set that does not turn: which corners carry (scheme/friction_faces.c) */
  double impulse[3];  /* on the first body, world frame: warm start */
  double moment[3];   /* of torsion and rolling resistance, likewise */
  double force[3];    /* mean force of the last part in which it had one: impulses of impacts are not among them */
  unsigned held;      /* bits 1 and 2: friction holds spin, rolling */
  double moments[3];  /* 1 and 2: moments of spin and rolling over their limits */
  double load, ratio; /* mean normal force and friction over its limit, in the part of a step around... */
  double when;        /* ... this time: how they change tells when they reach zero and one */
  double turn[3];     /* acceleration of its slip by the forces of constraints, world frame */
  double grip;        /* and by its own friction alone, in size */
  int patch;          /* compliant contact: where its numbers start in ss_state.patch; -1: rigid */
  int n_patch; /* how many: deformations, then impulses, element by element in (normal, tangent, second tangent) */
  double tangent[3]; /* compliant contact: the patch's first tangent, world frame */
} ss_touch;

typedef struct ss_state {
  double t;
  long step;       /* steps done */
  double *q;       /* 7 per body: position of the centre of mass, orientation w x y z; systems: the coordinates */
  double *v;       /* velocity coordinates, body after body */
  double *angle;   /* joint angles, counted beyond a full turn: what q alone does not tell */
  ss_touch *touch; /* ordered by key */
  int n_touch, touch_capacity;
  double *patch; /* deformations and impulses of all patches */
  int n_patch, patch_capacity;
} ss_state;

/* Options start from the scene's own `simulation` section. */
ss_status ss_sim_create(const ss_model *model, const ss_simulation *options, ss_sim **out, ss_error *error);
void ss_sim_destroy(ss_sim *sim);

/* Advances by one step (shorter if the duration ends before; with a tolerance, of a size of its own choice). SS_ERROR_UNCERTIFIED: the state is the one before. */
ss_status ss_sim_step(ss_sim *sim, ss_error *error);
/* Asked before every problem that a step solves, and between the solvers that are tried: where it says true, ss_sim_step returns SS_ERROR_STOPPED, and the state is the
 * one before the step. NULL: never, the default. */
void ss_sim_stop_when(ss_sim *sim, bool (*stop)(void *user), void *user);
bool ss_sim_done(const ss_sim *sim);        /* duration reached */
long ss_sim_steps_total(const ss_sim *sim); /* with automatic steps: the least that there can be */
/* Size of the step whose forces the contacts report: the last one, or with automatic steps its last part. */
double ss_sim_step_size(const ss_sim *sim);
double ss_sim_step_start(const ss_sim *sim); /* when the last step began */

const ss_model *ss_sim_model(const ss_sim *sim);
const ss_simulation *ss_sim_options(const ss_sim *sim);
const ss_state *ss_sim_state(const ss_sim *sim);

/* The body's own frame (not its centre of mass), as in the scene file. */
typedef struct ss_motion {
  ss_pose pose;
  ss_vec3 velocity, angular_velocity; /* world frame */
} ss_motion;
ss_motion ss_sim_motion(const ss_sim *sim, int body);

/* ---- driving a simulation between steps (docs/inputs-and-outputs.md) ---- */

/* Inputs of the scene: a value holds until it is changed, in all steps that follow. SS_ERROR_INPUT: no such input, or the value
 * is not finite. Outputs are evaluated at the present state; NAN where there is no such output, or the expression says so. */
ss_status ss_sim_set_input(ss_sim *sim, int input, double value, ss_error *error);
ss_status ss_sim_set_input_named(ss_sim *sim, const char *name, double value, ss_error *error);
double ss_sim_input(const ss_sim *sim, int input);
double ss_sim_output(const ss_sim *sim, int output);
ss_status ss_sim_output_named(const ss_sim *sim, const char *name, double *value, ss_error *error);

/* The coordinate of a joint's free direction: an angle, counted beyond full turns, a displacement or a distance; its rate; what
 * its motor gave in the last step, on the average (0 without a motor). NAN: the joint has no such coordinate. */
typedef struct ss_joint_report {
  double position, speed, force;
  ss_vec3 reaction,
      moment; /* of its equations on the first body, mean over the last step: world frame, about the anchor */
} ss_joint_report;
/* reaction and moment cost more than the rest and need memory where joints are redundant; SS_ERROR_MEMORY. */
double ss_sim_joint_position(const ss_sim *sim, int joint);
double ss_sim_joint_speed(const ss_sim *sim, int joint);
double ss_sim_joint_force(const ss_sim *sim, int joint);
ss_status ss_sim_joints(const ss_sim *sim, ss_joint_report *out, int capacity, ss_error *error); /* all of them */

/* A force at the origin of the body's frame and a torque, world frame, in the next step only. Those of one body add up. */
ss_status ss_sim_apply(ss_sim *sim, int body, ss_vec3 force, ss_vec3 torque, ss_error *error);

/* Puts the n listed bodies where they are told (poses and velocities of their frames); the others stay. SS_ERROR_INPUT, and
 * nothing has changed, where joints would not hold then, shapes would overlap, or a body would move along a coordinate that it
 * does not have. The ledger books the change of energy as work; contacts are found anew. */
ss_status ss_sim_place(ss_sim *sim, int n, const int *bodies, const ss_motion *motions, ss_error *error);

/* Weighted velocity alpha v+ + (1 - alpha) v of the last step (MDI (4.10)); after a collision the velocity itself. */
const double *ss_sim_weighted_velocity(const ss_sim *sim);

/* Signed residuals of all scalar joint equations at the present position (lengths or sines of angles). */
void ss_sim_joint_residuals(const ss_sim *sim, double *residuals);
/* Rank of the joint rows at the present position: coordinates - rank are the degrees of freedom, rows - rank are
 * redundant. -1: out of memory. */
int ss_sim_joint_rank(const ss_sim *sim);
/* max |nu^T v| over the joint rows: how far the present velocities are from respecting the joints. */
double ss_sim_joint_velocity_residual(const ss_sim *sim);

/* Impulses of all scalar joint equations over the last step, on the first body (docs/joints.md has their directions);
 * where joints are redundant, the ones of least norm. */
ss_status ss_sim_joint_impulses(const ss_sim *sim, double *impulses, ss_error *error);

/* A hand on a body: a spring (and damper) from a point of it to a point of the world. It acts in all steps until it is
 * changed, as an applied force: explicit in time, so that stiffness (step / 2)^2 must stay below the mass that it moves.
 * Its work is part of the ledger's. Checkpoints do not save it. */
typedef struct ss_pull {
  int body;
  ss_vec3 point;             /* in the body's own frame */
  ss_vec3 target;            /* world frame */
  double stiffness, damping; /* not negative */
} ss_pull;
ss_status ss_sim_pull(ss_sim *sim, const ss_pull *pull, ss_error *error); /* NULL: let go */

/* Goes on from where another simulation is: its time, and positions and velocities of the bodies' frames. The models may
 * differ, but SS_ERROR_INPUT where the state would not do for this one: other bodies, coordinates or joints, joints that
 * would not hold there, shapes that would overlap. Then the state stays what it was. Ledger and certificate start anew. */
ss_status ss_sim_adopt(ss_sim *sim, const ss_sim *from, ss_error *error);

/* Contacts with the forces of the last step. */
typedef struct ss_contact_report {
  int body[2];           /* systems: the gap and SS_WORLD; its vectors are (normal, first, second friction direction) */
  ss_vec3 point, normal; /* world frame, at the start of the last (part of the) step; normal from body[1] to body[0] */
  double gap;
  ss_vec3 impulse; /* on body[0], world frame, over the last step with all its impacts */
  bool stuck;
  double friction; /* coefficient */
  ss_vec3 tangent; /* compliant contact: first tangent of its patch's frame, world frame; else zero */
} ss_contact_report;
/* Those that hold now, then those that were hit in the last step and are gone. Within a step, to observers of its problems,
 * those of the problem, with its impulses. */
int ss_sim_contacts(const ss_sim *sim, ss_contact_report *out, int capacity);

/* One element of a compliant contact's patch, in the patch's frame (normal, first tangent, second tangent). */
typedef struct ss_element_report {
  double place[2];       /* from the contact point, along the tangents */
  double deformation[3]; /* by how much the surfaces give */
  double force[3];       /* on body[0] of the contact */
  double slip[2];        /* relative velocity of the surfaces */
  bool closed;
  bool stuck; /* closed, without slip, and its friction is below the limit: an element that has slipped stays at it */
} ss_element_report;
/* The elements of the index-th contact that ss_sim_contacts lists; 0 where it is rigid. */
int ss_sim_elements(const ss_sim *sim, int contact, ss_element_report *out, int capacity);

/* Applied forces (those of the scene, in its order; not a hand's) at the present time, world frame. */
typedef struct ss_applied_report {
  int body;
  ss_vec3 point; /* where the force acts */
  ss_vec3 force, torque;
} ss_applied_report;
int ss_sim_applied(const ss_sim *sim, ss_applied_report *out, int capacity);

/* Steps with at most this many threads (default 1), which sleep between them; results are the same to the last bit. Many simulations at
 * once are better off with one each. */
ss_status ss_sim_use_threads(ss_sim *sim, int threads, ss_error *error);

/* Wall time of the stages of all steps so far, where it was asked for: looking at the clock costs a little. */
typedef enum ss_stage {
  SS_STAGE_SEARCH,  /* broad and narrow phase, active set */
  SS_STAGE_ROWS,    /* forces, rows, discretisation */
  SS_STAGE_SOLVE,   /* complementarity solver and judge */
  SS_STAGE_ADVANCE, /* positions and velocities */
  SS_STAGE_EVENTS,  /* impacts and what is located inside a step; without the problems that are solved again for it */
  SS_STAGE_OBSERVE, /* ledger, certificate, contact memory, stabilisation, recorders */
  SS_STAGE_AUDIT,   /* overlaps looked for independently (docs/verdict.md) */
  SS_STAGES
} ss_stage;
const char *ss_stage_name(ss_stage stage);
void ss_sim_time_stages(ss_sim *sim, bool on);
const double *ss_sim_stage_seconds(const ss_sim *sim); /* [SS_STAGES]; NULL: not asked for */

/* ---- what a run is worth: maxima and sums over all steps so far ---- */

/* Why a run whose steps are all certified may still be wrong, each with a number (docs/verdict.md). */
typedef enum ss_doubt {
  SS_DOUBT_OVERLAP,     /* shapes overlap that no contact row held: worst depth */
  SS_DOUBT_PENETRATION, /* contacts overlap by more than a share of the smallest body's size: length */
  SS_DOUBT_JOINT_DRIFT, /* joints have come apart by more than that: length */
  SS_DOUBT_ENERGY,      /* more than a share of the run's energy came from nowhere: energy */
  SS_DOUBT_PATCH,       /* a compliant contact is larger than its patch: its radius over half the patch's width */
  SS_DOUBT_PRESSED_IN, /* compliant bodies give so much that nothing keeps them from passing through each other: length */
  SS_DOUBT_ROUNDING,   /* bodies so far away that steps are lost in the last digits of their positions: length */
  SS_DOUBT_NOT_FINITE, /* the next state would not be finite: its time */
  SS_DOUBTS
} ss_doubt;
typedef struct ss_doubt_info {
  const char *code;    /* as in run --json */
  const char *meaning; /* of the number */
  const char *advice;  /* what to change */
} ss_doubt_info;
const ss_doubt_info *ss_table_doubts(void); /* one row per ss_doubt, then one without a code */

typedef struct ss_certificate {
  double complementarity; /* judge's residual, MATH section 5 */
  double penetration;     /* max(-gap), lengths */
  double joint_drift;     /* max |joint residual| */
  double cone;            /* friction outside its cone */
  double dissipation;     /* maximum-dissipation defect */
  double selection;      /* how far impulses of redundant contacts were from even ones, ss_cp_judge_selection: 0 to 1 */
  double energy_created; /* energy beyond initial + work; and by impacts, added up */
  bool certified;        /* every step's residual was within the tolerance */
  bool sound;            /* nothing speaks against the run: no doubts */
  double doubts[SS_DOUBTS]; /* the number of each doubt; 0: none */
} ss_certificate;

/* final = initial + work - friction_loss - impact_loss - damping_loss + stabilization + remainder */
typedef struct ss_energy {
  double initial, final;
  double kinetic, potential, elastic; /* parts of final */
  double work, friction_loss, impact_loss, damping_loss, remainder;
  /* Part of the remainder: what springs too stiff for the step to resolve store and dissipate beyond the work done on them. Their rows are
   * linear in a step, and one that turns in it is stretched by O(h^2); times the stiffness that is an energy which no motion ever has. */
  double linearization;
  double stiff_elastic, stiff_damping; /* their part of elastic and of damping_loss */
  double stabilization;                /* what pulling positions and velocities back has added */
} ss_energy;

typedef enum ss_event_kind {
  SS_COLLISION,
  SS_STICK,
  SS_SLIP,
  SS_TAKE_OFF,
  SS_LIMIT_HIT,
  SS_SPIN_END,   /* torsion has stopped the spin about the normal */
  SS_ROLL_END,   /* rolling resistance has stopped the rolling */
  SS_FACET,      /* other corners of a fixed friction polygon carry */
  SS_SPIN_BEGIN, /* the moment about the normal has reached its limit: spin begins */
  SS_ROLL_BEGIN, /* the moment against rolling has */
  SS_EVENT_KINDS
} ss_event_kind;
const char *ss_event_name(ss_event_kind kind);

typedef struct ss_event {
  double t;
  ss_event_kind kind;
  int body[2];           /* systems: the gap and SS_WORLD */
  double energy_created; /* collisions: kinetic energy after minus before, where positive */
} ss_event;

typedef struct ss_solves {
  long count, iterations, fallbacks, cuts;
  long outer;           /* iterated schemes: problems per fixed point, added up */
  long not_contracting; /* parts whose fixed point was not found: the linearised problem stood in */
  long unconverged;     /* compliant-theta: parts cut because the outer iteration did not converge */
  long newton_fails;    /* impacts in which Newton's law of restitution has no solution: they followed Poisson's */
  long unreturned;      /* impacts whose decompression has no certified solution: they ended with the compression */
  long
      passed_on; /* impacts that went on through touching bodies with restitution: their law decides about all of them at once */
  long
      split_blows; /* schemes at position level, with friction: contacts that closed on a body which already pressed on another */
  long calmed;        /* parts in which bodies of a crowd that hardly move were stopped (schemes with alpha < 1) */
  long rows;          /* of the problems that were counted, added up */
  long impacts;       /* instants at which something collided */
  double contraction; /* largest ratio of successive changes in fixed points that were found */
  double seconds;     /* wall time inside the complementarity solver */
} ss_solves;

/* Automatic step size: how often steps were accepted and rejected, and what they were. */
typedef struct ss_steps {
  long accepted, rejected;
  double smallest, largest;
} ss_steps;

/* How many steps are audited follows from what audits and steps take, predicted from counts, in nanoseconds of a usual machine: all
 * audits, all steps, the last audit and its part for meshes and height fields. */
typedef struct ss_audit_account {
  double audits, steps, last, surfaces;
} ss_audit_account;

typedef struct ss_report {
  ss_certificate certificate;
  ss_steps steps;
  ss_energy energy;
  ss_solves solves;
  long events[SS_EVENT_KINDS];                   /* how many of each kind */
  long contacts_maximum;                         /* at the ends of steps and in impacts */
  double contacts_mean;                          /* at the ends of steps */
  double velocity_variation, weighted_variation; /* sums of |v+ - v| over all steps, 2-norm over the coordinates */
  /* Largest work of all joint and contact impulses on the weighted velocity in a part of a step. The energy estimates of
   * the theorems rest on its never being positive (MDI (5.2), LIT (9.4)): it is, up to rounding, unless the problem
   * itself pushes penetrating bodies apart. */
  double constraint_work;
  /* Largest excess of a part of a step over the bound of LIT Theorem 9.1; at most rounding where it holds. NAN where its
   * assumptions do not: another scheme, exact Jacobians, bodies that turn freely, systems. */
  double energy_excess;
  /* Smallest c >= 0 with v.Mv <= max(v0.Mv0, |q0| + 1) e^(c t) at the end of every step so far (MDI Theorem 5.1) */
  double kinetic_growth;
  double created_by_impacts; /* energy: the sum over all impacts after which there was more than before */
  double created_by_forces;  /* energy: largest excess so far over start and work, losses counted back */
  long audits;               /* steps whose positions were audited (docs/verdict.md) */
  ss_audit_account audit_work;
  ss_event overlap;       /* the worst overlap that an audit found: when, between which bodies */
  double energy_scale;    /* largest energy of the motion so far, and largest work, without what was created */
  double potential_start; /* at t = 0 */
  double worst_penetration, worst_drift; /* as the certificate's, with angles as lengths: times body_size */
  double body_size;                      /* of the smallest body: the smallest width of its thickest shape */
  double rounded;                        /* length: what positions may have been rounded by so far, at most */
  double patch_filling;     /* compliant schemes: largest radius of a contact over half the width of its patch */
  double patch_rolled;      /* scheme compliant: way by which rolling has pressed outer elements in, added up... */
  double patch_deformation; /* ... and the largest normal deformation of an element */
} ss_report;
const ss_report *ss_sim_report(const ss_sim *sim);

/* Observers are called after every step, for every event as it happens, and with the complementarity problem of every part
 * of a step before its solution z is applied (at the part's start, ss_sim_state still says when; the last blocks are those of
 * the contacts, in the order of ss_sim_contacts). Functions that are NULL are not called. */
typedef struct ss_observer {
  void *user;
  ss_status (*step)(void *user, const ss_sim *sim, ss_error *error);
  void (*event)(void *user, const ss_sim *sim, const ss_event *event);
  ss_status (*problem)(void *user, const ss_sim *sim, const ss_cp *problem, const double *z, ss_error *error);
  bool (*keeps)(void *user,
                const ss_sim *sim); /* whether it records the step that has ended; it is audited then. NULL: no */
} ss_observer;
ss_status ss_sim_observe(ss_sim *sim, const ss_observer *observer, ss_error *error);

/* Writes the complementarity problem that was posed last, solved or not, to a file; it has no rows where nothing touched and
 * no joint held. */
ss_status ss_sim_write_problem(const ss_sim *sim, const char *path, ss_error *error);

#ifdef __cplusplus
}
#endif

#endif
