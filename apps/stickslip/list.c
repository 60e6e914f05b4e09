/* stickslip list: the library's own tables. */
#include "commands.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

typedef struct listing {
  const char *name;
  const ss_table_row *(*rows)(void);
} listing;

static const listing listings[] = {
    {"schemes", ss_table_schemes},
    {"solvers", ss_cp_solvers},
    {"joints", ss_table_joints},
    {"forces", ss_table_forces},
    {"shapes", ss_table_shapes},
    {"laws", ss_table_laws},
    {NULL, NULL},
};

static void print_listing(const listing *l) {
  int width = 0;
  for (const ss_table_row *row = l->rows(); row->name; row++)
    if ((int)strlen(row->name) > width) width = (int)strlen(row->name);
  for (const ss_table_row *row = l->rows(); row->name; row++)
    (void)printf("%-*s  %s\n", width, row->name, row->summary);
}

static json_t *listing_json(const listing *l) {
  json_t *array = json_array();
  for (const ss_table_row *row = l->rows(); array && row->name; row++) {
    json_t *entry = json_pack("{s:o, s:o}", "name", json_text(row->name), "summary", json_text(row->summary));
    if (json_array_append_new(array, entry)) return NULL;
  }
  return array;
}

/* All listings, or the one that `only` names. */
static int print_json(const listing *only) {
  json_t *root = json_object();
  for (const listing *l = listings; root && l->name; l++)
    if ((!only || l == only) && json_object_set_new(root, l->name, listing_json(l))) return json_print(NULL);
  return json_print(root);
}

int command_list(int argc, char **argv) {
  bool json = false;
  const option options[] = {{"json", OPTION_FLAG, &json, NULL, "print JSON"}, {0}};
  const usage command_line = {
      "list",
      "[schemes|solvers|joints|forces|shapes|laws]",
      0,
      1,
      "Prints what can be chosen in a scene or on the command line; everything, if no table is named.",
      options,
      "  stickslip list schemes\n  stickslip list solvers --json\n"};
  const char *name = NULL;
  const int parsed = parse_options(&command_line, argc, argv, &name);
  if (parsed != PARSE_GO_ON) return parsed;
  const listing *only = NULL;
  for (const listing *l = listings; l->name; l++)
    if (name && strcmp(l->name, name) == 0) only = l;
  if (name && !only)
    return usage_error("list: unknown table '%s'; there are schemes, solvers, joints, forces, shapes and laws", name);
  if (json) return print_json(only);
  if (only) {
    print_listing(only);
    return EXIT_DONE;
  }
  for (const listing *l = listings; l->name; l++) {
    (void)printf("%s%s:\n", l == listings ? "" : "\n", l->name);
    print_listing(l);
  }
  return EXIT_DONE;
}
