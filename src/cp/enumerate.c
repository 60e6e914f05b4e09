/* Enumeration: every combination of states of the contacts is tried (active.c). Exact and complete for small problems
 * up to singular systems: where a combination has a continuum of solutions, one of them is reported. */
#include "cp/generated.h"
#include "cp/enumerate.h"

#include "cp/active.h"
#include "cp/dense.h"
#include "cp/reduce.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include <math.h>

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

ss_status enumerate_solutions(const ss_cp *problem, double tolerance, double most, ss_cp_workspace *w,
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
