/* The proximal point method (Rockafellar 1976) in the velocities of the bodies, for large problems with redundant contacts.
 *
 * One proximal step from the impulses a is the solution of
 *
 *     F(u) = A u - J^T z(a - rho (J u + g)) = 0,                                                               (1)
 *
 * z(x) the impulses that Coulomb's law assigns to x (response.c). Newton's method on it: H = A + rho J^T z' J, a mass matrix
 * with a spring in every closed contact, regular however redundant the contacts are, solved by GMRES with incomplete factors
 * (block_ilu.c). Where that does not descend, the law of the cone with the shift s = mu |w_t| frozen takes over for some steps
 * (De Saxce; Cadoux 2009): then F is the gradient of a convex function,
 *
 *     u A u / 2 + (x z - |z|^2 / 2) / rho,   x = a - rho (J u + g + s),                                        (2)
 *
 * and Newton's method with a line search on it always converges. The result is the next a. Large rho make few steps, small ones
 * easy steps: rho grows while (1) is solved within a few Newton steps and shrinks where it is not. The same in the range of a
 * dense matrix is range_newton.c.
 *
 * Where sweeps creep or go round for ever in some places, this settles them: all contacts move together. It ends where as many steps as
 * the caller's patience have brought little. Needs the factors of G.
 * Fails where (1) has no solution for any rho tried (the friction is not associated), and where incomplete factors break down. */
#include "cp/bodies.h"
#include "cp/response.h"
#include "la/rows.h"

#include <math.h>
#include <string.h>

enum { COULOMB_HALVINGS = 3, CONE_HALVINGS = 15, CONE_STEPS = 10, EASY = 6, KRYLOV_STEPS = 200 };
static const double settled = 1e-3; /* residual below which most states are right: harder steps pay from the start */
static const double least_rho = 1e-2, most_rho = 1e7, change = 4, inner = 3e-3, linear = 1e-2;

typedef enum contact_law { COULOMB, CONE } contact_law;

typedef struct body_point {
  double *u, *F; /* [m] */
  response z;
  double norm, merit; /* |F|; that, or (2) */
} body_point;

typedef struct body_newton {
  large *l;
  body_space s;
  block_ilu ilu;
  krylov krylov;
  double rho;
  body_point now, trial;
  double *a;            /* [n] */
  double *w, *x, *none; /* [n] none: zeros */
  double *shift;        /* [n] De Saxce's, frozen */
  double *step, *right; /* [m] */
  bool cones;           /* admitted: (2) can be used */
  int newtons;
} body_newton;

static bool create_point(body_point *p, const body_newton *k, ss_cp_workspace *w) {
  p->u = SCRATCH(w, double, 2 * (size_t)k->s.m);
  p->z.z = SCRATCH(w, double, k->l->cp.n);
  p->z.D = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, (size_t)k->l->cp.n *SS_FRICTION_ROWS);
  p->F = p->u + k->s.m;
  return p->u && p->z.z && p->z.D;
}

static ss_status create(body_newton *k, large *l, ss_cp_workspace *w, bool *admitted, ss_error *error) {
  const size_t n = (size_t)l->cp.n;
  *k = (body_newton){.l = l, .cones = cones_admitted(&l->cp)};
  const ss_status status = body_space_create(&k->s, l, w, admitted, error);
  if (status || !*admitted) return status;
  k->a = SCRATCH(w, double, 5 * n);
  k->step = SCRATCH(w, double, 2 * (size_t)k->s.m);
  if (!k->a || !k->step || !create_point(&k->now, k, w) || !create_point(&k->trial, k, w) ||
      !block_ilu_create(&k->ilu, &k->s.H, w) || !krylov_create(&k->krylov, k->s.m, w))
    return out_of_memory(error);
  k->w = k->a + n;
  k->x = k->w + n;
  k->none = k->x + n;
  k->shift = k->none + n;
  k->right = k->step + k->s.m;
  memset(k->none, 0, sizeof(double) * n);
  return SS_OK;
}

/* Everything at p->u. */
static void evaluate(body_newton *k, contact_law law, body_point *p) {
  const int n = k->l->cp.n, m = k->s.m;
  body_space_slack(&k->s, p->u, k->w);
  for (int i = 0; i < n; i++) k->x[i] = k->a[i] - k->rho * (k->w[i] + (law == CONE ? k->shift[i] : 0));
  if (law == CONE)
    respond_by_cone(&k->l->set, k->x, &p->z);
  else
    respond_by_coulomb(&k->l->set, k->x, k->none, &p->z);
  body_space_collect(&k->s, p->u, p->z.z, p->F);
  p->norm = p->merit = sqrt(dot(p->F, p->F, m));
  if (law == COULOMB) return;
  double work = dot(p->F, p->u, m); /* u A u = u F + z J u */
  for (int i = 0; i < n; i++) work += p->z.z[i] * (k->w[i] - k->l->g[i]);
  p->merit = work / 2 + (dot(k->x, p->z.z, n) - dot(p->z.z, p->z.z, n) / 2) / k->rho;
}

/* k->step from H step = -F at k->now. */
static bool newton_step(body_newton *k) {
  body_space_assemble(&k->s, k->rho, (const double(*)[SS_FRICTION_ROWS])k->now.z.D);
  k->newtons++;
  if (!block_ilu_factor(&k->ilu)) return false;
  for (int i = 0; i < k->s.m; i++) k->right[i] = -k->now.F[i];
  (void)krylov_solve(&k->krylov, &k->s.H, &k->ilu, k->right, linear, KRYLOV_STEPS, k->step);
  return true;
}

/* Goes along the step until the merit is at most `bound` plus a part of the slope; false where it never is. */
static bool search_line(body_newton *k, contact_law law, double bound, double slope, int halvings) {
  double length = 1;
  for (int h = 0; h < halvings; h++, length /= 2) {
    for (int i = 0; i < k->s.m; i++) k->trial.u[i] = k->now.u[i] + length * k->step[i];
    evaluate(k, law, &k->trial);
    if (!(k->trial.merit <= bound + 1e-4 * length * slope)) continue;
    const body_point last = k->now;
    k->now = k->trial;
    k->trial = last;
    return true;
  }
  return false;
}

static void coulomb_phase(body_newton *k, double goal, int limit) {
  static const double descent = 0.9;
  evaluate(k, COULOMB, &k->now);
  while (k->now.norm > goal && k->newtons < limit)
    if (!newton_step(k) || !search_line(k, COULOMB, descent * k->now.norm, 0, COULOMB_HALVINGS)) return;
}

static void cone_phase(body_newton *k, double goal, int limit) {
  static const double enough = 1e-2, rounding = 1e-14;
  body_space_slack(&k->s, k->now.u, k->w);
  cone_shift(&k->l->set, k->w, k->shift);
  evaluate(k, CONE, &k->now);
  goal = fmax(goal, enough * k->now.norm);
  for (int i = 0; i < CONE_STEPS && k->now.norm > goal && k->newtons < limit; i++) {
    if (!newton_step(k)) return;
    const double slope = dot(k->now.F, k->step, k->s.m), bound = k->now.merit + rounding * fabs(k->now.merit);
    if (!search_line(k, CONE, bound, slope, CONE_HALVINGS)) return;
  }
}

/* One proximal step from k->a; returns whether (1) was solved to the goal. */
static bool proximal_step(body_newton *k, double goal, int limit) {
  coulomb_phase(k, goal, limit);
  if (k->now.norm > goal && k->cones && k->newtons < limit) {
    cone_phase(k, goal, limit);
    coulomb_phase(k, goal, limit);
  }
  return k->now.norm <= goal;
}

static void iterate(body_newton *k, int limit, int patience) {
  large *l = k->l;
  const size_t bytes = sizeof(double) * (size_t)l->cp.n;
  const double size = sqrt(k->s.m);
  double residual = l->residual, growth = change;
  memcpy(k->a, l->x, bytes);
  for (int vain = 0; l->residual > l->goal && k->newtons < limit && vain < patience && k->rho > least_rho; vain++) {
    const int before = k->newtons;
    const bool solved = proximal_step(k, fmax(inner * residual, 1e-15) * size, limit);
    if (solved || k->now.norm < residual * size) {
      memcpy(k->a, k->now.z.z, bytes);
      residual = large_judge(l, k->a, k->w);
    } else if (!body_space_velocity(&k->s, k->a, k->now.u)) {
      return;
    }
    if (residual < l->residual) {
      if (residual < 0.7 * l->residual) vain = 0;
      l->residual = residual;
      memcpy(l->x, k->a, bytes);
    }
    if (!solved) {
      k->rho /= change;
      growth = 1.5;
    } else if (k->newtons - before <= EASY) {
      k->rho = fmin(growth * k->rho, most_rho);
      growth = fmin(1.3 * growth, change);
    }
  }
}

ss_status large_bodies(large *l, int limit, int patience, ss_cp_workspace *w, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  body_newton k;
  bool admitted = false;
  const ss_status status = create(&k, l, w, &admitted, error);
  if (!status && admitted && body_space_velocity(&k.s, l->x, k.now.u)) {
    k.rho = l->residual < settled ? 100 : 10;
    iterate(&k, limit, patience);
    l->iterations += k.newtons;
    l->residual = large_judge(l, l->x, l->w);
  }
  scratch_release(w, mark);
  return status;
}
