/* Names for what a solution says: the states of rows and contacts, and the words of the diagnosis. */
#include <stickslip/cp.h>

#include <math.h>

const char *ss_cp_state_name(ss_cp_state state) {
  static const char *const names[] = {"open", "active", "lower", "between", "upper", "sticks", "slides"};
  return (int)state >= 0 && state <= SS_STATE_SLIDES ? names[state] : "unknown";
}

const char *ss_answer_name(ss_answer answer) { return answer == SS_YES ? "yes" : answer == SS_NO ? "no" : "unknown"; }

const char *ss_solution_set_name(ss_solution_set set) {
  static const char *const names[] = {"unknown", "none", "at-least-one", "one", "several"};
  return (int)set >= 0 && set <= SS_SET_SEVERAL ? names[set] : "unknown";
}

static ss_cp_state friction_state(const ss_block *block, const double *z, const double *w, double still) {
  if (!(z[0] + block->extra > 0)) return SS_STATE_OPEN;
  for (int i = 1; i < block->size; i++)
    if (fabs(w[i]) > still) return SS_STATE_SLIDES;
  return SS_STATE_STICKS;
}

int ss_cp_states(const ss_cp *problem, const double *z, const double *w, ss_cp_state *states) {
  double largest = 0;
  int count = 0;
  for (int i = 0; i < problem->n; i++) largest = fmax(largest, fmax(fabs(w[i]), fabs(problem->g[i])));
  const double still = 1e-9 * largest;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int i = block->first;
    if (block->kind == SS_BLOCK_FRICTION)
      states[count++] = friction_state(block, z + i, w + i, still);
    else if (block->kind == SS_BLOCK_BOX)
      states[count++] = z[i] <= block->lower   ? SS_STATE_LOWER
                        : z[i] >= block->upper ? SS_STATE_UPPER
                                               : SS_STATE_BETWEEN;
    for (int k = i; block->kind == SS_BLOCK_NONNEGATIVE && k < i + block->size; k++)
      states[count++] = z[k] > 0 ? SS_STATE_ACTIVE : SS_STATE_OPEN;
  }
  return count;
}
