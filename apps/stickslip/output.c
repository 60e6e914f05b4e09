#include "output.h"

#include "cli.h"

#include "io/output_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct output_file {
  const char *path; /* as given; NULL: standard output_file */
  ss_output_file file;
  FILE *stream;
};

static bool is_standard(const char *path) { return !path || strcmp(path, "-") == 0; }

static int cannot_write(const char *path) {
  return usage_error("cannot write %s%s%s: %s", path ? "'" : "", path ? path : "to standard output", path ? "'" : "",
                     strerror(errno));
}

output_file *output_open(const char *path) {
  output_file *o = calloc(1, sizeof *o);
  if (!o) {
    (void)usage_error("out of memory");
    return NULL;
  }
  o->path = is_standard(path) ? NULL : path;
  o->stream = stdout;
  ss_error error = {0};
  if (!o->path) return o;
  output_tidy(path, false);
  if (ss_output_file_create(&o->file, path, &error)) {
    (void)report_error(&error);
    free(o);
    return NULL;
  }
  o->stream = fopen(o->file.working, "w");
  if (o->stream) return o;
  (void)cannot_write(path);
  output_discard(o);
  return NULL;
}

FILE *output_stream(const output_file *o) { return o->stream; }

int output_close(output_file *o) {
  ss_error error = {0};
  const bool failed = ferror(o->stream) != 0; /* then errno is that of the write, unless something came between */
  int code = EXIT_DONE;
  if ((o->path ? fclose(o->stream) : fflush(o->stream)) || failed)
    code = cannot_write(o->path);
  else if (o->path && ss_output_file_publish(&o->file, &error))
    code = report_error(&error);
  o->stream = NULL;
  output_discard(o);
  return code;
}

void output_discard(output_file *o) {
  if (o->path && o->stream) (void)fclose(o->stream);
  ss_output_file_discard(&o->file); /* nothing where it has its name */
  ss_output_file_release(&o->file);
  free(o);
}

int output_check(const char *path) {
  if (is_standard(path)) return EXIT_DONE;
  ss_output_file file;
  ss_error error = {0};
  if (ss_output_file_create(&file, path, &error)) return report_error(&error);
  ss_output_file_discard(&file);
  ss_output_file_release(&file);
  return EXIT_DONE;
}

/* Of data nobody but the user can say what it is worth. */
static bool remove_left_over(void *user, const char *working) {
  const bool data = *(const bool *)user;
  if (data)
    (void)fprintf(
        stderr,
        "stickslip: NOTE: '%s' is what a run that was killed had recorded; it can be read, renamed or removed\n",
        working);
  return !data;
}

void output_tidy(const char *path, bool data) {
  if (!is_standard(path)) ss_output_file_leftovers(path, remove_left_over, &data);
}

/* The same regular file, or the same name in the same directory where there is none yet. Devices may be named twice. */
static bool same_file(const char *a, const char *b) {
  struct stat x, y;
  if (stat(a, &x) == 0 && stat(b, &y) == 0) return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
  const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
  if (strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) != 0) return false;
  char folder_a[PATH_MAX], folder_b[PATH_MAX];
  (void)snprintf(folder_a, sizeof folder_a, "%.*s/.", slash_a ? (int)(slash_a - a) : 1, slash_a ? a : ".");
  (void)snprintf(folder_b, sizeof folder_b, "%.*s/.", slash_b ? (int)(slash_b - b) : 1, slash_b ? b : ".");
  return stat(folder_a, &x) == 0 && stat(folder_b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int outputs_distinct(const char *const *inputs, int n_inputs, const char *const *outputs, int n_outputs) {
  for (int i = 0; i < n_outputs; i++) {
    if (is_standard(outputs[i])) continue;
    for (int k = 0; k < n_inputs; k++)
      if (inputs[k] && same_file(inputs[k], outputs[i]))
        return usage_error("'%s' is read, and would be overwritten; name another output", outputs[i]);
    for (int k = 0; k < i; k++)
      if (!is_standard(outputs[k]) && same_file(outputs[k], outputs[i]))
        return usage_error("'%s' is named for two outputs", outputs[i]);
  }
  return EXIT_DONE;
}

int outputs_are_files(const char *const *inputs, int n_inputs, const char *const *outputs, int n_outputs) {
  for (int i = 0; i < n_outputs; i++)
    if (outputs[i] && is_standard(outputs[i])) return usage_error("'-' is not the name of an output here; name a file");
  return outputs_distinct(inputs, n_inputs, outputs, n_outputs);
}

static bool ends_with(const char *path, const char *ending) {
  const size_t n = strlen(path), m = strlen(ending);
  return n > m && strcmp(path + n - m, ending) == 0;
}

int outputs_named_well(const char *hdf5, const char *csv, const char *html) {
  static const struct {
    const char *option, *format, *ending;
  } kinds[] = {{"-o", "HDF5", ".h5"}, {"--csv", "CSV", ".csv"}, {"--html", "a page", ".html"}};
  const char *const paths[] = {hdf5, csv, html};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      if (i != k && paths[i] && ends_with(paths[i], kinds[k].ending))
        return usage_error("%s writes %s, but '%s' looks like %s: %s %s writes that", kinds[i].option, kinds[i].format,
                           paths[i], kinds[k].format, kinds[k].option, paths[i]);
  return EXIT_SUCCESS;
}
