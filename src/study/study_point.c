/* Which point a run stands for.
 *
 * Runs are numbered so that the repetition changes fastest, then the start of a minimisation, then the sample, then what is
 * crossed, the last one named before the others. A sampled coordinate depends on (seed, sample, dimension) alone. */
#include "study/study.h"

#include "core/math3.h"
#include "core/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ss_study_name(const ss_study *study) { return study->name; }
const char *ss_study_scene(const ss_study *study) { return study->files[0].path; }
const char *ss_study_text(const ss_study *study) { return study->text; }
bool ss_study_is_random(const ss_study *study) { return study->sampling != SS_SAMPLE_GRID; }
long ss_study_runs(const ss_study *study) { return study->runs; }
ss_study_kind ss_study_run_kind(const ss_study *study) { return study->kind; }
ss_study_keep ss_study_kept(const ss_study *study) { return study->keep; }
int ss_study_variations(const ss_study *study) { return study->n_variations; }
const char *ss_study_variation_name(const ss_study *study, int variation) { return study->variations[variation].name; }

int ss_study_observations(const ss_study *study) {
  return study->n_observations + (study->minimisation.given ? study->minimisation.n + 2 : 0);
}

const char *ss_study_observation_name(const ss_study *study, int observation) { return study->observed[observation]; }

/* FNV-1a: runs of other texts are not these runs. */
static uint64_t hash_text(uint64_t hash, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) hash = (hash ^ (uint64_t)(unsigned char)text[i]) * 0x100000001B3U;
  return hash;
}

uint64_t ss_study_fingerprint(const ss_study *study) {
  uint64_t hash = hash_text(0xCBF29CE484222325U, study->text, strlen(study->text));
  for (int i = 0; i < study->n_files; i++) hash = hash_text(hash, study->files[i].text, study->files[i].length);
  return hash;
}

/* ---- points ---- */

static bool is_inner(const ss_variation *v) { return v->kind == SS_VARY_START || v->kind == SS_VARY_REPEAT; }

/* Divides the run's number: what is left belongs to what changes more slowly. */
static long take(long *rest, long count) {
  const long index = *rest % count;
  *rest /= count;
  return index;
}

/* Index of the value of a crossed variation, and the sample's number. */
static long decode(const ss_study *study, long run, int variation, long *sample) {
  long rest = run, index = 0;
  for (int k = study->n_variations - 1; k >= 0 && is_inner(&study->variations[k]); k--) {
    const long mine = take(&rest, study->variations[k].count);
    if (k == variation) index = mine;
  }
  *sample = take(&rest, study->samples);
  for (int k = study->n_variations - 1; k >= 0; k--) {
    if (is_inner(&study->variations[k]) || !study->variations[k].crossed) continue;
    const long mine = take(&rest, study->variations[k].count);
    if (k == variation) index = mine;
  }
  return index;
}

double ss_variation_sampled(const ss_variation *v, double s) {
  if (v->normal) {
    const double low = ss_normal_distribution(((v->logarithmic && v->from > 0 ? log(v->from / v->mean)
                                                : v->logarithmic              ? -(double)INFINITY
                                                                              : v->from - v->mean)) /
                                              v->deviation),
                 high =
                     ss_normal_distribution((v->logarithmic ? log(v->to / v->mean) : v->to - v->mean) / v->deviation);
    const double z = ss_normal_quantile(fmin(fmax(low + s * (high - low), 0x1p-60), 1 - 0x1p-53));
    return v->logarithmic ? v->mean * exp(v->deviation * z) : v->mean + v->deviation * z;
  }
  if (v->logarithmic) return exp(log(v->from) + s * (log(v->to) - log(v->from)));
  return v->from + s * (v->to - v->from);
}

ss_study_value ss_study_point(const ss_study *study, long run, int variation) {
  const ss_variation *v = &study->variations[variation];
  long sample = 0;
  const long index = decode(study, run, variation, &sample);
  if (v->crossed) return v->values[index];
  int dimension = 0;
  for (int k = 0; k < variation; k++) dimension += !study->variations[k].crossed;
  const double s = ss_sampling_coordinate(study->sampling, study->seed, sample, study->samples, dimension);
  if (v->ranged) return (ss_study_value){.number = ss_variation_sampled(v, s)};
  return v->values[(long)(s * (double)v->count)];
}

int ss_study_file_of(const ss_study *study, long run) {
  long sample = 0;
  for (int i = 0; i < study->n_variations; i++)
    if (study->variations[i].kind == SS_VARY_SCENE) return (int)decode(study, run, i, &sample);
  return 0;
}

/* ---- the scene of a run ---- */

typedef struct setting_list {
  const ss_study *study;
  ss_arena *arena;
  ss_parameter *values; /* all parameters and inputs of the scene, as far as they are known */
  int n_values, first_input;
  ss_settings *out;
} setting_list;

static ss_status put(setting_list *l, const char *name, double value, ss_error *error) {
  enum { SIZE = 256 };
  char *text = ss_arena_alloc(l->arena, SIZE);
  if (!text) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  (void)snprintf(text, SIZE, "%.200s=%.17g", name, value);
  bool input = false;
  for (int i = 0; i < l->n_values; i++) {
    if (strcmp(l->values[i].name, name) != 0) continue;
    l->values[i].value = value;
    input = i >= l->first_input;
    break;
  }
  if (input)
    l->out->inputs[l->out->n_inputs++] = text;
  else
    l->out->parameters[l->out->n_parameters++] = text;
  return SS_OK;
}

static ss_status put_dependents(setting_list *l, ss_error *error) {
  for (int i = 0; i < l->study->n_dependents; i++) {
    const ss_dependent *d = &l->study->dependents[i];
    double value = 0;
    SS_TRY(ss_expression_constant(d->text, l->values, l->n_values, &value, error));
    SS_TRY(put(l, d->name, value, error));
  }
  return SS_OK;
}

ss_status ss_study_settings(const ss_study *study, long run, const double *design, ss_arena *arena, ss_settings *out,
                            ss_error *error) {
  const ss_study_file *file = &study->files[ss_study_file_of(study, run)];
  const int most = study->n_variations + study->n_dependents + study->minimisation.n;
  *out = (ss_settings){.parameters = SS_ARENA_ARRAY(arena, const char *, most + 1),
                       .inputs = SS_ARENA_ARRAY(arena, const char *, most + 1)};
  setting_list l = {.study = study,
                    .arena = arena,
                    .values = SS_ARENA_ARRAY(arena, ss_parameter, file->n_parameters + 1),
                    .n_values = file->n_parameters,
                    .first_input = file->n_parameters - file->n_inputs,
                    .out = out};
  if (!l.values || !out->parameters || !out->inputs) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < file->n_parameters; i++) l.values[i] = file->parameters[i];
  for (int i = 0; i < study->n_variations; i++)
    if (study->variations[i].kind == SS_VARY_PARAMETER)
      SS_TRY(put(&l, study->variations[i].name, ss_study_point(study, run, i).number, error));
  for (int i = 0; design && i < study->minimisation.n; i++)
    SS_TRY(put(&l, study->minimisation.over[i].name, design[i], error));
  return put_dependents(&l, error);
}

/* Inputs keep a value from the start on where nobody changes it. */
static void set_inputs(const ss_settings *settings, ss_scene *scene) {
  for (int i = 0; i < settings->n_inputs; i++) {
    const char *equals = strchr(settings->inputs[i], '=');
    const size_t length = (size_t)(equals - settings->inputs[i]);
    for (int k = 0; k < scene->n_inputs; k++)
      if (strlen(scene->inputs[k].name) == length && strncmp(scene->inputs[k].name, settings->inputs[i], length) == 0)
        scene->inputs[k].value = strtod(equals + 1, NULL);
  }
}

/* x y z, a rotation about the world's axes, velocities. */
static void disturb(ss_body_def *body, int component, double by) {
  double *numbers[] = {&body->pose.position.x,
                       &body->pose.position.y,
                       &body->pose.position.z,
                       NULL,
                       NULL,
                       NULL,
                       &body->velocity.x,
                       &body->velocity.y,
                       &body->velocity.z,
                       &body->angular_velocity.x,
                       &body->angular_velocity.y,
                       &body->angular_velocity.z};
  if (numbers[component]) {
    *numbers[component] += by;
    return;
  }
  const ss_vec3 turn = v3(component == 3 ? by : 0, component == 4 ? by : 0, component == 5 ? by : 0);
  body->pose.orientation = quat_normalize(quat_multiply(quat_exp(turn), body->pose.orientation));
}

static void add_noise(const ss_study *study, long run, int file, ss_scene *scene) {
  for (int i = 0; i < study->n_noise; i++) {
    const ss_noise *noise = &study->noise[i];
    const double z = ss_sampling_normal(study->noise_seed, (uint64_t)run, (uint64_t)i);
    disturb(&((ss_body_def *)scene->bodies)[noise->body[file]], noise->component, noise->deviation * z);
  }
}

ss_status ss_study_open(const ss_study *study, long run, const double *design, ss_arena *arena, ss_scene **scene,
                        ss_simulation *options, ss_error *error) {
  const int index = ss_study_file_of(study, run);
  const ss_study_file *file = &study->files[index];
  ss_settings settings;
  SS_TRY(ss_study_settings(study, run, design, arena, &settings, error));
  SS_TRY(
      ss_scene_parse(file->text, file->length, file->path, settings.parameters, settings.n_parameters, scene, error));
  set_inputs(&settings, *scene);
  add_noise(study, run, index, *scene);
  *options = (*scene)->simulation;
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
