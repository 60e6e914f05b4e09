/* Names of a scene's bodies, sorted: found in log n, so that scenes with many bodies, joints and contacts are read in n log n. */
#ifndef SS_MODEL_BODY_NAMES_H
#define SS_MODEL_BODY_NAMES_H

#include "core/arena.h"

#include <stickslip/scene.h>

typedef struct ss_body_name {
  const char *name;
  int index; /* in scene->bodies */
} ss_body_name;

typedef struct ss_body_names {
  const ss_body_name *items; /* [n], equal names by index */
  int n;
} ss_body_names;

ss_status ss_sort_body_names(const ss_scene *scene, ss_arena *arena, ss_body_names *out, ss_error *error);

/* The place k of an item whose name is that of item k - 1; 0: all names differ. */
int ss_repeated_body_name(const ss_body_names *names);

/* As ss_scene_find_body: SS_WORLD is the world, SS_NO_BODY none. */
enum { SS_NO_BODY = -2 };
int ss_find_body_name(const ss_body_names *names, const char *name);

#endif
