/* The matrix of a proximal step in the range of G, 1 + U^T z' L / eps, in the envelope that the contacts span. U^T z' L is
 * kept from step to step: only what has changed in z' is added. */
#include "cp/descent.h"

#include "core/wide.h"
#include "cp/storage.h"

#include <math.h>
#include <string.h>

static const double rank_tolerance = 1e-12;
enum { MOST_RANK = 3000 };

/* The columns that the contacts connect. */
static void bound_envelope(descent *d) {
  const int rank = d->range.rank;
  const pattern *p = &d->pattern;
  for (int k = 0; k < rank; k++) d->first[k] = d->last[k] = k;
  for (int g = 0; g < p->n; g++) {
    int first = rank, end = 0;
    for (int i = p->row[g]; i < p->row[g] + p->size[g]; i++) {
      if (d->range.first[i] < first) first = d->range.first[i];
      if (d->range.end[i] > end) end = d->range.end[i];
    }
    for (int k = first; k < end; k++) {
      if (first < d->first[k]) d->first[k] = first;
      if (end - 1 > d->last[k]) d->last[k] = end - 1;
    }
  }
}

void descent_forget(descent *d) {
  const size_t rank = (size_t)d->range.rank;
  for (size_t i = 0; i < rank * rank; i++) d->K[i] = 0;
  memset(d->D, 0, (size_t)d->cp->n * sizeof *d->D);
}

ss_status descent_create(descent *d, const ss_cp *problem, double share, int limit, ss_cp_workspace *w, bool *admitted,
                         ss_error *error) {
  *d = (descent){.step.limit = limit};
  *admitted = false;
  ss_status status = subproblem_create(problem, rank_tolerance, w, &d->sub, error);
  if (status) return status;
  d->cp = &d->sub.cp;
  const size_t n = (size_t)d->cp->n;
  status = pattern_create(d->cp, w, &d->pattern, error);
  if (!status)
    status = range_create(d->cp, &d->pattern, (int)fmin(share * d->cp->n, MOST_RANK), w, &d->range, admitted, error);
  if (status || !*admitted) return status;
  d->anchor = SCRATCH(w, double, 11 * n);
  if (!d->anchor) return out_of_memory(error);
  d->slack = d->anchor + n;
  d->best = d->slack + n;
  d->w = d->best + n;
  d->x = d->w + n;
  d->change = d->x + n;
  d->shift = d->change + n;
  d->none = d->shift + n;
  d->drift = d->none + n;
  d->diagonal = d->drift + n;
  d->last_x = d->diagonal + n;
  for (size_t i = 0; i < n; i++) d->none[i] = d->shift[i] = d->drift[i] = 0;
  for (size_t i = 0; i < n && d->cp->sparse; i++) d->diagonal[i] = sparse_diagonal(d->cp->sparse, (int)i);
  status = active_set_create_bare(d->cp, d->cp->sparse ? d->diagonal : NULL, w, &d->set, error);
  const size_t rank = (size_t)d->range.rank;
  d->K = SCRATCH(w, double, 2 * rank * rank);
  d->D = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, n *SS_FRICTION_ROWS);
  d->T = SCRATCH(w, double, (1 + SS_FRICTION_ROWS) * rank);
  d->first = SCRATCH(w, int, 2 * rank);
  if (!proximal_create(&d->step, d->range.rank, d->cp->n, w) || !d->K || !d->D || !d->T || !d->first)
    return status ? status : out_of_memory(error);
  d->H = d->K + rank * rank;
  descent_forget(d);
  d->last = d->first + rank;
  d->step.cones = cones_admitted(d->cp);
  bound_envelope(d);
  return status;
}

/* T_i = sum of (D_ij - old D_ij) L_j for a row i of a group, in the columns *first .. *end - 1, which are those of the whole
 * group; false where nothing has changed. Most rows keep their D from step to step. */
static bool changed_row(descent *d, double (*D)[SS_FRICTION_ROWS], int i, int first_row, int size, int first, int end,
                        double *T) {
  const range *r = &d->range;
  bool any = false;
  for (int j = 0; j < size; j++) {
    const double change = D[i][j] - d->D[i][j];
    if (change == 0) continue;
    d->D[i][j] = D[i][j];
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

/* K += sum of U_i T_i^T over the rows of a group, up to three of them in one pass. */
WIDE static void update_group(descent *d, double (*D)[SS_FRICTION_ROWS], int first_row, int size) {
  const range *r = &d->range;
  const size_t rank = (size_t)r->rank;
  int first = r->rank, end = 0, count = 0, rows[SS_FRICTION_ROWS];
  for (int i = first_row; i < first_row + size; i++) {
    if (r->first[i] < first) first = r->first[i];
    if (r->end[i] > end) end = r->end[i];
  }
  for (int i = first_row; i < first_row + size; i++)
    if (changed_row(d, D, i, first_row, size, first, end, d->T + (size_t)count * rank)) rows[count++] = i;
  for (int m = 0; m < count; m += 3) {
    const double *T = d->T + (size_t)m * rank, *restrict a = T, *restrict b = a + rank, *restrict c = b + rank;
    const int left = count - m;
    for (int l = first; l < end; l++) {
      double *restrict row = d->K + (size_t)l * rank;
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
}

bool descent_factor(descent *d, double (*D)[SS_FRICTION_ROWS]) {
  const pattern *p = &d->pattern;
  const int rank = d->range.rank;
  const double stiffness = 1 / d->eps;
  for (int g = 0; g < p->n; g++) update_group(d, D, p->row[g], p->size[g]);
  for (int k = 0; k < rank; k++) {
    double *row = d->H + (size_t)k * (size_t)rank;
    const double *from = d->K + (size_t)k * (size_t)rank;
    for (int l = d->first[k]; l <= d->last[k]; l++) row[l] = stiffness * from[l];
    row[k] += 1;
  }
  d->step.newtons++;
  return envelope_factor(d->H, rank, d->first, d->last);
}

void descent_solve(const descent *d, double *x) { envelope_solve(d->H, d->range.rank, d->first, d->last, x); }
