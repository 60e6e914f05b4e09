/* ST section 1.4: the rod of Painleve, which slides into a state without a classical solution. */
#include "papers.h"

#include <math.h>

/* Impulse of the first step on the tip, and whether the tip slips after it. */
typedef struct outcome {
  ss_vec3 impulse;
  double slip; /* of the tip, after the step */
  bool certified;
} outcome;

static outcome first_step(double h, const char *scheme, double mu, double theta) {
  char mu_text[64], theta_text[64];
  (void)snprintf(mu_text, sizeof mu_text, "mu=%.17g", mu);
  (void)snprintf(theta_text, sizeof theta_text, "theta=%.17g", theta);
  run r;
  run_open(&r,
           &(setup){.scene = "painleve-rod", .scheme = scheme, .step = h, .duration = h, .set = {mu_text, theta_text}});
  outcome o = {.certified = false};
  (void)run_step(&r);
  ss_contact_report contacts[8];
  const int n = ss_sim_contacts(r.sim, contacts, 8);
  for (int i = 0; i < n && i < 8; i++) {
    const double sign = contacts[i].body[0] == 0 ? 1 : -1;
    o.impulse.x += sign * contacts[i].impulse.x;
    o.impulse.y += sign * contacts[i].impulse.y;
  }
  const ss_motion m = ss_sim_motion(r.sim, 0);
  o.slip = m.velocity.x + 0.5 * sin(theta) * m.angular_velocity.z;
  o.certified = run_report(&r)->certificate.certified;
  run_close(&r);
  return o;
}

static void limit(page *p) {
  const double theta = atan(2);
  double previous = 0;
  page_text(p, "## The impulse\n\nmu = 2, theta = atan(2): the coefficient of N is negative, there is no classical "
               "solution. The impulse that stops the tip tends to (0.4, 0.3); `stewart-trinkle`, first step.\n\n"
               "| h | tangential | normal | distance from (0.4, 0.3) |\n|---|---|---|---|\n");
  for (int power = 4; power <= 16; power += 2) {
    const outcome o = first_step(ldexp(1, -power), NULL, 2, theta);
    const double error = hypot(o.impulse.x - 0.4, o.impulse.y - 0.3);
    page_text(p, "| 2^%d | %.6f | %.6f | %.2e |\n", -power, o.impulse.x, o.impulse.y, error);
    page_check(p, fabs(o.slip), 0, 1e-12, "slip after the impulse, h = 2^%d", -power);
    if (power > 4) page_check(p, log2(previous / error) / 2, 0.9, 1.1, "order of the impulse, h = 2^%d", -power);
    previous = error;
  }
  page_check(p, previous, 0, 1e-3, "distance from (0.4, 0.3), h = 2^-16");
}

/* Coefficient of the normal force in the acceleration of the sliding tip, for l = 1/2, J = 1/12. */
static double coefficient(double mu, double theta) { return 1 + 3 * cos(theta) * (cos(theta) - mu * sin(theta)); }

/* All mu and angles: solved, certified, and jammed where theory says so. */
static void map(page *p) {
  long steps = 0, certified = 0, paradox = 0, jammed = 0, smooth = 0, slid = 0;
  series least = {.label = "least mu that jams"}, exact = {.label = "mu of the paradox"};
  for (int k = 1; k < 45; k++) {
    const double theta = k * 2 * 3.14159265358979323846 / 180;
    bool found = false;
    for (int i = 0; i <= 80; i++) {
      const double mu = i * 0.05, c = coefficient(mu, theta);
      if (fabs(c) < 0.01) continue; /* too near to call */
      const outcome o = first_step(ldexp(1, -14), NULL, mu, theta);
      const bool stops = fabs(o.slip) < 1e-9;
      steps++;
      certified += o.certified;
      paradox += c < 0;
      jammed += c < 0 && stops;
      smooth += c > 0.1;
      slid += c > 0.1 && !stops;
      if (stops && !found) series_add(&least, theta, mu);
      found |= stops;
    }
    const double critical = (1 + 3 * cos(theta) * cos(theta)) / (3 * sin(theta) * cos(theta));
    if (critical <= 4) series_add(&exact, theta, critical);
  }
  page_text(p,
            "\n## Every friction and every angle\n\nmu from 0 to 4, theta from 2 to 88 degrees, one step of 2^-14: %ld "
            "problems, %ld solved and certified. Where 1/m + l^2 cos(theta) (cos(theta) - mu sin(theta))/J < 0 (%ld "
            "of them) the tip jams in %ld; where that coefficient is above 0.1 (%ld) it slides on in %ld.\n\n",
            steps, certified, paradox, jammed, smooth, slid);
  page_check(p, (double)certified / (double)steps, 1, 1, "certified fraction");
  page_check(p, (double)jammed / (double)paradox, 1, 1, "jammed fraction of the paradox region");
  page_check(p, (double)slid / (double)smooth, 1, 1, "sliding fraction outside");
  const series lines[] = {exact, least};
  const panel panels[] = {{"where the tip jams", "theta", "mu", lines, 2, false, false}};
  page_figure(p, "st-painleve", "Jamming of the rod over angle and friction", panels, 1);
  series_release(&least, 1);
  series_release(&exact, 1);
}

page painleve(const char *directory) {
  page p = page_open(directory, "st-painleve", "ST section 1.4: the rod of Painleve");
  page_text(&p, "Scene `scenes/painleve-rod.yaml`: uniform rod, mass 1, length 1, tip sliding at -1 towards the "
                "paradox, no rotation.\n\n");
  limit(&p);
  map(&p);
  painleve_maps(&p);
  page_close(&p);
  return p;
}
