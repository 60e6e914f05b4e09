/* FCLIB problems in HDF5 whose sizes, indices and numbers come from the fuzzer, made in memory: the format of the file is
 * sound (that is the HDF5 library's affair), its contents are not. */
#include "scratch_file.h"

#include <stickslip/cp.h>

#include <hdf5.h>
#include <string.h>

typedef struct input {
  const uint8_t *at, *end;
} input;

static uint8_t byte(input *in) { return in->at < in->end ? *in->at++ : 0; }

static void expect(bool truth) {
  if (!truth) abort();
}

/* Mostly `likely`, so that some problems are accepted. */
static double number(input *in, double likely) {
  const uint8_t b = byte(in);
  return b < 128 ? likely : b < 250 ? (b - 128) % 16 - 4 : b == 250 ? 1e300 : b == 251 ? 0.0 / (double)(b - 251) : -1e9;
}

/* A dataset of about `likely` numbers around `first`, `first` + `step`, ...; sometimes it is missing. */
static void dataset(input *in, hid_t group, const char *name, int likely, double first, double step) {
  double values[64];
  const uint8_t b = byte(in);
  if (b == 255) return;
  const hsize_t count = b < 200 ? (hsize_t)likely : b % 32;
  for (hsize_t i = 0; i < count && i < 64; i++) values[i] = number(in, first + step * (double)i);
  const hid_t space = H5Screate_simple(1, &count, NULL);
  const hid_t set = H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (set >= 0 && count) (void)H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  if (set >= 0) (void)H5Dclose(set);
  (void)H5Sclose(space);
}

static hid_t group_in(hid_t parent, const char *name) {
  return H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

static void sparse(input *in, hid_t parent, const char *name, int n) {
  const hid_t group = group_in(parent, name);
  const int form = byte(in) % 3 - 2; /* triplets, columns, rows */
  dataset(in, group, "m", 1, n, 0);
  dataset(in, group, "n", 1, n, 0);
  dataset(in, group, "nz", 1, form == 0 ? n : form, 0);
  dataset(in, group, "p", form == 0 ? n : n + 1, 0, 1);
  dataset(in, group, "i", n, 0, 1);
  dataset(in, group, "x", n, 1, 0);
  (void)H5Gclose(group);
}

static void build(input *in, const char *path) {
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  expect(file >= 0);
  const bool local = byte(in) & 1;
  const int d = 2 + (byte(in) & 1), contacts = 1 + byte(in) % 3, n = d * contacts;
  const hid_t group = group_in(file, local ? "fclib_local" : "fclib_global");
  dataset(in, group, "spacedim", 1, d, 0);
  sparse(in, group, local ? "W" : "M", n);
  if (!local) sparse(in, group, "H", n);
  const hid_t vectors = group_in(group, "vectors");
  dataset(in, vectors, local ? "q" : "f", n, -1, 0.5);
  if (!local) dataset(in, vectors, "w", n, -1, 0.5);
  dataset(in, vectors, "mu", contacts, 0.5, 0);
  (void)H5Gclose(vectors);
  (void)H5Gclose(group);
  (void)H5Fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, data + size};
  const char *path = scratch_path("fclib");
  build(&in, path);
  ss_cp_file file;
  ss_error error = {0};
  const ss_status status = ss_cp_read(path, &file, &error);
  if (status == SS_OK)
    expect(ss_cp_validate(&file.problem, NULL) == SS_OK);
  else
    expect(error.status == status && error.message[0] && !file.memory);
  ss_cp_file_release(&file);
  (void)remove(path);
  return 0;
}
