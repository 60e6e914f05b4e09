/* ADMM (alternating direction method of multipliers) on De Saxce's form of the problem, in the velocities.
 *
 *     y = P_K(q),   (G + rho) x = rho (2 y - q) - g - s,   q += a (x - y)
 *
 * with K the product of the blocks' cones and sets, and s = mu max -w_t . S on the normal rows, w = rho (y - q), which makes the fixed
 * points those of Coulomb's law (Boyd et al. 2011; Acary & Cadoux 2013 for s). With x = (b - J v) / rho the system is one of the
 * bodies,
 *
 *     (A + J^T J / rho) v = J^T b / rho,
 *
 * factored once, and again where rho changes (residual balancing): a pass costs one solution. Every pass moves all contacts together, so
 * that jammed heaps, in which impulses must travel far along self-stresses before a contact changes its state, take tens of passes to a
 * residual of 1e-3 where sweeps take thousands. For fixed s and symmetric G it always converges, slowly near the end. Fails at the limit. */
#include "cp/compliant.h"
#include "cp/solver.h"

#include <math.h>
#include <string.h>

enum { CHECK = 10, BALANCE = 50, LAST_BALANCE = 1000, DEFAULT_PASSES = 3000 };

typedef struct admm {
  compliant k;
  double rho;
  double *q, *b, *last, *best; /* [n] */
  double *v;                   /* [m] */
  double primal, dual;         /* residuals of the last pass */
  double lowest;               /* residual of best, by the judge */
  ss_threads *threads;
} admm;

/* rho on a row, with the problem's own compliance there. */
static double penalty(const admm *a, int i) { return a->rho + (a->k.R ? a->k.R[i] : 0); }

static bool factor(admm *a) {
  compliant *k = &a->k;
  for (int p = 0; p < k->nodes.count; p++)
    for (int i = k->nodes.first[p]; i < k->nodes.first[p + 1]; i++)
      for (int j = 0; j < k->nodes.first[p + 1] - k->nodes.first[p]; j++)
        k->D[i][j] = i - k->nodes.first[p] == j ? 1 / penalty(a, i) : 0;
  return k->space.factor(k->space.user, (const double(*)[SS_FRICTION_ROWS])k->D, 1);
}

/* y, w, s and the load for the rows from those of site `from` to those of site `to`. */
static void project_some(void *user, int worker, int from, int to) {
  (void)worker;
  admm *a = user;
  compliant *k = &a->k;
  response *y = &k->step.now.z;
  const active_set *set = &k->set;
  const int first = from == 0 ? 0 : set->sites[from].row, end = to < set->n_sites ? set->sites[to].row : k->cp.n;
  for (int i = first; i < end; i++) y->z[i] = a->q[i]; /* free rows */
  for (int s = from; s < to && s < set->n_sites; s++) respond_by_cone_at(set, s, a->q, y);
  for (int i = first; i < end; i++) {
    k->w[i] = a->rho * (y->z[i] - a->q[i]);
    k->shift[i] = 0;
  }
  for (int s = from; s < to && s < set->n_sites; s++) k->shift[set->sites[s].row] = cone_shift_at(set, s, k->w);
  for (int i = first; i < end; i++) {
    a->b[i] = a->rho * y->z[i] + k->w[i] - k->cp.g[i] - k->shift[i];
    k->change[i] = a->b[i] / penalty(a, i);
  }
}

/* q, and the residuals. */
static void move_some(void *user, int first, int last, double *residual) {
  static const double relaxation = 1.5;
  admm *a = user;
  const double *y = a->k.step.now.z.z;
  for (int i = first; i < last; i++) {
    const double apart = (a->b[i] - a->k.w[i]) / penalty(a, i) - y[i];
    a->q[i] += relaxation * apart;
    residual[0] = fmax(residual[0], fabs(apart));
    residual[1] = fmax(residual[1], a->rho * fabs(y[i] - a->last[i]));
    a->last[i] = y[i];
  }
}

/* One pass. y stays in k->step.now.z.z. */
static void pass(admm *a) {
  enum { SITES_AT_A_TIME = 128 };
  const velocity_space *space = &a->k.space;
  const int sites = a->k.set.n_sites;
  double residual[2];
  ss_threads_for(a->threads, sites > 0 ? sites : 1, SITES_AT_A_TIME, project_some, a);
  space->load(space->user, a->k.change, a->v);
  space->solve(space->user, a->v);
  space->slack(space->user, a->v, a->k.w);
  ss_threads_fold(a->threads, a->k.cp.n, move_some, a, residual, 2, ss_larger_of_two);
  a->primal = residual[0];
  a->dual = residual[1];
}

/* rho so that neither residual lags behind; w = rho (y - q) stays. */
static bool balance(admm *a) {
  const double by = a->primal > 10 * a->dual ? 4 : a->dual > 10 * a->primal ? 0.25 : 1;
  if (by == 1) return true;
  for (int i = 0; i < a->k.cp.n; i++) a->q[i] = a->last[i] + (a->q[i] - a->last[i]) / by;
  a->rho *= by;
  return factor(a);
}

static void keep(admm *a) {
  compliant_finish(&a->k, a->last, a->k.z);
  const double residual = ss_cp_judge(a->k.original, a->k.z, a->k.w);
  if (!(residual < a->lowest)) return;
  a->lowest = residual;
  memcpy(a->best, a->k.z, sizeof(double) * (size_t)a->k.cp.n);
}

/* q of a start: y - (w + s) / rho. */
static void start(admm *a, const double *z) {
  compliant *k = &a->k;
  const int n = k->cp.n;
  memset(a->q, 0, sizeof(double) * (size_t)n);
  memset(a->last, 0, sizeof(double) * (size_t)n);
  if (!z) return;
  compliant_start(k, z);
  (void)ss_cp_judge(k->original, z, k->w);
  for (int i = 0; i < n; i++) k->w[i] *= k->scale[i] / k->amplitude;
  cone_shift(&k->set, k->w, k->shift);
  for (int i = 0; i < n; i++) a->q[i] = k->z[i] - (k->w[i] + k->shift[i]) / a->rho;
}

/* Whether the work will do: passes to a residual of 1e-3 are some hundred, for each further digit 1.8 times as many. */
static bool is_worth_it(const admm *a, const ss_cp_options *options) {
  const double passes = 100 * pow(1e-3 / fmin(options->tolerance, 1e-3), 0.25);
  return !(options->work > 0) || a->k.space.operations + passes * a->k.space.solution <= options->work;
}

static ss_status admm_create(admm *a, const ss_cp *problem, const ss_cp_options *options, ss_cp_workspace *w,
                             bool *admitted, ss_error *error) {
  const size_t n = (size_t)problem->n;
  const ss_status status =
      compliant_create(&a->k, problem, options->work > 0 ? options->work : HUGE_VAL, w, admitted, error);
  *admitted = *admitted && !status && is_worth_it(a, options);
  if (!*admitted) return status;
  a->q = SCRATCH(w, double, 4 * n + 1);
  a->v = SCRATCH(w, double, a->k.space.m + 1);
  if (!a->q || !a->v) return out_of_memory(error);
  a->b = a->q + n;
  a->last = a->b + n;
  a->best = a->last + n;
  a->threads = w->threads;
  a->rho = 0.1;
  a->lowest = HUGE_VAL;
  return SS_OK;
}

/* Passes until the tolerance, the limit, or the end of the work. */
static ss_status iterate(admm *a, const ss_cp_options *options, int *passes, double *spent, ss_error *error) {
  const int limit = options->iteration_limit > 0 ? options->iteration_limit : DEFAULT_PASSES;
  *spent += a->k.space.operations;
  bool going = factor(a);
  for (*passes = 1; going && *passes <= limit; ++*passes) {
    pass(a);
    *spent += a->k.space.solution;
    if (*passes % CHECK) continue;
    keep(a);
    if (a->lowest <= options->tolerance || (options->work > 0 && *spent > options->work)) break;
    if (options->stop && options->stop(options->stop_user)) return ss_fail(error, SS_ERROR_STOPPED, "stopped");
    if (*passes % BALANCE == 0 && *passes <= LAST_BALANCE) going = balance(a);
  }
  return SS_OK;
}

ss_status solve_admm(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                     ss_cp_result *result, ss_error *error) {
  admm a;
  bool admitted;
  result->outcome = SS_NOT_ADMITTED;
  if (!cones_admitted(problem)) return SS_OK;
  ss_status status = admm_create(&a, problem, options, w, &admitted, error);
  if (!admitted && options->work > 0) result->outcome = SS_LIMIT; /* with more work, perhaps */
  result->operations = a.k.space.creation;
  if (status || !admitted) return status;
  start(&a, warm ? z : NULL);
  status = iterate(&a, options, &result->iterations, &result->operations, error);
  if (status) return status;
  if (a.lowest < HUGE_VAL) memcpy(z, a.best, sizeof(double) * (size_t)problem->n);
  result->outcome = a.lowest <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  result->residual = a.lowest < HUGE_VAL ? a.lowest : -1;
  return SS_OK;
}
