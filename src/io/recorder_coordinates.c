#include "io/recorder_coordinates.h"

#include "core/arena.h"

#include <string.h>

static bool create_coordinate(ss_coordinate_table *t, hid_t group, const char *name, int index) {
  char *link = ss_hdf5_link_name(name);
  if (!link) return false;
  const hid_t own = H5Gcreate2(group, link, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  ss_free(link);
  bool good = own >= 0 && ss_hdf5_set_text(own, "name", name) && ss_hdf5_set_integer(own, "index", index);
  for (int i = 0; good && i < SS_COORDINATE_COLUMNS; i++)
    good = ss_hdf5_column_create(&t->columns[index * SS_COORDINATE_COLUMNS + i], own, ss_coordinate_columns[i],
                                 H5T_NATIVE_DOUBLE, 0);
  if (own >= 0) (void)H5Gclose(own);
  return good;
}

bool ss_coordinate_table_create(ss_coordinate_table *t, hid_t file, const ss_model *model) {
  if (!ss_model_is_system(model)) return true;
  const int n = ss_model_coordinates(model);
  const char **names = ss_alloc(sizeof *names * (size_t)n);
  t->columns = ss_alloc(sizeof *t->columns * (size_t)n * SS_COORDINATE_COLUMNS);
  const hid_t group = H5Gcreate2(file, "coordinates", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool good = names && t->columns && group >= 0;
  if (t->columns) t->n = n;
  for (int i = 0; good && i < n; i++) {
    names[i] = ss_model_coordinate_name(model, i);
    good = create_coordinate(t, group, names[i], i);
  }
  good = good && ss_hdf5_write_texts(file, "coordinate_names", names, n);
  if (group >= 0) (void)H5Gclose(group);
  ss_free((void *)names);
  return good;
}

void ss_coordinate_table_put(ss_coordinate_table *t, const ss_sim *sim, int row) {
  const ss_state *state = ss_sim_state(sim);
  for (int i = 0; i < t->n; i++) {
    memcpy(ss_hdf5_column_row(&t->columns[i * SS_COORDINATE_COLUMNS], row), &state->q[i], sizeof(double));
    memcpy(ss_hdf5_column_row(&t->columns[i * SS_COORDINATE_COLUMNS + 1], row), &state->v[i], sizeof(double));
  }
}

bool ss_coordinate_table_append(ss_coordinate_table *t, int n_rows) {
  bool good = true;
  for (int i = 0; i < t->n * SS_COORDINATE_COLUMNS; i++) good = ss_hdf5_column_append(&t->columns[i], n_rows) && good;
  return good;
}

bool ss_coordinate_table_release(ss_coordinate_table *t) {
  bool good = true;
  for (int i = 0; i < t->n * SS_COORDINATE_COLUMNS; i++) good = ss_hdf5_column_release(&t->columns[i]) && good;
  ss_free(t->columns);
  *t = (ss_coordinate_table){0};
  return good;
}
