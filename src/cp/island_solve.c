/* Contacts that hang together through no body are problems of their own, solved one by one by "auto".
 *
 * Each is measured in units of the whole right side: a tolerance that it meets is met by the whole. Results do not depend on the order
 * of the islands. */
#include "cp/dense.h"
#include "cp/islands.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include <math.h>

/* Solves island k and copies its z. */
static ss_status solve_island(const islands *s, int k, const ss_cp *problem, const ss_sparse *G,
                              const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                              ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  island i;
  ss_cp_result own = {0};
  ss_status status = island_create(&i, s, k, problem, G, z, w, error);
  if (!status) status = ss_cp_solve(&i.cp, options, warm, i.z, w, &own, error);
  for (int m = s->start[k]; m < s->start[k + 1] && !status; m++)
    for (int r = s->first[s->members[m]]; r < s->first[s->members[m] + 1]; r++) z[r] = i.z[s->row[r]] * s->amplitude;
  result->iterations += own.iterations;
  result->operations += own.operations;
  result->no_solution = result->no_solution || own.no_solution;
  if (own.outcome != SS_SOLVED) result->outcome = own.outcome;
  scratch_release(w, mark);
  return status;
}

static ss_status solve_parts(const ss_cp *problem, const ss_cp_options *options, bool warm, int least, double *z,
                             ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  ss_cp_options own = *options;
  own.solver = "auto";
  ss_sparse G;
  islands s = {0};
  result->outcome = SS_NOT_ADMITTED;
  ss_status status = storage_rows(problem, workspace, &G, error);
  if (!status) status = islands_find(&s, problem, &G, workspace, error);
  if (status || s.count < least) return status;
  islands_sort(&s);
  double largest = 0;
  for (int i = 0; i < problem->n; i++) largest = fmax(largest, fabs(problem->g[i]));
  s.amplitude = 1 / inverse_power(largest);
  result->outcome = SS_SOLVED;
  for (int k = 0; k < s.count && !status; k++)
    status = solve_island(&s, k, problem, &G, &own, warm, z, workspace, result, error);
  return status;
}

ss_status solve_islands(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                        ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return solve_parts(problem, options, warm, 2, z, workspace, result, error);
}

ss_status solve_large(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return solve_parts(problem, options, warm, 1, z, workspace, result, error);
}
