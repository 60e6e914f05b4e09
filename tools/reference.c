/* reference SCHEMA TABLES OUTPUT: writes OUTPUT/scene.md from the schema of scenes and OUTPUT/tables.md from what
 * `stickslip list --json` says, so that neither can be out of date. */
#include <jansson.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char warning[] = "<!-- Written by ./dev docs; edits are lost. -->\n\n";

static json_t *load(const char *path) {
  json_error_t error;
  json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  if (root) return root;
  (void)fprintf(stderr, "reference: %s:%d:%d: %s\n", path, error.line, error.column, error.text);
  exit(1);
}

static FILE *create(const char *directory, const char *name) {
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *f = fopen(path, "w");
  if (f) return f;
  (void)fprintf(stderr, "reference: cannot write %s\n", path);
  exit(1);
}

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

/* Text of a cell: a bar would end it. */
static void put_cell(FILE *f, const char *text) {
  for (; *text; text++) {
    if (*text == '|') (void)fputc('\\', f);
    (void)fputc(*text, f);
  }
}

static bool has_word(const json_t *array, const char *word) {
  size_t i;
  const json_t *item;
  json_array_foreach(array, i, item) if (strcmp(json_string_value(item), word) == 0) return true;
  return false;
}

/* ---- what a value may be ---- */

static void put_value(FILE *f, const json_t *schema);

/* "#/$defs/vector" as a link. */
static void put_reference(FILE *f, const char *target) {
  const char *name = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
  (void)fprintf(f, "[%s](#%s)", name, name);
}

static void put_list(FILE *f, const json_t *schema) {
  const json_int_t low = json_integer_value(json_object_get(schema, "minItems"));
  const json_int_t high = json_integer_value(json_object_get(schema, "maxItems"));
  (void)fprintf(f, "list of ");
  if (low && low == high)
    (void)fprintf(f, "%d ", (int)low);
  else if (low && high)
    (void)fprintf(f, "%d to %d ", (int)low, (int)high);
  const json_t *items = json_object_get(schema, "items");
  if (items)
    put_value(f, items);
  else
    (void)fprintf(f, "values");
}

static void put_alternatives(FILE *f, const json_t *list) {
  size_t i;
  const json_t *item;
  json_array_foreach(list, i, item) {
    if (i > 0) (void)fprintf(f, " or ");
    put_value(f, item);
  }
}

/* Names may be written as numbers: "string or number" is a text then. */
static void put_type(FILE *f, const json_t *schema) {
  const json_t *type = json_object_get(schema, "type");
  const char *name = json_is_array(type) ? json_string_value(json_array_get(type, 0)) : json_string_value(type);
  const bool text = name && strcmp(name, "string") == 0;
  if (name && strcmp(name, "array") == 0)
    put_list(f, schema);
  else if (name && strcmp(name, "boolean") == 0)
    (void)fprintf(f, "true or false");
  else if (name && strcmp(name, "object") == 0)
    (void)fprintf(f, "map");
  else
    (void)fprintf(f, "%s", text ? "text" : name ? name : "anything");
}

static void put_value(FILE *f, const json_t *schema) {
  const json_t *alternatives = json_object_get(schema, "anyOf");
  if (json_object_get(schema, "$ref"))
    put_reference(f, text_of(schema, "$ref"));
  else if (alternatives)
    put_alternatives(f, alternatives);
  else
    put_type(f, schema);
}

/* ---- when a key is required ---- */

/* The words for which a conditional rule holds: if: {properties: {KEY: {enum | const}}}. */
static void put_condition(FILE *f, const json_t *rule) {
  const char *key;
  json_t *test;
  json_object_foreach(json_object_get(json_object_get(rule, "if"), "properties"), key, test) {
    (void)fprintf(f, "for %s ", key);
    const json_t *words = json_object_get(test, "enum");
    size_t i;
    const json_t *word;
    json_array_foreach(words, i, word)(void) fprintf(f, "%s%s", i ? ", " : "", json_string_value(word));
    if (!words) (void)fprintf(f, "%s", text_of(test, "const"));
  }
}

static void put_requirement(FILE *f, const json_t *definition, const char *name) {
  size_t i;
  const json_t *rule;
  const char *separator = "";
  if (has_word(json_object_get(definition, "required"), name)) (void)fprintf(f, "yes");
  json_array_foreach(json_object_get(definition, "allOf"), i, rule) {
    if (!has_word(json_object_get(json_object_get(rule, "then"), "required"), name)) continue;
    (void)fprintf(f, "%s", separator);
    put_condition(f, rule);
    separator = "; ";
  }
}

/* "Exactly one of: `mass`; `density`." */
static void put_choice(FILE *f, const json_t *alternatives) {
  size_t i, k;
  const json_t *one, *key;
  json_array_foreach(alternatives, i, one) {
    (void)fprintf(f, "%s", i ? "; " : "Exactly one of: ");
    json_array_foreach(json_object_get(one, "required"), k, key)(void)
        fprintf(f, "%s`%s`", k ? " and " : "", json_string_value(key));
  }
  if (i > 0) (void)fprintf(f, ".\n\n");
}

/* ---- the page ---- */

static void put_object(FILE *f, const json_t *definition) {
  const char *name;
  json_t *property;
  (void)fprintf(f, "| key | value | required | |\n|---|---|---|---|\n");
  json_object_foreach(json_object_get(definition, "properties"), name, property) {
    (void)fprintf(f, "| `%s` | ", name);
    put_value(f, property);
    (void)fprintf(f, " | ");
    put_requirement(f, definition, name);
    (void)fprintf(f, " | ");
    put_cell(f, text_of(property, "description"));
    (void)fprintf(f, " |\n");
  }
  (void)fprintf(f, "\n");
  put_choice(f, json_object_get(definition, "oneOf"));
}

static void put_words(FILE *f, const json_t *words) {
  size_t i;
  const json_t *word;
  json_array_foreach(words, i, word)(void) fprintf(f, "%s`%s`", i ? ", " : "One of ", json_string_value(word));
  (void)fprintf(f, ".\n\n");
}

static bool is_section(const json_t *definition) { return strcmp(text_of(definition, "type"), "object") == 0; }

static void put_definition(FILE *f, const char *name, const json_t *definition) {
  (void)fprintf(f, "### %s\n\n%s\n\n", name, text_of(definition, "description"));
  if (is_section(definition))
    put_object(f, definition);
  else if (json_object_get(definition, "enum"))
    put_words(f, json_object_get(definition, "enum"));
  else {
    (void)fprintf(f, "Written as ");
    put_value(f, definition);
    (void)fprintf(f, ".\n\n");
  }
}

static void write_scene(FILE *f, const json_t *schema) {
  const char *name;
  json_t *definition;
  json_t *definitions = json_object_get(schema, "$defs");
  (void)fprintf(f, "# Scene files\n\n%s", warning);
  (void)fprintf(f, "A scene is YAML (or JSON). Every key there is stands below; unknown ones are errors, with line and "
                   "column. Editors that know JSON Schema take `schema/scene.schema.json`; put\n"
                   "`# yaml-language-server: $schema=PATH/schema/scene.schema.json` into the first line of a scene.\n\n"
                   "Examples are in `scenes/`.\n\n## Sections\n\n");
  put_definition(f, "scene", json_object_get(definitions, "scene"));
  json_object_foreach(definitions, name, definition) {
    if (is_section(definition) && strcmp(name, "scene") != 0) put_definition(f, name, definition);
  }
  (void)fprintf(f, "## Values\n\n");
  json_object_foreach(definitions, name, definition) {
    if (!is_section(definition)) put_definition(f, name, definition);
  }
}

static void write_tables(FILE *f, const json_t *tables) {
  const char *name;
  json_t *rows;
  (void)fprintf(f, "# What there is to choose from\n\n%sAs `stickslip list` prints it.\n", warning);
  json_object_foreach((json_t *)tables, name, rows) {
    size_t i;
    const json_t *row;
    (void)fprintf(f, "\n## %s\n\n| name | |\n|---|---|\n", name);
    json_array_foreach(rows, i, row) {
      (void)fprintf(f, "| `%s` | ", text_of(row, "name"));
      put_cell(f, text_of(row, "summary"));
      (void)fprintf(f, " |\n");
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 4) {
    (void)fprintf(stderr, "usage: reference SCHEMA TABLES OUTPUT\n");
    return 2;
  }
  json_t *schema = load(argv[1]), *tables = load(argv[2]);
  FILE *scene = create(argv[3], "scene.md"), *table = create(argv[3], "tables.md");
  write_scene(scene, schema);
  write_tables(table, tables);
  const bool failed = ferror(scene) || ferror(table);
  const bool closed = fclose(scene) == 0 && fclose(table) == 0;
  json_decref(schema);
  json_decref(tables);
  return failed || !closed ? 1 : 0;
}
