/* One random packing (bench/heap.h) solved by "auto" or SOLVER, as a row of a Markdown table.
 *
 * usage: bench_heaps SPHERES [NAME=VALUE]... [solver=NAME] [write=FILE] [sparse]
 * names: slenderness spread density skin mu facets tilt shaking restitution rate seed; write: the problem goes to a file, nothing is solved;
 * sparse: without the factors J and A, as a sparse matrix G */
#include "cp/storage.h"
#include "heap.h"
#include "table_row.h"

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
                 {"rate=", &spec->rate},
                 {"tilt=", &spec->tilt}};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    if (strncmp(text, numbers[k].name, strlen(numbers[k].name)) == 0) {
      *numbers[k].value = strtod(text + strlen(numbers[k].name), NULL);
      return true;
    }
  if (strncmp(text, "facets=", 7) == 0) {
    spec->facets = (int)strtol(text + 7, NULL, 10);
    return true;
  }
  if (strncmp(text, "seed=", 5) != 0) return false;
  spec->seed = strtoull(text + 5, NULL, 10);
  return true;
}

int main(int argc, char **argv) {
  heap_spec spec = {.slenderness = 1, .spread = 1.2, .density = 1, .skin = 0.02, .mu = 0.4, .seed = 1};
  const char *solver = "auto", *path = NULL;
  bool sparse = false;
  char text[160] = "";
  if (argc < 2) {
    (void)fprintf(stderr, "usage: bench_heaps SPHERES [NAME=VALUE]... [solver=NAME] [write=FILE] [sparse]\n");
    return 2;
  }
  spec.spheres = (int)strtol(argv[1], NULL, 10);
  for (int i = 2; i < argc; i++) {
    if (strncmp(argv[i], "solver=", 7) == 0)
      solver = argv[i] + 7;
    else if (strncmp(argv[i], "write=", 6) == 0)
      path = argv[i] + 6;
    else if (strcmp(argv[i], "sparse") == 0)
      sparse = true;
    else if (!set(&spec, argv[i]))
      return 2;
    else
      (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? ", " : "", argv[i]);
  }
  packing p;
  ss_cp_workspace *w = NULL, *rows = NULL;
  ss_error error = {0};
  ss_sparse G;
  if (!heap_create(&p, &spec) || ss_cp_workspace_create(&w, &error) || ss_cp_workspace_create(&rows, &error) ||
      (sparse && storage_rows(&p.cp, rows, &G, &error))) {
    (void)fprintf(stderr, "out of memory\n");
    return 2;
  }
  if (sparse) {
    p.cp.sparse = &G;
    p.cp.factors = NULL;
  }
  if (path) return ss_cp_write(&p.cp, path, &error) != SS_OK;
  (void)printf("| %d | %s", spec.spheres, *text ? text : "at rest");
  const int code = table_row(&p, w, solver, 1e-8);
  ss_cp_workspace_destroy(rows);
  return code;
}
