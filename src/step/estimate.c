/* What automatic steps know of their error.
 *
 * Halves: the distance between two results for the same time, of a step taken as a whole and in two halves.
 *
 * Pair: results of two orders from the same solved part of size h, at no further problem. The positions of the scheme's
 * second order are q + h w, w = (v + v+)/2. Moved by v+ instead they would be of first order, and the pair differs by
 *
 *     h (v+ - v)/2 = h^2 q''/2 + ...                                                                              (1)
 *
 * For a scheme of first order that is its error. For the trapezoidal scheme it is the error of something else: parabolas,
 * which it follows exactly, would be cut into pieces. What the last parts did not predict of (1) is of third order, like
 * the error: with the mean velocities w, w1, w2 of this part and of the two before it, of sizes h, h1, h2,
 *
 *     q''' = 6 [ (w - w1)/(h + h1) - (w1 - w2)/(h1 + h2) ] / (h + h1 + h2),     error = h^3 q'''/12               (2)
 *
 * the third divided difference of the positions and the error of the trapezoidal rule. Mean velocities, because v itself
 * changes its sign with every part where it does not respect a constraint (MDI section 9.1), which moves nothing. A
 * rotation's velocities are the body's own; that they do not commute gives h^3 (w x w')/12 besides. Errors of the
 * velocities are not part of this: they are of the same order in h, and so errors at the end stay proportional.
 *
 * (2) needs three parts of one smooth motion, without an impact or a located event among them; ss_pair_error says so. */
#include "step/step.h"
#include "system/system.h"

#include <string.h>

static double *row_of(double *past, const ss_sim *sim, int i) { return past + (size_t)i * (size_t)sim->model->n_v; }

void ss_estimate_note(ss_sim *sim, double tau, double fraction) {
  ss_control *c = &sim->control;
  const int n = sim->model->n_v;
  if (c->broken) c->known = 0;
  for (int i = SS_PAST - 1; i > 0; i--) {
    memcpy(row_of(sim->estimate.past, sim, i), row_of(sim->estimate.past, sim, i - 1), sizeof(double) * (size_t)n);
    c->size[i] = c->size[i - 1];
  }
  double *mean = row_of(sim->estimate.past, sim, 0), *change = row_of(sim->estimate.past, sim, SS_PAST);
  for (int i = 0; i < n; i++) {
    change[i] = fraction * sim->trial.delta[i];
    mean[i] = sim->state.v[i] - (1 - sim->trial.asked.gamma) * change[i];
  }
  c->size[0] = tau;
  c->known += c->known < SS_PAST;
  c->broken = sim->part.hit >= 0 || sim->part.ends != 0;
}

void ss_estimate_save(ss_sim *sim) {
  sim->saved.control = sim->control;
  memcpy(sim->saved.past, sim->estimate.past, sizeof(double) * (SS_PAST + 1) * (size_t)sim->model->n_v);
}

void ss_estimate_restore(ss_sim *sim) {
  sim->control = sim->saved.control;
  memcpy(sim->estimate.past, sim->saved.past, sizeof(double) * (SS_PAST + 1) * (size_t)sim->model->n_v);
}

const double *ss_last_change(const ss_sim *sim) { return row_of(sim->estimate.past, sim, SS_PAST); }

/* What a rotation of a body moves, per angle. */
static double gyration(const ss_body *body) {
  const double inertia = fmax(body->inertia.m[0][0], fmax(body->inertia.m[1][1], body->inertia.m[2][2]));
  return body->turns ? sqrt(inertia / body->mass) : 0;
}

static double larger(double a, double b) { return !(b <= a) ? b : a; } /* NaN stays */

double ss_distance_from_whole(const ss_sim *sim) {
  double largest = 0;
  for (int i = 0; sim->system && i < sim->model->n_q; i++)
    largest = larger(largest, fabs(sim->state.q[i] - sim->estimate.whole_q[i]) / sim->model->system->def.scale[i] *
                                  sim->model->length);
  for (int k = 0; k < sim->model->n_bodies; k++) {
    const ss_body *body = &sim->model->bodies[k];
    const ss_pose a = ss_pose_of(sim->state.q, k), b = ss_pose_of(sim->estimate.whole_q, k);
    const ss_quat turn = quat_multiply(quat_conjugate(a.orientation), b.orientation);
    const double angle = 2 * atan2(v3_norm(v3(turn.x, turn.y, turn.z)), fabs(turn.w));
    largest = larger(largest, v3_norm(v3_sub(a.position, b.position)));
    if (body->turns) largest = larger(largest, angle * gyration(body));
  }
  return largest;
}

/* Size of a shift of positions, given in velocity coordinates, as a length; skew times w x w1 turns bodies besides. */
static double length_of(const ss_sim *sim, const double *shift, double skew) {
  double largest = 0;
  for (int i = 0; sim->system && i < sim->model->n_v; i++)
    largest = larger(largest, fabs(shift[i]) / sim->model->system->def.scale[i] * sim->model->length);
  for (int k = 0; k < sim->model->n_bodies; k++) {
    ss_vec3 linear, angular, turn, before;
    ss_twist_of(sim->model, shift, k, &linear, &angular);
    largest = larger(largest, v3_norm(linear));
    if (!sim->model->bodies[k].turns) continue;
    ss_twist_of(sim->model, row_of(sim->estimate.past, sim, 0), k, &linear, &turn);
    ss_twist_of(sim->model, row_of(sim->estimate.past, sim, 1), k, &linear, &before);
    const double angle = v3_norm(angular) + skew * v3_norm(v3_cross(turn, before));
    largest = larger(largest, angle * gyration(&sim->model->bodies[k]));
  }
  return largest;
}

double ss_order_of(const ss_sim *sim) {
  if (sim->chosen.alpha != 0.5 || sim->chosen.gamma != 0.5) return 1;
  const ss_system *def = sim->system ? &sim->model->system->def : NULL;
  /* LIT Theorem 3.3, and a Jacobian that leaves something out */
  return def && ((def->mass && !def->constant_mass && !def->mass_at_midpoint) || def->approximate_jacobian) ? 1 : 2;
}

/* How many parts of one smooth motion it takes: 1 where v is as good as a mean velocity. */
static int parts_needed(const ss_sim *sim) { return sim->scheme->rows_at_midpoint ? (int)ss_order_of(sim) + 1 : 1; }

double ss_pair_error(const ss_sim *sim) {
  const ss_control *c = &sim->control;
  const int n = sim->model->n_v, parts = parts_needed(sim);
  const double h = c->size[0], h1 = c->size[1], h2 = c->size[2];
  const double *w = row_of(sim->estimate.past, sim, 0), *w1 = row_of(sim->estimate.past, sim, 1),
               *w2 = row_of(sim->estimate.past, sim, 2);
  const double *change = ss_last_change(sim);
  double *shift = sim->scratch.v;
  for (int i = 0; i < n; i++) {
    if (parts == 1) {
      shift[i] = h / 2 * change[i];
    } else {
      const double now = (w[i] - w1[i]) / (h + h1), before = parts == 3 ? (w1[i] - w2[i]) / (h1 + h2) : 0;
      shift[i] = parts == 3 ? h * h * h / 2 * (now - before) / (h + h1 + h2) : h * h * now;
    }
  }
  return length_of(sim, shift, parts == 3 ? h * h * h / 6 / (h + h1) : 0);
}

bool ss_pair_tells(const ss_sim *sim) { return sim->control.known >= parts_needed(sim); }

bool ss_pair_may_tell(const ss_sim *sim) {
  const ss_control *c = &sim->control;
  if (sim->options.estimate != SS_ESTIMATE_PAIR || (sim->chosen.alpha <= 0.5 && !sim->scheme->rows_at_midpoint))
    return false;
  return (c->broken ? 0 : c->known) >= parts_needed(sim) - 1;
}
