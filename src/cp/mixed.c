/* Sweeps find the states of the contacts, damped Newton steps on the natural map (active.c) the digits. The number of sweeps
 * between two attempts of the Newton method grows, so that hard problems are not dominated by its linear algebra. Ends at
 * the iteration limit where the states never settle. */
#include "cp/mixed.h"

#include <math.h>

static double residual(const mixed *m, const double *x) { return ss_cp_judge(m->s.problem, x, NULL); }

static void copy(double *to, const double *from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i];
}

/* The point of the present Newton direction (m->trial) that lowers the residual, in m->candidate. */
static double search_line(mixed *m, double current) {
  enum { HALVINGS = 5 };
  double reached = HUGE_VAL, length = 1;
  for (int h = 0; h < HALVINGS && !(reached < current); h++, length /= 2) {
    for (int i = 0; i < m->n; i++) m->candidate[i] = m->x[i] + length * (m->trial[i] - m->x[i]);
    reached = residual(m, m->candidate);
  }
  return reached;
}

/* Newton steps from m->x while they improve it; returns the residual reached. Where a step fails it is tried again with
 * more damping: redundant contacts make the equations nearly singular, and then only a damped step stays near. */
static double newton_phase(mixed *m, int limit, double current) {
  static const double least = 1e-8, most = 1e-3, factor = 1e2;
  for (int k = 0; k < limit && current > m->tolerance; k++) {
    sweeper_apply(&m->s, m->x, m->w);
    (void)active_set_guess(&m->a, m->x, m->w);
    double reached = HUGE_VAL;
    for (;; m->a.damping = m->a.damping < least ? least : factor * m->a.damping) {
      copy(m->trial, m->x, m->n);
      m->newtons++;
      if (active_set_solve(&m->a, m->trial, m->w)) reached = search_line(m, current);
      if (reached < current || m->a.damping > most || !m->patient) break;
    }
    m->a.damping = m->a.damping > most || !m->patient ? 0 : m->a.damping / 10;
    if (m->a.damping < least) m->a.damping = 0;
    if (!(reached < current)) return current;
    const bool slow = reached > 0.9 * current;
    copy(m->x, m->candidate, m->n);
    current = reached;
    if (slow) return current;
  }
  return current;
}

double mixed_sweep(mixed *m, int count) {
  for (int k = 0; k < count; k++) sweep(&m->s, m->x, m->sweeps++ % 2);
  return residual(m, m->x);
}

static void keep_lowest(const mixed *m, double current, double *lowest) {
  if (!(current < *lowest)) return;
  *lowest = current;
  copy(m->best, m->x, m->n);
}

double mixed_take_turns(mixed *m, int limit, bool warm) {
  double lowest = HUGE_VAL;
  m->patient = warm;
  if (warm) keep_lowest(m, newton_phase(m, 20, residual(m, m->x)), &lowest);
  for (int count = m->first_sweeps; m->sweeps + m->newtons < limit && lowest > m->tolerance; count += count / 2) {
    const double swept = mixed_sweep(m, count < limit - m->sweeps ? count : limit - m->sweeps);
    keep_lowest(m, swept, &lowest);
    keep_lowest(m, newton_phase(m, 20, swept), &lowest);
    m->patient = true;
  }
  copy(m->x, m->best, m->n);
  return lowest;
}

ss_status mixed_create(mixed *m, const ss_cp *cp, ss_cp_workspace *w, ss_error *error) {
  m->n = cp->n;
  ss_status status = active_set_create(cp, w, &m->a, error);
  if (!status) status = active_set_seek_nearest(&m->a, w, error);
  if (!status) status = sweeper_create(&m->a, w, &m->s, error);
  if (status) return status;
  m->w = SCRATCH(w, double, 5 * (size_t)cp->n);
  if (!m->w) return out_of_memory(error);
  m->x = m->w + cp->n;
  m->trial = m->x + cp->n;
  m->candidate = m->trial + cp->n;
  m->best = m->candidate + cp->n;
  return SS_OK;
}
