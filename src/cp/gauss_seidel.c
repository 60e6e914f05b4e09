/* Nonsmooth Gauss-Seidel (Moreau, Jean): block after block is solved exactly for its own unknowns, with all others fixed.
 * Converges for positive definite problems with moderate friction, linearly, and slowly where contacts are redundant;
 * never fails badly, which makes it the source of good starts for the Newton method. */
#include "cp/gauss_seidel.h"

#include "cp/active.h"
#include "cp/local.h"
#include "cp/reduce.h"
#include "cp/solver.h"
#include "la/rows.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Over-relaxation: the step of a block is made longer by a factor below 2 (Jourdan, Alart & Jean 1998), or shorter. What
 * leaves the set is brought back: the normal part to 0, the tangential part along its direction (discs) or to the bounds
 * (boxes, pyramids). Polygons take the plain step where the longer one leaves the disc inside them.
 *
 * Orders: as given; breadth first, so that neighbours follow one another; shuffled (always alike), which prefers no
 * direction. */

static void breadth_first(const ss_graph *graph, int *order, bool *seen) {
  int count = 0;
  memset(seen, 0, sizeof *seen * (size_t)graph->n);
  for (int seed = 0; seed < graph->n; seed++) {
    if (seen[seed]) continue;
    seen[seed] = true;
    order[count] = seed;
    for (int next = count++; next < count; next++)
      for (int e = graph->start[order[next]]; e < graph->start[order[next] + 1]; e++) {
        if (seen[graph->col[e]]) continue;
        seen[graph->col[e]] = true;
        order[count++] = graph->col[e];
      }
  }
}

static void shuffle(int *order, int n) {
  uint64_t state = 1;
  for (int k = n - 1; k > 0; k--) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const int other = (int)((state >> 33) % (uint64_t)(k + 1)), item = order[k];
    order[k] = order[other];
    order[other] = item;
  }
}

void order_nodes(const ss_graph *graph, ss_cp_order kind, int *order, bool *seen) {
  for (int k = 0; k < graph->n; k++) order[k] = k;
  if (kind == SS_ORDER_BREADTH) breadth_first(graph, order, seen);
  if (kind == SS_ORDER_SHUFFLED) shuffle(order, graph->n);
}

static double clamp(double x, double lower, double upper) { return fmin(fmax(x, lower), upper); }

void over_relax(const ss_block *block, double factor, const double *old, double *z) {
  const bool friction = block->kind == SS_BLOCK_FRICTION;
  const int size = friction ? block->size : 1;
  double plain[SS_FRICTION_ROWS], length = 0;
  for (int i = 0; i < size; i++) {
    plain[i] = z[i];
    z[i] = old[i] + factor * (z[i] - old[i]);
    if (i) length += z[i] * z[i];
  }
  if (block->kind == SS_BLOCK_BOX) z[0] = clamp(z[0], block->lower, block->upper);
  if (block->kind == SS_BLOCK_NONNEGATIVE || friction) z[0] = fmax(z[0], 0);
  if (!friction) return;
  const double radius = block->mu * (z[0] + block->extra);
  const bool disc = block->cone == SS_CONE_QUADRATIC, polygon = block->cone == SS_CONE_POLYHEDRAL && size > 2;
  const double inside = polygon ? radius * cos(acos(-1.0) / block->directions) : radius;
  if (polygon && length > inside * inside) memcpy(z, plain, sizeof *z * (size_t)size);
  for (int i = 1; i < size && !polygon; i++)
    z[i] = disc && length > radius * radius ? z[i] * radius / sqrt(length) : clamp(z[i], -radius, radius);
}

/* What a Gauss-Seidel sweep needs of a problem: its rows without their zeros. */
typedef struct sweeper {
  const ss_cp *problem;
  active_set *set; /* for the sites */
  int *start;      /* [n + 1] */
  int *col;        /* [nonzeros] */
  double *value;   /* [nonzeros] */
  double factor;   /* of over-relaxation */
  int *order;      /* [n_sites] NULL: as they are */
} sweeper;

static ss_status sweeper_create(active_set *set, ss_cp_workspace *w, sweeper *out, ss_error *error) {
  const ss_cp *problem = set->problem;
  const size_t n = (size_t)problem->n;
  *out = (sweeper){.problem = problem, .set = set, .factor = 1};
  size_t count = 0;
  for (size_t i = 0; i < n * n; i++) count += problem->G[i] != 0;
  out->start = SCRATCH(w, int, n + 1);
  out->col = SCRATCH(w, int, count);
  out->value = SCRATCH(w, double, count);
  if (!out->start || !out->col || !out->value) return out_of_memory(error);
  int k = 0;
  for (size_t i = 0; i < n; i++) {
    out->start[i] = k;
    for (size_t j = 0; j < n; j++) {
      const double x = problem->G[i * n + j];
      if (x == 0) continue;
      out->col[k] = (int)j;
      out->value[k++] = x;
    }
  }
  out->start[n] = k;
  return SS_OK;
}

/* Sites in the order in which their first rows are met; SS_ORDER_GIVEN needs no memory. */
static ss_status sweeper_order(sweeper *s, ss_cp_order kind, ss_cp_workspace *w, ss_error *error) {
  if (kind == SS_ORDER_GIVEN) return SS_OK;
  const int n = s->problem->n;
  int *rows = SCRATCH(w, int, 2 * (size_t)n), *site_of = rows ? rows + n : NULL;
  bool *seen = SCRATCH(w, bool, n);
  s->order = SCRATCH(w, int, s->set->n_sites);
  if (!rows || !seen || !s->order) return out_of_memory(error);
  order_nodes(&(ss_graph){n, s->start, s->col}, kind, rows, seen);
  for (int i = 0; i < n; i++) site_of[i] = -1;
  for (int k = 0; k < s->set->n_sites; k++) site_of[s->set->sites[k].row] = k;
  for (int k = 0, count = 0; k < n; k++)
    if (site_of[rows[k]] >= 0) s->order[count++] = site_of[rows[k]];
  return SS_OK;
}

static double row_value(const sweeper *s, int i, const double *z) {
  double sum = s->problem->g[i];
  for (int k = s->start[i]; k < s->start[i + 1]; k++) sum += s->value[k] * z[s->col[k]];
  return sum;
}

/* w = G z + g. */
static void sweeper_apply(const sweeper *s, const double *z, double *w) {
  for (int i = 0; i < s->problem->n; i++) w[i] = row_value(s, i, z);
}

static void sweep_row(const sweeper *s, const ss_block *block, int i, double *z) {
  const double d = s->problem->G[(size_t)i * ((size_t)s->problem->n + 1)];
  if (!(d > 0)) return;
  const double x = z[i] - row_value(s, i, z) / d;
  if (block->kind == SS_BLOCK_NONNEGATIVE)
    z[i] = x > 0 ? x : 0;
  else if (block->kind == SS_BLOCK_BOX)
    z[i] = x < block->lower ? block->lower : x > block->upper ? block->upper : x;
  else
    z[i] = x;
}

static void sweep_friction(const sweeper *s, const site *where, double *z) {
  const int size = where->block->size, row = where->row;
  const size_t n = (size_t)s->problem->n;
  double W[SS_FRICTION_ROWS * SS_FRICTION_ROWS], q[SS_FRICTION_ROWS];
  for (int i = 0; i < size; i++) {
    q[i] = row_value(s, row + i, z);
    for (int j = 0; j < size; j++) {
      W[i * size + j] = s->problem->G[(size_t)(row + i) * n + (size_t)(row + j)];
      q[i] -= W[i * size + j] * z[row + j];
    }
  }
  (void)local_friction(where, W, q, z + row); /* no local solution: the block keeps its impulse in this pass */
}

/* One pass over all blocks, each solved exactly for the others fixed; forwards or backwards. */
static void sweep(const sweeper *s, double *z, bool backwards) {
  const active_set *set = s->set;
  const ss_cp *problem = s->problem;
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].kind == SS_BLOCK_FREE)
      for (int i = 0; i < problem->blocks[b].size; i++)
        sweep_row(s, &problem->blocks[b], problem->blocks[b].first + i, z);
  for (int k = 0; k < set->n_sites; k++) {
    const int next = backwards ? set->n_sites - 1 - k : k;
    const site *where = &set->sites[s->order ? s->order[next] : next];
    double old[SS_FRICTION_ROWS];
    const int size = where->block->kind == SS_BLOCK_FRICTION ? where->block->size : 1;
    if (s->factor != 1) memcpy(old, z + where->row, sizeof *old * (size_t)size);
    if (where->block->kind == SS_BLOCK_FRICTION)
      sweep_friction(s, where, z);
    else
      sweep_row(s, where->block, where->row, z);
    if (s->factor != 1) over_relax(where->block, s->factor, old, z + where->row);
  }
}

/* Sweeps find the states of the contacts, damped Newton steps on the natural map (active.c) the digits. The number of sweeps
 * between two attempts of the Newton method grows, so that hard problems are not dominated by its linear algebra. Ends at
 * the iteration limit where the states never settle. */

/* Gauss-Seidel sweeps and Newton steps on one problem, in turn. */
typedef struct mixed {
  sweeper s;
  active_set a;
  int n;
  double *w, *x, *trial, *candidate, *best; /* [n]; x is the present point */
  double tolerance;
  int first_sweeps; /* before the first Newton step of a cold start; grows by half from turn to turn */
  int sweeps, newtons;
  bool
      patient; /* Newton steps that fail are damped; not in the first attempt of a cold start, when sweeps are better */
} mixed;

static double residual(const mixed *m, const double *x) { return ss_cp_judge(m->s.problem, x, NULL); }

static void copy(double *to, const double *from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i];
}

/* The point of the present Newton direction (m->trial) that lowers the residual, in m->candidate. */
static double search_line(mixed *m, double current) {
  enum { HALVINGS = 5 };
  double reached = HUGE_VAL, length = 1;
  for (int h = 0; h < HALVINGS && !(reached < current); h++, length /= 2) {
    for (int i = 0; i < m->n; i++) m->candidate[i] = m->x[i] + length * (m->trial[i] - m->x[i]);
    reached = residual(m, m->candidate);
  }
  return reached;
}

/* Newton steps from m->x while they improve it; returns the residual reached. Where a step fails it is tried again with
 * more damping: redundant contacts make the equations nearly singular, and then only a damped step stays near. */
static double newton_phase(mixed *m, int limit, double current) {
  static const double least = 1e-8, most = 1e-3, factor = 1e2;
  for (int k = 0; k < limit && current > m->tolerance; k++) {
    sweeper_apply(&m->s, m->x, m->w);
    (void)active_set_guess(&m->a, m->x, m->w);
    double reached = HUGE_VAL;
    for (;; m->a.damping = m->a.damping < least ? least : factor * m->a.damping) {
      copy(m->trial, m->x, m->n);
      m->newtons++;
      if (active_set_solve(&m->a, m->trial, m->w)) reached = search_line(m, current);
      if (reached < current || m->a.damping > most || !m->patient) break;
    }
    m->a.damping = m->a.damping > most || !m->patient ? 0 : m->a.damping / 10;
    if (m->a.damping < least) m->a.damping = 0;
    if (!(reached < current)) return current;
    const bool slow = reached > 0.9 * current;
    copy(m->x, m->candidate, m->n);
    current = reached;
    if (slow) return current;
  }
  return current;
}

/* `count` sweeps from m->x; returns the residual. */
static double mixed_sweep(mixed *m, int count) {
  for (int k = 0; k < count; k++) sweep(&m->s, m->x, m->sweeps++ % 2);
  return residual(m, m->x);
}

static void keep_lowest(const mixed *m, double current, double *lowest) {
  if (!(current < *lowest)) return;
  *lowest = current;
  copy(m->best, m->x, m->n);
}

/* Sweeps and Newton steps until m->tolerance or `limit` of them (over the lifetime of m); a warm start begins with Newton
 * steps. The best of all points visited ends in m->x; returns its residual. */
static double mixed_take_turns(mixed *m, int limit, bool warm) {
  double lowest = HUGE_VAL;
  m->patient = warm;
  if (warm) keep_lowest(m, newton_phase(m, 20, residual(m, m->x)), &lowest);
  for (int count = m->first_sweeps; m->sweeps + m->newtons < limit && lowest > m->tolerance; count += count / 2) {
    const double swept = mixed_sweep(m, count < limit - m->sweeps ? count : limit - m->sweeps);
    keep_lowest(m, swept, &lowest);
    keep_lowest(m, newton_phase(m, 20, swept), &lowest);
    m->patient = true;
  }
  copy(m->x, m->best, m->n);
  return lowest;
}

static ss_status mixed_create(mixed *m, const ss_cp *cp, ss_cp_workspace *w, ss_error *error) {
  m->n = cp->n;
  ss_status status = active_set_create(cp, w, &m->a, error);
  if (!status) status = active_set_seek_nearest(&m->a, w, error);
  if (!status) status = sweeper_create(&m->a, w, &m->s, error);
  if (status) return status;
  m->w = SCRATCH(w, double, 5 * (size_t)cp->n);
  if (!m->w) return out_of_memory(error);
  m->x = m->w + cp->n;
  m->trial = m->x + cp->n;
  m->candidate = m->trial + cp->n;
  m->best = m->candidate + cp->n;
  return SS_OK;
}

/* Gauss-Seidel on the contacts alone (reduce.c), with Newton steps in between or without them. */

static const double rank_tolerance = 1e-12;

static ss_status run(const ss_cp *problem, const ss_cp_options *options, bool warm, bool newton, double *z,
                     ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  subproblem sub;
  mixed m = {.tolerance = 1e-14};
  ss_status status = subproblem_create(problem, rank_tolerance, w, &sub, error);
  if (!status) status = mixed_create(&m, &sub.cp, w, error);
  if (!status && !newton) status = sweeper_order(&m.s, options->order, w, error);
  if (status) return status;
  if (!newton && options->relaxation > 0) m.s.factor = options->relaxation;
  /* a Newton step costs as much as many sweeps where the problem is large */
  m.first_sweeps = 5 + (int)((double)sub.cp.n * sub.cp.n / 4000);
  if (warm)
    subproblem_start(&sub, z, m.x);
  else
    for (int i = 0; i < sub.cp.n; i++) m.x[i] = 0;
  const int limit = options->iteration_limit > 0 ? options->iteration_limit : newton ? 3000 : 10000;
  double reached = HUGE_VAL;
  if (newton)
    reached = mixed_take_turns(&m, limit, warm);
  else
    while (m.sweeps < limit && reached > m.tolerance) reached = mixed_sweep(&m, 10);
  result->iterations = m.sweeps + m.newtons;
  result->outcome = reached <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return subproblem_recover(&sub, m.x, z, w, error);
}

ss_status solve_nsgs_newton(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                            ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, warm, true, z, workspace, result, error);
}

ss_status solve_nsgs(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                     ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, warm, false, z, workspace, result, error);
}

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

static double dense_row_value(const ss_cp *problem, int i, const double *z) {
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
    q[i] = dense_row_value(problem, s->row + i, f->z);
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

static double sweep_sites(few *f, bool backwards) {
  double change = 0;
  for (int k = 0; k < f->a.n_sites; k++)
    change = fmax(change, relax_site(f, &f->a.sites[backwards ? f->a.n_sites - 1 - k : k]));
  f->iterations++;
  return change;
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

static void run_few(few *f) {
  double largest = 0, last = HUGE_VAL, reached = HUGE_VAL;
  const bool small = f->most >= f->problem->n;
  if (small && has_disc(f->problem) && !several_from_nothing(f)) return;
  for (int i = 0; i < f->problem->n; i++) largest = fmax(largest, fabs(f->problem->g[i]));
  for (int sweeps = 0, next = FIRST_SWEEPS + (f->problem->n >= CHEAP_ROWS); f->iterations < f->limit;) {
    const double change = sweep_sites(f, sweeps++ % 2);
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
  run_few(&f);
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
