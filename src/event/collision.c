/* Collisions inside a step (LIT section 6, MATH section 2): for every watched contact the earliest time at which its
 * gap, followed along the step's trajectory, goes from positive to negative.
 *
 * The gap is known with its rate at both ends, which gives a cubic; the cubic is trusted where it predicts the gap and its
 * rate in the middle, else the interval is halved, so that a thin body that passes through another within the step is caught
 * too. Intervals are skipped where the gaps at their ends exceed what the relative speed can close. The root of the
 * cubic is polished on the gap itself. */
#include "step/step.h"

typedef struct sample {
  double tau, gap, rate;
} sample;

typedef struct track {
  ss_sim *sim;
  const ss_contact *contact;
  double h, speed; /* speed: the gap cannot change faster */
  double level;    /* gap that counts as zero: below it where the contact starts at the surface, or under it */
  int *halvings;   /* how many more there may be */
} track;

/* A body may be thinner than its way in the step by 2^DEPTH; kinks cost about DEPTH halvings each. */
enum { DEPTH = 40, MOST_HALVINGS = 2000 };

static sample look(const track *t, double tau) {
  ss_sim *sim = t->sim;
  const double fraction = tau / t->h;
  const ss_contact *c = t->contact;
  ss_contact_place place;
  sim->step.looks++;
  sim->mechanics->place_on_path(sim, c, sim->trial.delta, tau, fraction, &place);
  sim->mechanics->path_velocity(sim, c, fraction);
  return (sample){tau, place.at.gap - t->level, ss_gap_rate(sim, c, &place, sim->scratch.v)};
}

/* Cubic Hermite through two samples, x in [0, 1]. */
static double cubic(const sample *a, const sample *b, double x) {
  const double width = b->tau - a->tau, y = 1 - x;
  return y * y * ((1 + 2 * x) * a->gap + x * width * a->rate) + x * x * ((3 - 2 * x) * b->gap - y * width * b->rate);
}

/* Its derivative in the middle, with respect to x. */
static double cubic_slope(const sample *a, const sample *b) {
  return 1.5 * (b->gap - a->gap) - (b->tau - a->tau) * (a->rate + b->rate) / 4;
}

/* Where the cubic's derivative vanishes inside (0, 1), in ascending order; how many. Where it does not vanish, where it is least. */
static int stationary(const sample *a, const sample *b, double at[2]) {
  const double width = b->tau - a->tau, d = b->gap - a->gap;
  const double c1 = width * a->rate, c2 = 3 * d - width * (2 * a->rate + b->rate);
  const double c3 = width * (a->rate + b->rate) - 2 * d; /* gap = .. + c1 x + c2 x^2 + c3 x^3 */
  const double root = sqrt(fmax(c2 * c2 - 3 * c3 * c1, 0));
  const double s = -(c2 + (c2 >= 0 ? root : -root));
  double x[2] = {c3 != 0 ? s / (3 * c3) : -1, s != 0 ? c1 / s : -1};
  if (x[0] > x[1]) {
    const double swap = x[0];
    x[0] = x[1];
    x[1] = swap;
  }
  int n = 0;
  for (int i = 0; i < 2; i++)
    if (x[i] > 0 && x[i] < 1) at[n++] = x[i];
  return n;
}

#define NEVER ((double)INFINITY)

/* First x at which the cubic comes down through zero; NEVER: it does not. */
static double first_descent(const sample *a, const sample *b) {
  double knots[4] = {0};
  const int n = 1 + stationary(a, b, knots + 1);
  knots[n] = 1;
  for (int i = 0; i < n; i++) {
    double low = knots[i], high = knots[i + 1];
    if (!(cubic(a, b, low) > 0) || cubic(a, b, high) > 0) continue;
    for (int k = 0; k < 60 && high - low > 1e-16; k++) {
      const double middle = (low + high) / 2;
      if (cubic(a, b, middle) > 0)
        low = middle;
      else
        high = middle;
    }
    return high;
  }
  return NEVER;
}

/* Root of the gap itself between a (positive) and b (not positive): regula falsi, Illinois variant, with a bisection now
 * and then for gaps of very different size. */
static double polish(const track *t, sample a, sample b) {
  int side = 0;
  for (int k = 1; k <= 200; k++) {
    if (b.gap == 0 || b.tau - a.tau <= 1e-16 * t->h) break;
    double tau = a.tau + (b.tau - a.tau) * a.gap / (a.gap - b.gap);
    if (k % 4 == 0 || !(tau > a.tau) || !(tau < b.tau)) tau = (a.tau + b.tau) / 2;
    if (!(tau > a.tau) || !(tau < b.tau)) break;
    sample m = look(t, tau);
    if (m.gap > 0) {
      if (side == 1) b.gap /= 2;
      a = m;
      side = 1;
    } else {
      if (side == -1) a.gap /= 2;
      b = m;
      side = -1;
    }
  }
  return b.tau;
}

/* A cubic's root between samples a (positive) and b, confirmed on the gap: with a sample on the other side of zero, the nearest of a few;
 * NEVER: none. */
static double confirm(const track *t, sample a, sample b) {
  static const double margins[] = {1e-6, 1e-3, 0.25, 1};
  const double x = first_descent(&a, &b);
  if (x == NEVER) return NEVER;
  const double width = b.tau - a.tau;
  const sample there = look(t, a.tau + x * width);
  for (int k = 0; k < 4; k++) {
    const double before = there.tau - margins[k] * width, after = there.tau + margins[k] * width;
    if (there.gap > 0) {
      const sample high = after < b.tau ? look(t, after) : b;
      if (high.gap <= 0) return polish(t, there, high);
    } else {
      const sample low = before > a.tau ? look(t, before) : a;
      if (low.gap > 0) return polish(t, low, there);
    }
  }
  return NEVER;
}

/* The point of a feature may travel over the shapes (where the line of one cylinder crosses the rim of another), and its gap then changes
 * by more than the rate. What is missing is the same along a short interval. */
static void correct_rates(sample *a, sample *b) {
  const double missing = (b->gap - a->gap) / (b->tau - a->tau) - (a->rate + b->rate) / 2;
  a->rate += missing;
  b->rate += missing;
}

static double search(const track *t, sample a, sample b, int depth) {
  const double width = b.tau - a.tau;
  if (a.gap > 0 && b.gap > 0 && a.gap + b.gap >= t->speed * width) return NEVER;
  const sample middle = look(t, a.tau + width / 2);
  /* The slope counts too: a gap that goes down to a thin body and up again behind it has a kink, and where the one side
   * is three times as long as the other the cubic meets its middle all the same. */
  const double off = fabs(middle.gap - cubic(&a, &b, 0.5));
  const double bent = fabs(width * middle.rate - cubic_slope(&a, &b)) / 4;
  const double scale = fmax(fabs(middle.gap), fmin(fabs(a.gap), fabs(b.gap)));
  const double most = 0.05 * scale + 1e-12 * t->sim->model->length;
  if (fmax(off, bent) <= most || depth == 0 || *t->halvings == 0) return confirm(t, a, b);
  if (off <= most && width * fabs(middle.rate - (a.rate + b.rate) / 2) / 4 <= most) {
    correct_rates(&a, &b);
    return confirm(t, a, b);
  }
  --*t->halvings;
  const double first = search(t, a, middle, depth - 1);
  return first < NEVER ? first : search(t, middle, b, depth - 1);
}

double ss_first_collision(ss_sim *sim, bool locate_all) {
  const double h = sim->trial.asked.h;
  ss_contact *hit = NULL;
  ss_part *part = &sim->part;
  part->end = h;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    c->lands_at = INFINITY;
    if (c->active) continue;
    sim->mechanics->path_velocity(sim, c, 1);
    int halvings = MOST_HALVINGS;
    track t = {sim, c, h, sim->mechanics->closing_speed(sim, c), 0, &halvings};
    if (c->at.gap > t.speed * h) continue;
    if (c->at.gap <= 0) t.level = c->at.gap - 1e-17 * sim->model->length; /* separates: where it comes back to */
    const sample start = {0, c->at.gap - t.level, c->rate}, end = look(&t, h);
    const double tau = search(&t, start, end, DEPTH);
    if (tau == NEVER) continue;
    if (sim->crowd.landing_speed > 0 && ss_lands_gently(sim, c, look(&t, tau).rate)) {
      c->lands_at = tau;
      if (!locate_all) continue;
    }
    if (tau >= part->end) continue;
    part->end = tau;
    hit = c;
  }
  part->hit = hit ? (int)(hit - sim->trial.contacts) : -1;
  if (hit && part->end < 1e-6 * h) hit->hops++; /* it may have been here before: time must go on */
  return part->end;
}

/* Where the part ends: at its first collision, or as a whole. The velocity at a collision is interpolated
 * between the part's ends (LIT section 6), which is wrong by tau (h - tau)/2 times its second derivative: second order,
 * with a factor that depends on where in the step the collision falls. Where transitions are located, too, the part is
 * solved again for little more than its own length, and the factor goes. */
ss_status ss_locate_collision(ss_sim *sim, ss_error *error) {
  static const double margins[] = {1. / 1024, 1. / 64}, instant = 1e-6;
  ss_part *part = &sim->part;
  SS_TRY(ss_land(sim, error));
  const double whole = sim->trial.asked.h, first = part->end;
  bool refines = part->hit >= 0 && ss_locates_transitions(sim) && first >= instant * whole;
  for (int i = 0; i < 2 && refines && first * (1 + margins[i]) < whole; i++) {
    if (i == 0) ss_trial_keep(sim);
    SS_TRY(ss_attempt_gently(sim, first * (1 + margins[i]), error));
    refines = sim->trial.certified;
    if (!refines) ss_trial_back(sim);
    ss_first_collision(sim, true);
    refines &= part->hit < 0;
  }
  part->refined = sim->trial.asked.h < whole;
  if (part->refined) ss_trial_drop(sim);
  if (part->end < sim->trial.asked.h && !part->collides && ss_crowd_is_dense(sim, sim->trial.asked.h))
    ss_part_begin(sim, true); /* nothing is located in so dense a crowd */
  return SS_OK;
}
