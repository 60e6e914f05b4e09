/* Coordinates of user-defined systems in HDF5 results: /coordinates/NAME/q and v, and their order in /coordinate_names. */
#ifndef SS_IO_RECORDER_COORDINATES_H
#define SS_IO_RECORDER_COORDINATES_H

#include "io/hdf5_file.h"
#include "io/recorder.h"

#include <stickslip/system.h>

typedef struct ss_coordinate_table {
  int n;                   /* coordinates; 0: a model of bodies */
  ss_hdf5_column *columns; /* SS_COORDINATE_COLUMNS per coordinate */
} ss_coordinate_table;

bool ss_coordinate_table_create(ss_coordinate_table *table, hid_t file, const ss_model *model);
void ss_coordinate_table_put(ss_coordinate_table *table, const ss_sim *sim, int row); /* of the block */
bool ss_coordinate_table_append(ss_coordinate_table *table, int n_rows);
bool ss_coordinate_table_release(ss_coordinate_table *table);

#endif
