/* Datasets and matrices of FCLIB files, for tests. */
#ifndef TESTS_FCLIB_WRITER_H
#define TESTS_FCLIB_WRITER_H

#include "cp_problems.h"

#include <hdf5.h>

static inline void put(hid_t file, const char *name, hid_t type, const void *data, size_t count) {
  const hsize_t size = count;
  const hid_t space = H5Screate_simple(1, &size, NULL);
  const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  (void)H5Dclose(set);
  (void)H5Sclose(space);
}

static inline void put_group(hid_t file, const char *name) {
  const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(group >= 0);
  (void)H5Gclose(group);
}

/* A dense matrix, row-major, written sparse; form: 0 triplets, -1 compressed columns, -2 compressed rows. */
static inline void put_dense(hid_t file, const char *group, int rows, int cols, const double *a, int form) {
  enum { MOST = 400 };
  int i[MOST], p[MOST], count = 0;
  double x[MOST];
  const int outer = form == -2 ? rows : cols, inner = form == -2 ? cols : rows;
  assert_true(rows * cols < MOST);
  for (int k = 0; k < outer; k++) {
    if (form) p[k] = count;
    for (int l = 0; l < inner; l++) {
      const int row = form == -2 ? k : l, col = form == -2 ? l : k;
      if (a[row * cols + col] == 0) continue;
      if (!form) p[count] = col;
      i[count] = form == -2 ? col : row;
      x[count++] = a[row * cols + col];
    }
  }
  if (form) p[outer] = count;
  const int nz = form ? form : count;
  const struct {
    const char *name;
    const int *data;
    int count;
  } parts[] = {{"m", &rows, 1}, {"n", &cols, 1}, {"nz", &nz, 1}, {"i", i, count}, {"p", p, form ? outer + 1 : count}};
  char name[192];
  put_group(file, group);
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    (void)snprintf(name, sizeof name, "%s/%s", group, parts[k].name);
    put(file, name, H5T_NATIVE_INT, parts[k].data, (size_t)parts[k].count);
  }
  (void)snprintf(name, sizeof name, "%s/x", group);
  put(file, name, H5T_NATIVE_DOUBLE, x, (size_t)count);
}

#endif
