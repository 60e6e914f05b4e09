/* The basis of a linear complementarity problem  y = M x + d x0 + q  as Lemke's and Keller's methods see it: which variables
 * are basic, their values, and the column of the one that is to enter. Two ways to keep it: a tableau of all columns
 * (pivoting.c), or LU factors of the basis with updates (pivoting.c). */
#ifndef SS_CP_PIVOTING_H
#define SS_CP_PIVOTING_H

#include "cp/reduce.h"

/* Variables: y_j is j, x_j is n + j, the artificial one x0 is 2 n (its column is the covering vector d). */
typedef struct pivots pivots;
struct pivots {
  const lcp *l;
  const double *cover; /* [n] d */
  int n;
  int *basic;     /* [n] variable of each row */
  int *place;     /* [2 n + 1] row; negative: not basic */
  double *value;  /* [n] of the basic variables */
  double *column; /* [n] of the entering variable: value - column t where that one grows to t */
  int entering;
  int stale;                      /* pivots since everything was computed from the data */
  void (*take_column)(pivots *p); /* of `entering` */
  bool (*before)(const pivots *p, int a, int b);
  bool (*pivot)(pivots *p, int r);
  void (*refresh)(pivots *p);
};

/* The basis y, kept in the way that is likely to be the faster one. */
ss_status pivots_create(const lcp *l, const double *cover, ss_cp_workspace *w, pivots **out, ss_error *error);
ss_status tableau_create(const lcp *l, const double *cover, ss_cp_workspace *w, pivots **out, ss_error *error);
ss_status basis_create(const lcp *l, const double *cover, ss_cp_workspace *w, pivots **out, ss_error *error);

static inline int pivots_complement(const pivots *p, int v) { return v < p->n ? v + p->n : v - p->n; }

/* Prepares v to enter; false: it is basic. */
static inline bool pivots_enter(pivots *p, int v) {
  if (p->place[v] >= 0) return false;
  p->entering = v;
  p->take_column(p);
  return true;
}

/* True where row a comes before row b in a lexicographic order that does not change from pivot to pivot, divided by the
 * entries of the column: the rule against cycling. */
static inline bool pivots_before(const pivots *p, int a, int b) { return p->before(p, a, b); }

/* The entering variable takes row r; tells whether a refresh is due: the pivot was small, or errors have grown. */
static inline bool pivots_exchange(pivots *p, int r) { return p->pivot(p, r); }

/* Computes everything again from the data. Where the basis is singular in working precision, it becomes another one. */
static inline void pivots_refresh(pivots *p) { p->refresh(p); }

/* Whether the pivot in row r can be believed though the basis is stale; r < 0: there is none, a ray. */
static const double pivots_small = 1e-5;
static inline bool pivots_reliable(const pivots *p, int r) { return r >= 0 && fabs(p->column[r]) >= pivots_small; }

/* x of the present basis, solved again from M and q where it is complementary. */
ss_status pivots_solution(const pivots *p, bool complementary, double *x, ss_cp_workspace *w, ss_error *error);

/* How x changes as the entering variable grows without bound. */
void pivots_ray(const pivots *p, double *direction);

static const double pivot_tolerance = 1e-9, tie_tolerance = 1e-10;

/* Both solve y = M x + q, 0 <= x perp y >= 0. Where the outcome is a ray, `ray` (n numbers, may be NULL) receives its
 * direction in x. */

/* `cover` is the covering vector (n positive numbers; NULL: ones). */
ss_status lemke(const lcp *l, const double *cover, int limit, double *x, double *ray, ss_cp_workspace *w,
                ss_outcome *outcome, int *pivots, ss_error *error);

ss_status keller(const lcp *l, int limit, double *x, double *ray, ss_cp_workspace *w, ss_outcome *outcome, int *pivots,
                 ss_error *error);

/* Whether v shows that no x >= 0 has M x + q >= 0: v >= 0, M^T v <= 0, q . v < 0 (Farkas). Rounding errors below zero are taken
 * out of v (infeasibility.c). */
bool lcp_infeasible(const lcp *l, double *v, ss_cp_workspace *w);

#endif
