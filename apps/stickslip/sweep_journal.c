/* The journal of a study: a line of JSON that says which study it is, then one line per finished run, appended and flushed
 * as runs end. A last line that is cut short (the machine stopped) does not count. */
#include "sweep.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sweep_journal {
  FILE *stream;
  const char *path;
};

/* FNV-1a of the study's and the scene's text: runs of another text are not these runs. */
static bool hash_file(const char *path, uint64_t *hash) {
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  for (int c = fgetc(f); c != EOF; c = fgetc(f)) *hash = (*hash ^ (uint64_t)(unsigned char)c) * 0x100000001B3U;
  const bool good = !ferror(f);
  (void)fclose(f);
  return good;
}

static bool identity(const sweep *s, char text[32]) {
  uint64_t hash = 0xCBF29CE484222325U;
  if (!hash_file(s->file, &hash) || !hash_file(ss_study_scene(s->study), &hash)) return false;
  (void)snprintf(text, 32, "%016llx", (unsigned long long)hash);
  return true;
}

static bool take_run(sweep *s, const json_t *line) {
  const json_t *run = json_object_get(line, "run"), *observed = json_object_get(line, "observed");
  const long index = json_is_integer(run) ? (long)json_integer_value(run) : -1;
  const size_t n = (size_t)ss_study_observations(s->study);
  if (index < 0 || index >= ss_study_runs(s->study) || json_array_size(observed) != n) return false;
  sweep_run *r = &s->runs[index];
  for (size_t i = 0; i < n; i++) {
    const json_t *value = json_array_get(observed, i);
    if (json_is_number(value)) r->observed[i] = json_number_value(value);
  }
  r->certified = json_is_true(json_object_get(line, "certified"));
  if (!r->done) s->finished++;
  if (!r->done && !r->certified) s->failed++;
  r->done = true;
  return true;
}

/* Returns where writing goes on: behind the last whole line; -1: reported. */
static long read_lines(FILE *f, const char *path, const char *wanted, sweep *s) {
  long end = 0;
  char *line = NULL;
  size_t capacity = 0;
  for (long number = 1;; number++) {
    const ssize_t length = getline(&line, &capacity, f);
    if (length <= 0 || line[length - 1] != '\n') break;
    json_t *object = json_loads(line, 0, NULL);
    const char *study = json_string_value(json_object_get(object, "study"));
    const bool good = number == 1 ? study && strcmp(study, wanted) == 0 : take_run(s, object);
    json_decref(object);
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

int sweep_journal_open(sweep_journal **out, const char *path, sweep *s) {
  char wanted[32];
  if (!identity(s, wanted)) return usage_error("cannot read the study again: %s", strerror(errno));
  FILE *f = fopen(path, "a+");
  if (!f) return usage_error("cannot write '%s': %s", path, strerror(errno));
  (void)fclose(f);
  f = fopen(path, "r+");
  long end = -1;
  if (f) {
    end = read_lines(f, path, wanted, s);
    if (end >= 0 && fseek(f, end, SEEK_SET)) end = -1;
    if (end == 0) (void)fprintf(f, "{\"study\": \"%s\"}\n", wanted);
  }
  sweep_journal *journal = end >= 0 ? malloc(sizeof *journal) : NULL;
  if (!journal) {
    if (f) (void)fclose(f);
    return EXIT_USAGE;
  }
  *journal = (sweep_journal){f, path};
  *out = journal;
  return EXIT_DONE;
}

void sweep_journal_add(sweep_journal *journal, const sweep *s, long run) {
  const sweep_run *r = &s->runs[run];
  json_t *line = json_pack("{s:I, s:b, s:o}", "run", (json_int_t)run, "certified", r->certified, "observed",
                           json_numbers(r->observed, ss_study_observations(s->study)));
  if (line) (void)json_dumpf(line, journal->stream, JSON_COMPACT | JSON_REAL_PRECISION(17));
  if (line) (void)fputc('\n', journal->stream);
  json_decref(line);
  (void)fflush(journal->stream);
}

int sweep_journal_close(sweep_journal *journal) {
  if (!journal) return EXIT_DONE;
  const bool failed = ferror(journal->stream);
  const int code = fclose(journal->stream) || failed ? usage_error("cannot write '%s'", journal->path) : EXIT_DONE;
  free(journal);
  return code;
}
