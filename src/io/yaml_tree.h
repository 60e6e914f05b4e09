/* A YAML document as a tree of nodes with their places. The only file that knows libyaml is yaml_tree.c. */
#ifndef SS_IO_YAML_TREE_H
#define SS_IO_YAML_TREE_H

#include "core/arena.h"

#include <stickslip/base.h>

typedef enum ss_yaml_kind { SS_YAML_SCALAR, SS_YAML_LIST, SS_YAML_MAP } ss_yaml_kind;

typedef struct ss_yaml ss_yaml;

typedef struct ss_yaml_item {
  const ss_yaml *key; /* a scalar; NULL in lists */
  const ss_yaml *value;
} ss_yaml_item;

struct ss_yaml {
  ss_yaml_kind kind;
  ss_mark mark;
  const char *text; /* scalar: ended by NUL, contains no other one */
  bool quoted;
  int text_column;     /* column of the text's first character where the text stands in the file as it is; else 0 */
  ss_yaml_item *items; /* list, map */
  int count;
  int nodes; /* in the subtree, this one included */
};

/* Parses one document. Refused: duplicate keys, keys that are not scalars, tags, several documents, an empty one, and
 * what is larger or deeper than any scene (aliases count as often as they are used). */
ss_status ss_yaml_parse(const char *text, size_t length, const char *file, ss_arena *arena, const ss_yaml **out,
                        ss_error *error);

/* The value of a key of a map; NULL: there is none. */
const ss_yaml *ss_yaml_get(const ss_yaml *map, const char *key);

/* "a number or word", "a list", "a mapping": for messages. */
const char *ss_yaml_kind_name(const ss_yaml *node);

#endif
