/* src/la against what it must satisfy, computed in long double with what the matrix was before: residuals as small as backward stable
 * methods leave them, whatever the condition; matrices of integers whose inverses are integers; what is singular or not finite is
 * refused. Sizes on both sides of every block, panel and tile. */
#include "cp_problems.h"

#include "la/dense.h"
#include "la/product.h"
#include "la/sparse.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int sizes[] = {0, 1, 2, 3, 11, 12, 13, 16, 17, 24, 25, 33, 48, 50, 96, 97, 130, 203};
enum { SIZES = sizeof sizes / sizeof *sizes };

#define AT(m, i, j) ((m)[(size_t)(i) * (size_t)n + (size_t)(j)])

typedef enum kind { RANDOM, NO_DIAGONAL, GRADED, HILBERT, INTEGER, KINDS } kind;

static void fill(kind what, int n, random_source *r, double *A) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double x = random_between(r, -1, 1);
      if (what == NO_DIAGONAL) x = j == (i + 1) % n ? 1 : random_unit(r) < 0.1 && i != j ? x : 0;
      if (what == GRADED) x *= pow(10, -14.0 * (i + j) / (2.0 * n));
      if (what == HILBERT) x = 1.0 / (i + j + 1) + (i == j ? 1e-9 : 0);
      if (what == INTEGER) x = 0;
      AT(A, i, j) = x;
    }
  for (int i = 0; i < n && what == INTEGER; i++)
    for (int j = 0; j < n; j++) /* L L^T, L with ones on and below the diagonal: min(i, j) + 1 */
      AT(A, i, j) = (i < j ? i : j) + 1;
}

static double *copy_of(const double *a, size_t count) {
  double *b = numbers((int)count);
  memcpy(b, a, sizeof *b * count);
  return b;
}

static double row_sum(const double *A, int n) { /* the largest, of absolute values */
  double largest = 0;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += fabs(AT(A, i, j));
    largest = fmax(largest, sum);
  }
  return largest;
}

/* |A x - b| of a column, over what rounding may leave of it; x and b are `stride` apart. */
static double residual(const double *A, int n, const double *x, const double *b, int stride) {
  double worst = 0, size = 0;
  for (int i = 0; i < n; i++) size = fmax(size, fabs(x[(size_t)i * (size_t)stride]));
  for (int i = 0; i < n; i++) {
    long double sum = -(long double)b[(size_t)i * (size_t)stride];
    for (int j = 0; j < n; j++) sum += (long double)AT(A, i, j) * (long double)x[(size_t)j * (size_t)stride];
    worst = fmax(worst, (double)fabsl(sum));
  }
  return n == 0 ? 0 : worst / (DBL_EPSILON * n * (row_sum(A, n) * size + DBL_MIN));
}

static void systems_are_solved(void **state) {
  (void)state;
  enum { RIGHT = 5 };
  random_source r = {1};
  for (int s = 0; s < SIZES; s++)
    for (kind what = RANDOM; what < KINDS; what++) {
      const int n = sizes[s];
      double *A = numbers(n * n), *b = numbers(RIGHT * n);
      if (n < 3 && what == NO_DIAGONAL) what++;
      fill(what, n, &r, A);
      for (int i = 0; i < RIGHT * n; i++) b[i] = random_between(&r, -1, 1);
      double *lu = copy_of(A, (size_t)(n * n)), *x = copy_of(b, (size_t)(RIGHT * n)), *one = numbers(n);
      int *pivot = calloc((size_t)n + 1, sizeof *pivot);
      assert_true(ss_dense_factor(lu, n, 0, pivot));
      ss_dense_solve(lu, n, pivot, x, RIGHT);
      for (int c = 0; c < RIGHT; c++) assert_true(residual(A, n, x + c, b + c, RIGHT) < 10);
      for (int i = 0; i < n; i++) one[i] = b[RIGHT * i];
      double *x1 = copy_of(one, (size_t)n);
      ss_dense_solve(lu, n, pivot, x1, 1);
      assert_true(residual(A, n, x1, one, 1) < 10);
      free(A);
      free(b);
      free(lu);
      free(x);
      free(one);
      free(x1);
      free(pivot);
    }
}

/* A X = 1, column by column; with integers the inverse is known: 2 on the diagonal, -1 beside it, 1 at the end. */
static void inverses_invert(void **state) {
  (void)state;
  random_source r = {2};
  for (int s = 0; s < SIZES; s++)
    for (kind what = RANDOM; what < KINDS; what++) {
      const int n = sizes[s];
      double *A = numbers(n * n), *X = numbers(n * n), *unit = numbers(n * n);
      if (n < 3 && what == NO_DIAGONAL) what++;
      fill(what, n, &r, A);
      double *copy = copy_of(A, (size_t)(n * n));
      assert_true(ss_dense_inverse(copy, n, X));
      for (int i = 0; i < n; i++) AT(unit, i, i) = 1;
      for (int c = 0; c < n && n <= 50; c++) assert_true(residual(A, n, X + c, unit + c, n) < 20);
      for (int i = 0; i < n && what == INTEGER; i++)
        for (int j = 0; j < n; j++) {
          const double exact = i == j ? (i + 1 < n ? 2 : 1) : abs(i - j) == 1 ? -1 : 0;
          assert_true(fabs(AT(X, i, j) - exact) <= 1e-14 * n * n * n);
        }
      free(A);
      free(X);
      free(unit);
      free(copy);
    }
}

static void positive_definite(kind what, int n, random_source *r, double *A) {
  double *B = numbers(n * n);
  fill(what, n, r, B);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      long double sum = i == j ? 1e-3L : 0;
      for (int k = 0; k < n; k++) sum += (long double)AT(B, i, k) * (long double)AT(B, j, k);
      AT(A, i, j) = what == HILBERT || what == INTEGER ? AT(B, i, j) : (double)sum;
    }
  free(B);
}

static void positive_definite_ones_are_inverted(void **state) {
  (void)state;
  static const kind kinds[] = {RANDOM, GRADED, HILBERT, INTEGER};
  random_source r = {3};
  for (int s = 0; s < SIZES; s++)
    for (int k = 0; k < 4; k++) {
      const int n = sizes[s];
      double *A = numbers(n * n), *unit = numbers(n * n), *scratch = numbers(n * n);
      positive_definite(kinds[k], n, &r, A);
      double *X = copy_of(A, (size_t)(n * n));
      assert_true(ss_positive_definite(A, n, 1e-14, scratch));
      assert_true(ss_spd_inverse(X, n));
      for (int i = 0; i < n; i++) AT(unit, i, i) = 1;
      for (int c = 0; c < n; c++) assert_true(residual(A, n, X + c, unit + c, n) < 20);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) assert_true(AT(X, i, j) == AT(X, j, i));
      if (n > 0) {                                    /* not definite, by little, at the very end */
        const double least = 1 / AT(X, n - 1, n - 1); /* the last pivot of A */
        AT(A, n - 1, n - 1) -= least + 1e-6 * fabs(AT(A, n - 1, n - 1));
        assert_false(ss_positive_definite(A, n, 0, scratch));
        assert_false(ss_spd_inverse(A, n));
      }
      free(A);
      free(X);
      free(unit);
      free(scratch);
    }
}

static void eigenvectors_are_orthonormal(void **state) {
  (void)state;
  random_source r = {4};
  for (int s = 0; s < SIZES; s++)
    for (kind what = RANDOM; what < KINDS; what++) {
      const int n = sizes[s];
      double *A = numbers(n * n), *V = numbers(n * n), *values = numbers(n), *scratch = numbers(n);
      fill(what, n, &r, A);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) AT(A, i, j) = AT(A, j, i);
      assert_true(ss_symmetric_eigen(A, n, V, values, scratch));
      const double bound = 10 * DBL_EPSILON * (n + 10) * row_sum(A, n);
      for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
          long double image = -(long double)values[k] * AT(V, i, k), product = -(i == k);
          for (int j = 0; j < n; j++) {
            image += (long double)AT(A, i, j) * AT(V, j, k);
            product += (long double)AT(V, j, i) * AT(V, j, k);
          }
          assert_true(fabsl(image) <= bound);
          assert_true(fabsl(product) <= 10 * DBL_EPSILON * (n + 10));
        }
      free(A);
      free(V);
      free(values);
      free(scratch);
    }
}

/* C += f A B with A, B or both transposed, beside what must not be touched. */
static void products_are_sums(void **state) {
  (void)state;
  random_source r = {5};
  for (int trial = 0; trial < 60; trial++) {
    const int rows = random_below(&r, 130), inner = random_below(&r, 210), columns = random_below(&r, 60);
    const int stride = columns + random_below(&r, 3);
    const bool across = trial & 1, along = trial & 2;
    double *A = numbers(rows * inner), *B = numbers(inner * columns), *C = numbers(rows * stride);
    for (int i = 0; i < rows * inner; i++) A[i] = random_between(&r, -1, 1);
    for (int i = 0; i < inner * columns; i++) B[i] = random_between(&r, -1, 1);
    for (int i = 0; i < rows * stride; i++) C[i] = random_between(&r, -1, 1);
    double *before = copy_of(C, (size_t)(rows * stride));
    const ss_view a = {A, across ? 1 : (size_t)inner, across ? (size_t)rows : 1};
    const ss_view b = {B, along ? 1 : (size_t)columns, along ? (size_t)inner : 1};
    ss_add_product(C, stride, -1, a, b, rows, inner, columns);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < stride; j++) {
        long double sum = before[i * stride + j];
        for (int k = 0; k < inner && j < columns; k++)
          sum -= (long double)a.at[(size_t)i * a.down + (size_t)k * a.along] *
                 b.at[(size_t)k * b.down + (size_t)j * b.along];
        assert_true(fabsl(sum - C[i * stride + j]) <= (j < columns ? DBL_EPSILON * (inner + 2) : 0));
      }
    free(A);
    free(B);
    free(C);
    free(before);
  }
}

/* Bands and arrows, narrow and wide, dominated by their diagonals; what is outside of the envelope is no number. */
static void envelopes_keep_their_borders(void **state) {
  (void)state;
  enum { N = 220 };
  static const int widths[] = {1, 6, 40, 63, 64, 90, 219};
  random_source r = {6};
  const int n = N;
  for (int w = 0; w < 7; w++) {
    double *A = numbers(N * N), b[N], x[N];
    int first[N], last[N];
    for (int i = 0; i < N; i++) {
      const int width = widths[w] > 6 && i % 7 == 0 ? widths[w] / 2 : widths[w];
      first[i] = i > width ? i - width : 0;
      b[i] = x[i] = random_between(&r, -1, 1);
    }
    for (int k = 0; k < N; k++) {
      last[k] = k ? last[k - 1] : 0;
      for (int i = k; i < N; i++)
        if (first[i] <= k && i > last[k]) last[k] = i;
    }
    for (int i = 0; i < N; i++)
      for (int j = first[i]; j <= i; j++) {
        AT(A, i, j) = i == j ? N : random_between(&r, -1, 1);
        if (i != j) AT(A, j, i) = random_between(&r, -1, 1);
      }
    double *factors = copy_of(A, N * N);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        if (j < first[i] || j > last[i]) AT(factors, i, j) = NAN;
    assert_true(envelope_factor(factors, N, first, last));
    envelope_solve(factors, N, first, last, x);
    assert_true(residual(A, N, x, b, 1) < 1);
    free(factors);
    free(A);
  }
}

/* Least squares: what is left is orthogonal to the columns; columns that repeat others leave directions undetermined. */
static void least_squares(void **state) {
  (void)state;
  enum { ROWS = 40, COLUMNS = 9, ALL = COLUMNS + 1 };
  random_source r = {7};
  double a[ROWS][ALL], before[ROWS][ALL], x[COLUMNS], b[COLUMNS];
  for (int repeated = 0; repeated < 2; repeated++) {
    for (int i = 0; i < ROWS; i++) {
      for (int j = 0; j < ALL; j++) before[i][j] = random_between(&r, -1, 1);
      if (repeated) before[i][5] = before[i][1] - 2 * before[i][3];
    }
    memcpy(a, before, sizeof a);
    ss_triangularise(&a[0][0], ROWS, ALL, COLUMNS);
    for (int i = 0; i < COLUMNS; i++) b[i] = a[i][COLUMNS];
    assert_int_equal(ss_back_substitute(&a[0][0], ALL, COLUMNS, 1e-12, b, x), !repeated);
    for (int j = 0; j < COLUMNS && !repeated; j++) {
      long double sum = 0;
      for (int i = 0; i < ROWS; i++) {
        long double left = before[i][COLUMNS];
        for (int k = 0; k < COLUMNS; k++) left -= (long double)before[i][k] * x[k];
        sum += before[i][j] * left;
      }
      assert_true(fabsl(sum) < 1e-13);
    }
    assert_true(!repeated || x[5] == 0);
  }
}

/* One row the double of another, a column of zeros, one number that is none: at all places that blocks make different. */
static void bad_matrices_are_refused(void **state) {
  (void)state;
  random_source r = {8};
  for (int s = 1; s < SIZES; s++) {
    const int n = sizes[s];
    double *A = numbers(n * n), *X = numbers(n * n), *values = numbers(2 * n);
    int *pivot = calloc((size_t)n + 1, sizeof *pivot);
    for (int trial = 0; trial < 8; trial++) {
      const int i = trial < 2 ? n - 1 : random_below(&r, n), j = trial < 2 ? n - 1 : random_below(&r, n);
      for (int what = 0; what < 3; what++) {
        for (int repeat = 0; repeat < 2; repeat++) {
          for (int k = 0; k < n * n; k++) A[k] = random_below(&r, 7) - 3;
          for (int k = 0; k < n && what == 0; k++) AT(A, k, j) = 0;
          if (what == 1) AT(A, i, j) = NAN;
          if (what == 2) AT(A, i, j) = INFINITY;
          assert_false(repeat ? ss_dense_inverse(A, n, X) : ss_dense_factor(A, n, 0, pivot));
        }
        if (what == 0) continue;
        for (int repeat = 0; repeat < 3; repeat++) {
          positive_definite(RANDOM, n, &r, A);
          AT(A, i, j) = AT(A, j, i) = what == 1 ? NAN : INFINITY;
          assert_false(repeat == 0   ? ss_spd_inverse(A, n)
                       : repeat == 1 ? ss_positive_definite(A, n, 0, X)
                                     : ss_symmetric_eigen(A, n, X, values, values + n));
        }
      }
    }
    if (n > 1) {
      fill(RANDOM, n, &r, A);
      for (int j = 0; j < n; j++) AT(A, n - 1, j) = 2 * AT(A, 0, j);
      assert_false(ss_dense_factor(A, n, 1e-13, pivot));
    }
    free(A);
    free(X);
    free(values);
    free(pivot);
  }
}

/* ---- sparse ---- */

typedef struct sparse_matrix {
  ss_sparse m;
  int *start, *col;
  double *value;
} sparse_matrix;

/* What is not zero of a dense one. */
static sparse_matrix sparse_of(const double *A, int n) {
  sparse_matrix s = {.start = calloc((size_t)n + 1, sizeof(int)), .col = calloc((size_t)(n * n) + 1, sizeof(int))};
  s.value = numbers(n * n);
  if (!s.start || !s.col) abort();
  for (int i = 0, count = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      if (AT(A, i, j) != 0) {
        s.col[count] = j;
        s.value[count++] = AT(A, i, j);
      }
    s.start[i + 1] = count;
  }
  s.m = (ss_sparse){n, n, s.start, s.col, s.value};
  return s;
}

static void sparse_release(sparse_matrix *s) {
  free(s->start);
  free(s->col);
  free(s->value);
}

static void sparse_systems_are_solved(void **state) {
  (void)state;
  random_source r = {9};
  for (int s = 0; s < SIZES; s++)
    for (int what = 0; what < 3; what++) { /* nothing on the diagonal; chains; rows and columns of all magnitudes */
      const int n = sizes[s] + (sizes[s] < 3 && what == 0 ? 3 : 0);
      double *A = numbers(n * n), *b = numbers(n);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          if (what == 0)
            AT(A, i, j) = j == (i + 1) % n ? 2 : i != j && random_unit(&r) < 0.05 ? random_between(&r, -1, 1) : 0;
          if (what != 0 && abs(i - j) < 2) AT(A, i, j) = i == j ? 2 : -1;
        }
      sparse_matrix m = sparse_of(A, n);
      for (int i = 0; i < n; i++) b[i] = random_between(&r, -1, 1);
      for (int i = 0; i < n && what == 2; i++) /* by powers of two, which change nothing but exponents */
        for (int k = m.start[i]; k < m.start[i + 1]; k++) m.value[k] = ldexp(m.value[k], 3 * i - 2 * m.col[k]);
      double *x = copy_of(b, (size_t)n);
      for (int i = 0; i < n && what == 2; i++) x[i] = ldexp(x[i], 3 * i);
      ss_sparse_factors *f;
      ss_error error = {0};
      assert_int_equal(ss_sparse_factor(&m.m, &f, &error), SS_OK);
      for (int again = 0; again < 2; again++) { /* the factors are kept */
        const int count = again ? 5 : 1;
        double *y = numbers(count * n);
        for (int c = 0; c < count; c++) memcpy(y + c * n, x, sizeof *y * (size_t)n);
        ss_sparse_solve(f, y, count);
        for (int c = 0; c < count; c++) {
          for (int j = 0; j < n && what == 2; j++) y[c * n + j] = ldexp(y[c * n + j], -2 * j);
          assert_true(residual(A, n, y + c * n, b, 1) < 100);
        }
        free(y);
      }
      ss_sparse_free(f);
      sparse_release(&m);
      free(A);
      free(b);
      free(x);
    }
}

static void bad_sparse_matrices_are_refused(void **state) {
  (void)state;
  enum { N = 30 };
  random_source r = {10};
  const int n = N;
  for (int what = 0; what < 6; what++)
    for (int trial = 0; trial < 20; trial++) {
      double A[N * N] = {0};
      const int at = random_below(&r, N), other = (at + 1 + random_below(&r, N - 1)) % N;
      for (int i = 0; i < N; i++) {
        AT(A, i, i) = 1;
        for (int j = 0; j < i; j++)
          if (random_unit(&r) < 0.1) AT(A, i, j) = random_between(&r, -1, 1); /* blocks of one row: nothing meets NaN */
      }
      for (int j = 0; j < N; j++) {
        if (what == 0) AT(A, at, j) = 0;
        if (what == 1) AT(A, j, at) = 0;
        if (what == 2) AT(A, at, j) = 3 * AT(A, other, j);
        if (what == 3) AT(A, at, j) = AT(A, other, j) * (1 + (j % 2 ? 1e-16 : 0));
      }
      if (what == 4) AT(A, N - 1, 0) = NAN;
      if (what == 5) AT(A, N - 1, 0) = -INFINITY;
      sparse_matrix m = sparse_of(A, N);
      ss_sparse_factors *f;
      ss_error error = {0};
      assert_int_equal(ss_sparse_factor(&m.m, &f, &error), SS_ERROR_INPUT);
      assert_non_null(strstr(error.message, what < 4 ? "singular" : "finite"));
      assert_null(f);
      sparse_release(&m);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(systems_are_solved),
      cmocka_unit_test(inverses_invert),
      cmocka_unit_test(positive_definite_ones_are_inverted),
      cmocka_unit_test(eigenvectors_are_orthonormal),
      cmocka_unit_test(products_are_sums),
      cmocka_unit_test(envelopes_keep_their_borders),
      cmocka_unit_test(least_squares),
      cmocka_unit_test(bad_matrices_are_refused),
      cmocka_unit_test(sparse_systems_are_solved),
      cmocka_unit_test(bad_sparse_matrices_are_refused),
  };
  return cmocka_run_group_tests_name("factorisations", tests, NULL, NULL);
}
