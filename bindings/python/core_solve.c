/* stickslip._core.solve: a complementarity problem alone. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* (kind, size, lower, upper, cone, directions, mu, extra) of each block, in the order of the rows */
static ss_block *read_blocks(PyObject *list, int *n) {
  *n = (int)PyList_Size(list);
  ss_block *blocks = calloc((size_t)*n + 1, sizeof *blocks);
  int first = 0;
  for (int i = 0; blocks && i < *n; i++) {
    int kind, cone;
    ss_block *b = &blocks[i];
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "iiddiidd", &kind, &b->size, &b->lower, &b->upper, &cone,
                          &b->directions, &b->mu, &b->extra)) {
      free(blocks);
      return NULL;
    }
    b->kind = (ss_block_kind)kind;
    b->cone = (ss_cone)cone;
    b->first = first;
    first += b->size;
  }
  if (!blocks) (void)PyErr_NoMemory();
  return blocks;
}

/* solve(n, G, indptr, indices, g, blocks, solver, tolerance, limit, guess): G is dense where indptr is empty */
PyObject *core_solve(PyObject *self, PyObject *args) {
  (void)self;
  int n, limit;
  const char *G, *indptr, *indices, *g, *solver, *guess;
  Py_ssize_t nG, n_indptr, n_indices, ng, n_guess;
  double tolerance;
  PyObject *list;
  if (!PyArg_ParseTuple(args, "iy#y#y#y#O!sdiy#", &n, &G, &nG, &indptr, &n_indptr, &indices, &n_indices, &g, &ng,
                        &PyList_Type, &list, &solver, &tolerance, &limit, &guess, &n_guess))
    return NULL;
  int n_blocks;
  ss_block *blocks = read_blocks(list, &n_blocks);
  if (!blocks) return NULL;
  const ss_sparse sparse = {n, n, (const int *)(const void *)indptr, (const int *)(const void *)indices,
                            (const double *)(const void *)G};
  const ss_cp problem = {.n = n,
                         .n_blocks = n_blocks,
                         .G = n_indptr ? NULL : (const double *)(const void *)G,
                         .g = (const double *)(const void *)g,
                         .blocks = blocks,
                         .sparse = n_indptr ? &sparse : NULL};
  ss_cp_options options = ss_cp_options_default();
  Watch watch = {.last = core_seconds(), .main_thread = true};
  options.solver = solver;
  if (tolerance > 0) options.tolerance = tolerance;
  options.iteration_limit = limit;
  options.stop = core_interrupted;
  options.stop_user = &watch;
  ss_error error = {.status = SS_OK};
  ss_cp_workspace *workspace = NULL;
  ss_cp_result result = {.residual = 0};
  double *numbers = calloc(2 * (size_t)n + 1, sizeof *numbers);
  ss_status status = numbers ? ss_cp_validate(&problem, &error) : ss_fail(&error, SS_ERROR_MEMORY, "out of memory");
  if (!status) status = ss_cp_workspace_create(&workspace, &error);
  const bool warm = n_guess == (Py_ssize_t)sizeof(double) * n && n_guess > 0;
  if (!status && warm) memcpy(numbers, guess, (size_t)n_guess);
  const double start = core_seconds();
  Py_BEGIN_ALLOW_THREADS;
  if (!status) status = ss_cp_solve(&problem, &options, warm, numbers, workspace, &result, &error);
  if (!status) result.residual = ss_cp_judge(&problem, numbers, numbers + n);
  Py_END_ALLOW_THREADS;
  const double spent = core_seconds() - start;
  ss_cp_workspace_destroy(workspace);
  PyObject *answer = NULL;
  if (status)
    (void)core_raise(&error);
  else if (!watch.raised)
    answer = Py_BuildValue(
        "{s:y#,s:y#,s:s,s:d,s:i,s:s,s:O,s:d}", "z", (const char *)numbers, (Py_ssize_t)sizeof(double) * n, "w",
        (const char *)(numbers + n), (Py_ssize_t)sizeof(double) * n, "status", ss_outcome_name(result.outcome),
        "residual", result.residual, "iterations", result.iterations, "solver", result.solver ? result.solver : solver,
        "no_solution", result.no_solution ? Py_True : Py_False, "seconds", spent);
  free(numbers);
  free(blocks);
  return answer;
}

/* The names that `solver` may have. */
PyObject *core_solvers(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  PyObject *list = PyList_New(0);
  for (const ss_cp_solver_info *row = ss_cp_solvers(); list && row->name; row++)
    if (!core_append(list, PyUnicode_FromString(row->name))) Py_CLEAR(list);
  return list;
}
