#include "io/recorder_signals.h"

#include "core/arena.h"

#include <stdio.h>
#include <string.h>

/* ---- writing ---- */

/* The group of a set: /outputs, or /joints/NAME, which is created with the first of its sets. */
static hid_t open_owner(hid_t file, const ss_signals *s, int set) {
  if (!s->sets[set].owner) return H5Gopen2(file, "outputs", H5P_DEFAULT);
  const hid_t joints = H5Gopen2(file, "joints", H5P_DEFAULT);
  char *link = ss_hdf5_link_name(s->sets[set].owner);
  hid_t group = H5I_INVALID_HID;
  if (joints >= 0 && link)
    group = H5Lexists(joints, link, H5P_DEFAULT) > 0 ? H5Gopen2(joints, link, H5P_DEFAULT)
                                                     : H5Gcreate2(joints, link, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  ss_free(link);
  if (joints >= 0) (void)H5Gclose(joints);
  return group;
}

static bool create_group(hid_t file, const char *name) {
  const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (group >= 0) (void)H5Gclose(group);
  return group >= 0;
}

static bool write_names(hid_t file, const char *name, const ss_model *model, const char *(*of)(const ss_model *, int),
                        int n) {
  const char **names = ss_alloc(sizeof *names * (size_t)(n + 1));
  for (int i = 0; names && i < n; i++) names[i] = of(model, i);
  const bool good = names && ss_hdf5_write_texts(file, name, names, n);
  ss_free((void *)names);
  return good;
}

bool ss_signal_table_create(ss_signal_table *t, hid_t file, const ss_model *model) {
  if (!ss_signals_create(&t->signals, model)) return false;
  const ss_signals *s = &t->signals;
  t->columns = ss_alloc(sizeof *t->columns * (size_t)(s->n_sets + 1));
  bool good = t->columns != NULL;
  if (s->n_outputs)
    good = good && create_group(file, "outputs") &&
           write_names(file, "output_names", model, ss_model_output_name, s->n_outputs);
  if (s->n_joints)
    good = good && create_group(file, "joints") &&
           write_names(file, "joint_names", model, ss_model_joint_name, s->n_joints);
  for (int i = 0; good && i < s->n_sets; i++) {
    const hid_t group = open_owner(file, s, i);
    char *link = ss_hdf5_link_name(s->sets[i].name);
    good = group >= 0 && link &&
           ss_hdf5_column_create(&t->columns[i], group, link, H5T_NATIVE_DOUBLE,
                                 s->sets[i].width > 1 ? s->sets[i].width : 0);
    ss_free(link);
    if (group >= 0) (void)H5Gclose(group);
  }
  return good;
}

ss_status ss_signal_table_put(ss_signal_table *t, const ss_sim *sim, int row, ss_error *error) {
  const ss_signals *s = &t->signals;
  if (s->n_sets == 0) return SS_OK;
  const ss_status status = ss_signals_read(&t->signals, sim, error);
  for (int i = 0; !status && i < s->n_sets; i++)
    memcpy(ss_hdf5_column_row(&t->columns[i], row), s->values + s->sets[i].first,
           sizeof(double) * (size_t)s->sets[i].width);
  return status;
}

bool ss_signal_table_append(ss_signal_table *t, int n_rows) {
  bool good = true;
  for (int i = 0; i < t->signals.n_sets; i++) good = ss_hdf5_column_append(&t->columns[i], n_rows) && good;
  return good;
}

bool ss_signal_table_release(ss_signal_table *t) {
  bool good = true;
  for (int i = 0; t->columns && i < t->signals.n_sets; i++) good = ss_hdf5_column_release(&t->columns[i]) && good;
  ss_free(t->columns);
  ss_signals_release(&t->signals);
  *t = (ss_signal_table){0};
  return good;
}

/* ---- reading ---- */

static bool read_names(hid_t file, const char *name, char ***names, hsize_t *n) {
  *n = 0;
  if (H5Lexists(file, name, H5P_DEFAULT) <= 0) return true;
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  hsize_t length = 0;
  bool good = dataset >= 0 && ss_hdf5_length(dataset, &length);
  if (good && length > 0) {
    *names = ss_hdf5_read_texts(dataset, length);
    good = *names != NULL;
  }
  if (good) *n = length;
  if (dataset >= 0) (void)H5Dclose(dataset);
  return good;
}

/* Path of a set's dataset; to be freed, NULL: out of memory. */
static char *path_of(const ss_signal_set *set) {
  char *owner = set->owner ? ss_hdf5_link_name(set->owner) : NULL, *name = ss_hdf5_link_name(set->name);
  const size_t size = (owner ? strlen(owner) : 0) + (name ? strlen(name) : 0) + 16;
  char *path = name && (owner || !set->owner) ? ss_alloc(size) : NULL;
  if (path && set->owner) (void)snprintf(path, size, "joints/%s/%s", owner, name);
  if (path && !set->owner) (void)snprintf(path, size, "outputs/%s", name);
  ss_free(owner);
  ss_free(name);
  return path;
}

static bool offer(ss_signal_columns *c, const ss_result *r, const char *owner, const char *name, int width) {
  const ss_signal_set set = {owner, name, width, c->n};
  char *path = path_of(&set);
  if (!path) return false;
  const bool there = H5Lexists(r->file, path, H5P_DEFAULT) > 0;
  ss_free(path);
  if (!there) return true;
  c->sets[c->n_sets++] = set;
  c->n += width;
  return true;
}

bool ss_signal_columns_open(ss_signal_columns *c, const ss_result *r) {
  static const struct {
    const char *name;
    int width;
  } of_joint[] = {{"position", 1}, {"speed", 1}, {"force", 1}, {"reaction", 3}, {"moment", 3}};
  *c = (ss_signal_columns){0};
  bool good = read_names(r->file, "output_names", &c->outputs, &c->n_outputs) &&
              read_names(r->file, "joint_names", &c->joints, &c->n_joints);
  c->sets = good ? ss_alloc(sizeof *c->sets * (c->n_outputs + 5 * c->n_joints + 1)) : NULL;
  good = good && c->sets;
  for (hsize_t i = 0; good && i < c->n_outputs; i++) good = offer(c, r, NULL, c->outputs[i], 1);
  for (hsize_t k = 0; good && k < c->n_joints; k++)
    for (size_t i = 0; good && i < sizeof of_joint / sizeof *of_joint; i++)
      good = offer(c, r, c->joints[k], of_joint[i].name, of_joint[i].width);
  return good;
}

void ss_signal_columns_close(ss_signal_columns *c) {
  ss_hdf5_free_texts(c->outputs);
  ss_hdf5_free_texts(c->joints);
  ss_free(c->sets);
  *c = (ss_signal_columns){0};
}

double *ss_signal_columns_read(const ss_signal_columns *c, int set, const ss_result *r) {
  char *path = path_of(&c->sets[set]);
  double *rows = NULL;
  if (path && c->sets[set].width > 1) {
    rows = ss_result_vectors(r, path, r->n_rows, c->sets[set].width);
  } else if (path) {
    hsize_t n = 0;
    rows = ss_result_numbers(r, path, &n);
    if (rows && n != r->n_rows) {
      ss_free(rows);
      rows = NULL;
    }
  }
  ss_free(path);
  return rows;
}

double *ss_signal_columns_read_all(const ss_signal_columns *c, const ss_result *r) {
  double *all = ss_alloc(sizeof *all * ((hsize_t)c->n * r->n_rows + 1));
  for (int i = 0; all && i < c->n_sets; i++) {
    double *rows = ss_signal_columns_read(c, i, r);
    const hsize_t width = (hsize_t)c->sets[i].width, first = (hsize_t)c->sets[i].first;
    for (hsize_t k = 0; rows && k < r->n_rows; k++)
      memcpy(all + k * (hsize_t)c->n + first, rows + k * width, sizeof *all * width);
    const bool good = rows != NULL;
    ss_free(rows);
    if (good) continue;
    ss_free(all);
    return NULL;
  }
  return all;
}

bool ss_signal_columns_find(const ss_signal_columns *c, const char *name, int *set, int *component) {
  for (*set = 0; *set < c->n_sets; ++*set) {
    const ss_signal_set *s = &c->sets[*set];
    const size_t owner = s->owner ? strlen(s->owner) : 0;
    if (!s->owner && strcmp(s->name, name) == 0) {
      *component = 0;
      return true;
    }
    if (!s->owner || strncmp(name, s->owner, owner) != 0 || name[owner] != '.') continue;
    for (*component = 0; *component < s->width; ++*component)
      if (strcmp(name + owner + 1, ss_signal_component(s->name, false, *component)) == 0) return true;
  }
  return false;
}
