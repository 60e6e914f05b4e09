/* Problems whose g is an eigenvector of G: equal bodies side by side, at rest or pushed alike.
 *
 * G g = lambda g, lambda > 0: z = -g / lambda leaves w = 0, and is a solution where it lies in its sets: every contact sticks. Looks
 * at the rows one by one, and is not admitted at the first that does not fit, so that others lose no time. */
#include "cp/solver.h"

#include <math.h>

ss_status solve_alike(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  static const double rounding = 1e-14;
  (void)options, (void)warm, (void)workspace, (void)error;
  const int n = problem->n;
  double lambda = 0;
  result->outcome = SS_NOT_ADMITTED;
  for (int i = 0; i < n; i++) {
    const double *row = problem->G + (size_t)i * (size_t)n;
    double sum = 0, size = 0;
    for (int j = 0; j < n; j++) {
      sum += row[j] * problem->g[j];
      size += fabs(row[j] * problem->g[j]);
    }
    if (lambda == 0 && problem->g[i] != 0) lambda = sum / problem->g[i];
    if (lambda < 0 || fabs(sum - lambda * problem->g[i]) > rounding * size) return SS_OK;
  }
  if (!(lambda > 0)) return SS_OK;
  for (int i = 0; i < n; i++) z[i] = -problem->g[i] / lambda;
  result->outcome = SS_SOLVED;
  return SS_OK;
}
