/* Plain LCPs that are friction problems written out.
 *
 * Where recognise.c finds contacts and boxes among the nonnegative rows, the problem is posed with friction and box blocks: three
 * rows per contact in place of two and one per direction, no row without diagonal, and a matrix that is positive semi-definite
 * for mechanics, which the written-out one never is. "auto" solves it. The way back: z_t is written by the two directions
 * on either side of it, and lambda is the smallest number that makes the slacks of its directions nonnegative. The judge sees the
 * problem as it was given.
 *
 * Not admitted where nothing is found. Contacts that do not fit (another polygon, several lambdas on one normal that are no
 * pyramid) stay plain rows beside the others. */
#include "cp/recognise.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include <math.h>
#include <string.h>

/* A row of the new problem: row[0] times row at[0] of the given one plus row[1] times row at[1]; its column likewise. */
typedef struct member {
  int at[2]; /* at[1] = -1: one row only */
  double row[2], col[2];
} member;

typedef struct form {
  const ss_cp *problem;
  recognition r;
  int *chain;      /* [n] first gathering of a normal; -1 */
  int *next;       /* [gatherings] on the same normal; -1 */
  int *place;      /* [gatherings] its first tangential row, or its box, in the new problem */
  double *stretch; /* [gatherings] unit of its tangential impulse: pyramids need the same mu for all axes */
  member *members; /* [n] */
  int *kept;       /* [n] plain row of the new problem; -1 */
  ss_block *blocks;
  int n, n_blocks;
} form;

/* ---- which contacts, where ---- */

static bool is_axis(const form *f, int c, const gathering *first) {
  const gathering *a = &f->r.found[c];
  return a->count == 2 && fabs(a->room * first->mu - first->room * a->mu) <= 1e-14 * first->room * a->mu;
}

/* One gathering, or several with two directions each: the axes of a pyramid. */
static bool makes_a_block(const form *f, int normal) {
  const int first = f->chain[normal];
  int axes = 0;
  if (f->next[first] < 0) return true;
  for (int c = first; c >= 0; c = f->next[c], axes++)
    if (!is_axis(f, c, &f->r.found[first])) return false;
  return axes < SS_FRICTION_ROWS;
}

static void dissolve(form *f, int normal) {
  for (int c = f->chain[normal]; c >= 0; c = f->next[c]) recognition_drop(&f->r, c);
  f->chain[normal] = -1;
}

static void chain_contacts(form *f) {
  for (int i = 0; i < f->problem->n; i++) f->chain[i] = -1;
  for (int c = f->r.count - 1; c >= 0; c--) {
    const int normal = f->r.found[c].count ? f->r.found[c].normal : -1;
    f->next[c] = normal >= 0 ? f->chain[normal] : -1;
    if (normal >= 0) f->chain[normal] = c;
  }
  for (int i = 0; i < f->problem->n; i++)
    if (f->chain[i] >= 0 && !makes_a_block(f, i)) dissolve(f, i);
}

/* ---- the rows of the new problem ---- */

static void add_member(form *f, int at, double row, double col) {
  f->members[f->n++] = (member){{at, -1}, {row, 0}, {col, 0}};
}

static void add_blocks(form *f, ss_block block) {
  ss_block *last = f->n_blocks ? &f->blocks[f->n_blocks - 1] : NULL;
  if (last && block.kind == SS_BLOCK_NONNEGATIVE && last->kind == block.kind) {
    last->size += block.size;
    return;
  }
  block.first = last ? last->first + last->size : 0;
  f->blocks[f->n_blocks++] = block;
}

/* The axis at right angles to the first direction: one of them, or a combination of two. */
static void add_second_axis(form *f, const gathering *a) {
  const recognition *r = &f->r;
  const int q = quarter(a->count), k = a->first + q;
  add_member(f, r->direction[k], r->row_scale[k], r->col_scale[k]);
  if (a->count % 4 == 0) return;
  member *m = &f->members[f->n - 1];
  const double angle = 8 * atan(1.0) * q / a->count, c = cos(angle), s = sin(angle);
  m->at[1] = r->direction[a->first];
  m->row[0] /= s;
  m->col[0] /= s;
  m->row[1] = m->col[1] = -c / s;
}

static void add_contact(form *f, int normal) {
  const gathering *first = &f->r.found[f->chain[normal]];
  const bool plane = first->count > 2;
  const int start = f->n;
  add_member(f, normal, 1, 1);
  for (int c = f->chain[normal]; c >= 0; c = f->next[c]) {
    f->place[c] = f->n;
    f->stretch[c] = f->r.found[c].mu / first->mu;
    add_member(f, f->r.direction[f->r.found[c].first], f->stretch[c], f->stretch[c]);
  }
  if (plane) add_second_axis(f, first);
  add_blocks(f, (ss_block){.kind = SS_BLOCK_FRICTION,
                           .size = f->n - start,
                           .cone = plane ? SS_CONE_POLYHEDRAL : SS_CONE_PYRAMID,
                           .directions = first->count,
                           .mu = first->mu,
                           .extra = first->room / first->mu});
}

static void add_box(form *f, int c) {
  const gathering *a = &f->r.found[c];
  f->place[c] = f->n;
  f->stretch[c] = 1;
  add_member(f, f->r.direction[a->first], 1, 1);
  add_blocks(f, (ss_block){.kind = SS_BLOCK_BOX, .size = 1, .lower = a->count == 2 ? -a->room : 0, .upper = a->room});
}

/* In the order of the given rows: contacts where their normals stand, boxes where their first directions do. */
static void add_nonnegative(form *f, int i) {
  const int c = f->r.owner[i];
  if (c < 0 && f->chain[i] >= 0) {
    add_contact(f, i);
  } else if (c < 0) {
    f->kept[i] = f->n;
    add_member(f, i, 1, 1);
    add_blocks(f, (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = 1});
  } else if (f->r.found[c].normal < 0 && !f->r.found[c].kept_zero && i == f->r.direction[f->r.found[c].first]) {
    add_box(f, c);
  }
}

static void choose_rows(form *f) {
  for (int b = 0; b < f->problem->n_blocks; b++) {
    const ss_block *block = &f->problem->blocks[b];
    const bool plain = block->kind == SS_BLOCK_NONNEGATIVE;
    for (int i = block->first; i < block->first + block->size; i++) {
      f->kept[i] = plain ? -1 : f->n;
      if (plain)
        add_nonnegative(f, i);
      else
        add_member(f, i, 1, 1);
    }
    if (!plain) add_blocks(f, *block);
  }
}

/* ---- its matrix ---- */

/* Where the columns of the given matrix go. */
typedef struct targets {
  int *to;      /* [2 n] */
  double *part; /* [2 n] */
  int *count;   /* [n] */
} targets;

static void aim(const form *f, targets *t) {
  for (int j = 0; j < f->problem->n; j++) t->count[j] = 0;
  for (int v = 0; v < f->n; v++)
    for (int k = 0; k < 2; k++) {
      const int j = f->members[v].at[k];
      if (j < 0) continue;
      t->to[2 * j + t->count[j]] = v;
      t->part[2 * j + t->count[j]++] = f->members[v].col[k];
    }
}

/* The new problem with a dense matrix: it is smaller than what was given. */
static ss_status pose_dense(const form *f, ss_cp *out, ss_cp_workspace *w, ss_error *error) {
  const size_t n = (size_t)f->n, old = (size_t)f->problem->n;
  double *G = SCRATCH(w, double, n *n);
  if (!G) return out_of_memory(error);
  for (size_t v = 0; v < n; v++) {
    const member *r = &f->members[v];
    const double *a = f->problem->G + (size_t)r->at[0] * old;
    const double *b = f->problem->G + (size_t)(r->at[1] < 0 ? r->at[0] : r->at[1]) * old;
    for (size_t j = 0; j < n; j++) {
      const member *m = &f->members[j];
      double sum = (r->row[0] * a[m->at[0]] + r->row[1] * b[m->at[0]]) * m->col[0];
      if (m->at[1] >= 0) sum += (r->row[0] * a[m->at[1]] + r->row[1] * b[m->at[1]]) * m->col[1];
      G[v * n + j] = sum;
    }
  }
  out->G = G;
  return SS_OK;
}

static void add_row(const ss_sparse *rows, int i, double factor, const targets *t, double *sum) {
  for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
    const int j = rows->col[k];
    for (int e = 2 * j; e < 2 * j + t->count[j]; e++) sum[t->to[e]] += factor * rows->value[k] * t->part[e];
  }
}

static ss_status pose_sparse(const form *f, ss_cp *out, ss_cp_workspace *w, ss_error *error) {
  const size_t n = (size_t)f->n, old = (size_t)f->problem->n;
  const ss_sparse *rows = f->problem->sparse;
  size_t most = 0;
  for (size_t v = 0; v < n; v++)
    for (int k = 0; k < 2; k++) {
      const int i = f->members[v].at[k];
      if (i >= 0) most += 2 * (size_t)(rows->start[i + 1] - rows->start[i]);
    }
  ss_sparse *m = SCRATCH(w, ss_sparse, 1);
  int *start = SCRATCH(w, int, n + 1), *col = SCRATCH(w, int, most);
  double *value = SCRATCH(w, double, most), *sum = SCRATCH(w, double, n);
  targets t = {SCRATCH(w, int, 2 * old), SCRATCH(w, double, 2 * old), SCRATCH(w, int, old)};
  if (!m || !start || !col || !value || !sum || !t.to || !t.part || !t.count) return out_of_memory(error);
  aim(f, &t);
  int used = 0;
  for (size_t v = 0; v < n; v++) {
    start[v] = used;
    memset(sum, 0, sizeof *sum * n);
    for (int k = 0; k < 2; k++)
      if (f->members[v].at[k] >= 0) add_row(rows, f->members[v].at[k], f->members[v].row[k], &t, sum);
    for (size_t j = 0; j < n; j++)
      if (sum[j] != 0) {
        col[used] = (int)j;
        value[used++] = sum[j];
      }
  }
  start[n] = used;
  *m = (ss_sparse){f->n, f->n, start, col, value};
  out->sparse = m;
  return SS_OK;
}

static ss_status pose(const form *f, ss_cp *out, ss_cp_workspace *w, ss_error *error) {
  double *g = SCRATCH(w, double, f->n);
  if (!g) return out_of_memory(error);
  *out = (ss_cp){.n = f->n, .n_blocks = f->n_blocks, .g = g, .blocks = f->blocks};
  for (int v = 0; v < f->n; v++) {
    const member *m = &f->members[v];
    g[v] = m->row[0] * f->problem->g[m->at[0]] + (m->at[1] >= 0 ? m->row[1] * f->problem->g[m->at[1]] : 0);
  }
  return f->problem->G ? pose_dense(f, out, w, error) : pose_sparse(f, out, w, error);
}

/* ---- there and back ---- */

/* z_t of a contact from its beta, or beta from z_t: the other one is written. d: the corners of its polygon. */
static void gather(const form *f, int c, const double *d, const double *z, double *x) {
  const gathering *a = &f->r.found[c];
  x[0] = 0;
  if (d) x[1] = 0;
  for (int j = 0; j < a->count; j++) {
    const int k = a->first + j;
    const double beta = z[f->r.direction[k]] / f->r.col_scale[k];
    x[0] += (d ? d[2 * j] : 1 - 2 * j) * beta / f->stretch[c];
    if (d) x[1] += d[2 * j + 1] * beta;
  }
}

static void scatter_plane(const gathering *a, const double *d, const double *x, double *beta) {
  const double turn = 8 * atan(1.0) / a->count;
  double angle = atan2(x[1], x[0]);
  if (angle < 0) angle += turn * a->count;
  int j = (int)(angle / turn);
  if (j >= a->count) j = a->count - 1;
  const double *p = d + (ptrdiff_t)2 * j, *q = p + 2, area = p[0] * q[1] - p[1] * q[0];
  beta[j] = fmax((x[0] * q[1] - x[1] * q[0]) / area, 0);
  beta[(j + 1) % a->count] = fmax((p[0] * x[1] - p[1] * x[0]) / area, 0);
}

static void scatter(const form *f, int c, const double *d, const double *x, double *z) {
  const gathering *a = &f->r.found[c];
  double beta[MOST_DIRECTIONS] = {0};
  if (d) {
    scatter_plane(a, d, x, beta);
  } else if (!a->kept_zero) {
    beta[0] = fmax(x[0] * f->stretch[c], 0);
    beta[1] = fmax(-x[0] * f->stretch[c], 0);
  }
  for (int j = 0; j < a->count; j++) {
    const int k = a->first + j;
    z[f->r.direction[k]] = beta[j] * f->r.col_scale[k];
  }
}

static double slack(const ss_cp *problem, int i, const double *z) {
  if (problem->sparse) return problem->g[i] + sparse_dot(problem->sparse, i, z);
  const double *row = problem->G + (size_t)i * (size_t)problem->n;
  double sum = problem->g[i];
  for (int j = 0; j < problem->n; j++) sum += row[j] * z[j];
  return sum;
}

/* w: slacks of the new problem. Directions that are kept at zero have none there; the other rows of z are done already. */
static double least_lambda(const form *f, int c, const double *d, const double *w, const double *z) {
  const gathering *a = &f->r.found[c];
  double least = 0;
  for (int j = 0; j < a->count; j++) {
    const int k = a->first + j;
    double y;
    if (a->kept_zero)
      y = slack(f->problem, f->r.direction[k], z) * f->r.row_scale[k];
    else
      y = d ? d[2 * j] * w[0] + d[2 * j + 1] * w[1] : (1 - 2 * j) * w[0] / f->stretch[c];
    least = fmax(least, -y);
  }
  return least / a->push;
}

static void move_kept(const form *f, const double *from, double *to, bool back) {
  for (int i = 0; i < f->problem->n; i++) {
    const int v = f->kept[i];
    if (v >= 0) to[back ? i : v] = from[back ? v : i];
  }
  for (int i = 0; i < f->problem->n; i++) {
    const int c = f->chain[i], v = c < 0 ? -1 : f->place[f->chain[i]] - 1;
    if (v >= 0) to[back ? i : v] = from[back ? v : i];
  }
}

/* The corners of a contact's polygon; NULL where it has none. */
static ss_status corners(const gathering *a, ss_cp_workspace *w, const double **d, ss_error *error) {
  const bool plane = a->count > 2 && !a->kept_zero;
  *d = plane ? scratch_directions(w, a->count) : NULL;
  return plane && !*d ? out_of_memory(error) : SS_OK;
}

/* x of the new problem from z of the given one. */
static ss_status transfer_to(const form *f, const double *z, double *x, ss_cp_workspace *w, ss_error *error) {
  ss_status status = SS_OK;
  move_kept(f, z, x, false);
  for (int c = 0; c < f->r.count && !status; c++) {
    const double *d;
    status = corners(&f->r.found[c], w, &d, error);
    if (!status && f->r.found[c].count && !f->r.found[c].kept_zero) gather(f, c, d, z, x + f->place[c]);
  }
  return status;
}

/* The way back; y: slacks of the new problem. */
static ss_status transfer_back(const form *f, const double *x, const double *y, double *z, ss_cp_workspace *w,
                               ss_error *error) {
  move_kept(f, x, z, true);
  for (int pass = 0; pass < 2; pass++) /* what is kept at zero needs all the rest for its lambda */
    for (int c = 0; c < f->r.count; c++) {
      const gathering *a = &f->r.found[c];
      const double *d;
      const ss_status status = corners(a, w, &d, error);
      if (status) return status;
      if (a->count == 0) continue;
      const int at = a->kept_zero ? 0 : f->place[c];
      if (pass == 0) {
        scatter(f, c, d, x + at, z);
        z[a->lambda] = 0;
      } else {
        z[a->lambda] = least_lambda(f, c, d, y + at, z);
      }
    }
  return SS_OK;
}

static ss_status make_form(form *f, const ss_cp *problem, ss_cp_workspace *w, ss_error *error) {
  const size_t n = (size_t)problem->n;
  f->chain = SCRATCH(w, int, 4 * n);
  f->stretch = SCRATCH(w, double, n);
  f->members = SCRATCH(w, member, n);
  f->blocks = SCRATCH(w, ss_block, n);
  if (!f->chain || !f->stretch || !f->members || !f->blocks) return out_of_memory(error);
  f->next = f->chain + n;
  f->place = f->next + n;
  f->kept = f->place + n;
  chain_contacts(f);
  choose_rows(f);
  return SS_OK;
}

ss_status solve_friction_form(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                              ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  static const double margin = 0.25; /* beta is longer than z_t, and the scales of rows differ */
  form f = {.problem = problem};
  ss_cp posed;
  ss_status status = recognise(problem, workspace, &f.r, error);
  if (!status && f.r.count > 0) status = make_form(&f, problem, workspace, error);
  if (status || f.r.count == 0 || f.n == problem->n) {
    result->outcome = SS_NOT_ADMITTED;
    return status;
  }
  status = pose(&f, &posed, workspace, error);
  if (status) return status;
  double *x = SCRATCH(workspace, double, f.n), *y = SCRATCH(workspace, double, f.n);
  if (!x || !y) return out_of_memory(error);
  if (warm) status = transfer_to(&f, z, x, workspace, error);
  ss_cp_options inner = *options;
  inner.solver = "auto";
  inner.tolerance *= margin;
  if (!status) status = ss_cp_solve(&posed, &inner, warm, x, workspace, result, error);
  if (!status) (void)ss_cp_judge(&posed, x, y);
  if (!status) status = transfer_back(&f, x, y, z, workspace, error);
  if (!status) result->residual = ss_cp_judge(problem, z, NULL);
  return status;
}
