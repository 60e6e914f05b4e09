/* Two nonsmooth equations whose roots are the solutions, for the globalised Newton method (nonsmooth.c), on the contacts
 * alone (reduce.c):
 *
 *   Fischer-Burmeister   phi(x, y) = x + y - sqrt(x^2 + y^2) vanishes exactly where 0 <= x perp y >= 0. Nonnegative rows:
 *                        phi(z, w); boxes: phi(z - lower, -phi(upper - z, -w)) (Billups 1995). |F|^2 is smooth. No friction.
 *   Alart-Curnier        F = z - P(z - rho w) with the projection on the block's set, whose size goes with the normal part
 *                        (Alart & Curnier 1991). All cones; the linear pieces are the states of active.h. |F|^2 has kinks. */
#include "cp/reference/nonsmooth.h"

#include "cp/response.h"
#include "cp/reduce.h"

static const double rank_tolerance = 1e-12;

static nonsmooth_row single(int row, double F, double a, double b) {
  return (nonsmooth_row){.F = F, .first = row, .size = 1, .a = {a}, .b = {b}};
}

/* phi with its derivatives; at the origin, where it has none, those of the direction (1, 1). */
static double fischer(double x, double y, double *dx, double *dy) {
  const double r = hypot(x, y), sum = x + y;
  *dx = 1 - (r > 0 ? x / r : sqrt(0.5));
  *dy = 1 - (r > 0 ? y / r : sqrt(0.5));
  return sum > 0 ? 2 * (x / (sum + r)) * y : sum - r; /* without cancellation */
}

static nonsmooth_row fischer_box(const ss_block *block, double z, double w) {
  double inner = w, inner_z = 0, inner_w = 1, dx, dy;
  if (block->upper < HUGE_VAL) {
    inner = -fischer(block->upper - z, -w, &dx, &dy);
    inner_z = dx;
    inner_w = dy;
  }
  if (block->lower == -HUGE_VAL) return single(block->first, inner, inner_z, inner_w);
  const double F = fischer(z - block->lower, inner, &dx, &dy);
  return single(block->first, F, dx + dy * inner_z, dy * inner_w);
}

static void fischer_map(void *user, const ss_cp *cp, const double *z, const double *w, nonsmooth_row *rows) {
  (void)user;
  for (int k = 0; k < cp->n_blocks; k++) {
    const ss_block *block = &cp->blocks[k];
    for (int i = block->first; i < block->first + block->size; i++) {
      double dx, dy;
      if (block_is_free(block)) {
        rows[i] = single(i, w[i], 0, 1);
      } else if (block->kind == SS_BLOCK_BOX) {
        rows[i] = fischer_box(block, z[i], w[i]);
      } else if (block->kind == SS_BLOCK_FRICTION && i > block->first) {
        rows[i] = single(i, z[i], 1, 0); /* mu = 0 */
      } else {
        const double F = fischer(z[i], w[i], &dx, &dy);
        rows[i] = single(i, F, dx, dy);
      }
    }
  }
}

/* z_n - max(0, x_n), and z_t - P(x_t) with R = mu (max(0, x_n) + extra), where x = z - rho w. */
static void friction_rows(const site *s, const double *z, const double *w, const double *rho, nonsmooth_row *rows) {
  const ss_block *block = s->block;
  const int first = block->first, n = block->size - 1;
  const double normal = z[0] - rho[0] * w[0];
  const bool closed = normal > 0;
  rows[0] = closed ? single(first, rho[0] * w[0], 0, rho[0]) : single(first, z[0], 1, 0);
  double x[SS_FRICTION_ROWS];
  for (int i = 0; i < n; i++) x[i] = z[1 + i] - rho[1 + i] * w[1 + i];
  projection p = {0}; /* open: P = 0 */
  if (s->state != SITE_OPEN)
    p = project_on_set(s, s->state - 1 - (closed ? 0 : s->slips), x,
                       block->mu * ((closed ? normal : 0) + block->extra));
  for (int i = 0; i < n; i++) {
    nonsmooth_row *r = &rows[1 + i];
    *r = (nonsmooth_row){.F = z[1 + i] - p.P[i], .first = first, .size = block->size};
    const double slope = closed ? block->mu * p.by_R[i] : 0;
    r->a[0] = -slope;
    r->b[0] = slope * rho[0];
    for (int j = 0; j < n; j++) {
      r->a[1 + j] = (i == j) - p.by_x[i][j];
      r->b[1 + j] = p.by_x[i][j] * rho[1 + j];
    }
  }
}

static void curnier_map(void *user, const ss_cp *cp, const double *z, const double *w, nonsmooth_row *rows) {
  active_set *a = user;
  (void)active_set_guess(a, z, w);
  for (int k = 0; k < cp->n_blocks; k++)
    for (int i = cp->blocks[k].first; block_is_free(&cp->blocks[k]) && i < cp->blocks[k].first + cp->blocks[k].size;
         i++)
      rows[i] = single(i, a->rho[i] * w[i], 0, a->rho[i]);
  for (int k = 0; k < a->n_sites; k++) {
    const site *s = &a->sites[k];
    const int i = s->row;
    if (s->block->kind == SS_BLOCK_FRICTION)
      friction_rows(s, z + i, w + i, a->rho + i, rows + i);
    else if (s->state == 1)
      rows[i] = single(i, a->rho[i] * w[i], 0, a->rho[i]);
    else if (s->block->kind == SS_BLOCK_NONNEGATIVE)
      rows[i] = single(i, z[i], 1, 0);
    else
      rows[i] = single(i, z[i] - (s->state ? s->block->upper : s->block->lower), 1, 0);
  }
}

static ss_status run(const ss_cp *problem, const ss_cp_options *options, bool warm, nonsmooth_map *map, double *z,
                     ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  subproblem sub;
  active_set a;
  ss_status status = subproblem_create(problem, rank_tolerance, w, &sub, error);
  if (!status) status = active_set_create(&sub.cp, w, &a, error);
  double *x = status ? NULL : SCRATCH(w, double, sub.cp.n);
  if (!x) return status ? status : out_of_memory(error);
  for (int i = 0; i < sub.cp.n; i++) x[i] = 0;
  if (warm) subproblem_start(&sub, z, x);
  const int limit = options->iteration_limit > 0 ? options->iteration_limit : 200;
  status = nonsmooth_newton(&sub.cp, map, &a, limit, x, w, &result->outcome, &result->iterations, error);
  return status ? status : subproblem_recover(&sub, x, z, w, error);
}

ss_status solve_fischer_burmeister(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                   ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  if (has_friction(problem)) {
    result->outcome = SS_NOT_ADMITTED;
    return SS_OK;
  }
  return run(problem, options, warm, fischer_map, z, workspace, result, error);
}

ss_status solve_alart_curnier(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                              ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, warm, curnier_map, z, workspace, result, error);
}
