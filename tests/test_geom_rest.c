/* Every pair of shapes that can rest on each other (that they do: test_still.c), aligned exactly: dropped, pushed and rolled, under several
 * schemes. What is dropped lands where it would have been put; what slides or rolls keeps its height and does not tip. */
#include "resting_pairs.h"

enum { SCHEMES = 4 }; /* of resting_schemes */

static int failures;

static void complain(const piece *u, const piece *l, const char *scheme, const char *what, double value) {
  if (++failures <= 20) print_error("%s on %s, %s: %s by %g\n", u->name, l->name, scheme, what, value);
}

static ss_motion end_of(const piece *u, const piece *l, const char *scheme, position p) {
  char text[4000];
  p.upper = u;
  p.lower = l;
  p.scheme = scheme;
  write_position(&p, text, sizeof text);
  run r;
  run_parse(&r, text, NULL);
  run_finish(&r);
  const ss_motion motion = ss_sim_motion(r.sim, 0);
  run_close(&r);
  return motion;
}

static double tilt_of(ss_quat q) { return 2 * hypot(q.x, q.y); }

static bool is_flat(const piece *p) { return p->kx == 0 && p->ky == 0; }

/* Dropped from a little above: it lands where it would have been put. */
static void test_dropped(void **state) {
  (void)state;
  failures = 0;
  for (int u = 0; u < SPATIAL; u++)
    for (int l = 0; l < SPATIAL; l++)
      for (int i = 0; i < SCHEMES && !spatial[u].still; i++) {
        const char *scheme = resting_schemes[i];
        const ss_motion m = end_of(&spatial[u], &spatial[l], scheme, (position){.lift = 2e-3, .duration = 0.1});
        const double sunk = fabs(m.pose.position.z - spatial[l].height - spatial[u].height);
        const double turned = tilt_of(m.pose.orientation);
        if (!(sunk < 1e-9)) complain(&spatial[u], &spatial[l], scheme, "off its height", sunk);
        if (!(turned < 1e-8)) complain(&spatial[u], &spatial[l], scheme, "turned", turned);
      }
  assert_int_equal(failures, 0);
}

/* Pushed or rolled along x on what is flat, or along a line: it keeps its height, and slides v^2/2 mu g in all, or goes on. Not what would
 * tip over, or run off. */
static void test_pushed(void **state) {
  (void)state;
  const double mu = 0.5, v = 0.2, stop = v * v / (2 * mu * 9.81);
  failures = 0;
  for (int u = 0; u < SPATIAL; u++)
    for (int l = 0; l < SPATIAL; l++)
      for (int i = 0; i < SCHEMES && !spatial[u].still; i++) {
        const piece *upper = &spatial[u], *lower = &spatial[l];
        const char *scheme = resting_schemes[i];
        const double foot = is_flat(upper) ? fmin(lower->foot, upper->foot) : lower->foot,
                     way = upper->rolls > 0 ? v * 0.2 : stop;
        const bool slides = upper->kx == 0 && foot > mu * upper->height + stop, rolls = upper->rolls > 0 && foot > way;
        if (!is_flat(lower) || !(slides || rolls)) continue;
        const position p = {.push = v, .spin = upper->rolls > 0 ? v / upper->rolls : 0, .duration = 0.2};
        const ss_motion m = end_of(upper, lower, scheme, p);
        const double sunk = fabs(m.pose.position.z - lower->height - upper->height);
        if (!(sunk < 1e-9)) complain(upper, lower, scheme, "off its height", sunk);
        if (!(fabs(m.pose.position.x - way) < 0.15 * way))
          complain(upper, lower, scheme, "off its way", m.pose.position.x - way);
      }
  assert_int_equal(failures, 0);
}

/* A coin half way over the edge of another stays; further out it tips. */
static void test_overhang(void **state) {
  (void)state;
  for (int u = 0; u < SPATIAL; u++)
    for (int l = 0; l < SPATIAL; l++) {
      const piece *upper = &spatial[u], *lower = &spatial[l];
      if (upper->foot < 0.1 || upper->still || lower->foot != 0.1) continue;
      const ss_motion holds = end_of(upper, lower, "moreau", (position){.offset = 0.095, .duration = 0.3});
      const ss_motion tips = end_of(upper, lower, "moreau", (position){.offset = 0.105, .duration = 0.3});
      if (!(tilt_of(holds.pose.orientation) < 1e-3) || !(tilt_of(tips.pose.orientation) > 0.02))
        fail_msg("%s on %s: tilts by %g and %g", upper->name, lower->name, tilt_of(holds.pose.orientation),
                 tilt_of(tips.pose.orientation));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dropped),
      cmocka_unit_test(test_pushed),
      cmocka_unit_test(test_overhang),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
