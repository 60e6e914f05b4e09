/* Piles at rest: what the last step knew is nearly the answer, and the solvers must not do more than that takes. Counted
 * are iterations and rungs of the ladder. */
#include "scene_runner.h"

#include "cp/pattern.h"
#include "la/dense.h"
#include "cp_problems.h"

enum { TEXT = 1 << 17 };

typedef struct writer {
  char *text;
  size_t used;
} writer;

static void put(writer *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(w->text + w->used, TEXT - w->used, format, arguments);
  va_end(arguments);
  assert_true(n >= 0 && (size_t)n < TEXT - w->used);
  w->used += (size_t)n;
}

static void put_head(writer *w) {
  put(w, "materials: [{name: default, friction: 0.8, restitution: 0}]\n"
         "simulation: {scheme: anitescu-potra, step: 0.01, duration: 10, sleep: false}\n"
         "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\nbodies:\n");
}

static void put_box(writer *w, const char *name, int k, double x, double z, const double *size, double density) {
  put(w, "  - {name: %s%d, density: %.17g, position: [%.17g, 0, %.17g], shapes: [{type: box, size: [%g, %g, %g]}]}\n",
      name, k, density, x, z, size[0], size[1], size[2]);
}

static void put_feet(writer *w, int side) {
  put(w, "  - name: table\n    mass: 8\n    inertia: [0.05, 0.05, 0.05]\n    position: [0, 0, 0.1]\n    shapes:\n");
  for (int i = 0; i < side; i++)
    for (int k = 0; k < side; k++)
      put(w, "      - {type: point, position: [%.17g, %.17g, -0.1]}\n", 0.2 * k / (side - 1) - 0.1,
          0.2 * i / (side - 1) - 0.1);
}

static void put_stack(writer *w, int n, double bottom, double top) {
  const double size[3] = {0.2, 0.2, 0.2};
  for (int k = 0; k < n; k++) put_box(w, "b", k, 0, 0.1 + 0.2 * k, size, k == 0 ? bottom : k == n - 1 ? top : 1000);
}

static void put_wall(writer *w, int rows, int columns) {
  const double size[3] = {0.2, 0.1, 0.1};
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns - r % 2; c++)
      put_box(w, "r", r * columns + c, 0.2 * (c + 0.5 * (r % 2)), 0.05 + 0.1 * r, size, 1000);
}

/* Four balls side by side and one on top, held by rough ground. */
static void put_balls(writer *w) {
  for (int k = 0; k < 5; k++) {
    const int row = k / 2;
    put(w, "  - {name: s%d, density: 1000, position: [%.17g, %.17g, %.17g], shapes: [{type: sphere, radius: 0.05}]}\n",
        k, k < 4 ? 0.1 * (k % 2) : 0.05, k < 4 ? 0.1 * row : 0.05, k < 4 ? 0.05 : 0.05 + 0.1 * sqrt(0.5));
  }
}

typedef struct cone_case {
  ss_cone cone;
  int directions;
} cone_case;

static const cone_case cones[] = {{SS_CONE_POLYHEDRAL, 4}, {SS_CONE_POLYHEDRAL, 8}, {SS_CONE_QUADRATIC, 8}};
enum { CONES = sizeof cones / sizeof *cones };

/* Runs `settle` steps, then `steps` more, which may take so many iterations each. */
static void rests(const writer *w, int settle, int steps, double per_solve, const char *what) {
  for (int c = 0; c < CONES; c++) {
    run r;
    run_parse(&r, w->text, &(change){.cone = cones[c].cone, .directions = cones[c].directions});
    for (int k = 0; k < settle; k++) run_step(&r);
    const ss_solves before = ss_sim_report(r.sim)->solves;
    for (int k = 0; k < steps; k++) run_step(&r);
    const ss_report *report = ss_sim_report(r.sim);
    const double solves = (double)(report->solves.count - before.count);
    assert_true(solves >= steps);
    check_below((double)(report->solves.iterations - before.iterations) / solves, per_solve, what);
    assert_int_equal(report->solves.fallbacks, before.fallbacks);
    assert_int_equal(report->solves.cuts, 0);
    check_below(report->certificate.complementarity, 1e-11, what);
    for (int b = 0; b < 2 && r.scene->n_bodies > b; b++) check_below(v3_norm(run_velocity(&r, b)), 1e-9, what);
    run_close(&r);
  }
}

static writer begin(void) {
  writer w = {.text = malloc(TEXT)};
  assert_non_null(w.text);
  put_head(&w);
  return w;
}

static void boxes_rest(void **state) {
  (void)state;
  const int sides[] = {2, 4};
  for (int i = 0; i < 2; i++) {
    writer w = begin();
    put_feet(&w, sides[i]);
    rests(&w, 2, 30, 1.2, "box");
    free(w.text);
  }
}

static void stacks_rest(void **state) {
  (void)state;
  writer w = begin();
  put_stack(&w, 10, 1000, 1000);
  rests(&w, 2, 30, 2, "stack of 10");
  free(w.text);
}

static void walls_rest(void **state) {
  (void)state;
  writer w = begin();
  put_wall(&w, 3, 3);
  rests(&w, 3, 20, 2, "wall");
  free(w.text);
}

static void balls_rest(void **state) {
  (void)state;
  writer w = begin();
  put_balls(&w);
  rests(&w, 3, 20, 6, "balls");
  free(w.text);
}

/* Bodies a million times heavier than their neighbours, at either end. */
static void tall_stacks_carry_heavy_bodies(void **state) {
  (void)state;
  const double ends[][2] = {{1000, 1000}, {1e9, 1000}, {1000, 1e9}};
  for (int i = 0; i < 3; i++) {
    writer w = begin();
    put_stack(&w, 50, ends[i][0], ends[i][1]);
    run r;
    run_parse(&r, w.text, NULL);
    for (int k = 0; k < 3; k++) run_step(&r);
    assert_true(ss_sim_report(r.sim)->certificate.certified);
    assert_int_equal(ss_sim_report(r.sim)->solves.cuts, 0);
    check_near(run_position(&r, 49).z, 9.9, 1e-6, "top of the stack");
    run_close(&r);
    free(w.text);
  }
}

/* Twelve orders of magnitude cannot be resolved by doubles: solved, or refused after few attempts. */
static void absurd_masses_are_refused_soon(void **state) {
  (void)state;
  writer w = begin();
  put_stack(&w, 2, 1000, 1e15);
  run r;
  run_parse(&r, w.text, NULL);
  ss_error error = {0};
  const ss_status status = ss_sim_step(r.sim, &error);
  if (status != SS_OK) {
    double h = 0;
    const char *text = strstr(error.message, "h = ");
    assert_int_equal(status, SS_ERROR_UNCERTIFIED);
    assert_non_null(text);
    assert_int_equal(sscanf(text, "h = %lf", &h), 1);
    assert_true(h >= 0.01 / 4096);
  }
  run_close(&r);
  free(w.text);
}

/* ---- the solvers by themselves ---- */

enum { FEET = 16 };

/* One rigid plate on frictionless feet: normal rows of rank three, w = N N^T z + g. */
typedef struct plate {
  double N[FEET][3], G[FEET * FEET], g[FEET], z[FEET];
  ss_block block;
  ss_cp cp;
} plate;

static void make_plate(plate *p) {
  for (int i = 0; i < FEET; i++) {
    p->N[i][0] = 1;
    p->N[i][1] = (i % 4 - 1.5) / 2;
    const int row = i / 4;
    p->N[i][2] = (row - 1.5) / 2;
    p->z[i] = 1 + 0.3 * sin(7 * i);
  }
  for (int i = 0; i < FEET; i++) {
    p->g[i] = 0;
    for (int j = 0; j < FEET; j++) {
      p->G[i * FEET + j] = p->N[i][0] * p->N[j][0] + p->N[i][1] * p->N[j][1] + p->N[i][2] * p->N[j][2];
      p->g[i] -= p->G[i * FEET + j] * p->z[j];
    }
  }
  p->block = (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = FEET};
}

/* Two plates side by side, so that the problem is large enough for the pattern, and falls apart in two. */
enum { TWO = 2 * FEET };

static void make_two(const plate *p, double *G, double *g, double *z) {
  for (int i = 0; i < TWO; i++) {
    g[i] = p->g[i % FEET];
    z[i] = p->z[i % FEET];
    for (int j = 0; j < TWO; j++) G[i * TWO + j] = i / FEET == j / FEET ? p->G[i % FEET * FEET + j % FEET] : 0;
  }
}

static void a_solution_is_left_as_it_is(void **state) {
  (void)state;
  plate p;
  double G[TWO * TWO], g[TWO], z[TWO], start[TWO];
  make_plate(&p);
  make_two(&p, G, g, z);
  const ss_block block = {.kind = SS_BLOCK_NONNEGATIVE, .size = TWO};
  const ss_cp cp = {.n = TWO, .n_blocks = 1, .G = G, .g = g, .blocks = &block};
  ss_cp_options options = ss_cp_options_default();
  options.solver = "active-set";
  ss_cp_workspace *w = new_workspace();
  ss_cp_result result;
  memcpy(start, z, sizeof z);
  assert_int_equal(ss_cp_solve(&cp, &options, true, z, w, &result, NULL), SS_OK);
  assert_int_equal(result.outcome, SS_SOLVED);
  assert_int_equal(result.iterations, 0);
  assert_memory_equal(z, start, sizeof z);
  ss_cp_workspace_destroy(w);
}

/* The change from the start lies in the range of G: nothing happens in the directions that G leaves open. */
static void redundant_rows_change_as_little_as_possible(void **state) {
  (void)state;
  plate p;
  double G[TWO * TWO], g[TWO], z[TWO], change_of[TWO];
  make_plate(&p);
  make_two(&p, G, g, z);
  for (int i = 0; i < TWO; i++) {
    change_of[i] = -(z[i] += 0.1 * cos(5 * i));
  }
  const ss_block block = {.kind = SS_BLOCK_NONNEGATIVE, .size = TWO};
  const ss_cp cp = {.n = TWO, .n_blocks = 1, .G = G, .g = g, .blocks = &block};
  ss_cp_options options = ss_cp_options_default();
  options.solver = "active-set";
  ss_cp_workspace *w = new_workspace();
  ss_cp_result result;
  assert_int_equal(ss_cp_solve(&cp, &options, true, z, w, &result, NULL), SS_OK);
  assert_int_equal(result.iterations, 1);
  assert_true(result.residual <= 1e-14);
  double total = 0;
  for (int i = 0; i < TWO; i++) total = fmax(total, fabs(change_of[i] += z[i]));
  assert_true(total > 1e-3);
  for (int half = 0; half < 2; half++) /* N^T N is diagonal for this plate: take out what lies in the range of N */
    for (int k = 0; k < 3; k++) {
      double along = 0, square = 0;
      for (int i = 0; i < FEET; i++) {
        along += p.N[i][k] * change_of[half * FEET + i];
        square += p.N[i][k] * p.N[i][k];
      }
      for (int i = 0; i < FEET; i++) change_of[half * FEET + i] -= along / square * p.N[i][k];
    }
  for (int i = 0; i < TWO; i++) check_below(fabs(change_of[i]), 1e-6 * total, "change across the range");
  ss_cp_workspace_destroy(w);
}

static double random_share(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-53;
}

/* A chain of groups in shuffled order, unsymmetric: factors in the envelope against the product with the matrix. */
static void envelopes_solve_what_they_factor(void **state) {
  (void)state;
  enum { N = 40 };
  uint64_t seed = 7;
  double G[N * N] = {0}, g[N] = {0}, z[N], w[N], A[N * N] = {0}, x[N];
  int shuffled[N], first[N], last[N];
  for (int i = 0; i < N; i++) shuffled[i] = i * 17 % N;
  for (int i = 0; i < N; i++)
    for (int j = i > 2 ? i - 2 : 0; j < N && j <= i + 2; j++)
      G[shuffled[i] * N + shuffled[j]] = i == j ? 3 : random_share(&seed) - 0.5;
  const ss_block block = {.kind = SS_BLOCK_NONNEGATIVE, .size = N};
  const ss_cp cp = {.n = N, .n_blocks = 1, .G = G, .g = g, .blocks = &block};
  ss_cp_workspace *workspace = new_workspace();
  pattern p;
  ss_error error;
  assert_int_equal(pattern_create(&cp, workspace, &p, &error), SS_OK);
  assert_int_equal(p.n, N);
  for (int k = 0; k < N; k++) {
    assert_int_equal(p.place[p.row[k]], k);
    assert_true(k - p.least[k] <= 4); /* neighbours stand together */
    first[k] = p.least[k];
    last[k] = k;
    z[p.row[k]] = random_share(&seed);
  }
  for (int k = 0; k < N; k++)
    for (int l = 0; l < k; l++)
      if (first[k] <= l) last[l] = k;
  pattern_apply(&p, &cp, z, w);
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int j = 0; j < N; j++) sum += G[i * N + j] * z[j];
    check_near(w[i], sum, 1e-14, "product");
    for (int j = 0; j < N; j++) A[p.place[i] * N + p.place[j]] = G[i * N + j];
    x[p.place[i]] = w[i];
  }
  assert_true(envelope_factor(A, N, first, last));
  envelope_solve(A, N, first, last, x);
  for (int i = 0; i < N; i++) check_near(x[p.place[i]], z[i], 1e-14, "solution");
  A[0] = 0;
  assert_false(envelope_factor(A, N, first, last));
  ss_cp_workspace_destroy(workspace);
}

/* Few rows, positive definite: solved on the first rung to rounding errors, whatever their number. */
static void tiny_lcps_take_one_rung(void **state) {
  (void)state;
  enum { LARGEST = 14 };
  uint64_t seed = 3;
  ss_cp_workspace *workspace = new_workspace();
  const ss_cp_options options = ss_cp_options_default();
  for (int n = 1; n <= LARGEST; n++)
    for (int trial = 0; trial < 20; trial++) {
      double B[LARGEST * LARGEST], G[LARGEST * LARGEST], g[LARGEST], z[LARGEST];
      for (int i = 0; i < n * n; i++) B[i] = random_share(&seed) - 0.5;
      for (int i = 0; i < n; i++) {
        g[i] = random_share(&seed) - 0.7;
        for (int j = 0; j < n; j++) {
          G[i * n + j] = i == j ? 0.1 : 0;
          for (int k = 0; k < n; k++) G[i * n + j] += B[i * n + k] * B[j * n + k];
        }
      }
      const ss_block block = {.kind = SS_BLOCK_NONNEGATIVE, .size = n};
      const ss_cp cp = {.n = n, .n_blocks = 1, .G = G, .g = g, .blocks = &block};
      ss_cp_result result;
      assert_int_equal(ss_cp_solve(&cp, &options, false, z, workspace, &result, NULL), SS_OK);
      assert_int_equal(result.outcome, SS_SOLVED);
      check_below(result.residual, 1e-14, "residual");
      if (n <= 12) assert_int_equal(result.fallbacks, 0);
    }
  ss_cp_workspace_destroy(workspace);
}

/* Murty's example 2.11 makes the active sets go round: the iteration sees it and ends before its limit. */
static void cycles_are_noticed(void **state) {
  (void)state;
  const double G[] = {1, 2, 0, 0, 1, 2, 2, 0, 1}, g[] = {-1, -1, -1};
  const ss_block block = {.kind = SS_BLOCK_NONNEGATIVE, .size = 3};
  const ss_cp cp = {.n = 3, .n_blocks = 1, .G = G, .g = g, .blocks = &block};
  ss_cp_workspace *workspace = new_workspace();
  ss_cp_result result;
  double z[3];
  const ss_cp_options options = {.solver = "active-set", .tolerance = 1e-10, .iteration_limit = 100};
  assert_int_equal(ss_cp_solve(&cp, &options, false, z, workspace, &result, NULL), SS_OK);
  assert_true(result.iterations < 8);
  const ss_cp_options ladder = ss_cp_options_default();
  assert_int_equal(ss_cp_solve(&cp, &ladder, false, z, workspace, &result, NULL), SS_OK);
  assert_int_equal(result.outcome, SS_SOLVED);
  ss_cp_workspace_destroy(workspace);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_rest),
      cmocka_unit_test(stacks_rest),
      cmocka_unit_test(walls_rest),
      cmocka_unit_test(balls_rest),
      cmocka_unit_test(tall_stacks_carry_heavy_bodies),
      cmocka_unit_test(absurd_masses_are_refused_soon),
      cmocka_unit_test(a_solution_is_left_as_it_is),
      cmocka_unit_test(redundant_rows_change_as_little_as_possible),
      cmocka_unit_test(envelopes_solve_what_they_factor),
      cmocka_unit_test(tiny_lcps_take_one_rung),
      cmocka_unit_test(cycles_are_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
