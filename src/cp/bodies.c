/* A large problem in the velocities of its bodies: w = J u + g with A u = J^T z.
 *
 * There are fewer of them than contacts have rows where contacts are redundant, and each is coupled with its neighbours only:
 * A + rho J^T D J has the pattern of who touches whom. Bodies are numbered breadth first, which incomplete factors like, and
 * measured in units that give A a unit diagonal, so that light and heavy ones count alike. */
#include "cp/bodies.h"

#include "cp/islands.h"
#include "cp/ordering.h"

#include "la/factor.h"

#include <math.h>
#include <string.h>

/* ---- setting up ---- */

typedef struct builder {
  body_space *s;
  const ss_cp_operator *o;
  int *body_of;   /* [columns of J] */
  int *seen;      /* [bodies of A] the last node that has met it, plus one; then its number */
  double *unit;   /* [columns] 1 / sqrt(A_ii) */
  size_t *A_from; /* [bodies of A] where its block is */
} builder;

/* Units from the diagonal; false where one is not positive. */
static bool measure(builder *b) {
  size_t at = 0;
  for (int k = 0; k < b->o->n_bodies; k++) {
    const int f = b->o->first[k], size = b->o->first[k + 1] - f;
    b->A_from[k] = at;
    for (int i = 0; i < size; i++) {
      const double d = b->o->A[at + (size_t)(i * (size + 1))];
      if (!(d > 0)) return false;
      b->unit[f + i] = 1 / sqrt(d);
      b->body_of[f + i] = k;
    }
    at += (size_t)(size * size);
  }
  return true;
}

/* The bodies that the nodes touch, with the original numbers; returns how many entries there are. */
static int list_contacts(builder *b, int *start, int *body) {
  const node_matrix *G = &b->s->l->G;
  const ss_sparse *J = &b->o->J;
  int count = 0;
  memset(b->seen, 0, sizeof(int) * (size_t)b->o->n_bodies);
  for (int p = 0; p < G->nodes; p++) {
    start[p] = count;
    for (int i = G->first[p]; i < G->first[p + 1]; i++)
      for (int e = J->start[i]; e < J->start[i + 1]; e++) {
        const int k = b->body_of[J->col[e]];
        if (b->seen[k] == p + 1) continue;
        b->seen[k] = p + 1;
        if (body) body[count] = k;
        count++;
      }
  }
  start[G->nodes] = count;
  return count;
}

static void sort(int *a, int count) {
  for (int k = 1; k < count; k++) {
    const int item = a[k];
    int at = k;
    for (; at > 0 && a[at - 1] > item; at--) a[at] = a[at - 1];
    a[at] = item;
  }
}

/* Who touches whom, itself among them, ascending: start [bodies + 1], col NULL at first. `by` are the nodes by bodies. */
static int neighbours(const body_space *s, int bodies, const int *by_start, const int *by, int *mark, int *start,
                      int *col) {
  int count = 0;
  for (int k = 0; k < bodies; k++) mark[k] = -1;
  for (int k = 0; k < bodies; k++) {
    start[k] = count;
    for (int e = by_start[k]; e < by_start[k + 1]; e++)
      for (int f = s->start[by[e]]; f < s->start[by[e] + 1]; f++) {
        const int other = s->body[f];
        if (mark[other] == k) continue;
        mark[other] = k;
        if (col) col[count] = other;
        count++;
      }
    if (col) sort(col + start[k], count - start[k]);
  }
  start[bodies] = count;
  return count;
}

/* The nodes by bodies, from s->start and s->body. */
static void turn_over(const body_space *s, int nodes, int bodies, int *by_start, int *by) {
  memset(by_start, 0, sizeof(int) * ((size_t)bodies + 1));
  for (int e = 0; e < s->start[nodes]; e++) by_start[s->body[e] + 1]++;
  for (int k = 0; k < bodies; k++) by_start[k + 1] += by_start[k];
  for (int p = 0; p < nodes; p++)
    for (int e = s->start[p]; e < s->start[p + 1]; e++) by[by_start[s->body[e]]++] = p;
  for (int k = bodies; k > 0; k--) by_start[k] = by_start[k - 1];
  by_start[0] = 0;
}

/* Renumbers the bodies of s->body breadth first; bodies without contacts are left out. order: their original numbers. */
static ss_status number(builder *b, int *order, ss_cp_workspace *w, ss_error *error) {
  body_space *s = b->s;
  const scratch_mark mark = scratch_now(w);
  const int nodes = s->l->G.nodes, all = b->o->n_bodies;
  int *by_start = SCRATCH(w, int, 2 * (size_t)all + 2), *by = SCRATCH(w, int, s->start[nodes]),
      *start = by_start + all + 1;
  bool *seen = SCRATCH(w, bool, all);
  if (!by_start || !by || !seen) return out_of_memory(error);
  turn_over(s, nodes, all, by_start, by);
  int *col = SCRATCH(w, int, neighbours(s, all, by_start, by, b->seen, start, NULL));
  if (!col) return out_of_memory(error);
  (void)neighbours(s, all, by_start, by, b->seen, start, col);
  order_nodes(&(ss_graph){all, start, col}, SS_ORDER_BREADTH, order, seen);
  for (int k = 0; k < all; k++) {
    const int body = order[k];
    if (by_start[body] == by_start[body + 1]) continue;
    b->seen[body] = s->bodies;
    order[s->bodies++] = body;
  }
  for (int e = 0; e < s->start[nodes]; e++) s->body[e] = b->seen[s->body[e]];
  scratch_release(w, mark);
  return SS_OK;
}

static void load_masses(builder *b, const int *order) {
  body_space *s = b->s;
  size_t at = 0;
  s->m = 0;
  for (int k = 0; k < s->bodies; k++) {
    const int f = b->o->first[order[k]], size = b->o->first[order[k] + 1] - f;
    const double *A = b->o->A + b->A_from[order[k]], *unit = b->unit + f;
    s->first[k] = s->m;
    s->A_at[k] = at;
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) s->A[at++] = unit[i] * A[i * size + j] * unit[j];
    s->m += size;
  }
  s->first[s->bodies] = s->m;
}

/* The blocks of J, rows scaled as the problem's and columns by the units. */
static void load_contacts(builder *b) {
  body_space *s = b->s;
  const node_matrix *G = &s->l->G;
  const ss_sparse *J = &b->o->J;
  size_t at = 0;
  for (int p = 0; p < G->nodes; p++) {
    const int f = G->first[p], rows = G->first[p + 1] - f;
    for (int e = s->start[p]; e < s->start[p + 1]; e++) {
      const int size = s->first[s->body[e] + 1] - s->first[s->body[e]];
      s->at[e] = at;
      memset(s->J + at, 0, sizeof(double) * (size_t)(rows * size));
      at += (size_t)(rows * size);
    }
    for (int i = 0; i < rows; i++)
      for (int n = J->start[f + i]; n < J->start[f + i + 1]; n++) {
        const int c = J->col[n], k = b->seen[b->body_of[c]], size = s->first[k + 1] - s->first[k];
        int e = s->start[p];
        while (s->body[e] != k) e++;
        s->J[s->at[e] + (size_t)(i * size + c - b->o->first[b->body_of[c]])] =
            s->l->scale[f + i] * b->unit[c] * J->value[n];
      }
  }
}

/* The pattern of H. */
static ss_status connect(body_space *s, ss_cp_workspace *w, ss_error *error) {
  const int nodes = s->l->G.nodes;
  body_matrix *H = &s->H;
  *H = (body_matrix){.bodies = s->bodies, .first = s->first, .start = SCRATCH(w, int, 3 * (size_t)s->bodies + 1)};
  int *by_start = SCRATCH(w, int, 2 * (size_t)s->bodies + 1), *by = SCRATCH(w, int, s->start[nodes]);
  if (!H->start || !by_start || !by) return out_of_memory(error);
  int *mark = by_start + s->bodies + 1;
  H->diagonal = H->start + s->bodies + 1;
  turn_over(s, nodes, s->bodies, by_start, by);
  const int count = neighbours(s, s->bodies, by_start, by, mark, H->start, NULL);
  H->col = SCRATCH(w, int, count);
  H->at = SCRATCH(w, size_t, count);
  if (!H->col || !H->at) return out_of_memory(error);
  (void)neighbours(s, s->bodies, by_start, by, mark, H->start, H->col);
  for (int k = 0; k < s->bodies; k++)
    for (int e = H->start[k]; e < H->start[k + 1]; e++) {
      const int c = H->col[e];
      if (c == k) H->diagonal[k] = e;
      H->at[e] = H->numbers;
      H->numbers += (size_t)((s->first[k + 1] - s->first[k]) * (s->first[c + 1] - s->first[c]));
    }
  H->value = SCRATCH(w, double, H->numbers);
  return H->value ? SS_OK : out_of_memory(error);
}

static ss_status allocate_contacts(builder *b, ss_cp_workspace *w, ss_error *error) {
  body_space *s = b->s;
  const int nodes = s->l->G.nodes;
  s->start = SCRATCH(w, int, nodes + 1);
  if (!s->start) return out_of_memory(error);
  const size_t entries = (size_t)list_contacts(b, s->start, NULL);
  s->body = SCRATCH(w, int, entries);
  s->at = SCRATCH(w, size_t, entries);
  if (!s->body || !s->at) return out_of_memory(error);
  (void)list_contacts(b, s->start, s->body);
  size_t numbers = 0;
  for (int p = 0; p < nodes; p++)
    for (int e = s->start[p]; e < s->start[p + 1]; e++)
      numbers += (size_t)(s->l->G.first[p + 1] - s->l->G.first[p]) *
                 (size_t)(b->o->first[s->body[e] + 1] - b->o->first[s->body[e]]);
  s->J = SCRATCH(w, double, numbers);
  return s->J ? SS_OK : out_of_memory(error);
}

ss_status body_space_create(body_space *s, const large *l, ss_cp_workspace *w, bool *admitted, ss_error *error) {
  const ss_cp_operator *o = l->original->factors;
  *s = (body_space){.l = l};
  *admitted = operator_has_bodies(o);
  if (!*admitted) return SS_OK;
  const size_t bodies = (size_t)o->n_bodies, columns = (size_t)o->J.cols;
  builder b = {.s = s, .o = o, .body_of = SCRATCH(w, int, columns), .seen = SCRATCH(w, int, bodies)};
  b.unit = SCRATCH(w, double, columns);
  b.A_from = SCRATCH(w, size_t, bodies);
  int *order = SCRATCH(w, int, bodies);
  s->first = SCRATCH(w, int, bodies + 1);
  s->A_at = SCRATCH(w, size_t, bodies);
  if (!b.body_of || !b.seen || !b.unit || !b.A_from || !order || !s->first || !s->A_at) return out_of_memory(error);
  *admitted = measure(&b);
  if (!*admitted) return SS_OK;
  size_t numbers = 0;
  for (size_t k = 0; k < bodies; k++) {
    const size_t size = (size_t)(o->first[k + 1] - o->first[k]);
    numbers += size * size;
  }
  s->A = SCRATCH(w, double, numbers);
  if (!s->A) return out_of_memory(error);
  ss_status status = allocate_contacts(&b, w, error);
  if (!status) status = number(&b, order, w, error);
  if (status) return status;
  load_masses(&b, order);
  load_contacts(&b);
  return connect(s, w, error);
}

/* ---- using it ---- */

/* y += a x, a: rows x cols */
static inline void multiply_add(const double *restrict a, const double *restrict x, int rows, int cols,
                                double *restrict y) {
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int j = 0; j < cols; j++) sum += a[i * cols + j] * x[j];
    y[i] += sum;
  }
}

void body_space_slack(const body_space *s, const double *u, double *w) {
  const node_matrix *G = &s->l->G;
  memcpy(w, s->l->g, sizeof(double) * (size_t)G->n);
  for (int p = 0; p < G->nodes; p++)
    for (int e = s->start[p]; e < s->start[p + 1]; e++) {
      const int k = s->body[e];
      multiply_add(s->J + s->at[e], u + s->first[k], G->first[p + 1] - G->first[p], s->first[k + 1] - s->first[k],
                   w + G->first[p]);
    }
}

void body_space_collect(const body_space *s, const double *u, const double *z, double *F) {
  const node_matrix *G = &s->l->G;
  memset(F, 0, sizeof(double) * (size_t)s->m);
  for (int k = 0; u && k < s->bodies; k++) {
    const int size = s->first[k + 1] - s->first[k];
    multiply_add(s->A + s->A_at[k], u + s->first[k], size, size, F + s->first[k]);
  }
  for (int p = 0; p < G->nodes; p++)
    for (int e = s->start[p]; e < s->start[p + 1]; e++) {
      const int f = s->first[s->body[e]], size = s->first[s->body[e] + 1] - f;
      for (int i = G->first[p], row = 0; i < G->first[p + 1]; i++, row++)
        for (int j = 0; j < size; j++) F[f + j] -= z[i] * s->J[s->at[e] + (size_t)(row * size + j)];
    }
}

bool body_space_velocity(const body_space *s, const double *z, double *u) {
  body_space_collect(s, NULL, z, u);
  for (int k = 0; k < s->bodies; k++) {
    const int size = s->first[k + 1] - s->first[k];
    double a[SS_CP_BODY_ROWS * SS_CP_BODY_ROWS];
    int pivot[SS_CP_BODY_ROWS];
    memcpy(a, s->A + s->A_at[k], sizeof(double) * (size_t)(size * size));
    if (!ss_dense_factor(a, size, pivot)) return false;
    ss_dense_solve(a, size, pivot, u + s->first[k], 1);
  }
  for (int i = 0; i < s->m; i++) u[i] = -u[i];
  return true;
}

static double *entry(const body_matrix *H, int row, int col) {
  int low = H->start[row], high = H->start[row + 1] - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (H->col[middle] < col)
      low = middle + 1;
    else
      high = middle;
  }
  return H->value + H->at[low];
}

/* to += left^T right, left: rows x size, right: rows x other, both row-major */
static inline void add_product(double *restrict to, const double *restrict left, const double *restrict right, int rows,
                               int size, int other) {
  for (int r = 0; r < rows; r++)
    for (int j = 0; j < other; j++) {
      const double f = right[r * other + j];
      for (int i = 0; i < size; i++) to[j * size + i] += left[r * size + i] * f;
    }
}

/* What node p adds: rho J_a^T D J_b for all bodies a, b of it. */
static void assemble_node(body_space *s, int p, double rho, const double (*D)[SS_FRICTION_ROWS]) {
  const node_matrix *G = &s->l->G;
  const int f = G->first[p], rows = G->first[p + 1] - f;
  bool any = false;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < rows; j++) any = any || D[f + i][j] != 0;
  for (int e = s->start[p]; any && e < s->start[p + 1]; e++) {
    const int b = s->body[e], other = s->first[b + 1] - s->first[b];
    const double *J = s->J + s->at[e];
    double DJ[SS_FRICTION_ROWS * SS_CP_BODY_ROWS];
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < other; j++) {
        double sum = 0;
        for (int k = 0; k < rows; k++) sum += D[f + i][k] * J[k * other + j];
        DJ[i * other + j] = rho * sum;
      }
    for (int g = s->start[p]; g < s->start[p + 1]; g++) {
      const int a = s->body[g], size = s->first[a + 1] - s->first[a];
      double *to = entry(&s->H, a, b);
      if (rows == 3 && size == 6 && other == 6)
        add_product(to, s->J + s->at[g], DJ, 3, 6, 6);
      else
        add_product(to, s->J + s->at[g], DJ, rows, size, other);
    }
  }
}

void body_space_assemble(body_space *s, double rho, const double (*D)[SS_FRICTION_ROWS]) {
  body_matrix *H = &s->H;
  memset(H->value, 0, sizeof(double) * H->numbers);
  for (int k = 0; k < s->bodies; k++) {
    const int size = s->first[k + 1] - s->first[k];
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++)
        H->value[H->at[H->diagonal[k]] + (size_t)(j * size + i)] = s->A[s->A_at[k] + (size_t)(i * size + j)];
  }
  for (int p = 0; p < s->l->G.nodes; p++) assemble_node(s, p, rho, D);
}

/* y += a x, a: rows x cols by columns, so that its rows are summed side by side */
static inline void add_columns(const double *restrict a, const double *restrict x, int rows, int cols,
                               double *restrict y) {
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) y[i] += a[j * rows + i] * x[j];
}

void body_matrix_apply(const body_matrix *H, const double *x, double *y) {
  memset(y, 0, sizeof(double) * (size_t)H->first[H->bodies]);
  for (int i = 0; i < H->bodies; i++)
    for (int e = H->start[i]; e < H->start[i + 1]; e++) {
      const int k = H->col[e], rows = H->first[i + 1] - H->first[i], cols = H->first[k + 1] - H->first[k];
      if (rows == 6 && cols == 6)
        add_columns(H->value + H->at[e], x + H->first[k], 6, 6, y + H->first[i]);
      else
        add_columns(H->value + H->at[e], x + H->first[k], rows, cols, y + H->first[i]);
    }
}
