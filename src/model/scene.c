/* Scenes as data: creation, defaults, growth. Meaning (masses, overlaps, joints that hold) is checked by the model
 * compiler. Everything lives in the scene's arena; arrays double, so the memory left behind by growth is bounded by
 * what is in use. */
#include <stickslip/scene.h>

#include "core/arena.h"
#include "core/words.h"
#include "model/plane.h"

#include <math.h>
#include <string.h>

#define STANDARD_GRAVITY 9.81

ss_simulation ss_simulation_default(void) {
  return (ss_simulation){.scheme = "trapezoidal",
                         .alpha = 0.5,
                         .gamma = 0.5,
                         .theta = 0.5,
                         .step = 0.01,
                         .duration = 1,
                         .cone = SS_CONE_POLYHEDRAL,
                         .directions = 8,
                         .restitution = SS_RESTITUTION_POISSON,
                         .stabilization = SS_STABILIZATION_EXACT,
                         .solver = "auto",
                         .residual = 1e-8,
                         .sleep = true};
}

ss_status ss_scene_create(ss_scene **out, ss_error *error) {
  *out = NULL;
  ss_arena *arena = ss_arena_create();
  ss_scene *scene = arena ? SS_ARENA_ARRAY(arena, ss_scene, 1) : NULL;
  if (!scene) {
    ss_arena_destroy(arena);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  *scene = (ss_scene){.gravity = {0, 0, -STANDARD_GRAVITY}, .simulation = ss_simulation_default(), .arena = arena};
  const ss_status status = ss_scene_add_material(scene, &(ss_material_def){.name = "default"}, error);
  if (status != SS_OK) {
    ss_scene_destroy(scene);
    return status;
  }
  *out = scene;
  return SS_OK;
}

void ss_scene_destroy(ss_scene *scene) {
  if (scene) ss_arena_destroy(scene->arena); /* the scene itself lives there */
}

void ss_scene_set_planar(ss_scene *scene, ss_planar planar) {
  scene->planar = planar;
  const ss_plane plane = ss_plane_of(planar);
  scene->gravity = v3_scale(-STANDARD_GRAVITY, ss_axis_vector(planar == SS_SPATIAL ? 2 : plane.axes[1]));
}

ss_shape_def ss_shape_default(ss_shape_type type) {
  return (ss_shape_def){.type = type, .pose = pose_identity(), .axis = {1, 0, 0}, .normal = {0, 0, 1}};
}

ss_body_def ss_body_default(const char *name) {
  return (ss_body_def){.name = name, .freedom = SS_ALL, .mass = NAN, .density = NAN, .pose = pose_identity()};
}

ss_joint_def ss_joint_default(ss_joint_type type, int body_a, int body_b) {
  return (ss_joint_def){.type = type,
                        .body = {body_a, body_b},
                        .length = NAN,
                        .radius = NAN,
                        .radii = {NAN, NAN},
                        .ratio = NAN,
                        .pitch = NAN,
                        .spring_rest = NAN};
}

ss_force_def ss_force_default(ss_force_type type) {
  return (ss_force_def){.type = type, .body = {SS_WORLD, SS_WORLD}, .rest_length = NAN};
}

/* ---- growth ---- */

enum { FIRST_ROOM = 4 };

static ss_status out_of_memory(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

/* The array with room for one more element; NULL: out of memory. The room is the power of two at or above the count,
 * so a full array is known by its count alone. */
static void *with_room(ss_arena *arena, void *array, int count, size_t size) {
  const bool full = count == 0 || (count >= FIRST_ROOM && (count & (count - 1)) == 0);
  if (!full) return array;
  void *grown = ss_arena_alloc(arena, size * (count == 0 ? FIRST_ROOM : 2 * (size_t)count));
  if (grown && count > 0) memcpy(grown, array, size * (size_t)count);
  return grown;
}

/* Copies *text into the arena where there is one. */
static bool keep(ss_arena *arena, const char **text) {
  if (!*text) return true;
  *text = ss_arena_strdup(arena, *text);
  return *text != NULL;
}

/* A copy of the array; NULL: out of memory. */
static const void *keep_array(ss_arena *arena, const void *array, size_t bytes) {
  void *copy = ss_arena_alloc(arena, bytes);
  return copy ? memcpy(copy, array, bytes) : NULL;
}

static bool keep_shape(ss_arena *arena, ss_shape_def *shape) {
  if (shape->n_points > 0 && shape->points)
    shape->points = keep_array(arena, shape->points, sizeof *shape->points * (size_t)shape->n_points);
  if (shape->n_triangles > 0 && shape->triangles)
    shape->triangles = keep_array(arena, shape->triangles, 3 * sizeof *shape->triangles * (size_t)shape->n_triangles);
  if (shape->rows > 0 && shape->columns > 0 && shape->heights)
    shape->heights =
        keep_array(arena, shape->heights, sizeof *shape->heights * (size_t)shape->rows * (size_t)shape->columns);
  if ((shape->n_points > 0 && !shape->points) || (shape->n_triangles > 0 && !shape->triangles) ||
      (shape->rows > 0 && shape->columns > 0 && !shape->heights))
    return false;
  return keep(arena, &shape->material);
}

ss_status ss_scene_add_material(ss_scene *scene, const ss_material_def *material, ss_error *error) {
  if (!material->name || !material->name[0]) return ss_fail(error, SS_ERROR_INPUT, "a material needs a name");
  ss_material_def copy = *material;
  if (!keep(scene->arena, &copy.name)) return out_of_memory(error);
  for (int i = 0; i < scene->n_materials; i++) {
    if (strcmp(scene->materials[i].name, copy.name) != 0) continue;
    const bool built_in =
        i == 0 && scene->materials[i].mark.line == 0; /* "default", not from a file: may be redefined */
    if (!built_in)
      return ss_fail(error, SS_ERROR_INPUT, "the material '%s' is defined twice", ss_printable(copy.name).text);
    scene->materials[i] = copy;
    return SS_OK;
  }
  ss_material_def *grown = with_room(scene->arena, scene->materials, scene->n_materials, sizeof *grown);
  if (!grown) return out_of_memory(error);
  scene->materials = grown;
  scene->materials[scene->n_materials++] = copy;
  return SS_OK;
}

ss_status ss_scene_add_contact(ss_scene *scene, const ss_contact_def *contact, ss_error *error) {
  ss_contact_def copy = *contact;
  if (!copy.between[0] || !copy.between[1]) return ss_fail(error, SS_ERROR_INPUT, "a contact needs two names");
  ss_contact_def *grown = with_room(scene->arena, scene->contacts, scene->n_contacts, sizeof *grown);
  if (copy.n_generators > 0) {
    const size_t bytes = sizeof *copy.generators * (size_t)copy.n_generators;
    double *own = ss_arena_alloc(scene->arena, bytes);
    if (!own) return out_of_memory(error);
    memcpy(own, contact->generators, bytes);
    copy.generators = (const double(*)[SS_GENERATOR])own;
  }
  if (!grown || !keep(scene->arena, &copy.between[0]) || !keep(scene->arena, &copy.between[1]))
    return out_of_memory(error);
  scene->contacts = grown;
  scene->contacts[scene->n_contacts++] = copy;
  return SS_OK;
}

ss_status ss_scene_add_world_shape(ss_scene *scene, const ss_shape_def *shape, ss_error *error) {
  ss_shape_def copy = *shape;
  ss_shape_def *grown = with_room(scene->arena, scene->world_shapes, scene->n_world_shapes, sizeof *grown);
  if (!grown || !keep_shape(scene->arena, &copy)) return out_of_memory(error);
  scene->world_shapes = grown;
  scene->world_shapes[scene->n_world_shapes++] = copy;
  return SS_OK;
}

ss_status ss_scene_add_body(ss_scene *scene, const ss_body_def *body, ss_error *error) {
  ss_body_def copy = *body;
  if (!copy.name || !copy.name[0]) return ss_fail(error, SS_ERROR_INPUT, "a body needs a name");
  if (strcmp(copy.name, "world") == 0)
    return ss_fail(error, SS_ERROR_INPUT, "a body cannot be named 'world': that is the immovable surroundings");
  copy.freedom &= ss_plane_of(scene->planar).freedom;
  ss_shape_def *shapes = SS_ARENA_ARRAY(scene->arena, ss_shape_def, copy.n_shapes);
  ss_body_def *grown = with_room(scene->arena, scene->bodies, scene->n_bodies, sizeof *grown);
  if (!shapes || !grown || !keep(scene->arena, &copy.name)) return out_of_memory(error);
  for (int i = 0; i < copy.n_shapes; i++) {
    shapes[i] = copy.shapes[i];
    if (!keep_shape(scene->arena, &shapes[i])) return out_of_memory(error);
  }
  copy.shapes = shapes;
  scene->bodies = grown;
  scene->bodies[scene->n_bodies++] = copy;
  return SS_OK;
}

ss_status ss_scene_add_joint(ss_scene *scene, const ss_joint_def *joint, ss_error *error) {
  ss_joint_def copy = *joint;
  ss_joint_def *grown = with_room(scene->arena, scene->joints, scene->n_joints, sizeof *grown);
  if (!grown || !keep(scene->arena, &copy.name)) return out_of_memory(error);
  scene->joints = grown;
  scene->joints[scene->n_joints++] = copy;
  return SS_OK;
}

ss_status ss_scene_add_force(ss_scene *scene, const ss_force_def *force, ss_error *error) {
  ss_force_def copy = *force;
  ss_force_def *grown = with_room(scene->arena, scene->forces, scene->n_forces, sizeof *grown);
  if (!grown || !keep(scene->arena, &copy.name)) return out_of_memory(error);
  scene->forces = grown;
  scene->forces[scene->n_forces++] = copy;
  return SS_OK;
}

int ss_scene_find_body(const ss_scene *scene, const char *name) {
  if (strcmp(name, "world") == 0) return SS_WORLD;
  for (int i = 0; i < scene->n_bodies; i++)
    if (strcmp(scene->bodies[i].name, name) == 0) return i;
  return -2;
}
