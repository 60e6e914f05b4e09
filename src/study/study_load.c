/* Study files: the contract of docs/studies.md.
 *
 *     scene: ../scenes/block.yaml
 *     vary: {mu: [0.1, 0.2, 0.3], L: {from: 1, to: 2, count: 5}}
 *     sample: {random: 100, seed: 7}     # otherwise all combinations
 *     scheme: [moreau, trapezoidal]      # or one; step likewise
 *     duration: 2
 *     observe: [block.x, {name: loss, value: energy.friction_loss}] */
#include "study/study.h"

#include "io/scene_reader.h"
#include "io/text_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VALUES = 1000000, MOST_VARIATIONS = 32 };
static const double MOST_RUNS = 1e7;

/* The reader of scenes does the work; what is read belongs to the study. */
typedef struct study_reader {
  ss_reader base; /* first: sections hand it on */
  ss_study *study;
  ss_scene *scene; /* as the scene file has it */
} study_reader;

static ss_study *study_of(ss_reader *reader) { return ((study_reader *)reader)->study; }

static ss_status out_of_memory(ss_reader *reader) { return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory"); }

static ss_status keep_text(ss_reader *reader, const ss_yaml *node, void *text) {
  SS_TRY(ss_read_name(reader, node, text));
  *(const char **)text = ss_arena_strdup(study_of(reader)->arena, node->text);
  return *(const char **)text ? SS_OK : out_of_memory(reader);
}

/* ---- the scene ---- */

static ss_status read_scene_path(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_study *study = object;
  const char *name = NULL;
  SS_TRY(ss_read_name(reader, node, &name));
  const char *slash = name[0] == '/' ? NULL : strrchr(study->file, '/');
  const size_t folder = slash ? (size_t)(slash - study->file) + 1 : 0;
  char *path = ss_arena_alloc(study->arena, folder + strlen(name) + 1);
  if (!path) return out_of_memory(reader);
  memcpy(path, study->file, folder);
  (void)snprintf(path + folder, strlen(name) + 1, "%s", name);
  study->scene = path;
  const ss_status status = ss_scene_load(path, NULL, 0, &((study_reader *)reader)->scene, reader->error);
  if (status != SS_ERROR_IO) return status; /* a mistake of the scene has its place there */
  char why[sizeof reader->error->message];
  memcpy(why, reader->error->message, sizeof why);
  return SS_READ_FAIL(reader, node, "'%s': %s", ss_printable(name).text, why);
}

/* ---- what varies ---- */

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
  double from, to, count;
  int scale;
} range;

static const ss_word scale_words[] = {{"linear", 0, false}, {"log", 1, false}, {NULL, 0, false}};
static const ss_words words_scale = {"scale", scale_words};

static ss_status read_scale(ss_reader *reader, const ss_yaml *node, void *scale) {
  return ss_read_word(reader, node, &words_scale, scale);
}

static const ss_key range_keys[] = {
    {"from", ss_read_number, offsetof(range, from), true, 0},
    {"to", ss_read_number, offsetof(range, to), true, 0},
    {"count", ss_read_number, offsetof(range, count), false, 0},
    {"scale", read_scale, offsetof(range, scale), false, 0},
    {NULL, NULL, 0, false, 0},
};
static const ss_section section_range = {"range", range_keys};

static ss_status read_range(ss_reader *reader, const ss_yaml *node, ss_variation *v) {
  range r = {.count = NAN};
  const char *name = reader->key;
  SS_TRY(ss_read_section(reader, node, &section_range, -1, NULL, &r));
  v->from = r.from;
  v->to = r.to;
  v->logarithmic = r.scale == 1;
  if (v->logarithmic && !(r.from > 0 && r.to > 0))
    return SS_READ_FAIL(reader, node, "'%s': with scale: log, from and to must be positive", name);
  const ss_yaml *count = ss_yaml_get(node, "count");
  if (!count) return SS_OK; /* to be sampled: decided when all is read */
  if (!(r.count >= 2 && r.count <= MOST_VALUES) || r.count != floor(r.count))
    return SS_READ_FAIL(reader, count, "'count' must be a whole number from 2 to %d, not %g", MOST_VALUES, r.count);
  SS_TRY(new_values(reader, v, (long)r.count));
  for (long i = 0; i < v->count; i++) {
    const double s = (double)i / (double)(v->count - 1); /* both ends are met exactly */
    const double between =
        v->logarithmic ? exp(log(r.from) + s * (log(r.to) - log(r.from))) : r.from + s * (r.to - r.from);
    v->values[i].number = i == 0 ? r.from : i == v->count - 1 ? r.to : between;
  }
  return SS_OK;
}

static ss_status check_declared(ss_reader *reader, const ss_yaml *key) {
  const ss_scene *scene = ((study_reader *)reader)->scene;
  ss_word_list all = {0};
  ss_nearest nearest = {.word = key->text};
  for (int i = 0; i < scene->n_parameters; i++) {
    if (strcmp(scene->parameters[i].name, key->text) == 0) return SS_OK;
    ss_nearest_offer(&nearest, scene->parameters[i].name);
    ss_word_list_add(&all, scene->parameters[i].name);
  }
  const ss_printable_text shown = ss_printable(key->text);
  if (scene->n_parameters == 0)
    return SS_READ_FAIL(reader, key, "'%s' cannot vary: the scene declares no parameters (parameters: {%s: ...})",
                        shown.text, shown.text);
  return SS_READ_FAIL(reader, key, "'%s' cannot vary: the scene declares no such parameter%s%s%s (it declares %s)",
                      shown.text, nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "",
                      nearest.best ? "'?" : "", all.text);
}

static ss_status read_vary(ss_reader *reader, const ss_yaml *node, void *object) {
  (void)object;
  SS_TRY(ss_expect_map(reader, node, "parameters and their values"));
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *key = node->items[i].key, *value = node->items[i].value;
    SS_TRY(check_declared(reader, key));
    ss_variation v = {.kind = SS_VARY_PARAMETER, .name = ss_arena_strdup(study_of(reader)->arena, key->text)};
    if (!v.name) return out_of_memory(reader);
    reader->key = v.name;
    SS_TRY(value->kind == SS_YAML_MAP ? read_range(reader, value, &v) : read_list(reader, value, ss_read_number, &v));
    SS_TRY(add_variation(reader, key, v));
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

/* ---- sampling ---- */

typedef struct sampling {
  double random, seed;
} sampling;

static ss_status read_whole(ss_reader *reader, const ss_yaml *node, void *number) {
  SS_TRY(ss_read_number(reader, node, number));
  const double value = *(const double *)number;
  if (value >= 0 && value == floor(value) && value < 9e15) return SS_OK;
  return SS_READ_FAIL(reader, node, "'%s' must be a whole number, not %g", reader->key, value);
}

static const ss_key sample_keys[] = {
    {"random", read_whole, offsetof(sampling, random), true, 0},
    {"seed", read_whole, offsetof(sampling, seed), true, 0},
    {NULL, NULL, 0, false, 0},
};
static const ss_section section_sample = {"sample", sample_keys};

static ss_status read_sample(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_study *study = object;
  sampling s = {0};
  SS_TRY(ss_read_section(reader, node, &section_sample, -1, NULL, &s));
  if (!(s.random >= 1 && s.random <= MOST_RUNS))
    return SS_READ_FAIL(reader, node, "'random' must be a number of runs from 1 to %g", MOST_RUNS);
  study->random = true;
  study->runs = (long)s.random;
  study->seed = (uint64_t)s.seed;
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

static ss_status read_observation(ss_reader *reader, const ss_yaml *node, ss_observation *out) {
  named_value named = {0};
  if (node->kind == SS_YAML_MAP) {
    SS_TRY(ss_read_section(reader, node, &section_observation, -1, NULL, &named));
  } else {
    SS_TRY(ss_read_name(reader, node, &named.name));
    named.value = node;
  }
  const ss_status status = ss_observation_parse(named.name, named.value->text, ((study_reader *)reader)->scene,
                                                study_of(reader)->arena, out, reader->error);
  return ss_place_expression_error(reader, named.value, status);
}

static ss_status read_observe(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_study *study = object;
  const bool list = node->kind == SS_YAML_LIST;
  const int n = list ? node->count : 1;
  if (n == 0) return SS_READ_FAIL(reader, node, "'observe' is empty: what is the study about?");
  study->observations = SS_ARENA_ARRAY(study->arena, ss_observation, n);
  if (!study->observations) return out_of_memory(reader);
  for (int i = 0; i < n; i++) {
    const ss_yaml *item = list ? node->items[i].value : node;
    SS_TRY(read_observation(reader, item, &study->observations[i]));
    study->n_observations++;
    for (int k = 0; k < i; k++)
      if (strcmp(study->observations[k].name, study->observations[i].name) == 0)
        return SS_READ_FAIL(reader, item, "'%s' is observed twice", ss_printable(study->observations[i].name).text);
  }
  return SS_OK;
}

/* ---- the file ---- */

/* In the order in which they need each other. */
static const ss_key study_keys[] = {
    {"name", keep_text, offsetof(ss_study, name), false, 0},
    {"scene", read_scene_path, 0, true, 0},
    {"vary", read_vary, 0, false, 0},
    {"sample", read_sample, 0, false, 0},
    {"scheme", read_schemes, 0, false, 0},
    {"step", read_steps, 0, false, 0},
    {"duration", ss_read_positive, offsetof(ss_study, duration), false, 0},
    {"solver", ss_read_solver, offsetof(ss_study, solver), false, 0},
    {"observe", read_observe, 0, true, 0},
    {NULL, NULL, 0, false, 0},
};
static const ss_section section_study = {"study", study_keys};

static ss_status check_names(ss_reader *reader, const ss_yaml *root) {
  const ss_study *study = study_of(reader);
  for (int i = 0; i < study->n_variations; i++)
    for (int k = 0; k < i; k++)
      if (strcmp(study->variations[i].name, study->variations[k].name) == 0)
        return SS_READ_FAIL(reader, root, "'%s' varies twice: as a parameter and as the simulation's own",
                            study->variations[i].name);
  return SS_OK;
}

static ss_status count_runs(ss_reader *reader, const ss_yaml *root) {
  ss_study *study = study_of(reader);
  if (study->n_variations == 0) return SS_READ_FAIL(reader, root, "nothing varies: the key 'vary' says what does");
  SS_TRY(check_names(reader, root));
  if (study->random) return SS_OK;
  double runs = 1;
  for (int i = 0; i < study->n_variations; i++) {
    const ss_variation *v = &study->variations[i];
    if (!v->values) /* a range of the section vary */
      return SS_READ_FAIL(reader, ss_yaml_get(ss_yaml_get(root, "vary"), v->name),
                          "the range of '%s' needs a count (or sample: {random: N, seed: S})", v->name);
    runs *= (double)v->count;
  }
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
  SS_TRY(count_runs(reader, root));
  const char *name = r->scene->name ? r->scene->name : r->study->scene;
  if (!r->study->name) r->study->name = ss_arena_strdup(r->study->arena, name);
  return r->study->name ? SS_OK : out_of_memory(reader);
}

static ss_status create_study(const char *path, ss_study **out, ss_error *error) {
  ss_arena *arena = ss_arena_create();
  ss_study *study = arena ? SS_ARENA_ARRAY(arena, ss_study, 1) : NULL;
  if (study) {
    *study = (ss_study){.arena = arena, .step = NAN, .duration = NAN};
    study->file = ss_arena_strdup(arena, path);
    study->variations = SS_ARENA_ARRAY(arena, ss_variation, MOST_VARIATIONS);
  }
  *out = study;
  if (study && study->file && study->variations) return SS_OK;
  ss_arena_destroy(arena);
  return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
}

ss_status ss_study_load(const char *path, ss_study **out, ss_error *error) {
  *out = NULL;
  ss_error unwanted;
  char *text = NULL;
  size_t length = 0;
  study_reader r = {.base = {.file = path, .key = "study", .error = error ? error : &unwanted}};
  SS_TRY(ss_text_file_read(path, SS_TEXT_FILE_LIMIT, &text, &length, r.base.error));
  ss_status status = create_study(path, &r.study, r.base.error);
  if (!status) {
    r.base.scratch = ss_arena_create();
    status = r.base.scratch ? read_study(&r, text, length) : out_of_memory(&r.base);
    ss_arena_destroy(r.base.scratch);
    ss_scene_destroy(r.scene);
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
