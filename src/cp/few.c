/* Few contacts from nothing: sweeps find the states, Newton steps on the natural map the digits.
 *
 * A Gauss-Seidel sweep (Moreau, Jean) solves contact after contact exactly for the others fixed (local.c). It costs much less than
 * the linear system of a Newton step (active.c), and its states are much better than those guessed from z = 0. Both work on the data
 * as they are: nothing is scaled, copied or factored in between. Sweeps that shrink fast go on to the end by themselves: contacts that
 * hardly feel each other. Otherwise Newton steps are tried after the first sweeps, and then after twice as many each time, while
 * they lower the residual. Discs begin with Newton steps from nothing: as many as states need to settle where there are few rows, and
 * from different guesses of the states, else some.
 *
 * Among many contacts this pays where most of them separate or slide (struck piles): the system is small then, and hardly redundant.
 * `solve_few_loaded` looks at the states after the first sweeps, and is not admitted where they leave more unknowns.
 *
 * Assumes rows with a positive diagonal and none that are free, else not admitted; fails where the states go round, at the limit. */
#include "cp/solver.h"

#include "cp/active.h"
#include "cp/local.h"
#include "cp/reduce.h"
#include "la/rows.h"

#include <math.h>

/* A Newton step costs as much as some sweeps, but not where there are few rows. */
enum { FIRST_SWEEPS = 2, CHEAP_ROWS = 24, SOME_ROWS = 40, DEFAULT_LIMIT = 100, NEWTON_STEPS = 10, MOST_VAIN = 2 };
static const double fast = 0.2, settled = 1e-15; /* of a sweep's change: beside the last one, and beside g */
static const double progress =
    0.5; /* of a round of sweeps and Newton steps, without which the next one would go round as well */
static const double rounding = 1e-14, fine = 1e-13, nearly = 1e-10;
static const double ample = 1e-3;     /* of the tolerance */
static const double promising = 1e-3; /* from there sweeps go on, from worse they begin anew */
static const double far = 1e3,
                    damping = 1e-2; /* a step that makes the residual so much larger is taken again with damping */

typedef struct few {
  const ss_cp *problem;
  active_set a;
  double *z, *w, *before, *best; /* [n] */
  double lowest, tolerance;      /* residual of best; that is enough where steps lead no further */
  int limit, iterations;
  int most; /* unknowns of a Newton step that is worth its time */
} few;

static bool admitted(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (block_is_free(&problem->blocks[b])) return false;
  for (int i = 0; i < problem->n; i++)
    if (!(problem->G[(size_t)i * ((size_t)problem->n + 1)] > 0)) return false;
  return true;
}

static double row_value(const ss_cp *problem, int i, const double *z) {
  return problem->g[i] + row_dot(problem->G + (size_t)i * (size_t)problem->n, z, problem->n);
}

/* Solves one site for the others fixed; returns its change, as a velocity. */
static double relax_site(const few *f, const site *s) {
  const ss_cp *problem = f->problem;
  const size_t n = (size_t)problem->n;
  const int size = s->block->kind == SS_BLOCK_FRICTION ? s->block->size : 1;
  double W[SS_FRICTION_ROWS * SS_FRICTION_ROWS], q[SS_FRICTION_ROWS], old[SS_FRICTION_ROWS], *z = f->z + s->row;
  for (int i = 0; i < size; i++) {
    const double *row = problem->G + (size_t)(s->row + i) * n + s->row;
    q[i] = row_value(problem, s->row + i, f->z);
    old[i] = z[i];
    for (int j = 0; j < size; j++) {
      W[i * size + j] = row[j];
      q[i] -= row[j] * z[j];
    }
  }
  if (s->block->kind == SS_BLOCK_FRICTION) {
    if (!local_friction(s, W, q, z)) return HUGE_VAL; /* the block keeps its impulse in this pass */
  } else {
    z[0] = s->block->kind == SS_BLOCK_NONNEGATIVE ? fmax(-q[0] / W[0], 0)
                                                  : fmin(fmax(-q[0] / W[0], s->block->lower), s->block->upper);
  }
  double change = 0;
  for (int i = 0; i < size; i++) change = fmax(change, fabs(W[i * (size + 1)] * (z[i] - old[i])));
  return change;
}

static double sweep(few *f, bool backwards) {
  double change = 0;
  for (int k = 0; k < f->a.n_sites; k++)
    change = fmax(change, relax_site(f, &f->a.sites[backwards ? f->a.n_sites - 1 - k : k]));
  f->iterations++;
  return change;
}

static void copy(double *to, const double *from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i];
}

/* Judges z, which becomes the best where it is better. */
static double look(few *f) {
  const double residual = ss_cp_judge(f->problem, f->z, f->w);
  if (residual < f->lowest) {
    f->lowest = residual;
    copy(f->best, f->z, f->problem->n);
  }
  return residual;
}

/* Of the states at z: none where a contact is open, fewer than its rows where it slides. */
static int count_unknowns(few *f) {
  int count = 0;
  (void)active_set_guess(&f->a, f->z, f->w);
  for (int k = 0; k < f->a.n_sites; k++) {
    const site *s = &f->a.sites[k];
    const ss_block *block = s->block;
    if (s->state == SITE_OPEN) continue;
    const bool slides = block->kind == SS_BLOCK_FRICTION && s->state != 1 + SLIP_STICKS;
    count += block->kind != SS_BLOCK_FRICTION    ? 1
             : !slides                           ? block->size
             : block->cone == SS_CONE_POLYHEDRAL ? 1 + s->state % 2 /* on an edge */
                                                 : block->size - 1;
  }
  return count;
}

/* One Newton step from z. Where it leads far away (contacts that are nearly redundant) it is taken once more with damping. Returns the
 * residual there. */
static double step(few *f) {
  const int n = f->problem->n;
  const double acceptable = far * f->lowest;
  double residual = HUGE_VAL;
  copy(f->before, f->z, n);
  (void)active_set_guess(&f->a, f->z, f->w);
  for (int attempt = 0; attempt < 2 && !(residual <= acceptable); attempt++) {
    f->a.damping = attempt ? damping : 0;
    if (attempt) {
      copy(f->z, f->before, n);
      active_apply(f->problem, f->z, f->w);
    }
    f->iterations++;
    if (active_set_solve(&f->a, f->z, f->w)) residual = look(f);
  }
  return residual;
}

/* Whether a Newton step from `last` to `residual` was the last one: what is left are rounding errors, or far below the tolerance where a
 * step is dear. */
static bool exhausted(const few *f, double last, double residual) {
  const double enough = f->problem->n < CHEAP_ROWS ? rounding : fmax(rounding, ample * f->tolerance);
  return f->lowest <= enough || (f->lowest < fine && residual > 0.1 * last) ||
         (f->lowest < nearly && residual > f->lowest);
}

/* Newton steps from z, the best so far, while they lead anywhere; afterwards z is the best of them. */
static void newton(few *f, double residual) {
  for (int k = 0, vain = 0; k < NEWTON_STEPS && vain < MOST_VAIN && f->iterations < f->limit; k++) {
    const double last = residual, lowest = f->lowest;
    residual = step(f);
    if (exhausted(f, last, residual) || !(residual <= far * lowest)) break;
    vain = residual <= lowest / 2 ? 0 : vain + 1;
  }
  copy(f->z, f->best, f->problem->n);
}

/* Shortens the step from `before` to z, whose residual is given, until it is not above `most`; returns the residual there. */
static double shorten(few *f, double residual, double most) {
  static const double shortest = 0.1;
  const int n = f->problem->n;
  for (double length = 0.5; length > shortest && !(residual <= most); length /= 2) {
    for (int i = 0; i < n; i++) f->z[i] = (f->z[i] + f->before[i]) / 2;
    residual = look(f);
  }
  return residual;
}

/* Newton steps from z = 0: the states of discs that g alone suggests are right at rest, and often nearly so where they slide. The
 * residual may grow for some steps, since states settle one after the other, but not beyond that of the last ones: a longer step
 * is halved (Grippo, Lampariello & Lucidi 1986). Returns whether sweeps are worth their time. */
static bool newton_from_nothing(few *f) {
  enum { STEPS = 25, PATIENCE = 8, MEMORY = 3 };
  const int n = f->problem->n, patience = n <= SOME_ROWS ? PATIENCE : MOST_VAIN;
  double last[MEMORY] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
  for (int i = 0; i < n; i++) f->z[i] = 0;
  copy(f->w, f->problem->g, n);
  f->lowest = HUGE_VAL;
  for (int k = 0, vain = 0; k < STEPS && vain < patience; k++) {
    const double lowest = f->lowest;
    copy(f->before, f->z, n);
    (void)active_set_guess(&f->a, f->z, f->w);
    f->iterations++;
    if (!active_set_solve(&f->a, f->z, f->w)) break;
    double residual = look(f);
    if (exhausted(f, lowest, residual)) return false;
    if (n > CHEAP_ROWS && 2 * f->a.rank <= f->a.unknowns) return false; /* too redundant */
    if (k == 0 && !(residual <= 1)) break;                              /* then g says nothing about the states */
    residual = shorten(f, residual, fmax(fmax(last[0], last[1]), last[2]));
    last[k % MEMORY] = residual;
    vain = f->lowest <= lowest / 2 ? 0 : vain + 1;
  }
  const bool close = f->lowest < promising;
  for (int i = 0; i < n; i++) f->z[i] = close ? f->best[i] : 0;
  return f->lowest > f->tolerance;
}

/* The same with other rho in z - rho w, which judges the states, where that fails among few rows: each leads another way, and none is the
 * best everywhere. Among more rows sweeps cost less. */
static bool several_from_nothing(few *f) {
  static const double factors[] = {1, 0.1, 3};
  enum { FACTORS = sizeof factors / sizeof *factors };
  const int n = f->problem->n, most = n <= SOME_ROWS ? FACTORS : 1;
  bool on = true;
  for (int k = 0; k < most && on; k++) {
    for (int i = 0; i < n; i++) f->a.rho[i] *= factors[k];
    on = newton_from_nothing(f);
    for (int i = 0; i < n; i++) f->a.rho[i] /= factors[k];
  }
  return on;
}

static void run(few *f) {
  double largest = 0, last = HUGE_VAL, reached = HUGE_VAL;
  const bool small = f->most >= f->problem->n;
  if (small && has_disc(f->problem) && !several_from_nothing(f)) return;
  for (int i = 0; i < f->problem->n; i++) largest = fmax(largest, fabs(f->problem->g[i]));
  for (int sweeps = 0, next = FIRST_SWEEPS + (f->problem->n >= CHEAP_ROWS); f->iterations < f->limit;) {
    const double change = sweep(f, sweeps++ % 2);
    const bool done = change <= settled * largest, on = sweeps < next || change <= fast * last;
    last = change;
    if (!done && on && f->iterations < f->limit) continue;
    f->lowest = HUGE_VAL; /* of what the Newton steps start from, even if earlier ones have been lower */
    const double residual = look(f);
    if (done || count_unknowns(f) > f->most) return;
    newton(f, residual);
    if (f->lowest <= f->tolerance || !(f->lowest <= progress * reached)) return;
    reached = f->lowest;
    next = 2 * sweeps;
  }
}

static ss_status solve(const ss_cp *problem, const ss_cp_options *options, int most, double *z,
                       ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  const size_t n = (size_t)problem->n;
  result->outcome = SS_NOT_ADMITTED;
  if (!admitted(problem)) return SS_OK;
  few f = {.problem = problem,
           .z = z,
           .w = SCRATCH(workspace, double, 3 * n),
           .lowest = HUGE_VAL,
           .tolerance = options->tolerance,
           .most = most};
  if (!f.w) return out_of_memory(error);
  f.before = f.w + n;
  f.best = f.before + n;
  f.limit = options->iteration_limit > 0 ? options->iteration_limit : DEFAULT_LIMIT;
  const ss_status status = active_set_create(problem, workspace, &f.a, error);
  if (status) return status;
  for (size_t i = 0; i < n; i++) z[i] = f.best[i] = 0;
  run(&f);
  copy(z, f.best, problem->n);
  result->iterations = f.iterations;
  result->residual = f.lowest;
  result->outcome = f.lowest <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return SS_OK;
}

ss_status solve_few_contacts(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                             ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  return solve(problem, options, problem->n, z, workspace, result, error);
}
