/* The solved scene: its own text with the settings and simulation options that were used, and a section `start` that
 * holds the velocities found, exact to the last bit. */
#include <stickslip/bvp.h>

#include "bvp/scene_text.h"
#include "core/arena.h"
#include "io/output_file.h"
#include "model/plane.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool begins(const char *line, const char *word) { return strncmp(line, word, strlen(word)) == 0; }

/* Copies the text without an earlier section `start`. */
static void copy_text(FILE *out, const char *text) {
  bool skipping = false;
  for (const char *line = text; *line;) {
    const char *end = strchr(line, '\n');
    const size_t length = end ? (size_t)(end - line) + 1 : strlen(line);
    if (begins(line, "start:"))
      skipping = true;
    else if (skipping && line[0] != ' ' && line[0] != '-' && line[0] != '\n')
      skipping = false;
    if (!skipping) (void)fwrite(line, 1, length, out);
    if (!end && !skipping) (void)fputc('\n', out);
    line += length;
  }
}

static void write_body(FILE *out, const ss_scene *scene, const ss_body_def *body) {
  const ss_plane plane = ss_plane_of(scene->planar);
  const ss_vec3 v = body->velocity, w = body->angular_velocity;
  (void)fprintf(out, "  - {body: \"%s\", velocity: [", body->name);
  if (plane.normal >= 0)
    (void)fprintf(out, "%.17g, %.17g], angular_velocity: %.17g}\n", v3_get(v, plane.axes[0]), v3_get(v, plane.axes[1]),
                  v3_get(w, plane.normal));
  else
    (void)fprintf(out, "%.17g, %.17g, %.17g], angular_velocity: [%.17g, %.17g, %.17g]}\n", v.x, v.y, v.z, w.x, w.y,
                  w.z);
}

static ss_status set_number(char **text, const char *section, const char *key, double value, ss_error *error) {
  char number[64];
  (void)snprintf(number, sizeof number, "%.17g", value);
  return ss_scene_text_set(text, section, key, number, error);
}

/* Parameters that were set. */
static ss_status set_parameters(char **text, const ss_scene *scene, const char *const *settings, int n_settings,
                                ss_error *error) {
  ss_status status = SS_OK;
  for (int i = 0; i < scene->n_parameters && status == SS_OK; i++) {
    const char *name = scene->parameters[i].name;
    for (int k = 0; k < n_settings; k++)
      if (begins(settings[k], name) && settings[k][strlen(name)] == '=')
        status = set_number(text, "parameters", name, scene->parameters[i].value, error);
  }
  return status;
}

static ss_status set_simulation(char **text, const ss_simulation *own, const ss_simulation *used, ss_error *error) {
  static const char section[] = "simulation";
  ss_status status = SS_OK;
  if (strcmp(used->scheme, own->scheme) != 0) status = ss_scene_text_set(text, section, "scheme", used->scheme, error);
  if (status == SS_OK && used->solver && (!own->solver || strcmp(used->solver, own->solver) != 0))
    status = ss_scene_text_set(text, section, "solver", used->solver, error);
  if (status == SS_OK && used->step != own->step) status = set_number(text, section, "step", used->step, error);
  if (status == SS_OK && used->duration != own->duration)
    status = set_number(text, section, "duration", used->duration, error);
  return status;
}

static ss_status write_text(const ss_scene *solved, const char *text, const char *path, ss_error *error) {
  ss_output_file file = {0};
  ss_status status = ss_output_file_create(&file, path, error);
  FILE *out = status == SS_OK ? fopen(file.working, "w") : NULL;
  if (status == SS_OK && !out) status = ss_fail(error, SS_ERROR_IO, "cannot write '%s': %s", path, strerror(errno));
  if (out) {
    copy_text(out, text);
    (void)fprintf(out, "start:\n");
    for (int i = 0; i < solved->n_bodies; i++) write_body(out, solved, &solved->bodies[i]);
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) status = ss_fail(error, SS_ERROR_IO, "cannot write '%s'", path);
    if (status == SS_OK)
      status = ss_output_file_publish(&file, error);
    else
      ss_output_file_discard(&file);
  }
  ss_output_file_release(&file);
  return status;
}

ss_status ss_bvp_write_scene(const ss_scene *scene, const ss_simulation *options, const char *const *settings,
                             int n_settings, const double *unknown, const char *path, ss_error *error) {
  if (!scene->text) return ss_fail(error, SS_ERROR_INPUT, "only a scene that was read from a file can be written");
  if (scene->text[strspn(scene->text, " \n\t\r")] == '{')
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "a scene in JSON cannot be extended: write it in YAML's block form");
  char *text = ss_alloc(strlen(scene->text) + 1);
  ss_body_def *bodies = ss_alloc(sizeof *bodies * (size_t)scene->n_bodies);
  ss_status status = text && bodies ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (status == SS_OK) {
    memcpy(text, scene->text, strlen(scene->text));
    memcpy(bodies, scene->bodies, sizeof *bodies * (size_t)scene->n_bodies);
    ss_scene solved = *scene;
    solved.bodies = bodies;
    ss_bvp_apply(&solved, unknown);
    status = set_parameters(&text, scene, settings, n_settings, error);
    if (status == SS_OK && options) status = set_simulation(&text, &scene->simulation, options, error);
    if (status == SS_OK) status = write_text(&solved, text, path, error);
  }
  ss_free(text);
  ss_free(bodies);
  return status;
}
