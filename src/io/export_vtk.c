/* HDF5 result to VTK: one PolyData file per frame, a file for the world, and a collection (.pvd) with the times, which is what one
 * opens in ParaView.
 *
 *     points of the bodies' surfaces, then those of contacts; arrays of points: velocity (of bodies), force, normal, friction, state
 *     (0 stick, 1 slip, 2 impact), bodies a and b (of contacts, zero and -1 elsewhere); cells: the index of the body, -1 for contacts */
#include "core/arena.h"
#include "core/words.h"
#include "io/output_file.h"
#include "io/result.h"
#include "io/vtk_mesh.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct vtk_export {
  ss_result *result;
  json_t *model;
  const char *pvd;
  size_t stem;     /* length of pvd without its ending */
  ss_mesh *bodies; /* [n_bodies] in their own frames */
  hsize_t n, at;   /* contacts, and where reading is */
  double *frame, *a, *b, *friction, *state, *point, *normal, *force;
  ss_error *error;
} vtk_export;

static ss_status cannot_write(vtk_export *x, const char *path) {
  return ss_fail(x->error, SS_ERROR_IO, "cannot write '%s': %s", path, strerror(errno));
}

/* ---- meshes ---- */

static ss_status make_mesh(vtk_export *x, ss_mesh *mesh, const json_t *shapes, double reach) {
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *shape = json_array_get(shapes, i);
    if (!ss_mesh_add_shape(mesh, shape, reach))
      return ss_fail(x->error, SS_ERROR_UNSUPPORTED, "the shape '%s' cannot be written as VTK in this version",
                     ss_printable(json_string_value(json_object_get(shape, "type"))).text);
  }
  return mesh->out_of_memory ? ss_fail(x->error, SS_ERROR_MEMORY, "out of memory") : SS_OK;
}

static ss_status make_bodies(vtk_export *x) {
  const json_t *bodies = json_object_get(x->model, "bodies");
  x->bodies = ss_alloc(sizeof *x->bodies * (x->result->n_bodies > 0 ? x->result->n_bodies : 1));
  if (!x->bodies) return ss_fail(x->error, SS_ERROR_MEMORY, "out of memory");
  if (json_array_size(bodies) != x->result->n_bodies) return ss_result_damaged(x->result, x->error);
  for (size_t i = 0; i < x->result->n_bodies; i++) {
    SS_TRY(make_mesh(x, &x->bodies[i], json_object_get(json_array_get(bodies, i), "shapes"), 1));
    const json_t *point = json_pack("{s:s, s:[f,f,f], s:[f,f,f,f]}", "type", "point", "position", 0., 0., 0.,
                                    "orientation", 1., 0., 0., 0.);
    if (x->bodies[i].n_points == 0) (void)ss_mesh_add_shape(&x->bodies[i], point, 1); /* a body without shapes */
    json_decref((json_t *)point);
    if (x->bodies[i].out_of_memory) return ss_fail(x->error, SS_ERROR_MEMORY, "out of memory");
  }
  return SS_OK;
}

/* ---- PolyData ---- */

static FILE *open_file(vtk_export *x, const char *kind, hsize_t row, char *path, size_t size) {
  if (kind)
    (void)snprintf(path, size, "%.*s-%s.vtp", (int)x->stem, x->pvd, kind);
  else
    (void)snprintf(path, size, "%.*s-%06llu.vtp", (int)x->stem, x->pvd, (unsigned long long)row);
  FILE *f = fopen(path, "w");
  if (!f) (void)cannot_write(x, path);
  return f;
}

static void put_start(FILE *f, int points, int vertices, int polygons) {
  (void)fprintf(f,
                "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\">\n"
                "<PolyData><Piece NumberOfPoints=\"%d\" NumberOfVerts=\"%d\" NumberOfLines=\"0\" NumberOfStrips=\"0\" "
                "NumberOfPolys=\"%d\">\n",
                points, vertices, polygons);
}

static void begin_array(FILE *f, const char *type, const char *name, int components) {
  (void)fprintf(f, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"ascii\">\n", type, name,
                components);
}

static void end_array(FILE *f) { (void)fputs("\n</DataArray>\n", f); }

static ss_status put_end(vtk_export *x, FILE *f, const char *path) {
  (void)fputs("</Piece></PolyData></VTKFile>\n", f);
  const bool failed = ferror(f);
  return fclose(f) || failed ? cannot_write(x, path) : SS_OK;
}

static void put_vector(FILE *f, ss_vec3 v) { (void)fprintf(f, "%.7g %.7g %.7g\n", v.x, v.y, v.z); }

/* Connectivity and offsets of meshes, one after the other; only points: a vertex each. Then those of contacts, which are vertices. */
static void put_cells(FILE *f, const ss_mesh *meshes, hsize_t n, hsize_t contacts, bool vertices) {
  (void)fputs(vertices ? "<Verts>\n" : "<Polys>\n", f);
  begin_array(f, "Int64", "connectivity", 1);
  int first = 0;
  for (hsize_t i = 0; i < n; first += meshes[i++].n_points) {
    if (vertices && meshes[i].n_polygons == 0)
      for (int k = 0; k < meshes[i].n_points; k++) (void)fprintf(f, "%d ", first + k);
    for (int k = 0; !vertices && k < meshes[i].n_numbers; k += meshes[i].polygons[k] + 1)
      for (int c = 1; c <= meshes[i].polygons[k]; c++) (void)fprintf(f, "%d ", first + meshes[i].polygons[k + c]);
  }
  for (hsize_t k = 0; vertices && k < contacts; k++) (void)fprintf(f, "%d ", first++);
  end_array(f);
  begin_array(f, "Int64", "offsets", 1);
  int offset = 0;
  for (hsize_t i = 0; i < n; i++) {
    if (vertices && meshes[i].n_polygons == 0)
      for (int k = 0; k < meshes[i].n_points; k++) (void)fprintf(f, "%d ", ++offset);
    for (int k = 0; !vertices && k < meshes[i].n_numbers; k += meshes[i].polygons[k] + 1)
      (void)fprintf(f, "%d ", offset += meshes[i].polygons[k]);
  }
  for (hsize_t k = 0; vertices && k < contacts; k++) (void)fprintf(f, "%d ", ++offset);
  end_array(f);
  (void)fputs(vertices ? "</Verts>\n" : "</Polys>\n", f);
}

/* Cells are the vertices, those of contacts last, then the polygons: the bodies they belong to in that order. */
static void put_owners(FILE *f, const ss_mesh *meshes, hsize_t n, hsize_t contacts) {
  (void)fputs("<CellData Scalars=\"body\">\n", f);
  begin_array(f, "Int32", "body", 1);
  for (int polygons = 0; polygons < 2; polygons++) {
    for (hsize_t i = 0; i < n; i++) {
      const int cells = polygons ? meshes[i].n_polygons : meshes[i].n_polygons == 0 ? meshes[i].n_points : 0;
      for (int k = 0; k < cells; k++) (void)fprintf(f, "%lld ", (long long)i);
    }
    for (hsize_t k = 0; !polygons && k < contacts; k++) (void)fputs("-1 ", f);
  }
  end_array(f);
  (void)fputs("</CellData>\n", f);
}

static void count_cells(const ss_mesh *meshes, hsize_t n, int *points, int *vertices, int *polygons) {
  *points = *vertices = *polygons = 0;
  for (hsize_t i = 0; i < n; i++) {
    *points += meshes[i].n_points;
    *polygons += meshes[i].n_polygons;
    if (meshes[i].n_polygons == 0) *vertices += meshes[i].n_points;
  }
}

/* ---- contacts ---- */

static bool read_contacts(vtk_export *x) {
  const ss_result *r = x->result;
  hsize_t n[4] = {0};
  if (H5Lexists(r->file, "contacts", H5P_DEFAULT) <= 0) return true;
  x->frame = ss_result_numbers(r, "contacts/frame", &x->n);
  x->a = ss_result_numbers(r, "contacts/a", &n[0]);
  x->b = ss_result_numbers(r, "contacts/b", &n[1]);
  x->friction = ss_result_numbers(r, "contacts/friction", &n[2]);
  x->state = ss_result_numbers(r, "contacts/state", &n[3]);
  x->point = ss_result_vectors(r, "contacts/point", x->n, 3);
  x->normal = ss_result_vectors(r, "contacts/normal", x->n, 3);
  x->force = ss_result_vectors(r, "contacts/force", x->n, 3);
  return x->frame && x->a && x->b && x->friction && x->state && x->point && x->normal && x->force && n[0] == x->n &&
         n[1] == x->n && n[2] == x->n && n[3] == x->n;
}

/* ---- a frame ---- */

/* Contacts `first` to `end` (excluded) of the columns. */
typedef struct contact_range {
  hsize_t first, end;
} contact_range;

static contact_range contacts_of(vtk_export *x, hsize_t row) {
  while (x->at < x->n && x->frame[x->at] < (double)row) x->at++;
  contact_range range = {x->at, x->at};
  while (range.end < x->n && x->frame[range.end] == (double)row) range.end++;
  return range;
}

/* Points or velocities of the bodies' surfaces. */
static void put_surfaces(const vtk_export *x, FILE *f, hsize_t in_block, bool velocities) {
  for (hsize_t i = 0; i < x->result->n_bodies; i++) {
    double m[SS_MOTION_COLUMNS];
    ss_result_motion(x->result, in_block, i, m);
    const ss_pose pose = {v3(m[0], m[1], m[2]), {m[3], m[4], m[5], m[6]}};
    for (int k = 0; k < x->bodies[i].n_points; k++) {
      const ss_vec3 at = pose_point(&pose, x->bodies[i].points[k]), arm = v3_sub(at, pose.position);
      put_vector(f, velocities ? v3_add(v3(m[7], m[8], m[9]), v3_cross(v3(m[10], m[11], m[12]), arm)) : at);
    }
  }
}

/* A column of contacts, behind as many `missing` as the bodies have points. */
static void put_column(FILE *f, const char *type, const char *name, int points, const char *missing,
                       const double *values, contact_range range, int width) {
  begin_array(f, type, name, width);
  for (int i = 0; i < points; i++) (void)fputs(missing, f);
  for (hsize_t i = range.first * (hsize_t)width; values && i < range.end * (hsize_t)width; i++)
    (void)fprintf(f, "%.7g ", values[i]);
  end_array(f);
}

static void put_point_data(const vtk_export *x, FILE *f, hsize_t in_block, int points, contact_range range) {
  (void)fputs("<PointData Vectors=\"velocity\">\n", f);
  begin_array(f, "Float32", "velocity", 3);
  put_surfaces(x, f, in_block, true);
  for (hsize_t i = range.first; i < range.end; i++) (void)fputs("0 0 0 ", f);
  end_array(f);
  put_column(f, "Float32", "force", points, "0 0 0 ", x->force, range, 3);
  put_column(f, "Float32", "normal", points, "0 0 0 ", x->normal, range, 3);
  put_column(f, "Float32", "friction", points, "0 ", x->friction, range, 1);
  put_column(f, "Int32", "state", points, "-1 ", x->state, range, 1);
  put_column(f, "Int32", "a", points, "-1 ", x->a, range, 1);
  put_column(f, "Int32", "b", points, "-1 ", x->b, range, 1);
  (void)fputs("</PointData>\n", f);
}

static ss_status put_frame(vtk_export *x, hsize_t row, hsize_t in_block) {
  char path[4096];
  const hsize_t n = x->result->n_bodies;
  int points, vertices, polygons;
  FILE *f = open_file(x, NULL, row, path, sizeof path);
  if (!f) return SS_ERROR_IO;
  const contact_range range = contacts_of(x, row);
  const hsize_t contacts = range.end - range.first;
  count_cells(x->bodies, n, &points, &vertices, &polygons);
  put_start(f, points + (int)contacts, vertices + (int)contacts, polygons);
  put_point_data(x, f, in_block, points, range);
  put_owners(f, x->bodies, n, contacts);
  (void)fputs("<Points>\n", f);
  begin_array(f, "Float32", "Points", 3);
  put_surfaces(x, f, in_block, false);
  for (hsize_t i = 3 * range.first; i < 3 * range.end; i++) (void)fprintf(f, "%.7g ", x->point[i]);
  end_array(f);
  (void)fputs("</Points>\n", f);
  put_cells(f, x->bodies, n, contacts, true);
  put_cells(f, x->bodies, n, 0, false);
  return put_end(x, f, path);
}

/* ---- the collection ---- */

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* kind NULL: the frame of this row. */
static void put_entry(vtk_export *x, FILE *f, double t, int part, const char *kind, hsize_t row) {
  const size_t folder = (size_t)(base_name(x->pvd) - x->pvd);
  (void)fprintf(f, "<DataSet timestep=\"%.17g\" part=\"%d\" file=\"%.*s-", t, part, (int)(x->stem - folder),
                base_name(x->pvd));
  if (kind)
    (void)fprintf(f, "%s.vtp\"/>\n", kind);
  else
    (void)fprintf(f, "%06llu.vtp\"/>\n", (unsigned long long)row);
}

/* What does not move; half-spaces reach as far as anything does. */
static ss_status put_world(vtk_export *x, bool *some) {
  double reach = 1;
  const json_t *world = json_object_get(x->model, "world");
  for (hsize_t i = 0; i < x->result->n_bodies; i++) {
    double m[SS_MOTION_COLUMNS];
    ss_result_motion(x->result, 0, i, m);
    reach = fmax(reach, 2 * v3_norm(v3(m[0], m[1], m[2])));
  }
  ss_mesh mesh = {0};
  ss_status status = make_mesh(x, &mesh, world, reach);
  char path[4096];
  *some = !status && mesh.n_points > 0;
  FILE *f = *some ? open_file(x, "world", 0, path, sizeof path) : NULL;
  if (*some && !f) status = SS_ERROR_IO;
  if (f) {
    put_start(f, mesh.n_points, mesh.n_polygons ? 0 : mesh.n_points, mesh.n_polygons);
    (void)fputs("<Points>\n", f);
    begin_array(f, "Float32", "Points", 3);
    for (int k = 0; k < mesh.n_points; k++) put_vector(f, mesh.points[k]);
    end_array(f);
    (void)fputs("</Points>\n", f);
    put_cells(f, &mesh, 1, 0, true);
    put_cells(f, &mesh, 1, 0, false);
    status = put_end(x, f, path);
  }
  ss_mesh_release(&mesh);
  return status;
}

static ss_status put_frames(vtk_export *x, long every, FILE *pvd) {
  ss_result *r = x->result;
  bool world = false;
  for (hsize_t first = 0; first < r->n_rows; first += SS_HDF5_BLOCK) {
    const hsize_t left = r->n_rows - first, count = left < SS_HDF5_BLOCK ? left : SS_HDF5_BLOCK;
    SS_TRY(ss_result_read_block(r, first, count, x->error));
    if (first == 0) SS_TRY(put_world(x, &world));
    for (hsize_t k = 0; k < count; k++) {
      const hsize_t row = first + k;
      if (row % (hsize_t)every != 0 && row + 1 != r->n_rows) continue;
      SS_TRY(put_frame(x, row, k));
      put_entry(x, pvd, r->t[k], 0, NULL, row);
      if (world) put_entry(x, pvd, r->t[k], 1, "world", 0);
    }
  }
  return SS_OK;
}

static ss_status prepare(vtk_export *x) {
  char *text = ss_hdf5_read_text(x->result->file, "model");
  x->model = text ? json_loads(text, 0, NULL) : NULL;
  ss_free(text);
  if (!x->model)
    return ss_fail(x->error, SS_ERROR_INPUT, "'%s' does not contain the shapes of its bodies", x->result->path);
  SS_TRY(make_bodies(x));
  return read_contacts(x) ? SS_OK : ss_result_damaged(x->result, x->error);
}

static void release(vtk_export *x) {
  double *const columns[] = {x->frame, x->a, x->b, x->friction, x->state, x->point, x->normal, x->force};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) ss_free(columns[i]);
  for (hsize_t i = 0; x->bodies && i < x->result->n_bodies; i++) ss_mesh_release(&x->bodies[i]);
  ss_free(x->bodies);
  json_decref(x->model);
}

ss_status ss_export_vtk(const char *result, const char *pvd, long every, ss_error *error) {
  ss_error own = {0};
  vtk_export x = {.pvd = pvd, .error = error ? error : &own};
  const size_t length = strlen(pvd);
  if (length < 5 || strcmp(pvd + length - 4, ".pvd") != 0)
    return ss_fail(error, SS_ERROR_INPUT, "VTK is written as a collection: name it ....pvd, not '%s'", pvd);
  if (every < 1) return ss_fail(error, SS_ERROR_INPUT, "every must be at least 1");
  x.stem = length - 4;
  SS_TRY(ss_result_open(result, &x.result, x.error));
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  ss_status status = prepare(&x);
  ss_output_file file = {0}; /* the collection is there when all of its frames are */
  if (!status) status = ss_output_file_create(&file, pvd, error);
  FILE *f = status ? NULL : fopen(file.working, "w");
  if (!status && !f) status = cannot_write(&x, pvd);
  if (f) {
    (void)fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n"
                "<Collection>\n",
                f);
    status = put_frames(&x, every, f);
    (void)fputs("</Collection>\n</VTKFile>\n", f);
    const bool failed = ferror(f);
    if ((fclose(f) || failed) && !status) status = cannot_write(&x, pvd);
    if (!status) status = ss_output_file_publish(&file, error);
  }
  if (status) ss_output_file_discard(&file);
  ss_output_file_release(&file);
  ss_hdf5_quiet_end(quiet);
  release(&x);
  ss_result_close(x.result);
  return status;
}
