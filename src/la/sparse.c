/* KLU takes columns: the rows of A are those of B = A^T, and A x = b is B^T x = b. Rows and columns are scaled here, by powers of
 * two, so that a pivot says how much of its row and column is left. */
#include "la/sparse.h"

#include "core/arena.h"
#include "la/dense.h"

#include <math.h>
#include <suitesparse/klu.h>

/* Weak: a program that links the archive of the library without KLU does without factors of general sparse matrices, and with all the rest. */
#pragma weak klu_defaults
#pragma weak klu_analyze
#pragma weak klu_factor
#pragma weak klu_tsolve
#pragma weak klu_free_numeric
#pragma weak klu_free_symbolic

static const double singular = 1e-14;      /* pivot, in rows and columns of size one */
static const double diagonal_share = 0.05; /* of the largest entry, from which the diagonal one is taken */

struct ss_sparse_factors {
  int n;
  double *row_scale, *column_scale; /* [n] powers of two */
  klu_common common;
  klu_symbolic *symbolic;
  klu_numeric *numeric;
};

/* Rows, then columns, of size one. */
static void find_scales(ss_sparse_factors *f, const ss_sparse *A) {
  for (int i = 0; i < f->n; i++) {
    double largest = 0;
    for (int k = A->start[i]; k < A->start[i + 1]; k++) largest = fmax(largest, fabs(A->value[k]));
    f->row_scale[i] = inverse_power(largest);
    f->column_scale[i] = 0;
  }
  for (int i = 0; i < f->n; i++)
    for (int k = A->start[i]; k < A->start[i + 1]; k++) {
      double *largest = &f->column_scale[A->col[k]];
      *largest = fmax(*largest, f->row_scale[i] * fabs(A->value[k]));
    }
  for (int j = 0; j < f->n; j++) f->column_scale[j] = inverse_power(f->column_scale[j]);
}

/* The row that depends on others; -1: there is none. */
static int dependent_row(const ss_sparse_factors *f) {
  const double *pivot = f->numeric->Udiag;
  for (int k = 0; k < f->n; k++)
    if (!(fabs(pivot[k]) > singular) || !isfinite(pivot[k])) return f->symbolic->Q[k];
  return -1;
}

static bool is_finite(const ss_sparse *A) {
  bool finite = true;
  for (int k = 0; k < A->start[A->rows]; k++) finite &= isfinite(A->value[k]) != 0;
  return finite;
}

static ss_status factorise(ss_sparse_factors *f, const ss_sparse *A, double *value, ss_error *error) {
  klu_common *common = &f->common;
  if (!klu_factor)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "a sparse matrix needs KLU, which this program is linked without");
  if (!is_finite(A)) return ss_fail(error, SS_ERROR_INPUT, "an entry of A is not finite");
  for (int i = 0; i < f->n; i++)
    for (int k = A->start[i]; k < A->start[i + 1]; k++)
      value[k] = f->row_scale[i] * A->value[k] * f->column_scale[A->col[k]];
  (void)klu_defaults(common);
  common->tol = diagonal_share;
  common->scale = -1; /* none */
  f->symbolic = klu_analyze(f->n, (int *)A->start, (int *)A->col, common);
  if (f->symbolic) f->numeric = klu_factor((int *)A->start, (int *)A->col, value, f->symbolic, common);
  if (common->status == KLU_OUT_OF_MEMORY) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (common->status == KLU_TOO_LARGE)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "the factors of A have too many entries");
  if (!f->numeric) return ss_fail(error, SS_ERROR_INPUT, "A is singular: a row depends on others");
  const int row = dependent_row(f);
  return row < 0 ? SS_OK : ss_fail(error, SS_ERROR_INPUT, "A is singular: its row %d depends on others", row);
}

ss_status ss_sparse_factor(const ss_sparse *A, ss_sparse_factors **factors, ss_error *error) {
  const size_t n = (size_t)A->rows, entries = (size_t)A->start[n];
  ss_sparse_factors *f = *factors = ss_alloc(sizeof *f);
  if (!f) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  *f = (ss_sparse_factors){.n = A->rows, .row_scale = ss_alloc(sizeof(double) * (2 * n + 1))};
  f->column_scale = f->row_scale + n;
  double *value = ss_alloc(sizeof *value * (entries + 1));
  ss_status status = SS_OK;
  if (!f->row_scale || !value) {
    status = ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  } else if (n > 0) {
    find_scales(f, A);
    status = factorise(f, A, value, error);
  }
  ss_free(value);
  if (!status) return SS_OK;
  ss_sparse_free(f);
  *factors = NULL;
  return status;
}

void ss_sparse_free(ss_sparse_factors *f) {
  if (!f) return;
  if (f->numeric) (void)klu_free_numeric(&f->numeric, &f->common);
  if (f->symbolic) (void)klu_free_symbolic(&f->symbolic, &f->common);
  ss_free(f->row_scale);
  ss_free(f);
}

void ss_sparse_solve(ss_sparse_factors *f, double *x, int count) {
  const size_t n = (size_t)f->n;
  for (size_t c = 0; c < (size_t)count; c++)
    for (size_t i = 0; i < n; i++) x[c * n + i] *= f->row_scale[i];
  if (n > 0) (void)klu_tsolve(f->symbolic, f->numeric, f->n, count, x, &f->common);
  for (size_t c = 0; c < (size_t)count; c++)
    for (size_t j = 0; j < n; j++) x[c * n + j] *= f->column_scale[j];
}
