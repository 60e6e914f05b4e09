/* Checkpoints with damage whose checksum fits: nothing but an error, or a state. */
#include "damaged_file.h"

#include "compile/fingerprint.h"

#include <stickslip/io.h>

static const char scene_text[] =
    "gravity: [0, 0, -9.81]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
    "bodies: [{name: ball, mass: 1, position: [0, 0, 0.1], shapes: [{type: sphere, radius: 0.1}]}]\n"
    "simulation: {step: 0.01, duration: 1}\n";

static ss_sim *sim_of(ss_scene **scene, ss_model **model) {
  ss_sim *sim = NULL;
  if (ss_scene_parse(scene_text, strlen(scene_text), "scene", NULL, 0, scene, NULL) ||
      ss_model_create(*scene, model, NULL) || ss_sim_create(*model, &(*scene)->simulation, &sim, NULL))
    abort();
  return sim;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static whole_file whole;
  const char *path = scratch_path("checkpoint");
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_sim *sim = sim_of(&scene, &model);
  ss_error error = {0};
  if (!whole.bytes) {
    for (int i = 0; i < 5; i++)
      if (ss_sim_step(sim, NULL)) abort();
    if (ss_checkpoint_write(sim, path, NULL)) abort();
    whole = whole_read(path);
  }
  size_t length;
  uint8_t *bytes = damage(&whole, data, size, &length);
  if (length > 8) {
    const uint64_t sum = ss_hash_bytes(ss_hash_start, bytes, length - 8);
    memcpy(bytes + length - 8, &sum, 8);
  }
  scratch_write(path, bytes, length);
  free(bytes);
  const ss_status status = ss_checkpoint_read(sim, path, &error);
  if (status && (error.status != status || !error.message[0])) abort();
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  (void)remove(path);
  return 0;
}
