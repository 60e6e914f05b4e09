/* Energy on every rigid scene with every scheme, all restitutions zero: certificate.energy_created must be at rounding level
 * or an error of the discretisation, which falls with the step; and the work of constraints on the weighted velocity, on which
 * the energy estimates rest (MDI (5.2), LIT (9.4)), must never be positive. */
#include "papers.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SCENES = 256, STEPS = 1000, FINER = 4 };

typedef struct outcome {
  bool done;
  double created, work; /* over the scale; work: largest of constraints */
} outcome;

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* File names in scenes/ without extension; ascending. */
static int list_scenes(char *names[MOST_SCENES]) {
  int n = 0;
  DIR *directory = opendir(scene_directory);
  if (!directory) die("cannot read %s", scene_directory);
  for (const struct dirent *entry; n < MOST_SCENES && (entry = readdir(directory));) {
    const char *dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, ".yaml") != 0 || strncmp(entry->d_name, "bvp-", 4) == 0) continue;
    const size_t length = (size_t)(dot - entry->d_name);
    names[n] = malloc(length + 1);
    if (!names[n]) die("out of memory");
    memcpy(names[n], entry->d_name, length);
    names[n++][length] = '\0';
  }
  (void)closedir(directory);
  qsort(names, (size_t)n, sizeof *names, by_name);
  return n;
}

/* Kinetic energy of all bodies after falling for the time t: a scale for scenes at rest. */
static double fall_energy(const run *r, double t) {
  const ss_vec3 g = r->scene->gravity;
  double mass = 0;
  for (int k = 0; k < ss_model_bodies(r->model); k++) mass += ss_model_body_mass(r->model, k);
  return mass * (g.x * g.x + g.y * g.y + g.z * g.z) * t * t / 2;
}

/* The first STEPS steps of the scene, or the same time in finer ones. */
static outcome measure(const char *scene, const char *scheme, int finer) {
  run r;
  outcome o = {.done = false};
  const setup whole = {.scene = scene, .inelastic = true};
  run_open(&r, &whole);
  const double step = ss_sim_options(r.sim)->step, duration = fmin(ss_sim_options(r.sim)->duration, STEPS * step);
  run_close(&r);
  const setup s = {.scene = scene, .scheme = scheme, .step = step / finer, .duration = duration, .inelastic = true};
  if (!run_try(&r, &s)) return o; /* what the scheme cannot do (stabilisation, say), it refuses */
  double largest = 0;
  ss_error error = {0};
  o.done = true;
  while (o.done && !ss_sim_done(r.sim)) {
    o.done = ss_sim_step(r.sim, &error) == SS_OK;
    const ss_energy *e = &run_report(&r)->energy;
    largest = fmax(largest, fmax(e->kinetic, e->elastic));
  }
  const double scale = fmax(fmax(largest, fabs(run_report(&r)->energy.work)), fall_energy(&r, duration));
  o.created = run_report(&r)->certificate.energy_created / scale;
  o.work = run_report(&r)->constraint_work / scale;
  o.done = o.done && isfinite(o.created);
  run_close(&r);
  return o;
}

typedef struct totals {
  long runs, rounding, falling, refused;
  double work[2]; /* of constraints at velocity and at position level */
} totals;

static void one(page *p, const char *scene, const char *scheme, totals *t) {
  const outcome coarse = measure(scene, scheme, 1);
  if (!coarse.done) {
    t->refused++;
    return;
  }
  t->runs++;
  const int level = strncmp(scheme, "stewart-trinkle", 15) == 0;
  t->work[level] = fmax(t->work[level], coarse.work);
  if (coarse.created <= 1e-9) {
    t->rounding++;
    return;
  }
  const outcome fine = measure(scene, scheme, FINER);
  const double order = fine.done ? log(coarse.created / fine.created) / log(FINER) : (double)NAN;
  page_text(p, "| `%s` | `%s` | %.1e | %.1e | %.1f |\n", scene, scheme, coarse.created, fine.created, order);
  const bool falls = !fine.done || fine.created <= 1e-9 || order > 0.7;
  page_check(p, fine.done && !falls ? order : 1, 0.7, 20, "%s, %s: power of h in the energy created", scene, scheme);
  t->falling++;
}

page energy(const char *directory) {
  page p = page_open(directory, "energy", "Energy with inelastic impacts");
  page_text(
      &p,
      "Every rigid scene with every rigid scheme, all restitutions set to zero, the first %d steps of the scene. "
      "`certificate.energy_created` over the largest energy that moved, or that a fall for that time would give. What "
      "is above 1e-9 is listed, with a "
      "quarter of the step beside it.\n\n| scene | scheme | created | with h/4 | power of h |\n|---|---|---|---|---|\n",
      STEPS);
  char *names[MOST_SCENES];
  const int n = list_scenes(names);
  totals t = {0};
  for (int i = 0; i < n; i++) {
    run r;
    run_open(&r, &(setup){.scene = names[i]});
    const bool compliant = ss_scheme_is_compliant(ss_sim_options(r.sim)->scheme);
    run_close(&r);
    for (const ss_table_row *row = ss_table_schemes(); !compliant && row->name; row++)
      if (!ss_scheme_is_compliant(row->name)) one(&p, names[i], row->name, &t);
    free(names[i]);
  }
  page_text(
      &p,
      "\n%ld runs: nothing but rounding in %ld, an error that falls with the step in %ld. %ld more were refused by the "
      "scheme or ran away (explicit forces on stiff springs and dampers). The largest work of all joint and contact "
      "impulses on the weighted velocity in any step is %.0e of that energy where constraints hold at velocity level "
      "(what it has above rounding are residual velocities that short parts of a step keep, docs/steps.md); at "
      "position "
      "level (`stewart-trinkle`) it is %.0e, where penetrations are pushed apart.\n\n"
      "What is left is no contact and no joint, but the discretisation between them: with gamma = 1 positions move by "
      "h v+, so that the potential energy changes by more or less than the mean velocity has earned (hoist, "
      "painleve-three); explicit forces feed springs (spring-pendulum); rotations and joints are linearised within a "
      "step (bennett-linkage, four-bar, rattleback, rolling-disc, simple-pendulum, torque-free-body), and positions "
      "that drift off "
      "their joints change the potential energy.\n\n"
      "With e > 0 an impact may create energy (Poisson's and Newton's law with friction); every such event carries "
      "`energy_created`, and the certificate the sum.\n",
      t.runs, t.rounding, t.falling, t.refused, t.work[0], t.work[1]);
  page_check(&p, t.work[0], 0, 1e-7, "work of constraints at velocity level, any scene, scheme and step");
  page_close(&p);
  return p;
}
