/* Random scenes by the hundred (./dev trials): each runs in a process of its own, so that one that crashes or hangs does
 * not end the others. Prints those that break a rule of tests/trial.h, leaves their scene files, and counts.
 *
 *     trials FROM TO [FOLDER]          seeds FROM .. TO-1; scenes that are not fine are written to FOLDER
 *     trials --show SEED               prints a scene
 *     trials --wide FROM TO [FOLDER]   the same with scenes of wide range (tests/wide_trial.h), which count by outcome; those that are
 *                                      wrong, hang or crash are written
 *     trials --wide --show SEED */
#include "trial.h"
#include "wide_trial.h"

#include <stickslip/io.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 60, WIDE_PATIENCE = 20 }; /* seconds; of processor time */

static void describe(const random_scene *s, char *out, size_t size) {
  (void)snprintf(out, size, "%s %s %s e=%g mu=%g%s%s", s->planar ? "planar" : "spatial", s->scheme, s->stabilization,
                 s->restitution, s->friction, s->locates ? "" : " no events", s->how.length != 1 ? " other units" : "");
}

static int write_scene(const random_scene *s, FILE *stream) {
  trial_run r = {0};
  ss_error error = {0};
  ss_status status = ss_scene_parse(s->text, strlen(s->text), "random", NULL, 0, &r.scene, &error);
  if (status == SS_OK) transform_scene(&s->how, r.scene);
  if (status == SS_OK) status = ss_scene_write(r.scene, stream, &error);
  if (status != SS_OK) (void)fprintf(stream, "# %s\n%s", error.message, s->text);
  trial_close(&r);
  return status != SS_OK;
}

/* In a process of its own; the verdict comes through the pipe. */
static trial try_apart(const random_scene *s) {
  trial result = {.kind = TRIAL_FAILED, .message = "crashed"};
  int ends[2];
  if (pipe(ends)) return result;
  const pid_t child = fork();
  if (child == 0) {
    trial own;
    (void)alarm(PATIENCE);
    trial_do(s, true, &own);
    const bool told = write(ends[1], &own, sizeof own) == (ssize_t)sizeof own;
    _exit(told ? 0 : 1);
  }
  (void)close(ends[1]);
  if (child > 0) {
    const ssize_t got = read(ends[0], &result, sizeof result);
    int status = 0;
    (void)waitpid(child, &status, 0);
    if (got != (ssize_t)sizeof result)
      (void)snprintf(result.message, sizeof result.message,
                     WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hangs" : "crashed");
  }
  (void)close(ends[0]);
  return result;
}

static void keep(const random_scene *s, const char *folder, unsigned long seed) {
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/random-%lu.yaml", folder, seed);
  FILE *stream = fopen(path, "w");
  if (!stream) return;
  (void)write_scene(s, stream);
  (void)fclose(stream);
}

/* ---- wide range ---- */

static wide_trial try_wide_apart(const wide_scene *w) {
  wide_trial result = {.kind = WIDE_CRASHED, .message = "crashed"};
  int ends[2];
  if (pipe(ends)) return result;
  const pid_t child = fork();
  if (child == 0) {
    wide_trial own = {0};
    const struct rlimit limit = {WIDE_PATIENCE, WIDE_PATIENCE};
    (void)setrlimit(RLIMIT_CPU, &limit);
    wide_run(w, &own);
    _exit(write(ends[1], &own, sizeof own) == (ssize_t)sizeof own ? 0 : 1);
  }
  (void)close(ends[1]);
  if (child > 0) {
    const ssize_t got = read(ends[0], &result, sizeof result);
    int status = 0;
    (void)waitpid(child, &status, 0);
    if (got != (ssize_t)sizeof result && WIFSIGNALED(status) &&
        (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)) {
      result.kind = WIDE_HANGS;
      (void)snprintf(result.message, sizeof result.message, "no end within %d s", WIDE_PATIENCE);
    }
  }
  (void)close(ends[0]);
  return result;
}

static void keep_wide(const wide_scene *w, const char *folder, unsigned long seed) {
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/wide-%lu.yaml", folder, seed);
  FILE *stream = fopen(path, "w");
  if (!stream) return;
  (void)fputs(w->s.text, stream);
  (void)fclose(stream);
}

static int wide_trials(int argc, char **argv) {
  static wide_scene scene;
  if (argc == 2 && strcmp(argv[0], "--show") == 0) {
    draw_wide_scene(&scene, strtoul(argv[1], NULL, 10));
    return fputs(scene.s.text, stdout) < 0;
  }
  if (argc < 2 || argc > 3) return 2;
  int count[WIDE_KINDS] = {0};
  const unsigned long from = strtoul(argv[0], NULL, 10), to = strtoul(argv[1], NULL, 10);
  for (unsigned long seed = from; seed < to; seed++) {
    draw_wide_scene(&scene, seed);
    const wide_trial result = try_wide_apart(&scene);
    count[result.kind]++;
    if (result.kind == WIDE_SOUND) continue;
    (void)printf("seed %-6lu %-9s %6.2f s  %s\n", seed, wide_name(result.kind), result.seconds, result.message);
    (void)fflush(stdout);
    if (argc == 3 && result.kind >= WIDE_WRONG) keep_wide(&scene, argv[2], seed);
  }
  for (int kind = 0; kind < WIDE_KINDS; kind++) (void)printf("%s%s %d", kind ? ", " : "", wide_name(kind), count[kind]);
  (void)printf("\n");
  return count[WIDE_WRONG] + count[WIDE_HANGS] + count[WIDE_CRASHED] > 0;
}

int main(int argc, char **argv) {
  static random_scene scene;
  if (argc > 3 && strcmp(argv[1], "--wide") == 0) return wide_trials(argc - 2, argv + 2);
  if (argc == 3 && strcmp(argv[1], "--show") == 0) {
    draw_scene(&scene, strtoul(argv[2], NULL, 10));
    return write_scene(&scene, stdout);
  }
  if (argc < 3 || argc > 4) {
    (void)fprintf(stderr, "usage: trials [--wide] FROM TO [FOLDER] | trials [--wide] --show SEED\n");
    return 2;
  }
  int count[TRIAL_KINDS] = {0};
  const unsigned long from = strtoul(argv[1], NULL, 10), to = strtoul(argv[2], NULL, 10);
  for (unsigned long seed = from; seed < to; seed++) {
    draw_scene(&scene, seed);
    const trial result = try_apart(&scene);
    count[result.kind]++;
    if (result.kind == TRIAL_FINE) continue;
    char what[256];
    describe(&scene, what, sizeof what);
    (void)printf("seed %-6lu %-11s %-9.2g %6.2f s  %s  %s\n", seed, trial_name(result.kind), result.size,
                 result.seconds, what, result.message);
    (void)fflush(stdout);
    if (argc == 4) keep(&scene, argv[3], seed);
  }
  for (int kind = 0; kind < TRIAL_KINDS; kind++)
    (void)printf("%s%s %d", kind ? ", " : "", trial_name(kind), count[kind]);
  (void)printf("\n");
  return count[TRIAL_FINE] + count[TRIAL_SLOW] == (int)(to - from) ? 0 : 1;
}
