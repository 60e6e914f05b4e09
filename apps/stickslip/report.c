/* stickslip report: a result as a document. */
#include "commands.h"
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
      "RESULT.h5",
      1,
      1,
      "Writes a document about a result: the verdict and the certificate, pictures and the moving scene, plots of the\n"
      "energies, the motion and the contact forces, the events, the scene. One HTML file, to be read or printed; it\n"
      "loads nothing from the network.",
      options,
      "  stickslip run scenes/double-pendulum-wall.yaml -o pendulum.h5\n"
      "  stickslip report pendulum.h5 -o pendulum-report.html\n"};
  const int parsed = parse_options(&command_line, argc, argv, &result);
  if (parsed != PARSE_GO_ON) return parsed;
  char name[NAME_MAX + 16];
  default_name(result, name, sizeof name);
  ss_error error = {0};
  if (ss_page_from_result(result, output ? output : name, SS_PAGE_REPORT, &error)) return report_error(&error);
  (void)printf("%s\n", output ? output : name);
  return EXIT_DONE;
}
