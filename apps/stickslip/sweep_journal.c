/* Journals of a study: a line of JSON that says which study it is, then one line per finished run, appended and flushed as
 * runs end. A last line that is cut short (the process was killed) does not count. */
#include "sweep.h"

#include "ranks.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 1100 };

struct sweep_journal {
  FILE *stream;
  char path[PATH_SIZE];
};

static void identity(const sweep *s, char text[32]) {
  (void)snprintf(text, 32, "%016llx", (unsigned long long)ss_study_fingerprint(s->study));
}

static ss_study_verdict verdict_named(const char *name) {
  for (int i = 1; name && i < SS_STUDY_VERDICTS; i++)
    if (strcmp(ss_study_verdict_name((ss_study_verdict)i), name) == 0) return (ss_study_verdict)i;
  return SS_VERDICT_STOPPED;
}

static bool take_run(sweep *s, const json_t *line, bool retry) {
  const json_t *run = json_object_get(line, "run"), *observed = json_object_get(line, "observed");
  const long index = json_is_integer(run) ? (long)json_integer_value(run) : -1;
  const size_t n = (size_t)ss_study_observations(s->study);
  const ss_study_verdict verdict = verdict_named(json_string_value(json_object_get(line, "verdict")));
  if (index < 0 || index >= ss_study_runs(s->study) || json_array_size(observed) != n || !verdict) return false;
  sweep_run *r = &s->runs[index];
  if (sweep_done(r) || (retry && verdict != SS_VERDICT_CERTIFIED)) return true;
  for (size_t i = 0; i < n; i++) {
    const json_t *value = json_array_get(observed, i);
    if (json_is_number(value)) r->observed[i] = json_number_value(value);
  }
  r->verdict = verdict;
  r->reproducible = json_is_true(json_object_get(line, "reproducible"));
  const char *error = json_string_value(json_object_get(line, "error"));
  if (error) r->error = strdup(error);
  s->finished++;
  s->failed += sweep_failed(r);
  return true;
}

/* Reads into s, or where s is NULL only looks where whole lines end. Returns where writing goes on; -1: reported. */
static long read_lines(FILE *f, const char *path, const char *wanted, sweep *s, bool retry) {
  long end = 0;
  char *line = NULL;
  size_t capacity = 0;
  for (long number = 1;; number++) {
    const ssize_t length = getline(&line, &capacity, f);
    if (length <= 0 || line[length - 1] != '\n') break;
    bool good = true;
    if (number == 1 || s) {
      json_t *object = json_loads(line, 0, NULL);
      const char *study = json_string_value(json_object_get(object, "study"));
      good = number == 1 ? study && strcmp(study, wanted) == 0 : take_run(s, object, retry);
      json_decref(object);
    }
    if (!good) {
      (void)usage_error(number == 1 ? "%s:%ld: these are not runs of this study as it is now; name another file"
                                    : "%s:%ld: not a line that sweep --resume has written",
                        path, number);
      end = -1;
      break;
    }
    end += (long)length;
  }
  free(line);
  return end;
}

static int read_one(const char *path, bool retry, sweep *s) {
  char wanted[32];
  FILE *f = fopen(path, "r");
  if (!f) return errno == ENOENT ? EXIT_DONE : usage_error("cannot read '%s': %s", path, strerror(errno));
  identity(s, wanted);
  const long end = read_lines(f, path, wanted, s, retry);
  (void)fclose(f);
  return end < 0 ? EXIT_USAGE : EXIT_DONE;
}

/* NAME.12 of NAME */
static bool is_journal_of(const char *entry, const char *name) {
  const size_t length = strlen(name);
  if (strncmp(entry, name, length) != 0 || entry[length] != '.' || !entry[length + 1]) return false;
  return strspn(entry + length + 1, "0123456789") == strlen(entry + length + 1);
}

int sweep_journal_read(const char *path, bool retry, sweep *s) {
  int code = read_one(path, retry, s);
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  char folder[PATH_SIZE], file[2 * PATH_SIZE];
  (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash ? slash - path + 1 : 2), slash ? path : "./");
  DIR *directory = opendir(folder);
  if (!directory) return code;
  for (const struct dirent *entry = readdir(directory); entry && code == EXIT_DONE; entry = readdir(directory)) {
    if (!is_journal_of(entry->d_name, name)) continue;
    (void)snprintf(file, sizeof file, "%s%s", slash ? folder : "", entry->d_name);
    code = read_one(file, retry, s);
  }
  (void)closedir(directory);
  return code;
}

int sweep_journal_open(sweep_journal **out, const char *path, const sweep *s) {
  sweep_journal *journal = calloc(1, sizeof *journal);
  if (!journal) return usage_error("out of memory");
  char wanted[32];
  identity(s, wanted);
  if (ranks_index() == 0)
    (void)snprintf(journal->path, sizeof journal->path, "%s", path);
  else
    (void)snprintf(journal->path, sizeof journal->path, "%s.%d", path, ranks_index());
  FILE *f = fopen(journal->path, "a+");
  if (f) (void)fclose(f);
  f = f ? fopen(journal->path, "r+") : NULL;
  if (!f) {
    const int code = usage_error("cannot write '%s': %s", journal->path, strerror(errno));
    free(journal);
    return code;
  }
  const long end = read_lines(f, journal->path, wanted, NULL, false);
  if (end < 0 || fseek(f, end, SEEK_SET)) {
    (void)fclose(f);
    free(journal);
    return EXIT_USAGE;
  }
  if (end == 0) (void)fprintf(f, "{\"study\": \"%s\"}\n", wanted);
  journal->stream = f;
  *out = journal;
  return EXIT_DONE;
}

bool sweep_journal_add(sweep_journal *journal, const sweep *s, long run, const sweep_run *r) {
  json_t *line = json_pack("{s:I, s:s, s:o}", "run", (json_int_t)run, "verdict", ss_study_verdict_name(r->verdict),
                           "observed", json_numbers(r->observed, ss_study_observations(s->study)));
  if (line && r->error) (void)json_object_set_new(line, "error", json_text(r->error));
  if (line && r->reproducible) (void)json_object_set_new(line, "reproducible", json_true());
  if (line) (void)json_dumpf(line, journal->stream, JSON_COMPACT | JSON_REAL_PRECISION(17));
  if (line) (void)fputc('\n', journal->stream);
  json_decref(line);
  return line && fflush(journal->stream) == 0 && !ferror(journal->stream);
}

int sweep_journal_close(sweep_journal *journal) {
  if (!journal) return EXIT_DONE;
  const bool failed = ferror(journal->stream);
  const int code = fclose(journal->stream) || failed ? usage_error("cannot write '%s'", journal->path) : EXIT_DONE;
  free(journal);
  return code;
}
