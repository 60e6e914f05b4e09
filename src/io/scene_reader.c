/* Sections, words and single values. */
#include "io/scene_reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- sections ---- */

static bool belongs(const ss_key *key, int type) { return type < 0 || !key->types || (key->types >> type & 1); }

static ss_word_list keys_of(const ss_section *section, int type) {
  ss_word_list list = {0};
  for (const ss_key *key = section->keys; key->name; key++)
    if (belongs(key, type)) ss_word_list_add(&list, key->name);
  return list;
}

static const ss_key *find_key(const ss_section *section, const char *name) {
  for (const ss_key *key = section->keys; key->name; key++)
    if (strcmp(key->name, name) == 0) return key;
  return NULL;
}

static ss_status fail_unknown_key(ss_reader *reader, const ss_yaml *key, const ss_section *section, int type,
                                  const char *title) {
  ss_nearest nearest = {.word = key->text};
  for (const ss_key *row = section->keys; row->name; row++)
    if (belongs(row, type)) ss_nearest_offer(&nearest, row->name);
  const ss_word_list allowed = keys_of(section, type);
  const ss_printable_text shown = ss_printable(key->text);
  char where[32];
  (void)snprintf(where, sizeof where, "key %s", section->name);
  const char *ours = ss_our_word(where, key->text);
  if (ours) return SS_READ_FAIL(reader, key, "unknown key '%s': write %s", shown.text, ours);
  if (nearest.best)
    return SS_READ_FAIL(reader, key, "unknown key '%s'; did you mean '%s'? (keys of %s %s: %s)", shown.text,
                        nearest.best, ss_article(title), title, allowed.text);
  if (strchr(key->text, ')'))
    return SS_READ_FAIL(reader, key, "unknown key '%s': an expression that contains a comma must be quoted",
                        shown.text);
  return SS_READ_FAIL(reader, key, "unknown key '%s' (keys of %s %s: %s)", shown.text, ss_article(title), title,
                      allowed.text);
}

static ss_status check_keys(ss_reader *reader, const ss_yaml *map, const ss_section *section, int type,
                            const char *title) {
  for (int i = 0; i < map->count; i++) {
    const ss_yaml *node = map->items[i].key;
    const ss_key *key = find_key(section, node->text);
    if (!key) return fail_unknown_key(reader, node, section, type, title);
    if (!belongs(key, type))
      return SS_READ_FAIL(reader, node, "'%s' does not belong to %s %s (its keys: %s)", key->name, ss_article(title),
                          title, keys_of(section, type).text);
    if (!key->read)
      return ss_fail_place(reader->error, SS_ERROR_UNSUPPORTED, reader->file, node->mark,
                           "'%s' of %s %s is not available in this version", key->name, ss_article(title), title);
  }
  for (const ss_key *key = section->keys; key->name; key++)
    if (key->required && belongs(key, type) && !ss_yaml_get(map, key->name))
      return SS_READ_FAIL(reader, map, "the %s lacks the key '%s'", title, key->name);
  return SS_OK;
}

ss_status ss_read_section(ss_reader *reader, const ss_yaml *map, const ss_section *section, int type,
                          const char *type_name, void *object) {
  char title[64];
  (void)snprintf(title, sizeof title, "%s%s%s", type_name ? type_name : "", type_name ? " " : "", section->name);
  if (map->kind != SS_YAML_MAP)
    return SS_READ_FAIL(reader, map, "expected a mapping with the keys of %s %s (%s), not %s", ss_article(title), title,
                        keys_of(section, type).text, ss_yaml_kind_name(map));
  SS_TRY(check_keys(reader, map, section, type, title));
  const char *outer = reader->key;
  for (const ss_key *key = section->keys; key->name; key++) {
    const ss_yaml *value = belongs(key, type) ? ss_yaml_get(map, key->name) : NULL;
    if (!value) continue;
    reader->key = key->name;
    SS_TRY(key->read(reader, value, (char *)object + key->offset));
  }
  reader->key = outer;
  return SS_OK;
}

ss_status ss_expect_list(ss_reader *reader, const ss_yaml *node, const char *what) {
  if (node->kind == SS_YAML_LIST) return SS_OK;
  return SS_READ_FAIL(reader, node, "'%s' must be a list of %s, not %s", reader->key, what, ss_yaml_kind_name(node));
}

ss_status ss_expect_map(ss_reader *reader, const ss_yaml *node, const char *what) {
  if (node->kind == SS_YAML_MAP) return SS_OK;
  return SS_READ_FAIL(reader, node, "'%s' must be a mapping of %s, not %s", reader->key, what, ss_yaml_kind_name(node));
}

/* ---- words ---- */

/* "joint_type" as "joint type" */
static ss_printable_text spoken(const char *name) {
  ss_printable_text text = ss_printable(name);
  for (char *c = text.text; *c; c++)
    if (*c == '_') *c = ' ';
  return text;
}

ss_status ss_read_word(ss_reader *reader, const ss_yaml *node, const ss_words *words, int *value) {
  const ss_printable_text what = spoken(words->name);
  ss_word_list all = {0};
  for (const ss_word *word = words->rows; word->name; word++) ss_word_list_add(&all, word->name);
  if (node->kind != SS_YAML_SCALAR)
    return SS_READ_FAIL(reader, node, "expected %s %s (one of %s), not %s", ss_article(what.text), what.text, all.text,
                        ss_yaml_kind_name(node));
  ss_nearest nearest = {.word = node->text};
  for (const ss_word *word = words->rows; word->name; word++) {
    ss_nearest_offer(&nearest, word->name);
    if (strcmp(word->name, node->text) != 0) continue;
    if (word->later)
      return ss_fail_place(reader->error, SS_ERROR_UNSUPPORTED, reader->file, node->mark,
                           "the %s '%s' is not available in this version", what.text, word->name);
    *value = word->value;
    return SS_OK;
  }
  const ss_printable_text shown = ss_printable(node->text);
  const char *ours = ss_our_word(words->name, node->text);
  if (ours) return SS_READ_FAIL(reader, node, "unknown %s '%s': write %s", what.text, shown.text, ours);
  if (nearest.best)
    return SS_READ_FAIL(reader, node, "unknown %s '%s'; did you mean '%s'? (one of %s)", what.text, shown.text,
                        nearest.best, all.text);
  return SS_READ_FAIL(reader, node, "unknown %s '%s' (one of %s)", what.text, shown.text, all.text);
}

ss_status ss_read_type(ss_reader *reader, const ss_yaml *map, const ss_section *section, const ss_words *words,
                       int *value, const char **name) {
  if (map->kind != SS_YAML_MAP)
    return SS_READ_FAIL(reader, map, "expected a mapping that describes %s %s, not %s", ss_article(section->name),
                        section->name, ss_yaml_kind_name(map));
  const ss_yaml *node = ss_yaml_get(map, "type");
  if (!node) {
    ss_word_list all = {0};
    for (const ss_word *word = words->rows; word->name; word++) ss_word_list_add(&all, word->name);
    return SS_READ_FAIL(reader, map, "the %s lacks the key 'type' (one of %s)", section->name, all.text);
  }
  SS_TRY(ss_read_word(reader, node, words, value));
  *name = node->text;
  return SS_OK;
}

ss_status ss_read_type_done(ss_reader *reader, const ss_yaml *node, void *field) {
  (void)reader, (void)node, (void)field;
  return SS_OK;
}

/* ---- single values ---- */

ss_status ss_place_expression_error(ss_reader *reader, const ss_yaml *node, ss_status status) {
  ss_error *error = reader->error;
  if (status != SS_ERROR_INPUT) return status;
  ss_mark mark = node->mark;
  if (node->text_column > 0) {
    mark.column = node->text_column;
    for (int i = 0; i + 1 < error->column; i++) mark.column += ((unsigned char)node->text[i] & 0xC0) != 0x80;
  }
  const bool cut_by_comma = !node->quoted && strstr(error->message, "missing ')'") != NULL;
  char message[sizeof error->message];
  (void)snprintf(message, sizeof message, "%s", error->message);
  return ss_fail_place(error, status, reader->file, mark, "%s%s", message,
                       cut_by_comma ? " (in a YAML list an expression that contains a comma must be quoted)" : "");
}

ss_status ss_read_number(ss_reader *reader, const ss_yaml *node, void *number) {
  if (node->kind != SS_YAML_SCALAR)
    return SS_READ_FAIL(reader, node, "'%s' must be a number, not %s", reader->key, ss_yaml_kind_name(node));
  if (node->text[0] == '\0') return SS_READ_FAIL(reader, node, "'%s' must be a number, not empty", reader->key);
  const ss_expression_scope scope = {reader->parameters, reader->n_parameters, false, ss_refuse_variable,
                                     reader->scene};
  const ss_status status = ss_expression_constant_in(node->text, &scope, number, reader->error);
  return ss_place_expression_error(reader, node, status);
}

ss_status ss_read_positive(ss_reader *reader, const ss_yaml *node, void *number) {
  SS_TRY(ss_read_number(reader, node, number));
  const double value = *(const double *)number;
  return value > 0 ? SS_OK : SS_READ_FAIL(reader, node, "'%s' must be positive, not %g", reader->key, value);
}

ss_status ss_read_nonnegative(ss_reader *reader, const ss_yaml *node, void *number) {
  SS_TRY(ss_read_number(reader, node, number));
  const double value = *(const double *)number;
  return value >= 0 ? SS_OK : SS_READ_FAIL(reader, node, "'%s' must not be negative, but is %g", reader->key, value);
}

ss_status ss_read_fraction(ss_reader *reader, const ss_yaml *node, void *number) {
  SS_TRY(ss_read_number(reader, node, number));
  const double value = *(const double *)number;
  if (value >= 0 && value <= 1) return SS_OK;
  return SS_READ_FAIL(reader, node, "'%s' must be between 0 and 1, not %g", reader->key, value);
}

ss_status ss_read_boolean(ss_reader *reader, const ss_yaml *node, void *boolean) {
  const bool is_true = node->kind == SS_YAML_SCALAR && strcmp(node->text, "true") == 0;
  const bool is_false = node->kind == SS_YAML_SCALAR && strcmp(node->text, "false") == 0;
  if (!is_true && !is_false) return SS_READ_FAIL(reader, node, "'%s' must be true or false", reader->key);
  *(bool *)boolean = is_true;
  return SS_OK;
}

ss_status ss_read_text(ss_reader *reader, const ss_yaml *node, void *text) {
  if (node->kind != SS_YAML_SCALAR)
    return SS_READ_FAIL(reader, node, "'%s' must be a text, not %s", reader->key, ss_yaml_kind_name(node));
  *(const char **)text = node->text;
  return SS_OK;
}

ss_status ss_read_name(ss_reader *reader, const ss_yaml *node, void *text) {
  SS_TRY(ss_read_text(reader, node, text));
  if (node->text[0] == '\0') return SS_READ_FAIL(reader, node, "'%s' must not be empty", reader->key);
  if (strpbrk(node->text, "\n\t")) return SS_READ_FAIL(reader, node, "'%s' must be on one line", reader->key);
  return SS_OK;
}
