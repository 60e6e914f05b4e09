#include "io/hdf5_file.h"

#include "core/arena.h"
#include "io/commit_driver.h"

#include <stdio.h>
#include <string.h>

ss_hdf5_quiet ss_hdf5_quiet_begin(void) {
  ss_hdf5_quiet quiet = {NULL, NULL};
  (void)H5Eget_auto2(H5E_DEFAULT, &quiet.print, &quiet.data);
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return quiet;
}

void ss_hdf5_quiet_end(ss_hdf5_quiet quiet) { (void)H5Eset_auto2(H5E_DEFAULT, quiet.print, quiet.data); }

/* The form of HDF5 1.10: groups and chunk indices take a fraction of the room and time of the older form, which counts
 * with thousands of bodies. */
hid_t ss_hdf5_create(const char *path) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  (void)H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  const hid_t file =
      ss_commit_driver_set(access) ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access) : (hid_t)H5I_INVALID_HID;
  if (access >= 0) (void)H5Pclose(access);
  return file;
}

char *ss_hdf5_link_name(const char *name) {
  const size_t size = 3 * strlen(name) + 1;
  char *link = ss_alloc(size);
  if (!link) return NULL;
  const bool only_dots = strspn(name, ".") == strlen(name);
  size_t used = 0;
  for (const char *c = name; *c; c++) {
    const bool escape = *c == '/' || *c == '%' || (only_dots && *c == '.');
    used += (size_t)snprintf(link + used, size - used, escape ? "%%%02X" : "%c", (unsigned char)*c);
  }
  return link;
}

/* Text of a fixed size, its end included, or of H5T_VARIABLE. HDF5 does not check the tables that texts of variable length
 * are kept in: one damaged byte, and the library crashes. Attributes have it, because h5py makes a str of it; everything
 * that is read back is of fixed size. */
static hid_t text_type(size_t size) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0 && H5Tset_size(type, size) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0) return type;
  if (type >= 0) (void)H5Tclose(type);
  return H5I_INVALID_HID;
}

static bool set_attribute(hid_t object, const char *name, hid_t type, const void *value) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const bool exists = H5Aexists(object, name) > 0;
  const hid_t attribute =
      exists ? H5Aopen(object, name, H5P_DEFAULT) : H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
  if (attribute >= 0) (void)H5Aclose(attribute);
  if (space >= 0) (void)H5Sclose(space);
  return good;
}

bool ss_hdf5_set_text(hid_t object, const char *name, const char *value) {
  const hid_t type = text_type(H5T_VARIABLE);
  const char *text = value ? value : "";
  const bool good = type >= 0 && set_attribute(object, name, type, (const void *)&text);
  if (type >= 0) (void)H5Tclose(type);
  return good;
}

bool ss_hdf5_set_number(hid_t object, const char *name, double value) {
  return set_attribute(object, name, H5T_NATIVE_DOUBLE, &value);
}

bool ss_hdf5_set_integer(hid_t object, const char *name, long value) {
  return set_attribute(object, name, H5T_NATIVE_LONG, &value);
}

bool ss_hdf5_get_number(hid_t object, const char *name, double *value) {
  if (H5Aexists(object, name) <= 0) return false;
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  const bool good = attribute >= 0 && H5Aread(attribute, H5T_NATIVE_DOUBLE, value) >= 0;
  if (attribute >= 0) (void)H5Aclose(attribute);
  return good;
}

static bool write_fixed(hid_t group, const char *name, hid_t space, size_t size, const char *bytes) {
  const hid_t type = text_type(size);
  const hid_t dataset = type >= 0 && space >= 0
                            ? H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                            : (hid_t)H5I_INVALID_HID;
  const bool good = dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0;
  if (dataset >= 0) (void)H5Dclose(dataset);
  if (type >= 0) (void)H5Tclose(type);
  if (space >= 0) (void)H5Sclose(space);
  return good;
}

bool ss_hdf5_write_text(hid_t group, const char *name, const char *text) {
  return write_fixed(group, name, H5Screate(H5S_SCALAR), strlen(text) + 1, text);
}

bool ss_hdf5_write_texts(hid_t group, const char *name, const char *const *texts, int n) {
  size_t size = 1;
  for (int i = 0; i < n; i++)
    if (strlen(texts[i]) >= size) size = strlen(texts[i]) + 1;
  char *bytes = ss_alloc(size * (size_t)(n > 0 ? n : 1));
  if (!bytes) return false;
  for (int i = 0; i < n; i++) memcpy(bytes + size * (size_t)i, texts[i], strlen(texts[i]));
  const hsize_t count = (hsize_t)n;
  const bool good = write_fixed(group, name, H5Screate_simple(1, &count, NULL), size, bytes);
  ss_free(bytes);
  return good;
}

/* The size of a text, its end included; 0: it is none of fixed size, or not as large as it says. */
static size_t fixed_size(hid_t dataset, hsize_t n) {
  const hid_t type = H5Dget_type(dataset);
  const bool fixed = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
  const size_t size = fixed ? H5Tget_size(type) : 0;
  if (type >= 0) (void)H5Tclose(type);
  return n > 0 && size > 0 && H5Dget_storage_size(dataset) / n == size ? size : 0;
}

/* n texts of fixed size in one piece of memory, each with its end; *size is that of one. NULL: there are none. */
static char *read_fixed(hid_t dataset, hsize_t n, size_t *size) {
  *size = fixed_size(dataset, n);
  const hid_t type = *size ? text_type(*size) : (hid_t)H5I_INVALID_HID;
  char *bytes = type >= 0 ? ss_alloc(*size * (size_t)n) : NULL;
  if (bytes && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) < 0) {
    ss_free(bytes);
    bytes = NULL;
  }
  if (type >= 0) (void)H5Tclose(type);
  for (hsize_t i = 0; bytes && i < n; i++) bytes[*size * (i + 1) - 1] = '\0';
  return bytes;
}

char *ss_hdf5_read_text(hid_t group, const char *name) {
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0) return NULL;
  const hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
  const hid_t space = dataset >= 0 ? H5Dget_space(dataset) : (hid_t)H5I_INVALID_HID;
  size_t size;
  char *text = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 ? read_fixed(dataset, 1, &size) : NULL;
  if (space >= 0) (void)H5Sclose(space);
  if (dataset >= 0) (void)H5Dclose(dataset);
  return text;
}

char **ss_hdf5_read_texts(hid_t dataset, hsize_t n) {
  size_t size;
  char *bytes = read_fixed(dataset, n, &size), **texts = bytes ? ss_alloc(sizeof *texts * (size_t)n) : NULL;
  if (!texts) ss_free(bytes);
  for (hsize_t i = 0; texts && i < n; i++) texts[i] = bytes + size * i;
  return texts;
}

void ss_hdf5_free_texts(char **texts) {
  if (texts) ss_free(texts[0]);
  ss_free((void *)texts);
}

/* The dimensions of n rows; returns how many there are. */
static int dimensions(hsize_t n, hsize_t members, hsize_t width, hsize_t out[3]) {
  int rank = 0;
  out[rank++] = n;
  if (members) out[rank++] = members;
  if (width) out[rank++] = width;
  return rank;
}

/* Chunks of one block, compressed; no chunk cache, because whole chunks are written at once. */
static hid_t create_dataset(hid_t group, const char *name, const ss_hdf5_column *column, int block) {
  hsize_t start[3], limit[3], chunk[3];
  const int rank = dimensions(0, column->members, column->width, start);
  (void)dimensions(H5S_UNLIMITED, column->members, column->width, limit);
  (void)dimensions((hsize_t)block, column->members, column->width, chunk);
  const hid_t space = H5Screate_simple(rank, start, limit);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), access = H5Pcreate(H5P_DATASET_ACCESS);
  bool good = space >= 0 && H5Pset_chunk(creation, rank, chunk) >= 0 && H5Pset_chunk_cache(access, 1, 0, 1) >= 0;
  if (good && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
    good = H5Pset_shuffle(creation) >= 0 && H5Pset_deflate(creation, 1) >= 0;
  const hid_t dataset =
      good ? H5Dcreate2(group, name, column->type, space, H5P_DEFAULT, creation, access) : (hid_t)H5I_INVALID_HID;
  if (access >= 0) (void)H5Pclose(access);
  if (creation >= 0) (void)H5Pclose(creation);
  if (space >= 0) (void)H5Sclose(space);
  return dataset;
}

static bool create_column(ss_hdf5_column *column, hid_t group, const char *name, int block) {
  column->row_size = H5Tget_size(column->type) *
                     (size_t)((column->members ? column->members : 1) * (column->width ? column->width : 1));
  column->block = block;
  column->rows = ss_alloc(column->row_size * (size_t)block);
  if (!column->rows) return false;
  column->dataset = create_dataset(group, name, column, block);
  return column->dataset >= 0;
}

bool ss_hdf5_column_create(ss_hdf5_column *column, hid_t group, const char *name, hid_t type, int width) {
  *column = (ss_hdf5_column){.dataset = H5I_INVALID_HID, .type = type, .width = (hsize_t)width};
  return create_column(column, group, name, SS_HDF5_BLOCK);
}

bool ss_hdf5_table_create(ss_hdf5_column *column, hid_t group, const char *name, int members, int width, int block) {
  *column = (ss_hdf5_column){
      .dataset = H5I_INVALID_HID, .type = H5T_NATIVE_DOUBLE, .members = (hsize_t)members, .width = (hsize_t)width};
  return create_column(column, group, name, block);
}

bool ss_hdf5_column_append(ss_hdf5_column *column, int n_rows) {
  if (n_rows == 0) return true;
  hsize_t count[3], size[3];
  const hsize_t start[3] = {column->written, 0, 0};
  const int rank = dimensions((hsize_t)n_rows, column->members, column->width, count);
  (void)dimensions(column->written + (hsize_t)n_rows, column->members, column->width, size);
  if (H5Dset_extent(column->dataset, size) < 0) return false;
  const hid_t file_space = H5Dget_space(column->dataset), memory_space = H5Screate_simple(rank, count, NULL);
  const bool good = file_space >= 0 && memory_space >= 0 &&
                    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                    H5Dwrite(column->dataset, column->type, memory_space, file_space, H5P_DEFAULT, column->rows) >= 0;
  if (memory_space >= 0) (void)H5Sclose(memory_space);
  if (file_space >= 0) (void)H5Sclose(file_space);
  column->written += (hsize_t)n_rows;
  return good;
}

int ss_hdf5_column_room(const ss_hdf5_column *column) {
  return column->block - (int)(column->written % (hsize_t)column->block);
}

void *ss_hdf5_column_row(const ss_hdf5_column *column, int row) {
  return column->rows + column->row_size * (size_t)row;
}

bool ss_hdf5_column_release(ss_hdf5_column *column) {
  const bool good = !column->rows || column->dataset < 0 || H5Dclose(column->dataset) >= 0;
  ss_free(column->rows);
  *column = (ss_hdf5_column){0};
  return good;
}

static bool has_size(hid_t space, int rank, const hsize_t expected[3]) {
  hsize_t size[3] = {0};
  if (H5Sget_simple_extent_ndims(space) != rank || H5Sget_simple_extent_dims(space, size, NULL) != rank) return false;
  for (int i = 0; i < rank; i++)
    if (size[i] != expected[i]) return false;
  return true;
}

bool ss_hdf5_read_members(hid_t dataset, hsize_t n_rows, hsize_t first, hsize_t count, ss_hdf5_members members,
                          int width, double *rows) {
  hsize_t size[3], block[3];
  const hsize_t start[3] = {first, members.all ? members.first : 0, 0};
  const int rank = dimensions(n_rows, members.all, (hsize_t)width, size);
  (void)dimensions(count, members.all ? members.count : 0, (hsize_t)width, block);
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  const hid_t file_space = H5Dget_space(dataset), memory_space = H5Screate_simple(rank, block, NULL);
  const bool good = file_space >= 0 && memory_space >= 0 && has_size(file_space, rank, size) &&
                    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, block, NULL) >= 0 &&
                    H5Dread(dataset, H5T_NATIVE_DOUBLE, memory_space, file_space, H5P_DEFAULT, rows) >= 0;
  if (memory_space >= 0) (void)H5Sclose(memory_space);
  if (file_space >= 0) (void)H5Sclose(file_space);
  ss_hdf5_quiet_end(quiet);
  return good;
}

bool ss_hdf5_read_rows(hid_t dataset, hsize_t n_rows, hsize_t first, hsize_t count, int width, double *rows) {
  return ss_hdf5_read_members(dataset, n_rows, first, count, (ss_hdf5_members){0}, width, rows);
}

bool ss_hdf5_length(hid_t dataset, hsize_t *n) {
  const hid_t space = H5Dget_space(dataset);
  const bool good =
      space >= 0 && H5Sget_simple_extent_ndims(space) == 1 && H5Sget_simple_extent_dims(space, n, NULL) == 1;
  if (space >= 0) (void)H5Sclose(space);
  return good;
}
