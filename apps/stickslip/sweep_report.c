/* A study as a document: every observation as a chart over what varies, failures, the table. */
#include "sweep.h"

#include "chart.h"
#include "document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SERIES = 12, MOST_CHARTS = 24, MOST_ROWS = 2000, NAME = 400 };

/* ---- grids: the variation with the most numbers is the axis, all others make one line each ---- */

static long distinct(const sweep *s, int variation) {
  const long runs = ss_study_runs(s->study);
  long n = 0;
  for (long run = 0; run < runs && run < MOST_ROWS; run++) {
    const ss_study_value v = ss_study_point(s->study, run, variation);
    if (v.word) return 0; /* words are no axis */
    bool seen = false;
    for (long k = 0; !seen && k < run; k++) seen = ss_study_point(s->study, k, variation).number == v.number;
    n += !seen;
  }
  return n;
}

static int best_axis(const sweep *s) {
  int best = -1;
  long most = 1;
  for (int i = 0; i < ss_study_variations(s->study); i++) {
    const long n = distinct(s, i);
    if (n > most) best = i;
    if (n > most) most = n;
  }
  return best;
}

/* What distinguishes a run's line: everything but the axis. */
static void line_name(const sweep *s, long run, int axis, char name[NAME]) {
  size_t used = 0;
  name[0] = '\0';
  for (int i = 0; i < ss_study_variations(s->study) && used < NAME; i++) {
    if (i == axis) continue;
    const ss_study_value v = ss_study_point(s->study, run, i);
    const char *label = ss_study_variation_name(s->study, i), *separator = used ? ", " : "";
    const int n = v.word ? snprintf(name + used, NAME - used, "%s%s", separator, v.word)
                         : snprintf(name + used, NAME - used, "%s%s = %.4g", separator, label, v.number);
    used += n > 0 ? (size_t)n : 0;
  }
}

/* The series of this name, made where it does not exist yet; NULL: too many of them, or out of memory. */
static chart_series *series_of(chart *c, const char *name, long room) {
  for (int i = 0; i < c->n; i++)
    if (strcmp(c->series[i].name, name) == 0) return &c->series[i];
  if (c->n == MOST_SERIES) return NULL;
  chart_series *series = chart_add(c, name, room);
  if (series) series->n = 0;
  return series;
}

static void insert_sorted(chart_series *s, double x, double y) {
  long at = s->n++;
  for (; at > 0 && s->x[at - 1] > x; at--) {
    s->x[at] = s->x[at - 1];
    s->y[at] = s->y[at - 1];
  }
  s->x[at] = x;
  s->y[at] = y;
}

/* Returns how many runs found no room. */
static long fill_chart(const sweep *s, int axis, int observation, chart *c) {
  const long runs = ss_study_runs(s->study);
  long left_out = 0;
  for (long run = 0; run < runs; run++) {
    char name[NAME] = "";
    if (!ss_study_is_random(s->study)) line_name(s, run, axis, name);
    chart_series *series = series_of(c, name, runs);
    if (series)
      insert_sorted(series, ss_study_point(s->study, run, axis).number, s->runs[run].observed[observation]);
    else
      left_out++;
  }
  return left_out;
}

static bool spans_decades(const sweep *s, int axis) {
  double low = (double)INFINITY, high = 0;
  for (long run = 0; run < ss_study_runs(s->study); run++) {
    const double x = ss_study_point(s->study, run, axis).number;
    low = fmin(low, x);
    high = fmax(high, x);
  }
  return low > 0 && high / low >= 100;
}

static void put_chart(const sweep *s, FILE *f, int axis, int observation) {
  chart c = {.x_label = ss_study_variation_name(s->study, axis),
             .y_label = ss_study_observation_name(s->study, observation),
             .x_log = spans_decades(s, axis),
             .marked = true,
             .scattered = ss_study_is_random(s->study)};
  const long left_out = fill_chart(s, axis, observation, &c);
  (void)fputs("<div class=\"wide\">", f);
  if (!chart_write(&c, f)) (void)fputs("<p class=\"note\">No run gave a number to draw.</p>", f);
  (void)fputs("</div>\n", f);
  if (left_out)
    (void)fprintf(f, "<p class=\"note\">The first %d lines are drawn; %ld runs are in the table only.</p>\n",
                  MOST_SERIES, left_out);
  chart_release(&c);
}

static void put_charts(const sweep *s, FILE *f) {
  const int axis = best_axis(s);
  int drawn = 0;
  for (int i = 0; i < ss_study_observations(s->study); i++) {
    document_element(f, "h2", ss_study_observation_name(s->study, i));
    for (int v = 0; v < ss_study_variations(s->study); v++) {
      const bool wanted = ss_study_is_random(s->study) ? distinct(s, v) > 1 : v == axis;
      if (!wanted || drawn == MOST_CHARTS) continue;
      put_chart(s, f, v, i);
      drawn++;
    }
    if (axis < 0) (void)fputs("<p class=\"note\">No number varies: see the table.</p>\n", f);
  }
}

/* ---- failures and the table ---- */

static void put_failures(const sweep *s, FILE *f) {
  if (!s->failed) return;
  (void)fputs(
      "<h2>Failed</h2><div class=\"wide\"><table><thead><tr><th>run</th><th>at</th><th>why</th></tr></thead><tbody>\n",
      f);
  for (long run = 0; run < ss_study_runs(s->study); run++) {
    const sweep_run *r = &s->runs[run];
    if (!r->done || (r->certified && !r->error)) continue;
    char point[NAME];
    sweep_describe(s, run, point, sizeof point);
    (void)fprintf(f, "<tr><td>%ld</td><td class=\"text\">", run);
    document_text(f, point);
    (void)fputs("</td><td class=\"text bad\">", f);
    document_text(f, r->error ? r->error : "not every step could be certified");
    (void)fputs("</td></tr>\n", f);
  }
  (void)fputs("</tbody></table></div>\n", f);
}

static void put_row(const sweep *s, FILE *f, long run) {
  const sweep_run *r = &s->runs[run];
  (void)fprintf(f, "<tr><td>%ld</td>", run);
  for (int i = 0; i < ss_study_variations(s->study); i++) {
    const ss_study_value v = ss_study_point(s->study, run, i);
    if (v.word)
      document_element(f, "td", v.word);
    else
      document_number(f, v.number);
  }
  for (int i = 0; i < ss_study_observations(s->study); i++) document_number(f, r->observed[i]);
  const bool good = r->done && r->certified && !r->error;
  (void)fputs(good ? "<td>yes</td></tr>\n" : "<td class=\"bad\">no</td></tr>\n", f);
}

static void put_table(const sweep *s, FILE *f) {
  (void)fputs("<h2>Runs</h2><div class=\"wide\"><table><thead><tr><th>run</th>", f);
  for (int i = 0; i < ss_study_variations(s->study); i++)
    document_element(f, "th", ss_study_variation_name(s->study, i));
  for (int i = 0; i < ss_study_observations(s->study); i++)
    document_element(f, "th", ss_study_observation_name(s->study, i));
  (void)fputs("<th>certified</th></tr></thead><tbody>\n", f);
  const long runs = ss_study_runs(s->study), shown = runs < MOST_ROWS ? runs : MOST_ROWS;
  for (long run = 0; run < shown; run++) put_row(s, f, run);
  (void)fputs("</tbody></table></div>\n", f);
  if (shown < runs)
    (void)fprintf(f, "<p class=\"note\">The first %ld of %ld runs; --csv writes all of them.</p>\n", shown, runs);
}

int sweep_write_html(const sweep *s, const char *path) {
  output_file *o = document_open(path, ss_study_name(s->study), "parameter study");
  if (!o) return EXIT_USAGE;
  FILE *f = output_stream(o);
  (void)fprintf(f, "<p class=\"note\">%ld runs of ", s->finished);
  document_text(f, ss_study_scene(s->study));
  (void)fprintf(f, "%s; <span%s>%ld failed</span>; %.3g s with %ld thread%s.</p>\n",
                ss_study_is_random(s->study) ? ", sampled at random" : "", s->failed ? " class=\"bad\"" : "", s->failed,
                s->seconds, s->threads, s->threads == 1 ? "" : "s");
  put_charts(s, f);
  put_failures(s, f);
  put_table(s, f);
  return document_close(o);
}
