/* Study files: the contract of docs/studies.md.
 *
 *     scene: ../scenes/block.yaml        # or several
 *     vary: {mu: [0.1, 0.2, 0.3], L: {from: 1, to: 2, count: 5}, m: {mean: 1, deviation: 0.1}}
 *     depend: {I: m*L^2/12}
 *     sample: {sobol: 100, seed: 7}      # otherwise all combinations
 *     repeat: {count: 10, seed: 1, noise: {block.x: 0.001}}
 *     scheme: [moreau, trapezoidal]      # or one; step likewise
 *     duration: 2
 *     observe: [block.x, {name: loss, value: energy.friction_loss}] */
#include "study/study.h"

#include "io/scene_reader.h"
#include "io/text_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VALUES = 1000000, MOST_VARIATIONS = 32, MOST_SCENES = 1000 };
static const double MOST_RUNS = 1e7;

/* The reader of scenes does the work; what is read belongs to the study. */
typedef struct study_reader {
  ss_reader base; /* first: sections hand it on */
  ss_study *study;
  ss_scene **scenes;   /* [study->n_files], as the scene files have them */
  const ss_yaml *each; /* of `sample`: names, looked up when everything is read */
} study_reader;

static study_reader *whole(ss_reader *reader) { return (study_reader *)reader; }
static ss_study *study_of(ss_reader *reader) { return whole(reader)->study; }

static ss_status out_of_memory(ss_reader *reader) { return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory"); }

static ss_status keep_text(ss_reader *reader, const ss_yaml *node, void *text) {
  SS_TRY(ss_read_name(reader, node, text));
  *(const char **)text = ss_arena_strdup(study_of(reader)->arena, node->text);
  return *(const char **)text ? SS_OK : out_of_memory(reader);
}

static ss_status read_whole(ss_reader *reader, const ss_yaml *node, void *number) {
  SS_TRY(ss_read_number(reader, node, number));
  const double value = *(const double *)number;
  if (value >= 0 && value == floor(value) && value < 9e15) return SS_OK;
  return SS_READ_FAIL(reader, node, "'%s' must be a whole number, not %g", reader->key, value);
}

static ss_status read_count(ss_reader *reader, const ss_yaml *node, void *number) {
  SS_TRY(read_whole(reader, node, number));
  const double value = *(const double *)number;
  if (value >= 1 && value <= MOST_RUNS) return SS_OK;
  return SS_READ_FAIL(reader, node, "'%s' must be a whole number from 1 to %g", reader->key, MOST_RUNS);
}

/* ---- kinds of run ---- */

static const ss_word kind_words[] = {{"simulation", SS_STUDY_SIMULATION, false},
                                     {"bvp", SS_STUDY_BVP, false},
                                     {"converge", SS_STUDY_CONVERGE, false},
                                     {NULL, 0, false}};
static const ss_words words_kind = {"kind_of_run", kind_words};

static ss_status read_kind(ss_reader *reader, const ss_yaml *node, void *object) {
  int kind = 0;
  SS_TRY(ss_read_word(reader, node, &words_kind, &kind));
  ((ss_study *)object)->kind = (ss_study_kind)kind;
  return SS_OK;
}

static ss_status need_kind(ss_reader *reader, const ss_yaml *node, ss_study_kind kind) {
  if (study_of(reader)->kind == kind) return SS_OK;
  return SS_READ_FAIL(reader, node, "'%s' belongs to run: %s", reader->key, kind_words[kind].name);
}

/* ---- scenes ---- */

/* The path of a file that is named relative to the study's folder. */
static char *path_beside(ss_study *study, const char *name) {
  const char *slash = name[0] == '/' ? NULL : strrchr(study->file, '/');
  const size_t folder = slash ? (size_t)(slash - study->file) + 1 : 0;
  char *path = ss_arena_alloc(study->arena, folder + strlen(name) + 1);
  if (!path) return NULL;
  memcpy(path, study->file, folder);
  (void)snprintf(path + folder, strlen(name) + 1, "%s", name);
  return path;
}

static ss_status keep_parameters(ss_reader *reader, const ss_scene *scene, ss_study_file *file) {
  ss_arena *arena = study_of(reader)->arena;
  file->n_parameters = scene->n_parameters + scene->n_inputs;
  file->n_inputs = scene->n_inputs;
  file->parameters = SS_ARENA_ARRAY(arena, ss_parameter, file->n_parameters + 1);
  if (!file->parameters) return out_of_memory(reader);
  for (int i = 0; i < file->n_parameters; i++) {
    const ss_parameter *p = i < scene->n_parameters ? &scene->parameters[i] : &scene->inputs[i - scene->n_parameters];
    file->parameters[i] = (ss_parameter){ss_arena_strdup(arena, p->name), p->value};
    if (!file->parameters[i].name) return out_of_memory(reader);
  }
  return SS_OK;
}

static ss_status read_scene_file(ss_reader *reader, const ss_yaml *node) {
  ss_study *study = study_of(reader);
  ss_study_file *file = &study->files[study->n_files];
  ss_scene **scene = &whole(reader)->scenes[study->n_files++];
  const char *name = NULL;
  SS_TRY(ss_read_name(reader, node, &name));
  file->word = ss_arena_strdup(study->arena, name);
  file->path = path_beside(study, name);
  if (!file->word || !file->path) return out_of_memory(reader);
  char *text = NULL;
  const ss_status status = ss_text_file_read(file->path, SS_TEXT_FILE_LIMIT, &text, &file->length, reader->error);
  file->text = text ? ss_arena_strdup(study->arena, text) : NULL;
  ss_free(text);
  if (status) {
    char why[sizeof reader->error->message];
    memcpy(why, reader->error->message, sizeof why);
    return SS_READ_FAIL(reader, node, "'%s': %s", ss_printable(name).text, why);
  }
  if (!file->text) return out_of_memory(reader);
  SS_TRY(ss_scene_parse(file->text, file->length, file->path, NULL, 0, scene, reader->error));
  if (study->kind == SS_STUDY_BVP && !(*scene)->boundary.given)
    return SS_READ_FAIL(reader, node, "run: bvp needs a scene with a section 'boundary', which '%s' does not have",
                        ss_printable(name).text);
  return keep_parameters(reader, *scene, file);
}

static ss_status add_variation(ss_reader *reader, const ss_yaml *node, ss_variation variation) {
  ss_study *study = study_of(reader);
  if (study->n_variations == MOST_VARIATIONS)
    return SS_READ_FAIL(reader, node, "more than %d things vary", MOST_VARIATIONS);
  study->variations[study->n_variations++] = variation;
  return SS_OK;
}

static ss_status new_values(ss_reader *reader, ss_variation *v, long count) {
  v->count = count;
  v->values = SS_ARENA_ARRAY(study_of(reader)->arena, ss_study_value, count);
  return v->values ? SS_OK : out_of_memory(reader);
}

/* 0, 1, 2 ... */
static ss_status add_counted(ss_reader *reader, const ss_yaml *node, ss_variation_kind kind, const char *name,
                             long count) {
  ss_variation v = {.kind = kind, .name = name, .crossed = true};
  SS_TRY(new_values(reader, &v, count));
  for (long i = 0; i < count; i++) v.values[i].number = (double)i;
  return add_variation(reader, node, v);
}

static ss_status read_scenes(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_study *study = object;
  const bool list = node->kind == SS_YAML_LIST;
  const int n = list ? node->count : 1;
  if (n == 0 || n > MOST_SCENES) return SS_READ_FAIL(reader, node, "'scene' must name 1 to %d files", MOST_SCENES);
  study->files = SS_ARENA_ARRAY(study->arena, ss_study_file, n);
  whole(reader)->scenes = SS_ARENA_ARRAY(reader->scratch, ss_scene *, n);
  if (!study->files || !whole(reader)->scenes) return out_of_memory(reader);
  ss_variation v = {.kind = SS_VARY_SCENE, .name = "scene", .crossed = true};
  SS_TRY(new_values(reader, &v, n));
  for (int i = 0; i < n; i++) {
    SS_TRY(read_scene_file(reader, list ? node->items[i].value : node));
    v.values[i] = (ss_study_value){NAN, study->files[i].word};
  }
  return list ? add_variation(reader, node, v) : SS_OK;
}

/* ---- what varies ---- */

/* A list of numbers or words (where read_one is for them), or a single one. */
static ss_status read_list(ss_reader *reader, const ss_yaml *node, ss_read read_one, ss_variation *v) {
  const bool list = node->kind == SS_YAML_LIST;
  if (list && node->count == 0) return SS_READ_FAIL(reader, node, "'%s' has no values", reader->key);
  SS_TRY(new_values(reader, v, list ? node->count : 1));
  for (long i = 0; i < v->count; i++) {
    const ss_yaml *item = list ? node->items[i].value : node;
    v->values[i].number = NAN;
    const bool word = v->kind == SS_VARY_SCHEME;
    SS_TRY(read_one(reader, item, word ? (void *)&v->values[i].word : (void *)&v->values[i].number));
  }
  return SS_OK;
}

typedef struct range {
  double from, to, count, mean, deviation;
  int scale;
} range;

static const ss_word scale_words[] = {{"linear", 0, false}, {"log", 1, false}, {NULL, 0, false}};
static const ss_words words_scale = {"scale", scale_words};

static ss_status read_scale(ss_reader *reader, const ss_yaml *node, void *scale) {
  return ss_read_word(reader, node, &words_scale, scale);
}

static const ss_key range_keys[] = {
    {"from", ss_read_number, offsetof(range, from), false, 0},
    {"to", ss_read_number, offsetof(range, to), false, 0},
    {"count", ss_read_number, offsetof(range, count), false, 0},
    {"mean", ss_read_number, offsetof(range, mean), false, 0},
    {"deviation", ss_read_positive, offsetof(range, deviation), false, 0},
    {"scale", read_scale, offsetof(range, scale), false, 0},
    {NULL, NULL, 0, false, 0},
};
static const ss_section section_range = {"range", range_keys};

/* A normal distribution; with ends, what lies beyond them is left out. */
static ss_status read_normal(ss_reader *reader, const ss_yaml *node, const range *r, ss_variation *v) {
  if (isnan(r->mean) || isnan(r->deviation))
    return SS_READ_FAIL(reader, node, "a normal distribution needs both 'mean' and 'deviation'");
  const ss_yaml *count = ss_yaml_get(node, "count");
  if (count) return SS_READ_FAIL(reader, count, "a distribution has no 'count': sample: {random: N, seed: S} says it");
  if (v->logarithmic && !(r->mean > 0))
    return SS_READ_FAIL(reader, node, "with scale: log, 'mean' must be positive (it is the median)");
  v->normal = true;
  v->mean = r->mean;
  v->deviation = r->deviation;
  v->from = isnan(r->from) ? -(double)INFINITY : r->from;
  v->to = isnan(r->to) ? (double)INFINITY : r->to;
  if (!(v->from < v->to)) return SS_READ_FAIL(reader, node, "'from' must be below 'to'");
  return SS_OK;
}

static ss_status read_range(ss_reader *reader, const ss_yaml *node, ss_variation *v) {
  range r = {.from = NAN, .to = NAN, .count = NAN, .mean = NAN, .deviation = NAN};
  const char *name = reader->key;
  SS_TRY(ss_read_section(reader, node, &section_range, -1, NULL, &r));
  v->ranged = true;
  v->logarithmic = r.scale == 1;
  if (!isnan(r.mean) || !isnan(r.deviation)) return read_normal(reader, node, &r, v);
  if (isnan(r.from) || isnan(r.to))
    return SS_READ_FAIL(reader, node, "'%s': a range needs 'from' and 'to', a distribution 'mean' and 'deviation'",
                        name);
  v->from = r.from;
  v->to = r.to;
  if (v->logarithmic && !(r.from > 0 && r.to > 0))
    return SS_READ_FAIL(reader, node, "'%s': with scale: log, from and to must be positive", name);
  const ss_yaml *count = ss_yaml_get(node, "count");
  if (!count) return SS_OK; /* to be sampled: decided when all is read */
  if (!(r.count >= 2 && r.count <= MOST_VALUES) || r.count != floor(r.count))
    return SS_READ_FAIL(reader, count, "'count' must be a whole number from 2 to %d, not %g", MOST_VALUES, r.count);
  SS_TRY(new_values(reader, v, (long)r.count));
  for (long i = 0; i < v->count; i++) {
    const double s = (double)i / (double)(v->count - 1); /* both ends are met exactly */
    v->values[i].number = i == 0 ? r.from : i == v->count - 1 ? r.to : ss_variation_sampled(v, s);
  }
  return SS_OK;
}

static ss_status check_declared_in(ss_reader *reader, const ss_yaml *key, const ss_study_file *file) {
  ss_word_list all = {0};
  ss_nearest nearest = {.word = key->text};
  for (int i = 0; i < file->n_parameters; i++) {
    if (strcmp(file->parameters[i].name, key->text) == 0) return SS_OK;
    ss_nearest_offer(&nearest, file->parameters[i].name);
    ss_word_list_add(&all, file->parameters[i].name);
  }
  const ss_printable_text shown = ss_printable(key->text), scene = ss_printable(file->word);
  if (file->n_parameters == 0)
    return SS_READ_FAIL(reader, key, "'%s' cannot vary: the scene '%s' declares no parameters (parameters: {%s: ...})",
                        shown.text, scene.text, shown.text);
  return SS_READ_FAIL(reader, key, "'%s' cannot vary: the scene '%s' declares no such parameter%s%s%s (it declares %s)",
                      shown.text, scene.text, nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "",
                      nearest.best ? "'?" : "", all.text);
}

static ss_status check_declared(ss_reader *reader, const ss_yaml *key) {
  const ss_study *study = study_of(reader);
  for (int i = 0; i < study->n_files; i++) SS_TRY(check_declared_in(reader, key, &study->files[i]));
  for (int i = 0; i < study->n_variations; i++)
    if (study->variations[i].kind == SS_VARY_PARAMETER && strcmp(study->variations[i].name, key->text) == 0)
      return SS_READ_FAIL(reader, key, "'%s' varies already", ss_printable(key->text).text);
  return SS_OK;
}

static ss_status read_variation(ss_reader *reader, const ss_yaml *key, const ss_yaml *value, ss_variation *v) {
  SS_TRY(check_declared(reader, key));
  *v = (ss_variation){.kind = SS_VARY_PARAMETER, .name = ss_arena_strdup(study_of(reader)->arena, key->text)};
  if (!v->name) return out_of_memory(reader);
  reader->key = v->name;
  return value->kind == SS_YAML_MAP ? read_range(reader, value, v) : read_list(reader, value, ss_read_number, v);
}

static ss_status read_vary(ss_reader *reader, const ss_yaml *node, void *object) {
  (void)object;
  SS_TRY(ss_expect_map(reader, node, "parameters and their values"));
  for (int i = 0; i < node->count; i++) {
    ss_variation v;
    SS_TRY(read_variation(reader, node->items[i].key, node->items[i].value, &v));
    SS_TRY(add_variation(reader, node->items[i].key, v));
  }
  return SS_OK;
}

/* One scheme is a choice for all runs, several vary. */
static ss_status read_schemes(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_variation v = {.kind = SS_VARY_SCHEME, .name = "scheme"};
  SS_TRY(read_list(reader, node, ss_read_scheme, &v));
  if (node->kind == SS_YAML_LIST) return add_variation(reader, node, v);
  ((ss_study *)object)->scheme = v.values[0].word;
  return SS_OK;
}

static ss_status read_steps(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_variation v = {.kind = SS_VARY_STEP, .name = "step"};
  SS_TRY(read_list(reader, node, ss_read_positive, &v));
  if (node->kind == SS_YAML_LIST) return add_variation(reader, node, v);
  ((ss_study *)object)->step = v.values[0].number;
  return SS_OK;
}

static ss_status read_number_list(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_study *study = object;
  SS_TRY(need_kind(reader, node, SS_STUDY_CONVERGE));
  SS_TRY(ss_expect_list(reader, node, "step sizes"));
  if (node->count < 2) return SS_READ_FAIL(reader, node, "'steps' must be two or more step sizes");
  study->n_steps = node->count;
  study->steps = SS_ARENA_ARRAY(study->arena, double, node->count);
  if (!study->steps) return out_of_memory(reader);
  for (int i = 0; i < node->count; i++) {
    SS_TRY(ss_read_positive(reader, node->items[i].value, &study->steps[i]));
    if (i > 0 && !(study->steps[i] < study->steps[i - 1]))
      return SS_READ_FAIL(reader, node->items[i].value, "'steps' must get smaller");
  }
  return SS_OK;
}

static ss_status read_reference(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_study *study = object;
  SS_TRY(need_kind(reader, node, SS_STUDY_CONVERGE));
  SS_TRY(ss_read_positive(reader, node, &study->reference));
  if (study->n_steps && study->reference >= study->steps[study->n_steps - 1])
    return SS_READ_FAIL(reader, node, "'reference' must be smaller than the finest of 'steps'");
  return SS_OK;
}

/* ---- parameters that depend on others ---- */

static ss_status read_depend(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_study *study = object;
  SS_TRY(ss_expect_map(reader, node, "parameters and their expressions"));
  study->dependents = SS_ARENA_ARRAY(study->arena, ss_dependent, node->count + 1);
  if (!study->dependents) return out_of_memory(reader);
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *key = node->items[i].key, *value = node->items[i].value;
    ss_dependent *d = &study->dependents[study->n_dependents++];
    SS_TRY(check_declared(reader, key));
    reader->key = key->text;
    SS_TRY(keep_text(reader, value, &d->text));
    d->name = ss_arena_strdup(study->arena, key->text);
    if (!d->name) return out_of_memory(reader);
    double ignored;
    const ss_status status = ss_expression_constant(d->text, study->files[0].parameters, study->files[0].n_parameters,
                                                    &ignored, reader->error);
    SS_TRY(ss_place_expression_error(reader, value, status));
  }
  return SS_OK;
}

/* ---- sampling ---- */

typedef struct sampling {
  double random, latin, sobol, seed;
  const ss_yaml *each;
} sampling;

static ss_status read_node(ss_reader *reader, const ss_yaml *node, void *field) {
  (void)reader;
  *(const ss_yaml **)field = node;
  return SS_OK;
}

static const ss_key sample_keys[] = {
    {"random", read_count, offsetof(sampling, random), false, 0},
    {"latin", read_count, offsetof(sampling, latin), false, 0},
    {"sobol", read_count, offsetof(sampling, sobol), false, 0},
    {"seed", read_whole, offsetof(sampling, seed), true, 0},
    {"each", read_node, offsetof(sampling, each), false, 0},
    {NULL, NULL, 0, false, 0},
};
static const ss_section section_sample = {"sample", sample_keys};

static ss_status read_sample(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_study *study = object;
  sampling s = {0};
  SS_TRY(ss_read_section(reader, node, &section_sample, -1, NULL, &s));
  if ((s.random > 0) + (s.latin > 0) + (s.sobol > 0) != 1)
    return SS_READ_FAIL(reader, node, "'sample' needs one of random: N, latin: N and sobol: N");
  study->sampling = s.random > 0 ? SS_SAMPLE_RANDOM : s.latin > 0 ? SS_SAMPLE_LATIN : SS_SAMPLE_SOBOL;
  study->samples = (long)(s.random + s.latin + s.sobol);
  study->seed = (uint64_t)s.seed;
  whole(reader)->each = s.each;
  return SS_OK;
}

/* `each: [scheme, mu]`: these are not sampled, all their values are run. */
static ss_status apply_each(ss_reader *reader, const ss_yaml *node) {
  ss_study *study = study_of(reader);
  const bool list = node->kind == SS_YAML_LIST;
  for (int i = 0; i < (list ? node->count : 1); i++) {
    const ss_yaml *item = list ? node->items[i].value : node;
    const char *name = NULL;
    SS_TRY(ss_read_name(reader, item, &name));
    ss_variation *v = NULL;
    for (int k = 0; k < study->n_variations; k++)
      if (strcmp(study->variations[k].name, name) == 0) v = &study->variations[k];
    if (!v) return SS_READ_FAIL(reader, item, "'%s' does not vary", ss_printable(name).text);
    if (!v->values) return SS_READ_FAIL(reader, item, "'%s' has no list of values or 'count'", ss_printable(name).text);
    v->crossed = true;
  }
  return SS_OK;
}

/* ---- repetition with noise ---- */

typedef struct repetition {
  double count, seed;
  const ss_yaml *noise;
} repetition;

static const ss_key repeat_keys[] = {
    {"count", read_count, offsetof(repetition, count), true, 0},
    {"seed", read_whole, offsetof(repetition, seed), true, 0},
    {"noise", read_node, offsetof(repetition, noise), true, 0},
    {NULL, NULL, 0, false, 0},
};
static const ss_section section_repeat = {"repeat", repeat_keys};

static const char *const noisy[] = {"x", "y", "z", "rx", "ry", "rz", "vx", "vy", "vz", "wx", "wy", "wz"};
enum { N_NOISY = sizeof noisy / sizeof noisy[0] };

/* BODY.vx: the body in every scene. */
static ss_status read_noise(ss_reader *reader, const ss_yaml *key, const ss_yaml *value, ss_noise *noise) {
  const ss_study *study = study_of(reader);
  const char *dot = strrchr(key->text, '.');
  noise->component = -1;
  for (int i = 0; dot && i < N_NOISY; i++)
    if (strcmp(dot + 1, noisy[i]) == 0) noise->component = i;
  noise->body = SS_ARENA_ARRAY(study->arena, int, study->n_files);
  if (!noise->body) return out_of_memory(reader);
  for (int f = 0; f < study->n_files; f++) {
    const ss_scene *scene = whole(reader)->scenes[f];
    noise->body[f] = -1;
    for (int i = 0; dot && i < scene->n_bodies; i++)
      if (strlen(scene->bodies[i].name) == (size_t)(dot - key->text) &&
          strncmp(scene->bodies[i].name, key->text, (size_t)(dot - key->text)) == 0)
        noise->body[f] = i;
    if (noise->body[f] < 0 || noise->component < 0)
      return SS_READ_FAIL(reader, key, "there is no '%s' to disturb (BODY. x y z rx ry rz vx vy vz wx wy wz)",
                          ss_printable(key->text).text);
  }
  reader->key = key->text;
  return ss_read_nonnegative(reader, value, &noise->deviation);
}

static ss_status read_repeat(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_study *study = object;
  repetition r = {0};
  SS_TRY(ss_read_section(reader, node, &section_repeat, -1, NULL, &r));
  SS_TRY(ss_expect_map(reader, r.noise, "coordinates of bodies and their deviations"));
  study->repeats = (long)r.count;
  study->noise_seed = (uint64_t)r.seed;
  study->noise = SS_ARENA_ARRAY(study->arena, ss_noise, r.noise->count + 1);
  if (!study->noise) return out_of_memory(reader);
  for (int i = 0; i < r.noise->count; i++)
    SS_TRY(read_noise(reader, r.noise->items[i].key, r.noise->items[i].value, &study->noise[study->n_noise++]));
  return SS_OK;
}

/* ---- observations ---- */

typedef struct named_value {
  const char *name;
  const ss_yaml *value;
} named_value;

static ss_status read_value_node(ss_reader *reader, const ss_yaml *node, void *value) {
  const char *text = NULL;
  SS_TRY(ss_read_name(reader, node, &text));
  *(const ss_yaml **)value = node;
  return SS_OK;
}

static const ss_key observation_keys[] = {
    {"name", ss_read_name, offsetof(named_value, name), true, 0},
    {"value", read_value_node, offsetof(named_value, value), true, 0},
    {NULL, NULL, 0, false, 0},
};
static const ss_section section_observation = {"observation", observation_keys};

/* In every scene. `at` chooses where the parsed expression goes. */
static ss_status parse_everywhere(ss_reader *reader, const char *name, const ss_yaml *value,
                                  ss_observation *(*at)(ss_study_file *file, int index), int index) {
  const ss_study *study = study_of(reader);
  for (int f = 0; f < study->n_files; f++) {
    ss_observation *out = at(&study->files[f], index);
    const ss_status status =
        ss_observation_parse(name, value->text, whole(reader)->scenes[f], study->arena, out, reader->error);
    SS_TRY(ss_place_expression_error(reader, value, status));
    for (int i = 0; i < out->n_measures; i++)
      if (!ss_observable_is_of(&out->measures[i].quantity, study->kind))
        return SS_READ_FAIL(reader, value, "'%s' has a quantity that only another kind of run has (run: bvp, converge)",
                            ss_printable(value->text).text);
  }
  return SS_OK;
}

static ss_observation *observation_at(ss_study_file *file, int index) { return &file->observations[index]; }
static ss_observation *objective_at(ss_study_file *file, int index) {
  (void)index;
  return &file->objective;
}

static ss_status add_column(ss_reader *reader, const ss_yaml *node, const char *name) {
  ss_study *study = study_of(reader);
  const int n = study->minimisation.n + (study->minimisation.given ? 2 : 0) + study->n_observations;
  for (int k = 0; k < n; k++)
    if (strcmp(study->observed[k], name) == 0)
      return SS_READ_FAIL(reader, node, "'%s' is observed twice", ss_printable(name).text);
  study->observed[n] = ss_arena_strdup(study->arena, name);
  return study->observed[n] ? SS_OK : out_of_memory(reader);
}

static ss_status read_observation(ss_reader *reader, const ss_yaml *node) {
  ss_study *study = study_of(reader);
  named_value named = {0};
  if (node->kind == SS_YAML_MAP) {
    SS_TRY(ss_read_section(reader, node, &section_observation, -1, NULL, &named));
  } else {
    SS_TRY(ss_read_name(reader, node, &named.name));
    named.value = node;
  }
  SS_TRY(parse_everywhere(reader, named.name, named.value, observation_at, study->n_observations));
  SS_TRY(add_column(reader, node, named.name));
  study->n_observations++;
  return SS_OK;
}

static ss_status read_observe(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_study *study = object;
  const bool list = node->kind == SS_YAML_LIST;
  const int n = list ? node->count : 1;
  if (n == 0) return SS_READ_FAIL(reader, node, "'observe' is empty: what is the study about?");
  const char **observed = SS_ARENA_ARRAY(study->arena, const char *, n + study->minimisation.n + 2);
  if (!observed) return out_of_memory(reader);
  for (int i = 0; study->minimisation.given && i < study->minimisation.n + 2; i++) observed[i] = study->observed[i];
  study->observed = observed;
  for (int f = 0; f < study->n_files; f++) {
    study->files[f].observations = SS_ARENA_ARRAY(study->arena, ss_observation, n);
    if (!study->files[f].observations) return out_of_memory(reader);
  }
  for (int i = 0; i < n; i++) SS_TRY(read_observation(reader, list ? node->items[i].value : node));
  return SS_OK;
}

/* ---- minimisation ---- */

typedef struct minimum_keys {
  const ss_yaml *value, *over;
  double starts, evaluations, tolerance;
} minimum_keys;

static const ss_key minimise_keys[] = {
    {"value", read_value_node, offsetof(minimum_keys, value), true, 0},
    {"over", read_node, offsetof(minimum_keys, over), true, 0},
    {"starts", read_count, offsetof(minimum_keys, starts), false, 0},
    {"evaluations", read_count, offsetof(minimum_keys, evaluations), false, 0},
    {"tolerance", ss_read_positive, offsetof(minimum_keys, tolerance), false, 0},
    {NULL, NULL, 0, false, 0},
};
static const ss_section section_minimise = {"minimize", minimise_keys};

static ss_status read_design(ss_reader *reader, const ss_yaml *over, ss_minimisation *m) {
  SS_TRY(ss_expect_map(reader, over, "parameters and their ranges"));
  if (over->count == 0 || over->count >= SS_SOBOL_DIMENSIONS)
    return SS_READ_FAIL(reader, over, "'over' must have 1 to %d parameters", SS_SOBOL_DIMENSIONS - 1);
  m->over = SS_ARENA_ARRAY(study_of(reader)->arena, ss_variation, over->count);
  if (!m->over) return out_of_memory(reader);
  for (int i = 0; i < over->count; i++) {
    const ss_yaml *value = over->items[i].value;
    ss_variation *v = &m->over[m->n];
    SS_TRY(read_variation(reader, over->items[i].key, value, v));
    if (!v->ranged || v->normal || v->count || !(v->from < v->to))
      return SS_READ_FAIL(reader, value, "'%s' must be a range: {from: A, to: B}", v->name);
    m->n++;
  }
  return SS_OK;
}

static ss_status read_minimise(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_study *study = object;
  minimum_keys k = {.starts = 1, .evaluations = 200, .tolerance = 1e-6};
  ss_minimisation *m = &study->minimisation;
  SS_TRY(ss_read_section(reader, node, &section_minimise, -1, NULL, &k));
  SS_TRY(read_design(reader, k.over, m));
  SS_TRY(parse_everywhere(reader, "objective", k.value, objective_at, 0));
  m->starts = (long)k.starts;
  m->evaluations = (long)k.evaluations;
  m->tolerance = k.tolerance;
  study->observed = SS_ARENA_ARRAY(study->arena, const char *, m->n + 2);
  if (!study->observed) return out_of_memory(reader);
  for (int i = 0; i < m->n; i++) study->observed[i] = m->over[i].name;
  study->observed[m->n] = "objective";
  study->observed[m->n + 1] = "evaluations";
  m->given = true;
  return SS_OK;
}

/* ---- what is kept ---- */

typedef struct keeping {
  double every;
  int failures;
  bool state;
} keeping;

static const ss_word failure_words[] = {{"none", SS_KEEP_NO_FAILURES, false},
                                        {"scene", SS_KEEP_FAILED_SCENES, false},
                                        {"result", SS_KEEP_FAILED_RESULTS, false},
                                        {NULL, 0, false}};
static const ss_words words_failures = {"what_is_kept_of_failures", failure_words};

static ss_status read_failures(ss_reader *reader, const ss_yaml *node, void *field) {
  return ss_read_word(reader, node, &words_failures, field);
}

static const ss_key keep_keys[] = {
    {"failures", read_failures, offsetof(keeping, failures), false, 0},
    {"every", read_whole, offsetof(keeping, every), false, 0},
    {"state", ss_read_boolean, offsetof(keeping, state), false, 0},
    {NULL, NULL, 0, false, 0},
};
static const ss_section section_keep = {"keep", keep_keys};

static ss_status read_keep(ss_reader *reader, const ss_yaml *node, void *object) {
  keeping k = {.failures = SS_KEEP_FAILED_SCENES};
  SS_TRY(ss_read_section(reader, node, &section_keep, -1, NULL, &k));
  ((ss_study *)object)->keep = (ss_study_keep){(ss_study_failures)k.failures, (long)k.every, k.state};
  return SS_OK;
}

/* ---- the file ---- */

/* In the order in which they need each other. */
static const ss_key study_keys[] = {
    {"name", keep_text, offsetof(ss_study, name), false, 0},
    {"run", read_kind, 0, false, 0},
    {"scene", read_scenes, 0, true, 0},
    {"vary", read_vary, 0, false, 0},
    {"depend", read_depend, 0, false, 0},
    {"sample", read_sample, 0, false, 0},
    {"scheme", read_schemes, 0, false, 0},
    {"step", read_steps, 0, false, 0},
    {"steps", read_number_list, 0, false, 0},
    {"reference", read_reference, 0, false, 0},
    {"duration", ss_read_positive, offsetof(ss_study, duration), false, 0},
    {"solver", ss_read_solver, offsetof(ss_study, solver), false, 0},
    {"time_limit", ss_read_positive, offsetof(ss_study, time_limit), false, 0},
    {"repeat", read_repeat, 0, false, 0},
    {"minimize", read_minimise, 0, false, 0},
    {"keep", read_keep, 0, false, 0},
    {"observe", read_observe, 0, true, 0},
    {NULL, NULL, 0, false, 0},
};
static const ss_section section_study = {"study", study_keys};

static ss_status check_names(ss_reader *reader, const ss_yaml *root) {
  const ss_study *study = study_of(reader);
  for (int i = 0; i < study->n_variations; i++)
    for (int k = 0; k < i; k++)
      if (strcmp(study->variations[i].name, study->variations[k].name) == 0)
        return SS_READ_FAIL(reader, root, "'%s' varies twice: as a parameter and as the study's own",
                            study->variations[i].name);
  return SS_OK;
}

static ss_status check_sampled(ss_reader *reader, const ss_yaml *root) {
  const ss_study *study = study_of(reader);
  int sampled = 0;
  for (int i = 0; i < study->n_variations; i++) sampled += !study->variations[i].crossed;
  const ss_yaml *sample = ss_yaml_get(root, "sample");
  if (sampled == 0) return SS_READ_FAIL(reader, sample, "nothing is sampled: all that varies is of 'each'");
  if (study->sampling == SS_SAMPLE_SOBOL && sampled > SS_SOBOL_DIMENSIONS)
    return SS_READ_FAIL(reader, sample, "Sobol points have at most %d dimensions, not %d", SS_SOBOL_DIMENSIONS,
                        sampled);
  return SS_OK;
}

/* A grid crosses everything; so does the scene of a random study. */
static ss_status cross(ss_reader *reader, const ss_yaml *root) {
  ss_study *study = study_of(reader);
  if (study->sampling != SS_SAMPLE_GRID) {
    if (whole(reader)->each) SS_TRY(apply_each(reader, whole(reader)->each));
    return check_sampled(reader, root);
  }
  for (int i = 0; i < study->n_variations; i++) {
    ss_variation *v = &study->variations[i];
    if (!v->values) /* a range of the section vary */
      return SS_READ_FAIL(reader, ss_yaml_get(ss_yaml_get(root, "vary"), v->name),
                          v->normal ? "'%s' has a normal distribution, which needs sample: {random: N, seed: S}"
                                    : "the range of '%s' needs a count (or sample: {random: N, seed: S})",
                          v->name);
    v->crossed = true;
  }
  return SS_OK;
}

static ss_status count_runs(ss_reader *reader, const ss_yaml *root) {
  ss_study *study = study_of(reader);
  if (study->n_variations == 0 && study->repeats == 0 && !study->minimisation.given)
    return SS_READ_FAIL(reader, root, "nothing varies: the key 'vary' says what does");
  SS_TRY(cross(reader, root));
  if (study->minimisation.given) SS_TRY(add_counted(reader, root, SS_VARY_START, "start", study->minimisation.starts));
  if (study->repeats > 0) SS_TRY(add_counted(reader, root, SS_VARY_REPEAT, "repeat", study->repeats));
  SS_TRY(check_names(reader, root));
  double runs = (double)study->samples;
  for (int i = 0; i < study->n_variations; i++)
    if (study->variations[i].crossed) runs *= (double)study->variations[i].count;
  if (runs > MOST_RUNS) return SS_READ_FAIL(reader, root, "%g runs are too many (at most %g)", runs, MOST_RUNS);
  study->runs = (long)runs;
  return SS_OK;
}

static ss_status read_study(study_reader *r, const char *text, size_t length) {
  ss_reader *reader = &r->base;
  const ss_yaml *root = NULL;
  SS_TRY(ss_yaml_parse(text, length, reader->file, reader->scratch, &root, reader->error));
  if (root->kind == SS_YAML_MAP && ss_yaml_get(root, "bodies"))
    return SS_READ_FAIL(reader, root, "this is a scene, not a study; stickslip run runs it");
  SS_TRY(ss_read_section(reader, root, &section_study, -1, NULL, r->study));
  if (r->study->kind == SS_STUDY_CONVERGE && !r->study->steps)
    return SS_READ_FAIL(reader, root, "run: converge needs 'steps', a list of step sizes");
  SS_TRY(count_runs(reader, root));
  const char *name = r->scenes[0]->name ? r->scenes[0]->name : r->study->files[0].path;
  if (!r->study->name) r->study->name = ss_arena_strdup(r->study->arena, name);
  return r->study->name ? SS_OK : out_of_memory(reader);
}

static ss_status create_study(const char *path, const char *text, ss_study **out, ss_error *error) {
  ss_arena *arena = ss_arena_create();
  ss_study *study = arena ? SS_ARENA_ARRAY(arena, ss_study, 1) : NULL;
  if (study) {
    *study = (ss_study){.arena = arena,
                        .step = NAN,
                        .duration = NAN,
                        .reference = NAN,
                        .time_limit = NAN,
                        .samples = 1,
                        .keep.failures = SS_KEEP_FAILED_SCENES};
    study->file = ss_arena_strdup(arena, path);
    study->text = ss_arena_strdup(arena, text);
    study->variations = SS_ARENA_ARRAY(arena, ss_variation, MOST_VARIATIONS);
  }
  *out = study;
  if (study && study->file && study->text && study->variations) return SS_OK;
  ss_arena_destroy(arena);
  *out = NULL;
  return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
}

ss_status ss_study_load(const char *path, ss_study **out, ss_error *error) {
  *out = NULL;
  ss_error unwanted;
  char *text = NULL;
  size_t length = 0;
  study_reader r = {.base = {.file = path, .key = "study", .error = error ? error : &unwanted}};
  SS_TRY(ss_text_file_read(path, SS_TEXT_FILE_LIMIT, &text, &length, r.base.error));
  ss_status status = create_study(path, text, &r.study, r.base.error);
  if (!status) {
    r.base.scratch = ss_arena_create();
    status = r.base.scratch ? read_study(&r, text, length) : out_of_memory(&r.base);
    for (int i = 0; r.scenes && i < r.study->n_files; i++) ss_scene_destroy(r.scenes[i]);
    ss_arena_destroy(r.base.scratch);
  }
  ss_free(text);
  if (status == SS_OK)
    *out = r.study;
  else
    ss_study_destroy(r.study);
  return status;
}

void ss_study_destroy(ss_study *study) {
  if (study) ss_arena_destroy(study->arena);
}
