/* Rows of G by the velocities of the bodies, for sweeps over the contacts of a problem that is given by factors.
 *
 * With A = L L^T and K = J L^-T, G = K K^T: a row of G x + g is that of K u + g with u = K^T x, and a change of one node's
 * impulse changes u in the bodies that it touches. Both take the numbers that the contact has in J, however many neighbours it has;
 * the rows of G of a packing are three times as many numbers, and memory is what sweeps over tens of thousands of contacts wait for.
 * u comes anew from x at the start of every sweep: rounding errors do not add up. Needs a symmetric, positive definite A. */
#include "cp/bodies.h"

#include <math.h>
#include <string.h>

/* The lower triangle of a becomes L; false where a is not symmetric, or not positive definite. */
static bool root_of(double *a, int n) {
  static const double rounding = 1e-14; /* the diagonal is 1 */
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      if (fabs(a[i * n + j] - a[j * n + i]) > rounding) return false;
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) {
      double sum = a[i * n + j];
      for (int k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
      if (i == j && !(sum > rounding)) return false;
      a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
    }
  return true;
}

/* The rows of J over one body become those of K. */
static void divide(double *J, int rows, const double *L, int n) {
  for (int r = 0; r < rows; r++, J += n)
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < i; k++) J[i] -= L[i * n + k] * J[k];
      J[i] /= L[i * n + i];
    }
}

static bool copy_diagonal(body_sweep *b, const node_matrix *G, ss_cp_workspace *w) {
  size_t numbers = 0;
  b->W_at = SCRATCH(w, size_t, G->nodes);
  for (int p = 0; p < G->nodes && b->W_at; p++) {
    const size_t rows = (size_t)(G->first[p + 1] - G->first[p]);
    b->W_at[p] = numbers;
    numbers += rows * rows;
  }
  b->W = SCRATCH(w, double, numbers);
  for (int p = 0; p < G->nodes && b->W_at && b->W; p++) {
    const size_t rows = (size_t)(G->first[p + 1] - G->first[p]);
    memcpy(b->W + b->W_at[p], G->value + G->at[G->diagonal[p]], sizeof(double) * rows * rows);
  }
  return b->W_at && b->W;
}

ss_status body_sweep_create(body_sweep *b, const large *l, ss_cp_workspace *w, bool *admitted, ss_error *error) {
  body_space *s = &b->s;
  const ss_status status = body_space_create(s, l, w, admitted, error);
  if (status || !*admitted) return status;
  b->u = SCRATCH(w, double, s->m);
  if (!b->u || !copy_diagonal(b, &l->G, w)) return out_of_memory(error);
  for (int k = 0; k < s->bodies && *admitted; k++)
    *admitted = root_of(s->A + s->A_at[k], s->first[k + 1] - s->first[k]);
  for (int p = 0; p < l->G.nodes && *admitted; p++)
    for (int e = s->start[p]; e < s->start[p + 1]; e++) {
      const int k = s->body[e];
      divide(s->J + s->at[e], l->G.first[p + 1] - l->G.first[p], s->A + s->A_at[k], s->first[k + 1] - s->first[k]);
    }
  return SS_OK;
}

/* u += K^T change for one block of K. */
static inline void push(const double *restrict K, int rows, int size, const double *restrict change,
                        double *restrict u) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < size; j++) u[j] += change[i] * K[i * size + j];
}

void body_sweep_move(const body_sweep *b, int p, const double *change) {
  const body_space *s = &b->s;
  const int rows = s->l->G.first[p + 1] - s->l->G.first[p];
  bool any = false;
  for (int i = 0; i < rows; i++) any = any || change[i] != 0;
  for (int e = s->start[p]; any && e < s->start[p + 1]; e++) {
    const int f = s->first[s->body[e]], size = s->first[s->body[e] + 1] - f;
    if (rows == 3 && size == 6)
      push(s->J + s->at[e], 3, 6, change, b->u + f);
    else
      push(s->J + s->at[e], rows, size, change, b->u + f);
  }
}

void body_sweep_begin(const body_sweep *b, const double *x) {
  const node_matrix *G = &b->s.l->G;
  memset(b->u, 0, sizeof(double) * (size_t)b->s.m);
  for (int p = 0; p < G->nodes; p++) body_sweep_move(b, p, x + G->first[p]);
}

/* q += K u for one block of K. */
static inline void pull(const double *restrict K, int rows, int size, const double *restrict u, double *restrict q) {
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int j = 0; j < size; j++) sum += K[i * size + j] * u[j];
    q[i] += sum;
  }
}

void body_sweep_row(const body_sweep *b, int p, double *q) {
  const body_space *s = &b->s;
  const int first = s->l->G.first[p], rows = s->l->G.first[p + 1] - first;
  memcpy(q, s->l->g + first, sizeof(double) * (size_t)rows);
  for (int e = s->start[p]; e < s->start[p + 1]; e++) {
    const int f = s->first[s->body[e]], size = s->first[s->body[e] + 1] - f;
    if (rows == 3 && size == 6)
      pull(s->J + s->at[e], 3, 6, b->u + f, q);
    else
      pull(s->J + s->at[e], rows, size, b->u + f, q);
  }
}
