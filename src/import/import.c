/* From a URDF or MJCF file to a scene file. */
#include "import/import.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ss_import_note(ss_import *import, const char *format, ...) {
  char text[sizeof import->remarks->text];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  for (int i = 0; i < import->n_remarks; i++)
    if (strcmp(import->remarks[i].text, text) == 0) {
      import->remarks[i].count++;
      return;
    }
  if (import->n_remarks == import->remark_capacity) return; /* there is room for all kinds; see ss_import_model */
  ss_import_remark *remark = &import->remarks[import->n_remarks++];
  memcpy(remark->text, text, sizeof text);
  remark->count = 1;
}

/* ---- growing lists ---- */

static bool grow(ss_arena *arena, void **array, int n, int *capacity, size_t size) {
  if (n < *capacity) return true;
  const int larger = *capacity ? 2 * *capacity : 16;
  void *memory = ss_arena_alloc(arena, size * (size_t)larger);
  if (!memory) return false;
  if (n > 0) memcpy(memory, *array, size * (size_t)n);
  *array = memory;
  *capacity = larger;
  return true;
}

static ss_status no_memory(ss_import *import) { return ss_fail(import->error, SS_ERROR_MEMORY, "out of memory"); }

ss_import_part *ss_import_add_part(ss_import *i, const char *name, int parent, ss_pose pose) {
  if (!grow(i->arena, (void **)&i->parts, i->n_parts, &i->part_capacity, sizeof *i->parts)) return NULL;
  ss_import_part *part = &i->parts[i->n_parts++];
  *part = (ss_import_part){.name = name, .parent = parent, .pose = pose};
  return part;
}

ss_status ss_import_add_shape(ss_import *i, ss_import_part *part, const ss_shape_def *shape) {
  if (!grow(i->arena, (void **)&part->shapes, part->n_shapes, &part->shape_capacity, sizeof *shape))
    return no_memory(i);
  part->shapes[part->n_shapes++] = *shape;
  return SS_OK;
}

ss_status ss_import_add_closure(ss_import *i, const ss_import_closure *closure) {
  if (!grow(i->arena, (void **)&i->closures, i->n_closures, &i->closure_capacity, sizeof *closure)) return no_memory(i);
  i->closures[i->n_closures++] = *closure;
  return SS_OK;
}

ss_status ss_import_exclude(ss_import *i, int a, int b) {
  if (!grow(i->arena, (void **)&i->exclusions, i->n_exclusions, &i->exclusion_capacity, sizeof *i->exclusions))
    return no_memory(i);
  i->exclusions[i->n_exclusions++] = (ss_import_exclusion){{a, b}};
  return SS_OK;
}

int ss_import_find(const ss_import *i, const char *name) {
  if (strcmp(name, "world") == 0) return SS_IMPORT_WORLD;
  for (int k = 0; k < i->n_parts; k++)
    if (strcmp(i->parts[k].name, name) == 0) return k;
  return -2;
}

const char *ss_import_material(ss_import *i, double friction) {
  for (int k = 0; k < i->n_materials; k++)
    if (i->materials[k].friction == friction) return i->materials[k].name;
  if (!grow(i->arena, (void **)&i->materials, i->n_materials, &i->material_capacity, sizeof *i->materials)) return NULL;
  char name[40];
  if (i->n_materials == 0)
    (void)snprintf(name, sizeof name, "default");
  else
    (void)snprintf(name, sizeof name, "friction-%g", friction);
  const char *kept = ss_arena_strdup(i->arena, name);
  if (kept) i->materials[i->n_materials++] = (ss_material_def){.name = kept, .friction = friction};
  return kept;
}

/* ---- numbers ---- */

int ss_import_count(const char *text, double *numbers, int most) {
  int n = 0;
  for (;;) {
    text += strspn(text, " \t\r\n");
    if (!*text) return n;
    char *end;
    const double value = strtod(text, &end);
    if (end == text || !isfinite(value) || n == most) return -1;
    numbers[n++] = value;
    text = end;
  }
}

bool ss_import_numbers(ss_import *i, const ss_xml *e, const char *attribute, int count, double *numbers,
                       ss_status *status) {
  const char *text = ss_xml_attribute(e, attribute);
  if (!text || *status) return false;
  double read[16];
  if (ss_import_count(text, read, 16) != count) {
    *status = SS_IMPORT_FAIL(i, e, "<%s %s=\"%s\">: expected %d number%s", e->name, attribute, ss_printable(text).text,
                             count, count == 1 ? "" : "s");
    return false;
  }
  memcpy(numbers, read, sizeof *numbers * (size_t)count);
  return true;
}

bool ss_import_vector(ss_import *i, const ss_xml *e, const char *attribute, ss_vec3 *vector, ss_status *status) {
  double x[3];
  if (!ss_import_numbers(i, e, attribute, 3, x, status)) return false;
  *vector = v3(x[0], x[1], x[2]);
  return true;
}

/* ---- rotations ---- */

ss_quat ss_quat_from_axis(ss_vec3 axis, double angle) {
  const double length = v3_norm(axis), s = length > 0 ? sin(angle / 2) / length : 0;
  return (ss_quat){cos(angle / 2), s * axis.x, s * axis.y, s * axis.z};
}

ss_quat ss_quat_from_rpy(double roll, double pitch, double yaw) {
  const ss_quat x = ss_quat_from_axis(v3(1, 0, 0), roll), y = ss_quat_from_axis(v3(0, 1, 0), pitch),
                z = ss_quat_from_axis(v3(0, 0, 1), yaw);
  return quat_multiply(z, quat_multiply(y, x));
}

ss_quat ss_quat_between(ss_vec3 from, ss_vec3 to) {
  const double c = v3_dot(from, to);
  if (c < -1 + 1e-12) return ss_quat_from_axis(v3_perpendicular(from), acos(-1));
  const ss_vec3 axis = v3_cross(from, to);
  return quat_normalize((ss_quat){1 + c, axis.x, axis.y, axis.z});
}

ss_quat ss_quat_from_axes(ss_vec3 x, ss_vec3 y) {
  x = v3_normalize(x);
  const ss_quat first = ss_quat_between(v3(1, 0, 0), x);
  const ss_vec3 across = v3_normalize(v3_sub(y, v3_scale(v3_dot(x, y), x)));
  const ss_vec3 now = quat_rotate(first, v3(0, 1, 0));
  const double angle = atan2(v3_dot(v3_cross(now, across), x), v3_dot(now, across));
  return quat_normalize(quat_multiply(ss_quat_from_axis(x, angle), first));
}

/* ---- the whole ---- */

static ss_status read_model(ss_import *import, bool fixed_base) {
  ss_xml *root = NULL;
  SS_TRY(ss_xml_read(import->file, import->arena, &root, import->error));
  if (strcmp(root->name, "robot") == 0) return ss_import_urdf(import, root, fixed_base);
  if (strcmp(root->name, "mujoco") == 0) return ss_import_mjcf(import, root);
  return SS_IMPORT_FAIL(import, root, "expected <robot> (URDF) or <mujoco> (MJCF), not <%s>",
                        ss_printable(root->name).text);
}

static void tell(const ss_import *import, ss_import_listener listener, void *user) {
  for (int i = 0; listener && i < import->n_remarks; i++) {
    char text[sizeof import->remarks->text + 24];
    const ss_import_remark *remark = &import->remarks[i];
    if (remark->count > 1)
      (void)snprintf(text, sizeof text, "%s (%d times)", remark->text, remark->count);
    else
      (void)snprintf(text, sizeof text, "%s", remark->text);
    listener(user, text);
  }
}

ss_status ss_import_model(const char *path, bool fixed_base, ss_import_listener listener, void *user, ss_scene **out,
                          ss_error *error) {
  enum { REMARKS = 500 };
  ss_error own = {0};
  *out = NULL;
  ss_import import = {.arena = ss_arena_create(),
                      .file = path,
                      .gravity = {0, 0, -9.81},
                      .step = 0.002,
                      .remark_capacity = REMARKS,
                      .error = error ? error : &own};
  ss_scene *scene = NULL;
  import.remarks = import.arena ? SS_ARENA_ARRAY(import.arena, ss_import_remark, REMARKS) : NULL;
  ss_status status = import.remarks ? ss_scene_create(&scene, import.error) : no_memory(&import);
  if (!status) status = read_model(&import, fixed_base);
  if (!status) status = ss_import_build(&import, scene);
  tell(&import, listener, user);
  if (status)
    ss_scene_destroy(scene);
  else
    *out = scene;
  ss_arena_destroy(import.arena);
  return status;
}
