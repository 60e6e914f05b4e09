/* The velocity space of bodies: A is their masses, H = A + stiffness J^T D J a mass matrix with a spring in every closed contact. It is regular
 * however many contacts there are, as sparse as the bodies touch each other, and factored by blocks of bodies (block_lu.c). */
#include "cp/velocity_space.h"

#include "core/wide.h"
#include "cp/block_lu.h"
#include "la/dense.h"

#include <string.h>

enum { SQUARE = SS_FRICTION_ROWS * SS_FRICTION_ROWS };

/* A part of a body's block of A: where it goes, where it is. */
typedef struct mass_block {
  double *entry;
  const double *A;
  int stride, rows, cols;
  int row, col; /* first velocities */
} mass_block;

typedef struct body_system {
  node_list nodes;
  const double *row_scale;
  int n, pieces;      /* velocities; pieces of at most BLOCK_ROWS of them, none of which belongs to two bodies */
  int *first;         /* [pieces + 1] first velocity of each */
  int *start, *piece; /* [nodes + 1]; pieces that a node touches */
  size_t *at;         /* where the node's block of J is: rows of the node x velocities of the piece */
  double *J;          /* the blocks */
  int *piece_start;   /* [pieces + 1] the nodes that touch each piece, */
  struct touching {
    int node, slot; /* slot: where the piece stands among the node's */
  } * touching;
  size_t *pair;   /* [nodes + 1] where the node's entries begin in `entry` */
  double **entry; /* blocks of H between the pieces of a node */
  double *scale;  /* [n] unit of each velocity, about 1 / sqrt(A_ii) */
  double *A;      /* the blocks of A in these units */
  mass_block *mass;
  int n_mass;
  block_lu lu;
  double *right;                 /* [n] */
  double (*D)[SS_FRICTION_ROWS]; /* [rows] and stiffness of the factors; 0: there are none */
  double stiffness;
  ss_threads *threads;
} body_system;

/* Velocities in pieces of at most BLOCK_ROWS; returns how many, and for every velocity its piece. */
static int cut_bodies(const ss_cp_operator *o, int *first, int *piece_of) {
  int count = 0;
  for (int b = 0; b < o->n_bodies; b++)
    for (int v = o->first[b]; v < o->first[b + 1]; v++) {
      if ((v - o->first[b]) % BLOCK_ROWS == 0) first[count++] = v;
      piece_of[v] = count - 1;
    }
  first[count] = o->n_bodies ? o->first[o->n_bodies] : 0;
  return count;
}

/* Pieces that each node touches, and its rows of J by pieces. */
static ss_status list_node_rows(body_system *b, const ss_cp_operator *o, const int *piece_of, ss_cp_workspace *w,
                                ss_error *error) {
  const size_t entries = (size_t)o->J.start[o->J.rows];
  int *mark = SCRATCH(w, int, b->pieces + 1);
  b->start = SCRATCH(w, int, b->nodes.count + 1);
  b->piece = SCRATCH(w, int, entries + 1);
  b->at = SCRATCH(w, size_t, entries + 1);
  if (!mark || !b->start || !b->piece || !b->at) return out_of_memory(error);
  for (int p = 0; p < b->pieces; p++) mark[p] = -1;
  int count = 0;
  size_t numbers = 0;
  for (int p = 0; p < b->nodes.count; p++) {
    const int size = b->nodes.first[p + 1] - b->nodes.first[p];
    b->start[p] = count;
    for (int e = o->J.start[b->nodes.first[p]]; e < o->J.start[b->nodes.first[p + 1]]; e++) {
      const int piece = piece_of[o->J.col[e]];
      if (mark[piece] >= b->start[p]) continue;
      mark[piece] = count;
      b->at[count] = numbers;
      b->piece[count++] = piece;
      numbers += (size_t)size * (size_t)(b->first[piece + 1] - b->first[piece]);
    }
  }
  b->start[b->nodes.count] = count;
  b->J = SCRATCH(w, double, numbers + 1);
  if (!b->J) return out_of_memory(error);
  memset(b->J, 0, sizeof(double) * numbers);
  for (int p = 0; p < b->pieces; p++) mark[p] = -1;
  for (int p = 0; p < b->nodes.count; p++) {
    for (int t = b->start[p]; t < b->start[p + 1]; t++) mark[b->piece[t]] = t;
    for (int i = b->nodes.first[p]; i < b->nodes.first[p + 1]; i++)
      for (int e = o->J.start[i]; e < o->J.start[i + 1]; e++) {
        const int piece = piece_of[o->J.col[e]], cols = b->first[piece + 1] - b->first[piece];
        b->J[b->at[mark[piece]] + (size_t)((i - b->nodes.first[p]) * cols + o->J.col[e] - b->first[piece])] +=
            b->row_scale[i] * o->J.value[e] * b->scale[o->J.col[e]];
      }
  }
  return SS_OK;
}

/* The nodes by pieces, ascending. */
static ss_status list_touching(body_system *b, ss_cp_workspace *w, ss_error *error) {
  b->piece_start = SCRATCH(w, int, b->pieces + 2);
  b->touching = SCRATCH(w, struct touching, b->start[b->nodes.count] + 1);
  if (!b->piece_start || !b->touching) return out_of_memory(error);
  int *next = b->piece_start + 1; /* moves on to the ends, which are the starts of the next */
  memset(b->piece_start, 0, sizeof(int) * ((size_t)b->pieces + 2));
  for (int t = 0; t < b->start[b->nodes.count]; t++)
    if (b->piece[t] + 1 < b->pieces) next[b->piece[t] + 1]++;
  for (int p = 1; p < b->pieces; p++) next[p] += next[p - 1];
  for (int p = 0; p < b->nodes.count; p++)
    for (int t = b->start[p]; t < b->start[p + 1]; t++) b->touching[next[b->piece[t]]++] = (struct touching){p, t};
  return SS_OK;
}

/* Which pieces meet in H: those of a node, those of a body. */
static ss_status list_meetings(const body_system *b, const ss_cp_operator *o, const int *piece_of, int **start,
                               int **col, ss_cp_workspace *w, ss_error *error) {
  const int pieces = b->pieces;
  size_t most = (size_t)pieces * 2;
  for (int p = 0; p < b->nodes.count; p++) {
    const size_t t = (size_t)(b->start[p + 1] - b->start[p]);
    most += t * t;
  }
  int *mark = SCRATCH(w, int, pieces + 1);
  *start = SCRATCH(w, int, pieces + 1);
  *col = SCRATCH(w, int, most + 1);
  if (!mark || !*start || !*col) return out_of_memory(error);
  for (int p = 0; p < pieces; p++) mark[p] = -1;
  int count = 0, body = 0;
  for (int p = 0; p < pieces; p++) {
    while (o->first[body + 1] <= b->first[p]) body++;
    (*start)[p] = count;
    mark[p] = p;
    (*col)[count++] = p;
    for (int q = piece_of[o->first[body]]; q < pieces && b->first[q] < o->first[body + 1]; q++)
      if (mark[q] != p) mark[q] = p, (*col)[count++] = q;
    for (int e = b->piece_start[p]; e < b->piece_start[p + 1]; e++)
      for (int t = b->start[b->touching[e].node]; t < b->start[b->touching[e].node + 1]; t++)
        if (mark[b->piece[t]] != p) mark[b->piece[t]] = p, (*col)[count++] = b->piece[t];
  }
  (*start)[pieces] = count;
  return SS_OK;
}

/* Where the blocks of each node and of A stand in the factors. */
static ss_status find_entries(body_system *b, const ss_cp_operator *o, const int *piece_of, ss_cp_workspace *w,
                              ss_error *error) {
  size_t pairs = 0, count = 0;
  for (int p = 0; p < b->nodes.count; p++) {
    const size_t t = (size_t)(b->start[p + 1] - b->start[p]);
    pairs += t * t;
  }
  b->pair = SCRATCH(w, size_t, b->nodes.count + 1);
  b->entry = SCRATCH(w, double *, pairs + 1);
  b->mass = SCRATCH(w, mass_block, 4 * (size_t)b->pieces + 1); /* bodies have at most two pieces */
  b->right = SCRATCH(w, double, b->n + 1);
  b->D = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, (size_t)o->J.rows *SS_FRICTION_ROWS + 1);
  if (!b->pair || !b->entry || !b->mass || !b->right || !b->D) return out_of_memory(error);
  for (int p = 0; p < b->nodes.count; p++) {
    b->pair[p] = count;
    for (int s = b->start[p]; s < b->start[p + 1]; s++)
      for (int t = b->start[p]; t < b->start[p + 1]; t++)
        b->entry[count++] = block_lu_entry(&b->lu, b->piece[s], b->piece[t]);
  }
  b->pair[b->nodes.count] = count;
  const double *A = b->A;
  for (int body = 0; body < o->n_bodies; body++) {
    const int size = o->first[body + 1] - o->first[body];
    const int from = size ? piece_of[o->first[body]] : 0, to = size ? piece_of[o->first[body + 1] - 1] + 1 : 0;
    for (int s = from; s < to; s++)
      for (int t = from; t < to; t++)
        b->mass[b->n_mass++] =
            (mass_block){.entry = block_lu_entry(&b->lu, s, t),
                         .A = A + (ptrdiff_t)(b->first[s] - o->first[body]) * size + (b->first[t] - o->first[body]),
                         .stride = size,
                         .rows = b->first[s + 1] - b->first[s],
                         .cols = b->first[t + 1] - b->first[t],
                         .row = b->first[s],
                         .col = b->first[t]};
    A += (ptrdiff_t)size * size;
  }
  return SS_OK;
}

/* Units of the velocities in which the diagonal of A is of size one, and A in them; false: out of memory. */
static bool scale_bodies(body_system *b, const ss_cp_operator *o, ss_cp_workspace *w) {
  size_t numbers = 0;
  for (int body = 0; body < o->n_bodies; body++) {
    const size_t size = (size_t)(o->first[body + 1] - o->first[body]);
    numbers += size * size;
  }
  b->scale = SCRATCH(w, double, b->n + 1);
  b->A = SCRATCH(w, double, numbers + 1);
  if (!b->scale || !b->A) return false;
  const double *A = o->A;
  double *to = b->A;
  for (int body = 0; body < o->n_bodies; body++) {
    const int size = o->first[body + 1] - o->first[body];
    double *s = b->scale + o->first[body];
    for (int i = 0; i < size; i++) s[i] = inverse_root_power(A[i * size + i]);
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) *to++ = s[i] * *A++ * s[j];
  }
  return true;
}

/* Loops over nodes, or over pieces with the nodes that touch them: threads share them, and every number is added up in the order of the
 * nodes by one of them. */
enum { NODES_AT_A_TIME = 256, PIECES_AT_A_TIME = 64 };

typedef struct body_job {
  const body_system *b;
  const double *in;
  double *out, factor;
} body_job;

/* w += J u for a block of J. */
static inline void multiply(const double *J, int size, int cols, const double *u, double *w) {
  for (int i = 0; i < size; i++) {
    double sum = w[i];
    for (int c = 0; c < cols; c++) sum += J[i * cols + c] * u[c];
    w[i] = sum;
  }
}

static void slack_of_nodes(void *user, int worker, int from, int to) {
  (void)worker;
  const body_job *job = user;
  const body_system *b = job->b;
  for (int p = from; p < to; p++) {
    const int row = b->nodes.first[p], size = b->nodes.first[p + 1] - row;
    double *w = job->out + row;
    for (int i = 0; i < size; i++) w[i] = 0;
    for (int t = b->start[p]; t < b->start[p + 1]; t++) {
      const int piece = b->piece[t], cols = b->first[piece + 1] - b->first[piece];
      if (size == 3 && cols == 6)
        multiply(b->J + b->at[t], 3, 6, job->in + b->first[piece], w);
      else
        multiply(b->J + b->at[t], size, cols, job->in + b->first[piece], w);
    }
  }
}

static void body_slack(const void *user, const double *y, double *w) {
  const body_system *b = user;
  body_job job = {b, y, w, 1};
  ss_threads_for(b->threads, b->nodes.count, NODES_AT_A_TIME, slack_of_nodes, &job);
}

/* F += f J^T z for a block of J. */
static inline void multiply_across(const double *J, int size, int cols, double factor, const double *z, double *F) {
  for (int i = 0; i < size; i++) {
    const double f = factor * z[i];
    for (int c = 0; f != 0 && c < cols; c++) F[c] += J[i * cols + c] * f;
  }
}

static void load_of_pieces(void *user, int worker, int from, int to) {
  (void)worker;
  const body_job *job = user;
  const body_system *b = job->b;
  for (int piece = from; piece < to; piece++) {
    const int cols = b->first[piece + 1] - b->first[piece];
    double *F = job->out + b->first[piece];
    for (int e = b->piece_start[piece]; e < b->piece_start[piece + 1]; e++) {
      const int p = b->touching[e].node, row = b->nodes.first[p], size = b->nodes.first[p + 1] - row;
      const double *J = b->J + b->at[b->touching[e].slot];
      if (size == 3 && cols == 6)
        multiply_across(J, 3, 6, job->factor, job->in + row, F);
      else
        multiply_across(J, size, cols, job->factor, job->in + row, F);
    }
  }
}

/* F += factor J^T z */
static void add_load(const body_system *b, double factor, const double *z, double *F) {
  body_job job = {b, z, F, factor};
  ss_threads_for(b->threads, b->pieces, PIECES_AT_A_TIME, load_of_pieces, &job);
}

static void body_load(const void *user, const double *z, double *F) {
  const body_system *b = user;
  memset(F, 0, sizeof(double) * (size_t)b->n);
  add_load(b, 1, z, F);
}

static void body_balance(const void *user, const double *y, const double *z, double *F) {
  const body_system *b = user;
  memset(F, 0, sizeof(double) * (size_t)b->n);
  for (int m = 0; m < b->n_mass; m++) {
    const mass_block *block = &b->mass[m];
    for (int i = 0; i < block->rows; i++)
      for (int j = 0; j < block->cols; j++) F[block->row + i] += block->A[i * block->stride + j] * y[block->col + j];
  }
  add_load(b, -1, z, F);
}

/* H_st += stiffness J_s^T D J_t for a node and two of its pieces. */
static inline void add_spring(const double *I, const double (*D)[SS_FRICTION_ROWS], const double *J, double stiffness,
                              int size, int rows, int cols, double *H) {
  double DJ[SQUARE];
  for (int i = 0; i < size; i++)
    for (int c = 0; c < cols; c++) {
      double sum = 0;
      for (int j = 0; j < size; j++) sum += D[i][j] * J[j * cols + c];
      DJ[i * cols + c] = stiffness * sum;
    }
  for (int l = 0; l < rows; l++)
    for (int i = 0; i < size; i++)
      for (int c = 0; c < cols; c++) H[l * cols + c] += I[i * rows + l] * DJ[i * cols + c];
}

/* The springs of the nodes that touch a piece, in its rows of H. */
WIDE static void springs_of_piece(const body_system *b, int piece) {
  const int rows = b->first[piece + 1] - b->first[piece];
  for (int e = b->piece_start[piece]; e < b->piece_start[piece + 1]; e++) {
    const int p = b->touching[e].node, row = b->nodes.first[p], size = b->nodes.first[p + 1] - row;
    const int pieces = b->start[p + 1] - b->start[p], own = b->touching[e].slot - b->start[p];
    const double(*D)[SS_FRICTION_ROWS] = (const double(*)[SS_FRICTION_ROWS])(b->D + row);
    bool any = false;
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) any |= D[i][j] != 0;
    for (int t = 0; any && t < pieces; t++) {
      const int other = b->piece[b->start[p] + t], cols = b->first[other + 1] - b->first[other];
      const double *I = b->J + b->at[b->touching[e].slot], *J = b->J + b->at[b->start[p] + t];
      double *H = b->entry[b->pair[p] + (size_t)(own * pieces + t)];
      if (size == 3 && rows == 6 && cols == 6)
        add_spring(I, D, J, b->stiffness, 3, 6, 6, H);
      else
        add_spring(I, D, J, b->stiffness, size, rows, cols, H);
    }
  }
}

static void springs_of_pieces(void *user, int worker, int from, int to) {
  (void)worker;
  for (int piece = from; piece < to; piece++) springs_of_piece(user, piece);
}

static bool body_factor(void *user, const double (*D)[SS_FRICTION_ROWS], double stiffness) {
  body_system *b = user;
  const size_t bytes = sizeof *b->D * (size_t)b->nodes.first[b->nodes.count];
  bool same = b->stiffness == stiffness;
  for (int p = 0; p < b->nodes.count && same; p++) { /* entries beyond a node's size are not set */
    const int row = b->nodes.first[p], size = b->nodes.first[p + 1] - row;
    for (int i = 0; i < size && same; i++) same = memcmp(b->D[row + i], D[row + i], sizeof(double) * (size_t)size) == 0;
  }
  if (same) return true;
  memcpy(b->D, D, bytes);
  b->stiffness = stiffness;
  block_lu_clear(&b->lu);
  for (int m = 0; m < b->n_mass; m++) {
    const mass_block *block = &b->mass[m];
    for (int i = 0; i < block->rows; i++)
      for (int j = 0; j < block->cols; j++) block->entry[i * block->cols + j] = block->A[i * block->stride + j];
  }
  ss_threads_for(b->threads, b->pieces, PIECES_AT_A_TIME, springs_of_pieces, b);
  return block_lu_factor(&b->lu);
}

static void body_solve(void *user, double *x) {
  body_system *b = user;
  memcpy(b->right, x, sizeof(double) * (size_t)b->n);
  block_lu_solve(&b->lu, b->right, x);
}

static int body_sign(const void *user) { return block_lu_sign(&((const body_system *)user)->lu); }

ss_status body_system_create(const ss_cp_operator *o, const node_list *nodes, const double *scale, double most,
                             ss_cp_workspace *w, velocity_space *out, bool *admitted, ss_error *error) {
  body_system *b = SCRATCH(w, body_system, 1);
  *admitted = false;
  if (!b) return out_of_memory(error);
  *b = (body_system){.nodes = *nodes, .row_scale = scale, .n = o->J.cols, .threads = w->threads};
  int *piece_of = SCRATCH(w, int, b->n + 1), *start, *col;
  b->first = SCRATCH(w, int, b->n + 1);
  if (!piece_of || !b->first) return out_of_memory(error);
  b->pieces = cut_bodies(o, b->first, piece_of);
  int *size = SCRATCH(w, int, b->pieces + 1);
  if (!size || !scale_bodies(b, o, w)) return out_of_memory(error);
  for (int p = 0; p < b->pieces; p++) size[p] = b->first[p + 1] - b->first[p];
  ss_status status = list_node_rows(b, o, piece_of, w, error);
  if (!status) status = list_touching(b, w, error);
  if (!status) status = list_meetings(b, o, piece_of, &start, &col, w, error);
  if (!status) status = block_lu_analyse(&b->lu, b->pieces, size, start, col, BLOCK_SPEED * most, w, admitted, error);
  if (!status && *admitted) status = find_entries(b, o, piece_of, w, error);
  *out = (velocity_space){.m = b->n,
                          .operations = b->lu.operations / BLOCK_SPEED,
                          .assembly = 4.0 * SS_FRICTION_ROWS * o->J.start[o->J.rows],
                          .solution = b->lu.solution,
                          .user = b,
                          .slack = body_slack,
                          .collect = body_balance,
                          .load = body_load,
                          .factor = body_factor,
                          .solve = body_solve,
                          .sign = body_sign};
  return status;
}
