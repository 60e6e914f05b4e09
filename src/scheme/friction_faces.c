/* Faces of a fixed friction polygon (MDI section 4: the active friction facets), and where they change.
 *
 * Friction minimises f . u over the polygon (u: slip, in the scaled plane of scheme/friction.c). So
 *
 *     one corner carries     u lies inside the sector of directions to which this corner is the most opposed one;
 *                            the sectors' borders are normal to the facets
 *     two corners carry      u lies on a border: the force is anywhere on the facet, such that u stays there
 *     all of them            u = 0: the contact sticks
 *
 * The force is discontinuous where u meets a border, like Coulomb friction where slip ends: across the border, corners on
 * the far side of the facet drive u back. The law is monotone, so that u either passes through, because it is driven
 * harder than a whole facet can hold, or stays on the border; it does not chatter. It leaves a border where the force
 * has come to the end of the facet, and there the force is continuous. Meeting a border is therefore located like an
 * arrest, leaving it like a release (event/transition.c), both along the facet instead of along the slip.
 *
 * The square of a pyramid has facets across its axes; with moments it is a cube in as many dimensions as there are rows:
 * every row on its own.
 *
 * A face is a number, 0 where the contact sticks or does not carry:
 *
 *     polygon   1 + 2 j: corner j;  2 + 2 j: corners j and j + 1
 *     pyramid   1 + the sum of 3^(k-1) times 0 (held), 1 or 2 (slip along, against row k) */
#include "scheme/scheme.h"

static const double two_pi = 6.283185307179586;

static bool is_box(const ss_sim *sim, const ss_contact *c) { return ss_friction_cone(sim, c) == SS_CONE_PYRAMID; }

/* Angle of (x, y) in sectors, 0 to `directions`. */
static double in_sectors(double x, double y, int directions) {
  const double a = atan2(y, x) / two_pi * directions;
  return a < 0 ? a + directions : a;
}

/* Where the normal of a polygon's facet points, in sectors. */
static double middle_of(int face) {
  const int first = face / 2 - 1;
  return first + 0.5;
}

static int digit(int face, int row) {
  int rest = face - 1;
  for (int k = 1; k < row; k++) rest /= 3;
  return rest % 3;
}

int ss_face_of_slip(const ss_sim *sim, const ss_contact *c, const double *w) {
  const double still = 1e-9 * sim->part.speed_bound;
  if (is_box(sim, c)) {
    int face = 0;
    for (int k = c->n_rows - 1; k >= 1; k--) face = 3 * face + (fabs(w[k]) <= still ? 0 : w[k] > 0 ? 1 : 2);
    return face + 1;
  }
  const int n = sim->options.directions;
  const double a = in_sectors(-w[1], -w[2], n), size = hypot(w[1], w[2]);
  const int facet = (int)floor(a) % n, corner = (int)floor(a + 0.5) % n;
  if (size <= still) return 0;
  return size * fabs(sin((a - floor(a) - 0.5) * two_pi / n)) <= still ? 2 + 2 * facet : 1 + 2 * corner;
}

bool ss_face_holds(const ss_sim *sim, const ss_contact *c, int face) {
  if (face == 0) return false;
  if (!is_box(sim, c)) return face % 2 == 0;
  for (int k = 1; k < c->n_rows; k++)
    if (digit(face, k) == 0) return true;
  return false;
}

/* Directions in which the last part's face held the slip, in the space of the friction rows, each of length one. */
static int held_directions(const ss_sim *sim, const ss_contact *c, double out[SS_CONTACT_ROWS][SS_CONTACT_ROWS]) {
  int n = 0;
  if (c->last_face == 0) return 0;
  if (is_box(sim, c)) {
    for (int k = 1; k < c->n_rows; k++) {
      if (digit(c->last_face, k) != 0) continue;
      for (int i = 1; i < c->n_rows; i++) out[n][i] = i == k;
      n++;
    }
  } else if (c->last_face % 2 == 0) {
    const double angle = middle_of(c->last_face) * two_pi / sim->options.directions;
    out[0][1] = -sin(angle);
    out[0][2] = cos(angle);
    n = 1;
  }
  return n;
}

double ss_face_ratio(const ss_sim *sim, const ss_contact *c) {
  const double limit = c->mu * c->impulse[0];
  if (is_box(sim, c)) {
    double largest = 0;
    for (int k = 1; k < c->n_rows; k++)
      if (c->face == 0 ? k < c->n_forces : digit(c->face, k) == 0) largest = fmax(largest, fabs(c->impulse[k]));
    return largest / limit;
  }
  const int n = sim->options.directions;
  const double x = c->impulse[1], y = c->impulse[2];
  if (c->face == 0) { /* the polygon's own norm */
    const double a = in_sectors(x, y, n);
    return hypot(x, y) * cos((a - floor(a) - 0.5) * two_pi / n) / cos(two_pi / n / 2) / limit;
  }
  if (c->face % 2 == 1) return 1;
  const double angle = middle_of(c->face) * two_pi / n;
  return fabs(y * cos(angle) - x * sin(angle)) / sin(two_pi / n / 2) / limit;
}

bool ss_face_let_go(const ss_sim *sim, const ss_contact *c) {
  if (c->stuck || c->face == 0 || !ss_face_holds(sim, c, c->last_face)) return false;
  if (!is_box(sim, c)) return (c->face - c->last_face) % sim->options.directions != 0; /* of the same line */
  for (int k = 1; k < c->n_rows; k++)
    if (digit(c->last_face, k) == 0 && digit(c->face, k) != 0) return true;
  return false;
}

void ss_face_keep_velocity(const ss_sim *sim, const ss_contact *c, double share, double too_fast, double *offset) {
  double held[SS_CONTACT_ROWS][SS_CONTACT_ROWS], slip[SS_CONTACT_ROWS];
  const int n = held_directions(sim, c, held);
  if (n == 0) return;
  ss_friction_velocities(sim, c, sim->state.t, sim->state.q, sim->state.v, slip);
  for (int m = 0; m < n; m++) {
    double along = 0;
    for (int k = 1; k < c->n_rows; k++) along += held[m][k] * slip[k];
    if (fabs(along) > too_fast) continue;
    for (int k = 1; k < c->n_rows; k++) offset[k] -= share * along * held[m][k];
  }
}

/* What is left of the distance from the border at `angle`, seen from within (side 1: the border lies ahead, -1: behind). */
static double distance(const double *u, double angle, int side) {
  return side * (u[2] * cos(angle) - u[1] * sin(angle)); /* u is opposed to the corner's direction */
}

static double sector_left(const ss_sim *sim, const ss_contact *c, const double *before, const double *after) {
  const double still = 1e-10 * sim->part.speed_bound, sector = two_pi / sim->options.directions;
  const double corner = floor(in_sectors(-before[1], -before[2], sim->options.directions) + 0.5);
  double least = 1;
  for (int side = -1; side <= 1; side += 2) {
    double border = corner + side * 0.5, angle;
    if (c->last_face > 0 && c->last_face % 2 == 0)
      border = middle_of(c->last_face) + side; /* beyond the sectors next to it */
    else if (distance(before, border * sector, side) <= still)
      border += side;
    angle = border * sector;
    const double start = distance(before, angle, side);
    if (start > still) least = fmin(least, distance(after, angle, side) / start);
  }
  return least;
}

double ss_face_left(const ss_sim *sim, const ss_contact *c, const double *v, const double *v_end) {
  const double still = 1e-10 * sim->part.speed_bound;
  double before[SS_CONTACT_ROWS], after[SS_CONTACT_ROWS], least = 1;
  ss_friction_velocities(sim, c, sim->state.t, sim->state.q, v, before);
  ss_friction_velocities(sim, c, sim->state.t + sim->trial.h, sim->trial.q_end, v_end, after);
  if (!is_box(sim, c)) return c->was_stuck ? 1 : sector_left(sim, c, before, after);
  for (int k = 1; k < c->n_rows; k++) {
    const bool held = c->last_face > 0 ? digit(c->last_face, k) == 0 : c->was_stuck && k < c->n_forces;
    if (!held && fabs(before[k]) > still) least = fmin(least, after[k] / before[k]);
  }
  return least;
}
