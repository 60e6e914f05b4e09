/* Fixed friction polygons: a block that a rotating force drives over a table, whose slip passes from corner to corner, stays
 * on the borders between them, stops and starts, against an event-driven integration that shares nothing with the
 * library. */
#include "scene_runner.h"

#define G  9.81
#define PI 3.14159265358979323846

/* ---- the reference: Runge-Kutta between events, which are found by bisection ---- */

/* A block of mass 1 under the force (amplitude cos(omega t), amplitude sin(omega t)), with friction from the polygon with
 * `corners` corners of size mu, the first one at the angle heading + spin t. A square that bounds both axes separately
 * has its corners at 45 degrees and is larger by sqrt(2). */
typedef struct law {
  double mu, amplitude, omega, heading, spin;
  int corners;
} law;

typedef enum mode { CORNER, FACET, STUCK } mode;

typedef struct block {
  double t, x, y, vx, vy;
  mode mode;
  int index; /* of the corner that carries, or of the first of two */
  int changes;
} block;

static double corner_angle(const law *l, double t, double index) {
  return l->heading + l->spin * t + 2 * PI * index / l->corners;
}

static void drive(const law *l, double t, double f[2]) {
  f[0] = l->amplitude * cos(l->omega * t);
  f[1] = l->amplitude * sin(l->omega * t);
}

/* Friction on a facet that keeps the slip along its normal: its part along the facet, and the most that it can be. */
static double facet_force(const law *l, const block *b, double *most) {
  const double angle = corner_angle(l, b->t, b->index + 0.5);
  double f[2];
  drive(l, b->t, f);
  const double speed = -(cos(angle) * b->vx + sin(angle) * b->vy); /* slip = -speed (cos, sin) */
  *most = l->mu * G * sin(PI / l->corners);
  return -speed * l->spin - (-sin(angle) * f[0] + cos(angle) * f[1]);
}

static void acceleration(const law *l, const block *b, double a[2]) {
  double f[2], most;
  drive(l, b->t, f);
  a[0] = a[1] = 0;
  if (b->mode == STUCK) return;
  if (b->mode == CORNER) {
    const double angle = corner_angle(l, b->t, b->index);
    a[0] = f[0] + l->mu * G * cos(angle);
    a[1] = f[1] + l->mu * G * sin(angle);
    return;
  }
  const double angle = corner_angle(l, b->t, b->index + 0.5), along = facet_force(l, b, &most);
  const double across = l->mu * G * cos(PI / l->corners);
  a[0] = f[0] + across * cos(angle) - along * sin(angle);
  a[1] = f[1] + across * sin(angle) + along * cos(angle);
}

static block shifted(const block *b, double h, const double *rate) {
  block s = *b;
  s.t += h, s.x += h * rate[0], s.y += h * rate[1], s.vx += h * rate[2], s.vy += h * rate[3];
  return s;
}

static void rates(const law *l, const block *b, double *rate) {
  rate[0] = b->vx, rate[1] = b->vy;
  acceleration(l, b, rate + 2);
}

static block runge_kutta(const law *l, const block *b, double h) {
  double k[4][4], mean[4];
  block s = *b;
  rates(l, &s, k[0]);
  s = shifted(b, h / 2, k[0]);
  rates(l, &s, k[1]);
  s = shifted(b, h / 2, k[1]);
  rates(l, &s, k[2]);
  s = shifted(b, h, k[2]);
  rates(l, &s, k[3]);
  for (int i = 0; i < 4; i++) mean[i] = (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) / 6;
  return shifted(b, h, mean);
}

/* Positive while the mode lasts: i = 0, 1 the two borders of a corner's sector, or the two ends of a facet; 2: slip left. */
static double lasts(const law *l, const block *b, int i) {
  double most, f[2];
  if (b->mode == STUCK) {
    drive(l, b->t, f);
    double worst = -HUGE_VAL; /* over all facets */
    for (int k = 0; k < l->corners; k++) {
      const double angle = corner_angle(l, b->t, k + 0.5);
      worst = fmax(worst, f[0] * cos(angle) + f[1] * sin(angle));
    }
    return i == 0 ? l->mu * G * cos(PI / l->corners) - worst : 1;
  }
  if (b->mode == CORNER) {
    const double angle = corner_angle(l, b->t, b->index + (i == 0 ? 0.5 : -0.5));
    const double across = b->vy * cos(angle) - b->vx * sin(angle);
    return i == 2 ? 1 : i == 0 ? across : -across;
  }
  const double angle = corner_angle(l, b->t, b->index + 0.5);
  if (i == 2) return -(cos(angle) * b->vx + sin(angle) * b->vy);
  const double along = facet_force(l, b, &most);
  return i == 0 ? most - along : most + along;
}

/* What follows where lasts(i) has come to zero. */
static void change_mode(const law *l, block *b, int i) {
  const int n = l->corners;
  double most, f[2];
  b->changes++;
  if (b->mode == CORNER) { /* on a border: held there, or through */
    block facet = *b;
    facet.mode = FACET;
    facet.index = (b->index + (i == 0 ? 0 : n - 1)) % n;
    const double along = facet_force(l, &facet, &most);
    if (fabs(along) <= most)
      *b = facet;
    else
      b->index = (b->index + (i == 0 ? 1 : n - 1)) % n;
  } else if (b->mode == FACET && i < 2) {
    b->mode = CORNER;
    b->index = (b->index + (i == 0 ? 1 : 0)) % n; /* the far end along the facet, or the near one */
  } else {
    const bool stops = b->mode == FACET;
    b->mode = STUCK;
    b->vx = b->vy = 0;
    if (stops && lasts(l, b, 0) > 0) return;
    drive(l, b->t, f); /* it slides along the normal of the facet that cannot hold it */
    double worst = -HUGE_VAL;
    for (int k = 0; k < n; k++) {
      const double angle = corner_angle(l, b->t, k + 0.5), push = -(f[0] * cos(angle) + f[1] * sin(angle));
      if (push > worst) worst = push, b->index = k;
    }
    b->mode = FACET;
  }
}

static block integrate(const law *l, block b, double duration, double h) {
  while (b.t < duration - 1e-13) {
    double step = fmin(h, duration - b.t);
    block next = runge_kutta(l, &b, step);
    int first = -1;
    for (int i = 0; i < 3; i++) {
      if (lasts(l, &next, i) > 0) continue;
      double low = 0, high = step;
      for (int k = 0; k < 60; k++) {
        const double middle = (low + high) / 2;
        const block s = runge_kutta(l, &b, middle);
        if (lasts(l, &s, i) > 0)
          low = middle;
        else
          high = middle;
      }
      first = i;
      step = high;
      next = runge_kutta(l, &b, step);
    }
    b = next;
    if (first >= 0) change_mode(l, &b, first);
  }
  return b;
}

/* The mode of a slip that is on no border. */
static block start(const law *l, double vx, double vy) {
  block b = {.vx = vx, .vy = vy};
  for (b.index = 0; b.index < l->corners; b.index++)
    if (lasts(l, &b, 0) > 0 && lasts(l, &b, 1) > 0) return b;
  fail_msg("the slip is on a border");
  return b;
}

/* ---- the library ---- */

static const char driven[] =
    "parameters: {mu: 0.3, amplitude: 6, omega: 2, heading: 0, spin: 0, vx: 0.1, vy: -2}\n"
    "materials: [{name: default, friction: mu, restitution: 0}]\n"
    "contacts: [{between: [block, world], polygon: fixed, axis: [cos(heading), sin(heading), 0]}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies: [{name: block, mass: 1, inertia: [0.1, 0.1, 0.1], freedom: [x, y, z, rz], position: [0, 0, 0],\n"
    "          velocity: [vx, vy, 0], angular_velocity: [0, 0, spin], shapes: [{type: point}]}]\n"
    "forces: [{type: applied, on: block, force: [amplitude*cos(omega*t), amplitude*sin(omega*t), 0]}]\n"
    "simulation: {scheme: trapezoidal, step: 2^-7, duration: 3, residual: 1e-9,\n"
    "  events: [collision, stick-slip, take-off, facet], friction: {cone: polyhedral}}\n";

typedef struct motion {
  const char *name;
  law law;
  double vx, vy, duration;
  ss_cone cone;
} motion;

static double error_of(const motion *m, const char *scheme, double h, const block *exact, double *velocity,
                       long *told) {
  run r;
  const double values[] = {
      m->law.mu, m->law.amplitude, m->law.omega, m->law.heading - (m->cone ? PI / 4 : 0), m->law.spin, m->vx};
  const char *const names[] = {"mu", "amplitude", "omega", "heading", "spin", "vx"};
  char text[6][64];
  change c = {.scheme = scheme, .step = h, .duration = m->duration, .cone = m->cone};
  if (!m->cone) c.directions = m->law.corners;
  for (int i = 0; i < 6; i++) {
    (void)snprintf(text[i], sizeof text[i], "%s=%.17g", names[i], i == 0 && m->cone ? values[i] / sqrt(2) : values[i]);
    c.set[i] = text[i];
  }
  run_parse(&r, driven, &c);
  run_finish(&r);
  const ss_vec3 p = run_position(&r, 0), v = run_velocity(&r, 0);
  *told = ss_sim_report(r.sim)->events[SS_FACET] + ss_sim_report(r.sim)->events[SS_STICK] +
          ss_sim_report(r.sim)->events[SS_SLIP];
  run_close(&r);
  *velocity = hypot(v.x - exact->vx, v.y - exact->vy);
  return hypot(p.x - exact->x, p.y - exact->y);
}

static const motion motions[] = {
    {"square, rotating force", {0.3, 6, 2, 0, 0, 4}, 0.1, -2, 3, SS_CONE_POLYHEDRAL},
    {"octagon, rotating force", {0.3, 6, 2, 0, 0, 8}, 0.1, -2, 3, SS_CONE_POLYHEDRAL},
    {"octagon, turned", {0.3, 6, 2, 0.37, 0, 8}, 0.1, -2, 3, SS_CONE_POLYHEDRAL},
    {"square, spinning", {0.3, 6, 2, 0.2, 1.3, 4}, 0.1, -2, 3, SS_CONE_POLYHEDRAL},
    {"octagon, spinning", {0.3, 6, 2, 0.2, -0.7, 8}, 0.1, -2, 3, SS_CONE_POLYHEDRAL},
    {"hexagon, weak force", {0.3, 2.5, 2, 0.1, 0, 6}, 0.1, -2, 3, SS_CONE_POLYHEDRAL},
    {"pyramid, rotating force", {0.3, 6, 2, PI / 4, 0, 4}, 0.1, -2, 3, SS_CONE_PYRAMID},
    {"pyramid, spinning", {0.3, 6, 2, 0.9, 0.8, 4}, 0.1, -2, 3, SS_CONE_PYRAMID},
};

static block reference(const motion *m) { return integrate(&m->law, start(&m->law, m->vx, m->vy), m->duration, 1e-3); }

/* Orders within 1.9 and 2.1 over six halvings, and every change of corners, stop and start told once. */
static void second_order_through_facets(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof motions / sizeof *motions; i++) {
    const motion *m = &motions[i];
    const block exact = reference(m);
    double before = NAN, velocity;
    assert_true(exact.changes > 1);
    for (int k = 5; k <= 11; k++) {
      long told;
      const double error = error_of(m, "trapezoidal", ldexp(1, -k), &exact, &velocity, &told);
      const double order = log2(before / error);
      if (k > 5 && fabs(order - 2) > 0.1) print_error("%s, 2^-%d: order %g\n", m->name, k, order);
      if (k > 5) assert_true(fabs(order - 2) <= 0.1);
      if (told != exact.changes) print_error("%s, 2^-%d: %ld events\n", m->name, k, told);
      assert_int_equal(told, exact.changes);
      before = error;
    }
  }
}

/* The others are of first order, and have the same limit. */
static void first_order_schemes_agree(void **state) {
  (void)state;
  const char *const schemes[] = {"moreau", "stewart-trinkle", "anitescu-potra"};
  for (size_t i = 0; i < sizeof motions / sizeof *motions; i++) {
    const block exact = reference(&motions[i]);
    for (int s = 0; s < 3; s++) {
      double velocity, error[2];
      long told;
      for (int k = 0; k < 2; k++)
        error[k] = error_of(&motions[i], schemes[s], ldexp(1, -6 - 3 * k), &exact, &velocity, &told);
      if (!(error[1] < error[0] / 5 && error[1] < 0.05))
        print_error("%s, %s: %g -> %g\n", motions[i].name, schemes[s], error[0], error[1]);
      assert_true(error[1] < error[0] / 5 && error[1] < 0.05);
    }
  }
}

/* ---- several contacts ---- */

static const char tripod[] =
    "materials: [{name: default, friction: 0.3, restitution: 0}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies:\n"
    "  - {name: stool, mass: 1, inertia: [0.01, 0.012, 0.02], position: [0, 0, 0.05], orientation: {axis: z, angle: "
    "0.3},\n"
    "     velocity: [1.5, 0.4, 0], angular_velocity: [0, 0, 4],\n"
    "     shapes: [{type: point, position: [0.2, 0, -0.05]}, {type: point, position: [-0.12, 0.18, -0.05]},\n"
    "              {type: point, position: [-0.1, -0.16, -0.05]}]}\n"
    "simulation: {scheme: trapezoidal, step: 0.01, duration: 1, residual: 1e-9,\n"
    "  events: [collision, stick-slip, take-off, facet], friction: {cone: polyhedral, directions: 8, polygon: "
    "fixed}}\n";

static ss_vec3 tripod_end(const change *c) {
  run r;
  run_parse(&r, tripod, c);
  run_finish(&r);
  const ss_vec3 p = run_position(&r, 0);
  assert_true(ss_sim_report(r.sim)->events[SS_STICK] >= 3 && ss_sim_report(r.sim)->events[SS_FACET] >= 3);
  check_below(v3_norm(run_velocity(&r, 0)) + v3_norm(run_turn(&r, 0)), 1e-8, "speed at rest");
  run_close(&r);
  return p;
}

/* A stool that slides, spins and comes to rest: its three feet pass and follow borders of their polygons at other times. */
static void stool_converges(void **state) {
  (void)state;
  const ss_cone cones[] = {SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID};
  for (int i = 0; i < 2; i++) {
    const ss_vec3 exact = tripod_end(&(change){.cone = cones[i], .step = ldexp(1, -14)});
    double before = NAN;
    for (int k = 7; k <= 11; k++) {
      const double error = run_distance(tripod_end(&(change){.cone = cones[i], .step = ldexp(1, -k)}), exact);
      const double order = log2(before / error);
      if (k > 7 && fabs(order - 2) > 0.1) print_error("cone %d, 2^-%d: order %g\n", i, k, order);
      if (k > 7) assert_true(fabs(order - 2) <= 0.1);
      before = error;
    }
  }
}

/* ---- at rest ---- */

static const char pulled[] =
    "parameters: {heading: 0, fx: 0, fy: 0}\n"
    "materials: [{name: default, friction: 0.5}]\n"
    "contacts: [{between: [world, block], polygon: fixed, axis: [cos(heading), sin(heading), 0]}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies: [{name: block, mass: 1, freedom: [x, y, z], position: [0, 0, 0], shapes: [{type: point}]}]\n"
    "forces: [{type: applied, on: block, force: [fx, fy, 0]}]\n"
    "simulation: {step: 0.01, duration: 0.1, residual: 1e-9, events: [collision, stick-slip, take-off, facet]}\n";

static ss_vec3 pulled_way(double heading, double fx, double fy, const change *given) {
  run r;
  change c = *given;
  char text[3][64];
  const double values[] = {heading, fx, fy};
  const char *const names[] = {"heading", "fx", "fy"};
  for (int i = 0; i < 3; i++) {
    (void)snprintf(text[i], sizeof text[i], "%s=%.17g", names[i], values[i]);
    c.set[i] = text[i];
  }
  run_parse(&r, pulled, &c);
  run_finish(&r);
  const ss_vec3 p = run_position(&r, 0);
  run_close(&r);
  return p;
}

/* A block holds as long as the pull lies inside the polygon, and goes along the normal of the facet that gives way. */
static void polygon_holds_what_it_contains(void **state) {
  (void)state;
  static const char *const schemes[] = {"trapezoidal", "moreau", "stewart-trinkle"};
  for (int i = 0; i < 24; i++) {
    const int corners = i % 3 == 0 ? 4 : i % 3 == 1 ? 6 : 12;
    const double heading = 0.4 * i, angle = 1.1 * i + 0.05, sector = 2 * PI / corners;
    const change c = {.scheme = schemes[i % 2 + (i % 5 == 0)], .directions = corners};
    const double off = fmod(fmod(angle - heading, sector) + sector, sector) - sector / 2; /* from the facet's normal */
    const double limit = 0.5 * G * cos(sector / 2) / cos(off);
    check_below(v3_norm(pulled_way(heading, 0.999 * limit * cos(angle), 0.999 * limit * sin(angle), &c)), 1e-10, "way");
    const double pull = 1.01 * limit;
    const ss_vec3 gone = pulled_way(heading, pull * cos(angle), pull * sin(angle), &c);
    const ss_vec3 normal = v3(cos(angle - off), sin(angle - off), 0);
    const double way = v3_dot(gone, normal);
    assert_true(way > 1e-5);
    check_below(v3_norm(v3_axpy(gone, -way, normal)), 1e-10, "way along the facet");
  }
  /* the pyramid holds each axis on its own: a pull of 0.9 of the limit along both holds, more along one gives way there */
  const change box = {.scheme = "trapezoidal", .cone = SS_CONE_PYRAMID};
  check_below(v3_norm(pulled_way(0, 0.45 * G, 0.45 * G, &box)), 1e-10, "way of a diagonal pull");
  const ss_vec3 gone = pulled_way(0, 0.6 * G, 0.45 * G, &box);
  check_near(gone.x, 0.1 * G * 0.005, 1e-10, "way along the axis that gives way");
  check_below(fabs(gone.y), 1e-10, "way along the other axis");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(second_order_through_facets),
      cmocka_unit_test(first_order_schemes_agree),
      cmocka_unit_test(stool_converges),
      cmocka_unit_test(polygon_holds_what_it_contains),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
