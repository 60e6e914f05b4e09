/* stickslip sweep: scenes, many runs, on threads and ranks. */
#include "sweep.h"
#include "output.h"

#include "commands.h"
#include "interrupt.h"
#include "parallel.h"
#include "ranks.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct sweep_options {
  const char *study, *output, *csv, *html, *resume, *keep;
  long threads;
  bool json, retry, strict;
} sweep_options;

static int parse_sweep(int argc, char **argv, sweep_options *o) {
  const option options[] = {
      {"o", OPTION_TEXT, &o->output, "OUT.h5", "write the table (HDF5)"},
      {"csv", OPTION_TEXT, &o->csv, "OUT.csv", "write the table (CSV; - for standard output instead of the text)"},
      {"html", OPTION_TEXT, &o->html, "OUT.html", "write a document: charts of what was observed, failures, the table"},
      {"json", OPTION_FLAG, &o->json, NULL, "print one JSON object"},
      {"resume", OPTION_TEXT, &o->resume, "FILE",
       "keep finished runs in FILE (ranks: FILE.1, FILE.2 ...), and do not repeat those that are there"},
      {"retry", OPTION_FLAG, &o->retry, NULL, "with --resume: do failed runs again"},
      {"strict", OPTION_FLAG, &o->strict, NULL, "the exit code is 1 also where a run is doubtful"},
      {"keep", OPTION_TEXT, &o->keep, "FOLDER",
       "for scenes of failed runs and what else the study keeps (default: NAME-runs)"},
      {"threads", OPTION_COUNT, &o->threads, "N",
       "run N at a time (default: one per processor, one per rank); the results do not depend on it"},
      {0}};
  const usage command_line = {
      "sweep",
      "STUDY",
      1,
      1,
      "Runs scenes many times. The study file (YAML, docs/studies.md) says what varies and what is observed:\n\n"
      "  scene: block-on-incline.yaml              # relative to the study's folder; or several\n"
      "  vary: {mu: [0.1, 0.2], angle: {from: 10 deg, to: 40 deg, count: 4}}    # declared parameters of the scene\n"
      "  sample: {sobol: 100, seed: 1}             # optional (random, latin, sobol); otherwise all combinations\n"
      "  scheme: [moreau, trapezoidal]             # optional, one or several; step: likewise; duration:, solver:\n"
      "  observe: [block.x, {name: peak, value: max(block.vx)}, energy.friction_loss]\n\n"
      "Runs that fail are rows with their verdict, and the exit code is 1 then. Started by mpirun, ranks share the "
      "runs;\n"
      "the table is the same, byte for byte, for any number of threads and ranks.",
      options,
      "  stickslip sweep studies/friction-angle.yaml\n"
      "  stickslip sweep studies/friction-angle.yaml --csv table.csv --html report.html --threads 4\n"
      "  mpirun -n 4 stickslip sweep studies/friction-angle.yaml -o table.h5 --resume angle.runs\n"};
  const int parsed = parse_options(&command_line, argc, argv, &o->study);
  if (parsed != PARSE_GO_ON) return parsed;
  if (o->threads < 1) return usage_error("--threads must be at least 1");
  if (o->retry && !o->resume) return usage_error("--retry needs --resume FILE");
  if (o->json && o->csv && strcmp(o->csv, "-") == 0)
    return usage_error("--json and --csv - would both write to standard output");
  return PARSE_GO_ON;
}

bool sweep_done(const sweep_run *run) { return run->verdict != SS_VERDICT_STOPPED; }
bool sweep_failed(const sweep_run *run) { return run->verdict > SS_VERDICT_DOUBTFUL; }

bool sweep_reproduce(const sweep *s, long run, char *path, size_t size) {
  path[0] = '\0';
  if (s->runs[run].reproducible) ss_study_run_path(s->folder, run, ".yaml", path, size);
  return s->runs[run].reproducible;
}

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

/* ---- runs ---- */

typedef struct work {
  sweep *sweep;
  sweep_journal *journal;
  double start, drawn;
  long already; /* taken from the journals */
  bool terminal;
} work;

static const double LINE_SECONDS = 60; /* between two lines in the log of a batch job */

static const char *duration_text(double seconds, char text[32]) {
  if (seconds < 120)
    (void)snprintf(text, 32, "%.0f s", seconds);
  else if (seconds < 7200)
    (void)snprintf(text, 32, "%.0f min", seconds / 60);
  else
    (void)snprintf(text, 32, "%.1f h", seconds / 3600);
  return text;
}

/* On a terminal ten times a second, else a line a minute. */
static void show_progress(void *user) {
  work *w = user;
  const sweep *s = w->sweep;
  const double now = wall_clock();
  if (now - w->drawn < (w->terminal ? 0.1 : LINE_SECONDS)) return;
  w->drawn = now;
  const long total = ss_study_runs(s->study), here = s->finished - w->already;
  const double rate = here > 0 ? (double)here / (now - w->start) : 0;
  char left[32] = "?";
  if (rate > 0) (void)duration_text((double)(total - s->finished) / rate, left);
  (void)fprintf(stderr, "%s%ld of %ld runs, %ld failed, %.3g/s, %s left%s",
                w->terminal ? "\r\x1b[K" : "stickslip: ", s->finished, total, s->failed, rate, left,
                w->terminal ? "" : "\n");
  (void)fflush(stderr);
}

static bool interrupted(void) { return interrupt_signal() != 0; }

/* HDF5 is used by one thread at a time. */
static void alone(bool begin) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  if (begin)
    (void)pthread_mutex_lock(&mutex);
  else
    (void)pthread_mutex_unlock(&mutex);
}

/* What is told of a run: this, the observations, why it failed. */
typedef struct told_run {
  ss_study_verdict verdict;
  bool reproducible;
  size_t error;   /* bytes of the reason, with its end; 0: none */
  double seconds; /* wall time */
} told_run;

static size_t error_text(const ss_error *error, ss_study_verdict verdict, char *text, size_t size) {
  if (verdict <= SS_VERDICT_CERTIFIED) return 0;
  const int n = error->file[0] && error->line > 0
                    ? snprintf(text, size, "%s:%d:%d: %s", error->file, error->line, error->column, error->message)
                    : snprintf(text, size, "%s", error->message);
  return (size_t)n < size ? (size_t)n + 1 : size;
}

typedef struct journal_entry {
  work *work;
  const sweep_run *run;
} journal_entry;

static void write_journal(void *user, long index) {
  const journal_entry *e = user;
  if (!sweep_journal_add(e->work->journal, e->work->sweep, index, e->run)) ranks_abort("cannot write the journal");
}

static void *do_run(void *user, long index, size_t *size) {
  work *w = user;
  const sweep *s = w->sweep;
  const size_t numbers = sizeof(double) * (size_t)ss_study_observations(s->study);
  char *told = calloc(1, sizeof(told_run) + numbers + 1000);
  if (!told) ranks_abort("out of memory");
  const ss_study_request request = {.stop = interrupted, .folder = s->folder, .alone = alone};
  double *observed = (double *)(void *)(told + sizeof(told_run));
  char *reason = told + sizeof(told_run) + numbers;
  ss_error error = {0};
  const double start = wall_clock();
  told_run head = {.verdict = ss_study_run(s->study, index, &request, observed, &error)};
  if (head.verdict == SS_VERDICT_STOPPED) {
    free(told);
    return NULL;
  }
  head.error = error_text(&error, head.verdict, reason, 1000);
  if (head.verdict > SS_VERDICT_CERTIFIED && ss_study_kept(s->study).failures != SS_KEEP_NO_FAILURES) {
    char path[1024];
    ss_study_run_path(s->folder, index, ".yaml", path, sizeof path);
    head.reproducible = access(path, R_OK) == 0;
  }
  head.seconds = wall_clock() - start;
  memcpy(told, &head, sizeof head);
  const sweep_run run = {head.verdict, head.reproducible, observed, head.error ? reason : NULL};
  if (w->journal) parallel_alone(write_journal, &(journal_entry){w, &run}, index);
  *size = sizeof head + numbers + head.error;
  return told;
}

static void take_run(void *user, long index, const void *told, size_t size) {
  work *w = user;
  sweep *s = w->sweep;
  sweep_run *run = &s->runs[index];
  const size_t numbers = sizeof(double) * (size_t)ss_study_observations(s->study);
  told_run head;
  memcpy(&head, told, sizeof head);
  memcpy(run->observed, (const char *)told + sizeof head, numbers);
  (void)size;
  run->verdict = head.verdict;
  run->reproducible = head.reproducible;
  if (head.error) run->error = strdup((const char *)told + sizeof head + numbers);
  s->finished++;
  s->failed += sweep_failed(run);
  s->busy += head.seconds;
  show_progress(w);
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
    if (!sweep_failed(run)) continue;
    if (shown++ == MOST) break;
    char point[400], path[1024];
    sweep_describe(s, i, point, sizeof point);
    (void)fprintf(stderr, "stickslip: run %ld (%s) failed: %s%s%s\n", i, point, run->error ? run->error : "",
                  sweep_reproduce(s, i, path, sizeof path) ? "; its scene is " : "", path);
  }
  if (s->failed > MOST)
    (void)fprintf(stderr, "stickslip: and %ld more; the tables list all of them\n", s->failed - MOST);
}

static long count_doubtful(const sweep *s) {
  long n = 0;
  for (long i = 0; i < ss_study_runs(s->study); i++) n += s->runs[i].verdict == SS_VERDICT_DOUBTFUL;
  return n;
}

static int conclude(const sweep *s, const sweep_options *o) {
  int code = EXIT_DONE;
  const bool to_stdout = o->csv && strcmp(o->csv, "-") == 0;
  if (o->json)
    code = sweep_print_json(s);
  else if (!to_stdout)
    sweep_print_text(s);
  if (code == EXIT_DONE && o->output) code = sweep_write_table(s, o->output);
  if (code == EXIT_DONE && o->csv) code = sweep_print_csv(s, o->csv);
  if (code == EXIT_DONE && o->html) code = sweep_write_html(s, o->html);
  (void)fflush(stdout);
  list_failures(s);
  if (s->finished < ss_study_runs(s->study)) {
    (void)fprintf(stderr, "stickslip: stopped by a signal after %ld of %ld runs%s\n", s->finished,
                  ss_study_runs(s->study), o->resume ? "; the same command goes on" : "");
    return EXIT_SIGNAL + interrupt_signal();
  }
  const long doubtful = count_doubtful(s);
  if (doubtful)
    (void)fprintf(stderr, "stickslip: %ld run%s doubtful: the tables say why (docs/verdict.md)\n", doubtful,
                  doubtful == 1 ? " is" : "s are");
  return code != EXIT_DONE ? code : s->failed || (o->strict && doubtful) ? EXIT_FAILED : EXIT_DONE;
}

/* What the first rank checks before any work is done. */
static int prepare(sweep *s, const sweep_options *o) {
  const char *const outputs[] = {o->output, o->csv, o->html, o->resume};
  if (outputs_distinct(&o->study, 1, outputs, 4)) return EXIT_USAGE;
  if (outputs_named_well(o->output, o->csv, o->html)) return EXIT_USAGE;
  if (output_check(o->output) || output_check(o->csv) || output_check(o->html)) return EXIT_USAGE;
  return o->resume ? sweep_journal_read(o->resume, o->retry, s) : EXIT_DONE;
}

static bool make_folder(const char *path) { return mkdir(path, 0777) == 0 || errno == EEXIST; }

static void do_runs(sweep *s, work *w, const bool *done) {
  const ranks_job job = {.n = ss_study_runs(s->study),
                         .done = done,
                         .threads = s->threads,
                         .work = do_run,
                         .take = take_run,
                         .idle = show_progress,
                         .stop = interrupted,
                         .user = w};
  ranks_for(&job);
}

static int run_study(sweep *s, const sweep_options *o) {
  bool *done = calloc((size_t)ss_study_runs(s->study), sizeof *done);
  if (!done || !allocate(s)) {
    free(done);
    return usage_error("out of memory");
  }
  const bool first = ranks_index() == 0;
  int code = first ? prepare(s, o) : EXIT_DONE;
  if (!ranks_agree(code == EXIT_DONE)) {
    free(done);
    return code;
  }
  for (long i = 0; i < ss_study_runs(s->study); i++) done[i] = sweep_done(&s->runs[i]);
  work w = {.sweep = s, .start = wall_clock(), .already = s->finished, .terminal = isatty(STDERR_FILENO) != 0};
  w.drawn = w.terminal ? 0 : w.start;
  if (o->resume && sweep_journal_open(&w.journal, o->resume, s)) ranks_abort("cannot write the journal");
  if (!make_folder(s->folder)) ranks_abort("cannot make the folder for what is kept");
  interrupt_catch();
  do_runs(s, &w, done);
  free(done);
  s->seconds = wall_clock() - w.start;
  if (w.terminal && first) (void)fputs("\r\x1b[K", stderr);
  const int kept = sweep_journal_close(w.journal);
  (void)rmdir(s->folder); /* where nothing was kept */
  code = first ? conclude(s, o) : EXIT_DONE;
  return code == EXIT_DONE ? kept : code;
}

/* friction-angle-runs of studies/friction-angle.yaml */
static void default_folder(const char *study, char *folder, size_t size) {
  const char *slash = strrchr(study, '/'), *name = slash ? slash + 1 : study, *dot = strrchr(name, '.');
  (void)snprintf(folder, size, "%.*s-runs", (int)(dot && dot != name ? (size_t)(dot - name) : strlen(name)), name);
}

static int sweep_on_ranks(int argc, char **argv) {
  sweep_options o = {.threads = ranks_count() > 1 ? 1 : parallel_processors()};
  const int parsed = parse_sweep(argc, argv, &o);
  if (parsed != PARSE_GO_ON) return parsed;
  ss_study *study = NULL;
  ss_error error = {0};
  if (ss_study_load(o.study, &study, &error)) return report_error(&error);
  char folder[512];
  default_folder(o.study, folder, sizeof folder);
  sweep s = {.study = study,
             .file = o.study,
             .folder = o.keep ? o.keep : folder,
             .threads = o.threads,
             .ranks = ranks_count()};
  const int code = run_study(&s, &o);
  release(&s);
  ss_study_destroy(study);
  return code;
}

int command_sweep(int argc, char **argv) {
  const int started = ranks_start();
  return started != EXIT_DONE ? started : ranks_end(sweep_on_ranks(argc, argv));
}
