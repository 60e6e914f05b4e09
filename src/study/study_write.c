/* The scene of one run as a file: the text of the study's scene with the run's parameters and the study's options put in,
 * comments left as they are, and where the start is disturbed a section `start`. It reproduces the run, exact to the last
 * bit. What the text cannot be changed to (JSON, values over several lines) is SS_ERROR_UNSUPPORTED. */
#include "study/study.h"

#include "bvp/scene_text.h"
#include "core/words.h"
#include "io/output_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static ss_status set_number(char **text, const char *key, double value, ss_error *error) {
  char number[64];
  if (isnan(value)) return SS_OK;
  (void)snprintf(number, sizeof number, "%.17g", value);
  return ss_scene_text_set(text, "simulation", key, number, error);
}

static ss_status set_word(char **text, const char *key, const char *word, ss_error *error) {
  return word ? ss_scene_text_set(text, "simulation", key, word, error) : SS_OK;
}

static ss_status set_options(const ss_study *study, long run, char **text, ss_error *error) {
  const char *scheme = study->scheme;
  double step = study->kind == SS_STUDY_CONVERGE ? study->steps[study->n_steps - 1] : study->step;
  for (int i = 0; i < study->n_variations; i++) {
    const ss_study_value value = ss_study_point(study, run, i);
    if (study->variations[i].kind == SS_VARY_SCHEME) scheme = value.word;
    if (study->variations[i].kind == SS_VARY_STEP) step = value.number;
  }
  SS_TRY(set_word(text, "scheme", scheme, error));
  SS_TRY(set_word(text, "solver", study->solver, error));
  SS_TRY(set_number(text, "step", step, error));
  return set_number(text, "duration", study->duration, error);
}

static ss_status set_parameters(const ss_study *study, long run, ss_arena *arena, char **text, ss_error *error) {
  ss_settings settings;
  SS_TRY(ss_study_settings(study, run, NULL, arena, &settings, error));
  for (int i = 0; i < settings.n_parameters + settings.n_inputs; i++) {
    const bool input = i >= settings.n_parameters;
    const char *setting = input ? settings.inputs[i - settings.n_parameters] : settings.parameters[i];
    char name[256];
    const char *equals = strchr(setting, '=');
    (void)snprintf(name, sizeof name, "%.*s", (int)(equals - setting), setting);
    SS_TRY(ss_scene_text_set(text, input ? "inputs" : "parameters", name, equals + 1, error));
  }
  return SS_OK;
}

static void put_body(FILE *f, const ss_body_def *b) {
  const ss_vec3 x = b->pose.position, v = b->velocity, w = b->angular_velocity;
  const ss_quat q = b->pose.orientation;
  (void)fprintf(f, "  - {body: \"%s\", position: [%.17g, %.17g, %.17g], orientation: [%.17g, %.17g, %.17g, %.17g],\n",
                b->name, x.x, x.y, x.z, q.w, q.x, q.y, q.z);
  (void)fprintf(f, "     velocity: [%.17g, %.17g, %.17g], angular_velocity: [%.17g, %.17g, %.17g]}\n", v.x, v.y, v.z,
                w.x, w.y, w.z);
}

/* Bodies that noise disturbs. A scene that is refused has no start. */
static ss_status put_start(const ss_study *study, long run, ss_arena *arena, FILE *f, ss_error *error) {
  if (study->n_noise == 0) return SS_OK;
  ss_scene *scene = NULL;
  ss_simulation options;
  const ss_status status = ss_study_open(study, run, NULL, arena, &scene, &options, error);
  if (status == SS_OK) {
    (void)fprintf(f, "start:\n");
    const int file = ss_study_file_of(study, run);
    for (int body = 0; body < scene->n_bodies; body++) {
      bool disturbed = false;
      for (int i = 0; i < study->n_noise; i++) disturbed = disturbed || study->noise[i].body[file] == body;
      if (disturbed) put_body(f, &scene->bodies[body]);
    }
  }
  ss_scene_destroy(scene);
  return status == SS_ERROR_INPUT ? SS_OK : status;
}

static ss_status write_file(const ss_study *study, long run, ss_arena *arena, const char *text, const char *path,
                            ss_error *error) {
  ss_output_file file = {0};
  ss_status status = ss_output_file_create(&file, path, error);
  FILE *out = status == SS_OK ? fopen(file.working, "w") : NULL;
  if (status == SS_OK && !out) status = ss_fail(error, SS_ERROR_IO, "cannot write '%s': %s", path, strerror(errno));
  if (out) {
    (void)fprintf(out, "# Run %ld of %s\n%s%s", run, study->name, text, text[strlen(text) - 1] == '\n' ? "" : "\n");
    status = put_start(study, run, arena, out, error);
    const bool failed = ferror(out) != 0;
    if ((fclose(out) != 0 || failed) && !status) status = ss_fail(error, SS_ERROR_IO, "cannot write '%s'", path);
    if (status == SS_OK)
      status = ss_output_file_publish(&file, error);
    else
      ss_output_file_discard(&file);
  }
  ss_output_file_release(&file);
  return status;
}

ss_status ss_study_write_scene(const ss_study *study, long run, const char *path, ss_error *error) {
  const ss_study_file *file = &study->files[ss_study_file_of(study, run)];
  if (file->text[strspn(file->text, " \n\t\r")] == '{')
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "a scene in JSON cannot be changed: write it in YAML's block form");
  ss_arena *arena = ss_arena_create();
  char *text = ss_alloc(file->length + 1);
  ss_status status = arena && text ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (status == SS_OK) {
    memcpy(text, file->text, file->length + 1);
    status = set_parameters(study, run, arena, &text, error);
    if (status == SS_OK) status = set_options(study, run, &text, error);
    if (status == SS_OK) status = write_file(study, run, arena, text, path, error);
  }
  ss_free(text);
  ss_arena_destroy(arena);
  return status;
}
