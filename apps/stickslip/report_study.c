/* A convergence study as a document: the orders as a chart, the numbers as tables. */
#include "report.h"

#include "chart.h"
#include "cli.h"
#include "document.h"
#include "plot.h"

#include <stdio.h>
#include <string.h>

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
  document_text(f, json_string_value(json_object_get(scheme, "scheme")));
  (void)fputs("</h2>\n<div class=\"wide\"><table><thead><tr><th>h</th><th>position error</th><th>velocity "
              "error</th><th>order</th>"
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
  (void)fputs("</tbody></table></div>\n", f);
}

static void put_document(FILE *f, const json_t *study, const chart *c) {
  const json_t *reference = json_object_get(study, "reference");
  (void)fputs("<p class=\"note\">Errors at the end against ", f);
  document_text(f, json_string_value(json_object_get(reference, "scheme")));
  (void)fprintf(f, " with step %.6g, over the step size h.</p>\n",
                json_number_value(json_object_get(reference, "step")));
  (void)fputs("<div class=\"wide\">", f);
  if (!chart_write(c, f)) (void)fputs("<p>All errors are zero: there is nothing to draw.</p>\n", f);
  (void)fputs("</div>\n", f);
  const json_t *schemes = json_object_get(study, "schemes");
  for (size_t i = 0; i < json_array_size(schemes); i++) put_table(f, json_array_get(schemes, i));
}

/* The legend says "moreau: position error". */
static void name_columns(chart *c) {
  for (int i = 0; i < c->n; i++)
    for (char *at = strrchr(c->series[i].name, ':'); at && (at = strchr(at, '_'));) *at = ' ';
}

int report_loaded_study(const json_t *study, const char *name, const char *path) {
  const char *columns[] = {"position_error", "velocity_error"};
  const text_list y = {columns, 2};
  const plot_request request = {.inputs = &name, .n_inputs = 1, .y = &y};
  chart c = {.x_log = true, .y_log = true, .marked = true, .orders = true};
  int code = plot_study(&request, name, study, &c);
  name_columns(&c);
  if (code == PARSE_GO_ON) {
    output_file *o = document_open(path, json_string_value(json_object_get(study, "scene")), "convergence");
    if (o) put_document(output_stream(o), study, &c);
    code = o ? document_close(o) : EXIT_USAGE;
  }
  chart_release(&c);
  return code;
}

int report_study(const char *path, const char *output) {
  json_error_t problem;
  json_t *study = json_load_file(path, 0, &problem);
  if (!study) return usage_error("%s:%d:%d: %s", path, problem.line, problem.column, problem.text);
  const int code = report_loaded_study(study, path, output);
  json_decref(study);
  return code;
}
