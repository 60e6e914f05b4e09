/* Assets of MJCF: meshes (files, or their points) and height fields. MuJoCo collides with a mesh's convex hull, so that is what
 * becomes of it. */
#include "import/mjcf.h"

#include <stdio.h>
#include <string.h>

/* The name of a mesh without one is that of its file, without folder and ending. */
static bool is_called(const ss_xml *asset, const char *name) {
  const char *own = ss_xml_attribute(asset, "name"), *file = ss_xml_attribute(asset, "file");
  if (own) return strcmp(own, name) == 0;
  if (!file) return false;
  const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file, *dot = strrchr(start, '.');
  const size_t n = dot ? (size_t)(dot - start) : strlen(start);
  return strlen(name) == n && strncmp(name, start, n) == 0;
}

static const ss_xml *find_asset(const ss_mjcf *m, const char *kind, const char *name) {
  for (const ss_xml *group = ss_xml_child(m->root, "asset"); group; group = ss_xml_next(group, "asset"))
    for (const ss_xml *e = ss_xml_child(group, kind); e; e = ss_xml_next(e, kind))
      if (is_called(e, name)) return e;
  return NULL;
}

/* All numbers of an attribute, in the import's arena; NULL: it is not there, or not only numbers. */
static double *all_numbers(const ss_mjcf *m, const ss_xml *e, const char *attribute, int *n) {
  const char *text = ss_xml_attribute(e, attribute);
  if (!text) return NULL;
  const int most = (int)(strlen(text) / 2) + 1;
  double *numbers = SS_ARENA_ARRAY(m->import->arena, double, most);
  *n = numbers ? ss_import_count(text, numbers, most) : -1;
  return *n > 0 ? numbers : NULL;
}

static bool mesh_points(const ss_mjcf *m, const ss_xml *mesh, ss_vec3 scale, ss_shape_def *shape) {
  int n = 0;
  const double *x = all_numbers(m, mesh, "vertex", &n);
  ss_vec3 *points = x && n % 3 == 0 ? SS_ARENA_ARRAY(m->import->arena, ss_vec3, n / 3) : NULL;
  if (!points) return false;
  for (int k = 0; k < n / 3; k++) points[k] = v3(scale.x * x[3 * k], scale.y * x[3 * k + 1], scale.z * x[3 * k + 2]);
  shape->points = points;
  shape->n_points = n / 3;
  return true;
}

static bool read_mesh(const ss_mjcf *m, const char *name, ss_shape_def *shape, ss_status *status) {
  const ss_xml *mesh = find_asset(m, "mesh", name);
  if (!mesh) {
    ss_import_note(m->import, "mesh '%s': there is no such asset, it touches nothing", ss_printable(name).text);
    return false;
  }
  double s[3] = {1, 1, 1};
  const ss_mjcf_class *class = ss_mjcf_class_of(m, mesh, NULL);
  (void)ss_mjcf_numbers(m, mesh, class, "scale", s, 3, status);
  if (ss_xml_attribute(mesh, "refpos") || ss_xml_attribute(mesh, "refquat"))
    ss_import_note(m->import, "refpos and refquat of a mesh: left out");
  const char *file = ss_xml_attribute(mesh, "file");
  bool found;
  if (file) {
    char path[1024];
    const size_t n = strlen(m->meshdir);
    (void)snprintf(path, sizeof path, "%s%s%s", m->meshdir, n > 0 && m->meshdir[n - 1] != '/' ? "/" : "", file);
    found = ss_import_mesh_file(m->import, path, v3(s[0], s[1], s[2]), shape);
  } else {
    found = mesh_points(m, mesh, v3(s[0], s[1], s[2]), shape);
    if (!found) ss_import_note(m->import, "mesh '%s': it has no points, it touches nothing", ss_printable(name).text);
  }
  if (found && !*status) *status = ss_import_make_convex(m->import, shape, &found);
  return found;
}

/* The first row is the one with the largest y; heights are brought to 0 .. 1 and multiplied with the third size. */
static bool read_field(const ss_mjcf *m, const char *name, ss_shape_def *shape, ss_status *status) {
  const ss_xml *field = find_asset(m, "hfield", name);
  double rows = 0, columns = 0, size[4] = {0};
  int n = 0;
  const double *z = field ? all_numbers(m, field, "elevation", &n) : NULL;
  if (z) {
    (void)ss_mjcf_numbers(m, field, NULL, "nrow", &rows, 1, status);
    (void)ss_mjcf_numbers(m, field, NULL, "ncol", &columns, 1, status);
    (void)ss_mjcf_numbers(m, field, NULL, "size", size, 4, status);
  }
  double *heights = z && rows * columns == n ? SS_ARENA_ARRAY(m->import->arena, double, n) : NULL;
  if (!heights || rows < 2 || columns < 2 || !(size[0] > 0) || !(size[1] > 0)) {
    ss_import_note(m->import,
                   "height field '%s': only those with nrow, ncol, size and elevation are read, it touches nothing",
                   ss_printable(name).text);
    return false;
  }
  double low = z[0], high = z[0];
  for (int k = 1; k < n; k++) low = fmin(low, z[k]), high = fmax(high, z[k]);
  const double scale = high > low ? size[2] / (high - low) : 0;
  shape->type = SS_SHAPE_HEIGHT_FIELD;
  shape->rows = (int)rows, shape->columns = (int)columns;
  for (int k = 0; k < n; k++) {
    const int row = k / shape->columns, column = k % shape->columns;
    heights[(shape->rows - 1 - row) * shape->columns + column] = scale * (z[k] - low);
  }
  shape->heights = heights;
  shape->spacing = v3(2 * size[0] / (columns - 1), 2 * size[1] / (rows - 1), 0);
  return true;
}

bool ss_mjcf_asset(const ss_mjcf *m, const ss_xml *geom, const ss_mjcf_class *class, ss_shape_def *shape,
                   ss_status *status) {
  const char *mesh = ss_mjcf_text(geom, class, "mesh"), *field = ss_mjcf_text(geom, class, "hfield");
  if (mesh) return read_mesh(m, mesh, shape, status);
  if (field) return read_field(m, field, shape, status);
  ss_import_note(m->import, "geom of type sdf, or without its asset: left out, it touches nothing");
  return false;
}
