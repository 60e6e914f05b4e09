/* What came of a search: the contraction of BVP (28), and where no start succeeded the reason: a condition that does not
 * answer to the unknowns any more, or a minimum of the residual, and what about the scheme may be in the way. */
#include "bvp/bvp.h"

#include "core/math3.h"
#include "la/dense.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct text {
  char text[1024];
  size_t length;
} text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
add(text *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = vsnprintf(out->text + out->length, sizeof out->text - out->length, format, arguments);
  va_end(arguments);
  if (written > 0) out->length += (size_t)written;
  if (out->length >= sizeof out->text) out->length = sizeof out->text - 1;
}

/* ---- matrices of the conditions ---- */

/* B[m][n] = M_v + N_v + horizon N_q on the unknowns. */
static void condition_matrix(const ss_shooting *s, double horizon, double *b) {
  memset(b, 0, sizeof(double) * (size_t)(s->m * s->n));
  for (int i = 0; i < s->m; i++) {
    const ss_condition_def *c = &s->boundary->conditions[i];
    for (int k = 0; k < c->n; k++)
      for (int j = 0; j < s->n; j++) {
        const ss_quantity *q = &c->quantities[k], *u = &s->boundary->unknown[j];
        if (q->body != u->body) continue;
        if (q->coordinate == u->coordinate) b[i * s->n + j] += c->factors[k];
        if (q->coordinate == u->coordinate - SS_VELOCITY) b[i * s->n + j] += horizon * c->factors[k];
      }
  }
}

bool ss_bvp_invert_conditions(ss_bvp_solver *v, double horizon, double *inverse) {
  const ss_shooting *s = v->shooting;
  double *b = v->scratch;
  condition_matrix(s, horizon, b);
  return ss_dense_inverse(b, s->n, inverse) && isfinite(ss_largest(inverse, s->n * s->n));
}

/* ---- contraction ---- */

/* |(M_v + N_v)^-1 N|: N's columns are all quantities that occur. */
static double condition_norm(ss_bvp_solver *v) {
  const ss_shooting *s = v->shooting;
  const int n = s->n;
  double *inverse = SS_ARENA_ARRAY(v->arena, double, 4 * (size_t)n * (size_t)n + 2 * (size_t)n);
  if (!inverse || s->m != n || !ss_bvp_invert_conditions(v, 0, inverse)) return NAN;
  double *gram = inverse + (ptrdiff_t)n * n, *nn = gram + (ptrdiff_t)n * n, *vectors = nn + (ptrdiff_t)n * n;
  double *values = vectors + (ptrdiff_t)n * n, *scratch = values + n;
  for (int i = 0; i < n; i++) /* N N^T */
    for (int j = 0; j < n; j++) {
      const ss_condition_def *a = &s->boundary->conditions[i], *b = &s->boundary->conditions[j];
      for (int k = 0; k < a->n; k++)
        for (int l = 0; l < b->n; l++) {
          const ss_quantity *p = &a->quantities[k], *q = &b->quantities[l];
          if (p->final && q->final && p->body == q->body && p->coordinate == q->coordinate && p->other == q->other &&
              p->element == q->element)
            nn[i * n + j] += a->factors[k] * b->factors[l];
        }
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        for (int l = 0; l < n; l++) gram[i * n + j] += inverse[i * n + k] * nn[k * n + l] * inverse[j * n + l];
  if (!ss_symmetric_eigen(gram, n, vectors, values, scratch)) return NAN;
  return sqrt(ss_largest(values, n));
}

/* Norm of 1 - B^-1 F': how much a fixed-point step shrinks differences. */
static double observed_contraction(const ss_bvp_solver *v, const double *jacobian) {
  const int n = v->shooting->n;
  double sum = 0;
  if (!v->binverse) return NAN;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double entry = i == j;
      for (int k = 0; k < n; k++) entry -= v->binverse[i * n + k] * jacobian[k * n + j];
      sum += entry * entry;
    }
  return sqrt(sum);
}

/* ---- why there may be none ---- */

/* The first condition that is not met and that no unknown changes; NULL: each of them answers. */
static const ss_condition_def *deaf_condition(const ss_shooting *s, const double *jacobian) {
  const double largest = ss_largest(jacobian, s->m * s->n);
  for (int i = 0; i < s->m; i++)
    if (fabs(s->best_f[i]) > s->boundary->tolerance &&
        ss_largest(jacobian + (ptrdiff_t)i * s->n, s->n) <= 1e-7 * (1 + largest))
      return &s->boundary->conditions[i];
  return NULL;
}

/* Whether the freedoms of the bodies leave nothing of it. */
static bool is_locked(const ss_shooting *s, const ss_condition_def *c) {
  for (int k = 0; k < c->n; k++)
    if (c->quantities[k].coordinate >= SS_DEFORMATION ||
        s->scene.bodies[c->quantities[k].body].freedom >> (c->quantities[k].coordinate % SS_VELOCITY) & 1)
      return false;
  return true;
}

/* No run at all has changed it. */
static bool never_answered(const ss_shooting *s, const ss_condition_def *c) {
  const ptrdiff_t i = c - s->boundary->conditions;
  return s->high[i] - s->low[i] <= 1e-9 * (1 + fabs(s->low[i]));
}

/* What is known is local: at the best point, and by the runs that were made. */
static void describe(const ss_bvp_solver *v, const double *jacobian, text *out) {
  const ss_shooting *s = v->shooting;
  const ss_condition_def *deaf = jacobian ? deaf_condition(s, jacobian) : NULL;
  if (deaf && is_locked(s, deaf)) {
    add(out, "'%.300s' cannot be met: the body's freedom locks that coordinate", deaf->text);
    return;
  }
  add(out, "no solution from %d starts, the best of %d velocities (%ld runs%s): ", v->result->starts,
      v->result->samples, s->simulations, s->out_of_time ? ", then the time was up" : "");
  if (s->fitted)
    add(out,
        "the segments fit together and meet the conditions, but a run from their initial velocities does "
        "not: the motion magnifies rounding errors up to %.2g",
        s->best_residual);
  else if (!isfinite(s->best_residual))
    add(out, "no run could be certified");
  else if (deaf && never_answered(s, deaf))
    add(out, "'%.300s' was the same in all of them: the unknown velocities seem to have no way to change it",
        deaf->text);
  else if (deaf && !s->shot.touched)
    add(out, "near the best of them '%.300s' does not depend on the unknown velocities: nothing touches there",
        deaf->text);
  else if (deaf)
    add(out,
        "near the best of them '%.300s' does not answer to the unknown velocities: contact or friction has brought the "
        "motion to rest before the end",
        deaf->text);
  else
    add(out, "the best residual is a minimum there, nearby velocities only make it worse");
}

/* Whether a condition on final positions (or else velocities) is not met. */
static bool misses(const ss_shooting *s, bool positions) {
  for (int i = 0; i < s->m; i++)
    for (int k = 0; k < s->boundary->conditions[i].n; k++) {
      const ss_quantity *q = &s->boundary->conditions[i].quantities[k];
      if (q->final && (q->coordinate < SS_VELOCITY) == positions && fabs(s->best_f[i]) > s->boundary->tolerance)
        return true;
    }
  return false;
}

/* What the scheme itself puts in the way: contacts that hold in their velocities only come to rest a little inside each
 * other; constraints on the mean of two velocities let bodies at rest swing from step to step (MDI section 9.1), and joints that velocities at the start disagree with. */
static void advise(const ss_shooting *s, text *out) {
  const ss_shot_report *shot = &s->shot;
  if (!isfinite(s->best_residual)) return;
  if (shot->mean_velocities && s->tear > s->boundary->tolerance)
    add(out,
        "; the unknown velocities tear at the joints, and %s hands that on from step to step with alternating sign: a "
        "scheme with alpha = 1 ends it in the first step",
        s->options.scheme);
  if (!shot->touched) return;
  if (shot->mean_velocities && !shot->arrests && misses(s, false))
    add(out,
        "; %s constrains the mean of two velocities, so that bodies at rest may go on with velocities of alternating "
        "sign: 'events: [collision, stick-slip, take-off]' stops them",
        s->options.scheme);
  if (shot->velocity_level && misses(s, true) && shot->penetration > 0.01 * s->boundary->tolerance)
    add(out,
        "; %s holds contacts in their velocities only, and bodies have come to rest up to %.2g inside each other: "
        "'stabilization: projection' holds positions too",
        s->options.scheme, shot->penetration);
}

static ss_status explain(ss_bvp_solver *v, const double *jacobian, ss_error *error) {
  text reason = {0};
  describe(v, jacobian, &reason);
  advise(v->shooting, &reason);
  v->result->reason = ss_arena_strdup(v->arena, reason.text);
  return v->result->reason ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
}

ss_status ss_bvp_report(ss_bvp_solver *v, ss_error *error) {
  ss_shooting *s = v->shooting;
  ss_bvp_result *r = v->result;
  r->best.method = s->best_method;
  r->best.residual = s->best_residual;
  memcpy(r->best.unknown, s->best_u, sizeof(double) * (size_t)s->n);
  memcpy(r->best.conditions, s->best_f, sizeof(double) * (size_t)s->m);
  r->contraction = (ss_bvp_contraction){.psi = NAN, .growth = NAN, .bound = NAN, .observed = NAN};
  double *jacobian = SS_ARENA_ARRAY(v->arena, double, (size_t)s->m *(size_t)s->n);
  double *u = SS_ARENA_ARRAY(v->arena, double, s->n), *f = SS_ARENA_ARRAY(v->arena, double, s->m);
  if (!jacobian || !u || !f) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  memcpy(u, r->best.unknown, sizeof(double) * (size_t)s->n);
  bool known = false;
  r->simulations = s->simulations;
  s->deadline = INFINITY; /* a few runs more for what is told */
  s->out_of_time = false;
  if (isfinite(s->best_residual)) {
    s->measure = true;
    if (ss_shoot(s, u, f)) {
      const double norm = condition_norm(v);
      r->contraction.psi = s->psi;
      r->contraction.growth = exp(s->options.duration * s->psi);
      r->contraction.applies = isfinite(norm);
      r->contraction.bound = norm > 0 ? 1 + 1 / norm : (isfinite(norm) ? (double)INFINITY : (double)NAN);
    }
    s->measure = false;
    known = ss_shoot_differences(s, u, f, jacobian);
    if (known) r->contraction.observed = observed_contraction(v, jacobian);
  }
  s->out_of_time = r->out_of_time;
  r->simulations = s->simulations;
  return r->n_solutions ? SS_OK : explain(v, known ? jacobian : NULL, error);
}
