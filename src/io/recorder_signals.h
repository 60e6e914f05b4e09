/* Outputs and joints in an HDF5 result:
 *
 *     /outputs/NAME         [N], in the order of /output_names
 *     /joints/NAME/         position, speed, force [N], reaction, moment [N,3] (signals.h), in the order of /joint_names */
#ifndef SS_IO_RECORDER_SIGNALS_H
#define SS_IO_RECORDER_SIGNALS_H

#include "io/hdf5_file.h"
#include "io/result.h"
#include "io/signals.h"

typedef struct ss_signal_table {
  ss_signals signals;
  ss_hdf5_column *columns; /* one per set */
} ss_signal_table;

bool ss_signal_table_create(ss_signal_table *table, hid_t file, const ss_model *model);
ss_status ss_signal_table_put(ss_signal_table *table, const ss_sim *sim, int row, ss_error *error); /* of the block */
bool ss_signal_table_append(ss_signal_table *table, int n_rows);
bool ss_signal_table_release(ss_signal_table *table);

/* Reading back: the signals of a result, all rows of them. */
typedef struct ss_signal_columns {
  char **outputs, **joints;
  hsize_t n_outputs, n_joints;
  int n_sets, n;
  ss_signal_set *sets; /* of the recorder, in its order */
} ss_signal_columns;
bool ss_signal_columns_open(ss_signal_columns *columns, const ss_result *result); /* false: damaged, or no memory */
void ss_signal_columns_close(ss_signal_columns *columns);
/* [n_rows][width] of a set; to be freed. NULL: damaged, or no memory. */
double *ss_signal_columns_read(const ss_signal_columns *columns, int set, const ss_result *result);
double *ss_signal_columns_read_all(const ss_signal_columns *columns,
                                   const ss_result *result); /* [n_rows][n], likewise */
/* "NAME" or "JOINT.fx": the set and its component; false: there is none. */
bool ss_signal_columns_find(const ss_signal_columns *columns, const char *name, int *set, int *component);

#endif
