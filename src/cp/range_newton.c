/* The proximal point method (Rockafellar 1976) in the range of G, for redundant contacts.
 *
 * With G = L U^T (range.c), the anchor a, its slack w_a = G a + g and y = U^T (z - a), the velocities that the change of the
 * impulses makes, one proximal step is
 *
 *     y = U^T (z(a - (w_a + L y) / eps) - a),                                                                    (1)
 *
 * z(x) the impulses that Coulomb's law assigns to x = a - w / eps (response.c): as many equations as bodies have directions
 * to move in, well conditioned for every number of contacts. Newton's method on (1), with the matrix 1 + U^T z' L / eps.
 * Where that does not descend, the law of the cone with the shift s = mu |w_t| frozen takes over for some steps (De Saxce;
 * Cadoux 2009): then (1) is, for symmetric G, the gradient of a convex function, |y|^2 / 2 + eps (x z - |z|^2 / 2) + a L y,
 * and Newton's method with a line search on it always converges. The result is the next anchor; eps is lowered while that is
 * easy. As w_a comes from the data in every step, errors of L and U do not stay.
 *
 * Assumes a G whose symmetric part is positive semi-definite, else it is not admitted. Steep friction (mu well above 1,
 * impacts on piles) may keep it from converging: it ends at the limit, or earlier where nothing improves. */
#include "cp/descent.h"
#include "cp/solver.h"

#include <math.h>

enum { DEFAULT_LIMIT = 1000, VERY_EASY = 1, EASY = 6, BEARABLE = 15, TURNS = 1, CONE_STEPS = 10, MOST_VAIN = 60 };
static const double first_eps = 1e-1, small_eps = 1e-5, least_eps = 1e-12, most_eps = 1, inner = 0.03;
static const double rounding = 1e-15, enough = 1e-14, nearly = 1e-12;

typedef enum contact_law { COULOMB, CONE } contact_law;

static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Everything at p->y. */
static void evaluate(descent *d, contact_law law, point *p) {
  const int n = d->cp->n, rank = d->range.rank;
  const double stiffness = 1 / d->eps;
  range_apply(&d->range, d->slack, p->y, d->w);
  for (int i = 0; i < n; i++) d->x[i] = d->anchor[i] - stiffness * (d->w[i] + (law == CONE ? d->shift[i] : 0));
  if (law == CONE)
    respond_by_cone(&d->set, d->x, &p->z);
  else
    respond_by_coulomb(&d->set, d->x, d->none, &p->z);
  for (int i = 0; i < n; i++) d->change[i] = p->z.z[i] - d->anchor[i];
  range_collect(&d->range, d->change, p->F);
  for (int k = 0; k < rank; k++) p->F[k] = p->y[k] - p->F[k];
  p->norm = p->merit = sqrt(dot(p->F, p->F, rank));
  if (law == COULOMB) return;
  p->merit = dot(p->y, p->y, rank) / 2 + d->eps * (dot(d->x, p->z.z, n) - dot(p->z.z, p->z.z, n) / 2);
  for (int i = 0; i < n; i++) p->merit += d->anchor[i] * (d->w[i] - d->slack[i]);
}

/* d->step from the Newton equation at d->now. */
static bool newton_step(descent *d) {
  if (!descent_factor(d, d->now.z.D)) return false;
  for (int k = 0; k < d->range.rank; k++) d->step[k] = -d->now.F[k];
  descent_solve(d, d->step);
  return true;
}

/* Goes along the step until the merit is at most `bound` plus a part of the slope; false where it never is. */
static bool search_line(descent *d, contact_law law, double bound, double slope, int halvings) {
  double length = 1;
  for (int h = 0; h < halvings; h++, length /= 2) {
    for (int k = 0; k < d->range.rank; k++) d->trial.y[k] = d->now.y[k] + length * d->step[k];
    evaluate(d, law, &d->trial);
    if (!(d->trial.merit <= bound + 1e-4 * length * slope)) continue;
    const point last = d->now;
    d->now = d->trial;
    d->trial = last;
    return true;
  }
  return false;
}

static void coulomb_phase(descent *d, double goal) {
  evaluate(d, COULOMB, &d->now);
  while (d->now.norm > goal && d->newtons < d->limit)
    if (!newton_step(d) || !search_line(d, COULOMB, 0.9 * d->now.norm, 0, 3)) return;
}

static void cone_phase(descent *d, double goal) {
  range_apply(&d->range, d->slack, d->now.y, d->w);
  cone_shift(&d->set, d->w, d->shift);
  evaluate(d, CONE, &d->now);
  goal = fmax(goal, 1e-2 * d->now.norm);
  for (int k = 0; k < CONE_STEPS && d->now.norm > goal && d->newtons < d->limit; k++) {
    if (!newton_step(d)) return;
    const double slope = dot(d->now.F, d->step, d->range.rank);
    if (!search_line(d, CONE, d->now.merit + 1e-14 * fabs(d->now.merit), slope, 15)) return;
  }
}

/* One proximal step from the anchor; returns whether it was solved. */
static bool proximal_step(descent *d, double goal) {
  goal = fmax(goal, rounding);
  coulomb_phase(d, goal);
  for (int k = 0; k < TURNS && d->now.norm > goal && d->cones && d->newtons < d->limit; k++) {
    cone_phase(d, goal);
    coulomb_phase(d, goal);
  }
  return d->now.norm <= goal;
}

/* How eps and the end of the iteration follow from what the proximal steps bring. */
typedef struct schedule {
  double eps;
  double floor, release; /* a step has failed below floor; the residual from which on that is forgotten */
  double milestone;      /* residual of the last clear success */
  int vain;              /* steps since then */
} schedule;

/* Lower where the step was easy or brought little, higher where it was too hard; what has failed is approached slowly, until
 * the anchor is much better. Far below what is needed the digits of x = a - w / eps get lost. */
static void next_eps(schedule *s, bool solved, int newtons, double last, double residual) {
  static const double above_failure = 2.5, much_better = 0.03;
  if (residual <= s->release) s->floor = 0;
  if (!solved) {
    s->floor = fmin(above_failure * s->eps, most_eps);
    s->release = much_better * residual;
    s->eps = fmin(5 * s->eps, most_eps);
    return;
  }
  if (s->eps <= s->floor) s->floor /= newtons <= 2 ? 2 : newtons <= EASY ? 1.3 : 1;
  double next = s->eps;
  if (residual > 0.3 * last)
    next = fmax(s->eps / 10, least_eps);
  else if (newtons <= BEARABLE)
    next = fmin(s->eps, fmax(s->eps / (newtons <= VERY_EASY ? 100 : newtons <= EASY ? 10 : 3), small_eps));
  s->eps = next < s->floor ? fmin(s->eps, s->floor) : next;
}

/* Whether to go on after a proximal step. */
static bool promising(schedule *s, bool solved, double residual, double tolerance) {
  if (residual <= tolerance && !solved) return false; /* rounding errors, most likely */
  if (!(residual < HUGE_VAL)) return false;           /* beyond the range of numbers: no step leads back */
  if (residual <= 0.3 * s->milestone) {
    s->milestone = residual;
    s->vain = 0;
    return true;
  }
  s->vain++;
  return residual > nearly && s->vain < (residual <= tolerance ? 2 : MOST_VAIN);
}

static void keep_best(descent *d, double residual, double *lowest) {
  if (!(residual < *lowest)) return;
  *lowest = residual;
  for (int i = 0; i < d->cp->n; i++) d->best[i] = d->anchor[i];
}

/* The anchor goes to the end of the proximal step, with its slack d->w; returns whether that was in the direction of the one before. */
static bool move_anchor(descent *d) {
  static const double parallel = 0.9;
  double along = 0, before = 0, now = 0;
  for (int i = 0; i < d->cp->n; i++) {
    const double step = d->now.z.z[i] - d->anchor[i];
    along += step * d->drift[i];
    before += d->drift[i] * d->drift[i];
    now += step * step;
    d->drift[i] = step;
    d->anchor[i] = d->now.z.z[i];
    d->slack[i] = d->w[i];
  }
  return along > parallel * sqrt(before * now);
}

/* Slow steps in one direction lead along a valley: goes on in it, twice as far each time, as long as that costs little. Returns
 * the residual there. */
static double go_far(descent *d, double residual) {
  const int n = d->cp->n;
  for (double length = 2; length < 1e4; length *= 2) {
    for (int i = 0; i < n; i++) d->x[i] = d->anchor[i] + length * d->drift[i];
    const double there = ss_cp_judge(d->cp, d->x, d->w);
    if (!(there <= 1.1 * residual)) break;
    residual = there;
    for (int i = 0; i < n; i++) {
      d->anchor[i] = d->x[i];
      d->slack[i] = d->w[i];
    }
  }
  return residual;
}

double descent_run(descent *d, bool warm, double tolerance) {
  const int n = d->cp->n;
  const double target = enough * fmax(1, n / 96.0);
  double residual = HUGE_VAL, lowest = HUGE_VAL;
  schedule s = {.eps = first_eps, .milestone = HUGE_VAL};
  bool going = true;
  if (warm)
    keep_best(d, residual = ss_cp_judge(d->cp, d->anchor, d->slack), &lowest);
  else
    for (int i = 0; i < n; i++) d->slack[i] = d->cp->g[i];
  while (going && residual > target && d->newtons < d->limit) {
    const int before = d->newtons;
    const double last = residual;
    d->eps = s.eps;
    for (int i = 0; i < d->range.rank; i++) d->now.y[i] = 0;
    const bool solved = proximal_step(d, inner * fmin(residual, 1));
    const double there = ss_cp_judge(d->cp, d->now.z.z, d->w);
    bool straight = false;
    if (solved || there < residual) {
      straight = move_anchor(d);
      residual = there;
    }
    keep_best(d, residual, &lowest);
    if (solved && straight && residual > 0.7 * last) keep_best(d, residual = go_far(d, residual), &lowest);
    next_eps(&s, solved, d->newtons - before, last, residual);
    going = promising(&s, solved, residual, tolerance);
  }
  return lowest;
}

/* Whether contacts are many for the directions in which their bodies can move, or fairly many and either a Newton step is cheap
 * beside what the rows of G cost, or the problem is so large that sweeps are no match. */
static bool redundant(const descent *d) {
  static const double many = 0.42, cheap = 4;
  enum { LARGE_ROWS = 240 };
  double operations = 0;
  for (int k = 0; k < d->range.rank; k++) {
    const double width = d->last[k] - d->first[k] + 1;
    operations += width * width;
  }
  const int n = d->cp->n;
  return d->range.rank <= many * n || n > LARGE_ROWS || operations <= cheap * n * n;
}

static ss_status solve(const ss_cp *problem, const ss_cp_options *options, bool warm, bool only_redundant, double *z,
                       ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  static const double few = 0.55; /* directions to move in, per row: bricks, not balls */
  descent d;
  bool admitted;
  const int limit = options->iteration_limit > 0 ? options->iteration_limit : DEFAULT_LIMIT;
  const ss_status status = descent_create(&d, problem, only_redundant ? few : 1, limit, w, &admitted, error);
  result->outcome = SS_NOT_ADMITTED;
  if (status || !admitted || (only_redundant && !redundant(&d))) return status;
  for (int i = 0; i < d.cp->n; i++) d.anchor[i] = 0;
  if (warm) subproblem_start(&d.sub, z, d.anchor);
  const double residual = descent_run(&d, warm, options->tolerance);
  result->iterations = d.newtons;
  result->outcome = residual <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return subproblem_recover(&d.sub, d.best, z, w, error);
}

ss_status solve_range_newton(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                             ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return solve(problem, options, warm, false, z, workspace, result, error);
}

ss_status solve_redundant(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                          ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return solve(problem, options, warm, true, z, workspace, result, error);
}
