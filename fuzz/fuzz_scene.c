/* Texts to the scene loader: a scene that can be compiled or refused, or an error with a place. */
#include <stickslip/io.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void expect(bool truth) {
  if (!truth) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_error error = {0};
  const ss_status status = ss_scene_parse((const char *)data, size, "fuzz", NULL, 0, &scene, &error);
  if (status) {
    expect(!scene && error.status == status && error.message[0]);
    if (status == SS_ERROR_INPUT) expect(error.line >= 1 && error.column >= 1);
    return 0;
  }
  expect(scene && scene->n_bodies > 0 && scene->simulation.step > 0);
  const ss_status compiled = ss_model_create(scene, &model, &error);
  expect(compiled == SS_OK ? model != NULL : error.status == compiled && error.message[0]);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  return 0;
}
