/* Pieces of the boundary-value solver. */
#ifndef SS_BVP_BVP_H
#define SS_BVP_BVP_H

#include "core/arena.h"

#include <stickslip/bvp.h>

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
  bool fitted;          /* segments were made to fit together and to meet the conditions */
  double best_residual; /* over all runs */
  double *best_u, *best_f;
  const char *best_method, *method;
} ss_shooting;

ss_status ss_shooting_create(const ss_scene *scene, const ss_simulation *options, ss_arena *arena, ss_shooting **out,
                             ss_error *error);

/* False: the run failed (f is then large), or memory or input did (status says so). */
bool ss_shoot(ss_shooting *s, const double *u, double *f);

/* Residuals of the conditions for a simulation that has reached its end and began with the scene's velocities. */
void ss_shooting_conditions(const ss_shooting *s, const ss_sim *sim, double *f);

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
