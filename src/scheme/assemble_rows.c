/* G of many contacts by its rows, without zeros: row i meets row j only where they share a body (discretise.c). A pile of
 * n contacts costs O(n) this way. */
#include "scheme/scheme.h"

enum { ROWS_FROM = 200 }; /* rows from which a matrix without zeros is worth it; the solvers for it start there too */

bool ss_rows_are_many(const ss_sim *sim) {
  return sim->trial.problem.n >= ROWS_FROM && sim->chosen.automatic && !sim->trial.coupling.active && !sim->system &&
         !sim->scheme->compliant;
}

/* The next row on the chain of a body's rows, `end` being a place on it; -1: none. A row that touches the body twice
 * stands on it twice. */
static int next_on(const ss_problem *p, int end, int row) {
  while (end >= 0 && end / 2 <= row) end = p->next_row[end];
  return end;
}

int ss_rows_of(const ss_sim *sim, int i, int *col, double *value) {
  const ss_problem *p = &sim->trial.problem;
  int at[2], count = 0;
  for (int side = 0; side < 2; side++) {
    const int body = p->rows[i].body[side];
    at[side] = body < 0 ? -1 : sim->solver.first_row[body];
  }
  while (at[0] >= 0 || at[1] >= 0) {
    const int first = at[0] < 0 ? 1 : at[1] < 0 ? 0 : at[1] / 2 < at[0] / 2, j = at[first] / 2;
    if (col) {
      col[count] = j;
      value[count] = p->alpha * ss_rows_meet(sim, i, j) + (i == j ? p->compliance[i] : 0);
    }
    count++;
    for (int side = 0; side < 2; side++) at[side] = next_on(p, at[side], j);
  }
  if (count) return count;
  if (col) { /* a row without bodies that move */
    col[0] = i;
    value[0] = p->compliance[i];
  }
  return 1;
}

static ss_status reserve_list(ss_listed *l, int rows, int entries, ss_error *error) {
  int capacity = l->capacity;
  ss_status status = ss_grow((void **)&l->start, &l->row_capacity, rows + 1, sizeof *l->start, error);
  if (status == SS_OK) status = ss_grow((void **)&l->col, &capacity, entries, sizeof *l->col, error);
  return status ? status : ss_grow((void **)&l->value, &l->capacity, entries, sizeof *l->value, error);
}

ss_status ss_assemble_rows(ss_sim *sim, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  ss_listed *l = &p->listed;
  ss_chain_rows(sim);
  ss_status status = ss_grow((void **)&l->start, &l->row_capacity, p->n + 1, sizeof *l->start, error);
  if (status != SS_OK) return status;
  int total = 0;
  for (int i = 0; i < p->n; i++) {
    l->start[i] = total;
    total += ss_rows_of(sim, i, NULL, NULL);
  }
  l->start[p->n] = total;
  ss_trial *trial;
  for (int i = 0; status == SS_OK && (trial = ss_trial_free(sim, i)); i++)
    status = reserve_list(&trial->problem.listed, p->n, total, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < p->n; i++) (void)ss_rows_of(sim, i, l->col + l->start[i], l->value + l->start[i]);
  l->matrix = (ss_sparse){p->n, p->n, l->start, l->col, l->value};
  return SS_OK;
}

/* ---- either form ---- */

double ss_problem_diagonal(const ss_sim *sim, int i) {
  const ss_problem *p = &sim->trial.problem;
  if (p->divided)
    return p->alpha * ss_row_meets_itself(sim->model, &p->rows[i], p->w + 12 * (size_t)i) + p->compliance[i];
  if (!p->large) return p->G[(size_t)i * (size_t)p->n + (size_t)i];
  for (int k = p->listed.start[i]; k < p->listed.start[i + 1]; k++)
    if (p->listed.col[k] == i) return p->listed.value[k];
  return 0;
}

void ss_problem_rescale(ss_problem *p, bool back) {
  if (p->divided) return;
  const ss_listed *l = &p->listed;
  for (int i = 0; i < p->n; i++) {
    const double d = back ? 1 / p->scale[i] : p->scale[i];
    double *line = p->large ? l->value + l->start[i] : p->G + (size_t)i * (size_t)p->n;
    const int count = p->large ? l->start[i + 1] - l->start[i] : p->n;
    for (int k = 0; k < count; k++) {
      const double other = p->scale[p->large ? l->col[l->start[i] + k] : k];
      line[k] *= d * (back ? 1 / other : other);
    }
  }
}

void ss_problem_add_column(const ss_problem *p, int column, double factor, double *out) {
  const ss_listed *l = &p->listed;
  if (!p->large) {
    for (int i = 0; i < p->n; i++) out[i] += p->G[(size_t)i * (size_t)p->n + (size_t)column] * factor;
    return;
  }
  for (int e = l->start[column]; e < l->start[column + 1]; e++) { /* the pattern is symmetric */
    const int i = l->col[e];
    for (int k = l->start[i]; k < l->start[i + 1]; k++)
      if (l->col[k] == column) out[i] += l->value[k] * factor;
  }
}
