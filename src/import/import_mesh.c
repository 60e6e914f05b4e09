/* Meshes that a model names: found beside it, read, and turned into what a scene can have. Moving bodies are convex, so they
 * get the mesh's convex hull. */
#include "import/import.h"

#include "geom/hull.h"
#include "io/mesh_file.h"

#include <stdio.h>
#include <string.h>

enum { HULL_CORNERS = 64, MOST_TRIANGLES = 20000, LEVELS = 6 };

static bool readable(const char *path) {
  FILE *f = fopen(path, "rb");
  if (f) (void)fclose(f);
  return f != NULL;
}

/* The folder that holds the path's last part; false: there is none. */
static bool go_up(char *path) {
  char *slash = strrchr(path, '/');
  if (!slash || slash == path) return false;
  *slash = '\0';
  return true;
}

/* package://name/a/b.stl: looked for beside the model and in the folders above it, with fewer and fewer of its first parts; a file's
 * name alone will do where the package's is all that is before it. */
static const char *find_in_packages(ss_import *i, const char *name) {
  char folder[1024], path[2048];
  const bool long_name = strlen(i->file) + 3 >= sizeof folder || strlen(name) + 3 >= sizeof path - sizeof folder;
  if (long_name) return NULL;
  (void)snprintf(folder, sizeof folder, "%s%s", strchr(i->file, '/') ? "" : "./", i->file);
  const char *const inside = strchr(name, '/') ? strchr(name, '/') + 1 : NULL;
  for (int level = 0; level < LEVELS && go_up(folder); level++)
    for (const char *rest = name; rest; rest = strchr(rest, '/') ? strchr(rest, '/') + 1 : NULL) {
      if (!strchr(rest, '/') && rest != inside) break;
      (void)snprintf(path, sizeof path, "%s/%s", folder, rest);
      if (readable(path)) return ss_arena_strdup(i->arena, path);
    }
  return NULL;
}

static const char *find_file(ss_import *i, const char *name) {
  static const char package[] = "package://", file[] = "file://";
  if (strncmp(name, package, sizeof package - 1) == 0) return find_in_packages(i, name + sizeof package - 1);
  if (strncmp(name, file, sizeof file - 1) == 0) name += sizeof file - 1;
  const char *path = ss_path_beside(i->arena, i->file, name);
  return path && readable(path) ? path : NULL;
}

bool ss_import_mesh_file(ss_import *i, const char *name, ss_vec3 scale, ss_shape_def *shape) {
  const char *path = find_file(i, name);
  ss_mesh_data data;
  ss_error error = {0};
  if (!path) {
    ss_import_note(i, "mesh '%s': there is no such file, it touches nothing", ss_printable(name).text);
    return false;
  }
  if (ss_mesh_file_read(path, i->arena, &data, &error) != SS_OK) {
    ss_import_note(i, "mesh '%s': %.80s; it touches nothing", ss_printable(name).text, error.message);
    return false;
  }
  for (int k = 0; k < data.n_points; k++) {
    ss_vec3 *p = &data.points[k];
    *p = v3(scale.x * p->x, scale.y * p->y, scale.z * p->z);
  }
  for (int k = 0; scale.x * scale.y * scale.z < 0 && k < data.n_triangles; k++) { /* a mirror turns them inside out */
    const int corner = data.triangles[3 * k];
    data.triangles[3 * k] = data.triangles[3 * k + 1], data.triangles[3 * k + 1] = corner;
  }
  shape->type = SS_SHAPE_MESH;
  shape->points = data.points, shape->n_points = data.n_points;
  shape->triangles = data.triangles, shape->n_triangles = data.n_triangles;
  return true;
}

ss_status ss_import_make_convex(ss_import *i, ss_shape_def *shape, bool *possible) {
  ss_shape_def d = *shape;
  d.type = SS_SHAPE_CONVEX;
  d.pose = pose_identity();
  d.corners = HULL_CORNERS;
  ss_shape hull;
  ss_error error = {0};
  ss_arena *scratch = ss_arena_create();
  if (!scratch) return ss_fail(i->error, SS_ERROR_MEMORY, "out of memory");
  *possible = ss_shape_compile(scratch, &d, &hull, &error) == SS_OK;
  ss_vec3 *points = *possible ? SS_ARENA_ARRAY(i->arena, ss_vec3, hull.hull->n_vertices) : NULL;
  for (int k = 0; points && k < hull.hull->n_vertices; k++)
    points[k] = v3_add(hull.local.position, hull.hull->vertex[k]);
  if (points) {
    d.n_points = hull.hull->n_vertices;
    d.points = points;
    d.pose = shape->pose;
    d.corners = 0;
    d.triangles = NULL, d.n_triangles = 0;
    *shape = d;
  }
  ss_arena_destroy(scratch);
  if (error.status == SS_ERROR_MEMORY || (*possible && !points))
    return ss_fail(i->error, SS_ERROR_MEMORY, "out of memory");
  if (*possible)
    ss_import_note(i, "mesh: its convex hull, of at most %d corners", HULL_CORNERS);
  else
    ss_import_note(i, "mesh without a volume: left out, it touches nothing");
  return SS_OK;
}

ss_status ss_import_keep_mesh(ss_import *i, ss_shape_def *shape, bool *possible) {
  ss_shape mesh;
  ss_error error = {0};
  *possible = true;
  ss_arena *scratch = ss_arena_create();
  if (!scratch) return ss_fail(i->error, SS_ERROR_MEMORY, "out of memory");
  const bool sound = shape->n_triangles <= MOST_TRIANGLES && ss_shape_compile(scratch, shape, &mesh, &error) == SS_OK;
  ss_arena_destroy(scratch);
  return sound ? SS_OK : ss_import_make_convex(i, shape, possible);
}
