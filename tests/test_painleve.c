/* The Painleve rod: friction from 0 to 4, all angles, both directions of slip, every scheme. The step is always solved and
 * certified; the paradox shows as an impulse that does not vanish with the step, where theory says so; and the
 * indeterminate case has three solutions. */
#include "scene_runner.h"

#define DEGREE (atan(1) / 45)

static double critical_friction(double theta) {
  const double c = cos(theta), s = sin(theta);
  return (1 + 3 * c * c) / (3 * fabs(s * c));
}

static void open_rod(run *r, const char *scene, double mu, double theta, double v, const change *c) {
  char settings[3][64];
  change all = *c;
  (void)snprintf(settings[0], sizeof settings[0], "mu=%.17g", mu);
  (void)snprintf(settings[1], sizeof settings[1], "theta=%.17g", theta);
  (void)snprintf(settings[2], sizeof settings[2], "v=%g", v);
  for (int i = 0; i < 3; i++) all.set[i] = settings[i];
  run_open(r, scene, &all);
}

/* ---- every step is solved ---- */

static void step_is_always_solved(void **state) {
  (void)state;
  for (const ss_table_row *scheme = ss_table_schemes(); scheme->name && scheme_is_rigid(scheme->name); scheme++)
    for (int angle = 2; angle < 180; angle += 11)
      for (int k = 0; k <= 16; k++)
        for (int v = -1; v <= 1; v += 2) {
          run r;
          const change c = {.scheme = scheme->name, .step = ldexp(1, -8), .duration = ldexp(1, -3)};
          open_rod(&r, "painleve-rod", k / 4.0, angle * DEGREE, v, &c);
          run_finish(&r);
          check_below(ss_sim_report(r.sim)->certificate.energy_created,
                      1e-3 * (1 + ss_sim_report(r.sim)->energy.initial), scheme->name);
          run_close(&r);
        }
}

/* ---- the paradox ---- */

static double first_impulse(double mu, double theta, double v, double h) {
  run r;
  open_rod(&r, "painleve-rod", mu, theta, v, &(change){.step = h, .duration = 16 * h});
  run_step(&r);
  ss_contact_report contact;
  assert_int_equal(ss_sim_contacts(r.sim, &contact, 1), 1);
  run_check(&r);
  run_close(&r);
  return v3_dot(contact.impulse, contact.normal);
}

/* Forces are of order h, the impulse of a jam is that which stops the tip. */
static void jam_is_recognised(void **state) {
  (void)state;
  int jams = 0;
  for (int angle = 2; angle < 180; angle += 4)
    for (int k = 0; k <= 16; k++) {
      const double theta = angle * DEGREE, mu = k / 4.0, towards = cos(theta) * sin(theta) > 0 ? -1 : 1;
      if (fabs(mu / critical_friction(theta) - 1) < 0.02) continue;
      const bool paradox = mu > critical_friction(theta);
      const double impulse = first_impulse(mu, theta, towards, ldexp(1, -20));
      if ((impulse > 1e-3) != paradox) print_error("mu %g, %d degrees: impulse %g\n", mu, angle, impulse);
      assert_int_equal(impulse > 1e-3, paradox);
      check_below(first_impulse(mu, theta, -towards, ldexp(1, -20)), 1e-3, "impulse of the rod that is pulled");
      jams += paradox;
    }
  assert_true(jams > 50);
}

/* ---- solutions ---- */

typedef struct enumeration {
  ss_cp_workspace *workspace;
  int count; /* of the first problem */
} enumeration;

static void ignore_solution(void *user, const double *z) { (void)user, (void)z; }

static ss_status enumerate(void *user, const ss_sim *sim, const ss_cp *problem, const double *z, ss_error *error) {
  enumeration *e = user;
  (void)sim, (void)z;
  if (e->count) return SS_OK;
  return ss_cp_all_solutions(problem, 1e-9, e->workspace, ignore_solution, NULL, &e->count, error);
}

static int solutions_of_first_step(const char *scene, double mu, double theta, double v) {
  run r;
  ss_error error = {0};
  enumeration e = {0};
  open_rod(&r, scene, mu, theta, v, &(change){0});
  run_require(ss_cp_workspace_create(&e.workspace, &error), &error, "workspace");
  const ss_observer observer = {.user = &e, .step = run_ignore_step, .problem = enumerate};
  run_require(ss_sim_observe(r.sim, &observer, &error), &error, "observe");
  run_step(&r);
  ss_cp_workspace_destroy(e.workspace);
  run_close(&r);
  return e.count;
}

/* With its weight on the tip the problem has one solution, paradox or not; lifted, it has one outside the paradox and three
 * inside: the tip leaves, slides on, or jams. */
static void number_of_solutions(void **state) {
  (void)state;
  for (int angle = 2; angle < 180; angle += 8)
    for (int k = 1; k <= 16; k++) {
      const double theta = angle * DEGREE, mu = k / 4.0, towards = cos(theta) * sin(theta) > 0 ? -1 : 1;
      if (fabs(mu / critical_friction(theta) - 1) < 0.02) continue;
      const int expected = mu > critical_friction(theta) ? 3 : 1;
      assert_int_equal(solutions_of_first_step("painleve-rod", mu, theta, towards), 1);
      const int count = solutions_of_first_step("painleve-three", mu, theta, towards);
      if (count != expected) print_error("mu %g, %d degrees: %d solutions\n", mu, angle, count);
      assert_int_equal(count, expected);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(step_is_always_solved),
      cmocka_unit_test(jam_is_recognised),
      cmocka_unit_test(number_of_solutions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
