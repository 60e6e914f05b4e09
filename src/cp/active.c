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

#include "cp/dense.h"
#include "cp/reduce.h"

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
