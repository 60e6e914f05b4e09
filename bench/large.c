/* Sphere packings of growing size solved by "auto" or SOLVER: contacts, time, memory, residual as rows of a Markdown table. Every size runs
 * in a process of its own, so that the peak memory is its own.
 *
 * usage: bench_large NX NY NZ CONE MU SHAKING [SOLVER]     CONE: quadratic or facets (four) */
#include "packing.h"

#include <stdio.h>
#include <sys/resource.h>

static double cpu_seconds(void) {
  struct rusage use;
  (void)getrusage(RUSAGE_SELF, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

int main(int argc, char **argv) {
  if (argc != 7 && argc != 8) {
    (void)fprintf(stderr, "usage: bench_large NX NY NZ CONE MU SHAKING [SOLVER]\n");
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
  const ss_cp_options options = {.solver = argc == 8 ? argv[7] : "auto", .tolerance = 1e-8};
  ss_cp_result result = {0};
  const double start = cpu_seconds();
  const ss_status status = ss_cp_solve(&p.cp, &options, false, p.z, w, &result, &error);
  const double seconds = cpu_seconds() - start;
  struct rusage use;
  (void)getrusage(RUSAGE_SELF, &use);
  (void)printf("| %d x %d x %d | %s | %s | %d | %d | %.2f | %.1f | %.0f | %s | %.1e |\n", n[0], n[1], n[2],
               disc ? "disc" : "4 facets", argv[6], p.contacts, result.iterations, seconds, 1e6 * seconds / p.contacts,
               (double)use.ru_maxrss / 1024, ss_outcome_name(result.outcome), result.residual);
  ss_cp_workspace_destroy(w);
  packing_free(&p);
  return status != SS_OK;
}
