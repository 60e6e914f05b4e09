/* The ledger of springs too stiff for the step: the energy of their linearisation has a name of its own, and the rest is that of rigid
 * links. */
#include "scene_runner.h"

static const char chain[] =
    "planar: xy\n"
    "parameters: {k: 1e6, d: 1e3}\n"
    "materials: [{name: default, friction: 0.3, restitution: 0}]\n"
    "world:\n"
    "  shapes: [{type: half-space, normal: [0, 1], offset: 0}, {type: half-space, normal: [-1, 0], offset: -3}]\n"
    "bodies:\n"
    "  - {name: a, mass: 1, position: [0, 0.25], velocity: [4, 0], shapes: [{type: box, size: [0.5, 0.5]}]}\n"
    "  - {name: b, mass: 2, position: [1, 0.25], velocity: [4, 0], shapes: [{type: box, size: [0.5, 0.5]}]}\n"
    "  - {name: c, mass: 0.5, position: [0.5, 1.2], velocity: [4, 0], shapes: [{type: box, size: [0.3, 0.3]}]}\n"
    "forces:\n"
    "  - {type: spring-damper, between: [a, b], stiffness: k, damping: d}\n"
    "  - {type: spring-damper, between: [a, c], stiffness: k, damping: d, anchors: [[0, 0.25], [0, 0]]}\n"
    "  - {type: spring-damper, between: [b, c], stiffness: k, damping: d, anchors: [[0, 0.25], [0, 0]]}\n"
    "simulation: {scheme: trapezoidal, step: 0.02, duration: 2}\n";

static ss_report report_of(const char *k, const char *d, double step) {
  run r;
  run_parse(&r, chain, &(change){.step = step, .set = {k, d}});
  run_finish(&r);
  const ss_report report = *ss_sim_report(r.sim);
  run_close(&r);
  return report;
}

/* Thousands of joules in a scene that has 41: all of them under that name, and the run ends like that of softer links. */
static void stiff_links_are_rigid_links(void **state) {
  (void)state;
  const ss_energy soft = report_of("k=1e6", "d=1e3", 0.02).energy;
  const struct { const char *k, *d; } cases[] = {{"k=1e9", "d=1e6"}, {"k=1e12", "d=1e9"}};
  for (int i = 0; i < 2; i++) {
    const ss_report r = report_of(cases[i].k, cases[i].d, 0.02);
    assert_true(r.certificate.certified && r.certificate.sound);
    assert_true(r.energy.linearization > 1);
    check_below(fabs(r.energy.remainder - r.energy.linearization), 1e-6, "the rest of the remainder");
    check_near(r.energy.final, soft.final, 0.01, "energy at the end");
    check_near(r.energy.friction_loss, soft.friction_loss, 0.01, "friction");
    check_near(r.energy.impact_loss, soft.impact_loss, 0.01, "impacts");
  }
  const double coarse = report_of("k=1e9", "d=1e6", 0.01).energy.linearization;
  const double fine = report_of("k=1e9", "d=1e6", 0.005).energy.linearization;
  assert_true(fabs(fine) < fabs(coarse) / 3);
}

/* Without damping, too, and under every scheme that takes springs implicitly: the chain comes to rest where that of rigid links does. */
static void undamped_links_are_rigid_links(void **state) {
  (void)state;
  static const char *const schemes[] = {"trapezoidal", "moreau", "anitescu-potra-stiff"};
  static const char *const springs[][2] = {{"k=1e6", "d=0"}, {"k=1e9", "d=0"}, {"k=1e12", "d=0"}, {"k=1e10", "d=1e7"}};
  for (int s = 0; s < 3; s++)
    for (int i = 0; i < 4; i++) {
      run r;
      run_parse(&r, chain, &(change){.scheme = schemes[s], .set = {springs[i][0], springs[i][1]}});
      run_finish(&r);
      const ss_certificate *c = &ss_sim_report(r.sim)->certificate;
      assert_true(c->certified && c->sound);
      check_near(run_position(&r, 0).x, 1.74985, 1.5e-4, "a"); /* 1.74985, 2.74985 with joints instead */
      check_near(run_position(&r, 1).x, 2.74985, 1.5e-4, "b");
      check_near(run_position(&r, 2).y, 1.2, 5e-5, "height of c");
      run_close(&r);
    }
}

/* A spring that the step resolves has nothing of it: its errors are the scheme's remainder, as ever. */
static void soft_springs_have_none(void **state) {
  (void)state;
  const ss_report r = report_of("k=500", "d=1", 0.005);
  assert_true(r.energy.linearization == 0 && r.energy.stiff_elastic == 0 && r.energy.stiff_damping == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stiff_links_are_rigid_links),
      cmocka_unit_test(undamped_links_are_rigid_links),
      cmocka_unit_test(soft_springs_have_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
