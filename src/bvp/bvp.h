/* Pieces of the boundary-value solver. */
#ifndef SS_BVP_BVP_H
#define SS_BVP_BVP_H

#include "core/arena.h"

#include <stickslip/bvp.h>

/* What the last run that was measured says about its scheme. */
typedef struct ss_shot_report {
  bool touched;         /* there were contacts */
  bool velocity_level;  /* contacts hold in their velocities, and nothing puts positions right */
  bool mean_velocities; /* constraints act on the mean of two velocities */
  bool arrests;         /* the end of slip is located */
  double penetration;   /* the largest */
} ss_shot_report;

/* F(u): runs the simulation from velocities u and leaves the conditions' residuals in f (m of them). */
typedef struct ss_shooting {
  ss_scene scene; /* a copy whose bodies' velocities are ours to set */
  ss_simulation options;
  const ss_boundary_def *boundary;
  int n, m;
  long simulations;
  ss_status status; /* of the last thing that went wrong beyond a failed run */
  ss_error error;
  double psi; /* of the last run, BVP (24); measured only where asked for */
  bool measure;
  ss_shot_report shot;  /* likewise */
  double tear;          /* by how much initial velocities disagreed with the joints at most, over all runs */
  bool fitted;          /* segments were made to fit together and to meet the conditions */
  double *low, *high;   /* [m] of the conditions' residuals, over all runs */
  double deadline;      /* on the clock of ss_seconds; infinite: none */
  bool out_of_time;     /* it has passed: no more runs */
  double best_residual; /* over all runs */
  double *best_u, *best_f;
  const char *best_method, *method;
} ss_shooting;

ss_status ss_shooting_create(const ss_scene *scene, const ss_simulation *options, ss_arena *arena, ss_shooting **out,
                             ss_error *error);

/* False: the run failed (f is then large), or memory or input did (status says so). */
bool ss_shoot(ss_shooting *s, const double *u, double *f);

/* Looks at the clock; no more runs where it is. */
bool ss_shooting_out_of_time(ss_shooting *s);

/* Residuals of the conditions for a simulation that has reached its end and began with the scene's velocities. */
void ss_shooting_conditions(const ss_shooting *s, const ss_sim *sim, double *f);

/* Velocities of which a run is known, as starts (starts.c). */
typedef struct ss_samples {
  int n, capacity;
  double *u;        /* [n][unknowns] */
  double *residual; /* [n] infinite: the run failed */
  double *scale;    /* [unknowns] */
  bool *used;       /* [n] as a start, or near one */
} ss_samples;

/* Runs `count` of them, fewer where the time is up. */
ss_status ss_samples_create(ss_shooting *s, const double *own, int count, ss_arena *arena, ss_samples *samples,
                            ss_error *error);
/* The best that is left; false: none. */
bool ss_samples_next(ss_samples *samples, int n, double *u);

/* A search for solutions (solve.c, report.c). */
typedef struct ss_bvp_solver {
  ss_arena *arena;
  ss_shooting *shooting;
  ss_bvp_result *result;
  double *scratch;
  double *binverse; /* [n][n]; NULL: no fixed point */
  double *u;        /* [n]: the scene's velocities, or those that continuation has led to */
  double *guess;    /* [n] a fixed-point step from there; NULL: there is none */
} ss_bvp_solver;

/* (M_v + N_v + horizon N_q)^-1 on the unknowns, for as many conditions; false: singular. */
bool ss_bvp_invert_conditions(ss_bvp_solver *v, double horizon, double *inverse);

/* The best point, the contraction there, and the reason where there is no solution. */
ss_status ss_bvp_report(ss_bvp_solver *v, ss_error *error);

double ss_largest(const double *x, int n);

/* d f / d u [m][n] along the run from u, exact for the discrete motion (sensitivity/variation.c). False: as ss_shoot, or
 * the motion has something that cannot be differentiated. */
bool ss_shoot_jacobian(ss_shooting *s, const double *u, double *jacobian);
/* Whether that can be asked for at all; else why not. */
ss_status ss_jacobian_possible(const ss_shooting *s, ss_error *error);
/* The same by forward differences of runs; f is F(u). */
bool ss_shoot_differences(ss_shooting *s, const double *u, const double *f, double *jacobian);

/* The velocities that the scene itself gives. */
void ss_shooting_start(const ss_shooting *s, double *u);

/* u <- u - B^-1 F(u), BVP (27), with Anderson acceleration; binverse is [n][n] (square problems). Ends at the
 * tolerance, after `limit` runs, or where it diverges. True: converged. */
bool ss_fixed_point(ss_shooting *s, const double *binverse, double tolerance, int limit, double *u, double *scratch);
size_t ss_fixed_point_scratch(int n);

/* Powell's hybrid method (square problems) or Levenberg-Marquardt (more conditions than unknowns), from u. */
bool ss_powell(ss_shooting *s, double tolerance, double *u, double *scratch);
size_t ss_powell_scratch(int n, int m);

/* Multiple shooting (multiple.c): from u, and for the states in between from a run with u or from states between the
 * initial one and one that meets the conditions. True: the segments fit together and the conditions hold; a run from u
 * still has to be made. */
typedef enum ss_segment_guess { SS_GUESS_BETWEEN, SS_GUESS_RUN } ss_segment_guess;
bool ss_multiple_shooting(ss_shooting *s, ss_segment_guess guess, double *u);

#endif
