/* From a complementarity problem to a small standard LCP and back. */
#ifndef SS_CP_REDUCE_H
#define SS_CP_REDUCE_H

#include "cp/workspace.h"

#include <math.h>

/* Rows whose z is not bounded: they are eliminated. */
static inline bool block_is_free(const ss_block *block) {
  return block->kind == SS_BLOCK_FREE ||
         (block->kind == SS_BLOCK_BOX && block->lower == -HUGE_VAL && block->upper == HUGE_VAL);
}

/* The tangential rows of a friction block share one scale, the smallest: its set keeps its shape. scale[0] is the normal
 * row's. */
static inline void equal_tangents(const ss_block *block, double *scale) {
  for (int i = 2; i < block->size; i++) scale[1] = fmin(scale[1], scale[i]);
  for (int i = 2; i < block->size; i++) scale[i] = scale[1];
}

/* The problem with its free rows eliminated. Rows stand in the order `order`: free rows first. All numbers are scaled
 * by powers of two: A = S [G g] S with unit-size diagonal. */
typedef struct reduction {
  const ss_cp *problem;
  int n_free;    /* rows with z free: free blocks, boxes without bounds */
  int rank;      /* of them eliminated */
  int rest;      /* first place that is not settled: kept free rows (places rest .. n_free - 1), then the contacts */
  int stride;    /* of A: n + 1 columns */
  double *A;     /* LU of the eliminated rows, their coupling to the rest, the rest's Schur complement and right side */
  double *scale; /* [n] by place before elimination: z = scale * (scaled z) */
  int *order;    /* [n] original row at each place before elimination */
  int *row, *col; /* [n_free] what the elimination swapped */
} reduction;

/* `tolerance` is the relative size below which a pivot counts as zero. Free rows that depend on others get z = 0; those
 * that are still coupled to the contacts are kept (rest < n_free). */
ss_status reduce_free_rows(const ss_cp *problem, double tolerance, ss_cp_workspace *w, reduction *out, ss_error *error);

/* z of the whole problem from the scaled z of the places rest .. n - 1 (z_rest[0] belongs to place `rest`). */
ss_status reduction_recover(const reduction *r, const double *z_rest, double *z, ss_cp_workspace *w, ss_error *error);

/* Standard LCP: y = M x + q, 0 <= x perp y >= 0, scaled so that its entries are of order one. Variable j generates the
 * places first[j] .. first[j] + size[j] - 1 of the reduction's rest with the coefficients c[2 j], c[2 j + 1]; the
 * multipliers of cones and boxes have size 0. */
typedef struct lcp {
  int n;
  double *M, *q; /* n x n, n */
  int *first, *size;
  double *c;
  double *offset;   /* [rest rows] z_rest = offset + amplitude * sum of c x */
  double amplitude; /* of q */
  double damping;   /* has been added to the diagonal of M for the pivots; the solution of the last basis is without */
} lcp;

/* Variables of the LCP, not counting free rows that have to be kept. */
int lcp_variables(const ss_cp *problem);

ss_status expand_to_lcp(const reduction *r, ss_cp_workspace *w, lcp *out, ss_error *error);
void lcp_contract(const lcp *l, const reduction *r, const double *x, double *z_rest);

/* A problem whose free rows have been eliminated, scaled so that its matrix and right side are of order one. */
typedef struct subproblem {
  reduction r;
  ss_cp cp;
  double *scale;    /* [cp.n] second scaling, on top of the reduction's */
  double *total;    /* [cp.n] z of the original row = total * z of this problem */
  double amplitude; /* of the right side */
} subproblem;

/* Of a problem with a dense matrix. */
ss_status subproblem_create(const ss_cp *problem, double rank_tolerance, ss_cp_workspace *w, subproblem *out,
                            ss_error *error);

/* The original z from the subproblem's, and the subproblem's starting guess from the original z. */
ss_status subproblem_recover(const subproblem *s, const double *x, double *z, ss_cp_workspace *w, ss_error *error);
void subproblem_start(const subproblem *s, const double *z, double *x);

#endif
