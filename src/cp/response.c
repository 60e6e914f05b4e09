/* Two laws from a slack to an impulse, with derivatives, for Newton's method (compliant.c).
 *
 * The projection on the cone {|z_t| <= mu z_n} of a disc or a ball has three pieces: the inside, the apex, and the boundary
 * z = a (1, mu d) with a = (x_n + mu |x_t|) / (1 + mu^2), d = x_t / |x_t|. That on the cone over a regular polygon is found in
 * the sector between a corner and the middle of an edge that holds x_t, which by symmetry holds the projection as well:
 * inside, on the plane of the edge, on the ray of the corner, apex. The cone over a cube has a face for every tangent. */
#include "cp/response.h"

#include "cp/reduce.h"

#include <math.h>
#include <string.h>

/* The linear pieces of the projection on an interval, a square, a polygon, a disc or a ball. */

static void project_axes(int slip, const double *x, double R, int n, projection *p) {
  for (int i = 0; i < n; i++, slip /= 3) {
    p->by_R[i] = slip % 3 - 1;
    p->by_x[i][i] = slip % 3 == 1;
    p->P[i] = slip % 3 == 1 ? x[i] : p->by_R[i] * R;
  }
}

static void project_disc(const double *x, double R, int n, projection *p) {
  double norm = 0;
  for (int i = 0; i < n; i++) norm += x[i] * x[i];
  norm = sqrt(norm);
  for (int i = 0; i < n; i++) p->by_R[i] = x[i] / norm;
  for (int i = 0; i < n; i++) {
    p->P[i] = R * p->by_R[i];
    for (int j = 0; j < n; j++) p->by_x[i][j] = R / norm * ((i == j) - p->by_R[i] * p->by_R[j]);
  }
}

static void project_polygon(const site *s, int slip, const double *x, double R, projection *p) {
  const double *c = s->corners + (slip - 1) / 2 * 2, *d = c + 2;
  const bool edge = slip % 2 == 0;
  const double e[2] = {d[0] - c[0], d[1] - c[1]}, length = sqrt(e[0] * e[0] + e[1] * e[1]);
  const double t[2] = {e[0] / length, e[1] / length};
  for (int i = 0; i < 2; i++) {
    p->by_R[i] = edge ? (c[i] + d[i]) / 2 : c[i];
    p->P[i] = R * p->by_R[i];
    for (int j = 0; edge && j < 2; j++) {
      p->by_x[i][j] = t[i] * t[j];
      p->P[i] += p->by_x[i][j] * x[j];
    }
  }
}

projection project_on_set(const site *s, int slip, const double *x, double R) {
  const ss_block *block = s->block;
  const int n = block->size - 1;
  projection p = {0};
  if (block->mu == 0) return p;
  if (n == 1 || block->cone == SS_CONE_PYRAMID) {
    project_axes(slip, x, R, n, &p);
  } else if (slip == SLIP_STICKS) {
    for (int i = 0; i < n; i++) {
      p.P[i] = x[i];
      p.by_x[i][i] = 1;
    }
  } else if (block->cone == SS_CONE_QUADRATIC) {
    project_disc(x, R, n, &p);
  } else {
    project_polygon(s, slip, x, R, &p);
  }
  return p;
}

/* Row `row`, of a block of `size`, with its derivative by the first x of the block. */
static void put(response *out, int row, int size, double z, double by_x) {
  out->z[row] = z;
  for (int j = 1; j < size; j++) out->D[row][j] = 0;
  out->D[row][0] = by_x;
}

/* Rows that stand alone; returns false for friction. */
static bool respond_alone(const site *s, const double *x, response *out) {
  const ss_block *block = s->block;
  const int row = s->row;
  if (block->kind == SS_BLOCK_FRICTION) return false;
  if (block->kind == SS_BLOCK_NONNEGATIVE)
    put(out, row, 1, fmax(x[row], 0), x[row] > 0);
  else
    put(out, row, 1, fmin(fmax(x[row], block->lower), block->upper), x[row] > block->lower && x[row] < block->upper);
  return true;
}

static void respond_free(const ss_cp *problem, const double *x, response *out) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    for (int i = block->first; block_is_free(block) && i < block->first + block->size; i++) put(out, i, 1, x[i], 1);
  }
}

static void stick(const site *s, const double *x, response *out) {
  for (int i = 1; i < s->block->size; i++) {
    put(out, s->row + i, s->block->size, x[s->row + i], 0);
    out->D[s->row + i][i] = 1;
  }
}

/* Sliding on a disc with a closed contact: z_t = R d, its derivative R / |x| t t^T and mu d by the normal part. */
static void slide_on_disc(const site *s, double R, const double *x, response *out) {
  const double *t = x + s->row + 1, norm = sqrt(t[0] * t[0] + t[1] * t[1]), d[2] = {t[0] / norm, t[1] / norm};
  const double turn = R / norm;
  for (int i = 0; i < 2; i++) {
    put(out, s->row + 1 + i, 3, R * d[i], s->block->mu * d[i]);
    for (int j = 0; j < 2; j++) out->D[s->row + 1 + i][1 + j] = turn * ((i == j) - d[i] * d[j]);
  }
}

static void coulomb(const site *s, const double *x, response *out) {
  const ss_block *block = s->block;
  const int n = block->size - 1, row = s->row;
  const bool closed = x[row] > 0, flat = n == 2 && block->mu > 0 && block->cone != SS_CONE_PYRAMID;
  put(out, row, block->size, fmax(x[row], 0), closed);
  const double R = block->mu * (out->z[row] + block->extra);
  if (s->state == SITE_OPEN) {
    for (int i = 1; i <= n; i++) put(out, row + i, block->size, 0, 0);
  } else if (flat && s->state == 1 + SLIP_STICKS) {
    stick(s, x, out);
  } else if (flat && closed && block->cone == SS_CONE_QUADRATIC) {
    slide_on_disc(s, R, x, out);
  } else {
    const projection p = project_on_set(s, s->state - 1 - (closed ? 0 : s->slips), x + row + 1, R);
    for (int i = 0; i < n; i++) {
      put(out, row + 1 + i, block->size, p.P[i], closed ? block->mu * p.by_R[i] : 0);
      for (int j = 0; j < n; j++) out->D[row + 1 + i][1 + j] = p.by_x[i][j];
    }
  }
}

void respond_by_coulomb(active_set *set, const double *x, const double *none, response *out) {
  (void)active_set_guess(set, x, none);
  respond_free(set->problem, x, out);
  for (int k = 0; k < set->n_sites; k++)
    if (!respond_alone(&set->sites[k], x, out)) coulomb(&set->sites[k], x, out);
}

/* D += factor v v^T for the rows of a block. */
static void add_dyad(double (*D)[SS_FRICTION_ROWS], int size, double factor, const double *v) {
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) D[i][j] += factor * v[i] * v[j];
}

static void keep_inside(int size, const double *x, double *z, double (*D)[SS_FRICTION_ROWS]) {
  for (int i = 0; i < size; i++) {
    z[i] = x[i];
    D[i][i] = 1;
  }
}

static void ball_cone(double mu, int size, const double *x, double *z, double (*D)[SS_FRICTION_ROWS]) {
  double norm = 0, u[SS_FRICTION_ROWS] = {1};
  for (int i = 1; i < size; i++) norm += x[i] * x[i];
  norm = sqrt(norm);
  if (norm <= mu * x[0]) {
    keep_inside(size, x, z, D);
    return;
  }
  const double a = (x[0] + mu * norm) / (1 + mu * mu);
  if (!(a > 0)) return;
  const double turn = mu * a / norm;
  for (int i = 1; i < size; i++) u[i] = mu * x[i] / norm;
  for (int i = 0; i < size; i++) z[i] = a * u[i];
  add_dyad(D, size, 1 / (1 + mu * mu), u);
  u[0] = 0;
  for (int i = 1; i < size; i++) {
    u[i] = x[i] / norm;
    D[i][i] += turn;
  }
  add_dyad(D, size, -turn, u);
}

static int nearest_corner(const double *corners, int k, double x, double y) {
  int best = 0;
  double largest = -HUGE_VAL;
  for (int i = 0; i < k; i++) {
    const double along = corners[2 * i] * x + corners[2 * i + 1] * y;
    if (along > largest) {
      largest = along;
      best = i;
    }
  }
  return best;
}

static void polygon_cone(const site *s, const double *x, double *z, double (*D)[SS_FRICTION_ROWS]) {
  const int k = s->block->directions, i = nearest_corner(s->corners, k, x[1], x[2]);
  const double mu = s->block->mu, *c = s->corners + (size_t)2 * (size_t)i;
  const bool left = c[0] * x[2] - c[1] * x[1] > 0;
  const double *o = s->corners + (size_t)2 * (size_t)((i + (left ? 1 : k - 1)) % k);
  const double m[2] = {c[0] + o[0], c[1] + o[1]}, e[2] = {c[0] - o[0], c[1] - o[1]};
  const double middle = sqrt(m[0] * m[0] + m[1] * m[1]), edge = sqrt(e[0] * e[0] + e[1] * e[1]);
  const double a = mu * middle / 2, b = mu * edge / 2;
  const double out = (m[0] * x[1] + m[1] * x[2]) / middle, along = (e[0] * x[1] + e[1] * x[2]) / edge;
  if (out <= a * x[0]) {
    keep_inside(3, x, z, D);
    return;
  }
  const double normal = (x[0] + a * out) / (1 + a * a);
  const bool facet = normal > 0 && along <= b * normal;
  const double u[3] = {1, facet ? a * m[0] / middle : mu * c[0], facet ? a * m[1] / middle : mu * c[1]};
  const double length = 1 + u[1] * u[1] + u[2] * u[2], reach = (x[0] + u[1] * x[1] + u[2] * x[2]) / length;
  if (!(reach > 0)) return;
  for (int j = 0; j < 3; j++) z[j] = reach * u[j];
  add_dyad(D, 3, 1 / length, u);
  if (!facet) return;
  const double t[3] = {0, e[0] / edge, e[1] / edge};
  for (int j = 1; j < 3; j++) z[j] += along * t[j];
  add_dyad(D, 3, 1, t);
}

/* The cone over a cube: with A the tangents at the boundary, z_n = (x_n + mu sum of |x_i| over A) / (1 + mu^2 |A|). The largest
 * come first, as long as they lie beyond the cone. */
static void cube_cone(double mu, int size, const double *x, double *z, double (*D)[SS_FRICTION_ROWS]) {
  double sum = x[0], normal = x[0], u[SS_FRICTION_ROWS] = {1};
  for (int count = 1; count < size; count++) {
    int next = 0;
    for (int i = 1; i < size; i++)
      if (u[i] == 0 && (next == 0 || fabs(x[i]) > fabs(x[next]))) next = i;
    if (fabs(x[next]) <= mu * normal) break;
    u[next] = x[next] > 0 ? mu : -mu;
    sum += mu * fabs(x[next]);
    normal = sum / (1 + mu * mu * count);
  }
  if (!(normal > 0)) return;
  double length = 0;
  for (int i = 0; i < size; i++) {
    length += u[i] * u[i];
    z[i] = u[i] != 0 ? normal * u[i] : x[i];
    D[i][i] = u[i] == 0;
  }
  add_dyad(D, size, 1 / length, u);
}

void respond_by_cone_at(const active_set *set, int k, const double *x, response *out) {
  const site *s = &set->sites[k];
  const int row = s->row, size = s->block->size;
  if (respond_alone(s, x, out)) return;
  for (int i = 0; i < size; i++) put(out, row + i, size, 0, 0);
  if (s->block->mu == 0)
    put(out, row, size, fmax(x[row], 0), x[row] > 0);
  else if (size == 2 || s->block->cone == SS_CONE_QUADRATIC)
    ball_cone(s->block->mu, size, x + row, out->z + row, out->D + row);
  else if (s->block->cone == SS_CONE_PYRAMID)
    cube_cone(s->block->mu, size, x + row, out->z + row, out->D + row);
  else
    polygon_cone(s, x + row, out->z + row, out->D + row);
}

void respond_by_cone(const active_set *set, const double *x, response *out) {
  respond_free(set->problem, x, out);
  for (int k = 0; k < set->n_sites; k++) respond_by_cone_at(set, k, x, out);
}

bool cones_admitted(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block->kind == SS_BLOCK_FRICTION && block->mu > 0 && block->extra > 0) return false;
  }
  return true;
}

double cone_shift_at(const active_set *set, int k, const double *w) {
  const site *s = &set->sites[k];
  const ss_block *block = s->block;
  if (block->kind != SS_BLOCK_FRICTION || block->mu == 0) return 0;
  const double *wt = w + s->row + 1;
  double support = 0;
  if (block->size > 2 && block->cone == SS_CONE_POLYHEDRAL) {
    const double *c = s->corners + (size_t)2 * (size_t)nearest_corner(s->corners, block->directions, -wt[0], -wt[1]);
    support = -(c[0] * wt[0] + c[1] * wt[1]);
  } else if (block->size > 2 && block->cone == SS_CONE_PYRAMID) {
    for (int i = 0; i < block->size - 1; i++) support += fabs(wt[i]);
  } else {
    for (int i = 0; i < block->size - 1; i++) support += wt[i] * wt[i];
    support = sqrt(support);
  }
  return block->mu * support;
}

void cone_shift(const active_set *set, const double *w, double *shift) {
  memset(shift, 0, sizeof *shift * (size_t)set->problem->n);
  for (int k = 0; k < set->n_sites; k++) shift[set->sites[k].row] = cone_shift_at(set, k, w);
}
