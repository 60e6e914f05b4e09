/* Names of bodies, sorted. */
#include "model/body_names.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b) {
  const ss_body_name *left = a, *right = b;
  const int order = strcmp(left->name, right->name);
  return order ? order : (left->index > right->index) - (left->index < right->index);
}

ss_status ss_sort_body_names(const ss_scene *scene, ss_arena *arena, ss_body_names *out, ss_error *error) {
  ss_body_name *items = SS_ARENA_ARRAY(arena, ss_body_name, scene->n_bodies);
  if (!items) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < scene->n_bodies; i++) items[i] = (ss_body_name){scene->bodies[i].name, i};
  qsort(items, (size_t)scene->n_bodies, sizeof *items, by_name);
  *out = (ss_body_names){items, scene->n_bodies};
  return SS_OK;
}

int ss_repeated_body_name(const ss_body_names *names) {
  for (int k = 1; k < names->n; k++)
    if (strcmp(names->items[k - 1].name, names->items[k].name) == 0) return k;
  return 0;
}

int ss_find_body_name(const ss_body_names *names, const char *name) {
  if (strcmp(name, "world") == 0) return SS_WORLD;
  int low = 0, high = names->n;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const int order = strcmp(names->items[middle].name, name);
    if (order == 0) return names->items[middle].index;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return SS_NO_BODY;
}
