/* Boundary-value problems: initial velocities for which a simulation meets conditions at its end (BVP section 5). */
#ifndef STICKSLIP_BVP_H
#define STICKSLIP_BVP_H

#include <stickslip/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_bvp_solution {
  double *unknown;    /* [n_unknown] in the order of the scene's list */
  double *conditions; /* [n_conditions] left side minus right side */
  double residual;    /* max |conditions| */
  const char *method; /* what found it */
} ss_bvp_solution;

/* The contraction estimate, BVP (28): where growth < bound, a solution exists (for small enough friction and steps). */
typedef struct ss_bvp_contraction {
  bool applies;    /* M_v + N_v can be inverted; else the numbers below are NAN */
  double psi;      /* largest |x+ - x| / (h (1 + |x|)) along the best trajectory, (24) */
  double growth;   /* exp(T psi) */
  double bound;    /* 1 + 1 / |(M_v + N_v)^-1 N| */
  double observed; /* by how much one fixed-point step shrinks differences near the best point; below 1: contracts */
} ss_bvp_contraction;

typedef struct ss_bvp_result {
  int n_unknown, n_conditions;
  ss_bvp_solution *solutions; /* [n_solutions] different ones, smallest velocities first */
  int n_solutions;
  ss_bvp_solution best; /* the smallest residual that was seen, solution or not */
  const char *reason;   /* why there may be none; NULL where there is a solution */
  ss_bvp_contraction contraction;
  long simulations; /* how many were run */
  struct ss_arena *arena;
} ss_bvp_result;

/* Solves the scene's `boundary` with the given simulation options (NULL: the scene's own). `settings` are those the
 * scene was loaded with; continuation loads it again. Finding nothing is a result, not an error. */
ss_status ss_bvp_solve(const ss_scene *scene, const ss_simulation *options, const char *const *settings, int n_settings,
                       ss_bvp_result **out, ss_error *error);
void ss_bvp_result_destroy(ss_bvp_result *result);

/* Puts velocities into the scene's bodies, so that a model compiled from it starts with them. */
void ss_bvp_apply(ss_scene *scene, const double *unknown);

/* Writes the scene's text with a section `start` that holds these velocities, and with the settings and options (NULL:
 * the scene's own) that they belong to: ss_scene_load and a run reproduce them. */
ss_status ss_bvp_write_scene(const ss_scene *scene, const ss_simulation *options, const char *const *settings,
                             int n_settings, const double *unknown, const char *path, ss_error *error);

/* "puck.vx", for messages; text has room for `size` characters. */
void ss_quantity_name(const ss_scene *scene, const ss_quantity *quantity, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
