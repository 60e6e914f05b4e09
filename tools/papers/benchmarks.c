/* Benchmarks with exact solutions, beside the printed results of other programs:
 *   A02         the N-four-bar of the IFToMM library, N = 2; generalized alpha as the Exudyn documentation prints it
 *   rolling     25 balls on a box that is pushed, SimBenchmark: mean of |v ball - exact|^2 + |v box - exact|^2
 *   bouncing    elastic balls, SimBenchmark: mean of (E - E0)^2
 *   the rotating ball of Capobianco, Harsch, Eugster, Leine (2021), example 10.1 */
#include "papers.h"

#include <math.h>

static void four_bar(page *p) {
  const double exact[2] = {0.3284581115, 0.9445185382}; /* the exact reduction to one angle, t = 10 */
  const double theirs[2] = {0.3284112372, 0.9445348375};
  const double distance = hypot(theirs[0] - exact[0], theirs[1] - exact[1]);
  run r;
  double energy = 0;
  run_open(&r, &(setup){.scene = "four-bar", .step = 1e-3});
  const double start = run_report(&r)->energy.initial;
  while (run_step(&r)) {
    const ss_energy *e = &run_report(&r)->energy;
    energy = fmax(energy, fabs(e->kinetic + e->potential - start));
  }
  const ss_vec3 b = run_position(&r, 3); /* a coupler's middle: it does not turn, its end is half a metre to the left */
  const double own = hypot(b.x - 0.5 - exact[0], b.y - exact[1]);
  page_text(
      p,
      "## IFToMM A02, N = 2\n\n`four-bar`, h = 1e-3, t = 10 s; Exudyn (generalized alpha) as published.\n\n"
      "| quantity | Exudyn | here |\n|---|---|---|\n| distance of B0 from the exact solution | %.2e m | %.2e m |\n"
      "| largest change of energy | 1.1e-3 J | %.1e J |\n\n",
      distance, own, energy);
  page_check(p, own, 0, distance, "A02: distance at the end, below Exudyn's");
  page_check(p, energy, 0, 1.1e-3, "A02: energy, below Exudyn's");
  run_close(&r);
}

/* ---- SimBenchmark ---- */

static double square(ss_vec3 v, double speed, double angle) {
  const double x = v.x - speed * cos(angle), y = v.y - speed * sin(angle);
  return x * x + y * y + v.z * v.z;
}

/* Mean over steps, of box and of the worst ball. */
static double rolling_error(const char *scheme, const char *direction, double angle) {
  const double box = (150 - 0.4 * 35 * 9.81) / (10 + 25 * 2.0 / 7), ball = box * 2 / 7;
  run r;
  double sum = 0;
  long n = 0;
  run_open(&r,
           &(setup){.scene = "rolling-balls", .scheme = scheme, .step = 1e-3, .duration = 0.25, .set = {direction}});
  while (run_step(&r)) {
    const double t = ss_sim_state(r.sim)->t;
    double worst = 0;
    for (int k = 1; k <= 25; k++) worst = fmax(worst, square(ss_sim_motion(r.sim, k).velocity, ball * t, angle));
    sum += square(ss_sim_motion(r.sim, 0).velocity, box * t, angle) + worst;
    n++;
  }
  run_close(&r);
  return sum / (double)n;
}

static void rolling(page *p) {
  const double pi = 3.14159265358979323846;
  page_text(
      p,
      "## SimBenchmark, rolling\n\n"
      "`rolling-balls`: a box of 10 kg slides (mu = 0.4), 25 balls of 1 kg roll on it (mu = 0.8), 150 N along y or at "
      "60 degrees. Mean squared error of the velocities, h = 1e-3; the published ones over 4 s, ours over the first "
      "0.25 s, the worst ball.\n\n"
      "| program | at 60 degrees | along y |\n|---|---|---|\n"
      "| RaiSim | 4.1e-7 | 4.1e-7 |\n| Bullet | 5.7e-9 | 4.9e-9 |\n| Bullet, 400 iterations | 3.9e-27 | |\n"
      "| ODE, quick (pyramid) | 3.145 | 7.7e-9 |\n| DART | 3.145 | 0.426 |\n");
  const char *const schemes[] = {"anitescu-potra", "trapezoidal"};
  for (int i = 0; i < 2; i++) {
    const double skew = rolling_error(schemes[i], "direction=60 deg", pi / 3);
    const double straight = rolling_error(schemes[i], "direction=90 deg", pi / 2);
    page_text(p, "| `%s` | %s | %s |\n", schemes[i], skew < 1e-20 ? "below 1e-20" : "above 1e-20",
              straight < 1e-20 ? "below 1e-20" : "above 1e-20");
    page_check(p, skew, 0, 1e-20, "rolling, %s, 60 degrees", schemes[i]);
    page_check(p, straight, 0, 1e-20, "rolling, %s, along y", schemes[i]);
  }
}

static void elastic_balls(page *p) {
  const double count = 490; /* 49 balls of 10 kg; ours is one of 1 kg, and all do the same */
  page_text(p, "\n## SimBenchmark, bouncing\n\n"
               "49 elastic balls of 10 kg fall from 5 m and bounce for 20 s; mean of (E - E0)^2, E0 = 24034.5 J. They "
               "never meet: ours is one ball (`bouncing-ball`, e = 1, H = 4.9), its energy times that of all.\n\n"
               "| h | RaiSim | ODE | Bullet | here, `trapezoidal` |\n|---|---|---|---|---|\n");
  static const double steps[] = {1e-3, 1e-2, 1e-1};
  static const char *const published[] = {"0.0186 | 185 | 7.5e4", "186 | 1.9e4 | 7.4e6", "1.8e6 | 2.0e6 | 7.7e8"};
  for (int i = 0; i < 3; i++) {
    run r;
    double sum = 0;
    long n = 0;
    run_open(&r, &(setup){.scene = "bouncing-ball", .step = steps[i], .duration = 20, .set = {"e=1", "H=4.9"}});
    const double start = run_report(&r)->energy.initial;
    while (run_step(&r)) {
      const ss_energy *e = &run_report(&r)->energy;
      const double change = count * (e->kinetic + e->potential - start);
      sum += change * change;
      n++;
    }
    run_close(&r);
    page_text(p, "| %g | %s | %s |\n", steps[i], published[i], sum / (double)n < 1e-12 ? "below 1e-12" : "above 1e-12");
    page_check(p, sum / (double)n, 0, 1e-12, "bouncing, h = %g: mean squared energy error", steps[i]);
  }
  page_text(p, "\nImpacts are located inside the step, and between them the method is exact for a constant force.\n\n");
}

/* ---- the rotating ball ---- */

typedef struct spin {
  const char *set[6];
  double until;    /* s after the impact */
  double velocity; /* of the ball then, exact */
  double turning;
  const char *what;
} spin;

static void rotating_ball(page *p) {
  static const spin cases[] = {
      {{"v=0", "H=0.9", "e=0", "w=50"}, 0.001, 0, 0, "mu = 0.2, e = 0, 50 rad/s: sliding"},
      {{"v=0", "H=0.9", "e=0", "w=50"}, 0.5, -10.0 / 7, 100.0 / 7, "the same: rolling"},
      {{"v=0", "H=0.9", "e=0", "w=10"}, 0.5, -2.0 / 7, 20.0 / 7, "mu = 0.2, e = 0, 10 rad/s: sticks in the impact"},
  };
  const double g = 9.81, mu = 0.2, arm = 0.1, fall = sqrt(1.8 / g), arrival = sqrt(1.8 * g);
  page_text(
      p,
      "## A rotating ball\n\n"
      "Capobianco, Harsch, Eugster, Leine (2021), example 10.1: a spinning ball (m = 1, r = 0.1, I = 2/5 m r^2) falls "
      "from 1 m; `bounce-and-roll` with v = 0, H = 0.9. Exact by hand.\n\n"
      "| case | velocity | exact | rate of turning | exact |\n|---|---|---|---|---|\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const spin *c = &cases[i];
    setup s = {.scene = "bounce-and-roll", .step = ldexp(1, -8), .duration = fall + c->until};
    for (int k = 0; k < 4; k++) s.set[k] = c->set[k];
    run r;
    run_open(&r, &s);
    run_to_end(&r);
    const ss_motion m = ss_sim_motion(r.sim, 0);
    const double sliding = -mu * (arrival + g * c->until); /* impulse of friction so far, while it slides */
    const double v = c->velocity != 0 ? c->velocity : sliding,
                 w = c->velocity != 0 ? c->turning : 50 + sliding / (0.4 * arm);
    page_text(p, "| %s | %.6f | %.6f | %.6f | %.6f |\n", c->what, m.velocity.x, v, m.angular_velocity.z, w);
    page_check(p, fabs(m.velocity.x - v), 0, 1e-9, "rotating ball, case %zu: velocity", i + 1);
    page_check(p, fabs(m.angular_velocity.z - w), 0, 1e-8, "rotating ball, case %zu: turning", i + 1);
    if (i == 1) {
      const double slip = 50 * arm - 3.5 * mu * arrival, end = fall + slip / (3.5 * mu * g);
      double stuck = (double)NAN;
      for (int k = 0; k < r.n_events; k++)
        if (r.events[k].kind == SS_STICK) stuck = r.events[k].t;
      page_check(p, fabs(stuck - end), 0, 1e-9, "rotating ball: end of sliding (exactly %.6f s)", end);
    }
    run_close(&r);
  }
}

page benchmarks(const char *directory) {
  page p = page_open(directory, "benchmarks", "Benchmarks with exact solutions");
  page_text(&p,
            "Numbers of other programs are the published ones, from their own machines and settings; SimBenchmark is "
            "leggedrobotics/SimBenchmark, rows with ERP = CFM = 0.\n\n");
  four_bar(&p);
  rolling(&p);
  elastic_balls(&p);
  rotating_ball(&p);
  page_close(&p);
  return p;
}
