/* What the strategy of "auto" is worth on a corpus of complementarity problems.
 *
 * usage: strategy [--without] [--drop ROW]... [--regret] [--any] [--tolerance R] [--solver NAME] [--time SECONDS] [--random FROM TO [CLASS]] FILE...
 *
 * Prints who solved how many and in what time, what was lost in attempts that failed, and the problems that were not solved.
 * --regret: the time over that of the best single method in hindsight; --without: what each row's absence costs, in problems and in time; --drop: without
 * this row, by its number;
 * --any: no selection; --tolerance: 1e-9 unless told; --solver: one by its name instead of the strategy; --random: the generators of
 * tests/cp_random.h with these seeds. Where FILE.start stands beside FILE, its numbers are what the problem is solved from. Times are
 * processor time. */
#include "cp_random.h"

#include <stdio.h>
#include <time.h>

enum { MOST_ROWS = 32 };

typedef struct corpus {
  int count, capacity;
  struct item {
    char name[128];
    ss_cp_file file;
    owned_cp own;
    const ss_cp *problem;
    double *start; /* NULL: there is none */
  } * items;
} corpus;

typedef struct tally {
  int solved[MOST_ROWS + 1], tried[MOST_ROWS + 1];
  double won[MOST_ROWS + 1], lost[MOST_ROWS + 1];
  double last; /* time of the last event */
  double limit, start;
} tally;

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void attempted(void *user, int row, ss_outcome outcome) {
  tally *t = user;
  const double now = seconds(), spent = now - t->last;
  t->last = now;
  t->tried[row] += outcome != SS_NOT_ADMITTED;
  t->solved[row] += outcome == SS_SOLVED;
  (outcome == SS_SOLVED ? t->won : t->lost)[row] += spent;
}

static bool too_long(void *user) {
  const tally *t = user;
  return seconds() - t->start > t->limit;
}

static void add(corpus *c, const char *name) {
  if (c->count == c->capacity) {
    c->capacity = 2 * c->capacity + 16;
    c->items = realloc(c->items, sizeof *c->items * (size_t)c->capacity);
    if (!c->items) abort();
  }
  struct item *i = &c->items[c->count++];
  memset(i, 0, sizeof *i);
  const char *slash = strrchr(name, '/');
  (void)snprintf(i->name, sizeof i->name, "%s", slash ? slash + 1 : name);
}

static void add_random(corpus *c, int from, int to, const char *part) {
  for (int k = 0; k < RANDOM_CLASSES; k++) {
    const random_class *class = &random_classes[k];
    if (class->solutions != HAS_SOLUTION || (part && !strstr(class->name, part))) continue;
    for (int seed = from; seed < to; seed++) {
      char name[128];
      (void)snprintf(name, sizeof name, "%s-%d", class->name, seed);
      add(c, name);
      c->items[c->count - 1].own = random_problem(class, (uint64_t)seed);
    }
  }
}

/* The numbers of NAME.start; NULL: there is no such file. */
static double *read_start(const char *name, int n) {
  char path[4096], number[64];
  (void)snprintf(path, sizeof path, "%s.start", name);
  FILE *file = fopen(path, "r");
  if (!file) return NULL;
  double *z = numbers(n);
  for (int i = 0; i < n; i++) {
    if (fscanf(file, "%63s", number) != 1) abort();
    z[i] = strtod(number, NULL);
  }
  (void)fclose(file);
  return z;
}

/* Solves everything; returns how many were solved. time [count]; residual is judged again. */
static int run(const corpus *c, const ss_cp_options *given, tally *t, double *time, bool *solved, bool say) {
  ss_cp_workspace *w;
  int count = 0;
  if (ss_cp_workspace_create(&w, NULL)) abort();
  for (int k = 0; k < c->count; k++) {
    const ss_cp *p = c->items[k].problem;
    double *z = numbers(p->n), *slack = numbers(p->n);
    ss_cp_options options = *given;
    ss_cp_result r = {.residual = HUGE_VAL};
    options.trace = attempted;
    options.trace_user = t;
    options.stop = too_long;
    options.stop_user = t;
    t->start = t->last = seconds();
    if (c->items[k].start) memcpy(z, c->items[k].start, sizeof *z * (size_t)p->n);
    const ss_status status = ss_cp_solve(p, &options, c->items[k].start != NULL, z, w, &r, NULL);
    time[k] = seconds() - t->start;
    const double residual = status ? HUGE_VAL : ss_cp_judge(p, z, slack);
    solved[k] = residual <= options.tolerance;
    count += solved[k];
    if (say && (!solved[k] || time[k] > 1))
      printf("  %s %-32s %5d rows  %-16s residual %.1e  %.1f ms\n", solved[k] ? "SLOW    " : "UNSOLVED",
             c->items[k].name, p->n, status ? "stopped" : r.solver, residual, 1e3 * time[k]);
    free(z);
    free(slack);
  }
  ss_cp_workspace_destroy(w);
  return count;
}

static double sum(const double *x, int n) {
  double total = 0;
  for (int i = 0; i < n; i++) total += x[i];
  return total;
}

static void print_rows(const tally *t, int rows) {
  printf("%4s  %-18s %8s %8s %12s %12s\n", "row", "method", "tried", "solved", "won (ms)", "lost (ms)");
  for (int k = 0; k < rows; k++)
    if (t->tried[k])
      printf("%4d  %-18s %8d %8d %12.1f %12.1f\n", k, ss_cp_strategy_row(k), t->tried[k], t->solved[k], 1e3 * t->won[k],
             1e3 * t->lost[k]);
}

/* The best single method of each problem in hindsight, among those of the strategy. */
static void print_regret(const corpus *c, const ss_cp_options *given, int rows, const double *time, const bool *solved,
                         double limit) {
  double *best = numbers(c->count), *own = numbers(c->count), ours = 0, theirs = 0;
  bool *done = calloc((size_t)c->count + 1, sizeof *done);
  if (!done) abort();
  for (int k = 0; k < c->count; k++) best[k] = HUGE_VAL;
  for (int row = 0; row < rows; row++) {
    bool seen = false;
    for (int before = 0; before < row; before++)
      seen |= strcmp(ss_cp_strategy_row(before), ss_cp_strategy_row(row)) == 0;
    if (seen || !strcmp(ss_cp_strategy_row(row), "ray")) continue;
    ss_cp_options options = *given;
    tally t = {.limit = limit};
    options.solver = ss_cp_strategy_row(row);
    const int count = run(c, &options, &t, own, done, false);
    printf("  %-18s alone: %d solved, %.1f ms\n", options.solver, count, 1e3 * sum(own, c->count));
    for (int k = 0; k < c->count; k++)
      if (done[k]) best[k] = fmin(best[k], own[k]);
  }
  for (int k = 0; k < c->count; k++) {
    if (!solved[k] || best[k] == HUGE_VAL) continue;
    ours += time[k];
    theirs += best[k];
  }
  printf("regret: %.1f ms over %.1f ms of the best single method, %.2f\n", 1e3 * ours, 1e3 * theirs, ours / theirs);
  free(best);
  free(own);
  free(done);
}

int main(int argc, char **argv) {
  corpus c = {0};
  bool without = false, regret = false;
  double limit = 20;
  ss_cp_options options = ss_cp_options_default();
  options.tolerance = 1e-9;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--without")) {
      without = true;
    } else if (!strcmp(argv[i], "--drop") && i + 1 < argc) {
      options.without |= 1U << strtol(argv[++i], NULL, 10);
    } else if (!strcmp(argv[i], "--regret")) {
      regret = true;
    } else if (!strcmp(argv[i], "--any")) {
      options.any = true;
    } else if (!strcmp(argv[i], "--tolerance") && i + 1 < argc) {
      options.tolerance = strtod(argv[++i], NULL);
    } else if (!strcmp(argv[i], "--solver") && i + 1 < argc) {
      options.solver = argv[++i];
    } else if (!strcmp(argv[i], "--time") && i + 1 < argc) {
      limit = strtod(argv[++i], NULL);
    } else if (!strcmp(argv[i], "--random") && i + 2 < argc) {
      const int from = (int)strtol(argv[i + 1], NULL, 10), to = (int)strtol(argv[i + 2], NULL, 10);
      const bool part = i + 3 < argc && argv[i + 3][0] != '-' && !strchr(argv[i + 3], '/');
      add_random(&c, from, to, part ? argv[i + 3] : NULL);
      i += part ? 3 : 2;
    } else {
      ss_error error;
      add(&c, argv[i]);
      if (ss_cp_read(argv[i], &c.items[c.count - 1].file, &error)) {
        fprintf(stderr, "%s: %s\n", argv[i], error.message);
        c.count--;
      } else {
        c.items[c.count - 1].start = read_start(argv[i], c.items[c.count - 1].file.problem.n);
      }
    }
  }
  for (int k = 0; k < c.count; k++)
    c.items[k].problem = c.items[k].own.G ? &c.items[k].own.cp : &c.items[k].file.problem;
  int rows = 0;
  while (ss_cp_strategy_row(rows)) rows++;
  double *time = numbers(c.count), *other = numbers(c.count);
  bool *solved = calloc((size_t)c.count + 1, sizeof *solved), *also = calloc((size_t)c.count + 1, sizeof *also);
  if (!solved || !also) abort();
  tally t = {.limit = limit};
  const int count = run(&c, &options, &t, time, solved, true);
  const double total = sum(time, c.count), lost = sum(t.lost, rows);
  print_rows(&t, rows);
  printf("%d of %d solved in %.1f ms, %.0f %% of it in attempts that failed\n", count, c.count, 1e3 * total,
         100 * lost / total);
  if (regret) print_regret(&c, &options, rows, time, solved, limit);
  for (int k = 0; without && k < rows; k++) {
    if (!t.tried[k]) continue;
    ss_cp_options less = options;
    tally own = {.limit = limit};
    less.without |= 1U << k;
    const int left = run(&c, &less, &own, other, also, false);
    printf("without %2d %-18s %+d solved, %+.0f %% time\n", k, ss_cp_strategy_row(k), left - count,
           100 * (sum(other, c.count) / total - 1));
  }
  return 0;
}
