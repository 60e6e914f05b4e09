/* Names of bodies: an index by name, so that scenes with many bodies and joints are read in n log n. */
#include "io/scene_reader.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b) {
  const ss_body_name *left = a, *right = b;
  const int order = strcmp(left->name, right->name);
  return order ? order : (left->index > right->index) - (left->index < right->index);
}

ss_status ss_index_bodies(ss_reader *reader, const ss_yaml *list) {
  const ss_scene *scene = reader->scene;
  ss_body_name *names = SS_ARENA_ARRAY(reader->scratch, ss_body_name, scene->n_bodies);
  if (!names) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < scene->n_bodies; i++) names[i] = (ss_body_name){scene->bodies[i].name, i};
  qsort(names, (size_t)scene->n_bodies, sizeof *names, by_name);
  reader->names = names;
  for (int i = 1; i < scene->n_bodies; i++)
    if (strcmp(names[i - 1].name, names[i].name) == 0)
      return SS_READ_FAIL(reader, ss_yaml_get(list->items[names[i].index].value, "name"),
                          "the body name '%s' is given twice (first in line %d)", ss_printable(names[i].name).text,
                          scene->bodies[names[i - 1].index].mark.line);
  return SS_OK;
}

int ss_find_body(const ss_reader *reader, const char *name) {
  if (strcmp(name, "world") == 0) return SS_WORLD;
  int low = 0, high = reader->scene->n_bodies;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const int order = strcmp(reader->names[middle].name, name);
    if (order == 0) return reader->names[middle].index;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return SS_NO_BODY;
}

ss_status ss_read_body(ss_reader *reader, const ss_yaml *node, void *index) {
  const char *name = NULL;
  SS_TRY(ss_read_name(reader, node, &name));
  *(int *)index = ss_find_body(reader, name);
  if (*(int *)index != SS_NO_BODY) return SS_OK;
  ss_nearest nearest = {.word = name};
  ss_word_list all = {0};
  ss_word_list_add(&all, "world");
  ss_nearest_offer(&nearest, "world");
  for (int i = 0; i < reader->scene->n_bodies; i++) {
    ss_nearest_offer(&nearest, reader->scene->bodies[i].name);
    ss_word_list_add(&all, reader->scene->bodies[i].name);
  }
  const ss_printable_text shown = ss_printable(name);
  if (nearest.best)
    return SS_READ_FAIL(reader, node, "unknown body '%s'; did you mean '%s'?", shown.text,
                        ss_printable(nearest.best).text);
  return SS_READ_FAIL(reader, node, "unknown body '%s' (bodies: %s)", shown.text, all.text);
}

ss_status ss_read_between(ss_reader *reader, const ss_yaml *node, void *two_indices) {
  int *body = two_indices;
  SS_TRY(ss_expect_list(reader, node, "two names of bodies"));
  if (node->count != 2)
    return SS_READ_FAIL(reader, node, "'%s' must be a list of two names of bodies, not %d", reader->key, node->count);
  for (int i = 0; i < 2; i++) SS_TRY(ss_read_body(reader, node->items[i].value, &body[i]));
  if (body[0] == body[1])
    return SS_READ_FAIL(reader, node->items[1].value, "'%s' names the same body twice", reader->key);
  return SS_OK;
}
