/* Automatic step size. A step is accepted where its error per unit of time is at most `tolerance`; errors at the end are then
 * proportional to the tolerance, for either order.
 *
 *     pair      a step is one part, up to its own size or to the first event before that. Its problem tells the error. The
 *               first step behind an event, of whose motion nothing is known yet, is one of halves.
 *     halves    a step is taken as a whole and in two halves, each with all its events; the halves are kept, and
 *               delta / ((2^p - 1) h) is their error per unit of time, p the order, delta the distance of the results
 *
 * Only positions count: an impact shortly before t + h in the one result and shortly after it in the other makes velocities
 * differ by a jump, which is no error.
 *
 * Steps change by a PI controller (Gustafsson), grow five times at most, and end on multiples of `largest_step`, so that a
 * run that stops there and goes on is the run that does not stop. A step that has no certified solution is rejected, too.
 *
 * A jump of velocities that is not located (events: [], a scheme that locates none, a shock that passes through closed
 * contacts) errs by the jump per unit of time, whatever the size of its step. Below 2^-20 of the largest step that is what
 * a large error means: such a step passes if its error itself is at most a 16th of what the largest step may err by.
 *
 * It fails where the smallest step, 2^-30 of the largest, does not do: where the tolerance is below what rounding leaves.
 * Observers hear nothing of what may be rejected: where there is something to hear, the accepted step is taken again.
 *
 * == How the error is known ==
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
 * (2) needs three parts of one smooth motion, without an impact or a located event among them; pair_error says so. */
#include "step/step.h"

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

static const double *last_change(const ss_sim *sim) { return row_of(sim->estimate.past, sim, SS_PAST); }

/* What a rotation of a body moves, per angle. */
static double gyration(const ss_body *body) {
  const double inertia = fmax(body->inertia.m[0][0], fmax(body->inertia.m[1][1], body->inertia.m[2][2]));
  return body->turns ? sqrt(inertia / body->mass) : 0;
}

static double larger(double a, double b) { return !(b <= a) ? b : a; } /* NaN stays */

static double distance_from_whole(const ss_sim *sim) {
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

static double order_of(const ss_sim *sim) {
  if (sim->chosen.alpha != 0.5 || sim->chosen.gamma != 0.5) return 1;
  const ss_system *def = sim->system ? &sim->model->system->def : NULL;
  /* LIT Theorem 3.3, and a Jacobian that leaves something out */
  return def && ((def->mass && !def->constant_mass && !def->mass_at_midpoint) || def->approximate_jacobian) ? 1 : 2;
}

/* How many parts of one smooth motion it takes: 1 where v is as good as a mean velocity. */
static int parts_needed(const ss_sim *sim) { return sim->scheme->rows_at_midpoint ? (int)order_of(sim) + 1 : 1; }

static double pair_error(const ss_sim *sim) {
  const ss_control *c = &sim->control;
  const int n = sim->model->n_v, parts = parts_needed(sim);
  const double h = c->size[0], h1 = c->size[1], h2 = c->size[2];
  const double *w = row_of(sim->estimate.past, sim, 0), *w1 = row_of(sim->estimate.past, sim, 1),
               *w2 = row_of(sim->estimate.past, sim, 2);
  const double *change = last_change(sim);
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

static bool pair_tells(const ss_sim *sim) { return sim->control.known >= parts_needed(sim); }

static bool pair_may_tell(const ss_sim *sim) {
  const ss_control *c = &sim->control;
  if (sim->options.estimate != SS_ESTIMATE_PAIR || (sim->chosen.alpha <= 0.5 && !sim->scheme->rows_at_midpoint))
    return false;
  return (c->broken ? 0 : c->known) >= parts_needed(sim) - 1;
}

/* ---- the size of a step ---- */

static const double MOST_GROWTH = 5, LEAST_GROWTH = 0.2, SAFETY = 0.9, PROPORTIONAL = 0.4, INTEGRAL = 0.7;
enum { SMALLEST_POWER = -30, ROUGH_POWER = -20, FIRST_SHARE = 16 };

/* Next multiple of the largest step, or the end of the run. */
static double next_stop(const ss_sim *sim) {
  const double largest = sim->options.largest_step, t = sim->state.t;
  const double stop = (floor(t / largest * (1 + 1e-15) + 1e-9) + 1) * largest;
  return stop >= sim->options.duration * (1 - 1e-12) ? sim->options.duration : stop;
}

/* Back to the start of the step, but what the solvers have done is counted. */
static void go_back(ss_sim *sim) {
  const ss_solves spent = sim->report.solves;
  ss_step_restore(sim);
  sim->report.solves = spent;
  ss_clear_impulses(sim);
}

/* From here to `end`, or with stops_at_events to where the first part ends. What the parts before were like is in the
 * past, as far as an impact that comes first asks for it. */
static ss_status advance(ss_sim *sim, double end, bool stops_at_events, bool *collided, ss_error *error) {
  sim->trial.asked.h = sim->control.size[0];
  memcpy(sim->trial.delta, last_change(sim), sizeof(double) * (size_t)sim->model->n_v);
  sim->step.stops_at_events = stops_at_events;
  return ss_step_advance(sim, end, collided, error);
}

/* The kept result: of one part, or of two halves. */
static ss_status take(ss_sim *sim, double end, bool pair, bool *collided, ss_error *error) {
  const double middle = sim->state.t + (end - sim->state.t) / 2;
  *collided = false;
  if (pair) return advance(sim, end, true, collided, error);
  SS_TRY(advance(sim, middle, false, collided, error));
  return advance(sim, end, false, collided, error);
}

/* Takes a step to `end`, or to an event before it, and tells its error; infinite where there is no certified step. *pair:
 * by the pair, if it tells. */
static ss_status try_step(ss_sim *sim, double end, bool *pair, bool *collided, double *length, ss_error *error) {
  sim->watch.quiet = true;
  sim->watch.kept_quiet = false;
  ss_status status = SS_OK;
  if (*pair) {
    status = take(sim, end, true, collided, error);
    *pair = status != SS_OK || pair_tells(sim);
    *length = status == SS_OK ? pair_error(sim) : HUGE_VAL;
    if (!*pair) go_back(sim);
  }
  if (!*pair) {
    status = advance(sim, end, false, collided, error);
    memcpy(sim->estimate.whole_q, sim->state.q, sizeof(double) * (size_t)sim->model->n_q);
    go_back(sim);
    if (status == SS_OK) status = take(sim, end, false, collided, error);
    *length = status == SS_OK ? distance_from_whole(sim) / (order_of(sim) == 2 ? 3 : 1) : HUGE_VAL;
  }
  sim->watch.quiet = false;
  if (!isfinite(*length)) *length = HUGE_VAL;
  return status == SS_ERROR_UNCERTIFIED ? SS_OK : status;
}

/* The controller's factor for the next step, after an accepted one with this error over the tolerance. */
static double growth(const ss_sim *sim, double error_ratio) {
  const double p = order_of(sim), now = fmax(error_ratio, 1e-6);
  const double factor = SAFETY * pow(now, -INTEGRAL / p) * pow(sim->control.last_ratio, PROPORTIONAL / p);
  return fmin(fmax(factor, LEAST_GROWTH), MOST_GROWTH);
}

/* Whether a step of this size passes for what is in it, a jump that no event ends, although it errs by too much per unit
 * of time: it cannot but do so. What it errs by must be small all the same. */
static bool passes_as_rough(const ss_sim *sim, double size, double length) {
  const double largest = sim->options.largest_step;
  return size <= ldexp(largest, ROUGH_POWER) && length <= sim->options.tolerance * largest / FIRST_SHARE;
}

static void accept(ss_sim *sim, double h, double wanted, double error_ratio, bool rejected_before) {
  ss_control *c = &sim->control;
  const bool rough = error_ratio > 1;
  c->broken |= rough;
  double factor = rough ? MOST_GROWTH : growth(sim, error_ratio);
  if (rejected_before && !rough) factor = fmin(factor, 1);
  /* a step that was cut at a stop or by an event says nothing against the longer one that was wanted */
  c->next = fmin(fmax(h * factor, error_ratio < 1 && h < wanted ? wanted : 0), sim->options.largest_step);
  c->last_ratio = fmin(fmax(error_ratio, 1e-2), 1);
}

static void count(ss_sim *sim, double size) {
  ss_steps *steps = &sim->report.steps;
  steps->accepted++;
  if (steps->smallest == 0 || size < steps->smallest) steps->smallest = size;
  steps->largest = fmax(steps->largest, size);
}

void ss_automatic_start(ss_sim *sim) {
  sim->control = (ss_control){.next = sim->options.largest_step / FIRST_SHARE / 2, .last_ratio = 1};
}

/* Where a step that wants to be `size` long ends: no stop is passed, and none is left for a tiny step. */
static double end_of_step(const ss_sim *sim, double size, double stop) {
  const double start = sim->state.t, left = stop - start;
  return size >= 0.999 * left ? stop : size > left / 2 ? start + left / 2 : start + size;
}

static ss_status cannot(const ss_sim *sim, double h, double ratio, ss_error *error) {
  if (!isfinite(ratio)) return SS_ERROR_UNCERTIFIED; /* with the message of the step that failed */
  return ss_fail(error, SS_ERROR_UNCERTIFIED,
                 "the tolerance %g cannot be met at t = %.17g: a step of %.3g still errs by %.3g per unit of time",
                 sim->options.tolerance, sim->state.t, h, ratio * sim->options.tolerance);
}

/* So many steps within the largest one have no end in sight. */
static ss_status check_number(ss_sim *sim, double stop, double size, ss_error *error) {
  enum { MOST_STEPS = 5000 };
  sim->control.since_stop = sim->state.t < stop ? sim->control.since_stop + 1 : 0;
  if (sim->control.since_stop <= MOST_STEPS) return SS_OK;
  return ss_fail(
      error, SS_ERROR_UNCERTIFIED,
      "the tolerance %g asks for more than %d steps within largest_step = %.3g: they are of %.2g at t = %.9g; "
      "allow a larger tolerance, take a scheme of second order (trapezoidal) or a linearly implicit one for "
      "stiff forces, or set a smaller largest_step",
      sim->options.tolerance, MOST_STEPS, sim->options.largest_step, size, sim->state.t);
}

ss_status ss_step_automatic(ss_sim *sim, bool *collided, ss_error *error) {
  const double start = sim->state.t, stop = next_stop(sim), smallest = ldexp(sim->options.largest_step, SMALLEST_POWER);
  double wanted = sim->control.next;
  bool pair = pair_may_tell(sim);
  for (bool rejected = false;; rejected = true) {
    const double end = end_of_step(sim, pair ? wanted : 2 * wanted, stop);
    double length;
    SS_TRY(try_step(sim, end, &pair, collided, &length, error));
    const double size = isfinite(length) ? sim->state.t - start : end - start, h = pair ? size : size / 2;
    const double ratio = length / (size * sim->options.tolerance);
    if (ratio <= 1 || passes_as_rough(sim, size, length)) {
      if (sim->watch.kept_quiet) {
        go_back(sim);
        SS_TRY(take(sim, end, pair, collided, error));
      }
      accept(sim, h, wanted, ratio, rejected);
      count(sim, size);
      return check_number(sim, stop, size, error);
    }
    go_back(sim);
    sim->report.steps.rejected++;
    sim->saved.report.steps.rejected++;
    const double factor = isfinite(ratio) ? SAFETY * pow(ratio, -1 / order_of(sim)) : 0.25;
    wanted = h * fmin(fmax(factor, LEAST_GROWTH), SAFETY);
    if (wanted < smallest || !(start + wanted / 2 > start)) return cannot(sim, h, ratio, error);
  }
}
