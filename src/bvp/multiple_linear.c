/* Newton's equations of multiple shooting: difference quotients of the segments, and the block-bidiagonal system, eliminated
 * from the last segment to the first by reflections (multiple.c has the equations). */
#include "bvp/multiple.h"

#include "la/dense.h"

#include <string.h>

/* The lines of x_k while it is eliminated, columns: x_k, x_(k-1) (none for k = 1), u, right side. */
typedef struct block {
  int size, previous, columns;
  double *a; /* [size + m][columns] */
} block;

/* ---- derivatives ---- */

/* End of segment k - 1 in the coordinates of knot k; the conditions for k = segments. */
static void output(const multiple *w, int k, const ss_state *end, const double *f, double *out) {
  if (k == w->segments)
    memcpy(out, f, sizeof(double) * (size_t)w->s->m);
  else
    ss_knot_difference(w->model, &w->now.knot[k], end, out);
}

int multiple_outputs(const multiple *w, int k) {
  return k == w->segments ? w->s->m : ss_knot_size(w->model, &w->now.knot[k]);
}

static int inputs(const multiple *w, int k) { return k == 1 ? w->s->n : ss_knot_size(w->model, &w->now.knot[k - 1]); }

/* Moves coordinate j of the start of segment k - 1 and flies it again; the size of the move, 0 where that failed. */
static double disturb(multiple *w, int k, int j, double *u, double *unit, double *f) {
  ss_shooting *s = w->s;
  const ss_state *knot = &w->now.knot[k - 1];
  double step = 1e-7 * (1 + (k == 1 ? fabs(w->now.u[j]) : 0));
  memcpy(u, w->now.u, sizeof(double) * (size_t)s->n);
  if (k == 1) {
    u[j] += step;
  } else {
    step = ss_knot_increment(w->model, knot, j);
    if (multiple_failed(w, ss_knot_copy(w->model, knot, &w->moved, &s->error))) return 0;
    unit[j] = 1;
    ss_knot_move(w->model, &w->moved, unit, step);
    unit[j] = 0;
  }
  return multiple_fly(w, k - 1, u, &w->moved, &w->moved_end, f) ? step : 0;
}

/* Forward differences of segment k - 1; out [outputs][inputs]. */
static bool differentiate(multiple *w, int k, double *out) {
  const int m = multiple_outputs(w, k), n = inputs(w, k);
  double *base = ss_alloc(sizeof(double) * (2 * (size_t)m + (size_t)n + (size_t)w->s->n + (size_t)w->s->m));
  if (!base) return multiple_no_memory(w);
  double *moved = base + m, *unit = moved + m, *u = unit + n, *f = u + w->s->n, step = 1;
  output(w, k, &w->now.end[k - 1], w->now.f, base);
  for (int j = 0; j < n && step > 0; j++) {
    step = disturb(w, k, j, u, unit, f);
    if (!(step > 0)) break;
    output(w, k, &w->moved_end, f, moved);
    for (int i = 0; i < m; i++) out[(ptrdiff_t)i * n + j] = (moved[i] - base[i]) / step;
  }
  ss_bvp_apply(&w->s->scene, w->now.u);
  ss_free(base);
  return step > 0;
}

bool multiple_differentiate(multiple *w, ss_arena *arena, derivatives *d) {
  d->map = SS_ARENA_ARRAY(arena, double *, w->segments + 1);
  for (int k = 1; d->map && k <= w->segments; k++) {
    d->map[k] = SS_ARENA_ARRAY(arena, double, (size_t)multiple_outputs(w, k) * (size_t)inputs(w, k));
    if (!d->map[k]) return multiple_no_memory(w);
    if (!differentiate(w, k, d->map[k])) return false;
  }
  return d->map || multiple_no_memory(w);
}

/* d conditions / d u beyond what the final state brings. */
static void initial_factors(const ss_shooting *s, double *out, int stride) {
  for (int i = 0; i < s->m; i++)
    for (int k = 0; k < s->boundary->conditions[i].n; k++) {
      const ss_quantity *q = &s->boundary->conditions[i].quantities[k];
      for (int j = 0; j < s->n && !q->final; j++)
        if (s->boundary->unknown[j].body == q->body && s->boundary->unknown[j].coordinate == q->coordinate)
          out[(ptrdiff_t)i * stride + j] += s->boundary->conditions[i].factors[k];
    }
}

/* ---- the linear system ---- */

/* Lays out the lines of x_k: matching, with what trajectory t leaves open on the right, then the conditions `c`, whose
 * columns are x_k, u, right side. */
static bool lay_out(multiple *w, int k, const derivatives *d, const trajectory *t, const double *c, ss_arena *arena,
                    block *b) {
  const int n = w->s->n, m = w->s->m, from = inputs(w, k);
  b->size = multiple_outputs(w, k);
  b->previous = k == 1 ? 0 : from;
  b->columns = b->size + b->previous + n + 1;
  b->a = SS_ARENA_ARRAY(arena, double, (size_t)(b->size + m) * (size_t)b->columns);
  double *open = SS_ARENA_ARRAY(arena, double, b->size);
  if (!b->a || !open) return multiple_no_memory(w);
  ss_knot_difference(w->model, &t->knot[k], &t->end[k - 1], open);
  for (int i = 0; i < b->size; i++) {
    double *line = b->a + (ptrdiff_t)i * b->columns;
    line[i] = 1;
    for (int j = 0; j < from; j++) line[b->size + j] = -d->map[k][(ptrdiff_t)i * from + j];
    line[b->columns - 1] = open[i];
  }
  for (int i = 0; i < m; i++) {
    double *line = b->a + (ptrdiff_t)(b->size + i) * b->columns;
    const double *condition = c + (ptrdiff_t)i * (b->size + n + 1);
    memcpy(line, condition, sizeof(double) * (size_t)b->size);
    memcpy(line + b->size + b->previous, condition + b->size, sizeof(double) * (size_t)(n + 1));
  }
  return true;
}

/* The conditions as lines in the last knot, u and the right side. */
static double *condition_lines(multiple *w, const derivatives *d, const trajectory *t, ss_arena *arena) {
  const int n = w->s->n, m = w->s->m, size = inputs(w, w->segments), columns = size + n + 1;
  double *c = SS_ARENA_ARRAY(arena, double, (size_t)m *(size_t)columns);
  for (int i = 0; c && i < m; i++) {
    double *line = c + (ptrdiff_t)i * columns;
    memcpy(line, d->map[w->segments] + (ptrdiff_t)i * size, sizeof(double) * (size_t)size);
    line[columns - 1] = -t->f[i];
  }
  if (c) initial_factors(w->s, c + size, columns);
  return c;
}

/* R x_k = right - (part in x_(k-1)) - (part in u) */
static void substitute(const multiple *w, const block *b, const double *previous, const double *u, double *x) {
  for (int i = 0; i < b->size; i++) {
    const double *line = b->a + (ptrdiff_t)i * b->columns;
    x[i] = line[b->columns - 1];
    for (int j = 0; j < b->previous; j++) x[i] -= line[b->size + j] * previous[j];
    for (int j = 0; j < w->s->n; j++) x[i] -= line[b->size + b->previous + j] * u[j];
  }
  (void)ss_back_substitute(b->a, b->columns, b->size, 0, x, x);
}

/* The Newton step of trajectory t with derivatives that may belong to another. */
bool multiple_solve_linear(multiple *w, const derivatives *d, const trajectory *t, ss_arena *arena, increments *out) {
  const int n = w->s->n, m = w->s->m, last = w->segments - 1;
  block *blocks = SS_ARENA_ARRAY(arena, block, w->segments);
  double *c = condition_lines(w, d, t, arena);
  out->x = SS_ARENA_ARRAY(arena, double *, w->segments);
  out->u = SS_ARENA_ARRAY(arena, double, n);
  if (!blocks || !c || !out->x || !out->u) return multiple_no_memory(w);
  for (int k = last; k >= 1; k--) {
    block *b = &blocks[k];
    if (!lay_out(w, k, d, t, c, arena, b)) return false;
    ss_triangularise(b->a, b->size + m, b->columns, b->size);
    const int columns = b->columns - b->size;
    c = SS_ARENA_ARRAY(arena, double, (size_t)m *(size_t)columns);
    out->x[k] = SS_ARENA_ARRAY(arena, double, b->size);
    if (!c || !out->x[k]) return multiple_no_memory(w);
    for (int i = 0; i < m; i++)
      memcpy(c + (ptrdiff_t)i * columns, b->a + (ptrdiff_t)(b->size + i) * b->columns + b->size,
             sizeof(double) * (size_t)columns);
  }
  ss_triangularise(c, m, n + 1, n);
  for (int i = 0; i < n; i++) out->u[i] = c[(ptrdiff_t)i * (n + 1) + n];
  (void)ss_back_substitute(c, n + 1, n, 1e-13, out->u, out->u);
  for (int k = 1; k <= last; k++) substitute(w, &blocks[k], k == 1 ? NULL : out->x[k - 1], out->u, out->x[k]);
  return true;
}
