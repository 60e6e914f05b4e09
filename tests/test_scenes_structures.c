/* Structures that stand by contact alone, or fall: arch, card house, dominoes, hanging chain; and what is told of feet that
 * share a load. */
#include "scene_runner.h"

/* ---- scenes/arch.yaml ---- */

/* How far the keystone has come down. */
static double keystone_drop(const char *thickness, const char *mu, double duration) {
  run r;
  const change c = {.duration = duration, .set = {thickness, mu}};
  run_open(&r, "arch", &c);
  const double start = run_position(&r, 6).y;
  run_finish(&r);
  const double drop = start - run_position(&r, 6).y;
  run_close(&r);
  return drop;
}

/* Thresholds of the static theorem of limit analysis (a linear program over the forces at the corners of the joints, solved
 * apart from this): thickness 0.1025266 with friction 0.7, friction 0.3482684 with thickness 0.15. */
static void arch_stands_where_limit_analysis_says_so(void **state) {
  (void)state;
  check_near(keystone_drop("thickness=0.1026", "mu=0.7", 0.5), 0, 1e-12, "thick enough");
  check_near(keystone_drop("thickness=0.15", "mu=0.349", 0.5), 0, 1e-12, "rough enough");
  assert_true(keystone_drop("thickness=0.1024", "mu=0.7", 0.5) > 1e-5);
  assert_true(keystone_drop("thickness=0.15", "mu=0.347", 0.5) > 1e-5);
}

/* ---- scenes/card-house.yaml ---- */

static double house_moves(const char *mu, double duration) {
  run r;
  const change c = {.duration = duration, .set = {mu}};
  run_open(&r, "card-house", &c);
  ss_vec3 start[7];
  for (int i = 0; i < 7; i++) start[i] = run_position(&r, i);
  run_finish(&r);
  double way = 0;
  for (int i = 0; i < 7; i++) way = fmax(way, run_distance(start[i], run_position(&r, i)));
  run_close(&r);
  return way;
}

/* Below tan(20 deg)/2 = 0.182 no tent can stand; at tan(20 deg) = 0.364 each of them can under any load. */
static void card_house_stands_by_friction(void **state) {
  (void)state;
  check_near(house_moves("mu=0.5", 1), 0, 1e-14, "mu = 0.5");
  check_near(house_moves("mu=0.38", 0.25), 0, 1e-14, "mu = 0.38");
  assert_true(house_moves("mu=0.17", 0.1) > 1e-4);
}

/* ---- scenes/dominoes.yaml ---- */

/* Angular acceleration of a block that has turned by theta over its edge. */
static double pivot_pull(double width, double height, double theta) {
  return 9.81 * 3 / (width * width + height * height) * (height / 2 * sin(theta) - width / 2 * cos(theta));
}

/* Time until it has turned by `angle`, pushed with this rate: Verlet's method with very small steps. */
static double pivot_time(double width, double height, double rate, double angle) {
  const double h = 1e-6;
  double theta = 0, t = 0;
  for (;; t += h) {
    const double before = theta, pull = pivot_pull(width, height, theta);
    theta += h * (rate + h / 2 * pull);
    rate += h / 2 * (pull + pivot_pull(width, height, theta));
    if (theta >= angle) return t + h * (angle - before) / (theta - before);
  }
}

static void dominoes_fall_one_after_the_other(void **state) {
  (void)state;
  run r;
  const change c = {.duration = 0.6, .step = 0x1p-10};
  run_open(&r, "dominoes", &c);
  run_finish(&r);
  check_near(r.collision_time[0], pivot_time(0.008, 0.05, 6, asin(0.012 / 0.05)), 2e-6, "first collision, to h^2");
  for (int i = 0; i < 12; i++) assert_true(run_position(&r, i).y < 0.02);
  /* about four each: contacts that are let go too slowly to leave stay closed, instead of another 60 hops */
  assert_true(ss_sim_report(r.sim)->events[SS_COLLISION] < 100);
  run_close(&r);
}

/* ---- scenes/hanging-chain.yaml ---- */

/* Where the chain's span ends for the horizontal force H, and the beads on the way. */
static double chain_span(double H, int links, double length, double weight, double x[], double y[]) {
  double sum_x = 0, sum_y = 0;
  for (int i = 0; i < links; i++) {
    const double V = (links - 1) * weight / 2 - i * weight, tension = hypot(H, V);
    x[i] = sum_x += length * H / tension;
    y[i] = sum_y -= length * V / tension;
  }
  return sum_x;
}

static void chain_hangs_as_statics_say(void **state) {
  (void)state;
  enum { LINKS = 12 };
  double low = 0, high = 1000, x[LINKS], y[LINKS];
  for (int i = 0; i < 100; i++) {
    const double middle = (low + high) / 2;
    if (chain_span(middle, LINKS, 0.65, 9.81, x, y) < 6)
      low = middle;
    else
      high = middle;
  }
  run r;
  run_open(&r, "hanging-chain", NULL);
  run_finish(&r);
  for (int i = 0; i + 1 < LINKS; i++) {
    check_near(run_position(&r, i).x, x[i], 1e-6, "x");
    check_near(run_position(&r, i).y, y[i], 1e-6, "y");
  }
  run_close(&r);
}

/* ---- feet ---- */

static const char box_on_incline[] =
    "parameters: {mu: 0.5, angle: 0.98*atan(0.5)}\n"
    "gravity: [5.886*sin(angle), 7.848*sin(angle), -9.81*cos(angle)]\n"
    "materials: [{name: default, friction: mu}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
    "bodies: [{name: box, mass: 5, position: [0, 0, 0.05], shapes: [{type: box, size: [0.5, 0.4, 0.1]}]}]\n"
    "simulation: {scheme: trapezoidal, step: 0.001, duration: 2}\n";

/* How four feet share their load may change from step to step; none of them lets go, slips or lifts. */
static void nothing_is_told_of_a_box_at_rest(void **state) {
  (void)state;
  static const char *const schemes[] = {"trapezoidal", "moreau", "stewart-trinkle", "anitescu-potra"};
  static const ss_cone cones[] = {SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID, SS_CONE_QUADRATIC};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++) {
      run r;
      const change c = {.scheme = schemes[i], .cone = cones[k]};
      run_parse(&r, box_on_incline, &c);
      run_finish(&r);
      const ss_report *report = ss_sim_report(r.sim);
      for (int e = 0; e < SS_EVENT_KINDS; e++) assert_int_equal(report->events[e], 0);
      check_near(v3_norm(v3_sub(run_position(&r, 0), v3(0, 0, 0.05))), 0, 1e-14, "creep");
      run_close(&r);
    }
}

/* In millimetres and tonnes: sliding ends at v/(mu g), and only then is sticking told. */
static const char box_that_stops[] =
    "gravity: [0, 0, -9810]\n"
    "materials: [{name: default, friction: 0.05}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
    "bodies:\n"
    "  - {name: box, mass: 0.002, position: [0, 0, 50], velocity: [1000*cos(0.7), 1000*sin(0.7), 0],\n"
    "     shapes: [{type: box, size: [400, 300, 100]}]}\n"
    "simulation: {scheme: trapezoidal, step: 2^-7, duration: 3, events: [collision, stick-slip, take-off]}\n";

typedef struct told {
  int n;
  double first, last;
} told;

static void note_event(void *user, const ss_sim *sim, const ss_event *event) {
  (void)sim;
  told *t = user;
  if (t->n++ == 0) t->first = event->t;
  t->last = event->t;
}

static void a_box_stops_once(void **state) {
  (void)state;
  static const ss_cone cones[] = {SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID, SS_CONE_QUADRATIC};
  for (int k = 0; k < 3; k++) {
    run r;
    told t = {0};
    ss_error error = {0};
    const change c = {.cone = cones[k]};
    run_parse(&r, box_that_stops, &c);
    const ss_observer observer = {.user = &t, .step = run_ignore_step, .event = note_event};
    run_require(ss_sim_observe(r.sim, &observer, &error), &error, "observe");
    run_finish(&r);
    const double stop = 1000 / (0.05 * 9810);
    assert_true(t.n >= 1 && t.n <= 4);
    check_near(t.first, stop, 1e-9, "stop");
    check_near(t.last, stop, 1e-9, "stop of the last foot");
    check_near(run_position(&r, 0).x, cos(0.7) * 500 * stop, 1e-9, "way");
    run_close(&r);
  }
}

/* A beam on three points, the middle one with another stiffness: least sum of F^2/k gives F_2 = N k_2 / (k_2 + 2 k_1). */
static const char three_feet[] = "planar: xy\n"
                                 "parameters: {first: 1e6, second: 1e6}\n"
                                 "materials:\n"
                                 "  - {name: default, friction: 0.3}\n"
                                 "  - {name: outer, friction: 0.3, compliance: {stiffness: [first, first]}}\n"
                                 "  - {name: middle, friction: 0.3, compliance: {stiffness: [second, second]}}\n"
                                 "world: {shapes: [{type: half-space, normal: [0, 1, 0]}]}\n"
                                 "bodies:\n"
                                 "  - name: beam\n"
                                 "    mass: 1\n"
                                 "    inertia: 1\n"
                                 "    shapes:\n"
                                 "      - {type: point, position: [-1, 0, 0], material: outer}\n"
                                 "      - {type: point, position: [0, 0, 0], material: middle}\n"
                                 "      - {type: point, position: [1, 0, 0], material: outer}\n"
                                 "simulation: {step: 0.01, duration: 0.05}\n";

static void stiffer_feet_carry_more(void **state) {
  (void)state;
  static const double stiffness[] = {1e6, 2e6, 1e5};
  static const char *const second[] = {"second=1e6", "second=2e6", "second=1e5"};
  static const char *const schemes[] = {"moreau", "trapezoidal", "stewart-trinkle", "anitescu-potra"};
  for (int k = 0; k < 3; k++)
    for (int s = 0; s < 4; s++) {
      run r;
      ss_contact_report feet[3];
      const change c = {.scheme = schemes[s], .set = {second[k]}};
      run_parse(&r, three_feet, &c);
      run_finish(&r);
      assert_int_equal(ss_sim_contacts(r.sim, feet, 3), 3);
      for (int i = 0; i < 3; i++) {
        const bool middle = fabs(feet[i].point.x) < 0.5;
        const double share = (middle ? stiffness[k] : 1e6) / (stiffness[k] + 2e6);
        check_near(feet[i].impulse.y, 9.81 * share * 0.01, 1e-10, "force of a foot");
      }
      run_close(&r);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stiffer_feet_carry_more),
      cmocka_unit_test(arch_stands_where_limit_analysis_says_so),
      cmocka_unit_test(card_house_stands_by_friction),
      cmocka_unit_test(dominoes_fall_one_after_the_other),
      cmocka_unit_test(chain_hangs_as_statics_say),
      cmocka_unit_test(nothing_is_told_of_a_box_at_rest),
      cmocka_unit_test(a_box_stops_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
