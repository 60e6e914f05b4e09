/* A study as a document: what came of the runs, every observation in numbers and charts, failures, the table. A hundred
 * thousand rows make a page of the same size as a thousand: many points become shares of equal width, of which mean and
 * quantiles are drawn. */
#include "sweep.h"

#include "chart.h"
#include "document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_SERIES = 12,
  MOST_CHARTS = 24,
  MOST_POINTS = 1500,
  MOST_ROWS = 1000,
  MOST_FAILURES = 300,
  NAME = 400,
  BINS = 50,
  MOST_GROUPED = 32,
  FEW_VALUES = 6
};

/* Columns of the runs that ended well, and how many different values they have. */
typedef struct report_data {
  const sweep *sweep;
  long n;         /* runs that ended well */
  long *run;      /* [n] */
  double *x;      /* [n], one variation at a time */
  double *y;      /* [n], one observation at a time */
  double *sorted; /* [n] */
  bool *grouped;  /* [MOST_GROUPED]: variations that divide a random study */
} report_data;

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool open_data(report_data *d, const sweep *s) {
  const long all = ss_study_runs(s->study);
  const size_t size = (size_t)all + 1;
  *d = (report_data){.sweep = s, .run = malloc(size * sizeof *d->run)};
  d->x = malloc(size * sizeof *d->x);
  d->y = malloc(size * sizeof *d->y);
  d->sorted = malloc(size * sizeof *d->sorted);
  d->grouped = calloc(MOST_GROUPED, sizeof *d->grouped);
  if (!d->run || !d->x || !d->y || !d->sorted || !d->grouped) return false;
  for (long i = 0; i < all; i++)
    if (sweep_done(&s->runs[i]) && s->runs[i].verdict <= SS_VERDICT_UNCERTIFIED) d->run[d->n++] = i;
  return true;
}

static void close_data(report_data *d) {
  free(d->run);
  free(d->x);
  free(d->y);
  free(d->sorted);
  free(d->grouped);
}

/* False: words. */
static bool load_x(report_data *d, int variation) {
  for (long i = 0; i < d->n; i++) {
    const ss_study_value v = ss_study_point(d->sweep->study, d->run[i], variation);
    if (v.word) return false;
    d->x[i] = v.number;
  }
  return d->n > 0;
}

static void load_y(report_data *d, int observation) {
  for (long i = 0; i < d->n; i++) d->y[i] = d->sweep->runs[d->run[i]].observed[observation];
}

/* The finite ones in order; returns how many. */
static long sort_values(report_data *d, const double *values) {
  long n = 0;
  for (long i = 0; i < d->n; i++)
    if (isfinite(values[i])) d->sorted[n++] = values[i];
  qsort(d->sorted, (size_t)n, sizeof *d->sorted, compare);
  return n;
}

static long distinct(report_data *d, const double *values) {
  const long n = sort_values(d, values);
  long different = n > 0;
  for (long i = 1; i < n; i++) different += d->sorted[i] != d->sorted[i - 1];
  return different;
}

/* The variation with the most numbers is the axis. */
static int best_axis(report_data *d) {
  int best = -1;
  long most = 1;
  for (int i = 0; i < ss_study_variations(d->sweep->study); i++) {
    const long n = load_x(d, i) ? distinct(d, d->x) : 0;
    if (n > most) best = i;
    if (n > most) most = n;
  }
  return best;
}

/* By the quartiles: the least of many uniform numbers is as small as one likes. */
static bool spans_decades(report_data *d) {
  const long n = sort_values(d, d->x);
  return n > 0 && d->sorted[0] > 0 && d->sorted[3 * (n - 1) / 4] / d->sorted[(n - 1) / 4] >= 8;
}

/* Groups of a random study: the scene, the scheme, a load that was switched on or off. Words, or few numbers. */
static void find_groups(report_data *d) {
  for (int i = 0; i < ss_study_variations(d->sweep->study) && i < MOST_GROUPED; i++) {
    const bool number = load_x(d, i);
    const long n = number ? distinct(d, d->x) : 2;
    d->grouped[i] = d->n > 0 && n > 1 && n <= FEW_VALUES;
  }
}

static void group_name(const report_data *d, long run, char name[NAME]) {
  size_t used = 0;
  name[0] = '\0';
  for (int i = 0; i < ss_study_variations(d->sweep->study) && i < MOST_GROUPED && used < NAME; i++) {
    if (!d->grouped[i]) continue;
    const ss_study_value v = ss_study_point(d->sweep->study, run, i);
    const char *label = ss_study_variation_name(d->sweep->study, i), *separator = used ? ", " : "";
    const int n = v.word ? snprintf(name + used, NAME - used, "%s%s", separator, v.word)
                         : snprintf(name + used, NAME - used, "%s%s = %.4g", separator, label, v.number);
    used += n > 0 ? (size_t)n : 0;
  }
}

/* ---- lines of grids: everything but the axis makes one line each ---- */

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
static long fill_lines(const report_data *d, int axis, bool random, chart *c) {
  long left_out = 0;
  for (long i = 0; i < d->n; i++) {
    char name[NAME] = "";
    if (!random) line_name(d->sweep, d->run[i], axis, name);
    chart_series *series = series_of(c, name, d->n < MOST_POINTS ? d->n : MOST_POINTS);
    if (series && series->n < MOST_POINTS)
      insert_sorted(series, d->x[i], d->y[i]);
    else
      left_out++;
  }
  return left_out;
}

/* ---- many points: mean and quantiles of those in shares of the axis ---- */

typedef struct pair {
  double x, y;
} pair;

static int compare_pairs(const void *a, const void *b) {
  const double x = ((const pair *)a)->y, y = ((const pair *)b)->y;
  return (x > y) - (x < y);
}

static int compare_x(const void *a, const void *b) {
  const double x = ((const pair *)a)->x, y = ((const pair *)b)->x;
  return (x > y) - (x < y);
}

static void put_share(chart *c, pair *pairs, long n, long place) { /* the mean is the last series */
  static const double part[3] = {0.1, 0.5, 0.9};
  double x = 0, mean = 0;
  for (long i = 0; i < n; i++) {
    x += pairs[i].x / (double)n;
    mean += pairs[i].y / (double)n;
  }
  qsort(pairs, (size_t)n, sizeof *pairs, compare_pairs);
  for (int k = 0; k < c->n; k++) {
    c->series[k].x[place] = x;
    c->series[k].y[place] = k == c->n - 1 ? mean : pairs[(long)(part[k] * (double)(n - 1) + 0.5)].y;
    c->series[k].n = place + 1;
  }
}

/* Shares with equally many points; a value of the axis that many runs have is not divided. */
static void fill_shares(report_data *d, chart *c) {
  static const char *const names[4] = {"10 %", "median", "90 %", "mean"};
  const int least = distinct(d, d->y) <= 2 ? 3 : 0; /* quantiles of yes and no tell nothing */
  pair *pairs = malloc(sizeof *pairs * (size_t)(d->n + 1));
  long n = 0;
  for (long i = 0; pairs && i < d->n; i++)
    if (isfinite(d->x[i]) && isfinite(d->y[i])) pairs[n++] = (pair){d->x[i], d->y[i]};
  for (int k = least; k < 4; k++)
    if (!pairs || !chart_add(c, names[k], BINS + 1)) n = 0;
  for (int k = 0; k < c->n; k++) c->series[k].n = 0;
  if (n > 0) qsort(pairs, (size_t)n, sizeof *pairs, compare_x);
  long place = 0;
  for (long first = 0, end; first < n && place <= BINS; first = end) {
    end = first + (n + BINS - 1) / BINS < n ? first + (n + BINS - 1) / BINS : n;
    while (end < n && pairs[end].x == pairs[end - 1].x) end++;
    put_share(c, pairs + first, end - first, place++);
  }
  free(pairs);
}

static void put_chart(report_data *d, FILE *f, int axis, int observation) {
  const ss_study *study = d->sweep->study;
  const bool random = ss_study_is_random(study), many = d->n > MOST_POINTS;
  chart c = {.x_label = ss_study_variation_name(study, axis),
             .y_label = ss_study_observation_name(study, observation),
             .x_log = spans_decades(d),
             .marked = !many,
             .scattered = random && !many};
  long left_out = 0;
  if (random && many)
    fill_shares(d, &c);
  else
    left_out = fill_lines(d, axis, random, &c);
  (void)fputs("<div class=\"wide\">", f);
  if (!chart_write(&c, f)) (void)fputs("<p class=\"note\">No run gave a number to draw.</p>", f);
  (void)fputs("</div>\n", f);
  if (random && many)
    (void)fprintf(f, "<p class=\"note\">%s of %d shares with equally many runs.</p>\n",
                  c.n > 1 ? "Mean and quantiles" : "Mean", BINS);
  if (left_out)
    (void)fprintf(f, "<p class=\"note\">The first %d lines are drawn; %ld runs are in the table only.</p>\n",
                  MOST_SERIES, left_out);
  chart_release(&c);
}

/* ---- one observation ---- */

/* Counts of a group in bars: of values where there are few, otherwise of equal intervals. */
typedef struct bars {
  long n;
  double *edge;   /* [n + 1] of intervals, or values [n] */
  bool few;       /* values */
  double breadth; /* half the width of a bar, for values */
} bars;

/* Of n values in order, so many of them different. */
static bool make_bars(const double *sorted, long n, long different, bars *b) {
  if (n < 30 || different < 2) return false;
  b->few = different <= 30;
  b->n = b->few ? different : (long)fmin(60, ceil(2 * cbrt((double)n)));
  b->edge = calloc((size_t)b->n + 1, sizeof *b->edge);
  if (!b->edge) return false;
  const double low = sorted[0], width = (sorted[n - 1] - low) / (double)b->n;
  for (long i = 0; !b->few && i <= b->n; i++) b->edge[i] = low + width * (double)i;
  b->breadth = (double)INFINITY;
  long at = 0;
  for (long i = 0; b->few && i < n; i++) {
    if (i > 0 && sorted[i] == sorted[i - 1]) continue;
    if (at > 0) b->breadth = fmin(b->breadth, (sorted[i] - b->edge[at - 1]) / 3);
    b->edge[at++] = sorted[i];
  }
  return true;
}

static long bar_of(const bars *b, double y) {
  long low = 0, high = b->n; /* edge[low] <= y */
  while (high - low > 1) {
    const long middle = (low + high) / 2;
    if (b->edge[middle] <= y)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* An outline per group; counts stand in the y of every bar's second and third point. */
static chart_series *outline(chart *c, const bars *b, const char *name) {
  for (int i = 0; i < c->n; i++)
    if (strcmp(c->series[i].name, name) == 0) return &c->series[i];
  chart_series *series = c->n < MOST_SERIES ? chart_add(c, name, 4 * b->n) : NULL;
  for (long i = 0; series && i < b->n; i++) {
    const double from = b->few ? b->edge[i] - b->breadth : b->edge[i];
    const double to = b->few ? b->edge[i] + b->breadth : b->edge[i + 1];
    series->x[4 * i] = series->x[4 * i + 1] = from;
    series->x[4 * i + 2] = series->x[4 * i + 3] = to;
  }
  return series;
}

static void put_histogram(report_data *d, FILE *f, int observation) {
  bars b = {0};
  const long different = distinct(d, d->y), n = sort_values(d, d->y);
  if (!make_bars(d->sorted, n, different, &b)) {
    free(b.edge);
    return;
  }
  chart c = {.x_label = ss_study_observation_name(d->sweep->study, observation), .y_label = "runs"};
  for (long i = 0; i < d->n; i++) {
    char name[NAME] = "";
    if (!isfinite(d->y[i])) continue;
    if (ss_study_is_random(d->sweep->study)) group_name(d, d->run[i], name);
    chart_series *series = outline(&c, &b, name);
    if (!series) continue;
    const long bar = bar_of(&b, d->y[i]);
    series->y[4 * bar + 1]++;
    series->y[4 * bar + 2]++;
  }
  (void)fputs("<div class=\"wide\">", f);
  (void)chart_write(&c, f);
  (void)fputs("</div>\n", f);
  chart_release(&c);
  free(b.edge);
}

static void put_observation(report_data *d, FILE *f, int observation, int axis, int *drawn) {
  const ss_study *study = d->sweep->study;
  document_element(f, "h2", ss_study_observation_name(study, observation));
  load_y(d, observation);
  if (ss_study_is_random(study) || d->n >= 200) put_histogram(d, f, observation);
  for (int v = 0; v < ss_study_variations(study); v++) {
    if (*drawn == MOST_CHARTS || !load_x(d, v)) continue;
    const bool wanted = ss_study_is_random(study) ? distinct(d, d->x) > 1 : v == axis;
    if (!wanted) continue;
    put_chart(d, f, v, observation);
    ++*drawn;
  }
  if (axis < 0) (void)fputs("<p class=\"note\">No number varies: see the table.</p>\n", f);
}

static void put_statistics(report_data *d, FILE *f) {
  static const double part[5] = {0, 0.05, 0.5, 0.95, 1};
  (void)fputs("<h2>Observed</h2><div class=\"wide\"><table><thead><tr><th></th><th>runs</th><th>mean</th>"
              "<th>deviation</th><th>least</th><th>5 %</th><th>median</th><th>95 %</th><th>largest</th></tr></thead>"
              "<tbody>\n",
              f);
  for (int i = 0; i < ss_study_observations(d->sweep->study); i++) {
    load_y(d, i);
    const long n = sort_values(d, d->y);
    double mean = 0, square = 0;
    for (long k = 0; k < n; k++) mean += d->sorted[k] / (double)n;
    for (long k = 0; k < n; k++) square += (d->sorted[k] - mean) * (d->sorted[k] - mean);
    (void)fputs("<tr>", f);
    document_element(f, "td", ss_study_observation_name(d->sweep->study, i));
    document_number(f, (double)n);
    document_number(f, n ? mean : (double)NAN);
    document_number(f, n > 1 ? sqrt(square / (double)(n - 1)) : (double)NAN);
    for (int k = 0; k < 5; k++)
      document_number(f, n ? d->sorted[(long)(part[k] * (double)(n - 1) + 0.5)] : (double)NAN);
    (void)fputs("</tr>\n", f);
  }
  (void)fputs("</tbody></table></div>\n", f);
}

static void put_verdicts(const sweep *s, FILE *f) {
  long count[SS_STUDY_VERDICTS] = {0};
  for (long run = 0; run < ss_study_runs(s->study); run++) count[s->runs[run].verdict]++;
  (void)fputs("<p>", f);
  bool any = false;
  for (int i = 0; i < SS_STUDY_VERDICTS; i++) {
    if (!count[i]) continue;
    (void)fprintf(f, "%s<span%s>%ld %s</span>", any ? ", " : "", i > SS_VERDICT_CERTIFIED ? " class=\"bad\"" : "",
                  count[i], i == SS_VERDICT_STOPPED ? "not done" : ss_study_verdict_name((ss_study_verdict)i));
    any = true;
  }
  (void)fputs(".</p>\n", f);
}

/* ---- failures and the table ---- */

static void put_failures(const sweep *s, FILE *f) {
  long any = 0;
  for (long run = 0; run < ss_study_runs(s->study); run++) any += s->runs[run].verdict > SS_VERDICT_CERTIFIED;
  if (!any) return;
  (void)fputs("<h2>Failed and doubtful</h2><div "
              "class=\"wide\"><table><thead><tr><th>run</th><th>at</th><th>verdict</th><th>why</th><th>scene</th></"
              "tr></thead><tbody>\n",
              f);
  long shown = 0;
  for (long run = 0; run < ss_study_runs(s->study); run++) {
    const sweep_run *r = &s->runs[run];
    if (r->verdict <= SS_VERDICT_CERTIFIED) continue;
    if (shown++ == MOST_FAILURES) break;
    char point[NAME], path[1024];
    sweep_describe(s, run, point, sizeof point);
    (void)fprintf(f, "<tr><td>%ld</td><td class=\"text\">", run);
    document_text(f, point);
    (void)fprintf(f, "</td><td class=\"text bad\">%s</td><td class=\"text bad\">", ss_study_verdict_name(r->verdict));
    document_text(f, r->error);
    (void)fputs("</td><td class=\"text\">", f);
    if (sweep_reproduce(s, run, path, sizeof path)) document_text(f, path);
    (void)fputs("</td></tr>\n", f);
  }
  (void)fputs("</tbody></table></div>\n", f);
  if (any > MOST_FAILURES)
    (void)fprintf(f, "<p class=\"note\">The first %d; -o and --csv write all of them.</p>\n", MOST_FAILURES);
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
  const char *verdict = sweep_done(r) ? ss_study_verdict_name(r->verdict) : "not done";
  (void)fprintf(f, "<td class=\"text%s\">%s</td></tr>\n", r->verdict == SS_VERDICT_CERTIFIED ? "" : " bad", verdict);
}

static void put_table(const sweep *s, FILE *f) {
  (void)fputs("<h2>Runs</h2><div class=\"wide\"><table><thead><tr><th>run</th>", f);
  for (int i = 0; i < ss_study_variations(s->study); i++)
    document_element(f, "th", ss_study_variation_name(s->study, i));
  for (int i = 0; i < ss_study_observations(s->study); i++)
    document_element(f, "th", ss_study_observation_name(s->study, i));
  (void)fputs("<th>verdict</th></tr></thead><tbody>\n", f);
  const long runs = ss_study_runs(s->study), shown = runs < MOST_ROWS ? runs : MOST_ROWS;
  for (long run = 0; run < shown; run++) put_row(s, f, run);
  (void)fputs("</tbody></table></div>\n", f);
  if (shown < runs)
    (void)fprintf(f, "<p class=\"note\">The first %ld of %ld runs; -o and --csv write all of them.</p>\n", shown, runs);
}

int sweep_write_html(const sweep *s, const char *path) {
  report_data d;
  if (!open_data(&d, s)) {
    close_data(&d);
    return usage_error("out of memory");
  }
  output_file *o = document_open(path, ss_study_name(s->study), "parameter study");
  if (!o) {
    close_data(&d);
    return EXIT_USAGE;
  }
  FILE *f = output_stream(o);
  (void)fprintf(f, "<p class=\"note\">%ld runs of ", s->finished);
  document_text(f, ss_study_scene(s->study));
  (void)fprintf(f, "%s; <span%s>%ld failed</span>; %.3g s with %ld thread%s",
                ss_study_is_random(s->study) ? ", sampled" : "", s->failed ? " class=\"bad\"" : "", s->failed,
                s->seconds, s->threads, s->threads == 1 ? "" : "s");
  if (s->ranks > 1) (void)fprintf(f, " on each of %ld ranks", s->ranks);
  (void)fputs(".</p>\n", f);
  put_verdicts(s, f);
  put_statistics(&d, f);
  const int axis = best_axis(&d);
  find_groups(&d);
  int drawn = 0;
  for (int i = 0; i < ss_study_observations(s->study); i++) put_observation(&d, f, i, axis, &drawn);
  put_failures(s, f);
  put_table(s, f);
  close_data(&d);
  return document_close(o);
}
