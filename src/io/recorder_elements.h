/* The table /elements of HDF5 results: what every element of every contact patch does, frame by frame. */
#ifndef SS_IO_RECORDER_ELEMENTS_H
#define SS_IO_RECORDER_ELEMENTS_H

#include "io/hdf5_file.h"

#include <stickslip/sim.h>

enum { SS_ELEMENT_COLUMNS = 9, SS_PATCH_COLUMNS = 7 };

/* /patches: frame (row of /time), a, b (bodies, as in events), point, normal, tangent [3] (world frame), elements (how
 * many of the rows of /elements, which are in the same order, are its).
 *
 * /elements: frame, a, b, element; place [2], deformation [3], force [3] (on a), slip [2] in
 * the patch's frame (normal, tangent, second tangent); state (0 open, 1 sticks, 2 slips). */
typedef struct ss_element_table {
  bool used; /* false: rigid scheme, no table */
  int n;     /* rows in the block, not yet in the file */
  ss_hdf5_column columns[SS_ELEMENT_COLUMNS];
  int n_patches; /* likewise */
  ss_hdf5_column patches[SS_PATCH_COLUMNS];
  ss_element_report *elements;
  ss_contact_report *contacts;
  int element_capacity, contact_capacity;
} ss_element_table;

bool ss_element_table_create(ss_element_table *table, hid_t file);
ss_status ss_element_table_put(ss_element_table *table, const ss_sim *sim, long frame, bool *written, ss_error *error);
bool ss_element_table_append(ss_element_table *table);
bool ss_element_table_release(ss_element_table *table);

#endif
