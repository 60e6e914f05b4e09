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
  int starts;       /* from how many velocities a solution was searched for */
  int samples;      /* of how many velocities they are the best */
  bool out_of_time; /* the search ended with its budget of seconds */
  long simulations; /* how many were run */
  struct ss_arena *arena;
} ss_bvp_result;

/* Solves the scene's `boundary` with the given simulation options (NULL: the scene's own). `settings` are those the
 * scene was loaded with; continuation loads it again. Finding nothing is a result, not an error. */
ss_status ss_bvp_solve(const ss_scene *scene, const ss_simulation *options, const char *const *settings, int n_settings,
                       ss_bvp_result **out, ss_error *error);
void ss_bvp_result_destroy(ss_bvp_result *result);

/* The same in pieces, for threads and processes: each has a search of its own, tries the starts that are its share, and one of
 * them concludes from all attempts, in the order of the starts. ss_bvp_solve does nothing else. A search is not for several
 * threads at once. */
typedef struct ss_bvp_search ss_bvp_search;
typedef struct ss_bvp_attempt {
  bool tried;       /* else there was no such start, or no time */
  bool out_of_time; /* the budget of seconds has ended it, or has left nothing for it */
  bool found;       /* `unknown` meets the conditions; else it is the best that was seen */
  bool fitted;      /* multiple shooting: the segments fit together */
  double residual;  /* of `unknown` */
  double tear;      /* by how much initial velocities disagreed with the joints at most */
  long simulations; /* how many were run, beyond the samples */
  int samples;      /* how many velocities were sampled to choose the start */
  char method[32];  /* what found it */
  double *unknown;  /* [ss_bvp_unknowns], the caller's */
  double *low;      /* [ss_bvp_conditions], the caller's, as `high`: */
  double *high;     /* between what the conditions' residuals were in all runs that were seen */
} ss_bvp_attempt;

/* Continuation is done here. The scene's number of starts says how many velocities are sampled, once in each search, when
 * the first start but 0 is tried; its budget of seconds begins here. */
ss_status ss_bvp_search_create(const ss_scene *scene, const ss_simulation *options, const char *const *settings,
                               int n_settings, ss_bvp_search **out, ss_error *error);
void ss_bvp_search_destroy(ss_bvp_search *search);
int ss_bvp_unknowns(const ss_bvp_search *search);
int ss_bvp_conditions(const ss_bvp_search *search);
ss_status ss_bvp_try(ss_bvp_search *search, int start, ss_bvp_attempt *attempt, ss_error *error);
ss_status ss_bvp_conclude(ss_bvp_search *search, const ss_bvp_attempt *attempts, int n, ss_bvp_result **out,
                          ss_error *error);

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
