/* The proximal point method (Rockafellar 1976) in the velocities of the bodies, for large problems with redundant contacts.
 *
 * One proximal step from the impulses a is the solution of
 *
 *     F(u) = A u - J^T z(a - rho (J u + g)) = 0,                                                               (1)
 *
 * z(x) the impulses that Coulomb's law assigns to x (response.c). Newton's method on it: H = A + rho J^T z' J, a mass matrix
 * with a spring in every closed contact, regular however redundant the contacts are, solved by GMRES with incomplete factors
 * (block_ilu.c). With De Saxce's shift s frozen (proximal.c) F is the gradient of
 *
 *     u A u / 2 + (x z - |z|^2 / 2) / rho,   x = a - rho (J u + g + s).                                        (2)
 *
 * The result is the next a. Large rho make few steps, small ones
 * easy steps: rho grows while (1) is solved within a few Newton steps and shrinks where it is not. The same in the range of a
 * dense matrix is range_newton.c.
 *
 * Where sweeps creep or go round for ever in some places, this settles them: all contacts move together. It ends where as many steps as
 * the caller's patience have brought little. Needs the factors of G.
 * Fails where (1) has no solution for any rho tried (the friction is not associated), and where incomplete factors break down. */
#include "cp/bodies.h"
#include "cp/proximal.h"
#include "la/rows.h"

#include <math.h>
#include <string.h>

enum { EASY = 6, KRYLOV_STEPS = 200 };
static const double settled = 1e-3; /* residual below which most states are right: harder steps pay from the start */
static const double least_rho = 1e-2, most_rho = 1e7, change = 4, inner = 3e-3, linear = 1e-2;

typedef struct body_newton {
  large *l;
  body_space s;
  block_ilu ilu;
  krylov krylov;
  proximal step; /* in the velocities y = u [m] */
  double rho;
  double *a;            /* [n] */
  double *w, *x, *none; /* [n] none: zeros */
  double *shift;        /* [n] De Saxce's, frozen */
  double *right;        /* [m] */
} body_newton;

static ss_status create(body_newton *k, large *l, ss_cp_workspace *w, bool *admitted, ss_error *error) {
  const size_t n = (size_t)l->cp.n;
  *k = (body_newton){.l = l, .step.cones = cones_admitted(&l->cp)};
  const ss_status status = body_space_create(&k->s, l, w, admitted, error);
  if (status || !*admitted) return status;
  k->a = SCRATCH(w, double, 5 * n);
  k->right = SCRATCH(w, double, k->s.m);
  if (!k->a || !k->right || !proximal_create(&k->step, k->s.m, l->cp.n, w) || !block_ilu_create(&k->ilu, &k->s.H, w) ||
      !krylov_create(&k->krylov, k->s.m, w))
    return out_of_memory(error);
  k->w = k->a + n;
  k->x = k->w + n;
  k->none = k->x + n;
  k->shift = k->none + n;
  memset(k->none, 0, sizeof(double) * n);
  return SS_OK;
}

static void evaluate(void *user, contact_law law, prox_point *p) {
  body_newton *k = user;
  const int n = k->l->cp.n, m = k->s.m;
  body_space_slack(&k->s, p->y, k->w);
  for (int i = 0; i < n; i++) k->x[i] = k->a[i] - k->rho * (k->w[i] + (law == CONE ? k->shift[i] : 0));
  if (law == CONE)
    respond_by_cone(&k->l->set, k->x, &p->z);
  else
    respond_by_coulomb(&k->l->set, k->x, k->none, &p->z);
  body_space_collect(&k->s, p->y, p->z.z, p->F);
  p->norm = p->merit = sqrt(dot(p->F, p->F, m));
  if (law == COULOMB) return;
  double work = dot(p->F, p->y, m); /* u A u = u F + z J u */
  for (int i = 0; i < n; i++) work += p->z.z[i] * (k->w[i] - k->l->g[i]);
  p->merit = work / 2 + (dot(k->x, p->z.z, n) - dot(p->z.z, p->z.z, n) / 2) / k->rho;
}

static void freeze(void *user, const double *y) {
  body_newton *k = user;
  body_space_slack(&k->s, y, k->w);
  cone_shift(&k->l->set, k->w, k->shift);
}

static bool newton(void *user, const prox_point *p, double *step) {
  body_newton *k = user;
  body_space_assemble(&k->s, k->rho, (const double(*)[SS_FRICTION_ROWS])p->z.D);
  k->step.newtons++;
  if (!block_ilu_factor(&k->ilu)) return false;
  for (int i = 0; i < k->s.m; i++) k->right[i] = -p->F[i];
  (void)krylov_solve(&k->krylov, &k->s.H, &k->ilu, k->right, linear, KRYLOV_STEPS, step);
  return true;
}

static const prox_equations through_bodies = {evaluate, freeze, newton, .halvings = 3};

static bool proximal_step(body_newton *k, double goal) {
  evaluate(k, COULOMB, &k->step.now);
  return proximal_solve(&k->step, goal, true);
}

static void iterate(body_newton *k, int patience) {
  large *l = k->l;
  const size_t bytes = sizeof(double) * (size_t)l->cp.n;
  const double size = sqrt(k->s.m);
  double residual = l->residual, growth = change;
  memcpy(k->a, l->x, bytes);
  for (int vain = 0; l->residual > l->goal && k->step.newtons < k->step.limit && vain < patience && k->rho > least_rho;
       vain++) {
    const int before = k->step.newtons;
    const bool solved = proximal_step(k, fmax(inner * residual, 1e-15) * size);
    if (solved || k->step.now.norm < residual * size) {
      memcpy(k->a, k->step.now.z.z, bytes);
      residual = large_judge(l, k->a, k->w);
    } else if (!body_space_velocity(&k->s, k->a, k->step.now.y)) {
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
    } else if (k->step.newtons - before <= EASY) {
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
  if (!status && admitted && body_space_velocity(&k.s, l->x, k.step.now.y)) {
    k.step.equations = &through_bodies;
    k.step.user = &k;
    k.step.limit = limit;
    k.rho = l->residual < settled ? 100 : 10;
    iterate(&k, patience);
    l->iterations += k.step.newtons;
    l->residual = large_judge(l, l->x, l->w);
  }
  scratch_release(w, mark);
  return status;
}
