/* The proximal point method (Rockafellar 1976) in the range of G, for redundant contacts.
 *
 * With G = L U^T (range.c), the anchor a, its slack w_a = G a + g and y = U^T (z - a), the velocities that the change of the
 * impulses makes, one proximal step is
 *
 *     y = U^T (z(a - (w_a + L y) / eps) - a),                                                                    (1)
 *
 * z(x) the impulses that Coulomb's law assigns to x = a - w / eps (response.c): as many equations as bodies have directions
 * to move in, well conditioned for every number of contacts. Newton's method on (1) (proximal.c), with the matrix 1 + U^T z' L / eps;
 * with the shift frozen, and for symmetric G, (1) is the gradient of |y|^2 / 2 + eps (x z - |z|^2 / 2) + a L y. The result is the
 * next anchor; eps is lowered while that is easy. As w_a comes from the data in every step, errors of L and U do not stay.
 *
 * Assumes a G whose symmetric part is positive semi-definite, else it is not admitted. Steep friction (mu well above 1,
 * impacts on piles) may keep it from converging: it ends at the limit, or earlier where nothing improves. */
#include "cp/descent.h"
#include "cp/solver.h"
#include "cp/storage.h"
#include "la/rows.h"

#include <math.h>

enum {
  DEFAULT_LIMIT = 1000,
  VERY_EASY = 1,
  EASY = 6,
  BEARABLE = 15,
  STUCK = 4,      /* steps without clear success after which every step is worth all that there is; */
  VAIN = 60,      /* after which it ends; */
  SHORT_VAIN = 20 /* with a limit: most of what is solved at all never waits as long, and others may try */
};
static const double first_eps = 0.3, small_eps = 1e-5, least_eps = 1e-12, most_eps = 1, inner = 0.03;
static const double rounding = 2e-15, enough = 1e-14, nearly = 1e-12;
static const double polished = 1e-13; /* residual of a start that is left as it is */

static void evaluate(void *user, contact_law law, prox_point *p) {
  descent *d = user;
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

static void freeze(void *user, const double *y) {
  descent *d = user;
  range_apply(&d->range, d->slack, y, d->w);
  cone_shift(&d->set, d->w, d->shift);
}

static bool newton(void *user, const prox_point *p, double *step) {
  descent *d = user;
  if (!descent_factor(d, p->z.D)) return false;
  for (int k = 0; k < d->range.rank; k++) step[k] = -p->F[k];
  descent_solve(d, step);
  return true;
}

static const prox_equations in_range = {evaluate, freeze, newton, .halvings = 5};

/* Where the next step ends if the law stays what it is around the end of the last one, z + z' (x - its x), at d->step.trial.
 * d->step.now is still that end. */
static bool foresee(descent *d) {
  const pattern *p = &d->pattern;
  double(*D)[SS_FRICTION_ROWS] = d->step.now.z.D;
  for (int i = 0; i < d->cp->n; i++) d->w[i] = d->anchor[i] - d->slack[i] / d->eps - d->last_x[i];
  for (int g = 0; g < p->n; g++)
    for (int i = p->row[g]; i < p->row[g] + p->size[g]; i++) {
      d->change[i] = 0;
      for (int j = 0; j < p->size[g]; j++) d->change[i] += D[i][j] * d->w[p->row[g] + j];
    }
  range_collect(&d->range, d->change, d->step.trial.y);
  if (!descent_factor(d, D)) return false;
  descent_solve(d, d->step.trial.y);
  evaluate(d, COULOMB, &d->step.trial);
  return true;
}

/* d->step.now at the better of what is foreseen and the anchor. */
static void begin_step(descent *d, double goal) {
  const bool foreseen = d->settled && foresee(d);
  if (foreseen) proximal_exchange(&d->step);
  if (foreseen && d->step.now.norm <= goal) return;
  for (int i = 0; i < d->range.rank; i++) d->step.trial.y[i] = 0;
  evaluate(d, COULOMB, &d->step.trial);
  if (!(foreseen && d->step.now.norm < d->step.trial.norm)) proximal_exchange(&d->step);
}

/* One proximal step from the anchor; returns whether it was solved. `trial`: a larger eps is known to do as well, or the
 * anchor is a solution already, so that what Newton's method does not solve at once is not worth the frozen shift. */
static bool proximal_step(descent *d, double goal, bool trial) {
  goal = fmax(goal, rounding);
  begin_step(d, goal);
  return proximal_solve(&d->step, goal, !trial);
}

/* How eps and the end of the iteration follow from what the proximal steps bring. */
typedef struct schedule {
  double eps;
  double floor, release; /* a step has failed below floor; the residual from which on that is forgotten */
  double milestone;      /* residual of the last clear success */
  double easy;           /* eps of the last step that was solved */
  int refused;           /* steps that have failed within the tolerance */
  int vain, most_vain;   /* steps since the last clear success, and how many of them are borne */
} schedule;

/* Lower where the step was easy or brought little, higher where it was too hard; what has failed is approached slowly, until
 * the anchor is much better. Far below what is needed the digits of x = a - w / eps get lost. */
static void next_eps(schedule *s, bool solved, int newtons, double last, double residual) {
  static const double above_failure = 2.5, much_better = 0.03;
  if (residual <= s->release) s->floor = 0;
  if (solved) s->easy = s->eps;
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

/* Whether to go on after a proximal step. What fails within the tolerance does so for rounding errors of x = a - w / eps, most likely:
 * once more with a large eps. */
static bool promising(schedule *s, bool solved, double last, double residual, double tolerance) {
  static const double exact_eps = 1e-2;
  if (residual <= polished && last <= nearly) return false;
  if (residual <= tolerance && !solved) {
    s->eps = fmax(s->eps, exact_eps);
    return s->refused++ == 0;
  }
  if (!(residual < HUGE_VAL)) return false; /* beyond the range of numbers: no step leads back */
  if (residual <= 0.3 * s->milestone) {
    s->milestone = residual;
    s->vain = 0;
    return true;
  }
  s->vain++;
  return residual > nearly && s->vain < (residual <= tolerance ? 2 : s->most_vain);
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
    const double step = d->step.now.z.z[i] - d->anchor[i];
    along += step * d->drift[i];
    before += d->drift[i] * d->drift[i];
    now += step * step;
    d->drift[i] = step;
    d->last_x[i] = d->x[i];
    d->anchor[i] = d->step.now.z.z[i];
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

/* The nearer the start, the less it is to be held back. */
static double eps_for(double residual) {
  static const double share = 0.3;
  return fmin(first_eps, fmax(share * sqrt(residual), small_eps));
}

double descent_run(descent *d, bool warm, double tolerance) {
  const int n = d->cp->n;
  const double target = enough * fmax(1, n / 96.0);
  double residual = HUGE_VAL, lowest = HUGE_VAL;
  schedule s = {.eps = first_eps, .easy = HUGE_VAL, .milestone = HUGE_VAL, .most_vain = d->hurried ? SHORT_VAIN : VAIN};
  bool going = true;
  d->settled = false;
  d->step.equations = &in_range;
  d->step.user = d;
  if (warm) {
    keep_best(d, residual = ss_cp_judge(d->cp, d->anchor, d->slack), &lowest);
    if (residual > tolerance) s.eps = eps_for(residual);
    going = residual > polished;
  } else
    for (int i = 0; i < n; i++) d->slack[i] = d->cp->g[i];
  while (going && residual > target && d->step.newtons < d->step.limit) {
    const int before = d->step.newtons;
    const double last = residual;
    d->eps = s.eps;
    const bool trial = residual <= tolerance || (s.easy < HUGE_VAL && s.eps < s.easy && s.vain < STUCK);
    const bool solved = proximal_step(d, inner * fmin(residual, 1), trial);
    const double there = ss_cp_judge(d->cp, d->step.now.z.z, d->w);
    bool straight = false;
    d->settled = solved;
    if (solved || there < residual) {
      straight = move_anchor(d);
      residual = there;
    }
    keep_best(d, residual, &lowest);
    if (solved && straight && residual > 0.7 * last) {
      keep_best(d, residual = go_far(d, residual), &lowest);
      d->settled = false;
    }
    next_eps(&s, solved, d->step.newtons - before, last, residual);
    going = promising(&s, solved, last, residual, tolerance);
  }
  return lowest;
}

/* Of one factorisation. */
static double operations(const descent *d) {
  double sum = 0;
  for (int k = 0; k < d->range.rank; k++) {
    const double width = d->last[k] - d->first[k] + 1;
    sum += width * width;
  }
  return sum;
}

/* Of G, as far as contacts meet: what a sweep goes through. */
static double entries(const pattern *p) {
  double sum = 0;
  for (int g = 0; g < p->n; g++)
    for (int e = p->start[g]; e < p->start[g + 1]; e++) sum += (double)p->size[g] * p->size[p->meets[e]];
  return sum;
}

/* Whether contacts are many for the directions in which their bodies can move, or fairly many and either a Newton step is cheap
 * beside what the rows of G cost, or the problem is so large that sweeps are no match. But where a Newton step costs several
 * sweeps, as in heaps, some sweeps come first; among many rows they have been tried already. */
static bool redundant(const descent *d) {
  static const double many = 0.42, cheap = 4, several_sweeps = 60, many_sweeps = 400;
  enum { LARGE_ROWS = 240 };
  const int n = d->cp->n;
  const double step = operations(d), sweeps = n > MODERATE_ROWS ? many_sweeps : several_sweeps;
  if (step > sweeps * entries(&d->pattern)) return false;
  return d->range.rank <= many * n || n > LARGE_ROWS || step <= cheap * n * n;
}

static ss_status solve(const ss_cp *problem, const ss_cp_options *options, bool warm, bool only_redundant, double *z,
                       ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  static const double few = 0.55; /* directions to move in, per row: bricks, not balls */
  descent d;
  bool admitted;
  ss_cp dense;
  const int limit = options->iteration_limit > 0 ? options->iteration_limit : DEFAULT_LIMIT;
  result->outcome = SS_NOT_ADMITTED;
  if (!problem->G && some_free(problem)) { /* which are eliminated */
    if (problem->n > SS_CP_DENSE_ROWS) return SS_OK;
    const ss_status made = storage_dense(problem, w, &dense, error);
    if (made) return made;
    problem = &dense;
  }
  const ss_status status = descent_create(&d, problem, only_redundant ? few : 1, limit, w, &admitted, error);
  if (status || !admitted || (only_redundant && !redundant(&d))) return status;
  for (int i = 0; i < d.cp->n; i++) d.anchor[i] = 0;
  if (warm) subproblem_start(&d.sub, z, d.anchor);
  d.hurried = options->iteration_limit > 0;
  const double residual = descent_run(&d, warm, options->tolerance);
  result->iterations = d.step.newtons;
  result->outcome = residual <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return subproblem_recover(&d.sub, d.best, z, w, error);
}

ss_status solve_range_newton(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                             ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return solve(problem, options, warm, false, z, workspace, result, error);
}
