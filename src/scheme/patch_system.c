/* One pass of the structured Newton method: every patch is eliminated on its own, the groups of bodies that touch each other
 * are solved, the patches follow (patch_newton.c has the equations). */
#include "scheme/patch_newton.h"

#include "la/dense.h"

#include <string.h>

/* ---- groups of bodies ---- */

static int root_of(const int *parent, int body) {
  while (parent[body] != body) body = parent[body];
  return body;
}

static void join(int *parent, const ss_row *row) {
  if (row->body[0] < 0 || row->body[1] < 0) return;
  const int a = root_of(parent, row->body[0]), b = root_of(parent, row->body[1]);
  parent[a > b ? a : b] = a > b ? b : a;
}

/* The group of a row: that of either body. */
static int group_of(const patch_newton *k, const ss_row *row) {
  return k->group[row->body[0] >= 0 ? row->body[0] : row->body[1]];
}

/* Numbers the groups and places the bodies' coordinates, then the free rows, in them. Returns the largest size. */
int newton_form_groups(patch_newton *k) {
  const ss_sim *sim = k->sim;
  const ss_problem *p = &sim->trial.problem;
  const int bodies = sim->model->n_bodies;
  int largest = 0;
  k->n_groups = 0;
  for (int i = 0; i < bodies; i++) k->parent[i] = i;
  for (int i = 0; i < p->n; i++) join(k->parent, &p->rows[i]);
  for (int i = 0; i < bodies; i++) {
    const int root = root_of(k->parent, i); /* at most i */
    if (root == i) k->size[k->n_groups++] = 0;
    k->group[i] = root == i ? k->n_groups - 1 : k->group[root];
    k->place[i] = k->size[k->group[i]];
    k->size[k->group[i]] += sim->model->bodies[i].n;
  }
  for (int i = 0; i < p->n_free; i++) k->place[bodies + i] = k->size[group_of(k, &p->rows[i])]++;
  for (int g = 0; g < k->n_groups; g++) largest = k->size[g] > largest ? k->size[g] : largest;
  return largest;
}

/* A on the diagonal, no right side. */
static void clear_systems(patch_newton *k) {
  const ss_model *model = k->sim->model;
  for (int g = 0; g < k->n_groups; g++) {
    memset(k->matrix[g], 0, sizeof(double) * (size_t)k->size[g] * (size_t)k->size[g]);
    memset(k->right[g], 0, sizeof(double) * (size_t)k->size[g]);
  }
  for (int i = 0; i < model->n_bodies; i++) {
    const int n = model->bodies[i].n, width = k->size[k->group[i]];
    double copy[36], block[36];
    memcpy(copy, k->sim->trial.ainv + 36 * (size_t)i, sizeof copy);
    (void)ss_dense_inverse(copy, n, block);
    for (int r = 0; r < n; r++)
      for (int c = 0; c < n; c++)
        k->matrix[k->group[i]][(size_t)(k->place[i] + r) * (size_t)width + (size_t)(k->place[i] + c)] =
            block[r * n + c];
  }
}

/* Where the coordinates of both bodies of a row stand in its group's system; returns how many. */
static int columns_of(const patch_newton *k, const ss_row *row, int columns[BODY_COLUMNS]) {
  int n = 0;
  for (int side = 0; side < 2; side++)
    for (int j = 0; row->body[side] >= 0 && j < k->sim->model->bodies[row->body[side]].n; j++)
      columns[n++] = k->place[row->body[side]] + j;
  return n;
}

static void row_entries(const patch_newton *k, const ss_row *row, double factor, double out[BODY_COLUMNS]) {
  int n = 0;
  for (int side = 0; side < 2; side++)
    for (int j = 0; row->body[side] >= 0 && j < k->sim->model->bodies[row->body[side]].n; j++)
      out[n++] += factor * row->j[side][j];
}

/* ---- one patch ---- */

/* Whether the unknowns are the patch's components themselves: all elements stick. */
static bool sticks_altogether(const ss_contact *c, const unknown *u, int m) {
  if (m != c->patch->n || c->n_rows != c->patch->n_directions) return false;
  for (int i = 0; i < m; i++)
    if (u[i].diagonal != 0 || (u[i].size == c->n_rows && (u[i].b[1] != 0 || u[i].b[2] != 0))) return false;
  return true;
}

/* T = C^T R B + D, line by line: first C^T R, then its product with the few entries of each column of B. */
static void fill_patch_matrix(patch_newton *k, const ss_contact *c, const unknown *u, int m) {
  const double scale = 1 / k->sim->trial.problem.h;
  const int n = c->patch->n;
  for (int i = 0; i < m; i++) {
    double *line = k->line, *out = k->t + (size_t)i * (size_t)m;
    memset(line, 0, sizeof(double) * (size_t)n);
    for (int a = 0; a < u[i].size; a++) {
      const double factor = scale * u[i].c[a];
      const double *from = c->patch->flexibility + (size_t)patch_component(c, u[i].first + a - c->row) * (size_t)n;
      for (int j = 0; factor != 0 && j < n; j++) line[j] += factor * from[j];
    }
    for (int j = 0; j < m; j++) {
      const double *at = line + patch_component(c, u[j].first - c->row); /* its rows belong to one element */
      double sum = 0;
      for (int b = 0; b < u[j].size; b++) sum += u[j].b[b] * at[b];
      out[j] = sum;
    }
    out[i] += u[i].diagonal;
  }
}

/* x = T^-1 x for x [m][count]; T^-1 = h E where all stick. */
static bool solve_patch(patch_newton *k, const ss_contact *c, const unknown *u, int m, double *x, int count) {
  if (!sticks_altogether(c, u, m)) {
    fill_patch_matrix(k, c, u, m);
    if (!ss_dense_factor(k->t, m, 0, k->pivot)) return false;
    ss_dense_solve(k->t, m, k->pivot, x, count);
    return true;
  }
  const double h = k->sim->trial.problem.h;
  memcpy(k->t, x, sizeof(double) * (size_t)m * (size_t)count);
  memset(x, 0, sizeof(double) * (size_t)m * (size_t)count);
  for (int i = 0; i < m; i++) {
    const double *stiff = c->patch->K + (size_t)i * (size_t)m, *damped = c->patch->C + (size_t)i * (size_t)m;
    double *out = x + (size_t)i * (size_t)count;
    for (int j = 0; j < m; j++) {
      const double factor = h * (h * stiff[j] + damped[j]), *from = k->t + (size_t)j * (size_t)count;
      for (int l = 0; l < count; l++) out[l] += factor * from[l];
    }
  }
  return true;
}

/* Eliminates the patch's unknowns u[0 .. m-1]; leaves T^-1 [r, C^T J] in x. */
static bool eliminate_patch(patch_newton *k, const ss_contact *c, const unknown *u, int m, const double *w, double *x) {
  const ss_problem *p = &k->sim->trial.problem;
  int columns[BODY_COLUMNS];
  const int n = columns_of(k, &p->rows[c->row], columns), count = n + 1, g = group_of(k, &p->rows[c->row]);
  memset(k->bj, 0, sizeof(double) * (size_t)m * BODY_COLUMNS);
  for (int i = 0; i < m; i++) {
    double cj[BODY_COLUMNS] = {0}, r = u[i].value;
    for (int a = 0; a < u[i].size; a++) {
      const ss_row *row = &p->rows[u[i].first + a];
      r -= u[i].c[a] * w[u[i].first + a];
      if (u[i].c[a] != 0) row_entries(k, row, u[i].c[a], cj);
      if (u[i].b[a] != 0) row_entries(k, row, u[i].b[a], k->bj + (size_t)i * BODY_COLUMNS);
    }
    x[(size_t)i * (size_t)count] = r;
    memcpy(x + (size_t)i * (size_t)count + 1, cj, sizeof(double) * (size_t)n);
  }
  if (!solve_patch(k, c, u, m, x, count)) return false;
  for (int a = 0; a < n; a++)
    for (int i = 0; i < m; i++) {
      const double b = k->bj[(size_t)i * BODY_COLUMNS + (size_t)a];
      const double *line = x + (size_t)i * (size_t)count;
      if (b == 0) continue;
      k->right[g][columns[a]] += b * line[0];
      double *row = k->matrix[g] + (size_t)columns[a] * (size_t)k->size[g];
      for (int j = 0; j < n; j++) row[columns[j]] += k->alpha * b * line[1 + j];
    }
  return true;
}

static void place_free_row(patch_newton *k, int i, const double *w) {
  const ss_problem *p = &k->sim->trial.problem;
  const ss_row *row = &p->rows[i];
  const int g = group_of(k, row), own = k->place[k->sim->model->n_bodies + i], width = k->size[g];
  int columns[BODY_COLUMNS];
  double entries[BODY_COLUMNS] = {0};
  const int n = columns_of(k, row, columns);
  row_entries(k, row, 1, entries);
  for (int j = 0; j < n; j++) {
    k->matrix[g][(size_t)own * (size_t)width + (size_t)columns[j]] += k->alpha * entries[j];
    k->matrix[g][(size_t)columns[j] * (size_t)width + (size_t)own] -= entries[j];
  }
  k->matrix[g][(size_t)own * (size_t)(width + 1)] += p->compliance[i];
  k->right[g][own] = -w[i];
}

/* ---- one pass: z solves the equations of the states ---- */

/* How many of the unknowns from u on belong to the contact. */
static int unknowns_of(const ss_contact *c, const unknown *u, const unknown *end) {
  int m = 0;
  while (u + m < end && u[m].first < c->row + c->n_rows * c->patch->n_elements) m++;
  return m;
}

bool newton_solve_states(patch_newton *k, double *z, double *w) {
  ss_sim *sim = k->sim;
  const ss_problem *p = &sim->trial.problem;
  const int total = active_set_unknowns(&k->set, z);
  const unknown *first = k->set.u + p->n_free, *end = k->set.u + total, *u = first;
  newton_apply(k, z, w);
  clear_systems(k);
  double *x = k->x;
  for (int q = 0; q < sim->trial.n_contacts; q++) {
    const ss_contact *c = &sim->trial.contacts[q];
    const int m = c->row < 0 ? 0 : unknowns_of(c, u, end);
    if (m == 0) continue;
    if (!eliminate_patch(k, c, u, m, w, x)) return false;
    u += m;
    x += (size_t)m * (1 + BODY_COLUMNS);
  }
  for (int i = 0; i < p->n_free; i++) place_free_row(k, i, w);
  for (int g = 0; g < k->n_groups; g++) {
    if (!ss_dense_factor(k->matrix[g], k->size[g], 0, k->pivot)) return false;
    ss_dense_solve(k->matrix[g], k->size[g], k->pivot, k->right[g], 1);
  }
  for (int i = 0; i < p->n_free; i++) z[i] += k->right[group_of(k, &p->rows[i])][k->place[sim->model->n_bodies + i]];
  u = first;
  x = k->x;
  for (int q = 0; q < sim->trial.n_contacts; q++) {
    const ss_contact *c = &sim->trial.contacts[q];
    const int m = c->row < 0 ? 0 : unknowns_of(c, u, end);
    if (m == 0) continue;
    int columns[BODY_COLUMNS];
    const int n = columns_of(k, &p->rows[c->row], columns), g = group_of(k, &p->rows[c->row]);
    for (int i = 0; i < m; i++) {
      const double *line = x + (size_t)i * (size_t)(n + 1);
      double y = line[0];
      for (int j = 0; j < n; j++) y -= k->alpha * line[1 + j] * k->right[g][columns[j]];
      for (int a = 0; a < u[i].size; a++) z[u[i].first + a] += u[i].b[a] * y;
    }
    u += m;
    x += (size_t)m * (1 + BODY_COLUMNS);
  }
  return true;
}
