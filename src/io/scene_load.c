/* Scene files: the top level of the contract, and the way from a path to a scene. */
#include <stickslip/io.h>

#include "io/scene_reader.h"
#include "io/text_file.h"

#include <string.h>

static const ss_word planar_words[] = {
    {"xy", SS_PLANAR_XY, false},
    {"xz", SS_PLANAR_XZ, false},
    {"yz", SS_PLANAR_YZ, false},
    {NULL, 0, false},
};
const ss_words ss_words_planar = {"plane", planar_words};

static ss_status read_planar(ss_reader *reader, const ss_yaml *node, void *scene) {
  int value = 0;
  SS_TRY(ss_read_word(reader, node, &ss_words_planar, &value));
  ss_scene_set_planar(scene, (ss_planar)value);
  return SS_OK;
}

static ss_status read_parameters(ss_reader *reader, const ss_yaml *node, void *scene) {
  (void)scene;
  return ss_read_parameters(reader, node);
}

static ss_status read_kept_text(ss_reader *reader, const ss_yaml *node, void *text) {
  SS_TRY(ss_read_text(reader, node, text));
  *(const char **)text = ss_arena_strdup(reader->scene->arena, node->text);
  return *(const char **)text ? SS_OK : ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
}

/* In the order in which they need each other: names are defined before they are used. */
static const ss_key scene_keys[] = {
    {"name", read_kept_text, offsetof(ss_scene, name), false, 0},
    {"source", read_kept_text, offsetof(ss_scene, source), false, 0},
    {"planar", read_planar, 0, false, 0},
    {"parameters", read_parameters, 0, false, 0},
    {"inputs", ss_read_inputs, 0, false, 0},
    {"gravity", ss_read_vector, offsetof(ss_scene, gravity), false, 0},
    {"materials", ss_read_materials, 0, false, 0},
    {"world", ss_read_world, 0, false, 0},
    {"bodies", ss_read_bodies, 0, true, 0},
    {"compliance", ss_read_compliance, 0, false, 0},
    {"contacts", ss_read_contacts, 0, false, 0},
    {"joints", ss_read_joints, 0, false, 0},
    {"forces", ss_read_forces, 0, false, 0},
    {"outputs", ss_read_outputs, 0, false, 0},
    {"simulation", ss_read_simulation, 0, true, 0},
    {"boundary", ss_read_boundary, 0, false, 0},
    {"start", ss_read_start, 0, false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_scene = {"scene", scene_keys};

/* Files of other kinds that are given by mistake. */
static ss_status check_kind(ss_reader *reader, const char *text, size_t length) {
  static const char hdf5[] = "\x89HDF";
  const char *message = NULL;
  if (length >= sizeof hdf5 - 1 && memcmp(text, hdf5, sizeof hdf5 - 1) == 0)
    message = "this is a result (HDF5), not a scene; stickslip view, report, plot and export read it";
  else if (length > 0 && text[0] == '<')
    message = "this is XML, not a scene; stickslip import turns robots (URDF, MJCF) into scenes";
  if (!message) return SS_OK;
  return ss_fail_place(reader->error, SS_ERROR_INPUT, reader->file, (ss_mark){1, 1}, "%s", message);
}

static ss_status check_not_study(ss_reader *reader, const ss_yaml *root) {
  const bool study = root->kind == SS_YAML_MAP && ss_yaml_get(root, "observe") && !ss_yaml_get(root, "bodies");
  return study ? SS_READ_FAIL(reader, root, "this is a study, not a scene; stickslip sweep runs it") : SS_OK;
}

static ss_status read_scene(ss_reader *reader, const char *text, size_t length) {
  SS_TRY(check_kind(reader, text, length));
  ss_scene *scene = reader->scene;
  char *copy = ss_arena_alloc(scene->arena, length + 1);
  scene->file = ss_arena_strdup(scene->arena, reader->file);
  if (!copy || !scene->file) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  if (length > 0) memcpy(copy, text, length);
  scene->text = copy;
  const ss_yaml *root = NULL;
  SS_TRY(ss_yaml_parse(copy, length, reader->file, reader->scratch, &root, reader->error));
  SS_TRY(check_not_study(reader, root));
  reader->root = root;
  SS_TRY(ss_read_section(reader, root, &ss_section_scene, -1, NULL, scene));
  if (!ss_yaml_get(root, "parameters")) return ss_read_parameters(reader, NULL);
  return SS_OK;
}

ss_status ss_scene_parse(const char *text, size_t length, const char *name, const char *const *settings, int n_settings,
                         ss_scene **out, ss_error *error) {
  *out = NULL;
  ss_error unwanted;
  ss_reader reader = {.file = name ? name : "scene",
                      .settings = settings,
                      .n_settings = n_settings,
                      .key = "scene",
                      .error = error ? error : &unwanted};
  if (length > SS_TEXT_FILE_LIMIT)
    return ss_fail_place(error, SS_ERROR_INPUT, reader.file, (ss_mark){0, 0}, "the scene is larger than %d MiB",
                         SS_TEXT_FILE_LIMIT >> 20);
  ss_status status = ss_scene_create(&reader.scene, reader.error);
  if (status != SS_OK) return status;
  reader.scratch = ss_arena_create();
  status = reader.scratch ? read_scene(&reader, text, length) : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  ss_arena_destroy(reader.scratch);
  if (status == SS_OK)
    *out = reader.scene;
  else
    ss_scene_destroy(reader.scene);
  return status;
}

ss_status ss_scene_load(const char *path, const char *const *settings, int n_settings, ss_scene **out,
                        ss_error *error) {
  *out = NULL;
  char *text = NULL;
  size_t length = 0;
  SS_TRY(ss_text_file_read(path, SS_TEXT_FILE_LIMIT, &text, &length, error));
  const ss_status status = ss_scene_parse(text, length, path, settings, n_settings, out, error);
  ss_free(text);
  return status;
}
