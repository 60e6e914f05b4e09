/* `stickslip converge`: weak solutions (BVP Definition 2) of compliant schemes, and how fast they are approached. */
#include "converge.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

static const struct {
  const char *name, *title;
  size_t offset;
} columns[] = {
    {"momentum", "momentum", offsetof(ss_weak_residuals, momentum)},
    {"kinematics", "kinematics", offsetof(ss_weak_residuals, kinematics)},
    {"compliance", "compliance", offsetof(ss_weak_residuals, compliance)},
    {"gap", "gap", offsetof(ss_weak_residuals, gap)},
    {"complementarity", "normal", offsetof(ss_weak_residuals, complementarity)},
    {"cone", "cone", offsetof(ss_weak_residuals, cone)},
    {"friction", "friction", offsetof(ss_weak_residuals, friction)},
    {"friction_tested", "tested", offsetof(ss_weak_residuals, friction_tested)},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static double value(const converge_row *row, int column) {
  return *(const double *)((const char *)&row->weak + columns[column].offset);
}

static void print_line(const converge_row *row) {
  (void)printf("  %-12.6g", row->h);
  for (int i = 0; i < COLUMNS; i++) (void)printf(" %11.3e", value(row, i));
  (void)printf("\n");
}

void weak_print_text(const converge_table *table) {
  const converge_row *first = NULL, *last = NULL;
  for (int k = 0; k < table->n; k++) {
    if (!table->rows[k].has_weak) continue;
    if (!first) first = &table->rows[k];
    last = &table->rows[k];
  }
  if (!first) return;
  (void)printf("  distance from a weak solution (BVP Definition 2), evaluated on the trajectory\n  %-12s", "h");
  for (int i = 0; i < COLUMNS; i++) (void)printf(" %11s", columns[i].title);
  (void)printf("\n");
  for (int k = 0; k < table->n; k++)
    if (table->rows[k].has_weak) print_line(&table->rows[k]);
  if (first == last) return;
  (void)printf("  %-12s", "order");
  for (int i = 0; i < COLUMNS; i++) {
    const double order = log(value(first, i) / value(last, i)) / log(first->h / last->h);
    if (isfinite(order))
      (void)printf(" %11.2f", order);
    else
      (void)printf(" %11s", "-");
  }
  (void)printf("\n");
}

json_t *weak_json(const converge_row *row) {
  if (!row->has_weak) return json_null();
  json_t *object = json_object();
  for (int i = 0; object && i < COLUMNS; i++)
    if (json_object_set_new(object, columns[i].name, json_number(value(row, i)))) return NULL;
  return object;
}
