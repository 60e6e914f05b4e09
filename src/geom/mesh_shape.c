/* Meshes and height fields from their definitions. */
#include "geom/mesh.h"
#include "geom/shape_compile.h"

static ss_status finish(ss_arena *arena, const ss_shape_def *d, const ss_vec3 *points, int n_points,
                        const int *triangles, int n_triangles, ss_shape *out, ss_error *error) {
  struct ss_mesh *mesh = NULL;
  int where[2];
  switch (ss_mesh_build(arena, points, n_points, triangles, n_triangles, &mesh, where)) {
  case SS_MESH_MEMORY:
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  case SS_MESH_EMPTY:
    return ss_shape_reject(error, d, "triangles", "triangles with an area");
  case SS_MESH_TWISTED:
    return ss_fail(
        error, SS_ERROR_INPUT,
        "mesh: triangles %d and %d (from 0) share a side that both go along in the same direction; all must be "
        "counterclockwise from outside",
        where[0], where[1]);
  case SS_MESH_TOO_LARGE:
    return ss_fail(error, SS_ERROR_INPUT, "%d triangles are too many: at most %d, or 2^20 sides", where[0],
                   SS_MOST_MESH_TRIANGLES);
  case SS_MESH_OK:
    break;
  }
  if (d->type == SS_SHAPE_HEIGHT_FIELD) mesh->solid = true;
  out->mesh = mesh;
  for (int i = 0; i < mesh->n_vertices; i++) out->reach = fmax(out->reach, v3_norm(mesh->vertex[i]));
  return SS_OK;
}

ss_status ss_compile_mesh(ss_arena *arena, const ss_shape_def *d, ss_shape *out, ss_error *error) {
  if (!d->points || d->n_points < 3) return ss_shape_reject(error, d, "vertices", "three points at least");
  if (!d->triangles || d->n_triangles < 1) return ss_shape_reject(error, d, "triangles", "one triangle at least");
  for (int i = 0; i < d->n_points; i++)
    if (!v3_finite(d->points[i])) return ss_shape_reject(error, d, "vertices", "finite numbers");
  for (int i = 0; i < 3 * d->n_triangles; i++)
    if (d->triangles[i] < 0 || d->triangles[i] >= d->n_points)
      return ss_fail(error, SS_ERROR_INPUT, "mesh: triangle %d (from 0) has corner %d, but the vertices are 0 to %d",
                     i / 3, d->triangles[i], d->n_points - 1);
  return finish(arena, d, d->points, d->n_points, d->triangles, d->n_triangles, out, error);
}

/* Each cell has two triangles. Its diagonal alternates like a chessboard's fields, so that no direction is preferred. */
static void cut_cells(int rows, int columns, int *triangles) {
  int n = 0;
  for (int i = 0; i + 1 < rows; i++)
    for (int j = 0; j + 1 < columns; j++) {
      const int a = i * columns + j, b = a + 1, c = a + columns, d = c + 1; /* c d above a b */
      const int even[6] = {a, b, d, a, d, c}, odd[6] = {a, b, c, b, d, c};
      for (int k = 0; k < 6; k++) triangles[n++] = (i + j) % 2 ? odd[k] : even[k];
    }
}

ss_status ss_compile_height_field(ss_arena *arena, const ss_shape_def *d, ss_shape *out, ss_error *error) {
  if (!d->heights || d->rows < 2 || d->columns < 2)
    return ss_shape_reject(error, d, "heights", "two rows of two numbers at least");
  if (!(isfinite(d->spacing.x) && d->spacing.x > 0 && isfinite(d->spacing.y) && d->spacing.y > 0))
    return ss_shape_reject(error, d, "spacing", "positive numbers");
  if ((long)d->rows * d->columns > SS_MOST_MESH_TRIANGLES / 2)
    return ss_fail(error, SS_ERROR_INPUT, "height-field: %d x %d heights are too many: at most %d", d->rows, d->columns,
                   SS_MOST_MESH_TRIANGLES / 2);
  const int n = d->rows * d->columns, cells = (d->rows - 1) * (d->columns - 1);
  ss_arena *scratch = ss_arena_create();
  ss_vec3 *points = scratch ? SS_ARENA_ARRAY(scratch, ss_vec3, n) : NULL;
  int *triangles = scratch ? SS_ARENA_ARRAY(scratch, int, 6 * (size_t)cells) : NULL;
  ss_status status = points && triangles ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; status == SS_OK && i < n; i++) {
    if (!isfinite(d->heights[i])) status = ss_shape_reject(error, d, "heights", "finite numbers");
    const int row = i / d->columns, column = i % d->columns;
    points[i] =
        v3((column - 0.5 * (d->columns - 1)) * d->spacing.x, (row - 0.5 * (d->rows - 1)) * d->spacing.y, d->heights[i]);
  }
  if (status == SS_OK) {
    cut_cells(d->rows, d->columns, triangles);
    status = finish(arena, d, points, n, triangles, 2 * cells, out, error);
  }
  ss_arena_destroy(scratch);
  return status;
}
