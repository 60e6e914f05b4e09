/* Solves random problems of every class of tests/cp_random.h and prints what fails.
 *
 * usage: random_problems [FROM TO [CLASS [ROWS [FOLDER]]]]   seeds FROM .. TO - 1 of the classes whose name holds CLASS, or of
 * all; at most about ROWS rows; FOLDER receives the problems that failed or were slow
 *
 * One line per class: how many were solved, the median and the longest time in milliseconds, the worst residual. */
#include "cp_random.h"

#include <stdio.h>
#include <time.h>

static double milliseconds(void) { return 1e3 * (double)clock() / CLOCKS_PER_SEC; }

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool enumerated(const owned_cp *p, ss_cp_workspace *w) {
  ss_cp_diagnosis d;
  return ss_cp_diagnose(&p->cp, 1e-9, 0, w, &d, NULL) == SS_OK && d.solutions != SS_SET_NONE &&
         d.solutions != SS_SET_UNKNOWN;
}

/* The residual in units in which z and w are of size one: what the judge's would be there. */
static double relative(const owned_cp *p) {
  double z = 0, g = 0;
  double *w = numbers(p->cp.n);
  for (int i = 0; i < p->cp.n; i++) {
    z = fmax(z, fabs(p->z[i]));
    g = fmax(g, fabs(p->g[i]));
  }
  owned_cp s = owned_create(p->cp.n, p->cp.n_blocks);
  memcpy(s.G, p->G, sizeof(double) * (size_t)p->cp.n * (size_t)p->cp.n);
  memcpy(s.g, p->g, sizeof(double) * (size_t)p->cp.n);
  memcpy(s.blocks, p->blocks, sizeof(ss_block) * (size_t)p->cp.n_blocks);
  s.cp.n_blocks = p->cp.n_blocks;
  z = z > 0 ? z : 1;
  g = g > 0 ? g : 1;
  change_units(&s, z, g);
  for (int i = 0; i < p->cp.n; i++) s.z[i] = p->z[i] / z;
  const double residual = ss_cp_judge(&s.cp, s.z, w);
  owned_free(&s);
  free(w);
  return residual;
}

static bool right(const owned_cp *p, existence e, const ss_cp_result *r, double scaled, ss_cp_workspace *w) {
  const bool solved = r->outcome == SS_SOLVED && scaled <= 1e-9;
  if (e == HAS_PERHAPS) return solved || !enumerated(p, w);
  return e == HAS_SOLUTION ? solved : r->outcome == SS_RAY;
}

static int run_class(const random_class *given, int from, int to, int rows, const char *folder, ss_cp_workspace *w) {
  random_class limited = *given;
  const random_class *c = &limited;
  if (limited.most > rows) limited.most = rows;
  double *times = numbers(to - from), worst = 0;
  int failed = 0;
  ss_cp_options options = ss_cp_options_default();
  for (int seed = from; seed < to; seed++) {
    owned_cp p = random_problem(c, (uint64_t)seed);
    ss_cp_result r;
    const double start = milliseconds();
    if (ss_cp_validate(&p.cp, NULL) || ss_cp_solve(&p.cp, &options, false, p.z, w, &r, NULL)) abort();
    times[seed - from] = milliseconds() - start;
    const double scaled = relative(&p);
    const bool good = right(&p, c->solutions, &r, scaled, w);
    if (good && r.outcome == SS_SOLVED) worst = fmax(worst, scaled);
    failed += !good;
    if (!good || times[seed - from] > 1000) {
      printf("  %s %s %d: %d rows, %s by %s, residual %.2g (rounding %.2g) scaled %.2g, %d iterations, %d fallbacks, "
             "%.1f ms\n",
             good ? "SLOW" : "FAILED", c->name, seed, p.cp.n, ss_outcome_name(r.outcome), r.solver, r.residual,
             attainable(&p), scaled, r.iterations, r.fallbacks, times[seed - from]);
      char path[1024];
      (void)snprintf(path, sizeof path, "%s/%s-%d.problem", folder ? folder : "", c->name, seed);
      if (folder && ss_cp_write(&p.cp, path, NULL)) abort();
      (void)fflush(stdout);
    }
    owned_free(&p);
  }
  qsort(times, (size_t)(to - from), sizeof *times, by_size);
  printf("%-18s %5d of %5d  median %8.3f ms  longest %9.1f ms  worst residual %.1e\n", c->name, to - from - failed,
         to - from, times[(to - from) / 2], times[to - from - 1], worst);
  (void)fflush(stdout);
  free(times);
  return failed;
}

int main(int argc, char **argv) {
  const int from = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0, to = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 100;
  const int rows = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 300;
  ss_cp_workspace *w;
  int failed = 0;
  if (from >= to || ss_cp_workspace_create(&w, NULL)) return 2;
  for (int k = 0; k < RANDOM_CLASSES; k++)
    if (argc < 4 || strcmp(argv[3], "all") == 0 || strstr(random_classes[k].name, argv[3]))
      failed += run_class(&random_classes[k], from, to, rows, argc > 5 ? argv[5] : NULL, w);
  ss_cp_workspace_destroy(w);
  return failed > 0;
}
