/* Friction sets given by their corners (SS_CONE_GENERATED): Stewart and Trinkle's LCP.
 *
 * With the corners d_1 .. d_m of S, z_t = sum beta_i d_i and (ST section 3.2)
 *
 *     0 <= c_n     perp  w_n >= 0
 *     0 <= beta_i  perp  d_i . w_t + lambda >= 0
 *     0 <= lambda  perp  mu (c_n + extra) - sum beta_i >= 0
 *
 * every such block becomes a nonnegative one of m + 2 rows; other blocks stay as they are, and the problem that results is solved like any
 * other. Lemke's method solves it where G is positive semi-definite and the right side lies in its range (copositive-plus).
 *
 * Which solution: the compliances of cp.h are those of z, not of beta. So they are added to G before the rows are written out, eps falls
 * in steps until the proximal steps that follow keep the contacts' states (selection.c does the same for small problems). */
#include "cp/solver.h"
#include "cp/storage.h"

#include <math.h>
#include <string.h>

enum { PROXIMAL = 8 };

typedef struct expansion {
  const ss_cp *problem; /* dense */
  ss_cp cp;             /* written out */
  double *G, *g;        /* of it */
  ss_block *blocks;
  double *T; /* [problem.n][cp.n]: z = T y */
  double *y;
  double *line; /* [cp.n] */
} expansion;

static bool is_generated(const ss_block *block) {
  return block->kind == SS_BLOCK_FRICTION && block->cone == SS_CONE_GENERATED && block->mu > 0;
}

bool has_generated(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].kind == SS_BLOCK_FRICTION && problem->blocks[b].cone == SS_CONE_GENERATED) return true;
  return false;
}

static int expanded_rows(const ss_cp *problem) {
  int n = 0;
  for (int b = 0; b < problem->n_blocks; b++)
    n += is_generated(&problem->blocks[b]) ? 2 + problem->blocks[b].directions : problem->blocks[b].size;
  return n;
}

/* Blocks and T. Without friction (mu = 0) the normal row is left: tangential impulses are zero. */
static void write_out(expansion *e) {
  const ss_cp *p = e->problem;
  const size_t n = (size_t)e->cp.n;
  memset(e->T, 0, sizeof(double) * (size_t)p->n * n);
  int row = 0, count = 0;
  for (int b = 0; b < p->n_blocks; b++) {
    const ss_block *block = &p->blocks[b];
    ss_block *own = &e->blocks[count++];
    *own = *block;
    own->first = row;
    if (is_generated(block)) {
      *own = (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .first = row, .size = 2 + block->directions};
      e->T[(size_t)block->first * n + (size_t)row] = 1;
      for (int i = 0; i < block->directions; i++)
        for (int k = 1; k < block->size; k++)
          e->T[(size_t)(block->first + k) * n + (size_t)(row + 1 + i)] =
              block->generators[i * (block->size - 1) + k - 1];
    } else {
      if (own->cone == SS_CONE_GENERATED) own->cone = SS_CONE_PYRAMID; /* mu = 0: any set will do */
      for (int k = 0; k < block->size; k++) e->T[(size_t)(block->first + k) * n + (size_t)(row + k)] = 1;
    }
    row += own->size;
  }
  e->cp.n_blocks = count;
}

/* The constant entries of lambda's row and column. */
static void add_limits(expansion *e) {
  const size_t n = (size_t)e->cp.n;
  for (int b = 0; b < e->problem->n_blocks; b++) {
    const ss_block *block = &e->problem->blocks[b];
    if (!is_generated(block)) continue;
    const size_t normal = (size_t)e->blocks[b].first, lambda = normal + 1 + (size_t)block->directions;
    e->G[lambda * n + normal] += block->mu;
    e->g[lambda] += block->mu * block->extra;
    for (size_t i = normal + 1; i < lambda; i++) {
      e->G[lambda * n + i] -= 1;
      e->G[i * n + lambda] += 1;
    }
  }
}

/* G and g of (G + eps C) z + g - eps C a; a may be NULL. */
static void pose(expansion *e, double eps, const double *a) {
  const ss_cp *p = e->problem;
  const size_t n = (size_t)e->cp.n, m = (size_t)p->n;
  memset(e->G, 0, sizeof(double) * n * n);
  memset(e->g, 0, sizeof(double) * n);
  for (size_t i = 0; i < m; i++) { /* T^T G T, row by row of G */
    const double soft = eps * (p->compliance ? p->compliance[i] : 1), right = p->g[i] - (a ? soft * a[i] : 0);
    memset(e->line, 0, sizeof(double) * n);
    for (size_t j = 0; j < m; j++) {
      const double entry = p->G[i * m + j] + (i == j ? soft : 0);
      for (size_t c = 0; entry != 0 && c < n; c++) e->line[c] += entry * e->T[j * n + c];
    }
    for (size_t r = 0; r < n; r++) {
      const double weight = e->T[i * n + r];
      if (weight == 0) continue;
      e->g[r] += weight * right;
      for (size_t c = 0; c < n; c++) e->G[r * n + c] += weight * e->line[c];
    }
  }
  add_limits(e);
}

static void contract(const expansion *e, double *z) {
  const size_t n = (size_t)e->cp.n;
  for (size_t i = 0; i < (size_t)e->problem->n; i++) {
    z[i] = 0;
    for (size_t c = 0; c < n; c++) z[i] += e->T[i * n + c] * e->y[c];
  }
}

static ss_status create(expansion *e, const ss_cp *problem, ss_cp_workspace *w, ss_error *error) {
  const size_t n = (size_t)expanded_rows(problem), m = (size_t)problem->n;
  *e = (expansion){.problem = problem};
  e->G = SCRATCH(w, double, n *n);
  e->T = SCRATCH(w, double, m *n);
  e->g = SCRATCH(w, double, 3 * n);
  e->blocks = SCRATCH(w, ss_block, problem->n_blocks);
  if (!e->G || !e->T || !e->g || !e->blocks) return out_of_memory(error);
  e->y = e->g + n;
  e->line = e->y + n;
  e->cp = (ss_cp){.n = (int)n, .G = e->G, .g = e->g, .blocks = e->blocks};
  write_out(e);
  return SS_OK;
}

/* The problem as it is posed, from nothing; z by the written-out problem's y. */
static ss_status solve_posed(expansion *e, const ss_cp_options *options, double *z, ss_cp_workspace *w,
                             ss_cp_result *result, ss_error *error) {
  static const double sharp = 1e-3;
  ss_cp_options own = *options;
  ss_cp_result inner = {0};
  own.any = true;
  own.tolerance = sharp * options->tolerance;
  own.trace = NULL;
  const ss_status status = ss_cp_solve(&e->cp, &own, false, e->y, w, &inner, error);
  if (status) return status;
  contract(e, z);
  result->iterations += inner.iterations;
  result->operations += inner.operations;
  result->fallbacks += inner.fallbacks;
  result->outcome = inner.outcome;
  result->no_solution = inner.no_solution;
  if (inner.solver) result->solver = inner.solver;
  return SS_OK;
}

/* Geometric mean of G_ii / c_i. */
static double typical_compliance(const ss_cp *p) {
  double sum = 0;
  int count = 0;
  for (int i = 0; i < p->n; i++) {
    const double own = p->G[(size_t)i * ((size_t)p->n + 1)] / (p->compliance ? p->compliance[i] : 1);
    if (!(own > 0)) continue;
    sum += log(own);
    count++;
  }
  return count ? exp(sum / count) : 1;
}

typedef struct numbers {
  double *x, *slack, *a, *ze, *we, *best; /* [n] each */
  double lowest;                          /* residual of best */
} numbers;

static void keep(const ss_cp *p, numbers *m, const double *z, double residual) {
  if (!(residual < m->lowest)) return;
  m->lowest = residual;
  memcpy(m->best, z, sizeof(double) * (size_t)p->n);
}

/* The limit of vanishing compliance: m->best, where it returns with result->selected. */
static ss_status select_limit(expansion *e, const ss_cp_options *options, numbers *m, ss_cp_workspace *w,
                              ss_cp_result *result, ss_error *error) {
  static const double shares[] = {1e-5, 1e-7, 1e-9}, exact = 1e-15;
  const ss_cp *p = e->problem;
  const double typical = typical_compliance(p);
  for (size_t level = 0; level < sizeof shares / sizeof *shares; level++) {
    const double eps = shares[level] * typical;
    pose(e, eps, NULL);
    ss_status status = solve_posed(e, options, m->x, w, result, error);
    if (status) return status;
    memcpy(m->ze, m->x, sizeof(double) * (size_t)p->n);
    (void)ss_cp_judge(p, m->ze, m->we);
    for (int i = 0; i < p->n; i++) m->we[i] += eps * (p->compliance ? p->compliance[i] : 1) * m->ze[i];
    double residual = HUGE_VAL, last = HUGE_VAL;
    for (int k = 0; k < PROXIMAL && !(residual <= exact); k++) {
      memcpy(m->a, m->x, sizeof(double) * (size_t)p->n);
      pose(e, eps, m->a);
      if ((status = solve_posed(e, options, m->x, w, result, error))) return status;
      residual = ss_cp_judge(p, m->x, m->slack);
      keep(p, m, m->x, residual);
      if (!(residual < 0.5 * last)) break;
      last = residual;
    }
    (void)ss_cp_judge(p, m->best, m->slack);
    result->selected = m->lowest <= options->tolerance && states_are_kept(p, m->ze, m->we, m->best, m->slack, eps);
    if (result->selected) return SS_OK;
  }
  return SS_OK;
}

ss_status solve_generated(const ss_cp *given, const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                          ss_cp_result *result, ss_error *error) {
  (void)warm; /* Lemke's method starts from nothing */
  const scratch_mark mark = scratch_now(w);
  const bool automatic = strcmp(options->solver, "auto") == 0;
  const size_t n = (size_t)given->n;
  ss_cp dense = *given;
  result->outcome = SS_NOT_ADMITTED;
  memset(z, 0, sizeof(double) * n);
  if (given->n > SS_CP_DENSE_ROWS || expanded_rows(given) > SS_CP_DENSE_ROWS) return SS_OK;
  ss_status status = given->G ? SS_OK : storage_dense(given, w, &dense, error);
  dense.compliance = given->compliance;
  dense.sparse = NULL;
  dense.factors = NULL;
  expansion e;
  numbers m = {.x = SCRATCH(w, double, 6 * n), .lowest = HUGE_VAL};
  if (!status && !m.x) status = out_of_memory(error);
  if (!status) status = create(&e, &dense, w, error);
  if (status) return status;
  m.slack = m.x + n;
  m.a = m.slack + n;
  m.ze = m.a + n;
  m.we = m.ze + n;
  m.best = m.we + n;
  memset(m.best, 0, sizeof(double) * n);
  if (automatic && !options->any) status = select_limit(&e, options, &m, w, result, error);
  if (!status && !result->selected && !(m.lowest <= options->tolerance)) {
    pose(&e, 0, NULL);
    status = solve_posed(&e, options, m.x, w, result, error);
    if (!status) keep(&dense, &m, m.x, ss_cp_judge(&dense, m.x, NULL));
  }
  memcpy(z, m.best, sizeof(double) * n);
  result->residual = ss_cp_judge(given, z, m.slack);
  if (result->residual <= options->tolerance)
    result->outcome = SS_SOLVED;
  else if (result->outcome == SS_SOLVED)
    result->outcome = SS_STALLED;
  scratch_release(w, mark);
  return status;
}
