/* Automatic step size. The step from t to t + h is taken twice, as a whole and in two halves, each with all its events
 * located. The halves are kept; how far the two results are apart tells their error:
 *
 *     delta = max over bodies of |x_whole - x_halves| and of the angle between orientations times the radius of gyration
 *     error per unit of time = delta / ((2^p - 1) h),    p = 2 for alpha = gamma = 1/2, else 1
 *
 * The step is accepted where that is at most `tolerance`. Errors at the end are then proportional to the tolerance, for
 * either order. Only positions are compared: an impact shortly before t + h in the one result and shortly after it in the
 * other makes velocities differ by a jump, which is no error. A companion of first order in the same step would cost as
 * many problems (the rows of its constraints are others) and would say nothing about the times of events.
 *
 * Steps change by a PI controller (Gustafsson), grow five times at most, and end on multiples of `largest_step`, so that a
 * run that stops there and goes on is the run that does not stop. A step that has no certified solution is rejected, too.
 * It fails where the tolerance is not met even by the smallest step, 2^-30 of the largest: at a corner of an explicit
 * force, say, or where the tolerance is below what rounding leaves. Observers hear nothing of what may be rejected: where
 * there is something to hear, the accepted halves are taken once more. */
#include "step/workspace.h"
#include "system/system.h"

#include <string.h>

static const double MOST_GROWTH = 5, LEAST_GROWTH = 0.2, SAFETY = 0.9, PROPORTIONAL = 0.4, INTEGRAL = 0.7;
enum { SMALLEST_POWER = -30, FIRST_SHARE = 16 };

static double order_of(const ss_sim *sim) { return sim->alpha == 0.5 && sim->gamma == 0.5 ? 2 : 1; }

/* Next multiple of the largest step, or the end of the run. */
static double next_stop(const ss_sim *sim) {
  const double largest = sim->options.largest_step, t = sim->state.t;
  const double stop = (floor(t / largest * (1 + 1e-15) + 1e-9) + 1) * largest;
  return stop >= sim->options.duration * (1 - 1e-12) ? sim->options.duration : stop;
}

/* How far positions are from those of the whole step, as a length; a system's coordinates count by their scales. */
static double distance_from_whole(const ss_sim *sim) {
  double largest = 0;
  for (int i = 0; sim->system && i < sim->model->n_q; i++) {
    const double error =
        fabs(sim->state.q[i] - sim->whole_q[i]) / sim->model->system->def.scale[i] * sim->model->length;
    if (!(error <= largest)) largest = error;
  }
  for (int k = 0; k < sim->model->n_bodies; k++) {
    const ss_body *body = &sim->model->bodies[k];
    const ss_pose a = ss_pose_of(sim->state.q, k), b = ss_pose_of(sim->whole_q, k);
    double error = v3_norm(v3_sub(a.position, b.position));
    if (body->turns) {
      const ss_quat turn = quat_multiply(quat_conjugate(a.orientation), b.orientation);
      const double angle = 2 * atan2(v3_norm(v3(turn.x, turn.y, turn.z)), fabs(turn.w));
      const double inertia = fmax(body->inertia.m[0][0], fmax(body->inertia.m[1][1], body->inertia.m[2][2]));
      error = fmax(error, angle * sqrt(inertia / body->mass));
    }
    if (!(error <= largest)) largest = error; /* NaN stays */
  }
  return largest;
}

/* Back to the start of the step, but what the solvers have done is counted. */
static void go_back(ss_sim *sim) {
  const ss_solves spent = sim->report.solves;
  ss_step_restore(sim);
  sim->report.solves = spent;
  memset(sim->joint_impulse, 0, sizeof(double) * (size_t)sim->model->n_joint_rows);
}

static ss_status halves(ss_sim *sim, double end, bool *collided, ss_error *error) {
  const double middle = sim->state.t + (end - sim->state.t) / 2;
  *collided = false;
  sim->last_attempt = 0; /* of the step before, which a resumed run does not know */
  const ss_status status = ss_step_advance(sim, middle, collided, error);
  return status == SS_OK ? ss_step_advance(sim, end, collided, error) : status;
}

/* Takes the step to `end` twice; *error_ratio: its error over the tolerance, infinite where there is no certified step. */
static ss_status try_step(ss_sim *sim, double end, bool *collided, double *error_ratio, ss_error *error) {
  const double h = end - sim->state.t;
  sim->quiet = true;
  sim->kept_quiet = false;
  sim->last_attempt = 0;
  ss_status status = ss_step_advance(sim, end, collided, error);
  memcpy(sim->whole_q, sim->state.q, sizeof(double) * (size_t)sim->model->n_q);
  go_back(sim);
  if (status == SS_OK) status = halves(sim, end, collided, error);
  sim->quiet = false;
  const double delta = status == SS_OK ? distance_from_whole(sim) : HUGE_VAL;
  *error_ratio = delta / ((order_of(sim) == 2 ? 3 : 1) * h * sim->options.tolerance);
  if (!isfinite(*error_ratio)) *error_ratio = HUGE_VAL;
  return status == SS_ERROR_UNCERTIFIED ? SS_OK : status;
}

/* The controller's factor for the next step, after an accepted one with this error over the tolerance. */
static double growth(const ss_sim *sim, double error_ratio) {
  const double p = order_of(sim), now = fmax(error_ratio, 1e-6);
  const double factor = SAFETY * pow(now, -INTEGRAL / p) * pow(sim->control.last_ratio, PROPORTIONAL / p);
  return fmin(fmax(factor, LEAST_GROWTH), MOST_GROWTH);
}

static void accept(ss_sim *sim, double h, double wanted, double error_ratio, bool rejected_before) {
  ss_control *c = &sim->control;
  double factor = growth(sim, error_ratio);
  if (rejected_before) factor = fmin(factor, 1);
  /* a step that was cut at a stop says nothing against the longer one that was wanted */
  c->next = fmin(fmax(h * factor, error_ratio < 1 && h < wanted ? wanted : 0), sim->options.largest_step);
  c->last_ratio = fmax(error_ratio, 1e-2);
  ss_steps *steps = &sim->report.steps;
  steps->accepted++;
  if (steps->smallest == 0 || h < steps->smallest) steps->smallest = h;
  steps->largest = fmax(steps->largest, h);
}

void ss_automatic_start(ss_sim *sim) {
  sim->control = (ss_control){.next = sim->options.largest_step / FIRST_SHARE, .last_ratio = 1};
}

ss_status ss_step_automatic(ss_sim *sim, bool *collided, ss_error *error) {
  const double start = sim->state.t, stop = next_stop(sim), smallest = ldexp(sim->options.largest_step, SMALLEST_POWER);
  double wanted = sim->control.next;
  for (bool rejected = false;; rejected = true) {
    const double left = stop - start;
    const double end = wanted >= 0.999 * left ? stop : wanted > left / 2 ? start + left / 2 : start + wanted;
    const double h = end - start;
    double ratio;
    const ss_status status = try_step(sim, end, collided, &ratio, error);
    if (status != SS_OK) return status;
    if (ratio <= 1) {
      const bool told = sim->kept_quiet;
      if (told) {
        go_back(sim);
        const ss_status again = halves(sim, end, collided, error);
        if (again != SS_OK) return again;
      }
      accept(sim, h, wanted, ratio, rejected);
      return SS_OK;
    }
    go_back(sim);
    sim->report.steps.rejected++;
    sim->report_saved.steps.rejected++;
    const double factor = isfinite(ratio) ? SAFETY * pow(ratio, -1 / order_of(sim)) : 0.25;
    wanted = h * fmin(fmax(factor, LEAST_GROWTH), SAFETY);
    if (wanted >= smallest && start + wanted / 2 > start) continue;
    if (isfinite(ratio))
      return ss_fail(error, SS_ERROR_UNCERTIFIED,
                     "the tolerance %g cannot be met at t = %.17g: a step of %.3g still errs by %.3g per unit of time",
                     sim->options.tolerance, start, h, ratio * sim->options.tolerance);
    return SS_ERROR_UNCERTIFIED; /* with the message of the step that failed */
  }
}
