/* An HDF5 result, open for reading: the layout is the one that recorder_hdf5.c writes. */
#ifndef SS_IO_RESULT_H
#define SS_IO_RESULT_H

#include "io/hdf5_file.h"
#include "io/recorder.h"
#include "io/recorder_bodies.h"

struct ss_result {
  char *path;
  hid_t file, time;
  hsize_t n_rows, n_bodies;
  char **names;       /* n_bodies */
  char **coordinates; /* n_coordinates, of a user-defined system, likewise */
  hsize_t n_coordinates;
  struct ss_signal_columns *signals;
  hsize_t members; /* bodies per dataset; 0: each has its own */
  hsize_t n_datasets;
  hid_t *datasets;   /* SS_BODY_COLUMNS, of each body or of all together */
  double *t, *block; /* SS_HDF5_BLOCK times; per dataset SS_HDF5_BLOCK rows of four numbers per body at most */
};

ss_status ss_result_damaged(const ss_result *result, ss_error *error);

/* Reads rows first .. first + count - 1 (at most SS_HDF5_BLOCK) of the times and of all bodies into the block. */
ss_status ss_result_read_block(ss_result *result, hsize_t first, hsize_t count, ss_error *error);
/* SS_MOTION_COLUMNS numbers of a body in a row of the block. */
void ss_result_motion(const ss_result *result, hsize_t row, hsize_t body, double columns[SS_MOTION_COLUMNS]);

/* A coordinate's q (column 0) or v (column 1) in all rows. To be freed; NULL: not there. */
double *ss_result_coordinate(const ss_result *result, hsize_t coordinate, int column, hsize_t *n);

/* A whole one-dimensional dataset of numbers, e.g. "energy/kinetic"; *n is its length. To be freed; NULL: not there. */
double *ss_result_numbers(const ss_result *result, const char *path, hsize_t *n);
/* The same with n rows of `width` numbers. */
double *ss_result_vectors(const ss_result *result, const char *path, hsize_t n, int width);

#endif
