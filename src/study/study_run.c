/* The runs of a study: which point a run stands for, and one run from scene file to observations.
 *
 * Grid: the last variation changes fastest. Random: the coordinate of a run is a hash of (seed, run, variation) alone
 * (splitmix64), so that it depends neither on the order of runs nor on how many there are. */
#include "study/study.h"

#include "core/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *ss_study_name(const ss_study *study) { return study->name; }
const char *ss_study_scene(const ss_study *study) { return study->scene; }
bool ss_study_is_random(const ss_study *study) { return study->random; }
long ss_study_runs(const ss_study *study) { return study->runs; }
int ss_study_variations(const ss_study *study) { return study->n_variations; }
int ss_study_observations(const ss_study *study) { return study->n_observations; }
const char *ss_study_variation_name(const ss_study *study, int variation) { return study->variations[variation].name; }
const char *ss_study_observation_name(const ss_study *study, int observation) {
  return study->observations[observation].name;
}

/* ---- points ---- */

static uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/* In [0, 1). */
static double uniform(const ss_study *study, long run, int variation) {
  const uint64_t bits = mix(mix(mix(study->seed) ^ (uint64_t)run) ^ (uint64_t)variation);
  return (double)(bits >> 11) * 0x1p-53;
}

ss_study_value ss_study_point(const ss_study *study, long run, int variation) {
  const ss_variation *v = &study->variations[variation];
  if (!study->random) {
    for (int k = study->n_variations - 1; k > variation; k--) run /= study->variations[k].count;
    return v->values[run % v->count];
  }
  const double s = uniform(study, run, variation);
  const bool range = v->from != v->to; /* lists have neither */
  if (!range) return v->values ? v->values[(long)(s * (double)v->count)] : (ss_study_value){.number = v->from};
  const double x =
      v->logarithmic ? exp(log(v->from) + s * (log(v->to) - log(v->from))) : v->from + s * (v->to - v->from);
  return (ss_study_value){.number = x};
}

/* ---- measures over a run ---- */

typedef struct watch {
  const ss_study *study;
  double *value; /* all measures of all observations */
  double *last;  /* at the end of the step before */
  double t;
} watch;

static int measures(const ss_study *study) {
  int n = 0;
  for (int i = 0; i < study->n_observations; i++) n += study->observations[i].n_measures;
  return n;
}

/* The mean is the integral (trapezoidal rule) until the end divides it by the time. */
static double fold(ss_over_time how, double so_far, double last, double now, double dt) {
  switch (how) {
  case SS_LARGEST:
    return fmax(so_far, now);
  case SS_SMALLEST:
    return fmin(so_far, now);
  case SS_MEAN:
    return so_far + dt * (last + now) / 2;
  case SS_AT_THE_END:
    break;
  }
  return now;
}

static ss_status look(void *user, const ss_sim *sim, ss_error *error) {
  watch *w = user;
  (void)error;
  const double t = ss_sim_state(sim)->t;
  int k = 0;
  for (int i = 0; i < w->study->n_observations; i++)
    for (int j = 0; j < w->study->observations[i].n_measures; j++, k++) {
      const ss_measure *m = &w->study->observations[i].measures[j];
      const double now = ss_observable_value(&m->quantity, sim);
      w->value[k] = fold(m->how, w->value[k], w->last[k], now, t - w->t);
      w->last[k] = now;
    }
  w->t = t;
  return SS_OK;
}

static void look_first(watch *w, const ss_sim *sim) {
  (void)look(w, sim, NULL);
  int k = 0;
  for (int i = 0; i < w->study->n_observations; i++)
    for (int j = 0; j < w->study->observations[i].n_measures; j++, k++)
      w->value[k] = w->study->observations[i].measures[j].how == SS_MEAN ? 0 : w->last[k];
}

static ss_status conclude(watch *w, const ss_scene *scene, double *observed, ss_error *error) {
  int k = 0;
  for (int i = 0; i < w->study->n_observations; i++) {
    const ss_observation *o = &w->study->observations[i];
    for (int j = 0; j < o->n_measures; j++)
      if (o->measures[j].how == SS_MEAN) w->value[k + j] /= w->t;
    SS_TRY(ss_observation_value(o, scene, w->value + k, w->t, &observed[i], error));
    k += o->n_measures;
  }
  return SS_OK;
}

/* ---- one run ---- */

typedef struct one_run {
  ss_arena *arena;
  ss_scene *scene;
  ss_model *model;
  ss_sim *sim;
} one_run;

static ss_status open_scene(const ss_study *study, long run, one_run *r, ss_simulation *options, ss_error *error) {
  enum { SIZE = 256 };
  const char **settings = SS_ARENA_ARRAY(r->arena, const char *, study->n_variations);
  if (!settings) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  int n = 0;
  for (int i = 0; i < study->n_variations; i++) {
    if (study->variations[i].kind != SS_VARY_PARAMETER) continue;
    char *text = ss_arena_alloc(r->arena, SIZE);
    if (!text) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    (void)snprintf(text, SIZE, "%.200s=%.17g", study->variations[i].name, ss_study_point(study, run, i).number);
    settings[n++] = text;
  }
  SS_TRY(ss_scene_load(study->scene, settings, n, &r->scene, error));
  *options = r->scene->simulation;
  if (study->scheme) options->scheme = study->scheme;
  if (study->solver) options->solver = study->solver;
  if (!isnan(study->step)) options->step = study->step;
  if (!isnan(study->duration)) options->duration = study->duration;
  for (int i = 0; i < study->n_variations; i++) {
    const ss_study_value value = ss_study_point(study, run, i);
    if (study->variations[i].kind == SS_VARY_SCHEME) options->scheme = value.word;
    if (study->variations[i].kind == SS_VARY_STEP) options->step = value.number;
  }
  return SS_OK;
}

typedef struct stopper {
  bool (*stop)(void);
} stopper;

static bool stops(void *user) { return ((const stopper *)user)->stop(); }

static ss_status simulate(const ss_study *study, long run, bool (*stop)(void), one_run *r, double *observed,
                          bool *certified, ss_error *error) {
  ss_simulation options;
  const int n = measures(study);
  watch w = {.study = study,
             .value = SS_ARENA_ARRAY(r->arena, double, n + 1),
             .last = SS_ARENA_ARRAY(r->arena, double, n + 1)};
  if (!w.value || !w.last) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  SS_TRY(open_scene(study, run, r, &options, error));
  SS_TRY(ss_model_create(r->scene, &r->model, error));
  SS_TRY(ss_sim_create(r->model, &options, &r->sim, error));
  look_first(&w, r->sim);
  const ss_observer observer = {.user = &w, .step = look};
  SS_TRY(ss_sim_observe(r->sim, &observer, error));
  stopper s = {stop};
  if (stop) ss_sim_stop_when(r->sim, stops, &s);
  while (!ss_sim_done(r->sim)) {
    if (stop && stop()) return SS_OK;
    const ss_status status = ss_sim_step(r->sim, error);
    if (status) return status == SS_ERROR_STOPPED ? SS_OK : status;
  }
  *certified = ss_sim_report(r->sim)->certificate.certified;
  return conclude(&w, r->scene, observed, error);
}

ss_status ss_study_run(const ss_study *study, long run, bool (*stop)(void), double *observed, bool *certified,
                       ss_error *error) {
  one_run r = {.arena = ss_arena_create()};
  *certified = false;
  for (int i = 0; i < study->n_observations; i++) observed[i] = NAN;
  ss_status status = r.arena ? simulate(study, run, stop, &r, observed, certified, error)
                             : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  ss_sim_destroy(r.sim);
  ss_model_destroy(r.model);
  ss_scene_destroy(r.scene);
  ss_arena_destroy(r.arena);
  return status;
}
