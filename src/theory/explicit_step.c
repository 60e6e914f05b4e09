/* The largest step with which springs and dampers that a scheme takes explicitly (forces at q, v; then v+, then
 * q+ = q + h v+) stay stable in the present configuration. One of them alone, of stiffness k and damping d on a mass m:
 *
 *     x'' = -(k x + d x')/m    is stable for    (h^2 k + 2 h d)/m < 4,    which is h < 2/omega without damping
 *
 * Several act on each other through the bodies and their joints: m^-1 becomes S = L P L^T, with L the gradients of their
 * lengths and P = M^-1 - M^-1 J^T (J M^-1 J^T)^-1 J M^-1, and the left side the largest eigenvalue of
 * S diag(h^2 k + 2 h d). Contacts are left out: they only take freedom away, so that the limit with them is no smaller.
 * What turns or stretches far has another limit elsewhere. */
#include <stickslip/theory.h>

#include "la/dense.h"
#include "step/step.h"

#include <string.h>

enum { MOST = 400, TURNS = 200, HALVINGS = 60 }; /* MOST: springs, and joint rows that are taken into account */

typedef struct springs {
  int n;
  const ss_force **force; /* [n] */
  ss_row *row;            /* [n] gradients of their lengths */
  double *s;              /* [n][n] */
  double *x, *y;          /* [n] scratch */
} springs;

static bool is_explicit(const ss_sim *sim, const ss_force *force) {
  return !sim->scheme->implicit_forces && force->type != SS_FORCE_APPLIED &&
         (force->stiffness > 0 || force->damping > 0);
}

/* a M^-1 b^T */
static double meet(const ss_model *model, const ss_row *a, const ss_row *b) {
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    const int k = a->body[i / 2];
    if (k < 0 || b->body[i % 2] != k) continue;
    const ss_body *body = &model->bodies[k];
    for (int r = 0; r < body->n; r++)
      for (int c = 0; c < body->n; c++) sum += a->j[i / 2][r] * body->minv[r * body->n + c] * b->j[i % 2][c];
  }
  return sum;
}

/* Subtracts what the joints take: S -= B^T (J M^-1 J^T)^-1 B with B = J M^-1 L^T. */
static bool subtract_joints(ss_sim *sim, ss_arena *arena, springs *f) {
  const int nj = sim->basis.n, n = f->n;
  if (nj == 0 || nj > MOST) return true;
  double *g = SS_ARENA_ARRAY(arena, double, (size_t)nj *(size_t)nj), *b = SS_ARENA_ARRAY(arena, double, nj);
  ss_row *rows = SS_ARENA_ARRAY(arena, ss_row, sim->model->n_joint_rows);
  double *gb = SS_ARENA_ARRAY(arena, double, (size_t)nj *(size_t)n);
  if (!g || !b || !rows || !gb) return false;
  sim->mechanics->joints(sim, sim->state.t, sim->state.q, NULL, rows, NULL);
  for (int i = 0; i < nj; i++)
    for (int j = 0; j < nj; j++) g[i * nj + j] = meet(sim->model, &rows[sim->basis.row[i]], &rows[sim->basis.row[j]]);
  if (!ss_spd_inverse(g, nj)) return true; /* nearly redundant: without them the limit is smaller */
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < nj; i++) b[i] = meet(sim->model, &rows[sim->basis.row[i]], &f->row[k]);
    for (int i = 0; i < nj; i++) {
      gb[k * nj + i] = 0;
      for (int j = 0; j < nj; j++) gb[k * nj + i] += g[i * nj + j] * b[j];
    }
  }
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < nj; i++) b[i] = meet(sim->model, &rows[sim->basis.row[i]], &f->row[k]);
    for (int l = 0; l < n; l++)
      for (int i = 0; i < nj; i++) f->s[k * n + l] -= b[i] * gb[l * nj + i];
  }
  return true;
}

static bool collect(ss_sim *sim, ss_arena *arena, springs *f) {
  const ss_model *model = sim->model;
  f->force = SS_ARENA_ARRAY(arena, const ss_force *, model->n_forces);
  f->row = SS_ARENA_ARRAY(arena, ss_row, model->n_forces);
  if (!f->force || !f->row) return false;
  for (int k = 0; k < model->n_forces && f->n < MOST; k++) {
    if (!is_explicit(sim, &model->forces[k])) continue;
    f->force[f->n] = &model->forces[k];
    f->row[f->n++] = ss_link_at(model, &model->forces[k], sim->state.q, sim->state.angle, sim->state.v).row;
  }
  f->s = SS_ARENA_ARRAY(arena, double, (size_t)f->n *(size_t)f->n);
  f->x = SS_ARENA_ARRAY(arena, double, f->n);
  f->y = SS_ARENA_ARRAY(arena, double, f->n);
  if (!f->s || !f->x || !f->y) return false;
  for (int i = 0; i < f->n; i++)
    for (int j = 0; j < f->n; j++) f->s[i * f->n + j] = meet(model, &f->row[i], &f->row[j]);
  return subtract_joints(sim, arena, f);
}

/* Largest eigenvalue of S diag(h^2 k + 2 h d), by the power method on the symmetric form. */
static double largest(const springs *f, double h) {
  double value = 0;
  for (int i = 0; i < f->n; i++) f->x[i] = 1 + 0.1 * sin(i + 1.);
  for (int turn = 0; turn < (f->n == 1 ? 2 : TURNS); turn++) {
    double square = 0;
    for (int i = 0; i < f->n; i++) {
      f->y[i] = 0;
      for (int j = 0; j < f->n; j++) {
        const double strength = sqrt((h * h * f->force[i]->stiffness + 2 * h * f->force[i]->damping) *
                                     (h * h * f->force[j]->stiffness + 2 * h * f->force[j]->damping));
        f->y[i] += f->s[i * f->n + j] * strength * f->x[j];
      }
      square += f->y[i] * f->y[i];
    }
    value = sqrt(square);
    if (!(value > 0)) return 0;
    for (int i = 0; i < f->n; i++) f->x[i] = f->y[i] / value;
  }
  return value;
}

ss_status ss_sim_explicit_step(ss_sim *sim, double *out, ss_error *error) {
  *out = INFINITY;
  bool any = false;
  for (int k = 0; !sim->system && k < sim->model->n_forces; k++) any |= is_explicit(sim, &sim->model->forces[k]);
  if (!any) return SS_OK;
  ss_arena *arena = ss_arena_create();
  springs f = {0};
  if (!arena || !collect(sim, arena, &f)) {
    ss_arena_destroy(arena);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  double low = 0, high = 1024 * sim->options.step;
  if (largest(&f, high) >= 4) {
    for (int k = 0; k < HALVINGS && high - low > 1e-9 * high; k++) {
      const double middle = (low + high) / 2;
      *(largest(&f, middle) < 4 ? &low : &high) = middle;
    }
    *out = low;
  }
  ss_arena_destroy(arena);
  return SS_OK;
}

bool ss_sim_newton_may_create(const ss_sim *sim) {
  const ss_model *model = sim->model;
  return model->restitution_anywhere && model->friction_anywhere && !sim->scheme->compliant &&
         (sim->options.restitution == SS_RESTITUTION_NEWTON || model->newton_anywhere);
}
