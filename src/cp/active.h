/* Active sets: which relation holds in each contact, and the linear system that follows from it. */
#ifndef SS_CP_ACTIVE_H
#define SS_CP_ACTIVE_H

#include "cp/pattern.h"

/* A site is what has a state of its own: a nonnegative row, a box row, a friction block.
 *
 *     nonnegative   0 open (z = 0)   1 active (w = 0)
 *     box           0 at lower       1 between (w = 0)       2 at upper
 *     friction      0 open with z_t = 0 (only where `extra` is 0); 1 + slip closed; 1 + slips + slip open (only where
 *                   `extra` is positive), where slip = 0 .. slips - 1 is
 *       mu = 0              0 z_t = 0
 *       one axis, pyramid   (a_1 + 1) + 3 (a_2 + 1) + .., a = -1, 0, 1 per axis: z_t = a mu z_n, or w_t = 0 where a = 0
 *       polyhedral          0 sticks, 1 + 2 i slides at corner i, 2 + 2 i slides on the edge from corner i to i + 1
 *       disc                0 sticks, 1 slides */
enum { SITE_OPEN = 0, SLIP_STICKS = 0, SLIP_DISC_SLIDES = 1 };

typedef struct site {
  const ss_block *block;
  int row;
  int slips; /* friction: number of slip states */
  int state;
  const double *corners;                  /* polyhedral: scratch_directions */
  double direction[SS_FRICTION_ROWS - 1]; /* disc, sliding: unit vector of z_t - rho w_t */
  double stiffness; /* disc, sliding: (1 - a) / (a rho), the curvature term of the linearised disc; see active.c */
} site;

/* One unknown of the linear system: z[first + i] += b[i] y, tested by c[i] w[first + i]. */
typedef struct unknown {
  int first, size;
  double b[SS_FRICTION_ROWS], c[SS_FRICTION_ROWS];
  double diagonal, value; /* sum c w + diagonal y = value */
  double scale;
} unknown;

/* What a column of the system needs of it. */
enum { COLUMN_LONG = 4, COLUMN_PAIR, COLUMN_RUN };
typedef struct system_column {
  int first;
  int kind; /* 1, 2, 3 rows; COLUMN_LONG more; COLUMN_PAIR a contact that slides: three rows, and in the next column its last two;
                * COLUMN_RUN single rows next to each other */
  int run;     /* how many of these */
  double b[3]; /* the first ones of b, scaled */
} system_column;

typedef struct active_set {
  const ss_cp *problem;
  int n_sites;
  site *sites;            /* [n_sites] */
  double *rho;            /* [n] 1 / diagonal of G, alike for the tangential rows of a block */
  const double *diagonal; /* [n] of G, where the problem has no G */
  unknown *u;             /* [n] */
  system_column *columns; /* [n] */
  double *A;              /* [n * (n + 1)] */
  double *y;              /* [n] */
  double *w;              /* [n] */
  int *row, *col;         /* [n] */
  bool large;             /* enough rows that what follows pays */
  bool pivoting;          /* given: eliminate with pivots nevertheless */
  bool loose;             /* solve: the equations are solved roughly only */
  pattern pattern;
  double *r, *before, *filter; /* [n] active.c; z to go back to */
  double *blur;                /* [n] rounding errors of z - rho w, below which a state is not left */
  int *last, *begin;           /* [n], [n + 1] active.c */
  int unknowns,
      rank;    /* of the last system solved with pivots; A, row and col hold its factors (dense.h), stride unknowns
                         + 1 */
  double load; /* the largest right-hand side of that system */
  double
      damping; /* added to the scaled diagonal: holds back what the equations hardly determine (redundant contacts) */
} active_set;

ss_status active_set_create(const ss_cp *problem, ss_cp_workspace *w, active_set *out, ss_error *error);
/* From now on large sets are solved with the least change of z (active.c), which is for redundant contacts and for sparse
 * problems. */
ss_status active_set_seek_nearest(active_set *a, ss_cp_workspace *w, ss_error *error);
/* The same without a matrix: problem->G is not read, and active_set_solve not to be called. */
ss_status active_set_create_bare(const ss_cp *problem, const double *diagonal, ss_cp_workspace *w, active_set *out,
                                 ss_error *error);

/* The site of a row or of a friction block, without a state; false: out of memory. */
bool active_describe(const ss_block *block, int row, ss_cp_workspace *w, site *s);

/* The sites of a problem, at most its rows; returns how many, -1: out of memory. */
int active_list_sites(const ss_cp *problem, ss_cp_workspace *w, site *sites);

/* The unknowns a->u of the states, in the order of the rows; returns how many. z becomes the reference. */
int active_set_unknowns(active_set *a, double *z);

/* The states of a site that can be enumerated: first .. end - 1; an empty range for a continuum (disc). */
int site_first_state(const site *s);
int site_end_state(const site *s);

/* Estimates the rounding errors of z - rho w, of which the next guesses of a large set take no notice. */
void active_set_blur(active_set *a, const double *z);

/* The states that z and w suggest by the natural map: the set that z - rho w projects to. Returns how many changed. */
int active_set_guess(active_set *a, const double *z, const double *w);

/* Solves the equations of the states for z, starting from z: unknowns that the equations leave undetermined keep the
 * value they had. w must be G z + g. Returns false where the result is not finite. */
bool active_set_solve(active_set *a, double *z, const double *w);

/* The same for the m unknowns of a large set, from the reference z, with the least change of z. Returns false, with z
 * spoiled, where that does not converge. */
bool active_set_approach(active_set *a, int m, double *z);

/* w = G z + g. */
void active_apply(const ss_cp *problem, const double *z, double *w);

#endif
