/* Reference trajectories of benchmarks and of other programs, read from files that are not part of this repository
 * ($STICKSLIP_DATA, or shared/data beside it): the tables of the IFToMM benchmarks A01 and A02 and those of the mechanics
 * examples of the Siconos tutorials. Without the files the page stays as it is. */
#include "papers.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMNS = 35 };
static const double turn = 6.283185307179586;

typedef struct table {
  int n, columns;
  double (*row)[COLUMNS];
} table;

static void data_path(const char *file, char *path, size_t size) {
  const char *given = getenv("STICKSLIP_DATA");
  if (given)
    (void)snprintf(path, size, "%s/%s", given, file);
  else
    (void)snprintf(path, size, "%s/../../shared/data/%s", scene_directory, file);
}

/* One line of a file: a comment up to its end, or "rows columns". */
static void skip_line(FILE *stream) {
  for (int c = fgetc(stream); c != '\n' && c != EOF;) c = fgetc(stream);
}

static table table_read(const char *file, int columns) {
  char path[1024];
  int capacity = 0;
  bool more = true;
  table t = {.columns = columns};
  data_path(file, path, sizeof path);
  FILE *stream = fopen(path, "r");
  if (!stream) die("cannot read %s", path);
  skip_line(stream);
  while (more) {
    if (t.n == capacity) {
      capacity = capacity ? 2 * capacity : 256;
      t.row = realloc(t.row, sizeof *t.row * (size_t)capacity);
      if (!t.row) die("out of memory");
    }
    for (int k = 0; more && k < columns; k++) more = fscanf(stream, "%lf", &t.row[t.n][k]) == 1;
    t.n += more;
  }
  (void)fclose(stream);
  if (t.n < 2) die("%s has no rows", path);
  return t;
}

/* A point of a body that moves in the plane xy or, where it is not turned, of any body. */
static ss_vec3 point_of(const run *r, int body, double along_x) {
  const ss_pose p = ss_sim_motion(r->sim, body).pose;
  const double angle = 2 * atan2(p.orientation.z, p.orientation.w);
  return (ss_vec3){p.position.x + along_x * cos(angle), p.position.y + along_x * sin(angle), p.position.z};
}

static double total_energy(const run *r) {
  const ss_energy *e = &run_report(r)->energy;
  return e->kinetic + e->potential;
}

typedef struct outcome {
  double distance, energy; /* largest, over all rows and all steps */
} outcome;

/* Columns t, x, y; up: 1, or -1 where the file's y points down. */
static outcome follow(const table *t, const setup *s, double along_x, double up) {
  run r;
  outcome o = {0};
  run_open(&r, s);
  const double start = run_report(&r)->energy.initial;
  for (int i = 0; i < t->n; i++) {
    const double *row = t->row[i];
    while (ss_sim_state(r.sim)->t < row[0] - 1e-9 && run_step(&r))
      o.energy = fmax(o.energy, fabs(total_energy(&r) - start));
    if (fabs(ss_sim_state(r.sim)->t - row[0]) > 1e-9) die("%s ends before its reference", s->scene);
    const ss_vec3 at = point_of(&r, 0, along_x);
    o.distance = fmax(o.distance, hypot(at.x - row[1], at.y - up * row[2]));
  }
  run_close(&r);
  return o;
}

typedef struct smooth {
  const char *file, *what, *scene, *set;
  int columns;
  double along_x, up;
  double distance, energy; /* bands, for the finer step */
} smooth;

static const smooth smooths[] = {
    {"mechanisms/A01_pendulum_P1.txt", "A01, pendulum", "simple-pendulum", NULL, 5, 0, 1, 2e-5, 5e-5},
    {"mechanisms/A02_fourbar_N2_B0.txt", "A02, two four-bars", "four-bar", NULL, 5, 0.5, 1, 2e-4, 1e-4},
    {"siconos_ref_trajectories/SimplePendulumED_Lsodar.ref", "Siconos, pendulum", "simple-pendulum", "angle=60 deg", 10,
     0, -1, 2e-5, 5e-5},
};
enum { SMOOTHS = sizeof smooths / sizeof *smooths };

static void smooth_motions(page *p) {
  page_text(
      p, "## Without impacts\n\n"
         "A01: point mass on a bar of 1 m, released horizontally. A02 with N = 2: five links of 1 m and 1 kg, passes "
         "positions in which the rank of the joints drops; the table is that of the exact reduction to one angle. "
         "Siconos: a pendulum released at 60 degrees, event-driven with LSODAR. All over 10 s with `trapezoidal` and "
         "`stabilization: projection`; largest distance from the reference of the mass, or of the tip of the "
         "first crank, and largest change of the energy.\n\n"
         "| motion | scene | h | distance [m] | energy [J] |\n|---|---|---|---|---|\n");
  for (int i = 0; i < SMOOTHS; i++) {
    const smooth *m = &smooths[i];
    table t = table_read(m->file, m->columns);
    outcome o[2];
    for (int k = 0; k < 2; k++) {
      const setup s = {.scene = m->scene, .step = k ? 5e-4 : 1e-3, .duration = 10, .set = {m->set}};
      o[k] = follow(&t, &s, m->along_x, m->up);
      page_text(p, "| %s | `%s` | %g | %.2e | %.2e |\n", m->what, m->scene, s.step, o[k].distance, o[k].energy);
    }
    page_check(p, o[1].distance, 0, m->distance, "%s: distance, h = 5e-4", m->what);
    page_check(p, o[1].energy, 0, m->energy, "%s: energy, h = 5e-4", m->what);
    page_check(p, log2(o[0].distance / o[1].distance), 1.9, 2.3, "%s: order of the distance", m->what);
    free(t.row);
  }
  page_text(p, "\nThe documentation of Exudyn has a target of 5e-5 J for the energy in A01.\n\n");
}

/* ---- the bouncing ball ---- */

static const setup ball = {.scene = "bouncing-ball", .step = 0.005, .duration = 8.5, .set = {"e=0.9"}};

/* Two rows of the event-driven reference have the time of an impact. */
static void impacts(page *p, const table *t) {
  run r;
  double worst = 0, height = 0;
  int n = 0;
  run_open(&r, &ball);
  for (int i = 0; i < t->n; i++) {
    const double *row = t->row[i];
    while (ss_sim_state(r.sim)->t < row[0] - 1e-9 && run_step(&r)) continue;
    if (i && row[0] == t->row[i - 1][0] && n < r.n_events) worst = fmax(worst, fabs(r.events[n++].t - row[0]));
    if (fabs(ss_sim_state(r.sim)->t - row[0]) < 1e-9) height = fmax(height, fabs(run_position(&r, 0).z - 0.1 - row[1]));
  }
  page_text(p, "| event driven, h = 0.005, 8.5 s | times of %d impacts | %.1e s |\n| | height | %.1e m |\n", n, worst,
            height);
  page_check(p, n, 40, 60, "ball: impacts compared");
  page_check(p, worst, 0, 1e-9, "ball: times of impacts");
  page_check(p, height, 0, 1e-9, "ball: height, event driven");
  run_close(&r);
}

/* The rule of the reference, Moreau-Jean with theta = 1/2: where q + h v/2 <= 0, v+ >= -e v; q+ = q + h (v + v+)/2. */
static double rule_error(const table *t) {
  const double h = ball.step, g = 9.81, e = 0.9;
  double q = 1, v = 0, worst = 0;
  for (int i = 1; i < t->n; i++) {
    const double fall = v - h * g, next = q + h * v / 2 <= 0 ? fmax(fall, -e * v) : fall;
    q += h * (v + next) / 2;
    v = next;
    worst = fmax(worst, fabs(q - t->row[i][1]));
  }
  return worst;
}

static void stepped(page *p, const table *t) {
  run r;
  double height = 0;
  setup s = ball;
  s.duration = 10;
  run_open(&r, &s);
  for (int i = 0; i < t->n; i++) {
    while (ss_sim_state(r.sim)->t < t->row[i][0] - 1e-9 && run_step(&r)) continue;
    height = fmax(height, fabs(run_position(&r, 0).z - 0.1 - t->row[i][1]));
  }
  page_text(p, "| time stepping, h = 0.005, 10 s | height | %.1e m |\n", height);
  page_check(p, height, 1e-3, 0.1, "ball: height, time stepping of first order");
  page_check(p, rule_error(t), 0, 1e-12, "ball: height, time stepping of Siconos from its own rule");
  run_close(&r);
}

static void bouncing(page *p) {
  table event = table_read("siconos_ref_trajectories/BouncingBallED.ref", 7);
  table steps = table_read("siconos_ref_trajectories/BouncingBallTS.ref", 5);
  page_text(p, "## A bouncing ball\n\n"
               "`bouncing-ball` with e = 0.9 and the references' step beside two programs of Siconos.\n\n"
               "| reference | quantity | largest difference |\n|---|---|---|\n");
  impacts(p, &event);
  stepped(p, &steps);
  page_text(p,
            "\nThe time stepping of Siconos (Moreau-Jean, theta = 1/2) lets the velocity jump for the whole step in "
            "which the ball would arrive: v+ >= -e v with v at its start, where q + h v/2 <= 0. That rule alone gives "
            "the reference's numbers to rounding (last band of the ball). Here impacts are located inside the step "
            "with every scheme, and no scheme has that rule. The difference is the reference's error: its times of "
            "impact are off by up to a step, and these errors add up.\n\n");
  free(event.row);
  free(steps.row);
}

/* ---- the stick ---- */

static void stick(page *p) {
  table t = table_read("siconos_ref_trajectories/ImpactingStick.ref", 22);
  const double *before = NULL, *end = t.row[t.n - 1];
  double reference[2] = {0}, impulse = 0;
  int n = 0;
  for (int i = 1; i < t.n; i++) {
    if (t.row[i][12] == 0) continue;
    if (n < 2) reference[n] = t.row[i][0];
    if (!n++) before = t.row[i];
  }
  if (!before || n != 2) die("the reference of the stick has not two impacts");
  run r;
  run_open(&r, &(setup){.scene = "impacting-stick"});
  double speed = ss_sim_motion(r.sim, 0).velocity.y, last = 0;
  while (run_step(&r)) {
    const double now = ss_sim_motion(r.sim, 0).velocity.y, h = ss_sim_state(r.sim)->t - last;
    if (r.n_events == 1 && impulse == 0) impulse = now - speed + 10 * h; /* mass 1: momentum beyond that of gravity */
    speed = now;
    last = ss_sim_state(r.sim)->t;
  }
  const ss_motion m = ss_sim_motion(r.sim, 0);
  const double angle = 2 * atan2(m.pose.orientation.z, m.pose.orientation.w);
  const double distance = hypot(m.pose.position.x - end[1], m.pose.position.y - end[2]);
  page_text(
      p,
      "## A stick that hits with one end\n\n"
      "`impacting-stick`, Newton's law with e = 1 and mu = 0.01. The reference has h = 1e-4 and is of first "
      "order: an impact acts at the end of a step, with the velocity of its start.\n\n| quantity | Siconos | here "
      "|\n|---|---|---|\n"
      "| first impact | %.4f s | %.6f s |\n| second impact | %.4f s | %.6f s |\n| first normal impulse | %.5f | %.5f "
      "|\n"
      "| x, y at 0.2 s | %.5f, %.5f | %.5f, %.5f |\n| angle | %.5f | %.5f |\n| its rate | %.4f | %.4f |\n\n",
      reference[0], r.events[0].t, reference[1], r.n_events > 1 ? r.events[1].t : (double)NAN, before[12], impulse,
      end[1], end[2], m.pose.position.x, m.pose.position.y, end[3], angle, end[6], m.angular_velocity.z);
  page_check(p, r.n_events, 2, 2, "stick: impacts");
  for (int i = 0; i < 2 && i < r.n_events; i++)
    page_check(p, reference[i] - r.events[i].t, -1e-4, 5e-4, "stick: impact %d, Siconos later by", i + 1);
  page_check(p, impulse / before[12], 0.99, 1.01, "stick: normal impulse over that of Siconos");
  page_check(p, distance, 0, 1e-4, "stick: distance at the end");
  page_check(p, fabs(angle - end[3]), 0, 5e-4, "stick: angle at the end");
  free(t.row);
  run_close(&r);
}

/* ---- the slider-crank ---- */

/* Of the reference, from its angles and rates; gravity included. */
static double reference_energy(const double *row) {
  const double l1 = 0.153, l2 = 0.306, m1 = 0.038, m2 = 0.038, m3 = 0.076, g = 9.81;
  const double a = turn * row[1], b = row[2], u = row[4], w = row[5];
  const double m11 = 7.4e-5 + (m1 / 4 + m2 + m3) * l1 * l1, m22 = 5.9e-4 + (m2 / 4 + m3) * l2 * l2;
  const double m12 = (m2 / 2 + m3) * l1 * l2 * cos(b - a);
  const double height = (m1 / 2 + m2 + m3) * l1 * sin(a) + (m2 / 2 + m3) * l2 * sin(b);
  return m11 * u * u / 2 + m12 * u * w + m22 * w * w / 2 + 2.7e-6 * row[6] * row[6] / 2 + g * height;
}

typedef struct cranking {
  double turns;  /* of the crank, at the end */
  double gained; /* most energy above that at the start */
  double apart;  /* from the reference in turns, while t <= together */
} cranking;

static const double together = 0.03;

static cranking crank(const table *t, double step) {
  run r;
  cranking c = {0};
  double last = 0;
  run_open(&r, &(setup){.scene = "slider-crank", .step = step});
  const double start = run_report(&r)->energy.initial;
  for (int i = 0; i < t->n; i++) {
    const double *row = t->row[i];
    while (ss_sim_state(r.sim)->t < row[0] - 1e-9 && run_step(&r)) c.gained = fmax(c.gained, total_energy(&r) - start);
    const ss_quat q = ss_sim_motion(r.sim, 0).pose.orientation;
    const double angle = 2 * atan2(q.z, q.w) / turn;
    c.turns += remainder(angle - last, 1);
    last = angle;
    if (row[0] <= together) c.apart = fmax(c.apart, fabs(c.turns - row[1]));
  }
  run_close(&r);
  return c;
}

static void slider_crank(page *p) {
  table t = table_read("siconos_ref_trajectories/SliderCrankMoreauJeanCombinedProjectionOSI.ref", 35);
  const double start = reference_energy(t.row[0]);
  double gained = 0;
  for (int i = 0; i < t.n; i++) gained = fmax(gained, reference_energy(t.row[i]) - start);
  const cranking own = crank(&t, 1e-4), finer = crank(&t, 2.5e-5);
  page_text(
      p,
      "## Slider-crank with clearance\n\n"
      "`slider-crank` (Flores, Leine, Glocker 2010) beside Siconos' Moreau-Jean with combined projection.\n\n"
      "| quantity | Siconos, h = 1e-4 | here, h = 1e-4 | here, h = 2.5e-5 |\n|---|---|---|---|\n"
      "| turns of the crank at 0.2 s | %.4f | %.4f | %.4f |\n"
      "| most energy gained, of %.3f J at the start | %.2e J | %.0e J | %.0e J |\n\n"
      "Up to t = %g s the crank is within %.4f turns of the reference; later the two part. The reference is of first "
      "order and gains energy, though nothing drives the crank and impacts and friction take some; its crank ends "
      "ahead. Ours stays where it is with finer steps.\n",
      t.row[t.n - 1][1], own.turns, finer.turns, start, gained, own.gained, finer.gained, together, own.apart);
  page_check(p, own.apart, 0, 0.007, "slider-crank: turns apart up to t = %g", together);
  page_check(p, fabs(own.turns - finer.turns), 0, 1e-3, "slider-crank: turns between h = 1e-4 and 2.5e-5");
  page_check(p, gained / start, 0.05, 0.3, "slider-crank: energy that Siconos gains, of the start's");
  page_check(p, own.gained / start, 0, 1e-3, "slider-crank: energy gained here, of the start's");
  free(t.row);
}

page trajectories(const char *directory) {
  const char *const name = "trajectories", *const title = "Trajectories of benchmarks and other programs";
  static const char *const files[] = {"mechanisms/A01_pendulum_P1.txt",
                                      "mechanisms/A02_fourbar_N2_B0.txt",
                                      "siconos_ref_trajectories/SimplePendulumED_Lsodar.ref",
                                      "siconos_ref_trajectories/BouncingBallED.ref",
                                      "siconos_ref_trajectories/BouncingBallTS.ref",
                                      "siconos_ref_trajectories/ImpactingStick.ref",
                                      "siconos_ref_trajectories/SliderCrankMoreauJeanCombinedProjectionOSI.ref"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[1024];
    data_path(files[i], path, sizeof path);
    FILE *file = fopen(path, "r");
    if (!file) return page_keep(directory, name, title, path);
    (void)fclose(file);
  }
  page p = page_open(directory, name, title);
  page_text(
      &p,
      "Read from files that are not part of this repository (`$STICKSLIP_DATA`, or `shared/data` beside it); without "
      "them `./dev papers` leaves this page as it is. A01 and A02: tables computed from the exact equations of the "
      "IFToMM benchmark problems. Siconos: reference files of the mechanics examples of siconos-tutorials "
      "(Apache-2.0).\n\n");
  smooth_motions(&p);
  bouncing(&p);
  stick(&p);
  slider_crank(&p);
  page_close(&p);
  return p;
}
