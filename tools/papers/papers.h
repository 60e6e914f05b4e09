/* ./dev papers: runs the papers' examples and writes docs/verification: our numbers beside the printed ones, plots,
 * and for every number the band that it must not leave. */
#ifndef PAPERS_H
#define PAPERS_H

#include <stickslip/stickslip.h>

#include <stdio.h>

/* Ends the program with a message: a page that cannot be made is a failure like a number outside its band. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2), noreturn))
#endif
void die(const char *format, ...);

/* ---- page.c: one Markdown file per example ---- */

typedef struct check {
  char name[96];
  double value, low, high;
} check;

typedef struct page {
  const char *directory; /* of the output */
  const char *name;      /* file name without extension */
  const char *title;
  FILE *stream;
  check *checks;
  int n_checks, capacity, n_failed;
} page;

page page_open(const char *directory, const char *name, const char *title);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void page_text(page *p, const char *format, ...);
/* Notes that the value must lie in [low, high]; not a number is outside. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
void page_check(page *p, double value, double low, double high, const char *name, ...);
/* Where what a page needs is not at hand: what was written before stays, and its bands are counted; says why. */
page page_keep(const char *directory, const char *name, const char *title, const char *missing);
void page_close(page *p); /* writes the table of bands; what is outside is told on stderr */

/* ---- run.c: one scene, one run ---- */

/* What to change in a scene; zero and NULL keep the scene's own. */
typedef struct setup {
  const char *scene; /* file name in scenes/ without extension */
  const char *scheme;
  double step, duration;
  double tolerance; /* automatic step size */
  ss_estimate estimate;
  bool inelastic;  /* all restitutions are zero */
  bool all_events; /* located: collision, stick-slip, take-off, facet */
  const char *set[6];
} setup;

typedef struct run {
  ss_scene *scene;
  ss_model *model;
  ss_sim *sim;
  ss_event *events;
  int n_events, event_capacity;
} run;

extern const char *scene_directory;

void run_open(run *r, const setup *s);
bool run_try(run *r, const setup *s); /* false: the scheme does not take this scene; nothing is open */
bool run_step(run *r);                /* false: the end was reached before */
void run_to_end(run *r);
void run_close(run *r);
const ss_report *run_report(const run *r);
ss_vec3 run_position(const run *r, int body);

/* States at the end of every step, for comparison with another run. */
typedef struct history {
  int n_q, n_v;
  long n, every; /* n states, each `every` steps; the start is not among them */
  double step;   /* time between two of them */
  double *q, *v; /* [n][n_q], [n][n_v] */
} history;

history history_record(const setup *s, long every);
history history_end(const run *r); /* its present state alone */
void history_release(history *h);
/* Largest difference of a position coordinate, or of the rotation between the two orientations, in states i and j. */
double position_error(const history *a, long i, const history *b, long j);
double velocity_error(const history *a, long i, const history *b, long j); /* largest coordinate */

/* 2-norm over positions and rotations, like `stickslip converge`. */
double final_error(const history *a, const history *b);

/* ---- figure.c: plots as SVG ---- */

typedef struct series {
  const char *label;
  double *x, *y;
  int n, capacity;
} series;

void series_add(series *s, double x, double y);
void series_break(series *s); /* the line is interrupted here */
void series_release(series *s, int n);

typedef struct panel {
  const char *title, *x_label, *y_label;
  const series *lines;
  int n_lines;
  bool logarithmic; /* both axes, with marks */
  bool equal;       /* one unit is as long on both axes */
} panel;

/* Writes NAME-1.svg, NAME-2.svg, ... beside the page and shows them in a row. */
void page_figure(page *p, const char *name, const char *caption, const panel *panels, int n_panels);

/* ---- the examples ---- */

page double_pendulum(const char *directory); /* LIT section 10.1 */
page stiff_damper(const char *directory);    /* LIT section 10.2 */
page stiff_spring(const char *directory);
page applications(const char *directory); /* LIT section 10.3 */
page single_joint(const char *directory); /* MDI section 9.1 */
page stick_slip(const char *directory);   /* MDI section 9.2 */
page falling_rod(const char *directory);  /* ST section 5 */
page four_balls(const char *directory);
page painleve(const char *directory);          /* ST section 1.4 */
void painleve_maps(page *p);                   /* its solutions over angle and friction */
page friction_sets(const char *directory);     /* ST section 3.1 */
page rolling_ellipse(const char *directory);   /* DCC section 6 */
page boundary_problems(const char *directory); /* BVP */
page orders(const char *directory);
page automatic(const char *directory);
page energy(const char *directory);
page trajectories(const char *directory); /* of other programs, where their files are at hand */
page benchmarks(const char *directory);   /* with exact solutions, beside printed results of other programs */

#endif
