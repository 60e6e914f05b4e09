/* stickslip bvp: boundary-value problems. */
#include "commands.h"
#include "json.h"
#include "output.h"
#include "session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_SIZE = 300 };

static json_t *velocities_json(const session *s, const double *unknown) {
  json_t *map = json_object();
  for (int i = 0; map && i < s->scene->boundary.n_unknown; i++) {
    char name[NAME_SIZE];
    ss_quantity_name(s->scene, &s->scene->boundary.unknown[i], name, sizeof name);
    if (json_object_set_new(map, name, json_number(unknown[i]))) return NULL;
  }
  return map;
}

static json_t *solution_json(const session *s, const ss_bvp_result *r, const ss_bvp_solution *solution) {
  return json_pack("{s:o, s:o, s:o, s:o}", "velocities", velocities_json(s, solution->unknown), "residual",
                   json_number(solution->residual), "conditions", json_numbers(solution->conditions, r->n_conditions),
                   "method", json_text(solution->method));
}

static json_t *conditions_json(const session *s) {
  json_t *list = json_array();
  for (int i = 0; list && i < s->scene->boundary.n_conditions; i++)
    if (json_array_append_new(list, json_text(s->scene->boundary.conditions[i].text))) return NULL;
  return list;
}

static json_t *solutions_json(const session *s, const ss_bvp_result *r) {
  json_t *list = json_array();
  for (int i = 0; list && i < r->n_solutions; i++)
    if (json_array_append_new(list, solution_json(s, r, &r->solutions[i]))) return NULL;
  return list;
}

static int print_json(const session *s, const ss_bvp_result *r, double seconds) {
  const ss_bvp_contraction *c = &r->contraction;
  return json_print(json_pack("{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:{s:b, s:o, s:o, s:o, s:o}, s:I, s:o}", "scene",
                              json_text(session_name(s)), "scheme", json_text(s->simulation.scheme), "conditions",
                              conditions_json(s), "found", r->n_solutions > 0, "solutions", solutions_json(s, r),
                              "best", solution_json(s, r, &r->best), "reason", json_text(r->reason), "contraction",
                              "applies", c->applies, "psi", json_number(c->psi), "growth", json_number(c->growth),
                              "bound", json_number(c->bound), "observed", json_number(c->observed), "simulations",
                              (json_int_t)r->simulations, "wall_seconds", json_number(seconds)));
}

static void print_solution(const session *s, const ss_bvp_solution *solution) {
  for (int i = 0; i < s->scene->boundary.n_unknown; i++) {
    char name[NAME_SIZE];
    ss_quantity_name(s->scene, &s->scene->boundary.unknown[i], name, sizeof name);
    (void)printf("    %-20s = %.12g\n", name, solution->unknown[i]);
  }
  for (int i = 0; i < s->scene->boundary.n_conditions; i++)
    (void)printf("    %-40s %+.1e\n", s->scene->boundary.conditions[i].text, solution->conditions[i]);
}

static void print_text(const session *s, const ss_bvp_result *r, double seconds) {
  (void)printf("%s\n  %s, step %.6g, duration %.6g: %ld simulations in %.3g s\n\n", session_name(s),
               s->simulation.scheme, s->simulation.step, s->simulation.duration, r->simulations, seconds);
  for (int i = 0; i < r->n_solutions; i++) {
    (void)printf("  SOLUTION %d of %d, residual %.1e (%s)\n", i + 1, r->n_solutions, r->solutions[i].residual,
                 r->solutions[i].method);
    print_solution(s, &r->solutions[i]);
  }
  if (r->n_solutions == 0) {
    (void)printf("  NONE FOUND: %s\n  best residual %.3g\n", r->reason, r->best.residual);
    print_solution(s, &r->best);
  }
  const ss_bvp_contraction *c = &r->contraction;
  if (isfinite(c->observed))
    (void)printf("\n  contraction  a fixed-point step changes differences by a factor %.3g near the best point\n",
                 c->observed);
  else
    (void)printf(
        "\n  contraction  no fixed-point step: the conditions do not determine the velocities of free flight\n");
  if (c->applies)
    (void)printf("               BVP (28): exp(T psi) = %.3g %s %.3g%s\n", c->growth,
                 c->growth < c->bound ? "<" : ">=", c->bound,
                 c->growth < c->bound ? ": a solution exists" : ": the estimate promises nothing");
  else
    (void)printf("               BVP (28) does not apply: M_v + N_v is singular\n");
}

/* Solves and tells; returns the exit code. */
static int solve(const session *s, const overrides *o, const char *output, bool json) {
  ss_bvp_result *result = NULL;
  ss_error error = {0};
  const double start = wall_clock();
  ss_status status = ss_bvp_solve(s->scene, &s->simulation, o->set.items, o->set.n, &result, &error);
  if (status) return report_error(&error);
  const double seconds = wall_clock() - start;
  int code = EXIT_DONE;
  if (json)
    code = print_json(s, result, seconds);
  else
    print_text(s, result, seconds);
  if (result->n_solutions > 0 && output) {
    status = ss_bvp_write_scene(s->scene, &s->simulation, o->set.items, o->set.n, result->solutions[0].unknown, output,
                                &error);
    if (status) code = report_error(&error);
  }
  if (result->n_solutions == 0 && code == EXIT_DONE) code = EXIT_FAILED;
  ss_bvp_result_destroy(result);
  return code;
}

int command_bvp(int argc, char **argv) {
  bool json = false;
  const char *output = NULL, *path = NULL;
  overrides o = overrides_none();
  const option options[] = {
      {"o", OPTION_TEXT, &output, "SOLVED.yaml", "write the scene with the velocities found: run reproduces them"},
      {"scheme", OPTION_TEXT, &o.scheme, "S", "another time-stepping scheme"},
      {"step", OPTION_NUMBER, &o.step, "H", "another step size"},
      {"duration", OPTION_NUMBER, &o.duration, "T", "another final time"},
      {"solver", OPTION_TEXT, &o.solver, "X", "another complementarity solver"},
      {"set", OPTION_LIST, &o.set, "NAME=VALUE", "override a declared parameter; may be repeated"},
      {"json", OPTION_FLAG, &json, NULL, "print one JSON object"},
      {0}};
  const usage command_line = {
      "bvp",
      "SCENE",
      1,
      1,
      "Finds the unknown initial velocities of the scene's section `boundary` for which the conditions hold at the "
      "end.\n"
      "Several starts; from each an accelerated fixed point, then Powell's hybrid method. Where nothing is found the\n"
      "best residual and the reason are printed, and the exit code is 1.",
      options,
      "  stickslip bvp scenes/bvp-puck.yaml\n  stickslip bvp scenes/bvp-throw.yaml -o solved.yaml && stickslip run "
      "solved.yaml\n"};
  int code = parse_options(&command_line, argc, argv, &path);
  if (code == PARSE_GO_ON && (outputs_are_files(&path, 1, &output, 1) || output_check(output))) code = EXIT_USAGE;
  if (code == PARSE_GO_ON) {
    session s = {0};
    ss_error error = {0};
    const ss_status status = session_open(&s, path, &o, &error);
    code = status ? report_error(&error) : solve(&s, &o, output, json);
    session_close(&s);
  }
  free((void *)o.set.items);
  return code;
}
