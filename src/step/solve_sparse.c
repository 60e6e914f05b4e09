/* Problems of joints and stiff forces alone are linear, G z = -g, and sparse: a chain costs O(n). One step of iterative
 * refinement on what the judge finds. The judge forms w = alpha J A^-1 J^T z + R z + g through the velocity change, from
 * the rows and not from the factors, and weighs it in natural units as for other problems (solve.c). */
#include "step/step.h"

static double judge(ss_sim *sim, double speed) {
  const ss_problem *p = &sim->trial.problem;
  double worst = 0, largest = 0;
  ss_rows_apply(sim, p->z, p->slack);
  for (int i = 0; i < p->n; i++) {
    p->slack[i] += p->g[i];
    const double w = fabs(p->scale[i] * p->slack[i]);
    if (!(w <= worst)) worst = w; /* a NaN stays */
    largest = fmax(largest, p->scale[i] * fmax(fabs(p->g[i]), 1e-3 * speed));
  }
  return largest > 0 ? worst / (2 * largest) : worst;
}

double ss_solve_sparse(ss_sim *sim, double speed) {
  ss_problem *p = &sim->trial.problem;
  ss_lu *lu = ss_problem_lu(sim);
  (void)ss_lu_factor(lu, 1e-12); /* pivots of dependent rows come out at rounding level */
  ss_lu_solve(lu, p->g, p->z);
  for (int i = 0; i < p->n; i++) p->z[i] = -p->z[i];
  double residual = judge(sim, speed);
  if (residual <= 1e-15) return residual;
  double *correction = p->slack; /* G correction = w */
  ss_lu_solve(lu, p->slack, correction);
  for (int i = 0; i < p->n; i++) p->z[i] -= correction[i];
  return judge(sim, speed);
}
