/* Faults on purpose: the program itself, in which the n-th allocation, write, flush, renaming or sync fails, for every n.
 *
 *     faults [-most N] [-kind KIND] [-output FILE]... COMMAND ...     (linked in place of main, see CMakeLists.txt)
 *
 * The command runs once as it is, and then once per fault (-most: at most N of a kind, evenly spread), each time in a process of its own. Then
 *   - it must end by itself, with exit code 0, 1 or 2, without complaint of a sanitizer and without a leak;
 *   - with 1 or 2 it must have said why;
 *   - each output must be what it was before, or complete: equal to that of the undisturbed run, or, where it holds times of
 *     the clock, readable to its end; after exit code 0 all of them are complete. Of a run that fails half-way the rows so far
 *     are kept, which is what it promises.
 * Allocations are those of our own code, of libyaml, jansson (but for its parser) and expat; HDF5, cairo and the C library have
 * their own. */
#define _GNU_SOURCE

#include <errno.h>
#include <expat.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum kind { ALLOCATION, WRITE, FLUSH, RENAME, SYNC, KINDS } kind;
static const char *const kind_names[KINDS] = {"allocation", "write", "flush", "rename", "sync"};

/* Shared with the parent, which reads the counts. */
typedef struct faults {
  long count[KINDS];
  kind which;
  long when;  /* 0: never */
  bool armed; /* counting, too */
} faults;
static faults *shared;

static bool fails(kind k) {
  if (!shared || !shared->armed) return false;
  return ++shared->count[k] == shared->when && shared->which == k;
}

/* ---- wrapped functions ---- */

#define WRAP(type, name, ...)                                                                                          \
  type __real_##name(__VA_ARGS__);                                                                                     \
  type __wrap_##name(__VA_ARGS__);                                                                                     \
  type __wrap_##name(__VA_ARGS__)

WRAP(void *, malloc, size_t size) { return fails(ALLOCATION) ? NULL : __real_malloc(size); }
WRAP(void *, calloc, size_t n, size_t size) { return fails(ALLOCATION) ? NULL : __real_calloc(n, size); }
WRAP(void *, realloc, void *old, size_t size) { return fails(ALLOCATION) ? NULL : __real_realloc(old, size); }
WRAP(char *, strdup, const char *text) { return fails(ALLOCATION) ? NULL : __real_strdup(text); }

/* libyaml asks these, wherever they are. */
void *yaml_malloc(size_t size);
void *yaml_malloc(size_t size) { return fails(ALLOCATION) ? NULL : __real_malloc(size ? size : 1); }
void *yaml_realloc(void *old, size_t size);
void *yaml_realloc(void *old, size_t size) { return fails(ALLOCATION) ? NULL : __real_realloc(old, size ? size : 1); }
unsigned char *yaml_strdup(const unsigned char *text);
unsigned char *yaml_strdup(const unsigned char *text) {
  return text && !fails(ALLOCATION) ? (unsigned char *)__real_strdup((const char *)text) : NULL;
}

WRAP(XML_Parser, XML_ParserCreate, const XML_Char *encoding) {
  static const XML_Memory_Handling_Suite suite = {__wrap_malloc, __wrap_realloc, free};
  return XML_ParserCreate_MM(encoding, &suite, NULL);
}

/* jansson's parser writes through a wild pointer after one of its own allocations has failed (2.14, libjansson.so.4 + 0x4b00):
 * it fails as a whole. */
WRAP(json_t *, json_loads, const char *text, size_t flags, json_error_t *error) {
  if (fails(ALLOCATION)) return NULL;
  const bool armed = shared->armed;
  shared->armed = false;
  json_t *value = __real_json_loads(text, flags, error);
  shared->armed = armed;
  return value;
}

static bool full(kind k, FILE *stream) {
  if (stream == stderr || !fails(k)) return false;
  stream->_flags |= 0x20; /* glibc's mark of an error */
  errno = ENOSPC;
  return true;
}

WRAP(size_t, fwrite, const void *bytes, size_t size, size_t n, FILE *stream) {
  return full(WRITE, stream) ? 0 : __real_fwrite(bytes, size, n, stream);
}
WRAP(int, fputs, const char *text, FILE *stream) { return full(WRITE, stream) ? EOF : __real_fputs(text, stream); }
WRAP(int, fputc, int c, FILE *stream) { return full(WRITE, stream) ? EOF : __real_fputc(c, stream); }
WRAP(int, putc, int c, FILE *stream) { return full(WRITE, stream) ? EOF : __real_putc(c, stream); }
WRAP(int, fprintf, FILE *stream, const char *format, ...) {
  if (full(WRITE, stream)) return -1;
  va_list arguments;
  va_start(arguments, format);
  const int n = vfprintf(stream, format, arguments);
  va_end(arguments);
  return n;
}
WRAP(int, fflush, FILE *stream) { return stream && full(FLUSH, stream) ? EOF : __real_fflush(stream); }
WRAP(int, fclose, FILE *stream) {
  const bool bad = full(FLUSH, stream);
  const int code = __real_fclose(stream);
  if (bad) errno = ENOSPC;
  return bad ? EOF : code;
}
WRAP(ssize_t, write, int descriptor, const void *bytes, size_t size) {
  if (fails(WRITE)) return errno = ENOSPC, -1;
  return __real_write(descriptor, bytes, size);
}
WRAP(ssize_t, pwrite, int descriptor, const void *bytes, size_t size, off_t at) {
  if (fails(WRITE)) return errno = ENOSPC, -1;
  return __real_pwrite(descriptor, bytes, size, at);
}
WRAP(int, ftruncate, int descriptor, off_t size) {
  if (fails(WRITE)) return errno = ENOSPC, -1;
  return __real_ftruncate(descriptor, size);
}
WRAP(int, rename, const char *from, const char *to) {
  if (fails(RENAME)) return errno = EIO, -1;
  return __real_rename(from, to);
}
WRAP(int, renameat2, int a, const char *from, int b, const char *to, unsigned flags) {
  if (fails(RENAME)) return errno = EINVAL, -1; /* as where the file system cannot */
  return __real_renameat2(a, from, b, to, flags);
}
WRAP(int, fsync, int descriptor) {
  if (fails(SYNC)) return errno = EIO, -1;
  return __real_fsync(descriptor);
}

/* ---- processes ---- */

enum { MOST_OUTPUTS = 8, MOST_FILE = 1 << 24, PATIENCE = 120 };
static const char old_text[] = "what was here before\n";

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

typedef struct trial {
  int argc;
  char **argv;
  const char *outputs[MOST_OUTPUTS];
  int n_outputs;
} trial;

static int run_apart(int argc, char **argv, bool armed, kind which, long when, const char *messages) {
  (void)__real_fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    (void)alarm(PATIENCE);
    if (!freopen("/dev/null", "w", stdout) || !freopen(messages, "w", stderr)) _exit(126);
    if (armed) json_set_alloc_funcs(__wrap_malloc, free);
    memset(shared->count, 0, sizeof shared->count);
    shared->which = which;
    shared->when = when;
    shared->armed = armed;
    const int code = __real_main(argc, argv);
    shared->armed = false;
    exit(code);
  }
  int status = -1;
  (void)waitpid(child, &status, 0);
  shared->armed = false;
  return status;
}

static char *read_whole(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  *size = 0;
  if (!f) return NULL;
  char *text = __real_malloc(MOST_FILE);
  *size = fread(text, 1, MOST_FILE - 1, f);
  text[*size] = '\0';
  (void)__real_fclose(f);
  return text;
}

static bool same_files(const char *a, const char *b) {
  size_t n, m;
  char *x = read_whole(a, &n), *y = read_whole(b, &m);
  const bool same = x && y && n == m && memcmp(x, y, n) == 0;
  free(x);
  free(y);
  return same;
}

/* A run that failed saves what it has, marked as incomplete: whole rows, the first ones. */
static bool first_rows(const char *path, const char *whole) {
  size_t n, m;
  char *x = read_whole(path, &n), *y = read_whole(whole, &m);
  const bool first = x && y && n > 0 && n <= m && x[n - 1] == '\n' && memcmp(x, y, n) == 0;
  free(x);
  free(y);
  return first;
}

static bool ends_with(const char *text, const char *ending) {
  const size_t n = strlen(text), m = strlen(ending);
  return n >= m && strcmp(text + n - m, ending) == 0;
}

static void put_old(const trial *t) {
  for (int i = 0; i < t->n_outputs; i++) {
    FILE *f = fopen(t->outputs[i], "w");
    if (!f || __real_fputs(old_text, f) < 0 || __real_fclose(f)) abort();
  }
}

static bool is_old(const char *path) {
  size_t n;
  char *text = read_whole(path, &n);
  const bool old = text && n == strlen(old_text) && memcmp(text, old_text, n) == 0;
  free(text);
  return old;
}

static int lines(const char *text) {
  int n = 0;
  for (; *text; text++) n += *text == '\n';
  return n;
}

/* Equal to the undisturbed one's, or, with times of the clock inside, to be read to its end. */
static bool is_complete(const char *path, bool sweep) {
  char clean[512];
  (void)snprintf(clean, sizeof clean, "%s.clean", path);
  if (same_files(path, clean)) return true;
  if (ends_with(path, ".html")) {
    size_t n;
    char *text = read_whole(path, &n);
    const bool whole = text && strstr(text, "</html>");
    free(text);
    return whole;
  }
  if (ends_with(path, ".h5")) {
    char *export[] = {(char *)"stickslip", (char *)"export", (char *)path,        (char *)"--to",
                      (char *)"csv",       (char *)"-o",     (char *)"check.csv", NULL};
    (void)unlink("check.csv");
    return run_apart(7, export, false, KINDS, 0, "check.err") == 0 && first_rows("check.csv", "clean.csv");
  }
  if (!sweep && ends_with(path, ".csv")) return first_rows(path, clean);
  if (ends_with(path, ".csv")) { /* the row of a run that failed says so */
    size_t n, m;
    char *text = read_whole(path, &n), *other = read_whole(clean, &m);
    const bool whole = text && other && n > 0 && text[n - 1] == '\n' && lines(text) == lines(other);
    free(text);
    free(other);
    return whole;
  }
  return ends_with(path, ".state"); /* the recorder's times; its own checksum is tested elsewhere */
}

static int complain(kind k, long n, const char *what, int status) {
  size_t size;
  char *said = read_whole("faults.err", &size);
  (void)__real_fflush(stdout);
  (void)printf("%s %ld: %s (status %#x)\n%.3000s\n", kind_names[k], n, what, (unsigned)status, said ? said : "");
  free(said);
  return 1;
}

static int judge(const trial *t, kind k, long n, int status) {
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 2) return complain(k, n, "did not end as it should", status);
  const int code = WEXITSTATUS(status);
  size_t said = 0;
  free(read_whole("faults.err", &said));
  if (code != 0 && said == 0) return complain(k, n, "did not say why", status);
  for (int i = 0; i < t->n_outputs; i++) {
    if (code != 0 && is_old(t->outputs[i])) continue;
    if (!is_complete(t->outputs[i], strcmp(t->argv[1], "sweep") == 0)) return complain(k, n, t->outputs[i], status);
  }
  return 0;
}

static int undisturbed(const trial *t, long total[KINDS]) {
  put_old(t);
  const int status = run_apart(t->argc, t->argv, true, KINDS, 0, "faults.err");
  memcpy(total, shared->count, sizeof shared->count);
  if (status != 0) return complain(ALLOCATION, 0, "the undisturbed run failed", status);
  for (int i = 0; i < t->n_outputs; i++) {
    char clean[512];
    (void)snprintf(clean, sizeof clean, "%s.clean", t->outputs[i]);
    (void)unlink(clean);
    if (__real_rename(t->outputs[i], clean)) return complain(ALLOCATION, 0, "an output is missing", 0);
    if (!ends_with(t->outputs[i], ".h5")) continue;
    char *export[] = {(char *)"stickslip", (char *)"export",    clean, (char *)"--to", (char *)"csv",
                      (char *)"-o",        (char *)"clean.csv", NULL};
    if (run_apart(7, export, false, KINDS, 0, "check.err")) return complain(ALLOCATION, 0, "no export", 0);
  }
  return 0;
}

int __wrap_main(int argc, char **argv) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  trial t = {0};
  long most = 0, total[KINDS], tried[KINDS] = {0};
  int only = -1, at = 1;
  for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
    if (strcmp(argv[at], "-most") == 0) most = strtol(argv[at + 1], NULL, 10);
    if (strcmp(argv[at], "-output") == 0 && t.n_outputs < MOST_OUTPUTS) t.outputs[t.n_outputs++] = argv[at + 1];
    for (int k = 0; k < KINDS; k++)
      if (strcmp(argv[at], "-kind") == 0 && strcmp(argv[at + 1], kind_names[k]) == 0) only = k;
  }
  t.argv = argv + at - 1;
  t.argc = argc - at + 1;
  t.argv[0] = (char *)"stickslip";
  if (undisturbed(&t, total)) return 1;
  int failures = 0;
  for (int k = 0; k < KINDS; k++) {
    if (only >= 0 && only != k) continue;
    const long step = most > 0 ? (total[k] + most - 1) / most : 1;
    if (step == 0) continue;
    for (long n = 1; n <= total[k]; n += step) {
      put_old(&t);
      const int status = run_apart(t.argc, t.argv, true, (kind)k, n, "faults.err");
      failures += judge(&t, (kind)k, n, status);
      tried[k]++;
    }
  }
  (void)printf("faults %s:", t.argv[1]);
  for (int k = 0; k < KINDS; k++) (void)printf(" %s %ld of %ld;", kind_names[k], tried[k], total[k]);
  (void)printf(" failures: %d\n", failures);
  return failures > 0;
}
