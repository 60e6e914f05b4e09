/* Faces of a friction set that does not turn (MDI section 4: the active friction facets), and where they change.
 *
 * Friction minimises f . u over the hull of the set's corners (u: the velocities that it opposes, in the scaled space of
 * scheme/friction.c: slip, and where there are moments, spin and rolling). So
 *
 *     one corner carries     u lies inside the region of velocities to which this corner is the most opposed one;
 *                            the regions' borders are normal to the edges
 *     several carry          u lies on a border: the force is anywhere on their face, such that u stays there
 *     all of them            u = 0: the contact sticks
 *
 * The force is discontinuous where u meets a border, like Coulomb friction where slip ends: across the border, corners on
 * the far side of the face drive u back. The law is monotone, so that u either passes through, because it is driven
 * harder than a whole face can hold, or stays on the border; it does not chatter. It leaves a border where the force
 * has come to the end of the face, and there the force is continuous. Meeting a border is therefore located like an
 * arrest, leaving it like a release (event/transition.c), both along the face instead of along the slip.
 *
 * The square of a pyramid has facets across its axes; with moments it is a cube in as many dimensions as there are rows:
 * every row on its own. Fixed polygons and sets by generators have a list of corners, the origin among them (generators need
 * not surround it).
 *
 * A face is a number, 0 where the contact sticks or does not carry:
 *
 *     pyramid   1 + the sum of 3^(k-1) times 0 (held), 1 or 2 (slip along, against row k)
 *     corners   those of them that carry, up to as many as are affinely independent: 1 + their numbers, as digits; the face is
 *               all of the set that lies in their affine hull */
#include "scheme/scheme.h"

enum { TANGENTS = SS_CONTACT_ROWS - 1, BASE = 2048 }; /* more than a polygon or a list of generators has corners */

static const double two_pi = 6.283185307179586;
static const double flat = 1e-9; /* what corners of one face may be off it; they are about 1 */

static bool is_box(const ss_sim *sim, const ss_contact *c) { return ss_friction_cone(sim, c) == SS_CONE_PYRAMID; }

/* ---- pyramids ---- */

static int digit(int64_t face, int row) {
  int64_t rest = face - 1;
  for (int k = 1; k < row; k++) rest /= 3;
  return (int)(rest % 3);
}

static int64_t box_face(const ss_contact *c, const double *w, double still) {
  int64_t face = 0;
  for (int k = c->n_rows - 1; k >= 1; k--) face = 3 * face + (fabs(w[k]) <= still ? 0 : w[k] > 0 ? 1 : 2);
  return face + 1;
}

static double box_ratio(const ss_contact *c, double limit) {
  double largest = 0;
  for (int k = 1; k < c->n_rows; k++)
    if (c->face == 0 ? k < c->n_forces : digit(c->face, k) == 0) largest = fmax(largest, fabs(c->impulse[k]));
  return largest / limit;
}

static double box_left(const ss_contact *c, const double *before, const double *after, double still) {
  double least = 1;
  for (int k = 1; k < c->n_rows; k++) {
    const bool held = c->last_face > 0 ? digit(c->last_face, k) == 0 : c->was_stuck && k < c->n_forces;
    if (!held && fabs(before[k]) > still) least = fmin(least, after[k] / before[k]);
  }
  return least;
}

/* ---- sets by their corners ---- */

/* Vectors have a component for each friction row. */
typedef struct corner_set {
  int rows, n;           /* n corners, and the origin as number n */
  const double *corners; /* [n][rows]; NULL: a regular polygon */
} corner_set;

static corner_set set_of(const ss_sim *sim, const ss_contact *c) {
  if (ss_friction_cone(sim, c) != SS_CONE_GENERATED) return (corner_set){2, sim->options.directions, NULL};
  const ss_friction_table *table = ss_friction_corners(sim, c);
  return (corner_set){table->n_rows, table->n, table->corners};
}

static void corner(const corner_set *s, int i, double *out) {
  const double angle = two_pi * i / s->n;
  for (int k = 0; k < s->rows; k++)
    out[k] = i == s->n ? 0 : s->corners ? s->corners[i * s->rows + k] : k == 0 ? cos(angle) : sin(angle);
}

static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

/* How much corner i is opposed to velocities w, and how far it is from corner j. */
static double opposed(const corner_set *s, int i, const double *w) {
  double x[TANGENTS];
  corner(s, i, x);
  return -dot(x, w, s->rows);
}

static double apart(const corner_set *s, int i, int j) {
  double a[TANGENTS], b[TANGENTS];
  corner(s, i, a);
  corner(s, j, b);
  for (int k = 0; k < s->rows; k++) a[k] -= b[k];
  return sqrt(dot(a, a, s->rows));
}

/* A face: one of its corners, and orthonormal edges from there that span it. */
typedef struct face {
  int first, n;
  double edge[TANGENTS][TANGENTS];
} face;

/* Corner i from the first one, without its part along the edges; its size. */
static double beyond(const corner_set *s, const face *f, int i, double *out) {
  double first[TANGENTS];
  corner(s, i, out);
  corner(s, f->first, first);
  for (int k = 0; k < s->rows; k++) out[k] -= first[k];
  for (int pass = 0; pass < 2; pass++)
    for (int e = 0; e < f->n; e++) {
      const double along = dot(out, f->edge[e], s->rows);
      for (int k = 0; k < s->rows; k++) out[k] -= along * f->edge[e][k];
    }
  return sqrt(dot(out, out, s->rows));
}

static bool lies_in(const corner_set *s, const face *f, int i) {
  double x[TANGENTS];
  return beyond(s, f, i, x) <= flat;
}

/* Widens the face by corner i; whether that was needed. */
static bool widen(const corner_set *s, face *f, int i) {
  double x[TANGENTS];
  const double size = beyond(s, f, i, x);
  if (!(size > flat) || f->n == s->rows) return false;
  for (int k = 0; k < s->rows; k++) f->edge[f->n][k] = x[k] / size;
  f->n++;
  return true;
}

static face face_of(const corner_set *s, int64_t number) {
  face f = {.first = (int)(number % BASE) - 1};
  for (number /= BASE; number > 0; number /= BASE) (void)widen(s, &f, (int)(number % BASE) - 1);
  return f;
}

static int most_opposed(const corner_set *s, const double *w) {
  int best = 0;
  double most = -HUGE_VAL;
  for (int i = 0; i <= s->n; i++) {
    const double x = opposed(s, i, w);
    if (x > most) most = x, best = i;
  }
  return best;
}

/* Whether corner i is as opposed to w as the most opposed one is. */
static bool carries(const corner_set *s, int i, int best, const double *w, double still) {
  return i == best || opposed(s, best, w) - opposed(s, i, w) <= still * apart(s, i, best);
}

static int64_t corner_face(const corner_set *s, const double *w, double still) {
  const int best = most_opposed(s, w);
  int64_t number = 0, place = 1;
  double largest = 0;
  face f = {.first = -1};
  for (int i = 0; i <= s->n; i++) {
    largest = fmax(largest, fabs(opposed(s, i, w)));
    if (!carries(s, i, best, w, still)) continue;
    if (f.first < 0)
      f.first = i;
    else if (!widen(s, &f, i))
      continue;
    if (f.n == s->rows) return 0; /* as many as span the set */
    number += place * (i + 1);
    place *= BASE;
  }
  return largest <= still ? 0 : number;
}

/* Coordinates of a point along the edges of a face. */
static void within(const corner_set *s, const face *f, const double *point, double *out) {
  double x[TANGENTS];
  corner(s, f->first, x);
  for (int k = 0; k < s->rows; k++) x[k] = point[k] - x[k];
  for (int e = 0; e < f->n; e++) out[e] = dot(f->edge[e], x, s->rows);
}

/* A face's gauge about its centre: 0 there, 1 at its ends. */
static double corner_ratio(const corner_set *s, int64_t number, const double *force) {
  double room[(SS_MOST_GENERATORS + 1) * (TANGENTS - 1)], y[TANGENTS], x[TANGENTS], centre[TANGENTS] = {0};
  const face f = face_of(s, number);
  int n = 0;
  if (f.n == 0) return 1;
  for (int i = 0; i <= s->n; i++) {
    if (!lies_in(s, &f, i)) continue;
    double *at = room + (ptrdiff_t)f.n * n++;
    corner(s, i, x);
    within(s, &f, x, at);
    for (int e = 0; e < f.n; e++) centre[e] += at[e];
  }
  within(s, &f, force, y);
  for (int e = 0; e < f.n; e++) {
    centre[e] /= n;
    y[e] -= centre[e];
    for (int i = 0; i < n; i++) room[i * f.n + e] -= centre[e];
  }
  const ss_block block = {
      .kind = SS_BLOCK_FRICTION, .cone = SS_CONE_GENERATED, .size = f.n + 1, .directions = n, .generators = room};
  return ss_cp_friction_gauge(&block, y);
}

/* Over the corners that do not carry at the start: what is left of how much less they are opposed than those that do. */
static double corner_left(const corner_set *s, int64_t last, const double *before, const double *after, double still) {
  const int best = most_opposed(s, before);
  face f = {.first = best};
  if (last > 0) f = face_of(s, last);
  double most[2] = {-HUGE_VAL, -HUGE_VAL}, least = 1;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i <= s->n; i++) {
      const bool mine = carries(s, i, best, before, still) || (last >= BASE && lies_in(s, &f, i));
      const double start = opposed(s, i, before), end = opposed(s, i, after);
      if (pass == 0 && mine) most[0] = fmax(most[0], start), most[1] = fmax(most[1], end);
      if (pass == 1 && !mine && most[0] - start > still * apart(s, i, best))
        least = fmin(least, (most[1] - end) / (most[0] - start));
    }
  return least;
}

/* ---- either ---- */

int64_t ss_face_of_slip(const ss_sim *sim, const ss_contact *c, const double *w) {
  const double still = 1e-9 * sim->part.speed_bound;
  if (is_box(sim, c)) return box_face(c, w, still);
  if (c->stuck && c->n_rows == c->n_forces) return 0;
  const corner_set s = set_of(sim, c);
  return corner_face(&s, w + 1, still);
}

bool ss_face_holds(const ss_sim *sim, const ss_contact *c, int64_t number) {
  if (number == 0) return false;
  if (!is_box(sim, c)) return number >= BASE;
  for (int k = 1; k < c->n_rows && !c->stuck; k++)
    if (digit(number, k) == 0) return true;
  return false;
}

/* Directions in which the last part's face held the velocities, in the space of the friction rows, each of length one. */
static int held_directions(const ss_sim *sim, const ss_contact *c, double out[TANGENTS][TANGENTS]) {
  int n = 0;
  if (c->last_face == 0) return 0;
  if (!is_box(sim, c)) {
    const corner_set s = set_of(sim, c);
    const face f = face_of(&s, c->last_face);
    for (; n < f.n && n < TANGENTS; n++)
      for (int k = 0; k < s.rows; k++) out[n][k] = f.edge[n][k];
    return n;
  }
  for (int k = 1; k < c->n_rows; k++) {
    if (digit(c->last_face, k) != 0) continue;
    for (int i = 1; i < c->n_rows; i++) out[n][i - 1] = i == k;
    n++;
  }
  return n;
}

double ss_face_ratio(const ss_sim *sim, const ss_contact *c) {
  const double limit = c->mu * c->impulse[0];
  if (is_box(sim, c)) return box_ratio(c, limit);
  if (c->face == 0) return ss_cp_friction_gauge(&sim->trial.problem.blocks[c->block], c->impulse + 1) / limit;
  const corner_set s = set_of(sim, c);
  double force[TANGENTS];
  for (int k = 0; k < s.rows; k++) force[k] = c->impulse[1 + k] / limit;
  return corner_ratio(&s, c->face, force);
}

bool ss_face_let_go(const ss_sim *sim, const ss_contact *c) {
  if (c->face == 0 || !ss_face_holds(sim, c, c->last_face)) return false;
  if (is_box(sim, c)) {
    for (int k = 1; k < c->n_rows; k++)
      if (digit(c->last_face, k) == 0 && digit(c->face, k) != 0) return true;
    return false;
  }
  static const double turned = 1e-6;
  const corner_set s = set_of(sim, c);
  const face was = face_of(&s, c->last_face), is = face_of(&s, c->face); /* a parallel one holds the same */
  for (int e = 0; e < was.n; e++) {
    double rest = 1;
    for (int i = 0; i < is.n; i++) rest -= pow(dot(was.edge[e], is.edge[i], s.rows), 2);
    if (rest > turned) return true;
  }
  return false;
}

void ss_face_keep_velocity(const ss_sim *sim, const ss_contact *c, double share, double too_fast, double *offset) {
  double held[TANGENTS][TANGENTS], slip[SS_CONTACT_ROWS];
  const int n = held_directions(sim, c, held);
  if (n == 0) return;
  ss_friction_velocities(sim, c, sim->state.t, sim->state.q, sim->state.v, slip);
  for (int m = 0; m < n; m++) {
    const double along = dot(held[m], slip + 1, c->n_rows - 1);
    if (fabs(along) > too_fast) continue;
    for (int k = 1; k < c->n_rows; k++) offset[k] -= share * along * held[m][k - 1];
  }
}

double ss_face_left(const ss_sim *sim, const ss_contact *c, const double *v, const double *v_end) {
  const double still = 1e-10 * sim->part.speed_bound;
  double before[SS_CONTACT_ROWS], after[SS_CONTACT_ROWS];
  ss_friction_velocities(sim, c, sim->state.t, sim->state.q, v, before);
  ss_friction_velocities(sim, c, sim->state.t + sim->trial.asked.h, sim->trial.q_end, v_end, after);
  if (is_box(sim, c)) return box_left(c, before, after, still);
  if (c->was_stuck && c->last_face == 0) return 1;
  const corner_set s = set_of(sim, c);
  return corner_left(&s, c->last_face, before + 1, after + 1, still);
}
