/* The solution that is the limit of vanishing compliance (cp.h), by Newton's method from the soft side.
 *
 *     z(eps) solves  w = (G + eps C) z + g,                                                                        (1)
 *
 * which is easy for large eps, where every contact gives way for itself. eps falls from one problem to the next, each starts from the
 * last one's velocities, and the factor follows from the number of Newton steps that it took. At the end of this path eps is small,
 * and proximal steps (Rockafellar 1976)
 *
 *     w = (G + eps C) z+ + g - eps C z                                                                             (2)
 *
 * lead to a solution of the rigid problem. Impulses in balance with themselves are not changed by (2) while the contacts keep their
 * states: the limit is that of (1). A start whose states are right is at the end of the path already, and costs one factorisation.
 *
 * Where Newton's method does not follow the path (steep friction: paths may end or turn back), proximal steps take over from where
 * it stopped, with an eps that is lowered while they are easy and raised where they are not. What they find is a solution, but
 * perhaps not the limit; the path is tried once more from its states. */
#include "cp/compliant.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include <math.h>
#include <string.h>

enum { PATH_STEPS = 80, WARM_NEWTONS = 25, PROXIMAL = 12, DEFAULT_LIMIT = 400, FEWEST = 8 /* steps worth beginning */ };
static const double end_share[] = {1e-5, 1e-7}; /* of the typical G_ii / c_i: ends of the path */
enum { ENDS = sizeof end_share / sizeof *end_share };
static const double start_share = 1e-2; /* where it begins from the states of a z */
static const double rough = 1e-3;       /* of |F| at the start of a problem of the path */

typedef struct search {
  compliant k;
  double *best, *kept; /* [n] the best z so far (scaled), and the one before */
  double *drift;       /* [n] the last step of the anchor */
  double *ze, *we;     /* [n] the compliant solution at the end of the path, and its slack */
  double end;          /* its eps */
  double *last;        /* velocities to go back to */
  double lowest;       /* residual of best */
  double tolerance;
  bool selected; /* best is the limit of vanishing compliance */
} search;

static bool can_go_on(search *s) { return proximal_goes_on(&s->k.step); }

static void keep(search *s, const double *z, double residual) {
  if (!(residual < s->lowest)) return;
  s->lowest = residual;
  memcpy(s->best, z, sizeof(double) * (size_t)s->k.cp.n);
}

/* ---- the path ---- */

/* From the velocities k->step.now.y at k->eps to `end`. Where Newton's method fails, the next problem lies half way (in the logarithm)
 * between the last one solved and the one that failed; the path ends where these are close. */
static bool follow_path(search *s, double end) {
  static const double closest = 0.5;
  compliant *k = &s->k;
  const size_t bytes = sizeof(double) * (size_t)k->space.m;
  double good = 0, factor = 0.1;
  for (int step = 0; step < PATH_STEPS && can_go_on(s); step++) {
    const int before = k->step.newtons;
    const bool last = k->eps <= end;
    compliant_evaluate(k);
    const double rounding = 4 * compliant_rounding(k);
    if (proximal_solve(&k->step, last ? rounding : fmax(rough * k->step.now.norm, rounding), true)) {
      if (last) return true;
      good = k->eps;
      memcpy(s->last, k->step.now.y, bytes);
      factor = k->step.newtons - before <= 3 ? fmax(factor * factor, 1e-3) : fmin(sqrt(factor), 0.3);
      k->eps = fmax(k->eps * factor, end);
    } else {
      if (good == 0) break;
      factor = sqrt(k->eps / good);
      memcpy(k->step.now.y, s->last, bytes);
      if (factor > closest) break;
      k->eps = good * factor;
    }
  }
  if (good > 0) {
    k->eps = good;
    memcpy(k->step.now.y, s->last, bytes);
  }
  compliant_evaluate(k);
  return false;
}

/* The whole path from nothing. */
static bool follow_from_soft(search *s, double end) {
  compliant *k = &s->k;
  compliant_anchor_zero(k);
  memset(k->step.now.y, 0, sizeof(double) * (size_t)k->space.m);
  k->eps = k->soft;
  return follow_path(s, end);
}

/* The last part of the path, which begins at velocities that follow from the states of z. */
static bool follow_from_states(search *s, double end, const double *z) {
  compliant *k = &s->k;
  const int limit = k->step.limit;
  compliant_anchor_zero(k);
  k->eps = fmin(start_share * k->typical, k->soft);
  if (!compliant_linearise(k, z)) return false;
  k->step.limit = k->step.newtons + WARM_NEWTONS < limit ? k->step.newtons + WARM_NEWTONS : limit;
  const bool reached = follow_path(s, end);
  k->step.limit = limit;
  return reached;
}

/* Proximal steps from the end of the path to the rigid problem. x = a - w / (eps C) has rounding errors of 1e-16 / eps: the smaller
 * the residual, the larger eps must be for a step to improve it. */
static void make_rigid(search *s) {
  const double enough = fmax(1e-13, 1e-3 * s->tolerance);
  static const double slow = 0.5, noise = 3e-14, largest = 1e-2;
  enum { VAIN = 2 };
  compliant *k = &s->k;
  double residual = compliant_anchor(k, k->step.now.z.z);
  s->lowest = HUGE_VAL;
  keep(s, k->a, residual);
  for (int step = 0, vain = 0; step < PROXIMAL && residual > enough && vain < VAIN && can_go_on(s); step++) {
    k->eps = fmin(fmax(k->eps, noise * k->soft / residual), largest * k->typical);
    (void)compliant_newton(k, fmax(compliant_rounding(k), 0.01 * residual), false);
    const double now = compliant_anchor(k, k->step.now.z.z);
    keep(s, k->a, now);
    vain = now < slow * residual ? 0 : vain + 1;
    residual = now;
  }
}

/* ---- proximal steps where the path cannot be followed ---- */

/* How eps and the end of the iteration follow from what the proximal steps bring. */
typedef struct schedule {
  double eps;
  double floor, release; /* a step has failed below floor; the residual from which on that is forgotten */
  double milestone;      /* residual of the last clear success */
  int vain;              /* steps since */
} schedule;

/* Lower where the step was easy or brought little, higher where it was too hard; what has failed is approached slowly, until
 * the anchor is much better. */
static void next_eps(schedule *s, bool solved, int newtons, double last, double residual) {
  enum { VERY_EASY = 1, EASY = 6, BEARABLE = 15 };
  static const double above_failure = 2.5, much_better = 0.03, small = 1e-5, least = 1e-12;
  if (residual <= s->release) s->floor = 0;
  if (!solved) {
    s->floor = fmin(above_failure * s->eps, 1);
    s->release = much_better * residual;
    s->eps = fmin(4 * s->eps, 1);
    return;
  }
  double next = s->eps;
  if (residual > 0.3 * last)
    next = fmax(s->eps / 10, least);
  else if (newtons <= BEARABLE)
    next = fmin(s->eps, fmax(s->eps / (newtons <= VERY_EASY ? 100 : newtons <= EASY ? 10 : 3), small));
  s->eps = next < s->floor ? fmin(s->eps, s->floor) : next;
}

/* The anchor goes to z; returns whether that is in the direction of its last step. */
static bool move_anchor(search *s, const double *z, double *residual) {
  static const double parallel = 0.9;
  double along = 0, before = 0, now = 0;
  for (int i = 0; i < s->k.cp.n; i++) {
    const double step = z[i] - s->k.a[i];
    along += step * s->drift[i];
    before += s->drift[i] * s->drift[i];
    now += step * step;
    s->drift[i] = step;
  }
  *residual = compliant_anchor(&s->k, z);
  keep(s, s->k.a, *residual);
  return along > parallel * sqrt(before * now);
}

/* Slow steps in one direction lead along a valley: goes on in it, twice as far each time, as long as that costs little. Returns
 * the residual there. */
static double go_far(search *s, double residual) {
  compliant *k = &s->k;
  for (double length = 2; length < 1e4; length *= 2) {
    for (int i = 0; i < k->cp.n; i++) k->change[i] = k->a[i] + length * s->drift[i];
    const double there = compliant_anchor(k, k->change);
    if (!(there <= 1.1 * residual)) {
      for (int i = 0; i < k->cp.n; i++) k->change[i] = k->a[i] - length * s->drift[i];
      return compliant_anchor(k, k->change);
    }
    residual = there;
    keep(s, k->a, there);
  }
  return residual;
}

/* From the anchor k->a until the residual is small. */
static void seek(search *s, double first_eps) {
  enum { VAIN = 80, STUCK = 4 };
  static const double inner = 0.03, enough = 1e-14;
  compliant *k = &s->k;
  schedule plan = {.eps = first_eps, .milestone = HUGE_VAL};
  double residual = compliant_anchor(k, k->a);
  bool eased = false;
  memset(s->drift, 0, sizeof(double) * (size_t)k->cp.n);
  keep(s, k->a, residual);
  while (residual > enough && can_go_on(s) && plan.vain < (residual <= s->tolerance ? 2 : VAIN)) {
    const int before = k->step.newtons;
    const double last = residual;
    k->eps = plan.eps * k->typical;
    const bool trial = residual <= s->tolerance || (eased && plan.vain < STUCK);
    const bool solved = compliant_newton(k, fmax(inner * fmin(residual, 1), 2e-15), !trial);
    bool straight = false;
    compliant_finish(k, k->step.now.z.z, k->z);
    if (solved || ss_cp_judge(k->original, k->z, k->w) < residual)
      straight = move_anchor(s, k->step.now.z.z, &residual);
    else
      memset(k->step.now.y, 0, sizeof(double) * (size_t)k->space.m);
    if (solved && straight && residual > 0.7 * last) residual = go_far(s, residual);
    if (!(residual < HUGE_VAL)) return;
    next_eps(&plan, solved, k->step.newtons - before, last, residual);
    eased = solved;
    plan.vain = residual <= 0.3 * plan.milestone ? 0 : plan.vain + 1;
    if (plan.vain == 0) plan.milestone = residual;
  }
}

/* ---- the solver ---- */

static ss_status search_create(search *s, const ss_cp *problem, const ss_cp_options *options, ss_cp_workspace *w,
                               bool *admitted, ss_error *error) {
  static const double most = 4e9; /* of a factorisation, where nobody says what the whole may cost */
  const ss_status status =
      compliant_create(&s->k, problem, options->work > 0 ? options->work / FEWEST : most, w, admitted, error);
  if (status || !*admitted) return status;
  s->best = SCRATCH(w, double, 5 * (size_t)problem->n + 1);
  s->last = SCRATCH(w, double, s->k.space.m + 1);
  if (!s->best || !s->last) return out_of_memory(error);
  s->drift = s->best + problem->n;
  s->kept = s->drift + problem->n;
  s->ze = s->kept + problem->n;
  s->we = s->ze + problem->n;
  s->lowest = HUGE_VAL;
  s->tolerance = options->tolerance;
  s->k.step.caller = options;
  s->selected = false;
  s->k.step.limit = options->iteration_limit > 0 ? options->iteration_limit : DEFAULT_LIMIT;
  if (options->work > 0) s->k.step.limit = (int)fmin(s->k.step.limit, options->work / s->k.space.operations);
  memset(s->best, 0, sizeof(double) * (size_t)problem->n);
  return SS_OK;
}

/* From the end of the path to the rigid problem. Where contacts change their states on the way, the end was not near enough: the path is
 * followed further. False, with the best z as it was, where that leads to no solution. */
static bool finish_path(search *s) {
  compliant *k = &s->k;
  const double lowest = s->lowest;
  const size_t bytes = sizeof(double) * (size_t)k->cp.n, velocities = sizeof(double) * (size_t)k->space.m;
  memcpy(s->kept, s->best, bytes);
  for (int end = 0; end < ENDS; end++) {
    if (end > 0) {
      compliant_anchor_zero(k);
      memcpy(k->step.now.y, s->last, velocities);
      k->eps = s->end;
      if (!follow_path(s, end_share[end] * k->typical)) break;
    }
    s->end = k->eps;
    memcpy(s->last, k->step.now.y, velocities);
    memcpy(s->ze, k->step.now.z.z, bytes);
    k->space.slack(k->space.user, k->step.now.y, s->we);
    for (int i = 0; i < k->cp.n; i++) s->we[i] += k->slack[i] + (k->eps * k->c[i] + (k->R ? k->R[i] : 0)) * s->ze[i];
    const double eps = k->eps;
    make_rigid(s);
    (void)compliant_anchor(k, s->best);
    s->selected = s->lowest <= s->tolerance && states_are_kept(&k->cp, s->ze, s->we, k->a, k->slack, eps);
    if (s->selected) return true;
  }
  if (s->lowest < lowest) return false;
  memcpy(s->best, s->kept, bytes);
  s->lowest = lowest;
  return false;
}

/* The limit from the states of the best z. */
static bool select_from_best(search *s) {
  return follow_from_states(s, end_share[0] * s->k.typical, s->best) && finish_path(s);
}

static void find(search *s) {
  compliant *k = &s->k;
  if (follow_from_soft(s, end_share[0] * k->typical) && (finish_path(s) || s->lowest <= s->tolerance)) return;
  const double eps = fmin(k->eps / k->typical, 0.3);
  memcpy(k->a, k->step.now.z.z, sizeof(double) * (size_t)k->cp.n);
  seek(s, eps);
  if (s->lowest <= s->tolerance && can_go_on(s)) (void)select_from_best(s);
}

/* The best z is that of the original problem. */
static void begin(search *s, const double *z) {
  compliant_start(&s->k, z);
  memcpy(s->best, s->k.z, sizeof(double) * (size_t)s->k.cp.n);
  s->lowest = compliant_anchor(&s->k, s->best);
}

static void report(search *s, double *z, ss_cp_result *result) {
  compliant_finish(&s->k, s->best, z);
  result->iterations += s->k.step.newtons;
  result->residual = ss_cp_judge(s->k.original, z, NULL);
  result->outcome = result->residual <= s->tolerance ? SS_SOLVED : SS_LIMIT;
  result->selected = s->selected;
}

ss_status solve_proximal_newton(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  search s;
  bool admitted;
  result->outcome = SS_NOT_ADMITTED;
  const ss_status status = search_create(&s, problem, options, w, &admitted, error);
  if (!admitted && options->work > 0) result->outcome = SS_LIMIT; /* with more work, perhaps */
  result->operations = s.k.space.creation;
  if (status || !admitted) return status;
  if (warm) begin(&s, z);
  if (!warm || !select_from_best(&s)) find(&s);
  result->operations += s.k.step.newtons * s.k.space.operations;
  if (s.k.step.stopped) return ss_fail(error, SS_ERROR_STOPPED, "stopped");
  report(&s, z, result);
  return SS_OK;
}

/* The limit of vanishing compliance from a solution, whose states are mostly those of the limit. */
ss_status select_solution(const ss_cp *problem, const ss_cp_options *options, double *z, ss_cp_workspace *w,
                          ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  search s;
  bool admitted;
  ss_status status = search_create(&s, problem, options, w, &admitted, error);
  result->operations += s.k.space.creation;
  if (!status && admitted) {
    begin(&s, z);
    if (!select_from_best(&s) && follow_from_soft(&s, end_share[0] * s.k.typical)) (void)finish_path(&s);
    result->operations += s.k.step.newtons * s.k.space.operations;
    if (s.k.step.stopped) status = ss_fail(error, SS_ERROR_STOPPED, "stopped");
    if (!status && s.selected) report(&s, z, result);
  }
  scratch_release(w, mark);
  return status;
}
