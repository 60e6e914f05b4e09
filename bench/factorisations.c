/* The factorisations of src/la, in processor time; beside LAPACK's of OpenBLAS on one thread where the build has found it.
 *
 * usage: factorisations [LARGEST]      sizes up to LARGEST, 3000 unless told */
#include "la/dense.h"
#include "la/sparse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t seed = 1;
static double number(void) { /* [-1, 1), splitmix64 */
  uint64_t x = seed += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (double)((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
}

static void *room(size_t count, size_t size) {
  void *p = calloc(count + 1, size);
  if (!p) abort();
  return p;
}

typedef struct dense {
  int n;
  double *general, *definite; /* [n][n] */
  double *a, *v, *values, *work;
  int *pivot, *counts;
} dense;

static void ours_factor(dense *d) { (void)ss_dense_factor(d->a, d->n, 0, d->pivot); }
static void ours_inverse(dense *d) { (void)ss_spd_inverse(d->a, d->n); }
static void ours_eigen(dense *d) { (void)ss_symmetric_eigen(d->a, d->n, d->v, d->values, d->work); }

#ifdef WITH_LAPACK
void openblas_set_num_threads(int count);
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
void dpotrf_(const char *triangle, const int *n, double *a, const int *lda, int *info);
void dpotri_(const char *triangle, const int *n, double *a, const int *lda, int *info);
void dsyevd_(const char *job, const char *triangle, const int *n, double *a, const int *lda, double *values,
             double *work, const int *work_size, int *counts, const int *counts_size, int *info);

static void theirs_factor(dense *d) {
  int info;
  dgetrf_(&d->n, &d->n, d->a, &d->n, d->pivot, &info);
}
static void theirs_inverse(dense *d) {
  int info;
  dpotrf_("U", &d->n, d->a, &d->n, &info);
  dpotri_("U", &d->n, d->a, &d->n, &info);
}
static void theirs_eigen(dense *d) {
  const int size = 1 + 6 * d->n + 2 * d->n * d->n, counts = 3 + 5 * d->n;
  int info;
  dsyevd_("V", "U", &d->n, d->a, &d->n, d->values, d->work, &size, d->counts, &counts, &info);
}
#endif

/* The least of some rounds. */
static double time_of(dense *d, const double *from, void (*run)(dense *)) {
  const double n = d->n;
  const int repeats = 1 + (int)(1e7 / (n * n * n));
  double least = HUGE_VAL;
  for (int round = 0; round < (n > 1000 ? 2 : 5); round++) {
    const double start = now();
    for (int r = 0; r < repeats; r++) {
      memcpy(d->a, from, sizeof(double) * (size_t)d->n * (size_t)d->n);
      run(d);
    }
    least = fmin(least, (now() - start) / repeats);
  }
  return least;
}

static void row(dense *d, const char *name, const double *from, void (*ours)(dense *), void (*theirs)(dense *)) {
  const double own = time_of(d, from, ours);
  printf("%-22s %6d %10.3g", name, d->n, own);
  if (theirs) {
    const double other = time_of(d, from, theirs);
    printf(" %10.3g %6.2f", other, own / other);
  }
  printf("\n");
}

static void time_dense(int n) {
  const size_t square = (size_t)n * (size_t)n;
  dense d = {.n = n, .general = room(square, sizeof(double)), .definite = room(square, sizeof(double))};
  d.a = room(square, sizeof(double));
  d.v = room(square, sizeof(double));
  d.values = room((size_t)n, sizeof(double));
  d.work = room(2 * square + 6 * (size_t)n, sizeof(double));
  d.pivot = room((size_t)n, sizeof(int));
  d.counts = room(5 * (size_t)n + 3, sizeof(int));
  for (size_t k = 0; k < square; k++) d.general[k] = number();
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double *x = d.definite + (size_t)i * (size_t)n + (size_t)j, *y = d.definite + (size_t)j * (size_t)n + (size_t)i;
      *x = *y = i == j ? n : number();
    }
  void (*theirs[3])(dense *) = {NULL, NULL, NULL};
#ifdef WITH_LAPACK
  theirs[0] = theirs_factor;
  theirs[1] = theirs_inverse;
  theirs[2] = theirs_eigen;
#endif
  row(&d, "LU", d.general, ours_factor, theirs[0]);
  if (n <= 1000) row(&d, "inverse, definite", d.definite, ours_inverse, theirs[1]);
  if (n <= 1000) row(&d, "eigenvectors", d.definite, ours_eigen, theirs[2]);
  void *all[] = {d.general, d.definite, d.a, d.v, d.values, d.work, d.pivot, d.counts};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

/* ---- sparse ---- */

typedef struct writer {
  int rows, count, *start, *col;
  double *value;
} writer;

static writer begin(int rows) {
  return (writer){0, 0, room((size_t)rows + 1, sizeof(int)), room(8 * (size_t)rows, sizeof(int)),
                  room(8 * (size_t)rows, sizeof(double))};
}

static void put(writer *w, int col, double value) {
  w->col[w->count] = col;
  w->value[w->count++] = value;
}

static void end_row(writer *w) { w->start[++w->rows] = w->count; }

static void time_sparse(const char *name, writer *w) {
  const ss_sparse A = {w->rows, w->rows, w->start, w->col, w->value};
  const int repeats = 1 + 200000 / w->count;
  double least = HUGE_VAL, solve = HUGE_VAL, *x = room((size_t)w->rows, sizeof *x);
  for (int round = 0; round < 5; round++)
    for (int r = 0; r < repeats; r++) {
      ss_sparse_factors *f;
      double start = now();
      if (ss_sparse_factor(&A, &f, NULL)) abort();
      least = fmin(least, now() - start);
      for (int i = 0; i < w->rows; i++) x[i] = 1;
      start = now();
      ss_sparse_solve(f, x, 1);
      solve = fmin(solve, now() - start);
      ss_sparse_free(f);
    }
  printf("%-22s %6d %10.3g   one right side %10.3g\n", name, w->rows, least, solve);
  free(x);
  free(w->start);
  free(w->col);
  free(w->value);
}

static void tridiagonal(int n) {
  writer w = begin(n);
  for (int i = 0; i < n; i++) {
    if (i) put(&w, i - 1, -1);
    put(&w, i, 2);
    if (i + 1 < n) put(&w, i + 1, -1);
    end_row(&w);
  }
  time_sparse("sparse, chain", &w);
}

static void grid(int side) {
  writer w = begin(side * side);
  for (int i = 0; i < side * side; i++) {
    if (i >= side) put(&w, i - side, -1);
    if (i % side) put(&w, i - 1, -1.1);
    put(&w, i, 4.2);
    if (i % side < side - 1) put(&w, i + 1, -0.9);
    if (i < side * (side - 1)) put(&w, i + side, -1);
    end_row(&w);
  }
  time_sparse("sparse, grid", &w);
}

/* Masses of 2 in a row with rods between neighbours: [M K^T; K 0]. */
static void rods(int masses) {
  const int n = 3 * masses, count = masses - 1;
  writer w = begin(n + count);
  for (int i = 0; i < n; i++) {
    put(&w, i, 2);
    if (i % 3 == 1 && i / 3 > 0) put(&w, n + i / 3 - 1, 1);
    if (i % 3 == 1 && i / 3 < count) put(&w, n + i / 3, -1);
    end_row(&w);
  }
  for (int k = 0; k < count; k++) {
    put(&w, 3 * k + 1, -1);
    put(&w, 3 * k + 4, 1);
    end_row(&w);
  }
  time_sparse("sparse, rods", &w);
}

int main(int argc, char **argv) {
  static const int sizes[] = {12, 24, 50, 100, 200, 400, 800, 3000};
  const int largest = argc > 1 ? atoi(argv[1]) : 3000;
#ifdef WITH_LAPACK
  openblas_set_num_threads(1);
  printf("%-22s %6s %10s %10s %6s\n", "", "rows", "seconds", "LAPACK", "ratio");
#else
  printf("%-22s %6s %10s\n", "", "rows", "seconds");
#endif
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes && sizes[k] <= largest; k++) time_dense(sizes[k]);
  tridiagonal(3000);
  grid(65);
  grid(100);
  rods(2000);
  return 0;
}
