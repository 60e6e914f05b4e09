/* Wedged contacts stick: they are taken for joints, and get as much stress as that needs.
 *
 * Let s be impulses inside the cones that are in balance among themselves, G s = 0, zero but in the contacts W. With
 * the rows of W as equations, w = 0, instead of cones, the problem
 *
 *     w = G z + g,   w_W = 0,   the other contacts as they are
 *
 * is smaller, and has no wedges any more: its impulses are bounded. Where z solves it, z + c s solves the problem itself for every c from
 * which on its impulses are inside the cones of W. So a pile that nothing determines is divided into one that sticks and one that is
 * determined.
 *
 * Assumes a G whose symmetric part is positive semi-definite, and wedges; else it is not admitted. It is one solution of several, usually: the
 * one with the most sticking contacts. Fails where the contacts of W cannot stick all at once (gaps that close at different times), or where the
 * strategy does not solve what is left. */
#include "cp/wedged.h"

#include "cp/solver.h"
#include "cp/storage.h"
#include "la/rows.h"
#include "la/dense.h"

#include <math.h>
#include <string.h>

/* Impulses of wedged contacts, which are in balance among themselves: G z = 0, z in the cones.
 *
 * Balls in a row between two walls can be pressed against each other as strongly as one likes; friction keeps the row from
 * buckling. Where such impulses are strong enough their bodies stick, whatever hits them, and they need not be determined
 * any further: z + c s solves what z does for every large c, s being such a stress. In the middle of the cones it is the minimum of
 *
 *     z G z / (2 eps) + |z|^2 / 2 - sum of log(distances from the sides of the cones),   eps -> 0,
 *
 * a convex function that is self-concordant: Newton's method with a line search takes about four steps for a tenth of eps. Contacts
 * that are not wedged end near the apex, with z about sqrt(eps). Rows with two bounds stay at zero. The Newton steps are those of the
 * range of G (range_system.h), with the inverse of the barrier's second derivative in place of the law's derivative.
 *
 * What is left at the end is made exact: the nearest impulses with U^T z = 0 (G = L U^T), in the metric of the barrier, which keeps them
 * inside the cones.
 *
 * Assumes a symmetric G; where it is not, the line search ends it early. */

static const double rank_tolerance = 1e-12;

ss_status wedges_create(wedges *d, const ss_cp *problem, ss_cp_workspace *w, bool *admitted, ss_error *error) {
  *d = (wedges){0};
  *admitted = false;
  ss_status status = subproblem_create(problem, rank_tolerance, w, &d->sub, error);
  if (status) return status;
  d->cp = &d->sub.cp;
  const size_t n = (size_t)d->cp->n;
  status = range_system_build(&d->system, d->cp, d->cp->n, w, admitted, error);
  if (status || !*admitted) return status;
  const size_t rank = (size_t)d->system.range.rank;
  d->anchor = SCRATCH(w, double, 10 * n);
  d->y = SCRATCH(w, double, 2 * rank + 1);
  d->E = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, n *SS_FRICTION_ROWS);
  if (!d->anchor || !d->y || !d->E) return out_of_memory(error);
  d->slack = d->anchor + n;
  d->best = d->slack + n;
  d->w = d->best + n;
  d->x = d->w + n;
  d->change = d->x + n;
  d->shift = d->change + n;
  d->none = d->shift + n;
  d->drift = d->none + n;
  d->last_x = d->drift + n;
  d->trial = d->y + rank;
  for (size_t i = 0; i < n; i++) d->none[i] = d->shift[i] = d->drift[i] = 0;
  return active_set_create_bare(d->cp, NULL, w, &d->set, error);
}

/* The factors of 1 + U^T E L / eps; false where a pivot is zero. Counts as a Newton step. */
static bool factor(wedges *d, double (*E)[SS_FRICTION_ROWS]) {
  d->newtons++;
  return range_system_factor(&d->system, (const double(*)[SS_FRICTION_ROWS])E, 1 / d->eps);
}

/* - log of a z, its derivatives added; infinite outside. */
static double add_side(const double *a, const double *z, int n, double *gradient, double *H) {
  const double f = dot(a, z, n);
  if (!(f > 0)) return HUGE_VAL;
  for (int i = 0; i < n; i++) {
    gradient[i] -= a[i] / f;
    for (int j = 0; j < n; j++) H[i * n + j] += a[i] * a[j] / (f * f);
  }
  return -log(f);
}

/* - log(mu^2 z_n^2 - |z_t|^2) */
static double add_round_side(double mu, const double *z, int n, double *gradient, double *H) {
  double f = mu * mu * z[0] * z[0], by_z[SS_FRICTION_ROWS] = {2 * mu * mu * z[0]};
  for (int i = 1; i < n; i++) {
    f -= z[i] * z[i];
    by_z[i] = -2 * z[i];
  }
  if (!(f > 0 && z[0] > 0)) return HUGE_VAL;
  for (int i = 0; i < n; i++) {
    gradient[i] -= by_z[i] / f;
    for (int j = 0; j < n; j++) H[i * n + j] += by_z[i] * by_z[j] / (f * f);
    H[i * n + i] += (i ? 2 : -2 * mu * mu) / f;
  }
  return -log(f);
}

/* Rows of a site that may carry impulses in balance: none of what has two bounds, or has been found not to be wedged. */
static int rows_of(const site *s) {
  const ss_block *block = s->block;
  if (s->state == SITE_OPEN) return 0;
  if (block->kind == SS_BLOCK_FRICTION) return block->mu > 0 ? block->size : 1;
  return block->kind == SS_BLOCK_NONNEGATIVE ? 1 : 0;
}

static bool is_round(const ss_block *block) { return block->size == 2 || block->cone == SS_CONE_QUADRATIC; }

/* The k-th side of a cone over a polygon or a cube: z is inside where a z > 0. */
static void side_of(const site *s, int k, double *a) {
  const ss_block *block = s->block;
  for (int i = 0; i < block->size; i++) a[i] = 0;
  a[0] = block->mu;
  if (block->cone == SS_CONE_PYRAMID) {
    a[1 + k / 2] = k % 2 ? 1 : -1;
    return;
  }
  const double *c = s->corners + (size_t)2 * (size_t)k;
  const double *o = s->corners + (size_t)2 * (size_t)((k + 1) % block->directions);
  a[0] *= (1 + c[0] * o[0] + c[1] * o[1]) / 2; /* |c + o|^2 / 4, the corners have length one */
  for (int i = 0; i < 2; i++) a[1 + i] = -(c[i] + o[i]) / 2;
}

/* The barrier of one site with its gradient and second derivative. */
static double barrier_of(const site *s, const double *z, double *gradient, double *H) {
  const ss_block *block = s->block;
  const int n = rows_of(s);
  static const double one = 1;
  for (int i = 0; i < n; i++) gradient[i] = 0;
  for (int i = 0; i < n * n; i++) H[i] = 0;
  if (n == 0) return 0;
  if (n == 1) return add_side(&one, z, 1, gradient, H);
  if (is_round(block)) return add_round_side(block->mu, z, n, gradient, H);
  const int sides = block->cone == SS_CONE_PYRAMID ? 2 * (n - 1) : block->directions;
  double value = 0, a[SS_FRICTION_ROWS];
  for (int k = 0; k < sides && value < HUGE_VAL; k++) {
    side_of(s, k, a);
    value += add_side(a, z, n, gradient, H);
  }
  return value;
}

/* One site's part of the function but for z G z, with its gradient; E, unless NULL: the inverse of its second derivative. */
static double evaluate_site(const site *s, const double *z, double *gradient, double (*E)[SS_FRICTION_ROWS]) {
  const int n = rows_of(s);
  double H[SS_FRICTION_ROWS * SS_FRICTION_ROWS];
  double value = barrier_of(s, z, gradient, H);
  if (!(value < HUGE_VAL)) return HUGE_VAL;
  for (int i = 0; i < n; i++) {
    value += z[i] * z[i] / 2;
    gradient[i] += z[i];
    H[i * n + i] += 1;
  }
  if (!E || n == 0) return value;
  if (!ss_spd_inverse(H, n)) return HUGE_VAL;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) E[i][j] = H[i * n + j];
  return value;
}

/* The whole function at z; its gradient but for that of z G z; E likewise. */
static double evaluate(wedges *d, const double *z, double *gradient, double (*E)[SS_FRICTION_ROWS]) {
  double value = 0;
  for (int k = 0; k < d->set.n_sites && value < HUGE_VAL; k++) {
    const int row = d->set.sites[k].row;
    value += evaluate_site(&d->set.sites[k], z + row, gradient + row, E ? E + row : NULL);
  }
  range_collect(&d->system.range, z, d->trial);
  return value + dot(d->trial, d->trial, d->system.range.rank) / (2 * d->eps);
}

static void multiply(const wedges *d, double (*E)[SS_FRICTION_ROWS], const double *b, double *out) {
  memset(out, 0, sizeof *out * (size_t)d->cp->n);
  for (int k = 0; k < d->set.n_sites; k++) {
    const int row = d->set.sites[k].row, n = rows_of(&d->set.sites[k]);
    for (int i = 0; i < n; i++) out[row + i] = dot(E[row + i], b + row, n);
  }
}

/* One Newton step from the anchor; returns Newton's decrement, which is small near the minimum, or -1 where there is no way
 * on. With t = U^T s / eps the step s solves  E^-1 s + L t = -q,  (1 + U^T E L / eps) t = -U^T E q / eps. */
static double newton_step(wedges *d) {
  static const double shorter = 0.6, shortest = 1e-5, part = 0.1, rounding = 1e-13;
  const int n = d->cp->n;
  double *z = d->anchor, *q = d->x, *step = d->change, *y = d->y, inner = 0;
  double(*E)[SS_FRICTION_ROWS] = d->E;
  const double value = evaluate(d, z, q, E);
  if (!(value < HUGE_VAL)) return -1;
  range_apply(&d->system.range, d->none, d->trial, d->w);
  for (int i = 0; i < n; i++) q[i] += d->w[i] / d->eps;
  if (!factor(d, E)) return -1;
  multiply(d, E, q, step);
  range_collect(&d->system.range, step, y);
  for (int i = 0; i < d->system.range.rank; i++) y[i] *= -1 / d->eps;
  range_system_solve(&d->system, y);
  range_apply(&d->system.range, q, y, d->w);
  multiply(d, E, d->w, step);
  for (int i = 0; i < n; i++) inner += step[i] * q[i];
  memcpy(d->slack, z, sizeof *z * (size_t)n);
  for (double length = 1; length > shortest; length *= shorter) {
    for (int i = 0; i < n; i++) z[i] = d->slack[i] - length * step[i];
    if (evaluate(d, z, q, NULL) <= value - part * length * inner + rounding * fabs(value)) return sqrt(fmax(inner, 0));
  }
  memcpy(z, d->slack, sizeof *z * (size_t)n);
  return -1;
}

static double largest_normal(const wedges *d) {
  double largest = 0;
  for (int k = 0; k < d->set.n_sites; k++) largest = fmax(largest, d->anchor[d->set.sites[k].row]);
  return largest;
}

/* Leaves out the contacts that lose their impulses while eps falls by a factor; returns how many do, *left: how many do not. */
static int leave_out(wedges *d, int *left) {
  static const double keeps = 0.6; /* of what it was; 0.32 where it is not wedged */
  int count = 0;
  *left = 0;
  for (int k = 0; k < d->set.n_sites; k++) {
    site *s = &d->set.sites[k];
    const int n = rows_of(s);
    if (n > 0 && d->anchor[s->row] > keeps * d->last_x[s->row]) {
      (*left)++;
      continue;
    }
    for (int i = s->row; i < s->row + n; i++) d->anchor[i] = 0;
    count += n > 0;
    s->state = SITE_OPEN;
  }
  return count;
}

bool stress_is_inside(const wedges *d, const double *z) {
  double gradient[SS_FRICTION_ROWS], H[SS_FRICTION_ROWS * SS_FRICTION_ROWS];
  for (int k = 0; k < d->set.n_sites; k++)
    if (!(barrier_of(&d->set.sites[k], z + d->set.sites[k].row, gradient, H) < HUGE_VAL)) return false;
  return true;
}

/* E where the stress is, and the factors for share_among_wedged. */
static bool load_metric(wedges *d) {
  double(*E)[SS_FRICTION_ROWS] = d->E;
  memset(E, 0, sizeof *E * (size_t)d->cp->n);
  range_system_forget(&d->system);
  return evaluate(d, d->anchor, d->x, E) < HUGE_VAL && factor(d, E);
}

void share_among_wedged(wedges *d, const double *z, double *out) {
  enum { STEPS = 10 };
  static const double rounding = 1e-15;
  double *y = d->y, *left = d->x, largest = 0;
  const int n = d->cp->n;
  for (int i = 0; i < n; i++) {
    out[i] = 0;
    largest = fmax(largest, fabs(z[i]));
  }
  for (int k = 0; k < STEPS; k++) {
    double most = 0;
    for (int i = 0; i < n; i++) left[i] = z[i] - out[i];
    range_collect(&d->system.range, left, y);
    for (int i = 0; i < d->system.range.rank; i++) {
      most = fmax(most, fabs(y[i]));
      y[i] /= d->eps;
    }
    if (most <= rounding * largest) break;
    range_system_solve(&d->system, y);
    range_apply(&d->system.range, d->none, y, d->w);
    multiply(d, d->E, d->w, left);
    for (int i = 0; i < n; i++) out[i] += left[i];
  }
}

/* Takes out of the stress what is not in balance; false where that leads out of the cones. */
static bool balance(wedges *d) {
  if (!load_metric(d)) return false;
  share_among_wedged(d, d->anchor, d->change);
  for (int i = 0; i < d->cp->n; i++) d->anchor[i] -= d->change[i];
  return stress_is_inside(d, d->anchor);
}

/* Not where G has eigenvalues below eps that are not zero: nearly wedged. */
static bool is_in_balance(const wedges *d) {
  static const double rounding = 1e-14;
  double most = 0;
  range_collect(&d->system.range, d->anchor, d->y);
  for (int i = 0; i < d->system.range.rank; i++) most = fmax(most, fabs(d->y[i]));
  return most <= rounding * largest_normal(d);
}

static void begin_inside(wedges *d) {
  const size_t n = (size_t)d->cp->n;
  memset(d->anchor, 0, sizeof *d->anchor * n);
  memset(d->x, 0, sizeof *d->x * n);
  memset(d->E, 0, sizeof *d->E * n);
  for (int k = 0; k < d->set.n_sites; k++)
    if (rows_of(&d->set.sites[k]) > 0) d->anchor[d->set.sites[k].row] = 1;
}

/* Whether the contacts that keep their impulses are in balance already: what loses them will have none, and does not matter. If not,
 * everything is as before. */
static bool is_settled(wedges *d) {
  const size_t n = (size_t)d->cp->n;
  int left, *before = d->set.row;
  memcpy(d->drift, d->anchor, sizeof *d->anchor * n);
  for (int k = 0; k < d->set.n_sites; k++) before[k] = d->set.sites[k].state;
  (void)leave_out(d, &left);
  if (left > 0 && balance(d) && is_in_balance(d)) return true;
  memcpy(d->anchor, d->drift, sizeof *d->anchor * n);
  for (int k = 0; k < d->set.n_sites; k++) d->set.sites[k].state = before[k];
  return false;
}

static bool goes_on(wedges *d) {
  const ss_cp_options *o = d->caller;
  d->stopped = d->stopped || (o && o->stop && o->stop(o->stop_user));
  return !d->stopped && (d->limit == 0 || d->newtons < d->limit);
}

typedef enum finding { NOTHING, SLOW, FOUND } finding;

/* Lowers eps until the stress is found, or as far as numbers allow: SLOW, d->last_x are the impulses at the last eps but one. */
static finding follow_center(wedges *d) {
  enum { MOST_STEPS = 20 };
  static const double first = 1e-2, last = 1e-14, near = 0.1; /* decrement that is near enough to go on */
  static const double early = 2e-4, falls = 0.5; /* the largest one, without wedges by the root of a tenth */
  double largest = HUGE_VAL;
  begin_inside(d);
  for (d->eps = first; d->eps > 0.5 * last; d->eps *= 0.1) {
    const double before = largest;
    double decrement = HUGE_VAL;
    memcpy(d->last_x, d->anchor, sizeof *d->anchor * (size_t)d->cp->n);
    range_system_forget(&d->system);
    for (int k = 0; k < MOST_STEPS && decrement > near && goes_on(d); k++) decrement = newton_step(d);
    largest = largest_normal(d);
    if (decrement < 0 || !goes_on(d) || (d->eps < early && largest < falls * before)) return NOTHING;
    if (d->eps < early && is_settled(d)) return FOUND;
  }
  return SLOW;
}

bool find_self_stress(wedges *d) {
  enum { ROUNDS = 6 };
  for (int k = 0; k < d->set.n_sites; k++) d->set.sites[k].state = SITE_OPEN + 1;
  /* What is nearly wedged loses its impulses slowly, and others with it: once more without */
  for (int k = 0, left = 1; k < ROUNDS && left > 0; k++) {
    const finding found = follow_center(d);
    if (found != SLOW) return found == FOUND;
    if (leave_out(d, &left) == 0) return left > 0 && balance(d);
  }
  return false;
}

/* Rows of a wedged contact that stick: its normal alone where it has no friction. */
static int stuck_rows(const site *s) {
  if (s->state == SITE_OPEN) return 0;
  return s->block->kind == SS_BLOCK_FRICTION && s->block->mu > 0 ? s->block->size : 1;
}

/* The blocks of the problem with those that are wedged free; returns how many. */
static int free_wedged(const wedges *d, ss_block *blocks) {
  int count = 0;
  for (int b = 0; b < d->cp->n_blocks; b++) /* joints that cannot be eliminated come first */
    if (d->cp->blocks[b].kind == SS_BLOCK_FREE) blocks[count++] = d->cp->blocks[b];
  for (int k = 0; k < d->set.n_sites; k++) {
    const site *s = &d->set.sites[k];
    const int size = s->block->kind == SS_BLOCK_FRICTION ? s->block->size : 1, stuck = stuck_rows(s);
    ss_block *block = &blocks[count++];
    *block = *s->block;
    block->first = s->row;
    block->size = stuck > 0 ? stuck : size;
    if (stuck > 0) block->kind = SS_BLOCK_FREE;
    for (int i = block->size; i < size; i++) /* tangents without friction: z = 0 */
      blocks[count++] = (ss_block){.kind = SS_BLOCK_BOX, .first = s->row + i, .size = 1};
  }
  return count;
}

/* Puts what the wedged contacts carry, which their equations do not determine, inside their cones: x += c s with twice the least c that
 * does so. False: none does. */
static bool add_stress(wedges *d, const double *s, double *x) {
  static const double least = 0x1p-10, most = 0x1p30;
  const int n = d->cp->n;
  double *carried = d->shift, *shared = d->drift, *trial = d->slack;
  for (int i = 0; i < n; i++) carried[i] = 0;
  for (int k = 0; k < d->set.n_sites; k++) {
    const int row = d->set.sites[k].row;
    for (int i = row; i < row + stuck_rows(&d->set.sites[k]); i++) carried[i] = x[i];
  }
  share_among_wedged(d, carried, shared);
  for (int i = 0; i < n; i++) x[i] += shared[i] - carried[i];
  for (double c = least; c < most; c *= 2) {
    for (int i = 0; i < n; i++) trial[i] = x[i] + c * s[i];
    if (!stress_is_inside(d, trial)) continue;
    for (int i = 0; i < n; i++) x[i] += 2 * c * s[i];
    return true;
  }
  return false;
}

/* What is left when the wedged contacts stick, by "auto"; x in the units of d. */
static ss_status solve_rest(const wedges *d, const ss_cp_options *options, double *x, ss_cp_workspace *w,
                            ss_cp_result *result, ss_error *error) {
  static const double share = 0.1; /* of the tolerance: units differ */
  ss_cp_options own = *options;
  own.solver = "auto";
  own.tolerance *= share;
  ss_cp stuck = *d->cp;
  ss_block *blocks = SCRATCH(w, ss_block, d->cp->n_blocks + d->cp->n);
  if (!blocks) return out_of_memory(error);
  stuck.blocks = blocks;
  stuck.n_blocks = free_wedged(d, blocks);
  subproblem rest;
  const ss_status status = subproblem_create(&stuck, rank_tolerance, w, &rest, error);
  if (status) return status;
  double *y = SCRATCH(w, double, rest.cp.n);
  if (!y) return out_of_memory(error);
  ss_cp_result inner;
  own.any = true;
  const ss_status solved = ss_cp_solve(&rest.cp, &own, false, y, w, &inner, error);
  if (solved) return solved;
  result->iterations += inner.iterations;
  result->operations += inner.operations;
  result->outcome = inner.outcome == SS_SOLVED ? SS_SOLVED : SS_LIMIT;
  return subproblem_recover(&rest, y, x, w, error);
}

ss_status solve_wedged(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                       ss_cp_result *result, ss_error *error) {
  enum { USUAL_LIMIT = 1000 };
  (void)warm;
  ss_cp dense;
  wedges d;
  bool admitted;
  result->outcome = SS_NOT_ADMITTED;
  if (!problem->G) {
    if (problem->n > SS_CP_DENSE_ROWS) return SS_OK;
    const ss_status made = storage_dense(problem, w, &dense, error);
    if (made) return made;
    problem = &dense;
  }
  ss_status status = wedges_create(&d, problem, w, &admitted, error);
  if (status || !admitted || d.system.range.rank == d.cp->n)
    return status; /* of full rank: no impulses are in balance */
  const double rows = d.cp->n, rank = d.system.range.rank, step = rank * rank * (rows + rank / 3);
  d.caller = options;
  d.limit = options->work > 0 ? (int)fmin(USUAL_LIMIT, 1 + options->work / step) : USUAL_LIMIT;
  const bool found = find_self_stress(&d);
  result->iterations = d.newtons;
  result->operations = rows * rank * rank + d.newtons * step;
  if (!found) {
    if (d.newtons >= d.limit) result->outcome = SS_LIMIT; /* with more work, perhaps */
    return d.stopped ? ss_fail(error, SS_ERROR_STOPPED, "stopped") : SS_OK;
  }
  double *stress = d.anchor, *x = d.best;
  status = solve_rest(&d, options, x, w, result, error);
  if (status) return status;
  if (!add_stress(&d, stress, x)) result->outcome = SS_LIMIT;
  return subproblem_recover(&d.sub, x, z, w, error);
}
