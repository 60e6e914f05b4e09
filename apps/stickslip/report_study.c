/* A convergence study as a document: the orders as a chart, the numbers as tables. */
#include "report.h"

#include "chart.h"
#include "cli.h"
#include "plot.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:980px;margin:2em auto;padding:0 1em;color:#1a2230}"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;margin-bottom:1.5em}"
    "th,td{text-align:right;padding:4px 8px;border-bottom:1px solid #d5dbe4}th{font-weight:600}"
    "svg{max-width:100%;height:auto}.note{color:#566173}.bad{color:#c11f2c;font-weight:600}"
    "@media(prefers-color-scheme:dark){body{background:#0d1016;color:#e8ecf2}th,td{border-color:#2c3542}"
    ".note{color:#9aa6b8}.bad{color:#ff7b81}}";

static void put_text(FILE *f, const char *text) { chart_put_escaped(f, text ? text : ""); }

static void put_number(FILE *f, const json_t *row, const char *key, const char *format) {
  const json_t *value = json_object_get(row, key);
  (void)fputs("<td>", f);
  if (json_is_number(value))
    (void)fprintf(f, format, json_number_value(value)); // NOLINT: the formats are the literals below
  else
    (void)fputs("–", f);
  (void)fputs("</td>", f);
}

static void put_table(FILE *f, const json_t *scheme) {
  (void)fputs("<h2>", f);
  put_text(f, json_string_value(json_object_get(scheme, "scheme")));
  (void)fputs("</h2>\n<table><thead><tr><th>h</th><th>position error</th><th>velocity error</th><th>order</th>"
              "<th>residual</th><th>certified</th><th>seconds</th></tr></thead><tbody>\n",
              f);
  const json_t *rows = json_object_get(scheme, "rows");
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *row = json_array_get(rows, i);
    (void)fputs("<tr>", f);
    put_number(f, row, "h", "%.6g");
    put_number(f, row, "position_error", "%.3e");
    put_number(f, row, "velocity_error", "%.3e");
    put_number(f, row, "order", "%.2f");
    put_number(f, row, "complementarity", "%.1e");
    const bool certified = json_is_true(json_object_get(row, "certified"));
    (void)fputs(certified ? "<td>yes</td>" : "<td class=\"bad\">no</td>", f);
    put_number(f, row, "seconds", "%.3g");
    (void)fputs("</tr>\n", f);
  }
  (void)fputs("</tbody></table>\n", f);
}

static void put_document(FILE *f, const json_t *study, const chart *c) {
  const char *scene = json_string_value(json_object_get(study, "scene"));
  const json_t *reference = json_object_get(study, "reference");
  (void)fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>",
              f);
  put_text(f, scene);
  (void)fprintf(f, " – convergence</title><style>%s</style></head><body>\n<h1>", style);
  put_text(f, scene);
  (void)fputs("</h1>\n<p class=\"note\">Errors at the end against ", f);
  put_text(f, json_string_value(json_object_get(reference, "scheme")));
  (void)fprintf(f, " with step %.6g, over the step size h.</p>\n",
                json_number_value(json_object_get(reference, "step")));
  if (!chart_write(c, f)) (void)fputs("<p>All errors are zero: there is nothing to draw.</p>\n", f);
  const json_t *schemes = json_object_get(study, "schemes");
  for (size_t i = 0; i < json_array_size(schemes); i++) put_table(f, json_array_get(schemes, i));
  (void)fputs("</body></html>\n", f);
}

int report_study(const char *path, const char *output) {
  json_error_t problem;
  json_t *study = json_load_file(path, 0, &problem);
  if (!study) return usage_error("%s:%d:%d: %s", path, problem.line, problem.column, problem.text);
  const char *columns[] = {"position_error", "velocity_error"};
  const text_list y = {columns, 2};
  const plot_request request = {.inputs = &path, .n_inputs = 1, .y = &y};
  chart c = {.x_log = true, .y_log = true, .marked = true, .orders = true};
  int code = plot_studies(&request, &c);
  FILE *stream = code == PARSE_GO_ON ? fopen(output, "w") : NULL;
  if (stream) {
    put_document(stream, study, &c);
    const bool failed = ferror(stream);
    code = fclose(stream) || failed ? usage_error("cannot write '%s'", output) : EXIT_DONE;
  } else if (code == PARSE_GO_ON) {
    code = usage_error("cannot write '%s': %s", output, strerror(errno));
  }
  chart_release(&c);
  json_decref(study);
  return code;
}
