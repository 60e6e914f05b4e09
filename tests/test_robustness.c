/* Hard cases: extreme friction, masses and spins, bodies that jam or tip, chains that hit the floor, forces that blow up.
 * Every run ends, is certified, and does not make energy. */
#include "scene_runner.h"

static void no_energy_from_nothing(const run *r, double share) {
  const ss_report *report = ss_sim_report(r->sim);
  const double scale = fabs(report->energy.initial) + fabs(report->energy.work) + report->energy.kinetic;
  check_below(report->certificate.energy_created, share * scale, "energy created");
}

/* ---- friction ---- */

static const char sliding_box[] = "parameters: {mu: 0.5, v: 3, high: 0.2, vy: 0}\n"
                                  "materials: [{name: default, friction: mu, restitution: 0}]\n"
                                  "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
                                  "bodies:\n"
                                  "  - {name: box, mass: 1, position: [0, 0, high/2], velocity: [v, vy, 0], shapes: "
                                  "[{type: box, size: [0.4, 0.4, high]}]}\n"
                                  "simulation: {scheme: trapezoidal, step: 0.005, duration: 3}\n";

/* A flat box slides v^2/(2 mu g) and stays there; without friction it goes on. */
static void flat_box_slides_its_distance(void **state) {
  (void)state;
  const char *const frictions[] = {"mu=0", "mu=1e-9", "mu=0.1", "mu=0.5", "mu=0.9"};
  const double mu[] = {0, 1e-9, 0.1, 0.5, 0.9};
  for (int i = 0; i < 5; i++) {
    run r;
    run_parse(&r, sliding_box, &(change){.set = {frictions[i], "v=2", "vy=1", "high=0.05"}});
    run_finish(&r);
    const double speed = sqrt(5), stop = mu[i] > 0 ? speed / (mu[i] * 9.81) : HUGE_VAL;
    const double way = stop > 3 ? speed * 3 - mu[i] * 9.81 * 9 / 2 : speed * stop / 2;
    check_near(hypot(run_position(&r, 0).x, run_position(&r, 0).y), way, mu[i] * 9.81 * 0.005 * 0.005 / 2 + 1e-10,
               "way of the box"); /* it stops at the end of a step */
    check_near(run_position(&r, 0).z, 0.025, 1e-12, "height of the box");
    no_energy_from_nothing(&r, 1e-12);
    run_close(&r);
  }
}

/* With so much friction the front edge stops at once and the box tips over it, or falls back. */
static void sticky_box_tips(void **state) {
  (void)state;
  const char *const frictions[] = {"mu=1", "mu=10", "mu=1e6"}, *const heights[] = {"high=0.2", "high=1", "high=3"};
  const char *const schemes[] = {"stewart-trinkle", "anitescu-potra", "moreau", "trapezoidal"};
  for (int s = 0; s < 4; s++)
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) {
        run r;
        run_parse(&r, sliding_box, &(change){.scheme = schemes[s], .set = {frictions[i], heights[k], "v=3"}});
        while (!ss_sim_done(r.sim)) run_step(&r);
        run_check(&r);
        const ss_certificate *c = &ss_sim_report(r.sim)->certificate;
        if (c->penetration > 2e-3 || c->energy_created > 1e-9)
          print_error("%s %s %s\n", schemes[s], frictions[i], heights[k]);
        check_below(c->penetration, 2e-3, "penetration");
        no_energy_from_nothing(&r, 1e-10);
        run_close(&r);
      }
}

/* A ladder between a rough floor and a smooth wall slips below tan(angle) = 1/(2 mu). */
static const char ladder[] =
    "planar: xy\n"
    "parameters: {mu: 0.4, angle: 1, l: 1}\n"
    "materials: [{name: default, friction: 0, restitution: 0}, {name: foot, friction: mu, restitution: 0}]\n"
    "world:\n"
    "  shapes:\n"
    "    - {type: half-space, normal: [0, 1, 0], offset: 0, material: foot}\n"
    "    - {type: half-space, normal: [1, 0, 0], offset: 0}\n"
    "bodies:\n"
    "  - name: ladder\n"
    "    mass: 1\n"
    "    inertia: 1/12\n"
    "    position: [cos(angle)/2, sin(angle)/2]\n"
    "    orientation: pi - angle\n"
    "    shapes:\n"
    "      - {type: point, position: [-l/2, 0, 0], material: foot}\n"
    "      - {type: point, position: [l/2, 0, 0]}\n"
    "simulation: {scheme: moreau, step: 0.002, duration: 2}\n";

static void ladder_stands_or_slides(void **state) {
  (void)state;
  char angle[64];
  for (int i = 0; i < 4; i++) {
    const double limit = atan(1 / (2 * 0.4));
    const double margins[] = {1e-3, 0.2, -1e-3, -0.2};
    const char *const schemes[] = {"moreau", "trapezoidal", "stewart-trinkle", "anitescu-potra"};
    for (int s = 0; s < 4; s++) {
      run r;
      (void)snprintf(angle, sizeof angle, "angle=%.17g", limit + margins[i]);
      run_parse(&r, ladder, &(change){.scheme = schemes[s], .set = {angle}});
      const ss_vec3 start = run_position(&r, 0);
      run_finish(&r);
      const double moved = run_distance(run_position(&r, 0), start);
      if (margins[i] > 0) {
        check_below(moved, 1e-12, "way of a ladder that stands");
      } else {
        assert_true(moved > 1e-3);
        check_below(ss_sim_report(r.sim)->certificate.penetration, 2e-3, "penetration");
      }
      no_energy_from_nothing(&r, 1e-10);
      run_close(&r);
    }
  }
}

/* ---- stacks and masses ---- */

static void stack_text(char *text, size_t size, const double *mass, int n, const char *shape, double height) {
  int used = snprintf(text, size,
                      "materials: [{name: default, friction: 0.5, restitution: 0}]\n"
                      "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
                      "bodies:\n");
  for (int i = 0; i < n; i++)
    used += snprintf(text + used, size - (size_t)used,
                     "  - {name: b%d, mass: %.17g, position: [0, 0, %.17g], shapes: [{%s}]}\n", i, mass[i],
                     height * (i + 0.5), shape);
  (void)snprintf(text + used, size - (size_t)used, "simulation: {scheme: moreau, step: 0.01, duration: 0.5}\n");
}

/* Boxes on boxes and balls exactly on balls stay, whatever their masses. */
static void stacks_stand(void **state) {
  (void)state;
  static const double masses[][3] = {{1, 1, 1}, {1, 1e3, 1e-3}, {1e-3, 1, 1e3}, {1e6, 1, 1e-6}, {1e-3, 1e3, 1e-3}};
  static const struct {
    const char *shape;
    double height;
  } shapes[] = {{"type: box, size: [0.4, 0.4, 0.2]", 0.2}, {"type: sphere, radius: 0.1", 0.2}};
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < 5; i++)
      for (const ss_table_row *scheme = ss_table_schemes(); scheme->name && scheme_is_rigid(scheme->name); scheme++) {
        char text[2048];
        run r;
        stack_text(text, sizeof text, masses[i], 3, shapes[s].shape, shapes[s].height);
        run_parse(&r, text, &(change){.scheme = scheme->name});
        run_finish(&r);
        for (int k = 0; k < 3; k++) {
          const double off = run_distance(run_position(&r, k), v3(0, 0, shapes[s].height * (k + 0.5)));
          if (off > 1e-9)
            print_error("%s, masses %d, %s: body %d off by %g\n", scheme->name, i, shapes[s].shape, k, off);
          check_below(off, 1e-9, "place in the stack");
        }
        no_energy_from_nothing(&r, 1e-10);
        run_close(&r);
      }
}

static const char collapse[] =
    "parameters: {m: 1, e: 0}\n"
    "materials: [{name: default, friction: 0.4, restitution: e}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies:\n"
    "  - {name: a, mass: 1, position: [0, 0, 0.1], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: b, mass: 1, position: [0.2, 0, 0.1], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: c, mass: m, position: [0.1, 0.03, 0.6], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: d, mass: 1, position: [0.1, 0.02, 0.95], shapes: [{type: box, size: [0.3, 0.2, 0.1]}]}\n"
    "simulation: {scheme: moreau, step: 0.005, duration: 3}\n";

/* Schemes that hold contacts at velocity level let them drift, the less the smaller the step. */
static void heap_collapses(void **state) {
  (void)state;
  const char *const masses[] = {"m=1", "m=1e4", "m=1e-4"}, *const restitutions[] = {"e=0", "e=0.5"};
  const char *const schemes[] = {"stewart-trinkle", "anitescu-potra", "moreau", "trapezoidal"};
  for (int s = 0; s < 4; s++)
    for (int i = 0; i < 3; i++)
      for (int e = 0; e < 2; e++)
        for (double h = 0.005; h > 0.001; h /= 4) {
          run r;
          run_parse(&r, collapse, &(change){.scheme = schemes[s], .step = h, .set = {masses[i], restitutions[e]}});
          run_finish(&r);
          const double depth = ss_sim_report(r.sim)->certificate.penetration;
          if (depth > 3 * h) print_error("%s %s %s h %g\n", schemes[s], masses[i], restitutions[e], h);
          check_below(depth, 3 * h, "penetration");
          no_energy_from_nothing(&r, e == 0 ? 1e-9 : 1e-6);
          run_close(&r);
        }
}

/* ---- what random scenes have found ---- */

/* A capsule wedged between floor, wall and box: where contacts are held at position level, a penetration at rounding level
 * cannot be pushed out. */
static const char wedged_capsule[] =
    "planar: xy\n"
    "materials: [{name: default, friction: 1, restitution: 0.3}]\n"
    "world: {shapes: [{type: half-space, normal: [0.378428, 0.925631, 0], offset: 0}, "
    "{type: half-space, normal: [1, 0, 0], offset: -1.5}, {type: half-space, normal: [-1, 0, 0], "
    "offset: -1.5}]}\n"
    "bodies:\n"
    "  - {name: b0, mass: 1.589, position: [0.4180, 1.0000], velocity: [-0.326, -0.833], "
    "orientation: 0, shapes: [{type: capsule, radius: 0.062, length: 0.137, axis: x}]}\n"
    "  - {name: b1, mass: 0.6655, position: [-0.4017, 1.6000], velocity: [0.949, -1.238], "
    "orientation: 1.528, shapes: [{type: box, size: [0.356, 0.426, 0.285]}]}\n"
    "  - {name: b2, mass: 0.7125, position: [-0.4319, 2.2000], velocity: [-0.337, 0.357], "
    "orientation: 0, shapes: [{type: box, size: [0.411, 0.420, 0.346]}]}\n"
    "simulation: {scheme: stewart-trinkle, step: 0.002, duration: 3, events: [collision, "
    "stick-slip], friction: {cone: polyhedral, directions: 8}}\n";

/* A heap in a trough: bases of the pivoting method that are singular. */
static const char heap_in_a_trough[] =
    "materials: [{name: default, friction: 0.5, restitution: 0}]\n"
    "world: {shapes: [{type: half-space, normal: [-0.265973, 0, 0.96398], offset: 0}, "
    "{type: half-space, normal: [1, 0, 0], offset: -1.5}, {type: half-space, normal: [-1, 0, 0], "
    "offset: -1.5}]}\n"
    "bodies:\n"
    "  - {name: b0, mass: 0.9366, position: [0.2530, 0.1750, 1.0000], velocity: [0.555, -0.057, "
    "0.116], orientation: {rpy: [0, 0.000, 0.117]}, shapes: [{type: capsule, radius: 0.042, "
    "length: 0.479, axis: x}]}\n"
    "  - {name: b1, mass: 0.5594, position: [0.2078, 0.1382, 1.6000], velocity: [0.437, 1.135, "
    "-0.211], orientation: {rpy: [0, 0.000, -2.013]}, shapes: [{type: box, size: [0.253, 0.281, "
    "0.250]}]}\n"
    "  - {name: b2, mass: 0.9527, position: [0.5076, 0.1932, 2.2000], velocity: [-0.055, 1.160, "
    "-1.202], orientation: {rpy: [0, 1.427, 2.364]}, shapes: [{type: box, size: [0.309, 0.134, "
    "0.499]}]}\n"
    "  - {name: b3, mass: 0.6195, position: [0.2977, 0.0452, 2.8000], velocity: [-0.595, -0.493, "
    "0.780], orientation: {rpy: [0, 0.000, -2.889]}, shapes: [{type: sphere, radius: 0.061}]}\n"
    "  - {name: b4, mass: 2.216, position: [0.3131, 0.1432, 3.4000], velocity: [-0.554, 0.625, "
    "-0.503], orientation: {rpy: [0, -0.128, 1.645]}, shapes: [{type: box, size: [0.115, 0.281, "
    "0.342]}]}\n"
    "simulation: {scheme: gavrea, alpha: 0.5, gamma: 0.5, step: 0.02, duration: 3, "
    "friction: {cone: polyhedral, directions: 8}}\n";

/* A box that tumbles over a ball by 0.6 in a step would sink into it by half its size. */
static const char tumbling_box[] =
    "planar: xy\n"
    "materials: [{name: default, friction: 0, restitution: 0}]\n"
    "world: {shapes: [{type: half-space, normal: [0.0806945, 0.996739, 0], offset: 0}, "
    "{type: half-space, normal: [1, 0, 0], offset: -1.5}, {type: half-space, normal: [-1, 0, 0], "
    "offset: -1.5}]}\n"
    "bodies:\n"
    "  - {name: b0, mass: 1.106, position: [-0.5580, 1.0000], velocity: [-0.175, -2.029], "
    "orientation: 0, shapes: [{type: box, size: [0.399, 0.182, 0.325]}]}\n"
    "  - {name: b1, mass: 0.977, position: [0.0365, 1.6000], velocity: [1.179, -0.445], "
    "orientation: 0, shapes: [{type: capsule, radius: 0.098, length: 0.327, axis: x}]}\n"
    "  - {name: b2, mass: 0.3982, position: [0.0891, 2.2000], velocity: [-0.642, -0.587], "
    "orientation: -0.530, shapes: [{type: sphere, radius: 0.059}]}\n"
    "  - {name: b3, mass: 2.09, position: [-0.2647, 2.8000], velocity: [0.405, -0.944], "
    "orientation: -0.890, shapes: [{type: sphere, radius: 0.062}]}\n"
    "  - {name: b4, mass: 2.415, position: [0.5321, 3.4000], velocity: [-0.336, 0.254], "
    "orientation: -0.717, shapes: [{type: box, size: [0.231, 0.243, 0.119]}]}\n"
    "simulation: {scheme: anitescu-potra, step: 0.02, duration: 3, events: [collision], "
    "friction: {cone: polyhedral, directions: 8}}\n";

static void found_scenes_run(void **state) {
  (void)state;
  const char *const texts[] = {wedged_capsule, heap_in_a_trough, tumbling_box};
  const double depth[] = {1e-3, 1e-3, 0.015};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    run r;
    run_parse(&r, texts[i], &(change){.duration = 2});
    run_finish(&r);
    check_below(ss_sim_report(r.sim)->certificate.penetration, depth[i], "penetration");
    no_energy_from_nothing(&r, 1e-9);
    run_close(&r);
  }
}

/* ---- spin ---- */

static const char top[] =
    "gravity: [0, 0, 0]\n"
    "parameters: {w: 100}\n"
    "bodies:\n"
    "  - {name: top, mass: 1, inertia: [1, 2, 3], position: [0, 0, 0], angular_velocity: [0.01*w, w, 0.01*w]}\n"
    "simulation: {scheme: trapezoidal, step: 0.01, duration: 2}\n";

/* From a small turn per step to several whole ones. */
static void fast_spin_stays_bounded(void **state) {
  (void)state;
  const char *const spins[] = {"w=1", "w=100", "w=1000", "w=1e5"};
  for (const ss_table_row *scheme = ss_table_schemes(); scheme->name && scheme_is_rigid(scheme->name); scheme++)
    for (int i = 0; i < 4; i++) {
      run r;
      run_parse(&r, top, &(change){.scheme = scheme->name, .set = {spins[i]}});
      double largest = 0;
      while (!ss_sim_done(r.sim)) {
        run_step(&r);
        largest = fmax(largest, ss_sim_report(r.sim)->energy.kinetic);
      }
      run_check(&r);
      const double ratio = largest / ss_sim_report(r.sim)->energy.initial;
      if (ratio > 1.1) print_error("%s %s: energy grows %.3g times\n", scheme->name, spins[i], ratio);
      check_below(ratio, 1.1, "growth of the energy");
      run_close(&r);
    }
}

/* ---- chains ---- */

static void chain_falls_on_the_floor(void **state) {
  (void)state;
  enum { LINKS = 8 };
  char text[8192];
  for (int s = 0; s < 4; s++)
    for (int e = 0; e < 2; e++) {
      const char *const schemes[] = {"stewart-trinkle", "anitescu-potra", "moreau", "trapezoidal"};
      int used = snprintf(text, sizeof text,
                          "planar: xy\n"
                          "parameters: {e: 0}\n"
                          "materials: [{name: default, friction: 0.3, restitution: e}]\n"
                          "world: {shapes: [{type: half-space, normal: [0, 1, 0], offset: -0.4}]}\n"
                          "bodies:\n");
      for (int i = 0; i < LINKS; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  - {name: l%d, mass: 0.1, position: [%g, 0], shapes: [{type: capsule, radius: 0.02, length: "
                         "0.08, axis: x}]}\n",
                         i, 0.1 * i + 0.05);
      used += snprintf(text + used, sizeof text - (size_t)used, "joints:\n");
      for (int i = 0; i < LINKS; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  - {type: revolute, between: [%s%.*d, l%d], at: [%g, 0, 0]}\n", i ? "l" : "world", i ? 1 : 0,
                         i ? i - 1 : 0, i, 0.1 * i);
      used += snprintf(text + used, sizeof text - (size_t)used, "contacts:\n");
      for (int i = 0; i + 1 < LINKS; i++)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "  - {between: [l%d, l%d], collide: false}\n", i, i + 1);
      (void)snprintf(text + used, sizeof text - (size_t)used,
                     "simulation: {scheme: moreau, step: 0.002, duration: 2}\n");
      run r;
      run_parse(&r, text, &(change){.scheme = schemes[s], .set = {e ? "e=0.5" : "e=0"}});
      run_finish(&r);
      const ss_report *report = ss_sim_report(r.sim);
      check_below(report->certificate.joint_drift, 1e-10, "joint drift");
      no_energy_from_nothing(&r, 1e-10);
      check_below(report->certificate.penetration, 5e-3, "penetration");
      run_close(&r);
    }
}

/* ---- the ledger ---- */

/* What the ledger cannot explain is the scheme's own error, and goes away with the step. */
static void remainder_of_the_ledger_shrinks(void **state) {
  (void)state;
  const char *const scenes[] = {"four-balls", "falling-rod", "double-pendulum-wall", "two-carts-damper",
                                "torque-free-body"};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    for (const ss_table_row *scheme = ss_table_schemes(); scheme->name && scheme_is_rigid(scheme->name); scheme++) {
      double remainder[2];
      for (int k = 0; k < 2; k++) {
        run r;
        const double h = (i == 3 ? 0.0005 : 0.01) / (k ? 8 : 1); /* an explicit damper needs h < 1/delta */
        run_open(&r, scenes[i], &(change){.scheme = scheme->name, .step = h, .duration = 1});
        run_finish(&r);
        remainder[k] = fabs(ss_sim_report(r.sim)->energy.remainder);
        run_close(&r);
      }
      if (remainder[1] > remainder[0] / 3 + 1e-9)
        print_error("%s %s: %g, %g\n", scenes[i], scheme->name, remainder[0], remainder[1]);
      check_below(remainder[1], remainder[0] / 3 + 1e-9, "remainder of the ledger");
    }
}

/* ---- forces without bound ---- */

static const char explosion[] =
    "planar: xy\n"
    "parameters: {mu: 0.3}\n"
    "materials: [{name: default, friction: mu, restitution: 0}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 1, 0], offset: 0}]}\n"
    "bodies:\n"
    "  - {name: block, mass: 1, freedom: [x, y], position: [0, 0], shapes: [{type: point}]}\n"
    "forces:\n"
    "  - {type: applied, on: block, force: [\"%s\", 0, 0]}\n"
    "simulation: {scheme: trapezoidal, step: 0.1, duration: 2}\n";

/* The run stops with a status and the state before the step, still finite. */
static void force_that_blows_up_stops_the_run(void **state) {
  (void)state;
  const char *const forces[] = {"1/max(0, 1 - t)", "1e300^(1 + sign(t - 0.95))", "log(1 - t)", "sqrt(1 - t)",
                                "1e308*t*t"};
  for (const ss_table_row *scheme = ss_table_schemes(); scheme->name && scheme_is_rigid(scheme->name); scheme++)
    for (size_t i = 0; i < sizeof forces / sizeof *forces; i++) {
      char text[1024];
      run r;
      ss_error error = {0};
      (void)snprintf(text, sizeof text, explosion, forces[i]);
      run_parse(&r, text, &(change){.scheme = scheme->name});
      ss_status status = SS_OK;
      double t = 0;
      while (status == SS_OK && !ss_sim_done(r.sim)) {
        t = ss_sim_state(r.sim)->t;
        status = ss_sim_step(r.sim, &error);
      }
      if (status == SS_OK) print_error("%s under %s ran to the end\n", forces[i], scheme->name);
      assert_int_equal(status, SS_ERROR_UNCERTIFIED);
      assert_true(strlen(error.message) > 10);
      assert_true(ss_sim_state(r.sim)->t == t && t < 2);
      assert_false(ss_sim_report(r.sim)->certificate.certified);
      for (int k = 0; k < 7; k++) assert_true(isfinite(ss_sim_state(r.sim)->q[k]));
      for (int k = 0; k < 2; k++) assert_true(isfinite(ss_sim_state(r.sim)->v[k]));
      run_close(&r);
    }
}

/* ---- many contacts that repeat each other, in very short parts ---- */

/* Four rolling wheels hold a rover in more directions than it has; their rows agree with each other up to what the steps before have left.
 * A part of a microsecond has no impulses to put that right. */
static void rover_with_all_events(void **state) {
  (void)state;
  run r;
  ss_error error = {0};
  run_open(&r, "rover", &(change){.step = 0.0025, .duration = 0.7});
  ss_simulation options = r.scene->simulation;
  ss_sim *sim = NULL;
  options.step = 0.0025;
  options.duration = 0.7;
  options.has_events = true;
  options.events = SS_EVENT_COLLISION | SS_EVENT_STICK_SLIP | SS_EVENT_TAKE_OFF;
  run_require(ss_sim_create(r.model, &options, &sim, &error), &error, "create");
  while (!ss_sim_done(sim)) run_require(ss_sim_step(sim, &error), &error, "step");
  const ss_certificate *c = &ss_sim_report(sim)->certificate;
  assert_true(c->certified && c->sound);
  check_below(c->penetration, 1e-4, "penetration");
  ss_sim_destroy(sim);
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_box_slides_its_distance),
      cmocka_unit_test(sticky_box_tips),
      cmocka_unit_test(ladder_stands_or_slides),
      cmocka_unit_test(stacks_stand),
      cmocka_unit_test(heap_collapses),
      cmocka_unit_test(found_scenes_run),
      cmocka_unit_test(fast_spin_stays_bounded),
      cmocka_unit_test(chain_falls_on_the_floor),
      cmocka_unit_test(remainder_of_the_ledger_shrinks),
      cmocka_unit_test(force_that_blows_up_stops_the_run),
      cmocka_unit_test(rover_with_all_events),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
