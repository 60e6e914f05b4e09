/* Tests of matrix classes.
 *
 *   definite     Cholesky's pivots of the symmetric part, the largest first.
 *   P            recursion of Tsatsomeros & Li (2000): M is P exactly where m_11 > 0, and the matrix without its first row
 *                and column and the Schur complement of m_11 are P. 2^n pivots on ever smaller matrices.
 *   copositive   every principal submatrix S of the symmetric part is looked at (Hadeler 1983): a smallest one that is
 *                not copositive has S^-1 <= 0, so that S u = -1 has a solution u >= 0, and u^T S u < 0 is the proof;
 *                a smallest one that is copositive but not strictly has S v = 0 with v > 0. 2^n small systems.
 *
 * What lies within rounding of a limit is not decided. */
#include "cp/matrix_class.h"

#include "cp/dense.h"

#include <math.h>

static const double rounding = 1e-11;

static ss_answer positive(double x) { return x > rounding ? SS_YES : x < -rounding || x == 0 ? SS_NO : SS_UNKNOWN; }

ss_answer matrix_symmetric(const double *M, int n) {
  const size_t s = (size_t)n;
  double difference = 0, size = 0;
  for (size_t i = 0; i < s; i++)
    for (size_t j = 0; j < s; j++) {
      difference = fmax(difference, fabs(M[i * s + j] - M[j * s + i]));
      size = fmax(size, fabs(M[i * s + j]));
    }
  return difference <= rounding * size ? SS_YES : SS_NO;
}

static double *symmetric_part(const double *M, int n, ss_cp_workspace *w) {
  const size_t s = (size_t)n;
  double *S = SCRATCH(w, double, s *s);
  for (size_t i = 0; S && i < s; i++)
    for (size_t j = 0; j < s; j++) S[i * s + j] = (M[i * s + j] + M[j * s + i]) / 2;
  return S;
}

static void swap_symmetric(double *S, int n, int a, int b) {
  for (int j = 0; j < n; j++) {
    const double x = S[a * n + j];
    S[a * n + j] = S[b * n + j];
    S[b * n + j] = x;
  }
  for (int i = 0; i < n; i++) {
    const double x = S[i * n + a];
    S[i * n + a] = S[i * n + b];
    S[i * n + b] = x;
  }
}

/* What is left when no diagonal entry exceeds rounding: zero for a semi-definite matrix. */
static bool vanished(const double *S, int n, int k) {
  double largest = 0;
  for (int i = k; i < n; i++)
    for (int j = k; j < n; j++) largest = fmax(largest, fabs(S[i * n + j]));
  return largest <= n * rounding;
}

ss_status matrix_definite(const double *M, int n, ss_cp_workspace *w, ss_answer *definite, ss_answer *semidefinite,
                          ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  double *S = symmetric_part(M, n, w);
  if (!S) return out_of_memory(error);
  *definite = *semidefinite = SS_YES;
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (S[i * n + i] > S[best * n + best]) best = i;
    if (!(S[best * n + best] > rounding)) {
      *definite = SS_NO;
      *semidefinite = vanished(S, n, k) ? SS_YES : SS_NO;
      break;
    }
    swap_symmetric(S, n, k, best);
    for (int i = k + 1; i < n; i++) {
      const double f = S[i * n + k] / S[k * n + k];
      for (int j = k + 1; j < n; j++) S[i * n + j] -= f * S[k * n + j];
    }
  }
  scratch_release(w, mark);
  return SS_OK;
}

/* `space` has room for all the Schur complements on the way down. */
static ss_answer p_recursion(const double *M, int n, int stride, double *space) {
  if (n == 0) return SS_YES;
  const ss_answer first = positive(M[0]);
  if (first != SS_YES) return first;
  const ss_answer without = p_recursion(M + stride + 1, n - 1, stride, space);
  if (without == SS_NO) return SS_NO;
  for (int i = 1; i < n; i++) {
    const double f = M[i * stride] / M[0];
    for (int j = 1; j < n; j++) space[(i - 1) * (n - 1) + j - 1] = M[i * stride + j] - f * M[j];
  }
  const ss_answer schur = p_recursion(space, n - 1, n - 1, space + (ptrdiff_t)(n - 1) * (n - 1));
  return schur == SS_YES ? without : schur;
}

ss_status matrix_p(const double *M, int n, ss_cp_workspace *w, ss_answer *p, ss_error *error) {
  *p = SS_UNKNOWN;
  for (int i = 0; i < n; i++)
    if (positive(M[(size_t)i * ((size_t)n + 1)]) == SS_NO) *p = SS_NO;
  if (n > CLASS_LARGEST || *p == SS_NO) return SS_OK;
  const scratch_mark mark = scratch_now(w);
  double *space = SCRATCH(w, double, n *n *n);
  if (!space) return out_of_memory(error);
  *p = p_recursion(M, n, n, space);
  scratch_release(w, mark);
  return SS_OK;
}

typedef struct subset {
  int k, at[CLASS_LARGEST];
  double A[CLASS_LARGEST * (CLASS_LARGEST + 1)], u[CLASS_LARGEST]; /* S u = -1 */
  int row[CLASS_LARGEST], col[CLASS_LARGEST];
} subset;

/* A multiple of u that is nowhere negative exists: true, and u is it. */
static bool one_sign(double *u, int k) {
  double sum = 0, size = 0;
  for (int i = 0; i < k; i++) {
    sum += u[i];
    size = fmax(size, fabs(u[i]));
  }
  for (int i = 0; i < k; i++) {
    u[i] = sum < 0 ? -u[i] / size : u[i] / size;
    if (!(u[i] >= -rounding)) return false;
  }
  return size > 0;
}

static double quadratic_form(const double *S, int n, const subset *s) {
  double sum = 0;
  for (int i = 0; i < s->k; i++)
    for (int j = 0; j < s->k; j++) sum += s->u[i] * S[s->at[i] * n + s->at[j]] * s->u[j];
  return sum;
}

/* A vector on this face that spoils copositivity, or strictness: lowers the answers. */
static void look_at_face(const double *S, int n, subset *s, ss_answer *copositive, ss_answer *strictly) {
  const int k = s->k, stride = k + 1;
  for (int i = 0; i < k; i++) {
    for (int j = 0; j < k; j++) s->A[i * stride + j] = S[s->at[i] * n + s->at[j]];
    s->A[i * stride + k] = -1;
  }
  const int rank = dense_eliminate(s->A, k, stride, stride, k, rounding, s->row, s->col);
  if (rank < k - 1) return; /* a smaller face tells */
  double x[CLASS_LARGEST];
  for (int i = 0; i < rank; i++) x[i] = rank < k ? -s->A[i * stride + rank] : s->A[i * stride + k];
  dense_back(s->A, stride, rank, x);
  if (rank < k) x[rank] = 1;
  for (int i = 0; i < k; i++) s->u[s->col[i]] = x[i];
  if (!one_sign(s->u, k)) return;
  const double form = quadratic_form(S, n, s);
  if (form < -n * rounding) {
    *copositive = *strictly = SS_NO;
  } else if (form <= n * rounding) {
    if (rank < k) *strictly = fabs(form) <= 1e-3 * rounding ? SS_NO : SS_UNKNOWN;
    if (rank == k && form < 0) *copositive = *strictly = SS_UNKNOWN;
  }
}

/* A diagonal entry or a pair of rows that says no at any size. */
static bool two_rows_say_no(const double *S, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      const double a = S[(size_t)i * ((size_t)n + 1)], b = S[(size_t)j * ((size_t)n + 1)];
      const double c = S[(size_t)i * (size_t)n + (size_t)j];
      if (a < -rounding || (c < 0 && c * c > a * b + rounding)) return true;
    }
  return false;
}

ss_status matrix_copositive(const double *M, int n, ss_cp_workspace *w, ss_answer *copositive, ss_answer *strictly,
                            ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  const double *S = symmetric_part(M, n, w);
  if (!S) return out_of_memory(error);
  const bool no = two_rows_say_no(S, n);
  *copositive = *strictly = no ? SS_NO : n > CLASS_LARGEST ? SS_UNKNOWN : SS_YES;
  if (*copositive == SS_YES) {
    subset s;
    for (long set = 1; set < 1L << n && *copositive != SS_NO; set++) {
      s.k = 0;
      for (int i = 0; i < n; i++)
        if (set >> i & 1) s.at[s.k++] = i;
      look_at_face(S, n, &s, copositive, strictly);
    }
  }
  scratch_release(w, mark);
  return SS_OK;
}
