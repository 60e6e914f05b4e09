/* Kills runs at random moments and looks at what is left (./dev reliability; a few in the tests), until so many have left something: one that
 * had not begun to record has nothing to lose, and one that had ended was not killed; these are counted, and others take their place.
 *
 *     kills PROGRAM SCENE KILLS SECONDS [SEED] [-- ARGUMENTS of run ...]
 *
 * One run is left alone. Each of the others is killed (SIGKILL) at a random moment of its first SECONDS seconds; then
 *   - its result must open with plain HDF5, every dataset of it must read, all with the same number of rows;
 *   - what it lost is what it had computed since the last commit, which must not be more than two seconds ago;
 *   - where it has left a checkpoint, the run that goes on from there must record, byte for byte, the rest of what the run
 *     recorded that was left alone, and print the same final state.
 * Works in the present directory; prints one line per failure and a summary. */
#include <dirent.h>
#include <hdf5.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double MOST_LOST = 2; /* seconds */

enum { MOST_ARGUMENTS = 64 };

typedef struct task {
  const char *program, *scene;
  char **extra;
  int n_extra;
} task;

static double wall_clock(clockid_t which) {
  struct timespec now;
  (void)clock_gettime(which, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void wait_until(double when) {
  for (double left; (left = when - wall_clock(CLOCK_MONOTONIC)) > 0;)
    (void)nanosleep(&(struct timespec){(time_t)left, (long)(1e9 * (left - (double)(time_t)left))}, NULL);
}

/* Starts `stickslip run SCENE extra... own...`, standard output to a file. */
static pid_t start(const task *t, const char *const *own, const char *out) {
  char *arguments[MOST_ARGUMENTS] = {(char *)t->program, (char *)"run", (char *)t->scene};
  int n = 3;
  for (int i = 0; i < t->n_extra && n + 1 < MOST_ARGUMENTS; i++) arguments[n++] = t->extra[i];
  for (; *own && n + 1 < MOST_ARGUMENTS; own++) arguments[n++] = (char *)*own;
  (void)fflush(stdout);
  const pid_t child = fork();
  if (child != 0) return child;
  if (!freopen(out, "w", stdout) || !freopen("kills-messages", "a", stderr)) _exit(126);
  (void)execv(t->program, arguments);
  _exit(127);
}

static bool finished_well(pid_t child) {
  int status;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- what is left ---- */

/* The file that a run to `base` was writing: base.PID-N.tmp. */
static bool find_left(const char *base, pid_t process, char name[PATH_MAX]) {
  char start_of[PATH_MAX];
  (void)snprintf(start_of, sizeof start_of, "%s.%ld-", base, (long)process);
  DIR *entries = opendir(".");
  bool found = false;
  for (const struct dirent *e; entries && !found && (e = readdir(entries)) != NULL;)
    if (strncmp(e->d_name, start_of, strlen(start_of)) == 0) {
      (void)snprintf(name, PATH_MAX, "%s", e->d_name);
      found = true;
    }
  if (entries) (void)closedir(entries);
  return found;
}

typedef struct reading {
  hsize_t rows;
  bool good;
} reading;

/* Reads a dataset to its end; tables of rows must have as many as /time. */
static herr_t read_dataset(hid_t root, const char *name, const H5O_info_t *info, void *user) {
  reading *r = user;
  if (info->type != H5O_TYPE_DATASET) return 0;
  const hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT), space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  hsize_t size[3] = {0};
  const hssize_t n = H5Sget_simple_extent_npoints(space);
  const bool per_row = strncmp(name, "bodies/", 7) == 0 || strncmp(name, "energy/", 7) == 0 ||
                       strncmp(name, "worst/", 6) == 0 || strncmp(name, "motion/", 7) == 0 || strcmp(name, "time") == 0;
  if (H5Sget_simple_extent_ndims(space) > 0) (void)H5Sget_simple_extent_dims(space, size, NULL);
  if (per_row && size[0] != r->rows) r->good = false;
  char *bytes = n > 0 ? malloc((size_t)n * H5Tget_size(type)) : NULL;
  if (n < 0 || (n > 0 && (!bytes || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) < 0))) r->good = false;
  free(bytes);
  (void)H5Tclose(type);
  (void)H5Sclose(space);
  (void)H5Dclose(dataset);
  return 0;
}

static reading read_result(const char *path) {
  reading r = {0, false};
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t time = file >= 0 ? H5Dopen2(file, "time", H5P_DEFAULT) : (hid_t)H5I_INVALID_HID;
  if (time >= 0) {
    const hid_t space = H5Dget_space(time);
    r.good = H5Sget_simple_extent_dims(space, &r.rows, NULL) == 1 && r.rows > 0;
    (void)H5Sclose(space);
    (void)H5Dclose(time);
#if H5_VERSION_GE(1, 12, 0)
    r.good = H5Ovisit1(file, H5_INDEX_NAME, H5_ITER_INC, (H5O_iterate1_t)read_dataset, &r) >= 0 && r.good;
#else
    r.good = H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, read_dataset, &r) >= 0 && r.good;
#endif
  }
  if (file >= 0) (void)H5Fclose(file);
  return r;
}

static char *read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  struct stat info;
  *size = 0;
  if (!f || fstat(fileno(f), &info)) return NULL;
  char *text = malloc((size_t)info.st_size + 1);
  if (text) *size = fread(text, 1, (size_t)info.st_size, f);
  if (text) text[*size] = '\0';
  (void)fclose(f);
  return text;
}

static bool ends_like(const char *whole, size_t n, const char *rows, size_t length) {
  return length <= n && memcmp(whole + n - length, rows, length) == 0;
}

/* Has the table a row of the time with which this row begins? */
static bool has_time(const char *table, const char *row) {
  char time[64] = "\n";
  const size_t length = strcspn(row, ",");
  if (length + 3 > sizeof time) return false;
  memcpy(time + 1, row, length);
  memcpy(time + 1 + length, ",", 2);
  return strstr(table, time) != NULL;
}

/* The rows of the second file, without its header, are the last ones of the first; its first row, the state that it went on
 * from, need not be among them where not every step is recorded. */
static bool is_rest(const char *whole_path, const char *rest_path) {
  size_t n, m;
  char *whole = read_file(whole_path, &n), *rest = read_file(rest_path, &m);
  const char *from = rest ? strchr(rest, '\n') : NULL;
  bool same = false;
  if (whole && from && from[1]) {
    if (!has_time(whole, ++from)) from = strchr(from, '\n') + 1;
    same = ends_like(whole, n, from, m - (size_t)(from - rest));
  }
  free(whole);
  free(rest);
  return same;
}

/* The object `final` of run --json. */
static char *final_of(const char *path) {
  size_t n;
  char *text = read_file(path, &n), *from = text ? strstr(text, "\"final\"") : NULL;
  char *to = from ? strstr(from, "\"certificate\"") : NULL, *copy = NULL;
  if (to) {
    *to = '\0';
    copy = strdup(from);
  }
  free(text);
  return copy;
}

static bool same_end(const char *a, const char *b) {
  char *x = final_of(a), *y = final_of(b);
  const bool same = x && y && strcmp(x, y) == 0;
  free(x);
  free(y);
  return same;
}

/* ---- kills ---- */

typedef struct tally {
  int kills, finished, too_early, opened, resumed, equal, failures;
  double most_lost;
  unsigned long long rows;
} tally;

static void complain(tally *n, int kill_number, double moment, const char *what) {
  char name[64];
  (void)printf("kill %d after %.3f s: %s\n", kill_number, moment, what);
  for (int i = 0; i < 2; i++) { /* to be looked at */
    (void)snprintf(name, sizeof name, "failed-%d-rest.%s", kill_number, i ? "json" : "csv");
    (void)rename(i ? "rest.json" : "rest.csv", name);
  }
  n->failures++;
}

static void look_at_result(tally *n, int number, double moment, const char *path, double killed) {
  const reading r = read_result(path);
  struct stat info;
  if (!r.good || stat(path, &info)) {
    complain(n, number, moment, "the result cannot be read");
    return;
  }
  n->opened++;
  n->rows += r.rows;
  const double lost = killed - ((double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec);
  if (lost > n->most_lost) n->most_lost = lost;
  if (lost > MOST_LOST) complain(n, number, moment, "more than two seconds are lost");
}

static void go_on(const task *t, tally *n, int number, double moment) {
  const char *const own[] = {"--resume", "killed.state", "--csv", "rest.csv", "--json", NULL};
  n->resumed++;
  if (!finished_well(start(t, own, "rest.json")))
    complain(n, number, moment, "the run cannot be resumed");
  else if (!is_rest("whole.csv", "rest.csv"))
    complain(n, number, moment, "the resumed run records something else than the one that was left alone");
  else if (!same_end("whole.json", "rest.json"))
    complain(n, number, moment, "the resumed run ends elsewhere than the one that was left alone");
  else
    n->equal++;
}

static void kill_one(const task *t, tally *n, int number, double moment) {
  const char *const own[] = {"-o", "killed.h5", "--checkpoint", "killed.state", NULL};
  (void)unlink("killed.state");
  (void)unlink("killed.h5");
  const double began = wall_clock(CLOCK_MONOTONIC);
  const pid_t child = start(t, own, "killed.out");
  wait_until(began + moment);
  (void)kill(child, SIGKILL);
  const double killed = wall_clock(CLOCK_REALTIME);
  int status;
  (void)waitpid(child, &status, 0);
  n->kills++;
  char left[PATH_MAX];
  if (WIFEXITED(status)) {
    if (!read_result("killed.h5").good) complain(n, number, moment, "the result of a finished run cannot be read");
    n->finished++;
    return;
  } else if (find_left("killed.h5", child, left)) {
    look_at_result(n, number, moment, left, killed);
    (void)unlink(left);
  } else if (moment > 1) {
    complain(n, number, moment, "there is no result");
  } else {
    n->too_early++; /* before anything was computed */
  }
  if (access("killed.state", R_OK) == 0)
    go_on(t, n, number, moment);
  else if (moment > MOST_LOST + 1)
    complain(n, number, moment, "there is no checkpoint");
}

static double uniform(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 9007199254740992.0;
}

int main(int argc, char **argv) {
  if (argc < 5) {
    (void)fprintf(stderr, "usage: kills PROGRAM SCENE KILLS SECONDS [SEED] [-- ARGUMENTS]\n");
    return 2;
  }
  task t = {.program = argv[1], .scene = argv[2]};
  const int kills = atoi(argv[3]);      // NOLINT(cert-err34-c)
  const double seconds = atof(argv[4]); // NOLINT(cert-err34-c)
  int next = 5;
  uint64_t seed = argc > 5 && strcmp(argv[5], "--") != 0 ? strtoull(argv[next++], NULL, 10) : 1;
  if (next < argc && strcmp(argv[next], "--") == 0) next++;
  t.extra = argv + next;
  t.n_extra = argc - next;
  const char *const whole[] = {"--csv", "whole.csv", "--json", NULL};
  const double began = wall_clock(CLOCK_MONOTONIC);
  if (!finished_well(start(&t, whole, "whole.json"))) {
    (void)printf("the run that was left alone failed\n");
    return 1;
  }
  const double took = wall_clock(CLOCK_MONOTONIC) - began;
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  tally n = {0};
  for (int i = 0; n.opened + n.failures < kills && i < 3 * kills; i++) kill_one(&t, &n, i, seconds * uniform(&seed));
  (void)printf("kills: %d at random moments of the first %g s of a run of %.1f s; finished before: %d; files that "
               "opened: %d; before the first "
               "row: %d; rows read: %llu; most lost: %.2f s; resumed: %d; equal to the uninterrupted run: %d; "
               "failures: %d\n",
               n.kills, seconds, took, n.finished, n.opened, n.too_early, n.rows, n.most_lost, n.resumed, n.equal,
               n.failures);
  return n.failures > 0;
}
