/* stickslip view: a scene or a result as one HTML page. */
#include "commands.h"
#include "interrupt.h"
#include "live.h"
#include "output.h"
#include "progress.h"
#include "session.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct view_options {
  overrides overrides;
  const char *input, *page;
  bool live;
  long port; /* -1: any free one */
} view_options;

static int parse_view(int argc, char **argv, view_options *o) {
  const option options[] = {
      {"o", OPTION_TEXT, &o->page, "PAGE.html", "where to write it (default: the input's name, in this directory)"},
      {"scheme", OPTION_TEXT, &o->overrides.scheme, "S", "scenes: time-stepping scheme (stickslip list schemes)"},
      {"step", OPTION_NUMBER, &o->overrides.step, "H", "scenes: step size"},
      {"duration", OPTION_NUMBER, &o->overrides.duration, "T", "scenes: simulated time"},
      {"solver", OPTION_TEXT, &o->overrides.solver, "X", "scenes: complementarity solver (stickslip list solvers)"},
      {"set", OPTION_LIST, &o->overrides.set, "NAME=VALUE", "scenes: override a declared parameter; may be repeated"},
      {"live", OPTION_FLAG, &o->live, NULL, "scenes: serve a page on this machine in which it runs while one watches"},
      {"port", OPTION_COUNT, &o->port, "N", "--live: where to listen on the loopback (default: any free port)"},
      {0}};
  const usage command_line = {
      "view",
      "SCENE|RESULT.h5",
      1,
      1,
      "Writes one HTML file that shows the motion, the contacts, the events, plots and the certificate. It needs no\n"
      "server and no network: open it by double click, or mail it. A scene is simulated first; a result (HDF5) is\n"
      "shown as it was recorded. Long runs are thinned out, and the page says so.\n"
      "\n"
      "With --live nothing is written: the simulation runs in a page at the printed address, which only this machine "
      "can\n"
      "reach. There one starts, pauses, steps, resets, changes the scene's parameters and pulls bodies with the mouse.",
      options,
      "  stickslip view scenes/double-pendulum-wall.yaml\n"
      "  stickslip view pendulum.h5 -o pendulum.html\n"
      "  stickslip view scenes/double-pendulum-wall.yaml --set L=2 --scheme moreau -o moreau.html\n"
      "  stickslip view --live scenes/double-pendulum-wall.yaml\n"};
  return parse_options(&command_line, argc, argv, &o->input);
}

/* HDF5 files say what they are in their first bytes. */
static bool is_result(const char *path) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char start[8];
  FILE *stream = fopen(path, "rb");
  if (!stream) return false;
  const bool same = fread(start, 1, 8, stream) == 8 && memcmp(start, signature, 8) == 0;
  (void)fclose(stream);
  return same;
}

/* scenes/box.yaml -> box.html, in the working directory */
static void default_page_name(const char *input, char *name, size_t size) {
  const char *slash = strrchr(input, '/');
  const char *base = slash ? slash + 1 : input;
  const char *dot = strrchr(base, '.');
  const int length = dot && dot != base ? (int)(dot - base) : (int)strlen(base);
  (void)snprintf(name, size, "%.*s.html", length, base);
}

static int written(const char *page) {
  (void)printf("%s\n", page);
  return EXIT_DONE;
}

/* Runs to the end; a run that fails still gets its page, which shows how far it came. */
static int simulate(ss_sim *sim, ss_recorder *recorder, const char *page) {
  ss_error error = {0}, close_error = {0};
  const ss_status status = progress_advance(sim, INFINITY, &error);
  const bool complete = !status && ss_sim_done(sim);
  const ss_status closed = ss_recorder_close(recorder, sim, complete, &close_error);
  if (status) (void)report_error(&error);
  if (closed) return report_error(&close_error);
  (void)written(page);
  if (status) return status == SS_ERROR_UNCERTIFIED ? EXIT_FAILED : EXIT_USAGE;
  return complete ? EXIT_DONE : EXIT_SIGNAL + interrupt_signal();
}

static int view_scene(const view_options *o, const char *page) {
  session s = {0};
  ss_sim *sim = NULL;
  ss_recorder *recorder = NULL;
  ss_error error = {0};
  int code;
  ss_status status = session_open(&s, o->input, &o->overrides, &error);
  if (!status) status = ss_sim_create(s.model, &s.simulation, &sim, &error);
  if (!status) status = ss_recorder_open_page(page, sim, &recorder, &error);
  if (!status) {
    const ss_observer observer = ss_recorder_observer(recorder);
    status = ss_sim_observe(sim, &observer, &error);
  }
  if (status) {
    code = report_error(&error);
    ss_recorder_discard(recorder);
  } else {
    interrupt_catch();
    code = simulate(sim, recorder, page);
  }
  ss_sim_destroy(sim);
  session_close(&s);
  return code;
}

static int view_result(const view_options *o, const char *page) {
  const overrides *given = &o->overrides;
  if (given->scheme || given->solver || given->set.n > 0 || !isnan(given->step) || !isnan(given->duration))
    return usage_error("view: '%s' is a result, which is shown as it was recorded; options of scenes do not apply",
                       o->input);
  ss_error error = {0};
  if (ss_page_from_result(o->input, page, SS_PAGE_VIEWER, &error)) return report_error(&error);
  return written(page);
}

static int view_live(const view_options *o) {
  if (is_result(o->input)) return usage_error("view: '%s' is a result; --live runs scenes", o->input);
  if (o->page) return usage_error("view: --live writes no page; -o does not apply");
  return live_serve(o->input, &o->overrides, o->port < 0 ? 0 : o->port);
}

int command_view(int argc, char **argv) {
  view_options o = {.overrides = overrides_none(), .port = -1};
  int code = parse_view(argc, argv, &o);
  if (code == PARSE_GO_ON && o.live) {
    code = view_live(&o);
  } else if (code == PARSE_GO_ON && o.port >= 0) {
    code = usage_error("view: --port belongs to --live");
  } else if (code == PARSE_GO_ON) {
    char name[NAME_MAX + 16];
    default_page_name(o.input, name, sizeof name);
    const char *page = o.page ? o.page : name;
    if (outputs_are_files(&o.input, 1, &page, 1))
      code = EXIT_USAGE;
    else
      code = is_result(o.input) ? view_result(&o, page) : view_scene(&o, page);
  }
  free((void *)o.overrides.set.items);
  return code;
}
