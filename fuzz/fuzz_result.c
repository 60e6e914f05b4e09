/* Results with damage: everything that reads them refuses or reads, and HDF5 does not crash. */
#include "damaged_file.h"

#include <stickslip/io.h>

static const char scene_text[] =
    "gravity: [0, 0, -9.81]\n"
    "inputs: {push: 1}\n"
    "outputs: [{name: height, value: ball.z}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
    "bodies:\n"
    "  - {name: ball, mass: 1, position: [0, 0, 0.1], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: bob, mass: 1, position: [3, 0, 2], shapes: [{type: sphere, radius: 0.1}]}\n"
    "joints: [{name: pin, type: revolute, between: [world, bob], at: [3, 0, 3], axis: [0, 1, 0]}]\n"
    "forces: [{type: applied, on: ball, force: [push, 0, 0]}]\n"
    "simulation: {step: 0.01, duration: 0.2}\n";

static whole_file record(void) {
  const char *path = scratch_path("result");
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  ss_recorder *recorder = NULL;
  if (ss_scene_parse(scene_text, strlen(scene_text), "scene", NULL, 0, &scene, NULL) ||
      ss_model_create(scene, &model, NULL) || ss_sim_create(model, &scene->simulation, &sim, NULL) ||
      ss_recorder_open_hdf5(path, sim, 1, &recorder, NULL))
    abort();
  const ss_observer observer = ss_recorder_observer(recorder);
  if (ss_sim_observe(sim, &observer, NULL)) abort();
  while (!ss_sim_done(sim))
    if (ss_sim_step(sim, NULL)) abort();
  if (ss_recorder_close(recorder, sim, true, NULL)) abort();
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  return whole_read(path);
}

/* HDF5 loses memory of its own on damaged files. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libhdf5"; }

static void read_back(const char *path) {
  static const char *const columns[] = {"t", "ball.z", "bob.qw", "energy.total", "height", "pin.position", "nobody.x"};
  ss_result *result = NULL;
  ss_error error = {0};
  char out[160];
  (void)snprintf(out, sizeof out, "%s.out", path);
  if (ss_result_open(path, &result, &error) == SS_OK) {
    const long rows = ss_result_rows(result);
    double *values = rows >= 0 && rows < 1 << 20 ? calloc((size_t)rows + 1, sizeof *values) : NULL;
    for (size_t i = 0; values && i < sizeof columns / sizeof *columns; i++)
      (void)ss_result_column(result, columns[i], values, &error);
    free(values);
  }
  ss_result_close(result);
  (void)ss_page_from_result(path, out, SS_PAGE_REPORT, &error);
  (void)ss_export_csv(path, out, &error);
  (void)remove(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static whole_file whole;
  if (!whole.bytes) whole = record();
  const char *path = scratch_path("result");
  size_t length;
  uint8_t *bytes = damage(&whole, data, size, &length);
  scratch_write(path, bytes, length);
  free(bytes);
  read_back(path);
  (void)remove(path);
  return 0;
}
