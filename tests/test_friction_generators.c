/* Friction by generators (ST section 3.1): break-away loads, sliding and moments against closed forms; and the laws with names as
 * special cases of such a list. */
#include "scene_runner.h"

static const double G = 9.81;

typedef struct told {
  double t[SS_EVENT_KINDS];
  int n[SS_EVENT_KINDS];
} told;

static void note(void *user, const ss_sim *sim, const ss_event *event) {
  told *e = user;
  (void)sim;
  if (e->n[event->kind]++ == 0) e->t[event->kind] = event->t;
}

static told finish(run *r) {
  told e = {{0}, {0}};
  ss_error error = {0};
  const ss_observer observer = {.user = &e, .step = run_ignore_step, .event = note};
  run_require(ss_sim_observe(r->sim, &observer, &error), &error, "observe");
  while (!ss_sim_done(r->sim)) run_step(r);
  const ss_certificate *c = &ss_sim_report(r->sim)->certificate;
  assert_true(c->certified && c->cone < 1e-9 && c->dissipation < 1e-9);
  return e;
}

#define FLOOR  "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
#define EVENTS "events: [collision, stick-slip, take-off]"

static const char rhombus[] =
    "parameters: {a: 1, w: 0, vx: 0, vy: 0}\n"
    "contacts: [{between: [p, world], friction: {generators: [[0.5, 0], [-0.5, 0], [0, 0.2], [0, -0.2]]}}]\n" FLOOR
    "bodies: [{name: p, mass: 2, freedom: [x, y, z], position: [0, 0, 0], velocity: [vx, vy, 0], shapes: [{type: "
    "point}]}]\n"
    "forces: [{type: applied, on: p, force: [a*t*cos(w), a*t*sin(w), 0]}]\n"
    "simulation: {scheme: trapezoidal, step: 2^-6, duration: 10, " EVENTS "}\n";

/* Loads inside the hull hold: the point slips where |Fx|/0.5 + |Fy|/0.2 = m g, in any direction, and with any scheme. */
static void break_away_in_any_direction(void **state) {
  (void)state;
  static const double angles[] = {0, 0.3, 1, 1.5707963267948966, 2.2, 4};
  for (int i = 0; i < 6; i++) {
    char set[64];
    run r;
    (void)snprintf(set, sizeof set, "w=%.17g", angles[i]);
    run_parse(&r, rhombus, &(change){.set = {set}});
    const told e = finish(&r);
    assert_int_equal(e.n[SS_SLIP], 1);
    check_near(e.t[SS_SLIP], 2 * G / (fabs(cos(angles[i])) / 0.5 + fabs(sin(angles[i])) / 0.2), 1e-7, "break-away");
    run_close(&r);
  }
  static const char *const schemes[] = {"stewart-trinkle", "anitescu-potra", "moreau"};
  for (int s = 0; s < 3; s++) { /* a constant load just within, and just beyond */
    for (int beyond = 0; beyond < 2; beyond++) {
      run r;
      run_parse(&r, rhombus,
                &(change){.scheme = schemes[s], .duration = 3.70 + 0.02 * beyond, .step = 0.005, .set = {"w=1"}});
      run_finish(&r);
      const double way = v3_norm(run_position(&r, 0));
      assert_true(beyond ? way > 1e-9 : way < 1e-12);
      run_close(&r);
    }
  }
}

/* Thrown along (1, 0.5): the force is the corner (-0.5, 0) until 0.5 vx = 0.2 vy; then it lies on the edge between two corners such that the
 * slip stays on that line, f ~ (0.4, 1) with |fx|/0.5 + |fy|/0.2 = 1, until the point rests. Forces are constant in between: where the edge
 * is located, too, nothing is left of the error. */
static void sliding_obeys_maximum_dissipation(void **state) {
  (void)state;
  const double vx = 1, vy = 0.5, t1 = (vx - 0.4 * vy) / (0.5 * G), x1 = vx * t1 - 0.25 * G * t1 * t1, y1 = vy * t1;
  const double ay = G / (0.4 / 0.5 + 1 / 0.2), t2 = vy / ay;
  const double x = x1 + 0.4 * vy * t2 / 2, y = y1 + vy * t2 / 2;
  for (int k = 6; k <= 9; k++)
    for (int located = 0; located < 2; located++) {
      run r;
      char text[1024];
      (void)snprintf(text, sizeof text, "%.*s%s]}\n", (int)strlen(rhombus) - 3, rhombus, located ? ", facet" : "");
      run_parse(&r, text, &(change){.step = ldexp(1, -k), .duration = 0.8, .set = {"a=0", "vx=1", "vy=0.5"}});
      const told e = finish(&r);
      const ss_vec3 at = run_position(&r, 0);
      const double error = hypot(at.x - x, at.y - y);
      check_below(error, located ? 1e-9 : 0.1 * ldexp(1, -k), "place of rest");
      check_below(v3_norm(run_velocity(&r, 0)), 1e-10, "speed at the end");
      assert_int_equal(e.n[SS_STICK], 1);
      check_near(e.t[SS_STICK], t1 + t2, located ? 1e-9 : ldexp(1, -k), "rest");
      if (located) check_near(e.t[SS_FACET], t1, 1e-9, "edge");
      const ss_energy *energy = &ss_sim_report(r.sim)->energy;
      check_near(energy->friction_loss, vx * vx + vy * vy, 1e-10, "friction loss"); /* m = 2 */
      run_close(&r);
    }
}

static const char octagon[] = "parameters: {vx: 1.3, vy: 0.7}\n"
                              "materials: [{name: default, friction: 0.4}]\n"
                              "%s" FLOOR "bodies: [{name: p, mass: 2, freedom: [x, y, z], position: [0, 0, 0], "
                              "velocity: [vx, vy, 0], shapes: [{type: point}]}]\n"
                              "forces: [{type: applied, on: p, force: [3*cos(5*t), 4*sin(7*t), 0]}]\n"
                              "simulation: {scheme: trapezoidal, step: 2^-7, duration: 1, friction: {cone: polyhedral, "
                              "directions: 8, polygon: fixed},\n"
                              "  events: [collision]}\n";

static void list(char *out, size_t size, int corners, double along, double across) {
  int used = snprintf(out, size, "contacts: [{between: [p, world], friction: {generators: [");
  for (int i = 0; i < corners; i++)
    used += snprintf(out + used, size - (size_t)used, "%s[%.17g, %.17g]", i ? ", " : "",
                     along * cos(8 * atan(1) * i / corners), across * sin(8 * atan(1) * i / corners));
  (void)snprintf(out + used, size - (size_t)used, "]}}]\n");
}

/* The corners of a fixed octagon are that octagon. */
static void an_octagon_by_its_corners(void **state) {
  (void)state;
  char text[4096], contacts[2048];
  ss_vec3 end[2], speed[2];
  for (int i = 0; i < 2; i++) {
    list(contacts, sizeof contacts, 8, 0.4, 0.4);
    (void)snprintf(text, sizeof text, octagon, i ? contacts : "");
    run r;
    run_parse(&r, text, NULL);
    run_finish(&r);
    end[i] = run_position(&r, 0);
    speed[i] = run_velocity(&r, 0);
    run_close(&r);
  }
  check_below(v3_norm(v3_sub(end[0], end[1])) + v3_norm(v3_sub(speed[0], speed[1])), 1e-10, "difference");
}

/* Many corners of an ellipse are anisotropic friction. */
static void an_ellipse_by_many_corners(void **state) {
  (void)state;
  static const char *const named =
      "contacts: [{between: [p, world], friction: 0.5, friction_across: 0.2, axis: [1, 0, 0]}]\n";
  char text[16384], contacts[8192];
  ss_vec3 exact = v3(0, 0, 0);
  double before = NAN;
  for (int corners = 0; corners <= 64; corners = corners ? 4 * corners : 4) {
    list(contacts, sizeof contacts, corners, 0.5, 0.2);
    (void)snprintf(text, sizeof text, octagon, corners ? contacts : named);
    char *cone = strstr(text, "cone: polyhedral, directions: 8, polygon: fixed");
    if (!corners)
      memcpy(cone, "cone: quadratic                                ",
             strlen("cone: polyhedral, directions: 8, polygon: fixed"));
    run r;
    run_parse(&r, text, NULL);
    run_finish(&r);
    const double error = v3_norm(v3_sub(run_position(&r, 0), exact));
    if (!corners) exact = run_position(&r, 0);
    if (corners == 64) check_below(error, 2e-3, "64 corners");
    if (corners > 4) assert_true(error < before);
    before = error;
    run_close(&r);
  }
}

#define DISC                                                                                                           \
  "bodies: [{name: p, mass: 1.5, inertia: [0.02, 0.02, 0.03], freedom: [x, y, z, rz], position: [0, 0, 0],\n"          \
  "          shapes: [{type: point}]}]\n"                                                                              \
  "forces: [{type: applied, on: p, force: [a*t, 0, 0], torque: [0, 0, b*t]}]\n"

static const char finger[] =
    "parameters: {a: 3, b: 0.3}\n"
    "contacts: [{between: [p, world], friction: {generators: [[0.4, 0], [-0.4, 0], [0, 0.4], [0, -0.4],\n"
    "            [0, 0, 0.05], [0, 0, -0.05]]}}]\n" FLOOR DISC "simulation: {step: 2^-7, duration: 3, " EVENTS "}\n";

static const char named_finger[] =
    "parameters: {a: 3, b: 0.3}\n"
    "materials: [{name: default, friction: 0.4, torsion: 0.05}]\n" FLOOR DISC
    "simulation: {step: 2^-7, duration: 3, friction: {cone: polyhedral, directions: %d}, " EVENTS "}\n";

/* Torques among the generators: force and moment share one limit linearly, F/(mu N) + tau/(e N) = 1. The polyhedral cone with four directions
 * has the same corners, with more of them it comes near the ellipsoid. */
static void soft_finger_by_generators(void **state) {
  (void)state;
  char text[1024];
  run r;
  told e;
  static const char *const sets[][2] = {{"a=3", "b=0.3"}, {"a=0", "b=0.3"}, {"a=3", "b=0"}, {"a=-1", "b=-0.4"}};
  static const double loads[][2] = {{3, 0.3}, {0, 0.3}, {3, 0}, {1, 0.4}};
  for (int i = 0; i < 4; i++)
    for (int named = 0; named < 2; named++) {
      (void)snprintf(text, sizeof text, named_finger, 4);
      run_parse(&r, named ? text : finger, &(change){.set = {sets[i][0], sets[i][1]}});
      e = finish(&r);
      const double exact = 1.5 * G / (loads[i][0] / 0.4 + loads[i][1] / 0.05);
      assert_int_equal(e.n[SS_SPIN_BEGIN], loads[i][1] > 0);
      if (loads[i][1] > 0) check_near(e.t[SS_SPIN_BEGIN], exact, 1e-6, "spin begins");
      if (loads[i][1] == 0) check_near(e.t[SS_SLIP], exact, 1e-6, "slip begins");
      run_close(&r);
    }
  const double round = G / hypot(3 / (0.4 * 1.5), 0.3 / (0.05 * 1.5));
  double before = HUGE_VAL;
  for (int directions = 4; directions <= 32; directions *= 2) {
    (void)snprintf(text, sizeof text, named_finger, directions);
    run_parse(&r, text, NULL);
    e = finish(&r);
    const double off = fabs(e.t[SS_SPIN_BEGIN] - round);
    assert_true(off < before && e.t[SS_SPIN_BEGIN] < round + 1e-6);
    before = off;
    run_close(&r);
  }
  check_below(before, 0.01 * round, "32 directions against the ellipsoid");
}

/* One pair of generators, a force that comes with a moment: loads along it hold up to its end, and the motion that does not move along it is
 * free: F and tau = e F/mu hold, F alone accelerates the combination across it at once. */
static const char coupled[] =
    "parameters: {a: 0, b: 0}\n"
    "contacts: [{between: [p, world], friction: {generators: [[0.4, 0, 0.05], [-0.4, 0, -0.05]]}}]\n" FLOOR DISC
    "simulation: {step: 2^-7, duration: 2, " EVENTS "}\n";

static void force_and_moment_together(void **state) {
  (void)state;
  run r;
  run_parse(&r, coupled, &(change){.set = {"a=4", "b=0.5"}}); /* 4/0.5 = 0.4/0.05 */
  const told e = finish(&r);
  check_near(e.t[SS_SPIN_BEGIN], 0.4 * 1.5 * G / 4, 1e-6, "break-away along the generator");
  run_close(&r);
  /* held: 0.4 v + 0.05 w = 0, so that m v' = F + 0.4 s, I w' = 0.05 s: v = F t^2/2 / (m + I 64) for F = a t */
  run_parse(&r, coupled, &(change){.duration = 1, .set = {"a=1"}});
  run_finish(&r);
  const double v = 0.5 / (1.5 + 0.03 * 64);
  check_near(run_velocity(&r, 0).x, v, 1e-6, "speed across the generator");
  check_near(run_turn(&r, 0).z, -8 * v, 1e-5, "spin that goes with it");
  run_close(&r);
}

/* Driven across borders of sets without any symmetry. The ends are those of an event-driven integration of
 * M u' + N f = F, f in argmax -u.f over the corners, with errors below 1e-10: 8 borders of the pentagon; of the finger's polytope
 * edges and triangles, rest and another start. */
static const char pentagon[] =
    "contacts: [{between: [p, world], friction: {generators: [[0.5, 0.1], [0.1, 0.45], [-0.4, 0.2], [-0.3, -0.35],\n"
    "            [0.25, -0.3]]}}]\n" FLOOR
    "bodies: [{name: p, mass: 1.3, freedom: [x, y, z], position: [0, 0, 0], velocity: [0.7, -1.1, 0], shapes: [{type: "
    "point}]}]\n"
    "forces: [{type: applied, on: p, force: [7*cos(2.3*t), 7*sin(2.3*t), 0]}]\n"
    "simulation: {step: 2^-7, duration: 3, events: [collision, stick-slip, take-off, facet]}\n";

static const char uneven_finger[] =
    "contacts: [{between: [p, world], friction: {generators: [[0.4, 0, 0], [-0.35, 0.05, 0], [0, 0.4, 0.01],\n"
    "            [0.05, -0.45, 0], [0, 0, 0.05], [0.02, 0, -0.06], [0.2, 0.2, 0.03]]}}]\n" FLOOR
    "bodies: [{name: p, mass: 1.5, inertia: [0.02, 0.02, 0.03], freedom: [x, y, z, rz], position: [0, 0, 0],\n"
    "          velocity: [0.6, 0.2, 0], angular_velocity: [0, 0, 4], shapes: [{type: point}]}]\n"
    "forces: [{type: applied, on: p, force: [4*cos(2*t), 3*sin(3*t), 0], torque: [0, 0, 0.5*sin(5*t)]}]\n"
    "simulation: {step: 2^-7, duration: 1.5, events: [collision, stick-slip, take-off, facet]}\n";

static void order_two_across_borders(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double x, y;
    int facets, changes;
  } cases[] = {{pentagon, 0.263309798536, 0.0956136419855, 8, 0}, {uneven_finger, 0.748013952974, 0.54070683306, 5, 2}};
  for (int i = 0; i < 2; i++) {
    double before = NAN;
    for (int k = 7; k <= 10; k++) {
      run r;
      run_parse(&r, cases[i].text, &(change){.step = ldexp(1, -k)});
      const told e = finish(&r);
      assert_int_equal(e.n[SS_FACET], cases[i].facets);
      assert_int_equal(e.n[SS_STICK] + e.n[SS_SLIP], cases[i].changes);
      const ss_vec3 at = run_position(&r, 0);
      const double error = hypot(at.x - cases[i].x, at.y - cases[i].y), order = log2(before / error);
      if (k > 7 && fabs(order - 2) > 0.1) fail_msg("case %d, 2^-%d: order %g", i, k, order);
      before = error;
      run_close(&r);
    }
  }
}

/* A ball that may roll about x sooner than about y: limits of both moments, and of torsion, by generators. */
static const char roller[] =
    "parameters: {bx: 0, by: 0, bz: 0}\n"
    "contacts: [{between: [ball, world], friction: {generators: [[2, 0], [-2, 0], [0, 2], [0, -2], [0, 0, 0.01], [0, "
    "0, -0.01],\n"
    "  [0, 0, 0, 0.02], [0, 0, 0, -0.02], [0, 0, 0, 0, 0.05], [0, 0, 0, 0, -0.05]]}}]\n" FLOOR
    "bodies: [{name: ball, mass: 2, position: [0, 0, 0.1], shapes: [{type: sphere, radius: 0.1}]}]\n"
    "forces: [{type: applied, on: ball, torque: [bx*t, by*t, bz*t]}]\n"
    "simulation: {step: 2^-7, duration: 2.2, " EVENTS "}\n";

static void moments_have_their_limits(void **state) {
  (void)state;
  static const char *const sets[] = {"bx=0.5", "by=0.5", "bz=0.5"};
  static const double limits[] = {0.02, 0.05, 0.01};
  for (int i = 0; i < 3; i++) {
    run r;
    run_parse(&r, roller, &(change){.set = {sets[i]}});
    const told e = finish(&r);
    const ss_event_kind kind = i < 2 ? SS_ROLL_BEGIN : SS_SPIN_BEGIN;
    assert_int_equal(e.n[kind], 1);
    check_near(e.t[kind], limits[i] * 2 * G / 0.5, 1e-6, "break-away of a moment");
    run_close(&r);
  }
}

/* A foot that holds in one direction and glides in the other, in the plane; and rolling resistance there. */
static const char ratchet[] =
    "planar: xy\n"
    "parameters: {a: 1}\n"
    "contacts: [{between: [p, world], friction: {generators: [[0.6], [-0.1]]}}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 1], offset: 0}]}\n"
    "bodies: [{name: p, mass: 1, freedom: [x, y], position: [0, 0], shapes: [{type: point}]}]\n"
    "forces: [{type: applied, on: p, force: [a*t, 0]}]\n"
    "simulation: {step: 2^-7, duration: 7, " EVENTS "}\n";

static const char wheel[] =
    "planar: xy\n"
    "contacts: [{between: [w, world], friction: {generators: [[1], [-1], [0, 0, 0, 0, 0.03], [0, 0, 0, 0, -0.03]]}}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 1], offset: 0}]}\n"
    "bodies: [{name: w, mass: 2, inertia: 0.01, position: [0, 0.1], shapes: [{type: sphere, radius: 0.1}]}]\n"
    "forces: [{type: applied, on: w, torque: 0.5*t}]\n"
    "simulation: {step: 2^-7, duration: 1.5, " EVENTS "}\n";

static void planar_generators(void **state) {
  (void)state;
  run r;
  told e;
  for (int side = 0; side < 2; side++) { /* the tangent is normal x plane's normal = x */
    run_parse(&r, ratchet, &(change){.set = {side ? "a=1" : "a=-1"}});
    e = finish(&r);
    check_near(e.t[SS_SLIP], (side ? 0.1 : 0.6) * G, 1e-6, "slip in one direction");
    run_close(&r);
  }
  run_parse(&r, wheel, NULL);
  e = finish(&r);
  check_near(e.t[SS_ROLL_BEGIN], 0.03 * 2 * G / 0.5, 1e-6, "rolling in the plane");
  run_close(&r);
}

/* Four feet share the load however they like: the box lets go where the sum of their forces reaches the set; turned by the axis. */
static const char box[] =
    "parameters: {a: 2}\n"
    "contacts: [{between: [world, box], axis: [cos(0.4), sin(0.4), 0],\n"
    "            friction: {generators: [[0.5, 0], [-0.5, 0], [0, 0.2], [0, -0.2]]}}]\n" FLOOR
    "bodies: [{name: box, mass: 1.7, position: [0, 0, 0.1], shapes: [{type: box, size: [0.3, 0.4, 0.2]}]}]\n"
    "forces: [{type: applied, on: box, force: [a*t, 0, 0], at: [0, 0, -0.1]}]\n"
    "simulation: {step: 2^-7, duration: 3, " EVENTS "}\n";

static void feet_share_the_set(void **state) {
  (void)state;
  run r;
  run_parse(&r, box, NULL);
  const told e = finish(&r);
  const double exact = 1.7 * G / (cos(0.4) / 0.5 + sin(0.4) / 0.2) / 2;
  assert_int_equal(e.n[SS_STICK], 0);
  check_near(e.t[SS_SLIP], exact, 1e-5, "slip on four feet");
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(break_away_in_any_direction), cmocka_unit_test(sliding_obeys_maximum_dissipation),
      cmocka_unit_test(an_octagon_by_its_corners),   cmocka_unit_test(an_ellipse_by_many_corners),
      cmocka_unit_test(soft_finger_by_generators),   cmocka_unit_test(force_and_moment_together),
      cmocka_unit_test(moments_have_their_limits),   cmocka_unit_test(planar_generators),
      cmocka_unit_test(feet_share_the_set),          cmocka_unit_test(order_two_across_borders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
