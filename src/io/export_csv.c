/* HDF5 result to CSV, a block of rows at a time. */
#include "io/csv.h"

#include "core/arena.h"
#include "io/recorder_coordinates.h"
#include "io/recorder_signals.h"
#include "io/result.h"

#include <errno.h>
#include <string.h>

static bool write_header(const ss_result *r, FILE *csv) {
  bool good = ss_csv_header_start(csv);
  for (hsize_t i = 0; good && i < r->n_bodies; i++) good = ss_csv_header_body(csv, r->names[i]);
  for (hsize_t i = 0; good && i < r->n_coordinates; i++) good = ss_csv_header_coordinate(csv, r->coordinates[i]);
  for (int i = 0; good && i < r->signals->n_sets; i++) good = ss_csv_header_signal(csv, &r->signals->sets[i]);
  return good && ss_csv_end_row(csv);
}

/* Of a user-defined system: column after column of all rows, in the order of the header. NULL: damaged, or no memory. */
static double *read_coordinates(const ss_result *r) {
  const hsize_t columns = r->n_coordinates * SS_COORDINATE_COLUMNS;
  double *all = ss_alloc(sizeof *all * (columns * r->n_rows + 1));
  for (hsize_t i = 0; all && i < columns; i++) {
    hsize_t n = 0;
    double *one = ss_result_coordinate(r, i / SS_COORDINATE_COLUMNS, (int)(i % SS_COORDINATE_COLUMNS), &n);
    const bool good = one && n == r->n_rows;
    if (good) memcpy(all + i * n, one, sizeof *all * n);
    ss_free(one);
    if (good) continue;
    ss_free(all);
    return NULL;
  }
  return all;
}

static bool write_row(const ss_result *r, const double *coordinates, const double *signals, FILE *csv, hsize_t first,
                      hsize_t row) {
  bool good = ss_csv_number(csv, r->t[row], true);
  for (hsize_t body = 0; good && body < r->n_bodies; body++) {
    double columns[SS_MOTION_COLUMNS];
    ss_result_motion(r, row, body, columns);
    for (int k = 0; good && k < SS_MOTION_COLUMNS; k++) good = ss_csv_number(csv, columns[k], false);
  }
  for (hsize_t i = 0; good && i < r->n_coordinates * SS_COORDINATE_COLUMNS; i++)
    good = ss_csv_number(csv, coordinates[i * r->n_rows + first + row], false);
  const hsize_t n = (hsize_t)r->signals->n;
  for (hsize_t i = 0; good && i < n; i++) good = ss_csv_number(csv, signals[(first + row) * n + i], false);
  return good && ss_csv_end_row(csv);
}

static ss_status cannot_write(ss_error *error) {
  return ss_fail(error, SS_ERROR_IO, "cannot write CSV: %s", strerror(errno));
}

static ss_status copy_block(ss_result *r, const double *coordinates, const double *signals, FILE *csv, hsize_t first,
                            ss_error *error) {
  const hsize_t left = r->n_rows - first, count = left < SS_HDF5_BLOCK ? left : SS_HDF5_BLOCK;
  const ss_status status = ss_result_read_block(r, first, count, error);
  if (status) return status;
  for (hsize_t row = 0; row < count; row++)
    if (!write_row(r, coordinates, signals, csv, first, row)) return cannot_write(error);
  return SS_OK;
}

ss_status ss_export_csv_stream(const char *result, FILE *csv, ss_error *error) {
  ss_result *r;
  ss_status status = ss_result_open(result, &r, error);
  if (status) return status;
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  double *coordinates = read_coordinates(r), *signals = ss_signal_columns_read_all(r->signals, r);
  if (!coordinates || !signals) status = ss_result_damaged(r, error);
  if (!status && !write_header(r, csv)) status = cannot_write(error);
  for (hsize_t first = 0; !status && first < r->n_rows; first += SS_HDF5_BLOCK)
    status = copy_block(r, coordinates, signals, csv, first, error);
  ss_free(coordinates);
  ss_free(signals);
  ss_result_close(r);
  ss_hdf5_quiet_end(quiet);
  if (!status && fflush(csv)) status = cannot_write(error);
  return status;
}

ss_status ss_export_csv(const char *result, const char *csv, ss_error *error) {
  ss_output_file file;
  ss_status status = ss_output_file_create(&file, csv, error);
  if (status) return status;
  FILE *stream = fopen(file.working, "w");
  if (!stream)
    status = ss_fail(error, SS_ERROR_IO, "cannot write '%s': %s", csv, strerror(errno));
  else
    status = ss_export_csv_stream(result, stream, error);
  if (stream && fclose(stream) && !status)
    status = ss_fail(error, SS_ERROR_IO, "cannot write '%s': %s", csv, strerror(errno));
  if (!status) status = ss_output_file_publish(&file, error);
  if (status) ss_output_file_discard(&file);
  ss_output_file_release(&file);
  return status;
}
