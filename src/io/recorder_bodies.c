#include "io/recorder_bodies.h"

#include "core/arena.h"
#include "io/recorder.h"

#include <string.h>

enum { BLOCK_ROWS_TIMES_BODIES = 1 << 16 }; /* of bodies that share their datasets: chunks of about a megabyte */

const char *const ss_body_columns[SS_BODY_COLUMNS] = {"position", "orientation", "velocity", "angular_velocity"};
const int ss_body_widths[SS_BODY_COLUMNS] = {3, 4, 3, 3};

static bool create_apart(ss_body_table *t, hid_t bodies, const char *name, int body) {
  char *link = ss_hdf5_link_name(name);
  if (!link) return false;
  const hid_t group = H5Gcreate2(bodies, link, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  ss_free(link);
  bool good = group >= 0 && ss_hdf5_set_text(group, "name", name) && ss_hdf5_set_integer(group, "index", body);
  for (int i = 0; good && i < SS_BODY_COLUMNS; i++)
    good = ss_hdf5_column_create(&t->columns[body * SS_BODY_COLUMNS + i], group, ss_body_columns[i], H5T_NATIVE_DOUBLE,
                                 ss_body_widths[i]);
  if (group >= 0) (void)H5Gclose(group);
  return good;
}

static bool create_together(ss_body_table *t, hid_t group) {
  bool good = true;
  for (int i = 0; good && i < SS_BODY_COLUMNS; i++)
    good = ss_hdf5_table_create(&t->columns[i], group, ss_body_columns[i], t->members, ss_body_widths[i], t->block);
  return good;
}

bool ss_body_table_create(ss_body_table *t, hid_t file, const ss_model *model) {
  const int n = ss_model_bodies(model), most = BLOCK_ROWS_TIMES_BODIES / (n > 0 ? n : 1);
  *t = (ss_body_table){.n_bodies = n, .members = n > SS_BODIES_APART ? n : 0, .block = SS_HDF5_BLOCK};
  if (t->members) t->block = most < 1 ? 1 : most < SS_HDF5_BLOCK ? most : SS_HDF5_BLOCK;
  const int n_columns = SS_BODY_COLUMNS * (t->members ? 1 : n);
  t->columns = ss_alloc(sizeof *t->columns * (size_t)(n_columns + 1));
  const char **names = ss_alloc(sizeof *names * (size_t)(n + 1));
  const hid_t group = H5Gcreate2(file, t->members ? "motion" : "bodies", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool good = t->columns && names && group >= 0;
  if (t->columns) t->n_columns = n_columns;
  for (int body = 0; good && body < n; body++) {
    names[body] = ss_model_body_name(model, body);
    good = t->members || create_apart(t, group, names[body], body);
  }
  good = good && (!t->members || create_together(t, group)) &&
         (n == 0 || ss_hdf5_write_texts(file, "body_names", names, n));
  if (group >= 0) (void)H5Gclose(group);
  ss_free((void *)names);
  return good;
}

bool ss_body_table_put(ss_body_table *t, const ss_sim *sim) {
  for (int body = 0; body < t->n_bodies; body++) {
    double numbers[SS_MOTION_COLUMNS], *next = numbers;
    const ss_motion motion = ss_sim_motion(sim, body);
    ss_motion_columns(&motion, numbers);
    for (int i = 0; i < SS_BODY_COLUMNS; i++) {
      const ss_hdf5_column *column = &t->columns[t->members ? i : body * SS_BODY_COLUMNS + i];
      double *row = ss_hdf5_column_row(column, t->n_rows);
      memcpy(row + (t->members ? body * ss_body_widths[i] : 0), next, sizeof(double) * (size_t)ss_body_widths[i]);
      next += ss_body_widths[i];
    }
  }
  t->n_rows++;
  return t->n_columns == 0 || t->n_rows < ss_hdf5_column_room(&t->columns[0]) || ss_body_table_append(t);
}

bool ss_body_table_append(ss_body_table *t) {
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  bool good = true;
  for (int i = 0; i < t->n_columns; i++) good = ss_hdf5_column_append(&t->columns[i], t->n_rows) && good;
  t->n_rows = 0;
  ss_hdf5_quiet_end(quiet);
  return good;
}

bool ss_body_table_release(ss_body_table *t) {
  bool good = true;
  for (int i = 0; i < t->n_columns; i++) good = ss_hdf5_column_release(&t->columns[i]) && good;
  ss_free(t->columns);
  *t = (ss_body_table){0};
  return good;
}
