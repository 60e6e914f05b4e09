/* Texts as study files: a study whose points can be asked for, or an error. */
#include "scratch_file.h"

#include <stickslip/study.h>

#include <string.h>

static const char scene_text[] = "parameters: {mu: 0.5, v: 1}\n"
                                 "materials: [{name: default, friction: mu}]\n"
                                 "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
                                 "bodies:\n"
                                 "  - {name: block, mass: 1, position: [0, 0, 0.5], velocity: [v, 0, 0],\n"
                                 "     shapes: [{type: box, size: [1, 1, 1]}]}\n"
                                 "simulation: {step: 0.1, duration: 0.1}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool ready;
  if (!ready) scratch_write("/dev/shm/stickslip-fuzz-scene.yaml", (const uint8_t *)scene_text, strlen(scene_text));
  ready = true;
  const char *path = scratch_path("study");
  scratch_write(path, data, size);
  ss_study *study = NULL;
  ss_error error = {0};
  const ss_status status = ss_study_load(path, &study, &error);
  if (status ? !!study || error.status != status || !error.message[0] : ss_study_runs(study) < 1) abort();
  for (long run = 0; status == SS_OK && run < ss_study_runs(study) && run < 100; run++)
    for (int i = 0; i < ss_study_variations(study); i++) (void)ss_study_point(study, run, i);
  ss_study_destroy(study);
  (void)remove(path);
  return 0;
}
