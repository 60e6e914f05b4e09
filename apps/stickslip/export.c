/* stickslip export: result files to other formats. */
#include "cli.h"
#include "commands.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

static int export_csv(const char *result, const char *output) {
  ss_error error = {0};
  const ss_status status =
      output ? ss_export_csv(result, output, &error) : ss_export_csv_stream(result, stdout, &error);
  return status ? report_error(&error) : EXIT_DONE;
}

static int export_vtk(const char *result, const char *output, long every) {
  ss_error error = {0};
  if (!output) return usage_error("export --to vtk writes many files: name the collection with -o RESULT.pvd");
  if (ss_export_vtk(result, output, every, &error)) return report_error(&error);
  (void)printf("%s\n", output);
  return EXIT_DONE;
}

int command_export(int argc, char **argv) {
  const char *format = NULL, *output = NULL, *result = NULL;
  long every = 1;
  const option options[] = {{"to", OPTION_TEXT, &format, "csv|vtk", "the format to write"},
                            {"o", OPTION_TEXT, &output, "OUT",
                             "write to this file; CSV: instead of standard output; VTK: the collection, OUT.pvd"},
                            {"every", OPTION_COUNT, &every, "N", "VTK: each N-th frame only (and the last)"},
                            {0}};
  const usage command_line = {
      "export",
      "RESULT",
      1,
      1,
      "Turns the HDF5 result of `stickslip run -o` into another format. VTK is what ParaView opens: OUT.pvd, and "
      "beside it\n"
      "one file per frame: surfaces of the bodies with their velocities, contacts with their forces.",
      options,
      "  stickslip export pendulum.h5 --to csv -o pendulum.csv\n"
      "  stickslip export pendulum.h5 --to vtk -o pendulum.pvd --every 10\n"};
  const int parsed = parse_options(&command_line, argc, argv, &result);
  if (parsed != PARSE_GO_ON) return parsed;
  if (!format) return usage_error("export: --to is missing; the formats are csv and vtk");
  if (every < 1) return usage_error("--every must be at least 1");
  if (outputs_are_files(&result, 1, &output, 1)) return EXIT_USAGE;
  if (strcmp(format, "csv") == 0) return export_csv(result, output);
  if (strcmp(format, "vtk") == 0) return export_vtk(result, output, every);
  return usage_error("export: unknown format '%s'; the formats are csv and vtk", format);
}
