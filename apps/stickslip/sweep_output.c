/* The table of a study: as text, CSV and JSON. Nothing in the rows depends on the machine or on the number of threads. */
#include "output.h"
#include "sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *state_of(const sweep_run *run) {
  return sweep_done(run) ? ss_study_verdict_name(run->verdict) : "not-done";
}

/* ---- text ---- */

enum { NARROWEST = 12, WIDEST = 40, MOST_TEXT_ROWS = 1000 };

static int width_of(const char *name) {
  const int length = (int)strlen(name) + 1;
  return length < NARROWEST ? NARROWEST : length > WIDEST ? WIDEST : length;
}

static int variation_width(const sweep *s, int i) {
  int width = width_of(ss_study_variation_name(s->study, i));
  for (long run = 0; run < ss_study_runs(s->study) && run < 1000; run++) {
    const char *word = ss_study_point(s->study, run, i).word;
    if (word && width_of(word) > width) width = width_of(word);
  }
  return width;
}

void sweep_print_text(const sweep *s) {
  const int variations = ss_study_variations(s->study), observations = ss_study_observations(s->study);
  (void)printf("%s\n  %ld runs of %s%s, %ld failed; %.3g s with %ld thread%s", ss_study_name(s->study),
               ss_study_runs(s->study), ss_study_scene(s->study), ss_study_is_random(s->study) ? " (random)" : "",
               s->failed, s->seconds, s->threads, s->threads == 1 ? "" : "s");
  if (s->ranks > 1) (void)printf(" on each of %ld ranks", s->ranks);
  if (s->busy > 0)
    (void)printf(", %.0f %% of them in runs", 100 * s->busy / (s->seconds * (double)s->threads * (double)s->ranks));
  (void)printf("\n\n  %5s", "run");
  for (int i = 0; i < variations; i++)
    (void)printf(" %*s", variation_width(s, i), ss_study_variation_name(s->study, i));
  for (int i = 0; i < observations; i++) {
    const char *name = ss_study_observation_name(s->study, i);
    (void)printf(" %*s", width_of(name), name);
  }
  (void)printf("  verdict\n");
  const long all = ss_study_runs(s->study), shown = all < MOST_TEXT_ROWS ? all : MOST_TEXT_ROWS;
  for (long run = 0; run < shown; run++) {
    const sweep_run *r = &s->runs[run];
    (void)printf("  %5ld", run);
    for (int i = 0; i < variations; i++) {
      const ss_study_value v = ss_study_point(s->study, run, i);
      if (v.word)
        (void)printf(" %*s", variation_width(s, i), v.word);
      else
        (void)printf(" %*.6g", variation_width(s, i), v.number);
    }
    for (int i = 0; i < observations; i++) {
      const int width = width_of(ss_study_observation_name(s->study, i));
      if (isfinite(r->observed[i]))
        (void)printf(" %*.6g", width, r->observed[i]);
      else
        (void)printf(" %*s", width, "-");
    }
    (void)printf("  %s\n", state_of(r));
  }
  if (shown < all) (void)printf("  ... %ld more: -o and --csv write all of them\n", all - shown);
}

/* ---- CSV ---- */

/* In quotes where a comma, a quote or a line's end would be misread. */
static void put_field(FILE *f, const char *text) {
  if (!strpbrk(text, ",\"\r\n")) {
    (void)fputs(text, f);
    return;
  }
  (void)fputc('"', f);
  for (; *text; text++) {
    if (*text == '"') (void)fputc('"', f);
    (void)fputc(*text, f);
  }
  (void)fputc('"', f);
}

static void put_csv(const sweep *s, FILE *f) {
  const int variations = ss_study_variations(s->study), observations = ss_study_observations(s->study);
  (void)fputs("run", f);
  for (int i = 0; i < variations + observations; i++) {
    (void)fputc(',', f);
    put_field(f, i < variations ? ss_study_variation_name(s->study, i)
                                : ss_study_observation_name(s->study, i - variations));
  }
  (void)fputs(",certified,verdict,error,reproduce\n", f);
  for (long run = 0; run < ss_study_runs(s->study); run++) {
    const sweep_run *r = &s->runs[run];
    (void)fprintf(f, "%ld", run);
    for (int i = 0; i < variations; i++) {
      const ss_study_value v = ss_study_point(s->study, run, i);
      (void)fputc(',', f);
      if (v.word)
        put_field(f, v.word);
      else
        (void)fprintf(f, "%.17g", v.number);
    }
    for (int i = 0; i < observations; i++)
      if (isfinite(r->observed[i]))
        (void)fprintf(f, ",%.17g", r->observed[i]);
      else
        (void)fputc(',', f);
    char path[1024];
    (void)sweep_reproduce(s, run, path, sizeof path);
    (void)fprintf(f, ",%d,%s,", r->verdict == SS_VERDICT_CERTIFIED, state_of(r));
    put_field(f, r->error ? r->error : "");
    (void)fputc(',', f);
    put_field(f, path);
    (void)fputc('\n', f);
  }
}

int sweep_print_csv(const sweep *s, const char *path) {
  output_file *o = output_open(path);
  if (!o) return EXIT_USAGE;
  put_csv(s, output_stream(o));
  return output_close(o);
}

/* ---- JSON ---- */

static json_t *run_json(const sweep *s, long run) {
  const sweep_run *r = &s->runs[run];
  json_t *point = json_object(), *observed = json_object();
  for (int i = 0; point && i < ss_study_variations(s->study); i++) {
    const ss_study_value v = ss_study_point(s->study, run, i);
    if (json_object_set_new(point, ss_study_variation_name(s->study, i),
                            v.word ? json_text(v.word) : json_number(v.number)))
      return NULL;
  }
  for (int i = 0; observed && i < ss_study_observations(s->study); i++)
    if (json_object_set_new(observed, ss_study_observation_name(s->study, i), json_number(r->observed[i]))) return NULL;
  char path[1024];
  const bool scene = sweep_reproduce(s, run, path, sizeof path);
  return json_pack("{s:I, s:o, s:o, s:b, s:s, s:o, s:o}", "run", (json_int_t)run, "point", point, "observed", observed,
                   "certified", r->verdict == SS_VERDICT_CERTIFIED, "verdict", state_of(r), "error",
                   json_text(r->error), "reproduce", json_text(scene ? path : NULL));
}

int sweep_print_json(const sweep *s) {
  json_t *runs = json_array();
  for (long run = 0; runs && run < ss_study_runs(s->study); run++)
    if (json_array_append_new(runs, run_json(s, run))) return usage_error("out of memory");
  return json_print(json_pack("{s:o, s:o, s:o, s:b, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "study",
                              json_text(ss_study_name(s->study)), "file", json_text(s->file), "scene",
                              json_text(ss_study_scene(s->study)), "random", ss_study_is_random(s->study), "finished",
                              (json_int_t)s->finished, "failed", (json_int_t)s->failed, "threads",
                              (json_int_t)s->threads, "ranks", (json_int_t)s->ranks, "wall_seconds",
                              json_number(s->seconds), "busy_seconds", json_number(s->busy), "runs", runs));
}

/* ---- HDF5 ---- */

int sweep_write_table(const sweep *s, const char *path) {
  const long n = ss_study_runs(s->study);
  ss_study_row *rows = calloc((size_t)n, sizeof *rows);
  ss_error error = {0};
  if (!rows) return usage_error("out of memory");
  bool good = true;
  for (long i = 0; i < n && good; i++) {
    char scene[1024];
    const sweep_run *r = &s->runs[i];
    rows[i] = (ss_study_row){.verdict = r->verdict, .observed = r->observed, .error = r->error};
    if (!sweep_reproduce(s, i, scene, sizeof scene)) continue;
    rows[i].reproduce = strdup(scene);
    good = rows[i].reproduce != NULL;
  }
  const ss_status status = good ? ss_study_write_table(s->study, rows, path, &error) : SS_ERROR_MEMORY;
  for (long i = 0; i < n; i++) free((void *)rows[i].reproduce);
  free(rows);
  if (!good) return usage_error("out of memory");
  return status ? report_error(&error) : EXIT_DONE;
}
