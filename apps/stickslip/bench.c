/* stickslip bench: steps per second, of scenes that the program makes itself or of one's own. */
#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SCENES = 64 };

/* ---- scenes of its own ---- */

static void put_pendulum(FILE *f) {
  (void)fputs("planar: xy\n"
              "materials: [{name: default, friction: 0, restitution: 0.1}]\n"
              "world: {shapes: [{type: half-space, normal: [1, 0, 0], offset: 0}]}\n"
              "bodies:\n"
              "  - {name: a, mass: 1, freedom: [x, y], position: [sin(1), -cos(1)], shapes: [{type: point}]}\n"
              "  - {name: b, mass: 1, freedom: [x, y], position: [2*sin(1), -2*cos(1)], shapes: [{type: point}]}\n"
              "joints:\n"
              "  - {type: distance, between: [world, a]}\n"
              "  - {type: distance, between: [a, b]}\n"
              "simulation: {scheme: trapezoidal, step: 2^-9, duration: 2}\n",
              f);
}

static void put_block(FILE *f) {
  (void)fputs("materials: [{name: default, friction: 0.5}]\n"
              "world: {shapes: [{type: half-space, normal: [sin(0.6), 0, cos(0.6)], offset: 0}]}\n"
              "bodies: [{name: block, mass: 2, position: [0.1*sin(0.6), 0, 0.1*cos(0.6)],\n"
              "  orientation: {axis: [0, 1, 0], angle: 0.6}, shapes: [{type: box, size: [0.4, 0.4, 0.2]}]}]\n"
              "simulation: {scheme: moreau, step: 0.002, duration: 1}\n",
              f);
}

static void put_chain(FILE *f) {
  enum { LINKS = 30 };
  (void)fputs("bodies:\n", f);
  for (int i = 0; i < LINKS; i++)
    (void)fprintf(f, "  - {name: l%d, mass: 1, inertia: [0.01, 0.01, 0.01], position: [%g, 0, 0]}\n", i, 0.2 * i + 0.1);
  (void)fputs("joints:\n", f);
  for (int i = 0; i < LINKS; i++) {
    (void)fputs("  - {type: spherical, between: [", f);
    if (i)
      (void)fprintf(f, "l%d", i - 1);
    else
      (void)fputs("world", f);
    (void)fprintf(f, ", l%d], at: [%g, 0, 0]}\n", i, 0.2 * i);
  }
  (void)fputs("simulation: {scheme: trapezoidal, step: 0.005, duration: 1}\n", f);
}

/* Balls in a loose grid fall on a floor and each other. */
static void put_balls(FILE *f) {
  enum { SIDE = 3, LAYERS = 4 };
  (void)fputs("materials: [{name: default, friction: 0.4}]\n"
              "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
              "bodies:\n",
              f);
  for (int i = 0; i < SIDE * SIDE * LAYERS; i++) {
    const int layer = i / (SIDE * SIDE), row = i / SIDE % SIDE;
    (void)fprintf(f, "  - {name: b%d, mass: 1, position: [%g, %g, %g], shapes: [{type: sphere, radius: 0.5}]}\n", i,
                  1.02 * (i % SIDE) + 0.1 * layer, 1.02 * row + 0.07 * layer, 0.5 + 1.02 * layer);
  }
  (void)fputs("simulation: {scheme: moreau, step: 0.005, duration: 1, friction: {cone: quadratic}}\n", f);
}

static void put_stack(FILE *f) {
  enum { HEIGHT = 8 };
  (void)fputs("materials: [{name: default, friction: 0.6}]\n"
              "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
              "bodies:\n",
              f);
  for (int i = 0; i < HEIGHT; i++)
    (void)fprintf(f, "  - {name: b%d, mass: 1, position: [%g, 0, %g], shapes: [{type: box, size: [1, 1, 0.5]}]}\n", i,
                  0.02 * i, 0.25 + 0.5 * i);
  (void)fputs("simulation: {scheme: moreau, step: 0.005, duration: 1, friction: {cone: quadratic}}\n", f);
}

static const struct own_scene {
  const char *name;
  void (*put)(FILE *f);
} own_scenes[] = {{"double pendulum with a wall", put_pendulum},
                  {"block that slides down", put_block},
                  {"chain of 30 links", put_chain},
                  {"36 balls fall", put_balls},
                  {"stack of 8 boxes", put_stack}};
enum { OWN_SCENES = sizeof own_scenes / sizeof own_scenes[0] };

static ss_status open_own(session *s, const struct own_scene *own, ss_error *error) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  own->put(f);
  ss_status status = fclose(f) ? ss_fail(error, SS_ERROR_MEMORY, "out of memory") : SS_OK;
  if (!status) status = ss_scene_parse(text, size, own->name, NULL, 0, &s->scene, error);
  free(text);
  if (status) return status;
  s->simulation = s->scene->simulation;
  return ss_model_create(s->scene, &s->model, error);
}

/* ---- measuring ---- */

typedef struct bench_row {
  const char *name;
  int bodies;
  long steps, runs; /* steps of a run */
  double contacts, seconds;
  double best; /* seconds of the fastest run */
  double duration;
  double stage[SS_STAGES]; /* of a last run, which is not counted: shares */
  bool certified;
  char error[512];
} bench_row;

static ss_status run_once(const session *s, bool timed, bench_row *row, double *seconds, ss_error *error) {
  ss_sim *sim = NULL;
  ss_status status = ss_sim_create(s->model, &s->simulation, &sim, error);
  if (status) return status;
  ss_sim_time_stages(sim, timed);
  const double start = wall_clock();
  while (!status && !ss_sim_done(sim) && !interrupt_signal()) status = ss_sim_step(sim, error);
  *seconds = wall_clock() - start;
  const ss_report *report = ss_sim_report(sim);
  row->steps = ss_sim_state(sim)->step;
  row->contacts = report->contacts_mean;
  row->certified = !status && report->certificate.certified;
  if (timed) memcpy(row->stage, ss_sim_stage_seconds(sim), sizeof row->stage);
  ss_sim_destroy(sim);
  return status;
}

static void measure(const session *s, double budget, bench_row *row) {
  ss_error error = {0};
  double seconds = 0;
  row->bodies = ss_model_bodies(s->model);
  row->duration = s->simulation.duration;
  row->best = (double)INFINITY;
  ss_status status = SS_OK;
  do {
    status = run_once(s, false, row, &seconds, &error);
    row->seconds += seconds;
    row->best = fmin(row->best, seconds);
    row->runs++;
  } while (!status && row->seconds < budget && !interrupt_signal());
  if (!status) status = run_once(s, true, row, &seconds, &error);
  if (status) (void)snprintf(row->error, sizeof row->error, "%s", error.message);
}

/* ---- output ---- */

static double rate(const bench_row *r) { return r->best > 0 ? (double)r->steps / r->best : 0; }

static double share(const bench_row *r, ss_stage stage) {
  double total = 0;
  for (int i = 0; i < SS_STAGES; i++) total += r->stage[i];
  return total > 0 ? 100 * r->stage[stage] / total : 0;
}

static void print_table(const bench_row *rows, int n) {
  int width = 28;
  for (int i = 0; i < n; i++)
    if ((int)strlen(rows[i].name) > width) width = (int)strlen(rows[i].name);
  (void)printf("%-*s %6s %8s %7s %11s %9s %9s  %s\n", width, "scene", "bodies", "contacts", "steps", "steps/s",
               "us/step", "x real", "search rows solve advance events observe (% of the time)");
  for (int i = 0; i < n; i++) {
    const bench_row *r = &rows[i];
    if (r->error[0]) {
      (void)printf("%-*s FAILED: %s\n", width, r->name, r->error);
      continue;
    }
    (void)printf("%-*s %6d %8.3g %7ld %11.4g %9.4g %9.3g ", width, r->name, r->bodies, r->contacts, r->steps, rate(r),
                 1e6 / rate(r), r->duration / r->best);
    for (int k = 0; k < SS_STAGES; k++) (void)printf(" %*.0f", k ? 5 : 6, share(r, (ss_stage)k));
    (void)printf("%s\n", r->certified ? "" : "   NOT CERTIFIED");
  }
}

static int print_json(const bench_row *rows, int n) {
  json_t *list = json_array();
  for (int i = 0; list && i < n; i++) {
    const bench_row *r = &rows[i];
    json_t *stages = json_object();
    for (int k = 0; stages && k < SS_STAGES; k++)
      if (json_object_set_new(stages, ss_stage_name((ss_stage)k), json_number(r->stage[k]))) stages = NULL;
    json_t *row = json_pack("{s:o, s:i, s:o, s:I, s:I, s:o, s:o, s:o, s:b, s:o}", "scene", json_text(r->name), "bodies",
                            r->bodies, "contacts", json_number(r->contacts), "steps", (json_int_t)r->steps, "runs",
                            (json_int_t)r->runs, "steps_per_second", json_number(rate(r)), "best_seconds",
                            json_number(r->best), "stages", stages, "certified", r->certified, "error",
                            r->error[0] ? json_text(r->error) : json_null());
    if (json_array_append_new(list, row)) return usage_error("out of memory");
  }
  return json_print(json_pack("{s:s, s:o}", "version", SS_VERSION, "scenes", list));
}

/* ---- the command ---- */

typedef struct bench_options {
  const char *scenes[MOST_SCENES + 1];
  overrides overrides;
  double seconds;
  bool json;
} bench_options;

static int parse_bench(int argc, char **argv, bench_options *o) {
  const option options[] = {
      {"seconds", OPTION_NUMBER, &o->seconds, "S",
       "repeat each scene for that long (default: 0.5); the fastest run counts"},
      {"scheme", OPTION_TEXT, &o->overrides.scheme, "S", "time-stepping scheme, for scenes of one's own"},
      {"step", OPTION_NUMBER, &o->overrides.step, "H", "step size, likewise"},
      {"duration", OPTION_NUMBER, &o->overrides.duration, "T", "simulated time, likewise"},
      {"solver", OPTION_TEXT, &o->overrides.solver, "X", "complementarity solver, likewise"},
      {"json", OPTION_FLAG, &o->json, NULL, "print one JSON object"},
      {0}};
  const usage command_line = {
      "bench",
      "[SCENE...]",
      0,
      MOST_SCENES,
      "Steps per second on this machine, and where the time goes: of the scenes that are named, or of five that the\n"
      "program makes itself. Nothing is recorded. Numbers of one table can be compared; a busy machine makes all of\n"
      "them smaller.",
      options,
      "  stickslip bench\n"
      "  stickslip bench scenes/four-balls.yaml scenes/pendulum-chain.yaml --seconds 2\n"};
  const int parsed = parse_options(&command_line, argc, argv, o->scenes);
  if (parsed != PARSE_GO_ON) return parsed;
  if (!(o->seconds >= 0) || o->seconds > 1e6) return usage_error("--seconds must not be negative");
  const bool changed =
      o->overrides.scheme || o->overrides.solver || !isnan(o->overrides.step) || !isnan(o->overrides.duration);
  if (!o->scenes[0] && changed) return usage_error("bench: name the scenes that --scheme, --step, ... are for");
  return PARSE_GO_ON;
}

int command_bench(int argc, char **argv) {
  bench_options o = {.overrides = overrides_none(), .seconds = 0.5};
  const int parsed = parse_bench(argc, argv, &o);
  if (parsed != PARSE_GO_ON) return parsed;
  bench_row rows[MOST_SCENES] = {0};
  int n = 0, failed = 0;
  interrupt_catch();
  for (int i = 0; (o.scenes[0] ? o.scenes[i] != NULL : i < OWN_SCENES) && !interrupt_signal(); i++) {
    session s = {0};
    ss_error error = {0};
    const ss_status status =
        o.scenes[0] ? session_open(&s, o.scenes[i], &o.overrides, &error) : open_own(&s, &own_scenes[i], &error);
    if (status) {
      session_close(&s);
      return report_error(&error);
    }
    bench_row *row = &rows[n++];
    row->name = o.scenes[0] ? o.scenes[i] : own_scenes[i].name;
    measure(&s, o.seconds, row);
    failed += !row->certified;
    session_close(&s);
  }
  if (interrupt_signal()) return EXIT_SIGNAL + interrupt_signal();
  int code = EXIT_DONE;
  if (o.json)
    code = print_json(rows, n);
  else
    print_table(rows, n);
  return code == EXIT_DONE && failed ? EXIT_FAILED : code;
}
