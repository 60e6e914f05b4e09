/* Large problems of patches, by their structure.
 *
 *     G = alpha J A^-1 J^T + diag(R_p)          R_p = E^-1 / h of patch p, J: at most twelve columns per patch
 *
 * Semismooth Newton on the natural map (cp/active.c lists the unknowns y of the contact states: z = z_ref + B y, tested
 * by C^T w + D y = e), but the linear system is never assembled. With T_p = C^T R_p B + D and the velocity change U =
 * A^-1 J^T B y of the bodies,
 *
 *     T_p y_p + alpha C^T J_p U = r_p,      A U = sum_p B^T J_p^T y_p + J_f^T z_f,      alpha J_f U + R_f z_f = r_f
 *
 * so that each patch is factored on its own and what couples them are the few coordinates of the bodies: eliminating
 * y_p leaves one small system per group of bodies that touch each other, with the joints (z_f) in it. A patch whose
 * elements all stick needs no factoring at all: T_p^-1 = h E is known.
 *
 * It starts from the last step's z, and halves steps that do not bring the residual down. Where the states do not settle
 * all the same, the caller goes on with the whole matrix, or with a shorter step. */
#include "cp/active.h"
#include "la/factor.h"
#include "la/lu.h"
#include "step/workspace.h"

#include <string.h>

enum { LARGE = 48, MOST_PASSES = 60, MOST_HALVINGS = 4, BODY_COLUMNS = 12 };

/* Limits and motors of joints have rows of their own kind: then the whole matrix is for the solvers that know them. */
bool ss_patch_is_large(const ss_sim *sim) {
  if (!sim->scheme->compliant || sim->problem.n <= LARGE || sim->coupling.active || sim->model->n_motors > 0)
    return false;
  if (sim->basis.n < sim->model->n_joint_rows) return false;
  for (int i = 0; i < sim->n_contacts; i++)
    if (sim->contacts[i].row >= 0 && !sim->contacts[i].patch) return false;
  return true;
}

typedef struct newton {
  ss_sim *sim;
  double alpha;
  int n_groups;
  int *parent; /* [n_bodies] union-find */
  int *group;  /* [n_bodies] */
  int *place;  /* [n_bodies + n_free] of the body's first coordinate, of the free row, in its group's system */
  int *size;   /* [n_bodies] of the groups' systems */
  int *pivot;  /* [largest system] */
  double **matrix, **right; /* [n_bodies] of the groups */
  double *t;                /* [n_p][n_p] of the largest patch */
  double *x;                /* [n][1 + 12] T^-1 [r, C^T J], by unknown */
  double *bj;               /* [n_p][12] B^T J of the patch at hand */
  double *line;             /* [n_p] */
  double *u;                /* [n_v] a velocity change */
  double unit;              /* of impulses: the s of natural units, see step/solve.c */
  active_set set;
} newton;

/* ---- w = G z + g ---- */

static void add_velocity(newton *k, const double *z) {
  const ss_sim *sim = k->sim;
  const ss_problem *p = &sim->problem;
  memset(k->u, 0, sizeof(double) * (size_t)sim->model->n_v);
  for (int i = 0; i < p->n; i++)
    for (int side = 0; z[i] != 0 && side < 2; side++) {
      if (p->rows[i].body[side] < 0) continue;
      const ss_body *body = &sim->model->bodies[p->rows[i].body[side]];
      const double *w = p->w + 12 * (size_t)i + (ptrdiff_t)6 * side;
      for (int j = 0; j < body->n; j++) k->u[body->first + j] += z[i] * w[j];
    }
}

static int component(const ss_contact *c, int i) { return i / c->n_rows * c->patch->n_directions + i % c->n_rows; }

/* w += R z for the patch, column by column (R is symmetric): the inner loop runs along memory. */
static void add_compliance(const newton *k, const ss_contact *c, const double *z, double *w) {
  const int rows = c->n_rows, directions = c->patch->n_directions;
  const double scale = 1 / k->sim->problem.h;
  for (int j = 0; j < rows * c->patch->n_elements; j++) {
    const double factor = scale * z[j];
    const double *line = c->patch->flexibility + (size_t)component(c, j) * (size_t)c->patch->n;
    if (factor == 0) continue;
    if (rows == directions)
      for (int i = 0; i < c->patch->n; i++) w[i] += factor * line[i];
    else
      for (int e = 0; e < c->patch->n_elements; e++)
        for (int a = 0; a < rows; a++) w[e * rows + a] += factor * line[e * directions + a];
  }
}

static void apply(newton *k, const double *z, double *w) {
  const ss_sim *sim = k->sim;
  const ss_problem *p = &sim->problem;
  add_velocity(k, z);
  for (int i = 0; i < p->n; i++)
    w[i] = p->g[i] + k->alpha * ss_row_dot(sim->model, &p->rows[i], k->u) + p->compliance[i] * z[i];
  for (int q = 0; q < sim->n_contacts; q++)
    if (sim->contacts[q].row >= 0)
      add_compliance(k, &sim->contacts[q], z + sim->contacts[q].row, w + sim->contacts[q].row);
}

static void set_diagonal(const newton *k, double *diagonal) {
  const ss_sim *sim = k->sim;
  const ss_problem *p = &sim->problem;
  for (int i = 0; i < p->n; i++) {
    double sum = p->compliance[i];
    for (int side = 0; side < 2; side++) {
      const int body = p->rows[i].body[side];
      for (int j = 0; body >= 0 && j < sim->model->bodies[body].n; j++)
        sum += k->alpha * p->rows[i].j[side][j] * p->w[12 * (size_t)i + 6 * (size_t)side + (size_t)j];
    }
    diagonal[i] = sum;
  }
  for (int q = 0; q < sim->n_contacts; q++) {
    const ss_contact *c = &sim->contacts[q];
    for (int i = 0; c->row >= 0 && i < c->n_rows * c->patch->n_elements; i++)
      diagonal[c->row + i] += c->patch->flexibility[(size_t)component(c, i) * (size_t)(c->patch->n + 1)] / p->h;
  }
}

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
static int group_of(const newton *k, const ss_row *row) {
  return k->group[row->body[0] >= 0 ? row->body[0] : row->body[1]];
}

/* Numbers the groups and places the bodies' coordinates, then the free rows, in them. Returns the largest size. */
static int form_groups(newton *k) {
  const ss_sim *sim = k->sim;
  const ss_problem *p = &sim->problem;
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
static void clear_systems(newton *k) {
  const ss_model *model = k->sim->model;
  for (int g = 0; g < k->n_groups; g++) {
    memset(k->matrix[g], 0, sizeof(double) * (size_t)k->size[g] * (size_t)k->size[g]);
    memset(k->right[g], 0, sizeof(double) * (size_t)k->size[g]);
  }
  for (int i = 0; i < model->n_bodies; i++) {
    const int n = model->bodies[i].n, width = k->size[k->group[i]];
    double copy[36], block[36];
    memcpy(copy, k->sim->ainv + 36 * (size_t)i, sizeof copy);
    (void)ss_invert(copy, n, block);
    for (int r = 0; r < n; r++)
      for (int c = 0; c < n; c++)
        k->matrix[k->group[i]][(size_t)(k->place[i] + r) * (size_t)width + (size_t)(k->place[i] + c)] =
            block[r * n + c];
  }
}

/* Where the coordinates of both bodies of a row stand in its group's system; returns how many. */
static int columns_of(const newton *k, const ss_row *row, int columns[BODY_COLUMNS]) {
  int n = 0;
  for (int side = 0; side < 2; side++)
    for (int j = 0; row->body[side] >= 0 && j < k->sim->model->bodies[row->body[side]].n; j++)
      columns[n++] = k->place[row->body[side]] + j;
  return n;
}

static void row_entries(const newton *k, const ss_row *row, double factor, double out[BODY_COLUMNS]) {
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
static void fill_patch_matrix(newton *k, const ss_contact *c, const unknown *u, int m) {
  const double scale = 1 / k->sim->problem.h;
  const int n = c->patch->n;
  for (int i = 0; i < m; i++) {
    double *line = k->line, *out = k->t + (size_t)i * (size_t)m;
    memset(line, 0, sizeof(double) * (size_t)n);
    for (int a = 0; a < u[i].size; a++) {
      const double factor = scale * u[i].c[a];
      const double *from = c->patch->flexibility + (size_t)component(c, u[i].first + a - c->row) * (size_t)n;
      for (int j = 0; factor != 0 && j < n; j++) line[j] += factor * from[j];
    }
    for (int j = 0; j < m; j++) {
      const double *at = line + component(c, u[j].first - c->row); /* its rows belong to one element */
      double sum = 0;
      for (int b = 0; b < u[j].size; b++) sum += u[j].b[b] * at[b];
      out[j] = sum;
    }
    out[i] += u[i].diagonal;
  }
}

/* x = T^-1 x for x [m][count]; T^-1 = h E where all stick. */
static bool solve_patch(newton *k, const ss_contact *c, const unknown *u, int m, double *x, int count) {
  if (!sticks_altogether(c, u, m)) {
    fill_patch_matrix(k, c, u, m);
    if (!ss_dense_factor(k->t, m, k->pivot)) return false;
    ss_dense_solve(k->t, m, k->pivot, x, count);
    return true;
  }
  const double h = k->sim->problem.h;
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
static bool eliminate_patch(newton *k, const ss_contact *c, const unknown *u, int m, const double *w, double *x) {
  const ss_problem *p = &k->sim->problem;
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

static void place_free_row(newton *k, int i, const double *w) {
  const ss_problem *p = &k->sim->problem;
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

static bool solve_states(newton *k, double *z, double *w) {
  ss_sim *sim = k->sim;
  const ss_problem *p = &sim->problem;
  const int total = active_set_unknowns(&k->set, z);
  const unknown *first = k->set.u + p->n_free, *end = k->set.u + total, *u = first;
  apply(k, z, w);
  clear_systems(k);
  double *x = k->x;
  for (int q = 0; q < sim->n_contacts; q++) {
    const ss_contact *c = &sim->contacts[q];
    const int m = c->row < 0 ? 0 : unknowns_of(c, u, end);
    if (m == 0) continue;
    if (!eliminate_patch(k, c, u, m, w, x)) return false;
    u += m;
    x += (size_t)m * (1 + BODY_COLUMNS);
  }
  for (int i = 0; i < p->n_free; i++) place_free_row(k, i, w);
  for (int g = 0; g < k->n_groups; g++) {
    if (!ss_dense_factor(k->matrix[g], k->size[g], k->pivot)) return false;
    ss_dense_solve(k->matrix[g], k->size[g], k->pivot, k->right[g], 1);
  }
  for (int i = 0; i < p->n_free; i++) z[i] += k->right[group_of(k, &p->rows[i])][k->place[sim->model->n_bodies + i]];
  u = first;
  x = k->x;
  for (int q = 0; q < sim->n_contacts; q++) {
    const ss_contact *c = &sim->contacts[q];
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

/* ---- memory ---- */

static ss_status allocate(newton *k, ss_error *error) {
  ss_sim *sim = k->sim;
  ss_cp_workspace *memory = sim->cp;
  const ss_problem *p = &sim->problem;
  const int bodies = sim->model->n_bodies;
  int patch = 1;
  for (int q = 0; q < sim->n_contacts; q++)
    if (sim->contacts[q].row >= 0 && sim->contacts[q].patch->n > patch) patch = sim->contacts[q].patch->n;
  const int wide = 1 + BODY_COLUMNS > patch ? 1 + BODY_COLUMNS : patch;
  k->parent = SCRATCH(memory, int, 3 * (size_t)bodies);
  k->place = SCRATCH(memory, int, bodies + p->n_free);
  k->matrix = SCRATCH(memory, double *, 2 * (size_t)bodies);
  k->t = SCRATCH(memory, double, (size_t)patch *(size_t)wide);
  k->bj = SCRATCH(memory, double, (size_t)patch *BODY_COLUMNS);
  k->x = SCRATCH(memory, double, (size_t)p->n *(1 + BODY_COLUMNS));
  k->u = SCRATCH(memory, double, sim->model->n_v + 1);
  k->line = SCRATCH(memory, double, patch);
  if (!k->parent || !k->place || !k->matrix || !k->t || !k->bj || !k->x || !k->u || !k->line)
    return out_of_memory(error);
  k->group = k->parent + bodies;
  k->size = k->group + bodies;
  k->right = k->matrix + bodies;
  const int largest = form_groups(k);
  k->pivot = SCRATCH(memory, int, largest > patch ? largest : patch);
  if (!k->pivot) return out_of_memory(error);
  for (int g = 0; g < k->n_groups; g++) {
    k->matrix[g] = SCRATCH(memory, double, (size_t)k->size[g] * (size_t)k->size[g]);
    k->right[g] = SCRATCH(memory, double, k->size[g]);
    if (!k->matrix[g] || !k->right[g]) return out_of_memory(error);
  }
  return SS_OK;
}

/* ---- the judge's view: natural units, as in step/solve.c ---- */

typedef struct natural {
  newton *k;
  const double *scale; /* [n] d */
  double unit;         /* s */
  double *z;           /* [n] scratch */
} natural;

static void apply_natural(const void *user, const double *z, double *w) {
  const natural *v = user;
  const int n = v->k->sim->problem.n;
  for (int i = 0; i < n; i++) v->z[i] = z[i] * v->scale[i] * v->unit;
  apply(v->k, v->z, w);
  for (int i = 0; i < n; i++) w[i] *= v->scale[i] / v->unit;
}

static double power_near(double x) { return x > 0 && isfinite(x) ? ldexp(1, ilogb(x)) : 1; }

static void set_scales(const ss_problem *p, const double *diagonal) {
  for (int b = 0; b < p->n_blocks; b++) {
    const ss_block *block = &p->blocks[b];
    const int together = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    for (int i = block->first; i < block->first + block->size; i += together) {
      double sum = 0;
      for (int j = 0; j < together; j++) sum += diagonal[i + j];
      const double d = sum > 0 && isfinite(sum) ? ldexp(1, -(ilogb(sum / together) / 2)) : 1;
      for (int j = 0; j < together; j++) p->scale[i + j] = d;
    }
  }
}

/* Residual of p->z in natural units, with z and w in them in zs and p->slack. */
static double judge(newton *k, double *zs, double *gs) {
  ss_problem *p = &k->sim->problem;
  const double speed = k->sim->speed_bound;
  double largest = 0;
  for (int i = 0; i < p->n; i++) largest = fmax(largest, p->scale[i] * fmax(fabs(p->g[i]), 1e-3 * speed));
  k->unit = power_near(largest);
  const natural view = {k, p->scale, k->unit, k->set.w};
  for (int i = 0; i < p->n; i++) {
    zs[i] = p->z[i] / (p->scale[i] * k->unit);
    gs[i] = p->g[i] * p->scale[i] / k->unit;
  }
  const ss_cp problem = {
      .n = p->n, .n_blocks = p->n_blocks, .g = gs, .blocks = p->blocks, .apply = apply_natural, .user = &view};
  return ss_cp_judge(&problem, zs, p->slack);
}

/* The judge's verdict on the accepted z joins the certificate; p->slack goes back to the user's units. */
static void certify(newton *k, double residual, const double *zs) {
  ss_problem *p = &k->sim->problem;
  ss_certificate *certificate = &k->sim->report.certificate;
  const ss_cp problem = {.n = p->n, .n_blocks = p->n_blocks, .blocks = p->blocks};
  double cone, dissipation;
  ss_cp_friction_defects(&problem, zs, p->slack, &cone, &dissipation);
  certificate->complementarity = fmax(certificate->complementarity, residual);
  certificate->cone = fmax(certificate->cone, cone);
  certificate->dissipation = fmax(certificate->dissipation, dissipation);
  for (int i = 0; i < p->n; i++) p->slack[i] *= k->unit / p->scale[i];
}

/* ---- the method ---- */

static double residual_of(newton *k, double *z, double *zs, double *gs) {
  ss_problem *p = &k->sim->problem;
  double *keep = p->z;
  p->z = z;
  const double residual = judge(k, zs, gs);
  p->z = keep;
  return residual;
}

/* Steps that do not bring the residual down are halved towards the iterate before: whole patches that flip between
 * sticking and sliding would go on doing so. */
static double shorten(newton *k, const double *before, double last, double *z, double *zs, double *gs) {
  double residual = residual_of(k, z, zs, gs);
  for (int halving = 0; halving < MOST_HALVINGS && !(residual < last); halving++) {
    for (int i = 0; i < k->sim->problem.n; i++) z[i] = (z[i] + before[i]) / 2;
    residual = residual_of(k, z, zs, gs);
  }
  return residual;
}

static ss_status iterate(newton *k, bool *certified, ss_error *error) {
  ss_problem *p = &k->sim->problem;
  const size_t n = (size_t)p->n;
  double *z = SCRATCH(k->sim->cp, double, 5 * n);
  if (!z) return out_of_memory(error);
  double *w = z + n, *zs = w + n, *gs = zs + n, *before = gs + n;
  const double tolerance = k->sim->options.residual;
  memcpy(z, p->z, sizeof(double) * n);
  double last = HUGE_VAL;
  for (int pass = 0; pass < MOST_PASSES; pass++) {
    apply(k, z, w);
    const int changed = active_set_guess(&k->set, z, w);
    if (pass > 0 && (last <= 1e-3 * tolerance || (changed == 0 && last <= tolerance))) {
      *certified = true;
      (void)residual_of(k, z, zs, gs); /* leaves w of this z in the slack */
      certify(k, last, zs);
      p->blur = 4 * last;
      p->unit = k->unit;
      p->structured = true;
      memcpy(p->z, z, sizeof(double) * n);
      return SS_OK;
    }
    memcpy(before, z, sizeof(double) * n);
    if (!solve_states(k, z, w)) return SS_OK;
    last = shorten(k, before, pass > 0 ? last : (double)HUGE_VAL, z, zs, gs);
    k->sim->report.solves.iterations++;
  }
  return SS_OK;
}

ss_status ss_patch_solve(ss_sim *sim, double alpha, bool *certified, ss_error *error) {
  const double start = ss_seconds();
  const scratch_mark mark = scratch_now(sim->cp);
  newton k = {.sim = sim, .alpha = alpha};
  ss_problem *p = &sim->problem;
  *certified = false;
  ss_spread(sim, alpha);
  ss_status status = allocate(&k, error);
  if (status == SS_OK) {
    const ss_cp problem = {.n = p->n, .n_blocks = p->n_blocks, .g = p->g, .blocks = p->blocks};
    double *diagonal = SCRATCH(sim->cp, double, p->n);
    status = diagonal ? SS_OK : out_of_memory(error);
    if (diagonal) {
      set_diagonal(&k, diagonal);
      set_scales(p, diagonal);
      status = active_set_create_bare(&problem, diagonal, sim->cp, &k.set, error);
    }
    if (status == SS_OK) status = iterate(&k, certified, error);
  }
  scratch_release(sim->cp, mark);
  sim->report.solves.count++;
  sim->report.solves.seconds += ss_seconds() - start;
  if (status == SS_OK && *certified) ss_distribute(sim, p->slack, p->blur, p->unit);
  return status;
}
