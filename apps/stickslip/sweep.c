/* stickslip sweep: one scene, many runs. */
#include "sweep.h"
#include "output.h"

#include "commands.h"
#include "interrupt.h"
#include "parallel.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct sweep_options {
  const char *study, *csv, *html, *resume;
  long threads;
  bool json;
} sweep_options;

static int parse_sweep(int argc, char **argv, sweep_options *o) {
  const option options[] = {
      {"csv", OPTION_TEXT, &o->csv, "OUT.csv", "write the table (CSV; - for standard output instead of the text)"},
      {"html", OPTION_TEXT, &o->html, "OUT.html", "write a document: charts of what was observed, the table"},
      {"json", OPTION_FLAG, &o->json, NULL, "print one JSON object"},
      {"resume", OPTION_TEXT, &o->resume, "FILE", "keep finished runs in FILE, and do not repeat those that are there"},
      {"threads", OPTION_COUNT, &o->threads, "N",
       "run N at a time (default: one per processor); the results do not depend on it"},
      {0}};
  const usage command_line = {
      "sweep",
      "STUDY",
      1,
      1,
      "Runs a scene many times. The study file (YAML) names the scene, what varies and what is observed:\n\n"
      "  scene: block-on-incline.yaml              # relative to the study's folder\n"
      "  vary: {mu: [0.1, 0.2], angle: {from: 10 deg, to: 40 deg, count: 4}}    # declared parameters of the scene\n"
      "  sample: {random: 100, seed: 1}            # optional; otherwise all combinations\n"
      "  scheme: [moreau, trapezoidal]             # optional, one or several; step: likewise; duration:, solver:\n"
      "  observe: [block.x, {name: peak, value: max(block.vx)}, energy.friction_loss]\n\n"
      "Runs that fail are listed with their reason, and the exit code is 1 then.",
      options,
      "  stickslip sweep studies/friction-angle.yaml\n"
      "  stickslip sweep studies/friction-angle.yaml --csv table.csv --html report.html --threads 4\n"
      "  stickslip sweep studies/friction-angle.yaml --resume angle.runs --json\n"};
  const int parsed = parse_options(&command_line, argc, argv, &o->study);
  if (parsed != PARSE_GO_ON) return parsed;
  if (o->threads < 1) return usage_error("--threads must be at least 1");
  if (o->json && o->csv && strcmp(o->csv, "-") == 0)
    return usage_error("--json and --csv - would both write to standard output");
  return PARSE_GO_ON;
}

/* ---- runs ---- */

typedef struct work {
  sweep *sweep;
  sweep_journal *journal;
  double start, drawn;
  long already; /* taken from the journal */
  bool progress;
} work;

void sweep_describe(const sweep *s, long run, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < ss_study_variations(s->study) && used < size; i++) {
    const ss_study_value v = ss_study_point(s->study, run, i);
    const char *name = ss_study_variation_name(s->study, i), *separator = i ? ", " : "";
    const int n = v.word ? snprintf(text + used, size - used, "%s%s = %s", separator, name, v.word)
                         : snprintf(text + used, size - used, "%s%s = %.6g", separator, name, v.number);
    used += n > 0 ? (size_t)n : 0;
  }
}

static void keep_error(sweep_run *run, const ss_error *error) {
  enum { SIZE = 900 };
  run->error = malloc(SIZE);
  if (!run->error) return;
  if (error->file[0] && error->line > 0)
    (void)snprintf(run->error, SIZE, "%s:%d:%d: %s", error->file, error->line, error->column, error->message);
  else
    (void)snprintf(run->error, SIZE, "%s", error->message);
}

static void draw(const work *w) {
  const sweep *s = w->sweep;
  const double spent = wall_clock() - w->start;
  const long total = ss_study_runs(s->study), here = s->finished - w->already;
  const double left = here > 0 ? spent / (double)here * (double)(total - s->finished) : 0;
  (void)fprintf(stderr, "\r\x1b[K%ld of %ld runs, %ld failed, %.3g s left", s->finished, total, s->failed, left);
}

static void finish(void *user, long run) {
  work *w = user;
  sweep *s = w->sweep;
  s->finished++;
  if (s->runs[run].error || !s->runs[run].certified) s->failed++;
  if (w->journal && !s->runs[run].error) sweep_journal_add(w->journal, s, run);
  if (!w->progress || wall_clock() - w->drawn < 0.1) return;
  w->drawn = wall_clock();
  draw(w);
}

static bool interrupted(void) { return interrupt_signal() != 0; }

static void do_run(void *user, long index) {
  work *w = user;
  sweep_run *run = &w->sweep->runs[index];
  if (run->done || interrupted()) return;
  ss_error error = {0};
  if (ss_study_run(w->sweep->study, index, interrupted, run->observed, &run->certified, &error))
    keep_error(run, &error);
  else if (interrupted() && !run->certified)
    return; /* not finished */
  run->done = true;
  parallel_alone(finish, w, index);
}

static bool allocate(sweep *s) {
  const long n = ss_study_runs(s->study), m = ss_study_observations(s->study);
  s->runs = calloc((size_t)n, sizeof *s->runs);
  s->memory = calloc((size_t)n * (size_t)m, sizeof *s->memory);
  for (long i = 0; s->runs && s->memory && i < n; i++) s->runs[i].observed = s->memory + i * m;
  for (long i = 0; s->memory && i < n * m; i++) s->memory[i] = (double)NAN;
  return s->runs && s->memory;
}

static void release(sweep *s) {
  for (long i = 0; s->runs && i < ss_study_runs(s->study); i++) free(s->runs[i].error);
  free(s->runs);
  free(s->memory);
}

/* ---- outputs ---- */

static void list_failures(const sweep *s) {
  enum { MOST = 20 };
  long shown = 0;
  for (long i = 0; i < ss_study_runs(s->study); i++) {
    const sweep_run *run = &s->runs[i];
    if (!run->done || (run->certified && !run->error)) continue;
    if (shown++ == MOST) break;
    char point[400];
    sweep_describe(s, i, point, sizeof point);
    (void)fprintf(stderr, "stickslip: run %ld (%s) failed: %s\n", i, point,
                  run->error ? run->error : "not every step could be certified");
  }
  if (s->failed > MOST)
    (void)fprintf(stderr, "stickslip: and %ld more; --json and --html list all of them\n", s->failed - MOST);
}

static int conclude(const sweep *s, const sweep_options *o) {
  int code = EXIT_DONE;
  const bool to_stdout = o->csv && strcmp(o->csv, "-") == 0;
  if (o->json)
    code = sweep_print_json(s);
  else if (!to_stdout)
    sweep_print_text(s);
  if (code == EXIT_DONE && o->csv) code = sweep_print_csv(s, o->csv);
  if (code == EXIT_DONE && o->html) code = sweep_write_html(s, o->html);
  (void)fflush(stdout);
  list_failures(s);
  if (s->finished < ss_study_runs(s->study)) {
    (void)fprintf(stderr, "stickslip: stopped by a signal after %ld of %ld runs%s\n", s->finished,
                  ss_study_runs(s->study), o->resume ? "; the same command goes on" : "");
    return EXIT_SIGNAL + interrupt_signal();
  }
  return code != EXIT_DONE ? code : s->failed ? EXIT_FAILED : EXIT_DONE;
}

static int run_study(sweep *s, const sweep_options *o) {
  if (!allocate(s)) return usage_error("out of memory");
  const char *const outputs[] = {o->csv, o->html, o->resume};
  if (outputs_distinct(&o->study, 1, outputs, 3)) return EXIT_USAGE;
  if (output_check(o->csv) || output_check(o->html)) return EXIT_USAGE;
  work w = {.sweep = s, .start = wall_clock(), .progress = isatty(STDERR_FILENO) != 0};
  if (o->resume && sweep_journal_open(&w.journal, o->resume, s)) return EXIT_USAGE;
  w.already = s->finished;
  interrupt_catch();
  parallel_for(ss_study_runs(s->study), s->threads, do_run, &w);
  s->seconds = wall_clock() - w.start;
  if (w.progress) (void)fputs("\r\x1b[K", stderr);
  const int kept = sweep_journal_close(w.journal), code = conclude(s, o);
  return code == EXIT_DONE ? kept : code;
}

int command_sweep(int argc, char **argv) {
  sweep_options o = {.threads = parallel_processors()};
  const int parsed = parse_sweep(argc, argv, &o);
  if (parsed != PARSE_GO_ON) return parsed;
  ss_study *study = NULL;
  ss_error error = {0};
  if (ss_study_load(o.study, &study, &error)) return report_error(&error);
  sweep s = {.study = study, .file = o.study, .threads = o.threads};
  const int code = run_study(&s, &o);
  release(&s);
  ss_study_destroy(study);
  return code;
}
