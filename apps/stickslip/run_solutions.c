#include "run_solutions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- enumeration of one problem ---- */

/* Solutions with the same w = G z + g are one motion: for a positive semi-definite G the velocities after the step agree. */
typedef struct collection {
  const ss_cp *problem;
  const double *applied;
  double *w, *z;     /* [BRANCHES_KEPT + 1][n] */
  double *applied_w; /* [n] */
  int motions;       /* kept ones, at most BRANCHES_KEPT */
} collection;

static bool same(const ss_cp *problem, const double *a, const double *b) {
  double difference = 0, size = 0;
  for (int i = 0; i < problem->n; i++) {
    difference = fmax(difference, fabs(a[i] - b[i]));
    size = fmax(size, fabs(problem->g[i]));
  }
  return difference <= 1e-6 * size;
}

static void on_solution(void *user, const double *z) {
  collection *c = user;
  const int n = c->problem->n;
  if (c->motions == BRANCHES_KEPT) return;
  double *w = c->w + (size_t)c->motions * (size_t)n;
  (void)ss_cp_judge(c->problem, z, w);
  for (int k = 0; k < c->motions; k++)
    if (same(c->problem, w, c->w + (size_t)k * (size_t)n)) return;
  memcpy(c->z + (size_t)c->motions * (size_t)n, z, sizeof(double) * (size_t)n);
  c->motions++;
}

/* ---- what a solution means for a contact ---- */

static branch_contact describe(const ss_block *block, const double *z, const double *w) {
  branch_contact contact = {.kind = "open", .size = block->size};
  double slip = 0, speed = 0;
  for (int i = 0; i < block->size; i++) {
    contact.impulse[i] = z[block->first + i];
    contact.velocity[i] = w[block->first + i];
    if (i) slip = fmax(slip, fabs(contact.velocity[i]));
    speed = fmax(speed, fabs(contact.velocity[i]));
  }
  if (contact.impulse[0] > 0) contact.kind = block->size > 1 && slip > 1e-9 * (1 + speed) ? "slides" : "sticks";
  return contact;
}

static ss_status keep_branches(solution_study *s, const ss_sim *sim, const collection *c, ss_error *error) {
  const int n = ss_sim_contacts(sim, NULL, 0), first = c->problem->n_blocks - n;
  ss_contact_report *reports = calloc((size_t)n + 1, sizeof *reports);
  s->between = calloc((size_t)n + 1, sizeof *s->between);
  if (!reports || !s->between) {
    free(reports);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  (void)ss_sim_contacts(sim, reports, n);
  for (int i = 0; i < n; i++) memcpy(s->between[i], reports[i].body, sizeof s->between[i]);
  free(reports);
  s->t = ss_sim_state(sim)->t;
  s->n_contacts = n;
  for (int k = 0; k < c->motions; k++) {
    const double *z = c->z + (size_t)k * (size_t)c->problem->n, *w = c->w + (size_t)k * (size_t)c->problem->n;
    branch *b = &s->branches[s->n_branches];
    b->contacts = calloc((size_t)n + 1, sizeof *b->contacts);
    if (!b->contacts) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    b->applied = same(c->problem, w, c->applied_w);
    for (int i = 0; i < n; i++) b->contacts[i] = describe(&c->problem->blocks[first + i], z, w);
    s->n_branches++;
  }
  return SS_OK;
}

static ss_status on_problem(void *user, const ss_sim *sim, const ss_cp *problem, const double *z, ss_error *error) {
  solution_study *s = user;
  const size_t n = (size_t)problem->n;
  double *memory = calloc(n * (2 * BRANCHES_KEPT + 3), sizeof *memory);
  if (!memory) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  collection c = {problem, z, memory, memory + n * (BRANCHES_KEPT + 1), memory + n * (2 * BRANCHES_KEPT + 2), 0};
  (void)ss_cp_judge(problem, z, c.applied_w);
  int count = 0;
  ss_status status = ss_cp_all_solutions(problem, s->tolerance, s->workspace, on_solution, &c, &count, error);
  if (status == SS_ERROR_UNSUPPORTED) {
    s->not_enumerated++;
    status = SS_OK;
  } else if (!status) {
    s->problems++;
    s->several += c.motions > 1;
    if (c.motions > s->most) s->most = c.motions;
    if (c.motions > 1 && s->n_branches == 0) status = keep_branches(s, sim, &c, error);
  }
  free(memory);
  return status;
}

static ss_status on_step(void *user, const ss_sim *sim, ss_error *error) {
  (void)user, (void)sim, (void)error;
  return SS_OK;
}

ss_status solutions_start(solution_study *s, ss_sim *sim, ss_error *error) {
  s->tolerance = ss_sim_options(sim)->residual;
  const ss_status status = ss_cp_workspace_create(&s->workspace, error);
  if (status) return status;
  const ss_observer observer = {.user = s, .step = on_step, .problem = on_problem};
  return ss_sim_observe(sim, &observer, error);
}

void solutions_release(solution_study *s) {
  for (int k = 0; k < s->n_branches; k++) free(s->branches[k].contacts);
  free(s->between);
  ss_cp_workspace_destroy(s->workspace);
  *s = (solution_study){0};
}

/* ---- output ---- */

static void print_branch(const solution_study *s, const ss_model *model, int k) {
  const branch *b = &s->branches[k];
  for (int i = 0; i < s->n_contacts; i++) {
    const branch_contact *c = &b->contacts[i];
    (void)printf("            %s%-2d %s - %s %-7s impulse",
                 i            ? "  "
                 : b->applied ? "* "
                              : "  ",
                 k + 1, ss_model_body_name(model, s->between[i][0]), ss_model_body_name(model, s->between[i][1]),
                 c->kind);
    for (int j = 0; j < c->size; j++) (void)printf(" %10.4g", c->impulse[j]);
    (void)printf("   velocity");
    for (int j = 0; j < c->size; j++) (void)printf(" %10.4g", c->velocity[j]);
    (void)printf("\n");
  }
}

void solutions_print_text(const solution_study *s, const ss_model *model) {
  (void)printf("  solutions %ld problems enumerated, %ld of them with several motions (%d at most)", s->problems,
               s->several, s->most);
  if (s->not_enumerated) (void)printf(", %ld could not be (too large, or discs of friction)", s->not_enumerated);
  (void)printf("\n");
  if (!s->n_branches) return;
  (void)printf("            the first of them at t = %.9g (* is the one taken; normal first, then friction):\n", s->t);
  for (int k = 0; k < s->n_branches; k++) print_branch(s, model, k);
}

static json_t *branch_json(const solution_study *s, const ss_model *model, const branch *b) {
  json_t *contacts = json_array();
  for (int i = 0; contacts && i < s->n_contacts; i++) {
    const branch_contact *c = &b->contacts[i];
    json_t *entry =
        json_pack("{s:[o, o], s:s, s:o, s:o}", "between", json_text(ss_model_body_name(model, s->between[i][0])),
                  json_text(ss_model_body_name(model, s->between[i][1])), "kind", c->kind, "impulse",
                  json_numbers(c->impulse, c->size), "velocity", json_numbers(c->velocity, c->size));
    if (json_array_append_new(contacts, entry)) return NULL;
  }
  return json_pack("{s:b, s:o}", "applied", b->applied, "contacts", contacts);
}

json_t *solutions_json(const solution_study *s, const ss_model *model) {
  json_t *branches = json_array();
  for (int k = 0; branches && k < s->n_branches; k++)
    if (json_array_append_new(branches, branch_json(s, model, &s->branches[k]))) return NULL;
  return json_pack("{s:I, s:I, s:I, s:i, s:o, s:o}", "problems", (json_int_t)s->problems, "not_enumerated",
                   (json_int_t)s->not_enumerated, "several", (json_int_t)s->several, "most", s->most, "first",
                   s->n_branches ? json_number(s->t) : json_null(), "branches", branches);
}
