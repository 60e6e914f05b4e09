#include "plot.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

bool plot_is_study(const char *path) {
  FILE *stream = fopen(path, "rb");
  if (!stream) return false;
  int c;
  do c = getc(stream);
  while (c != EOF && isspace(c));
  (void)fclose(stream);
  return c == '{';
}

/* The file's name without directories and ending: what tells results apart in a legend. */
static void short_name(const char *path, char *name, size_t size) {
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  const int length = dot && dot != base ? (int)(dot - base) : (int)strlen(base);
  (void)snprintf(name, size, "%.*s", length, base);
}

/* "what", or "where: what" where both are given. */
static chart_series *add_series(chart *c, const char *where, const char *what, long n) {
  char name[512];
  const bool both = *where && *what;
  if (snprintf(name, sizeof name, "%s%s%s", where, both ? ": " : "", what) < 0) return NULL;
  return chart_add(c, name, n);
}

/* ---- results ---- */

static int add_result(const plot_request *r, const char *path, chart *c) {
  ss_error error = {0};
  ss_result *result;
  if (ss_result_open(path, &result, &error)) return report_error(&error);
  char where[128];
  short_name(path, where, sizeof where);
  int code = PARSE_GO_ON;
  for (int i = 0; code == PARSE_GO_ON && i < r->y->n; i++) {
    chart_series *s = add_series(c, r->n_inputs > 1 ? where : "", r->y->items[i], ss_result_rows(result));
    if (!s)
      code = usage_error("out of memory");
    else if (ss_result_column(result, r->x ? r->x : "t", s->x, &error) ||
             ss_result_column(result, r->y->items[i], s->y, &error))
      code = report_error(&error);
  }
  ss_result_close(result);
  return code;
}

int plot_results(const plot_request *r, chart *c) {
  for (int i = 0; i < r->n_inputs; i++) {
    const int code = add_result(r, r->inputs[i], c);
    if (code != PARSE_GO_ON) return code;
  }
  c->x_label = r->x ? r->x : "t";
  c->y_label = r->y->n == 1 ? r->y->items[0] : "";
  return PARSE_GO_ON;
}

/* ---- convergence studies ---- */

static double number_or_nan(const json_t *row, const char *key) {
  const json_t *value = json_object_get(row, key);
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static int unknown_key(const json_t *row, const char *key, const char *path) {
  char known[400] = "";
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)row, name, value) {
    if (!json_is_number(value) && !json_is_null(value)) continue;
    const size_t used = strlen(known);
    (void)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", name);
  }
  return usage_error("plot: '%s' has no '%s'; there are %s", path, key, known);
}

static int add_curve(const plot_request *r, const char *path, const json_t *scheme, const char *y, chart *c) {
  const json_t *rows = json_object_get(scheme, "rows");
  const char *name = json_string_value(json_object_get(scheme, "scheme"));
  const char *x = r->x ? r->x : "h";
  if (!json_is_array(rows) || json_array_size(rows) == 0 || !name)
    return usage_error("plot: '%s' is not the output of stickslip converge --json", path);
  const char *const keys[] = {x, y};
  for (int i = 0; i < 2; i++)
    if (!json_object_get(json_array_get(rows, 0), keys[i])) return unknown_key(json_array_get(rows, 0), keys[i], path);
  char where[256], file[128];
  short_name(path, file, sizeof file);
  (void)snprintf(where, sizeof where, "%s%s%s", r->n_inputs > 1 ? file : "", r->n_inputs > 1 ? " " : "", name);
  chart_series *s = add_series(c, where, r->y->n > 1 ? y : "", (long)json_array_size(rows));
  if (!s) return usage_error("out of memory");
  for (long i = 0; i < s->n; i++) {
    s->x[i] = number_or_nan(json_array_get(rows, (size_t)i), x);
    s->y[i] = fabs(number_or_nan(json_array_get(rows, (size_t)i), y));
  }
  return PARSE_GO_ON;
}

static int add_study(const plot_request *r, const char *path, chart *c) {
  json_error_t problem;
  json_t *root = json_load_file(path, 0, &problem);
  if (!root) return usage_error("%s:%d:%d: %s", path, problem.line, problem.column, problem.text);
  const json_t *schemes = json_object_get(root, "schemes");
  int code = json_is_array(schemes) && json_array_size(schemes) > 0
                 ? PARSE_GO_ON
                 : usage_error("plot: '%s' is not the output of stickslip converge --json", path);
  for (size_t k = 0; code == PARSE_GO_ON && k < json_array_size(schemes); k++) {
    if (r->y->n == 0) code = add_curve(r, path, json_array_get(schemes, k), "position_error", c);
    for (int i = 0; code == PARSE_GO_ON && i < r->y->n; i++)
      code = add_curve(r, path, json_array_get(schemes, k), r->y->items[i], c);
  }
  json_decref(root);
  return code;
}

int plot_studies(const plot_request *r, chart *c) {
  for (int i = 0; i < r->n_inputs; i++) {
    const int code = add_study(r, r->inputs[i], c);
    if (code != PARSE_GO_ON) return code;
  }
  c->x_label = r->x ? r->x : "step h";
  c->y_label = r->y->n == 0 ? "position_error" : r->y->n == 1 ? r->y->items[0] : "error";
  return PARSE_GO_ON;
}
