/* The linear system of an active set (active.c): C^T [G B, w_ref - e] + D, scaled, and its solution by elimination with pivots.
 *
 * Assembling it costs as much as solving it where there are few rows, so the columns are taken from a row of G in pieces: those
 * of contacts that stick as they are, the two of a contact that slides together. */
#include "cp/active.h"

#include "cp/dense.h"

#include <math.h>

static const double rank_tolerance = 1e-13;

/* The rows in which the step from z to the reference, y, is not zero, in a->row; returns how many: mostly few. */
static int list_moved(active_set *a) {
  int count = 0;
  for (int i = 0; i < a->problem->n; i++) {
    a->row[count] = i;
    count += a->y[i] != 0;
  }
  return count;
}

/* The slack of a row at the reference: that at z, and what the step to it changes. */
static double reference_slack(const active_set *a, int moved, const double *w, int i) {
  const double *row = a->problem->G + (size_t)i * (size_t)a->problem->n;
  double sum = w[i];
  for (int k = 0; k < moved; k++) sum += row[a->row[k]] * a->y[a->row[k]];
  return sum;
}

/* How the columns hang together; the factors of single rows also go into a->w, one after the other. */
static void list_columns(active_set *a, int m) {
  enum { LONG = 4 };
  system_column *next = NULL;
  for (int k = m - 1, run = 0; k >= 0; k--) {
    const unknown *u = &a->u[k];
    system_column *v = &a->columns[k];
    v->first = u->first;
    for (int i = 0; i < u->size && i < 3; i++) v->b[i] = u->scale * u->b[i];
    a->w[k] = v->b[0];
    run = u->size > 1 ? 0 : run > 0 && next->first == u->first + 1 ? run + 1 : 1;
    v->kind = u->size <= 3 ? u->size : COLUMN_LONG;
    if (u->size == 3 && next && next->kind == 2 && next->first == u->first + 1) v->kind = COLUMN_PAIR;
    v->run = run;
    if (run >= LONG) v->kind = COLUMN_RUN;
    next = v;
  }
}

static double long_product(const unknown *u, const double *p) {
  double sum = 0;
  for (int i = 0; i < u->size; i++) sum += p[i] * u->b[i];
  return u->scale * sum;
}

/* c times a row of G, in the unknowns: the row of the system, or what is added to it. */
static inline void take_row(const active_set *a, int m, const double *restrict G, double c, bool add,
                            double *restrict row) {
  const system_column *restrict columns = a->columns;
  for (int j = 0; j < m;) {
    const system_column *v = columns + j;
    const double *restrict p = G + v->first, *restrict factor = a->w + j;
    double x;
    switch (v->kind) {
    case COLUMN_PAIR:
      x = c * (p[0] * v->b[0] + p[1] * v->b[1] + p[2] * v->b[2]);
      row[j] = add ? row[j] + x : x;
      x = c * (p[1] * v[1].b[0] + p[2] * v[1].b[1]);
      row[j + 1] = add ? row[j + 1] + x : x;
      j += 2;
      continue;
    case COLUMN_RUN:
      for (int l = 0; l < v->run; l++) row[j + l] = (add ? row[j + l] : 0) + c * (p[l] * factor[l]);
      j += v->run;
      continue;
    case 1:
      x = c * (p[0] * v->b[0]);
      break;
    case 2:
      x = c * (p[0] * v->b[0] + p[1] * v->b[1]);
      break;
    case 3:
      x = c * (p[0] * v->b[0] + p[1] * v->b[1] + p[2] * v->b[2]);
      break;
    default:
      x = c * long_product(&a->u[j], p);
    }
    row[j] = add ? row[j] + x : x;
    j++;
  }
}

/* Row k of the scaled system: c_k^T [G B, w_ref - e] + D. */
static void assemble_row(active_set *a, int m, int k, int moved, const double *w) {
  const size_t n = (size_t)a->problem->n;
  const unknown *u = &a->u[k];
  double *row = a->A + (size_t)k * ((size_t)m + 1), sum = 0;
  bool begun = false;
  for (int i = 0; i < u->size; i++) {
    if (u->c[i] == 0) continue;
    const double c = u->scale * u->c[i], *G = a->problem->G + (size_t)(u->first + i) * n;
    if (begun)
      take_row(a, m, G, c, true, row);
    else
      take_row(a, m, G, c, false, row);
    begun = true;
    sum += c * reference_slack(a, moved, w, u->first + i);
  }
  row[k] += u->scale * u->scale * u->diagonal + a->damping;
  row[m] = sum - u->scale * u->value;
  a->load = fabs(row[m]) > a->load ? fabs(row[m]) : a->load;
}

/* By elimination with pivots; undetermined unknowns keep their value, equations that contradict others are ignored. */
static bool eliminate(active_set *a, double *z, const double *w) {
  const int m = active_set_unknowns(a, z), stride = m + 1, moved = list_moved(a);
  list_columns(a, m);
  a->load = 0;
  for (int k = 0; k < m; k++) assemble_row(a, m, k, moved, w);
  const int rank = dense_eliminate(a->A, m, stride, stride, m, rank_tolerance, a->row, a->col);
  a->unknowns = m;
  a->rank = rank;
  for (int k = 0; k < rank; k++) a->y[k] = -a->A[(size_t)k * (size_t)stride + (size_t)m];
  dense_back(a->A, stride, rank, a->y);
  double finite = 0;
  for (int k = 0; k < rank; k++) {
    const unknown *u = &a->u[a->col[k]];
    const double y = u->scale * a->y[k];
    finite += 0 * y;
    for (int i = 0; i < u->size; i++) z[u->first + i] += u->b[i] * y;
  }
  return finite == 0;
}

bool active_set_solve(active_set *a, double *z, const double *w) {
  const int n = a->problem->n;
  a->loose = false;
  if (a->large && !a->pivoting) {
    for (int i = 0; i < n; i++) a->before[i] = z[i];
    if (active_set_approach(a, active_set_unknowns(a, z), z)) return true;
    for (int i = 0; i < n; i++) z[i] = a->before[i];
  }
  return eliminate(a, z, w);
}
