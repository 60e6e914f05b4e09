/* ST section 5: the falling rod (Figures 4 to 6) and the four balls (Figures 7, 8, Table 1). The paper does not print all
 * parameters; the scenes' own are documented in them. */
#include "papers.h"

#include <math.h>

/* ---- the rod ---- */

enum { STEPS = 5, POSES = 24 };

/* Figure 4: the rod at equal times. */
static void figure_4(page *p) {
  run r;
  series rods = {0};
  run_open(&r, &(setup){.scene = "falling-rod", .step = 0.01});
  const long every = ss_sim_steps_total(r.sim) / POSES;
  do {
    if (ss_sim_state(r.sim)->step % every != 0) continue;
    const ss_pose pose = ss_sim_motion(r.sim, 0).pose;
    const double angle = 2 * atan2(pose.orientation.z, pose.orientation.w);
    for (int end = -1; end <= 1; end += 2)
      series_add(&rods, pose.position.x + end * 0.5 * cos(angle), pose.position.y + end * 0.5 * sin(angle));
    series_break(&rods);
  } while (run_step(&r));
  run_close(&r);
  const panel panels[] = {{"the rod every 0.05 s", "x", "y", &rods, 1, false, true}};
  page_figure(p, "st-figure-4", "ST Figure 4, h = 0.01", panels, 1);
  series_release(&rods, 1);
}

page falling_rod(const char *directory) {
  page p = page_open(directory, "st-falling-rod", "ST section 5: a spinning rod falls on a table");
  static const char *const labels[STEPS] = {"0.04", "0.02", "0.01", "0.005", "0.0025"};
  page_text(&p, "Scene `scenes/falling-rod.yaml` (parameters are our own: the paper does not print them), scheme "
                "`stewart-trinkle`. Velocities converge without chattering: their variation stays bounded.\n\n");
  figure_4(&p);
  const setup exact = {.scene = "falling-rod", .step = 0.04 / 4096};
  history reference = history_record(&exact, 256);
  series vertical[STEPS] = {{0}}, angular[STEPS] = {{0}};
  double error[STEPS][2], variation[STEPS];
  page_text(&p, "| h | velocity error, L1 | position error, max | variation |\n|---|---|---|---|\n");
  for (int i = 0; i < STEPS; i++) {
    const double h = 0.04 / (1 << i);
    const setup s = {.scene = "falling-rod", .step = h};
    run r;
    run_open(&r, &s);
    vertical[i].label = angular[i].label = labels[i];
    while (run_step(&r)) {
      const ss_motion m = ss_sim_motion(r.sim, 0);
      series_add(&vertical[i], ss_sim_state(r.sim)->t, m.velocity.y);
      series_add(&angular[i], ss_sim_state(r.sim)->t, m.angular_velocity.z);
    }
    variation[i] = run_report(&r)->velocity_variation;
    page_check(&p, run_report(&r)->certificate.complementarity, 0, 1e-8, "complementarity residual, h = %g", h);
    run_close(&r);
    history own = history_record(&s, 1);
    const long stride = 16 >> i;
    error[i][0] = error[i][1] = 0;
    for (long k = 0; k < own.n; k++) {
      error[i][0] += h * velocity_error(&own, k, &reference, (k + 1) * stride - 1);
      error[i][1] = fmax(error[i][1], position_error(&own, k, &reference, (k + 1) * stride - 1));
    }
    history_release(&own);
    page_text(&p, "| %g | %.4f | %.4f | %.4f |\n", h, error[i][0], error[i][1], variation[i]);
    page_check(&p, variation[i], 14, 20, "variation, h = %g", h);
  }
  history_release(&reference);
  page_text(&p, "\n");
  for (int k = 0; k < 2; k++)
    page_check(&p, log2(error[0][k] / error[STEPS - 1][k]) / (STEPS - 1), 0.7, 1.3, "mean order of the %s",
               k ? "positions" : "velocities");
  const panel panels[] = {{"vertical velocity", "t", "v", vertical, STEPS, false, false},
                          {"angular velocity", "t", "w", angular, STEPS, false, false}};
  page_figure(&p, "st-figures-5-6", "ST Figures 5 and 6, for five step sizes", panels, 2);
  series_release(vertical, STEPS);
  series_release(angular, STEPS);
  page_close(&p);
  return p;
}

/* ---- the balls ---- */

enum { BALLS = 4 };

static void figures_7_8(page *p) {
  run r;
  series side[BALLS] = {{0}}, above[BALLS] = {{0}};
  run_open(&r, &(setup){.scene = "four-balls", .step = 0.01});
  for (int b = 0; b < BALLS; b++) {
    side[b].label = above[b].label = ss_model_body_name(r.model, b);
  }
  do {
    for (int b = 0; b < BALLS; b++) {
      const ss_vec3 at = run_position(&r, b);
      series_add(&side[b], at.x, at.z);
      series_add(&above[b], at.x, at.y);
    }
  } while (run_step(&r));
  const panel panels[] = {{"elevation", "x", "z", side, BALLS, false, true},
                          {"plan", "x", "y", above, BALLS, false, true}};
  page_text(p, "\n");
  page_figure(p, "st-figures-7-8", "ST Figures 7 and 8, h = 0.01: paths of the centres", panels, 2);
  run_close(&r);
  series_release(side, BALLS);
  series_release(above, BALLS);
}

/* Where the growth of the variation in the table ends. */
static void finer_variation(page *p) {
  double least = HUGE_VAL, most = 0;
  page_text(
      p, "\nThe variation grows over these steps because a coarse step adds up what belongs apart: impacts with each "
         "other and with the flight between them. It is bounded:");
  for (int i = 5; i <= 9; i++) {
    run r;
    run_open(&r, &(setup){.scene = "four-balls", .step = 0.02 / (1 << i)});
    run_to_end(&r);
    const double variation = run_report(&r)->velocity_variation;
    page_text(p, "%s %.2f with h = 0.02/%d", i > 5 ? "," : "", variation, 1 << i);
    least = fmin(least, variation);
    most = fmax(most, variation);
    run_close(&r);
  }
  page_text(p, ".\n");
  page_check(p, most - least, 0, 0.5, "spread of the variation over h = 0.02/32 ... 0.02/512");
}

page four_balls(const char *directory) {
  /* velocity error, position error, variation; the last row of the paper has the variation only */
  static const double printed[STEPS][3] = {{0.5050, 0.2505, 19.4046},
                                           {0.3523, 0.2015, 19.1728},
                                           {0.1657, 0.0838, 19.1702},
                                           {0.0700, 0.0298, 19.0862},
                                           {NAN, NAN, 19.0690}};
  page p = page_open(directory, "st-four-balls", "ST section 5: four balls thrown onto a table and each other");
  page_text(&p,
            "Scene `scenes/four-balls.yaml`, scheme `stewart-trinkle`, eight friction directions. The paper does not "
            "print positions, masses and velocities, so that its numbers belong to other balls: what must agree is "
            "that errors fall like h and the variation stays bounded. Velocity errors are L1 norms in time, position "
            "errors maxima, both with the maximum norm over the 24 coordinates; reference h = 0.02/1024.\n\n"
            "| h | velocity error | printed | position error | printed | variation | printed |\n"
            "|---|---|---|---|---|---|---|\n");
  const setup exact = {.scene = "four-balls", .step = 0.02 / 1024};
  history reference = history_record(&exact, 64);
  double error[STEPS][2];
  for (int i = 0; i < STEPS; i++) {
    const double h = 0.02 / (1 << i);
    const setup s = {.scene = "four-balls", .step = h};
    history own = history_record(&s, 1);
    run r;
    run_open(&r, &s);
    run_to_end(&r);
    const double variation = run_report(&r)->velocity_variation;
    page_check(&p, run_report(&r)->certificate.complementarity, 0, 1e-8, "complementarity residual, h = %g", h);
    run_close(&r);
    const long stride = 16 >> i;
    error[i][0] = error[i][1] = 0;
    for (long k = 0; k < own.n; k++) {
      error[i][0] += h * velocity_error(&own, k, &reference, (k + 1) * stride - 1);
      error[i][1] = fmax(error[i][1], position_error(&own, k, &reference, (k + 1) * stride - 1));
    }
    history_release(&own);
    page_text(&p, "| %g | %.4f | ", h, error[i][0]);
    page_text(&p, i < STEPS - 1 ? "%.4f | " : "| ", printed[i][0]);
    page_text(&p, "%.4f | ", error[i][1]);
    page_text(&p, i < STEPS - 1 ? "%.4f | " : "| ", printed[i][1]);
    page_text(&p, "%.4f | %.4f |\n", variation, printed[i][2]);
    page_check(&p, variation, 35, 50, "variation, h = %g", h);
  }
  history_release(&reference);
  finer_variation(&p);
  for (int k = 0; k < 2; k++)
    page_check(&p, log2(error[0][k] / error[STEPS - 1][k]) / (STEPS - 1), 0.8, 1.4, "mean order of the %s",
               k ? "positions" : "velocities");
  figures_7_8(&p);
  page_close(&p);
  return p;
}
