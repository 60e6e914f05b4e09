/* Comparison with Siconos numerics on problem files: time and residual of our ladder beside those of its solvers.
 *
 * Not part of the normal build: it needs the Debian package libsiconos-numerics-dev (bench/siconos.sh builds and runs it).
 * All z are judged by ss_cp_judge. A Siconos solver runs in a process of its own, with a time limit, because some of
 * them print, exit or do not end. */
#include <stickslip/cp.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <SolverOptions.h>
#include <lcp_cst.h>

enum { SECONDS = 30, ITERATIONS = 100000 };
static const double tolerance = 1e-10, good = 1e-9;

typedef struct verdict {
  double seconds, residual;
} verdict;

typedef enum family { LCP, FRICTION_2D, FRICTION_3D } family;

typedef struct foreign {
  const char *name;
  family family;
  int id;
} foreign;

static const foreign solvers[] = {
    {"LCP Lemke", LCP, SICONOS_LCP_LEMKE},
    {"LCP pivot", LCP, SICONOS_LCP_PIVOT},
    {"2D NSGS", FRICTION_2D, SICONOS_FRICTION_2D_NSGS},
    {"2D Lemke", FRICTION_2D, SICONOS_FRICTION_2D_LEMKE},
    {"3D NSGS", FRICTION_3D, SICONOS_FRICTION_3D_NSGS},
    {"3D Newton AC", FRICTION_3D, SICONOS_FRICTION_3D_NSN_AC},
    {"3D Newton FB", FRICTION_3D, SICONOS_FRICTION_3D_NSN_FB},
    {"3D prox", FRICTION_3D, SICONOS_FRICTION_3D_PROX},
    {"3D ADMM", FRICTION_3D, SICONOS_FRICTION_3D_ADMM},
};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static SolverOptions *new_options(int id) {
  SolverOptions *options = solver_options_create(id);
  options->dparam[SICONOS_DPARAM_TOL] = tolerance;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = ITERATIONS;
  return options;
}

/* The shortest of several solves. */
static double time_foreign(const foreign *f, void *problem, double *z, double *w, int n) {
  double spent = 0, shortest = HUGE_VAL;
  int count = 0;
  while (count == 0 || (spent < 0.02 && count < 1000)) {
    SolverOptions *options = new_options(f->id);
    memset(z, 0, sizeof *z * (size_t)n);
    memset(w, 0, sizeof *w * (size_t)n);
    const double start = now();
    if (f->family == LCP)
      (void)linearComplementarity_driver(problem, z, w, options);
    else if (f->family == FRICTION_2D)
      (void)fc2d_driver(problem, z, w, options);
    else
      (void)fc3d_driver(problem, z, w, options);
    const double taken = now() - start;
    shortest = fmin(shortest, taken);
    spent += taken;
    count++;
    solver_options_delete(options);
  }
  return shortest;
}

static void run_child(const foreign *f, const char *path, const ss_cp *cp, int pipe_end) {
  (void)!freopen("/dev/null", "w", stdout);
  (void)!freopen("/dev/null", "w", stderr);
  (void)alarm(SECONDS);
  double *z = calloc((size_t)cp->n, sizeof *z), *w = calloc((size_t)cp->n, sizeof *w);
  verdict v;
  if (f->family == LCP) {
    LinearComplementarityProblem *problem = malloc(sizeof *problem);
    (void)linearComplementarity_newFromFilename(problem, path);
    v.seconds = time_foreign(f, problem, z, w, cp->n);
  } else {
    v.seconds = time_foreign(f, frictionContact_new_from_filename(path), z, w, cp->n);
  }
  v.residual = ss_cp_judge(cp, z, NULL);
  (void)!write(pipe_end, &v, sizeof v);
  _exit(0);
}

static verdict run_foreign(const foreign *f, const char *path, const ss_cp *cp) {
  verdict v = {HUGE_VAL, HUGE_VAL};
  int ends[2];
  if (pipe(ends)) return v;
  (void)fflush(stdout);
  const pid_t child = fork();
  if (child == 0) run_child(f, path, cp, ends[1]);
  (void)close(ends[1]);
  if (read(ends[0], &v, sizeof v) != (ssize_t)sizeof v) v = (verdict){HUGE_VAL, HUGE_VAL};
  (void)close(ends[0]);
  (void)waitpid(child, NULL, 0);
  return v;
}

static verdict run_ours(const ss_cp *cp, const char **by) {
  ss_cp_workspace *workspace = NULL;
  ss_cp_result r = {.residual = HUGE_VAL, .solver = "-"};
  const ss_cp_options options = ss_cp_options_default();
  double *z = calloc((size_t)cp->n + 1, sizeof *z), spent = 0, shortest = HUGE_VAL;
  int count = 0;
  if (z && !ss_cp_workspace_create(&workspace, NULL))
    while (count == 0 || (spent < 0.02 && count < 1000)) {
      const double start = now();
      if (ss_cp_solve(cp, &options, false, z, workspace, &r, NULL)) break;
      const double taken = now() - start;
      shortest = fmin(shortest, taken);
      spent += taken;
      count++;
    }
  *by = r.solver;
  ss_cp_workspace_destroy(workspace);
  free(z);
  return (verdict){shortest, r.residual};
}

static bool family_of(const ss_cp_file *file, family *out) {
  if (strcmp(file->kind, "lcp") == 0)
    *out = LCP;
  else if (strcmp(file->kind, "friction") == 0 && file->problem.n_blocks)
    *out = file->problem.blocks[0].size == 2 ? FRICTION_2D : FRICTION_3D;
  else
    return false;
  return true;
}

static void compare(const char *path) {
  ss_cp_file file;
  family kind;
  if (ss_cp_read(path, &file, NULL)) return;
  if (family_of(&file, &kind)) {
    const char *name = strrchr(path, '/'), *by;
    const verdict ours = run_ours(&file.problem, &by);
    (void)printf("| %s | %d | %s %.1f us, %.0e |", name ? name + 1 : path, file.problem.n, by, 1e6 * ours.seconds,
                 ours.residual);
    double fastest = HUGE_VAL;
    for (int k = 0; k < SOLVERS; k++) {
      if (solvers[k].family != kind) continue;
      const verdict v = run_foreign(&solvers[k], path, &file.problem);
      if (v.residual <= good && v.seconds < fastest) fastest = v.seconds;
      if (v.seconds < HUGE_VAL)
        (void)printf(" %s %.1f us, %.0e;", solvers[k].name, 1e6 * v.seconds, v.residual);
      else
        (void)printf(" %s: no answer;", solvers[k].name);
    }
    if (fastest < HUGE_VAL)
      (void)printf(" | %.1f |\n", fastest / ours.seconds);
    else
      (void)printf(" | none reaches 1e-9 |\n");
    (void)fflush(stdout);
  }
  ss_cp_file_release(&file);
}

int main(int argc, char **argv) {
  (void)printf(
      "| problem | rows | stickslip auto: time, residual | Siconos: time, residual | its fastest good one / ours |\n"
      "|---|---|---|---|---|\n");
  for (int i = 1; i < argc; i++) compare(argv[i]);
  return 0;
}
