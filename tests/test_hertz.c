/* Patches against the classical solutions of contact mechanics: Hertz, Cattaneo and Mindlin. */
#include "scene_runner.h"

enum { SIDE = 15, ELEMENTS = SIDE * SIDE };

static const double radius = 1e-3, sphere = 0.01, spacing = 1e-3 / 6.8, pi = 3.14159265358979323846;

static double radius_of(int count) { return spacing * sqrt(count / pi); }

static void hertz(void **state) {
  (void)state;
  run r;
  run_open(&r, "hertz", NULL);
  run_finish(&r);
  ss_element_report e[ELEMENTS];
  assert_int_equal(ss_sim_elements(r.sim, 0, e, ELEMENTS), ELEMENTS);
  const double load = 4.0 / 3 * 1e9 / (1 - 0.09) * radius * radius * radius / sphere;
  const double peak = 1.5 * load / (pi * radius * radius);
  check_near(sphere - run_position(&r, 0).z, radius * radius / sphere, 0.03 * radius * radius / sphere, "approach");
  double total = 0, worst = 0, mean = 0;
  int closed = 0, inside = 0;
  for (int i = 0; i < ELEMENTS; i++) {
    total += e[i].force[0];
    closed += e[i].closed;
    const double x = hypot(e[i].place[0], e[i].place[1]) / radius;
    if (x > 0.85) continue; /* further out an element is half in, half out */
    const double pressure = e[i].force[0] / (spacing * spacing), exact = peak * sqrt(1 - x * x);
    worst = fmax(worst, fabs(pressure / peak - exact / peak));
    mean += pressure / exact, inside++;
  }
  print_message("radius %.4f a, approach %.4f, pressure worst %.4f p0, mean ratio %.4f\n", radius_of(closed) / radius,
                (sphere - run_position(&r, 0).z) * sphere / radius / radius, worst, mean / inside);
  check_near(total, load, 1e-6 * load, "load");
  check_near(radius_of(closed), radius, 0.03 * radius, "contact radius");
  check_below(worst, 0.03, "pressure distribution, in units of its peak");
  run_close(&r);
}

/* Two elastic spheres of different materials and sizes, not along an axis, in other units: 11 x 11 elements, so that a row of
 * them is 9 % of the radius. */
static void hertz_of_two_spheres(void **state) {
  (void)state;
  static const char text[] =
      "parameters: {R: 10, Q: 20, a: 1, E: 1e6, F: 3e5, modulus: 1/((1 - 0.3^2)/E + (1 - 0.45^2)/F), R1: 1/(1/R + "
      "1/Q),\n"
      "  load: 4/3*modulus*a^3/R1, omega: sqrt(2*modulus*a/0.05)}\n"
      "gravity: [0, 0, 0]\n"
      "materials: [{name: one, compliance: {young: E, poisson: 0.3}}, {name: other, compliance: {young: F, poisson: "
      "0.45}}]\n"
      "bodies:\n"
      "  - {name: a, mass: 0.1, position: [R/3, 2*R/3, 2*R/3], shapes: [{type: sphere, radius: R, material: one}]}\n"
      "  - {name: b, mass: 0.1, position: [-Q/3, -2*Q/3, -2*Q/3], shapes: [{type: sphere, radius: Q, material: "
      "other}]}\n"
      "forces:\n"
      "  - {type: applied, on: a, force: [-load/3, -2*load/3, -2*load/3]}\n"
      "  - {type: applied, on: b, force: [load/3, 2*load/3, 2*load/3]}\n"
      "compliance: {elements: 11, spacing: 0.2*a, damping: {rayleigh: [0, 2/omega]}}\n"
      "simulation: {scheme: compliant-theta, theta: 0, step: 0.235/omega, duration: 25/omega}\n";
  enum { FEWER = 121 };
  run r;
  run_parse(&r, text, NULL);
  run_finish(&r);
  ss_element_report e[FEWER];
  assert_int_equal(ss_sim_elements(r.sim, 0, e, FEWER), FEWER);
  const double modulus = 1 / ((1 - 0.09) / 1e6 + (1 - 0.2025) / 3e5), smaller = 1 / (1 / 10.0 + 1 / 20.0);
  const double load = 4.0 / 3 * modulus / smaller;
  double total = 0, moment = 0;
  for (int i = 0; i < FEWER; i++) {
    total += e[i].force[0];
    moment += e[i].force[0] * (e[i].place[0] * e[i].place[0] + e[i].place[1] * e[i].place[1]);
  }
  const double approach = 30 - run_distance(run_position(&r, 0), run_position(&r, 1));
  print_message("radius %.4f, approach %.4f\n", sqrt(2.5 * moment / total), approach * smaller);
  check_near(total, load, 1e-6 * load, "load");
  check_near(sqrt(2.5 * moment / total), 1, 0.04, "contact radius");
  check_near(approach, 1 / smaller, 0.03 / smaller, "approach");
  run_close(&r);
}

/* What the traction field says: radii from second moments, <r^2> = 2/5 radius^2 of a Hertzian distribution. The pressure
 * has radius a, and what friction lacks to its limit, mu p - t, has the stick radius c (Johnson 7.2). */
typedef struct radii {
  double a, c, ratio; /* ratio: Q / (mu F) */
  int held, closed;   /* elements */
} radii;

static radii measure_radii(const run *r) {
  ss_element_report e[ELEMENTS];
  assert_int_equal(ss_sim_elements(r->sim, 0, e, ELEMENTS), ELEMENTS);
  radii out = {0};
  double push[2] = {0}, press = 0, press_moment = 0, lack = 0, lack_moment = 0;
  for (int i = 0; i < ELEMENTS; i++) {
    push[0] += e[i].force[1], push[1] += e[i].force[2];
    press += e[i].force[0];
    out.closed += e[i].closed;
    out.held += e[i].closed && hypot(e[i].force[1], e[i].force[2]) < 0.97 * 0.3 * e[i].force[0];
  }
  const double Q = hypot(push[0], push[1]);
  for (int i = 0; i < ELEMENTS; i++) {
    const double square = e[i].place[0] * e[i].place[0] + e[i].place[1] * e[i].place[1];
    const double lacks = 0.3 * e[i].force[0] - (push[0] * e[i].force[1] + push[1] * e[i].force[2]) / Q;
    press_moment += e[i].force[0] * square;
    lack += lacks;
    lack_moment += lacks * square;
  }
  out.a = sqrt(2.5 * press_moment / press);
  out.c = sqrt(2.5 * lack_moment / lack);
  out.ratio = Q / (0.3 * press);
  return out;
}

/* One run, seen while the tangential load grows and when it has settled. */
static void cattaneo_mindlin(void **state) {
  (void)state;
  static const double when[] = {0.030, 0.035, 0.055}, ratio[] = {0.4, 0.6, 0.8};
  run r;
  double before = radius;
  run_open(&r, "cattaneo-mindlin", &(change){.set = {"ratio=0.8"}, .duration = 0.055});
  for (int k = 0; k < 3; k++) {
    while (ss_sim_state(r.sim)->t < when[k] - 1e-9) run_step(&r);
    const radii found = measure_radii(&r);
    const double expected = cbrt(1 - found.ratio);
    print_message("Q = %.3f mu F: c/a %.4f of %.4f; by counting elements %.4f\n", found.ratio, found.c / found.a,
                  expected, sqrt((double)found.held / found.closed));
    check_near(found.ratio, ratio[k], 0.01, "tangential load");
    check_near(found.a, radius, 0.03 * radius, "contact radius");
    check_near(found.c / found.a, expected, 0.03 * expected, "stick radius");
    check_near(sqrt((double)found.held / found.closed), expected, 0.05 * expected, "stick radius by counting");
    assert_true(found.c < before);
    before = found.c;
  }
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(hertz), cmocka_unit_test(hertz_of_two_spheres),
                                     cmocka_unit_test(cattaneo_mindlin)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
