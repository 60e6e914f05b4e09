/* With G = L U^T (range.c) the linear systems of F' = 1 - rest P' + P' G are as large as the rank of G: with N = 1 - rest P',
 * which is a matrix per contact,
 *
 *     F' s = b   <=>   s = N^-1 (b - P' L y),   (1 + U^T N^-1 P' L) y = U^T N^-1 b,
 *
 * and det F' = det N det(1 + U^T N^-1 P' L), det N > 0. N is nearly singular in contacts that carry much more than sigma: one
 * step of refinement follows. The factors have no pivoting; near the points where the curve turns the system is nearly singular, and
 * the corrector has to reject what comes of it. */
#include "cp/path.h"

#include "cp/smooth_response.h"

#include <math.h>
#include <string.h>

static const double damping = 1e-12; /* of N: below rounding errors of P' */

ss_status path_create(path *k, const ss_cp *problem, double share, ss_cp_workspace *w, bool *admitted,
                      ss_error *error) {
  *k = (path){0};
  const ss_status status = descent_create(&k->d, problem, share, 0, w, admitted, error);
  if (status || !*admitted) return status;
  const size_t n = (size_t)k->d.cp->n;
  double **const vectors[] = {&k->x,      &k->F, &k->tangent, &k->dx, &k->step, &k->step_x,
                              &k->metric, &k->w, &k->q,       &k->y,  &k->at.z, &k->beside.z};
  enum { VECTORS = sizeof vectors / sizeof *vectors };
  double *memory = SCRATCH(w, double, VECTORS *n);
  k->N = SCRATCH(w, path_row, 4 * n);
  if (!memory || !k->N) return out_of_memory(error);
  for (int i = 0; i < VECTORS; i++) *vectors[i] = memory + (size_t)i * n;
  k->towards = k->d.none;
  k->E = k->N + n;
  k->at.D = k->E + n;
  k->beside.D = k->at.D + n;
  return SS_OK;
}

static double rest_of(const path *k, double tau) {
  static const double most = 0.5;
  return 1 - fmin(k->pull * exp(k->power * tau), most);
}

/* out = rest p - G p */
static void shift_of(path *k, const double *p, double *out) {
  const descent *d = &k->d;
  range_collect(&d->range, p, k->y);
  range_apply(&d->range, d->none, k->y, out);
  for (int i = 0; i < d->cp->n; i++) out[i] = k->rest * p[i] - out[i];
}

bool path_evaluate(path *k, const double *z, double tau, response *out) {
  const descent *d = &k->d;
  const int n = d->cp->n;
  const double rest = rest_of(k, tau);
  range_collect(&d->range, z, k->y);
  range_apply(&d->range, d->cp->g, k->y, k->w);
  for (int i = 0; i < n; i++) k->x[i] = rest * z[i] + (1 - rest) * k->towards[i] - k->w[i];
  respond_smoothly(&d->set, k->x, exp(tau), out);
  double finite = 0;
  for (int i = 0; i < n; i++) {
    k->F[i] = z[i] - out->z[i];
    finite += 0 * k->F[i];
  }
  return finite == 0;
}

/* P' of a row changes within sigma and its distance from the kink: x_n = 0, |x_t| = r. */
static void measure(path *k, double sigma) {
  const active_set *set = &k->d.set;
  const double least = 4 * sigma * sigma;
  for (int i = 0; i < k->d.cp->n; i++) k->metric[i] = 1 / (least + k->x[i] * k->x[i]);
  for (int s = 0; s < set->n_sites; s++) {
    const ss_block *block = set->sites[s].block;
    const int row = set->sites[s].row;
    if (block->kind != SS_BLOCK_FRICTION || block->mu == 0) continue;
    double sum = 0;
    for (int i = row + 1; i < row + block->size; i++) sum += k->x[i] * k->x[i];
    const double far = sqrt(sum) - block->mu * (k->at.z[row] + block->extra), flat = fmin(1, block->mu);
    for (int i = row + 1; i < row + block->size; i++) k->metric[i] = 1 / (least * flat * flat + far * far);
  }
}

/* Gauss and Jordan with pivots in the columns; A holds the matrix and, behind it, the unit matrix. */
static void invert(double (*A)[2 * SS_FRICTION_ROWS], int m) {
  for (int c = 0; c < m; c++) {
    int best = c;
    for (int i = c + 1; i < m; i++)
      if (fabs(A[i][c]) > fabs(A[best][c])) best = i;
    const double inverse = 1 / A[best][c];
    for (int j = 0; j < 2 * m; j++) {
      const double value = inverse * A[best][j];
      A[best][j] = A[c][j];
      A[c][j] = value;
    }
    for (int i = 0; i < m; i++) {
      const double factor = i == c ? 0 : A[i][c];
      for (int j = 0; j < 2 * m; j++) A[i][j] -= factor * A[c][j];
    }
  }
}

/* N and E of the contact whose rows begin at `row`. */
static void invert_group(path *k, int row, int m) {
  double A[SS_FRICTION_ROWS][2 * SS_FRICTION_ROWS];
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      A[i][j] = (i == j) * (1 + damping) - k->rest * k->at.D[row + i][j];
      A[i][m + j] = i == j;
    }
  invert(A, m);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int l = 0; l < m; l++) sum += A[i][m + l] * k->at.D[row + l][j];
      k->N[row + i][j] = A[i][m + j];
      k->E[row + i][j] = sum;
    }
}

static void multiply(const pattern *p, double (*B)[SS_FRICTION_ROWS], const double *b, double *out) {
  for (int g = 0; g < p->n; g++)
    for (int i = p->row[g]; i < p->row[g] + p->size[g]; i++) {
      double sum = 0;
      for (int j = 0; j < p->size[g]; j++) sum += B[i][j] * b[p->row[g] + j];
      out[i] = sum;
    }
}

/* s += N^-1 (b - P' L y); b is lost. */
static void solve_once(path *k, double *b, double *s) {
  const descent *d = &k->d;
  multiply(&d->pattern, k->N, b, k->w);
  for (int i = 0; i < d->cp->n; i++) s[i] += k->w[i];
  range_collect(&d->range, k->w, k->y);
  descent_solve(d, k->y);
  range_apply(&d->range, d->none, k->y, k->w);
  multiply(&d->pattern, k->E, k->w, b);
  for (int i = 0; i < d->cp->n; i++) s[i] -= b[i];
}

/* F' s = -b */
static void solve(path *k, const double *b, double *s) {
  enum { REFINEMENTS = 1 };
  const int n = k->d.cp->n;
  for (int i = 0; i < n; i++) {
    k->q[i] = -b[i];
    s[i] = 0;
  }
  solve_once(k, k->q, s);
  for (int pass = 0; pass < REFINEMENTS; pass++) {
    shift_of(k, s, k->w);
    multiply(&k->d.pattern, k->at.D, k->w, k->q);
    for (int i = 0; i < n; i++) k->q[i] -= s[i] + b[i];
    solve_once(k, k->q, s);
  }
}

int path_linearise(path *k, const double *z, double tau) {
  static const double quotient = 1e-6;
  descent *d = &k->d;
  const int n = d->cp->n, rank = d->range.rank;
  k->rest = rest_of(k, tau);
  measure(k, exp(tau));
  for (int g = 0; g < d->pattern.n; g++) invert_group(k, d->pattern.row[g], d->pattern.size[g]);
  d->eps = 1;
  if (!descent_factor(d, k->E)) return 0;
  int sign = 1;
  for (int j = 0; j < rank; j++)
    if (d->H[(size_t)j * ((size_t)rank + 1)] < 0) sign = -sign;
  memcpy(k->step_x, k->F, sizeof *k->F * (size_t)n);
  if (!path_evaluate(k, z, tau + quotient, &k->beside)) return 0;
  for (int i = 0; i < n; i++) {
    const double before = k->step_x[i];
    k->step_x[i] = (k->F[i] - before) / quotient;
    k->F[i] = before;
  }
  solve(k, k->step_x, k->tangent);
  shift_of(k, k->tangent, k->dx);
  return sign;
}

double path_product(const path *k, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < k->d.cp->n; i++) sum += a[i] * b[i] * k->metric[i];
  return sum;
}

double path_newton(path *k, double *most) {
  const int n = k->d.cp->n;
  solve(k, k->F, k->step);
  shift_of(k, k->step, k->step_x);
  const double along = -path_product(k, k->step_x, k->dx) / (path_product(k, k->dx, k->dx) + n);
  double largest = along * along;
  for (int i = 0; i < n; i++) {
    k->step[i] += along * k->tangent[i];
    k->step_x[i] += along * k->dx[i];
    const double part = k->step_x[i] * k->step_x[i] * k->metric[i];
    if (!(part <= largest)) largest = part;
  }
  *most = sqrt(largest);
  return along;
}
