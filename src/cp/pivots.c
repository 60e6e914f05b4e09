/* What both ways to keep a basis share: the choice between them, and the way back from the last basis to x. */
#include "cp/pivots.h"

#include "la/blocked_lu.h"

ss_status pivots_create(const lcp *l, const double *cover, ss_cp_workspace *w, pivots **out, ss_error *error) {
  enum { TABLEAU_ROWS = 80 };
  return l->n <= TABLEAU_ROWS ? tableau_create(l, cover, w, out, error) : basis_create(l, cover, w, out, error);
}

static double basis_residual(const lcp *l, const int *set, int m, const double *x, double *r) {
  double worst = 0;
  for (int i = 0; i < m; i++) {
    const double *row = l->M + (size_t)set[i] * (size_t)l->n;
    double sum = l->q[set[i]] - l->damping * x[set[i]];
    for (int j = 0; j < m; j++) sum += row[set[j]] * x[set[j]];
    r[i] = sum;
    worst = fmax(worst, fabs(sum));
  }
  return worst;
}

/* x_B from M_BB x_B = -q_B, by refinement of what the pivots have come to: one step more than needed, and more of them where the damping
 * is to be taken out (each is a proximal step). Keeps x where the basis is singular in working precision. */
static ss_status solve_basis(const lcp *l, const int *set, int m, double *x, ss_cp_workspace *w, ss_error *error) {
  enum { PASSES = 2, DAMPED_PASSES = 10 };
  double *A = SCRATCH(w, double, (size_t)m *((size_t)m + 3));
  int *row = SCRATCH(w, int, m);
  if (!A || !row) return out_of_memory(error);
  double *r = A + (size_t)m * ((size_t)m + 1), *step = r + m;
  if (basis_residual(l, set, m, x, r) <= 1e-15) return SS_OK;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      A[(size_t)i * (size_t)m + (size_t)j] = l->M[(size_t)set[i] * (size_t)l->n + (size_t)set[j]];
  if (ss_blocked_lu(A, m, 1e-14, row) < m) return SS_OK;
  for (int pass = 0; pass < (l->damping > 0 ? DAMPED_PASSES : PASSES); pass++) {
    const double before_step = basis_residual(l, set, m, x, r);
    for (int i = 0; i < m; i++) step[i] = -r[row[i]];
    ss_blocked_lu_solve(A, m, step);
    for (int i = 0; i < m; i++) x[set[i]] += step[i];
    if (basis_residual(l, set, m, x, r) <= before_step) continue;
    for (int i = 0; i < m; i++) x[set[i]] -= step[i]; /* a nearly singular basis: back */
    break;
  }
  return SS_OK;
}

ss_status pivots_solution(const pivots *p, bool complementary, double *x, ss_cp_workspace *w, ss_error *error) {
  const int n = p->n;
  int m = 0, *set = SCRATCH(w, int, n);
  if (!set) return out_of_memory(error);
  for (int j = 0; j < n; j++) {
    const int row = p->place[n + j];
    x[j] = row >= 0 ? p->value[row] : 0;
    if (row >= 0) set[m++] = j;
  }
  return m && complementary ? solve_basis(p->l, set, m, x, w, error) : SS_OK;
}

void pivots_ray(const pivots *p, double *direction) {
  for (int j = 0; j < p->n; j++) {
    const int row = p->place[p->n + j];
    direction[j] = row >= 0 ? -p->column[row] : p->entering == p->n + j;
  }
}
