/* Shapes with many numbers: meshes, height fields, convex hulls of files. */
#include "io/mesh_file.h"
#include "io/scene_reader.h"
#include "model/plane.h"

#include <math.h>
#include <string.h>

static ss_status no_memory(ss_reader *reader) { return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory"); }

/* ---- keys ---- */

ss_status ss_read_mesh_file(ss_reader *reader, const ss_yaml *node, void *source) {
  const char *name = NULL;
  SS_TRY(ss_read_name(reader, node, &name));
  ((ss_shape_source *)source)->file = node;
  return SS_OK;
}

/* A number, or one for each axis. */
ss_status ss_read_mesh_scale(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_shape_source *source = object;
  double scale[3];
  if (node->kind == SS_YAML_SCALAR || source->shape.type == SS_SHAPE_HEIGHT_FIELD) {
    SS_TRY(ss_read_number(reader, node, &scale[0]));
    scale[1] = scale[2] = scale[0];
  } else {
    SS_TRY(ss_read_numbers(reader, node, 3, scale));
  }
  for (int i = 0; i < 3; i++)
    if (!(fabs(scale[i]) > 1e-100)) return SS_READ_FAIL(reader, node, "'scale' must not be zero");
  source->scale = v3(scale[0], scale[1], scale[2]);
  return SS_OK;
}

ss_status ss_read_corners(ss_reader *reader, const ss_yaml *node, void *object) {
  double value;
  SS_TRY(ss_read_number(reader, node, &value));
  if (!(value >= 8 && value <= 200) || value != floor(value))
    return SS_READ_FAIL(reader, node, "'corners' must be a whole number from 8 to 200, not %g", value);
  ((ss_shape_source *)object)->shape.corners = (int)value;
  return SS_OK;
}

ss_status ss_read_vertices(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_shape_def *shape = object;
  SS_TRY(ss_expect_list(reader, node, "points"));
  if (node->count < 3) return SS_READ_FAIL(reader, node, "expected at least 3 points, not %d", node->count);
  ss_vec3 *points = SS_ARENA_ARRAY(reader->scratch, ss_vec3, node->count);
  if (!points) return no_memory(reader);
  for (int i = 0; i < node->count; i++) SS_TRY(ss_read_vector(reader, node->items[i].value, &points[i]));
  shape->points = points;
  shape->n_points = node->count;
  return SS_OK;
}

ss_status ss_read_triangles(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_shape_def *shape = object;
  SS_TRY(ss_expect_list(reader, node, "triangles"));
  if (node->count < 1) return SS_READ_FAIL(reader, node, "expected at least one triangle");
  int *triangles = SS_ARENA_ARRAY(reader->scratch, int, 3 * (size_t)node->count);
  if (!triangles) return no_memory(reader);
  for (int i = 0; i < node->count; i++) {
    double corner[3];
    SS_TRY(ss_read_numbers(reader, node->items[i].value, 3, corner));
    for (int k = 0; k < 3; k++) {
      if (!(corner[k] >= 0 && corner[k] < shape->n_points) || corner[k] != floor(corner[k]))
        return SS_READ_FAIL(reader, node->items[i].value,
                            "a corner must be the number of one of the %d vertices, from 0, not %g", shape->n_points,
                            corner[k]);
      triangles[3 * i + k] = (int)corner[k];
    }
  }
  shape->triangles = triangles;
  shape->n_triangles = node->count;
  return SS_OK;
}

/* Rows of numbers; in planar scenes one row. */
ss_status ss_read_heights(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_shape_def *shape = object;
  SS_TRY(ss_expect_list(reader, node, "rows of numbers"));
  const bool one_row = node->count > 0 && node->items[0].value->kind == SS_YAML_SCALAR;
  const int rows = one_row ? 1 : node->count;
  int columns = 0;
  for (int i = 0; i < rows; i++) {
    const ss_yaml *row = one_row ? node : node->items[i].value;
    SS_TRY(ss_expect_list(reader, row, "numbers"));
    if (i == 0) columns = row->count;
    if (row->count != columns)
      return SS_READ_FAIL(reader, row, "this row has %d numbers, the first one has %d", row->count, columns);
  }
  double *heights = SS_ARENA_ARRAY(reader->scratch, double, (size_t)rows *(size_t)columns + 1);
  if (!heights) return no_memory(reader);
  for (int i = 0; i < rows; i++)
    SS_TRY(
        ss_read_numbers(reader, one_row ? node : node->items[i].value, columns, heights + (size_t)i * (size_t)columns));
  shape->heights = heights;
  shape->rows = rows;
  shape->columns = columns;
  return SS_OK;
}

/* A number, or one along x and one along y. */
ss_status ss_read_spacing(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_vec3 *spacing = &((ss_shape_def *)object)->spacing;
  if (node->kind == SS_YAML_SCALAR) {
    SS_TRY(ss_read_positive(reader, node, &spacing->x));
    spacing->y = spacing->x;
    return SS_OK;
  }
  SS_TRY(ss_expect_list(reader, node, "two numbers"));
  if (node->count != 2) return SS_READ_FAIL(reader, node, "'spacing' must be a number or two, not %d", node->count);
  SS_TRY(ss_read_positive(reader, node->items[0].value, &spacing->x));
  return ss_read_positive(reader, node->items[1].value, &spacing->y);
}

/* ---- files ---- */

/* A file that cannot be read is a mistake of the scene; one that can, but is wrong, has its own place. */
static ss_status place_error(ss_reader *reader, const ss_yaml *node, ss_status status) {
  if (!status || status == SS_ERROR_MEMORY || reader->error->line > 0) return status; /* in the file itself */
  char why[sizeof reader->error->message];
  memcpy(why, reader->error->message, sizeof why);
  return SS_READ_FAIL(reader, node, "'%s': %s", ss_printable(node->text).text, why);
}

static ss_status read_file(ss_reader *reader, ss_shape_source *source) {
  ss_shape_def *shape = &source->shape;
  const char *path = ss_path_beside(reader->scratch, reader->file, source->file->text);
  if (!path) return no_memory(reader);
  if (shape->type == SS_SHAPE_HEIGHT_FIELD) {
    double *heights = NULL;
    SS_TRY(place_error(
        reader, source->file,
        ss_height_file_read(path, reader->scratch, &heights, &shape->rows, &shape->columns, reader->error)));
    shape->heights = heights;
    return SS_OK;
  }
  ss_mesh_data data;
  SS_TRY(place_error(reader, source->file, ss_mesh_file_read(path, reader->scratch, &data, reader->error)));
  shape->points = data.points;
  shape->n_points = data.n_points;
  if (shape->type == SS_SHAPE_CONVEX) return SS_OK;
  shape->triangles = data.triangles;
  shape->n_triangles = data.n_triangles;
  return SS_OK;
}

static ss_status scale_points(ss_reader *reader, ss_shape_source *source) {
  ss_shape_def *shape = &source->shape;
  const ss_vec3 s = source->scale;
  if (s.x == 1 && s.y == 1 && s.z == 1) return SS_OK;
  ss_vec3 *points = SS_ARENA_ARRAY(reader->scratch, ss_vec3, shape->n_points + 1);
  int *triangles = SS_ARENA_ARRAY(reader->scratch, int, 3 * (size_t)shape->n_triangles + 1);
  const size_t n = (size_t)shape->rows * (size_t)shape->columns;
  double *heights = SS_ARENA_ARRAY(reader->scratch, double, n + 1);
  if (!points || !triangles || !heights) return no_memory(reader);
  for (int i = 0; i < shape->n_points; i++) {
    const ss_vec3 p = shape->points[i];
    points[i] = v3(s.x * p.x, s.y * p.y, s.z * p.z);
  }
  const bool mirror = s.x * s.y * s.z < 0; /* turns triangles inside out: two corners are exchanged */
  for (int i = 0; i < 3 * shape->n_triangles; i++)
    triangles[i] = shape->triangles[mirror && i % 3 ? i + (i % 3 == 1 ? 1 : -1) : i];
  for (size_t i = 0; i < n; i++) heights[i] = s.z * shape->heights[i];
  shape->points = points;
  shape->triangles = triangles;
  shape->heights = heights;
  return SS_OK;
}

/* ---- planar scenes ---- */

/* One row of heights becomes a strip across the plane, wide enough for whatever moves over it: x along the plane's first
 * axis, up along its second one. */
static ss_status make_strip(ss_reader *reader, const ss_yaml *node, ss_shape_def *shape) {
  const ss_planar planar = reader->scene->planar;
  if (planar == SS_SPATIAL || shape->type != SS_SHAPE_HEIGHT_FIELD) return SS_OK;
  if (shape->rows != 1)
    return SS_READ_FAIL(reader, node, "in a planar scene a height-field has one row of heights, not %d", shape->rows);
  double *heights = SS_ARENA_ARRAY(reader->scratch, double, 2 * (size_t)shape->columns);
  if (!heights) return no_memory(reader);
  for (int i = 0; i < shape->columns; i++) heights[i] = heights[shape->columns + i] = shape->heights[i];
  static const double half = 0.70710678118654752440;
  static const ss_quat turn[] = {[SS_PLANAR_XY] = {half, -half, 0, 0}, /* z up becomes y */
                                 [SS_PLANAR_XZ] = {1, 0, 0, 0},
                                 [SS_PLANAR_YZ] = {half, 0, 0, half}}; /* x becomes y */
  shape->pose.orientation = quat_multiply(shape->pose.orientation, turn[planar]);
  shape->spacing.y = 2 + 2 * shape->columns * shape->spacing.x;
  shape->heights = heights;
  shape->rows = 2;
  return SS_OK;
}

ss_status ss_finish_mesh(ss_reader *reader, const ss_yaml *node, ss_shape_source *source) {
  ss_shape_def *shape = &source->shape;
  static const char *const inline_key[SS_SHAPE_TYPES] = {
      [SS_SHAPE_CONVEX] = "points", [SS_SHAPE_MESH] = "vertices", [SS_SHAPE_HEIGHT_FIELD] = "heights"};
  const char *key = inline_key[shape->type];
  if (!key) return SS_OK;
  const bool inside = ss_yaml_get(node, key) != NULL;
  if (inside == (source->file != NULL))
    return SS_READ_FAIL(reader, node, "a %s shape needs %s", ss_table_shapes()[shape->type].name,
                        inside                           ? "either a file or its numbers, not both"
                        : shape->type == SS_SHAPE_CONVEX ? "'points' or 'file'"
                        : shape->type == SS_SHAPE_MESH   ? "'vertices' and 'triangles', or 'file'"
                                                         : "'heights' or 'file'");
  if (shape->type == SS_SHAPE_MESH && inside != (ss_yaml_get(node, "triangles") != NULL))
    return SS_READ_FAIL(reader, node, "'vertices' and 'triangles' of a mesh belong together");
  if (source->file) SS_TRY(read_file(reader, source));
  SS_TRY(scale_points(reader, source));
  return make_strip(reader, node, shape);
}
