#include "bvp/scene_text.h"

#include "core/arena.h"
#include "io/yaml_tree.h"

#include <stdio.h>
#include <string.h>

/* The character at a mark; columns count characters of UTF-8, not bytes. NULL: beyond the end. */
static const char *at_mark(const char *text, ss_mark mark) {
  for (int line = 1; line < mark.line; line++) {
    text = strchr(text, '\n');
    if (!text) return NULL;
    text++;
  }
  for (int column = 1; column < mark.column; column++) {
    if (*text == '\0' || *text == '\n') return NULL;
    do text++;
    while (((unsigned char)*text & 0xC0) == 0x80);
  }
  return text;
}

/* How many bytes of the file a scalar takes; 0: it does not stand there as one piece. */
static size_t length_of(const char *place, const ss_yaml *scalar) {
  if (!scalar->quoted) return strncmp(place, scalar->text, strlen(scalar->text)) == 0 ? strlen(scalar->text) : 0;
  if (*place != '"' && *place != '\'') return 0;
  const char *end = place + 1;
  while (*end && *end != *place && *end != '\\' && *end != '\n') end++;
  return *end == *place ? (size_t)(end - place) + 1 : 0;
}

/* text with the `gone` bytes at `place` replaced by three pieces. */
static ss_status splice(char **text, const char *place, size_t gone, const char *const pieces[3], ss_error *error) {
  const size_t before = (size_t)(place - *text), rest = strlen(place + gone);
  size_t added = 0;
  for (int i = 0; i < 3; i++) added += strlen(pieces[i]);
  char *out = ss_alloc(before + added + rest + 1);
  if (!out) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  memcpy(out, *text, before);
  char *end = out + before;
  for (int i = 0; i < 3; i++) {
    memcpy(end, pieces[i], strlen(pieces[i]));
    end += strlen(pieces[i]);
  }
  memcpy(end, place + gone, rest + 1);
  ss_free(*text);
  *text = out;
  return SS_OK;
}

/* A new entry at the head of the map. */
static ss_status insert(char **text, const char *place, const ss_yaml *map, const char *entry, ss_error *error) {
  char indent[256] = "\n";
  if (*place == '{') {
    const char *const pieces[3] = {"{", entry, map->count > 0 ? ", " : ""};
    return splice(text, place, 1, pieces, error);
  }
  const size_t width = (size_t)(map->mark.column - 1);
  if (width + 2 > sizeof indent) return ss_fail(error, SS_ERROR_UNSUPPORTED, "the scene is indented too far");
  memset(indent + 1, ' ', width);
  const char *const pieces[3] = {entry, indent, ""};
  return splice(text, place, 0, pieces, error);
}

static ss_status set(char **text, const ss_yaml *root, const char *section, const char *key, const char *value,
                     ss_error *error) {
  char entry[512];
  const ss_yaml *map = ss_yaml_get(root, section);
  const ss_yaml *old = map && map->kind == SS_YAML_MAP ? ss_yaml_get(map, key) : NULL;
  (void)snprintf(entry, sizeof entry, "%s: %s", key, value);
  if (!map) {
    (void)snprintf(entry, sizeof entry, "%s: {%s: %s}\n", section, key, value);
    const char *const pieces[3] = {entry, "", ""};
    return splice(text, *text + strlen(*text), 0, pieces, error);
  }
  const char *place = at_mark(*text, old ? old->mark : map->mark);
  if (place && map->kind == SS_YAML_MAP && !old) return insert(text, place, map, entry, error);
  const size_t length = place && old && old->kind == SS_YAML_SCALAR ? length_of(place, old) : 0;
  if (length == 0)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "the value of '%s' in '%s' cannot be replaced in the scene's text", key,
                   section);
  const char *const pieces[3] = {value, "", ""};
  return splice(text, place, length, pieces, error);
}

ss_status ss_scene_text_set(char **text, const char *section, const char *key, const char *value, ss_error *error) {
  ss_arena *arena = ss_arena_create();
  if (!arena) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const ss_yaml *root = NULL;
  ss_status status = ss_yaml_parse(*text, strlen(*text), "scene", arena, &root, error);
  if (status == SS_OK) status = set(text, root, section, key, value, error);
  ss_arena_destroy(arena);
  return status;
}
