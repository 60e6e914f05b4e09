/* Joints and stiff forces (f) beside contacts, limits and motors (c): what is linear is eliminated by its sparse factors, and
 * the complementarity solver sees the rest,
 *
 *     z_f = -(y + X z_c),   y = G_ff^-1 g_f,   X = G_ff^-1 G_fc                       a tree costs O(n) per row of c
 *     w_c = S z_c + g_c - G_cf y,              S = G_cc - G_cf X
 *
 * A robot of 60 joint rows that stands on four feet is a problem of 12 rows then. Where contacts are redundant, joints give like them in
 * the selection (cp.h): G_ff + eps C_f eliminated instead of G_ff gives
 *
 *     w_c = (S + eps C^) z_c + g_c - G_cf y + eps c + O(eps^2),      C^ = C_c + X^T C_f X,   c = X^T C_f y
 *
 * which is least C_c z_c^2 + C_f z_f^2 where nothing slides; where something slides and A is not symmetric (gyroscopic terms), X^T stands for
 * G_cf G_ff^-1. The answer is judged as a whole, from J and A and not from the factors, after one step of iterative
 * refinement of z_f. Where joints depend on each other and where nothing is found, the
 * whole problem is left to the solver (trial.c).
 * X and S serve all phases of an impact. */
#include "la/rows.h"
#include "core/words.h"
#include "scheme/scheme.h"

#include <string.h>

static ss_status reserve(ss_sim *sim, ss_error *error) {
  const ss_problem *p = &sim->trial.problem;
  ss_joined *s = &sim->solver.joined;
  const int n = p->n, f = p->n_free, m = n - f;
  SS_TRY(SS_GROW(s->coupling, s->capacity[0], m * f, error));
  SS_TRY(SS_GROW(s->response, s->capacity[1], 2 * m * f, error));
  SS_TRY(SS_GROW(s->S, s->capacity[2], 3 * m * m, error));
  SS_TRY(SS_GROW(s->numbers, s->capacity[3], 6 * n, error));
  return SS_GROW(s->blocks, s->block_capacity, p->n_blocks, error);
}

void ss_joined_free(ss_joined *s) {
  ss_free(s->coupling);
  ss_free(s->response);
  ss_free(s->S);
  ss_free(s->numbers);
  ss_free(s->blocks);
}

/* G_cf (by rows), G_fc (by columns of c, side by side) and G_cc, from the rows that each body has. */
static void couple(const ss_sim *sim, double *fc) {
  const ss_problem *p = &sim->trial.problem;
  const ss_joined *s = &sim->solver.joined;
  const int f = p->n_free, m = p->n - f;
  memset(s->coupling, 0, sizeof(double) * (size_t)m * (size_t)f);
  memset(fc, 0, sizeof(double) * (size_t)m * (size_t)f);
  memset(s->S, 0, sizeof(double) * (size_t)m * (size_t)m);
  for (int c = 0; c < m; c++) {
    const ss_row *own = &p->rows[f + c];
    for (int side = 0; side < 2; side++) {
      const int body = own->body[side];
      if (body < 0) continue;
      const int n = sim->model->bodies[body].n;
      const double *w = p->w + 12 * (size_t)(f + c) + (ptrdiff_t)6 * side;
      for (int end = sim->solver.first_row[body]; end >= 0; end = p->next_row[end]) {
        const int other = end / 2;
        const double *j = p->rows[other].j[end % 2], *v = p->w + 12 * (size_t)other + (ptrdiff_t)6 * (end % 2);
        double to = 0, from = 0; /* J_other A^-1 J_own^T, and the other way round */
        for (int k = 0; k < n; k++) {
          to += j[k] * w[k];
          from += own->j[side][k] * v[k];
        }
        if (other >= f) {
          s->S[(ptrdiff_t)m * (other - f) + c] += p->alpha * to;
          continue;
        }
        fc[(ptrdiff_t)m * other + c] += p->alpha * to;
        s->coupling[(ptrdiff_t)f * c + other] += p->alpha * from;
      }
    }
    s->S[(ptrdiff_t)(m + 1) * c] += p->compliance[f + c];
  }
}

/* The factors of G_ff; false where its rows depend on each other. */
static ss_status factorise(ss_sim *sim, ss_error *error) {
  const ss_status status = ss_assemble_sparse(sim, sim->trial.problem.n_free, error);
  ss_lu *lu = ss_problem_lu(sim);
  sim->solver.joined.factorised = status == SS_OK && ss_lu_factor(lu, 1e-12) == lu->n;
  return status;
}

/* out += factor x */
static inline void add(double *restrict out, double factor, const double *restrict x, int n) {
  for (int i = 0; i < n; i++) out[i] += factor * x[i];
}

/* X and S */
static ss_status condense(ss_sim *sim, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  ss_joined *s = &sim->solver.joined;
  const int f = p->n_free, m = p->n - f;
  ss_status status = s->factorised ? SS_OK : factorise(sim, error);
  if (status != SS_OK || !s->factorised) return status;
  ss_chain_rows(sim);
  couple(sim, s->response);
  ss_lu_solve_columns(ss_problem_lu(sim), m, s->response, s->response + (ptrdiff_t)m * f);
  for (int c = 0; c < m; c++)
    for (int k = 0; k < f; k++) {
      const double factor = s->coupling[(ptrdiff_t)f * c + k];
      const double *x = s->response + (ptrdiff_t)m * k;
      if (factor != 0) add(s->S + (ptrdiff_t)m * c, -factor, x, m);
    }
  s->condensed = true;
  return SS_OK;
}

/* C^ and c in natural units; C_f is one in the user's. */
static void soften(const ss_sim *sim, double unit, const double *y, double *offset) {
  const ss_problem *p = &sim->trial.problem;
  const ss_joined *s = &sim->solver.joined;
  const int f = p->n_free, m = p->n - f;
  const double *d = p->scale + f;
  double *C = s->S + (ptrdiff_t)2 * m * m;
  memset(C, 0, sizeof(double) * (size_t)m * (size_t)m);
  memset(offset, 0, sizeof(double) * (size_t)m);
  row_add_rows(offset, 1, s->response, m, y, 1, f, m);
  for (int c = 0; c < m; c++) row_add_rows(C + (ptrdiff_t)m * c, 1, s->response, m, s->response + c, m, f, c + 1);
  for (int c = 0; c < m; c++) {
    offset[c] *= d[c] / unit;
    for (int e = 0; e <= c; e++) C[(ptrdiff_t)m * c + e] *= d[c] * d[e];
    for (int e = 0; e < c; e++) C[(ptrdiff_t)m * e + c] = C[(ptrdiff_t)m * c + e];
    C[(ptrdiff_t)(m + 1) * c] += p->weight[f + c];
  }
}

/* The condensed problem in natural units. g: of the whole one, in the user's; y: G_ff^-1 g_f. */
static ss_cp pose(const ss_sim *sim, double unit, const double *g, const double *y, double *g_c, double *offset) {
  const ss_problem *p = &sim->trial.problem;
  const ss_joined *s = &sim->solver.joined;
  const int f = p->n_free, m = p->n - f;
  const double *d = p->scale + f;
  double *S = s->S + (ptrdiff_t)m * m;
  for (int c = 0; c < m; c++) {
    double sum = g[f + c];
    for (int k = 0; k < f; k++) sum -= s->coupling[(ptrdiff_t)f * c + k] * y[k];
    g_c[c] = sum * d[c] / unit;
    for (int e = 0; e < m; e++) S[(ptrdiff_t)m * c + e] = d[c] * s->S[(ptrdiff_t)m * c + e] * d[e];
  }
  int blocks = 0;
  for (int b = 0; b < p->n_blocks; b++) {
    if (p->blocks[b].first < f) continue; /* the one of joints and stiff forces */
    s->blocks[blocks] = p->blocks[b];
    s->blocks[blocks++].first -= f;
  }
  soften(sim, unit, y, offset);
  return (ss_cp){.n = m,
                 .n_blocks = blocks,
                 .G = S,
                 .g = g_c,
                 .blocks = s->blocks,
                 .compliance = p->weight + f,
                 .compliance_matrix = S + (ptrdiff_t)m * m,
                 .compliance_offset = offset};
}

/* w = G z + g in natural units, through the bodies. */
static void apply(const void *user, const double *z, double *w) {
  const ss_sim *sim = user;
  const ss_problem *p = &sim->trial.problem;
  double *scaled = sim->solver.joined.numbers; /* [n] */
  for (int i = 0; i < p->n; i++) scaled[i] = p->scale[i] * z[i];
  ss_rows_apply(sim, scaled, w);
  for (int i = 0; i < p->n; i++) w[i] = p->scale[i] * w[i] + p->g[i];
}

/* Judges the whole problem from J and A. */
static double judge(ss_sim *sim) {
  ss_problem *p = &sim->trial.problem;
  ss_cp whole = ss_problem_view(p);
  whole.G = NULL;
  whole.apply = apply;
  whole.user = sim;
  return ss_cp_judge(&whole, p->z, p->slack);
}

/* Where nothing moves, the impulses of the last part solve this one's problem as exactly as solvers do, which leave up to this; and those
 * found with discs the problem whose polygons were turned to them. */
static bool guess_holds(ss_sim *sim, double *residual) {
  static const double exact = 2e-14, still = 1e-9, accurate = 2e-13;
  const ss_problem *p = &sim->trial.problem;
  const bool turned = sim->solver.joined.turned;
  sim->solver.joined.turned = false;
  if (!turned && !(p->h * sim->mechanics->largest_speed(sim, sim->state.v) <= still * sim->model->length)) return false;
  bool any = turned;
  for (int i = p->n_free; i < p->n && p->h > 0; i++) any |= p->z[i] != 0;
  if (any) *residual = judge(sim);
  return any && *residual <= (turned ? accurate : exact);
}

/* Numbers: of size n for `apply`; g in the user's units, n; y, f; g of the condensed problem, m; what z_c makes of z_f, n; the offset of
 * compliance, m. */
static double *y_of(const ss_sim *sim) { return sim->solver.joined.numbers + 2 * (ptrdiff_t)sim->trial.problem.n; }

ss_status ss_joined_pose(ss_sim *sim, double unit, ss_cp *problem, bool *posed, double *residual, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  ss_joined *s = &sim->solver.joined;
  const int n = p->n;
  SS_TRY(reserve(sim, error));
  *posed = s->condensed || !guess_holds(sim, residual);
  if (!*posed) return SS_OK;
  *residual = HUGE_VAL;
  if (!s->condensed) SS_TRY(condense(sim, error));
  *posed = s->condensed;
  if (!*posed) return SS_OK;
  double *g = s->numbers + n, *y = y_of(sim);
  for (int i = 0; i < n; i++) g[i] = p->g[i] * unit / p->scale[i];
  ss_lu_solve(ss_problem_lu(sim), g, y);
  *problem = pose(sim, unit, g, y, y + p->n_free, y + 2 * (ptrdiff_t)n);
  return SS_OK;
}

double ss_joined_judge(ss_sim *sim, double unit) {
  ss_problem *p = &sim->trial.problem;
  const ss_joined *s = &sim->solver.joined;
  const ss_lu *lu = ss_problem_lu(sim);
  const int n = p->n, f = p->n_free, m = n - f;
  double *y = y_of(sim), *off = y + n;
  for (int k = 0; k < f; k++) y[k] /= unit;
  for (int c = 0; c < m; c++) off[c] = p->scale[f + c] * p->z[f + c];
  for (int k = 0; k < f; k++) {
    double sum = y[k];
    for (int c = 0; c < m; c++) sum += s->response[(ptrdiff_t)m * k + c] * off[c];
    p->z[k] = -sum / p->scale[k];
  }
  apply(sim, p->z, p->slack);
  for (int k = 0; k < f; k++) off[k] = p->slack[k] / p->scale[k];
  ss_lu_solve(lu, off, off);
  for (int k = 0; k < f; k++) p->z[k] -= off[k] / p->scale[k];
  return judge(sim);
}
