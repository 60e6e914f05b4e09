/* The rows of a study as one HDF5 file: a compound dataset `table`, one member per column, in blocks so that a million rows
 * need no second copy in memory. Nothing in the file depends on the machine, the time or how the work was divided. */
#include "study/study.h"

#include "core/words.h"
#include "io/hdf5_file.h"
#include "io/output_file.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 4096 };

typedef struct column {
  hid_t type;
  size_t offset, size;
} column;

typedef struct table {
  const ss_study *study;
  const ss_study_row *rows;
  int n_variations, n_observations;
  column *columns; /* run, variations, observations, certified, verdict, error, reproduce */
  int n;
  size_t size; /* of a row */
} table;

static size_t longer(size_t size, const char *text) {
  const size_t length = text ? strlen(text) + 1 : 1;
  return length > size ? length : size;
}

static size_t longest_word(const ss_study *study, int variation) {
  size_t size = 0;
  const ss_variation *v = &study->variations[variation];
  for (long i = 0; v->values && i < v->count; i++)
    if (v->values[i].word) size = longer(size, v->values[i].word);
  return size;
}

static hid_t text_type(size_t size) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  (void)H5Tset_size(type, size);
  (void)H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

static void add(table *t, hid_t type) {
  const size_t size = H5Tget_size(type);
  t->columns[t->n++] = (column){type, t->size, size};
  t->size += size;
}

static void lay_out(table *t) {
  size_t verdict = 1, error = 1, reproduce = 1;
  for (int i = 0; i < SS_STUDY_VERDICTS; i++) verdict = longer(verdict, ss_study_verdict_name((ss_study_verdict)i));
  for (long i = 0; i < t->study->runs; i++) {
    error = longer(error, t->rows[i].error);
    reproduce = longer(reproduce, t->rows[i].reproduce);
  }
  add(t, H5Tcopy(H5T_STD_I64LE));
  for (int i = 0; i < t->n_variations; i++) {
    const size_t words = longest_word(t->study, i);
    add(t, words ? text_type(words) : H5Tcopy(H5T_IEEE_F64LE));
  }
  for (int i = 0; i < t->n_observations; i++) add(t, H5Tcopy(H5T_IEEE_F64LE));
  add(t, H5Tcopy(H5T_STD_U8LE));
  add(t, text_type(verdict));
  add(t, text_type(error));
  add(t, text_type(reproduce));
}

static const char *column_name(const table *t, int i) {
  static const char *const last[] = {"certified", "verdict", "error", "reproduce"};
  if (i == 0) return "run";
  if (i <= t->n_variations) return ss_study_variation_name(t->study, i - 1);
  const int k = i - 1 - t->n_variations;
  return k < t->n_observations ? ss_study_observation_name(t->study, k) : last[k - t->n_observations];
}

/* Names of columns are unique in a compound: an observation may be called like a parameter. */
static hid_t row_type(const table *t) {
  const hid_t type = H5Tcreate(H5T_COMPOUND, t->size);
  for (int i = 0; i < t->n; i++) {
    char name[300];
    bool taken = false;
    for (int k = 0; k < i; k++) taken = taken || strcmp(column_name(t, k), column_name(t, i)) == 0;
    (void)snprintf(name, sizeof name, "%.280s%s", column_name(t, i), taken ? " (observed)" : "");
    if (H5Tinsert(type, name, t->columns[i].offset, t->columns[i].type) < 0) {
      (void)H5Tclose(type);
      return -1;
    }
  }
  return type;
}

static void put_number(char *at, double value) { memcpy(at, &value, sizeof value); }

static void put_text(char *at, const char *text) {
  if (text) memcpy(at, text, strlen(text) + 1);
}

/* Little-endian machines only, as the whole program assumes for its files. */
static void fill_row(const table *t, long run, char *row) {
  const ss_study_row *r = &t->rows[run];
  const int64_t index = run;
  const column *c = t->columns;
  memset(row, 0, t->size);
  memcpy(row + c->offset, &index, sizeof index);
  c++;
  for (int i = 0; i < t->n_variations; i++, c++) {
    const ss_study_value v = ss_study_point(t->study, run, i);
    if (v.word)
      put_text(row + c->offset, v.word);
    else
      put_number(row + c->offset, v.number);
  }
  for (int i = 0; i < t->n_observations; i++, c++) put_number(row + c->offset, r->observed[i]);
  row[c++->offset] = r->verdict == SS_VERDICT_CERTIFIED;
  put_text(row + c++->offset, r->verdict == SS_VERDICT_STOPPED ? "not-done" : ss_study_verdict_name(r->verdict));
  put_text(row + c++->offset, r->error);
  put_text(row + c->offset, r->reproduce);
}

static bool put_attribute(hid_t file, const char *name, const char *text) {
  const hid_t space = H5Screate(H5S_SCALAR), type = text_type(strlen(text) + 1);
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool good = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
  if (attribute >= 0) (void)H5Aclose(attribute);
  (void)H5Tclose(type);
  (void)H5Sclose(space);
  return good;
}

static bool write_rows(const table *t, hid_t set, hid_t type, hid_t space, char *block) {
  bool good = true;
  for (long first = 0; good && first < t->study->runs; first += BLOCK) {
    const long left = t->study->runs - first, n = left < BLOCK ? left : BLOCK;
    for (long i = 0; i < n; i++) fill_row(t, first + i, block + (size_t)i * t->size);
    const hsize_t start = (hsize_t)first, count = (hsize_t)n;
    const hid_t memory = H5Screate_simple(1, &count, NULL);
    good = memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
           H5Dwrite(set, type, memory, space, H5P_DEFAULT, block) >= 0;
    if (memory >= 0) (void)H5Sclose(memory);
  }
  return good;
}

/* Compressed: the columns of text are mostly empty. */
static bool write_table(const table *t, hid_t file, char *block) {
  const hsize_t rows = (hsize_t)t->study->runs, chunk = rows < BLOCK ? rows : BLOCK;
  const hid_t type = row_type(t), space = H5Screate_simple(1, &rows, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  (void)H5Pset_obj_track_times(how, false);
  (void)H5Pset_chunk(how, 1, &chunk);
  (void)H5Pset_shuffle(how);
  (void)H5Pset_deflate(how, 4);
  const hid_t set = type >= 0 ? H5Dcreate2(file, "table", type, space, H5P_DEFAULT, how, H5P_DEFAULT) : -1;
  const bool good = set >= 0 && write_rows(t, set, type, space, block);
  if (set >= 0) (void)H5Dclose(set);
  if (type >= 0) (void)H5Tclose(type);
  (void)H5Pclose(how);
  (void)H5Sclose(space);
  return good;
}

static ss_status write_file(const table *t, const char *path, const char *working, char *block, ss_error *error) {
  const hid_t file = H5Fcreate(working, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  bool good = file >= 0 && put_attribute(file, "name", t->study->name) &&
              put_attribute(file, "scene", t->study->files[0].word) && put_attribute(file, "study", t->study->text) &&
              write_table(t, file, block);
  if (file >= 0) good = H5Fclose(file) >= 0 && good;
  return good ? SS_OK : ss_fail(error, SS_ERROR_IO, "cannot write '%s'", path);
}

ss_status ss_study_write_table(const ss_study *study, const ss_study_row *rows, const char *path, ss_error *error) {
  table t = {.study = study,
             .rows = rows,
             .n_variations = study->n_variations,
             .n_observations = ss_study_observations(study)};
  ss_arena *arena = ss_arena_create();
  t.columns = arena ? SS_ARENA_ARRAY(arena, column, t.n_variations + t.n_observations + 5) : NULL;
  if (!t.columns) {
    ss_arena_destroy(arena);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  lay_out(&t);
  char *block = ss_alloc(t.size * BLOCK);
  ss_output_file file = {0};
  ss_status status =
      block ? ss_output_file_create(&file, path, error) : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (!status) {
    status = ss_output_file_require_regular(&file, error);
    if (!status) status = write_file(&t, path, file.working, block, error);
    if (!status)
      status = ss_output_file_publish(&file, error);
    else
      ss_output_file_discard(&file);
  }
  ss_output_file_release(&file);
  for (int i = 0; i < t.n; i++) (void)H5Tclose(t.columns[i].type);
  ss_hdf5_quiet_end(quiet);
  ss_free(block);
  ss_arena_destroy(arena);
  return status;
}
