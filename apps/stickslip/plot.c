/* stickslip plot: curves of results and of convergence studies as SVG or PNG. */
#include "plot.h"
#include "output.h"

#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INPUTS = 64 };

typedef struct plot_options {
  const char *inputs[MOST_INPUTS];
  int n_inputs;
  const char *x, *output, *title;
  text_list y;
  bool log, log_x;
} plot_options;

static int parse_plot(int argc, char **argv, plot_options *o) {
  const option options[] = {
      {"y", OPTION_LIST, &o->y, "NAME", "what to draw: BODY.x (y z vx ... wz), energy.kinetic (total ...); repeatable"},
      {"x", OPTION_TEXT, &o->x, "NAME", "what to draw it over (default: t; studies: h)"},
      {"log", OPTION_FLAG, &o->log, NULL, "logarithmic y axis (studies have both axes logarithmic)"},
      {"log-x", OPTION_FLAG, &o->log_x, NULL, "logarithmic x axis"},
      {"title", OPTION_TEXT, &o->title, "TEXT", "a line above the plot"},
      {"o", OPTION_TEXT, &o->output, "PLOT.svg|png",
       "write to this file (its ending decides) instead of SVG to standard output"},
      {0}};
  const usage command_line = {
      "plot",
      "RESULT...",
      1,
      MOST_INPUTS,
      "Draws curves from results (stickslip run -o) or from convergence studies (stickslip converge --json) as SVG\n"
      "or PNG. Several results and several names go into one plot; --x gives phase plots.",
      options,
      "  stickslip plot pendulum.h5 --y bob1.x --y bob2.x -o bobs.svg\n"
      "  stickslip plot coarse.h5 fine.h5 --y energy.total -o energy.svg\n"
      "  stickslip plot block.h5 --x block.x --y block.vx -o phase.png\n"
      "  stickslip converge scenes/double-pendulum-wall.yaml --steps 2^-5:2^-9 --json > study.json\n"
      "  stickslip plot study.json --y position_error --y velocity_error -o orders.svg\n"};
  return parse_options(&command_line, argc, argv, o->inputs);
}

static bool ends_with(const char *text, const char *end) {
  const size_t a = strlen(text), b = strlen(end);
  return a >= b && strcmp(text + a - b, end) == 0;
}

static int nothing_to_draw(void) {
  return usage_error("plot: there is nothing to draw (a logarithmic axis shows positive values only)");
}

static int write_png(const chart *c, const char *path) {
  switch (chart_write_png(c, path)) {
  case CHART_PNG_DONE:
    return EXIT_DONE;
  case CHART_PNG_EMPTY:
    return nothing_to_draw();
  case CHART_PNG_FAILED:
    (void)remove(path); /* what there is of it */
    return usage_error("cannot write '%s'", path);
  case CHART_PNG_NOT_BUILT:
    break;
  }
  return usage_error("this stickslip was built without cairo, which PNG needs; name the output PLOT.svg, or install "
                     "libcairo2-dev and build again");
}

static int write_chart(const chart *c, const char *path) {
  output_file *o = output_open(path);
  if (!o) return EXIT_USAGE;
  if (chart_write(c, output_stream(o))) return output_close(o);
  output_discard(o);
  return nothing_to_draw();
}

static int plot(const plot_options *o) {
  const bool png = o->output && ends_with(o->output, ".png");
  if (o->output && !png && !ends_with(o->output, ".svg"))
    return usage_error("plot: '%s' is neither PLOT.svg nor PLOT.png", o->output);
  const bool study = plot_is_study(o->inputs[0]);
  if (!study && o->y.n == 0) return usage_error("plot: --y is missing, for example --y BODY.x or --y energy.total");
  for (int i = 1; i < o->n_inputs; i++)
    if (plot_is_study(o->inputs[i]) != study) return usage_error("plot: results and studies do not go into one plot");
  chart c = {.title = o->title, .x_log = study || o->log_x, .y_log = study || o->log, .marked = study, .orders = study};
  const plot_request request = {.inputs = o->inputs, .n_inputs = o->n_inputs, .x = o->x, .y = &o->y};
  int code = study ? plot_studies(&request, &c) : plot_results(&request, &c);
  if (code == PARSE_GO_ON) code = png ? write_png(&c, o->output) : write_chart(&c, o->output);
  chart_release(&c);
  return code;
}

int command_plot(int argc, char **argv) {
  plot_options o = {0};
  int code = parse_plot(argc, argv, &o);
  while (o.n_inputs < MOST_INPUTS && o.inputs[o.n_inputs]) o.n_inputs++;
  if (code == PARSE_GO_ON && outputs_distinct(o.inputs, o.n_inputs, &o.output, 1)) code = EXIT_USAGE;
  if (code == PARSE_GO_ON) code = plot(&o);
  free((void *)o.y.items);
  return code;
}
