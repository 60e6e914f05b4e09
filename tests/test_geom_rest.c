/* Every pair of shapes that can rest on each other, aligned exactly or but for small offsets: put down, dropped, pushed and rolled,
 * under several schemes. What rests stays in place to 1e-9 of its size; what slides or rolls keeps its height and does not tip. */
#include "scene_runner.h"

typedef struct piece {
  const char *name, *shape; /* in the frame of its body or the world; see height */
  double height;            /* upper: of its centre above what it rests on; lower: of its top */
  double rolls;             /* radius about y, or 0 */
  bool narrow;              /* touches a line or a point only: what is put beside its middle tips over */
} piece;

#define PRISM                                                                                                          \
  "{type: convex, points: [[0.1,0,-0.05],[0.05,0.08,-0.05],[-0.05,0.08,-0.05],[-0.1,0,-0.05],[-0.05,-0.08,-0.05],"     \
  "[0.05,-0.08,-0.05],[0.1,0,0.05],[0.05,0.08,0.05],[-0.05,0.08,0.05],[-0.1,0,0.05],[-0.05,-0.08,0.05],[0.05,-0.08,"   \
  "0.05]]}"
#define MESH                                                                                                           \
  "{type: mesh, vertices: "                                                                                            \
  "[[-0.1,-0.1,-0.05],[0.1,-0.1,-0.05],[0.1,0.1,-0.05],[-0.1,0.1,-0.05],[-0.1,-0.1,0.05],[0.1,-0."                     \
  "1,0.05],[0.1,0.1,0.05],[-0.1,0.1,0.05]], triangles: [[0,2,1],[0,3,2],[4,5,6],[4,6,7],[0,1,5],[0,5,4],[1,2,6],[1,6," \
  "5],[2,3,7],[2,7,6],[3,0,4],[3,4,7]]}"

static const piece uppers[] = {
    {"box", "{type: box, size: [0.2, 0.2, 0.1]}", 0.05, 0, false},
    {"standing cylinder", "{type: cylinder, radius: 0.1, length: 0.1, axis: z}", 0.05, 0, false},
    {"cylinder along x", "{type: cylinder, radius: 0.1, length: 0.2, axis: x}", 0.1, 0, true},
    {"cylinder along y", "{type: cylinder, radius: 0.1, length: 0.2, axis: y}", 0.1, 0.1, true},
    {"capsule along x", "{type: capsule, radius: 0.05, length: 0.1, axis: x}", 0.05, 0, true},
    {"capsule along y", "{type: capsule, radius: 0.05, length: 0.2, axis: y}", 0.05, 0.05, true},
    {"convex", PRISM, 0.05, 0, false},
    {"sphere", "{type: sphere, radius: 0.1}", 0.1, 0.1, true},
    {"ellipsoid", "{type: ellipsoid, semi_axes: [0.1, 0.08, 0.05]}", 0.05, 0, true},
};
static const piece lowers[] = {
    {"half-space", "{type: half-space, normal: z}", 0, 0, false},
    {"box", "{type: box, size: [0.2, 0.2, 0.1]}", 0.05, 0, false},
    {"standing cylinder", "{type: cylinder, radius: 0.1, length: 0.1, axis: z}", 0.05, 0, false},
    {"cylinder along x", "{type: cylinder, radius: 0.1, length: 0.2, axis: x}", 0.1, 0, true},
    {"cylinder along y", "{type: cylinder, radius: 0.1, length: 0.2, axis: y}", 0.1, 0, true},
    {"capsule along x", "{type: capsule, radius: 0.1, length: 0.2, axis: x}", 0.1, 0, true},
    {"convex", PRISM, 0.05, 0, false},
    {"mesh", MESH, 0.05, 0, false},
    {"height-field", "{type: height-field, spacing: [0.4, 0.4], heights: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]}", 0, 0,
     false},
};
static const char *const schemes[] = {"moreau", "trapezoidal", "anitescu-potra", "stewart-trinkle"};
enum { UPPERS = sizeof uppers / sizeof *uppers, LOWERS = sizeof lowers / sizeof *lowers, SCHEMES = 4 };

static int failures;

static void complain(const piece *u, const piece *l, const char *scheme, const char *what, double value) {
  if (++failures <= 20) print_error("%s on %s, %s: %s by %g\n", u->name, l->name, scheme, what, value);
}

typedef struct start {
  double offset, lift, push, spin; /* along x; of the height; velocity along x; angular velocity about y */
  double duration;
} start;

static ss_motion end_of(const piece *u, const piece *l, const char *scheme, start s) {
  char text[3000];
  (void)snprintf(text, sizeof text,
                 "gravity: [0, 0, -9.81]\n"
                 "materials: [{name: default, friction: 0.5}]\n"
                 "world: {shapes: [%s]}\n"
                 "bodies: [{name: a, density: 1000, position: [%.17g, 0, %.17g], velocity: [%.17g, 0, 0],"
                 " angular_velocity: [0, %.17g, 0], shapes: [%s]}]\n"
                 "simulation: {scheme: %s, step: 0.005, duration: %g}\n",
                 l->shape, s.offset, l->height + u->height + s.lift, s.push, s.spin, u->shape, scheme, s.duration);
  run r;
  run_parse(&r, text, NULL);
  run_finish(&r);
  const ss_motion motion = ss_sim_motion(r.sim, 0);
  run_close(&r);
  return motion;
}

static double tilt_of(ss_quat q) { return 2 * hypot(q.x, q.y); }

/* Put down exactly: nothing moves. Next to the middle of what is flat, by a little: neither. */
static void test_at_rest(void **state) {
  (void)state;
  static const double offsets[] = {0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3};
  failures = 0;
  for (int u = 0; u < UPPERS; u++)
    for (int l = 0; l < LOWERS; l++)
      for (int i = 0; i < SCHEMES; i++) {
        const bool balanced = uppers[u].narrow || lowers[l].narrow;
        const start s = {.offset = balanced ? 0 : offsets[(u + l + i) % 6], .duration = 0.1};
        const ss_motion m = end_of(&uppers[u], &lowers[l], schemes[i], s);
        const ss_vec3 at = v3(s.offset, 0, lowers[l].height + uppers[u].height);
        const double moved = v3_norm(v3_sub(m.pose.position, at)), turned = tilt_of(m.pose.orientation);
        if (!(moved < 1e-10)) complain(&uppers[u], &lowers[l], schemes[i], "moved", moved);
        if (!(turned < 1e-9)) complain(&uppers[u], &lowers[l], schemes[i], "turned", turned);
      }
  assert_int_equal(failures, 0);
}

/* Dropped from a little above: it lands where it would have been put. */
static void test_dropped(void **state) {
  (void)state;
  failures = 0;
  for (int u = 0; u < UPPERS; u++)
    for (int l = 0; l < LOWERS; l++)
      for (int i = 0; i < SCHEMES; i++) {
        const start s = {.lift = 2e-3, .duration = 0.1};
        const ss_motion m = end_of(&uppers[u], &lowers[l], schemes[i], s);
        const double sunk = fabs(m.pose.position.z - lowers[l].height - uppers[u].height);
        if (!(sunk < 1e-9)) complain(&uppers[u], &lowers[l], schemes[i], "off its height", sunk);
        if (!(tilt_of(m.pose.orientation) < 1e-8))
          complain(&uppers[u], &lowers[l], schemes[i], "turned", tilt_of(m.pose.orientation));
      }
  assert_int_equal(failures, 0);
}

/* Pushed or rolled along x on what is flat, or along a line: it keeps its height, and slides v^2/2 mu g in all, or goes on. */
static void test_pushed(void **state) {
  (void)state;
  failures = 0;
  for (int u = 0; u < UPPERS; u++)
    for (int l = 0; l < LOWERS; l++)
      for (int i = 0; i < SCHEMES; i++) {
        const piece *upper = &uppers[u], *lower = &lowers[l];
        if (lower->narrow || strcmp(upper->name, "ellipsoid") == 0) continue;
        const double v = 0.2;
        const start s = {.push = v, .spin = upper->rolls > 0 ? v / upper->rolls : 0, .duration = 0.2};
        const ss_motion m = end_of(upper, lower, schemes[i], s);
        const double sunk = fabs(m.pose.position.z - lower->height - upper->height);
        const double way = upper->rolls > 0 ? v * 0.2 : v * v / (2 * 0.5 * 9.81);
        if (!(sunk < 1e-9)) complain(upper, lower, schemes[i], "off its height", sunk);
        if (!(fabs(m.pose.position.x - way) < 0.15 * way))
          complain(upper, lower, schemes[i], "off its way", m.pose.position.x - way);
      }
  assert_int_equal(failures, 0);
}

/* A coin half way over the edge of another stays; further out it tips. */
static void test_overhang(void **state) {
  (void)state;
  for (int u = 0; u < UPPERS; u++)
    for (int l = 0; l < LOWERS; l++) {
      if (uppers[u].narrow || lowers[l].narrow || lowers[l].height == 0) continue;
      const ss_motion holds = end_of(&uppers[u], &lowers[l], "moreau", (start){.offset = 0.095, .duration = 0.3});
      const ss_motion tips = end_of(&uppers[u], &lowers[l], "moreau", (start){.offset = 0.105, .duration = 0.3});
      if (!(tilt_of(holds.pose.orientation) < 1e-3) || !(tilt_of(tips.pose.orientation) > 0.02))
        fail_msg("%s on %s: tilts by %g and %g", uppers[u].name, lowers[l].name, tilt_of(holds.pose.orientation),
                 tilt_of(tips.pose.orientation));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_at_rest),
      cmocka_unit_test(test_dropped),
      cmocka_unit_test(test_pushed),
      cmocka_unit_test(test_overhang),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
