/* Primal-dual active sets: guess the states by the natural map, solve their linear system, repeat (active.c). A
 * semismooth Newton method without globalisation: very fast from a good start (the last step's z), and it may cycle
 * from a bad one. For polyhedral sets it ends exactly, as soon as the states repeat. A start that is a solution already is
 * left as it is. The best z of all is kept; the iteration ends early where states come back or nothing improves. */
#include "cp/solver.h"

#include "cp/active.h"

#include <math.h>

enum { DEFAULT_LIMIT = 10, MOST_VAIN = 4, SPARSE_ROWS = 64 };
enum { FEW = 24 };                                /* rows that are solved as fast as the start is judged */
static const double fine = 1e-13, nearly = 1e-10; /* from there only a wrong guess leads away */
static const double promising = 1e-5;

typedef struct search {
  active_set a;
  double *w, *best; /* [n] */
  uint64_t *seen;   /* [limit] fingerprints of the states so far */
  double lowest;    /* residual of best */
  double rounding;  /* residual that rounding errors leave */
  int patience;
  int vain;       /* iterations since it was last halved */
  bool z_is_best; /* and best may be older */
  bool smooth;    /* the disc's equations change with z even where the states do not */
  bool timid;     /* only where no contact seems to slide, and only while that looks right */
  bool guessing;  /* many contacts, from nothing: where they are redundant, other solvers find the impulses faster */
} search;

static uint64_t fingerprint(const active_set *a) {
  uint64_t h = 1469598103934665603u; /* FNV-1a */
  for (int k = 0; k < a->n_sites; k++) h = (h ^ (uint64_t)(unsigned)a->sites[k].state) * 1099511628211u;
  return h;
}

/* Whether solving these states again is in vain. If they are those of just now, and were not solved well, it is not: the
 * solution is refined, with pivots where it was rough. */
static bool seen_before(search *s, int iteration) {
  if (s->smooth) return false;
  s->seen[iteration] = fingerprint(&s->a);
  const bool again = iteration > 0 && s->seen[iteration] == s->seen[iteration - 1];
  if (again && s->a.loose) {
    s->a.pivoting = true;
    return false;
  }
  if (again) return !(s->vain == 0 && s->lowest > 10 * fine);
  for (int k = 0; k < iteration; k++)
    if (s->seen[k] == s->seen[iteration]) return true;
  return false;
}

/* Returns whether to go on. */
static bool keep(search *s, double residual, const double *z, int n) {
  const bool much = residual <= s->lowest / 2;
  const bool settled = residual <= s->rounding || (s->lowest <= nearly && residual > 10 * s->lowest) ||
                       (residual <= fine && !(residual <= s->lowest / 10));
  s->vain = much ? 0 : s->vain + 1;
  const bool ends = settled || s->vain >= s->patience;
  s->z_is_best = residual < s->lowest;
  if (s->z_is_best) {
    s->lowest = residual;
    for (int i = 0; i < n && !ends; i++) s->best[i] = z[i];
  }
  return !ends;
}

/* Whether the states guessed say that no contact slides: a pile at rest. */
static bool all_stick(const active_set *a) {
  for (int k = 0; k < a->n_sites; k++) {
    const site *s = &a->sites[k];
    if (s->block->kind != SS_BLOCK_FRICTION || s->state == SITE_OPEN || s->block->mu == 0) continue;
    const int slip = (s->state - 1) % s->slips;
    const bool axes = s->block->size == 2 || s->block->cone == SS_CONE_PYRAMID;
    if (slip != (axes ? (s->slips - 1) / 2 : SLIP_STICKS)) return false;
  }
  return true;
}

/* Iterations from z, whose slacks are in s->w; returns how many. */
static int iterate(search *s, const ss_cp *problem, int limit, double *z, ss_outcome *outcome) {
  for (int k = 0; k < limit; k++) {
    (void)active_set_guess(&s->a, z, s->w);
    if (k == 0 && s->timid && !all_stick(&s->a)) return 0;
    if (seen_before(s, k)) return k; /* nothing new would come any more */
    if (!active_set_solve(&s->a, z, s->w)) {
      *outcome = SS_STALLED;
      s->z_is_best = false;
      return k;
    }
    if (!keep(s, ss_cp_judge(problem, z, s->w), z, problem->n)) return k + 1;
    if (s->guessing && 2 * s->a.rank <= s->a.unknowns) return k + 1;
    if (s->timid && problem->n > SPARSE_ROWS && s->lowest > promising) return k + 1;
  }
  return limit;
}

static ss_status run(const ss_cp *problem, const ss_cp_options *options, bool warm, bool timid, double *z,
                     ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  const int n = problem->n, limit = options->iteration_limit > 0 ? options->iteration_limit : DEFAULT_LIMIT;
  search s = {.smooth = has_disc(problem)};
  s.guessing = !warm && s.smooth && n > FEW;
  s.timid = timid;
  s.patience = timid               ? 1
               : warm || !s.smooth ? MOST_VAIN
                                   : 2; /* directions that are guessed from nothing seldom settle */
  s.w = SCRATCH(workspace, double, 2 * (size_t)n);
  if (!s.w) return out_of_memory(error);
  s.best = s.w + n;
  s.lowest = HUGE_VAL;
  if (warm && n >= FEW)
    s.lowest = ss_cp_judge(problem, z, s.w);
  else if (warm)
    active_apply(problem, z, s.w);
  else
    for (int i = 0; i < n; i++) s.w[i] = problem->g[i];
  result->outcome = SS_LIMIT;
  s.rounding = 1e-14 * fmax(1, n / 96.0);
  if (s.lowest > s.rounding) {
    ss_status status = active_set_create(problem, workspace, &s.a, error);
    if (!status && timid) { /* before anything that costs time; from nothing rounding errors decide no state */
      (void)active_set_guess(&s.a, z, s.w);
      if (!all_stick(&s.a)) {
        result->outcome = SS_NOT_ADMITTED;
        return SS_OK;
      }
    }
    if (!status && (warm || n > SPARSE_ROWS)) status = active_set_seek_nearest(&s.a, workspace, error);
    s.seen = status ? NULL : SCRATCH(workspace, uint64_t, limit);
    if (!s.seen) return status ? status : out_of_memory(error);
    for (int i = 0; i < n && warm; i++) s.best[i] = z[i];
    active_set_blur(&s.a, z);
    result->iterations = iterate(&s, problem, limit, z, &result->outcome);
    for (int i = 0; i < n && !s.z_is_best && s.lowest < HUGE_VAL; i++) z[i] = s.best[i];
  }
  result->residual = s.lowest;
  if (s.lowest <= options->tolerance) result->outcome = SS_SOLVED;
  if (timid && s.lowest == HUGE_VAL) result->outcome = SS_NOT_ADMITTED;
  return SS_OK;
}

ss_status solve_active_set(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                           ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  if (!warm)
    for (int i = 0; i < problem->n; i++) z[i] = 0;
  return run(problem, options, warm, false, z, workspace, result, error);
}
