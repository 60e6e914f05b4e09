/* stickslip solve: complementarity problems from files, solved and judged. */
#include "commands.h"
#include "json.h"
#include "solve_diagnosis.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct solve_request {
  const char *solver;
  double tolerance;
  long limit;
  double relaxation;
  const char *order;
  bool all_solvers, all_solutions, diagnose, json;
  bool headed; /* the columns have their names */
} solve_request;

typedef struct solve_job {
  const solve_request *request;
  const char *path;
  const ss_cp_file *file;
  ss_cp_workspace *workspace;
  double *z, *w, *ray;              /* [n] */
  double margin;                    /* by which `ray` shows that there is no solution; 0: it does not */
  const ss_cp_diagnosis *diagnosis; /* NULL: none was made */
  bool enumerates;                  /* all solutions are wanted with the next result */
} solve_job;

/* The solvers know no file. */
static int report_file_error(const solve_job *job, ss_error *error) {
  if (!error->file[0]) (void)snprintf(error->file, sizeof error->file, "%s", job->path);
  return report_error(error);
}

static json_t *result_json(const solve_job *job, const char *solver, const ss_cp_result *r, double seconds) {
  json_t *object = json_pack("{s:o, s:s, s:i, s:s, s:s, s:s, s:o, s:i, s:i, s:o, s:o}", "file", json_text(job->path),
                             "kind", job->file->kind, "n", job->file->problem.n, "solver", solver, "solved_by",
                             r->solver, "status", ss_outcome_name(r->outcome), "residual", json_number(r->residual),
                             "iterations", r->iterations, "fallbacks", r->fallbacks, "seconds", json_number(seconds),
                             "z", json_numbers(job->z, job->file->problem.n));
  if (object && r->outcome == SS_SOLVED) (void)json_object_set_new(object, "selected", json_boolean(r->selected));
  if (object && r->outcome != SS_SOLVED)
    (void)json_object_set_new(object, "no_solution", json_boolean(r->no_solution || job->margin > 0));
  if (object && job->margin > 0) {
    (void)json_object_set_new(object, "ray", json_numbers(job->ray, job->file->problem.n));
    (void)json_object_set_new(object, "ray_margin", json_number(job->margin));
  }
  if (object && job->diagnosis) (void)json_object_set_new(object, "diagnosis", diagnosis_json(job->diagnosis));
  return object;
}

/* One object per line, whole and at once, so that a long list of problems can be followed, and read where it is cut off. */
static int print_line(json_t *object) {
  char *line = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
  json_decref(object);
  if (!line) return usage_error("out of memory");
  const bool failed = fputs(line, stdout) == EOF || putchar('\n') == EOF || fflush(stdout);
  free(line);
  return failed ? usage_error("cannot write to standard output") : EXIT_DONE;
}

static void print_header(void) {
  (void)printf("%-52s %-16s %6s  %-22s %-12s %8s %10s %9s\n", "problem", "kind", "rows", "solver", "status", "residual",
               "iterations", "seconds");
}

/* Small answers are shown; --json has all of them. */
enum { SHOWN = 12 };

static void print_numbers(const char *name, const double *x, int n) {
  (void)printf("  %s =", name);
  for (int i = 0; i < n; i++) (void)printf(" %.10g", x[i] + 0.0); /* no -0 */
  (void)printf("\n");
}

static void print_proof(const solve_job *job) {
  (void)printf(
      "  there is no solution: y . (G z + g) < 0 for every z that is allowed, y . w >= 0 for every w (margin %.1g)\n",
      job->margin);
  if (job->file->problem.n <= SHOWN) print_numbers("y", job->ray, job->file->problem.n);
}

static void print_result(const solve_job *job, const char *solver, const ss_cp_result *r, double seconds) {
  const int n = job->file->problem.n;
  char by[64]; /* which one of the ladder it was */
  (void)snprintf(by, sizeof by, "%s%s", strcmp(solver, r->solver) != 0 ? "auto: " : "", r->solver);
  (void)printf("%-52s %-16s %6d  %-22s %-12s %8.1e %10d %9.1e\n", job->path, job->file->kind, n, by,
               ss_outcome_name(r->outcome), r->residual, r->iterations, seconds);
  if (job->margin > 0)
    print_proof(job);
  else if (r->no_solution)
    (void)printf("  there is no solution: the inequalities contradict each other\n");
  if (r->outcome != SS_SOLVED || n > SHOWN || job->request->all_solvers || job->request->all_solutions) return;
  print_numbers("z", job->z, n);
}

static const char *const orders[] = {"given", "breadth", "shuffled"}; /* as in ss_cp_order */

static int order_of(const char *name) {
  for (int k = 0; k < 3; k++)
    if (strcmp(name, orders[k]) == 0) return k;
  return -1;
}

typedef struct solution_sink {
  const solve_job *job;
  json_t *list, *states; /* NULL: print */
} solution_sink;

static void on_solution(void *user, const double *z) {
  const solution_sink *sink = user;
  const ss_cp *problem = &sink->job->file->problem;
  (void)ss_cp_judge(problem, z, sink->job->w);
  if (sink->list) {
    (void)json_array_append_new(sink->list, json_numbers(z, problem->n));
    (void)json_array_append_new(sink->states, states_json(problem, z, sink->job->w));
    return;
  }
  (void)printf("%s:", sink->job->path);
  for (int i = 0; i < problem->n; i++) (void)printf(" %.17g", z[i]);
  (void)printf("   ");
  print_states(problem, z, sink->job->w);
  (void)printf("\n");
}

/* All solutions: printed, or put into the object (not NULL). */
static int enumerate(const solve_job *job, json_t *object) {
  ss_error error = {0};
  int count = 0;
  solution_sink sink = {job, object ? json_array() : NULL, object ? json_array() : NULL};
  const double start = wall_clock();
  if (ss_cp_all_solutions(&job->file->problem, job->request->tolerance, job->workspace, on_solution, &sink, &count,
                          &error)) {
    json_decref(sink.list);
    json_decref(sink.states);
    return report_file_error(job, &error);
  }
  if (!object) {
    const bool more = job->diagnosis && job->diagnosis->continuum;
    (void)printf("%s: %d solution%s%s\n", job->path, count, count == 1 ? "" : "s",
                 more ? ", not isolated: there are more between or beyond them" : "");
    (void)fflush(stdout);
    return EXIT_DONE;
  }
  json_t *found = json_pack("{s:i, s:o, s:o, s:o}", "count", count, "solutions", sink.list, "states", sink.states,
                            "enumeration_seconds", json_number(wall_clock() - start));
  const int failed = found ? json_object_update(object, found) : -1;
  json_decref(found);
  return failed ? usage_error("out of memory") : EXIT_DONE;
}

/* The result, and with --all-solutions the others; then it is the enumeration that decides about success. */
static int show(const solve_job *job, const char *solver, const ss_cp_result *result, double seconds) {
  int code = result->outcome == SS_SOLVED ? EXIT_DONE : EXIT_FAILED;
  json_t *object = job->request->json ? result_json(job, solver, result, seconds) : NULL;
  if (job->request->json && !object) return usage_error("out of memory");
  if (!object) print_result(job, solver, result, seconds);
  (void)fflush(stdout);
  if (job->enumerates) code = enumerate(job, object);
  if (object && code != EXIT_USAGE && print_line(object) != EXIT_DONE) return EXIT_USAGE;
  if (object && code == EXIT_USAGE) json_decref(object);
  return code;
}

enum { MOST_PROVED = 1000 }; /* rows up to which a proof that there is no solution is looked for */

/* Solves once, and again where that took too short a time to be measured. Where there is no solution, a proof is wanted. */
static int solve_one(solve_job *job, const char *solver) {
  const solve_request *request = job->request;
  const ss_cp_options options = {.solver = solver,
                                 .tolerance = request->tolerance,
                                 .iteration_limit = (int)request->limit,
                                 .relaxation = request->relaxation,
                                 .order = (ss_cp_order)order_of(request->order)};
  ss_cp_result result;
  ss_error error = {0};
  double seconds = 0;
  int repetitions = 0;
  const double start = wall_clock();
  do {
    const ss_status status = ss_cp_solve(&job->file->problem, &options, false, job->z, job->workspace, &result, &error);
    if (status) return report_file_error(job, &error);
    seconds = wall_clock() - start;
  } while (++repetitions < 100 && seconds < 1e-3);
  job->margin = 0;
  if (result.outcome != SS_SOLVED && job->file->problem.n <= MOST_PROVED &&
      ss_cp_find_ray(&job->file->problem, job->workspace, job->ray, &job->margin, &error))
    return report_file_error(job, &error);
  return show(job, solver, &result, seconds / repetitions);
}

/* With --diagnose everything that can be found out; else what is cheap, shown in JSON, and in words only where it is not
 * the usual answer. */
static int diagnose(solve_job *job, ss_cp_diagnosis *d) {
  enum { CHEAP = 4096 };
  const solve_request *request = job->request;
  ss_error error = {0};
  if (!request->diagnose && !diagnosis_is_cheap(&job->file->problem)) return EXIT_DONE;
  const int effort = request->diagnose ? 0 : CHEAP;
  if (ss_cp_diagnose(&job->file->problem, request->tolerance, effort, job->workspace, d, &error))
    return report_file_error(job, &error);
  job->diagnosis = d;
  const bool usual = d->solutions == SS_SET_ONE || d->solutions == SS_SET_SOME;
  if (!request->json && (request->diagnose || !usual)) print_diagnosis(job->path, d);
  return EXIT_DONE;
}

static int solve_every_way(solve_job *job) {
  int code = EXIT_DONE;
  for (const ss_cp_solver_info *s = ss_cp_solvers(); s->name && code != EXIT_USAGE; s++) {
    const int one = solve_one(job, s->name);
    if (one == EXIT_USAGE || s == ss_cp_solvers()) code = one; /* the ladder decides, the others may fail */
    job->diagnosis = NULL;                                     /* once is enough */
    job->enumerates = false;
  }
  return code;
}

static int solve_file(solve_request *request, const char *path, ss_cp_workspace *workspace) {
  ss_error error = {0};
  ss_cp_file file;
  if (ss_cp_read(path, &file, &error)) return report_error(&error);
  if (!request->json && !request->headed) print_header();
  request->headed = true;
  const size_t n = (size_t)file.problem.n;
  double *z = calloc(3 * n + 1, sizeof *z);
  ss_cp_diagnosis diagnosis;
  solve_job job = {.request = request, .path = path, .file = &file, .workspace = workspace, .z = z};
  job.enumerates = request->all_solutions;
  job.w = z ? z + n : NULL;
  job.ray = z ? z + 2 * n : NULL;
  int code = z ? diagnose(&job, &diagnosis) : usage_error("out of memory");
  if (code == EXIT_DONE)
    code = request->all_solvers ? solve_every_way(&job) : solve_one(&job, request->solver ? request->solver : "auto");
  free(z);
  ss_cp_file_release(&file);
  return code;
}

static bool known_solver(const char *name) {
  for (const ss_cp_solver_info *s = ss_cp_solvers(); s->name; s++)
    if (strcmp(s->name, name) == 0) return true;
  return false;
}

int command_solve(int argc, char **argv) {
  const ss_cp_options defaults = ss_cp_options_default();
  solve_request request = {.tolerance = defaults.tolerance, .relaxation = 1, .order = orders[0]};
  const option options[] = {
      {"solver", OPTION_TEXT, &request.solver, "X", "the solver (stickslip list solvers); default auto"},
      {"all-solvers", OPTION_FLAG, &request.all_solvers, NULL, "try every solver; the exit code is that of auto"},
      {"all-solutions", OPTION_FLAG, &request.all_solutions, NULL, "list all solutions too (small problems)"},
      {"diagnose", OPTION_FLAG, &request.diagnose, NULL,
       "classes of the matrix, and what is known about the solutions"},
      {"tolerance", OPTION_NUMBER, &request.tolerance, "T", "residual that counts as solved; default 1e-10"},
      {"iterations", OPTION_COUNT, &request.limit, "N", "iteration limit; default: the solver's own"},
      {"relaxation", OPTION_NUMBER, &request.relaxation, "F",
       "length of a contact's step in the sweeps of nsgs and nsgs-sparse, above 0 and below 2; default 1"},
      {"order", OPTION_TEXT, &request.order, "ORDER",
       "of the contacts in these sweeps: given (default), breadth or shuffled"},
      {"json", OPTION_FLAG, &request.json, NULL, "one JSON object per line and problem"},
      {0}};
  const usage command_line = {"solve",
                              "PROBLEM...",
                              1,
                              argc,
                              "Solves complementarity problems from files (docs/problem-format.md lists the formats) "
                              "and judges the result from the problem's data.",
                              options,
                              "  stickslip solve failed.problem --all-solvers\n"
                              "  stickslip solve failed.problem --diagnose\n"
                              "  stickslip solve *.dat --json\n"};
  const char **paths = calloc((size_t)argc + 1, sizeof *paths);
  if (!paths) return usage_error("out of memory");
  int code = parse_options(&command_line, argc, argv, paths);
  ss_error error = {0};
  ss_cp_workspace *workspace = NULL;
  if (code == PARSE_GO_ON) {
    code = EXIT_DONE;
    if (request.solver && request.all_solvers)
      code = usage_error("solve: --solver and --all-solvers exclude one another");
    else if (request.solver && !known_solver(request.solver))
      code = usage_error("solve: unknown solver '%s'; see stickslip list solvers", request.solver);
    else if (!(request.tolerance > 0))
      code = usage_error("solve: --tolerance must be positive");
    else if (request.limit > INT_MAX)
      code = usage_error("solve: --iterations must be at most %d", INT_MAX);
    else if (!(request.relaxation > 0 && request.relaxation < 2))
      code = usage_error("solve: --relaxation must lie between 0 and 2");
    else if (order_of(request.order) < 0)
      code = usage_error("solve: --order is given, breadth or shuffled, not '%s'", request.order);
    else if (ss_cp_workspace_create(&workspace, &error))
      code = report_error(&error);
    for (const char **path = paths; workspace && *path; path++) {
      const int one = solve_file(&request, *path, workspace);
      if (one > code) code = one;
    }
  }
  ss_cp_workspace_destroy(workspace);
  free(paths);
  return code;
}
