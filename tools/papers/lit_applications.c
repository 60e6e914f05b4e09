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

static double output(const run *r, const char *name) {
  double value = 0;
  ss_error error = {0};
  if (ss_sim_output_named(r->sim, name, &value, &error) != SS_OK) die("%s", error.message);
  return value;
}

/* How far the cantilever bends where the tip of the nose, `depth` below the tooth, stands on the tooth's inner corner: the corner at
 * (-1.8, 0.3) mm from the root comes to lie at 0.24 mm. */
static double bend_by_geometry(void) {
  double angle = 0;
  for (int k = 0; k < 50; k++) angle = asin((0.3 * cos(angle) - 0.24) / 1.8);
  return angle;
}

static void insertion(page *p) {
  static const char *const shapes[] = {"ramp=0", "ramp=0.2", "ramp=0.4"};
  static const double ramps[] = {0, 0.2, 0.4};
  series force[3] = {{0}}, bend[3] = {{0}};
  page_text(
      p,
      "\n### Force over depth\n\nA push of 8 mN, h = 1e-5: force between pawl and tooth, and how far the cantilever "
      "bends. The "
      "nose hits the tooth and goes on in jumps: the cantilever swings a hundred times faster than the pawl passes. It "
      "must "
      "bend by %.5f to let the nose pass, by the lengths alone; inertia adds to that.\n\n"
      "| ramp | first touch at [mm] | by hand | largest force [N] | largest bend [rad] | at [mm] "
      "|\n|---|---|---|---|---|---|\n",
      bend_by_geometry());
  for (int i = 0; i < 3; i++) {
    const setup s = {.scene = "pawl", .step = 1e-5, .set = {"F=0.008", shapes[i]}};
    double most = 0, largest = 0, at = 0, first = 0;
    run r;
    run_open(&r, &s);
    while (run_step(&r)) {
      const double depth = 1000 * output(&r, "depth_reached"), f = output(&r, "resistance"), b = output(&r, "bent");
      series_add(&force[i], depth, f);
      series_add(&bend[i], depth, b);
      if (f > 0 && first == 0) first = depth;
      if (b > largest) largest = b, at = depth;
      most = fmax(most, f);
    }
    const double touch =
        1.6 - 0.75 - 0.4 * 0.06 / 0.26 + ramps[i] / 4; /* the nose's front, at the height of the tooth's corner */
    page_text(p, "| %s | %.3f | %.3f | %.3f | %.5f | %.3f |\n", shapes[i] + 5, first, touch, most, largest, at);
    page_check(p, first - touch, 0, 0.015, "pawl: first touch, mm behind that by hand, at most a step, %s", shapes[i]);
    page_check(p, largest / bend_by_geometry(), 1, 1.06, "pawl: largest bend over that by geometry, %s", shapes[i]);
    force[i].label = bend[i].label = shapes[i];
    run_close(&r);
  }
  page_text(p, "\n");
  const panel panels[] = {{"force between pawl and tooth", "depth [mm]", "[N]", force, 3, false, false},
                          {"bend of the cantilever", "depth [mm]", "[rad]", bend, 3, false, false}};
  page_figure(p, "lit-figure-6", "A pawl is pushed into a hole, LIT Figure 6", panels, 2);
  series_release(force, 3);
  series_release(bend, 3);
}

page applications(const char *directory) {
  page p = page_open(directory, "lit-applications", "LIT section 10.3: a rover and a pawl");
  rover(&p);
  pawl(&p);
  insertion(&p);
  page_close(&p);
  return p;
}
