/* What a sim owns. Each field says its shape and the stage that computes it; the stages are in the order of step.c. */
#ifndef SS_STEP_WORKSPACE_H
#define SS_STEP_WORKSPACE_H

#include "contact/contact.h"
#include "contact/limits.h"
#include "la/sparse_lu.h"
#include "model/joint.h"
#include "model/row.h"
#include "scheme/scheme.h"
#include "step/mechanics.h"

/* G by its rows without zeros. */
typedef struct ss_listed {
  int *start;    /* [n + 1] */
  int *col;      /* [capacity] */
  double *value; /* [capacity] */
  int row_capacity, capacity;
  ss_sparse matrix; /* a view of them */
} ss_listed;

typedef struct ss_problem {
  int n, n_blocks, capacity, block_capacity; /* capacity: rows that the arrays below can hold */
  int n_joint, n_free; /* rows 0 .. n_joint-1: joints; then stiff forces; from n_free on: contacts */
  ss_row *rows;        /* [n] rows: gradients J */
  double *numbers;     /* the memory of all arrays of numbers below */
  double *offset;      /* [n] rows: s in  w = J va + s + R z */
  double *compliance;  /* [n] rows: R, zero for rigid rows */
  double *pushed;      /* [n] rows: the part of the offset that pushes a position back onto its constraint */
  double *w;           /* [n][12] discretise: A^-1 J^T, packed per side like the rows; systems: [n][n_v] */
  double *dense;       /* [n][n_v] rows: the gradients' numbers, systems only */
  double *drive;       /* [n] rows: velocities of constraints that move by themselves, part of offset; systems only */
  double *G, *g;       /* [n][n], [n] discretise; G only where the problem is not sparse */
  size_t G_capacity;   /* numbers */
  ss_listed listed;    /* discretise: G of a large problem */
  bool large;          /* discretise: many rows, among them contacts: G is listed */
  bool sparse;         /* discretise: joints and stiff forces alone, and many: G is in the sim's lu */
  double alpha;        /* discretise: weight of v+ */
  bool structured;     /* solve: by the structure of patches, without G */
  bool divided;        /* discretise: contacts alone, in islands; G is not assembled as a whole */
  double *z;           /* [n] rows: guess from the last step; solve: the multipliers */
  double *slack;       /* [n] solve: w = G z + g by the judge */
  double *scale;       /* [n] solve: d of the natural units */
  double *weight;      /* [n] solve: compliances that choose between redundant impulses, in natural units */
  int *next_row;       /* [n][2] discretise: next (row, side) that touches the same body, or -1 */
  ss_block *blocks;    /* [n_blocks] rows */
  int first_motor;     /* rows: where the motors' rows start */
  int first_contact;   /* and the contacts' */
  double h;            /* size of the step it belongs to; 0: an impact */
  double blur, unit;   /* solve: what the slacks are worth, in natural units, and that unit */
} ss_problem;

/* Solve: one island of the problem after the other (step/solve_islands.c). */
typedef struct ss_islands {
  int *body; /* [2 n_bodies] which body stands for a connected set of them, and that set's number */
  int count;
  int *island;      /* [n_blocks] */
  int *order;       /* [2 n_blocks + 1] the blocks by their islands; where each island starts */
  bool *rests;      /* [count] its bodies are at rest with the guess, and stay there (event/crowd.c) */
  double *work;     /* [2 n_blocks] event/crowd.c: of each island with the guess; from n_blocks on, with the solution */
  ss_block *blocks; /* of the island in hand, as are those below */
  int *row;         /* [3 n + 1] its rows in the problem; the problem's rows in it; where its matrix's lines start */
  double *g;        /* [4 n] g; from n on z; from 2 n on w; from 3 n on weights */
  double *G;
  int *col;
  ss_sparse matrix;
  int body_capacity, block_capacity[5], row_capacity[2], G_capacity[2];
} ss_islands;

/* Solve: the matrix of a large problem, or of an island of it, as factors (step/factors.c). */
typedef struct ss_factors {
  int *column;   /* [2 n_bodies + 1] first column of each body, or -1; then those of the bodies that are touched */
  double *A;     /* their blocks */
  int *start;    /* [2 n + 2] where the rows of J start, then those of R */
  int *col;      /* [12 n] J's columns */
  double *value; /* [13 n] J's numbers, then R's */
  int body_capacity[2], row_capacity[3];
  ss_cp_operator operator; /* a view of them */
} ss_factors;

/* Bodies that forces with exact Jacobians couple: one dense block of A for all of them (scheme/coupling.c). */
typedef struct ss_coupling {
  int n;               /* coordinates in the block; 0: no such force */
  int *offset;         /* [n_bodies] where a body's coordinates start in it, or -1 */
  bool by_default;     /* forces that do not say otherwise are among them */
  bool active;         /* in this part of the step */
  double *a, *inverse; /* [n][n] */
  double *vector;      /* [n] scratch */
  double *w;           /* [problem.n][n] discretise: coupled part of A^-1 J^T */
  int w_capacity;
} ss_coupling;

/* The joints' scalar equations that are posed; the others follow from them (step/basis.c). */
typedef struct ss_basis {
  int n;         /* all n_joint_rows of them where none is redundant */
  int *row;      /* [n] ascending */
  bool *posed;   /* [n_joint_rows] */
  ss_row *rows;  /* [n_joint_rows] scratch: all rows */
  double *drive; /* [n_joint_rows] scratch: their prescribed velocities, systems only */
} ss_basis;

/* Bodies that joints connect, not through the world. */
typedef struct ss_mechanism {
  bool jointed, grounded; /* a joint holds it to the world */
  double lacks, rounding; /* hold: energy that it had before; what of that is not known */
} ss_mechanism;

/* A closed contact while joints are corrected. */
enum { SS_MOST_PRESSING = 32 };
typedef struct ss_pressing {
  const ss_contact *contact;
  double gap, rate;          /* kept */
  ss_vec3 normal, direction; /* of the row, and of w */
  ss_row row;
  double w[12];    /* M^-1 row^T */
  double *coupled; /* [basis.n] (nu M^-1 nu^T)^-1 nu M^-1 row^T */
  bool free;       /* follows from the others */
  double off, y;   /* deviation, multiplier */
} ss_pressing;

/* Stabilisation `exact` (step/exact.c); the arrays are of bodies only. */
typedef struct ss_exact {
  bool on;
  bool residuals_known;     /* hold: the sim's residuals are those of the present position */
  int n;                    /* mechanisms */
  ss_mechanism *mechanisms; /* [n] */
  int *mechanism;           /* [n_bodies] of the body, or -1 */
  int *first;               /* [n_bodies] first body of the same set */
  ss_row *rows;             /* [basis.n] hold: gradients of the posed equations, */
  double *w;                /* [basis.n][12] M^-1 nu^T, */
  double *residual, *z;     /* [basis.n] residuals and multipliers */
  double *unit;             /* [n_joint_rows] what makes lengths of residuals */
  double *modes;            /* [6][n_v] motions as one rigid body */
  double *q, *v;            /* [n_q], [n_v] where the correction began */
  ss_pressing *pressing;    /* [n_pressing] contacts that keep their gaps */
  int n_pressing;
  double
      schur[SS_MOST_PRESSING * SS_MOST_PRESSING]; /* hold: Cholesky factors of what is left of them beside the joints */
  ss_lu lu;                                       /* of nu M^-1 nu^T */
  ss_lu_row *lu_rows;                             /* [basis.n] */
} ss_exact;

/* What a contact has given to the bodies in this step (contact/dealt.c). */
typedef struct ss_dealt {
  uint64_t key;
  int order; /* the later, the larger */
  bool gone; /* when the step is done */
  ss_contact_report report;
} ss_dealt;

/* Automatic step size (step/automatic.c): what the next step goes by. */
enum { SS_PAST = 3 };
typedef struct ss_control {
  double next;          /* size of a solved part to be tried */
  double last_ratio;    /* error of the last accepted step over the tolerance, not too small */
  double size[SS_PAST]; /* of the parts before, the latest first */
  int known;            /* how many of them belong to one smooth motion */
  bool broken;          /* which an event has ended since */
  int transitions;      /* parts that ended in one since a step did without an event */
  int since_stop;       /* steps since the last multiple of the largest step */
} ss_control;

struct ss_sim {
  ss_arena *arena;
  const ss_model *model;
  ss_simulation options;
  const ss_scheme *scheme;
  const ss_mechanics *mechanics; /* of bodies, or of a system */
  struct ss_system_work *system; /* systems only, else NULL */
  double alpha, gamma;           /* weights of the part in hand: the scheme's, or those of a crowd (event/crowd.c) */
  double scheme_alpha, scheme_gamma;
  int iteration_limit; /* of the solver; 0: its own choice */
  bool automatic;      /* the solver is not prescribed: linear problems may be solved sparse */
  ss_friction_table
      polytope[3][2][2];  /* polyhedral cone with moments: by the number of forces, torsion or none, rolling or none */
  unsigned located;       /* SS_EVENT_...: what is located inside a step */
  bool locate_collisions; /* the first of them */
  bool solves_to_collisions; /* parts that end in a collision are solved for their own length */
  ss_state state;
  ss_report report;
  long steps_total;

  /* One step. */
  double h;             /* its full size */
  double last_attempt;  /* size of the part solved last, to which delta belongs; 0: delta is an impact's */
  long looks;           /* pairs searched and gaps followed in this step: its work, beside the solver's */
  int tried;            /* solvers in this step */
  bool spent;           /* more than a step may try whose energy has blown up */
  bool not_finite;      /* where the last part would have led */
  bool exhausted;       /* too many parts, or an impact without solution: the rest of the step locates nothing */
  double push;          /* share of their drift that they take back in that time, in this part (step/push.c) */
  bool newton_fails;    /* impact: Newton's law has no solution in it, Poisson's is followed */
  bool calmed;          /* the problem stops bodies at rest (event/crowd.c) */
  bool calm_fails;      /* not in this part: it would give them energy */
  bool dense;           /* the part is a crowd's whole step (event/crowd.c) */
  bool overlooked;      /* and shapes end in each other by features that it could not hold: it is too long */
  bool *touched;        /* [n_bodies] rows: has contacts in the problem */
  bool *rests;          /* [n_bodies] solve: at rest, and stays there */
  bool starts;          /* nothing of the step has happened yet */
  bool settling;        /* the impact that comes is one of closed contacts only: nothing is returned */
  double landing_speed; /* what lands more slowly in this part is not located; 0: everything is */
  int transitions;      /* parts of this step that ended in one; after too many the problem alone decides */
  double acceleration;  /* begin_step: of gravity, or of what drives the gaps of a system */
  double speed_bound;   /* no point of a moving shape is assumed faster; checked after the solve */
  ss_candidates all;    /* every pair, where they are few */
  ss_candidates near;   /* broad phase: those that may touch in this step */
  bool few_pairs;
  bool bounded;         /* broad phase: the bounds are known */
  ss_found found;       /* narrow phase: what it found last */
  double *bounds;       /* [n_shapes][6] broad phase */
  double *listed;       /* [n_shapes][6] broad phase: the bounds that `near` was listed for */
  bool listed_in_step;  /* in this step */
  int *order;           /* [n_shapes] broad phase: sorted along one axis; and as many of working space */
  int axis;             /* this one: 0, 1, 2 */
  ss_contact *contacts; /* [n_contacts] narrow phase, active set */
  int n_contacts, contact_capacity, n_active;
  ss_dealt *dealt; /* [n_dealt] parts and impacts; ordered by key when the step is done */
  int n_dealt, dealt_capacity;
  bool all_dealt;       /* the step is done */
  double *mid_q;        /* [n_q] rows */
  const double *grad_q; /* rows: positions where gradients of joints, limits and motors are taken; when */
  double grad_t;
  const double *iterate_v,
      *iterate_q;                  /* iterated schemes: latest v+ and q+, about which rows are linearised; else NULL */
  double *iterate_memory;          /* [n_v + n_q] */
  const double *force_q, *force_v; /* where forces are evaluated: the state, or the theta state */
  double *theta_q, *theta_v;       /* [n_q], [n_v] outer iteration: theta x + (1 - theta) x+ */
  double *guess;                   /* [n_v] outer iteration: v+ - v of the iterate before */
  ss_problem problem;
  int *first_row;                  /* [n_bodies] discretise: first (row, side) that touches the body, or -1 */
  struct ss_patch_entry *patches;  /* laws of pairs, made when first needed (patch/pair_law.c); compliant schemes */
  double *patch_start, *patch_end; /* [n_patch] narrow phase, advance: deformations and impulses of the contacts */
  int n_patch, patch_capacity[2];
  double *ainv;                           /* [n_bodies][36] forces: inverse of A's blocks (n x n) */
  ss_coupling coupling;                   /* forces */
  bool definite;                          /* forces: A is positive definite with its full Jacobians, which are used */
  double *kt;                             /* [n_v] forces: impulses of forces */
  double *applied;                        /* [n_v] forces: the part of kt that applied forces give */
  double *dv_free;                        /* [n_v] forces: A^-1 kt */
  double *delta;                          /* [n_v] advance: v+ - v */
  double *v_end;                          /* [n_v] advance: v+ */
  double *q_end;                          /* [n_q] advance: q+ */
  double *link_balance;                   /* [n_forces] ledger: of stiff links, until the state has moved */
  double *scratch_v;                      /* [n_v] events */
  double *consistent;                     /* [2 n_v] events: velocities at the ends of the part */
  double *weighted;                       /* [n_v] observe: alpha v+ + (1-alpha) v */
  double *previous_weighted, *previous_v; /* [n_v] observe */
  double *joint_impulse;                  /* [n_joint_rows] parts and impacts: multipliers added up over the step */
  double *residuals;                      /* [n_joint_rows] observe */
  double *drift_length;                   /* [n_joint_rows] start: what makes a length of a residual */
  double *free_guess;   /* [n_joint_rows + n_forces + n_motors] multipliers of the last problem's joints,
                                           * stiff forces and motors, where the next one starts */
  double kinetic_scale; /* max(v0.Mv0, |q0| + 1) */

  /* The start of the step, restored if it fails. */
  double *q_saved, *v_saved, *angle_saved;
  ss_touch *touch_saved;
  int n_touch_saved, touch_saved_capacity;
  double *patch_saved;
  int n_patch_saved, patch_saved_capacity;
  ss_report report_saved;
  double t_saved;

  ss_control control, control_saved;
  double *past,
      *past_saved;      /* [SS_PAST + 1][n_v] automatic: mean velocities of the parts before, the latest first, and the
                              * change of velocity in the latest */
  double drift_time;    /* in which joints and contacts take back their drift (scheme/rows.c) */
  bool stops_at_events; /* the step ends with its first part */
  double *whole_q;      /* [7 n_bodies] automatic: where the whole step ends */
  bool quiet, kept_quiet; /* observers hear nothing; there was something to hear */

  bool (*stop)(void *user); /* ss_sim_stop_when */
  void *stop_user;

  struct ss_audit *audit; /* looks for contacts that were missed (observe/audits.c); NULL: there are no shapes */
  const int *blind;       /* for tests: two shapes whose contacts the search loses; NULL */

  bool timed; /* the clock is looked at between the stages */
  double clock, stage_seconds[SS_STAGES];

  struct ss_weak *weak;            /* watches the parts, where not NULL (observe/weak.c) */
  struct ss_variation *variation;  /* carried along, where not NULL (sensitivity/variation.h) */
  bool jammed, arrested, released; /* the part ends in a jam; where slip ends; where sticking or contact does */
  int hit;                         /* contact whose collision ends the part, or -1 */
  bool refined;                    /* and the part was solved again for its own length */

  ss_pull pull; /* applied while pulled */
  bool pulled;
  double *input;         /* [n_inputs] */
  double *held;          /* [n_held] begin of a step: expressions that depend on the state */
  double *motor_impulse; /* [n_motors] parts: added up over the step */
  double *push_force;    /* [n_bodies][6] ss_sim_apply: force and torque */
  bool has_push_force;

  ss_basis basis;
  ss_exact exact;
  ss_islands islands;
  ss_factors factors;
  ss_cp_workspace *cp;
  ss_lu lu[2]; /* discretise: G of a sparse problem; solve: its factors. Of steps, and of impacts and projections */
  ss_lu_row *lu_rows; /* [lu_capacity] discretise */
  int lu_capacity;
  ss_observer observers[8];
  int n_observers;
};

/* ---- the stages, in the order in which step.c calls them ---- */

ss_status ss_broad_phase_prepare(ss_sim *sim, ss_error *error); /* once */
ss_status ss_broad_phase(ss_sim *sim, double h, ss_error *error);
bool ss_bounds_meet(const ss_sim *sim, const int shape[2]);
ss_status ss_narrow_phase(ss_sim *sim, double h, ss_error *error); /* after it */
/* Features that overlap by more than `deep` at positions q_end and are not among the contacts join them, as they are at the start
 * of the part; how many. */
ss_status ss_add_features(ss_sim *sim, const double *q_end, double deep, int *added, ss_error *error);
ss_status ss_limits_append(ss_sim *sim, ss_error *error); /* as contacts */
void ss_active_set(ss_sim *sim, double *speed_tolerance, bool *collides_now);
ss_status ss_rows_step(ss_sim *sim, double h, ss_error *error);
void ss_keep_guess(ss_sim *sim); /* free_guess, from the problem as it stands */
ss_status ss_rows_impact(ss_sim *sim, ss_error *error);
ss_status ss_rows_projection(ss_sim *sim, bool again, ss_error *error);
ss_status ss_discretise(ss_sim *sim, double alpha, ss_error *error);
void ss_spread(ss_sim *sim, double alpha);           /* its part without G: A^-1 J^T and g */
ss_status ss_assemble(ss_sim *sim, ss_error *error); /* its last part: G as a whole, in one of its forms */
/* From forces to advance, once; and the theta rule's outer iteration around that. */
ss_status ss_attempt_once(ss_sim *sim, double h, bool *certified, ss_error *error);
ss_status ss_attempt_theta(ss_sim *sim, double h, bool *certified, ss_error *error);
ss_status ss_solve(ss_sim *sim, bool *certified, ss_error *error);
void ss_advance(ss_sim *sim, double h);
/* Whether the part's problem pushes positions back; the same part solved again with less of it where that is violent. */
bool ss_pushes(const ss_sim *sim);
ss_status ss_push_gently(ss_sim *sim, double h, bool *certified, ss_error *error);
/* Solves a part of size h and computes where it ends. */
ss_status ss_attempt(ss_sim *sim, double h, bool *certified, ss_error *error);
/* The same for schemes whose problem is posed at its own solution. */
ss_status ss_attempt_iterated(ss_sim *sim, double h, bool *certified, ss_error *error);
/* Shorten the part, and solve it again, so that it ends right after a jam, where slip ends, where sticking or contact
 * ends. */
ss_status ss_locate_jam(ss_sim *sim, double *h, bool *certified, ss_error *error);
ss_status ss_locate_arrest(ss_sim *sim, double *h, bool *certified, ss_error *error);
ss_status ss_locate_release(ss_sim *sim, double *h, bool *certified, ss_error *error);
/* Notes which contacts' spin and rolling end with the solved part; tells it once the state is there. */
double ss_crossing(double before, double when_before, double now, double when, double limit, double h);
void ss_note_ends(ss_sim *sim);
void ss_tell_ends(ss_sim *sim);
/* Beginnings of spin and rolling (event/break_away.c): which motions friction holds, w: the contact's slacks; whether a held one is let go, or its share of what
 * friction can hold has reached `limit`;
 * where in a part of size h one will be; telling it. */
void ss_note_held(const ss_sim *sim, ss_contact *contact, const double *w);
bool ss_moments_let_go(const ss_contact *contact, double limit);
double ss_moments_foreseen(const ss_sim *sim, const ss_contact *contact, double h);
void ss_tell_beginnings(ss_sim *sim, const ss_contact *contact);
/* Earliest collision in (0, h]; h if there is none. Gentle landings are only noted, unless all are to be located. */
double ss_first_collision(ss_sim *sim, double h, bool locate_all, bool *found);
/* Gentle landings (event/crowd.c): the part's limit; whether a contact without restitution to speak of is below it at this
 * rate of its gap; what its row asks for; those that would land before `until` get rows, their number is returned. */
void ss_landing_begin(ss_sim *sim);
double ss_landing_speed(const ss_sim *sim, const ss_contact *c);
bool ss_lands_gently(const ss_sim *sim, const ss_contact *c, double rate);
double ss_landing_offset(const ss_sim *sim, double gap, double rate, double h);
bool ss_settles(const ss_sim *sim, const ss_contact *c); /* at the start of a step */
int ss_hold_landings(ss_sim *sim, double until);
/* A whole step of a crowd at once: whether it is so dense; whether something closes in it; weights, contacts and restitution of
 * the part; solves it; what the row of a contact's normal asks for. */
bool ss_crowd_is_dense(const ss_sim *sim, double h);
bool ss_crowd_collides(const ss_sim *sim, double h);
void ss_crowd_begin(ss_sim *sim, double h);
ss_status ss_crowd_part(ss_sim *sim, double h, bool *certified, ss_error *error);
double ss_crowd_offset(const ss_sim *sim, const ss_contact *c, double h);
/* Crowds at rest (event/crowd.c): whether they are stopped; whether a body is so slow; the rows of the part as they stand, by
 * which they are. */
bool ss_calms(const ss_sim *sim);
bool ss_is_idle(const ss_sim *sim, int body);
ss_status ss_calm(ss_sim *sim, ss_error *error);
/* Islands at rest: which may be, with the guess; those that are, after the judge. */
void ss_rest_begin(ss_sim *sim);
void ss_rest_end(ss_sim *sim);
static inline double ss_touch_gap(const ss_sim *sim) { return 1e-10 * sim->model->length; } /* counts as none */
bool ss_calm_gives(ss_sim *sim); /* the solved problem takes energy from nowhere by it */
/* All touching contacts collide; *certified is false where that has no certified solution, and nothing has happened. */
ss_status ss_impact(ss_sim *sim, double speed_tolerance, bool *certified, ss_error *error);
bool ss_obeys_newton(const ss_sim *sim, const ss_contact *c);

/* Weak solutions (observe/weak.c): the part that is about to be accepted. */
ss_status ss_weak_part(ss_sim *sim, double h, ss_error *error);

/* Variations (sensitivity/): of a part of size h that ends at tau, in the `hit` contact's collision or -1; of an impact,
 * phase by phase; into the order of the state's patches. */
ss_status ss_vary_part(ss_sim *sim, double remaining, double h, double tau, int hit, ss_error *error);
ss_status ss_vary_phase(ss_sim *sim, ss_error *error);
ss_status ss_vary_impact(ss_sim *sim, ss_error *error);
ss_status ss_vary_store(ss_sim *sim, ss_error *error);

/* From the present state to time `end`, events and all; may fail on the way. */
ss_status ss_step_advance(ss_sim *sim, double end, bool *collided, ss_error *error);
/* The state and the report, and back. */
ss_status ss_step_save(ss_sim *sim, ss_error *error);
void ss_step_restore(ss_sim *sim);
/* A step whose size its error decides; the start is saved. */
ss_status ss_step_automatic(ss_sim *sim, bool *collided, ss_error *error);
void ss_automatic_start(ss_sim *sim);
/* What estimates go by (step/estimate.c): the part that has just been accepted, of size tau, and back to the step's start. */
void ss_estimate_note(ss_sim *sim, double tau, double fraction);
void ss_estimate_save(ss_sim *sim);
void ss_estimate_restore(ss_sim *sim);

/* Puts positions and velocities back on the joints and contacts, in the mass norm. */
ss_status ss_project(ss_sim *sim, ss_error *error);

/* Stabilisation `exact` (step/exact.c): once; at the end of a step. */
ss_status ss_exact_prepare(ss_sim *sim, ss_error *error);
void ss_exact_free(ss_exact *exact);
ss_status ss_hold_joints(ss_sim *sim, ss_error *error);

/* ---- inputs and outputs (step/sim_signals.c) ---- */

/* Evaluates the expressions that depend on the state; fails where one is not finite. */
ss_status ss_hold_signals(ss_sim *sim, ss_error *error);
/* An expression at the present state and time t; a component of an applied force (0..2: force, 3..5: torque) within a step:
 * what depends on the state is held. */
double ss_signal_value(const ss_sim *sim, const ss_expression *expression, double t);
double ss_force_component(const ss_sim *sim, const ss_force *force, int i, double t);
/* The last step's length: what impulses over it are divided by. */
double ss_last_step(const ss_sim *sim);
void ss_add_motor_impulses(ss_sim *sim, double fraction);
void ss_clear_impulses(ss_sim *sim); /* of joints and motors, before a step */
void ss_forget_pushes(ss_sim *sim);  /* after it */
void ss_ledger_moved(ss_sim *sim);   /* the state was changed from outside */

/* ---- their pieces ---- */

/* Rows before those of the contacts, at most. */
static inline size_t ss_free_rows(const ss_model *model) {
  return (size_t)model->n_joint_rows + (size_t)model->n_forces + (size_t)model->n_motors;
}

ss_cp ss_problem_view(const ss_problem *problem);
static inline ss_lu *ss_problem_lu(ss_sim *sim) { return &sim->lu[sim->problem.h > 0 ? 0 : 1]; }

/* Dense G of the problem as it stands, n x n: into the given array; into the problem's own. */
void ss_fill_dense(const ss_sim *sim, double *G);
ss_status ss_discretise_dense(ss_sim *sim, ss_error *error);

/* G of a large problem (scheme/assemble_rows.c), and what is done with G in either form: its diagonal, natural units and
 * back, a column of it. */
bool ss_rows_are_many(const ss_sim *sim);
ss_status ss_assemble_rows(ss_sim *sim, ss_error *error);
double ss_problem_diagonal(const ss_sim *sim, int i);
void ss_problem_rescale(ss_problem *problem, bool back);
void ss_problem_add_column(const ss_problem *problem, int column, double factor, double *out);
double ss_rows_meet(const ss_sim *sim, int i, int j); /* J_i A^-1 J_j^T without coupling */
void ss_rows_apply(const ss_sim *sim, const double *z,
                   double *out); /* G z of bodies without coupling; in scratch_v A^-1 J^T z */
int ss_rows_of(const ss_sim *sim, int i, int *col,
               double *value);         /* row i of such a G, ascending; how many; NULL: counted */
void ss_chain_rows(const ss_sim *sim); /* first_row, next_row */

/* Sparse G of the problem as it stands, in the sim's lu. */
ss_status ss_assemble_sparse(ss_sim *sim, ss_error *error);

/* Solves a sparse problem and judges the answer: the residual of p->z, with w in p->slack. */
double ss_solve_sparse(ss_sim *sim);

/* Adds J and A to a large problem of some rows of the step's (NULL: of all), in natural units (factors.c). */
ss_status ss_add_factors(ss_sim *sim, const int *rows, ss_cp *problem, ss_error *error);
void ss_factors_free(ss_factors *factors);

/* Solves a problem of some rows of the step's (NULL: of all) from the guess z, without judging. */
ss_status ss_solve_rows(ss_sim *sim, ss_cp *problem, const int *rows, const ss_cp_options *options, double *z,
                        ss_cp_result *result, ss_error *error);

/* A divided problem in natural units, island by island, from the problem's z, whose slacks are known; the largest residual. */
ss_status ss_solve_islands(ss_sim *sim, const ss_cp_options *options, ss_cp_result *result, double *residual,
                           ss_error *error);
void ss_islands_free(ss_islands *islands);
ss_status ss_find_islands(ss_sim *sim, int *count, ss_error *error); /* islands.island of each block */
/* Solves and judges without telling the contacts. */
ss_status ss_solve_problem(ss_sim *sim, bool *certified, ss_error *error);
/* What z and w mean for each contact; worst: largest entry of the residual, in units of s/d. */
void ss_distribute(ss_sim *sim, const double *w, double worst, double s);
double ss_seconds(void); /* wall clock */

/* What has passed since the last look at the clock was this stage. */
static inline void ss_lap(ss_sim *sim, ss_stage stage) {
  if (!sim->timed) return;
  const double now = ss_seconds();
  sim->stage_seconds[stage] += now - sim->clock;
  sim->clock = now;
}

/* Whether this force is a row with compliance (linearly implicit) in a step of size h, and with which kappa = 1/R
 * alpha. */
bool ss_force_is_row(const ss_sim *sim, const ss_force *force, double h, double *kappa);

/* Exact Jacobians: set up once; add to A, kt and A^-1 kt of a part of size h; coupled part of A^-1 J^T. */
ss_status ss_coupling_prepare(ss_sim *sim, ss_error *error);
void ss_couple(ss_sim *sim, double h);
void ss_couple_row(const ss_sim *sim, const ss_row *row, double *out);

/* Chooses the equations that are posed at the present position; chooses again where the others stop following. */
ss_status ss_basis_select(ss_sim *sim, ss_error *error);
ss_status ss_basis_check(ss_sim *sim, ss_error *error);
/* Poses all of them, for questions about the mechanism; or the chosen ones again. */
void ss_basis_pose(ss_sim *sim, bool all);
/* Residuals of the posed equations at (t, q). */
void ss_basis_residuals(ss_sim *sim, double t, const double *q, double *out);

/* Adds the joints' multipliers of the solved problem to those of the step. */
void ss_add_joint_impulses(ss_sim *sim, double fraction);

/* Motors: their rows for a part of size h with gradients at q; their work over a fraction of it. */
void ss_motor_rows(ss_sim *sim, const double *q, double h);
double ss_motor_work(const ss_sim *sim, double fraction);

/* d gap/dt */
static inline double ss_gap_rate(const ss_sim *sim, const ss_contact *c, const ss_contact_place *at, const double *v) {
  return sim->mechanics->rate(sim, c, at, v) + v3_dot(at->drive, at->at.normal);
}

/* What a function of a system has refused since the step began; SS_OK for bodies. */
ss_status ss_system_refused(const ss_sim *sim, ss_error *error);
static inline ss_status ss_refused(const ss_sim *sim, ss_error *error) {
  return sim->system ? ss_system_refused(sim, error) : SS_OK;
}
void ss_forgive(ss_sim *sim); /* systems: it did not happen */
/* Evaluates everything that a step's observers and the next step ask for, so that a refusal is known before. */
void ss_system_probe(ss_sim *sim);
ss_status ss_system_allocate(ss_sim *sim, ss_error *error);

/* A system's rows have all coordinates (system/dense.c): A^-1 J^T and G of its problem, and ss_velocity_change. */
void ss_dense_spread(ss_sim *sim);
void ss_dense_fill(const ss_sim *sim, double *G);
void ss_dense_velocity_change(ss_sim *sim);

/* The bodies' part of the step (step/mechanics.h). */
double ss_body_speed(const ss_model *model, int body, const double *v); /* of the fastest point of its shapes */
double ss_largest_speed_of_bodies(const ss_sim *sim, const double *v);
double ss_closing_speed_of_bodies(const ss_sim *sim, const ss_contact *c);
void ss_path_velocity_of_bodies(ss_sim *sim, const ss_contact *c, double fraction);
double ss_kinetic_energy_of_bodies(const ss_sim *sim, const double *v);
double ss_potential_energy_of_bodies(const ss_sim *sim);
void ss_forces(ss_sim *sim, double h);
void ss_forces_none(ss_sim *sim);
void ss_force_work(ss_sim *sim, double h, double fraction);

/* The gap of a limit cannot change faster in the solved part, at whose end velocities are v_end. */
double ss_limit_speed(const ss_sim *sim, const ss_contact *limit, const double *v_end);

/* delta = A^-1 (kt + J^T z) */
void ss_velocity_change(ss_sim *sim);

/* Pose of a body at tau inside the part: q (+) tau [v + gamma fraction delta]; delta may be NULL: none. */
ss_pose ss_advance_body(const ss_sim *sim, int body, const double *delta, double tau, double fraction);
void ss_store_pose(double *q, int body, ss_pose pose);
void ss_advance_bodies(const ss_sim *sim, const double *delta, double tau, double fraction, double *q);

/* Theta rule: the theta state of a velocity change; whether forces depend on it at all. */
void ss_theta_state(ss_sim *sim, double h, const double *delta);
bool ss_theta_iterates(const ss_sim *sim);

/* The velocities that friction opposes, at time t and configuration q: slip of the points, and where there are moments, spin about
 * the normal and rolling about the tangents, as lengths per time. */
enum { SS_SLIP_KINDS = 3 };
void ss_slips_at(const ss_sim *sim, const ss_contact *contact, double t, const double *q, const double *v,
                 ss_vec3 out[SS_SLIP_KINDS]);

/* Normal speed that gravity makes or stops within a thousandth of the step. */
static inline double ss_gentle_speed(const ss_sim *sim) { return 1e-3 * sim->h * sim->acceleration; }

/* Impulses of the step: none yet; those of the solved part, of which a fraction is taken, or of an impact; that is all. */
void ss_deal_begin(ss_sim *sim);
ss_status ss_deal(ss_sim *sim, double fraction, ss_error *error);
void ss_deal_more(ss_sim *sim, uint64_t key, ss_vec3 impulse); /* of a contact that has dealt in this part */
ss_status ss_deal_also(ss_sim *sim, const ss_contact *c, ss_vec3 impulse, ss_error *error); /* of any contact */
void ss_deal_end(ss_sim *sim);

/* Contact memory. */
ss_status ss_touch_store(ss_sim *sim, ss_error *error);
const ss_touch *ss_touch_find(const ss_state *state, uint64_t key);
void ss_contact_remember(const ss_sim *sim, ss_contact *contact); /* what the last step knew of it */

/* Compliant contact: the law of a contact's patch (patch/pair_law.c) ... */
ss_status ss_patch_find_law(ss_sim *sim, ss_contact *c, ss_error *error);

/* ... patches of contacts (patch/contact_patch.c) ... */
ss_status ss_patch_attach(ss_sim *sim, ss_contact *contact, const ss_touch *touch, ss_error *error);
void ss_patch_drop_travelling(ss_sim *sim);                       /* contacts that repeat others (step/travelling.c) */
ss_vec3 ss_element_shift(const ss_contact *contact, int element); /* from the contact point, world */
double ss_element_gap(const ss_sim *sim, const ss_contact *contact, const ss_contact_point *at, int element);
double ss_element_gap_at(const ss_sim *sim, const ss_contact *contact, const ss_contact_point *at,
                         const ss_pose body[2], int element);
bool ss_patch_lives(const ss_sim *sim, const ss_contact *contact);
/* Where in patch_end the deformation of an element between bodies a and b lies (elements of all their patches are counted
 * on), and its sign in the frame whose normal points to a; -1: there is no such element now, its deformation is 0. */
int ss_patch_find_deformation(const ss_sim *sim, int a, int b, int element, int direction, double *sign);
ss_status ss_patch_store(ss_sim *sim, const ss_contact *contact, ss_touch *touch, ss_error *error);
/* Largest overlap of the deformed surfaces at the end of the step. */
double ss_patch_overlap(const ss_sim *sim, const ss_contact *contact, const ss_contact_point *at);
double ss_patch_stored(const ss_patch *patch, const double *delta); /* elastic energy */
double ss_patches_energy(const ss_sim *sim);                        /* of all contacts at the end of the step */
void ss_patch_losses(ss_sim *sim, const ss_contact *contact, double h);
/* ... how material flows through them (patch/patch_rows.c): velocities of both sides relative to the contact point, and what
 * they do to the gap of an element ... */
void ss_patch_flow(const ss_sim *sim, const ss_contact *contact, double h, ss_vec3 u[2]);
double ss_patch_convection(const ss_sim *sim, const ss_contact *contact, const ss_pose body[2], const ss_vec3 u[2],
                           int element);
/* ... by which deformations at the start are carried along in a step; those before, or NULL where there were none ... */
const double *ss_patch_transport(ss_sim *sim, const ss_contact *contact, double h, const ss_vec3 u[2]);
/* ... what speaks against them (observe/patch_watch.c) ... */
void ss_patches_watch(ss_sim *sim, double h);
/* ... and in the step's problem (patch/patch_rows.c). */
int ss_patch_elements(const ss_sim *sim); /* of all active contacts together */
ss_status ss_patch_rows(ss_sim *sim, ss_contact *contact, double h, ss_error *error);
void ss_patch_stiffen(const ss_sim *sim, double *G); /* adds R */
/* Large problems of patches, solved by their structure, without G (patch/patch_newton.c). *certified is false where that
 * does not lead to a solution. */
bool ss_patch_is_large(const ss_sim *sim);
ss_status ss_patch_solve(ss_sim *sim, double alpha, bool *certified, ss_error *error);
void ss_patch_distribute(const ss_sim *sim, ss_contact *contact, const double *w);
/* The slip up to which an element sticks; where nothing moves but the elements, theirs are lengths per step. */
static inline double ss_patch_still(const ss_sim *sim) {
  return 1e-9 * sim->speed_bound + 1e-14 * sim->model->length / sim->h;
}
void ss_patch_advance(ss_sim *sim, double h); /* patch_end */

/* Deformations, then impulses of a contact's patch at the two ends of the part. */
static inline double *ss_patch_start(const ss_sim *sim, const ss_contact *c) { return sim->patch_start + c->memory; }
static inline double *ss_patch_end(const ss_sim *sim, const ss_contact *c) { return sim->patch_end + c->memory; }

/* Ledger and certificate. */
double ss_elastic_energy(const ss_model *model, const double *q, const double *angle);
/* Whether a force has a row in a step, and is so stiff that it acts as a link there: the change of its impulse over the step exceeds what stops
 * the mass that it acts on. */
bool ss_force_is_link(const ss_sim *sim, const ss_force *force, const ss_row *row);
void ss_ledger_start(ss_sim *sim);
double ss_total_energy(const ss_sim *sim);
void ss_ledger_part(ss_sim *sim, double h, double fraction);
void ss_ledger_links(ss_sim *sim, double h, double fraction, bool moved);
void ss_ledger_step(ss_sim *sim);
/* The energy that no column explains so far; after a crowd's part the impacts explain what was not open before it. */
double ss_ledger_open(const ss_sim *sim);
void ss_ledger_crowd(ss_sim *sim, double open, double energy, double work);
void ss_bound_part(ss_sim *sim, double h); /* LIT Theorem 9.1 */
void ss_certify_problem(ss_sim *sim, double residual);
void ss_certify_position(ss_sim *sim);
void ss_measure_variation(ss_sim *sim, bool collided);

/* The end of a run whose energy has blown up and whose step has used up its work. */
ss_status ss_fail_of_work(const ss_sim *sim, ss_error *error);

ss_status ss_audit_step(ss_sim *sim, ss_error *error); /* where one is due */

/* Doubts (observe/doubts.c): at the start; after the ledger and the certificate of a step; where a state that is not finite has
 * ended the run, at time t. */
void ss_doubts_start(ss_sim *sim);
void ss_doubts_update(ss_sim *sim);
void ss_doubts_not_finite(ss_sim *sim, double t);
bool ss_has_blown_up(const ss_sim *sim);      /* nearly all of the energy came from nowhere */
bool ss_state_is_finite(const ss_sim *sim);   /* positions, velocities, energies */
bool ss_problem_is_finite(const ss_sim *sim); /* what the last problem was made of */
void ss_emit(ss_sim *sim, ss_event_kind kind, const ss_contact *contact, double energy_created);

/* Fills in the contact's directions and the guess of its impulses; the set of its friction block. */
void ss_friction_directions(const ss_sim *sim, ss_contact *c, const ss_contact_place *place);
ss_cone ss_friction_cone(const ss_sim *sim, const ss_contact *c);
/* Where that is SS_CONE_GENERATED: its corners, in the contact's rows (scheme/generators.c). */
const ss_friction_table *ss_friction_corners(const ss_sim *sim, const ss_contact *c);
ss_status ss_polytopes_create(ss_sim *sim, ss_error *error);
bool ss_has_corners(const ss_sim *sim); /* some pair has such a set */
/* Velocities along the friction rows of a contact with a fixed polygon at (t, q, v); out[0] is not used. */
void ss_friction_velocities(const ss_sim *sim, const ss_contact *c, double t, const double *q, const double *v,
                            double out[SS_CONTACT_ROWS]);

static inline ss_polygon ss_polygon_of(const ss_sim *sim, const ss_law *law) {
  return law->has_polygon ? law->polygon : sim->options.polygon;
}

/* Turns the polygons of the problem as it stands to where Coulomb's disc would have its friction; whether a polygon that
 * nothing has given a direction slides in the solved problem (scheme/turn.c). */
ss_status ss_turn_polygons(ss_sim *sim, ss_error *error);
bool ss_polygon_is_doubtful(const ss_sim *sim);
bool ss_polygon_is_astray(const ss_sim *sim);

/* Whether velocities alternate about their constraints; those nearest to v that do not, at (t, q); and the state takes them
 * (event/consistent.c). */
bool ss_velocities_alternate(const ss_sim *sim);
void ss_consistent_velocity(ss_sim *sim, double t, const double *q, const double *v, double *out);
void ss_make_consistent(ss_sim *sim);

/* Fixed friction polygons (event/facets.c): the face that carries at slip w of the contact's rows, and whether it holds the
 * slip in some direction; how far the force has come to the end of what holds, 1 being there; whether this part lets go
 * what the last one held; what is left at the end of the part of the distance from the next border. */
int ss_face_of_slip(const ss_sim *sim, const ss_contact *c, const double *w);
bool ss_face_holds(const ss_sim *sim, const ss_contact *c, int face);
double ss_face_ratio(const ss_sim *sim, const ss_contact *c);
bool ss_face_let_go(const ss_sim *sim, const ss_contact *c);
double ss_face_left(const ss_sim *sim, const ss_contact *c, const double *v, const double *v_end);
/* Takes the share of the velocity that the last face held, unless it is too fast for an error, off the rows' offsets. */
void ss_face_keep_velocity(const ss_sim *sim, const ss_contact *c, double share, double too_fast, double *offset);

/* Springs and dampers at configuration q: length, rate and gradient of the length; angles are counted near those of the
 * state, or, where that is NULL, near rest. */
typedef struct ss_link {
  double length, rate;
  ss_row row;
} ss_link;
ss_link ss_link_at(const ss_model *model, const ss_force *force, const double *q, const double *angle, const double *v);

/* Grows an array to hold at least `needed` elements; keeps its contents. */
ss_status ss_grow(void **array, int *capacity, int needed, size_t element, ss_error *error);

#endif
