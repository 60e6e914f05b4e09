/* Whether a solution is the limit of vanishing compliance among those with the same states (cp.h).
 *
 * In z(eps) = z + eps z' + ... the closed rows E (all rows of sticking contacts, the normals of sliding ones, free and active rows)
 * satisfy E^T (G z(eps) + g) + eps E^T C z(eps) = 0, and z(eps) = B y with B the directions that the states leave: unit vectors, and
 * (1, mu d) where a contact slides along -d. To first order
 *
 *     (E^T G B) y' = -E^T C z,
 *
 * which has a solution only where E^T C z is orthogonal to the left kernel of E^T G B. Without friction, or with sticking contacts, that
 * is the least sum C_i z_i^2: the kernel holds the impulses that are in balance with themselves. Shares no code with the solvers. */
#include "cp/storage.h"
#include "cp/workspace.h"

#include "la/dense.h"

#include <math.h>

enum { MOST_ROWS = 240 };
static const double small = 1e-7, kernel = 1e-13; /* of the largest number; of the largest eigenvalue, a square */

typedef struct judged {
  int m;         /* closed rows, and directions */
  int *row;      /* [n] */
  int *first;    /* [n] first row of a direction */
  double *along; /* [n][SS_FRICTION_ROWS] the direction */
  int *size;     /* [n] its rows */
} judged;

static void add_unit(judged *j, int row) {
  j->row[j->m] = row;
  j->first[j->m] = row;
  j->size[j->m] = 1;
  j->along[(size_t)j->m * SS_FRICTION_ROWS] = 1;
  j->m++;
}

/* A contact that sticks has all its rows; one at the limit of its friction its normal row and the direction of its impulse. */
static void add_contact(judged *j, const ss_block *block, const double *z, const double *w, double size_z,
                        double size_w) {
  const int row = block->first;
  if (z[row] <= small * size_z) return;
  double force = 0, slip = 0;
  for (int i = 1; i < block->size; i++) {
    force += z[row + i] * z[row + i];
    slip += w[row + i] * w[row + i];
  }
  const double inside = block->cone == SS_CONE_QUADRATIC || block->size == 2 ? 1 - 1e-6 : 0.7; /* of every polygon */
  const bool sticks = sqrt(slip) <= small * size_w && sqrt(force) < inside * block->mu * (z[row] + block->extra);
  if (sticks || block->mu == 0) {
    for (int i = 0; i < (block->mu == 0 ? 1 : block->size); i++) add_unit(j, row + i);
    return;
  }
  add_unit(j, row);
  double *along = j->along + (size_t)(j->m - 1) * SS_FRICTION_ROWS;
  j->size[j->m - 1] = block->size;
  for (int i = 1; i < block->size; i++) along[i] = z[row + i] / z[row];
}

static void list_closed(judged *j, const ss_cp *problem, const double *z, const double *w) {
  double size_z = 0, size_w = 0;
  for (int i = 0; i < problem->n; i++) {
    size_z = fmax(size_z, fabs(z[i]));
    size_w = fmax(size_w, fmax(fabs(problem->g[i]), fabs(w[i])));
  }
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block->kind == SS_BLOCK_FRICTION) add_contact(j, block, z, w, size_z, size_w);
    for (int i = block->first; block->kind != SS_BLOCK_FRICTION && i < block->first + block->size; i++) {
      const bool closed = block->kind == SS_BLOCK_FREE ||
                          (block->kind == SS_BLOCK_NONNEGATIVE && z[i] > small * size_z) ||
                          (block->kind == SS_BLOCK_BOX && z[i] > block->lower && z[i] < block->upper);
      if (closed) add_unit(j, i);
    }
  }
}

/* K = S E^T G B with rows of size one, and r = S E^T C z. */
static void assemble(const judged *j, const ss_cp *problem, const double *z, double *K, double *r) {
  const size_t n = (size_t)problem->n;
  for (int a = 0; a < j->m; a++) {
    const double *G = problem->G + (size_t)j->row[a] * n, diagonal = G[j->row[a]];
    const double scale = diagonal > 0 ? 1 / sqrt(diagonal) : 1;
    for (int b = 0; b < j->m; b++) {
      double sum = 0;
      for (int i = 0; i < j->size[b]; i++) sum += G[j->first[b] + i] * j->along[(size_t)b * SS_FRICTION_ROWS + i];
      K[a * j->m + b] = scale * sum;
    }
    r[a] = scale * (problem->compliance ? problem->compliance[j->row[a]] : 1) * z[j->row[a]];
  }
}

/* The part of r in the left kernel of K, over |r|. */
static double kernel_share(double *K, double *r, int m, double *memory) {
  double *H = memory, *V = H + (size_t)m * m, *values = V + (size_t)m * m, *off = values + m, largest = 0;
  for (int a = 0; a < m; a++)
    for (int b = 0; b < m; b++) {
      double sum = 0;
      for (int i = 0; i < m; i++) sum += K[a * m + i] * K[b * m + i];
      H[a * m + b] = sum;
    }
  if (!ss_symmetric_eigen(H, m, V, values, off)) return -1;
  double inside = 0, all = 0;
  for (int k = 0; k < m; k++) largest = fmax(largest, values[k]);
  for (int k = 0; k < m; k++) {
    double part = 0;
    for (int a = 0; a < m; a++) part += V[a * m + k] * r[a];
    all += part * part;
    if (values[k] <= kernel * largest) inside += part * part;
  }
  return all > 0 ? sqrt(inside / all) : 0;
}

double ss_cp_judge_selection(const ss_cp *problem, const double *z, ss_cp_workspace *workspace) {
  const size_t n = (size_t)problem->n;
  if (problem->n == 0) return 0;
  if (problem->n > MOST_ROWS) return -1;
  const scratch_mark mark = scratch_now(workspace);
  ss_cp dense = *problem;
  if (!problem->G && storage_dense(problem, workspace, &dense, NULL)) return -1;
  dense.compliance = problem->compliance;
  judged j = {.row = SCRATCH(workspace, int, 3 * n)};
  double *memory = SCRATCH(workspace, double, 3 * n * n + (SS_FRICTION_ROWS + 4) * n);
  double share = -1;
  if (j.row && memory) {
    j.first = j.row + n;
    j.size = j.first + n;
    j.along = memory;
    double *w = j.along + SS_FRICTION_ROWS * n, *r = w + n, *K = r + n;
    if (ss_cp_judge(&dense, z, w) < HUGE_VAL) {
      list_closed(&j, &dense, z, w);
      assemble(&j, &dense, z, K, r);
      share = kernel_share(K, r, j.m, K + (size_t)j.m * j.m);
    }
  }
  scratch_release(workspace, mark);
  return share;
}
