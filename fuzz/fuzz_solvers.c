/* Small problems of every kind, ill-conditioned, singular and with numbers that are none, to the solvers. The judge is
 * the oracle: what is called solved is within the tolerance, what is returned is finite, and no problem of small integers
 * that somebody solves is said to have no solution. */
#include <stickslip/cp.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 9 };

typedef struct input {
  const uint8_t *at, *end;
} input;

static uint8_t byte(input *in) { return in->at < in->end ? *in->at++ : 0; }

typedef enum numbers { INTEGERS, RAW, SCALED, LOW_RANK, NUMBER_MODES } numbers;

static double number(input *in, numbers mode) {
  if (mode == RAW) {
    uint64_t bits = 0;
    double x;
    for (int i = 0; i < 8; i++) bits = bits << 8 | byte(in);
    memcpy(&x, &bits, sizeof x);
    return x;
  }
  const int b = byte(in);
  if (mode == SCALED) return ldexp((b & 15) - 8, (int8_t)byte(in) / 2);
  return (b & 15) - 8;
}

static ss_block block(input *in, int rows, numbers mode) {
  ss_block b = {.kind = (ss_block_kind)(byte(in) & 3), .size = 1};
  if (b.kind == SS_BLOCK_BOX) {
    b.lower = byte(in) & 1 ? -HUGE_VAL : -(double)(byte(in) & 7);
    b.upper = byte(in) & 1 ? HUGE_VAL : byte(in) & 7;
  }
  if (b.kind != SS_BLOCK_FRICTION) return b;
  b.cone = (ss_cone)(byte(in) % 3);
  b.size = 2 + byte(in) % (b.cone == SS_CONE_POLYHEDRAL ? 2 : SS_FRICTION_ROWS - 1);
  if (b.size > rows) {
    b = (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = 1};
    return b;
  }
  b.directions = 4 + 2 * (byte(in) & 3);
  b.mu = mode == INTEGERS ? byte(in) % 3 : (byte(in) & 15) / 8.0;
  b.extra = byte(in) & 4 ? byte(in) & 3 : 0;
  return b;
}

typedef struct problem {
  ss_cp cp;
  double G[MOST_ROWS * MOST_ROWS], g[MOST_ROWS];
  ss_block blocks[MOST_ROWS];
} problem;

static numbers build(input *in, problem *p) {
  const numbers mode = (numbers)(byte(in) % NUMBER_MODES);
  const int n = 1 + byte(in) % MOST_ROWS;
  *p = (problem){.cp = {.n = n}};
  for (int row = 0; row < n; row += p->blocks[p->cp.n_blocks - 1].size) {
    ss_block *b = &p->blocks[p->cp.n_blocks++];
    *b = block(in, n - row, mode);
    b->first = row;
  }
  if (mode == LOW_RANK) {
    double J[MOST_ROWS * 4], v[4];
    for (int i = 0; i < 4 * n; i++) J[i] = number(in, INTEGERS);
    for (int k = 0; k < 4; k++) v[k] = number(in, INTEGERS);
    for (int i = 0; i < n; i++)
      for (int k = 0; k < 4; k++) {
        p->g[i] += J[4 * i + k] * v[k];
        for (int j = 0; j < n; j++) p->G[i * n + j] += J[4 * i + k] * J[4 * j + k];
      }
  } else {
    for (int i = 0; i < n * n; i++) p->G[i] = number(in, mode);
    for (int i = 0; i < n; i++) p->g[i] = number(in, mode);
  }
  p->cp.G = p->G;
  p->cp.g = p->g;
  p->cp.blocks = p->blocks;
  return mode;
}

static void expect(bool truth) {
  if (!truth) abort();
}

/* Runs one solver; true where it has solved the problem. */
static bool solve(const problem *p, const char *solver, int limit, bool warm, double *z, ss_cp_workspace *w) {
  ss_cp_options options = ss_cp_options_default();
  options.solver = solver;
  options.iteration_limit = limit;
  ss_cp_result r;
  ss_error error;
  expect(ss_cp_solve(&p->cp, &options, warm, z, w, &r, &error) == SS_OK);
  if (r.outcome == SS_NOT_ADMITTED) return false;
  for (int i = 0; i < p->cp.n; i++) expect(isfinite(z[i]));
  expect(r.residual == ss_cp_judge(&p->cp, z, NULL));
  if (r.outcome == SS_SOLVED) expect(r.residual <= options.tolerance);
  return r.outcome == SS_SOLVED;
}

static const char *solver_number(int k) {
  const ss_cp_solver_info *all = ss_cp_solvers();
  int count = 0;
  while (all[count].name) count++;
  return all[k % count].name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, data + size};
  problem p;
  const int choice = byte(&in), limit = byte(&in) == 255 ? 0 : 100; /* mostly short: so many more problems are tried */
  const numbers mode = build(&in, &p);
  const bool valid = ss_cp_validate(&p.cp, NULL) == SS_OK;
  ss_cp_workspace *w = NULL;
  if (ss_cp_workspace_create(&w, NULL)) return 0;
  double z[MOST_ROWS] = {0};
  const char *solver = solver_number(choice);
  bool solved = solve(&p, solver, limit, false, z, w);
  solved |= solve(&p, solver, limit, true, z, w);
  expect(valid || !solved);
  if (valid && solved) {
    ss_cp_diagnosis d;
    ss_error error;
    expect(ss_cp_diagnose(&p.cp, 1e-10, 256, w, &d, &error) == SS_OK);
    if (mode == INTEGERS) expect(d.solutions != SS_SET_NONE);
  }
  ss_cp_workspace_destroy(w);
  return 0;
}
