/* Second half of the discretisation: eliminating v+ = v + A^-1 (kt + J^T z) from w = J va + s + R z gives
 *
 *     w = G z + g,    G = alpha J A^-1 J^T + R,    g = J (v + alpha A^-1 kt) + s
 *
 * with va = v + alpha (v+ - v). A of bodies is block-diagonal, so that row i meets column j only where they share a body; a
 * system's rows have all coordinates and are left to system/dense_rows.c. Where
 * all rows are joints and stiff forces, and they are many, G is assembled sparse (la/sparse_lu.h). */
#include "scheme/assemble_joints.h"
#include "scheme/scheme.h"

#include <string.h>

enum {
  SPARSE_FROM = 6,
  DIVIDED_FROM = 24,
  ROWS_AT_A_TIME = 256
}; /* rows from which the sparse way is the faster one; islands are worth it */

/* w_i = A^-1 J_i^T, side by side. */
static void spread_row(const ss_sim *sim, const ss_row *row, double *w) {
  for (int side = 0; side < 2; side++) {
    if (row->body[side] < 0) continue;
    const ss_body *body = &sim->model->bodies[row->body[side]];
    ss_body_spread(body, sim->trial.ainv + 36 * (size_t)row->body[side], row->j[side], w + (ptrdiff_t)6 * side);
  }
}

/* Chains all sides of all rows that touch the same body; a side is numbered 2 row + side. */
void ss_chain_rows(const ss_sim *sim) {
  const ss_problem *p = &sim->trial.problem;
  for (int k = 0; k < sim->model->n_bodies; k++) sim->solver.first_row[k] = -1;
  for (int i = p->n - 1; i >= 0; i--)
    for (int side = 0; side < 2; side++) {
      const int body = p->rows[i].body[side];
      if (body < 0) continue;
      p->next_row[2 * i + side] = sim->solver.first_row[body];
      sim->solver.first_row[body] = 2 * i + side;
    }
}

/* Adds alpha J w to column j of G, for the part w of A^-1 J_j^T that lies on one body. */
static void add_to_column(const ss_sim *sim, int j, int body, const double *w, double *G) {
  const ss_problem *p = &sim->trial.problem;
  const int n = sim->model->bodies[body].n;
  for (int end = sim->solver.first_row[body]; end >= 0; end = p->next_row[end]) {
    const double *row = p->rows[end / 2].j[end % 2];
    double sum = 0;
    for (int k = 0; k < n; k++) sum += row[k] * w[k];
    G[(size_t)(end / 2) * (size_t)p->n + (size_t)j] += p->alpha * sum;
  }
}

static void fill_column(const ss_sim *sim, int j, double *G) {
  const ss_problem *p = &sim->trial.problem;
  const ss_coupling *c = &sim->trial.coupling;
  for (int side = 0; side < 2; side++) {
    const int body = p->rows[j].body[side];
    if (body < 0 || (c->active && c->offset[body] >= 0)) continue;
    add_to_column(sim, j, body, p->w + 12 * (size_t)j + (ptrdiff_t)6 * side, G);
  }
  if (!c->active) return;
  for (int body = 0; body < sim->model->n_bodies; body++)
    if (c->offset[body] >= 0) add_to_column(sim, j, body, c->w + (size_t)j * (size_t)c->n + c->offset[body], G);
}

void ss_fill_dense(const ss_sim *sim, double *G) {
  const ss_problem *p = &sim->trial.problem;
  const size_t n = (size_t)p->n;
  if (sim->system) {
    ss_dense_fill(sim, G);
    return;
  }
  memset(G, 0, sizeof(double) * n * n);
  ss_chain_rows(sim);
  for (int j = 0; j < p->n; j++) {
    fill_column(sim, j, G);
    G[(size_t)j * n + (size_t)j] += p->compliance[j];
  }
  if (sim->scheme->compliant) ss_patch_stiffen(sim, G);
}

static ss_status reserve_dense(ss_problem *p, size_t n, ss_error *error) {
  if (n * n <= p->G_capacity) return SS_OK;
  ss_free(p->G);
  p->G_capacity = n * n + n * n / 2 + 64;
  p->G = ss_alloc(sizeof(double) * p->G_capacity);
  if (p->G) return SS_OK;
  p->G_capacity = 0;
  return ss_fail(error, SS_ERROR_MEMORY, "out of memory: a problem with %zu rows", n);
}

ss_status ss_discretise_dense(ss_sim *sim, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  const size_t n = (size_t)p->n;
  p->sparse = p->structured = p->large = p->divided = p->joined = false;
  if (n == 0) return SS_OK;
  ss_trial *trial;
  for (int i = 0; (trial = ss_trial_free(sim, i)); i++) {
    const ss_status status = reserve_dense(&trial->problem, n, error);
    if (status != SS_OK) return status;
  }
  ss_fill_dense(sim, p->G);
  return SS_OK;
}

double ss_rows_meet(const ss_sim *sim, int i, int j) {
  const ss_problem *p = &sim->trial.problem;
  return ss_row_meets(sim->model, &p->rows[i], &p->rows[j], p->w + 12 * (size_t)j);
}

/* out += A^-1 J^T z on one body whose rows are chained. */
static void add_rows(const ss_sim *sim, int body, const double *z, double *out) {
  const ss_problem *p = &sim->trial.problem;
  const ss_body *b = &sim->model->bodies[body];
  for (int end = sim->solver.first_row[body]; end >= 0; end = p->next_row[end])
    if (z[end / 2] != 0) ss_short_add(out + b->first, z[end / 2], p->w + (ptrdiff_t)6 * end, b->n);
}

typedef struct spread_job {
  const ss_sim *sim;
  const double *z;
  double *out, *change;
} spread_job;

static void add_to_bodies(void *user, int worker, int from, int to) {
  (void)worker;
  const spread_job *job = user;
  for (int body = from; body < to; body++) add_rows(job->sim, body, job->z, job->out);
}

void ss_rows_spread(const ss_sim *sim, const double *z, double *out) {
  enum { BODIES_AT_A_TIME = 64 };
  const ss_problem *p = &sim->trial.problem;
  const ss_model *model = sim->model;
  if (sim->solver.chained && sim->solver.chained == p->rows) {
    spread_job job = {.sim = sim, .z = z, .out = out};
    ss_threads_for(sim->threads, model->n_bodies, BODIES_AT_A_TIME, add_to_bodies, &job);
    return;
  }
  for (int i = 0; i < p->n; i++)
    for (int side = 0; side < 2 && z[i] != 0; side++) {
      if (p->rows[i].body[side] < 0) continue;
      const ss_body *body = &model->bodies[p->rows[i].body[side]];
      ss_short_add(out + body->first, z[i], p->w + 12 * (size_t)i + (ptrdiff_t)6 * side, body->n);
    }
}

static void meet_change(void *user, int worker, int from, int to) {
  (void)worker;
  const spread_job *job = user;
  const ss_problem *p = &job->sim->trial.problem;
  for (int i = from; i < to; i++)
    job->out[i] = p->alpha * ss_row_dot(job->sim->model, &p->rows[i], job->change) + p->compliance[i] * job->z[i];
}

void ss_rows_apply(const ss_sim *sim, const double *z, double *out) {
  spread_job job = {.sim = sim, .z = z, .out = out, .change = sim->scratch.v};
  memset(job.change, 0, sizeof(double) * (size_t)sim->model->n_v);
  ss_rows_spread(sim, z, job.change);
  ss_threads_for(sim->threads, sim->trial.problem.n, ROWS_AT_A_TIME, meet_change, &job);
}

/* Whether A is: gyroscopic terms are not. */
static bool is_symmetric(const ss_sim *sim) {
  static const double rounding = 1e-15;
  for (int b = 0; b < sim->model->n_bodies; b++) {
    const double *a = sim->trial.ainv + 36 * (size_t)b;
    const int n = sim->model->bodies[b].n;
    for (int i = 1; i < n; i++)
      for (int j = 0; j < i; j++)
        if (fabs(a[i * n + j] - a[j * n + i]) > rounding * sqrt(fabs(a[i * n + i] * a[j * n + j]))) return false;
  }
  return true;
}

/* Joints alone: only rows that share a body meet. */
ss_status ss_assemble_sparse(ss_sim *sim, int n, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  ss_lu *lu = ss_problem_lu(sim);
  ss_status status =
      ss_grow((void **)&sim->solver.lu_rows, &sim->solver.lu_capacity, n, sizeof *sim->solver.lu_rows, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < n; i++) sim->solver.lu_rows[i] = (ss_lu_row){{p->rows[i].body[0], p->rows[i].body[1]}};
  status = ss_lu_analyse(lu, n, sim->solver.lu_rows, error);
  if (status != SS_OK) return status;
  lu->symmetric = is_symmetric(sim);
  ss_assemble_joints(sim->model, lu, p->rows, p->w, p->alpha, p->compliance);
  for (int s = 0; s < lu->n_nodes && p->sparse; s++) {
    const ss_lu_node *a = &lu->nodes[s];
    for (int r = 0; r < a->size; r++) {
      const double own = a->panel[(ptrdiff_t)r * (a->size + a->width + 1)];
      p->scale[a->first + r] = own > 0 ? 1 / sqrt(own) : 1;
    }
  }
  return SS_OK;
}

static void spread_rows(void *user, int worker, int from, int to) {
  (void)worker;
  const ss_sim *sim = user;
  const ss_problem *p = &sim->trial.problem;
  for (int i = from; i < to; i++) {
    if (!sim->system) spread_row(sim, &p->rows[i], p->w + 12 * (size_t)i);
    p->g[i] = ss_row_dot(sim->model, &p->rows[i], sim->state.v) +
              p->alpha * ss_row_dot(sim->model, &p->rows[i], sim->trial.dv_free) + p->offset[i];
  }
}

void ss_spread(ss_sim *sim, double alpha) {
  ss_problem *p = &sim->trial.problem;
  p->alpha = alpha;
  if (sim->system) ss_dense_spread(sim);
  ss_threads_for(sim->threads, p->n, ROWS_AT_A_TIME, spread_rows, sim);
}

/* Joints beside contacts: eliminated where the problem is solved. */
static bool may_join(const ss_sim *sim) {
  enum { MOST_CONTACT_ROWS = 200 };
  const ss_problem *p = &sim->trial.problem;
  const int contact_rows = p->n - p->n_free;
  return p->n_free >= SPARSE_FROM && contact_rows > 0 && contact_rows <= MOST_CONTACT_ROWS && sim->chosen.automatic &&
         !sim->system && !sim->trial.coupling.active && !sim->scheme->compliant;
}

/* Contacts alone: their problem falls into islands, which are assembled one by one where they are solved. */
static bool may_divide(const ss_sim *sim) {
  const ss_problem *p = &sim->trial.problem;
  const bool many = p->n >= DIVIDED_FROM || sim->crowd.landing_speed > 0; /* a small cluster of a crowd may rest, too */
  return many && p->first_contact == 0 && sim->chosen.automatic && !sim->system && !sim->trial.coupling.active &&
         !sim->scheme->compliant;
}

ss_status ss_assemble(ss_sim *sim, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  const int n = p->n;
  const bool reduced = sim->basis.n < sim->model->n_joint_rows; /* its factors are watched */
  p->divided = p->joined = false;
  p->sparse = n == p->n_free && (n >= SPARSE_FROM || reduced) && n > 0 && sim->chosen.automatic &&
              !sim->trial.coupling.active && !sim->system;
  p->large = !p->sparse && ss_rows_are_many(sim);
  if (n == 0) return SS_OK;
  if (p->large) return ss_assemble_rows(sim, error);
  return p->sparse ? ss_assemble_sparse(sim, n, error) : ss_discretise_dense(sim, error);
}

ss_status ss_discretise(ss_sim *sim, double alpha, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  ss_coupling *c = &sim->trial.coupling;
  const int n = p->n;
  p->divided = p->joined = false;
  if (n == 0) return SS_OK; /* nothing to hold, and perhaps no arrays yet */
  ss_trial *trial;
  for (int i = 0; c->active && (trial = ss_trial_free(sim, i)); i++) {
    ss_coupling *own = &trial->coupling;
    const ss_status status = ss_grow((void **)&own->w, &own->w_capacity, n, sizeof(double) * (size_t)c->n, error);
    if (status != SS_OK) return status;
  }
  ss_spread(sim, alpha);
  for (int i = 0; c->active && i < n; i++) ss_couple_row(sim, &p->rows[i], c->w + (size_t)i * (size_t)c->n);
  p->joined = may_join(sim);
  sim->solver.joined.factorised = sim->solver.joined.condensed = sim->solver.joined.turned = false;
  if (!p->joined && !may_divide(sim)) return ss_assemble(sim, error);
  p->sparse = p->large = p->structured = false;
  p->divided = true;
  if (p->joined) return SS_OK;
  ss_chain_rows(sim);
  sim->solver.chained = sim->watch.variation ? NULL : p->rows; /* variations have rows of their own */
  return SS_OK;
}

ss_cp ss_problem_view(const ss_problem *p) {
  return (ss_cp){.n = p->n,
                 .n_blocks = p->n_blocks,
                 .G = p->large ? NULL : p->G,
                 .sparse = p->large ? &p->listed.matrix : NULL,
                 .g = p->g,
                 .blocks = p->blocks};
}
