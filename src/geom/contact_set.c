/* More features of a pair than are kept: which one can be done without.
 *
 * A prism of a hundred sides that stands on a floor has a hundred touching corners, a box on a ragged height field as many
 * peaks below it. Whichever are kept must hold what all of them hold: the lowest ones, and of those that are as low the corners
 * of the polygon that they span. So, among the contacts whose normals are alike, the one gives way whose
 *
 *   need = height over the chord of its neighbours on the polygon, 0 inside - steepness (gap - least gap)
 *
 * is least (Visvalingam's rule for thinning a line). A contact that is left out and sinks in is the lowest of the next search. */
#include "geom/pairs.h"

static const double steepness = 10; /* a tenth of a radian brings a contact to the floor */
static const double tie = 1e-6;     /* of the size: differences below it are rounding, and the later one gives way */
static const double alike = 0.9;    /* cosine of normals */

enum { ALL = SS_PAIR_CONTACTS + 1 };

typedef struct place {
  double x, y; /* seen along the normal */
  int contact;
} place;

static double turn(const place *o, const place *a, const place *b) {
  return (a->x - o->x) * (b->y - o->y) - (a->y - o->y) * (b->x - o->x);
}

/* Of all contacts the one with the most others of its normal. */
static const ss_contact_point *most_alike(const ss_contact_point *const all[ALL]) {
  int most = 0, best = 0;
  for (int i = 0; i < ALL; i++) {
    int n = 0;
    for (int j = 0; j < ALL; j++) n += v3_dot(all[i]->normal, all[j]->normal) >= alike;
    if (n > most) most = n, best = i;
  }
  return all[best];
}

/* The contacts with normals like the reference's, ordered by x, then y. */
static int look_along(const ss_contact_point *const all[ALL], const ss_contact_point *reference, place out[ALL]) {
  const ss_vec3 n = reference->normal;
  const ss_vec3 side = fabs(n.x) < 0.7 ? v3(1, 0, 0) : v3(0, 1, 0);
  const ss_vec3 u = v3_cross(n, side), v = v3_cross(n, u);
  int count = 0;
  for (int i = 0; i < ALL; i++) {
    if (v3_dot(all[i]->normal, n) < alike) continue;
    const ss_vec3 d = v3_sub(all[i]->point_b, reference->point_b);
    const place p = {v3_dot(d, u), v3_dot(d, v), i};
    int k = count++;
    for (; k > 0 && (out[k - 1].x > p.x || (out[k - 1].x == p.x && out[k - 1].y > p.y)); k--) out[k] = out[k - 1];
    out[k] = p;
  }
  return count;
}

/* Adds the heights of the corners of one chain of the convex hull over the chords of their neighbours; ends are needed. */
static void add_heights(const place *p, int n, int chain, double need[ALL]) {
  const place *hull[ALL] = {&p[0]};
  int m = 1;
  for (int i = 1; i < n; i++) {
    while (m >= 2 && chain * turn(hull[m - 2], hull[m - 1], &p[i]) <= 0) m--;
    hull[m++] = &p[i];
  }
  need[hull[0]->contact] = need[hull[m - 1]->contact] = INFINITY;
  for (int i = 1; i + 1 < m; i++) {
    const double chord = hypot(hull[i + 1]->x - hull[i - 1]->x, hull[i + 1]->y - hull[i - 1]->y);
    need[hull[i]->contact] += chain * turn(hull[i - 1], hull[i], hull[i + 1]) / chord;
  }
}

void ss_contacts_replace(ss_contact_point out[SS_PAIR_CONTACTS], const ss_contact_point *contact) {
  const ss_contact_point *all[ALL];
  place places[ALL];
  double need[ALL], least_gap = INFINITY, size = 0;
  for (int i = 0; i < ALL; i++) {
    all[i] = i < SS_PAIR_CONTACTS ? &out[i] : contact;
    need[i] = INFINITY; /* the only one of its normal */
  }
  const int n = look_along(all, most_alike(all), places);
  for (int i = 0; i < n; i++) {
    need[places[i].contact] = 0;
    least_gap = fmin(least_gap, all[places[i].contact]->gap);
    size = fmax(size, fabs(places[i].x) + fabs(places[i].y));
  }
  add_heights(places, n, 1, need);
  add_heights(places, n, -1, need);
  int worst = SS_PAIR_CONTACTS;
  for (int i = SS_PAIR_CONTACTS; i >= 0; i--) {
    need[i] -= steepness * (all[i]->gap - least_gap);
    if (need[i] < need[worst] - tie * size) worst = i;
  }
  if (worst < SS_PAIR_CONTACTS) out[worst] = *contact;
}

/* Is the contact the same place as the end of a line, seen askew? */
static bool is_askew(const ss_contact_point *c, const ss_contact_point *end, double size) {
  static const double next = 0.01, lower = 1e-14, higher = 1e-6; /* of the size */
  static const double rounding = 1e-12;
  return end->gap <= c->gap + lower * size && end->gap >= c->gap - higher * size &&
         v3_norm(v3_sub(end->point_b, c->point_b)) <= next * size && v3_norm(v3_sub(end->normal, c->normal)) > rounding;
}

int ss_contacts_without_spare(ss_contact_point *out, int n, ss_feature_is line_end, ss_feature_is spare,
                              const void *context, double size) {
  bool end[SS_PAIR_CONTACTS], drop[SS_PAIR_CONTACTS] = {false};
  int kept = 0;
  for (int i = 0; i < n; i++) end[i] = line_end(context, out[i].feature);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n && !drop[i]; k++)
      drop[i] = end[k] && is_askew(&out[i], &out[k], size) && spare(context, out[i].feature);
  for (int i = 0; i < n; i++)
    if (!drop[i]) out[kept++] = out[i];
  return kept;
}
