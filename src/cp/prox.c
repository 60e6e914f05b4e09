/* The proximal point method (Rockafellar 1976) on the contacts: a sequence of problems
 *
 *     w = (G + delta 1) z + (g - delta z_k),   z_k+1 its solution,
 *
 * each of which is well conditioned even where contacts are redundant, so that sweeps with Newton steps (mixed.c) solve
 * it fast. Its fixed points are the solutions; the residual of the original problem is delta |z_k+1 - z_k|. delta is
 * lowered while the inner problems are easy and raised when they are not. Slow where the solution is far away in the null
 * space of G. */
#include "cp/solver.h"

#include "cp/mixed.h"
#include "cp/subproblem.h"

#include <math.h>

enum { OUTER = 60, INNER = 400, MOST_VAIN = 8 /* outer steps in a row that hardly improve anything */ };
static const double rank_tolerance = 1e-12, first_delta = 1e-2, least_delta = 1e-9, most_delta = 1;

typedef struct prox {
  subproblem sub;
  ss_cp shifted;    /* the inner problem */
  double *G, *g;    /* its arrays */
  double *z, *next; /* [n] */
  int iterations, limit;
} prox;

static ss_status prox_create(prox *p, const ss_cp *problem, ss_cp_workspace *w, ss_error *error) {
  const ss_status status = subproblem_create(problem, rank_tolerance, w, &p->sub, error);
  if (status) return status;
  const size_t n = (size_t)p->sub.cp.n;
  p->G = SCRATCH(w, double, n *n);
  p->g = SCRATCH(w, double, 3 * n);
  if (!p->G || !p->g) return out_of_memory(error);
  p->z = p->g + n;
  p->next = p->z + n;
  for (size_t i = 0; i < n * n; i++) p->G[i] = p->sub.cp.G[i];
  p->shifted = p->sub.cp;
  p->shifted.G = p->G;
  p->shifted.g = p->g;
  return SS_OK;
}

/* One inner problem from p->z to p->next; returns its residual. */
static ss_status inner(prox *p, double delta, double tolerance, ss_cp_workspace *w, double *reached, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  const size_t n = (size_t)p->sub.cp.n;
  for (size_t i = 0; i < n; i++) {
    p->G[i * (n + 1)] = p->sub.cp.G[i * (n + 1)] + delta;
    p->g[i] = p->sub.cp.g[i] - delta * p->z[i];
  }
  mixed m = {.tolerance = tolerance, .first_sweeps = 5};
  const ss_status status = mixed_create(&m, &p->shifted, w, error);
  if (status) return status;
  for (size_t i = 0; i < n; i++) m.x[i] = p->z[i];
  const int left = p->limit - p->iterations;
  *reached = mixed_take_turns(&m, left < INNER ? left : INNER, true);
  for (size_t i = 0; i < n; i++) p->next[i] = m.x[i];
  p->iterations += m.sweeps + m.newtons;
  scratch_release(w, mark);
  return SS_OK;
}

static ss_status outer(prox *p, double goal, double *lowest, ss_cp_workspace *w, ss_error *error) {
  const int n = p->sub.cp.n;
  double delta = first_delta;
  int vain = 0;
  *lowest = ss_cp_judge(&p->sub.cp, p->z, NULL);
  for (int k = 0; k<OUTER && * lowest> goal && p->iterations < p->limit; k++) {
    double reached;
    const double tolerance = fmax(1e-15, fmin(goal, 1e-3 * *lowest));
    const ss_status status = inner(p, delta, tolerance, w, &reached, error);
    if (status) return status;
    const double residual = ss_cp_judge(&p->sub.cp, p->next, NULL);
    const bool easy = reached <= tolerance, better = residual < *lowest;
    vain = residual < 0.9 * *lowest ? 0 : vain + 1;
    if (better) {
      *lowest = residual;
      for (int i = 0; i < n; i++) p->z[i] = p->next[i];
    }
    delta = fmin(fmax(easy ? delta / 4 : delta * 10, least_delta), most_delta);
    if ((!easy && !better && delta >= most_delta) || vain >= MOST_VAIN) break;
  }
  return SS_OK;
}

ss_status solve_prox(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                     ss_cp_result *result, ss_error *error) {
  prox p = {.limit = options->iteration_limit > 0 ? options->iteration_limit : OUTER * INNER};
  ss_status status = prox_create(&p, problem, w, error);
  if (status) return status;
  if (warm)
    subproblem_start(&p.sub, z, p.z);
  else
    for (int i = 0; i < p.sub.cp.n; i++) p.z[i] = 0;
  double lowest;
  status = outer(&p, fmin(1e-13, options->tolerance), &lowest, w, error);
  if (status) return status;
  result->iterations = p.iterations;
  result->outcome = lowest <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return subproblem_recover(&p.sub, p.z, z, w, error);
}
