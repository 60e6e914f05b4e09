/* Trials are values: one that is set aside comes back as it was, to the last bit, and trying leaves no traces in the run. */
#include "scene_runner.h"

#include "step/step.h"

typedef struct copy {
  double *numbers;
  ss_contact *contacts;
  int n, n_contacts;
} copy;

/* What came out of the trial in hand. */
static copy copy_of(const ss_sim *sim) {
  const ss_trial *t = &sim->trial;
  const int nv = sim->model->n_v, nq = sim->model->n_q, rows = t->problem.n;
  const struct {
    const double *from;
    int n;
  } parts[] = {{t->delta, nv},       {t->v_end, nv},           {t->dv_free, nv},   {t->q_end, nq},
               {t->problem.z, rows}, {t->problem.slack, rows}, {&t->asked.h, 1},   {&t->asked.alpha, 1},
               {&t->asked.gamma, 1}, {&t->asked.push, 1},      {&t->problem.h, 1}, {t->problem.offset, rows}};
  copy c = {.n_contacts = t->n_contacts};
  c.numbers = malloc(sizeof(double) * (size_t)(4 * nv + nq + 3 * rows + 8));
  c.contacts = malloc(sizeof *c.contacts * (size_t)(t->n_contacts + 1));
  assert_true(c.numbers && c.contacts);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (parts[i].n) memcpy(c.numbers + c.n, parts[i].from, sizeof(double) * (size_t)parts[i].n);
    c.n += parts[i].n;
  }
  if (t->n_contacts) memcpy(c.contacts, t->contacts, sizeof *c.contacts * (size_t)t->n_contacts);
  return c;
}

static void check_same(const ss_sim *sim, copy *before) {
  copy now = copy_of(sim);
  assert_int_equal(now.n, before->n);
  assert_int_equal(now.n_contacts, before->n_contacts);
  assert_memory_equal(now.numbers, before->numbers, sizeof(double) * (size_t)now.n);
  if (now.n_contacts)
    assert_memory_equal(now.contacts, before->contacts, sizeof *now.contacts * (size_t)now.n_contacts);
  free(now.numbers), free(now.contacts);
  free(before->numbers), free(before->contacts);
}

/* Two more trials of other sizes on top of the one that the last step has left, and back. */
static void try_others(ss_sim *sim) {
  ss_error error = {0};
  const double h = sim->step.h;
  sim->n_kept = 0;
  run_require(ss_trial_reserve(sim, &error), &error, "reserve");
  copy first = copy_of(sim);
  ss_trial_keep(sim);
  run_require(ss_attempt(sim, h / 3, &error), &error, "attempt");
  copy second = copy_of(sim);
  ss_trial_keep(sim);
  run_require(ss_attempt(sim, h / 7, &error), &error, "attempt");
  ss_trial_back(sim);
  check_same(sim, &second);
  ss_trial_back(sim);
  check_same(sim, &first);
}

static const struct {
  const char *scene, *scheme;
  int steps;
} cases[] = {
    {"four-balls", "trapezoidal", 60},
    {"four-balls", "stewart-trinkle-implicit", 60},
    {"pendulum-slides-off", "trapezoidal", 100},
    {"pendulum-slides-off", "anitescu-potra", 100},
    {"two-carts-spring", "trapezoidal", 100},
    {"slider-crank", "moreau", 60},
    {"pawl", "trapezoidal", 60},
    {"painleve-rod", "trapezoidal", 20},
};

static void trials_come_back(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    run tried, plain;
    const change c = {.scheme = cases[i].scheme};
    run_open(&tried, cases[i].scene, &c);
    run_open(&plain, cases[i].scene, &c);
    tried.sim->chosen.divides = plain.sim->chosen.divides = false; /* trials are those of the whole scene */
    for (int k = 0; k < cases[i].steps && !ss_sim_done(plain.sim); k++) {
      run_step(&tried);
      run_step(&plain);
      try_others(tried.sim);
      const ss_state *a = ss_sim_state(tried.sim), *b = ss_sim_state(plain.sim);
      assert_memory_equal(a->q, b->q, sizeof *a->q * (size_t)tried.sim->model->n_q);
      assert_memory_equal(a->v, b->v, sizeof *a->v * (size_t)tried.sim->model->n_v);
    }
    run_close(&tried);
    run_close(&plain);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(trials_come_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
