/* Continuation along a curve of solutions of smoothed problems (path.h), for piles that everything else gives up.
 *
 * Coulomb friction is not associated: the problem is not monotone, and what makes it easier (smoothing, a proximal term) has
 * solutions that end when it is taken away. Such a branch does not end in nothing, though: it turns back and comes down
 * again elsewhere, as the path of Lemke's method does. So the curve F(z, tau) = 0 is followed by its length, not by tau (pseudo-arclength
 * continuation; Allgower & Georg 1990): from the one solution of large sigma along the tangent, in the direction in which
 * -det F' dtau does not change its sign, back to the curve by the shortest Newton steps, damped by the natural monotonicity test
 * (Deuflhard 2004) in the metric of path.h, in which lengths are relative to the distance from the next change of state. The
 * longer the Newton steps take the shorter is the next step along the curve. Whenever sigma has become a quarter of what it was, proximal
 * steps from there (range_newton.c) try to solve the problem itself.
 *
 * The curve depends on the pull towards zero: where one is long, another is often short, so that several are tried. Assumes a G whose symmetric
 * part is positive semi-definite, else it is not admitted. Fails at the limit of Newton steps where the curve has too many
 * turns (mass ratios of 1e4 with mu near 2: Lemke's method needs 1e4 pivots there), and where a curve goes to infinity, which it does
 * where there is no solution. */
#include "cp/path.h"
#include "cp/solver.h"

#include <math.h>
#include <string.h>

typedef struct curve {
  double pull, power; /* path.h */
  int newtons;        /* that it may take */
} curve;

static const curve curves[] = {{1e-1, 2, 600}, {1e-6, 1, 300}, {1e-2, 2, 700}, {1e-3, 1, 400}};
enum { CURVES = sizeof curves / sizeof *curves, ATTEMPT = 30 };
static const double near = 0.2;             /* a Newton step below ends on the curve */
static const double first_attempt = -4.605; /* tau */
static const double between_attempts = 1.4;
static const double last_tau = -25;

typedef struct traveller {
  path p;
  double *z, *trial, *ahead, *step, *tangent,
      *best;          /* [n] z is on the curve; best: the best z for the problem itself */
  double tau, lowest; /* lowest: residual of best */
  int sign;           /* of det F' there */
  int corrections;    /* Newton steps that the last step along the curve took */
  int limit;
} traveller;

static bool exhausted(const traveller *t) { return t->p.d.step.newtons >= t->limit; }

static void move(double *to, const double *from, double length, const double *step, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i] + length * step[i];
}

/* From (trial, *tau) to the curve; false where the steps do not get shorter. */
static bool correct(traveller *t, double *tau) {
  enum { MOST = 12 };
  static const double shortest = 0.1, longest = 1e6;
  path *p = &t->p;
  const int n = p->d.cp->n;
  if (!path_evaluate(p, t->trial, *tau, &p->at)) return false;
  for (t->corrections = 0; t->corrections <= MOST && !exhausted(t); t->corrections++) {
    double most, other;
    t->sign = path_linearise(p, t->trial, *tau);
    const double along = t->sign ? path_newton(p, &most) : 0;
    if (!t->sign || !(most < longest)) return false;
    memcpy(t->step, p->step, sizeof *p->step * (size_t)n);
    if (most <= near) {
      move(t->trial, t->trial, 1, t->step, n);
      *tau += along;
      return true;
    }
    if (fabs(along) > 1) return false;
    const double length = sqrt(path_product(p, p->step_x, p->step_x) + along * along);
    for (double lambda = 1;; lambda /= 2) {
      if (lambda < shortest) return false;
      move(t->ahead, t->trial, lambda, t->step, n);
      if (!path_evaluate(p, t->ahead, *tau + lambda * along, &p->beside)) continue;
      const double next = path_newton(p, &other);
      const double left = sqrt(path_product(p, p->step_x, p->step_x) + next * next);
      if (!(left <= (1 - 0.5 * lambda) * length || other <= near / 4)) continue;
      memcpy(t->trial, t->ahead, sizeof *t->trial * (size_t)n);
      *tau += lambda * along;
      break;
    }
    if (!path_evaluate(p, t->trial, *tau, &p->at)) return false;
  }
  return false;
}

/* The normal parts of all contacts at sigma, the rest zero: the middle of the problem for large sigma. */
static void put_in_the_middle(const ss_cp *problem, double sigma, double *z) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    for (int i = 0; i < block->size; i++) {
      const bool pushes = block->kind == SS_BLOCK_NONNEGATIVE || (block->kind == SS_BLOCK_FRICTION && i == 0);
      z[block->first + i] = pushes ? sigma : 0;
    }
  }
}

/* A solution for some sigma where there is but one, by Newton's method with a line search on |F|. */
static bool start_at(traveller *t, double sigma) {
  enum { STEPS = 15, HALVINGS = 8 };
  path *p = &t->p;
  const int n = p->d.cp->n;
  t->tau = log(sigma);
  put_in_the_middle(p->d.cp, sigma > 1 ? sigma : 0, t->z);
  move(t->z, t->z, 1, p->towards, n);
  for (int k = 0; k < STEPS && path_evaluate(p, t->z, t->tau, &p->at); k++) {
    double before = 0, most;
    for (int i = 0; i < n; i++) before += p->F[i] * p->F[i];
    t->sign = path_linearise(p, t->z, t->tau);
    if (!t->sign) return false;
    const double along = path_newton(p, &most);
    if (most <= near) return true;
    move(t->step, p->step, -along, p->tangent, n); /* tau stays */
    bool lower = false;
    for (double length = 1; length > 0x1p-8 && !lower; length /= 2) {
      double now = 0;
      move(t->trial, t->z, length, t->step, n);
      lower = path_evaluate(p, t->trial, t->tau, &p->beside);
      for (int i = 0; i < n; i++) now += p->F[i] * p->F[i];
      lower = lower && now <= (1 - 2e-3 * length) * before;
    }
    if (!lower) return false;
    memcpy(t->z, t->trial, sizeof *t->z * (size_t)n);
  }
  return false;
}

static bool start(traveller *t) {
  static const double sigmas[] = {1, 1e2, 1e4};
  for (size_t k = 0; k < sizeof sigmas / sizeof *sigmas && !exhausted(t); k++)
    if (start_at(t, sigmas[k])) return true;
  return false;
}

/* The problem itself, by proximal steps from z. */
static void attempt(traveller *t, const double *z, int newtons, double tolerance) {
  descent *d = &t->p.d;
  const int n = d->cp->n;
  memcpy(d->anchor, z, sizeof *z * (size_t)n);
  d->step.limit = d->step.newtons + newtons;
  descent_forget(d);
  const double residual = descent_run(d, true, tolerance);
  descent_forget(d);
  if (!(residual < t->lowest)) return;
  t->lowest = residual;
  memcpy(t->best, d->best, sizeof *t->best * (size_t)n);
}

/* One step along the curve, at most *length long; sets the next one's. False: not even a very short one. */
static bool advance(traveller *t, double *length) {
  enum { EASY = 1, FAIR = 2, HARD = 4 };
  static const double shortest = 1e-6, longest = 4;
  path *p = &t->p;
  const int n = p->d.cp->n, sign = t->sign;
  const double by_tau = -sign / sqrt(path_product(p, p->dx, p->dx) / n + 1);
  memcpy(t->tangent, p->tangent, sizeof *t->tangent * (size_t)n);
  for (;; *length /= 3) {
    if (*length < shortest || exhausted(t)) return false;
    double tau = t->tau + *length * by_tau;
    move(t->trial, t->z, *length * by_tau, t->tangent, n);
    if (!correct(t, &tau)) continue;
    memcpy(t->z, t->trial, sizeof *t->z * (size_t)n);
    t->tau = tau;
    break;
  }
  const double factor = t->corrections <= EASY ? 2 : t->corrections <= FAIR ? 1.3 : t->corrections < HARD ? 1 : 0.6;
  *length = fmin(factor * *length, longest);
  return true;
}

/* Leaves the lowest residual and its z in the traveller. */
static void follow(traveller *t, const curve *c, double tolerance) {
  double length = 0.5, next = first_attempt;
  t->p.pull = c->pull;
  t->p.power = c->power;
  t->limit = t->p.d.step.newtons + c->newtons;
  descent_forget(&t->p.d);
  if (!start(t)) return;
  while (t->lowest > tolerance && t->tau > last_tau && advance(t, &length)) {
    if (t->tau > next) continue;
    attempt(t, t->z, ATTEMPT, tolerance);
    next = t->tau - between_attempts;
  }
}

static ss_status create(traveller *t, const ss_cp *problem, double share, ss_cp_workspace *w, bool *admitted,
                        ss_error *error) {
  *t = (traveller){.lowest = HUGE_VAL};
  const ss_status status = path_create(&t->p, problem, share, w, admitted, error);
  if (status || !*admitted) return status;
  const size_t n = (size_t)t->p.d.cp->n;
  double **const vectors[] = {&t->z, &t->trial, &t->ahead, &t->step, &t->tangent, &t->best};
  enum { VECTORS = sizeof vectors / sizeof *vectors };
  double *memory = SCRATCH(w, double, VECTORS *n);
  if (!memory) return out_of_memory(error);
  for (int i = 0; i < VECTORS; i++) *vectors[i] = memory + (size_t)i * n;
  for (size_t i = 0; i < n; i++) t->best[i] = 0;
  return SS_OK;
}

static ss_status solve(const ss_cp *problem, const ss_cp_options *options, double share, double *z, ss_cp_workspace *w,
                       ss_cp_result *result, ss_error *error) {
  traveller t;
  bool admitted;
  const ss_status status = create(&t, problem, share, w, &admitted, error);
  result->outcome = SS_NOT_ADMITTED;
  if (status || !admitted) return status;
  for (int k = 0; k < CURVES && t.lowest > options->tolerance; k++) {
    curve c = curves[k];
    const int left = options->iteration_limit - t.p.d.step.newtons;
    if (options->iteration_limit > 0 && left < c.newtons) c.newtons = left;
    if (c.newtons > 0) follow(&t, &c, options->tolerance);
  }
  result->iterations = t.p.d.step.newtons;
  result->outcome = t.lowest <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return subproblem_recover(&t.p.d.sub, t.best, z, w, error);
}

ss_status solve_continuation(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                             ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  (void)warm; /* the curve begins where there is but one solution */
  return solve(problem, options, 1, z, w, result, error);
}
