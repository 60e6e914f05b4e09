/* Multiple shooting: the duration is divided into segments of whole steps, the states x_1 .. x_(N-1) at which they begin
 * are unknown too, and Newton's method makes them fit:
 *
 *     x_1 = Phi_0(u),   x_(k+1) = Phi_k(x_k),   c(u, Phi_(N-1)(x_(N-1))) = 0
 *
 * Errors grow over a segment only, not over the whole duration, and the states in between can be guessed: motions are
 * found that a single shot loses on the way (unstable equilibria, many bounces).
 *
 * The matrix is block-bidiagonal. The segments are eliminated from the last to the first: x_k occurs in the conditions
 * and in one matching equation,
 *
 *     [  1   -A_(k-1)   0 ] [x_k]
 *     [ C_k      0      M ] [x_(k-1), u],
 *
 * reflections clear the column of x_k, and what is left of the second line are conditions on x_(k-1) and u. Orthogonal
 * elimination does not multiply the A_k with each other, so that growing modes do no harm. The last step is a least-squares
 * problem for u, as there may be more conditions than unknowns. Steps are shortened until the next step, with the same
 * matrix, would be shorter than this one (Deuflhard's natural monotonicity test): residuals themselves may well rise,
 * because growing modes weigh them.
 *
 * Fails where the line search finds no descent (a jump of the map: another number of bounces), or a segment's run is not
 * certified. Contacts may come and go at a knot: which ones there are is taken over from the segment before. */
#include "bvp/bvp.h"
#include "bvp/knot.h"
#include "la/householder.h"

#include <string.h>

enum { MOST_ITERATIONS = 40, MOST_HALVINGS = 14 };
static const double diverged = 1e3; /* times the first misfit */

typedef struct trajectory {
  double *u;      /* [n] */
  ss_state *knot; /* [segments] where each begins; the first is the scene's own */
  ss_state *end;  /* [segments] where each ends */
  double *f;      /* [m] conditions */
  double measure; /* sum of squares of f and of all mismatches */
  double worst;   /* largest of them */
} trajectory;

typedef struct multiple {
  ss_shooting *s;
  ss_arena *arena;
  ss_model *model; /* of the scene as it was given: all but the first segment run on it */
  ss_sim *sim;
  int segments;
  long *first; /* [segments + 1] step at which each begins */
  trajectory now, trial;
  ss_state moved, moved_end; /* for differences */
} multiple;

/* What Newton's method knows at an iterate: derivatives of the segments. */
typedef struct derivatives {
  double **map; /* [segments + 1] map[k]: A_(k-1), outputs x inputs; the last one's outputs are the conditions */
} derivatives;

/* A step: increments of u and of each knot. */
typedef struct increments {
  double *u;  /* [n] */
  double **x; /* [segments] x[k], k >= 1 */
} increments;

/* The lines of x_k while it is eliminated, columns: x_k, x_(k-1) (none for k = 1), u, right side. */
typedef struct block {
  int size, previous, columns;
  double *a; /* [size + m][columns] */
} block;

static bool failed(multiple *w, ss_status status) {
  if (status != SS_OK && status != SS_ERROR_UNCERTIFIED) w->s->status = status;
  return status != SS_OK;
}

static bool no_memory(multiple *w) {
  (void)ss_fail(&w->s->error, SS_ERROR_MEMORY, "out of memory");
  w->s->status = SS_ERROR_MEMORY;
  return false;
}

/* ---- segments ---- */

static ss_status advance(ss_sim *sim, long until, ss_error *error) {
  ss_status status = SS_OK;
  while (status == SS_OK && sim->state.step < until) status = ss_sim_step(sim, error);
  return status;
}

/* Runs segment k from the knot (k = 0: from u); leaves its end, and for the last one the conditions. */
static bool fly(multiple *w, int k, const double *u, const ss_state *knot, ss_state *end, double *f) {
  ss_shooting *s = w->s;
  ss_model *model = NULL;
  ss_sim *sim = w->sim;
  ss_status status = SS_OK;
  ss_bvp_apply(&s->scene, u);
  if (k == 0) {
    sim = NULL;
    s->simulations++;
    status = ss_model_create(&s->scene, &model, &s->error);
    if (status == SS_OK) status = ss_sim_create(model, &s->options, &sim, &s->error);
  } else {
    status = ss_knot_install(knot, w->first[k], sim, &s->error);
  }
  if (status == SS_OK) status = advance(sim, w->first[k + 1], &s->error);
  if (status == SS_OK) status = ss_knot_copy(w->model, &sim->state, end, &s->error);
  if (status == SS_OK && k == w->segments - 1) ss_shooting_conditions(s, sim, f);
  if (k == 0) {
    ss_sim_destroy(sim);
    ss_model_destroy(model);
  }
  return !failed(w, status);
}

static void add_measure(trajectory *t, const double *x, int n) {
  for (int i = 0; i < n; i++) {
    t->measure += x[i] * x[i];
    t->worst = fmax(t->worst, isfinite(x[i]) ? fabs(x[i]) : (double)INFINITY);
  }
}

/* Flies all segments and measures how well they fit. */
static bool evaluate(multiple *w, trajectory *t) {
  t->measure = t->worst = 0;
  for (int k = 0; k < w->segments; k++) {
    if (!fly(w, k, t->u, &t->knot[k], &t->end[k], t->f)) return false;
    if (k + 1 == w->segments) break;
    if (failed(w, ss_knot_retract(w->model, &t->knot[k + 1], &t->end[k], &w->s->error))) return false;
    const int size = ss_knot_size(w->model, &t->knot[k + 1]);
    double *d = ss_alloc(sizeof(double) * (size_t)size);
    if (!d) return no_memory(w);
    ss_knot_difference(w->model, &t->knot[k + 1], &t->end[k], d);
    add_measure(t, d, size);
    ss_free(d);
  }
  add_measure(t, t->f, w->s->m);
  return isfinite(t->measure);
}

/* Contacts at the knots are those at the ends before them. */
static bool refresh(multiple *w, trajectory *t) {
  for (int k = 1; k < w->segments; k++)
    if (failed(w, ss_knot_refresh(w->model, &t->knot[k], &t->end[k - 1], &w->s->error))) return false;
  return true;
}

/* ---- guesses ---- */

/* The states of a run with u, as far as it gets; then the last one. */
static bool guess_by_run(multiple *w) {
  trajectory *t = &w->now;
  for (int k = 0; k + 1 < w->segments; k++)
    if (!fly(w, k, t->u, &t->knot[k], &t->knot[k + 1], t->f) &&
        (w->s->status != SS_OK || failed(w, ss_knot_copy(w->model, &t->knot[k], &t->knot[k + 1], &w->s->error))))
      return false;
  return true;
}

/* The increments of the final positions with the least norm for which the conditions hold, from the initial state at
 * rest: the conditions are met in turn, again and again (Kaczmarz). */
static void least_change(const multiple *w, double *target) {
  const ss_boundary_def *b = w->s->boundary;
  memset(target, 0, sizeof(double) * 6 * (size_t)w->model->n_bodies);
  for (int sweep = 0; sweep < 200; sweep++)
    for (int i = 0; i < b->n_conditions; i++) {
      const ss_condition_def *c = &b->conditions[i];
      double rest = c->value, norm = 0;
      for (int k = 0; k < c->n; k++) {
        const ss_quantity *q = &c->quantities[k];
        if (!q->final || q->coordinate >= SS_VELOCITY) continue;
        const ss_body_def *body = &w->s->scene.bodies[q->body];
        const int axis = q->coordinate % 3;
        const double start = q->coordinate < SS_ROTATION ? v3_get(body->pose.position, axis)
                                                         : v3_get(quat_log(body->pose.orientation), axis);
        rest -= c->factors[k] * (start + target[6 * q->body + q->coordinate]);
        norm += c->factors[k] * c->factors[k];
      }
      for (int k = 0; norm > 0 && k < c->n; k++) {
        const ss_quantity *q = &c->quantities[k];
        if (q->final && q->coordinate < SS_VELOCITY) target[6 * q->body + q->coordinate] += c->factors[k] * rest / norm;
      }
    }
}

/* States on the way from the initial position to one that meets the conditions, at constant speed; the
 * first evaluation puts them back on the joints. */
static bool guess_between(multiple *w) {
  const ss_model *model = w->model;
  double *target = ss_alloc(sizeof(double) * (6 * (size_t)model->n_bodies + 2 * (size_t)model->n_v));
  if (!target) return no_memory(w);
  double *way = target + (ptrdiff_t)6 * model->n_bodies;
  least_change(w, target);
  for (int body = 0; body < model->n_bodies; body++) {
    const ss_body *b = &model->bodies[body];
    for (int i = 0; i < b->n; i++) way[b->first + i] = target[6 * body + b->coordinate[i]];
  }
  bool good = true;
  for (int k = 1; k < w->segments && good; k++) {
    ss_state *knot = &w->now.knot[k];
    good = !failed(w, ss_knot_copy(model, &w->now.knot[0], knot, &w->s->error));
    if (!good) break;
    ss_knot_move(model, knot, way, (double)w->first[k] / (double)w->first[w->segments]);
    for (int i = 0; i < model->n_v; i++) knot->v[i] = way[i] / w->s->options.duration;
  }
  ss_free(target);
  return good;
}

/* ---- derivatives ---- */

/* End of segment k - 1 in the coordinates of knot k; the conditions for k = segments. */
static void output(const multiple *w, int k, const ss_state *end, const double *f, double *out) {
  if (k == w->segments)
    memcpy(out, f, sizeof(double) * (size_t)w->s->m);
  else
    ss_knot_difference(w->model, &w->now.knot[k], end, out);
}

static int outputs(const multiple *w, int k) {
  return k == w->segments ? w->s->m : ss_knot_size(w->model, &w->now.knot[k]);
}

static int inputs(const multiple *w, int k) { return k == 1 ? w->s->n : ss_knot_size(w->model, &w->now.knot[k - 1]); }

/* Moves coordinate j of the start of segment k - 1 and flies it again; the size of the move, 0 where that failed. */
static double disturb(multiple *w, int k, int j, double *u, double *unit, double *f) {
  ss_shooting *s = w->s;
  const ss_state *knot = &w->now.knot[k - 1];
  double step = 1e-7 * (1 + (k == 1 ? fabs(w->now.u[j]) : 0));
  memcpy(u, w->now.u, sizeof(double) * (size_t)s->n);
  if (k == 1) {
    u[j] += step;
  } else {
    step = ss_knot_increment(w->model, knot, j);
    if (failed(w, ss_knot_copy(w->model, knot, &w->moved, &s->error))) return 0;
    unit[j] = 1;
    ss_knot_move(w->model, &w->moved, unit, step);
    unit[j] = 0;
  }
  return fly(w, k - 1, u, &w->moved, &w->moved_end, f) ? step : 0;
}

/* Forward differences of segment k - 1; out [outputs][inputs]. */
static bool differentiate(multiple *w, int k, double *out) {
  const int m = outputs(w, k), n = inputs(w, k);
  double *base = ss_alloc(sizeof(double) * (2 * (size_t)m + (size_t)n + (size_t)w->s->n + (size_t)w->s->m));
  if (!base) return no_memory(w);
  double *moved = base + m, *unit = moved + m, *u = unit + n, *f = u + w->s->n, step = 1;
  output(w, k, &w->now.end[k - 1], w->now.f, base);
  for (int j = 0; j < n && step > 0; j++) {
    step = disturb(w, k, j, u, unit, f);
    if (!(step > 0)) break;
    output(w, k, &w->moved_end, f, moved);
    for (int i = 0; i < m; i++) out[(ptrdiff_t)i * n + j] = (moved[i] - base[i]) / step;
  }
  ss_bvp_apply(&w->s->scene, w->now.u);
  ss_free(base);
  return step > 0;
}

static bool differentiate_all(multiple *w, ss_arena *arena, derivatives *d) {
  d->map = SS_ARENA_ARRAY(arena, double *, w->segments + 1);
  for (int k = 1; d->map && k <= w->segments; k++) {
    d->map[k] = SS_ARENA_ARRAY(arena, double, (size_t)outputs(w, k) * (size_t)inputs(w, k));
    if (!d->map[k]) return no_memory(w);
    if (!differentiate(w, k, d->map[k])) return false;
  }
  return d->map || no_memory(w);
}

/* d conditions / d u beyond what the final state brings. */
static void initial_factors(const ss_shooting *s, double *out, int stride) {
  for (int i = 0; i < s->m; i++)
    for (int k = 0; k < s->boundary->conditions[i].n; k++) {
      const ss_quantity *q = &s->boundary->conditions[i].quantities[k];
      for (int j = 0; j < s->n && !q->final; j++)
        if (s->boundary->unknown[j].body == q->body && s->boundary->unknown[j].coordinate == q->coordinate)
          out[(ptrdiff_t)i * stride + j] += s->boundary->conditions[i].factors[k];
    }
}

/* ---- the linear system ---- */

/* Lays out the lines of x_k: matching, with what trajectory t leaves open on the right, then the conditions `c`, whose
 * columns are x_k, u, right side. */
static bool lay_out(multiple *w, int k, const derivatives *d, const trajectory *t, const double *c, ss_arena *arena,
                    block *b) {
  const int n = w->s->n, m = w->s->m, from = inputs(w, k);
  b->size = outputs(w, k);
  b->previous = k == 1 ? 0 : from;
  b->columns = b->size + b->previous + n + 1;
  b->a = SS_ARENA_ARRAY(arena, double, (size_t)(b->size + m) * (size_t)b->columns);
  double *open = SS_ARENA_ARRAY(arena, double, b->size);
  if (!b->a || !open) return no_memory(w);
  ss_knot_difference(w->model, &t->knot[k], &t->end[k - 1], open);
  for (int i = 0; i < b->size; i++) {
    double *line = b->a + (ptrdiff_t)i * b->columns;
    line[i] = 1;
    for (int j = 0; j < from; j++) line[b->size + j] = -d->map[k][(ptrdiff_t)i * from + j];
    line[b->columns - 1] = open[i];
  }
  for (int i = 0; i < m; i++) {
    double *line = b->a + (ptrdiff_t)(b->size + i) * b->columns;
    const double *condition = c + (ptrdiff_t)i * (b->size + n + 1);
    memcpy(line, condition, sizeof(double) * (size_t)b->size);
    memcpy(line + b->size + b->previous, condition + b->size, sizeof(double) * (size_t)(n + 1));
  }
  return true;
}

/* The conditions as lines in the last knot, u and the right side. */
static double *condition_lines(multiple *w, const derivatives *d, const trajectory *t, ss_arena *arena) {
  const int n = w->s->n, m = w->s->m, size = inputs(w, w->segments), columns = size + n + 1;
  double *c = SS_ARENA_ARRAY(arena, double, (size_t)m *(size_t)columns);
  for (int i = 0; c && i < m; i++) {
    double *line = c + (ptrdiff_t)i * columns;
    memcpy(line, d->map[w->segments] + (ptrdiff_t)i * size, sizeof(double) * (size_t)size);
    line[columns - 1] = -t->f[i];
  }
  if (c) initial_factors(w->s, c + size, columns);
  return c;
}

/* R x_k = right - (part in x_(k-1)) - (part in u) */
static void substitute(const multiple *w, const block *b, const double *previous, const double *u, double *x) {
  for (int i = 0; i < b->size; i++) {
    const double *line = b->a + (ptrdiff_t)i * b->columns;
    x[i] = line[b->columns - 1];
    for (int j = 0; j < b->previous; j++) x[i] -= line[b->size + j] * previous[j];
    for (int j = 0; j < w->s->n; j++) x[i] -= line[b->size + b->previous + j] * u[j];
  }
  (void)ss_back_substitute(b->a, b->columns, b->size, 0, x, x);
}

/* The Newton step of trajectory t with derivatives that may belong to another. */
static bool solve_linear(multiple *w, const derivatives *d, const trajectory *t, ss_arena *arena, increments *out) {
  const int n = w->s->n, m = w->s->m, last = w->segments - 1;
  block *blocks = SS_ARENA_ARRAY(arena, block, w->segments);
  double *c = condition_lines(w, d, t, arena);
  out->x = SS_ARENA_ARRAY(arena, double *, w->segments);
  out->u = SS_ARENA_ARRAY(arena, double, n);
  if (!blocks || !c || !out->x || !out->u) return no_memory(w);
  for (int k = last; k >= 1; k--) {
    block *b = &blocks[k];
    if (!lay_out(w, k, d, t, c, arena, b)) return false;
    ss_triangularise(b->a, b->size + m, b->columns, b->size);
    const int columns = b->columns - b->size;
    c = SS_ARENA_ARRAY(arena, double, (size_t)m *(size_t)columns);
    out->x[k] = SS_ARENA_ARRAY(arena, double, b->size);
    if (!c || !out->x[k]) return no_memory(w);
    for (int i = 0; i < m; i++)
      memcpy(c + (ptrdiff_t)i * columns, b->a + (ptrdiff_t)(b->size + i) * b->columns + b->size,
             sizeof(double) * (size_t)columns);
  }
  ss_triangularise(c, m, n + 1, n);
  for (int i = 0; i < n; i++) out->u[i] = c[(ptrdiff_t)i * (n + 1) + n];
  (void)ss_back_substitute(c, n + 1, n, 1e-13, out->u, out->u);
  for (int k = 1; k <= last; k++) substitute(w, &blocks[k], k == 1 ? NULL : out->x[k - 1], out->u, out->x[k]);
  return true;
}

/* ---- Newton's method ---- */

static double norm_of(const multiple *w, const increments *step) {
  double sum = 0;
  for (int i = 0; i < w->s->n; i++) sum += step->u[i] * step->u[i];
  for (int k = 1; k < w->segments; k++)
    for (int i = 0; i < outputs(w, k); i++) sum += step->x[k][i] * step->x[k][i];
  return sqrt(sum);
}

/* trial = now + factor times the step, and how well it fits; false: a segment's run failed. */
static bool try_step(multiple *w, const increments *step, double factor) {
  for (int i = 0; i < w->s->n; i++) w->trial.u[i] = w->now.u[i] + factor * step->u[i];
  for (int k = 1; k < w->segments; k++) {
    if (failed(w, ss_knot_copy(w->model, &w->now.knot[k], &w->trial.knot[k], &w->s->error))) return false;
    ss_knot_move(w->model, &w->trial.knot[k], step->x[k], factor);
  }
  return evaluate(w, &w->trial);
}

/* Takes the Newton step, shortened where needed; false: none is good. */
static bool take_step(multiple *w, ss_arena *arena) {
  derivatives d = {0};
  increments step = {0}, next = {0};
  if (!differentiate_all(w, arena, &d) || !solve_linear(w, &d, &w->now, arena, &step)) return false;
  const double size = norm_of(w, &step);
  double factor = 1;
  for (int halving = 0; halving < MOST_HALVINGS && w->s->status == SS_OK; halving++, factor /= 2) {
    if (!try_step(w, &step, factor) || !solve_linear(w, &d, &w->trial, arena, &next)) continue;
    if (norm_of(w, &next) <= (1 - factor / 4) * size || w->trial.worst < 0.1 * w->now.worst) return true;
  }
  return false;
}

static bool iterate(multiple *w) {
  ss_arena *arena = ss_arena_create();
  const bool better = arena ? take_step(w, arena) : no_memory(w);
  ss_arena_destroy(arena);
  if (!better) return false;
  const trajectory swap = w->now;
  w->now = w->trial;
  w->trial = swap;
  return refresh(w, &w->now);
}

/* ---- memory ---- */

static bool create_trajectory(multiple *w, trajectory *t) {
  t->u = SS_ARENA_ARRAY(w->arena, double, w->s->n);
  t->f = SS_ARENA_ARRAY(w->arena, double, w->s->m);
  t->knot = SS_ARENA_ARRAY(w->arena, ss_state, w->segments);
  t->end = SS_ARENA_ARRAY(w->arena, ss_state, w->segments);
  if (!t->u || !t->f || !t->knot || !t->end) return no_memory(w);
  for (int k = 0; k < w->segments; k++)
    if (failed(w, ss_knot_create(w->model, w->arena, &t->knot[k], &w->s->error)) ||
        failed(w, ss_knot_create(w->model, w->arena, &t->end[k], &w->s->error)))
      return false;
  return true;
}

static bool create(multiple *w) {
  ss_shooting *s = w->s;
  w->arena = ss_arena_create();
  w->first = w->arena ? SS_ARENA_ARRAY(w->arena, long, w->segments + 1) : NULL;
  if (!w->first) return no_memory(w);
  if (failed(w, ss_model_create(&s->scene, &w->model, &s->error)) ||
      failed(w, ss_sim_create(w->model, &s->options, &w->sim, &s->error)))
    return false;
  if (s->options.tolerance > 0) {
    s->status = ss_fail(&s->error, SS_ERROR_UNSUPPORTED, "boundary: segments need a given step size");
    return false;
  }
  const long steps = ss_sim_steps_total(w->sim);
  if (w->segments > steps) {
    s->status = ss_fail_at(&s->error, &s->scene, s->boundary->mark, SS_ERROR_INPUT,
                           "boundary: %d segments for %ld steps", w->segments, steps);
    return false;
  }
  for (int k = 0; k <= w->segments; k++) w->first[k] = steps * k / w->segments;
  return create_trajectory(w, &w->now) && create_trajectory(w, &w->trial) &&
         !failed(w, ss_knot_create(w->model, w->arena, &w->moved, &s->error)) &&
         !failed(w, ss_knot_create(w->model, w->arena, &w->moved_end, &s->error)) &&
         !failed(w, ss_knot_copy(w->model, &w->sim->state, &w->now.knot[0], &s->error));
}

static void destroy_trajectory(const multiple *w, trajectory *t) {
  for (int k = 0; t->knot && t->end && k < w->segments; k++) {
    ss_knot_free(&t->knot[k]);
    ss_knot_free(&t->end[k]);
  }
}

static void destroy(multiple *w) {
  destroy_trajectory(w, &w->now);
  destroy_trajectory(w, &w->trial);
  ss_knot_free(&w->moved);
  ss_knot_free(&w->moved_end);
  ss_sim_destroy(w->sim);
  ss_model_destroy(w->model);
  ss_arena_destroy(w->arena);
}

static bool find(multiple *w, ss_segment_guess guess) {
  const double tolerance = w->s->boundary->tolerance;
  if (!(guess == SS_GUESS_RUN ? guess_by_run : guess_between)(w)) return false;
  if (!evaluate(w, &w->now) || !refresh(w, &w->now)) return false;
  const double limit = diverged * w->now.worst;
  for (int k = 0; k < MOST_ITERATIONS && w->now.worst > 1e-4 * tolerance && w->now.worst <= limit; k++)
    if (!iterate(w)) break;
  return w->s->status == SS_OK && w->now.worst <= tolerance;
}

bool ss_multiple_shooting(ss_shooting *s, ss_segment_guess guess, double *u) {
  multiple w = {.s = s, .segments = s->boundary->segments};
  s->method = "multiple-shooting";
  bool found = false;
  if (create(&w)) {
    memcpy(w.now.u, u, sizeof(double) * (size_t)s->n);
    found = find(&w, guess);
    if (found) memcpy(u, w.now.u, sizeof(double) * (size_t)s->n);
  }
  destroy(&w);
  s->fitted |= found;
  return found;
}
