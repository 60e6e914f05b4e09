/* The rod of Painleve over all angles and frictions: how many solutions its first step has, and of which kind.
 *
 * While the tip slides, its normal acceleration is a = b + c N with the normal force N >= 0: b is what gravity and lift give,
 * c = 1/m + l^2 cos(theta) (cos(theta) - mu sin(theta))/J for a tip that slides to the left. So 0 <= N perp a >= 0 has
 *
 *     c > 0           one solution
 *     c < 0, b < 0    none: the tip stops at once by an impulse, an impact without a collision
 *     c < 0, b > 0    two, N = 0 and N = -b/c; with the impulse three motions
 *
 * The step problem knows nothing of this; all its solutions are enumerated and counted. */
#include "papers.h"

#include <math.h>

enum { ANGLES = 89, FRICTIONS = 81, MOST = 8 };
static const double GRAVITY = 9.81, DEGREE = 3.14159265358979323846 / 180;

typedef enum regime { OPENS, SLIDES, JAMS, SEVERAL, OTHER, REGIMES } regime;
static const char *const names[REGIMES] = {"one solution: the tip leaves the floor", "one solution: the tip slides on",
                                           "no finite force: impact without collision", "three solutions", "other"};
static const char *const colours[REGIMES] = {"#dbe9f6", "#9ecae1", "#e6550d", "#fdae6b", "#000000"};

typedef struct solution {
  double normal, friction, slip, lift; /* impulses, and velocities of the tip after the step */
} solution;

typedef struct study {
  ss_cp_workspace *workspace;
  const ss_cp *problem;
  solution solutions[MOST];
  int n;
} study;

static void on_solution(void *user, const double *z) {
  study *s = user;
  double w[64] = {0};
  if (s->problem->n > 64 || s->n == MOST) return;
  (void)ss_cp_judge(s->problem, z, w);
  const ss_block *block = &s->problem->blocks[s->problem->n_blocks - 1];
  const solution found = {
      .normal = z[block->first], .lift = w[block->first], .slip = -1}; /* it slides without friction */
  s->solutions[s->n] = found;
  if (block->size > 1) {
    s->solutions[s->n].friction = z[block->first + 1];
    s->solutions[s->n].slip = w[block->first + 1];
  }
  for (int i = 0; i < s->n; i++) /* another multiplier, the same motion */
    if (hypot(s->solutions[i].slip - s->solutions[s->n].slip, s->solutions[i].lift - found.lift) < 1e-9) return;
  s->n++;
}

static ss_status on_problem(void *user, const ss_sim *sim, const ss_cp *problem, const double *z, ss_error *error) {
  study *s = user;
  int count;
  (void)sim, (void)z;
  s->problem = problem;
  s->n = 0;
  return ss_cp_all_solutions(problem, 1e-9, s->workspace, on_solution, s, &count, error);
}

static ss_status on_step(void *user, const ss_sim *sim, ss_error *error) {
  (void)user, (void)sim, (void)error;
  return SS_OK;
}

/* The first step's solutions; *response: sliding_response of `stickslip check`. */
static bool first_step(study *s, double h, double mu, double theta, double lift, double *response) {
  char text[3][64];
  (void)snprintf(text[0], sizeof text[0], "mu=%.17g", mu);
  (void)snprintf(text[1], sizeof text[1], "theta=%.17g", theta);
  (void)snprintf(text[2], sizeof text[2], "lift=%.17g", lift);
  const setup setting = {.scene = "painleve-three", .step = h, .duration = h, .set = {text[0], text[1], text[2]}};
  run r;
  ss_error error = {0};
  ss_theory theory = {0};
  run_open(&r, &setting);
  if (ss_sim_theory(r.sim, &theory, &error)) die("%s", error.message);
  *response = theory.n_contacts == 1 ? theory.contacts[0].sliding_response : (double)NAN;
  ss_theory_release(&theory);
  const ss_observer observer = {.user = s, .step = on_step, .problem = on_problem};
  if (ss_sim_observe(r.sim, &observer, &error)) die("%s", error.message);
  (void)run_step(&r);
  const bool certified = run_report(&r)->certificate.certified;
  run_close(&r);
  return certified;
}

static regime classify(const study *s) {
  if (s->n == 3) return SEVERAL;
  if (s->n != 1) return OTHER;
  const solution *one = &s->solutions[0];
  if (one->normal == 0) return OPENS;
  return fabs(one->slip) < 1e-9 ? JAMS : SLIDES;
}

static regime expected(double c, double b) {
  if (c > 0) return b > 0 ? OPENS : SLIDES;
  return b > 0 ? SEVERAL : JAMS;
}

static void draw(const char *directory, const char *name, const char *title, regime map[ANGLES][FRICTIONS]) {
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *f = fopen(path, "w");
  if (!f) die("cannot write %s", path);
  const double x0 = 50, y0 = 360, dx = 5, dy = 4;
  (void)fprintf(
      f,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 520 440\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"520\" height=\"440\" fill=\"white\"/>\n<text x=\"%g\" y=\"20\">%s</text>\n",
      x0, title);
  for (int k = 0; k < ANGLES; k++)
    for (int i = 0, j; i < FRICTIONS; i = j) { /* one rectangle per stretch of equal colour */
      for (j = i + 1; j < FRICTIONS && map[k][j] == map[k][i];) j++;
      (void)fprintf(f, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"%s\"/>\n", x0 + dx * k, y0 - dy * j,
                    dx + 0.2, dy * (j - i) + 0.2, colours[map[k][i]]);
    }
  for (int tick = 0; tick <= 4; tick++) {
    const double y = y0 - dy * (tick * 20 + 0.5), x = x0 + dx * (tick * 22.5 - 0.5);
    (void)fprintf(f, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%d</text>\n", x0 - 6, y + 4, tick);
    (void)fprintf(f, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%d</text>\n", x, y0 + 16, tick * 45);
  }
  (void)fprintf(f, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">theta in degrees</text>\n", x0 + dx * 45, y0 + 32);
  (void)fprintf(f, "<text x=\"14\" y=\"%g\" text-anchor=\"middle\" transform=\"rotate(-90 14 %g)\">mu</text>\n",
                y0 / 2 + 20, y0 / 2 + 20);
  bool used[REGIMES] = {false};
  for (int k = 0; k < ANGLES; k++)
    for (int i = 0; i < FRICTIONS; i++) used[map[k][i]] = true;
  for (int r = 0, n = 0; r < REGIMES; r++) {
    if (!used[r]) continue;
    (void)fprintf(f,
                  "<rect x=\"%g\" y=\"%g\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%g\" y=\"%g\">%s</text>\n",
                  x0 + 10, 38. + 18 * n, colours[r], x0 + 28, 48. + 18 * n, names[r]);
    n++;
  }
  (void)fputs("</svg>\n", f);
  const bool failed = ferror(f) != 0;
  if (fclose(f) || failed) die("cannot write %s", path);
}

static void one_map(page *p, study *s, double lift, const char *file, const char *title) {
  static regime map[ANGLES][FRICTIONS];
  long problems = 0, certified = 0, called = 0, right = 0, recognised = 0, count[REGIMES] = {0};
  const double b = lift - GRAVITY;
  for (int k = 0; k < ANGLES; k++)
    for (int i = 0; i < FRICTIONS; i++) {
      const double theta = (k + 1) * 2 * DEGREE, mu = i * 0.05, cosine = cos(theta), sine = sin(theta);
      const double c = 1 + 3 * cosine * (cosine - mu * sine);
      const double worst =
          1 + 3 * fabs(cosine) * (fabs(cosine) - mu * sine); /* the other way round, for theta > 90 deg */
      double response;
      certified += first_step(s, ldexp(1, -16), mu, theta, lift, &response);
      map[k][i] = classify(s);
      problems++;
      count[map[k][i]]++;
      if (fabs(c) < 0.02 || fabs(worst) < 0.02) continue; /* too near to call */
      called++;
      right += map[k][i] == expected(c, b);
      recognised += (response < 0) == (worst < 0);
    }
  draw(p->directory, file, title, map);
  page_text(p, "<img src=\"%s\" alt=\"%s\" width=\"60%%\"/>\n\n", file, title);
  page_text(p, "%s: %ld problems, %ld certified.", title, problems, certified);
  for (int r = 0; r < REGIMES; r++)
    if (count[r]) page_text(p, " %ld: %s.", count[r], names[r]);
  page_text(p,
            " The regime is the one that a = b + c N tells in %ld of %ld; `sliding_response` of `stickslip check` is "
            "negative where sliding in one direction or the other meets the paradox in %ld of %ld (|c| < 0.02 is not "
            "called).\n\n",
            right, called, recognised, called);
  page_check(p, (double)certified / (double)problems, 1, 1, "%s: certified fraction", title);
  page_check(p, (double)right / (double)called, 1, 1, "%s: regimes as the theory tells", title);
  page_check(p, (double)recognised / (double)called, 1, 1, "%s: paradox recognised by check", title);
}

/* The three solutions of the configuration of the paper, under a force that lifts a little more than the weight. */
static void three(page *p, study *s) {
  double response;
  (void)first_step(s, ldexp(1, -10), 2, atan(2), 10, &response);
  page_text(p,
            "`stickslip run scenes/painleve-three.yaml --all-solutions` lists for the first step (mu = 2, theta = "
            "atan(2), lift 10, h = 2^-10), sliding_response %.3g:\n\n| the tip | normal impulse | friction impulse | "
            "normal velocity | slip |\n|---|---|---|---|---|\n",
            response);
  for (int i = 0; i < s->n; i++) {
    const solution *one = &s->solutions[i];
    page_text(p, "| %s | %.6g | %.6g | %.6g | %.6g |\n",
              one->normal == 0         ? "opens"
              : fabs(one->slip) < 1e-9 ? "jams"
                                       : "slides",
              one->normal, one->friction, one->lift, one->slip);
  }
  page_check(p, s->n, 3, 3, "solutions of the classical configuration, lifted");
}

void painleve_maps(page *p) {
  study s = {0};
  ss_error error = {0};
  if (ss_cp_workspace_create(&s.workspace, &error)) die("%s", error.message);
  page_text(
      p, "\n## How many solutions, over angle and friction\n\nThe tip slides to the left, mu from 0 to 4, theta from 2 "
         "to 178 degrees; all solutions of the first step's problem, h = 2^-16 (scene `painleve-three`).\n\n");
  one_map(p, &s, 0, "st-painleve-map-1.svg", "Under its weight");
  one_map(p, &s, 10, "st-painleve-map-2.svg", "Lifted by 10, weight 9.81");
  three(p, &s);
  ss_cp_workspace_destroy(s.workspace);
}
