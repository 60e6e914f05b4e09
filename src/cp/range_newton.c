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
#include "cp/range.h"
#include "cp/response.h"
#include "cp/solver.h"
#include "cp/subproblem.h"

#include <math.h>
#include <string.h>

enum { DEFAULT_LIMIT = 1000, VERY_EASY = 1, EASY = 6, BEARABLE = 15, TURNS = 1, CONE_STEPS = 10, MOST_VAIN = 60 };
static const double rank_tolerance = 1e-12;
static const double first_eps = 1e-1, small_eps = 1e-5, least_eps = 1e-12, most_eps = 1, inner = 0.03;
static const double rounding = 1e-15, enough = 1e-14, nearly = 1e-12;

typedef enum contact_law { COULOMB, CONE } contact_law;

typedef struct point {
  double *y, *F; /* [rank] F = y - U^T (z - a) */
  response z;
  double norm, merit; /* |F|; what descends: |F| or the convex function */
} point;

typedef struct descent {
  const ss_cp *cp;
  pattern pattern;
  range range;
  active_set set;
  bool cones; /* the cone's law is there for all blocks */
  double eps;
  point now, trial;
  double *anchor, *slack, *best, *drift; /* [n] a and G a + g; the best a so far; its last step */
  double *w, *x, *change, *shift, *none; /* [n]; change: z - a; none: zeros */
  double *K, *H, *step, *T;              /* [rank][rank], [rank]; K = U^T z' L; T: of its change */
  double (*D)[SS_FRICTION_ROWS];         /* [n] the z' that K has been made of */
  int *first, *last;                     /* [rank] envelope of H */
  int newtons, limit;
} descent;

static bool create_point(point *p, int rank, int n, ss_cp_workspace *w) {
  p->y = SCRATCH(w, double, 2 * (size_t)rank);
  p->z.z = SCRATCH(w, double, n);
  p->z.D = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, (size_t)n *SS_FRICTION_ROWS);
  p->F = p->y + rank;
  return p->y && p->z.z && p->z.D;
}

/* The columns that the contacts connect. */
static void bound_envelope(descent *d) {
  const int rank = d->range.rank;
  const pattern *p = &d->pattern;
  for (int k = 0; k < rank; k++) d->first[k] = d->last[k] = k;
  for (int g = 0; g < p->n; g++) {
    int first = rank, end = 0;
    for (int i = p->row[g]; i < p->row[g] + p->size[g]; i++) {
      if (d->range.first[i] < first) first = d->range.first[i];
      if (d->range.end[i] > end) end = d->range.end[i];
    }
    for (int k = first; k < end; k++) {
      if (first < d->first[k]) d->first[k] = first;
      if (end - 1 > d->last[k]) d->last[k] = end - 1;
    }
  }
}

static ss_status create(descent *d, double share, ss_cp_workspace *w, bool *admitted, ss_error *error) {
  const size_t n = (size_t)d->cp->n;
  ss_status status = pattern_create(d->cp, w, &d->pattern, error);
  if (!status) status = range_create(d->cp, &d->pattern, (int)(share * d->cp->n), w, &d->range, admitted, error);
  if (status || !*admitted) return status;
  d->anchor = SCRATCH(w, double, 9 * n);
  if (!d->anchor) return out_of_memory(error);
  d->slack = d->anchor + n;
  d->best = d->slack + n;
  d->w = d->best + n;
  d->x = d->w + n;
  d->change = d->x + n;
  d->shift = d->change + n;
  d->none = d->shift + n;
  d->drift = d->none + n;
  for (size_t i = 0; i < n; i++) d->none[i] = d->shift[i] = d->drift[i] = 0;
  status = active_set_create_bare(d->cp, NULL, w, &d->set, error);
  const size_t rank = (size_t)d->range.rank;
  d->K = SCRATCH(w, double, 2 * rank * rank);
  d->D = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, n *SS_FRICTION_ROWS);
  d->step = SCRATCH(w, double, (2 + SS_FRICTION_ROWS) * rank);
  d->first = SCRATCH(w, int, 2 * rank);
  if (!create_point(&d->now, d->range.rank, d->cp->n, w) || !create_point(&d->trial, d->range.rank, d->cp->n, w) ||
      !d->K || !d->D || !d->step || !d->first)
    return status ? status : out_of_memory(error);
  d->H = d->K + rank * rank;
  d->T = d->step + rank;
  for (size_t i = 0; i < rank * rank; i++) d->K[i] = 0;
  memset(d->D, 0, n * sizeof *d->D);
  d->last = d->first + rank;
  d->cones = cones_admitted(d->cp);
  bound_envelope(d);
  return status;
}

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

/* T_i = sum of (D_ij - old D_ij) L_j for a row i of a group, in the columns *first .. *end - 1, which are those of the whole
 * group; false where nothing has changed. Most rows keep their D from step to step. */
static bool changed_row(descent *d, int i, int first_row, int size, int first, int end, double *T) {
  const range *r = &d->range;
  bool any = false;
  for (int j = 0; j < size; j++) {
    const double change = d->now.z.D[i][j] - d->D[i][j];
    if (change == 0) continue;
    d->D[i][j] = d->now.z.D[i][j];
    if (!any)
      for (int k = first; k < end; k++) T[k] = 0;
    any = true;
    const double *line = r->L + (size_t)(first_row + j) * (size_t)r->n;
    for (int k = r->first[first_row + j]; k < r->end[first_row + j]; k++) T[k] += change * line[k];
  }
  return any;
}

static double entry(const range *r, int i, int column) {
  return column >= r->first[i] && column < r->end[i] ? r->U[(size_t)i * (size_t)r->n + (size_t)column] : 0;
}

/* K += sum of U_i T_i^T over the rows of a group, up to three of them in one pass. */
static void update_group(descent *d, int first_row, int size) {
  const range *r = &d->range;
  const size_t rank = (size_t)r->rank;
  int first = r->rank, end = 0, count = 0, rows[SS_FRICTION_ROWS];
  for (int i = first_row; i < first_row + size; i++) {
    if (r->first[i] < first) first = r->first[i];
    if (r->end[i] > end) end = r->end[i];
  }
  for (int i = first_row; i < first_row + size; i++)
    if (changed_row(d, i, first_row, size, first, end, d->T + (size_t)count * rank)) rows[count++] = i;
  for (int m = 0; m < count; m += 3) {
    const double *T = d->T + (size_t)m * rank, *restrict a = T, *restrict b = a + rank, *restrict c = b + rank;
    const int left = count - m;
    for (int l = first; l < end; l++) {
      double *restrict row = d->K + (size_t)l * rank;
      const double f = entry(r, rows[m], l), g = left > 1 ? entry(r, rows[m + 1], l) : 0;
      const double h = left > 2 ? entry(r, rows[m + 2], l) : 0;
      if (left > 2)
        for (int k = first; k < end; k++) row[k] += f * a[k] + g * b[k] + h * c[k];
      else if (left > 1)
        for (int k = first; k < end; k++) row[k] += f * a[k] + g * b[k];
      else
        for (int k = first; f != 0 && k < end; k++) row[k] += f * a[k];
    }
  }
}

/* d->step from the Newton equation at d->now. */
static bool newton_step(descent *d) {
  const pattern *p = &d->pattern;
  const int rank = d->range.rank;
  const double stiffness = 1 / d->eps;
  for (int g = 0; g < p->n; g++) update_group(d, p->row[g], p->size[g]);
  for (int k = 0; k < rank; k++) {
    double *row = d->H + (size_t)k * (size_t)rank;
    const double *from = d->K + (size_t)k * (size_t)rank;
    for (int l = d->first[k]; l <= d->last[k]; l++) row[l] = stiffness * from[l];
    row[k] += 1;
  }
  d->newtons++;
  if (!envelope_factor(d->H, rank, d->first, d->last)) return false;
  for (int k = 0; k < rank; k++) d->step[k] = -d->now.F[k];
  envelope_solve(d->H, rank, d->first, d->last, d->step);
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

/* Leaves the best anchor in d->best; returns its residual. */
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

static double run_outer(descent *d, bool warm, double target, double tolerance) {
  const int n = d->cp->n;
  double residual = HUGE_VAL, lowest = HUGE_VAL;
  schedule s = {.eps = d->eps, .milestone = HUGE_VAL};
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
    if (solved && straight && residual > 0.7 * last) residual = go_far(d, residual);
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
  subproblem sub;
  descent d = {.eps = first_eps, .limit = options->iteration_limit > 0 ? options->iteration_limit : DEFAULT_LIMIT};
  bool admitted = false;
  ss_status status = subproblem_create(problem, rank_tolerance, w, &sub, error);
  d.cp = &sub.cp;
  if (!status) status = create(&d, only_redundant ? few : 1, w, &admitted, error);
  result->outcome = SS_NOT_ADMITTED;
  if (status || !admitted || (only_redundant && !redundant(&d))) return status;
  for (int i = 0; i < sub.cp.n; i++) d.anchor[i] = 0;
  if (warm) subproblem_start(&sub, z, d.anchor);
  const double residual = run_outer(&d, warm, enough * fmax(1, sub.cp.n / 96.0), options->tolerance);
  result->iterations = d.newtons;
  result->outcome = residual <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return subproblem_recover(&sub, d.best, z, w, error);
}

ss_status solve_range_newton(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                             ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return solve(problem, options, warm, false, z, workspace, result, error);
}

ss_status solve_redundant(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                          ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return solve(problem, options, warm, true, z, workspace, result, error);
}
