/* The bodies' motion in an HDF5 result. A few bodies have datasets of their own, which are easy to find; of thousands HDF5
 * would spend its time on tens of thousands of datasets, so these share four:
 *
 *     /bodies/NAME/   position [N,3], orientation [N,4] (w x y z), velocity [N,3], angular_velocity [N,3]; attributes name, index
 *     /motion/        position [N,B,3] and so on, where there are more than SS_BODIES_APART bodies, in the order of /body_names */
#ifndef SS_IO_RECORDER_BODIES_H
#define SS_IO_RECORDER_BODIES_H

#include "io/hdf5_file.h"

#include <stickslip/sim.h>

enum { SS_BODIES_APART = 256, SS_BODY_COLUMNS = 4 };
extern const char *const ss_body_columns[SS_BODY_COLUMNS]; /* position, orientation, ... */
extern const int ss_body_widths[SS_BODY_COLUMNS];

typedef struct ss_body_table {
  int n_bodies, members; /* members: bodies per column, 0: each has its own columns */
  int block, n_rows;     /* rows per write; rows that are not yet in the file */
  int n_columns;
  ss_hdf5_column *columns; /* SS_BODY_COLUMNS of each body, or of all together */
} ss_body_table;

/* A zeroed table may be released. */
bool ss_body_table_create(ss_body_table *table, hid_t file, const ss_model *model);
bool ss_body_table_put(ss_body_table *table, const ss_sim *sim); /* a row; writes where the block is full */
bool ss_body_table_append(ss_body_table *table);                 /* what is not yet in the file */
bool ss_body_table_release(ss_body_table *table);

#endif
