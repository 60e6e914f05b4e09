/* stickslip run: load, simulate, record, certify. */
#include "commands.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "run_result.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct run_options {
  overrides overrides;
  const char *scene, *hdf5, *csv, *html, *problem, *checkpoint, *resume;
  long every, threads, events; /* events < 0: the default */
  text_list event_words;       /* numbers and kinds, as given */
  double time_limit;           /* seconds; infinite: none */
  bool all_solutions, timings, json, strict, hash;
} run_options;

/* ---- command line ---- */

static int parse_run(int argc, char **argv, run_options *o) {
  const option options[] = {
      {"o", OPTION_TEXT, &o->hdf5, "OUT.h5", "record the motion, the energies and the events (HDF5)"},
      {"csv", OPTION_TEXT, &o->csv, "OUT.csv", "record the motion (CSV)"},
      {"html", OPTION_TEXT, &o->html, "OUT.html",
       "write a page that shows the motion, the contacts and the certificate"},
      {"every", OPTION_COUNT, &o->every, "N", "record each N-th step only (and the last)"},
      {"scheme", OPTION_TEXT, &o->overrides.scheme, "S", "time-stepping scheme (stickslip list schemes)"},
      {"step", OPTION_NUMBER, &o->overrides.step, "H", "step size; a constant expression such as 2^-5"},
      {"tolerance", OPTION_NUMBER, &o->overrides.tolerance, "E",
       "choose the steps: error of the positions per unit of time, a length"},
      {"estimate", OPTION_TEXT, &o->overrides.estimate, "WAY", "how chosen steps know their error: pair or halves"},
      {"duration", OPTION_NUMBER, &o->overrides.duration, "T", "simulated time"},
      {"solver", OPTION_TEXT, &o->overrides.solver, "X", "complementarity solver (stickslip list solvers)"},
      {"alpha", OPTION_NUMBER, &o->overrides.alpha, "A", "weight of the velocities (scheme gavrea)"},
      {"gamma", OPTION_NUMBER, &o->overrides.gamma, "G", "weight of the position update (scheme gavrea)"},
      {"set", OPTION_LIST, &o->overrides.set, "NAME=VALUE", "override a declared parameter; may be repeated"},
      {"events", OPTION_LIST, &o->event_words, "N|KINDS",
       "list the first N events only (default: 10; with --json: all); or locate these: collision,take-off,..."},
      {"all-solutions", OPTION_FLAG, &o->all_solutions, NULL,
       "enumerate all solutions of every step's problem (small scenes)"},
      {"dump-problem", OPTION_TEXT, &o->problem, "FILE",
       "write the complementarity problem of the last step, solved or not"},
      {"timings", OPTION_FLAG, &o->timings, NULL, "measure the time of each stage of the steps, print and record it"},
      {"hash", OPTION_FLAG, &o->hash, NULL, "print a hash of all numbers that are, or would be, recorded"},
      {"json", OPTION_FLAG, &o->json, NULL, "print one JSON object"},
      {"strict", OPTION_FLAG, &o->strict, NULL, "exit code 1 for a run that is DOUBTFUL, too"},
      {"time-limit", OPTION_NUMBER, &o->time_limit, "S",
       "end after S seconds of wall time with what there is by then, exit code 1"},
      {"checkpoint", OPTION_TEXT, &o->checkpoint, "FILE", "save the state now and then and at the end"},
      {"resume", OPTION_TEXT, &o->resume, "FILE", "go on from a saved state, bit by bit as if it had not stopped"},
      {"threads", OPTION_COUNT, &o->threads, "N",
       "use at most N threads (default: 1); the result does not depend on it, to the last bit"},
      {0}};
  const usage command_line = {
      "run",
      "SCENE",
      1,
      1,
      "Simulates a scene, checks that every step solves its own complementarity problem, and prints where the bodies\n"
      "ended and what the run is worth. Nothing is written unless an output is named. If no certified step can be\n"
      "found, the exit code is 1, what there is so far is saved (marked incomplete), and the failing problem is\n"
      "written to SCENE-failed.cp or to the file that --dump-problem names. A user-defined system in a shared library\n"
      "(its name ends with .so, docs/systems.md) takes the place of a scene; --set hands it its parameters.",
      options,
      "  stickslip run scenes/double-pendulum-wall.yaml\n"
      "  stickslip run scenes/double-pendulum-wall.yaml -o pendulum.h5 --step 2^-8 --scheme moreau\n"
      "  stickslip run scenes/double-pendulum-wall.yaml --tolerance 1e-5\n"
      "  stickslip run scenes/double-pendulum-wall.yaml --set L=2 --json\n"
      "  stickslip run scenes/double-pendulum-wall.yaml --duration 1 --checkpoint half.state\n"
      "  stickslip run scenes/double-pendulum-wall.yaml --resume half.state\n"};
  const int parsed = parse_options(&command_line, argc, argv, &o->scene);
  if (parsed != PARSE_GO_ON) return parsed;
  if (o->every == 0) return usage_error("--every must be at least 1");
  if (!(o->time_limit > 0)) return usage_error("--time-limit must be positive, got %g", o->time_limit);
  if (o->threads < 1) return usage_error("--threads must be at least 1");
  for (int i = 0; i < o->event_words.n; i++) {
    const char *word = o->event_words.items[i];
    if (strspn(word, "0123456789") == strlen(word) && *word)
      o->events = strtol(word, NULL, 10);
    else
      o->overrides.events = word;
  }
  /* A checkpoint may be the one that the run goes on from. */
  const char *const outputs[] = {o->hdf5, o->csv, o->html, o->checkpoint, o->problem};
  if (outputs_are_files(&o->scene, 1, outputs, 5) || outputs_distinct(&o->resume, 1, outputs, 3)) return EXIT_USAGE;
  if (outputs_named_well(o->hdf5, o->csv, o->html)) return EXIT_USAGE;
  if (output_check(o->checkpoint) || output_check(o->problem)) return EXIT_USAGE; /* written late; known now */
  return PARSE_GO_ON;
}

/* ---- outputs ---- */

enum { OUTPUTS = 4 };

typedef struct outputs {
  ss_recorder *recorders[OUTPUTS];
  uint64_t hash;
} outputs;

static ss_status attach(ss_sim *sim, ss_recorder *recorder, ss_error *error) {
  const ss_observer observer = ss_recorder_observer(recorder);
  return ss_sim_observe(sim, &observer, error);
}

/* Killed runs may have left something beside the same outputs. */
static void tidy(const run_options *o) {
  output_tidy(o->hdf5, true);
  output_tidy(o->csv, true);
  output_tidy(o->html, false);
  output_tidy(o->checkpoint, false);
}

/* Opens, which proves that the files can be written, before anything is simulated. */
static ss_status outputs_open(outputs *out, const run_options *o, ss_sim *sim, ss_error *error) {
  ss_status status = SS_OK;
  if (o->hdf5) status = ss_recorder_open_hdf5(o->hdf5, sim, o->every, &out->recorders[0], error);
  if (!status && o->csv) status = ss_recorder_open_csv(o->csv, sim, o->every, &out->recorders[1], error);
  if (!status && o->html) status = ss_recorder_open_page(o->html, sim, &out->recorders[2], error);
  if (!status && o->hash) status = ss_recorder_open_hash(sim, o->every, &out->hash, &out->recorders[3], error);
  for (int i = 0; !status && i < OUTPUTS; i++)
    if (out->recorders[i]) status = attach(sim, out->recorders[i], error);
  return status;
}

static ss_status outputs_close(outputs *out, const ss_sim *sim, bool complete, ss_error *error) {
  ss_status status = SS_OK;
  for (int i = 0; i < OUTPUTS; i++) {
    ss_error own = {0};
    const ss_status closed = ss_recorder_close(out->recorders[i], sim, complete, &own);
    if (closed && !status) *error = own;
    if (closed && !status) status = closed;
    out->recorders[i] = NULL;
  }
  return status;
}

/* After a failure before the first step: nothing that has been opened leaves a trace. */
static void outputs_discard(outputs *out) {
  for (int i = 0; i < OUTPUTS; i++) ss_recorder_discard(out->recorders[i]);
}

/* scenes/box.yaml -> box-failed.cp, in the working directory */
static void default_problem_name(const char *scene, char *name, size_t size) {
  const char *slash = strrchr(scene, '/');
  const char *base = slash ? slash + 1 : scene;
  const char *dot = strrchr(base, '.');
  const int length = dot && dot != base ? (int)(dot - base) : (int)strlen(base);
  (void)snprintf(name, size, "%.*s-failed.cp", length, base);
}

static int write_problem(const ss_sim *sim, const run_options *o, bool failed) {
  char name[NAME_MAX + 16];
  const char *path = o->problem;
  if (!path) {
    if (!failed) return EXIT_DONE;
    default_problem_name(o->scene, name, sizeof name);
    path = name;
  }
  ss_error error = {0};
  const ss_status status = ss_sim_write_problem(sim, path, &error);
  if (status) return report_error(&error);
  (void)fprintf(stderr, "stickslip: the %s complementarity problem is in '%s'\n", failed ? "failing" : "last", path);
  return EXIT_DONE;
}

/* ---- events ---- */

static void keep_event(void *user, const ss_sim *sim, const ss_event *event) {
  event_list *list = user;
  (void)sim;
  if (list->n >= list->limit || list->out_of_memory) return;
  if (list->n == list->capacity) {
    const long capacity = list->capacity ? 2 * list->capacity : 64;
    ss_event *items = realloc(list->items, (size_t)capacity * sizeof *items);
    if (!items) {
      list->out_of_memory = true;
      return;
    }
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->n++] = *event;
}

static ss_status check_events(void *user, const ss_sim *sim, ss_error *error) {
  (void)sim;
  return ((const event_list *)user)->out_of_memory ? ss_fail(error, SS_ERROR_MEMORY, "out of memory") : SS_OK;
}

/* ---- checkpoints ---- */

typedef struct checkpointer {
  const char *path;
  double last; /* wall clock of the last one */
  double took; /* seconds, that one */
} checkpointer;

/* An observer: saves every second, however long a step takes; less often where that would take more than 2 % of the time. */
static ss_status save_now_and_then(void *user, const ss_sim *sim, ss_error *error) {
  checkpointer *c = user;
  const double now = wall_clock();
  if (!c->path || now - c->last < fmax(1, 50 * c->took)) return SS_OK;
  const ss_status status = ss_checkpoint_write(sim, c->path, error);
  c->last = wall_clock();
  c->took = c->last - now;
  return status;
}

/* ---- the run ---- */

/* Runs a prepared simulation and tells the outcome; returns the exit code. */
static int simulate(const run_options *o, const session *s, ss_sim *sim, outputs *out, event_list *events,
                    const solution_study *solutions) {
  ss_error error = {0}, close_error = {0};
  const double start_residual = ss_sim_joint_velocity_residual(sim);
  if (!o->resume && !is_consistent(start_residual)) /* of a resumed run that is no news */
    (void)fprintf(
        stderr,
        "stickslip: NOTE: the start velocities violate the joints by %.3g (stickslip check): the first step takes\n"
        "that away as an impact would; schemes that weight velocities (alpha < 1) swing about it\n",
        start_residual);
  if (!o->resume) session_note_touching(s);
  const ss_simulation *options = ss_sim_options(sim);
  if (options->tolerance == 0 && options->step > options->duration)
    (void)fprintf(stderr, "stickslip: NOTE: the step %g is longer than the duration: the run is one step of %g\n",
                  options->step, options->duration);
  session_note_feedback(sim);
  const double start = wall_clock();
  const ss_status status = progress_advance(sim, o->time_limit, &error);
  const double seconds = wall_clock() - start;
  const bool complete = !status && ss_sim_done(sim);
  const bool late = !complete && !status && !interrupt_signal();
  if (late)
    (void)snprintf(error.message, sizeof error.message,
                   "the time limit of %g s has ended the run at t = %.9g (step %ld)", o->time_limit,
                   ss_sim_state(sim)->t, ss_sim_state(sim)->step);
  else if (!complete && !status)
    (void)snprintf(error.message, sizeof error.message, "stopped by a signal");
  ss_status closed = outputs_close(out, sim, complete, &close_error);
  if (!closed && o->checkpoint) closed = ss_checkpoint_write(sim, o->checkpoint, &close_error);
  double explicit_step = INFINITY;
  if (!closed) closed = ss_sim_explicit_step(sim, &explicit_step, &close_error);
  const run_result result = {.session = s,
                             .sim = sim,
                             .events = events,
                             .solutions = o->all_solutions ? solutions : NULL,
                             .wall_seconds = seconds,
                             .start_residual = start_residual,
                             .explicit_step = explicit_step,
                             .complete = complete,
                             .hash = o->hash ? &out->hash : NULL,
                             .message = complete ? NULL : error.message,
                             .outputs = {closed ? NULL : o->hdf5, closed ? NULL : o->csv, closed ? NULL : o->html}};
  int code = EXIT_DONE; /* from here on messages, then the code */
  if (o->json)
    code = run_print_json(&result);
  else
    run_print_text(&result);
  (void)fflush(stdout);
  if (!complete && !(status == SS_ERROR_IO && closed)) (void)report_error(&error);
  if (closed) (void)report_error(&close_error);
  const int written = write_problem(sim, o, status == SS_ERROR_UNCERTIFIED);
  if (status) return status == SS_ERROR_UNCERTIFIED || status == SS_ERROR_CALLBACK ? EXIT_FAILED : EXIT_USAGE;
  if (late) return EXIT_FAILED;
  if (!complete) return EXIT_SIGNAL + interrupt_signal();
  if (closed || written) return EXIT_USAGE;
  const bool sound = ss_sim_report(sim)->certificate.sound || !o->strict;
  return run_certified(&result) && sound ? code : EXIT_FAILED;
}

static ss_status go_on(ss_sim *sim, const char *checkpoint, double duration, ss_error *error) {
  const ss_status status = ss_checkpoint_read(sim, checkpoint, error);
  const double t = ss_sim_state(sim)->t;
  if (status || t <= duration * (1 + 1e-9)) return status;
  return ss_fail(error, SS_ERROR_INPUT,
                 "the checkpoint '%s' is at t = %.9g, beyond the duration %.9g; --duration T goes on", checkpoint, t,
                 duration);
}

static ss_status prepare(const run_options *o, const session *s, event_list *events, checkpointer *checkpoints,
                         ss_sim **sim, outputs *out, ss_error *error) {
  ss_status status = ss_sim_create(s->model, &s->simulation, sim, error);
  if (status) return status;
  ss_sim_time_stages(*sim, o->timings);
  const ss_observer observer = {.user = events, .step = check_events, .event = keep_event};
  const ss_observer saver = {.user = checkpoints, .step = save_now_and_then};
  status = ss_sim_use_threads(*sim, o->threads < INT_MAX ? (int)o->threads : INT_MAX, error);
  if (!status) status = ss_sim_observe(*sim, &observer, error);
  if (!status) status = ss_sim_observe(*sim, &saver, error);
  if (!status && o->resume) status = go_on(*sim, o->resume, s->simulation.duration, error);
  return status ? status : outputs_open(out, o, *sim, error);
}

int command_run(int argc, char **argv) {
  run_options o = {.overrides = overrides_none(), .every = 1, .threads = 1, .events = -1, .time_limit = INFINITY};
  int code = parse_run(argc, argv, &o);
  if (code != PARSE_GO_ON) {
    free((void *)o.overrides.set.items);
    free((void *)o.event_words.items);
    return code;
  }
  session s = {0};
  ss_sim *sim = NULL;
  outputs out = {0};
  solution_study solutions = {0};
  checkpointer checkpoints = {.path = o.checkpoint, .last = wall_clock()};
  event_list events = {.limit = o.events >= 0 ? o.events : o.json ? LONG_MAX : 10};
  ss_error error = {0};
  tidy(&o);
  ss_status status = session_open_any(&s, o.scene, &o.overrides, &error);
  if (!status) status = prepare(&o, &s, &events, &checkpoints, &sim, &out, &error);
  if (!status && o.all_solutions) status = solutions_start(&solutions, sim, &error);
  if (status) {
    code = report_error(&error);
    outputs_discard(&out);
  } else {
    interrupt_catch();
    code = simulate(&o, &s, sim, &out, &events, &solutions);
  }
  ss_sim_destroy(sim);
  solutions_release(&solutions);
  session_close(&s);
  free(events.items);
  free((void *)o.overrides.set.items);
  free((void *)o.event_words.items);
  return code;
}
