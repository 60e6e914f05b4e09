/* Newton's method on the equations F(y) = 0 of a proximal step.
 *
 * Coulomb's law is not associated: F is no gradient, and what descends is |F|. Where no part of a Newton step makes it smaller, the law
 * of the cone with the shift s = mu |w_t| frozen takes over for some steps (De Saxce; Cadoux 2009): then F is the gradient of a
 * convex function, and Newton's method with a line search on it always converges. From there Coulomb's law is tried once more. */
#include "cp/proximal.h"

#include "la/rows.h"

#include <math.h>

enum { CONE_STEPS = 10, CONE_HALVINGS = 15 };
static const double less = 0.9, much_less = 0.1, last_digits = 1e-13; /* of |F|, after a Newton step */
static const double cone_enough = 1e-2; /* of |F| with the shift frozen: it moves on anyway */
static const double sufficient = 1e-4, rounding = 1e-14;

static bool create_point(prox_point *p, int m, int n, ss_cp_workspace *w) {
  p->y = SCRATCH(w, double, 2 * (size_t)m);
  p->z.z = SCRATCH(w, double, n);
  p->z.D = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, (size_t)n *SS_FRICTION_ROWS);
  p->F = p->y + m;
  return p->y && p->z.z && p->z.D;
}

bool proximal_create(proximal *p, int m, int n, ss_cp_workspace *w) {
  p->m = m;
  p->step = SCRATCH(w, double, m);
  return p->step && create_point(&p->now, m, n, w) && create_point(&p->trial, m, n, w);
}

void proximal_exchange(proximal *p) {
  const prox_point last = p->now;
  p->now = p->trial;
  p->trial = last;
}

/* Goes along the step until the merit is at most `bound` plus a part of the slope; false where it never is. */
static bool search_line(proximal *p, contact_law law, double bound, double slope, int halvings) {
  double length = 1;
  for (int h = 0; h < halvings; h++, length /= 2) {
    for (int k = 0; k < p->m; k++) p->trial.y[k] = p->now.y[k] + length * p->step[k];
    p->equations->evaluate(p->user, law, &p->trial);
    if (!(p->trial.merit <= bound + sufficient * length * slope)) continue;
    proximal_exchange(p);
    return true;
  }
  return false;
}

bool proximal_goes_on(proximal *p) {
  const ss_cp_options *o = p->caller;
  p->stopped = p->stopped || (o && o->stop && o->stop(o->stop_user));
  return !p->stopped && p->newtons < p->limit;
}

/* Near rounding errors Newton's method gains digits at once or not at all. */
static void coulomb_phase(proximal *p, double goal) {
  while (p->now.norm > goal && proximal_goes_on(p)) {
    const double bound = (p->now.norm > last_digits ? less : much_less) * p->now.norm;
    if (!p->equations->newton(p->user, &p->now, p->step) || !search_line(p, COULOMB, bound, 0, p->equations->halvings))
      return;
  }
}

static void cone_phase(proximal *p, double goal) {
  p->equations->freeze(p->user, p->now.y);
  p->equations->evaluate(p->user, CONE, &p->now);
  goal = fmax(goal, cone_enough * p->now.norm);
  for (int k = 0; k < CONE_STEPS && p->now.norm > goal && proximal_goes_on(p); k++) {
    if (!p->equations->newton(p->user, &p->now, p->step)) return;
    const double slope = dot(p->now.F, p->step, p->m), bound = p->now.merit + rounding * fabs(p->now.merit);
    if (!search_line(p, CONE, bound, slope, CONE_HALVINGS)) return;
  }
}

bool proximal_solve(proximal *p, double goal, bool shifted) {
  coulomb_phase(p, goal);
  if (p->now.norm > goal && p->cones && shifted && proximal_goes_on(p)) {
    cone_phase(p, goal);
    p->equations->evaluate(p->user, COULOMB, &p->now);
    coulomb_phase(p, goal);
  }
  return p->now.norm <= goal;
}
