/* Threads of a simulation: every index once, and the same bytes for any number of them. */
#include "core/threads.h"
#include "model/model.h"
#include "scene_runner.h"

#include <threads.h>

enum { TEXT = 32768, MOST = 1000 };

static void count(void *user, int worker, int first, int last) {
  int *counts = user;
  (void)worker;
  for (int i = first; i < last; i++) counts[i]++;
}

static void every_index_is_done_once(void **state) {
  (void)state;
  for (int n = 1; n <= 4; n++) {
    ss_threads *threads;
    ss_error error = {0};
    assert_int_equal(ss_threads_create(n, &threads, &error), SS_OK);
    for (int size = 0; size <= MOST; size += 37) {
      int counts[MOST + 1] = {0};
      ss_threads_for(threads, size, 1 + size % 5, count, counts);
      for (int i = 0; i <= MOST; i++) assert_int_equal(counts[i], i < size);
    }
    ss_threads_destroy(threads);
  }
}

typedef struct late {
  ss_threads *threads;
  double sums[64];
} late;

static void add_ones(void *user, int first, int last, double *parts) {
  (void)user;
  parts[0] += last - first;
}

/* Who is not the caller is still at work when the caller has none left, and asks for others then. */
static void sum_late(void *user, int worker, int first, int last) {
  late *l = user;
  (void)thrd_sleep(&(struct timespec){.tv_nsec = worker ? 20000000 : 1000000}, NULL);
  for (int k = first; k < last; k++) ss_threads_fold(l->threads, 5000, add_ones, NULL, &l->sums[k], 1, ss_sum_of_two);
}

static void pieces_may_ask_for_threads(void **state) {
  (void)state;
  late l = {0};
  assert_int_equal(ss_threads_create(2, &l.threads, NULL), SS_OK);
  for (int k = 0; k < 5; k++) ss_threads_for(l.threads, 64, 1, sum_late, &l);
  for (int k = 0; k < 64; k++) assert_true(l.sums[k] == 5000);
  ss_threads_destroy(l.threads);
}

static void add(char *text, const char *format, ...) {
  const size_t at = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(text + at, TEXT - at, format, arguments);
  va_end(arguments);
  assert_true(n > 0 && at + (size_t)n < TEXT);
}

/* Towers that stand, and balls that fall on some of them and beside them. */
static void describe(char *text) {
  uint64_t seed = 17;
  text[0] = 0;
  add(text, "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
            "materials: [{name: default, friction: 0.5, restitution: 0.2}]\nbodies:\n");
  for (int i = 0; i < 24; i++)
    for (int k = 0; k < 3; k++)
      add(text, "  - {name: b%d-%d, mass: 1, position: [%g, 0, %g], shapes: [{type: box, size: [0.2, 0.2, 0.1]}]}\n", i,
          k, 0.4 * i, 0.05 + 0.1 * k);
  for (int i = 0; i < 40; i++)
    add(text, "  - {name: s%d, mass: 0.2, position: [%.4f, %.4f, %.4f], shapes: [{type: sphere, radius: 0.05}]}\n", i,
        0.24 * i, 0.1 * random_next(&seed), 0.4 + 0.05 * random_next(&seed));
  add(text, "simulation: {scheme: trapezoidal, step: 2^-8, duration: 60*2^-8, friction: {cone: quadratic}}\n");
}

static void results_do_not_depend_on_their_number(void **state) {
  (void)state;
  char *text = malloc(TEXT);
  assert_non_null(text);
  describe(text);
  run r[3];
  for (int k = 0; k < 3; k++) {
    ss_error error = {0};
    run_parse(&r[k], text, NULL);
    assert_int_equal(ss_sim_use_threads(r[k].sim, 1 << k, &error), SS_OK);
    while (!ss_sim_done(r[k].sim)) run_step(&r[k]);
    run_check(&r[k]);
    const ss_state *one = ss_sim_state(r[0].sim), *own = ss_sim_state(r[k].sim);
    const ss_report *report = ss_sim_report(r[0].sim), *reported = ss_sim_report(r[k].sim);
    assert_memory_equal(own->q, one->q, sizeof(double) * (size_t)r[k].model->n_q);
    assert_memory_equal(own->v, one->v, sizeof(double) * (size_t)r[k].model->n_v);
    assert_memory_equal(&reported->energy, &report->energy, sizeof report->energy);
    assert_int_equal(reported->solves.iterations, report->solves.iterations);
    assert_true(reported->events[SS_COLLISION] == report->events[SS_COLLISION] && report->events[SS_COLLISION] > 20);
  }
  for (int k = 0; k < 3; k++) run_close(&r[k]);
  free(text);
}

static void none_is_refused(void **state) {
  (void)state;
  run r;
  ss_error error = {0};
  run_parse(&r,
            "bodies: [{name: a, mass: 1, freedom: [x]}]\nsimulation: {scheme: trapezoidal, step: 0.1, duration: 1}\n",
            NULL);
  assert_int_equal(ss_sim_use_threads(r.sim, 0, &error), SS_ERROR_INPUT);
  assert_int_equal(ss_sim_use_threads(r.sim, 3, &error), SS_OK);
  assert_int_equal(ss_sim_use_threads(r.sim, 1, &error), SS_OK);
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_index_is_done_once), cmocka_unit_test(pieces_may_ask_for_threads),
      cmocka_unit_test(results_do_not_depend_on_their_number), cmocka_unit_test(none_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
