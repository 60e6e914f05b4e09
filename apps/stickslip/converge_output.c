#include "converge.h"
#include "json.h"

#include <math.h>
#include <stdio.h>

static const char *cell(double value, const char *format, char *text, size_t size) {
  if (!isfinite(value)) return "-";
  if (snprintf(text, size, format, value) < 0) return "?"; // NOLINT: the formats are the literals below
  return text;
}

static void print_row(const converge_row *row, int joint_rows) {
  char text[7][24];
  double joints = row->joint_errors ? 0 : NAN;
  for (int i = 0; row->joint_errors && i < joint_rows; i++) joints = fmax(joints, fabs(row->joint_errors[i]));
  (void)printf("  %-12.6g %11s %11s %6s %11s %11s %11s %10ld  %-3s %9.3g\n", row->h,
               cell(row->position_error, "%.3e", text[0], sizeof text[0]),
               cell(row->velocity_error, "%.3e", text[1], sizeof text[1]),
               cell(row->order, "%.2f", text[2], sizeof text[2]), cell(joints, "%.3e", text[3], sizeof text[3]),
               cell(row->velocity_variation, "%.5g", text[4], sizeof text[4]),
               cell(row->complementarity, "%.1e", text[5], sizeof text[5]), row->collisions,
               row->certified ? "yes" : "NO", row->seconds);
}

void converge_print_text(const session *s, const reference *r, const converge_table *tables, int n) {
  (void)printf("%s\n  reference: %s with step %.6g (%.3g s)%s\n", session_name(s), r->scheme, r->step, r->seconds,
               r->certified ? "" : ", NOT CERTIFIED");
  for (int i = 0; i < n; i++) {
    (void)printf("\n  %s\n  %-12s %11s %11s %6s %11s %11s %11s %10s  %-3s %9s\n", tables[i].scheme, "h", "position",
                 "velocity", "order", "joints", "variation", "residual", "collisions", "ok", "seconds");
    for (int k = 0; k < tables[i].n; k++) print_row(&tables[i].rows[k], ss_model_joint_rows(s->model));
  }
}

static json_t *row_json(const converge_row *row, int joint_rows) {
  json_t *joints = row->joint_errors ? json_numbers(row->joint_errors, joint_rows) : json_null();
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:I, s:o}", "h",
                   json_number(row->h), "position_error", json_number(row->position_error), "velocity_error",
                   json_number(row->velocity_error), "position_error_max", json_number(row->position_error_max),
                   "velocity_error_l1", json_number(row->velocity_error_l1), "joint_errors", joints, "order",
                   json_number(row->order), "velocity_variation", json_number(row->velocity_variation),
                   "weighted_variation", json_number(row->weighted_variation), "certified", row->certified,
                   "complementarity", json_number(row->complementarity), "penetration", json_number(row->penetration),
                   "energy_created", json_number(row->energy_created), "collisions", (json_int_t)row->collisions,
                   "seconds", json_number(row->seconds));
}

static json_t *rows_json(const converge_table *table, int joint_rows) {
  json_t *rows = json_array();
  for (int i = 0; rows && i < table->n; i++)
    if (json_array_append_new(rows, row_json(&table->rows[i], joint_rows))) return NULL;
  return rows;
}

int converge_print_json(const session *s, const reference *r, const converge_table *tables, int n) {
  const int joint_rows = ss_model_joint_rows(s->model);
  json_t *schemes = json_array();
  for (int i = 0; schemes && i < n; i++) {
    json_t *entry =
        json_pack("{s:o, s:o}", "scheme", json_text(tables[i].scheme), "rows", rows_json(&tables[i], joint_rows));
    if (json_array_append_new(schemes, entry)) return json_print(NULL);
  }
  json_t *base = json_pack("{s:o, s:o, s:o, s:b}", "scheme", json_text(r->scheme), "step", json_number(r->step),
                           "seconds", json_number(r->seconds), "certified", r->certified);
  return json_print(json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "scene", json_text(session_name(s)), "file",
                              json_text(s->scene->file), "scheme", json_text(tables[0].scheme), "duration",
                              json_number(s->simulation.duration), "reference", base, "rows",
                              rows_json(&tables[0], joint_rows), "schemes", schemes));
}
