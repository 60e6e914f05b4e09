/* The earliest collision along a path (event/collision.c), for gaps that are functions of time which are known: polynomials, waves, and the
 * kinks of thin bodies. The mechanics behind the search are replaced by these functions. */
#include "scene_runner.h"
#include "step/step.h"

enum { MOST = 4, SAMPLES = 4000 };
static const double h = 0.02;

/* gap(x), x = tau/h in [0, 1]: a polynomial and a wave, or the distance from a thin body. */
typedef struct path {
  double c[4], wave, frequency, phase;
  double kink, slope, thick; /* slope > 0: slope |x - kink| - thick */
  double missing;            /* of the rate that is told: the feature travels over the shapes */
} path;

static path paths[MOST];

static double gap_at(const path *p, double x) {
  if (p->slope > 0) return p->slope * fabs(x - p->kink) - p->thick;
  return p->c[0] + x * (p->c[1] + x * (p->c[2] + x * p->c[3])) + p->wave * sin(p->frequency * x + p->phase);
}

static double rate_at(const path *p, double x) {
  if (p->slope > 0) return (x < p->kink ? -p->slope : p->slope) / h;
  const double waves = p->wave * p->frequency * cos(p->frequency * x + p->phase);
  return (p->c[1] + x * (2 * p->c[2] + x * 3 * p->c[3]) + waves - p->missing) / h;
}

static void place_on_path(const ss_sim *sim, const ss_contact *c, const double *delta, double tau, double fraction,
                          ss_contact_place *out) {
  (void)sim, (void)delta;
  check_near(fraction, tau / h, 1e-15, "fraction");
  *out = (ss_contact_place){.at = {.gap = gap_at(&paths[c->key], tau / h), .normal = {1, 0, 0}},
                            .drive = {rate_at(&paths[c->key], tau / h), 0, 0}};
}

static double fraction_asked;

static void path_velocity(ss_sim *sim, const ss_contact *c, double fraction) {
  (void)sim, (void)c;
  fraction_asked = fraction;
}

static double no_rate(const ss_sim *sim, const ss_contact *c, const ss_contact_place *place, const double *v) {
  (void)sim, (void)c, (void)place, (void)v;
  return 0;
}

static double closing_speed(const ss_sim *sim, const ss_contact *c) {
  (void)sim;
  check_near(fraction_asked, 1, 0, "of the path's end");
  double most = 0;
  for (int i = 0; i <= 200; i++) most = fmax(most, fabs(rate_at(&paths[c->key], i / 200.)));
  return 1.1 * most;
}

static const ss_mechanics known = {
    .place_on_path = place_on_path, .path_velocity = path_velocity, .rate = no_rate, .closing_speed = closing_speed};

static void open_paths(run *r, int n) {
  run_parse(r,
            "gravity: [0, 0, 0]\n"
            "bodies: [{name: a, mass: 1, shapes: [{type: sphere, radius: 0.5}]}]\n"
            "simulation: {step: 0.02, duration: 1}\n",
            NULL);
  ss_error error = {0};
  ss_trial *t = &r->sim->trial;
  run_require(ss_grow((void **)&t->contacts, &t->contact_capacity, MOST, sizeof *t->contacts, &error), &error, "room");
  t->n_contacts = n;
  t->asked.h = h;
  for (int i = 0; i < n; i++)
    t->contacts[i] = (ss_contact){.key = (uint64_t)i,
                                  .at = {.gap = gap_at(&paths[i], 0), .normal = {1, 0, 0}},
                                  .rate = rate_at(&paths[i], 0),
                                  .lands_at = 1};
  r->sim->mechanics = &known;
}

/* The first x at which the gap comes down through `level`, by looking at many places; 2: none. *clear: it is so by a margin. */
static double first_descent(const path *p, double level, bool *clear) {
  *clear = true;
  double least = INFINITY, before = gap_at(p, 0) - level, first = 2;
  for (int i = 1; i <= SAMPLES && first > 1; i++) {
    const double now = gap_at(p, (double)i / SAMPLES) - level;
    if (before > 0 && now <= 0) {
      double low = (i - 1.) / SAMPLES, high = (double)i / SAMPLES;
      for (int k = 0; k < 60; k++) {
        const double middle = (low + high) / 2;
        if (gap_at(p, middle) - level > 0)
          low = middle;
        else
          high = middle;
      }
      first = high;
      *clear = fabs(rate_at(p, high)) * h > 0.02 && high < 0.999;
    }
    before = now;
    least = fmin(least, fabs(now));
  }
  if (first > 1) *clear = least > 1e-3;
  return first;
}

static double uniform(uint64_t *seed, double low, double high) {
  return low + (high - low) * (random_next(seed) + 1) / 2;
}

/* Smooth ones, waves, thin bodies. */
static path random_path(uint64_t *seed, int kind) {
  path p = {.c = {uniform(seed, 0.01, 1), uniform(seed, -2, 2), uniform(seed, -2, 2), uniform(seed, -2, 2)}};
  if (kind == 1) p.wave = uniform(seed, 0, 1), p.frequency = uniform(seed, 0, 25), p.phase = uniform(seed, 0, 6);
  p.c[0] -= p.wave * sin(p.phase); /* apart at the start */
  if (kind == 2) {
    p = (path){.kink = uniform(seed, 0.05, 0.95), .slope = uniform(seed, 1, 2)};
    p.thick = p.slope * pow(10, uniform(seed, -8, -1.5));
  }
  return p;
}

static void test_one_path(void **state) {
  (void)state;
  uint64_t seed = 7;
  int collisions = 0, clears = 0;
  for (int trial = 0; trial < 1500; trial++) {
    paths[0] = random_path(&seed, trial % 3);
    const path *p = &paths[0];
    bool clear = true;
    const double first = p->slope > 0 ? p->kink - p->thick / p->slope : first_descent(p, 0, &clear);
    if (!clear) continue;
    clears++;
    run r;
    open_paths(&r, 1);
    const double tau = ss_first_collision(r.sim, true);
    const bool found = r.sim->part.hit >= 0;
    if (found != (first <= 1))
      print_error("trial %d: %g, found %g with gap %g\n", trial, first, tau / h, gap_at(p, tau / h));
    assert_int_equal(found, first <= 1);
    assert_int_equal(r.sim->part.hit, found ? 0 : -1);
    assert_true(r.sim->trial.contacts[0].lands_at == HUGE_VAL);
    assert_int_equal(r.sim->trial.contacts[0].hops, 0);
    if (found) check_near(tau, first * h, 1e-11 * h + (p->slope > 0 ? 1e-12 * h : 0), "collision");
    if (!found) assert_true(tau == h);
    collisions += found;
    run_close(&r);
  }
  assert_true(collisions > 500 && clears - collisions > 200);
}

/* The search knows no lengths but those of the gap: what is larger or smaller by a power of two is found at the same time, to the last
 * bit, with the same looks; and these are few. */
static void test_looks_do_not_depend_on_the_scale(void **state) {
  (void)state;
  static const long most[] = {1030, 2780, 6650};
  static const int powers[] = {0, 7, 14};
  uint64_t seed = 11;
  long looks[3] = {0};
  int found[3] = {0};
  for (int trial = 0; trial < 600; trial++) {
    const path p = random_path(&seed, trial % 3);
    long first_looks = 0;
    double first_tau = 0;
    for (int k = 0; k < 3; k++) {
      run r;
      const double factor = ldexp(1, powers[k]);
      paths[0] = p;
      for (int i = 0; i < 4; i++) paths[0].c[i] *= factor;
      paths[0].wave *= factor, paths[0].slope *= factor, paths[0].thick *= factor;
      open_paths(&r, 1);
      r.sim->step.looks = 0;
      const double tau = ss_first_collision(r.sim, true);
      if (k == 0) first_tau = tau, first_looks = r.sim->step.looks;
      assert_true(tau == first_tau && r.sim->step.looks == first_looks);
      if (k == 0) looks[trial % 3] += first_looks, found[trial % 3] += r.sim->part.hit >= 0;
      run_close(&r);
    }
  }
  for (int kind = 0; kind < 3; kind++) {
    print_message("kind %d: %ld looks, %d found of 200\n", kind, looks[kind], found[kind]);
    assert_true(looks[kind] <= most[kind]);
  }
}

/* Rates that miss what a feature's travel does to its gap: the collision is found all the same, and with few looks also where the gap starts
 * near zero. */
static void test_rates_that_miss_something(void **state) {
  (void)state;
  enum { TRIALS = 300, FEW = 40 };
  uint64_t seed = 23;
  int collisions = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    path p = {.c = {pow(10, uniform(&seed, -12, -2)), uniform(&seed, -1, 1), uniform(&seed, -0.2, 0.2), 0}};
    bool clear;
    const double first = first_descent(&p, 0, &clear);
    p.missing = copysign(uniform(&seed, 0.3, 3), p.c[1]); /* to the other side */
    paths[0] = p;
    run r;
    open_paths(&r, 1);
    r.sim->step.looks = 0;
    const double tau = ss_first_collision(r.sim, true);
    const bool found = r.sim->part.hit >= 0;
    if (first > 1 && clear) assert_false(found);
    if (fabs(p.c[1]) > 0.3) assert_int_equal(found, p.c[1] < 0);
    if (found) assert_true(gap_at(&p, tau / h) <= 0 && gap_at(&p, tau / h - 1e-9) > -1e-8);
    if (r.sim->step.looks > FEW) fail_msg("trial %d: %ld looks", trial, (long)r.sim->step.looks);
    collisions += found;
    run_close(&r);
  }
  assert_true(collisions > TRIALS / 3);
}

/* The first of several; what is held is not watched; one that starts at the surface, or under it, and separates, comes back to where it
 * was; a collision at once is counted as a hop. */
static void test_several_paths(void **state) {
  (void)state;
  static const double at[MOST] = {0.8, 0.3, 0.5, 0.2};
  run r;
  for (int i = 0; i < MOST; i++) paths[i] = (path){.c = {at[i], -1}};
  for (int out = 0; out < MOST; out++) { /* the contact `out` is held */
    open_paths(&r, MOST);
    r.sim->trial.contacts[out].active = true;
    const int best = out == 3 ? 1 : 3;
    check_near(ss_first_collision(r.sim, true), at[best] * h, 1e-15, "first");
    assert_true(r.sim->part.hit >= 0);
    assert_int_equal(r.sim->part.hit, best);
    run_close(&r);
  }
  for (int k = 0; k < 2; k++) { /* thrown up, and back: 4 x (1/2 - x) */
    const double level = k == 0 ? 0 : -0.25;
    paths[0] = (path){.c = {level, 2, -4}};
    open_paths(&r, 1);
    check_near(ss_first_collision(r.sim, true), 0.5 * h, 1e-9 * h, "comes back");
    assert_true(r.sim->part.hit >= 0);
    run_close(&r);
  }
  static const double soon[] = {0.9e-6, 1.1e-6};
  for (int k = 0; k < 2; k++) {
    paths[0] = (path){.c = {soon[k], -1}};
    open_paths(&r, 1);
    check_near(ss_first_collision(r.sim, true), soon[k] * h, 1e-15, "soon");
    assert_int_equal(r.sim->trial.contacts[0].hops, k == 0);
    run_close(&r);
  }
}

/* Gentle landings are noted, and located only where all are to be. */
static void test_landings_on_paths(void **state) {
  (void)state;
  run r;
  paths[0] = (path){.c = {0.3, -1}};           /* 1/h per unit of time */
  paths[1] = (path){.c = {0.5 * 1e-3, -1e-3}}; /* gentle */
  for (int all = 0; all < 2; all++)
    for (int gentle = 0; gentle < 2; gentle++) {
      open_paths(&r, 2);
      paths[1].c[0] = gentle ? 0.1e-3 : 0.5e-3; /* before the other, or behind it */
      r.sim->trial.contacts[1].at.gap = paths[1].c[0];
      r.sim->crowd.landing_speed = 2e-3 / h;
      const double tau = ss_first_collision(r.sim, all);
      check_near(tau, (all && gentle ? 0.1 : 0.3) * h, 1e-12 * h, "first");
      assert_int_equal(r.sim->part.hit, all && gentle ? 1 : 0);
      assert_true(r.sim->trial.contacts[0].lands_at == HUGE_VAL);
      check_near(r.sim->trial.contacts[1].lands_at, (gentle ? 0.1 : 0.5) * h, 1e-12 * h, "lands");
      r.sim->crowd.landing_speed = 0.9e-3 / h; /* now it is too fast */
      (void)ss_first_collision(r.sim, all);
      assert_true(r.sim->trial.contacts[1].lands_at == HUGE_VAL);
      run_close(&r);
    }
}

/* ---- landings that are held ---- */

static struct {
  int calls, refused_at, fails_at;
  bool again; /* nothing is held for long */
} trials;

static ss_status attempt(ss_sim *sim, ss_asked asked, ss_error *error) {
  check_near(asked.h, h, 0, "the whole part");
  if (++trials.calls == trials.fails_at) return ss_fail(error, SS_ERROR_MEMORY, "fails");
  sim->trial.asked = asked;
  sim->trial.certified = trials.calls != trials.refused_at;
  for (int i = 0; i < MOST && trials.again; i++) sim->trial.contacts[i].active = false;
  return SS_OK;
}

static double lands_at[] = {0.1, 0.5, 0.2};

/* The last contact collides after 0.3 h; three land gently, after 0.1, 0.2 and 0.5 h, or otherwise. */
static ss_status land(run *r, double landing_speed, double *tau, bool *found) {
  const double at[] = {lands_at[0], lands_at[1], lands_at[2], 0.3};
  ss_error error = {0};
  for (int i = 0; i < MOST; i++) paths[i] = (path){.c = {i < 3 ? at[i] * 1e-3 : at[i], i < 3 ? -1e-3 : -1}};
  open_paths(r, MOST);
  for (int i = 0; i < MOST; i++) r->sim->trial.contacts[i].row = -1;
  run_require(ss_trial_reserve(r->sim, &error), &error, "reserve");
  r->sim->chosen.attempt = attempt;
  r->sim->crowd.landing_speed = landing_speed;
  trials.calls = 0;
  const ss_status status = ss_land(r->sim, &error);
  *tau = r->sim->part.end, *found = r->sim->part.hit >= 0;
  return status;
}

static void check_held(run *r, bool first, bool second) {
  const ss_contact *c = r->sim->trial.contacts;
  const bool held[] = {first, false, second, false};
  for (int i = 0; i < MOST; i++) assert_true(c[i].active == held[i] && c[i].lands == held[i]);
  assert_int_equal(r->sim->n_kept, 0);
  run_close(r);
}

/* What lands before the first collision is held, and the part solved again; where that fails, or does not end, it is located. */
static void test_what_lands_is_held(void **state) {
  (void)state;
  static const double gentle = 2e-3 / 0.02;
  run r;
  double tau;
  bool found;
  trials.refused_at = trials.fails_at = 0;
  assert_int_equal(land(&r, gentle, &tau, &found), SS_OK);
  assert_true(found && trials.calls == 1 && r.sim->part.hit == 3);
  check_near(tau, 0.3 * h, 1e-12, "the collision");
  check_held(&r, true, true);
  assert_int_equal(land(&r, 0, &tau, &found), SS_OK); /* no crowd */
  assert_true(found && trials.calls == 0 && r.sim->part.hit == 0);
  check_near(tau, 0.1 * h, 1e-12, "the first of all");
  check_held(&r, false, false);
  trials.refused_at = 1;
  assert_int_equal(land(&r, gentle, &tau, &found), SS_OK);
  assert_true(found && trials.calls == 1 && r.sim->part.hit == 0);
  check_near(tau, 0.1 * h, 1e-12, "located");
  check_held(&r, false, false);
  trials.refused_at = 0, trials.fails_at = 1;
  assert_int_equal(land(&r, gentle, &tau, &found), SS_ERROR_MEMORY);
  run_close(&r);
  trials.fails_at = 0, trials.again = true;
  assert_int_equal(land(&r, gentle, &tau, &found), SS_OK);
  assert_true(found && trials.calls == 4 && r.sim->part.hit == 0);
  check_near(tau, 0.1 * h, 1e-12, "located in the end");
  trials.again = false;
  assert_int_equal(r.sim->n_kept, 0);
  run_close(&r);
  lands_at[2] = 0.6; /* only the first one */
  assert_int_equal(land(&r, gentle, &tau, &found), SS_OK);
  assert_true(found && trials.calls == 1);
  check_held(&r, true, false);
  lands_at[0] = 0.4; /* none before the collision */
  assert_int_equal(land(&r, gentle, &tau, &found), SS_OK);
  assert_true(found && trials.calls == 0);
  check_held(&r, false, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_path),
                                     cmocka_unit_test(test_looks_do_not_depend_on_the_scale),
                                     cmocka_unit_test(test_rates_that_miss_something),
                                     cmocka_unit_test(test_several_paths),
                                     cmocka_unit_test(test_landings_on_paths),
                                     cmocka_unit_test(test_what_lands_is_held)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
