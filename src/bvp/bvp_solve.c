/* The strategy: several starts (starts.c), from each the accelerated fixed point and then Powell's method; continuation
 * before.
 *
 * The fixed point needs B = M_v + N_v (BVP (27)); conditions on positions alone make it singular, then T N_q is added:
 * q(T) = q(0) + T v where nothing happens. report.c tells what came of it. */
#include "bvp/bvp.h"

#include "core/math3.h"
#include "core/words.h"
#include "step/step.h"

#include <stickslip/io.h>

#include <stdio.h>
#include <string.h>

enum { MOST_SOLUTIONS = 64, FIXED_POINT_RUNS = 40, SAMPLES_PER_START = 8, SAMPLED = 2 };

static ss_status out_of_memory(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

/* ---- starts ---- */

static ss_status prepare_fixed_point(ss_bvp_solver *v, ss_error *error) {
  const ss_shooting *s = v->shooting;
  if (s->m != s->n) return SS_OK;
  double *inverse = SS_ARENA_ARRAY(v->arena, double, (size_t)s->n *(size_t)s->n);
  if (!inverse) return out_of_memory(error);
  if (ss_bvp_invert_conditions(v, 0, inverse) || ss_bvp_invert_conditions(v, s->options.duration, inverse))
    v->binverse = inverse;
  return SS_OK;
}

static bool fixed_point(ss_bvp_solver *v, double *u) {
  ss_shooting *s = v->shooting;
  return v->binverse && ss_fixed_point(s, v->binverse, s->boundary->tolerance, FIXED_POINT_RUNS, u, v->scratch);
}

/* The fixed point leads to the motion that is most like free flight, from wherever it begins: from the samples, which
 * are to find others, Powell's method comes first. Many segments first, where asked for: what they find is then polished
 * by single shots, because a run has to reproduce it from the initial velocities alone. */
static bool attempt(ss_bvp_solver *v, int index, double *u) {
  ss_shooting *s = v->shooting;
  const double tolerance = s->boundary->tolerance;
  if (s->boundary->segments > 1) {
    if (!ss_multiple_shooting(s, index % 2 ? SS_GUESS_RUN : SS_GUESS_BETWEEN, u)) return false;
    if (ss_shoot(s, u, v->scratch) && ss_largest(v->scratch, s->m) <= tolerance) return true;
    return s->status == SS_OK && !s->out_of_time && ss_powell(s, tolerance, u, v->scratch);
  }
  if (index < SAMPLED && fixed_point(v, u)) return true;
  if (s->status == SS_OK && !s->out_of_time && ss_powell(s, tolerance, u, v->scratch)) return true;
  return index >= SAMPLED && s->status == SS_OK && fixed_point(v, u);
}

/* ---- solutions ---- */

static ss_status make_solution(const ss_bvp_solver *v, ss_bvp_solution *out, ss_error *error) {
  const ss_shooting *s = v->shooting;
  out->unknown = SS_ARENA_ARRAY(v->arena, double, s->n);
  out->conditions = SS_ARENA_ARRAY(v->arena, double, s->m);
  return out->unknown && out->conditions ? SS_OK : out_of_memory(error);
}

static double distance(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

static ss_status add_solution(ss_bvp_solver *v, const double *u, ss_error *error) {
  ss_shooting *s = v->shooting;
  ss_bvp_result *r = v->result;
  const double size = 1 + ss_largest(u, s->n);
  for (int i = 0; i < r->n_solutions; i++)
    if (distance(r->solutions[i].unknown, u, s->n) < 1e-5 * size) return SS_OK;
  if (r->n_solutions == MOST_SOLUTIONS) return SS_OK;
  ss_bvp_solution solution = {.method = s->method};
  SS_TRY(make_solution(v, &solution, error));
  memcpy(solution.unknown, u, sizeof(double) * (size_t)s->n);
  if (!ss_shoot(s, u, solution.conditions)) return SS_OK;
  solution.residual = ss_largest(solution.conditions, s->m);
  if (!(solution.residual <= s->boundary->tolerance)) return SS_OK;
  double zero = 0;
  int place = r->n_solutions++; /* smallest velocities first */
  for (int i = 0; i < s->n; i++) zero += u[i] * u[i];
  for (; place > 0; place--) {
    double other = 0;
    for (int i = 0; i < s->n; i++) other += r->solutions[place - 1].unknown[i] * r->solutions[place - 1].unknown[i];
    if (other <= zero) break;
    r->solutions[place] = r->solutions[place - 1];
  }
  r->solutions[place] = solution;
  return SS_OK;
}

/* One plain fixed-point step from the scene's velocities; the guess stays NULL where there is none. */
static ss_status guess_velocities(ss_bvp_solver *v, ss_error *error) {
  ss_shooting *s = v->shooting;
  const int n = s->n;
  double *f = SS_ARENA_ARRAY(v->arena, double, s->m), *guess = SS_ARENA_ARRAY(v->arena, double, n);
  if (!guess || !f) return out_of_memory(error);
  s->method = "start";
  if (!v->binverse || !ss_shoot(s, v->u, f)) return SS_OK;
  memcpy(guess, v->u, sizeof(double) * (size_t)n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) guess[i] -= v->binverse[i * n + j] * f[j];
  v->guess = guess;
  return SS_OK;
}

/* ---- continuation ---- */

/* Solves the same scene with the parameter at other values, each from the solution of the one before; leaves the last
 * solution in u. */
static ss_status continue_from(ss_bvp_solver *v, const ss_scene *scene, const char *const *settings, int n_settings,
                               double *u, ss_error *error) {
  const ss_boundary_def *b = &scene->boundary;
  if (!b->parameter) return SS_OK;
  if (!scene->text) return ss_fail(error, SS_ERROR_INPUT, "continuation needs a scene that was read from a file");
  const char **all = SS_ARENA_ARRAY(v->arena, const char *, n_settings + 1);
  if (!all) return out_of_memory(error);
  for (int i = 0; i < n_settings; i++) all[i] = settings[i];
  double target = b->target;
  const bool geometric = target > 0 && b->from > 0;
  for (int k = 0; k < b->steps; k++) {
    const double part = (double)k / b->steps;
    const double value = geometric ? b->from * pow(target / b->from, part) : b->from + (target - b->from) * part;
    char setting[256];
    (void)snprintf(setting, sizeof setting, "%s=%.17g", b->parameter, value);
    all[n_settings] = setting;
    ss_scene *variant = NULL;
    ss_status status =
        ss_scene_parse(scene->text, strlen(scene->text), scene->file, all, n_settings + 1, &variant, error);
    if (status != SS_OK) return status;
    ss_simulation options = v->shooting->options; /* those of the command line, but for what the parameter changes */
    if (variant->simulation.duration != scene->simulation.duration) options.duration = variant->simulation.duration;
    if (variant->simulation.step != scene->simulation.step) options.step = variant->simulation.step;
    ss_bvp_solver inner = *v;
    inner.binverse = NULL;
    status = ss_shooting_create(variant, &options, v->arena, &inner.shooting, error);
    if (status == SS_OK) inner.shooting->deadline = v->shooting->deadline;
    if (status == SS_OK) status = prepare_fixed_point(&inner, error);
    if (status == SS_OK && !attempt(&inner, 0, u) && isfinite(inner.shooting->best_residual))
      memcpy(u, inner.shooting->best_u, sizeof(double) * (size_t)inner.shooting->n);
    if (status == SS_OK) v->shooting->simulations += inner.shooting->simulations;
    ss_scene_destroy(variant);
    if (status != SS_OK) return status;
  }
  return SS_OK;
}

/* ---- the search ---- */

/* What runs have come to. */
typedef struct seen {
  double residual, tear;
  double *u, *low, *high;
  const char *method;
} seen;

struct ss_bvp_search {
  ss_bvp_solver solver;
  double *trial;    /* [n] */
  long simulations; /* of the preparation; likewise */
  double tear;
  bool sampled;   /* the samples have been run: when the first start that may need them is tried */
  int samples;    /* how many were */
  double *starts; /* [n_starts][n] the best of them, in order */
  int n_starts;
  seen by_samples;
};

static void see_nothing(ss_shooting *s) {
  s->fitted = false;
  s->tear = 0;
  s->best_residual = (double)INFINITY;
  s->best_method = NULL;
  for (int i = 0; i < s->m; i++) s->low[i] = (double)INFINITY, s->high[i] = -(double)INFINITY;
}

static ss_status remember(const ss_shooting *s, ss_arena *arena, seen *out, ss_error *error) {
  const size_t n = (size_t)s->n, m = (size_t)s->m;
  *out = (seen){.residual = s->best_residual,
                .tear = s->tear,
                .u = SS_ARENA_ARRAY(arena, double, n),
                .low = SS_ARENA_ARRAY(arena, double, m),
                .high = SS_ARENA_ARRAY(arena, double, m),
                .method = s->best_method};
  if (!out->u || !out->low || !out->high) return out_of_memory(error);
  memcpy(out->u, s->best_u, sizeof(double) * n);
  memcpy(out->low, s->low, sizeof(double) * m);
  memcpy(out->high, s->high, sizeof(double) * m);
  return SS_OK;
}

static void recall(ss_shooting *s, const seen *what) {
  s->best_residual = what->residual;
  s->best_method = what->method;
  s->tear = what->tear;
  memcpy(s->best_u, what->u, sizeof(double) * (size_t)s->n);
  memcpy(s->low, what->low, sizeof(double) * (size_t)s->m);
  memcpy(s->high, what->high, sizeof(double) * (size_t)s->m);
}

/* The samples and their order depend on the scene alone: every search has the same. */
static ss_status sample(ss_bvp_search *search, ss_error *error) {
  ss_bvp_solver *v = &search->solver;
  ss_shooting *s = v->shooting;
  const int most = s->boundary->starts > 2 ? s->boundary->starts : 2;
  ss_samples samples = {0};
  if (search->sampled) return SS_OK;
  search->starts = SS_ARENA_ARRAY(v->arena, double, (size_t)most *(size_t)s->n);
  if (!search->starts) return out_of_memory(error);
  see_nothing(s);
  SS_TRY(ss_samples_create(s, v->u, SAMPLES_PER_START * (most - 1), v->arena, &samples, error));
  while (search->n_starts < most &&
         ss_samples_next(&samples, s->n, search->starts + (ptrdiff_t)search->n_starts * s->n))
    search->n_starts++;
  search->samples = samples.n;
  search->sampled = true;
  return remember(s, v->arena, &search->by_samples, error);
}

/* The k-th start: the scene's velocities, a fixed-point step from them where there is one, then the best of the samples.
 * NULL: no more. */
static const double *choose_start(const ss_bvp_search *search, int k) {
  const ss_bvp_solver *v = &search->solver;
  if (k == 0) return v->u;
  if (k == 1 && v->guess) return v->guess;
  const int index = v->guess ? k - 2 : k - 1;
  return index < search->n_starts ? search->starts + (ptrdiff_t)index * v->shooting->n : NULL;
}

static ss_status prepare(ss_bvp_solver *v, const ss_scene *scene, const ss_simulation *options,
                         const char *const *settings, int n_settings, ss_error *error) {
  ss_status status = ss_shooting_create(scene, options, v->arena, &v->shooting, error);
  if (status == SS_OK && scene->boundary.exact_sensitivities) status = ss_jacobian_possible(v->shooting, error);
  if (status != SS_OK) return status;
  const ss_shooting *s = v->shooting;
  if (scene->boundary.seconds > 0) v->shooting->deadline = ss_seconds() + scene->boundary.seconds;
  const size_t n = (size_t)s->n, m = (size_t)s->m;
  const size_t most = ss_fixed_point_scratch(s->n) + ss_powell_scratch(s->n, s->m) + n * m + n + m;
  v->scratch = SS_ARENA_ARRAY(v->arena, double, most);
  v->u = SS_ARENA_ARRAY(v->arena, double, n);
  v->result->n_unknown = s->n;
  v->result->n_conditions = s->m;
  v->result->solutions = SS_ARENA_ARRAY(v->arena, ss_bvp_solution, MOST_SOLUTIONS);
  if (!v->scratch || !v->u || !v->result->solutions) return out_of_memory(error);
  status = make_solution(v, &v->result->best, error);
  if (status == SS_OK) status = prepare_fixed_point(v, error);
  ss_shooting_start(s, v->u);
  if (status == SS_OK) status = continue_from(v, scene, settings, n_settings, v->u, error);
  return status == SS_OK ? guess_velocities(v, error) : status;
}

ss_status ss_bvp_search_create(const ss_scene *scene, const ss_simulation *options, const char *const *settings,
                               int n_settings, ss_bvp_search **out, ss_error *error) {
  *out = NULL;
  if (!scene->boundary.given)
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, (ss_mark){0, 0}, "the scene has no section boundary:");
  if (scene->boundary.n_unknown == 0) return ss_fail(error, SS_ERROR_INPUT, "boundary: no velocity is unknown");
  ss_arena *arena = ss_arena_create();
  ss_bvp_search *search = arena ? SS_ARENA_ARRAY(arena, ss_bvp_search, 1) : NULL;
  ss_bvp_result *result = arena ? SS_ARENA_ARRAY(arena, ss_bvp_result, 1) : NULL;
  ss_status status = search && result ? SS_OK : out_of_memory(error);
  if (status == SS_OK) {
    result->arena = arena;
    search->solver = (ss_bvp_solver){.arena = arena, .result = result};
    status = prepare(&search->solver, scene, options, settings, n_settings, error);
  }
  if (status == SS_OK) {
    search->trial = SS_ARENA_ARRAY(arena, double, search->solver.shooting->n);
    if (!search->trial) status = out_of_memory(error);
    search->simulations = search->solver.shooting->simulations;
    search->tear = search->solver.shooting->tear;
  }
  if (status == SS_OK)
    *out = search;
  else
    ss_arena_destroy(arena);
  return status;
}

void ss_bvp_search_destroy(ss_bvp_search *search) {
  if (search && search->solver.arena) ss_arena_destroy(search->solver.arena);
}

int ss_bvp_unknowns(const ss_bvp_search *search) { return search->solver.shooting->n; }

int ss_bvp_conditions(const ss_bvp_search *search) { return search->solver.shooting->m; }

static void tell_attempt(const ss_bvp_search *search, bool found, ss_bvp_attempt *out) {
  const ss_shooting *s = search->solver.shooting;
  out->found = found;
  out->out_of_time = s->out_of_time;
  out->fitted = s->fitted;
  out->tear = s->tear;
  out->residual = s->best_residual;
  memcpy(out->unknown, found ? search->trial : s->best_u, sizeof(double) * (size_t)s->n);
  memcpy(out->low, s->low, sizeof(double) * (size_t)s->m);
  memcpy(out->high, s->high, sizeof(double) * (size_t)s->m);
  const char *method = found ? s->method : s->best_method;
  (void)snprintf(out->method, sizeof out->method, "%s", method ? method : "");
}

/* What one start came to depends on nothing that was tried before it, but for the time that is left. */
ss_status ss_bvp_try(ss_bvp_search *search, int start, ss_bvp_attempt *attempt_out, ss_error *error) {
  ss_bvp_solver *v = &search->solver;
  ss_shooting *s = v->shooting;
  if (start > 0) SS_TRY(sample(search, error));
  see_nothing(s);
  if (start > 0) recall(s, &search->by_samples);
  attempt_out->samples = start > 0 ? search->samples : 0;
  const long before = s->simulations;
  const double *from = s->status == SS_OK && !ss_shooting_out_of_time(s) ? choose_start(search, start) : NULL;
  bool found = false;
  if (from) {
    memcpy(search->trial, from, sizeof(double) * (size_t)s->n);
    ss_bvp_apply(&s->scene, search->trial); /* segments begin with the scene as it is */
    found = attempt(v, start, search->trial);
  }
  if (s->status != SS_OK) {
    if (error) *error = s->error;
    return s->status;
  }
  attempt_out->tried = from != NULL;
  attempt_out->simulations = s->simulations - before;
  tell_attempt(search, found, attempt_out);
  return SS_OK;
}

/* Counts what the attempts have seen; the best of them, or NULL. */
static const ss_bvp_attempt *gather(ss_bvp_search *search, const ss_bvp_attempt *attempts, int n) {
  ss_shooting *s = search->solver.shooting;
  ss_bvp_result *r = search->solver.result;
  const ss_bvp_attempt *best = NULL;
  int samples = 0;
  see_nothing(s);
  s->simulations = search->simulations;
  s->tear = search->tear;
  for (int i = 0; i < n; i++) {
    const ss_bvp_attempt *a = &attempts[i];
    r->starts += a->tried;
    r->out_of_time = r->out_of_time || a->out_of_time;
    samples = a->samples > samples ? a->samples : samples; /* all have the same, but for the time */
    s->simulations += a->simulations;
    s->tear = fmax(s->tear, a->tear);
    s->fitted = s->fitted || a->fitted;
    for (int k = 0; k < s->m; k++) s->low[k] = fmin(s->low[k], a->low[k]), s->high[k] = fmax(s->high[k], a->high[k]);
    if (!best || a->residual < best->residual) best = a;
  }
  s->simulations += samples;
  r->samples = samples + 1; /* and the scene's own */
  return best;
}

/* Shoots again what was found, and where nothing was the best: results rest on simulations of this search. */
ss_status ss_bvp_conclude(ss_bvp_search *search, const ss_bvp_attempt *attempts, int n, ss_bvp_result **out,
                          ss_error *error) {
  ss_bvp_solver *v = &search->solver;
  ss_shooting *s = v->shooting;
  s->deadline = (double)INFINITY; /* what was found in time is told */
  s->out_of_time = false;
  const ss_bvp_attempt *best = gather(search, attempts, n);
  for (int i = 0; i < n; i++) {
    if (!attempts[i].found) continue;
    s->method = ss_arena_strdup(v->arena, attempts[i].method); /* the result outlives the attempts */
    SS_TRY(s->method ? add_solution(v, attempts[i].unknown, error) : out_of_memory(error));
  }
  if (best && isfinite(best->residual)) {
    s->method = ss_arena_strdup(v->arena, best->method);
    if (!s->method) return out_of_memory(error);
    (void)ss_shoot(s, best->unknown, v->scratch);
  }
  if (s->status != SS_OK && error) *error = s->error;
  SS_TRY(s->status);
  SS_TRY(ss_bvp_report(v, error));
  *out = v->result;
  v->arena = NULL; /* the result's now */
  return SS_OK;
}

ss_status ss_bvp_solve(const ss_scene *scene, const ss_simulation *options, const char *const *settings, int n_settings,
                       ss_bvp_result **out, ss_error *error) {
  *out = NULL;
  ss_bvp_search *search = NULL;
  SS_TRY(ss_bvp_search_create(scene, options, settings, n_settings, &search, error));
  ss_bvp_solver *v = &search->solver;
  const int starts = scene->boundary.starts;
  const size_t unknowns = (size_t)ss_bvp_unknowns(search), conditions = (size_t)ss_bvp_conditions(search);
  ss_bvp_attempt *attempts = SS_ARENA_ARRAY(v->arena, ss_bvp_attempt, starts + 1);
  ss_status status = attempts ? SS_OK : out_of_memory(error);
  for (int k = 0; k < starts && status == SS_OK; k++) {
    double *numbers = SS_ARENA_ARRAY(v->arena, double, unknowns + 2 * conditions);
    if (!numbers) {
      status = out_of_memory(error);
      break;
    }
    attempts[k].unknown = numbers;
    attempts[k].low = numbers + unknowns;
    attempts[k].high = attempts[k].low + conditions;
    status = ss_bvp_try(search, k, &attempts[k], error);
  }
  if (status == SS_OK) status = ss_bvp_conclude(search, attempts, starts, out, error);
  if (status != SS_OK) ss_bvp_search_destroy(search);
  return status;
}

void ss_bvp_result_destroy(ss_bvp_result *result) {
  if (result) ss_arena_destroy(result->arena);
}
