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

static void cattaneo_mindlin(void **state) {
  (void)state;
  static const char *const ratios[] = {"ratio=0.4", "ratio=0.7"};
  static const double ratio[] = {0.4, 0.7};
  double before = radius;
  for (int k = 0; k < 2; k++) {
    run r;
    run_open(&r, "cattaneo-mindlin", &(change){.set = {ratios[k]}});
    run_finish(&r);
    ss_element_report e[ELEMENTS];
    assert_int_equal(ss_sim_elements(r.sim, 0, e, ELEMENTS), ELEMENTS);
    int held = 0, closed = 0; /* what has slipped has come to rest by now, with friction near its limit */
    double push[2] = {0}, press = 0;
    for (int i = 0; i < ELEMENTS; i++) {
      const double friction = hypot(e[i].force[1], e[i].force[2]);
      closed += e[i].closed;
      held += e[i].closed && friction < 0.97 * 0.3 * e[i].force[0];
      push[0] += e[i].force[1], push[1] += e[i].force[2];
      press += e[i].force[0];
    }
    check_near(hypot(push[0], push[1]), ratio[k] * 0.3 * press, 1e-3 * press, "tangential load");
    const double expected = radius_of(closed) * cbrt(1 - ratio[k]);
    print_message("Q = %.1f mu F: stick radius %.4f of %.4f\n", ratio[k], radius_of(held) / radius, expected / radius);
    check_near(radius_of(held), expected, 0.05 * expected, "stick radius");
    assert_true(radius_of(held) < before);
    before = radius_of(held);
    run_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(hertz), cmocka_unit_test(cattaneo_mindlin)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
