/* MDI section 9: the single joint (9.1) and the stick-slip block (9.2, Figure 9.1). */
#include "papers.h"

#include <math.h>

/* ---- 9.1 ---- */

page single_joint(const char *directory) {
  page p = page_open(directory, "mdi-single-joint", "MDI section 9.1: a single joint with an inconsistent start");
  const double eps = ldexp(1, -10);
  page_text(
      &p, "Scene `scenes/single-joint.yaml`: q'' = 0, joint q = 0, v(0) = eps = 2^-10, T = 1, scheme `gavrea` "
          "with alpha = gamma = 1/2. The paper: v^l = (-1)^l eps, total variation 2 eps T / h; the weighted "
          "velocity is 0. Ours agrees to the last bit.\n\n"
          "| h | variation of v | 2 eps T / h | largest weighted velocity | largest abs(q) |\n|---|---|---|---|---|\n");
  for (int power = 3; power <= 11; power += 2) {
    run r;
    const double h = ldexp(1, -power);
    double sign = 1, wrong = 0, weighted = 0, q = 0;
    run_open(&r, &(setup){.scene = "single-joint", .step = h});
    while (run_step(&r)) {
      sign = -sign;
      wrong = fmax(wrong, fabs(ss_sim_state(r.sim)->v[0] - sign * eps));
      weighted = fmax(weighted, fabs(ss_sim_weighted_velocity(r.sim)[0]));
      q = fmax(q, fabs(run_position(&r, 0).x));
    }
    const double variation = run_report(&r)->velocity_variation, exact = 2 * eps / h;
    page_text(&p, "| 2^%d | %.10g | %.10g | %g | %g |\n", -power, variation, exact, weighted, q);
    page_check(&p, wrong, 0, 0, "v^l - (-1)^l eps, h = 2^%d", -power);
    page_check(&p, variation, exact, exact, "variation, h = 2^%d", -power);
    page_check(&p, weighted, 0, 0, "weighted velocity, h = 2^%d", -power);
    run_close(&r);
  }
  page_close(&p);
  return p;
}

/* ---- 9.2 ---- */

enum { EVENTS = 8 };
static const double exact_end = 2.99130283311503;
/* slip to stick, stick to slip, in turn; the start at t = 0 slips */
static const double exact_times[EVENTS] = {0.338608184672, 2.946346791224, 3.532834608887, 6.087939444814,
                                           6.674427262477, 9.229532098403, 9.816019916067, INFINITY};

static void figure_9_1(page *p) {
  run r;
  series lines[3] = {{0}};
  double stuck = 0;
  run_open(&r, &(setup){.scene = "stick-slip-block"});
  while (run_step(&r)) {
    const double t = ss_sim_state(r.sim)->t, weighted = ss_sim_weighted_velocity(r.sim)[0];
    series_add(&lines[0], t, run_position(&r, 0).x);
    series_add(&lines[1], t, weighted);
    series_add(&lines[2], t, ss_sim_state(r.sim)->v[0]);
    if (t > exact_times[0] + 0.015 && t < exact_times[1] - 0.2) stuck = fmax(stuck, fabs(weighted));
  }
  run_close(&r);
  const panel panels[] = {{"position", "t", "q1", &lines[0], 1, false, false},
                          {"weighted velocity (v + v+)/2", "t", "v", &lines[1], 1, false, false},
                          {"natural velocity", "t", "v", &lines[2], 1, false, false}};
  page_figure(p, "mdi-figure-9-1", "MDI Figure 9.1, alpha = gamma = 1/2, h = 0.01", panels, 3);
  page_check(p, stuck, 0, 1e-15, "weighted velocity in stick");
  series_release(lines, 3);
}

/* Error of x(10) with and without located events. */
static void end_position(page *p) {
  page_text(
      p,
      "## Where the block ends\n\nExact: x(10) = %.14f. Without events the order is two only where transitions "
      "happen to fall well; with `events: [collision, stick-slip, take-off]` they are located inside the step.\n\n"
      "| h | error without events | error with events | order |\n|---|---|---|---|\n",
      exact_end);
  double previous = 0;
  for (int i = 0; i <= 6; i++) {
    double error[2];
    const double h = 0.02 / (1 << i);
    for (int events = 0; events < 2; events++) {
      run r;
      run_open(&r, &(setup){.scene = "stick-slip-block", .step = h, .all_events = events == 1});
      run_to_end(&r);
      error[events] = fabs(run_position(&r, 0).x - exact_end);
      page_check(p, run_report(&r)->certificate.complementarity, 0, 1e-8, "complementarity residual, h = %g, %s", h,
                 events ? "events" : "no events");
      run_close(&r);
    }
    page_text(p, "| %g | %.2e | %.2e | ", h, error[0], error[1]);
    page_text(p, i > 0 ? "%.2f |\n" : "|\n", log2(previous / error[1]));
    page_check(p, error[0] / (h * h), 0, 1, "error of x(10) / h^2, h = %g, no events", h);
    if (i > 0) page_check(p, log2(previous / error[1]), 1.9, 2.1, "order with events, h = %g", h);
    previous = error[1];
  }
}

static void event_times(page *p) {
  run r;
  const double h = 0.01;
  run_open(&r, &(setup){.scene = "stick-slip-block", .step = h, .all_events = true});
  run_to_end(&r);
  page_text(p,
            "\n## When it sticks and slips\n\n| event | exact | ours, h = %g | difference / h^2 |\n|---|---|---|---|\n",
            h);
  int found = 0;
  for (int i = 0; i < r.n_events; i++) {
    const ss_event *e = &r.events[i];
    if ((e->kind != SS_STICK && e->kind != SS_SLIP) || e->t == 0 || found >= EVENTS - 1) continue;
    const double difference = (e->t - exact_times[found]) / (h * h);
    page_text(p, "| %s | %.9f | %.9f | %.2f |\n", ss_event_name(e->kind), exact_times[found], e->t, difference);
    page_check(p, fabs(difference), 0, 2, "error of event time %d / h^2", found + 1);
    found++;
  }
  page_check(p, found, EVENTS - 1, EVENTS - 1, "events");
  run_close(&r);
}

page stick_slip(const char *directory) {
  page p = page_open(directory, "mdi-stick-slip", "MDI section 9.2: a block that sticks and slips");
  page_text(&p,
            "Scene `scenes/stick-slip-block.yaml`: unit mass, force 8 cos t, mu = 0.8. In stick the natural velocity "
            "goes on as +c, -c, +c, the weighted one is zero. The exact solution is elementary.\n\n");
  figure_9_1(&p);
  end_position(&p);
  event_times(&p);
  page_close(&p);
  return p;
}
