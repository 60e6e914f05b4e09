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
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <lcp_cst.h>

enum { ITERATIONS = 100000 };
static const double tolerance = 1e-10, good = 1e-9;

typedef struct verdict {
  double seconds, residual;
} verdict;

/* FRICTION_LCP: polyhedral friction, which Siconos sees as an LCP (Stewart & Trinkle 1996). */
typedef enum family { LCP, FRICTION_LCP, FRICTION_2D, FRICTION_3D } family;

typedef struct foreign {
  const char *name;
  family family;
  int id;
} foreign;

static const foreign solvers[] = {
    {"LCP Lemke", LCP, SICONOS_LCP_LEMKE},
    {"LCP pivot", LCP, SICONOS_LCP_PIVOT},
    {"LCP pivot LU", LCP, SICONOS_LCP_PIVOT_LUMOD},
    {"LCP Bard", LCP, SICONOS_LCP_BARD},
    {"LCP Murty", LCP, SICONOS_LCP_MURTY},
    {"LCP path search", LCP, SICONOS_LCP_PATHSEARCH},
    {"LCP Cao-Ferris", LCP, SICONOS_LCP_AVI_CAOFERRIS},
    {"LCP PGS", LCP, SICONOS_LCP_PGS},
    {"LCP PGS regularised", LCP, SICONOS_LCP_RPGS},
    {"LCP CPG", LCP, SICONOS_LCP_CPG},
    {"LCP Newton min", LCP, SICONOS_LCP_NEWTONMIN},
    {"LCP Newton min LS", LCP, SICONOS_LCP_NEWTON_MIN_FBLSA},
    {"LCP Newton FB", LCP, SICONOS_LCP_NEWTON_FB_FBLSA},
    {"LCP QP", LCP, SICONOS_LCP_QP},
    {"LCP NSQP", LCP, SICONOS_LCP_NSQP},
    {"LCP enumeration", LCP, SICONOS_LCP_ENUM},
    {"2D NSGS", FRICTION_2D, SICONOS_FRICTION_2D_NSGS},
    {"2D CPG", FRICTION_2D, SICONOS_FRICTION_2D_CPG},
    {"2D Lemke", FRICTION_2D, SICONOS_FRICTION_2D_LEMKE},
    {"2D enumeration", FRICTION_2D, SICONOS_FRICTION_2D_ENUM},
    {"3D NSGS", FRICTION_3D, SICONOS_FRICTION_3D_NSGS},
    {"3D NSGS velocities", FRICTION_3D, SICONOS_FRICTION_3D_NSGSV},
    {"3D Newton AC", FRICTION_3D, SICONOS_FRICTION_3D_NSN_AC},
    {"3D Newton FB", FRICTION_3D, SICONOS_FRICTION_3D_NSN_FB},
    {"3D Newton NM", FRICTION_3D, SICONOS_FRICTION_3D_NSN_NM},
    {"3D prox", FRICTION_3D, SICONOS_FRICTION_3D_PROX},
    {"3D ADMM", FRICTION_3D, SICONOS_FRICTION_3D_ADMM},
    {"3D Tresca", FRICTION_3D, SICONOS_FRICTION_3D_TFP},
    {"3D ACLM", FRICTION_3D, SICONOS_FRICTION_3D_ACLMFP},
    {"3D SOCLCP", FRICTION_3D, SICONOS_FRICTION_3D_SOCLCP},
    {"3D De Saxce", FRICTION_3D, SICONOS_FRICTION_3D_DSFP},
    {"3D fixed point", FRICTION_3D, SICONOS_FRICTION_3D_FPP},
    {"3D extragradient", FRICTION_3D, SICONOS_FRICTION_3D_EG},
    {"3D hyperplane", FRICTION_3D, SICONOS_FRICTION_3D_HP},
    {"3D VI fixed point", FRICTION_3D, SICONOS_FRICTION_3D_VI_FPP},
    {"3D VI extragradient", FRICTION_3D, SICONOS_FRICTION_3D_VI_EG},
    {"3D Panagiotopoulos", FRICTION_3D, SICONOS_FRICTION_3D_PFP},
};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* both have one thread, and the machine may be busy */
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static SolverOptions *new_options(int id) {
  SolverOptions *options = solver_options_create(id);
  options->dparam[SICONOS_DPARAM_TOL] = tolerance;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = ITERATIONS;
  return options;
}

static void solve_foreign(const foreign *f, void *problem, double *z, double *w, int n, SolverOptions *options) {
  memset(z, 0, sizeof *z * (size_t)n);
  memset(w, 0, sizeof *w * (size_t)n);
  if (f->family == LCP || f->family == FRICTION_LCP)
    (void)linearComplementarity_driver(problem, z, w, options);
  else if (f->family == FRICTION_2D)
    (void)fc2d_driver(problem, z, w, options);
  else
    (void)fc3d_driver(problem, z, w, options);
}

/* Takes the time of batches of solves. The clock takes half a microsecond itself, and says the same twice now and then: batches grow until
 * they take long enough, and shorter ones do not count. */
typedef struct stopwatch {
  double start, shortest; /* when it began; seconds of one solve */
  int readings, batch;
} stopwatch;
enum { MOST = 1024, READINGS = 2 };
static const double brief = 5e-5, patience = 0.1;

static stopwatch new_stopwatch(void) { return (stopwatch){.start = now(), .shortest = HUGE_VAL, .batch = 1}; }

static bool goes_on(const stopwatch *s) { return s->readings < READINGS || now() - s->start < patience; }

static void take(stopwatch *s, double seconds) {
  if (seconds > 0 && (seconds >= brief || s->batch == MOST)) {
    s->shortest = fmin(s->shortest, seconds / s->batch);
    s->readings++;
  } else if (s->batch < MOST) {
    s->batch *= 2;
  }
}

/* The shortest of several solves. */
static double time_foreign(const foreign *f, void *problem, double *z, double *w, int n) {
  stopwatch s = new_stopwatch();
  while (goes_on(&s)) {
    SolverOptions *options[MOST];
    const int batch = s.batch;
    for (int k = 0; k < batch; k++) options[k] = new_options(f->id);
    const double start = now();
    for (int k = 0; k < batch; k++) solve_foreign(f, problem, z, w, n, options[k]);
    take(&s, now() - start);
    for (int k = 0; k < batch; k++) solver_options_delete(options[k]);
  }
  return s.shortest;
}

static NumericsMatrix *dense_matrix(const double *rows, int n) {
  double *columns = malloc(sizeof *columns * (size_t)n * (size_t)n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) columns[(size_t)j * (size_t)n + (size_t)i] = rows[(size_t)i * (size_t)n + (size_t)j];
  return NM_create_from_data(NM_DENSE, n, n, columns);
}

/* The matrix of a problem in any form, column by column, from the slacks w = G z + g of unit vectors. */
static const double *dense_rows(const ss_cp *cp) {
  if (cp->G) return cp->G;
  const size_t n = (size_t)cp->n;
  double *G = malloc(sizeof *G * n * n), *z = calloc(n, sizeof *z), *w = calloc(n, sizeof *w);
  for (size_t j = 0; j < n; j++) {
    z[j] = 1;
    (void)ss_cp_judge(cp, z, w);
    z[j] = 0;
    for (size_t i = 0; i < n; i++) G[i * n + j] = w[i] - cp->g[i];
  }
  free(z);
  free(w);
  return G;
}

static double *copy_of(const double *x, int n) {
  double *copy = malloc(sizeof *copy * (size_t)n);
  memcpy(copy, x, sizeof *copy * (size_t)n);
  return copy;
}

static FrictionContactProblem *friction_problem(const ss_cp *cp) {
  double *mu = malloc(sizeof *mu * (size_t)cp->n_blocks);
  for (int b = 0; b < cp->n_blocks; b++) mu[b] = cp->blocks[b].mu;
  return frictionContactProblem_new_with_data(cp->blocks[0].size, cp->n_blocks, dense_matrix(dense_rows(cp), cp->n),
                                              copy_of(cp->g, cp->n), mu);
}

/* z = E x: the normal impulse, one beta per direction, lambda (without a part in z). */
typedef struct expansion {
  int n;
  double *E; /* [cp->n][n] */
} expansion;

static expansion expand(const ss_cp *cp) {
  expansion e = {0};
  for (int b = 0; b < cp->n_blocks; b++) e.n += 2 + cp->blocks[b].directions;
  e.E = calloc((size_t)cp->n * (size_t)e.n, sizeof *e.E);
  for (int b = 0, x = 0; b < cp->n_blocks; b++) {
    const ss_block *block = &cp->blocks[b];
    double *row = e.E + (size_t)block->first * (size_t)e.n;
    row[x++] = 1;
    for (int k = 0; k < block->directions; k++, x++) {
      const double angle = 8 * atan(1.0) * k / block->directions;
      row[e.n + x] = cos(angle);
      row[2 * e.n + x] = sin(angle);
    }
    x++;
  }
  return e;
}

static LinearComplementarityProblem *friction_lcp(const ss_cp *cp, const expansion *e) {
  const size_t n = (size_t)cp->n, m = (size_t)e->n;
  const double *G = dense_rows(cp);
  double *GE = calloc(n * m, sizeof *GE), *M = calloc(m * m, sizeof *M), *q = calloc(m, sizeof *q);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      for (size_t k = 0; k < m; k++) GE[i * m + k] += G[i * n + j] * e->E[j * m + k];
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < m; k++) {
      if (e->E[i * m + k] == 0) continue;
      q[k] += e->E[i * m + k] * cp->g[i];
      for (size_t l = 0; l < m; l++) M[k * m + l] += e->E[i * m + k] * GE[i * m + l];
    }
  size_t x = 0;
  for (int b = 0; b < cp->n_blocks; b++) {
    const size_t k = (size_t)cp->blocks[b].directions, lambda = x + k + 1;
    M[lambda * m + x] = cp->blocks[b].mu;
    for (size_t d = x + 1; d < lambda; d++) {
      M[d * m + lambda] = 1;
      M[lambda * m + d] = -1;
    }
    x = lambda + 1;
  }
  free(GE);
  LinearComplementarityProblem *problem = malloc(sizeof *problem);
  *problem = (LinearComplementarityProblem){.size = e->n, .M = dense_matrix(M, e->n), .q = q};
  return problem;
}

static void *foreign_problem(const foreign *f, const char *path, const ss_cp *cp, bool own, const expansion *e) {
  if (f->family == FRICTION_LCP) return friction_lcp(cp, e);
  if (own) return friction_problem(cp);
  if (f->family != LCP) return frictionContact_new_from_filename(path);
  LinearComplementarityProblem *problem = malloc(sizeof *problem);
  (void)linearComplementarity_newFromFilename(problem, path);
  return problem;
}

static void run_child(const foreign *f, const char *path, const ss_cp *cp, bool own, int pipe_end) {
  (void)!freopen("/dev/null", "w", stdout);
  (void)!freopen("/dev/null", "w", stderr);
  const char *text = getenv("SICONOS_SECONDS");
  const double seconds = text ? strtod(text, NULL) : 30;
  const struct timeval limit = {(time_t)seconds, (suseconds_t)(1e6 * (seconds - floor(seconds)))};
  (void)setitimer(ITIMER_PROF, &(struct itimerval){.it_value = limit}, NULL); /* whose signal ends the process */
  const expansion e = f->family == FRICTION_LCP ? expand(cp) : (expansion){.n = cp->n};
  double *x = calloc((size_t)e.n, sizeof *x), *w = calloc((size_t)e.n, sizeof *w), *z = x;
  verdict v;
  v.seconds = time_foreign(f, foreign_problem(f, path, cp, own, &e), x, w, e.n);
  if (e.E) {
    z = calloc((size_t)cp->n, sizeof *z);
    for (int i = 0; i < cp->n; i++)
      for (int k = 0; k < e.n; k++) z[i] += e.E[(size_t)i * (size_t)e.n + (size_t)k] * x[k];
  }
  v.residual = ss_cp_judge(cp, z, NULL);
  (void)!write(pipe_end, &v, sizeof v);
  _exit(0);
}

static verdict run_foreign(const foreign *f, const char *path, const ss_cp *cp, bool own) {
  verdict v = {HUGE_VAL, HUGE_VAL};
  int ends[2];
  if (pipe(ends)) return v;
  (void)fflush(stdout);
  const pid_t child = fork();
  if (child == 0) run_child(f, path, cp, own, ends[1]);
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
  stopwatch s = new_stopwatch();
  double *z = calloc((size_t)cp->n + 1, sizeof *z);
  if (z && !ss_cp_workspace_create(&workspace, NULL))
    while (goes_on(&s)) {
      const double start = now();
      for (int k = 0; k < s.batch; k++)
        if (ss_cp_solve(cp, &options, false, z, workspace, &r, NULL)) break;
      take(&s, now() - start);
    }
  *by = r.solver;
  ss_cp_workspace_destroy(workspace);
  free(z);
  return (verdict){s.shortest, r.residual};
}

/* Contacts of three rows, all alike. */
static bool family_of_own(const ss_cp *cp, family *out) {
  for (int b = 0; b < cp->n_blocks; b++) {
    const ss_block *block = &cp->blocks[b], *first = &cp->blocks[0];
    if (block->kind != SS_BLOCK_FRICTION || block->size != 3 || block->extra != 0 || block->cone != first->cone)
      return false;
  }
  *out = cp->n_blocks && cp->blocks[0].cone == SS_CONE_QUADRATIC ? FRICTION_3D : FRICTION_LCP;
  return cp->n_blocks > 0 && cp->blocks[0].cone != SS_CONE_PYRAMID;
}

static bool family_of(const ss_cp_file *file, bool *own, family *out) {
  *own = strcmp(file->kind, "general") == 0;
  if (*own) return family_of_own(&file->problem, out);
  if (strcmp(file->kind, "lcp") == 0)
    *out = LCP;
  else if (strcmp(file->kind, "friction") == 0 && file->problem.n_blocks)
    *out = file->problem.blocks[0].size == 2 ? FRICTION_2D : FRICTION_3D;
  else
    return false;
  return true;
}

static int digits(double seconds) { return seconds < 1e-5 ? 2 : seconds < 1e-3 ? 1 : 0; } /* of microseconds */

static void print_ratio(double theirs, double ours) {
  if (theirs < HUGE_VAL)
    (void)printf(" | %.1f", theirs / ours);
  else
    (void)printf(" | none");
}

static void compare(const char *path) {
  ss_cp_file file;
  family kind;
  if (ss_cp_read(path, &file, NULL)) return;
  bool own;
  if (family_of(&file, &own, &kind)) {
    const char *name = strrchr(path, '/'), *by;
    const verdict ours = run_ours(&file.problem, &by);
    (void)printf("| %s | %d | %s %.*f us, %.0e |", name ? name + 1 : path, file.problem.n, by, digits(ours.seconds),
                 1e6 * ours.seconds, ours.residual);
    double fastest = HUGE_VAL, lemke = HUGE_VAL;
    foreign winner = {0};
    for (int k = 0; k < SOLVERS; k++) {
      foreign f = solvers[k];
      if (f.family != (kind == FRICTION_LCP ? LCP : kind)) continue;
      f.family = kind;
      const verdict v = run_foreign(&f, path, &file.problem, own);
      if (!(v.residual <= good)) continue;
      if (v.seconds < fastest) winner = f;
      fastest = fmin(fastest, v.seconds);
      if (f.id == SICONOS_LCP_LEMKE) lemke = v.seconds;
      (void)printf(" %s %.*f us, %.0e;", f.name, digits(v.seconds), 1e6 * v.seconds, v.residual);
    }
    /* a busy machine is slow for longer than a measurement takes: both are measured once more */
    if (fastest < HUGE_VAL) fastest = fmin(fastest, run_foreign(&winner, path, &file.problem, own).seconds);
    const double again = fmin(ours.seconds, run_ours(&file.problem, &by).seconds);
    print_ratio(fastest, again);
    print_ratio(lemke, again);
    (void)printf(" |\n");
    (void)fflush(stdout);
  }
  ss_cp_file_release(&file);
}

int main(int argc, char **argv) {
  (void)printf("| problem | rows | stickslip auto: time, residual | Siconos, where it reaches 1e-9 | its fastest / "
               "ours | its Lemke / ours |\n"
               "|---|---|---|---|---|---|\n");
  for (int i = 1; i < argc; i++) compare(argv[i]);
  return 0;
}
