/* LIT section 10.3: a rover with an arm, a pawl that is pushed into a hole. The paper shows pictures and no numbers: what is
 * shown here is that both run, converge with the step and keep their joints. */
#include "papers.h"

#include <math.h>

enum { ROVER_STEPS = 3, CHASSIS = 0, PAWL = 0 };

static void rover(page *p) {
  double way[ROVER_STEPS], drift = 0, depth = 0;
  page_text(
      p,
      "## Rover\n\n`scenes/rover.yaml`: four driven wheels, a front axle that rocks, an arm of two driven links, rough "
      "ground; 2 s with `trapezoidal`. Slip: 1 - v/(R w), mean over the run.\n\n"
      "| h | distance [m] | slip | joint drift | deepest contact [m] |\n|---|---|---|---|---|\n");
  for (int k = 0; k < ROVER_STEPS; k++) {
    const setup s = {.scene = "rover", .step = ldexp(0.01, -k), .duration = 2};
    run r;
    run_open(&r, &s);
    const double start = run_position(&r, CHASSIS).x;
    run_to_end(&r);
    const ss_certificate *c = &run_report(&r)->certificate;
    way[k] = run_position(&r, CHASSIS).x - start;
    drift = fmax(drift, c->joint_drift);
    depth = c->penetration;
    page_text(p, "| %g | %.5f | %.4f | %.1e | %.1e |\n", s.step, way[k], 1 - way[k] / (0.15 * 4 * 2), c->joint_drift,
              depth);
    run_close(&r);
  }
  page_check(p, drift, 0, 1e-9, "rover: joint drift");
  page_check(p, depth, 0, 1e-3, "rover: deepest contact");
  page_check(p, fabs(way[2] - way[1]), 0, 0.0025, "rover: distance, h = 0.005 and 0.0025");
  page_check(p, way[2], 1.1, 1.225, "rover: distance, rolling would be 1.2");
}

static void pawl(page *p) {
  static const struct {
    const char *scheme;
    double step;
    const char *push;
  } cases[] = {{"trapezoidal", 1e-5, "F=0.02"}, {"trapezoidal", 2e-5, "F=0.012"}, {"moreau", 1e-5, "F=0.012"},
               {"moreau", 2e-5, "F=0.02"},      {"trapezoidal", 2e-5, "F=0.008"}, {"stewart-trinkle", 1e-5, "F=0.02"}};
  page_text(p, "\n## Pawl\n\n`scenes/pawl.yaml`: a pawl of 2.3 mm passes the tooth of a cantilever, a revolute joint "
               "with a stiff "
               "torsional spring, and ends at the stop 2.05 mm further on. `studies/pawl-hole.yaml` varies the bevel "
               "of the tooth: a "
               "square one needs a push of 12 mN, a bevelled one 8 mN.\n\n"
               "| scheme | h | push | way [mm] | joint drift |\n|---|---|---|---|---|\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const setup s = {.scene = "pawl", .scheme = cases[i].scheme, .step = cases[i].step, .set = {cases[i].push}};
    run r;
    run_open(&r, &s);
    const double start = run_position(&r, PAWL).x;
    run_to_end(&r);
    const double way = 1000 * (run_position(&r, PAWL).x - start);
    page_text(p, "| %s | %g | %s N | %.4f | %.1e |\n", s.scheme, s.step, cases[i].push + 2, way,
              run_report(&r)->certificate.joint_drift);
    page_check(p, way, 2.049, 2.051, "pawl: way in mm, %s, h = %g, %s", s.scheme, s.step, cases[i].push);
    run_close(&r);
  }
}

page applications(const char *directory) {
  page p = page_open(directory, "lit-applications", "LIT section 10.3: a rover and a pawl");
  rover(&p);
  pawl(&p);
  page_close(&p);
  return p;
}
