/* The pivots of a linear complementarity problem  y = M x + q: what Lemke's and Keller's methods share. */
#ifndef SS_CP_TABLEAU_H
#define SS_CP_TABLEAU_H

#include "cp/reduce.h"

/* Variables: y_j is j, x_j is n + j, the artificial one x0 is 2 n (its column is the covering vector). */
typedef struct tableau {
  const lcp *l;
  const double *cover;
  int n, stride;
  double *T;    /* n x (n + 2): nonbasic columns, right side last */
  int *basic;   /* [n] variable of each row */
  int *outside; /* [n + 1] variable of each column */
  int *place;   /* [2 n + 1] row, or -1 - column */
  int *wanted;  /* [2 n + 1] scratch of refresh */
  double *part; /* [2 n + 1] scratch of the check: the variables' parts in a column */
  int stale;    /* pivots since the tableau was computed from the data */
} tableau;

/* The basis y. `cover`: n positive numbers; NULL: ones. */
ss_status tableau_create(const lcp *l, const double *cover, ss_cp_workspace *w, tableau *out, ss_error *error);

static inline double *tableau_row(const tableau *t, int i) { return t->T + (size_t)i * (size_t)t->stride; }
static inline double tableau_value(const tableau *t, int i) { return tableau_row(t, i)[t->n + 1]; }
static inline int tableau_complement(const tableau *t, int v) { return v < t->n ? v + t->n : v - t->n; }
/* The column of a nonbasic variable; negative for a basic one. */
static inline int tableau_column(const tableau *t, int v) { return -1 - t->place[v]; }

/* True where row a comes before row b in the lexicographic order of (inverse basis row) / (entry of column c): the rule
 * against cycling. */
bool tableau_before(const tableau *t, int a, int b, int c);

/* Whether the tableau need not be fresh for the pivot in row r, column c to be believed; r < 0: there is none, a ray. */
bool tableau_reliable(const tableau *t, int r, int c);

/* Column c enters, row r leaves; tells whether a refresh is due: the pivot was small, or a check of the tableau, made now and
 * then, has found that its errors have grown. */
bool tableau_pivot(tableau *t, int r, int c);

/* Computes the tableau of the present basis again from the data, the best pivots first: errors that many pivots in a
 * prescribed order have built up (light bodies between heavy ones) are gone. */
void tableau_refresh(tableau *t);

/* x of the present basis, solved again from M and q where it is complementary. The tableau cannot be used afterwards. */
ss_status tableau_solution(tableau *t, bool complementary, double *x, ss_cp_workspace *w, ss_error *error);

/* How x changes as column c grows without bound. */
void tableau_ray(const tableau *t, int c, double *direction);

enum { TABLEAU_CHECK = 40 /* pivots */ };
static const double tableau_pivot_tolerance = 1e-9, tableau_tie_tolerance = 1e-10;

#endif
