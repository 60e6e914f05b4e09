#include "solve_diagnosis.h"

#include <stdio.h>
#include <stdlib.h>

bool diagnosis_is_cheap(const ss_cp *problem) { return problem->n <= 24; }

static json_t *answer(ss_answer a) { return a == SS_UNKNOWN ? json_null() : json_boolean(a == SS_YES); }

json_t *diagnosis_json(const ss_cp_diagnosis *d) {
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:b, s:o, s:o, s:o}", "solutions",
                   ss_solution_set_name(d->solutions), "reason", d->reason, "symmetric", answer(d->symmetric),
                   "positive_definite", answer(d->positive_definite), "positive_semidefinite",
                   answer(d->positive_semidefinite), "lcp_variables", d->variables, "p_matrix", answer(d->p),
                   "copositive", answer(d->copositive), "strictly_copositive", answer(d->strictly_copositive), "ray",
                   (int)d->ray, "found", d->found < 0 ? json_null() : json_integer(d->found), "continuum",
                   d->found < 0 ? json_null() : json_boolean(d->continuum), "same_w",
                   d->found < 0 ? json_null() : json_boolean(d->same_w));
}

void print_diagnosis(const char *path, const ss_cp_diagnosis *d) {
  (void)printf("%s: G symmetric %s, positive definite %s, semi-definite %s", path, ss_answer_name(d->symmetric),
               ss_answer_name(d->positive_definite), ss_answer_name(d->positive_semidefinite));
  if (d->variables)
    (void)printf("; LCP of %d: P %s, copositive %s, strictly %s%s", d->variables, ss_answer_name(d->p),
                 ss_answer_name(d->copositive), ss_answer_name(d->strictly_copositive),
                 d->ray ? "; Lemke's method ends on a ray" : "");
  (void)printf("\n%s: solutions: %s (%s)", path, ss_solution_set_name(d->solutions), d->reason);
  if (d->found > 0)
    (void)printf(", %d found%s", d->found,
                 d->found < 2 && !d->continuum ? ""
                 : d->same_w                   ? ", all with the same w"
                                               : "");
  (void)printf("\n");
}

static ss_cp_state *list_states(const ss_cp *problem, const double *z, const double *w, int *count) {
  ss_cp_state *states = calloc((size_t)problem->n + 1, sizeof *states);
  *count = states ? ss_cp_states(problem, z, w, states) : 0;
  return states;
}

json_t *states_json(const ss_cp *problem, const double *z, const double *w) {
  int count;
  ss_cp_state *states = list_states(problem, z, w, &count);
  json_t *list = states ? json_array() : NULL;
  for (int i = 0; list && i < count; i++) (void)json_array_append_new(list, json_string(ss_cp_state_name(states[i])));
  free(states);
  return list;
}

void print_states(const ss_cp *problem, const double *z, const double *w) {
  int count;
  ss_cp_state *states = list_states(problem, z, w, &count);
  for (int i = 0; i < count; i++) (void)printf(" %s", ss_cp_state_name(states[i]));
  free(states);
}
