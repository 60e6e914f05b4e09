/* The end of both benchmarks: solves the packing and prints the rest of its row of a Markdown table: contacts, iterations, seconds,
 * microseconds per contact, peak memory in MiB, outcome, residual. */
#ifndef TABLE_ROW_H
#define TABLE_ROW_H

#include "packing.h"

#include <stdio.h>
#include <sys/resource.h>

static inline double cpu_seconds(struct rusage *use) {
  (void)getrusage(RUSAGE_SELF, use);
  return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
         1e-6 * (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec);
}

/* Returns the exit code. */
static inline int table_row(packing *p, ss_cp_workspace *w, const char *solver, double tolerance) {
  const ss_cp_options options = {.solver = solver, .tolerance = tolerance};
  ss_cp_result result = {0};
  ss_error error = {0};
  struct rusage use;
  const double start = cpu_seconds(&use);
  const ss_status status = ss_cp_solve(&p->cp, &options, false, p->z, w, &result, &error);
  const double seconds = cpu_seconds(&use) - start;
  (void)printf(" | %d | %d | %.3f | %.1f | %.0f | %s | %.1e |\n", p->contacts, result.iterations, seconds,
               1e6 * seconds / p->contacts, (double)use.ru_maxrss / 1024, ss_outcome_name(result.outcome),
               result.residual);
  ss_cp_workspace_destroy(w);
  packing_free(p);
  return status != SS_OK;
}

#endif
