#include "io/yaml_tree.h"

#include "core/words.h"

#include <string.h>
#include <yaml.h>

enum { MAX_DEPTH = 32, MAX_NODES = 4000000, MAX_KEYS = 4096, MAX_ANCHORS = 1024, FIRST_ITEMS = 4 };

typedef struct anchor {
  const char *name;
  const ss_yaml *node;
} anchor;

typedef struct builder {
  yaml_parser_t parser;
  const char *text;
  const char *file;
  ss_arena *arena;
  anchor anchors[MAX_ANCHORS];
  int n_anchors;
  long nodes; /* so far, aliases expanded */
  int depth;
  ss_error *error;
} builder;

static ss_mark place(yaml_mark_t mark) { return (ss_mark){(int)mark.line + 1, (int)mark.column + 1}; }

#define FAIL(b, mark, ...) ss_fail_place((b)->error, SS_ERROR_INPUT, (b)->file, (mark), __VA_ARGS__)

static ss_status out_of_memory(builder *b) { return ss_fail(b->error, SS_ERROR_MEMORY, "out of memory"); }

/* Errors of the byte reader have an offset only. */
static ss_mark place_of_offset(const char *text, size_t offset) {
  ss_mark mark = {1, 1};
  for (size_t i = 0; i < offset; i++) {
    if (text[i] == '\n')
      mark = (ss_mark){mark.line + 1, 1};
    else if (((unsigned char)text[i] & 0xC0) != 0x80)
      mark.column++;
  }
  return mark;
}

static char character_at(const char *text, size_t index) {
  for (; *text && index > 0; index--) do
      text++;
    while (((unsigned char)*text & 0xC0) == 0x80);
  return *text;
}

static ss_status parser_failure(builder *b) {
  const yaml_parser_t *p = &b->parser;
  const char *problem = p->problem ? p->problem : "not understood";
  if (p->error == YAML_MEMORY_ERROR) return out_of_memory(b);
  if (p->error == YAML_READER_ERROR)
    return FAIL(b, place_of_offset(b->text, p->problem_offset), "not a text file in UTF-8: %s", problem);
  if (p->error == YAML_SCANNER_ERROR && character_at(b->text, p->problem_mark.index) == '\t')
    return FAIL(b, place(p->problem_mark), "YAML: a tab cannot indent; use spaces");
  if (p->context && p->context_mark.line < p->problem_mark.line) /* the mistake is between the two */
    return FAIL(b, place(p->problem_mark), "YAML: %s that begins in line %d, %s", p->context,
                place(p->context_mark).line, problem);
  if (p->context) return FAIL(b, place(p->problem_mark), "YAML: %s %s", p->context, problem);
  return FAIL(b, place(p->problem_mark), "YAML: %s", problem);
}

/* The caller deletes the event. */
static ss_status next_event(builder *b, yaml_event_t *event) {
  return yaml_parser_parse(&b->parser, event) ? SS_OK : parser_failure(b);
}

static ss_status count_nodes(builder *b, ss_mark mark, long nodes) {
  b->nodes += nodes;
  if (b->nodes > MAX_NODES) return FAIL(b, mark, "the file has more than %d values", MAX_NODES);
  return SS_OK;
}

static ss_status resolve_alias(builder *b, const yaml_event_t *event, const ss_yaml **out) {
  const char *name = (const char *)event->data.alias.anchor;
  const ss_mark mark = place(event->start_mark);
  for (int i = b->n_anchors - 1; i >= 0; i--)
    if (strcmp(b->anchors[i].name, name) == 0) {
      *out = b->anchors[i].node;
      return count_nodes(b, mark, (*out)->nodes);
    }
  return FAIL(b, mark, "the alias '*%s' has no anchor before it", ss_printable(name).text);
}

static ss_status add_anchor(builder *b, const yaml_char_t *name, const ss_yaml *node) {
  if (!name) return SS_OK;
  if (b->n_anchors == MAX_ANCHORS) return FAIL(b, node->mark, "more than %d anchors", MAX_ANCHORS);
  char *copy = ss_arena_strdup(b->arena, (const char *)name);
  if (!copy) return out_of_memory(b);
  b->anchors[b->n_anchors++] = (anchor){copy, node};
  return SS_OK;
}

static ss_status fill_scalar(builder *b, const yaml_event_t *event, ss_yaml *node) {
  const char *value = (const char *)event->data.scalar.value;
  const size_t length = event->data.scalar.length;
  if (strlen(value) != length) return FAIL(b, node->mark, "the text contains a NUL character");
  for (size_t i = 0; i < length; i++) {
    const unsigned char c = (unsigned char)value[i], next = i + 1 < length ? (unsigned char)value[i + 1] : 0xFF;
    const bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
    if (control || (c == 0xC2 && next < 0xA0)) /* C2 80 .. C2 9F: U+0080 .. U+009F */
      return FAIL(b, node->mark, "the text contains a control character (U+%04X)", control ? c : next);
  }
  node->text = ss_arena_strdup(b->arena, value);
  if (!node->text) return out_of_memory(b);
  node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  size_t characters = 0;
  for (size_t i = 0; i < length; i++) characters += ((unsigned char)value[i] & 0xC0) != 0x80;
  const size_t quotes = node->quoted ? 2 : 0;
  if (event->start_mark.line == event->end_mark.line &&
      event->end_mark.column - event->start_mark.column == characters + quotes)
    node->text_column = node->mark.column + (int)quotes / 2;
  return SS_OK;
}

static ss_status append_item(builder *b, ss_yaml *node, ss_yaml_item item) {
  const int n = node->count;
  if (n == 0 || (n >= FIRST_ITEMS && (n & (n - 1)) == 0)) { /* room: the power of two at or above the count */
    ss_yaml_item *grown = SS_ARENA_ARRAY(b->arena, ss_yaml_item, n == 0 ? FIRST_ITEMS : 2 * n);
    if (!grown) return out_of_memory(b);
    if (n > 0) memcpy(grown, node->items, sizeof *grown * (size_t)n);
    node->items = grown;
  }
  node->items[node->count++] = item;
  node->nodes += item.value->nodes + (item.key != NULL);
  return SS_OK;
}

static ss_status check_key(builder *b, const ss_yaml *map, const ss_yaml *key) {
  if (key->kind != SS_YAML_SCALAR) return FAIL(b, key->mark, "a key must be a word, not %s", ss_yaml_kind_name(key));
  if (map->count == MAX_KEYS) return FAIL(b, key->mark, "more than %d keys in one mapping", MAX_KEYS);
  for (int i = 0; i < map->count; i++)
    if (strcmp(map->items[i].key->text, key->text) == 0)
      return FAIL(b, key->mark, "the key '%s' is given twice (first in line %d)", ss_printable(key->text).text,
                  map->items[i].key->mark.line);
  return SS_OK;
}

static ss_status build(builder *b, const yaml_event_t *event, const ss_yaml **out);

/* Reads the next event; *end tells whether it was the given one, otherwise *out is the node that starts with it. */
static ss_status build_next(builder *b, yaml_event_type_t end_type, bool *end, const ss_yaml **out) {
  yaml_event_t event;
  SS_TRY(next_event(b, &event));
  *end = event.type == end_type;
  const ss_status status = *end ? SS_OK : build(b, &event, out);
  yaml_event_delete(&event);
  return status;
}

static ss_status fill_collection(builder *b, ss_yaml *node) {
  const bool map = node->kind == SS_YAML_MAP;
  if (++b->depth > MAX_DEPTH) return FAIL(b, node->mark, "nested more than %d levels deep", MAX_DEPTH);
  for (;;) {
    ss_yaml_item item = {NULL, NULL};
    bool end = false;
    if (map) {
      SS_TRY(build_next(b, YAML_MAPPING_END_EVENT, &end, &item.key));
      if (end) break;
      SS_TRY(check_key(b, node, item.key));
      SS_TRY(build_next(b, YAML_NO_EVENT, &end, &item.value));
    } else {
      SS_TRY(build_next(b, YAML_SEQUENCE_END_EVENT, &end, &item.value));
      if (end) break;
    }
    SS_TRY(append_item(b, node, item));
  }
  b->depth--;
  return SS_OK;
}

static ss_status build(builder *b, const yaml_event_t *event, const ss_yaml **out) {
  if (event->type == YAML_ALIAS_EVENT) return resolve_alias(b, event, out);
  const ss_mark mark = place(event->start_mark);
  SS_TRY(count_nodes(b, mark, 1));
  ss_yaml *node = SS_ARENA_ARRAY(b->arena, ss_yaml, 1);
  if (!node) return out_of_memory(b);
  node->mark = mark;
  node->nodes = 1;
  const yaml_char_t *name = NULL, *tag = NULL;
  if (event->type == YAML_SCALAR_EVENT) {
    node->kind = SS_YAML_SCALAR;
    name = event->data.scalar.anchor;
    tag = event->data.scalar.tag;
    SS_TRY(fill_scalar(b, event, node));
  } else {
    const bool map = event->type == YAML_MAPPING_START_EVENT;
    node->kind = map ? SS_YAML_MAP : SS_YAML_LIST;
    name = map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    tag = map ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    SS_TRY(fill_collection(b, node));
  }
  if (tag) return FAIL(b, mark, "tags such as '%s' are not used in scenes", ss_printable((const char *)tag).text);
  *out = node;
  return add_anchor(b, name, node);
}

static ss_status build_document(builder *b, const ss_yaml **out) {
  bool end = false;
  for (int i = 0; i < 2; i++) { /* stream start, document start */
    yaml_event_t event;
    SS_TRY(next_event(b, &event));
    const yaml_event_type_t type = event.type;
    yaml_event_delete(&event);
    if (type == YAML_STREAM_END_EVENT)
      return FAIL(b, ((ss_mark){1, 1}), "the file is empty: expected keys and their values");
  }
  SS_TRY(build_next(b, YAML_NO_EVENT, &end, out));
  for (int i = 0; i < 2; i++) { /* document end, stream end */
    yaml_event_t event;
    SS_TRY(next_event(b, &event));
    const bool another = event.type == YAML_DOCUMENT_START_EVENT;
    const ss_mark mark = place(event.start_mark);
    yaml_event_delete(&event);
    if (another) return FAIL(b, mark, "a second document starts here: a scene file holds one");
  }
  return SS_OK;
}

ss_status ss_yaml_parse(const char *text, size_t length, const char *file, ss_arena *arena, const ss_yaml **out,
                        ss_error *error) {
  static const char byte_order_mark[] = "\xEF\xBB\xBF"; /* libyaml skips it only where it guesses the encoding */
  const size_t skip = length >= 3 && memcmp(text, byte_order_mark, 3) == 0 ? 3 : 0;
  text += skip;
  length -= skip;
  builder *b = SS_ARENA_ARRAY(arena, builder, 1);
  if (!b) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  b->text = text;
  b->file = file;
  b->arena = arena;
  b->error = error;
  if (!yaml_parser_initialize(&b->parser)) return out_of_memory(b);
  yaml_parser_set_encoding(&b->parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&b->parser, (const unsigned char *)text, length);
  const ss_status status = build_document(b, out);
  yaml_parser_delete(&b->parser);
  return status;
}

const ss_yaml *ss_yaml_get(const ss_yaml *map, const char *key) {
  for (int i = 0; i < map->count; i++)
    if (strcmp(map->items[i].key->text, key) == 0) return map->items[i].value;
  return NULL;
}

const char *ss_yaml_kind_name(const ss_yaml *node) {
  return node->kind == SS_YAML_LIST ? "a list" : node->kind == SS_YAML_MAP ? "a mapping" : "a single value";
}
