#include "io/recorder_elements.h"

#include "core/arena.h"

#include <string.h>

static bool create_patches(ss_element_table *t, hid_t file) {
  static const char *const names[SS_PATCH_COLUMNS] = {"frame", "a", "b", "point", "normal", "tangent", "elements"};
  static const int widths[SS_PATCH_COLUMNS] = {0, 0, 0, 3, 3, 3, 0};
  const hid_t group = H5Gcreate2(file, "patches", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool good = group >= 0;
  for (int i = 0; good && i < SS_PATCH_COLUMNS; i++)
    good = ss_hdf5_column_create(&t->patches[i], group, names[i], widths[i] ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT,
                                 widths[i]);
  if (group >= 0) (void)H5Gclose(group);
  return good;
}

bool ss_element_table_create(ss_element_table *t, hid_t file) {
  static const char *const names[SS_ELEMENT_COLUMNS] = {"frame",       "a",     "b",    "element", "place",
                                                        "deformation", "force", "slip", "state"};
  static const int widths[SS_ELEMENT_COLUMNS] = {0, 0, 0, 0, 2, 3, 3, 2, 0};
  const hid_t group = H5Gcreate2(file, "elements", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool good = group >= 0;
  t->used = true;
  for (int i = 0; good && i < SS_ELEMENT_COLUMNS; i++)
    good = ss_hdf5_column_create(&t->columns[i], group, names[i], widths[i] ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT,
                                 widths[i]);
  if (group >= 0) (void)H5Gclose(group);
  return good && create_patches(t, file);
}

bool ss_element_table_append(ss_element_table *t) {
  if (!t->used) return true;
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  bool good = true;
  for (int i = 0; i < SS_ELEMENT_COLUMNS; i++) good = ss_hdf5_column_append(&t->columns[i], t->n) && good;
  for (int i = 0; i < SS_PATCH_COLUMNS; i++) good = ss_hdf5_column_append(&t->patches[i], t->n_patches) && good;
  t->n = t->n_patches = 0;
  ss_hdf5_quiet_end(quiet);
  return good;
}

static bool put_element(ss_element_table *t, int frame, const ss_contact_report *c, int index,
                        const ss_element_report *e) {
  const int state = !e->closed ? 0 : e->stuck ? 1 : 2;
  const void *const values[SS_ELEMENT_COLUMNS] = {&frame,         &c->body[0], &c->body[1], &index, e->place,
                                                  e->deformation, e->force,    e->slip,     &state};
  for (int i = 0; i < SS_ELEMENT_COLUMNS; i++)
    memcpy(ss_hdf5_column_row(&t->columns[i], t->n), values[i], t->columns[i].row_size);
  return ++t->n < ss_hdf5_column_room(&t->columns[0]) || ss_element_table_append(t);
}

static bool put_patch(ss_element_table *t, int frame, const ss_contact_report *c, int elements) {
  const double point[3] = {c->point.x, c->point.y, c->point.z}, normal[3] = {c->normal.x, c->normal.y, c->normal.z};
  const double tangent[3] = {c->tangent.x, c->tangent.y, c->tangent.z};
  const void *const values[SS_PATCH_COLUMNS] = {&frame, &c->body[0], &c->body[1], point, normal, tangent, &elements};
  for (int i = 0; i < SS_PATCH_COLUMNS; i++)
    memcpy(ss_hdf5_column_row(&t->patches[i], t->n_patches), values[i], t->patches[i].row_size);
  return ++t->n_patches < ss_hdf5_column_room(&t->patches[0]) || ss_element_table_append(t);
}

static ss_status reserve(void **array, int *capacity, int needed, size_t size, ss_error *error) {
  if (needed <= *capacity) return SS_OK;
  void *memory = ss_realloc(*array, size * (size_t)needed);
  if (!memory) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  *array = memory;
  *capacity = needed;
  return SS_OK;
}

ss_status ss_element_table_put(ss_element_table *t, const ss_sim *sim, long frame, bool *written, ss_error *error) {
  *written = true;
  if (!t->used) return SS_OK;
  const int contacts = ss_sim_contacts(sim, t->contacts, t->contact_capacity);
  ss_status status = SS_OK;
  if (contacts > t->contact_capacity) {
    status = reserve((void **)&t->contacts, &t->contact_capacity, contacts, sizeof *t->contacts, error);
    if (status == SS_OK) (void)ss_sim_contacts(sim, t->contacts, t->contact_capacity);
  }
  for (int k = 0; status == SS_OK && k < contacts; k++) {
    const int n = ss_sim_elements(sim, k, NULL, 0);
    status = reserve((void **)&t->elements, &t->element_capacity, n, sizeof *t->elements, error);
    if (status != SS_OK) return status;
    (void)ss_sim_elements(sim, k, t->elements, n);
    if (n > 0) *written = put_patch(t, (int)frame, &t->contacts[k], n) && *written;
    for (int i = 0; i < n; i++) *written = put_element(t, (int)frame, &t->contacts[k], i, &t->elements[i]) && *written;
  }
  return status;
}

bool ss_element_table_release(ss_element_table *t) {
  bool good = true;
  for (int i = 0; i < SS_ELEMENT_COLUMNS; i++) good = ss_hdf5_column_release(&t->columns[i]) && good;
  for (int i = 0; i < SS_PATCH_COLUMNS; i++) good = ss_hdf5_column_release(&t->patches[i]) && good;
  ss_free(t->elements);
  ss_free(t->contacts);
  t->elements = NULL, t->contacts = NULL;
  t->element_capacity = t->contact_capacity = 0;
  return good;
}
