/* What stands in for the files that need HDF5 where the library is built without it (CMakeLists.txt): everything else works. */
#include <stickslip/io.h>
#include <stickslip/study.h>

#ifdef SS_WITHOUT_HDF5

static ss_status refuse(ss_error *error) {
  return ss_fail(error, SS_ERROR_UNSUPPORTED, "this library was built without HDF5: results need it");
}

ss_status ss_recorder_open_hdf5(const char *path, const ss_sim *sim, long every, ss_recorder **out, ss_error *error) {
  (void)path, (void)sim, (void)every;
  *out = NULL;
  return refuse(error);
}

ss_status ss_result_open(const char *path, ss_result **out, ss_error *error) {
  (void)path;
  *out = NULL;
  return refuse(error);
}

void ss_result_close(ss_result *result) { (void)result; }

long ss_result_rows(const ss_result *result) {
  (void)result;
  return 0;
}

ss_status ss_result_column(const ss_result *result, const char *name, double *values, ss_error *error) {
  (void)result, (void)name, (void)values;
  return refuse(error);
}

ss_status ss_page_from_result(const char *result, const char *page, ss_page_layout layout, ss_error *error) {
  (void)result, (void)page, (void)layout;
  return refuse(error);
}

ss_status ss_export_csv(const char *result, const char *csv, ss_error *error) {
  (void)result, (void)csv;
  return refuse(error);
}

ss_status ss_export_csv_stream(const char *result, FILE *csv, ss_error *error) {
  (void)result, (void)csv;
  return refuse(error);
}

ss_status ss_export_vtk(const char *result, const char *pvd, long every, ss_error *error) {
  (void)result, (void)pvd, (void)every;
  return refuse(error);
}

ss_status ss_study_write_table(const ss_study *study, const ss_study_row *rows, const char *path, ss_error *error) {
  (void)study, (void)rows, (void)path;
  return refuse(error);
}

#endif
