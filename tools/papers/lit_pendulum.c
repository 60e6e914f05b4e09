/* LIT section 10.1: the double pendulum with a wall. Table 10.1, Figure 2. */
#include "papers.h"

#include <math.h>

enum { ROWS = 7, COLLISIONS = 5 };

/* E_h, |E_1h|, |E_2h| for h = 2^-5 .. 2^-11 */
static const double printed[ROWS][3] = {
    {2.38e-3, 1.27e-3, 3.18e-3}, {6.14e-4, 3.14e-4, 8.29e-4}, {1.54e-4, 7.82e-5, 2.14e-4}, {3.95e-5, 1.95e-5, 5.48e-5},
    {1.01e-5, 4.88e-6, 1.37e-5}, {2.42e-6, 1.22e-6, 3.44e-6}, {6.15e-7, 3.05e-7, 8.60e-7},
};

/* Event-driven integration to 1e-11, independent of this project. */
static const double exact_collisions[COLLISIONS] = {0.545229943827, 0.707571786029, 1.284071674388, 2.096669998041,
                                                    2.130553544348};

typedef struct result {
  double q[4], error, theta[2], collision[COLLISIONS];
  int n_collisions;
  double penetration, residual;
} result;

static result simulate(double h) {
  run r;
  result out = {0};
  run_open(&r, &(setup){.scene = "double-pendulum-wall", .step = h});
  run_to_end(&r);
  for (int body = 0; body < 2; body++) {
    const ss_vec3 p = run_position(&r, body);
    out.q[2 * body] = p.x;
    out.q[2 * body + 1] = p.y;
  }
  double residual[2]; /* |p - p'| - 1, where Theta is the square of the distance, minus one */
  ss_sim_joint_residuals(r.sim, residual);
  for (int k = 0; k < 2; k++) out.theta[k] = residual[k] * (2 + residual[k]);
  for (int i = 0; i < r.n_events; i++)
    if (r.events[i].kind == SS_COLLISION && out.n_collisions++ < COLLISIONS)
      out.collision[out.n_collisions - 1] = r.events[i].t;
  out.penetration = run_report(&r)->certificate.penetration;
  out.residual = run_report(&r)->certificate.complementarity;
  run_close(&r);
  return out;
}

static double distance(const result *a, const result *b) {
  double sum = 0;
  for (int i = 0; i < 4; i++) sum += (a->q[i] - b->q[i]) * (a->q[i] - b->q[i]);
  return sqrt(sum);
}

static void table(page *p, const result *rows) {
  page_text(p, "| h | E_h | printed | ratio | printed | E_1,h | printed | E_2,h | printed | collisions |\n"
               "|---|---|---|---|---|---|---|---|---|---|\n");
  for (int i = 0; i < ROWS; i++) {
    page_text(p, "| 2^%d | %.2e | %.2e | ", -5 - i, rows[i].error, printed[i][0]);
    if (i > 0)
      page_text(p, "%.2f | %.2f | ", rows[i - 1].error / rows[i].error, printed[i - 1][0] / printed[i][0]);
    else
      page_text(p, "| | ");
    page_text(p, "%.2e | %.2e | %.2e | %.2e | %d |\n", rows[i].theta[0], printed[i][1], rows[i].theta[1], printed[i][2],
              rows[i].n_collisions);
  }
  for (int i = 0; i < ROWS; i++) {
    page_check(p, rows[i].error / printed[i][0], 0.95, 1.05, "E_h / printed, h = 2^%d", -5 - i);
    for (int k = 0; k < 2; k++)
      page_check(p, fabs(rows[i].theta[k]) / printed[i][1 + k], 0.99, 1.01, "E_%d,h / printed, h = 2^%d", k + 1,
                 -5 - i);
    if (i > 0) page_check(p, log2(rows[i - 1].error / rows[i].error), 1.9, 2.1, "order at h = 2^%d", -5 - i);
    page_check(p, rows[i].n_collisions, COLLISIONS, COLLISIONS, "collisions, h = 2^%d", -5 - i);
    page_check(p, rows[i].residual, 0, 1e-8, "complementarity residual, h = 2^%d", -5 - i);
    page_check(p, rows[i].penetration, 0, 1e-14, "penetration, h = 2^%d", -5 - i);
  }
}

static void collisions(page *p, const result *rows) {
  const int finest = ROWS - 1;
  const double h = ldexp(1, -5 - finest);
  page_text(p,
            "\n## When the bobs hit the wall\n\nExact times from an event-driven integration to 1e-11; ours with h = "
            "2^%d.\n\n| collision | exact | ours | difference |\n|---|---|---|---|\n",
            -5 - finest);
  for (int k = 0; k < COLLISIONS; k++) {
    const double difference = rows[finest].collision[k] - exact_collisions[k];
    page_text(p, "| %d | %.10f | %.10f | %.1e |\n", k + 1, exact_collisions[k], rows[finest].collision[k], difference);
    page_check(p, fabs(difference) / (h * h), 0, 4, "error of collision time %d / h^2", k + 1);
  }
}

static void figure_2(page *p) {
  run r;
  series x[2] = {{.label = "x1"}, {.label = "x2"}}, energy = {0};
  run_open(&r, &(setup){.scene = "double-pendulum-wall", .step = ldexp(1, -9)});
  while (run_step(&r)) {
    const double t = ss_sim_state(r.sim)->t;
    for (int body = 0; body < 2; body++) series_add(&x[body], t, run_position(&r, body).x);
    series_add(&energy, t, run_report(&r)->energy.final);
  }
  run_close(&r);
  const panel panels[] = {{"(a) x-components of the two bobs", "t", "x", x, 2, false, false},
                          {"(b) total energy", "t", "E", &energy, 1, false, false}};
  page_text(p, "\n");
  page_figure(p, "lit-figure-2", "LIT Figure 2, h = 2^-9", panels, 2);
  series_release(x, 2);
  series_release(&energy, 1);
}

page double_pendulum(const char *directory) {
  page p = page_open(directory, "lit-double-pendulum", "LIT section 10.1: double pendulum with a wall");
  page_text(&p, "Scene `scenes/double-pendulum-wall.yaml`, scheme `trapezoidal`. Table 10.1 of the paper and our "
                "numbers. `E_h` is the 2-norm of the position error at t = 2.5 against a run with h = 2^-20, as in the "
                "paper; `E_1,h`, `E_2,h` are the joint residuals `Theta` (squared distance minus one; the paper prints "
                "them with the opposite sign, here are magnitudes).\n\n");
  const result reference = simulate(ldexp(1, -20));
  result rows[ROWS];
  for (int i = 0; i < ROWS; i++) {
    rows[i] = simulate(ldexp(1, -5 - i));
    rows[i].error = distance(&rows[i], &reference);
  }
  table(&p, rows);
  collisions(&p, rows);
  figure_2(&p);
  page_close(&p);
  return p;
}
