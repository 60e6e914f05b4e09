/* The one place that talks to HDF5: attributes, text, and columns that grow by blocks of rows. HDF5's own printing of
 * errors is switched off around every public function here; false or a negative number means failure. */
#ifndef SS_IO_HDF5_FILE_H
#define SS_IO_HDF5_FILE_H

#include <stickslip/base.h>

#include <hdf5.h>

/* Silence HDF5 while in scope: begin ... end, always in pairs. */
typedef struct ss_hdf5_quiet {
  H5E_auto2_t print;
  void *data;
} ss_hdf5_quiet;
ss_hdf5_quiet ss_hdf5_quiet_begin(void);
void ss_hdf5_quiet_end(ss_hdf5_quiet quiet);

/* A new file, negative where it cannot be written; readers see it as it was at its last commit (commit_driver.h). */
hid_t ss_hdf5_create(const char *path);

/* HDF5 names are paths: '/' becomes %2F, '%' becomes %25, and the dots of "." and ".." %2E. To be freed; NULL: no
 * memory. */
char *ss_hdf5_link_name(const char *name);

bool ss_hdf5_set_text(hid_t object, const char *name, const char *value);
bool ss_hdf5_set_number(hid_t object, const char *name, double value);
bool ss_hdf5_set_integer(hid_t object, const char *name, long value); /* replaces an existing value */
bool ss_hdf5_write_text(hid_t group, const char *name, const char *text);
bool ss_hdf5_write_texts(hid_t group, const char *name, const char *const *texts, int n);

enum { SS_HDF5_BLOCK = 256 }; /* rows per chunk and per write */

/* A dataset [N], [N, width] or [N, members, width] that grows. `rows` holds one block; the caller fills rows in and appends. */
typedef struct ss_hdf5_column {
  hid_t dataset;
  hid_t type;      /* of an element, in memory */
  hsize_t members; /* 0: this dimension is not there */
  hsize_t width;   /* likewise */
  hsize_t written; /* rows in the file */
  int block;       /* rows per chunk, and in `rows` */
  char *rows;      /* one block */
  size_t row_size; /* bytes */
} ss_hdf5_column;

/* A zeroed column may be released. */
bool ss_hdf5_column_create(ss_hdf5_column *column, hid_t group, const char *name, hid_t type, int width);
/* The same for many members at once, with blocks of so many rows. */
bool ss_hdf5_table_create(ss_hdf5_column *column, hid_t group, const char *name, int members, int width, int block);
bool ss_hdf5_column_append(ss_hdf5_column *column, int n_rows); /* the first n_rows of the block */
/* So many rows fill the file's present chunk: appended then, whatever was appended before, no chunk is written twice. */
int ss_hdf5_column_room(const ss_hdf5_column *column);
void *ss_hdf5_column_row(const ss_hdf5_column *column, int row);
bool ss_hdf5_column_release(ss_hdf5_column *column);

/* Reading back: attributes and texts. The texts are to be freed; NULL: not there. */
bool ss_hdf5_get_number(hid_t object, const char *name, double *value);
char *ss_hdf5_read_text(hid_t group, const char *name);

/* Reading back: rows first .. first + count - 1 of a dataset that must have n_rows and this width. */
bool ss_hdf5_read_rows(hid_t dataset, hsize_t n_rows, hsize_t first, hsize_t count, int width, double *rows);
/* Likewise of a dataset [n_rows, members, width]: so many members from one on. */
typedef struct ss_hdf5_members {
  hsize_t all, first, count;
} ss_hdf5_members;
bool ss_hdf5_read_members(hid_t dataset, hsize_t n_rows, hsize_t first, hsize_t count, ss_hdf5_members members,
                          int width, double *rows);
bool ss_hdf5_length(hid_t dataset, hsize_t *n);      /* of a one-dimensional dataset */
char **ss_hdf5_read_texts(hid_t dataset, hsize_t n); /* n of them; NULL: not there. ss_hdf5_free_texts frees them */
void ss_hdf5_free_texts(char **texts);

#endif
