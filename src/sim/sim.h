/* A simulation: the handle and its parts. Each field says its shape and the stage that computes it; the stages are in the order of
 * step/step.c. */
#ifndef SS_SIM_SIM_H
#define SS_SIM_SIM_H

#include "core/clock.h"
#include "core/threads.h"
#include "model/scheme_table.h"
#include "sim/mechanics.h"
#include "sim/problem.h"

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

/* What a trial is asked for; what is held, its contacts say (active, lands). */
typedef struct ss_asked {
  double h;            /* size of the part; 0: the last problem was an impact's */
  double alpha, gamma; /* weights: the scheme's, or those of a crowd or of a jam */
  double push;         /* share of their drift that joints and contacts take back (step/push.c) */
} ss_asked;

/* What the options make of the scheme. */
typedef struct ss_chosen {
  double alpha, gamma;                                                /* weights of the scheme */
  ss_status (*attempt)(ss_sim *sim, ss_asked asked, ss_error *error); /* how it solves a trial */
  bool automatic; /* the solver is not prescribed: linear problems may be solved sparse */
  ss_friction_table
      polytope[3][2][2]; /* polyhedral cone with moments: by the number of forces, torsion or none, rolling or none */
  unsigned located;      /* SS_EVENT_...: what is located inside a step */
  bool divides;          /* a step may be taken cluster by cluster (step/apart.c) */
} ss_chosen;

/* The step in hand. */
typedef struct ss_step {
  double h;             /* its full size */
  double left;          /* what of it is still to come */
  double way;           /* no body has gone farther in it */
  double acceleration;  /* begin_step: of gravity, or of what drives the gaps of a system */
  double drift_time;    /* in which joints and contacts take back their drift (scheme/rows.c) */
  bool stops_at_events; /* it ends with its first part */
  bool starts;          /* nothing of it has happened yet */
  bool exhausted;       /* too many parts, or an impact without solution: the rest of it locates nothing */
  bool not_finite;      /* where the last part would have led */
  long looks;           /* pairs searched and gaps followed: its work, beside the solver's */
  int tried;            /* solvers */
  long long operations; /* of the contact solvers */
  int transitions;      /* parts that ended in one; after too many the problem alone decides */
} ss_step;

/* The part of it in hand, and what ends it. */
enum {
  SS_ENDS_JAM = 1,
  SS_ENDS_ARREST = 2,
  SS_ENDS_RELEASE = 4
}; /* slip is reversed; ends; sticking or contact does */
typedef struct ss_part {
  ss_asked asked;         /* of the trial that is due; those that look for events ask for other sizes */
  double end;             /* where in the trial the part ends, <= h */
  double speed_bound;     /* no point of a moving shape is assumed faster; checked after the solve */
  double speed_tolerance; /* active set: slower is at rest */
  int cuts;               /* how often it was made shorter because a trial was not accepted */
  bool impact;            /* no trial: contacts that touch approach each other */
  bool again;             /* another trial is needed */
  bool collides;          /* in a crowd, where nothing was expected to */
  unsigned ends;          /* SS_ENDS_...: transitions that shortened it */
  int hit;                /* contact whose collision ends it, or -1 */
  bool refined;           /* and it was solved again for its own length */
  bool newton_fails;      /* impact: Newton's law has no solution in it, Poisson's is followed */
} ss_part;

/* What is not located in it (event/crowd.c). */
typedef struct ss_crowd {
  double landing_speed; /* what lands more slowly is not located; 0: everything is */
  bool settling;        /* the impact that comes is one of closed contacts only: nothing is returned */
  bool dense;           /* the part is a whole step */
  bool overlooked;      /* and shapes end in each other by features that it could not hold: it is too long */
  int elsewhere;        /* closed contacts of other clusters at the start of the step */
  bool *idle;           /* [n_bodies] active set: so slow that it may come to rest */
  bool *still;          /* [n_bodies] solve: as slow as what the residual leaves open, and so it stays with the guess */
  bool calm_fails;      /* bodies at rest are not stopped: that would give them energy */
  double asleep;        /* size of the step in which everything rested (sim/sleep.c); 0: something moves */
  long slept;           /* steps since then that were not computed */
} ss_crowd;

/* A trial: one problem for a part of a step, what was asked and what came out. There are a few of them: the one in hand, and those
 * that it may have to go back to (ss_trial_keep, ss_trial_back). */
enum { SS_KEPT = 2 };
typedef struct ss_trial {
  ss_asked asked;
  bool certified;       /* its problem is solved, and leads somewhere */
  ss_contact *contacts; /* [n_contacts] narrow phase, active set: what is held; solve: their state */
  int n_contacts, contact_capacity, n_active;
  double *mid_q;        /* [n_q] rows */
  const double *grad_q; /* rows: positions where gradients of joints, limits and motors are taken; when */
  double grad_t;
  const double *iterate_v,
      *iterate_q;                  /* iterated schemes: latest v+ and q+, about which rows are linearised; else NULL */
  double *iterate_memory;          /* [n_v + n_q] */
  const double *force_q, *force_v; /* where forces are evaluated: the state, or the theta state */
  double *theta_q, *theta_v;       /* [n_q], [n_v] outer iteration: theta x + (1 - theta) x+ */
  double *guess;                   /* [n_v] outer iteration: v+ - v of the iterate before */
  double *ainv;                    /* [n_bodies][36] forces: inverse of A's blocks (n x n) */
  ss_coupling coupling;            /* forces */
  bool definite;                   /* forces: A is positive definite with its full Jacobians, which are used */
  double *kt;                      /* [n_v] forces: impulses of forces */
  double *applied;                 /* [n_v] forces: the part of kt that applied forces give */
  double *dv_free;                 /* [n_v] forces: A^-1 kt */
  ss_problem problem;              /* rows, discretise, solve */
  bool *touched;                   /* [n_bodies] rows: has contacts in the problem */
  bool *rests;                     /* [n_bodies] solve: at rest, and stays there */
  bool calmed;                     /* rows: the problem stops bodies at rest (event/crowd.c) */
  double *delta;                   /* [n_v] advance: v+ - v */
  double *v_end;                   /* [n_v] advance: v+ */
  double *q_end;                   /* [n_q] advance: q+ */
  double *patch_start, *patch_end; /* [n_patch] narrow phase, advance: deformations and impulses of the contacts */
  int n_patch, patch_capacity[2];
} ss_trial;

/* Where contacts are looked for (contact/). */
typedef struct ss_search {
  ss_candidates all;  /* every pair, where they are few */
  ss_candidates near; /* broad phase: those that may touch in this step */
  bool few_pairs;
  bool bounded;      /* broad phase: the bounds are known */
  double grown[2];   /* broad phase: by how much; those of the world */
  bool looks_at_all; /* near pairs that were not looked at may have met in this part: none is set aside */
  ss_found found;    /* narrow phase: what it found last */
  double *bounds;    /* [n_shapes][6] broad phase */
  double *listed;    /* [n_shapes][6] broad phase: the bounds that `near` was listed for */
  double listed_for; /* and by how much they were grown; 0: there is no list */
  int *order;        /* [n_shapes] broad phase: sorted along one axis; and as many of working space */
  int axis;          /* this one: 0, 1, 2 */
  ss_clusters parts; /* bodies that may meet in this step */
  const int *blind;  /* for tests: two shapes whose contacts the search loses; NULL */
} ss_search;

/* Impulses of the contacts in this step (contact/dealt.c). */
typedef struct ss_dealt_list {
  ss_dealt *list; /* [n] parts and impacts; ordered by key when the step is done */
  int n, capacity;
  bool done; /* the step is */
  /* Until the next step: [n_told] what ss_sim_contacts said when a checkpoint was written, or before a place was tried */
  ss_contact_report *told;
  int n_told, told_capacity;
} ss_dealt_list;

/* Multipliers of joints and motors, and what is known of the joints' drift. */
typedef struct ss_joint_state {
  double *impulse;       /* [n_joint_rows] parts and impacts: multipliers added up over the step */
  double *motor_impulse; /* [n_motors] parts: added up over the step */
  double *residuals;     /* [n_joint_rows] observe */
  double *drift_length;  /* [n_joint_rows] start: what makes a length of a residual */
  double *free_guess;    /* [n_joint_rows + n_forces + n_motors] forces of the last part's joints, stiff forces and
                          * motors, where the next one starts */
} ss_joint_state;

/* Memory of the solvers. */
typedef struct ss_solver {
  ss_cp_workspace *cp;
  ss_islands islands;
  ss_joined joined;
  ss_factors factors;
  ss_lu lu[2]; /* discretise: G of a sparse problem; solve: its factors. Of steps, and of impacts and projections */
  ss_lu_row *lu_rows; /* [lu_capacity] discretise */
  int lu_capacity;
  const ss_row *chained; /* discretise: rows that are chained by their bodies, or NULL */
  int *first_row;        /* [n_bodies] discretise: first (row, side) that touches the body, or -1 */
} ss_solver;

/* Numbers that no stage leaves to another. */
typedef struct ss_scratch {
  double *v;            /* [n_v] */
  double *link_balance; /* [n_forces] ledger: of stiff links, until the state has moved */
  double *consistent;   /* [2 n_v] events: velocities at the ends of the part */
} ss_scratch;

/* The start of the step, restored if it fails. */
typedef struct ss_saved {
  ss_state state;
  ss_report report;
  ss_control control;
  double *past;
} ss_saved;

/* What automatic steps know of their error (step/automatic.c). */
typedef struct ss_past {
  double *
      past; /* [SS_PAST + 1][n_v] mean velocities of the parts before, the latest first, and the change of velocity in the
                    * latest */
  double *whole_q; /* [7 n_bodies] where the whole step ends */
} ss_past;

/* What the certificate measures from step to step. */
typedef struct ss_observed {
  double *weighted;                       /* [n_v] alpha v+ + (1-alpha) v */
  double *previous_weighted, *previous_v; /* [n_v] */
  double kinetic_scale;                   /* max(v0.Mv0, |q0| + 1) */
} ss_observed;

/* Variations carried along with a run (sensitivity/), asked: of a part of size h that ends at tau, in the `hit` contact's collision or
 * -1; of an impact, phase by phase; into the order of the state's patches. */
typedef struct ss_variation_calls {
  ss_status (*part)(ss_sim *sim, double remaining, double h, double tau, int hit, ss_error *error);
  ss_status (*phase)(ss_sim *sim, ss_error *error);
  ss_status (*impact)(ss_sim *sim, ss_error *error);
  ss_status (*store)(ss_sim *sim, ss_error *error);
} ss_variation_calls;

/* Who watches, and who may stop the run. */
typedef struct ss_watch {
  ss_observer observers[8];
  int n_observers;
  bool quiet, kept_quiet;   /* observers hear nothing; there was something to hear */
  bool (*stop)(void *user); /* ss_sim_stop_when */
  void *stop_user;
  struct ss_audit *audit; /* looks for contacts that were missed (observe/audits.c); NULL: there are no shapes */
  struct ss_weak *weak;   /* watches the parts, where not NULL (observe/weak.c) */
  struct ss_variation *variation; /* carried along, where not NULL (sensitivity/variation.h) */
  const ss_variation_calls *vary; /* what it is asked */
} ss_watch;

/* The clock is looked at between the stages, if it is on. */
typedef struct ss_clock {
  bool on;
  double last, seconds[SS_STAGES];
} ss_clock;

/* What comes from outside between steps. */
typedef struct ss_inputs {
  double *value; /* [n_inputs] */
  double *held;  /* [n_held] begin of a step: expressions that depend on the state */
  ss_pull pull;  /* applied while pulled */
  bool pulled;
  double *push_force; /* [n_bodies][6] ss_sim_apply: force and torque */
  bool has_push_force;
} ss_inputs;

struct ss_sim {
  /* what it is made of */
  ss_arena *arena;
  const ss_model *model;
  ss_simulation options;
  const ss_scheme *scheme;
  const ss_mechanics *mechanics; /* of bodies, or of a system */
  struct ss_system_work *system; /* systems only, else NULL */
  ss_chosen chosen;
  ss_threads *threads; /* NULL: one */
  /* where it is */
  ss_state state;
  ss_report report;
  long steps_total;
  ss_saved saved;
  ss_inputs inputs;
  /* on its way */
  ss_step step;
  ss_part part;
  ss_crowd crowd;
  ss_trial trial, kept[SS_KEPT]; /* in hand, and set aside */
  int n_kept;
  struct ss_apart *apart; /* clusters, each by itself (step/apart.c); NULL: there have not been several */
  ss_dealt_list dealt;
  /* what the stages keep */
  ss_search search;
  ss_joint_state joints;
  ss_basis basis;
  ss_exact exact;
  struct ss_patch_entry *patches; /* laws of pairs, made when first needed (patch/pair_law.c); compliant schemes */
  ss_solver solver;
  ss_scratch scratch;
  ss_control control;
  ss_past estimate;
  /* who looks on */
  ss_observed observed;
  ss_watch watch;
  ss_clock clock;
};

/* The trial in hand (i = 0) and the free ones, NULL after the last: all of them grow together, so that a step that sets one aside does
 * not allocate. */
static inline ss_trial *ss_trial_free(ss_sim *sim, int i) {
  return i == 0 ? &sim->trial : sim->n_kept + i <= SS_KEPT ? &sim->kept[sim->n_kept + i - 1] : NULL;
}

/* Whether events of these kinds are located inside a step; whether others than collisions are: parts that end in a collision are solved for
 * their own length then. */
static inline bool ss_locates(const ss_sim *sim, unsigned events) { return (sim->chosen.located & events) != 0; }
static inline bool ss_locates_transitions(const ss_sim *sim) { return ss_locates(sim, ~(unsigned)SS_EVENT_COLLISION); }

/* Gap that counts as none; normal speed that gravity makes or stops within a thousandth of the step. */
static inline double ss_touch_gap(const ss_sim *sim) { return 1e-10 * sim->model->length; }
static inline double ss_gentle_speed(const ss_sim *sim) { return 1e-3 * sim->step.h * sim->step.acceleration; }

/* d gap/dt */
static inline double ss_gap_rate(const ss_sim *sim, const ss_contact *c, const ss_contact_place *at, const double *v) {
  return sim->mechanics->rate(sim, c, at, v) + v3_dot(at->drive, at->at.normal);
}

static inline ss_polygon ss_polygon_of(const ss_sim *sim, const ss_law *law) {
  return law->has_polygon ? law->polygon : sim->options.polygon;
}

/* Rows before those of the contacts, at most. */
static inline size_t ss_free_rows(const ss_model *model) {
  return (size_t)model->n_joint_rows + (size_t)model->n_forces + (size_t)model->n_motors;
}

static inline ss_lu *ss_problem_lu(ss_sim *sim) { return &sim->solver.lu[sim->trial.problem.h > 0 ? 0 : 1]; }

/* each(sim, i) for all i below n, on the simulation's threads; each writes to places of its own. */
void ss_each(ss_sim *sim, int n, void (*each)(ss_sim *sim, int i));
/* Sums and largest ones over pieces of 0 .. n - 1 (core/threads.h); user: usually the sim. */
static inline void ss_sums(const ss_sim *sim, int n, ss_threads_part *part, void *user, double *sums, int count) {
  if (n <= SS_ONE_PIECE)
    ss_fold_piece(n, part, user, sums, count);
  else
    ss_threads_fold(sim->threads, n, part, user, sums, count, ss_sum_of_two);
}
static inline double ss_most(const ss_sim *sim, int n, ss_threads_part *part, void *user) {
  double most = 0;
  if (n <= SS_ONE_PIECE)
    ss_fold_piece(n, part, user, &most, 1);
  else
    ss_threads_fold(sim->threads, n, part, user, &most, 1, ss_larger_of_two);
  return most;
}

/* What has passed since the last look at the clock was this stage. */
static inline void ss_lap(ss_sim *sim, ss_stage stage) {
  if (!sim->clock.on) return;
  const double now = ss_seconds();
  sim->clock.seconds[stage] += now - sim->clock.last;
  sim->clock.last = now;
}

/* ---- sleep (sleep.c) ---- */

bool ss_sleep_on(ss_sim *sim,
                 double end);     /* goes on to the end of a step that need not be computed; false: it must be */
void ss_sleep_begin(ss_sim *sim); /* after a step that was: whether everything rests */

/* ---- inputs and outputs (sim_signals.c) ---- */

/* Evaluates the expressions that depend on the state; fails where one is not finite. */
ss_status ss_hold_signals(ss_sim *sim, ss_error *error);
/* An expression at the present state and time t; a component of an applied force (0..2: force, 3..5: torque) within a step:
 * what depends on the state is held. */
double ss_signal_value(const ss_sim *sim, const ss_expression *expression, double t);
double ss_force_component(const ss_sim *sim, const ss_force *force, int i, double t);
/* A body on which an applied force is not finite at one of the times; -1: there is none. */
int ss_pushed_without_end(const ss_sim *sim, double from, double to);
/* The last step's length: what impulses over it are divided by. */
double ss_last_step(const ss_sim *sim);
/* Adds the multipliers of the solved problem, of joints (joint_impulses.c) and of motors, to those of the step. */
void ss_add_joint_impulses(ss_sim *sim, double fraction);
void ss_add_motor_impulses(ss_sim *sim, double fraction);
void ss_clear_impulses(ss_sim *sim); /* of joints and motors, before a step */
void ss_forget_pushes(ss_sim *sim);  /* after it */

#endif
