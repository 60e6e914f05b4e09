/* The linear system of an active set, and the guess of that set by the natural map.
 *
 * Per block the relation between z and w is replaced by equations: open z = 0; active or sticking w = 0; sliding z_t =
 * mu z_n d with w_n = 0, and on an edge of a polygon w_t perpendicular to it. Written as z = z_ref + B y with the test
 * C^T (G z + g) + D y = e this is one square system of the smallest possible size. Repeating guess and solve is the
 * primal-dual active set method, a semismooth Newton method on the natural map (Alart & Curnier 1991); for the disc the
 * sliding direction turns with y:
 *
 *     z_t = P(x), x = z_t - rho w_t, |x| > R = mu z_n:   P(x + dx) = R n + a t (t . dx),  a = R / |x|, n = x / |x|, t
 * perp n so that z_t = mu z_n n + s t with  t . w_t + (1 - a) / (a rho) s = 0.
 *
 * Fails where the states cycle or the system is singular in an inconsistent way; the judge sees it. */
#include "cp/active.h"

#include "la/dense.h"
#include "cp/reduce.h"
#include "cp/solver.h"

#include <math.h>

enum { LARGE = 24 }; /* rows from which sparsity and the nearest solution are worth their administration */

void active_apply(const ss_cp *problem, const double *z, double *w) {
  const int n = problem->n;
  for (int i = 0; i < n; i++) {
    const double *row = problem->G + (size_t)i * (size_t)n;
    double sum = problem->g[i];
    for (int j = 0; j < n; j++) sum += row[j] * z[j];
    w[i] = sum;
  }
}

static int slip_states(const ss_block *block) {
  if (block->mu == 0) return 1;
  if (block->size == 2 || block->cone == SS_CONE_PYRAMID) {
    int states = 3;
    for (int i = 2; i < block->size; i++) states *= 3;
    return states;
  }
  return block->cone == SS_CONE_POLYHEDRAL ? 1 + 2 * block->directions : 2;
}

int site_first_state(const site *s) { return s->block->kind == SS_BLOCK_FRICTION && s->block->extra > 0; }

int site_end_state(const site *s) {
  const ss_block *block = s->block;
  if (block->kind == SS_BLOCK_NONNEGATIVE) return 2;
  if (block->kind == SS_BLOCK_BOX) return 3;
  if (block->size > 2 && block->cone == SS_CONE_QUADRATIC && block->mu > 0) return site_first_state(s);
  return 1 + s->slips * (block->extra > 0 ? 2 : 1);
}

bool active_describe(const ss_block *block, int row, ss_cp_workspace *w, site *s) {
  *s = (site){.block = block, .row = row, .state = -1};
  if (block->kind != SS_BLOCK_FRICTION) return true;
  s->slips = slip_states(block);
  if (block->size == 2 || block->cone != SS_CONE_POLYHEDRAL) return true;
  s->corners = scratch_directions(w, block->directions);
  return s->corners != NULL;
}

int active_list_sites(const ss_cp *problem, ss_cp_workspace *w, site *sites) {
  int count = 0;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block_is_free(block)) continue;
    const int rows = block->kind == SS_BLOCK_FRICTION ? 1 : block->size;
    for (int i = 0; i < rows; i++)
      if (!active_describe(block, block->first + i, w, &sites[count++])) return -1;
  }
  return count;
}

/* Everything but the matrix of the linear system. */
static ss_status create(const ss_cp *problem, ss_cp_workspace *w, active_set *out, ss_error *error) {
  const size_t n = (size_t)problem->n;
  *out = (active_set){.problem = problem};
  out->sites = SCRATCH(w, site, n);
  out->u = SCRATCH(w, unknown, n);
  out->rho = SCRATCH(w, double, 3 * n);
  out->row = SCRATCH(w, int, 2 * n);
  if (!out->sites || !out->u || !out->rho || !out->row) return out_of_memory(error);
  out->y = out->rho + n;
  out->w = out->y + n;
  out->col = out->row + n;
  out->n_sites = active_list_sites(problem, w, out->sites);
  return out->n_sites < 0 ? out_of_memory(error) : SS_OK;
}

static double diagonal_of(const active_set *a, int i) {
  return a->problem->G ? a->problem->G[(size_t)i * ((size_t)a->problem->n + 1)] : a->diagonal[i];
}

static void set_rho(active_set *a) {
  const ss_cp *problem = a->problem;
  for (int i = 0; i < problem->n; i++) a->rho[i] = diagonal_of(a, i) > 0 ? 1 / diagonal_of(a, i) : 1;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block->kind == SS_BLOCK_FRICTION) equal_tangents(block, a->rho + block->first);
  }
}

ss_status active_set_seek_nearest(active_set *a, ss_cp_workspace *w, ss_error *error) {
  const size_t n = (size_t)a->problem->n;
  if (n < LARGE) return SS_OK;
  a->large = true;
  a->r = SCRATCH(w, double, 4 * n);
  a->last = SCRATCH(w, int, 2 * n + 1);
  if (!a->r || !a->last) return out_of_memory(error);
  a->before = a->r + n;
  a->filter = a->before + n;
  a->blur = a->filter + n;
  for (size_t i = 0; i < n; i++) a->blur[i] = 0;
  a->begin = a->last + n;
  return pattern_create(a->problem, w, &a->pattern, error);
}

ss_status active_set_create(const ss_cp *problem, ss_cp_workspace *w, active_set *out, ss_error *error) {
  const size_t n = (size_t)problem->n;
  const ss_status status = create(problem, w, out, error);
  if (status != SS_OK) return status;
  out->A = SCRATCH(w, double, n *(n + 1));
  out->columns = SCRATCH(w, system_column, n);
  if (!out->A || !out->columns) return out_of_memory(error);
  set_rho(out);
  return SS_OK;
}

ss_status active_set_create_bare(const ss_cp *problem, const double *diagonal, ss_cp_workspace *w, active_set *out,
                                 ss_error *error) {
  const ss_status status = create(problem, w, out, error);
  if (status != SS_OK) return status;
  out->diagonal = diagonal;
  set_rho(out);
  return SS_OK;
}

/* The polygon's part that (x, y) projects to, for corners at radius r. */
static int polygon_state(double x, double y, double r, int k, const double *d) {
  int best = 0;
  double largest = -HUGE_VAL;
  for (int i = 0; i < k; i++) { /* the edge whose outward direction fits best */
    const double out = (d[2 * i] + d[2 * i + 2]) * x + (d[2 * i + 1] + d[2 * i + 3]) * y;
    if (out > largest) {
      largest = out;
      best = i;
    }
  }
  const double *p = d + (size_t)2 * (size_t)best, *q = p + 2;
  const double mx = (p[0] + q[0]) / 2, my = (p[1] + q[1]) / 2;
  if (largest / 2 <= r * (mx * mx + my * my)) return SLIP_STICKS;
  const double along = (q[0] - p[0]) * x + (q[1] - p[1]) * y;
  const double reach = r * ((q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1])) / 2;
  if (along <= -reach) return 1 + 2 * best;
  if (along >= reach) return 1 + 2 * ((best + 1) % k);
  return 2 + 2 * best;
}

static int axis_state(double x, double r) { return x > r ? 1 : x < -r ? -1 : 0; }

static int disc_state(site *s, const double *x, double r, double rho) {
  const int n = s->block->size - 1;
  double norm = 0;
  for (int i = 0; i < n; i++) norm += x[i] * x[i];
  norm = sqrt(norm);
  if (norm <= r) return SLIP_STICKS;
  for (int i = 0; i < n; i++) s->direction[i] = x[i] / norm;
  s->stiffness = (norm - r) / (r * rho); /* infinite for r = 0: the direction is held */
  return SLIP_DISC_SLIDES;
}

static int guess_slip(site *s, const double *x, double r, double rho) {
  const ss_block *block = s->block;
  if (block->mu == 0) return SLIP_STICKS;
  if (block->size == 2 || block->cone == SS_CONE_PYRAMID) {
    int state = 0;
    for (int i = block->size - 2; i >= 0; i--) state = 3 * state + 1 + axis_state(x[i], r);
    return state;
  }
  if (block->cone == SS_CONE_QUADRATIC) return disc_state(s, x, r, rho);
  return polygon_state(x[0], x[1], r, block->directions, s->corners);
}

static int guess_friction(site *s, const double *z, const double *w, const double *rho, const double *blur) {
  const double normal = z[0] - rho[0] * w[0];
  const bool closed = normal > blur[0];
  if (!closed && s->block->extra == 0) return SITE_OPEN;
  double x[SS_FRICTION_ROWS - 1];
  for (int i = 1; i < s->block->size; i++) x[i - 1] = z[i] - rho[i] * w[i];
  const double r = s->block->mu * ((closed ? normal : 0) + s->block->extra) + blur[1];
  return 1 + guess_slip(s, x, r, rho[1]) + (closed ? 0 : s->slips);
}

static int guess_site(site *s, const double *z, const double *w, const double *rho, const double *blur) {
  if (s->block->kind == SS_BLOCK_FRICTION) return guess_friction(s, z, w, rho, blur);
  const double x = *z - *rho * *w;
  if (s->block->kind == SS_BLOCK_NONNEGATIVE) return x > *blur;
  return x <= s->block->lower ? 0 : x >= s->block->upper ? 2 : 1;
}

void active_set_blur(active_set *a, const double *z) {
  const double epsilon = 0x1p-52;
  for (int i = 0; a->large && i < a->problem->n; i++)
    a->blur[i] = 64 * epsilon * a->rho[i] * pattern_magnitude(&a->pattern, a->problem, i, z);
}

int active_set_guess(active_set *a, const double *z, const double *w) {
  static const double exact[SS_FRICTION_ROWS] = {0};
  int changed = 0;
  for (int k = 0; k < a->n_sites; k++) {
    site *s = &a->sites[k];
    const double *blur = a->large ? a->blur + s->row : exact;
    const int state = guess_site(s, z + s->row, w + s->row, a->rho + s->row, blur);
    changed += state != s->state;
    s->state = state;
  }
  return changed;
}

static unknown *add_unknown(active_set *a, int *m, int first, int size) {
  unknown *u = &a->u[(*m)++];
  *u = (unknown){.first = first, .size = size};
  return u;
}

static void add_row(active_set *a, int *m, int row) {
  unknown *u = add_unknown(a, m, row, 1);
  u->b[0] = u->c[0] = 1;
}

/* A tangential unknown along t, n numbers. */
static inline unknown *add_tangent(active_set *a, int *m, const site *s, const double *t, int n) {
  unknown *u = add_unknown(a, m, s->row + 1, n);
  for (int i = 0; i < n; i++) u->b[i] = u->c[i] = t[i];
  return u;
}

static void set_z(active_set *a, double *z, int row, double value) {
  a->y[row] = value - z[row]; /* the step of the reference, for w */
  z[row] = value;
}

/* The ways in which a contact may stick and slide: they set the slope dz_t / dz_n that goes with the normal unknown, add
 * the tangential unknowns, and move z_t into the set that the state describes, of size mu `load`, load = z_n + extra. */

static void slip_axes(active_set *a, int *m, const site *s, int slip, double load, double *slope, double *z) {
  for (int i = 0; i < s->block->size - 1; i++, slip /= 3) {
    slope[i] = s->block->mu * (slip % 3 - 1);
    if (slip % 3 == 1)
      add_row(a, m, s->row + 1 + i);
    else
      set_z(a, z, s->row + 1 + i, slope[i] * load);
  }
}

static inline double along(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* The k-th (1 .. n - 1) of unit vectors perpendicular to the unit vector d and to each other: column k of the reflection
 * that takes the first axis to d, or to -d where that is the nearer one to avoid. */
static inline void perpendicular(const double *d, int n, int k, double *t) {
  const double sign = d[0] > 0 ? -1 : 1, v0 = d[0] - sign, scale = 1 / (1 - sign * d[0]);
  for (int i = 0; i < n; i++) t[i] = (i == k) - scale * d[k] * (i == 0 ? v0 : d[i]);
}

/* On the sphere: along `direction`, and free to turn away from it against the curvature. n: its tangents. */
static inline void slip_sphere(active_set *a, int *m, const site *s, int n, double load, double *slope, double *z) {
  const bool turning = s->stiffness < HUGE_VAL;
  const double *d = s->direction, *zt = z + s->row + 1, straight = along(d, zt, n);
  double kept[SS_FRICTION_ROWS], t[SS_FRICTION_ROWS];
  for (int i = 0; i < n; i++) kept[i] = turning ? zt[i] - straight * d[i] : 0;
  for (int i = 0; i < n; i++) {
    slope[i] = s->block->mu * d[i];
    set_z(a, z, s->row + 1 + i, slope[i] * load + kept[i]);
  }
  for (int k = 1; turning && k < n; k++) {
    perpendicular(d, n, k, t);
    unknown *u = add_tangent(a, m, s, t, n);
    u->diagonal = s->stiffness;
    u->value = -s->stiffness * along(t, kept, n);
  }
}

static void slip_disc(active_set *a, int *m, const site *s, double load, double *slope, double *z) {
  if (s->block->size == 3)
    slip_sphere(a, m, s, 2, load, slope, z); /* with its loops unrolled */
  else
    slip_sphere(a, m, s, s->block->size - 1, load, slope, z);
}

/* At a corner, or on an edge with w_t perpendicular to it wherever z_t is on it. */
static void slip_polygon(active_set *a, int *m, const site *s, int slip, double load, double *slope, double *z) {
  const double *p = s->corners + (slip - 1) / 2 * 2, *q = p + 2, *zt = z + s->row + 1;
  const bool edge = slip % 2 == 0;
  const double x = q[0] - p[0], y = q[1] - p[1], length = sqrt(x * x + y * y), t[2] = {x / length, y / length};
  const double kept = edge ? along(t, zt, 2) : 0;
  for (int i = 0; i < 2; i++) {
    slope[i] = s->block->mu * (edge ? (p[i] + q[i]) / 2 : p[i]);
    set_z(a, z, s->row + 1 + i, slope[i] * load + kept * t[i]);
  }
  if (edge) (void)add_tangent(a, m, s, t, 2);
}

static void apply_friction(active_set *a, int *m, const site *s, double *z) {
  const ss_block *block = s->block;
  const bool closed = s->state <= s->slips;
  const int slip = s->state - 1 - (closed ? 0 : s->slips);
  double none[SS_FRICTION_ROWS], *slope = none;
  if (closed) {
    unknown *normal = add_unknown(a, m, s->row, block->size);
    normal->b[0] = normal->c[0] = 1;
    slope = normal->b + 1;
  } else {
    set_z(a, z, s->row, 0);
  }
  const double load = z[s->row] + block->extra;
  if (block->mu == 0) {
    for (int i = 1; i < block->size; i++) set_z(a, z, s->row + i, 0);
  } else if (block->size == 2 || block->cone == SS_CONE_PYRAMID) {
    slip_axes(a, m, s, slip, load, slope, z);
  } else if (slip == SLIP_STICKS) {
    for (int i = 1; i < block->size; i++) add_row(a, m, s->row + i);
  } else if (block->cone == SS_CONE_QUADRATIC) {
    slip_disc(a, m, s, load, slope, z);
  } else {
    slip_polygon(a, m, s, slip, load, slope, z);
  }
}

static void apply_site(active_set *a, int *m, const site *s, double *z) {
  const ss_block *block = s->block;
  if (block->kind == SS_BLOCK_BOX) {
    if (s->state == 1)
      add_row(a, m, s->row);
    else
      set_z(a, z, s->row, s->state ? block->upper : block->lower);
  } else if (s->state == SITE_OPEN) {
    const int rows = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    for (int i = 0; i < rows; i++) set_z(a, z, s->row + i, 0);
  } else if (block->kind == SS_BLOCK_NONNEGATIVE) {
    add_row(a, m, s->row);
  } else {
    apply_friction(a, m, s, z);
  }
}

/* Also leaves in a->y the step from z to the reference, by row. */
int active_set_unknowns(active_set *a, double *z) {
  const ss_cp *problem = a->problem;
  int m = 0;
  for (int i = 0; i < problem->n; i++) a->y[i] = 0;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block_is_free(block))
      for (int i = 0; i < block->size; i++) add_row(a, &m, block->first + i);
  }
  for (int k = 0; k < a->n_sites; k++) apply_site(a, &m, &a->sites[k], z);
  for (int k = 0; k < m; k++) {
    unknown *u = &a->u[k];
    double size = u->diagonal;
    for (int i = 0; i < u->size; i++) {
      const double own = fabs(diagonal_of(a, u->first + i));
      if (u->c[i] != 0 && own > size) size = own;
    }
    u->scale = inverse_root_power(size);
    while (u->size > 1 && u->b[u->size - 1] == 0 && u->c[u->size - 1] == 0) u->size--;
  }
  return m;
}

/* The linear system of an active set: C^T [G B, w_ref - e] + D, scaled, and its solution by elimination with pivots.
 *
 * Assembling it costs as much as solving it where there are few rows, so the columns are taken from a row of G in pieces: those
 * of contacts that stick as they are, the two of a contact that slides together. */

static const double rank_tolerance = 1e-13;

/* The rows in which the step from z to the reference, y, is not zero, in a->row; returns how many: mostly few. */
static int list_moved(active_set *a) {
  int count = 0;
  for (int i = 0; i < a->problem->n; i++) {
    a->row[count] = i;
    count += a->y[i] != 0;
  }
  return count;
}

/* The slack of a row at the reference: that at z, and what the step to it changes. */
static double reference_slack(const active_set *a, int moved, const double *w, int i) {
  const double *row = a->problem->G + (size_t)i * (size_t)a->problem->n;
  double sum = w[i];
  for (int k = 0; k < moved; k++) sum += row[a->row[k]] * a->y[a->row[k]];
  return sum;
}

/* How the columns hang together; the factors of single rows also go into a->w, one after the other. */
static void list_columns(active_set *a, int m) {
  enum { LONG = 4 };
  system_column *next = NULL;
  for (int k = m - 1, run = 0; k >= 0; k--) {
    const unknown *u = &a->u[k];
    system_column *v = &a->columns[k];
    v->first = u->first;
    for (int i = 0; i < u->size && i < 3; i++) v->b[i] = u->scale * u->b[i];
    a->w[k] = v->b[0];
    run = u->size > 1 ? 0 : run > 0 && next->first == u->first + 1 ? run + 1 : 1;
    v->kind = u->size <= 3 ? u->size : COLUMN_LONG;
    if (u->size == 3 && next && next->kind == 2 && next->first == u->first + 1) v->kind = COLUMN_PAIR;
    v->run = run;
    if (run >= LONG) v->kind = COLUMN_RUN;
    next = v;
  }
}

static double long_product(const unknown *u, const double *p) {
  double sum = 0;
  for (int i = 0; i < u->size; i++) sum += p[i] * u->b[i];
  return u->scale * sum;
}

/* c times a row of G, in the unknowns: the row of the system, or what is added to it. */
static inline void take_row(const active_set *a, int m, const double *restrict G, double c, bool add,
                            double *restrict row) {
  const system_column *restrict columns = a->columns;
  for (int j = 0; j < m;) {
    const system_column *v = columns + j;
    const double *restrict p = G + v->first, *restrict factor = a->w + j;
    double x;
    switch (v->kind) {
    case COLUMN_PAIR:
      x = c * (p[0] * v->b[0] + p[1] * v->b[1] + p[2] * v->b[2]);
      row[j] = add ? row[j] + x : x;
      x = c * (p[1] * v[1].b[0] + p[2] * v[1].b[1]);
      row[j + 1] = add ? row[j + 1] + x : x;
      j += 2;
      continue;
    case COLUMN_RUN:
      for (int l = 0; l < v->run; l++) row[j + l] = (add ? row[j + l] : 0) + c * (p[l] * factor[l]);
      j += v->run;
      continue;
    case 1:
      x = c * (p[0] * v->b[0]);
      break;
    case 2:
      x = c * (p[0] * v->b[0] + p[1] * v->b[1]);
      break;
    case 3:
      x = c * (p[0] * v->b[0] + p[1] * v->b[1] + p[2] * v->b[2]);
      break;
    default:
      x = c * long_product(&a->u[j], p);
    }
    row[j] = add ? row[j] + x : x;
    j++;
  }
}

/* Row k of the scaled system: c_k^T [G B, w_ref - e] + D. */
static void assemble_row(active_set *a, int m, int k, int moved, const double *w) {
  const size_t n = (size_t)a->problem->n;
  const unknown *u = &a->u[k];
  double *row = a->A + (size_t)k * ((size_t)m + 1), sum = 0;
  bool begun = false;
  for (int i = 0; i < u->size; i++) {
    if (u->c[i] == 0) continue;
    const double c = u->scale * u->c[i], *G = a->problem->G + (size_t)(u->first + i) * n;
    if (begun)
      take_row(a, m, G, c, true, row);
    else
      take_row(a, m, G, c, false, row);
    begun = true;
    sum += c * reference_slack(a, moved, w, u->first + i);
  }
  row[k] += u->scale * u->scale * u->diagonal + a->damping;
  row[m] = sum - u->scale * u->value;
  a->load = fabs(row[m]) > a->load ? fabs(row[m]) : a->load;
}

/* By elimination with pivots; undetermined unknowns keep their value, equations that contradict others are ignored. */
static bool eliminate(active_set *a, double *z, const double *w) {
  const int m = active_set_unknowns(a, z), stride = m + 1, moved = list_moved(a);
  list_columns(a, m);
  a->load = 0;
  for (int k = 0; k < m; k++) assemble_row(a, m, k, moved, w);
  const int rank = dense_eliminate(a->A, m, stride, stride, m, rank_tolerance, a->row, a->col);
  a->unknowns = m;
  a->rank = rank;
  for (int k = 0; k < rank; k++) a->y[k] = -a->A[(size_t)k * (size_t)stride + (size_t)m];
  dense_back(a->A, stride, rank, a->y);
  double finite = 0;
  for (int k = 0; k < rank; k++) {
    const unknown *u = &a->u[a->col[k]];
    const double y = u->scale * a->y[k];
    finite += 0 * y;
    for (int i = 0; i < u->size; i++) z[u->first + i] += u->b[i] * y;
  }
  return finite == 0;
}

bool active_set_solve(active_set *a, double *z, const double *w) {
  const int n = a->problem->n;
  a->loose = false;
  if (a->large && !a->pivoting) {
    for (int i = 0; i < n; i++) a->before[i] = z[i];
    if (active_set_approach(a, active_set_unknowns(a, z), z)) return true;
    for (int i = 0; i < n; i++) z[i] = a->before[i];
  }
  return eliminate(a, z, w);
}

/* The equations of an active set, solved with the least change of z.
 *
 * Redundant contacts leave the impulses undetermined: the system A y = -r is singular, but consistent where the states are
 * right. Elimination with pivots picks one of its solutions, another one after the slightest change, and a resting pile
 * never comes to rest. Instead
 *
 *     y <- y - (A + eps 1)^-1 (A y + r),
 *
 * the proximal point method, whose limit is the solution nearest to the start (exactly for symmetric A, closely
 * otherwise); eigenvalues of size lambda converge by eps / (eps + lambda) per step. A + eps 1 needs no pivoting where
 * the symmetric part of A is not negative, and is factored in its envelope. r is taken from the problem's
 * data in every step, so that what has converged is exact up to rounding.
 *
 * Fails, and says so, where the equations are inconsistent or A is far from positive; then active.c eliminates. */

static const double shift = 0x1p-27;
static const double epsilon = 0x1p-52;

/* Sorts the unknowns by the place of their group: order[k] stands at place k, those of a group from begin[group] on. */
static void sort_unknowns(const active_set *a, int m, int *order, int *begin) {
  const pattern *p = &a->pattern;
  for (int g = 0; g <= p->n; g++) begin[g] = 0;
  for (int k = 0; k < m; k++) begin[p->place[a->u[k].first]]++;
  for (int g = 0, sum = 0; g <= p->n; g++) {
    sum += begin[g];
    begin[g] = sum;
  }
  for (int k = m - 1; k >= 0; k--) order[--begin[p->place[a->u[k].first]]] = k;
}

static double coupling(const ss_cp *problem, const unknown *u, const unknown *v) {
  const size_t n = (size_t)problem->n;
  const double *G = problem->G + (size_t)u->first * n + (size_t)v->first;
  double total = 0;
  for (int i = 0; i < u->size; i++, G += n) {
    if (u->c[i] == 0) continue;
    double sum = G[0] * v->b[0];
    for (int l = 1; l < v->size; l++) sum += G[l] * v->b[l];
    total += u->c[i] * sum;
  }
  return u->scale * v->scale * total;
}

/* Where rows and columns of the envelope start and end. */
static void bound_rows(const active_set *a, int m, const int *begin, int *first, int *last) {
  const pattern *p = &a->pattern;
  for (int g = 0; g < p->n; g++)
    for (int i = begin[g]; i < begin[g + 1]; i++) first[i] = begin[p->least[g]];
  for (int i = 0; i < m; i++) last[i] = i;
  for (int i = 0; i < m; i++)
    if (last[first[i]] < i) last[first[i]] = i;
  for (int i = 1; i < m; i++)
    if (last[i] < last[i - 1]) last[i] = last[i - 1];
}

/* The scaled matrix with its shift. */
static void assemble(active_set *a, int m, const int *order, const int *begin, const int *first, const int *last) {
  const pattern *p = &a->pattern;
  for (int i = 0; i < m; i++) {
    const unknown *u = &a->u[order[i]];
    const int g = p->place[u->first];
    double *row = a->A + (size_t)i * (size_t)m;
    for (int j = first[i]; j <= last[i]; j++) row[j] = 0;
    for (int e = p->start[g]; e < p->start[g + 1]; e++)
      for (int j = begin[p->meets[e]]; j < begin[p->meets[e] + 1]; j++)
        row[j] = coupling(a->problem, u, &a->u[order[j]]);
    row[i] += u->scale * u->scale * u->diagonal + shift + a->damping;
  }
}

/* What the equations lack at z, in the order of elimination; returns the largest. */
static double defects(active_set *a, int m, const int *order, const double *total, const double *z, double *r) {
  pattern_apply(&a->pattern, a->problem, z, a->w);
  double largest = 0, finite = 0;
  for (int k = 0; k < m; k++) {
    const unknown *u = &a->u[order[k]];
    double sum = u->diagonal * total[k] - u->value;
    for (int i = 0; i < u->size; i++) sum += u->c[i] * a->w[u->first + i];
    r[k] = u->scale * sum;
    finite += 0 * r[k];
    largest = fmax(largest, fabs(r[k]));
  }
  return finite == 0 ? largest : HUGE_VAL;
}

static double magnitude(const double *x, int n) {
  double largest = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  return largest;
}

static void take_step(const active_set *a, int m, const int *order, const double *r, double *total, double *z) {
  for (int k = 0; k < m; k++) {
    const unknown *u = &a->u[order[k]];
    const double y = -u->scale * r[k];
    total[k] += y;
    for (int i = 0; i < u->size; i++) z[u->first + i] += u->b[i] * y;
  }
}

static void solve_filtered(active_set *a, int m, double *r) {
  double *t = a->filter;
  for (int k = 0; k < m; k++) t[k] = r[k];
  envelope_solve(a->A, m, a->col, a->last, t);
  if (a->damping > 0) {
    for (int k = 0; k < m; k++) r[k] = t[k];
    return;
  }
  for (int k = 0; k < m; k++) r[k] -= shift * t[k];
  envelope_solve(a->A, m, a->col, a->last, r);
}

bool active_set_approach(active_set *a, int m, double *z) {
  enum { STEPS = 6 };
  static const double enough = 1e-11, rough = 0.5, slow = 0.3;
  const int n = a->problem->n;
  int *order = a->row, *first = a->col, *last = a->last;
  double *total = a->y, *r = a->r;
  sort_unknowns(a, m, order, a->begin);
  bound_rows(a, m, a->begin, first, last);
  assemble(a, m, order, a->begin, first, last);
  if (!envelope_factor(a->A, m, first, last)) return false;
  for (int k = 0; k < m; k++) total[k] = 0;
  const double size = magnitude(a->problem->g, n);
  double start = 0, before = HUGE_VAL, now = 0;
  for (int step = 0; step <= STEPS; step++, before = now) {
    now = defects(a, m, order, total, z, r);
    if (step == 0) start = now;
    const double rounding = epsilon * (size + magnitude(z, n));
    if (now <= rounding) return true;
    if (step > 0 && a->damping > 0) return now < HUGE_VAL;
    if (step == STEPS || !(now < slow * before)) {
      a->loose = now > enough * start && now > 64 * rounding;
      return now <= rough * start;
    }
    solve_filtered(a, m, r);
    take_step(a, m, order, r, total, z);
  }
  return false;
}

/* Primal-dual active sets: guess the states by the natural map, solve their linear system, repeat. A
 * semismooth Newton method without globalisation: very fast from a good start (the last step's z), and it may cycle
 * from a bad one. For polyhedral sets it ends exactly, as soon as the states repeat. A start that is a solution already is
 * left as it is. The best z of all is kept; the iteration ends early where states come back or nothing improves. */

enum { DEFAULT_LIMIT = 10, MOST_VAIN = 4, SPARSE_ROWS = 64 };
enum { FEW = 24 };                                /* rows that are solved as fast as the start is judged */
static const double fine = 1e-13, nearly = 1e-10; /* from there only a wrong guess leads away */

typedef struct search {
  active_set a;
  double *w, *best; /* [n] */
  uint64_t *seen;   /* [limit] fingerprints of the states so far */
  double lowest;    /* residual of best */
  double rounding;  /* residual that rounding errors leave */
  int patience;
  int vain;       /* iterations since it was last halved */
  bool z_is_best; /* and best may be older */
  bool smooth;    /* the disc's equations change with z even where the states do not */
  bool guessing;  /* many contacts, from nothing: where they are redundant, other solvers find the impulses faster */
} search;

static uint64_t fingerprint(const active_set *a) {
  uint64_t h = 1469598103934665603u; /* FNV-1a */
  for (int k = 0; k < a->n_sites; k++) h = (h ^ (uint64_t)(unsigned)a->sites[k].state) * 1099511628211u;
  return h;
}

/* Whether solving these states again is in vain. If they are those of just now, and were not solved well, it is not: the
 * solution is refined, with pivots where it was rough. */
static bool seen_before(search *s, int iteration) {
  if (s->smooth) return false;
  s->seen[iteration] = fingerprint(&s->a);
  const bool again = iteration > 0 && s->seen[iteration] == s->seen[iteration - 1];
  if (again && s->a.loose) {
    s->a.pivoting = true;
    return false;
  }
  if (again) return !(s->vain == 0 && s->lowest > 10 * fine);
  for (int k = 0; k < iteration; k++)
    if (s->seen[k] == s->seen[iteration]) return true;
  return false;
}

/* Returns whether to go on. */
static bool keep(search *s, double residual, const double *z, int n) {
  const bool much = residual <= s->lowest / 2;
  const bool settled = residual <= s->rounding || (s->lowest <= nearly && residual > 10 * s->lowest) ||
                       (residual <= fine && !(residual <= s->lowest / 10));
  s->vain = much ? 0 : s->vain + 1;
  const bool ends = settled || s->vain >= s->patience;
  s->z_is_best = residual < s->lowest;
  if (s->z_is_best) {
    s->lowest = residual;
    for (int i = 0; i < n && !ends; i++) s->best[i] = z[i];
  }
  return !ends;
}

/* w of a start that is given, or from nothing; its residual where it is worth judging. */
static void look_at_start(search *s, const ss_cp *problem, bool warm, const double *z) {
  const int n = problem->n;
  if (warm && n >= FEW)
    s->lowest = ss_cp_judge(problem, z, s->w);
  else if (warm)
    active_apply(problem, z, s->w);
  else
    for (int i = 0; i < n; i++) s->w[i] = problem->g[i];
}

static ss_status begin(search *s, const ss_cp *problem, bool warm, int limit, double *z, ss_cp_workspace *workspace,
                       ss_error *error) {
  ss_status status = active_set_create(problem, workspace, &s->a, error);
  if (!status && (warm || problem->n > SPARSE_ROWS)) status = active_set_seek_nearest(&s->a, workspace, error);
  if (status) return status;
  s->seen = SCRATCH(workspace, uint64_t, limit);
  if (!s->seen) return out_of_memory(error);
  for (int i = 0; i < problem->n && warm; i++) s->best[i] = z[i];
  active_set_blur(&s->a, z);
  return SS_OK;
}

ss_status solve_active_set(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                           ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  const int n = problem->n, limit = options->iteration_limit > 0 ? options->iteration_limit : DEFAULT_LIMIT;
  search s = {.smooth = has_disc(problem), .lowest = HUGE_VAL, .rounding = 1e-14 * fmax(1, n / 96.0)};
  s.guessing = !warm && s.smooth && n > FEW;
  s.patience = warm || !s.smooth ? MOST_VAIN : 2; /* directions that are guessed from nothing seldom settle */
  s.w = SCRATCH(workspace, double, 2 * (size_t)n);
  if (!s.w) return out_of_memory(error);
  s.best = s.w + n;
  for (int i = 0; i < n && !warm; i++) z[i] = 0;
  look_at_start(&s, problem, warm, z);
  result->outcome = SS_LIMIT;
  if (s.lowest > s.rounding) {
    const ss_status status = begin(&s, problem, warm, limit, z, workspace, error);
    if (status) return status;
    bool goes_on = true;
    for (int k = 0; k < limit && goes_on; k++) {
      (void)active_set_guess(&s.a, z, s.w);
      if (seen_before(&s, k)) break; /* nothing new would come any more */
      if (!active_set_solve(&s.a, z, s.w)) {
        result->outcome = SS_STALLED;
        s.z_is_best = false;
        break;
      }
      result->iterations = k + 1;
      goes_on = keep(&s, ss_cp_judge(problem, z, s.w), z, n) && !(s.guessing && 2 * s.a.rank <= s.a.unknowns);
    }
    for (int i = 0; i < n && !s.z_is_best && s.lowest < HUGE_VAL; i++) z[i] = s.best[i];
  }
  result->residual = s.lowest;
  if (s.lowest <= options->tolerance) result->outcome = SS_SOLVED;
  return SS_OK;
}
