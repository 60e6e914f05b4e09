#include "converge.h"

#include <math.h>
#include <stdio.h>

static const char *cell(double value, const char *format, char *text, size_t size) {
  if (!isfinite(value)) return "-";
  if (snprintf(text, size, format, value) < 0) return "?"; // NOLINT: the formats are the literals below
  return text;
}

static void print_row(const converge_row *row, int joint_rows) {
  char text[9][24];
  double joints = row->joint_errors ? 0 : NAN;
  for (int i = 0; row->joint_errors && i < joint_rows; i++) joints = fmax(joints, fabs(row->joint_errors[i]));
  (void)printf("  %-12.6g %11s %11s %6s %11s %11s %11s %11s %11s %10ld  %-3s %9.3g\n", row->h,
               cell(row->position_error, "%.3e", text[0], sizeof text[0]),
               cell(row->velocity_error, "%.3e", text[1], sizeof text[1]),
               cell(row->order, "%.2f", text[2], sizeof text[2]), cell(joints, "%.3e", text[3], sizeof text[3]),
               cell(row->velocity_variation, "%.5g", text[4], sizeof text[4]),
               cell(row->weighted_variation, "%.5g", text[6], sizeof text[6]),
               cell(row->graph_distance, "%.3e", text[7], sizeof text[7]),
               cell(row->complementarity, "%.1e", text[5], sizeof text[5]), row->collisions,
               row->certified ? "yes" : "NO", row->seconds);
}

/* The power of 1/h with which a quantity grows from the coarsest to the finest run; 0 where it does not. */
static double growth(const converge_table *t, double (*of)(const converge_row *)) {
  const converge_row *first = &t->rows[0], *last = &t->rows[t->n - 1];
  const double order = log(of(last) / of(first)) / log(first->h / last->h);
  return isfinite(order) && order > 0 ? order : 0;
}

static double natural(const converge_row *row) { return row->velocity_variation; }
static double weighted(const converge_row *row) { return row->weighted_variation; }

/* What the theorems promise: velocities of bounded variation, and of bounded energy. */
static void print_promises(const converge_table *t) {
  static const double SLOW = 0.25; /* powers of 1/h below count as bounded */
  const double grows = growth(t, natural), weighted_grows = growth(t, weighted);
  double energy = 0, work = 0, excess = NAN;
  for (int k = 0; k < t->n; k++) {
    energy = fmax(energy, t->rows[k].kinetic_growth); /* a row that failed is NAN and does not count */
    work = fmax(work, t->rows[k].constraint_work);
    excess = fmax(excess, t->rows[k].energy_excess);
  }
  (void)printf("  variation of the velocity ");
  (void)printf(grows > SLOW ? "grows like h^-%.2f" : "bounded", grows);
  (void)printf(", of the weighted velocity ");
  (void)printf(weighted_grows > SLOW ? "grows like h^-%.2f" : "bounded", weighted_grows);
  (void)printf(
      "\n  energy: v.Mv <= max(v0.Mv0, |q0| + 1) e^(%.3g t) (MDI Theorem 5.1); work of constraints <= %.1e (MDI (5.2))",
      energy, work);
  if (isfinite(excess)) (void)printf("; excess over the bound of LIT Theorem 9.1 <= %.1e", excess);
  (void)printf("\n");
}

/* Blows that a scheme at position level deals out in two, in any of its runs. */
static long split_blows(const converge_table *t) {
  long most = 0;
  for (int k = 0; k < t->n; k++) most = t->rows[k].split_blows > most ? t->rows[k].split_blows : most;
  return most;
}

static void print_limit(const converge_table *t) {
  const long blows = split_blows(t);
  if (blows)
    (void)printf(
        "  NOTE: %ld contact%s closed with friction on a body that already pressed on another; %s deals such a blow "
        "out in\n"
        "  two steps. It converges, but not to the limit of the schemes that locate collisions (docs/theory.md)\n",
        blows, blows == 1 ? "" : "s", t->scheme);
}

void converge_print_text(const session *s, const reference *r, const converge_table *tables, int n) {
  (void)printf("%s\n  reference: %s with step %.6g (%.3g s)%s\n", session_name(s), r->scheme, r->step, r->seconds,
               r->certified ? "" : ", NOT CERTIFIED");
  for (int i = 0; i < n; i++) {
    (void)printf("\n  %s\n  %-12s %11s %11s %6s %11s %11s %11s %11s %11s %10s  %-3s %9s\n", tables[i].scheme, "h",
                 "position", "velocity", "order", "joints", "variation", "weighted", "graph", "residual", "collisions",
                 "ok", "seconds");
    for (int k = 0; k < tables[i].n; k++) print_row(&tables[i].rows[k], ss_model_joint_rows(s->model));
    print_promises(&tables[i]);
    print_limit(&tables[i]);
    weak_print_text(&tables[i]);
  }
}

static json_t *row_json(const converge_row *row, int joint_rows) {
  json_t *joints = row->joint_errors ? json_numbers(row->joint_errors, joint_rows) : json_null();
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "h",
      json_number(row->h), "position_error", json_number(row->position_error), "velocity_error",
      json_number(row->velocity_error), "position_error_max", json_number(row->position_error_max), "velocity_error_l1",
      json_number(row->velocity_error_l1), "joint_errors", joints, "order", json_number(row->order),
      "velocity_variation", json_number(row->velocity_variation), "weighted_variation",
      json_number(row->weighted_variation), "certified", row->certified, "complementarity",
      json_number(row->complementarity), "penetration", json_number(row->penetration), "energy_created",
      json_number(row->energy_created), "collisions", (json_int_t)row->collisions, "seconds", json_number(row->seconds),
      "graph_distance", json_number(row->graph_distance), "kinetic_growth", json_number(row->kinetic_growth),
      "constraint_work", json_number(row->constraint_work), "energy_excess", json_number(row->energy_excess), "weak",
      weak_json(row));
}

static json_t *rows_json(const converge_table *table, int joint_rows) {
  json_t *rows = json_array();
  for (int i = 0; rows && i < table->n; i++)
    if (json_array_append_new(rows, row_json(&table->rows[i], joint_rows))) return NULL;
  return rows;
}

json_t *converge_json(const session *s, const reference *r, const converge_table *tables, int n) {
  const int joint_rows = ss_model_joint_rows(s->model);
  json_t *schemes = json_array();
  for (int i = 0; schemes && i < n; i++) {
    json_t *entry = json_pack("{s:o, s:o, s:b, s:I}", "scheme", json_text(tables[i].scheme), "rows",
                              rows_json(&tables[i], joint_rows), "common_limit", split_blows(&tables[i]) == 0,
                              "split_blows", (json_int_t)split_blows(&tables[i]));
    if (json_array_append_new(schemes, entry)) return NULL;
  }
  json_t *base = json_pack("{s:o, s:o, s:o, s:b}", "scheme", json_text(r->scheme), "step", json_number(r->step),
                           "seconds", json_number(r->seconds), "certified", r->certified);
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "scene", json_text(session_name(s)), "file",
                   json_text(s->path), "scheme", json_text(tables[0].scheme), "duration",
                   json_number(s->simulation.duration), "reference", base, "rows", rows_json(&tables[0], joint_rows),
                   "schemes", schemes);
}
