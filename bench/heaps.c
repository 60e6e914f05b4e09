/* One random packing (bench/heap.h) solved by "auto" or SOLVER, as a row of a Markdown table.
 *
 * usage: bench_heaps SPHERES [NAME=VALUE]... [solver=NAME] [write=FILE]
 * names: slenderness spread density skin mu shaking restitution rate seed; write: the problem goes to a file, nothing is solved */
#include "heap.h"

#include <stdio.h>
#include <sys/resource.h>

static double cpu_seconds(void) {
  struct rusage use;
  (void)getrusage(RUSAGE_SELF, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static bool set(heap_spec *spec, const char *text) {
  const struct {
    const char *name;
    double *value;
  } numbers[] = {{"slenderness=", &spec->slenderness},
                 {"spread=", &spec->spread},
                 {"density=", &spec->density},
                 {"skin=", &spec->skin},
                 {"mu=", &spec->mu},
                 {"shaking=", &spec->shaking},
                 {"restitution=", &spec->restitution},
                 {"rate=", &spec->rate}};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    if (strncmp(text, numbers[k].name, strlen(numbers[k].name)) == 0) {
      *numbers[k].value = strtod(text + strlen(numbers[k].name), NULL);
      return true;
    }
  if (strncmp(text, "seed=", 5) != 0) return false;
  spec->seed = strtoull(text + 5, NULL, 10);
  return true;
}

int main(int argc, char **argv) {
  heap_spec spec = {.slenderness = 1, .spread = 1.2, .density = 1, .skin = 0.02, .mu = 0.4, .seed = 1};
  const char *solver = "auto", *path = NULL;
  char text[160] = "";
  if (argc < 2) {
    (void)fprintf(stderr, "usage: bench_heaps SPHERES [NAME=VALUE]... [solver=NAME] [write=FILE]\n");
    return 2;
  }
  spec.spheres = (int)strtol(argv[1], NULL, 10);
  for (int i = 2; i < argc; i++) {
    if (strncmp(argv[i], "solver=", 7) == 0)
      solver = argv[i] + 7;
    else if (strncmp(argv[i], "write=", 6) == 0)
      path = argv[i] + 6;
    else if (!set(&spec, argv[i]))
      return 2;
    else
      (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? ", " : "", argv[i]);
  }
  packing p;
  ss_cp_workspace *w = NULL;
  ss_error error = {0};
  if (!heap_create(&p, &spec) || ss_cp_workspace_create(&w, &error)) {
    (void)fprintf(stderr, "out of memory\n");
    return 2;
  }
  if (path) return ss_cp_write(&p.cp, path, &error) != SS_OK;
  const ss_cp_options options = {.solver = solver, .tolerance = 1e-8};
  ss_cp_result result = {0};
  const double start = cpu_seconds();
  const ss_status status = ss_cp_solve(&p.cp, &options, false, p.z, w, &result, &error);
  const double seconds = cpu_seconds() - start;
  struct rusage use;
  (void)getrusage(RUSAGE_SELF, &use);
  (void)printf("| %d | %s | %d | %d | %.2f | %.0f | %.0f | %s | %.1e |\n", spec.spheres, *text ? text : "at rest",
               p.contacts, result.iterations, seconds, 1e6 * seconds / p.contacts, (double)use.ru_maxrss / 1024,
               ss_outcome_name(result.outcome), result.residual);
  ss_cp_workspace_destroy(w);
  packing_free(&p);
  return status != SS_OK;
}
