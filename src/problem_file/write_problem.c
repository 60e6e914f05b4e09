/* The problem of the last step in a file. A matrix that the step has not stored, because its solver works on the structure
 * of joints or patches, is written out; by its entries where it is large, most of which are then zero. */
#include "scheme/scheme.h"

enum { DENSE_ROWS = 200 }; /* from here on steps list their matrices by entries too */

static ss_status list_entries(const double *G, int n, ss_arena *arena, ss_sparse *out, ss_error *error) {
  size_t count = 0;
  for (size_t k = 0; k < (size_t)n * (size_t)n; k++) count += G[k] != 0;
  int *start = SS_ARENA_ARRAY(arena, int, n + 1), *col = SS_ARENA_ARRAY(arena, int, count + 1);
  double *value = SS_ARENA_ARRAY(arena, double, count + 1);
  if (!start || !col || !value) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  int used = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      const double x = G[(size_t)i * (size_t)n + (size_t)j];
      if (x == 0) continue;
      col[used] = j;
      value[used++] = x;
    }
    start[i + 1] = used;
  }
  *out = (ss_sparse){n, n, start, col, value};
  return SS_OK;
}

static ss_status write_structured(const ss_sim *sim, ss_cp problem, ss_arena *arena, const char *path,
                                  ss_error *error) {
  const size_t n = (size_t)problem.n;
  double *G = ss_alloc(sizeof(double) * n * n);
  if (!G) return ss_fail(error, SS_ERROR_MEMORY, "out of memory: a matrix with %d rows", problem.n);
  ss_fill_dense(sim, G);
  ss_sparse entries;
  ss_status status = SS_OK;
  problem.G = G;
  problem.sparse = NULL;
  if (problem.n >= DENSE_ROWS) {
    status = list_entries(G, problem.n, arena, &entries, error);
    problem.G = NULL;
    problem.sparse = &entries;
  }
  if (status == SS_OK) status = ss_cp_write(&problem, path, error);
  ss_free(G);
  return status;
}

ss_status ss_sim_write_problem(const ss_sim *sim, const char *path, ss_error *error) {
  const ss_cp nothing = {0}, problem = sim->trial.problem.n ? ss_problem_view(&sim->trial.problem) : nothing;
  if (problem.n == 0 || !(sim->trial.problem.sparse || sim->trial.problem.structured || sim->trial.problem.divided))
    return ss_cp_write(&problem, path, error);
  ss_arena *arena = ss_arena_create();
  if (!arena) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const ss_status status = write_structured(sim, problem, arena, path, error);
  ss_arena_destroy(arena);
  return status;
}
