/* Statements about the set of solutions, each with the reason that it rests on.
 *
 *   none      the free rows contradict each other; or a v >= 0 with M^T v <= 0 and q . v < 0 shows that no x >= 0 has
 *             M x + q >= 0 (Farkas). The ray on which Lemke's method ends is such a v where M is copositive-plus
 *             (Cottle, Pang & Stone, theorem 4.4.12), for other M it may be or not: it is checked, not believed. Or every
 *             combination of states was tried.
 *   one       G is positive definite, and there is no friction; M is a P-matrix, and no free row depends on others; or every combination of states was tried.
 *   several   two solutions were found, or one that is not isolated.
 *   at least one   one was found, and nothing is known about others.
 *
 * All of them hold up to rounding. */
#include "cp/solver.h"

#include "cp/active.h"
#include "la/dense.h"
#include "cp/pivoting.h"
#include "cp/reduce.h"
#include "cp/storage.h"

#include <math.h>

/* Tests of matrix classes.
 *
 *   definite     Cholesky's pivots of the symmetric part, the largest first.
 *   P            recursion of Tsatsomeros & Li (2000): M is P exactly where m_11 > 0, and the matrix without its first row
 *                and column and the Schur complement of m_11 are P. 2^n pivots on ever smaller matrices.
 *   copositive   every principal submatrix S of the symmetric part is looked at (Hadeler 1983): a smallest one that is
 *                not copositive has S^-1 <= 0, so that S u = -1 has a solution u >= 0, and u^T S u < 0 is the proof;
 *                a smallest one that is copositive but not strictly has S v = 0 with v > 0. 2^n small systems.
 *
 * What lies within rounding of a limit is not decided. */

enum { CLASS_LARGEST = 20 /* rows, for the tests whose cost is exponential */ };

static const double rounding = 1e-11;

static ss_answer positive(double x) { return x > rounding ? SS_YES : x < -rounding || x == 0 ? SS_NO : SS_UNKNOWN; }

/* M is n x n, row-major, with entries of order one; every answer allows for rounding. */
static ss_answer matrix_symmetric(const double *M, int n) {
  const size_t s = (size_t)n;
  double difference = 0, size = 0;
  for (size_t i = 0; i < s; i++)
    for (size_t j = 0; j < s; j++) {
      difference = fmax(difference, fabs(M[i * s + j] - M[j * s + i]));
      size = fmax(size, fabs(M[i * s + j]));
    }
  return difference <= rounding * size ? SS_YES : SS_NO;
}

static double *symmetric_part(const double *M, int n, ss_cp_workspace *w) {
  const size_t s = (size_t)n;
  double *S = SCRATCH(w, double, s *s);
  for (size_t i = 0; S && i < s; i++)
    for (size_t j = 0; j < s; j++) S[i * s + j] = (M[i * s + j] + M[j * s + i]) / 2;
  return S;
}

static void swap_symmetric(double *S, int n, int a, int b) {
  for (int j = 0; j < n; j++) {
    const double x = S[a * n + j];
    S[a * n + j] = S[b * n + j];
    S[b * n + j] = x;
  }
  for (int i = 0; i < n; i++) {
    const double x = S[i * n + a];
    S[i * n + a] = S[i * n + b];
    S[i * n + b] = x;
  }
}

/* What is left when no diagonal entry exceeds rounding: zero for a semi-definite matrix. */
static bool vanished(const double *S, int n, int k) {
  double largest = 0;
  for (int i = k; i < n; i++)
    for (int j = k; j < n; j++) largest = fmax(largest, fabs(S[i * n + j]));
  return largest <= n * rounding;
}

/* x^T M x > 0, >= 0 for x != 0. A matrix that is singular within rounding is semi-definite, not definite. */
static ss_status matrix_definite(const double *M, int n, ss_cp_workspace *w, ss_answer *definite,
                                 ss_answer *semidefinite, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  double *S = symmetric_part(M, n, w);
  if (!S) return out_of_memory(error);
  *definite = *semidefinite = SS_YES;
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (S[i * n + i] > S[best * n + best]) best = i;
    if (!(S[best * n + best] > rounding)) {
      *definite = SS_NO;
      *semidefinite = vanished(S, n, k) ? SS_YES : SS_NO;
      break;
    }
    swap_symmetric(S, n, k, best);
    for (int i = k + 1; i < n; i++) {
      const double f = S[i * n + k] / S[k * n + k];
      for (int j = k + 1; j < n; j++) S[i * n + j] -= f * S[k * n + j];
    }
  }
  scratch_release(w, mark);
  return SS_OK;
}

/* `space` has room for all the Schur complements on the way down. */
static ss_answer p_recursion(const double *M, int n, int stride, double *space) {
  if (n == 0) return SS_YES;
  const ss_answer first = positive(M[0]);
  if (first != SS_YES) return first;
  const ss_answer without = p_recursion(M + stride + 1, n - 1, stride, space);
  if (without == SS_NO) return SS_NO;
  for (int i = 1; i < n; i++) {
    const double f = M[i * stride] / M[0];
    for (int j = 1; j < n; j++) space[(i - 1) * (n - 1) + j - 1] = M[i * stride + j] - f * M[j];
  }
  const ss_answer schur = p_recursion(space, n - 1, n - 1, space + (ptrdiff_t)(n - 1) * (n - 1));
  return schur == SS_YES ? without : schur;
}

/* All principal minors are positive. Unknown above CLASS_LARGEST rows. */
static ss_status matrix_p(const double *M, int n, ss_cp_workspace *w, ss_answer *p, ss_error *error) {
  *p = SS_UNKNOWN;
  for (int i = 0; i < n; i++)
    if (positive(M[(size_t)i * ((size_t)n + 1)]) == SS_NO) *p = SS_NO;
  if (n > CLASS_LARGEST || *p == SS_NO) return SS_OK;
  const scratch_mark mark = scratch_now(w);
  double *space = SCRATCH(w, double, n *n *n);
  if (!space) return out_of_memory(error);
  *p = p_recursion(M, n, n, space);
  scratch_release(w, mark);
  return SS_OK;
}

typedef struct subset {
  int k, at[CLASS_LARGEST];
  double A[CLASS_LARGEST * (CLASS_LARGEST + 1)], u[CLASS_LARGEST]; /* S u = -1 */
  int row[CLASS_LARGEST], col[CLASS_LARGEST];
} subset;

/* A multiple of u that is nowhere negative exists: true, and u is it. */
static bool one_sign(double *u, int k) {
  double sum = 0, size = 0;
  for (int i = 0; i < k; i++) {
    sum += u[i];
    size = fmax(size, fabs(u[i]));
  }
  for (int i = 0; i < k; i++) {
    u[i] = sum < 0 ? -u[i] / size : u[i] / size;
    if (!(u[i] >= -rounding)) return false;
  }
  return size > 0;
}

static double quadratic_form(const double *S, int n, const subset *s) {
  double sum = 0;
  for (int i = 0; i < s->k; i++)
    for (int j = 0; j < s->k; j++) sum += s->u[i] * S[s->at[i] * n + s->at[j]] * s->u[j];
  return sum;
}

/* A vector on this face that spoils copositivity, or strictness: lowers the answers. */
static void look_at_face(const double *S, int n, subset *s, ss_answer *copositive, ss_answer *strictly) {
  const int k = s->k, stride = k + 1;
  for (int i = 0; i < k; i++) {
    for (int j = 0; j < k; j++) s->A[i * stride + j] = S[s->at[i] * n + s->at[j]];
    s->A[i * stride + k] = -1;
  }
  const int rank = dense_eliminate(s->A, k, stride, stride, k, rounding, s->row, s->col);
  if (rank < k - 1) return; /* a smaller face tells */
  double x[CLASS_LARGEST];
  for (int i = 0; i < rank; i++) x[i] = rank < k ? -s->A[i * stride + rank] : s->A[i * stride + k];
  dense_back(s->A, stride, rank, x);
  if (rank < k) x[rank] = 1;
  for (int i = 0; i < k; i++) s->u[s->col[i]] = x[i];
  if (!one_sign(s->u, k)) return;
  const double form = quadratic_form(S, n, s);
  if (form < -n * rounding) {
    *copositive = *strictly = SS_NO;
  } else if (form <= n * rounding) {
    if (rank < k) *strictly = fabs(form) <= 1e-3 * rounding ? SS_NO : SS_UNKNOWN;
    if (rank == k && form < 0) *copositive = *strictly = SS_UNKNOWN;
  }
}

/* A diagonal entry or a pair of rows that says no at any size. */
static bool two_rows_say_no(const double *S, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      const double a = S[(size_t)i * ((size_t)n + 1)], b = S[(size_t)j * ((size_t)n + 1)];
      const double c = S[(size_t)i * (size_t)n + (size_t)j];
      if (a < -rounding || (c < 0 && c * c > a * b + rounding)) return true;
    }
  return false;
}

/* x^T M x >= 0, > 0 for x >= 0, x != 0. Unknown above CLASS_LARGEST rows, unless two rows say no. */
static ss_status matrix_copositive(const double *M, int n, ss_cp_workspace *w, ss_answer *copositive,
                                   ss_answer *strictly, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  const double *S = symmetric_part(M, n, w);
  if (!S) return out_of_memory(error);
  const bool no = two_rows_say_no(S, n);
  *copositive = *strictly = no ? SS_NO : n > CLASS_LARGEST ? SS_UNKNOWN : SS_YES;
  if (*copositive == SS_YES) {
    subset s;
    for (long set = 1; set < 1L << n && *copositive != SS_NO; set++) {
      s.k = 0;
      for (int i = 0; i < n; i++)
        if (set >> i & 1) s.at[s.k++] = i;
      look_at_face(S, n, &s, copositive, strictly);
    }
  }
  scratch_release(w, mark);
  return SS_OK;
}

/* Enumeration: every combination of states of the contacts is tried (active.c). Exact and complete for small problems
 * up to singular systems: where a combination has a continuum of solutions, one of them is reported. */

enum { ENUMERATION_LARGEST = 1 << 20 /* combinations of states */ };

typedef struct enumeration {
  double combinations; /* of the states of all contacts; infinite for discs */
  int count;           /* solutions found; of a continuum only some */
  int undecided;       /* singular combinations that may hold solutions which were not found */
  bool continuum;      /* some solution is not isolated */
  bool same_w;         /* all solutions found have the same w */
} enumeration;

static const double largest_rung = 1 << 14; /* combinations, for the solver */
static const double same_solution = 1e-7;
static const double contradiction = 1e-9; /* relative size of a leftover equation that cannot hold */

static double combinations(const active_set *a) {
  double count = 1;
  for (int k = 0; k < a->n_sites; k++) {
    const int states = site_end_state(&a->sites[k]) - site_first_state(&a->sites[k]);
    count *= states ? states : HUGE_VAL;
  }
  return count;
}

static void begin(active_set *a) {
  for (int k = 0; k < a->n_sites; k++) a->sites[k].state = site_first_state(&a->sites[k]);
}

/* The next combination, like an odometer; false after the last one. */
static bool advance(active_set *a) {
  for (int k = 0; k < a->n_sites; k++) {
    site *s = &a->sites[k];
    if (++s->state < site_end_state(s)) return true;
    s->state = site_first_state(s);
  }
  return false;
}

/* Solves for the present combination from z = 0 and returns the judge's residual. */
static double try_states(active_set *a, double *z) {
  const ss_cp *problem = a->problem;
  for (int i = 0; i < problem->n; i++) z[i] = 0;
  return active_set_solve(a, z, problem->g) ? ss_cp_judge(problem, z, NULL) : HUGE_VAL;
}

typedef struct solution {
  struct solution *next;
  double *z, *w;
} solution;

static double distance(const double *a, const double *b, int n) {
  double difference = 0;
  for (int i = 0; i < n; i++) difference = fmax(difference, fabs(a[i] - b[i]));
  return difference;
}

static double size_of(const double *a, int n) {
  double size = 0;
  for (int i = 0; i < n; i++) size = fmax(size, fabs(a[i]));
  return size;
}

typedef struct collector {
  active_set *a;
  double tolerance;
  solution *list;
  double *z, *direction, *change; /* [n]; change = G direction */
  enumeration *out;
} collector;

static bool known(const collector *c, const double *z) {
  const int n = c->a->problem->n;
  for (const solution *s = c->list; s; s = s->next)
    if (distance(z, s->z, n) <= same_solution * size_of(z, n)) return true;
  return false;
}

/* A direction of z in which the equations of the last combination do not change: that of its undetermined unknown k. */
static void undetermined(collector *c, int k) {
  const active_set *a = c->a;
  const size_t n = (size_t)a->problem->n, stride = (size_t)a->unknowns + 1;
  for (int i = 0; i < a->rank; i++) a->y[i] = -a->A[(size_t)i * stride + (size_t)k];
  dense_back(a->A, (int)stride, a->rank, a->y);
  for (size_t i = 0; i < n; i++) c->direction[i] = 0;
  for (int i = 0; i <= a->rank; i++) {
    const unknown *u = &a->u[a->col[i < a->rank ? i : k]];
    const double y = u->scale * (i < a->rank ? a->y[i] : 1);
    for (int j = 0; j < u->size; j++) c->direction[u->first + j] += u->b[j] * y;
  }
  for (size_t i = 0; i < n; i++) {
    c->change[i] = 0;
    for (size_t j = 0; j < n; j++) c->change[i] += a->problem->G[i * n + j] * c->direction[j];
  }
}

/* The equations that are left over contradict each other: nothing of this combination is a solution. */
static bool contradictory(const active_set *a) {
  const size_t stride = (size_t)a->unknowns + 1;
  for (int k = a->rank; k < a->unknowns; k++)
    if (fabs(a->A[(size_t)k * stride + stride - 1]) > contradiction * a->load) return true;
  return false;
}

/* Only multipliers of free rows are undetermined, and they change nothing: the verdict holds for all of them. */
static bool harmless(const collector *c) {
  const ss_cp *problem = c->a->problem;
  const double small = 1e-9 * size_of(c->direction, problem->n);
  for (int b = 0; b < problem->n_blocks; b++)
    for (int i = problem->blocks[b].first; i < problem->blocks[b].first + problem->blocks[b].size; i++)
      if (fabs(c->change[i]) > small || (!block_is_free(&problem->blocks[b]) && fabs(c->direction[i]) > small))
        return false;
  return true;
}

/* The residual at z + t direction; that point is left in c->change. */
static double at(collector *c, const double *z, double t) {
  for (int i = 0; i < c->a->problem->n; i++) c->change[i] = z[i] + t * c->direction[i];
  return ss_cp_judge(c->a->problem, c->change, NULL);
}

/* A step along the direction, either way, is a solution too. */
static bool goes_on(collector *c, const double *z) {
  const int n = c->a->problem->n;
  const double step = 1e-2 * (1 + size_of(z, n)) / size_of(c->direction, n);
  return at(c, z, step) <= c->tolerance || at(c, z, -step) <= c->tolerance;
}

/* The combination's solutions lie on one line, on which its equations hold; by how much its inequalities fail is a convex
 * function there. Moves c->z to its minimum and returns true where that is a solution. */
static bool search_line(collector *c) {
  const int n = c->a->problem->n;
  double reach = (1 + size_of(c->z, n)) / size_of(c->direction, n), low, high;
  for (int k = 0;
       k < 40 && (at(c, c->z, reach) < at(c, c->z, reach / 2) || at(c, c->z, -reach) < at(c, c->z, -reach / 2)); k++)
    reach *= 2;
  low = -reach;
  high = reach;
  for (int k = 0; k < 200; k++) {
    const double a = low + (high - low) * 0.4, b = low + (high - low) * 0.6;
    if (at(c, c->z, a) < at(c, c->z, b))
      high = b;
    else
      low = a;
  }
  if (!(at(c, c->z, (low + high) / 2) <= c->tolerance)) return false;
  for (int i = 0; i < n; i++) c->z[i] = c->change[i];
  return true;
}

/* What a singular combination leaves open: whether its solutions are a continuum, or whether it has any. Returns whether
 * c->z is one. */
static bool look_at_the_rest(collector *c, bool solved) {
  const active_set *a = c->a;
  if (!solved && contradictory(a)) return false;
  int open = -1, count = 0;
  for (int k = a->rank; k < a->unknowns; k++) {
    undetermined(c, k);
    if (solved && !c->out->continuum) c->out->continuum = goes_on(c, c->z);
    if (solved || harmless(c)) continue;
    open = k;
    count++;
  }
  if (count > 1) c->out->undecided++;
  if (count != 1) return solved;
  undetermined(c, open);
  if (!search_line(c)) return false;
  if (!c->out->continuum) c->out->continuum = goes_on(c, c->z);
  return true;
}

/* Compares a new solution with those before: the same w, and a segment of solutions between them? */
static void compare(collector *c, const solution *s) {
  const ss_cp *problem = c->a->problem;
  const int n = problem->n;
  for (const solution *o = c->list; o; o = o->next) {
    if (distance(s->w, o->w, n) > 1e-6 * (1 + size_of(problem->g, n))) c->out->same_w = false;
    for (int i = 0; i < n; i++) c->change[i] = (s->z[i] + o->z[i]) / 2;
    if (ss_cp_judge(problem, c->change, NULL) <= c->tolerance) c->out->continuum = true;
  }
}

static ss_status keep(collector *c, ss_cp_workspace *w, ss_error *error) {
  const int n = c->a->problem->n;
  solution *s = SCRATCH(w, solution, 1);
  double *own = SCRATCH(w, double, 2 * (size_t)n);
  if (!s || !own) return out_of_memory(error);
  *s = (solution){c->list, own, own + n};
  for (int i = 0; i < n; i++) s->z[i] = c->z[i];
  (void)ss_cp_judge(c->a->problem, s->z, s->w);
  compare(c, s);
  c->list = s;
  c->out->count++;
  return SS_OK;
}

/* Above `most` combinations nothing is tried: the caller compares. `found` may be NULL. */
static ss_status enumerate_solutions(const ss_cp *problem, double tolerance, double most, ss_cp_workspace *w,
                                     ss_cp_found found, void *user, enumeration *out, ss_error *error) {
  active_set a;
  *out = (enumeration){.same_w = true};
  const scratch_mark mark = scratch_now(w);
  ss_status status = active_set_create(problem, w, &a, error);
  collector c = {.a = &a, .tolerance = tolerance, .out = out};
  c.z = status ? NULL : SCRATCH(w, double, 3 * (size_t)problem->n);
  if (!c.z) return status ? status : out_of_memory(error);
  c.direction = c.z + problem->n;
  c.change = c.direction + problem->n;
  out->combinations = combinations(&a);
  begin(&a);
  if (out->combinations <= most) do {
      bool solved = try_states(&a, c.z) <= tolerance;
      if (a.rank < a.unknowns) solved = look_at_the_rest(&c, solved);
      if (!solved || known(&c, c.z)) continue;
      status = keep(&c, w, error);
      if (!status && found) found(user, c.z);
    } while (!status && advance(&a));
  scratch_release(w, mark);
  return status;
}

ss_status ss_cp_all_solutions(const ss_cp *problem, double tolerance, ss_cp_workspace *workspace, ss_cp_found found,
                              void *user, int *count, ss_error *error) {
  enumeration e = {.combinations = HUGE_VAL};
  ss_cp dense = *problem;
  *count = 0;
  if (has_generated(problem))
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "friction sets given by corners have no enumeration of all solutions");
  const scratch_mark mark = scratch_now(workspace);
  ss_status status = SS_OK;
  if (!problem->G && problem->n <= SS_CP_DENSE_ROWS) status = storage_dense(problem, workspace, &dense, error);
  if (!status && (dense.G || !dense.n))
    status = enumerate_solutions(&dense, tolerance, ENUMERATION_LARGEST, workspace, found, user, &e, error);
  scratch_release(workspace, mark);
  *count = e.count;
  if (!status && e.combinations > ENUMERATION_LARGEST)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "too large for an enumeration of all solutions");
  return status;
}

ss_status solve_enumeration(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                            ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  active_set a;
  const scratch_mark mark = scratch_now(workspace);
  const ss_status status = active_set_create(problem, workspace, &a, error);
  double *trial = status ? NULL : SCRATCH(workspace, double, problem->n);
  if (!trial) return status ? status : out_of_memory(error);
  result->outcome = combinations(&a) > largest_rung ? SS_NOT_ADMITTED : SS_RAY;
  double best = HUGE_VAL;
  begin(&a);
  if (result->outcome == SS_RAY) do {
      const double residual = try_states(&a, trial);
      result->iterations++;
      if (residual < best) {
        best = residual;
        for (int i = 0; i < problem->n; i++) z[i] = trial[i];
      }
      if (residual <= options->tolerance) result->outcome = SS_SOLVED;
    } while (result->outcome == SS_RAY && advance(&a));
  scratch_release(workspace, mark);
  return SS_OK;
}

static const double rank_tolerance = 1e-12, proof = 1e-9;

typedef struct examination {
  const ss_cp *problem;
  double tolerance;
  int effort; /* combinations */
  ss_cp_workspace *w;
  ss_cp_diagnosis *out;
  bool has_lcp, contradiction, dependent; /* free rows that contradict or depend on each other */
} examination;

static void conclude(ss_cp_diagnosis *d, ss_solution_set set, const char *reason) {
  d->solutions = set;
  d->reason = reason;
}

static ss_status classify_matrix(examination *e, ss_error *error) {
  const size_t n = (size_t)e->problem->n;
  double *S = SCRATCH(e->w, double, n *n), *scale = SCRATCH(e->w, double, 2 * n);
  if (!S || !scale) return out_of_memory(error);
  if (n) dense_scales(e->problem->G, (int)n, (int)n, scale, scale + n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) S[i * n + j] = scale[i] * e->problem->G[i * n + j] * scale[j];
  e->out->symmetric = matrix_symmetric(e->problem->G, (int)n);
  return matrix_definite(S, (int)n, e->w, &e->out->positive_definite, &e->out->positive_semidefinite, error);
}

/* Free rows that were not eliminated and have no part in the contacts: 0 z = g must hold. */
static void look_at_free_rows(examination *e, const reduction *r) {
  const size_t stride = (size_t)r->stride;
  double size = 0;
  for (int i = 0; i < e->problem->n; i++) size = fmax(size, fabs(r->scale[i] * e->problem->g[r->order[i]]));
  e->dependent = r->rest > r->rank;
  for (int i = r->rank; i < r->rest; i++)
    if (fabs(r->A[(size_t)i * stride + stride - 1]) > proof * size) e->contradiction = true;
}

/* Congruence with the reduced matrix and entries mu >= 0 beside it: friction leaves a semi-definite matrix copositive. */
static ss_status copositive_by_structure(examination *e, const reduction *r, ss_error *error) {
  const size_t rows = (size_t)(e->problem->n - r->rest);
  double *S = SCRATCH(e->w, double, rows *rows);
  if (!S) return out_of_memory(error);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < rows; j++)
      S[i * rows + j] = r->A[((size_t)r->rest + i) * (size_t)r->stride + (size_t)r->rest + j];
  ss_answer definite, semidefinite;
  const ss_status status = matrix_definite(S, (int)rows, e->w, &definite, &semidefinite, error);
  if (semidefinite == SS_YES) e->out->copositive = SS_YES;
  return status;
}

static ss_status classify_lcp(examination *e, const reduction *r, const lcp *l, ss_error *error) {
  ss_cp_diagnosis *d = e->out;
  d->variables = l->n;
  ss_status status = SS_OK;
  if (l->n < 31 && 1 << l->n <= e->effort) {
    status = matrix_p(l->M, l->n, e->w, &d->p, error);
    if (!status) status = matrix_copositive(l->M, l->n, e->w, &d->copositive, &d->strictly_copositive, error);
  }
  if (!status && d->copositive == SS_UNKNOWN) status = copositive_by_structure(e, r, error);
  if (d->p == SS_YES && !e->dependent && d->solutions == SS_SET_UNKNOWN) conclude(d, SS_SET_ONE, "the matrix is P");
  return status;
}

static ss_status follow_lemke(examination *e, const lcp *l, ss_error *error) {
  double *x = SCRATCH(e->w, double, 2 * (size_t)l->n);
  if (!x) return out_of_memory(error);
  int taken;
  ss_outcome outcome;
  double *ray = x + l->n;
  const ss_status status = lemke(l, NULL, 2000 + 50 * l->n, x, ray, e->w, &outcome, &taken, error);
  if (status) return status;
  e->out->ray = outcome == SS_RAY;
  if (e->out->ray && lcp_infeasible(l, ray, e->w))
    conclude(e->out, SS_SET_NONE, "the ray shows that the inequalities contradict each other");
  return SS_OK;
}

static ss_status examine_lcp(examination *e, ss_error *error) {
  reduction r;
  lcp l;
  ss_status status = reduce_free_rows(e->problem, rank_tolerance, e->w, &r, error);
  if (!status) look_at_free_rows(e, &r);
  if (status || !e->has_lcp) return status;
  status = expand_to_lcp(&r, e->w, &l, error);
  if (!status) status = classify_lcp(e, &r, &l, error);
  if (!status) status = follow_lemke(e, &l, error);
  if (e->contradiction) conclude(e->out, SS_SET_NONE, "the free rows contradict each other");
  return status;
}

static ss_status try_combinations(examination *e, ss_error *error) {
  enumeration all;
  ss_cp_diagnosis *d = e->out;
  const ss_status status = enumerate_solutions(e->problem, e->tolerance, e->effort, e->w, NULL, NULL, &all, error);
  if (status || all.combinations > e->effort) return status;
  d->found = all.count;
  d->continuum = all.continuum;
  d->same_w = all.same_w && all.count > 0;
  if (all.count > 1 || all.continuum)
    conclude(d, SS_SET_SEVERAL, all.continuum ? "a continuum of solutions was found" : "several were found");
  else if (all.count == 1 && d->solutions != SS_SET_ONE)
    conclude(d, all.undecided ? SS_SET_SOME : SS_SET_ONE,
             all.undecided ? "one was found; some combinations of states are undecided"
                           : "all combinations of states were tried");
  else if (all.count == 0 && !all.undecided && d->solutions == SS_SET_UNKNOWN)
    conclude(d, SS_SET_NONE, "all combinations of states were tried");
  return SS_OK;
}

/* "auto" has the last word on existence: a z that the judge accepts is a solution. */
static ss_status solve_once(examination *e, ss_error *error) {
  static const double near = 1e-6;
  double *z = SCRATCH(e->w, double, e->problem->n);
  if (!z) return out_of_memory(error);
  ss_cp_options options = ss_cp_options_default();
  options.tolerance = e->tolerance;
  ss_cp_result result;
  const ss_status status = ss_cp_solve(e->problem, &options, false, z, e->w, &result, error);
  if (!status && result.outcome == SS_SOLVED && e->out->solutions <= SS_SET_NONE)
    conclude(e->out, SS_SET_SOME, "one was found");
  else if (!status && result.no_solution && e->out->solutions == SS_SET_UNKNOWN)
    conclude(e->out, SS_SET_NONE, "a ray shows that the inequalities contradict each other");
  else if (!status && result.outcome == SS_STALLED && result.residual < near && e->out->solutions == SS_SET_UNKNOWN)
    e->out->reason = "what was found is one but for rounding errors of its large impulses";
  return status;
}

/* Everything that looks at the matrix. */
static ss_status examine(examination *e, ss_error *error) {
  ss_status status = classify_matrix(e, error);
  if (e->out->positive_definite == SS_YES && !has_friction(e->problem))
    conclude(e->out, SS_SET_ONE, "the matrix is positive definite");
  if (!status) status = examine_lcp(e, error);
  return status ? status : try_combinations(e, error);
}

ss_status ss_cp_diagnose(const ss_cp *problem, double tolerance, int effort, ss_cp_workspace *workspace,
                         ss_cp_diagnosis *out, ss_error *error) {
  *out = (ss_cp_diagnosis){.found = -1, .reason = "nothing was found, nothing was proved"};
  ss_cp dense;
  examination e = {.problem = problem, .tolerance = tolerance, .w = workspace, .out = out};
  e.effort = effort > 0 && effort < ENUMERATION_LARGEST ? effort : ENUMERATION_LARGEST;
  e.has_lcp = !has_disc(problem);
  const scratch_mark mark = scratch_now(workspace);
  const bool large = !problem->G && problem->n > SS_CP_DENSE_ROWS;
  ss_status status = problem->G || large ? SS_OK : storage_dense(problem, workspace, &dense, error);
  if (!status && !large && !has_generated(problem)) {
    e.problem = problem->G ? problem : &dense;
    status = examine(&e, error);
  }
  if (!status && out->solutions <= SS_SET_NONE) status = solve_once(&e, error);
  scratch_release(workspace, mark);
  return status;
}
