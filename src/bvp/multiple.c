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
#include "core/words.h"
#include "bvp/multiple.h"

#include <string.h>

enum { MOST_ITERATIONS = 40, MOST_HALVINGS = 14 };
static const double diverged = 1e3; /* times the first misfit */

bool multiple_failed(multiple *w, ss_status status) {
  if (status != SS_OK && status != SS_ERROR_UNCERTIFIED) w->s->status = status;
  return status != SS_OK;
}

bool multiple_no_memory(multiple *w) {
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
bool multiple_fly(multiple *w, int k, const double *u, const ss_state *knot, ss_state *end, double *f) {
  ss_shooting *s = w->s;
  ss_model *model = NULL;
  ss_sim *sim = w->sim;
  ss_status status = SS_OK;
  if (ss_shooting_out_of_time(s)) return false;
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
  return !multiple_failed(w, status);
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
    if (!multiple_fly(w, k, t->u, &t->knot[k], &t->end[k], t->f)) return false;
    if (k + 1 == w->segments) break;
    if (multiple_failed(w, ss_knot_retract(w->model, &t->knot[k + 1], &t->end[k], &w->s->error))) return false;
    const int size = ss_knot_size(w->model, &t->knot[k + 1]);
    double *d = ss_alloc(sizeof(double) * (size_t)size);
    if (!d) return multiple_no_memory(w);
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
    if (multiple_failed(w, ss_knot_refresh(w->model, &t->knot[k], &t->end[k - 1], &w->s->error))) return false;
  return true;
}

/* ---- Newton's method ---- */

static double norm_of(const multiple *w, const increments *step) {
  double sum = 0;
  for (int i = 0; i < w->s->n; i++) sum += step->u[i] * step->u[i];
  for (int k = 1; k < w->segments; k++)
    for (int i = 0; i < multiple_outputs(w, k); i++) sum += step->x[k][i] * step->x[k][i];
  return sqrt(sum);
}

/* trial = now + factor times the step, and how well it fits; false: a segment's run failed. */
static bool try_step(multiple *w, const increments *step, double factor) {
  for (int i = 0; i < w->s->n; i++) w->trial.u[i] = w->now.u[i] + factor * step->u[i];
  for (int k = 1; k < w->segments; k++) {
    if (multiple_failed(w, ss_knot_copy(w->model, &w->now.knot[k], &w->trial.knot[k], &w->s->error))) return false;
    ss_knot_move(w->model, &w->trial.knot[k], step->x[k], factor);
  }
  return evaluate(w, &w->trial);
}

/* Takes the Newton step, shortened where needed; false: none is good. */
static bool take_step(multiple *w, ss_arena *arena) {
  derivatives d = {0};
  increments step = {0}, next = {0};
  if (!multiple_differentiate(w, arena, &d) || !multiple_solve_linear(w, &d, &w->now, arena, &step)) return false;
  const double size = norm_of(w, &step);
  double factor = 1;
  for (int halving = 0; halving < MOST_HALVINGS && w->s->status == SS_OK; halving++, factor /= 2) {
    if (!try_step(w, &step, factor) || !multiple_solve_linear(w, &d, &w->trial, arena, &next)) continue;
    if (norm_of(w, &next) <= (1 - factor / 4) * size || w->trial.worst < 0.1 * w->now.worst) return true;
  }
  return false;
}

static bool iterate(multiple *w) {
  ss_arena *arena = ss_arena_create();
  const bool better = arena ? take_step(w, arena) : multiple_no_memory(w);
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
  if (!t->u || !t->f || !t->knot || !t->end) return multiple_no_memory(w);
  for (int k = 0; k < w->segments; k++)
    if (multiple_failed(w, ss_knot_create(w->model, w->arena, &t->knot[k], &w->s->error)) ||
        multiple_failed(w, ss_knot_create(w->model, w->arena, &t->end[k], &w->s->error)))
      return false;
  return true;
}

static bool create(multiple *w) {
  ss_shooting *s = w->s;
  w->arena = ss_arena_create();
  w->first = w->arena ? SS_ARENA_ARRAY(w->arena, long, w->segments + 1) : NULL;
  if (!w->first) return multiple_no_memory(w);
  if (multiple_failed(w, ss_model_create(&s->scene, &w->model, &s->error)) ||
      multiple_failed(w, ss_sim_create(w->model, &s->options, &w->sim, &s->error)))
    return false;
  if (s->options.tolerance > 0) {
    s->status = ss_fail(&s->error, SS_ERROR_UNSUPPORTED, "boundary: segments need a given step size");
    return false;
  }
  const long steps = ss_sim_steps_total(w->sim);
  if (w->segments > steps) {
    s->status = ss_fail_place(&s->error, SS_ERROR_INPUT, s->scene.file, s->boundary->mark,
                              "boundary: %d segments for %ld steps", w->segments, steps);
    return false;
  }
  for (int k = 0; k <= w->segments; k++) w->first[k] = steps * k / w->segments;
  return create_trajectory(w, &w->now) && create_trajectory(w, &w->trial) &&
         !multiple_failed(w, ss_knot_create(w->model, w->arena, &w->moved, &s->error)) &&
         !multiple_failed(w, ss_knot_create(w->model, w->arena, &w->moved_end, &s->error)) &&
         !multiple_failed(w, ss_knot_copy(w->model, &w->sim->state, &w->now.knot[0], &s->error));
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
  if (!(guess == SS_GUESS_RUN ? multiple_guess_by_run : multiple_guess_between)(w)) return false;
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
