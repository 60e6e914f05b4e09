/* Mesh files and tables of heights: the first byte says which kind it is. */
#include "scratch_file.h"

#include "core/arena.h"
#include "io/mesh_file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  static const char *const endings[] = {".obj", ".stl", ".txt"};
  char path[160];
  const int kind = data[0] % 3;
  (void)snprintf(path, sizeof path, "%s%s", scratch_path("mesh"), endings[kind]);
  scratch_write(path, data + 1, size - 1);
  ss_arena *arena = ss_arena_create();
  ss_error error = {0};
  ss_mesh_data mesh = {0};
  double *heights = NULL;
  int rows = 0, columns = 0;
  const ss_status status = kind < 2 ? ss_mesh_file_read(path, arena, &mesh, &error)
                                    : ss_height_file_read(path, arena, &heights, &rows, &columns, &error);
  if (status ? error.status != status || !error.message[0] : kind == 2 && (rows < 1 || columns < 1 || !heights))
    abort();
  for (int i = 0; status == SS_OK && i < 3 * mesh.n_triangles; i++)
    if (mesh.triangles[i] < 0 || mesh.triangles[i] >= mesh.n_points) abort();
  ss_arena_destroy(arena);
  (void)remove(path);
  return 0;
}
