/* Sweeps over the contacts of a problem that is given by factors, through the velocities of the bodies.
 *
 * With A = L L^T and K = J L^-T, G = K K^T: a row of G x + g is that of K u + g with u = K^T x, and a change of one node's
 * impulse changes u in the bodies that it touches. Both take the numbers that the contact has in J, however many neighbours it has;
 * the rows of G of a packing are three times as many numbers, and memory is what sweeps over tens of thousands of contacts wait for.
 * u comes anew from x at the start of every sweep: rounding errors do not add up. Needs a symmetric, positive definite A.
 *
 * Bodies are numbered breadth first, so that neighbours are near each other in memory, and measured in units that give A a unit
 * diagonal. In that order they are cut into strips. First come the nodes within a strip, then those between the first strip and the second,
 * the third and the fourth, and so on, then those between the second and the third, and so on; at last what touches strips that are not next to
 * each other: threads share all but these. Within each piece the nodes keep their order. */
#include "cp/body_sweep.h"

#include "cp/storage.h"
#include "cp/gauss_seidel.h"

#include <math.h>
#include <string.h>

/* ---- the bodies ---- */

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

static ss_status body_space_create(body_space *s, const large *l, ss_cp_workspace *w, bool *admitted, ss_error *error) {
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
  return SS_OK;
}

/* ---- sweeps ---- */

/* The lower triangle of a becomes L; false where a is not symmetric, or not positive definite. */
static bool root_of(double *a, int n) {
  static const double rounding = 1e-14; /* the diagonal is 1 */
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      if (fabs(a[i * n + j] - a[j * n + i]) > rounding) return false;
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) {
      double sum = a[i * n + j];
      for (int k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
      if (i == j && !(sum > rounding)) return false;
      a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
    }
  return true;
}

/* The rows of J over one body become those of K. */
static void divide(double *J, int rows, const double *L, int n) {
  for (int r = 0; r < rows; r++, J += n)
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < i; k++) J[i] -= L[i * n + k] * J[k];
      J[i] /= L[i * n + i];
    }
}

static bool copy_diagonal(body_sweep *b, const node_matrix *G, ss_cp_workspace *w) {
  size_t numbers = 0;
  b->W_at = SCRATCH(w, size_t, G->nodes);
  for (int p = 0; p < G->nodes && b->W_at; p++) {
    const size_t rows = (size_t)(G->first[p + 1] - G->first[p]);
    b->W_at[p] = numbers;
    numbers += rows * rows;
  }
  b->W = SCRATCH(w, double, numbers);
  for (int p = 0; p < G->nodes && b->W_at && b->W; p++) {
    const size_t rows = (size_t)(G->first[p + 1] - G->first[p]);
    memcpy(b->W + b->W_at[p], G->value + G->at[G->diagonal[p]], sizeof(double) * rows * rows);
  }
  return b->W_at && b->W;
}

/* Bodies to strips of about as many contacts each. */
static void cut_strips(const body_space *s, int nodes, int strips, int *strip) {
  for (int k = 0; k < s->bodies; k++) strip[k] = 0;
  for (int e = 0; e < s->start[nodes]; e++) strip[s->body[e]]++;
  const double share = (double)strips / fmax(1, s->start[nodes]);
  for (int k = 0, before = 0; k < s->bodies; k++) {
    const int own = strip[k];
    strip[k] = (int)(before * share);
    before += own;
  }
}

/* The piece of a node: strips, pairs of them, the rest. */
static int piece_of(const body_space *s, const int *strip, int strips, int p) {
  int least = strips, most = 0;
  for (int e = s->start[p]; e < s->start[p + 1]; e++) {
    const int k = strip[s->body[e]];
    if (k < least) least = k;
    if (k > most) most = k;
  }
  if (least >= most) return most;
  if (most > least + 1) return 2 * strips - 1;
  const int pairs = strips / 2; /* that begin with an even strip */
  return strips + (least % 2 == 0 ? least / 2 : pairs + least / 2);
}

static bool order_sweep(body_sweep *b, int nodes, ss_cp_workspace *w) {
  enum { WORTH_A_STRIP = 200, MOST_STRIPS = 8 };
  int strips = nodes / WORTH_A_STRIP / 2 * 2;
  strips = strips < 2 ? 1 : strips < MOST_STRIPS ? strips : MOST_STRIPS;
  const int pieces = 2 * strips;
  sweep_order *o = &b->order;
  o->node = SCRATCH(w, int, nodes + 1);
  o->start = SCRATCH(w, int, pieces + 1);
  const scratch_mark mark = scratch_now(w);
  int *strip = SCRATCH(w, int, b->s.bodies + 1), *piece = SCRATCH(w, int, nodes + 1);
  if (!o->node || !o->start || !strip || !piece) return false;
  cut_strips(&b->s, nodes, strips, strip);
  memset(o->start, 0, sizeof(int) * ((size_t)pieces + 1));
  for (int p = 0; p < nodes; p++) o->start[(piece[p] = piece_of(&b->s, strip, strips, p)) + 1]++;
  for (int k = 0; k < pieces; k++) o->start[k + 1] += o->start[k];
  for (int p = 0; p < nodes; p++) o->node[o->start[piece[p]]++] = p;
  for (int k = pieces; k > 0; k--) o->start[k] = o->start[k - 1];
  o->start[0] = 0;
  const int first[] = {0, strips, strips + strips / 2, pieces - 1, pieces};
  memcpy(o->first, first, sizeof first);
  b->threads = strips > 1 ? w->threads : NULL;
  scratch_release(w, mark);
  return true;
}

ss_status body_sweep_create(body_sweep *b, const large *l, ss_cp_workspace *w, bool *admitted, ss_error *error) {
  body_space *s = &b->s;
  const ss_status status = body_space_create(s, l, w, admitted, error);
  if (status || !*admitted) return status;
  b->u = SCRATCH(w, double, s->m);
  if (!b->u || !copy_diagonal(b, &l->G, w) || !order_sweep(b, l->G.nodes, w)) return out_of_memory(error);
  for (int k = 0; k < s->bodies && *admitted; k++)
    *admitted = root_of(s->A + s->A_at[k], s->first[k + 1] - s->first[k]);
  for (int p = 0; p < l->G.nodes && *admitted; p++)
    for (int e = s->start[p]; e < s->start[p + 1]; e++) {
      const int k = s->body[e];
      divide(s->J + s->at[e], l->G.first[p + 1] - l->G.first[p], s->A + s->A_at[k], s->first[k + 1] - s->first[k]);
    }
  return SS_OK;
}

/* u += K^T change for one block of K. */
static inline void push(const double *restrict K, int rows, int size, const double *restrict change,
                        double *restrict u) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < size; j++) u[j] += change[i] * K[i * size + j];
}

void body_sweep_move(const body_sweep *b, int p, const double *change) {
  const body_space *s = &b->s;
  const int rows = s->l->G.first[p + 1] - s->l->G.first[p];
  bool any = false;
  for (int i = 0; i < rows; i++) any = any || change[i] != 0;
  for (int e = s->start[p]; any && e < s->start[p + 1]; e++) {
    const int f = s->first[s->body[e]], size = s->first[s->body[e] + 1] - f;
    if (rows == 3 && size == 6)
      push(s->J + s->at[e], 3, 6, change, b->u + f);
    else
      push(s->J + s->at[e], rows, size, change, b->u + f);
  }
}

typedef struct pieces_job {
  const sweep_order *order;
  int first; /* piece of the stage */
  body_sweep_work *work;
  void *user;
} pieces_job;

static void do_pieces(void *user, int worker, int from, int to) {
  (void)worker;
  const pieces_job *job = user;
  for (int k = job->first + from; k < job->first + to; k++)
    job->work(job->user, job->order->node + job->order->start[k], job->order->start[k + 1] - job->order->start[k]);
}

void body_sweep_pieces(const body_sweep *b, bool backwards, body_sweep_work *work, void *user) {
  const int *first = b->order.first;
  for (int k = 0; k < SWEEP_STAGES; k++) {
    const int stage = backwards ? SWEEP_STAGES - 1 - k : k;
    pieces_job job = {&b->order, first[stage], work, user};
    ss_threads_for(b->threads, first[stage + 1] - first[stage], 1, do_pieces, &job);
  }
}

typedef struct begin_job {
  const body_sweep *b;
  const double *x;
} begin_job;

static void begin_some(void *user, const int *nodes, int count) {
  const begin_job *job = user;
  const int *first = job->b->s.l->G.first;
  for (int k = 0; k < count; k++) body_sweep_move(job->b, nodes[k], job->x + first[nodes[k]]);
}

void body_sweep_begin(const body_sweep *b, const double *x) {
  begin_job job = {b, x};
  memset(b->u, 0, sizeof(double) * (size_t)b->s.m);
  body_sweep_pieces(b, false, begin_some, &job);
}

/* q += K u for one block of K. */
static inline void pull(const double *restrict K, int rows, int size, const double *restrict u, double *restrict q) {
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int j = 0; j < size; j++) sum += K[i * size + j] * u[j];
    q[i] += sum;
  }
}

void body_sweep_row(const body_sweep *b, int p, double *q) {
  const body_space *s = &b->s;
  const int first = s->l->G.first[p], rows = s->l->G.first[p + 1] - first;
  memcpy(q, s->l->g + first, sizeof(double) * (size_t)rows);
  for (int e = s->start[p]; e < s->start[p + 1]; e++) {
    const int f = s->first[s->body[e]], size = s->first[s->body[e] + 1] - f;
    if (rows == 3 && size == 6)
      pull(s->J + s->at[e], 3, 6, b->u + f, q);
    else
      pull(s->J + s->at[e], rows, size, b->u + f, q);
  }
}
