/* Stands in for fclib_format.c where the library is built without HDF5 (CMakeLists.txt). */
#include "problem_file/tokens.h"

#ifdef SS_WITHOUT_HDF5

ss_status read_fclib(const char *path, ss_arena *arena, ss_cp_file *out, ss_error *error) {
  (void)path, (void)arena, (void)out;
  return ss_fail(error, SS_ERROR_UNSUPPORTED, "this library was built without HDF5: FCLIB files need it");
}

#endif
