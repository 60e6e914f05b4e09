/* The proximal point method (Rockafellar 1976) in the velocities of the bodies, for large problems with redundant contacts.
 *
 * One proximal step from the impulses a is the solution of
 *
 *     F(u) = A u - J^T z(a - rho (J u + g)) = 0,                                                               (1)
 *
 * z(x) the impulses that Coulomb's law assigns to x (response.c). Newton's method on it: H = A + rho J^T z' J, a mass matrix
 * with a spring in every closed contact, regular however redundant the contacts are, solved by GMRES with incomplete factors
 * (block_ilu.c). The result is the next a. Large rho make few steps, small ones easy steps: rho grows while (1) is solved
 * within a few Newton steps and shrinks where it is not. The same in the range of a dense matrix is range_newton.c.
 *
 * Where sweeps go round for ever in some places, this settles them: all contacts move together. It ends where some steps have
 * brought little: the smoothing method goes on then (smoothing.c). Needs the factors of G.
 * Fails where (1) has no solution for any rho tried (the friction is not associated), and where incomplete factors break down. */
#include "cp/bodies.h"
#include "cp/response.h"

#include <math.h>
#include <string.h>

enum { INNER = 25, HALVINGS = 8, EASY = 6, KRYLOV_STEPS = 200, VAIN = 8 };
static const double settled = 1e-3; /* residual below which most states are right: harder steps pay from the start */
static const double least_rho = 1e-2, most_rho = 1e7, change = 4, inner = 3e-3, linear = 1e-2;

typedef struct body_point {
  double *u, *F; /* [m] */
  response z;
  double norm; /* |F| */
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
  double *step, *right; /* [m] */
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
  *k = (body_newton){.l = l};
  const ss_status status = body_space_create(&k->s, l, w, admitted, error);
  if (status || !*admitted) return status;
  k->a = SCRATCH(w, double, 4 * n);
  k->step = SCRATCH(w, double, 2 * (size_t)k->s.m);
  if (!k->a || !k->step || !create_point(&k->now, k, w) || !create_point(&k->trial, k, w) ||
      !block_ilu_create(&k->ilu, &k->s.H, w) || !krylov_create(&k->krylov, k->s.m, w))
    return out_of_memory(error);
  k->w = k->a + n;
  k->x = k->w + n;
  k->none = k->x + n;
  k->right = k->step + k->s.m;
  memset(k->none, 0, sizeof(double) * n);
  return SS_OK;
}

/* Everything at p->u. */
static void evaluate(body_newton *k, body_point *p) {
  const int n = k->l->cp.n;
  body_space_slack(&k->s, p->u, k->w);
  for (int i = 0; i < n; i++) k->x[i] = k->a[i] - k->rho * k->w[i];
  respond_by_coulomb(&k->l->set, k->x, k->none, &p->z);
  body_space_collect(&k->s, p->u, p->z.z, p->F);
  double sum = 0;
  for (int i = 0; i < k->s.m; i++) sum += p->F[i] * p->F[i];
  p->norm = sqrt(sum);
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

/* Goes along the step until |F| has become smaller; false where it does not. */
static bool search_line(body_newton *k) {
  double length = 1;
  for (int h = 0; h < HALVINGS; h++, length /= 2) {
    for (int i = 0; i < k->s.m; i++) k->trial.u[i] = k->now.u[i] + length * k->step[i];
    evaluate(k, &k->trial);
    if (!(k->trial.norm <= (1 - 1e-4 * length) * k->now.norm)) continue;
    const body_point last = k->now;
    k->now = k->trial;
    k->trial = last;
    return true;
  }
  return false;
}

/* One proximal step from k->a; returns whether (1) was solved to the goal. */
static bool proximal_step(body_newton *k, double goal, int limit) {
  const int last = k->newtons + INNER < limit ? k->newtons + INNER : limit;
  evaluate(k, &k->now);
  while (k->now.norm > goal && k->newtons < last)
    if (!newton_step(k) || !search_line(k)) break;
  return k->now.norm <= goal;
}

static void iterate(body_newton *k, int limit) {
  large *l = k->l;
  const size_t bytes = sizeof(double) * (size_t)l->cp.n;
  const double size = sqrt(k->s.m);
  double residual = l->residual, growth = change;
  memcpy(k->a, l->x, bytes);
  for (int vain = 0; l->residual > l->goal && k->newtons < limit && vain < VAIN && k->rho > least_rho; vain++) {
    const int before = k->newtons;
    const bool solved = proximal_step(k, fmax(inner * residual, 1e-15) * size, limit);
    const bool taken = solved || k->now.norm < residual * size;
    if (taken) {
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

ss_status large_bodies(large *l, int limit, ss_cp_workspace *w, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  body_newton k;
  bool admitted = false;
  const ss_status status = create(&k, l, w, &admitted, error);
  if (!status && admitted && body_space_velocity(&k.s, l->x, k.now.u)) {
    k.rho = l->residual < settled ? 100 : 10;
    iterate(&k, limit);
    l->iterations += k.newtons;
    l->residual = large_judge(l, l->x, l->w);
  }
  scratch_release(w, mark);
  return status;
}
