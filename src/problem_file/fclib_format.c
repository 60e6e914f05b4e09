/* FCLIB problems in HDF5: the groups fclib_local (W, vectors q, mu; with equations V, R, s), fclib_global (M, H, vectors f, w,
 * mu; with joints G, b) and fclib_global_rolling (mu_r besides). Solutions and guesses of the file are not read.
 *
 * A matrix has the datasets m, n (rows, columns), nz, p, i, x: nz >= 0 triplets with i the rows and p the columns, -1
 * compressed columns, -2 compressed rows. */
#include "problem_file/global_friction.h"

#include "io/hdf5_file.h"

#include <stdio.h>

typedef struct source {
  hid_t file;
  tokens t; /* for its arena and path */
} source;

static ss_status fail(const char *name, ss_error *error) {
  return ss_fail(error, SS_ERROR_INPUT, "%s is missing or has the wrong form", name);
}

static ss_status fail_in(const char *group, const char *name, ss_error *error) {
  return ss_fail(error, SS_ERROR_INPUT, "%s/%s is missing or has the wrong form", group, name);
}

static bool exists(const source *s, const char *group, const char *name) {
  char path[96];
  (void)snprintf(path, sizeof path, "%s/%s", group, name);
  return H5Lexists(s->file, path, H5P_DEFAULT) > 0;
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
  char path[128];
  (void)snprintf(path, sizeof path, "%s/%s", group, name);
  return read_array(s, path, out, length, error);
}

static ss_status read_count(const source *s, const char *group, const char *name, int *out, ss_error *error) {
  double *value = NULL;
  hsize_t length = 0;
  const ss_status status = read_part(s, group, name, &value, &length, error);
  if (status) return status;
  if (length != 1 || !(value[0] >= -2 && value[0] <= 1e7)) return fail_in(group, name, error);
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

static ss_status read_part_matrix(source *s, const char *group, const char *name, matrix *out, ss_error *error) {
  char path[96];
  (void)snprintf(path, sizeof path, "%s/%s", group, name);
  return read_csparse(s, path, out, error);
}

/* A vector of known length. */
static ss_status read_vector(const source *s, const char *group, const char *name, size_t expected, double **out,
                             ss_error *error) {
  char path[96];
  hsize_t length = 0;
  (void)snprintf(path, sizeof path, "%s/vectors/%s", group, name);
  const ss_status status = read_array(s, path, out, &length, error);
  if (status || length == expected) return status;
  return ss_fail(error, SS_ERROR_INPUT, "%s has %llu numbers, expected %zu", path, (unsigned long long)length,
                 expected);
}

static ss_status read_dimension(const source *s, const char *group, bool rolling, int *d, ss_error *error) {
  int value = 0;
  const ss_status status = read_count(s, group, "spacedim", &value, error);
  *d = rolling ? 5 : value == 2 ? 2 : 3;
  if (status || value == *d) return status;
  return ss_fail(error, SS_ERROR_UNSUPPORTED, "%s/spacedim is %d, expected %s", group, value, rolling ? "5" : "2 or 3");
}

static ss_status read_local(source *s, ss_cp_file *out, ss_error *error) {
  static const char group[] = "/fclib_local";
  int d;
  matrix W, V, R;
  double *q, *mu, *r = NULL;
  const bool mixed = exists(s, group, "V") || exists(s, group, "R");
  ss_status status = read_dimension(s, group, false, &d, error);
  if (!status) status = read_part_matrix(s, group, "W", &W, error);
  if (!status) status = read_vector(s, group, "q", (size_t)W.rows, &q, error);
  if (!status) status = read_vector(s, group, "mu", (size_t)(W.rows / d), &mu, error);
  if (!status && mixed) status = read_part_matrix(s, group, "V", &V, error);
  if (!status && mixed) status = read_part_matrix(s, group, "R", &R, error);
  if (!status && mixed) status = read_vector(s, group, "s", (size_t)R.rows, &r, error);
  if (status) return status;
  if (!mixed) return file_friction(&s->t, d, W.rows / d, &W, q, mu, out, error);
  const mixed_contacts parts = {.d = d, .contacts = W.rows / d, .W = &W, .V = &V, .R = &R, .q = q, .s = r, .mu = mu};
  return file_mixed_friction(&s->t, &parts, out, error);
}

static ss_status read_global(source *s, bool rolling, ss_cp_file *out, ss_error *error) {
  const char *group = rolling ? "/fclib_global_rolling" : "/fclib_global";
  int d;
  matrix M, H, N;
  double *f, *w, *b = NULL, *mu, *mu_rolling = NULL;
  const bool joints = exists(s, group, "G");
  ss_status status = read_dimension(s, group, rolling, &d, error);
  if (!status) status = read_part_matrix(s, group, "M", &M, error);
  if (!status) status = read_part_matrix(s, group, "H", &H, error);
  if (!status && joints) status = read_part_matrix(s, group, "G", &N, error);
  if (!status) status = read_vector(s, group, "f", (size_t)M.rows, &f, error);
  if (!status) status = read_vector(s, group, "w", (size_t)H.cols, &w, error);
  if (!status && joints) status = read_vector(s, group, "b", (size_t)N.cols, &b, error);
  if (!status) status = read_vector(s, group, "mu", (size_t)(H.cols / d), &mu, error);
  if (!status && rolling) status = read_vector(s, group, "mu_r", (size_t)(H.cols / d), &mu_rolling, error);
  if (status) return status;
  const global_contacts parts = {.d = d,
                                 .contacts = H.cols / d,
                                 .M = &M,
                                 .H = &H,
                                 .N = joints ? &N : NULL,
                                 .f = f,
                                 .w = w,
                                 .b = b,
                                 .mu = mu,
                                 .mu_rolling = mu_rolling};
  return file_global_friction(&s->t, &parts, out, error);
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
    status = read_global(&s, false, out, error);
  else if (H5Lexists(s.file, "fclib_global_rolling", H5P_DEFAULT) > 0)
    status = read_global(&s, true, out, error);
  else
    status =
        ss_fail(error, SS_ERROR_UNSUPPORTED, "none of fclib_local, fclib_global, fclib_global_rolling is in this file");
  if (s.file >= 0) (void)H5Fclose(s.file);
  ss_hdf5_quiet_end(quiet);
  return status;
}
