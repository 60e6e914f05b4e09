/* Reading results: names and sizes at once, rows a block at a time, single columns by name. */
#include "io/result.h"

#include "core/arena.h"
#include "core/words.h"
#include "io/recorder_coordinates.h"
#include "io/recorder_signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

ss_status ss_result_damaged(const ss_result *r, ss_error *error) {
  return ss_fail(error, SS_ERROR_INPUT, "'%s' is not a stickslip result, or it is damaged", r->path);
}

/* ---- opening ---- */

/* Of a body; NULL: of all of them. */
static hid_t open_column(hid_t file, const char *body, const char *column) {
  char *link = body ? ss_hdf5_link_name(body) : NULL;
  hid_t dataset = H5I_INVALID_HID;
  const hid_t all = H5Gopen2(file, body ? "bodies" : "motion", H5P_DEFAULT);
  const hid_t group = link && all >= 0 ? H5Gopen2(all, link, H5P_DEFAULT) : (hid_t)H5I_INVALID_HID;
  if (group >= 0 || (!body && all >= 0)) dataset = H5Dopen2(body ? group : all, column, H5P_DEFAULT);
  if (group >= 0) (void)H5Gclose(group);
  if (all >= 0) (void)H5Gclose(all);
  ss_free(link);
  return dataset;
}

static ss_status read_names(ss_result *r, ss_error *error) {
  if (H5Lexists(r->file, "body_names", H5P_DEFAULT) <= 0) return SS_OK; /* a scene without bodies */
  const hid_t dataset = H5Dopen2(r->file, "body_names", H5P_DEFAULT);
  hsize_t n = 0;
  ss_status status = dataset >= 0 && ss_hdf5_length(dataset, &n) ? SS_OK : ss_result_damaged(r, error);
  if (!status) {
    r->names = ss_hdf5_read_texts(dataset, n);
    if (!r->names) status = ss_result_damaged(r, error);
  }
  if (!status) { /* the names are there: n is no damaged number */
    r->datasets = ss_alloc(sizeof *r->datasets * n * SS_BODY_COLUMNS);
    r->block = ss_alloc(sizeof *r->block * n * SS_BODY_COLUMNS * SS_HDF5_BLOCK * 4);
    if (!r->datasets || !r->block)
      status = ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    else
      r->n_bodies = n;
  }
  if (dataset >= 0) (void)H5Dclose(dataset);
  return status;
}

static ss_status read_coordinate_names(ss_result *r, ss_error *error) {
  if (H5Lexists(r->file, "coordinate_names", H5P_DEFAULT) <= 0) return SS_OK;
  const hid_t dataset = H5Dopen2(r->file, "coordinate_names", H5P_DEFAULT);
  hsize_t n = 0;
  ss_status status = dataset >= 0 && ss_hdf5_length(dataset, &n) ? SS_OK : ss_result_damaged(r, error);
  if (!status) {
    r->coordinates = ss_hdf5_read_texts(dataset, n);
    if (r->coordinates)
      r->n_coordinates = n;
    else
      status = ss_result_damaged(r, error);
  }
  if (dataset >= 0) (void)H5Dclose(dataset);
  return status;
}

static ss_status open_file(ss_result *r, ss_error *error) {
  FILE *probe = fopen(r->path, "rb"); /* for the operating system's own words, which HDF5 does not pass on */
  if (!probe) return ss_fail(error, SS_ERROR_IO, "cannot read '%s': %s", r->path, strerror(errno));
  const int first = fgetc(probe);
  (void)fclose(probe);
  if (first != 0x89) /* HDF5 starts with it, text does not */
    return ss_fail(error, SS_ERROR_INPUT,
                   "'%s' is not a stickslip result, which is HDF5; stickslip run SCENE -o RESULT.h5 writes one",
                   r->path);
  r->file = H5Fopen(r->path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (r->file < 0) return ss_result_damaged(r, error);
  r->time = H5Dopen2(r->file, "time", H5P_DEFAULT);
  if (r->time < 0 || !ss_hdf5_length(r->time, &r->n_rows)) return ss_result_damaged(r, error);
  r->t = ss_alloc(sizeof *r->t * SS_HDF5_BLOCK);
  if (!r->t) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  SS_TRY(read_names(r, error));
  SS_TRY(read_coordinate_names(r, error));
  r->signals = ss_alloc(sizeof *r->signals);
  if (!r->signals) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (!ss_signal_columns_open(r->signals, r)) return ss_result_damaged(r, error);
  if (H5Lexists(r->file, "motion", H5P_DEFAULT) > 0) r->members = r->n_bodies;
  const hsize_t n = r->members ? SS_BODY_COLUMNS : r->n_bodies * SS_BODY_COLUMNS;
  for (; r->n_datasets < n; r->n_datasets++) {
    const char *body = r->members ? NULL : r->names[r->n_datasets / SS_BODY_COLUMNS];
    const hid_t dataset = open_column(r->file, body, ss_body_columns[r->n_datasets % SS_BODY_COLUMNS]);
    if (dataset < 0) return ss_result_damaged(r, error);
    r->datasets[r->n_datasets] = dataset;
  }
  return SS_OK;
}

ss_status ss_result_open(const char *path, ss_result **out, ss_error *error) {
  *out = NULL;
  ss_result *r = ss_alloc(sizeof *r);
  char *copy = ss_alloc(strlen(path) + 1);
  if (!r || !copy) {
    ss_free(r);
    ss_free(copy);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  memcpy(copy, path, strlen(path) + 1);
  *r = (ss_result){.path = copy, .file = H5I_INVALID_HID, .time = H5I_INVALID_HID};
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  const ss_status status = open_file(r, error);
  ss_hdf5_quiet_end(quiet);
  if (status)
    ss_result_close(r);
  else
    *out = r;
  return status;
}

void ss_result_close(ss_result *r) {
  if (!r) return;
  for (hsize_t i = 0; i < r->n_datasets; i++) (void)H5Dclose(r->datasets[i]);
  if (r->signals) ss_signal_columns_close(r->signals);
  ss_free(r->signals);
  if (r->time >= 0) (void)H5Dclose(r->time);
  if (r->file >= 0) (void)H5Fclose(r->file);
  ss_free(r->path);
  ss_hdf5_free_texts(r->names);
  ss_hdf5_free_texts(r->coordinates);
  ss_free(r->datasets);
  ss_free(r->t);
  ss_free(r->block);
  ss_free(r);
}

/* ---- rows ---- */

static double *dataset_block(const ss_result *r, hsize_t dataset) {
  return r->block + dataset * SS_HDF5_BLOCK * 4 * (r->members ? r->members : 1);
}

ss_status ss_result_read_block(ss_result *r, hsize_t first, hsize_t count, ss_error *error) {
  bool good = ss_hdf5_read_rows(r->time, r->n_rows, first, count, 0, r->t);
  for (hsize_t i = 0; good && i < r->n_datasets; i++)
    good = ss_hdf5_read_members(r->datasets[i], r->n_rows, first, count, (ss_hdf5_members){r->members, 0, r->members},
                                ss_body_widths[i % SS_BODY_COLUMNS], dataset_block(r, i));
  return good ? SS_OK : ss_result_damaged(r, error);
}

void ss_result_motion(const ss_result *r, hsize_t row, hsize_t body, double columns[SS_MOTION_COLUMNS]) {
  for (hsize_t i = 0; i < SS_BODY_COLUMNS; i++) {
    const int width = ss_body_widths[i];
    const double *block = dataset_block(r, r->members ? i : body * SS_BODY_COLUMNS + i);
    const double *numbers = block + (r->members ? row * r->members + body : row) * (hsize_t)width;
    for (int k = 0; k < width; k++) *columns++ = numbers[k];
  }
}

/* ---- columns ---- */

double *ss_result_numbers(const ss_result *r, const char *path, hsize_t *n) {
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  double *values = NULL;
  const hid_t dataset = H5Dopen2(r->file, path, H5P_DEFAULT);
  if (dataset >= 0 && ss_hdf5_length(dataset, n)) {
    values = ss_alloc(sizeof *values * (*n > 0 ? *n : 1));
    if (values && *n > 0 && !ss_hdf5_read_rows(dataset, *n, 0, *n, 0, values)) {
      ss_free(values);
      values = NULL;
    }
  }
  if (dataset >= 0) (void)H5Dclose(dataset);
  ss_hdf5_quiet_end(quiet);
  return values;
}

double *ss_result_coordinate(const ss_result *r, hsize_t coordinate, int column, hsize_t *n) {
  char *link = ss_hdf5_link_name(r->coordinates[coordinate]);
  const size_t size = link ? strlen(link) + 32 : 0;
  char *path = link ? ss_alloc(size) : NULL;
  double *values = NULL;
  if (path && snprintf(path, size, "coordinates/%s/%s", link, ss_coordinate_columns[column]) > 0)
    values = ss_result_numbers(r, path, n);
  ss_free(path);
  ss_free(link);
  return values;
}

double *ss_result_vectors(const ss_result *r, const char *path, hsize_t n, int width) {
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  double *rows = ss_alloc(sizeof *rows * (size_t)width * (n > 0 ? n : 1));
  const hid_t dataset = H5Dopen2(r->file, path, H5P_DEFAULT);
  const bool good = rows && dataset >= 0 && (n == 0 || ss_hdf5_read_rows(dataset, n, 0, n, width, rows));
  if (dataset >= 0) (void)H5Dclose(dataset);
  ss_hdf5_quiet_end(quiet);
  if (good) return rows;
  ss_free(rows);
  return NULL;
}

long ss_result_rows(const ss_result *r) { return (long)r->n_rows; }

/* Hands over numbers that must be as many as there are rows. */
static ss_status adopt_column(const ss_result *r, double *numbers, hsize_t n, double *values, ss_error *error) {
  if (n != r->n_rows) {
    ss_free(numbers);
    return ss_result_damaged(r, error);
  }
  memcpy(values, numbers, sizeof *values * n);
  ss_free(numbers);
  return SS_OK;
}

static ss_status energy_column(const ss_result *r, const char *name, double *values, ss_error *error) {
  char path[64];
  hsize_t n = 0;
  (void)snprintf(path, sizeof path, "energy/%s", name);
  double *numbers = ss_result_numbers(r, path, &n);
  if (!numbers)
    return ss_fail(error, SS_ERROR_INPUT,
                   "'%s' has no energy '%s'; there are kinetic, potential, elastic, total, work, friction_loss, "
                   "impact_loss, damping_loss, remainder, stabilization",
                   r->path, ss_printable(name).text);
  return adopt_column(r, numbers, n, values, error);
}

/* Which coordinate of a system, and which of its columns, "name.q" or "name.v" means. */
static bool find_coordinate(const ss_result *r, const char *name, hsize_t *coordinate, int *column) {
  const char *dot = strrchr(name, '.');
  if (!dot) return false;
  const size_t length = (size_t)(dot - name);
  *column = strcmp(dot + 1, ss_coordinate_columns[1]) == 0;
  if (strcmp(dot + 1, ss_coordinate_columns[*column]) != 0) return false;
  for (*coordinate = 0; *coordinate < r->n_coordinates; ++*coordinate)
    if (strlen(r->coordinates[*coordinate]) == length && strncmp(r->coordinates[*coordinate], name, length) == 0)
      return true;
  return false;
}

static ss_status coordinate_column(const ss_result *r, hsize_t coordinate, int column, double *values,
                                   ss_error *error) {
  hsize_t n = 0;
  double *numbers = ss_result_coordinate(r, coordinate, column, &n);
  return numbers ? adopt_column(r, numbers, n, values, error) : ss_result_damaged(r, error);
}

/* Which body and which of its columns "name.column" means; the name may contain dots itself. */
static bool find_column(const ss_result *r, const char *name, hsize_t *body, int *column) {
  const char *dot = strrchr(name, '.');
  if (!dot) return false;
  const size_t length = (size_t)(dot - name);
  for (*column = 0; *column < SS_MOTION_COLUMNS; ++*column)
    if (strcmp(ss_motion_column_names[*column], dot + 1) == 0) break;
  for (*body = 0; *body < r->n_bodies; ++*body)
    if (strlen(r->names[*body]) == length && strncmp(r->names[*body], name, length) == 0) break;
  return *column < SS_MOTION_COLUMNS && *body < r->n_bodies;
}

static ss_status unknown_column(const ss_result *r, const char *name, ss_error *error) {
  ss_word_list bodies = {0};
  for (hsize_t i = 0; i < r->n_coordinates; i++) ss_word_list_add(&bodies, r->coordinates[i]);
  if (r->n_coordinates)
    return ss_fail(
        error, SS_ERROR_INPUT,
        "'%s' has no column '%s'; expected t, energy.NAME, COORDINATE.q or COORDINATE.v with COORDINATE one of "
        "%s",
        r->path, ss_printable(name).text, bodies.text);
  for (hsize_t i = 0; i < r->n_bodies; i++) ss_word_list_add(&bodies, r->names[i]);
  ss_word_list outputs = {0}, joints = {0};
  for (hsize_t i = 0; i < r->signals->n_outputs; i++) ss_word_list_add(&outputs, r->signals->outputs[i]);
  for (hsize_t i = 0; i < r->signals->n_joints; i++) ss_word_list_add(&joints, r->signals->joints[i]);
  if (outputs.used || joints.used)
    return ss_fail(error, SS_ERROR_INPUT,
                   "'%s' has no column '%s'; expected t, energy.NAME, BODY.x (of %.100s)%s%.100s%s%.100s", r->path,
                   ss_printable(name).text, bodies.text, outputs.used ? ", an output: " : "", outputs.text,
                   joints.used ? ", JOINT.position, speed, force, fx .. mz of " : "", joints.text);
  return ss_fail(
      error, SS_ERROR_INPUT,
      "'%s' has no column '%s'; expected t, energy.NAME or BODY.COLUMN with BODY one of %s and COLUMN one of "
      "x y z qw qx qy qz vx vy vz wx wy wz",
      r->path, ss_printable(name).text, bodies.text);
}

static ss_status body_column(const ss_result *r, hsize_t body, int column, double *values, ss_error *error) {
  int kind = 0, first = 0;
  while (column >= first + ss_body_widths[kind]) first += ss_body_widths[kind++];
  const int width = ss_body_widths[kind];
  double *rows = ss_alloc(sizeof *rows * (r->n_rows > 0 ? r->n_rows : 1) * (hsize_t)width);
  if (!rows) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const hid_t dataset = r->datasets[(r->members ? 0 : body * SS_BODY_COLUMNS) + (hsize_t)kind];
  const bool good =
      ss_hdf5_read_members(dataset, r->n_rows, 0, r->n_rows, (ss_hdf5_members){r->members, body, 1}, width, rows);
  for (hsize_t i = 0; good && i < r->n_rows; i++) values[i] = rows[i * (hsize_t)width + (hsize_t)(column - first)];
  ss_free(rows);
  return good ? SS_OK : ss_result_damaged(r, error);
}

static ss_status signal_column(const ss_result *r, int set, int component, double *values, ss_error *error) {
  double *rows = ss_signal_columns_read(r->signals, set, r);
  if (!rows) return ss_result_damaged(r, error);
  const hsize_t width = (hsize_t)r->signals->sets[set].width;
  for (hsize_t i = 0; i < r->n_rows; i++) values[i] = rows[i * width + (hsize_t)component];
  ss_free(rows);
  return SS_OK;
}

ss_status ss_result_column(const ss_result *r, const char *name, double *values, ss_error *error) {
  if (r->n_rows == 0) return ss_fail(error, SS_ERROR_INPUT, "'%s' has no rows", r->path);
  if (strcmp(name, "t") == 0)
    return ss_hdf5_read_rows(r->time, r->n_rows, 0, r->n_rows, 0, values) ? SS_OK : ss_result_damaged(r, error);
  hsize_t body;
  int column;
  if (find_column(r, name, &body, &column)) return body_column(r, body, column, values, error);
  if (find_coordinate(r, name, &body, &column)) return coordinate_column(r, body, column, values, error);
  if (strncmp(name, "energy.", 7) == 0) return energy_column(r, name + 7, values, error);
  int set;
  if (ss_signal_columns_find(r->signals, name, &set, &column)) return signal_column(r, set, column, values, error);
  return unknown_column(r, name, error);
}
