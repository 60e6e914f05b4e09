/* The cone of contact impulses in the norm of kinetic energy, from the data of an impact's problem. */
#ifndef SS_THEORY_CONE_H
#define SS_THEORY_CONE_H

#include <stickslip/cp.h>

struct ss_arena;

/* Gram matrix of all rows with the free ones eliminated. The problem's G must be symmetric. */
typedef struct ss_cone_gram {
  const ss_cp *problem;
  int n, n_free;   /* rows; the first n_free are free */
  int rank;        /* of the free rows */
  int *pivot;      /* [n_free] order of elimination; those from `rank` on depend on the ones before */
  double *factor;  /* [n][n_free] rows of the Cholesky factor, column by column of elimination */
  double *reduced; /* [n][n]: rows and columns from n_free on: Schur complement */
  double *scratch; /* [n_free] */
  double softest;  /* smallest eigenvalue of the independent free rows' Gram matrix; INFINITY without any */
} ss_cone_gram;

ss_status ss_cone_gram_create(const ss_cp *problem, struct ss_arena *arena, ss_cone_gram *out, ss_error *error);

/* Free rows' multipliers that balance impulses z of the other rows as well as they can: z[0 .. n_free-1] is filled in. */
void ss_cone_balance(const ss_cone_gram *gram, double *z);

/* Multipliers of the free rows that balance each other, for the first dependent one (rank < n_free). */
void ss_cone_stress(const ss_cone_gram *gram, double *z);

/* Smallest of (f . e) over the friction set of a block for a normal impulse of one; s receives the minimiser, as the
 * block's impulses (normal first). f: the block's rows of a vector. */
double ss_cone_support(const ss_block *block, const double *f, double *s);

/* The point nearest to zero of the set { reduced forces of impulses z : sum of weight_j z_n,j = 1 }. */
typedef struct ss_nearest_point {
  double *z;           /* [n] impulses; free rows zero */
  double upper, lower; /* distance: |z| itself, and what is certain */
} ss_nearest_point;
ss_status ss_cone_nearest(const ss_cone_gram *gram, const double *weight, struct ss_arena *arena, ss_nearest_point *out,
                          ss_error *error);

#endif
