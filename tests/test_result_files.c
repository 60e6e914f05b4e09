/* Results as files: what readers see while a run records and after it has died, files with a damaged byte, what killed
 * processes leave behind. */
#include "scene_runner.h"

#include <stickslip/io.h>

#include <hdf5.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const path = BINARY_DIR "/test_result_files.h5";
static const char *const page = BINARY_DIR "/test_result_files.html";

static void record(long steps, bool close) {
  run r;
  ss_recorder *recorder = NULL;
  ss_error error = {0};
  run_open(&r, "table-five-legs", NULL);
  run_require(ss_recorder_open_hdf5(path, r.sim, 1, &recorder, &error), &error, "open");
  const ss_observer observer = ss_recorder_observer(recorder);
  run_require(ss_sim_observe(r.sim, &observer, &error), &error, "observe");
  for (long i = 0; i < steps; i++) run_step(&r);
  if (!close) _exit(0); /* dies */
  run_require(ss_recorder_close(recorder, r.sim, true, &error), &error, "close");
  run_close(&r);
}

/* HDF5 loses memory of its own on damaged files. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libhdf5"; }

/* Everything that reads a result. */
static bool read_back(const char *name) {
  ss_result *result = NULL;
  ss_error error = {0};
  bool good = ss_result_open(name, &result, &error) == SS_OK;
  if (good) {
    double *values = calloc((size_t)ss_result_rows(result) + 1, sizeof *values);
    assert_non_null(values);
    good = ss_result_column(result, "table.z", values, &error) == SS_OK;
    good = ss_result_column(result, "energy.total", values, &error) == SS_OK && good;
    free(values);
  }
  ss_result_close(result);
  good = ss_page_from_result(name, page, SS_PAGE_VIEWER, &error) == SS_OK && good;
  (void)unlink(page);
  return good;
}

/* ---- a run that dies ---- */

static void left_name(pid_t process, char *name, size_t size, const char *form) {
  (void)snprintf(name, size, form, BINARY_DIR, (long)process);
}

static void test_dead_run(void **state) {
  (void)state;
  (void)unlink(path);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) record(3, false);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  assert_int_not_equal(access(path, F_OK), 0); /* it was not finished */
  char left[1024], copy[1024];
  left_name(child, left, sizeof left, "%s/test_result_files.h5.%ld-0.tmp");
  left_name(child, copy, sizeof copy, "%s/.test_result_files.h5.%ld-0.tmp.next");
  assert_true(read_back(left));
  const hid_t file = H5Fopen(left, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  const hid_t attribute = H5Aopen(file, "complete", H5P_DEFAULT);
  long complete = 1;
  assert_true(H5Aread(attribute, H5T_NATIVE_LONG, &complete) >= 0 && complete == 0);
  (void)H5Aclose(attribute);
  (void)H5Fclose(file);
  assert_int_equal(access(copy, F_OK), 0);
  (void)unlink(left);
  (void)unlink(copy);
}

/* While a run records, its file can be read, and is what it was at the last commit. */
static void test_reading_meanwhile(void **state) {
  (void)state;
  run r;
  ss_recorder *recorder = NULL;
  ss_error error = {0};
  char working[1024];
  (void)unlink(path);
  left_name(getpid(), working, sizeof working, "%s/test_result_files.h5.%ld-0.tmp");
  run_open(&r, "table-five-legs", NULL);
  run_require(ss_recorder_open_hdf5(path, r.sim, 1, &recorder, &error), &error, "open");
  const ss_observer observer = ss_recorder_observer(recorder);
  run_require(ss_sim_observe(r.sim, &observer, &error), &error, "observe");
  run_step(&r);
  ss_result *result = NULL;
  run_require(ss_result_open(working, &result, &error), &error, "meanwhile");
  assert_int_equal(ss_result_rows(result), 1);
  ss_result_close(result);
  run_require(ss_recorder_close(recorder, r.sim, true, &error), &error, "close");
  run_require(ss_result_open(path, &result, &error), &error, "afterwards");
  assert_int_equal(ss_result_rows(result), 2);
  ss_result_close(result);
  run_close(&r);
  (void)unlink(path);
}

/* ---- damage ---- */

/* Any byte may be wrong: the file is refused or read, and nothing else happens. */
static void test_damaged_bytes(void **state) {
  (void)state;
  record(20, true);
  assert_true(read_back(path));
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  const size_t size = (size_t)info.st_size;
  unsigned char *bytes = malloc(size);
  FILE *stream = fopen(path, "rb");
  assert_true(bytes && stream && fread(bytes, 1, size, stream) == size);
  (void)fclose(stream);
  const size_t tries = 400;
  int refused = 0;
  for (size_t i = 0; i < tries; i++) {
    const size_t at = i < 100 ? i * 64 % size : (i * 2654435761u) % size;
    const unsigned char kept = bytes[at];
    bytes[at] = i % 3 == 0 ? 0xff : i % 3 == 1 ? 0 : (unsigned char)(kept ^ (1u << i % 8));
    stream = fopen(path, "wb");
    assert_true(stream && fwrite(bytes, 1, i % 50 == 49 ? at : size, stream) > 0 && fclose(stream) == 0);
    refused += !read_back(path);
    bytes[at] = kept;
  }
  assert_in_range(refused, 5, tries - 5);
  free(bytes);
  (void)unlink(path);
}

int main(void) {
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dead_run),
      cmocka_unit_test(test_reading_meanwhile),
      cmocka_unit_test(test_damaged_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
