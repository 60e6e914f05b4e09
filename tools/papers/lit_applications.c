/* LIT section 10.3: a rover with an arm, a pawl that is pushed into a hole. The paper shows pictures and no numbers: what is
 * shown here is that both run, converge with the step and keep their joints. */
#include "papers.h"

#include <math.h>

enum { ROVER_STEPS = 4, BODIES = 8, CHASSIS = 0, PAWL = 0 };

/* Where the bodies are in the end, and what the page says of the run. */
typedef struct rover_run {
  double start, drift, depth;
  ss_vec3 end[BODIES];
} rover_run;

static rover_run drive(const setup *s) {
  rover_run out = {0};
  run r;
  run_open(&r, s);
  out.start = run_position(&r, CHASSIS).x;
  run_to_end(&r);
  const ss_certificate *c = &run_report(&r)->certificate;
  if (!c->certified) die("rover, h = %g: not certified", s->step);
  out.drift = c->joint_drift;
  out.depth = c->penetration;
  for (int i = 0; i < BODIES; i++) out.end[i] = run_position(&r, i);
  run_close(&r);
  return out;
}

/* Largest distance of a body from where the other run has it. */
static double apart(const rover_run *a, const rover_run *b) {
  double most = 0;
  for (int i = 0; i < BODIES; i++) {
    const ss_vec3 x = a->end[i], y = b->end[i];
    most = fmax(most, sqrt((x.x - y.x) * (x.x - y.x) + (x.y - y.y) * (x.y - y.y) + (x.z - y.z) * (x.z - y.z)));
  }
  return most;
}

static void rover(page *p) {
  static const char *const schemes[] = {"trapezoidal", "moreau"};
  rover_run last = {0};
  page_text(
      p,
      "## Rover\n\n`scenes/rover.yaml`: four driven wheels, a front axle that rocks, an arm of two driven links, rough "
      "ground, 2 s; rolling without slip would be 1.2 m less the run-up. Slip: 1 - v/(R w), mean over the run. The "
      "last "
      "column is the largest distance of a body from where the run with twice the step has it.\n\n"
      "| scheme | h | distance [m] | slip | joint drift | deepest contact [m] | apart [m] |\n"
      "|---|---|---|---|---|---|---|\n");
  for (int i = 0; i < 2; i++) {
    double moved[ROVER_STEPS] = {0}, drift = 0;
    for (int k = 0; k < ROVER_STEPS; k++) {
      const setup s = {.scene = "rover", .scheme = schemes[i], .step = ldexp(0.01, -k), .duration = 2};
      const rover_run now = drive(&s);
      const double way = now.end[CHASSIS].x - now.start;
      drift = fmax(drift, now.drift);
      page_text(p, "| %s | %g | %.5f | %.4f | %.1e | %.1e |", s.scheme, s.step, way, 1 - way / (0.15 * 4 * 2),
                now.drift, now.depth);
      if (k > 0) moved[k] = apart(&now, &last), page_text(p, " %.1e |\n", moved[k]);
      if (k == 0) page_text(p, " |\n");
      last = now;
    }
    page_check(p, drift, 0, 1e-9, "rover, %s: joint drift", schemes[i]);
    page_check(p, last.depth, 0, 1e-4, "rover, %s: deepest contact", schemes[i]);
    page_check(p, moved[ROVER_STEPS - 1], 0, i == 0 ? 1e-3 : 2e-3, "rover, %s: bodies, h = 0.0025 and 0.00125",
               schemes[i]);
    page_check(p, moved[ROVER_STEPS - 1] / moved[1], 0, 0.7, "rover, %s: the same over h = 0.01 and 0.005", schemes[i]);
    page_check(p, last.end[CHASSIS].x - last.start, 1.132, 1.135, "rover, %s: distance", schemes[i]);
  }
  page_text(
      p,
      "\nThe end converges, irregularly. On level ground (the first half second) the order is two once the step "
      "resolves "
      "the start of the arm's motors, 3 ms at their limit. On rough ground wheels of a rigid body on a rigid ground "
      "touch "
      "at one to three points each; contacts change a few hundred times, several of them at nearly one time, and four "
      "wheels driven at one speed must slip somewhere: which one does changes with the contacts. Smoother ground, "
      "smaller facets, `events: [collision, stick-slip, take-off]` and other schemes change nothing in the size of "
      "that "
      "scatter, half a millimetre on 1.1 m.\n");
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
