/* Sphere packings of growing size solved by "auto" or SOLVER: contacts, time, memory, residual as rows of a Markdown table. Every size runs
 * in a process of its own, so that the peak memory is its own.
 *
 * usage: bench_large NX NY NZ CONE MU SHAKING [SOLVER [RESIDUAL]]     CONE: quadratic or facets (four) */
#include "table_row.h"

int main(int argc, char **argv) {
  if (argc < 7 || argc > 9) {
    (void)fprintf(stderr, "usage: bench_large NX NY NZ CONE MU SHAKING [SOLVER [RESIDUAL]]\n");
    return 2;
  }
  packing p;
  const bool disc = strcmp(argv[4], "quadratic") == 0;
  const int n[3] = {(int)strtol(argv[1], NULL, 10), (int)strtol(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10)};
  ss_cp_workspace *w = NULL;
  ss_error error = {0};
  if (!packing_create(&p, n[0], n[1], n[2], disc ? SS_CONE_QUADRATIC : SS_CONE_POLYHEDRAL, 4, strtod(argv[5], NULL),
                      strtod(argv[6], NULL)) ||
      ss_cp_workspace_create(&w, &error)) {
    (void)fprintf(stderr, "out of memory\n");
    return 2;
  }
  (void)printf("| %d x %d x %d | %s | %s", n[0], n[1], n[2], disc ? "disc" : "4 facets", argv[6]);
  return table_row(&p, w, argc > 7 ? argv[7] : "auto", argc > 8 ? strtod(argv[8], NULL) : 1e-8);
}
