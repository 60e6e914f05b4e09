/* Automatic step size: errors against the tolerance, and what they cost by either estimate and beside a fixed step. */
#include "papers.h"

#include <math.h>

enum { TOLERANCES = 4, POWERS = 9 };

typedef struct example {
  const char *scene, *what;
  const char *set[3];
  bool cheaper; /* phases differ so much that fewer problems are solved than with a fixed step */
} example;

static const example examples[] = {
    {"double-pendulum-wall", "five impacts", {NULL}, false},
    {"pendulum-slides-off", "hits a rough wall, slides along it, takes off", {NULL}, false},
    {"four-bar-limit", "a closed loop, its limit, pulled off again", {"pull=60", "rate=3"}, false},
    {"bounce-and-roll-wind", "flights, bounces that accumulate, rolling", {NULL}, false},
    {"stick-slip-block", "slip, stick and slip again", {NULL}, false},
    {"spring-pendulum", "stiff spring", {NULL}, false},
    {"rolling-disc", "Pfaffian joint", {NULL}, false},
    {"torque-free-body", "free rotation", {NULL}, false},
    {"two-carts-spring", "stiff spring, friction, a stopper, rest", {NULL}, true},
};
enum { SCENES = sizeof examples / sizeof *examples };

typedef struct outcome {
  double error;
  long steps, rejected, problems;
} outcome;

static outcome measure(const example *e, const setup *how, const history *reference) {
  setup s = *how;
  s.scene = e->scene;
  s.scheme = "trapezoidal";
  s.all_events = true;
  for (int i = 0; i < 3; i++) s.set[i] = e->set[i];
  run r;
  run_open(&r, &s);
  run_to_end(&r);
  if (!run_report(&r)->certificate.certified) die("%s is not certified", e->scene);
  history end = history_end(&r);
  const outcome o = {.error = reference ? final_error(&end, reference) : 0,
                     .steps = ss_sim_state(r.sim)->step,
                     .rejected = run_report(&r)->steps.rejected,
                     .problems = run_report(&r)->solves.count};
  history_release(&end);
  run_close(&r);
  return o;
}

static history reference_of(const example *e) {
  setup s = {.scene = e->scene, .scheme = "trapezoidal", .step = ldexp(1, -17), .all_events = true};
  for (int i = 0; i < 3; i++) s.set[i] = e->set[i];
  run r;
  run_open(&r, &s);
  run_to_end(&r);
  history end = history_end(&r);
  run_close(&r);
  return end;
}

/* The coarsest of the fixed steps 2^-5, 2^-6, ... whose error is no larger. */
static outcome fixed_of(const outcome fixed[POWERS], double error, int *power) {
  int k = 0;
  while (k < POWERS - 1 && fixed[k].error > error) k++;
  *power = 5 + k;
  return fixed[k];
}

/* What a row promises: the errors of halves with fewer problems. */
static void check_row(page *p, const example *e, double tolerance, const outcome *pair, const outcome *halves,
                      const outcome *fixed) {
  page_check(p, pair->error / halves->error, 0, 2, "%s, %.0e: error over that of halves", e->scene, tolerance);
  if (halves->problems > 0)
    page_check(p, (double)pair->problems / (double)halves->problems, 0, 0.8, "%s, %.0e: problems over those of halves",
               e->scene, tolerance);
  if (!e->cheaper) return;
  page_check(p, (double)pair->problems / (double)fixed->problems, 0, 0.75,
             "%s, %.0e: problems over those of fixed steps", e->scene, tolerance);
}

static void scene_rows(page *p, const example *e, series *line) {
  history reference = reference_of(e);
  outcome fixed[POWERS], o[TOLERANCES];
  *line = (series){.label = e->scene};
  for (int k = 0; k < POWERS; k++) fixed[k] = measure(e, &(setup){.step = ldexp(1, -5 - k)}, &reference);
  for (int k = 0; k < TOLERANCES; k++) {
    const double tolerance = pow(10, -4 - k);
    int power;
    o[k] = measure(e, &(setup){.tolerance = tolerance}, &reference);
    const outcome halves = measure(e, &(setup){.tolerance = tolerance, .estimate = SS_ESTIMATE_HALVES}, &reference);
    series_add(line, tolerance, o[k].error);
    const outcome same = fixed_of(fixed, o[k].error, &power);
    page_text(p, "| `%s`: %s | %.0e | %.1e | %ld | %ld | %ld | %.1e | %ld | 2^-%d, %.1e | %ld |\n", e->scene, e->what,
              tolerance, o[k].error, o[k].steps, o[k].rejected, o[k].problems, halves.error, halves.problems, power,
              same.error, same.problems);
    if (k == 1) check_row(p, e, tolerance, &o[k], &halves, &same);
  }
  const double slope =
      log10(o[1].error / o[TOLERANCES - 1].error) / (TOLERANCES - 2); /* largest_step bounds the first */
  page_check(p, slope, 0.7, 1.3, "%s: power of the tolerance in the error", e->scene);
  history_release(&reference);
}

page automatic(const char *directory) {
  page p = page_open(directory, "automatic", "Automatic step size");
  page_text(&p,
            "`stickslip run scenes/SCENE.yaml --tolerance E`, scheme `trapezoidal`, all events located "
            "([how](../steps.md)). Error of the positions at the end, against a fixed step of 2^-17; beside it the "
            "same with `--estimate halves`, and the coarsest fixed step 2^-k, k = 5 ... 13, whose error is no larger. "
            "Problems: complementarity problems solved, those of rejected steps and of the location of events "
            "included (a free rotation has none).\n\n"
            "| scene | tolerance | error | steps | rejected | problems | halves: error | problems | "
            "fixed step, its error | problems |\n"
            "|---|---|---|---|---|---|---|---|---|---|\n");
  series lines[SCENES] = {{0}};
  for (int k = 0; k < SCENES; k++) scene_rows(&p, &examples[k], &lines[k]);
  const panel panels[] = {{"error at the end", "tolerance", "error", lines, SCENES, true, false}};
  page_text(&p, "\n");
  page_figure(&p, "automatic", "Errors at the final time against the tolerance: slope one", panels, 1);
  series_release(lines, SCENES);
  page_close(&p);
  return p;
}
