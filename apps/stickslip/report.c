/* stickslip report: a result or a convergence study as a document. */
#include "commands.h"
#include "output.h"
#include "plot.h"
#include "report.h"
#include "cli.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* runs/box.h5 -> box-report.html, in the working directory */
static void default_name(const char *result, char *name, size_t size) {
  const char *slash = strrchr(result, '/');
  const char *base = slash ? slash + 1 : result;
  const char *dot = strrchr(base, '.');
  const int length = dot && dot != base ? (int)(dot - base) : (int)strlen(base);
  (void)snprintf(name, size, "%.*s-report.html", length, base);
}

int command_report(int argc, char **argv) {
  const char *output = NULL, *result = NULL;
  const option options[] = {
      {"o", OPTION_TEXT, &output, "REPORT.html", "where to write it (default: RESULT-report.html, in this directory)"},
      {0}};
  const usage command_line = {
      "report",
      "RESULT.h5|STUDY.json",
      1,
      1,
      "Writes a document about a result: the verdict and the certificate, pictures and the moving scene, plots of the\n"
      "energies, the motion and the contact forces, the events, the scene. Of a convergence study (stickslip converge\n"
      "--json): the orders as a plot, the errors as tables. One HTML file, to be read or printed; it loads nothing\n"
      "from the network.",
      options,
      "  stickslip run scenes/double-pendulum-wall.yaml -o pendulum.h5\n"
      "  stickslip report pendulum.h5 -o pendulum-report.html\n"
      "  stickslip converge scenes/double-pendulum-wall.yaml --steps 2^-5:2^-9 --json > study.json\n"
      "  stickslip report study.json -o orders.html\n"};
  const int parsed = parse_options(&command_line, argc, argv, &result);
  if (parsed != PARSE_GO_ON) return parsed;
  char name[NAME_MAX + 16];
  default_name(result, name, sizeof name);
  if (!output) output = name;
  if (outputs_are_files(&result, 1, &output, 1)) return EXIT_USAGE;
  if (plot_is_study(result)) {
    const int code = report_study(result, output);
    if (code != EXIT_DONE) return code;
  } else {
    ss_error error = {0};
    if (ss_page_from_result(result, output, SS_PAGE_REPORT, &error)) return report_error(&error);
  }
  (void)printf("%s\n", output);
  return EXIT_DONE;
}
