/* Observed orders of convergence: scenes with events under `trapezoidal`, and all schemes side by side. */
#include "papers.h"

#include <math.h>

enum { ROWS = 7, SCENES = 4 };

typedef struct example {
  const char *scene, *what;
} example;

static const example examples[SCENES] = {
    {"double-pendulum-wall", "five impacts"},
    {"stick-slip-block", "slip, stick, slip, ... under 8 cos t"},
    {"block-up-incline", "slides up, stops, slides back"},
    {"torque-free-body", "free rotation about the middle axis"},
};

static void errors_of(const example *e, const char *scheme, const history *reference, double error[ROWS]) {
  for (int i = 0; i < ROWS; i++) {
    const setup s = {.scene = e->scene, .scheme = scheme, .step = ldexp(1, -5 - i), .all_events = true};
    history own = history_record(&s, 1);
    error[i] = final_error(&own, reference);
    history_release(&own);
  }
}

static history reference_of(const example *e) {
  const setup s = {.scene = e->scene, .scheme = "trapezoidal", .step = ldexp(1, -16), .all_events = true};
  return history_record(&s, 1L << 20);
}

static void trapezoidal_table(page *p, const history *references) {
  series lines[SCENES] = {{0}};
  page_text(p, "| scene | 2^-5 | 2^-6 | 2^-7 | 2^-8 | 2^-9 | 2^-10 | 2^-11 | orders |\n"
               "|---|---|---|---|---|---|---|---|---|\n");
  for (int k = 0; k < SCENES; k++) {
    double error[ROWS];
    errors_of(&examples[k], "trapezoidal", &references[k], error);
    page_text(p, "| `%s`: %s |", examples[k].scene, examples[k].what);
    lines[k] = (series){.label = examples[k].scene};
    for (int i = 0; i < ROWS; i++) {
      page_text(p, " %.2e |", error[i]);
      series_add(&lines[k], ldexp(1, -5 - i), error[i]);
    }
    for (int i = 1; i < ROWS; i++) {
      const double order = log2(error[i - 1] / error[i]);
      page_text(p, "%s%.2f", i > 1 ? ", " : " ", order);
      if (i > 1) page_check(p, order, 1.9, 2.1, "%s, order at h = 2^%d", examples[k].scene, -5 - i);
    }
    page_text(p, " |\n");
  }
  const panel panels[] = {{"position error, trapezoidal", "h", "error", lines, SCENES, true, false}};
  page_text(p, "\n");
  page_figure(p, "orders", "Errors at the final time against h: slope two", panels, 1);
  series_release(lines, SCENES);
}

/* Every phase of this motion is a parabola or linear, so that only the impacts and transitions could be wrong. */
static void exact_scene(page *p) {
  const setup fine = {.scene = "bounce-and-roll", .step = ldexp(1, -12), .all_events = true};
  history reference = history_record(&fine, 1L << 20);
  double largest = 0;
  for (int i = 0; i < ROWS; i++) {
    const setup s = {.scene = "bounce-and-roll", .step = ldexp(1, -5 - i), .all_events = true};
    history own = history_record(&s, 1);
    largest = fmax(largest, final_error(&own, &reference));
    history_release(&own);
  }
  history_release(&reference);
  page_text(p,
            "`bounce-and-roll` (flight, bounces with slip, sliding, rolling) has quadratic phases: with located events "
            "every h gives the same end, to %.0e.\n\n",
            largest);
  page_check(p, largest, 0, 1e-9, "bounce-and-roll, largest difference between step sizes");
}

/* Mean order over the last four halvings. */
static void scheme_table(page *p, const history *references) {
  page_text(p,
            "## All schemes\n\nObserved order, mean over h = 2^-7 .. 2^-11, the same events located; in brackets the "
            "error at h = 2^-11.\n\n| scheme |");
  for (int k = 0; k < SCENES; k++) page_text(p, " `%s` |", examples[k].scene);
  page_text(p, "\n|---|");
  for (int k = 0; k < SCENES; k++) page_text(p, "---|");
  for (const ss_table_row *row = ss_table_schemes(); row->name; row++) {
    if (ss_scheme_is_compliant(row->name)) continue; /* these scenes are rigid */
    page_text(p, "\n| `%s` |", row->name);
    for (int k = 0; k < SCENES; k++) {
      double error[ROWS];
      errors_of(&examples[k], row->name, &references[k], error);
      const double order = log2(error[2] / error[ROWS - 1]) / (ROWS - 3);
      page_text(p, " %.2f (%.1e) |", order, error[ROWS - 1]);
      page_check(p, order, 0.85, 2.15, "%s, %s, mean order", row->name, examples[k].scene);
    }
  }
  page_text(p, "\n");
}

page orders(const char *directory) {
  page p = page_open(directory, "orders", "Orders of convergence through events");
  page_text(&p,
            "Position error at the final time (2-norm, rotations count with their angle) against `trapezoidal` with "
            "h = 2^-16; `events: [collision, stick-slip, take-off]`.\n\n## Second order\n\n");
  history references[SCENES];
  for (int k = 0; k < SCENES; k++) references[k] = reference_of(&examples[k]);
  trapezoidal_table(&p, references);
  exact_scene(&p);
  scheme_table(&p, references);
  for (int k = 0; k < SCENES; k++) history_release(&references[k]);
  page_close(&p);
  return p;
}
