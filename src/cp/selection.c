/* The selection of the limit of vanishing compliance (cp.h) where that is cheap.
 *
 * A solution is the only one of its kind where every contact is strictly in its state, and the equations of the states determine the
 * impulses. Else the active-set method solves the compliant problem from the states of the solution, rows on the edge between two
 * states being closed at first, and then proximal steps. Small problems mostly need no more; the others follow the path of
 * proximal_newton.c. */
#include "cp/active.h"
#include "cp/solver.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 240 }; /* beyond, looking at it costs as much as selecting */
static const double clearly = 1e-9;

/* A row whose law allows z = 0 with w >= 0: whether one of them is clearly there. */
static bool apart(double z, double w, double size_z, double size_w) {
  return z > clearly * size_z || w > clearly * size_w;
}

/* z, w: of a friction block. */
static bool is_strict_friction(const ss_block *block, const double *z, const double *w, double size_z, double size_w) {
  if (!apart(z[0], w[0], size_z, size_w)) return false;
  if (block->mu == 0 || (z[0] <= clearly * size_z && block->extra == 0)) return true;
  double force = 0, slip = 0;
  const double limit = block->mu * (fmax(z[0], 0) + block->extra);
  for (int i = 1; i < block->size; i++) {
    force += z[i] * z[i];
    slip += w[i] * w[i];
  }
  const bool inside = sqrt(force) < limit * 0.7; /* of every set S that a block may have */
  return inside || sqrt(slip) > clearly * size_w || block->cone != SS_CONE_QUADRATIC;
}

static bool is_strict(const ss_cp *problem, const double *z, const double *w) {
  double size_z = 0, size_w = 0;
  for (int i = 0; i < problem->n; i++) {
    size_z = fmax(size_z, fabs(z[i]));
    size_w = fmax(size_w, fmax(fabs(problem->g[i]), fabs(w[i])));
  }
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int row = block->first;
    if (block->kind == SS_BLOCK_FRICTION && !is_strict_friction(block, z + row, w + row, size_z, size_w)) return false;
    for (int i = row; block->kind == SS_BLOCK_NONNEGATIVE && i < row + block->size; i++)
      if (!apart(z[i], w[i], size_z, size_w)) return false;
    if (block->kind == SS_BLOCK_BOX && !apart(z[row] - block->lower, w[row], size_z, size_w)) return false;
    if (block->kind == SS_BLOCK_BOX && !apart(block->upper - z[row], -w[row], size_z, size_w)) return false;
  }
  return true;
}

bool is_determined(const ss_cp *problem, const double *z, ss_cp_workspace *w) {
  if (!problem->G || problem->n > MOST_ROWS) return false;
  const scratch_mark mark = scratch_now(w);
  double *slack = SCRATCH(w, double, 2 * (size_t)problem->n);
  active_set a;
  bool determined = false;
  if (slack && ss_cp_judge(problem, z, slack) < HUGE_VAL && is_strict(problem, z, slack) &&
      !active_set_create(problem, w, &a, NULL)) {
    double *copy = slack + problem->n;
    for (int i = 0; i < problem->n; i++) copy[i] = z[i];
    (void)active_set_guess(&a, z, slack);
    determined = active_set_solve(&a, copy, slack) && a.rank == a.unknowns;
  }
  scratch_release(w, mark);
  return determined;
}

static double softness(const ss_cp *problem, int row) {
  if (problem->compliance_matrix) return problem->compliance_matrix[(size_t)row * ((size_t)problem->n + 1)];
  return problem->compliance ? problem->compliance[row] : 1;
}

/* What eps is measured by: the mean of G_ii / C_ii over the rows that G does something for. */
static double typical_stiffness(const ss_cp *problem) {
  static const double idle = 1e-9;
  const size_t n = (size_t)problem->n;
  double largest = 0, sum = 0;
  int count = 0;
  for (size_t i = 0; i < n; i++) largest = fmax(largest, problem->G[i * (n + 1)] / softness(problem, (int)i));
  for (size_t i = 0; i < n; i++) {
    const double own = problem->G[i * (n + 1)] / softness(problem, (int)i);
    if (!(own > idle * largest)) continue;
    sum += log(own);
    count++;
  }
  return count ? exp(sum / count) : 1;
}

/* Whether a contact of the rigid solution z, w is in the state of the compliant one ze, we, or on its edge. `small`: slacks of the
 * compliant problem below are zero. */
static bool keeps_friction(const ss_block *block, const double *ze, const double *we, const double *z, const double *w,
                           double small, double size_z, double size_w) {
  static const double alike = 1e-2;
  if (!(ze[0] > 0)) return z[0] <= clearly * size_z;
  if (w[0] > clearly * size_w) return false;
  if (block->mu == 0 || !(z[0] + block->extra > 0)) return true;
  double slip = 0, now = 0, apart_by = 0;
  for (int i = 1; i < block->size; i++) {
    const double share = z[i] / (block->mu * (z[0] + block->extra)),
                 before = ze[i] / (block->mu * (ze[0] + block->extra));
    slip = fmax(slip, fabs(we[i]));
    now = fmax(now, fabs(w[i]));
    apart_by = fmax(apart_by, fabs(share - before));
  }
  return slip <= small ? now <= clearly * size_w
                       : apart_by <= alike; /* stuck, or at the same place of the set's boundary */
}

bool states_are_kept(const ss_cp *problem, const double *ze, const double *we, const double *z, const double *w,
                     double eps) {
  static const double share = 1e-6;
  double size_z = 0, size_w = 0;
  for (int i = 0; i < problem->n; i++) {
    size_z = fmax(size_z, fabs(z[i]));
    size_w = fmax(size_w, fmax(fabs(problem->g[i]), fabs(w[i])));
  }
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int row = block->first;
    const double small = share * eps * softness(problem, row) * size_z;
    if (block->kind == SS_BLOCK_FRICTION &&
        !keeps_friction(block, ze + row, we + row, z + row, w + row, small, size_z, size_w))
      return false;
    for (int i = row; block->kind == SS_BLOCK_NONNEGATIVE && i < row + block->size; i++)
      if (ze[i] > 0 ? w[i] > clearly * size_w : z[i] > clearly * size_z) return false;
  }
  return true;
}

/* w = (G + eps C) z + g - eps C a, and its solution from z; where a is NULL: without it, or with + eps c. */
static bool solve_compliant(ss_cp *posed, const ss_cp *problem, double eps, const double *a, double *z,
                            ss_cp_workspace *w) {
  static const double exact = 1e-14, enough = 1e-11;
  const ss_cp_options options = {.solver = "active-set", .tolerance = exact, .iteration_limit = 20};
  const scratch_mark mark = scratch_now(w);
  ss_cp_result result = {0};
  double *g = (double *)posed->g, *G = (double *)posed->G;
  const size_t n = (size_t)problem->n;
  for (size_t i = 0; i < n && !problem->compliance_matrix; i++) {
    const double soft = eps * softness(problem, (int)i);
    g[i] = problem->g[i] - (a ? soft * a[i] : 0);
    G[i * (n + 1)] = problem->G[i * (n + 1)] + soft;
  }
  for (size_t i = 0; i < n && problem->compliance_matrix; i++) {
    const double *C = problem->compliance_matrix + i * n;
    double sum = a || !problem->compliance_offset ? 0 : -problem->compliance_offset[i];
    for (size_t j = 0; j < n; j++) {
      G[i * n + j] = problem->G[i * n + j] + eps * C[j];
      sum += a ? C[j] * a[j] : 0;
    }
    g[i] = problem->g[i] - eps * sum;
  }
  const ss_status status = solve_active_set(posed, &options, true, z, w, &result, NULL);
  scratch_release(w, mark);
  return status == SS_OK && result.residual <= enough;
}

/* Rows on the edge between two states begin as closed. */
static void close_edges(const ss_cp *problem, const double *slack, double largest, double *x) {
  static const double edge = 1e-3;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int rows = block->kind == SS_BLOCK_NONNEGATIVE ? block->size : block->kind == SS_BLOCK_FRICTION;
    for (int i = block->first; i < block->first + rows; i++)
      if (x[i] <= clearly * largest && slack[i] <= clearly * (1 + largest)) x[i] = edge * largest;
  }
}

bool select_directly(const ss_cp *problem, const ss_cp_options *options, double *z, ss_cp_workspace *w,
                     ss_cp_result *result) {
  enum { PROXIMAL = 4, MOST = 400 };
  static const double shares[] = {1e-5, 1e-7, 1e-9}, exact = 1e-13;
  const size_t n = (size_t)problem->n, bytes = sizeof(double) * n;
  if (!problem->G || problem->n > MOST) return false;
  const scratch_mark mark = scratch_now(w);
  double *G = SCRATCH(w, double, n *n), *g = SCRATCH(w, double, 6 * n), largest = 0, residual = HUGE_VAL;
  if (!G || !g) return false;
  double *x = g + n, *slack = x + n, *a = slack + n, *ze = a + n, *we = ze + n;
  const double typical = typical_stiffness(problem);
  for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(z[i]));
  memcpy(G, problem->G, bytes * n);
  ss_cp posed = *problem;
  posed.G = G;
  posed.g = g;
  bool selected = false, going = ss_cp_judge(problem, z, slack) < HUGE_VAL;
  memcpy(x, z, bytes);
  close_edges(problem, slack, largest, x);
  for (size_t level = 0; level < sizeof shares / sizeof *shares && going && !selected; level++) {
    const double eps = shares[level] * typical;
    residual = HUGE_VAL;
    going = solve_compliant(&posed, problem, eps, NULL, x, w);
    memcpy(ze, x, bytes);
    (void)ss_cp_judge(&posed, ze, we);
    bool rigid = going;
    for (int k = 0; k < PROXIMAL && rigid; k++) {
      memcpy(a, x, bytes);
      rigid = solve_compliant(&posed, problem, eps, a, x, w);
      residual = rigid ? ss_cp_judge(problem, x, slack) : HUGE_VAL;
      if (residual <= exact) break;
    }
    selected = residual <= options->tolerance && states_are_kept(problem, ze, we, x, slack, eps);
    if (!selected) memcpy(x, ze, bytes);
  }
  if (selected) {
    memcpy(z, x, bytes);
    result->residual = residual;
    result->selected = true;
  }
  scratch_release(w, mark);
  return selected;
}
