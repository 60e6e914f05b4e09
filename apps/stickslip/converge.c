/* stickslip converge: errors and observed order over a range of step sizes, for one or several schemes. */
#include "converge.h"
#include "commands.h"
#include "output.h"
#include "ranks.h"
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without --reference: so much finer than the finest step that a first-order reference shifts the observed order by
 * less than 0.05. */
static const double REFERENCE_REFINEMENT = 16;

typedef struct converge_options {
  overrides overrides;
  const char *scene, *steps, *schemes, *reference_scheme, *html;
  double reference, alpha, gamma; /* NAN: not given */
  long threads;
  bool json;
} converge_options;

static int parse_converge(int argc, char **argv, converge_options *o) {
  const option options[] = {
      {"steps", OPTION_TEXT, &o->steps, "H1:HN", "halvings from H1 to HN, e.g. 2^-5:2^-11; or a list H1,H2,..."},
      {"reference", OPTION_NUMBER, &o->reference, "H", "step of the reference run (default: finest step / 16)"},
      {"schemes", OPTION_TEXT, &o->schemes, "A,B|all", "schemes to compare (default: the scene's)"},
      {"reference-scheme", OPTION_TEXT, &o->reference_scheme, "S",
       "scheme of the reference run (default: the scheme itself; with several schemes, trapezoidal)"},
      {"duration", OPTION_NUMBER, &o->overrides.duration, "T", "simulated time"},
      {"solver", OPTION_TEXT, &o->overrides.solver, "X", "complementarity solver (stickslip list solvers)"},
      {"alpha", OPTION_NUMBER, &o->alpha, "A", "weight of the velocities (scheme gavrea)"},
      {"gamma", OPTION_NUMBER, &o->gamma, "G", "weight of the position update (scheme gavrea)"},
      {"events", OPTION_TEXT, &o->overrides.events, "KINDS",
       "events to be located: collision,stick-slip,take-off,facet or some of them; none"},
      {"set", OPTION_LIST, &o->overrides.set, "NAME=VALUE", "override a declared parameter; may be repeated"},
      {"json", OPTION_FLAG, &o->json, NULL, "print one JSON object"},
      {"threads", OPTION_COUNT, &o->threads, "N", "do N rows at a time (default: 1, so that the times tell)"},
      {"html", OPTION_TEXT, &o->html, "OUT.html", "write the study as a document, like stickslip report"},
      {0}};
  const usage command_line = {
      "converge",
      "SCENE",
      1,
      1,
      "Simulates a scene with each step size and measures the final state against a reference run: 2-norm over all\n"
      "position coordinates (rotations count with the length of the relative rotation vector), 2-norm over all\n"
      "velocity coordinates, signed joint residuals, and the observed order of the position error. Where the grids\n"
      "nest, --json adds the largest position error and the L1 norm of the velocity error over time. What the "
      "theorems\n"
      "promise stands beside it: the variation of the velocities and of the weighted velocities, the distance of the\n"
      "weighted velocities' filled-in graphs, and the bound of the kinetic energy. Started by mpirun, ranks share the "
      "rows.",
      options,
      "  stickslip converge scenes/double-pendulum-wall.yaml --steps 2^-5:2^-11 --reference 2^-16\n"
      "  stickslip converge scenes/double-pendulum-wall.yaml --steps 2^-5:2^-8 --schemes trapezoidal,moreau --json\n"
      "  stickslip converge scenes/double-pendulum-wall.yaml --steps 2^-5:2^-8 --html orders.html\n"};
  const int parsed = parse_options(&command_line, argc, argv, &o->scene);
  if (parsed != PARSE_GO_ON) return parsed;
  if (!o->steps) return usage_error("converge: --steps is missing; see stickslip converge --help");
  if (o->threads < 1) return usage_error("--threads must be at least 1");
  if (!isnan(o->reference) && !(o->reference > 0)) return usage_error("--reference must be positive");
  return PARSE_GO_ON;
}

/* ---- which schemes ---- */

typedef struct scheme_list {
  converge_table *tables;
  int n;
  char *names; /* the text of --schemes, cut at the commas */
} scheme_list;

/* All that this scene can run with. */
static ss_status list_all(scheme_list *list, bool compliance, ss_error *error) {
  int n = 0;
  for (const ss_table_row *row = ss_table_schemes(); row->name; row++) n++;
  list->tables = calloc((size_t)n + 1, sizeof *list->tables);
  if (!list->tables) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (const ss_table_row *row = ss_table_schemes(); row->name; row++)
    if (compliance || !ss_scheme_is_compliant(row->name)) list->tables[list->n++].scheme = row->name;
  return SS_OK;
}

static ss_status list_named(scheme_list *list, const char *text, ss_error *error) {
  list->names = malloc(strlen(text) + 1);
  list->tables = calloc(strlen(text) / 2 + 2, sizeof *list->tables);
  if (!list->names || !list->tables) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  memcpy(list->names, text, strlen(text) + 1);
  for (char *name = list->names;;) {
    char *comma = strchr(name, ',');
    if (comma) *comma = '\0';
    if (check_scheme(name, error)) return SS_ERROR_INPUT;
    list->tables[list->n++].scheme = name;
    if (!comma) return SS_OK;
    name = comma + 1;
  }
}

static ss_status list_schemes(scheme_list *list, const char *wanted, const session *s, ss_error *error) {
  if (wanted && strcmp(wanted, "all") == 0) return list_all(list, s->scene && ss_scene_is_compliant(s->scene), error);
  return list_named(list, wanted ? wanted : s->simulation.scheme, error);
}

/* --alpha and --gamma mean something to one scheme only; given without it they are a mistake, and so is naming it without
 * them. Among all schemes it is told which of the family is meant. */
static ss_status apply_weights(const converge_options *o, const scheme_list *list, ss_simulation *simulation,
                               ss_error *error) {
  bool used = false;
  for (int i = 0; i < list->n; i++) used = used || strcmp(list->tables[i].scheme, "gavrea") == 0;
  if (used && list->names && require_weights(simulation->scheme, o->alpha, o->gamma, error)) return SS_ERROR_INPUT;
  if (used && !list->names && require_weights(simulation->scheme, o->alpha, o->gamma, NULL))
    (void)fprintf(stderr, "stickslip: gavrea with alpha = %g, gamma = %g (--alpha, --gamma)\n",
                  isnan(o->alpha) ? simulation->alpha : o->alpha, isnan(o->gamma) ? simulation->gamma : o->gamma);
  if (isnan(o->alpha) && isnan(o->gamma)) return SS_OK;
  if (!used) return ss_fail(error, SS_ERROR_INPUT, "--alpha and --gamma belong to the scheme gavrea");
  if (!isnan(o->alpha)) simulation->alpha = o->alpha;
  if (!isnan(o->gamma)) simulation->gamma = o->gamma;
  return SS_OK;
}

static void release_schemes(scheme_list *list) {
  for (int i = 0; i < list->n; i++) converge_table_release(&list->tables[i]);
  free(list->tables);
  free(list->names);
}

/* ---- the study ---- */

static double finest_of(const double *steps, int n) {
  double finest = steps[0];
  for (int i = 1; i < n; i++) finest = fmin(finest, steps[i]);
  return finest;
}

static ss_status run_reference(const converge_options *o, const session *s, const scheme_list *list, double finest,
                               reference *r, ss_error *error) {
  r->scheme = o->reference_scheme ? o->reference_scheme : list->n == 1 ? list->tables[0].scheme : "trapezoidal";
  r->step = isnan(o->reference) ? finest / REFERENCE_REFINEMENT : o->reference;
  if (check_scheme(r->scheme, error)) return SS_ERROR_INPUT;
  if (r->step > finest)
    return ss_fail(error, SS_ERROR_INPUT, "--reference %g is coarser than the finest of --steps, %g", r->step, finest);
  return reference_run(r, s, finest, error);
}

static bool all_certified(const scheme_list *list) {
  for (int i = 0; i < list->n; i++)
    for (int k = 0; k < list->tables[i].n; k++)
      if (!list->tables[i].rows[k].certified) return false;
  return true;
}

static int print_study(const converge_options *o, const session *s, const reference *r, const scheme_list *list) {
  int code = EXIT_DONE;
  if (o->html) {
    json_t *study = converge_json(s, r, list->tables, list->n);
    code = study ? report_loaded_study(study, o->scene, o->html) : usage_error("out of memory");
    json_decref(study);
  }
  if (o->json) return code == EXIT_DONE ? json_print(converge_json(s, r, list->tables, list->n)) : code;
  converge_print_text(s, r, list->tables, list->n);
  if (o->html && code == EXIT_DONE) (void)printf("\n  %s\n", o->html);
  return code;
}

static int study(const converge_options *o, session *s, const double *steps, int n_steps) {
  scheme_list list = {0};
  reference r = {0};
  ss_error error = {0};
  ss_status status = list_schemes(&list, o->schemes, s, &error);
  if (!status) status = apply_weights(o, &list, &s->simulation, &error);
  if (!status) status = run_reference(o, s, &list, finest_of(steps, n_steps), &r, &error);
  if (!status) status = converge_rows(list.tables, list.n, s, &r, steps, n_steps, o->threads, &error);
  int code = EXIT_DONE;
  if (status)
    code = report_error(&error);
  else if (ranks_index() == 0)
    code = print_study(o, s, &r, &list);
  if (code == EXIT_DONE && ranks_index() == 0 && !(all_certified(&list) && r.certified)) code = EXIT_FAILED;
  reference_release(&r);
  release_schemes(&list);
  return code;
}

static int converge_on_ranks(int argc, char **argv) {
  converge_options o = {.overrides = overrides_none(), .reference = NAN, .alpha = NAN, .gamma = NAN, .threads = 1};
  int code = parse_converge(argc, argv, &o);
  if (code == PARSE_GO_ON) {
    session s = {0};
    double *steps = NULL;
    int n_steps = 0;
    ss_error error = {0};
    if (outputs_are_files(&o.scene, 1, &o.html, 1) || (ranks_index() == 0 && output_check(o.html))) code = EXIT_USAGE;
    ss_status status = steps_parse(o.steps, &steps, &n_steps, &error);
    if (!status) status = session_open_any(&s, o.scene, &o.overrides, &error);
    if (code == PARSE_GO_ON) code = status ? report_error(&error) : study(&o, &s, steps, n_steps);
    session_close(&s);
    free(steps);
  }
  free((void *)o.overrides.set.items);
  return code;
}

int command_converge(int argc, char **argv) {
  const int started = ranks_start();
  return started != EXIT_DONE ? started : ranks_end(converge_on_ranks(argc, argv));
}
