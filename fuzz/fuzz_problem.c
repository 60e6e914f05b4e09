/* Texts to the readers of problem files: an error with a message, or a valid problem that survives being written and
 * read again. */
#include "scratch_file.h"

#include <stickslip/cp.h>

#include <string.h>

static void expect(bool truth) {
  if (!truth) abort();
}

static void round_trip(const ss_cp_file *file, const char *path) {
  const size_t n = (size_t)file->problem.n;
  ss_cp_file again;
  expect(ss_cp_write(&file->problem, path, NULL) == SS_OK);
  expect(ss_cp_read(path, &again, NULL) == SS_OK);
  expect(again.problem.n == file->problem.n && again.problem.n_blocks == file->problem.n_blocks);
  expect(n == 0 || memcmp(again.problem.G, file->problem.G, sizeof(double) * n * n) == 0);
  expect(n == 0 || memcmp(again.problem.g, file->problem.g, sizeof(double) * n) == 0);
  ss_cp_file_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size >= 8 && memcmp(data, "\211HDF\r\n\032\n", 8) == 0) return 0; /* fuzz_fclib has those */
  const char *path = scratch_path("problem");
  scratch_write(path, data, size);
  ss_cp_file file;
  ss_error error = {0};
  const ss_status status = ss_cp_read(path, &file, &error);
  if (status == SS_OK) {
    expect(ss_cp_validate(&file.problem, NULL) == SS_OK);
    if (file.problem.n <= 40) round_trip(&file, path);
    ss_cp_file_release(&file);
  } else {
    expect(error.status == status && error.message[0] && !file.memory);
  }
  (void)remove(path);
  return 0;
}
