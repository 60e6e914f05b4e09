/* LIT section 10.2: two carts, a stopper, a stiff damper (Figure 4) or a stiff spring (Figure 5), h = 0.01. */
#include "papers.h"

#include <math.h>

enum { PLOTTED = 3, MOST = 6 };

typedef struct stiffness {
  const char *text;
  double bound; /* of the deviation */
  bool plotted; /* in the paper's figure */
} stiffness;

/* One figure: which parameter grows, and what must go to zero. */
typedef struct figure {
  const char *scene, *rigid;
  const char *parameter;
  stiffness values[MOST];
  int n;
  bool between; /* plotted: x2 - x1, which should be 5; else x1, which should be 0.2 */
  const char *file, *caption, *title, *y_label;
} figure;

typedef struct motion {
  series plotted, energy;
  double deviation; /* largest |plotted - equilibrium| */
  double initial, highest, residual;
} motion;

static motion follow(const figure *f, const char *scene, const char *setting) {
  run r;
  motion m = {0};
  run_open(&r, &(setup){.scene = scene, .set = {setting}});
  m.initial = run_report(&r)->energy.final;
  do {
    const double t = ss_sim_state(r.sim)->t, left = run_position(&r, 0).x, right = run_position(&r, 1).x;
    const double deviation = f->between ? right - left - 5 : left - 0.2, energy = run_report(&r)->energy.final;
    m.deviation = fmax(m.deviation, fabs(deviation));
    m.highest = fmax(m.highest, energy);
    series_add(&m.plotted, t, f->between ? right - left : deviation);
    series_add(&m.energy, t, energy);
  } while (run_step(&r));
  m.residual = run_report(&r)->certificate.complementarity;
  run_close(&r);
  return m;
}

static void row(page *p, const char *label, const motion *m, double bound) {
  page_text(p, "| %s | %.3g | %.4f | %.4f |\n", label, m->deviation, m->initial, m->highest);
  page_check(p, m->deviation, 0, bound, "largest deviation, %s", label);
  page_check(p, m->highest / m->initial, 0, 1 + 1e-12, "largest energy / initial, %s", label);
  page_check(p, m->residual, 0, 1e-8, "complementarity residual, %s", label);
}

static void draw(page *p, const figure *f, motion *motions) {
  series lines[PLOTTED], energies[PLOTTED];
  int n = 0;
  for (int i = 0; i < f->n; i++) {
    if (!f->values[i].plotted) continue;
    lines[n] = motions[i].plotted;
    energies[n] = motions[i].energy;
    lines[n].label = energies[n].label = f->values[i].text;
    n++;
  }
  const panel panels[] = {{f->title, "t", f->y_label, lines, n, false, false},
                          {"total energy", "t", "E", energies, n, false, false}};
  page_text(p, "\n");
  page_figure(p, f->file, f->caption, panels, 2);
}

static void run_figure(page *p, const figure *f) {
  motion motions[MOST + 1];
  page_text(p, "| %s | largest deviation | initial energy | largest energy |\n|---|---|---|---|\n", f->parameter);
  for (int i = 0; i < f->n; i++) {
    char setting[32];
    (void)snprintf(setting, sizeof setting, "%s=%s", f->parameter, f->values[i].text);
    motions[i] = follow(f, f->scene, setting);
    row(p, f->values[i].text, &motions[i], f->values[i].bound);
    if (i > 0)
      page_check(p, motions[i].deviation / motions[i - 1].deviation, 0, 1, "deviation / that of the softer one, %s",
                 setting);
  }
  motions[f->n] = follow(f, f->rigid, NULL);
  row(p, "rigid link", &motions[f->n], 1e-11);
  draw(p, f, motions);
  for (int i = 0; i <= f->n; i++) {
    series_release(&motions[i].plotted, 1);
    series_release(&motions[i].energy, 1);
  }
}

page stiff_damper(const char *directory) {
  page p = page_open(directory, "lit-stiff-damper", "LIT section 10.2: two carts, damper going to infinity");
  page_text(&p,
            "Scenes `scenes/two-carts-damper.yaml` and, with a rigid link, `two-carts-damper-rigid.yaml`; "
            "scheme `trapezoidal`, h = 0.01. As the damping grows, the distance between the carts stays at 5 and "
            "the energy stays bounded (LIT Theorem 9.3). A damper too stiff for the step acts as a link in the impact "
            "too, so that nothing is left over for it to damp afterwards.\n\n");
  const figure f = {.scene = "two-carts-damper",
                    .rigid = "two-carts-damper-rigid",
                    .parameter = "delta",
                    .values = {{"1e2", 0.03, true}, {"1e3", 0.002, true}, {"1e4", 2e-4, false}, {"1e6", 2e-6, true}},
                    .n = 4,
                    .between = true,
                    .file = "lit-figure-4",
                    .caption = "LIT Figure 4, h = 0.01",
                    .title = "distance between the carts",
                    .y_label = "x2 - x1"};
  run_figure(&p, &f);
  page_close(&p);
  return p;
}

page stiff_spring(const char *directory) {
  page p = page_open(directory, "lit-stiff-spring", "LIT section 10.2: two carts, spring going to infinity");
  page_text(&p, "Scenes `scenes/two-carts-spring.yaml` and, with a rigid link, `two-carts-spring-rigid.yaml`; scheme "
                "`trapezoidal`, h = 0.01. The left cart goes to the spring's equilibrium at x = 0.2, and the energy "
                "stays bounded, for stiffnesses far beyond what the step resolves.\n\n");
  /* like 3 gamma^-1/2 while the step resolves the oscillation, like 1/gamma from then on */
  const figure f = {.scene = "two-carts-spring",
                    .rigid = "two-carts-spring-rigid",
                    .parameter = "gamma",
                    .values = {{"1e2", 0.2, true},
                               {"1e4", 0.035, true},
                               {"1e6", 0.0035, true},
                               {"1e8", 4e-4, false},
                               {"1e10", 3e-5, false},
                               {"1e12", 3e-7, false}},
                    .n = 6,
                    .between = false,
                    .file = "lit-figure-5",
                    .caption = "LIT Figure 5, h = 0.01",
                    .title = "left cart, from the equilibrium",
                    .y_label = "x1 - 0.2"};
  run_figure(&p, &f);
  page_close(&p);
  return p;
}
