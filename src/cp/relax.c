/* Gauss-Seidel sweeps over the nodes with Anderson acceleration.
 *
 * A sweep S(x), forwards and backwards, solves node after node exactly for the others fixed (Moreau, Jean). Its fixed
 * points are the solutions; in a packing of L layers it needs O(L^2) sweeps. The acceleration (Anderson 1965; Walker & Ni
 * 2011) takes, with f = S(x) - x,
 *
 *     x+ = S(x) - dS gamma,   gamma minimises |f - dF gamma|
 *
 * over the differences dF, dS of the last sweeps: once the states have settled this is a Krylov method on the equations
 * of the closed contacts, with O(L) sweeps, and it does not mind redundant contacts. Where |f| grows, the history is
 * dropped, the last good sweep taken up again and followed by plain ones, more of them each time. It may stagnate: |f|
 * stays while impulses and states go on changing, and plain sweeps go the same way for hundreds of sweeps there (docs/large-problems.md).
 *
 * Coulomb's law is not associated, and the sweeps may go round for ever in some places: they fail by stagnation. */
#include "cp/body_sweep.h"

#include "cp/local.h"
#include "cp/gauss_seidel.h"
#include "la/rows.h"

#include <math.h>
#include <string.h>

enum { WINDOW = 12, CHECK = 5, REST = 8, SHORT = 60 };
enum { CHUNK = 512, PARTS = 2 * WINDOW }; /* rows that are done together; sums over them */
/* A short run that is half over goes on if the gain of its second quarter, as often again as this, leads to the goal: two would be the
 * same pace, and sweeps become faster once the states have settled. */
static const double hope = 4;

typedef struct relaxation {
  large *l;
  int *order;    /* [nodes] NULL: as they are */
  double *x;     /* [n] where the next sweep starts */
  double *s, *f; /* [n] the last sweep and its step */
  double *old_s, *old_f;
  double *dS[WINDOW], *dF[WINDOW]; /* [n] */
  double gram[WINDOW][WINDOW];     /* dF . dF */
  int count, next;                 /* columns of the history, place of the next one */
  bool any;                        /* old_s, old_f are set */
  double lowest;                   /* |f| since the history was dropped */
  int restarts, rest;              /* how often that was; plain sweeps still to be made before it begins anew */
  double (*part)[PARTS];           /* sums over the rows of each chunk */
  double gamma[WINDOW];
} relaxation;

/* The node's impulse x that solves it for the others as they are, G x + g of it being q, and W its block of G. */
static void solve_node(const large *l, int r, const double *W, double *q, double *x) {
  const int size = l->G.first[r + 1] - l->G.first[r];
  const site *s = l->site[r] < 0 ? NULL : &l->set.sites[l->site[r]];
  if (s && s->block->kind == SS_BLOCK_FRICTION) {
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) q[i] -= W[i * size + j] * x[j];
    (void)local_friction(s, W, q, x); /* no local solution: the node keeps its impulse in this pass */
    return;
  }
  double y = x[0] - q[0] / W[0];
  if (s && s->block->kind == SS_BLOCK_NONNEGATIVE) y = fmax(y, 0);
  if (s && s->block->kind == SS_BLOCK_BOX) y = fmin(fmax(y, s->block->lower), s->block->upper);
  x[0] = y;
}

static void relax_node(const relaxation *a, int r, double *x) {
  const node_matrix *G = &a->l->G;
  double q[SS_FRICTION_ROWS];
  nodes_row(G, r, a->l->g, x, q);
  solve_node(a->l, r, G->value + G->at[G->diagonal[r]], q, x + G->first[r]);
}

/* The same, where the velocities of the bodies are known and go along. */
static void relax_between_bodies(const relaxation *a, int r, double *x) {
  const large *l = a->l;
  const int row = l->G.first[r], size = l->G.first[r + 1] - row;
  double q[SS_FRICTION_ROWS], change[SS_FRICTION_ROWS];
  body_sweep_row(l->bodies, r, q);
  for (int i = 0; i < size; i++) change[i] = -x[row + i];
  solve_node(l, r, l->bodies->W + l->bodies->W_at[r], q, x + row);
  for (int i = 0; i < size; i++) change[i] += x[row + i];
  body_sweep_move(l->bodies, r, change);
}

static void relax_longer(const relaxation *a, int r, double *x) {
  const large *l = a->l;
  const int row = l->G.first[r];
  double old[SS_FRICTION_ROWS];
  memcpy(old, x + row, sizeof *old * (size_t)(l->G.first[r + 1] - row));
  relax_node(a, r, x);
  if (l->site[r] >= 0) over_relax(l->set.sites[l->site[r]].block, l->factor, old, x + row);
}

typedef struct sweep_job {
  const relaxation *a;
  double *x;
  bool backwards;
} sweep_job;

static void sweep_some(void *user, const int *nodes, int count) {
  const sweep_job *job = user;
  for (int k = 0; k < count; k++) relax_between_bodies(job->a, nodes[job->backwards ? count - 1 - k : k], job->x);
}

static void sweep(const relaxation *a, double *x) {
  const int nodes = a->l->G.nodes;
  const bool longer = a->l->factor > 0 && a->l->factor != 1;
  if (a->l->bodies) {
    body_sweep_begin(a->l->bodies, x);
    for (int k = 0; k < 2; k++) body_sweep_pieces(a->l->bodies, k, sweep_some, &(sweep_job){a, x, k});
    return;
  }
  for (int k = 0; k < 2 * nodes; k++) {
    const int next = k < nodes ? k : 2 * nodes - 1 - k, r = a->order ? a->order[next] : next;
    if (longer)
      relax_longer(a, r, x);
    else
      relax_node(a, r, x);
  }
}

/* Calls work(h, chunk, first row, rows): the chunks are the same for any number of threads. */
typedef void chunk_work(relaxation *h, int chunk, int first, int rows);

typedef struct chunk_job {
  relaxation *h;
  chunk_work *work;
} chunk_job;

static void do_chunks(void *user, int worker, int from, int to) {
  (void)worker;
  const chunk_job *job = user;
  const int n = job->h->l->cp.n;
  for (int k = from; k < to; k++) job->work(job->h, k, k * CHUNK, k * CHUNK + CHUNK < n ? CHUNK : n - k * CHUNK);
}

static int chunks_of(const relaxation *h) { return (h->l->cp.n + CHUNK - 1) / CHUNK; }

static void each_chunk(relaxation *h, chunk_work *work) {
  chunk_job job = {h, work};
  ss_threads_for(h->l->threads, chunks_of(h), 1, do_chunks, &job);
}

static double sum_of(const relaxation *h, int part) {
  double sum = 0;
  for (int k = 0; k < chunks_of(h); k++) sum += h->part[k][part];
  return sum;
}

/* gamma from (dF^T dF) gamma = dF^T f by Cholesky; columns that depend on others get 0. */
static void combine(relaxation *h) {
  static const double rank = 1e-12, damping = 1e-8;
  double a[WINDOW][WINDOW], b[WINDOW], largest = 0, *gamma = h->gamma;
  const int m = h->count;
  for (int i = 0; i < m; i++) largest = fmax(largest, h->gram[i][i]);
  for (int j = 0; j < m; j++) {
    b[j] = sum_of(h, WINDOW + j);
    for (int i = j; i < m; i++) {
      a[i][j] = h->gram[i][j] + (i == j ? damping * largest : 0);
      for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
    }
    const double d = a[j][j] > rank * h->gram[j][j] ? sqrt(a[j][j]) : 0;
    for (int i = j; i < m; i++) a[i][j] = d > 0 ? a[i][j] / d : 0;
  }
  for (int i = 0; i < m; i++) {
    for (int k = 0; k < i; k++) b[i] -= a[i][k] * b[k];
    b[i] = a[i][i] > 0 ? b[i] / a[i][i] : 0;
  }
  for (int i = m - 1; i >= 0; i--) {
    for (int k = i + 1; k < m; k++) b[i] -= a[k][i] * gamma[k];
    gamma[i] = a[i][i] > 0 ? b[i] / a[i][i] : 0;
  }
}

/* The sweep goes into the history: column `next`, its products with all `count`, and theirs with f. */
static void remember_some(relaxation *h, int chunk, int first, int rows) {
  const double *s = h->s + first, *f = h->f + first;
  double *old_s = h->old_s + first, *old_f = h->old_f + first, *dS = h->dS[h->next] + first,
         *dF = h->dF[h->next] + first;
  for (int i = 0; i < rows && h->any; i++) {
    dS[i] = s[i] - old_s[i];
    dF[i] = f[i] - old_f[i];
  }
  memcpy(old_s, s, sizeof *s * (size_t)rows);
  memcpy(old_f, f, sizeof *f * (size_t)rows);
  for (int j = 0; j < h->count; j++) {
    h->part[chunk][j] = row_dot(h->dF[j] + first, dF, rows);
    h->part[chunk][WINDOW + j] = row_dot(h->dF[j] + first, f, rows);
  }
}

static void remember(relaxation *h) {
  const int k = h->next;
  if (h->any && h->count < WINDOW) h->count++;
  each_chunk(h, remember_some);
  if (h->any) {
    h->next = (k + 1) % WINDOW;
    for (int j = 0; j < h->count; j++) h->gram[j][k] = h->gram[k][j] = sum_of(h, j);
  }
  h->any = true;
}

static void forget(relaxation *h) {
  h->count = h->next = 0;
  h->any = false;
  h->lowest = HUGE_VAL;
}

static void measure_some(relaxation *h, int chunk, int first, int rows) {
  for (int i = first; i < first + rows; i++) h->f[i] = h->s[i] - h->x[i];
  h->part[chunk][0] = row_dot(h->f + first, h->f + first, rows);
}

/* One sweep from h->x; its |f|. */
static double step(relaxation *h) {
  memcpy(h->s, h->x, sizeof(double) * (size_t)h->l->cp.n);
  sweep(h, h->s);
  each_chunk(h, measure_some);
  return sqrt(sum_of(h, 0));
}

static void accelerate_some(relaxation *h, int chunk, int first, int rows) {
  (void)chunk;
  for (int m = 0; m < h->count; m++)
    for (int i = first; i < first + rows; i++) h->x[i] -= h->gamma[m] * h->dS[m][i];
}

/* One sweep from h->x, and where the next one starts. */
static void advance(relaxation *h, bool accelerate) {
  static const double growth = 1.5;
  const size_t bytes = sizeof(double) * (size_t)h->l->cp.n;
  const double norm = step(h);
  if (h->count > 1 && norm > growth * h->lowest) {
    memcpy(h->x, h->old_s, bytes);
    forget(h);
    h->rest = REST * ++h->restarts;
    return;
  }
  h->lowest = fmin(h->lowest, norm);
  memcpy(h->x, h->s, bytes);
  if (!accelerate || h->rest-- > 0) return;
  h->rest = 0;
  remember(h);
  combine(h);
  each_chunk(h, accelerate_some);
}

static bool relaxation_create(relaxation *h, large *l, bool accelerate, ss_cp_workspace *w) {
  const size_t n = (size_t)l->cp.n;
  *h = (relaxation){.l = l, .x = SCRATCH(w, double, 5 * n), .lowest = HUGE_VAL};
  if (!h->x) return false;
  h->part = (double(*)[PARTS])SCRATCH(w, double, (size_t)PARTS *(size_t)chunks_of(h) + 1);
  if (!h->part) return false;
  h->s = h->x + n;
  h->f = h->s + n;
  h->old_s = h->f + n;
  h->old_f = h->old_s + n;
  for (int k = 0; accelerate && k < WINDOW; k++) {
    h->dS[k] = SCRATCH(w, double, 2 * n);
    if (!h->dS[k]) return false;
    h->dF[k] = h->dS[k] + n;
  }
  if (l->order != SS_ORDER_GIVEN) {
    h->order = SCRATCH(w, int, l->G.nodes);
    bool *seen = SCRATCH(w, bool, l->G.nodes);
    if (!h->order || !seen) return false;
    order_nodes(&(ss_graph){l->G.nodes, l->G.start, l->G.col}, l->order, h->order, seen);
  }
  memcpy(h->x, l->x, sizeof(double) * n);
  return true;
}

ss_status large_relax(large *l, bool accelerate, int limit, int patience, ss_cp_workspace *w, ss_error *error) {
  static const double far_off = 10; /* times the lowest residual of these sweeps */
  const scratch_mark mark = scratch_now(w);
  const size_t bytes = sizeof(double) * (size_t)l->cp.n;
  relaxation h;
  double *own = SCRATCH(w, double, l->cp.n); /* the best of these sweeps */
  if (!own || !relaxation_create(&h, l, accelerate, w)) return out_of_memory(error);
  memcpy(own, l->x, bytes);
  double lowest = l->residual, residual = lowest, milestone = lowest, quarter = lowest;
  const double operations = large_sweep_operations(l);
  for (int k = 1, since = 0; k <= limit && lowest > l->goal && !large_spent(l); k++, l->iterations++) {
    l->spent += operations;
    advance(&h, accelerate);
    if (k % CHECK && k < limit) continue;
    residual = large_judge(l, h.s, l->w);
    memcpy(l->x, h.s, bytes);
    if (residual < lowest) {
      lowest = residual;
      memcpy(own, h.s, bytes);
    }
    if (4 * k <= limit) quarter = lowest;
    if (limit <= SHORT && k == limit / 2 && lowest * pow(lowest / quarter, hope) > l->goal) break;
    if (lowest < 0.5 * milestone) {
      milestone = lowest;
      since = k;
    } else if (k - since > patience) {
      break;
    }
  }
  l->residual = residual;
  if (!(residual <= far_off * lowest)) {
    memcpy(l->x, own, bytes);
    l->residual = lowest;
  }
  if (lowest < l->lowest) {
    memcpy(l->best, own, bytes);
    l->lowest = lowest;
  }
  scratch_release(w, mark);
  return SS_OK;
}
