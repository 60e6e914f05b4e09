/* Bodies far from each other are simulated as if each of them were alone, and piles at rest sleep while something moves elsewhere. */
#include "model/model.h"
#include "scene_runner.h"

enum { TEXT = 65536, BALLS = 24, STEPS = 160, WIDTH = 4, ROWS = 4, PILE = WIDTH * ROWS };

static void add(char *text, const char *format, ...) {
  const size_t at = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(text + at, TEXT - at, format, arguments);
  va_end(arguments);
  assert_true(n > 0 && at + (size_t)n < TEXT);
}

static void begin(char *text, const char *restitution) {
  text[0] = 0;
  add(text,
      "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
      "materials: [{name: default, friction: 0.4, restitution: %s}]\nbodies:\n",
      restitution);
}

static void end(char *text, const char *more) {
  add(text, "simulation: {scheme: trapezoidal, step: 2^-7, duration: %d*2^-7, friction: {cone: quadratic}%s}\n", STEPS,
      more);
}

/* Ball i alone, or all of them, each on its own spot with its own height and spin. */
static void describe_balls(char *text, int first, int last) {
  begin(text, "0.8");
  for (int i = first; i < last; i++)
    add(text,
        "  - {name: b%d, mass: %.17g, position: [%d, 0, %.17g], velocity: [0.3, 0.1, 0], angular_velocity: [%d, 2, 3], "
        "shapes: [{type: sphere, radius: 0.125}]}\n",
        i, 1 + 0.1 * i, 8 * i, 0.3 + 0.037 * i, i % 5);
  end(text, "");
}

static void run_all(run *r) {
  while (!ss_sim_done(r->sim)) run_step(r);
  run_check(r);
}

static void far_balls_bounce_as_each_alone(void **state) {
  (void)state;
  char *text = malloc(TEXT);
  assert_non_null(text);
  run all;
  describe_balls(text, 0, BALLS);
  run_parse(&all, text, NULL);
  run_all(&all);
  const ss_report *together = ss_sim_report(all.sim);
  double lost = 0, rows = 0;
  long impacts = 0, collisions = 0;
  for (int i = 0; i < BALLS; i++) {
    run one;
    describe_balls(text, i, i + 1);
    run_parse(&one, text, NULL);
    run_all(&one);
    const double *q = ss_sim_state(all.sim)->q + 7 * (size_t)i, *v = ss_sim_state(all.sim)->v + 6 * (size_t)i;
    assert_memory_equal(q, ss_sim_state(one.sim)->q, 7 * sizeof *q);
    assert_memory_equal(v, ss_sim_state(one.sim)->v, 6 * sizeof *v);
    const ss_report *report = ss_sim_report(one.sim);
    lost += report->energy.impact_loss + report->energy.friction_loss;
    rows += (double)report->solves.rows;
    impacts += report->solves.impacts;
    collisions += report->events[SS_COLLISION];
    run_close(&one);
  }
  assert_true(impacts > 2 * BALLS);
  assert_int_equal(together->solves.impacts, impacts);
  assert_int_equal(together->events[SS_COLLISION], collisions);
  check_near((double)together->solves.rows, rows, 0, "rows of all problems"); /* linear in the number of balls */
  check_near(together->energy.impact_loss + together->energy.friction_loss, lost, 1e-12 * lost, "energy lost");
  check_near(together->energy.remainder, 0, 1e-9 * together->energy.initial, "remainder");
  run_close(&all);
  free(text);
}

typedef struct told {
  double last;
  bool ordered;
} told;

static ss_status nothing(void *user, const ss_sim *sim, ss_error *error) {
  (void)user;
  (void)sim;
  (void)error;
  return SS_OK;
}

static void watch_order(void *user, const ss_sim *sim, const ss_event *event) {
  (void)sim;
  told *t = user;
  t->ordered &= event->t >= t->last && event->body[0] >= 0 && event->body[0] < BALLS;
  t->last = event->t;
}

static void events_are_told_in_the_order_of_time(void **state) {
  (void)state;
  char *text = malloc(TEXT);
  assert_non_null(text);
  run r;
  told t = {0, true};
  ss_error error = {0};
  const ss_observer watch = {.user = &t, .step = nothing, .event = watch_order};
  describe_balls(text, 0, BALLS);
  run_parse(&r, text, NULL);
  assert_int_equal(ss_sim_observe(r.sim, &watch, &error), SS_OK);
  run_all(&r);
  assert_true(t.ordered && t.last > 0);
  run_close(&r);
  free(text);
}

/* Two piles of bricks, and a ball that falls on the second one: late, when both are at rest. */
static void describe_piles(char *text, const char *more) {
  begin(text, "0");
  for (int pile = 0; pile < 2; pile++)
    for (int i = 0; i < PILE; i++) {
      const int row = i / WIDTH;
      add(text,
          "  - {name: p%d-%d, mass: 1, position: [%.17g, 0, %.17g], shapes: [{type: box, size: [0.4, 0.2, 0.2]}]}\n",
          pile, i, 100 * pile + 0.402 * (i % WIDTH) + 0.2 * (row % 2), 0.1 + 0.2 * row);
    }
  add(text, "  - {name: ball, mass: 0.5, position: [100.5, 0.01, 2.1], shapes: [{type: sphere, radius: 0.1}]}\n");
  end(text, more);
}

static void a_pile_sleeps_while_another_is_disturbed(void **state) {
  (void)state;
  char *text = malloc(TEXT);
  assert_non_null(text);
  run r[2];
  long rows[2];
  for (int k = 0; k < 2; k++) {
    describe_piles(text, k == 0 ? "" : ", sleep: false");
    run_parse(&r[k], text, NULL);
    run_all(&r[k]);
    rows[k] = ss_sim_report(r[k].sim)->solves.rows;
  }
  const ss_state *sleeping = ss_sim_state(r[0].sim), *computed = ss_sim_state(r[1].sim);
  assert_memory_equal(sleeping->q, computed->q, sizeof(double) * (size_t)r[0].model->n_q);
  assert_memory_equal(sleeping->v, computed->v, sizeof(double) * (size_t)r[0].model->n_v);
  assert_int_equal(sleeping->n_touch, computed->n_touch);
  for (int i = 0; i < sleeping->n_touch; i++) {
    assert_true(sleeping->touch[i].key == computed->touch[i].key);
    assert_memory_equal(sleeping->touch[i].force, computed->touch[i].force, sizeof sleeping->touch[i].force);
    assert_memory_equal(sleeping->touch[i].impulse, computed->touch[i].impulse, sizeof sleeping->touch[i].impulse);
  }
  assert_int_equal(ss_sim_contacts(r[0].sim, NULL, 0), ss_sim_contacts(r[1].sim, NULL, 0));
  assert_true(ss_sim_report(r[0].sim)->events[SS_COLLISION] > 0); /* the ball has hit the second pile */
  assert_true(rows[0] < rows[1] - 80L * 3 * PILE); /* and the first has not been posed for most of the time */
  for (int k = 0; k < 2; k++) run_close(&r[k]);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(far_balls_bounce_as_each_alone),
                                     cmocka_unit_test(events_are_told_in_the_order_of_time),
                                     cmocka_unit_test(a_pile_sleeps_while_another_is_disturbed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
