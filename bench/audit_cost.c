/* audit_cost: what the auditor (docs/verdict.md) costs. Usage:
 *
 *     audit_cost SCENE.yaml...
 *
 * Runs every scene with and without it in turn, for at least three times each and half a second, and prints the least CPU time of both.
 * Without: the simulation is told that it has none, which no option does. */
#include "step/step.h"

#include <stickslip/stickslip.h>

#include <math.h>

#include <stdio.h>
#include <time.h>

static double cpu_seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Negative: it failed. */
static double run_once(const ss_model *model, const ss_simulation *options, bool audited, long *audits) {
  ss_sim *sim = NULL;
  if (ss_sim_create(model, options, &sim, NULL) != SS_OK) return -1;
  struct ss_audit *audit = sim->watch.audit;
  if (!audited) sim->watch.audit = NULL;
  const double start = cpu_seconds();
  ss_status status = SS_OK;
  while (status == SS_OK && !ss_sim_done(sim)) status = ss_sim_step(sim, NULL);
  const double taken = cpu_seconds() - start;
  *audits = ss_sim_report(sim)->audits;
  sim->watch.audit = audit;
  ss_sim_destroy(sim);
  return status == SS_OK ? taken : -1;
}

static bool measure(const char *path, double least[2], long *audits) {
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_error error = {0};
  long none;
  bool good = ss_scene_load(path, NULL, 0, &scene, &error) == SS_OK && ss_model_create(scene, &model, &error) == SS_OK;
  double spent = 0;
  least[0] = least[1] = INFINITY;
  for (int k = 0; good && (k < 3 || (spent < 1 && k < 2000)); k++)
    for (int audited = 0; audited < 2 && good; audited++) {
      const double taken = run_once(model, &scene->simulation, audited, audited ? audits : &none);
      good = taken >= 0;
      spent += taken;
      least[audited] = fmin(least[audited], taken);
    }
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  return good && *audits > 0;
}

int main(int argc, char **argv) {
  double with = 0, without = 0;
  for (int i = 1; i < argc; i++) {
    double least[2];
    long audits = 0;
    if (!measure(argv[i], least, &audits)) continue;
    const double more = least[1] - least[0];
    (void)printf("%6.1f %% of %.5f s, %7.3f us for each of %ld audits  %s\n", 100 * more / least[1], least[1],
                 1e6 * more / (double)audits, audits, argv[i]);
    (void)fflush(stdout);
    without += least[0];
    with += least[1];
  }
  (void)printf("%6.1f %% of %.3f s  all together\n", 100 * (with - without) / with, with);
  return 0;
}
