/* BVP (12), (13), (5): boundary-value problems of compliant contact, initial and final deformations, stiffness that depends on the place.
 * The paper proves convergence and has no numbers: those here are closed forms, and solutions of the continuous problem
 * by an event-driven integration and Newton's method, which share nothing with the library. */
#include "papers.h"

#include <stickslip/bvp.h>

#include <math.h>

/* The solution whose first unknown is nearest to `near`, that unknown; and how many were found. */
static double nearest(const char *scene, double step, const char *const *set, int n_set, int unknown, double near,
                      int *found) {
  char path[1024];
  ss_error error = {0};
  ss_scene *s = NULL;
  ss_bvp_result *result = NULL;
  (void)snprintf(path, sizeof path, "%s/%s.yaml", scene_directory, scene);
  if (ss_scene_load(path, set, n_set, &s, &error) != SS_OK) die("%s: %s", scene, error.message);
  ss_simulation options = s->simulation;
  options.step = step;
  if (ss_bvp_solve(s, &options, set, n_set, &result, &error) != SS_OK) die("%s: %s", scene, error.message);
  double best = (double)NAN;
  for (int i = 0; i < result->n_solutions; i++) {
    const double x = result->solutions[i].unknown[unknown];
    if (isnan(best) || fabs(x - near) < fabs(best - near)) best = x;
  }
  *found = result->n_solutions;
  ss_bvp_result_destroy(result);
  ss_scene_destroy(s);
  return best;
}

/* While the contact sticks, the shear is that of a damped oscillator: delta(T) = a delta(0) - b v. */
static double pressed_exact(double m, double k, double c, double start, double end, double t) {
  const double decay = c / (2 * m), omega = sqrt(k / m - decay * decay), e = exp(-decay * t);
  const double a = e * (cos(omega * t) + decay / omega * sin(omega * t)), b = e * sin(omega * t) / omega;
  return -(end - a * start) / b;
}

static void pressed_block(page *p) {
  static const char *const other[] = {"m=1.7", "k=3e4", "kt=900", "ct=9", "shear=-2e-4", "wanted=1.5e-4"};
  const double exact[2] = {pressed_exact(1, 400, 4, 1e-4, 3e-4, 0.3), pressed_exact(1.7, 900, 9, -2e-4, 1.5e-4, 0.3)};
  page_text(
      p,
      "## Deformations at both ends, BVP (12) and (13)\n\n`scenes/bvp-pressed-block.yaml`: a block on ground that is "
      "sheared at "
      "t = 0 must leave it with another shear. Closed form: a damped oscillator. Solutions in which the block slips "
      "first "
      "exist, too, and are found.\n\n| parameters | h | vx(0) | closed form | difference |\n|---|---|---|---|---|\n");
  for (int i = 0; i < 2; i++) {
    double before = (double)NAN;
    for (int k = 0; k < 3; k++) {
      int found;
      const double h = ldexp(4e-4, -k);
      const double v = nearest("bvp-pressed-block", h, i ? other : NULL, i ? 6 : 0, 0, exact[i], &found);
      const double error = fabs(v - exact[i]);
      page_text(p, "| %s | %g | %.8f | %.8f | %.1e |\n", i ? "m = 1.7, kt = 900, ct = 9" : "the scene's", h, v,
                exact[i], error);
      if (k > 0) page_check(p, log2(before / error), 0.9, 1.1, "pressed block %d: order, h = %g", i + 1, h);
      before = error;
    }
    page_check(p, before / fabs(exact[i]), 0, 0.005, "pressed block %d: relative error, h = 1e-4", i + 1);
  }
}

static void limits(page *p) {
  static const struct {
    const char *scene, *name;
    int unknown, steps, least;
    double exact, band;
  } cases[] = {{"bvp-soft-bounce", "vz(0) of the ball that bounces", 2, 3, 2, -2.20291, 0.002},
               {"bvp-three-pucks", "vx(0) of the first puck", 0, 2, 1, 0.879027, 0.0005}};
  page_text(p, "\n## Against the continuous problem\n\nThe step's errors are of first order; two of them give the "
               "limit by extrapolation. The continuous "
               "problem was integrated from event to event with the same laws of contact and solved by Newton's "
               "method. (The soft bounce has two "
               "more solutions there, vz = 0.95910 and 1.40265: the scheme loses a little energy in the bounce, and "
               "they appear below h = 2e-4.)"
               "\n\n| scene | h | found | value | limit so far | continuous |\n|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double before = (double)NAN, limit = (double)NAN;
    for (int k = 0; k < cases[i].steps; k++) {
      int found;
      const double h = ldexp(1e-3, -k),
                   x = nearest(cases[i].scene, h, NULL, 0, cases[i].unknown, cases[i].exact, &found);
      limit = 2 * x - before;
      page_text(p, "| %s: %s | %g | %d | %.5f |", cases[i].scene, cases[i].name, h, found, x);
      if (k > 0) page_text(p, " %.5f", limit);
      page_text(p, " | %.5f |\n", cases[i].exact);
      if (k == 0) page_check(p, found, cases[i].least, 9, "%s: solutions found", cases[i].scene);
      before = x;
    }
    page_check(p, fabs(limit - cases[i].exact), 0, cases[i].band, "%s: extrapolated, off the continuous one",
               cases[i].scene);
  }
}

/* Quasi-static: the ground's reaction is the weight, and the stiffness work is that of K(x) d^2/2 with d = m g/K. */
static void stiffening_ground(page *p) {
  static const double y = 0.09950913447307053, work = 0.002413429470680009; /* integrated with 1e-11 */
  double before = (double)NAN;
  page_text(
      p,
      "\n## K(q) and C(q), BVP (5)\n\n`scenes/soft-to-hard-ground.yaml`: the ground's stiffness grows with x. "
      "Reference: m y'' = K(x) d + C(x) d' - m g "
      "integrated with tolerance 1e-11.\n\n| h | y(2) | off | work of the stiffness | off |\n|---|---|---|---|---|\n");
  for (int k = 0; k < 3; k++) {
    run r;
    const double h = ldexp(1e-3, -k);
    run_open(&r, &(setup){.scene = "soft-to-hard-ground", .step = h});
    run_to_end(&r);
    const double error = fabs(run_position(&r, 0).y - y), done = run_report(&r)->energy.work;
    page_text(p, "| %g | %.10f | %.1e | %.9f | %.1e |\n", h, run_position(&r, 0).y, error, done, fabs(done - work));
    if (k > 0) page_check(p, log2(before / error), 0.9, 1.1, "stiffening ground: order, h = %g", h);
    page_check(p, fabs(done - work) / work, 0, 2e-4, "stiffening ground: work, relative, h = %g", h);
    before = error;
    run_close(&r);
  }
}

page boundary_problems(const char *directory) {
  page p = page_open(directory, "bvp-boundary-problems",
                     "BVP sections 2 and 5: deformations, K(q), boundary-value problems");
  pressed_block(&p);
  limits(&p);
  stiffening_ground(&p);
  page_close(&p);
  return p;
}
