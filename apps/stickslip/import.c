/* stickslip import: robots of other programs as scenes. */
#include "cli.h"
#include "commands.h"
#include "output.h"

#include <stdio.h>

static void tell(void *user, const char *remark) { (void)fprintf(stderr, "%s: %s\n", (const char *)user, remark); }

static int write_scene(const ss_scene *scene, const char *path) {
  ss_error error = {0};
  output_file *o = output_open(path);
  if (!o) return EXIT_USAGE;
  if (!ss_scene_write(scene, output_stream(o), &error)) return output_close(o);
  output_discard(o);
  return report_error(&error);
}

int command_import(int argc, char **argv) {
  const char *model = NULL, *path = NULL;
  bool fixed_base = false;
  const option options[] = {{"o", OPTION_TEXT, &path, "SCENE", "write to this file instead of standard output"},
                            {"fix-base", OPTION_FLAG, &fixed_base, NULL,
                             "attach the base of a URDF robot to the world (otherwise it is free, if it has a mass)"},
                            {0}};
  const usage command_line = {
      "import",
      "MODEL",
      1,
      1,
      "Turns a robot, URDF (<robot>) or MJCF (<mujoco>), into a scene. Links that are rigidly attached become one "
      "body,\n"
      "joints become joints with their limits, collision geometry becomes shapes. What a scene cannot represent, and\n"
      "what the scene says beyond the model, is listed on standard error; a model that cannot be represented at all "
      "is\n"
      "refused. Files named by <include> are read; entities are refused, and nothing comes from the network.",
      options,
      "  stickslip import robot.urdf -o robot.yaml && stickslip check robot.yaml\n"
      "  stickslip import hopper.xml -o hopper.yaml && stickslip view hopper.yaml\n"};
  const int parsed = parse_options(&command_line, argc, argv, &model);
  if (parsed != PARSE_GO_ON) return parsed;
  ss_scene *scene = NULL;
  ss_error error = {0};
  if (outputs_distinct(&model, 1, &path, 1)) return EXIT_USAGE;
  if (ss_import_model(model, fixed_base, tell, (void *)model, &scene, &error)) return report_error(&error);
  const int code = write_scene(scene, path);
  ss_scene_destroy(scene);
  return code;
}
