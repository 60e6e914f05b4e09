/* The problem with compliance in the velocities.
 *
 * With the anchor a, its slack w_a = G a + g and A y = J^T (z - a), the velocities that the change of the impulses makes,
 *
 *     F(y) = A y - J^T (z(x) - a) = 0,   x = a - (w_a + J y) / (eps C),                                           (1)
 *
 * z(x) the impulses that Coulomb's law assigns to x (response.c): as many equations as bodies have directions to move in, regular for every
 * number of contacts. Newton's method on (1) has the matrix A + J^T z' (eps C)^-1 J. With De Saxce's shift frozen, and for
 * symmetric A, (1) is the gradient of a convex function,
 *
 *     y A y / 2 + eps C (x z - |z|^2 / 2) + a J y.
 *
 * As w_a comes from the data, errors of the factors do not stay. */
#include "cp/compliant.h"

#include "la/dense.h"
#include "cp/storage.h"
#include "la/rows.h"

#include <math.h>
#include <string.h>

/* Newton's method on the equations F(y) = 0 of a proximal step.
 *
 * Coulomb's law is not associated: F is no gradient, and what descends is |F|. Where no part of a Newton step makes it smaller, the law
 * of the cone with the shift s = mu |w_t| frozen takes over for some steps (De Saxce; Cadoux 2009): then F is the gradient of a
 * convex function, and Newton's method with a line search on it always converges. From there Coulomb's law is tried once more. */

enum { CONE_STEPS = 10, CONE_HALVINGS = 15 };
static const double less = 0.9, much_less = 0.1, last_digits = 1e-13; /* of |F|, after a Newton step */
static const double cone_enough = 1e-2; /* of |F| with the shift frozen: it moves on anyway */
static const double sufficient = 1e-4, rounding = 1e-14;

static bool create_point(prox_point *p, int m, int n, ss_cp_workspace *w) {
  p->y = SCRATCH(w, double, 2 * (size_t)m);
  p->z.z = SCRATCH(w, double, n);
  p->z.D = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, (size_t)n *SS_FRICTION_ROWS);
  p->F = p->y + m;
  return p->y && p->z.z && p->z.D;
}

/* Memory for m unknowns and n rows. */
static bool create_proximal(proximal *p, int m, int n, ss_cp_workspace *w) {
  p->m = m;
  p->step = SCRATCH(w, double, m);
  return p->step && create_point(&p->now, m, n, w) && create_point(&p->trial, m, n, w);
}

static void exchange(proximal *p) {
  const prox_point last = p->now;
  p->now = p->trial;
  p->trial = last;
}

/* Goes along the step until the merit is at most `bound` plus a part of the slope; false where it never is. */
static bool search_line(proximal *p, contact_law law, double bound, double slope, int halvings) {
  double length = 1;
  for (int h = 0; h < halvings; h++, length /= 2) {
    for (int k = 0; k < p->m; k++) p->trial.y[k] = p->now.y[k] + length * p->step[k];
    p->equations->evaluate(p->user, law, &p->trial);
    if (!(p->trial.merit <= bound + sufficient * length * slope)) continue;
    exchange(p);
    return true;
  }
  return false;
}

bool proximal_goes_on(proximal *p) {
  const ss_cp_options *o = p->caller;
  p->stopped = p->stopped || (o && o->stop && o->stop(o->stop_user));
  return !p->stopped && p->newtons < p->limit;
}

/* Near rounding errors Newton's method gains digits at once or not at all. */
static void coulomb_phase(proximal *p, double goal) {
  while (p->now.norm > goal && proximal_goes_on(p)) {
    const double bound = (p->now.norm > last_digits ? less : much_less) * p->now.norm;
    if (!p->equations->newton(p->user, &p->now, p->step) || !search_line(p, COULOMB, bound, 0, p->equations->halvings))
      return;
  }
}

static void cone_phase(proximal *p, double goal) {
  p->equations->freeze(p->user, p->now.y);
  p->equations->evaluate(p->user, CONE, &p->now);
  goal = fmax(goal, cone_enough * p->now.norm);
  for (int k = 0; k < CONE_STEPS && p->now.norm > goal && proximal_goes_on(p); k++) {
    if (!p->equations->newton(p->user, &p->now, p->step)) return;
    const double slope = dot(p->now.F, p->step, p->m), bound = p->now.merit + rounding * fabs(p->now.merit);
    if (!search_line(p, CONE, bound, slope, CONE_HALVINGS)) return;
  }
}

bool proximal_solve(proximal *p, double goal, bool shifted) {
  coulomb_phase(p, goal);
  if (p->now.norm > goal && p->cones && shifted && proximal_goes_on(p)) {
    cone_phase(p, goal);
    p->equations->evaluate(p->user, COULOMB, &p->now);
    coulomb_phase(p, goal);
  }
  return p->now.norm <= goal;
}

static ss_status list_nodes(compliant *k, const ss_cp *problem, ss_cp_workspace *w, ss_error *error) {
  k->nodes = (node_list){0, SCRATCH(w, int, problem->n + 1)};
  if (!k->nodes.first) return out_of_memory(error);
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int together = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    for (int i = 0; i < block->size; i += together) k->nodes.first[k->nodes.count++] = block->first + i;
  }
  k->nodes.first[k->nodes.count] = problem->n;
  return SS_OK;
}

/* Diagonal of J A^-1 J^T + R; false: out of memory, or a body without an inverse. */
static bool operator_diagonal(const ss_cp_operator *o, int n, double *diagonal, ss_cp_workspace *w) {
  const double *A = o->A;
  double **inverse = SCRATCH(w, double *, o->n_bodies + 1);
  int *body_of = SCRATCH(w, int, o->J.cols + 1);
  if (!inverse || !body_of) return false;
  for (int b = 0; b < o->n_bodies; b++) {
    const int size = o->first[b + 1] - o->first[b];
    double copy[SS_CP_BODY_ROWS * SS_CP_BODY_ROWS];
    inverse[b] = SCRATCH(w, double, size *size + 1);
    if (!inverse[b]) return false;
    memcpy(copy, A, sizeof(double) * (size_t)(size * size));
    if (!ss_dense_inverse(copy, size, inverse[b])) return false;
    for (int v = o->first[b]; v < o->first[b + 1]; v++) body_of[v] = b;
    A += (ptrdiff_t)size * size;
  }
  for (int i = 0; i < n; i++) {
    diagonal[i] = o->R.start ? sparse_diagonal(&o->R, i) : 0;
    for (int e = o->J.start[i]; e < o->J.start[i + 1]; e++)
      for (int f = o->J.start[i]; f < o->J.start[i + 1]; f++) {
        const int b = body_of[o->J.col[e]], size = o->first[b + 1] - o->first[b];
        if (b != body_of[o->J.col[f]]) continue;
        const int place = (o->J.col[e] - o->first[b]) * size + o->J.col[f] - o->first[b];
        diagonal[i] += o->J.value[e] * inverse[b][place] * o->J.value[f];
      }
  }
  return true;
}

/* One scale per node, from the mean of its diagonal. */
static void set_scales(compliant *k, const double *diagonal) {
  for (int p = 0; p < k->nodes.count; p++) {
    const int row = k->nodes.first[p], size = k->nodes.first[p + 1] - row;
    double sum = 0;
    for (int i = 0; i < size; i++) sum += fmax(diagonal[row + i], 0);
    for (int i = 0; i < size; i++) k->scale[row + i] = inverse_root_power(sum / size);
  }
}

static void set_compliance(compliant *k, const double *diagonal) {
  double sum = 0;
  k->soft = 0;
  for (int i = 0; i < k->cp.n; i++) {
    k->c[i] = (k->original->compliance ? k->original->compliance[i] : 1) * k->scale[i] * k->scale[i];
    const double share = fmax(diagonal[i] * k->scale[i] * k->scale[i], 1e-6) / k->c[i];
    k->soft = fmax(k->soft, share);
    sum += log(share);
  }
  k->typical = k->cp.n ? exp(sum / k->cp.n) : 1;
}

static ss_status scale_problem(compliant *k, ss_cp_workspace *w, ss_error *error) {
  const ss_cp *from = k->original;
  const size_t n = (size_t)from->n;
  ss_block *blocks = SCRATCH(w, ss_block, from->n_blocks + 1);
  double *g = SCRATCH(w, double, n + 1), largest = 0;
  if (!blocks || !g) return out_of_memory(error);
  for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(k->scale[i] * from->g[i]));
  k->amplitude = 1 / inverse_power(largest);
  for (size_t i = 0; i < n; i++) g[i] = k->scale[i] * from->g[i] / k->amplitude;
  for (int b = 0; b < from->n_blocks; b++) {
    blocks[b] = from->blocks[b];
    const double unit = k->scale[blocks[b].first] * k->amplitude;
    if (blocks[b].kind == SS_BLOCK_BOX) {
      blocks[b].lower /= unit;
      blocks[b].upper /= unit;
    }
    blocks[b].extra /= unit;
  }
  k->cp = (ss_cp){.n = from->n, .n_blocks = from->n_blocks, .g = g, .blocks = blocks};
  return SS_OK;
}

static ss_status scale_matrix(compliant *k, ss_cp_workspace *w, ss_error *error) {
  const size_t n = (size_t)k->cp.n;
  double *G = SCRATCH(w, double, n *n + 1);
  if (!G) return out_of_memory(error);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) G[i * n + j] = k->scale[i] * k->original->G[i * n + j] * k->scale[j];
  k->cp.G = G;
  return SS_OK;
}

/* Whether sparse factors of the bodies' matrix may be used: R is diagonal, and alike for the rows of a node. */
static bool has_plain_bodies(const ss_cp *problem) {
  const ss_cp_operator *o = problem->factors;
  if (!o || o->whole.start || o->n_bodies == 0) return false;
  for (int i = 0; o->R.start && i < problem->n; i++)
    for (int e = o->R.start[i]; e < o->R.start[i + 1]; e++)
      if (o->R.col[e] != i && o->R.value[e] != 0) return false;
  for (int b = 0; o->R.start && b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    for (int i = block->first; block->kind == SS_BLOCK_FRICTION && i < block->first + block->size; i++)
      if (sparse_diagonal(&o->R, i) != sparse_diagonal(&o->R, block->first)) return false;
  }
  return true;
}

static void evaluate(void *user, contact_law law, prox_point *p) {
  compliant *k = user;
  const int n = k->cp.n, m = k->space.m;
  k->space.slack(k->space.user, p->y, k->w);
  for (int i = 0; i < n; i++) {
    const double soft = k->eps * k->c[i], all = soft + (k->R ? k->R[i] : 0);
    const double w = k->slack[i] + k->w[i] + (law == CONE ? k->shift[i] : 0);
    k->x[i] = (k->R ? soft / all * k->a[i] : k->a[i]) - w / all;
  }
  if (law == CONE)
    respond_by_cone(&k->set, k->x, &p->z);
  else
    respond_by_coulomb(&k->set, k->x, k->none, &p->z);
  for (int i = 0; i < n; i++) k->change[i] = p->z.z[i] - k->a[i];
  k->space.collect(k->space.user, p->y, k->change, p->F);
  p->norm = p->merit = sqrt(dot(p->F, p->F, m));
  if (law == COULOMB) return;
  double sum = dot(p->F, p->y, m) / 2; /* y A y = y F + J y (z - a) */
  for (int i = 0; i < n; i++) {
    const double all = k->eps * k->c[i] + (k->R ? k->R[i] : 0), z = p->z.z[i];
    sum += k->change[i] * k->w[i] / 2 + all * (k->x[i] * z - z * z / 2) + k->a[i] * k->w[i];
  }
  p->merit = sum;
}

static void freeze(void *user, const double *y) {
  compliant *k = user;
  k->space.slack(k->space.user, y, k->w);
  for (int i = 0; i < k->cp.n; i++) k->w[i] += k->slack[i];
  cone_shift(&k->set, k->w, k->shift);
}

/* The factors for the law's derivative D. */
static bool factor(compliant *k, double (*D)[SS_FRICTION_ROWS]) {
  for (int p = 0; p < k->nodes.count; p++) {
    const int row = k->nodes.first[p], size = k->nodes.first[p + 1] - row;
    for (int i = row; i < row + size; i++)
      for (int j = 0; j < size; j++)
        k->D[i][j] = D[i][j] / (k->R ? k->eps * k->c[row + j] + k->R[row + j] : k->c[row + j]);
  }
  k->step.newtons++;
  return k->space.factor(k->space.user, (const double(*)[SS_FRICTION_ROWS])k->D, k->R ? 1 : 1 / k->eps);
}

static bool newton(void *user, const prox_point *p, double *step) {
  compliant *k = user;
  if (!factor(k, p->z.D)) return false;
  for (int i = 0; i < k->space.m; i++) step[i] = -p->F[i];
  k->space.solve(k->space.user, step);
  return true;
}

static const prox_equations equations = {evaluate, freeze, newton, .halvings = 5};

ss_status compliant_create(compliant *k, const ss_cp *problem, double most, ss_cp_workspace *w, bool *admitted,
                           ss_error *error) {
  enum {
    FEW = 60,
    MOST_DENSE = 1200
  }; /* rows up to which a dense matrix costs less than the administration of bodies; is made */
  const size_t n = (size_t)problem->n;
  *k = (compliant){.eps = 1};
  *admitted = false;
  const bool bodies = has_plain_bodies(problem) && (!problem->G || problem->n > FEW),
             sparse = !bodies && !problem->G && problem->n > MOST_DENSE;
  ss_status status = SS_OK;
  ss_sparse rows;
  if (sparse) status = storage_rows(problem, w, &rows, error);
  if (!bodies && !problem->G && !sparse) {
    status = storage_dense(problem, w, &k->dense, error);
    k->dense.compliance = problem->compliance;
    problem = &k->dense;
  }
  k->original = problem;
  if (!status) status = list_nodes(k, problem, w, error);
  if (status) return status;
  double *vectors = SCRATCH(w, double, 12 * n + 1);
  k->D = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, n *SS_FRICTION_ROWS + 1);
  if (!vectors || !k->D) return out_of_memory(error);
  double *diagonal, *R;
  double **const arrays[] = {&diagonal, &k->scale, &k->c,      &R,        &k->a,    &k->slack,
                             &k->w,     &k->x,     &k->change, &k->shift, &k->none, &k->z};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = vectors + i * n;
  memset(k->none, 0, sizeof(double) * n);
  memset(k->shift, 0, sizeof(double) * n);
  if (bodies && !operator_diagonal(problem->factors, problem->n, diagonal, w)) return SS_OK;
  for (int i = 0; !bodies && i < problem->n; i++)
    diagonal[i] = sparse ? sparse_diagonal(&rows, i) : problem->G[(size_t)i * (n + 1)];
  set_scales(k, diagonal);
  status = scale_problem(k, w, error);
  if (status) return status;
  set_compliance(k, diagonal);
  for (size_t i = 0; i < n; i++) diagonal[i] *= k->scale[i] * k->scale[i];
  if (bodies && problem->factors->R.start) {
    k->R = R;
    for (int i = 0; i < problem->n; i++) R[i] = k->scale[i] * k->scale[i] * sparse_diagonal(&problem->factors->R, i);
  }
  if (bodies)
    status = body_system_create(problem->factors, &k->nodes, k->scale, most, w, &k->space, admitted, error);
  else if (sparse)
    status = sparse_system_create(problem, &rows, k->scale, most, w, &k->space, admitted, error);
  else if (!(status = scale_matrix(k, w, error)))
    status = range_system_create(&k->cp, &k->nodes, most, w, &k->space, admitted, error);
  if (status || !*admitted) return status;
  status = active_set_create_bare(&k->cp, diagonal, w, &k->set, error);
  if (status) return status;
  if (!create_proximal(&k->step, k->space.m, problem->n, w)) return out_of_memory(error);
  k->step.equations = &equations;
  k->step.user = k;
  k->step.cones = cones_admitted(&k->cp) && !sparse; /* F is no gradient there */
  memset(k->step.now.y, 0, sizeof(double) * (size_t)k->space.m);
  return SS_OK;
}

void compliant_anchor_zero(compliant *k) {
  memset(k->a, 0, sizeof(double) * (size_t)k->cp.n);
  memcpy(k->slack, k->cp.g, sizeof(double) * (size_t)k->cp.n);
}

/* The slack comes from the original problem. */
double compliant_anchor(compliant *k, const double *z) {
  const int n = k->cp.n;
  memmove(k->a, z, sizeof(double) * (size_t)n);
  compliant_finish(k, k->a, k->z);
  double residual = ss_cp_judge(k->original, k->z, k->slack);
  for (int i = 0; i < n; i++) {
    k->slack[i] *= k->scale[i] / k->amplitude;
    k->x[i] = k->a[i] - k->slack[i];
  }
  respond_by_coulomb(&k->set, k->x, k->none, &k->step.trial.z);
  for (int i = 0; i < n; i++) residual = fmax(residual, fabs(k->step.trial.z.z[i] - k->a[i]));
  memset(k->step.now.y, 0, sizeof(double) * (size_t)k->space.m);
  return residual;
}

void compliant_start(const compliant *k, const double *z) {
  for (int i = 0; i < k->cp.n; i++) k->z[i] = z[i] / (k->scale[i] * k->amplitude);
}

void compliant_finish(const compliant *k, const double *x, double *z) {
  for (int i = 0; i < k->cp.n; i++) z[i] = x[i] * k->scale[i] * k->amplitude;
}

double compliant_rounding(const compliant *k) { return 1e-15 * sqrt(k->space.m) * fmax(k->soft / k->eps, 1); }

void compliant_evaluate(compliant *k) { evaluate(k, COULOMB, &k->step.now); }

bool compliant_linearise(compliant *k, const double *z) {
  const int n = k->cp.n;
  prox_point *p = &k->step.now;
  /* states by the natural map at z, z0 = P(x0) */
  for (int i = 0; i < n; i++) k->z[i] = z[i] * k->scale[i] * k->amplitude;
  (void)ss_cp_judge(k->original, k->z, k->w);
  for (int i = 0; i < n; i++) k->x[i] = z[i] - k->scale[i] / k->amplitude * k->w[i];
  respond_by_coulomb(&k->set, k->x, k->none, &p->z);
  if (!factor(k, p->z.D)) return false;
  /* A y = J^T (z0 + D (x - x0) - a) with x = a' - (w_a + J y) / all */
  for (int q = 0; q < k->nodes.count; q++) {
    const int row = k->nodes.first[q], size = k->nodes.first[q + 1] - row;
    double dx[SS_FRICTION_ROWS];
    for (int j = 0; j < size; j++) {
      const double soft = k->eps * k->c[row + j], all = soft + (k->R ? k->R[row + j] : 0);
      dx[j] = soft / all * k->a[row + j] - k->slack[row + j] / all - k->x[row + j];
    }
    for (int i = 0; i < size; i++) {
      double sum = p->z.z[row + i] - k->a[row + i];
      for (int j = 0; j < size; j++) sum += p->z.D[row + i][j] * dx[j];
      k->change[row + i] = sum;
    }
  }
  k->space.load(k->space.user, k->change, p->y);
  k->space.solve(k->space.user, p->y);
  return true;
}

bool compliant_newton(compliant *k, double goal, bool shifted) {
  compliant_evaluate(k);
  return proximal_solve(&k->step, goal, shifted);
}
