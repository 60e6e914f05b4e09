/* HDF5 result to CSV, a block of rows at a time. */
#include "core/arena.h"
#include "io/csv.h"
#include "io/hdf5_file.h"
#include "io/recorder.h"

#include <errno.h>
#include <string.h>

enum { BODY_COLUMNS = 4 };
static const char *const body_columns[BODY_COLUMNS] = {"position", "orientation", "velocity", "angular_velocity"};
static const int widths[BODY_COLUMNS] = {3, 4, 3, 3};

typedef struct result_reader {
  const char *path;
  hid_t file, time;
  hsize_t n_rows, n_bodies;
  char **names;      /* n_bodies, HDF5's own memory */
  hid_t *datasets;   /* BODY_COLUMNS per body */
  double *t, *block; /* SS_HDF5_BLOCK times; per dataset SS_HDF5_BLOCK rows of four numbers at most */
} result_reader;

static ss_status not_a_result(const result_reader *r, ss_error *error) {
  return ss_fail(error, SS_ERROR_INPUT, "'%s' is not a stickslip result, or it is damaged", r->path);
}

static hid_t open_column(hid_t file, const char *body, const char *column) {
  char *link = ss_hdf5_link_name(body);
  if (!link) return H5I_INVALID_HID;
  hid_t dataset = H5I_INVALID_HID;
  const hid_t bodies = H5Gopen2(file, "bodies", H5P_DEFAULT);
  const hid_t group = bodies >= 0 ? H5Gopen2(bodies, link, H5P_DEFAULT) : (hid_t)H5I_INVALID_HID;
  if (group >= 0) {
    dataset = H5Dopen2(group, column, H5P_DEFAULT);
    (void)H5Gclose(group);
  }
  if (bodies >= 0) (void)H5Gclose(bodies);
  ss_free(link);
  return dataset;
}

static ss_status read_names(result_reader *r, ss_error *error) {
  if (H5Lexists(r->file, "body_names", H5P_DEFAULT) <= 0) return SS_OK; /* a scene without bodies */
  const hid_t dataset = H5Dopen2(r->file, "body_names", H5P_DEFAULT);
  hsize_t n = 0;
  ss_status status = dataset >= 0 && ss_hdf5_length(dataset, &n) ? SS_OK : not_a_result(r, error);
  if (!status) {
    r->names = ss_alloc(sizeof *r->names * n);
    r->datasets = ss_alloc(sizeof *r->datasets * n * BODY_COLUMNS);
    r->block = ss_alloc(sizeof *r->block * n * BODY_COLUMNS * SS_HDF5_BLOCK * 4);
    if (!r->names || !r->datasets || !r->block)
      status = ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    else if (!ss_hdf5_read_texts(dataset, r->names))
      status = not_a_result(r, error);
    else
      r->n_bodies = n;
  }
  if (dataset >= 0) (void)H5Dclose(dataset);
  return status;
}

static ss_status open_result(result_reader *r, ss_error *error) {
  FILE *probe = fopen(r->path, "rb"); /* for the operating system's own words, which HDF5 does not pass on */
  if (!probe) return ss_fail(error, SS_ERROR_IO, "cannot read '%s': %s", r->path, strerror(errno));
  (void)fclose(probe);
  r->file = H5Fopen(r->path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (r->file < 0) return not_a_result(r, error);
  r->time = H5Dopen2(r->file, "time", H5P_DEFAULT);
  if (r->time < 0 || !ss_hdf5_length(r->time, &r->n_rows)) return not_a_result(r, error);
  r->t = ss_alloc(sizeof *r->t * SS_HDF5_BLOCK);
  if (!r->t) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const ss_status status = read_names(r, error);
  if (status) return status;
  for (hsize_t i = 0; i < r->n_bodies * BODY_COLUMNS; i++) {
    r->datasets[i] = open_column(r->file, r->names[i / BODY_COLUMNS], body_columns[i % BODY_COLUMNS]);
    if (r->datasets[i] < 0) return not_a_result(r, error);
  }
  return SS_OK;
}

static void close_result(result_reader *r) {
  for (hsize_t i = 0; i < r->n_bodies; i++) (void)H5free_memory(r->names[i]);
  for (hsize_t i = 0; i < r->n_bodies * BODY_COLUMNS; i++)
    if (r->datasets[i] > 0) (void)H5Dclose(r->datasets[i]);
  if (r->time >= 0) (void)H5Dclose(r->time);
  if (r->file >= 0) (void)H5Fclose(r->file);
  ss_free((void *)r->names);
  ss_free(r->datasets);
  ss_free(r->t);
  ss_free(r->block);
}

static bool write_header(const result_reader *r, FILE *csv) {
  bool good = ss_csv_header_start(csv);
  for (hsize_t i = 0; good && i < r->n_bodies; i++) good = ss_csv_header_body(csv, r->names[i]);
  return good && ss_csv_end_row(csv);
}

static double *dataset_block(const result_reader *r, hsize_t dataset) { return r->block + dataset * SS_HDF5_BLOCK * 4; }

static bool write_row(const result_reader *r, FILE *csv, hsize_t row) {
  bool good = ss_csv_number(csv, r->t[row], true);
  for (hsize_t i = 0; good && i < r->n_bodies * BODY_COLUMNS; i++) {
    const int width = widths[i % BODY_COLUMNS];
    const double *numbers = dataset_block(r, i) + row * (hsize_t)width;
    for (int k = 0; good && k < width; k++) good = ss_csv_number(csv, numbers[k], false);
  }
  return good && ss_csv_end_row(csv);
}

static ss_status copy_block(const result_reader *r, FILE *csv, hsize_t first, ss_error *error) {
  const hsize_t left = r->n_rows - first, count = left < SS_HDF5_BLOCK ? left : SS_HDF5_BLOCK;
  bool good = ss_hdf5_read_rows(r->time, r->n_rows, first, count, 0, r->t);
  for (hsize_t i = 0; good && i < r->n_bodies * BODY_COLUMNS; i++)
    good = ss_hdf5_read_rows(r->datasets[i], r->n_rows, first, count, widths[i % BODY_COLUMNS], dataset_block(r, i));
  if (!good) return not_a_result(r, error);
  for (hsize_t row = 0; row < count; row++)
    if (!write_row(r, csv, row)) return ss_fail(error, SS_ERROR_IO, "cannot write CSV: %s", strerror(errno));
  return SS_OK;
}

ss_status ss_export_csv_stream(const char *result, FILE *csv, ss_error *error) {
  result_reader r = {.path = result, .file = H5I_INVALID_HID, .time = H5I_INVALID_HID};
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  ss_status status = open_result(&r, error);
  if (!status && !write_header(&r, csv)) status = ss_fail(error, SS_ERROR_IO, "cannot write CSV: %s", strerror(errno));
  for (hsize_t first = 0; !status && first < r.n_rows; first += SS_HDF5_BLOCK)
    status = copy_block(&r, csv, first, error);
  close_result(&r);
  ss_hdf5_quiet_end(quiet);
  if (!status && fflush(csv)) status = ss_fail(error, SS_ERROR_IO, "cannot write CSV: %s", strerror(errno));
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
