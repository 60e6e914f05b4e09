/* Complementarity problems without any mechanics: an LCP, a contact with friction, and a problem without solution. */
#include <stickslip/cp.h>

#include <stdio.h>

static int fail(const ss_error *error) {
  (void)fprintf(stderr, "complementarity: %s\n", error->message);
  return 1;
}

/* Solves, judges and prints; 0 where it was solved. */
static int solve(const char *name, const ss_cp *problem, ss_cp_workspace *workspace) {
  ss_error error;
  ss_cp_result result;
  double z[3], w[3];
  const ss_cp_options options = ss_cp_options_default(); /* .solver = "auto", .tolerance = 1e-10 */
  if (ss_cp_validate(problem, &error)) return fail(&error);
  if (ss_cp_solve(problem, &options, false, z, workspace, &result, &error)) return fail(&error);
  const double residual =
      ss_cp_judge(problem, z, w); /* from the problem's data alone; shares no code with the solvers */
  (void)printf("%s: %s by %s, residual %.1e, z =", name, ss_outcome_name(result.outcome), result.solver, residual);
  for (int i = 0; i < problem->n; i++) (void)printf(" %g", z[i]);
  (void)printf(", w =");
  for (int i = 0; i < problem->n; i++) (void)printf(" %g", w[i]);
  (void)printf("\n");
  return result.outcome == SS_SOLVED ? 0 : 1;
}

/* Two contacts without friction that share a body: z = (4/3, 7/3). */
static int lcp(ss_cp_workspace *workspace) {
  const double G[] = {2, 1, /**/ 1, 2}, g[] = {-5, -6};
  const ss_block block = {.kind = SS_BLOCK_NONNEGATIVE, .first = 0, .size = 2};
  return solve("LCP", &(ss_cp){.n = 2, .n_blocks = 1, .G = G, .g = g, .blocks = &block}, workspace);
}

/* A point of mass 1 hits the floor with the velocity (normal -2; tangential 3, 4) and slides: |z_t| = mu z_n = 1. */
static int friction(ss_cp_workspace *workspace) {
  const double G[] = {1, 0, 0, /**/ 0, 1, 0, /**/ 0, 0, 1}, g[] = {-2, 3, 4};
  const ss_block block = {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_QUADRATIC, .mu = 0.5};
  return solve("friction", &(ss_cp){.n = 3, .n_blocks = 1, .G = G, .g = g, .blocks = &block}, workspace);
}

/* w = -z - 1 is negative for every z >= 0. That is an answer, not an error. */
static int without_solution(ss_cp_workspace *workspace) {
  const double G[] = {-1}, g[] = {-1};
  const ss_block block = {.kind = SS_BLOCK_NONNEGATIVE, .size = 1};
  const ss_cp problem = {.n = 1, .n_blocks = 1, .G = G, .g = g, .blocks = &block};
  ss_error error;
  ss_cp_diagnosis diagnosis;
  if (solve("no solution", &problem, workspace) == 0) return 1;
  if (ss_cp_diagnose(&problem, 1e-10, 0, workspace, &diagnosis, &error)) return fail(&error);
  (void)printf("no solution: solutions: %s (%s)\n", ss_solution_set_name(diagnosis.solutions), diagnosis.reason);
  return diagnosis.solutions == SS_SET_NONE ? 0 : 1;
}

int main(void) {
  ss_error error;
  ss_cp_workspace *workspace;
  if (ss_cp_workspace_create(&workspace, &error)) return fail(&error);
  const int failed = lcp(workspace) || friction(workspace) || without_solution(workspace);
  ss_cp_workspace_destroy(workspace);
  return failed;
}
