/* stickslip export: result files to other formats. */
#include "cli.h"
#include "commands.h"

#include <stdio.h>
#include <string.h>

int command_export(int argc, char **argv) {
  const char *format = NULL, *output = NULL;
  const option options[] = {{"to", OPTION_TEXT, &format, "csv", "the format to write (vtk is not in this version)"},
                            {"o", OPTION_TEXT, &output, "OUT", "write to this file instead of standard output"},
                            {0}};
  const usage command_line = {"export",
                              "RESULT",
                              1,
                              1,
                              "Turns the HDF5 result of `stickslip run -o` into another format.",
                              options,
                              "  stickslip export pendulum.h5 --to csv -o pendulum.csv\n"};
  const char *result = NULL;
  const int parsed = parse_options(&command_line, argc, argv, &result);
  if (parsed != PARSE_GO_ON) return parsed;
  if (!format) return usage_error("export: --to is missing; the formats are: csv");
  if (strcmp(format, "vtk") == 0) return usage_error("export --to vtk is not available in this version");
  if (strcmp(format, "csv") != 0) return usage_error("export: unknown format '%s'; the formats are: csv", format);
  ss_error error = {0};
  const ss_status status =
      output ? ss_export_csv(result, output, &error) : ss_export_csv_stream(result, stdout, &error);
  return status ? report_error(&error) : EXIT_DONE;
}
