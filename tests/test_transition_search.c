/* Where slip ends or begins, and contacts open, in a part (event/transition.c): for slips and forces that are known functions of the size of
 * the trial. The trials are replaced by these functions, and counted. */
#include "scene_runner.h"
#include "step/step.h"

static const double h = 0.02, start = 3; /* the part, and when it starts */

/* x = tau/h. The slip along x at the end of a trial; alpha = 1: it stays zero where it has ended. */
static struct {
  double end, bend; /* slip (1 - x/end) (1 + bend x) */
  double across;    /* slip that it turns to */
  double limit;     /* from this x on the contact slips, or opens */
  double shrink;    /* the impulse is tau^shrink */
  double ratio,
      when;     /* of the friction over its limit in the middle of the trial, and how it grows: ratio + (x/2 - when) */
  double scale; /* of all speeds */
  bool sticks;  /* beyond the end */
  int calls, refused_at, fails_at;
  double last;
} now;

static double slip(double x) {
  const double s = (1 - x / now.end) * (1 + now.bend * x);
  return now.sticks && s < 0 ? 0 : s;
}

static void place(const ss_sim *sim, const ss_contact *c, double t, const double *q, ss_contact_place *out) {
  (void)c, (void)q;
  const double x = (t - sim->state.t) / h;
  *out = (ss_contact_place){.at = {.normal = {0, 0, 1}},
                            .drive = {now.scale * slip(x), x > 0 ? now.scale * now.across : 0,
                                      0.3}}; /* what is along the normal is no slip */
}

static ss_vec3 no_velocity(const ss_sim *sim, const ss_contact *c, const ss_contact_place *at, const double *v) {
  (void)sim, (void)c, (void)at, (void)v;
  return v3(0, 0, 0);
}

static const ss_mechanics known = {.place = place, .velocity = no_velocity};

static void solve(ss_sim *sim, double tau) {
  ss_contact *c = sim->trial.contacts;
  const double x = tau / h;
  sim->trial.asked.h = tau;
  sim->trial.certified = true;
  c->impulse[0] = pow(tau, now.shrink);
  c->stuck = x < now.limit && c->was_stuck;
  c->opens = x >= now.limit;
  c->ratio = now.ratio + x / 2 - now.when;
  c->load = 2 - c->ratio;
  c->when = sim->state.t + tau / 2;
  now.last = tau;
}

static ss_status attempt(ss_sim *sim, ss_asked asked, ss_error *error) {
  if (++now.calls == now.fails_at) return ss_fail(error, SS_ERROR_MEMORY, "fails");
  sim->trial.asked.alpha = asked.alpha;
  solve(sim, asked.h);
  sim->trial.certified = now.calls != now.refused_at;
  return SS_OK;
}

static ss_contact *open_trial(run *r, double alpha) {
  ss_error error = {0};
  run_parse(r,
            "gravity: [0, 0, 0]\n"
            "bodies: [{name: a, mass: 1, freedom: [x, y, z], shapes: [{type: sphere, radius: 0.5}]}]\n"
            "simulation: {step: 0.02, duration: 1}\n",
            NULL);
  ss_sim *sim = r->sim;
  ss_trial *t = &sim->trial;
  run_require(ss_grow((void **)&t->contacts, &t->contact_capacity, 2, sizeof *t->contacts, &error), &error, "room");
  t->n_contacts = 1;
  t->contacts[0] = (ss_contact){.body = {0, -1}, .row = 0, .n_rows = 3, .n_forces = 3};
  run_require(ss_trial_reserve(sim, &error), &error, "reserve");
  sim->mechanics = &known;
  sim->chosen.attempt = attempt;
  sim->chosen.located = SS_EVENT_STICK_SLIP;
  sim->part.asked.alpha = alpha;
  sim->part.speed_bound = 1;
  sim->state.t = start;
  sim->step.h = h;
  now.calls = now.refused_at = now.fails_at = 0;
  now.sticks = alpha == 1;
  now.scale = 1;
  return sim->trial.contacts;
}

/* ---- arrest ---- */

static ss_status locate_arrest(run *r, double *size, bool *certified) {
  ss_error error = {0};
  solve(r->sim, h);
  const ss_status status = ss_locate_arrest(r->sim, &error);
  *size = r->sim->trial.asked.h, *certified = r->sim->trial.certified;
  if (status == SS_OK && *certified) {
    check_near(r->sim->trial.asked.h, *size, 0, "the trial in hand");
    assert_int_equal(r->sim->n_kept, 0);
  }
  return status;
}

static void test_where_slip_ends(void **state) {
  (void)state;
  uint64_t seed = 9;
  int calls[2] = {0}, tried[2] = {0};
  for (int trial = 0; trial < 400; trial++) {
    const double alpha = trial % 2 ? 1 : 0.5;
    run r;
    (void)open_trial(&r, alpha);
    now.end = 0.02 + 0.48 * (random_next(&seed) + 1), now.bend = random_next(&seed);
    now.across = 0, now.shrink = 1;
    double size;
    bool certified;
    assert_int_equal(locate_arrest(&r, &size, &certified), SS_OK);
    /* alpha = 1: what lies beyond the end says nothing; where the slip is concave every other trial falls there */
    const bool halves = alpha == 1 && now.bend > 0;
    if (halves)
      check_near(size / h, now.end, ldexp(1, -15), "end of slip");
    else
      check_near(slip(size / h), 0, 1.001e-12, "slip at its end");
    if (alpha == 1) assert_true(slip(size / h) > 0); /* it falls short of it */
    if (!halves) calls[trial % 2] += now.calls, tried[trial % 2]++;
    assert_true(now.calls <= (halves ? 30 : 24));
    run_close(&r);
  }
  check_below((double)calls[0] / tried[0], 6.5, "trials for alpha = 1/2");
  check_below((double)calls[1] / tried[1], 8.5, "trials for alpha = 1");
}

/* Slip that does not end in the part, ends with it, turns only, or is none. */
static void test_slip_that_does_not_end(void **state) {
  (void)state;
  for (int i = 0; i < 27; i++) {
    const int k = i / 3;
    run r;
    ss_contact *c = open_trial(&r, 0.5);
    now.scale = pow(10, i % 3 - 1);
    now.end = 0.4, now.bend = 0, now.across = 0, now.shrink = 1;
    c->impulse[0] = 1;
    if (k == 1) now.end = 1.1;
    if (k == 2) now.end = 1;
    if (k == 3) now.across = 0.2; /* turns round: more than a tenth of it across */
    if (k == 4) now.across = 0.05;
    if (k == 5) c->was_stuck = true;
    if (k == 6) c->row = -1;
    if (k == 7) c->n_rows = 1;
    if (k == 8) now.shrink = INFINITY; /* no impulse */
    double size;
    bool certified;
    assert_int_equal(locate_arrest(&r, &size, &certified), SS_OK);
    check_near(size / h, k == 0 || k == 4 ? 0.4 : 1, 1e-12, "size");
    assert_int_equal(now.calls > 0, k == 0 || k == 4);
    run_close(&r);
  }
}

static void test_trials_of_an_arrest_that_fail(void **state) {
  (void)state;
  for (int alpha = 0; alpha < 2; alpha++)
    for (int n = 1; n <= 3; n++)
      for (int fails = 0; fails < 2; fails++) {
        run r;
        (void)open_trial(&r, alpha ? 1 : 0.5);
        now.end = 0.3, now.bend = 0.5, now.across = 0, now.shrink = 1;
        if (fails)
          now.fails_at = n;
        else
          now.refused_at = n;
        double size;
        bool certified;
        assert_int_equal(locate_arrest(&r, &size, &certified), fails ? SS_ERROR_MEMORY : SS_OK);
        assert_int_equal(now.calls, n);
        if (!fails) assert_false(certified);
        run_close(&r);
      }
}

/* ---- release ---- */

static void test_where_it_is_released(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) /* slips, opens */
    for (int k = 1; k < 40; k++) {
      run r;
      ss_error error = {0};
      ss_contact *c = open_trial(&r, 0.5);
      now.limit = k / 40., now.shrink = 1, now.ratio = 0, now.when = 0, now.end = 9;
      c->closed = c->was_stuck = c->pressed_before = true;
      r.sim->chosen.located = kind ? SS_EVENT_TAKE_OFF : SS_EVENT_STICK_SLIP;
      solve(r.sim, h);
      run_require(ss_locate_release(r.sim, &error), &error, "release");
      const double size = r.sim->trial.asked.h;
      check_near(size / h, now.limit / 2, 1e-6, "half of what changes the answer");
      assert_true(size / h <= now.limit / 2 + 1e-12);
      check_near(r.sim->trial.asked.h, size, 0, "the trial in hand");
      assert_int_equal(now.calls, 21); /* halves, and the part itself */
      assert_int_equal(r.sim->n_kept, 0);
      run_close(&r);
    }
}

/* It is happening already; it is not watched; it does not press, is open, or was not stuck: the part stays as it is. */
static void test_what_is_not_released(void **state) {
  (void)state;
  for (int k = 0; k < 8; k++) {
    run r;
    ss_error error = {0};
    ss_contact *c = open_trial(&r, 0.5);
    now.limit = 0.5, now.shrink = 1, now.ratio = 0, now.when = 0, now.end = 9;
    c->closed = c->was_stuck = c->pressed_before = true;
    r.sim->chosen.located = k & 1 ? SS_EVENT_TAKE_OFF : SS_EVENT_STICK_SLIP;
    if (k < 2) now.limit = 0;
    if (k == 2 || k == 3) c->closed = false;
    if (k == 4) c->was_stuck = false;
    if (k == 5) c->pressed_before = false;
    if (k == 6 || k == 7) c->row = -1;
    solve(r.sim, h);
    run_require(ss_locate_release(r.sim, &error), &error, "release");
    check_near(r.sim->trial.asked.h, h, 0, "size");
    check_near(r.sim->trial.asked.h, h, 0, "the trial in hand");
    assert_int_equal(now.calls > 0, k < 2);
    assert_int_equal(r.sim->n_kept, 0);
    run_close(&r);
  }
}

/* Forces that reach their limit behind the middle of the part: the part ends there, with one trial more. */
static void test_releases_that_are_foreseen(void **state) {
  (void)state;
  for (int k = 0; k < 12; k++) {
    run r;
    ss_error error = {0};
    ss_contact *c = open_trial(&r, 0.5);
    const bool lifts = k % 2, rises = k != 4 && k != 5, late = k == 2 || k == 3;
    const bool watched = k != 6 && k != 7, pressed = k != 8 && k != 9, closed = k != 10 && k != 11;
    now.limit = 9, now.shrink = 1, now.end = 9;
    now.when = 0; /* in the middle of the whole part 0.5 more; the limit is 1, or no load */
    c->closed = closed, c->was_stuck = true, c->pressed_before = pressed;
    r.sim->chosen.located = (lifts ? SS_EVENT_TAKE_OFF : SS_EVENT_STICK_SLIP) ^ (watched ? 0 : 6);
    /* the part's mean is 1/2 above this, and 0.3 below the limit */
    now.ratio = (lifts ? 2 : 1) - (late ? 1.03 : 0.8), now.when = 0;
    solve(r.sim, h);
    /* before: that of a part of the same size */
    c->last_ratio = c->ratio - (rises ? 1 : -0.2), c->last_load = c->load + (rises ? 1 : -0.2);
    c->last_when = c->when - h;
    run_require(ss_locate_release(r.sim, &error), &error, "release");
    const double size = r.sim->trial.asked.h;
    const double at = 0.5 + (lifts ? 2 : 1) - (now.ratio + 0.5);
    const bool foreseen = rises && !late && watched && pressed && closed;
    check_near(size / h, foreseen ? at : 1, 1e-12, "size");
    assert_int_equal(now.calls, foreseen);
    run_close(&r);
  }
}

/* ---- jam ---- */

/* Slip that is reversed by an impulse that does not shrink with the part: a part of 1e-4 of the size with alpha = 1. In a crowd slip that
 * friction may well stop is left alone. */
static void test_jams(void **state) {
  (void)state;
  for (int k = 0; k < 10; k++) {
    run r;
    ss_error error = {0};
    ss_contact *c = open_trial(&r, k == 3 ? 1 : 0.5);
    now.end = 0.5e-4, now.bend = 0, now.across = 0, now.sticks = false; /* reversed, and in a short part as well */
    now.shrink = k == 1 ? 1 : 0;
    if (k == 2) now.end = 0.51; /* not wholly */
    if (k == 4) now.refused_at = 1;
    if (k == 5) now.fails_at = 1;
    if (k == 6) c->row = -1;
    r.sim->crowd.landing_speed = k == 7 || k == 8 ? 1 : 0;
    r.sim->step.acceleration = (k == 7 ? 0.99 : 1.01) / h;
    if (k == 9) now.end = 0.5; /* only in the whole part */
    solve(r.sim, h);
    const ss_status status = ss_locate_jam(r.sim, &error);
    const double size = r.sim->trial.asked.h;
    const bool jams = k == 0 || k == 7;
    assert_int_equal(status, k == 5 ? SS_ERROR_MEMORY : SS_OK);
    assert_int_equal(r.sim->trial.certified, k != 4);
    assert_int_equal(now.calls, jams ? 2 : k == 2 || k == 3 || k == 6 || k == 8 ? 0 : 1);
    if (k != 4 && k != 5) {
      check_near(size, jams ? 1e-4 * h : h, 0, "size");
      check_near(r.sim->trial.asked.h, size, 0, "the trial in hand");
      assert_int_equal(r.sim->n_kept, 0);
    }
    if (jams) check_near(r.sim->trial.asked.alpha, 1, 0, "alpha");
    run_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_where_slip_ends),
                                     cmocka_unit_test(test_slip_that_does_not_end),
                                     cmocka_unit_test(test_trials_of_an_arrest_that_fail),
                                     cmocka_unit_test(test_where_it_is_released),
                                     cmocka_unit_test(test_what_is_not_released),
                                     cmocka_unit_test(test_releases_that_are_foreseen),
                                     cmocka_unit_test(test_jams)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
