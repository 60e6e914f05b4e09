/* Velocities as free rows: [A -J^T; J 0], which has nothing on the diagonal of the contacts. Large and sparse, and with
 * joints that stay; the answer is that of the problem in which they are eliminated. */
#include "cp_suite.h"

#include "../bench/heap.h"
#include "cp/storage.h"

/* The packing's problem with its velocities in front; the first `joints` bodies do not turn after the step, by
 * equations. */
typedef struct saddle {
  ss_cp cp;
  ss_sparse G;
  ss_block *blocks;
  int *start, *col;
  double *value, *g, *z;
} saddle;

static void put(saddle *s, int *at, int col, double value) {
  s->col[*at] = col;
  s->value[(*at)++] = value;
}

static saddle make_saddle(const packing *p, int joints) {
  const int m = 6 * p->spheres, held = 3 * joints, n = m + held + p->cp.n, entries = p->start[p->cp.n];
  const size_t most = 36 * (size_t)p->spheres + 2 * (size_t)entries + 2 * (size_t)held + 1;
  saddle s = {.blocks = calloc((size_t)p->contacts + 2, sizeof *s.blocks)};
  s.start = calloc((size_t)n + 1, sizeof *s.start);
  s.col = calloc(most, sizeof *s.col);
  s.value = calloc(most, sizeof *s.value);
  s.g = calloc(2 * (size_t)n, sizeof *s.g);
  ss_sparse Jt;
  assert_true(s.blocks && s.start && s.col && s.value && s.g);
  assert_int_equal(sparse_transpose(&p->factors.J, workspace, &Jt, NULL), SS_OK);
  s.z = s.g + n;
  int at = 0;
  for (int i = 0; i < m; i++) {
    s.start[i] = at;
    for (int k = 0; k < 6; k++) {
      const double a = p->A[36 * (i / 6) + 6 * (i % 6) + k];
      if (a != 0) put(&s, &at, i / 6 * 6 + k, a);
    }
    if (i / 6 < joints && i % 6 >= 3) put(&s, &at, m + i / 6 * 3 + i % 6 - 3, -1);
    for (int k = Jt.start[i]; k < Jt.start[i + 1]; k++) put(&s, &at, m + held + Jt.col[k], -Jt.value[k]);
  }
  for (int i = 0; i < held; i++) {
    s.start[m + i] = at;
    put(&s, &at, i / 3 * 6 + 3 + i % 3, 1);
    s.g[m + i] = p->v[i / 3 * 6 + 3 + i % 3];
  }
  for (int i = 0; i < p->cp.n; i++) {
    s.start[m + held + i] = at;
    s.g[m + held + i] = p->g[i];
    for (int k = p->start[i]; k < p->start[i + 1]; k++) put(&s, &at, p->col[k], p->J[k]);
  }
  s.start[n] = at;
  s.G = (ss_sparse){n, n, s.start, s.col, s.value};
  int count = 0;
  s.blocks[count++] = (ss_block){.kind = SS_BLOCK_FREE, .size = m + held};
  for (int c = 0; c < p->contacts; c++) {
    s.blocks[count] = p->blocks[c];
    s.blocks[count++].first += m + held;
  }
  s.cp = (ss_cp){.n = n, .n_blocks = count, .g = s.g, .blocks = s.blocks};
  return s;
}

static void free_saddle(saddle *s) {
  free(s->blocks);
  free(s->start);
  free(s->col);
  free(s->value);
  free(s->g);
}

static packing heap(int spheres, double mu) {
  packing p;
  const heap_spec spec = {.spheres = spheres,
                          .slenderness = 1,
                          .spread = 1.5,
                          .density = 2,
                          .skin = 0.02,
                          .mu = mu,
                          .shaking = 0.3,
                          .seed = 7};
  assert_true(heap_create(&p, &spec));
  return p;
}

typedef struct saddle_case {
  int spheres, joints;
  double mu;
  int least_rows;
} saddle_case;

static void solve_saddle(void **state) {
  const saddle_case *c = *state;
  packing p = heap(c->spheres, c->mu);
  saddle s = make_saddle(&p, c->joints);
  s.cp.sparse = &s.G;
  assert_true(s.cp.n >= c->least_rows);
  assert_int_equal(ss_cp_validate(&s.cp, NULL), SS_OK);
  const ss_cp_options options = ss_cp_options_default();
  ss_cp_result r;
  for (int warm = 0; warm < 2; warm++) { /* again from its own solution */
    assert_int_equal(ss_cp_solve(&s.cp, &options, warm, s.z, workspace, &r, NULL), SS_OK);
    assert_int_equal(r.outcome, SS_SOLVED);
    assert_true(r.residual == ss_cp_judge(&s.cp, s.z, NULL) && r.residual <= options.tolerance);
  }
  if (c->joints == 0) { /* the impulses solve the problem without velocities */
    p.cp.factors = &p.factors;
    assert_true(ss_cp_judge(&p.cp, s.z + 6 * p.spheres, NULL) <= 10 * options.tolerance);
  }
  free_saddle(&s);
  packing_free(&p);
}

/* Rows that look at velocities which do not feel them: multiples of the velocities' rows give them no diagonal, and posing the problem
 * anew leads to the same problem without end. The velocities are coupled to one large group. */
static void no_diagonal_to_be_had(void **state) {
  (void)state;
  enum { FREE = 230, BOUND = 30, N = FREE + BOUND };
  int start[N + 1] = {0}, col[4 * N], count = 0;
  double value[4 * N], g[N], z[N] = {0};
  for (int i = 0; i < N; i++) {
    const int from = i < FREE ? (i ? i - 1 : 0) : 7 * (i - FREE);
    const int to = i < FREE ? (i + 1 < FREE ? i + 1 : i) : from;
    for (int j = from; j <= to; j++) {
      col[count] = j;
      value[count++] = i == j ? 2.5 : i < FREE ? -1 : 1;
    }
    start[i + 1] = count;
    g[i] = i < FREE ? cos(i) : 10;
  }
  const ss_sparse G = {N, N, start, col, value};
  const ss_block blocks[] = {{.kind = SS_BLOCK_FREE, .size = FREE},
                             {.kind = SS_BLOCK_NONNEGATIVE, .first = FREE, .size = BOUND}};
  const ss_cp cp = {.n = N, .n_blocks = 2, .g = g, .blocks = blocks, .sparse = &G};
  const ss_cp_options options = ss_cp_options_default();
  ss_cp_result r;
  assert_int_equal(ss_cp_solve(&cp, &options, false, z, workspace, &r, NULL), SS_OK);
  assert_int_equal(r.outcome, SS_SOLVED);
  for (int i = FREE; i < N; i++) assert_true(z[i] == 0);
}

int main(void) {
  static saddle_case heaps[] = {{60, 0, 0.4, 600}, {220, 0, 0.3, 3000}}, frictionless = {60, 0, 0, 600},
                     joints = {140, 20, 0.4, 2000}, few_rows = {8, 1, 0.5, 50}; /* dense, small: by the ladder */
  const struct CMUnitTest tests[] = {{"a_heap", solve_saddle, NULL, NULL, &heaps[0]},
                                     {"a_large_heap", solve_saddle, NULL, NULL, &heaps[1]},
                                     {"without_friction", solve_saddle, NULL, NULL, &frictionless},
                                     {"with_joints", solve_saddle, NULL, NULL, &joints},
                                     {"few_rows", solve_saddle, NULL, NULL, &few_rows},
                                     cmocka_unit_test(no_diagonal_to_be_had)};
  return CP_SUITE("cp_saddle", tests);
}
