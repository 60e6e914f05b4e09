/* How long a step may be for forces that depend on the state, which are held over it.
 *
 * With u the held components of forces and torques and L their gradients, a small motion x obeys x'' = P L^T u, where P is
 * M^-1 less what joints take. Along the directions d_j = P L_j^T,
 *
 *     K_ij = -du_i/dq . d_j,    D_ij = -du_i/dv . d_j        by central differences
 *
 * One spring and damper alone (x'' = -k x - d x') held over a step of size h, with the position moved by
 * h ((1 - gamma) v + gamma v+), is stable for about h^2 k + 2 h d < 4, and its energy grows at the rate (1 - gamma) h k - d
 * where that is positive: the state is always late by a step. The spectral radius of h^2 K + 2 h D takes the place of the left
 * side; k and d are those of its eigenvector. Feedback that drives a motion away on purpose is not told apart from a step that
 * is too long: K with a negative quotient is left out. */
#include <stickslip/theory.h>

#include "la/dense.h"
#include "step/step.h"

#include <string.h>

enum { MOST_SIGNALS = 60, MOST_ROWS = 400, TURNS = 100, HALVINGS = 60 };

typedef struct feedback {
  ss_sim *sim;
  int n, nv, nj;
  const ss_expression **u; /* [n] */
  double *l, *d;           /* [n][nv] gradients, directions */
  double *rows, *inverse;  /* [nj][nv] joint rows; [nj][nj] (J M^-1 J^T)^-1 */
  double *q, *v;           /* the present state */
  double *k, *c;           /* [n][n] */
  double *work;            /* [nj + nv + 2 n] */
} feedback;

static void multiply_minv(const ss_model *model, const double *x, double *out) {
  for (int b = 0; b < model->n_bodies; b++) {
    const ss_body *body = &model->bodies[b];
    for (int i = 0; i < body->n; i++) {
      out[body->first + i] = 0;
      for (int j = 0; j < body->n; j++) out[body->first + i] += body->minv[i * body->n + j] * x[body->first + j];
    }
  }
}

static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Components of applied forces that are held, with the gradients of what they do work on. */
static void collect(feedback *f) {
  const ss_model *model = f->sim->model;
  for (int k = 0; k < model->n_forces; k++) {
    const ss_force *force = &model->forces[k];
    for (int i = 0; force->type == SS_FORCE_APPLIED && i < 6 && f->n < MOST_SIGNALS; i++) {
      if (force->held[i] < 0) continue;
      const ss_pose pose = ss_pose_of(f->sim->state.q, force->body[0]);
      const double one[3] = {i % 3 == 0, i % 3 == 1, i % 3 == 2};
      const ss_vec3 unit = v3(one[0], one[1], one[2]), none = {0, 0, 0};
      const ss_vec3 arm = quat_rotate(pose.orientation, force->anchor[0]);
      ss_row row = {.body = {SS_WORLD, SS_WORLD}};
      ss_row_set(model, &row, 0, force->body[0], pose.orientation, i < 3 ? unit : none,
                 i < 3 ? v3_cross(arm, unit) : unit);
      f->u[f->n] = model->held[force->held[i]].expression;
      ss_row_add(model, &row, 1, f->l + (size_t)f->n++ * (size_t)f->nv);
    }
  }
}

static bool prepare_joints(feedback *f, ss_arena *arena) {
  ss_sim *sim = f->sim;
  f->nj = sim->basis.n <= MOST_ROWS ? sim->basis.n : 0;
  const size_t nj = (size_t)f->nj, nv = (size_t)f->nv;
  f->rows = SS_ARENA_ARRAY(arena, double, nj *nv + 1);
  f->inverse = SS_ARENA_ARRAY(arena, double, nj *nj + 1);
  double *spread = SS_ARENA_ARRAY(arena, double, nv + 1);
  ss_row *rows = SS_ARENA_ARRAY(arena, ss_row, sim->model->n_joint_rows + 1);
  if (!f->rows || !f->inverse || !spread || !rows) return false;
  sim->mechanics->joints(sim, sim->state.t, sim->state.q, NULL, rows, NULL);
  for (size_t i = 0; i < nj; i++) ss_row_add(sim->model, &rows[sim->basis.row[i]], 1, f->rows + i * nv);
  for (size_t i = 0; i < nj; i++) {
    multiply_minv(sim->model, f->rows + i * nv, spread);
    for (size_t j = 0; j < nj; j++) f->inverse[i * nj + j] = dot(f->rows + j * nv, spread, f->nv);
  }
  if (nj && !ss_spd_inverse(f->inverse, f->nj)) f->nj = 0; /* nearly redundant: without them the limit is smaller */
  return true;
}

/* d = P l */
static void project(feedback *f, const double *l, double *d) {
  const int nv = f->nv, nj = f->nj;
  double *jd = f->work, *pull = f->work + nj;
  multiply_minv(f->sim->model, l, d);
  for (int i = 0; i < nj; i++) jd[i] = dot(f->rows + (size_t)i * (size_t)nv, d, nv);
  memcpy(pull, l, sizeof *pull * (size_t)nv);
  for (int i = 0; i < nj; i++) {
    const double z = dot(f->inverse + (size_t)i * (size_t)nj, jd, nj);
    for (int j = 0; j < nv; j++) pull[j] -= z * f->rows[(size_t)i * (size_t)nv + (size_t)j];
  }
  multiply_minv(f->sim->model, pull, d);
}

/* The state moved along d: positions by a, velocities by b times it. */
static void displace(feedback *f, const double *d, double a, double b) {
  ss_sim *sim = f->sim;
  memcpy(sim->state.q, f->q, sizeof(double) * (size_t)sim->model->n_q);
  for (int i = 0; i < f->nv; i++) sim->state.v[i] = f->v[i] + b * d[i];
  for (int k = 0; a != 0 && k < sim->model->n_bodies; k++) {
    ss_vec3 linear, angular;
    ss_twist_of(sim->model, d, k, &linear, &angular);
    ss_pose pose = ss_pose_of(f->q, k);
    pose.position = v3_axpy(pose.position, a, linear);
    pose.orientation = quat_multiply(pose.orientation, quat_exp(v3_scale(a, angular)));
    ss_store_pose(sim->state.q, k, pose);
  }
}

/* A column of K (positions) or D. */
static void differentiate(feedback *f, int j, bool positions, double *out) {
  const double *d = f->d + (size_t)j * (size_t)f->nv;
  double largest = 0;
  for (int i = 0; i < f->nv; i++) largest = fmax(largest, fabs(d[i]));
  if (!(largest > 0)) return;
  const double step = 1e-6 * f->sim->model->length / largest;
  for (int side = -1; side <= 1; side += 2) {
    displace(f, d, positions ? side * step : 0, positions ? 0 : side * step);
    for (int i = 0; i < f->n; i++)
      out[i * f->n + j] -= side * ss_signal_value(f->sim, f->u[i], f->sim->state.t) / (2 * step);
  }
  displace(f, d, 0, 0);
}

/* Spectral radius of h^2 K + 2 h D, by powers; k and d of the vector that is found. */
static double radius(const feedback *f, double h, double *k, double *d) {
  double *x = f->work, *y = f->work + f->n, value = 0;
  for (int i = 0; i < f->n; i++) x[i] = 1 + 0.1 * sin(i + 1.);
  for (int turn = 0; turn < (f->n == 1 ? 2 : TURNS); turn++) {
    *k = *d = 0;
    const double size = sqrt(dot(x, x, f->n));
    for (int i = 0; i < f->n; i++) {
      const double ki = dot(f->k + (size_t)i * (size_t)f->n, x, f->n),
                   di = dot(f->c + (size_t)i * (size_t)f->n, x, f->n);
      y[i] = h * h * ki + 2 * h * di;
      *k += x[i] * ki / (size * size);
      *d += x[i] * di / (size * size);
    }
    value = sqrt(dot(y, y, f->n)) / size;
    if (!(value > 0)) return 0;
    for (int i = 0; i < f->n; i++) x[i] = y[i] / (value * size);
  }
  return *k < 0 && *d <= 0 ? 0 : value;
}

static void judge(const feedback *f, ss_feedback *out) {
  const ss_sim *sim = f->sim;
  double k, d, low = 0, high = 1024 * sim->options.step;
  if (radius(f, sim->options.step, &k, &d) > 0 && k > 0)
    out->growth = (1 - sim->chosen.gamma) * sim->options.step * k - d;
  if (radius(f, high, &k, &d) < 4) return;
  for (int i = 0; i < HALVINGS && high - low > 1e-9 * high; i++) {
    const double middle = (low + high) / 2;
    *(radius(f, middle, &k, &d) < 4 ? &low : &high) = middle;
  }
  out->step = low;
}

ss_status ss_sim_feedback(ss_sim *sim, ss_feedback *out, ss_error *error) {
  *out = (ss_feedback){INFINITY, -INFINITY};
  if (sim->system || sim->model->n_held == 0) return SS_OK;
  ss_arena *arena = ss_arena_create();
  const size_t nv = (size_t)sim->model->n_v, most = MOST_SIGNALS;
  feedback f = {.sim = sim, .nv = sim->model->n_v};
  bool memory = arena != NULL;
  if (memory) {
    f.u = SS_ARENA_ARRAY(arena, const ss_expression *, most);
    f.l = SS_ARENA_ARRAY(arena, double, most *nv + 1);
    f.d = SS_ARENA_ARRAY(arena, double, most *nv + 1);
    f.k = SS_ARENA_ARRAY(arena, double, most *most);
    f.c = SS_ARENA_ARRAY(arena, double, most *most);
    f.q = SS_ARENA_ARRAY(arena, double, sim->model->n_q + 1);
    f.v = SS_ARENA_ARRAY(arena, double, nv + 1);
    f.work = SS_ARENA_ARRAY(arena, double, MOST_ROWS + nv + 2 * most);
    memory = f.u && f.l && f.d && f.k && f.c && f.q && f.v && f.work && prepare_joints(&f, arena);
  }
  if (memory) {
    memcpy(f.q, sim->state.q, sizeof(double) * (size_t)sim->model->n_q);
    memcpy(f.v, sim->state.v, sizeof(double) * nv);
    collect(&f);
    for (int j = 0; j < f.n; j++) project(&f, f.l + (size_t)j * nv, f.d + (size_t)j * nv);
    for (int j = 0; j < f.n; j++) {
      differentiate(&f, j, true, f.k);
      differentiate(&f, j, false, f.c);
    }
    if (f.n) judge(&f, out);
  }
  ss_arena_destroy(arena);
  return memory ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
}
