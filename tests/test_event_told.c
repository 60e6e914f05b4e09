/* What is told of the contacts of a solved part (event/events.c): every combination of what is known of a contact before and after, against
 * the rules written down once more. */
#include "scene_runner.h"
#include "step/step.h"

enum { SPIN = 1 << SS_MOTION_SPIN, ROLL = 1 << SS_MOTION_ROLL };
static const double tolerance = 1e-6, blur = 2e-6;

static const char *const two_balls =
    "gravity: [0, 0, 0]\n"
    "bodies:\n"
    "  - {name: a, mass: 1, shapes: [{type: sphere, radius: 0.5}]}\n"
    "  - {name: b, mass: 1, position: [2, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
    "simulation: {step: 0.01, duration: 1}\n";

static ss_contact *open_contact(run *r) {
  ss_error error = {0};
  run_parse(r, two_balls, NULL);
  ss_trial *t = &r->sim->trial;
  run_require(ss_grow((void **)&t->contacts, &t->contact_capacity, 4, sizeof *t->contacts, &error), &error, "room");
  t->n_contacts = 1;
  t->contacts[0] = (ss_contact){.body = {0, 1}, .row = 0, .n_rows = 3, .n_forces = 3};
  r->sim->part.speed_tolerance = tolerance;
  r->sim->part.asked.h = 0.01, r->sim->part.end = 0.01;
  return t->contacts;
}

/* How many events of each kind it told. */
static void tell(ss_sim *sim, int told[SS_EVENT_KINDS]) {
  long before[SS_EVENT_KINDS];
  memcpy(before, sim->report.events, sizeof before);
  ss_tell_contacts(sim);
  for (int k = 0; k < SS_EVENT_KINDS; k++) told[k] = (int)(sim->report.events[k] - before[k]);
}

/* Take-off and collision: from whether it was closed or met, carries, opens faster than can be told, and approached. */
static void test_closing_and_opening(void **state) {
  (void)state;
  run r;
  ss_contact *c = open_contact(&r);
  ss_sim *sim = r.sim;
  ss_scheme scheme = *sim->scheme;
  sim->scheme = &scheme;
  double slack[3] = {0}, *const kept = sim->trial.problem.slack;
  sim->trial.problem.slack = slack;
  ss_patch patch = {0};
  for (int k = 0; k < 512; k++) {
    const bool closed = k & 1, met = k & 2, carries = k & 4, opens = k & 8, approached = k & 16, level = k & 32,
               located = k & 64, gives = k & 128, listed = k & 256;
    const bool by_speed = (!level || located || closed) && !gives && !opens, now = carries || by_speed;
    c->closed = closed, c->met = met;
    c->impulse[0] = carries ? 1 : 0;
    c->blur = blur, slack[0] = (opens ? 1.01 : 0.99) * (tolerance + blur);
    c->rate = approached ? -1.01 * tolerance : -0.99 * tolerance;
    c->patch = gives ? &patch : NULL;
    c->row = listed ? 0 : -1;
    scheme.position_level = level, sim->chosen.located = located ? SS_EVENT_COLLISION : 0;
    int told[SS_EVENT_KINDS];
    tell(sim, told);
    assert_int_equal(told[SS_TAKE_OFF], listed && closed && !now);
    assert_int_equal(told[SS_COLLISION], listed && !closed && !met && now && approached);
    assert_int_equal(told[SS_STICK] + told[SS_SLIP] + told[SS_FACET] + told[SS_SPIN_BEGIN] + told[SS_ROLL_BEGIN], 0);
    assert_int_equal(c->closed, listed ? now : closed);
    assert_int_equal(c->hops, 0);
  }
  sim->trial.problem.slack = kept;
  run_close(&r);
}

/* Stick, slip, facet, spin and rolling: only of contacts that carry and have carried. What ends the part is told by those who end it. */
static void test_sticking_and_slipping(void **state) {
  (void)state;
  run r;
  ss_contact *c = open_contact(&r);
  ss_sim *sim = r.sim;
  double slack[6] = {0}, *const kept = sim->trial.problem.slack;
  sim->trial.problem.slack = slack;
  ss_patch patch = {0};
  static const int faces[5][2] = {{0, 0}, {1, 0}, {0, 2}, {2, 2}, {1, 2}};
  for (int k = 0; k < 512; k++)
    for (int f = 0; f < 5; f++)
      for (int held = 0; held < 4; held++) {
        const bool carries = k & 1, before = k & 2, rough = k & 4, stuck = k & 8, was_stuck = k & 16, gives = k & 32,
                   arrest = k & 64, all = k & 128, hold_spin = k & 256;
        c->closed = true;
        c->impulse[0] = carries ? 1 : 0, c->pressed_before = before;
        c->n_rows = rough ? 3 : 1;
        c->stuck = stuck, c->was_stuck = was_stuck;
        c->patch = gives ? &patch : NULL;
        c->last_face = faces[f][0], c->face = faces[f][1];
        c->was_held = held & 1 ? SPIN | ROLL : 0, c->held = (held & 2 ? ROLL : 0) | (hold_spin ? SPIN : 0);
        sim->part.ends = arrest ? SS_ENDS_ARREST : SS_ENDS_RELEASE;
        sim->part.end = all ? sim->part.asked.h : 0.5 * sim->part.asked.h; /* else a collision ends it sooner */
        const bool changed = carries && before && rough && stuck != was_stuck, ends = changed && stuck;
        const bool facet = !changed && before && faces[f][0] && faces[f][1] && faces[f][0] != faces[f][1];
        const bool begins = carries && before && !gives && held & 1;
        int told[SS_EVENT_KINDS];
        tell(sim, told);
        assert_int_equal(told[SS_STICK], ends && !(arrest && all));
        assert_int_equal(told[SS_SLIP], changed && !stuck);
        assert_int_equal(told[SS_FACET], facet);
        assert_int_equal(told[SS_SPIN_BEGIN], begins && !hold_spin);
        assert_int_equal(told[SS_ROLL_BEGIN], begins && !(held & 2));
        assert_int_equal(c->slip_ends, ends);
        const long sticks = sim->report.events[SS_STICK];
        ss_events_happen(sim);
        assert_int_equal(sim->report.events[SS_STICK] - sticks, ends && arrest && all);
      }
  sim->trial.problem.slack = kept;
  run_close(&r);
}

/* A crowd's contact that has closed: it stays where it neither bounces nor goes on approaching at the end; else it is remembered as a hop. */
static void test_closing_in_a_crowd(void **state) {
  (void)state;
  run r;
  ss_contact *c = open_contact(&r);
  ss_sim *sim = r.sim;
  double slack[3] = {0}, *const kept = sim->trial.problem.slack;
  ss_row row = {.body = {0, 1}}, *const kept_rows = sim->trial.problem.rows;
  row.j[0][0] = 1, row.j[1][0] = -1;
  sim->trial.problem.slack = slack, sim->trial.problem.rows = &row;
  sim->crowd.dense = true;
  for (int k = 0; k < 64; k++) {
    const bool closed = k & 1, carries = k & 2, opens = k & 4, bounces = k & 8, approaches = k & 16, hit = k & 32;
    const bool shut = carries || !opens, stays = shut && !bounces && !approaches;
    c->closed = closed, c->hops = 5;
    c->impulse[0] = carries ? 1 : 0, c->blur = blur;
    slack[0] = opens ? 1 : 0;
    c->bounce = bounces ? 0.5 : 0;
    c->rate = hit ? -1 : 0;
    sim->trial.v_end[r.model->bodies[1].first] = (approaches ? 1.01 : 0.99) * (tolerance + blur);
    int told[SS_EVENT_KINDS];
    tell(sim, told);
    assert_int_equal(c->closed, stays);
    assert_int_equal(told[SS_TAKE_OFF], closed && !stays);
    assert_int_equal(told[SS_COLLISION], !closed && (stays || carries) && hit);
    assert_int_equal(c->hops, 5 + (carries && !stays && !bounces));
  }
  sim->trial.problem.slack = kept, sim->trial.problem.rows = kept_rows;
  run_close(&r);
}

/* With what a solved part is watched for: the table's first columns. A part without contacts goes through all rows. */
static void test_what_is_watched(void **state) {
  (void)state;
  run r;
  ss_error error = {0};
  (void)open_contact(&r);
  ss_sim *sim = r.sim;
  sim->trial.n_contacts = 0;
  sim->trial.certified = true, sim->part.speed_bound = 1, sim->part.ends = 77, sim->part.hit = 5;
  sim->part.refined = true, sim->step.transitions = 3, sim->trial.asked.h = sim->part.asked.h;
  memcpy(sim->trial.q_end, sim->state.q, sizeof(double) * (size_t)r.model->n_q);
  memset(sim->trial.v_end, 0, sizeof(double) * (size_t)r.model->n_v);
  run_require(ss_locate_events(sim, &error), &error, "events");
  assert_true(sim->part.ends == 0 && sim->part.hit == -1 && !sim->part.again && !sim->part.refined);
  check_near(sim->part.end, 0.01, 0, "the whole part");
  assert_int_equal(sim->step.transitions, 3);
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_closing_and_opening),
                                     cmocka_unit_test(test_sticking_and_slipping),
                                     cmocka_unit_test(test_closing_in_a_crowd), cmocka_unit_test(test_what_is_watched)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
