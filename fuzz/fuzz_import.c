/* Models of other programs: bytes as a URDF or MJCF file. A scene that can be compiled, or an error. */
#include "scratch_file.h"

#include <stickslip/io.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = scratch_path("import");
  scratch_write(path, data, size);
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_error error = {0};
  const ss_status status = ss_import_model(path, false, NULL, NULL, &scene, &error);
  if (status == SS_OK ? !scene : !!scene || error.status != status || !error.message[0]) abort();
  if (status == SS_OK && ss_model_create(scene, &model, &error)) abort(); /* it was compiled to see what overlaps */
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  (void)remove(path);
  return 0;
}
