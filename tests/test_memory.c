/* Memory: a step in steady state allocates nothing, and the n-th allocation may fail for every n, with an error status
 * and without a leak. The library allocates by calloc and realloc alone, which the linker hands to this file. */
#include "system_runner.h"

#include "../examples/double_pendulum.h"
#include "../examples/woodpecker.h"

#include <unistd.h>

enum { SLOTS = 1 << 14 };

static struct {
  long count;        /* allocations so far */
  long fail_at;      /* this one fails; 0: none does */
  bool failed;       /* one has */
  void *live[SLOTS]; /* open addressing; a removed pointer leaves a tombstone */
  long n_live;
} memory;

static char tombstone;

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);

static void **slot_of(void *pointer, bool insert) {
  size_t place = ((uintptr_t)pointer >> 4) * 2654435761u % SLOTS;
  for (size_t i = 0; i < SLOTS; i++, place = (place + 1) % SLOTS) {
    if (memory.live[place] == pointer) return &memory.live[place];
    if (insert ? !memory.live[place] || memory.live[place] == &tombstone : !memory.live[place])
      return insert ? &memory.live[place] : NULL;
  }
  return NULL;
}

static void remember(void *pointer) {
  void **slot = pointer ? slot_of(pointer, true) : NULL;
  if (slot) *slot = pointer, memory.n_live++;
}

static void forget(void *pointer) {
  void **slot = pointer ? slot_of(pointer, false) : NULL; /* NULL: not the library's own */
  if (slot) *slot = &tombstone, memory.n_live--;
}

static bool fails_now(void) {
  memory.count++;
  if (memory.fail_at == 0 || memory.count != memory.fail_at) return false;
  return memory.failed = true;
}

void *__wrap_calloc(size_t count, size_t size) {
  if (fails_now()) return NULL;
  void *memory_block = __real_calloc(count, size);
  remember(memory_block);
  return memory_block;
}

void *__wrap_realloc(void *old, size_t size) {
  if (fails_now()) return NULL;
  forget(old);
  void *memory_block = __real_realloc(old, size);
  remember(memory_block);
  return memory_block;
}

void __wrap_free(void *old) {
  forget(old);
  __real_free(old);
}

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

static void start_counting(long fail_at) {
  memset(&memory, 0, sizeof memory);
  memory.fail_at = fail_at;
}

/* ---- steady state ---- */

typedef struct steady_case {
  const char *scene;
  double step, settled; /* contacts have been seen by then */
} steady_case;

static void check_steady(const steady_case *c, const char *scheme) {
  run r;
  run_open(&r, c->scene, &(change){.scheme = scheme, .step = c->step});
  while (ss_sim_state(r.sim)->t < c->settled) run_step(&r);
  start_counting(0);
  while (!ss_sim_done(r.sim)) run_step(&r);
  if (memory.count) print_error("%s under %s: %ld allocations\n", c->scene, scheme, memory.count);
  assert_int_equal(memory.count, 0);
  run_close(&r);
}

static void steady_steps_allocate_nothing(void **state) {
  (void)state;
  static const steady_case cases[] = {{"block-on-incline", 0.01, 1},        {"bouncing-ball", 0.01, 4.5},
                                      {"double-pendulum-wall", 0.002, 0.8}, {"stick-slip-block", 0.01, 1},
                                      {"four-balls", 0.005, 1.2},           {"falling-rod", 0.005, 0.9},
                                      {"sphere-slide-to-roll", 0.002, 0.1}, {"pendulum-chain", 0.002, 0.1},
                                      {"two-carts-spring", 0.01, 0.2},      {"torque-free-body", 0.01, 0.1}};
  for (const ss_table_row *row = ss_table_schemes(); row->name; row++)
    for (size_t i = 0; scheme_is_rigid(row->name) && i < sizeof cases / sizeof *cases; i++)
      check_steady(&cases[i], row->name);
  check_steady(&(steady_case){"rolling-ellipse", 1e-4, 0.01}, "compliant");
}

static void steady_systems_allocate_nothing(void **state) {
  (void)state;
  ss_gap_def gaps[3];
  double q0[4];
  for (const ss_table_row *row = ss_table_schemes(); row->name; row++)
    for (int i = 0; scheme_is_rigid(row->name) && i < 2; i++) {
      run r;
      ss_system s = i == 0 ? pendulum_in_positions(0.1, gaps, q0) : woodpecker_system(&woodpecker_of_glocker, gaps);
      s.simulation.scheme = row->name;
      s.simulation.has_events = true;
      s.simulation.events |= SS_EVENT_COLLISION;
      s.simulation.duration = i == 0 ? 2.5 : 0.3;
      system_open(&r, &s);
      while (ss_sim_state(r.sim)->t < s.simulation.duration / 3) run_step(&r);
      start_counting(0);
      while (!ss_sim_done(r.sim)) run_step(&r);
      assert_int_equal(memory.count, 0);
      run_close(&r);
    }
}

/* ---- the n-th allocation fails ---- */

typedef struct job {
  const char *scene; /* NULL: a user-defined system */
  double step;
  const char *solver;
  const char *text; /* instead of the file */
} job;

/* Laws of pairs: materials in series, one with springs, and a pair of its own. */
static const char pairs[] =
    "materials: [{name: floor, compliance: {young: 1e8, damping: critical}}, {name: felt, compliance: {stiffness: "
    "[4e4, "
    "2e4], damping: {rayleigh: [0, 1e-3]}}}, {name: glass}]\n"
    "contacts: [{between: [floor, glass], compliance: {stiffness: [[900, 120], [120, 700]], damping: [1, 1]}}]\n"
    "planar: xy\n"
    "world: {shapes: [{type: half-space, normal: [0, 1], material: floor}]}\n"
    "bodies:\n"
    "  - {name: a, mass: 1, position: [0, 0.1], shapes: [{type: sphere, radius: 0.1, material: felt}]}\n"
    "  - {name: b, mass: 2, position: [0.3, 0.1], shapes: [{type: sphere, radius: 0.1, material: glass}]}\n"
    "compliance: {elements: 1, spacing: 1e-3}\n"
    "simulation: {scheme: compliant, step: 0.01, duration: 1}\n";

/* The model, from the scene or the system. */
static ss_status open_model(const job *j, ss_scene **scene, ss_model **model, ss_simulation *options, ss_error *error) {
  char path[1024];
  if (!j->scene) {
    ss_gap_def gaps[2];
    double q0[4];
    const ss_system system = pendulum_in_positions(0.1, gaps, q0);
    *options = system.simulation;
    return ss_model_create_system(&system, model, error);
  }
  (void)snprintf(path, sizeof path, "%s/scenes/%s.yaml", SOURCE_DIR, j->scene);
  const ss_status status = j->text ? ss_scene_parse(j->text, strlen(j->text), j->scene, NULL, 0, scene, error)
                                   : ss_scene_load(path, NULL, 0, scene, error);
  if (status) return status;
  *options = (*scene)->simulation;
  return ss_model_create(*scene, model, error);
}

/* Everything a run does; the first status that is not SS_OK. */
static ss_status work(const job *j, ss_error *error) {
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  ss_recorder *csv = NULL, *hdf5 = NULL;
  ss_simulation options = ss_simulation_default();
  ss_status status = open_model(j, &scene, &model, &options, error);
  options.step = j->step;
  if (j->solver) options.solver = j->solver;
  if (!status) status = ss_sim_create(model, &options, &sim, error);
  if (!status) status = ss_recorder_open_csv("memory.csv", sim, 1, &csv, error);
  if (!status) status = ss_recorder_open_hdf5("memory.h5", sim, 1, &hdf5, error);
  if (!status) {
    const ss_observer observer = ss_recorder_observer(csv);
    status = ss_sim_observe(sim, &observer, error);
  }
  if (!status) {
    const ss_observer observer = ss_recorder_observer(hdf5);
    status = ss_sim_observe(sim, &observer, error);
  }
  for (int i = 0; !status && i < 20; i++) status = ss_sim_step(sim, error);
  ss_error ignored;
  if (csv) {
    const ss_status closed = ss_recorder_close(csv, sim, !status, status ? &ignored : error);
    if (!status) status = closed;
  }
  if (hdf5) {
    const ss_status closed = ss_recorder_close(hdf5, sim, !status, status ? &ignored : error);
    if (!status) status = closed;
  }
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  const job jobs[] = {{"block-on-incline", 0.01, NULL, NULL},
                      {"falling-rod", 0.04, NULL, NULL},
                      {"four-balls", 0.05, NULL, NULL},
                      {"double-pendulum-wall", 0.125, NULL, NULL},
                      {"two-carts-spring", 0.01, NULL, NULL},
                      {"stick-slip-block", 0.1, NULL, NULL},
                      {"rolling-ellipse", 0.1, NULL, NULL},
                      {NULL, 0.125, NULL, NULL},
                      {"pairs", 0.01, NULL, pairs}};
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
    for (long n = 1;; n++) {
      ss_error error = {0};
      start_counting(n);
      const ss_status status = work(&jobs[i], &error);
      if (!memory.failed) { /* fewer than n allocations: all of them have failed once */
        assert_int_equal(status, SS_OK);
        assert_true(n > 20);
        break;
      }
      /* a recorder may say that it could not write: HDF5 does not tell why */
      const bool named = status == SS_ERROR_MEMORY || status == SS_ERROR_IO;
      if (!named || memory.n_live != 0 || error.message[0] == '\0')
        print_error("%s, allocation %ld: status %d '%s', %ld blocks lost\n", jobs[i].scene ? jobs[i].scene : "system",
                    n, status, error.message, memory.n_live);
      assert_true(named);
      assert_int_equal(error.status, status);
      assert_true(error.message[0] != '\0');
      assert_int_equal(memory.n_live, 0);
    }
    assert_int_equal(memory.n_live, 0);
  }
  (void)unlink("memory.csv");
  (void)unlink("memory.h5");
  for (int k = 0; k < 100; k++) { /* what could not be finished stays beside its name */
    char name[64];
    (void)snprintf(name, sizeof name, "memory.h5.%ld-%d.tmp", (long)getpid(), k);
    (void)unlink(name);
    (void)snprintf(name, sizeof name, "memory.csv.%ld-%d.tmp", (long)getpid(), k);
    (void)unlink(name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steady_steps_allocate_nothing),
      cmocka_unit_test(steady_systems_allocate_nothing),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
