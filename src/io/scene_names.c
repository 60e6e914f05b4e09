/* Names of bodies in scenes. */
#include "io/scene_reader.h"

ss_status ss_index_bodies(ss_reader *reader, const ss_yaml *list) {
  const ss_scene *scene = reader->scene;
  SS_TRY(ss_sort_body_names(scene, reader->scratch, &reader->names, reader->error));
  const int k = ss_repeated_body_name(&reader->names);
  if (k == 0) return SS_OK;
  const ss_body_name *again = &reader->names.items[k];
  return SS_READ_FAIL(reader, ss_yaml_get(list->items[again->index].value, "name"),
                      "the body name '%s' is given twice (first in line %d)", ss_printable(again->name).text,
                      scene->bodies[again[-1].index].mark.line);
}

ss_status ss_read_body(ss_reader *reader, const ss_yaml *node, void *index) {
  const char *name = NULL;
  SS_TRY(ss_read_name(reader, node, &name));
  *(int *)index = ss_find_body_name(&reader->names, name);
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
  const char *ours = ss_our_word("body", name);
  if (ours) return SS_READ_FAIL(reader, node, "unknown body '%s': write %s", shown.text, ours);
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
