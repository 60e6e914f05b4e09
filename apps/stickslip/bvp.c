/* stickslip bvp: boundary-value problems. */
#include "commands.h"
#include "json.h"
#include "output.h"
#include "parallel.h"
#include "ranks.h"
#include "session.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 300 };

static json_t *velocities_json(const session *s, const double *unknown) {
  json_t *map = json_object();
  for (int i = 0; map && i < s->scene->boundary.n_unknown; i++) {
    char name[NAME_SIZE];
    ss_quantity_name(s->scene, &s->scene->boundary.unknown[i], name, sizeof name);
    if (json_object_set_new(map, name, json_number(unknown[i]))) return NULL;
  }
  return map;
}

static json_t *solution_json(const session *s, const ss_bvp_result *r, const ss_bvp_solution *solution) {
  return json_pack("{s:o, s:o, s:o, s:o}", "velocities", velocities_json(s, solution->unknown), "residual",
                   json_number(solution->residual), "conditions", json_numbers(solution->conditions, r->n_conditions),
                   "method", json_text(solution->method));
}

static json_t *conditions_json(const session *s) {
  json_t *list = json_array();
  for (int i = 0; list && i < s->scene->boundary.n_conditions; i++)
    if (json_array_append_new(list, json_text(s->scene->boundary.conditions[i].text))) return NULL;
  return list;
}

static json_t *solutions_json(const session *s, const ss_bvp_result *r) {
  json_t *list = json_array();
  for (int i = 0; list && i < r->n_solutions; i++)
    if (json_array_append_new(list, solution_json(s, r, &r->solutions[i]))) return NULL;
  return list;
}

static int print_json(const session *s, const ss_bvp_result *r, double seconds) {
  const ss_bvp_contraction *c = &r->contraction;
  return json_print(
      json_pack("{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:{s:b, s:o, s:o, s:o, s:o}, s:i, s:i, s:b, s:I, s:o}", "scene",
                json_text(session_name(s)), "scheme", json_text(s->simulation.scheme), "conditions", conditions_json(s),
                "found", r->n_solutions > 0, "solutions", solutions_json(s, r), "best", solution_json(s, r, &r->best),
                "reason", json_text(r->reason), "contraction", "applies", c->applies, "psi", json_number(c->psi),
                "growth", json_number(c->growth), "bound", json_number(c->bound), "observed", json_number(c->observed),
                "starts", r->starts, "samples", r->samples, "out_of_time", r->out_of_time, "simulations",
                (json_int_t)r->simulations, "wall_seconds", json_number(seconds)));
}

static void print_solution(const session *s, const ss_bvp_solution *solution) {
  for (int i = 0; i < s->scene->boundary.n_unknown; i++) {
    char name[NAME_SIZE];
    ss_quantity_name(s->scene, &s->scene->boundary.unknown[i], name, sizeof name);
    (void)printf("    %-20s = %.12g\n", name, solution->unknown[i]);
  }
  for (int i = 0; i < s->scene->boundary.n_conditions; i++)
    (void)printf("    %-40s %+.1e\n", s->scene->boundary.conditions[i].text, solution->conditions[i]);
}

static void print_text(const session *s, const ss_bvp_result *r, double seconds) {
  (void)printf("%s\n  %s, step %.6g, duration %.6g: %ld simulations in %.3g s\n\n", session_name(s),
               s->simulation.scheme, s->simulation.step, s->simulation.duration, r->simulations, seconds);
  if (r->n_solutions > 0)
    (void)printf("  %d found in %d starts, the best of %d velocities%s; there may be more\n", r->n_solutions, r->starts,
                 r->samples, r->out_of_time ? ", then the time was up" : "");
  for (int i = 0; i < r->n_solutions; i++) {
    (void)printf("  SOLUTION %d, residual %.1e (%s)\n", i + 1, r->solutions[i].residual, r->solutions[i].method);
    print_solution(s, &r->solutions[i]);
  }
  if (r->n_solutions == 0) {
    (void)printf("  NONE FOUND: %s\n  best residual %.3g\n", r->reason, r->best.residual);
    print_solution(s, &r->best);
  }
  const ss_bvp_contraction *c = &r->contraction;
  if (isfinite(c->observed))
    (void)printf("\n  contraction  a fixed-point step changes differences by a factor %.3g near the best point\n",
                 c->observed);
  else
    (void)printf(
        "\n  contraction  no fixed-point step: the conditions do not determine the velocities of free flight\n");
  if (c->applies)
    (void)printf("               BVP (28): exp(T psi) = %.3g %s %.3g%s\n", c->growth,
                 c->growth < c->bound ? "<" : ">=", c->bound,
                 c->growth < c->bound ? ": a solution exists" : ": the estimate promises nothing");
  else
    (void)printf("               BVP (28) does not apply: M_v + N_v is singular\n");
}

/* ---- starts on threads and ranks ---- */

typedef struct bvp_options {
  overrides overrides;
  const char *scene, *output;
  long threads, starts; /* starts 0: the scene's */
  double time_limit;    /* infinite: the scene's */
  bool json;
} bvp_options;

/* Searches that no thread uses now; each thread needs one. */
typedef struct search_pool {
  const session *session;
  const overrides *overrides;
  pthread_mutex_t mutex;
  ss_bvp_search **searches;
  long n, room, starts;
  int unknowns, conditions;
  double deadline;          /* on the wall clock; infinite: none */
  ss_bvp_attempt *attempts; /* the first rank's: all starts */
  ss_status status;         /* of the first rank: what went wrong */
  ss_error error;
} search_pool;

typedef struct told_attempt {
  ss_bvp_attempt attempt;
  ss_status status;
  ss_error error;
} told_attempt;

static ss_status take_search(search_pool *p, ss_bvp_search **search, ss_error *error) {
  *search = NULL;
  (void)pthread_mutex_lock(&p->mutex);
  if (p->n > 0) *search = p->searches[--p->n];
  (void)pthread_mutex_unlock(&p->mutex);
  if (*search) return SS_OK;
  ss_scene scene = *p->session->scene;
  scene.boundary.starts = (int)p->starts;
  scene.boundary.seconds = isfinite(p->deadline) ? fmax(p->deadline - wall_clock(), 1e-9) : 0;
  return ss_bvp_search_create(&scene, &p->session->simulation, p->overrides->set.items, p->overrides->set.n, search,
                              error);
}

static void give_back(search_pool *p, ss_bvp_search *search) {
  (void)pthread_mutex_lock(&p->mutex);
  if (p->n < p->room) {
    p->searches[p->n++] = search;
    search = NULL;
  }
  (void)pthread_mutex_unlock(&p->mutex);
  ss_bvp_search_destroy(search);
}

/* How many numbers an attempt has. */
static size_t attempt_numbers(const search_pool *p) { return (size_t)p->unknowns + 2 * (size_t)p->conditions; }

static void place_numbers(const search_pool *p, ss_bvp_attempt *attempt, double *numbers) {
  attempt->unknown = numbers;
  attempt->low = numbers + p->unknowns;
  attempt->high = attempt->low + p->conditions;
}

static void *try_start(void *user, long index, size_t *size) {
  search_pool *p = user;
  *size = sizeof(told_attempt) + sizeof(double) * attempt_numbers(p);
  char *bytes = calloc(1, *size);
  if (!bytes) ranks_abort("out of memory");
  told_attempt told = {0};
  place_numbers(p, &told.attempt, (double *)(void *)(bytes + sizeof told));
  ss_bvp_search *search = NULL;
  told.status = take_search(p, &search, &told.error);
  if (!told.status) told.status = ss_bvp_try(search, (int)index, &told.attempt, &told.error);
  if (search) give_back(p, search);
  memcpy(bytes, &told, sizeof told);
  return bytes;
}

static void take_attempt(void *user, long index, const void *bytes, size_t size) {
  search_pool *p = user;
  told_attempt told;
  memcpy(&told, bytes, sizeof told);
  double *numbers = p->attempts[index].unknown;
  memcpy(numbers, (const char *)bytes + sizeof told, size - sizeof told);
  p->attempts[index] = told.attempt;
  place_numbers(p, &p->attempts[index], numbers);
  if (told.status && !p->status) {
    p->status = told.status;
    p->error = told.error;
  }
}

static ss_status search_starts(search_pool *p, long threads, ss_bvp_result **result, ss_error *error) {
  const long starts = p->starts;
  p->unknowns = p->session->scene->boundary.n_unknown;
  p->conditions = p->session->scene->boundary.n_conditions;
  p->room = threads;
  p->searches = calloc((size_t)threads, sizeof(ss_bvp_search *));
  p->attempts = calloc((size_t)starts, sizeof *p->attempts);
  double *numbers = calloc((size_t)starts * (attempt_numbers(p) + 1), sizeof *numbers);
  ss_bvp_search *first = NULL;
  ss_status status = p->searches && p->attempts && numbers ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (long i = 0; !status && i < starts; i++)
    place_numbers(p, &p->attempts[i], numbers + (size_t)i * attempt_numbers(p));
  if (!status) status = take_search(p, &first, error); /* a scene that will not do is told before anything is shared */
  if (!status) {
    give_back(p, first);
    const ranks_job job = {.n = starts, .threads = threads, .work = try_start, .take = take_attempt, .user = p};
    ranks_for(&job);
    status = p->status;
    if (status) *error = p->error;
  }
  if (!status && ranks_index() == 0) {
    status = take_search(p, &first, error);
    if (!status) status = ss_bvp_conclude(first, p->attempts, (int)starts, result, error);
    if (first && status) ss_bvp_search_destroy(first);
  }
  while (p->searches && p->n > 0) ss_bvp_search_destroy(p->searches[--p->n]);
  free(p->searches);
  free(p->attempts);
  free(numbers);
  return status;
}

/* Solves and tells; returns the exit code. */
static int solve(const session *s, const bvp_options *b) {
  const overrides *o = &b->overrides;
  const char *output = b->output;
  const bool json = b->json;
  ss_bvp_result *result = NULL;
  ss_error error = {0};
  const double start = wall_clock();
  const long starts = b->starts ? b->starts : s->scene->boundary.starts > 0 ? s->scene->boundary.starts : 1;
  const double budget = isfinite(b->time_limit)          ? b->time_limit
                        : s->scene->boundary.seconds > 0 ? s->scene->boundary.seconds
                                                         : (double)INFINITY;
  search_pool pool = {
      .session = s, .overrides = o, .mutex = PTHREAD_MUTEX_INITIALIZER, .starts = starts, .deadline = start + budget};
  ss_status status = search_starts(&pool, b->threads < starts ? b->threads : starts, &result, &error);
  if (status) return report_error(&error);
  if (ranks_index() != 0) return EXIT_DONE;
  const double seconds = wall_clock() - start;
  int code = EXIT_DONE;
  if (json)
    code = print_json(s, result, seconds);
  else
    print_text(s, result, seconds);
  if (result->n_solutions > 0 && output) {
    status = ss_bvp_write_scene(s->scene, &s->simulation, o->set.items, o->set.n, result->solutions[0].unknown, output,
                                &error);
    if (status) code = report_error(&error);
  }
  if (result->n_solutions == 0 && code == EXIT_DONE) code = EXIT_FAILED;
  ss_bvp_result_destroy(result);
  return code;
}

static int bvp_on_ranks(int argc, char **argv) {
  bvp_options b = {.overrides = overrides_none(),
                   .threads = ranks_count() > 1 ? 1 : parallel_processors(),
                   .time_limit = (double)INFINITY};
  overrides *o = &b.overrides;
  const option options[] = {
      {"o", OPTION_TEXT, &b.output, "SOLVED.yaml", "write the scene with the velocities found: run reproduces them"},
      {"scheme", OPTION_TEXT, &o->scheme, "S", "another time-stepping scheme"},
      {"step", OPTION_NUMBER, &o->step, "H", "another step size"},
      {"duration", OPTION_NUMBER, &o->duration, "T", "another final time"},
      {"solver", OPTION_TEXT, &o->solver, "X", "another complementarity solver"},
      {"time-limit", OPTION_NUMBER, &b.time_limit, "S", "end the search after so many seconds, with what was found"},
      {"set", OPTION_LIST, &o->set, "NAME=VALUE", "override a declared parameter; may be repeated"},
      {"starts", OPTION_COUNT, &b.starts, "N", "try N starting points instead of the scene's number"},
      {"threads", OPTION_COUNT, &b.threads, "N", "try N at a time (default: one per processor, one per rank)"},
      {"json", OPTION_FLAG, &b.json, NULL, "print one JSON object"},
      {0}};
  const usage command_line = {
      "bvp",
      "SCENE",
      1,
      1,
      "Finds the unknown initial velocities of the scene's section `boundary` for which the conditions hold at the "
      "end.\n"
      "Several starts, the best of many sampled velocities; from each an accelerated fixed point, then Powell's "
      "hybrid\n"
      "method. Where nothing is found the best residual and the reason are printed, and the exit code is 1. Started "
      "by\n"
      "mpirun, ranks share the starts; what is found does not depend on them, but for a time limit.",
      options,
      "  stickslip bvp scenes/bvp-puck.yaml\n  stickslip bvp scenes/bvp-throw.yaml -o solved.yaml && stickslip run "
      "solved.yaml\n  mpirun -n 8 stickslip bvp scenes/bvp-billiard.yaml --starts 200\n"};
  int code = parse_options(&command_line, argc, argv, &b.scene);
  if (code == PARSE_GO_ON && !(b.time_limit > 0))
    code = usage_error("--time-limit must be positive, got %g", b.time_limit);
  if (code == PARSE_GO_ON && b.threads < 1) code = usage_error("--threads must be at least 1");
  if (code == PARSE_GO_ON &&
      (outputs_are_files(&b.scene, 1, &b.output, 1) || (ranks_index() == 0 && output_check(b.output))))
    code = EXIT_USAGE;
  if (code == PARSE_GO_ON) {
    session s = {0};
    ss_error error = {0};
    const ss_status status = session_open(&s, b.scene, o, &error);
    code = status ? report_error(&error) : solve(&s, &b);
    session_close(&s);
  }
  free((void *)o->set.items);
  return code;
}

int command_bvp(int argc, char **argv) {
  const int started = ranks_start();
  return started != EXIT_DONE ? started : ranks_end(bvp_on_ranks(argc, argv));
}
