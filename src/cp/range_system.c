/* The velocity space of a dense matrix: G = L U^T (range.c), y = U^T z, A = 1. As small as the rank of G however many contacts there
 * are. U^T D L is kept from factorisation to factorisation: only what has changed in D is added. */
#include "cp/velocity_space.h"

#include "core/wide.h"
#include "cp/range.h"
#include "la/rows.h"

#include <math.h>
#include <string.h>

enum { MOST_RANK = 3000, REFRESH = 40 };

typedef struct range_system {
  pattern pattern;
  range range;
  int n;
  double *none;                  /* [n] zeros */
  double *K, *H, *T;             /* [rank][rank], [rows of a node][rank]; K = U^T D L */
  double (*D)[SS_FRICTION_ROWS]; /* [n] what K has been made of */
  int *first, *last;             /* [rank] envelope of H */
  double stiffness;              /* of the factors in H; 0: there are none */
  int updates;                   /* of K since it was made from nothing: their rounding errors stay */
} range_system;

/* The columns that the contacts connect. */
static void bound_envelope(range_system *s) {
  const int rank = s->range.rank;
  const pattern *p = &s->pattern;
  for (int k = 0; k < rank; k++) s->first[k] = s->last[k] = k;
  for (int g = 0; g < p->n; g++) {
    int first = rank, end = 0;
    for (int i = p->row[g]; i < p->row[g] + p->size[g]; i++) {
      if (s->range.first[i] < first) first = s->range.first[i];
      if (s->range.end[i] > end) end = s->range.end[i];
    }
    for (int k = first; k < end; k++) {
      if (first < s->first[k]) s->first[k] = first;
      if (end - 1 > s->last[k]) s->last[k] = end - 1;
    }
  }
}

static double factor_operations(const range_system *s) {
  double sum = 0;
  for (int k = 0; k < s->range.rank; k++) {
    const double width = s->last[k] - s->first[k] + 1;
    sum += width * width / 4; /* half of it below the diagonal, half to the right of it */
  }
  return sum;
}

static void slack(const void *user, const double *y, double *w) {
  const range_system *s = user;
  range_apply(&s->range, s->none, y, w);
}

static void load(const void *user, const double *z, double *F) {
  const range_system *s = user;
  range_collect(&s->range, z, F);
}

static void collect(const void *user, const double *y, const double *z, double *F) {
  const range_system *s = user;
  range_collect(&s->range, z, F);
  for (int k = 0; k < s->range.rank; k++) F[k] = y[k] - F[k];
}

/* T_i = sum of (D_ij - old D_ij) L_j for a row i of a node, in the columns first .. end - 1, which are those of the whole node;
 * false where nothing has changed. */
static bool changed_row(range_system *s, const double (*D)[SS_FRICTION_ROWS], int i, int first_row, int size, int first,
                        int end, double *T) {
  const range *r = &s->range;
  bool any = false;
  for (int j = 0; j < size; j++) {
    const double change = D[i][j] - s->D[i][j];
    if (change == 0) continue;
    s->D[i][j] = D[i][j];
    if (!any)
      for (int k = first; k < end; k++) T[k] = 0;
    any = true;
    const double *line = r->L + (size_t)(first_row + j) * (size_t)r->stride;
    for (int k = r->first[first_row + j]; k < r->end[first_row + j]; k++) T[k] += change * line[k];
  }
  return any;
}

static double entry(const range *r, int i, int column) {
  return column >= r->first[i] && column < r->end[i] ? r->U[(size_t)i * (size_t)r->stride + (size_t)column] : 0;
}

/* K += sum of U_i T_i^T over the rows of a node, up to three of them in one pass; returns whether anything has changed. */
WIDE static bool update_node(range_system *s, const double (*D)[SS_FRICTION_ROWS], int first_row, int size) {
  const range *r = &s->range;
  const size_t rank = (size_t)r->rank;
  int first = r->rank, end = 0, count = 0, rows[SS_FRICTION_ROWS];
  for (int i = first_row; i < first_row + size; i++) {
    if (r->first[i] < first) first = r->first[i];
    if (r->end[i] > end) end = r->end[i];
  }
  for (int i = first_row; i < first_row + size; i++)
    if (changed_row(s, D, i, first_row, size, first, end, s->T + (size_t)count * rank)) rows[count++] = i;
  for (int m = 0; m < count; m += 3) {
    const double *T = s->T + (size_t)m * rank, *restrict a = T, *restrict b = a + rank, *restrict c = b + rank;
    const int left = count - m;
    for (int l = first; l < end; l++) {
      double *restrict row = s->K + (size_t)l * rank;
      const double f = entry(r, rows[m], l), g = left > 1 ? entry(r, rows[m + 1], l) : 0;
      const double h = left > 2 ? entry(r, rows[m + 2], l) : 0;
      if (left > 2)
        for (int k = first; k < end; k++) row[k] += f * a[k] + g * b[k] + h * c[k];
      else if (left > 1)
        for (int k = first; k < end; k++) row[k] += f * a[k] + g * b[k];
      else
        for (int k = first; f != 0 && k < end; k++) row[k] += f * a[k];
    }
  }
  return count > 0;
}

static bool factor(void *user, const double (*D)[SS_FRICTION_ROWS], double stiffness) {
  range_system *s = user;
  const int rank = s->range.rank;
  if (++s->updates > REFRESH) {
    memset(s->K, 0, sizeof(double) * (size_t)rank * (size_t)rank);
    memset(s->D, 0, sizeof *s->D * (size_t)s->n);
    s->updates = 0;
    s->stiffness = 0;
  }
  bool changed = s->stiffness != stiffness;
  for (int g = 0; g < s->pattern.n; g++) changed |= update_node(s, D, s->pattern.row[g], s->pattern.size[g]);
  if (!changed) return true;
  for (int k = 0; k < rank; k++) {
    double *row = s->H + (size_t)k * (size_t)rank;
    const double *from = s->K + (size_t)k * (size_t)rank;
    for (int l = s->first[k]; l <= s->last[k]; l++) row[l] = stiffness * from[l];
    row[k] += 1;
  }
  s->stiffness = stiffness;
  return envelope_factor(s->H, rank, s->first, s->last);
}

static void solve(void *user, double *x) {
  const range_system *s = user;
  envelope_solve(s->H, s->range.rank, s->first, s->last, x);
}

ss_status range_system_create(const ss_cp *scaled, const node_list *nodes, double most, ss_cp_workspace *w,
                              velocity_space *out, bool *admitted, ss_error *error) {
  (void)nodes;
  range_system *s = SCRATCH(w, range_system, 1);
  const size_t n = (size_t)scaled->n;
  *admitted = false;
  if (!s) return out_of_memory(error);
  *s = (range_system){.n = scaled->n};
  ss_status status = pattern_create(scaled, w, &s->pattern, error);
  const int most_rank = (int)fmin(fmin(scaled->n, MOST_RANK), cbrt(most));
  if (!status) status = range_create(scaled, &s->pattern, most_rank, w, &s->range, admitted, error);
  if (status || !*admitted) return status;
  const size_t rank = (size_t)s->range.rank;
  s->none = SCRATCH(w, double, n);
  s->K = SCRATCH(w, double, 2 * rank * rank + 1);
  s->D = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, n *SS_FRICTION_ROWS);
  s->T = SCRATCH(w, double, SS_FRICTION_ROWS *rank + 1);
  s->first = SCRATCH(w, int, 2 * rank + 1);
  if (!s->none || !s->K || !s->D || !s->T || !s->first) return out_of_memory(error);
  s->H = s->K + rank * rank;
  s->last = s->first + rank;
  memset(s->none, 0, sizeof(double) * n);
  memset(s->K, 0, sizeof(double) * rank * rank);
  memset(s->D, 0, sizeof *s->D * n);
  bound_envelope(s);
  *out = (velocity_space){s->range.rank, factor_operations(s), s, slack, collect, load, factor, solve};
  return SS_OK;
}
