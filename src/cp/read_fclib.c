/* FCLIB problems in HDF5: the groups fclib_local (W, vectors q, mu) and fclib_global (M, H, vectors f, w, mu).
 *
 * A matrix has the datasets m, n (rows, columns), nz, p, i, x: nz >= 0 triplets with i the rows and p the columns, -1
 * compressed columns, -2 compressed rows. */
#include "cp/tokens.h"

#include "io/hdf5_file.h"

#include <stdio.h>

typedef struct source {
  hid_t file;
  tokens t; /* for its arena and path */
} source;

static ss_status fail(const char *name, ss_error *error) {
  return ss_fail(error, SS_ERROR_INPUT, "%s is missing or has the wrong form", name);
}

/* A one-dimensional dataset as doubles (integers are converted by HDF5). */
static ss_status read_array(const source *s, const char *name, double **out, hsize_t *length, ss_error *error) {
  const hid_t set = H5Dopen2(s->file, name, H5P_DEFAULT);
  if (set < 0) return fail(name, error);
  const hid_t space = H5Dget_space(set);
  const hssize_t points = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
  ss_status status = points < 0 || points > (1 << 28) ? fail(name, error) : SS_OK;
  if (!status) {
    *length = (hsize_t)points;
    *out = SS_ARENA_ARRAY(s->t.arena, double, points);
    if (!*out)
      status = ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    else if (points && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0)
      status = fail(name, error);
  }
  if (space >= 0) (void)H5Sclose(space);
  (void)H5Dclose(set);
  return status;
}

static ss_status read_part(const source *s, const char *group, const char *name, double **out, hsize_t *length,
                           ss_error *error) {
  char path[96];
  (void)snprintf(path, sizeof path, "%s/%s", group, name);
  return read_array(s, path, out, length, error);
}

static ss_status read_count(const source *s, const char *group, const char *name, int *out, ss_error *error) {
  double *value;
  hsize_t length;
  const ss_status status = read_part(s, group, name, &value, &length, error);
  if (status) return status;
  if (length != 1 || !(value[0] >= -2 && value[0] <= 1e7)) return fail(name, error);
  *out = (int)value[0];
  return SS_OK;
}

static bool add_entry(matrix *m, double i, double j, double x) {
  return i >= 0 && i < m->rows && j >= 0 && j < m->cols && matrix_add(m, (int)i, (int)j, x);
}

static bool fill(matrix *m, int form, const double *p, hsize_t n_p, const double *i, hsize_t n_i, const double *x,
                 hsize_t n_x) {
  if (form >= 0) {
    if ((hsize_t)form > n_p || (hsize_t)form > n_i || (hsize_t)form > n_x) return false;
    for (int k = 0; k < form; k++)
      if (!add_entry(m, i[k], p[k], x[k])) return false;
    return true;
  }
  const int outer = form == -1 ? m->cols : m->rows;
  if (n_p < (hsize_t)outer + 1) return false;
  for (int k = 0; k < outer; k++)
    for (double e = p[k]; e < p[k + 1]; e++) {
      if (!(e >= 0 && e < (double)n_i && e < (double)n_x)) return false;
      const double inner = i[(size_t)e];
      if (!(form == -1 ? add_entry(m, inner, k, x[(size_t)e]) : add_entry(m, k, inner, x[(size_t)e]))) return false;
    }
  return true;
}

static ss_status read_csparse(source *s, const char *group, matrix *out, ss_error *error) {
  int rows = 0, cols = 0, form = 0;
  double *p, *i, *x;
  hsize_t n_p, n_i, n_x;
  ss_status status = read_count(s, group, "m", &rows, error);
  if (!status) status = read_count(s, group, "n", &cols, error);
  if (!status) status = read_count(s, group, "nz", &form, error);
  if (!status) status = read_part(s, group, "p", &p, &n_p, error);
  if (!status) status = read_part(s, group, "i", &i, &n_i, error);
  if (!status) status = read_part(s, group, "x", &x, &n_x, error);
  if (!status && (rows < 0 || cols < 0)) status = fail(group, error);
  if (!status) status = matrix_create_entries(&s->t, rows, cols, n_x, out, error);
  if (status) return status;
  return fill(out, form, p, n_p, i, n_i, x, n_x) ? SS_OK : fail(group, error);
}

static ss_status read_local(source *s, ss_cp_file *out, ss_error *error) {
  int d = 0;
  matrix W;
  double *q, *mu;
  hsize_t n_q = 0, n_mu = 0;
  ss_status status = read_count(s, "/fclib_local", "spacedim", &d, error);
  if (!status) status = read_csparse(s, "/fclib_local/W", &W, error);
  if (!status) status = read_array(s, "/fclib_local/vectors/q", &q, &n_q, error);
  if (!status) status = read_array(s, "/fclib_local/vectors/mu", &mu, &n_mu, error);
  if (status) return status;
  if (n_q != (hsize_t)W.rows || n_mu * (hsize_t)d != n_q) return fail("a vector", error);
  return file_friction(&s->t, d, (int)n_mu, &W, q, mu, out, error);
}

static ss_status read_global(source *s, ss_cp_file *out, ss_error *error) {
  int d = 0;
  matrix M, H;
  double *f, *w, *mu;
  hsize_t n_f = 0, n_w = 0, n_mu = 0;
  ss_status status = read_count(s, "/fclib_global", "spacedim", &d, error);
  if (!status) status = read_csparse(s, "/fclib_global/M", &M, error);
  if (!status) status = read_csparse(s, "/fclib_global/H", &H, error);
  if (!status) status = read_array(s, "/fclib_global/vectors/f", &f, &n_f, error);
  if (!status) status = read_array(s, "/fclib_global/vectors/w", &w, &n_w, error);
  if (!status) status = read_array(s, "/fclib_global/vectors/mu", &mu, &n_mu, error);
  if (status) return status;
  if (n_f != (hsize_t)M.rows || n_w != (hsize_t)H.cols || n_mu * (hsize_t)d != n_w) return fail("a vector", error);
  return file_global_friction(&s->t, d, (int)n_mu, &M, &H, f, w, mu, out, error);
}

ss_status read_fclib(const char *path, ss_arena *arena, ss_cp_file *out, ss_error *error) {
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  source s = {H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), {.path = path, .at = "", .arena = arena}};
  ss_status status;
  if (s.file < 0)
    status = ss_fail(error, SS_ERROR_IO, "not a readable HDF5 file");
  else if (H5Lexists(s.file, "fclib_local", H5P_DEFAULT) > 0)
    status = read_local(&s, out, error);
  else if (H5Lexists(s.file, "fclib_global", H5P_DEFAULT) > 0)
    status = read_global(&s, out, error);
  else
    status = ss_fail(error, SS_ERROR_UNSUPPORTED, "neither fclib_local nor fclib_global is in this file");
  if (s.file >= 0) (void)H5Fclose(s.file);
  ss_hdf5_quiet_end(quiet);
  return status;
}
