/* Materials and shapes. */
#include "io/scene_reader.h"
#include "model/plane.h"

#include <string.h>

/* ---- materials ---- */

static const ss_key material_keys[] = {
    {"name", ss_read_name, offsetof(ss_material_def, name), true, 0},
    {"friction", ss_read_nonnegative, offsetof(ss_material_def, friction), false, 0},
    {"restitution", ss_read_fraction, offsetof(ss_material_def, restitution), false, 0},
    {"torsion", ss_read_nonnegative, offsetof(ss_material_def, torsion), false, 0},
    {"rolling", ss_read_nonnegative, offsetof(ss_material_def, rolling), false, 0},
    {"compliance", ss_read_elastic, offsetof(ss_material_def, compliance), false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_material = {"material", material_keys};

ss_status ss_read_materials(ss_reader *reader, const ss_yaml *node, void *scene) {
  SS_TRY(ss_expect_list(reader, node, "materials"));
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *item = node->items[i].value;
    ss_material_def material = {.mark = item->mark};
    SS_TRY(ss_read_section(reader, item, &ss_section_material, -1, NULL, &material));
    const ss_status status = ss_scene_add_material(scene, &material, reader->error);
    if (status == SS_ERROR_INPUT) /* a name that was there before */
      return SS_READ_FAIL(reader, ss_yaml_get(item, "name"), "the material '%s' is defined twice",
                          ss_printable(material.name).text);
    SS_TRY(status);
  }
  return SS_OK;
}

static ss_status read_material_name(ss_reader *reader, const ss_yaml *node, void *text) {
  SS_TRY(ss_read_name(reader, node, text));
  ss_nearest nearest = {.word = node->text};
  ss_word_list all = {0};
  for (int i = 0; i < reader->scene->n_materials; i++) {
    const char *name = reader->scene->materials[i].name;
    if (strcmp(name, node->text) == 0) return SS_OK;
    ss_nearest_offer(&nearest, name);
    ss_word_list_add(&all, name);
  }
  const ss_printable_text shown = ss_printable(node->text);
  if (nearest.best)
    return SS_READ_FAIL(reader, node, "unknown material '%s'; did you mean '%s'?", shown.text,
                        ss_printable(nearest.best).text);
  return SS_READ_FAIL(reader, node, "unknown material '%s' (defined: %s)", shown.text, all.text);
}

/* ---- shapes ---- */

static const ss_word shape_words[] = {
    {"point", SS_SHAPE_POINT, false},
    {"sphere", SS_SHAPE_SPHERE, false},
    {"half-space", SS_SHAPE_HALF_SPACE, false},
    {"box", SS_SHAPE_BOX, false},
    {"capsule", SS_SHAPE_CAPSULE, false},
    {"ellipsoid", SS_SHAPE_ELLIPSOID, false},
    {"ellipse", SS_SHAPE_ELLIPSE, false},
    {"cylinder", SS_SHAPE_CYLINDER, false},
    {"convex", SS_SHAPE_CONVEX, false},
    {"height-field", SS_SHAPE_HEIGHT_FIELD, false},
    {"mesh", SS_SHAPE_MESH, false},
    {NULL, 0, false},
};
const ss_words ss_words_shape = {"shape_type", shape_words};

/* Full edge lengths. Two numbers in planar scenes: the depth out of the plane is 1, so that densities are per area. */
static ss_status read_size(ss_reader *reader, const ss_yaml *node, void *vec3) {
  int axes[3];
  SS_TRY(ss_expect_vector(reader, node, axes));
  double size[3] = {1, 1, 1};
  for (int i = 0; i < node->count; i++) SS_TRY(ss_read_positive(reader, node->items[i].value, &size[axes[i]]));
  *(ss_vec3 *)vec3 = v3(size[0], size[1], size[2]);
  return SS_OK;
}

/* In a planar scene a polygon: a prism of depth 1, like a box. */
static ss_status read_points(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_shape_def *shape = object;
  SS_TRY(ss_expect_list(reader, node, "points"));
  const int least = reader->scene->planar == SS_SPATIAL ? 4 : 3;
  if (node->count < least) return SS_READ_FAIL(reader, node, "expected at least %d points, not %d", least, node->count);
  const ss_planar planar = reader->scene->planar;
  const int copies = planar == SS_SPATIAL ? 1 : 2;
  ss_vec3 *points = SS_ARENA_ARRAY(reader->scratch, ss_vec3, copies * node->count);
  if (!points) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < node->count; i++) {
    ss_vec3 *p = &points[copies * i];
    SS_TRY(ss_read_vector(reader, node->items[i].value, p));
    if (copies == 1) continue;
    const int k = ss_plane_of(planar).normal;
    const ss_vec3 across = v3(k == 0 ? 0.5 : 0, k == 1 ? 0.5 : 0, k == 2 ? 0.5 : 0);
    p[1] = v3_add(p[0], across);
    p[0] = v3_sub(p[0], across);
  }
  shape->points = points;
  shape->n_points = copies * node->count;
  return SS_OK;
}

static ss_status read_semi_axes(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_shape_def *shape = object;
  double size[3] = {0};
  if (shape->type == SS_SHAPE_ELLIPSOID) {
    SS_TRY(ss_read_numbers(reader, node, 3, size));
  } else {
    if (reader->scene->planar == SS_SPATIAL)
      return SS_READ_FAIL(reader, node, "an ellipse belongs to planar scenes; in space use an ellipsoid");
    double in_plane[2];
    SS_TRY(ss_read_numbers(reader, node, 2, in_plane));
    const ss_plane plane = ss_plane_of(reader->scene->planar);
    for (int i = 0; i < 2; i++) size[plane.axes[i]] = in_plane[i];
  }
  for (int i = 0; i < node->count; i++) {
    double value;
    SS_TRY(ss_read_positive(reader, node->items[i].value, &value));
  }
  shape->semi_axes = v3(size[0], size[1], size[2]);
  return SS_OK;
}

enum {
  SPHERE = 1 << SS_SHAPE_SPHERE,
  HALF_SPACE = 1 << SS_SHAPE_HALF_SPACE,
  BOX = 1 << SS_SHAPE_BOX,
  CONVEX = 1 << SS_SHAPE_CONVEX,
  CAPSULE = 1 << SS_SHAPE_CAPSULE,
  CYLINDER = 1 << SS_SHAPE_CYLINDER,
  ROUND = 1 << SS_SHAPE_ELLIPSOID | 1 << SS_SHAPE_ELLIPSE,
  MESH = 1 << SS_SHAPE_MESH,
  HEIGHT_FIELD = 1 << SS_SHAPE_HEIGHT_FIELD
};

static const ss_key shape_keys[] = {
    {"type", ss_read_type_done, 0, true, 0},
    {"radius", ss_read_positive, offsetof(ss_shape_def, radius), true, SPHERE | CAPSULE | CYLINDER},
    {"length", ss_read_positive, offsetof(ss_shape_def, length), true, CAPSULE | CYLINDER},
    {"axis", ss_read_direction, offsetof(ss_shape_def, axis), false, CAPSULE | CYLINDER},
    {"size", read_size, offsetof(ss_shape_def, size), true, BOX},
    {"points", read_points, 0, false, CONVEX},
    {"corners", ss_read_corners, 0, false, CONVEX},
    {"vertices", ss_read_vertices, 0, false, MESH},
    {"triangles", ss_read_triangles, 0, false, MESH},
    {"heights", ss_read_heights, 0, false, HEIGHT_FIELD},
    {"spacing", ss_read_spacing, 0, true, HEIGHT_FIELD},
    {"file", ss_read_mesh_file, 0, false, CONVEX | MESH | HEIGHT_FIELD},
    {"scale", ss_read_mesh_scale, 0, false, CONVEX | MESH | HEIGHT_FIELD},
    {"semi_axes", read_semi_axes, 0, true, ROUND},
    {"normal", ss_read_direction, offsetof(ss_shape_def, normal), true, HALF_SPACE},
    {"offset", ss_read_number, offsetof(ss_shape_def, offset), false, HALF_SPACE},
    {"position", ss_read_vector, offsetof(ss_shape_def, pose.position), false, 0},
    {"orientation", ss_read_orientation, offsetof(ss_shape_def, pose.orientation), false, 0},
    {"material", read_material_name, offsetof(ss_shape_def, material), false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_shape = {"shape", shape_keys};

/* {x : n.x <= offset} in the shape's frame is {x : Rn.x <= offset + Rn.p} in the body's: the pose goes into the normal
 * and the offset, and a half-space never has one. */
static void absorb_pose(ss_shape_def *half_space) {
  const ss_vec3 normal = quat_rotate(half_space->pose.orientation, v3_normalize(half_space->normal));
  half_space->normal = normal;
  half_space->offset += v3_dot(normal, half_space->pose.position);
  half_space->pose = pose_identity();
}

ss_status ss_read_shape(ss_reader *reader, const ss_yaml *node, ss_shape_def *shape) {
  int type = 0;
  const char *type_name = NULL;
  SS_TRY(ss_read_type(reader, node, &ss_section_shape, &ss_words_shape, &type, &type_name));
  ss_shape_source source = {.shape = ss_shape_default((ss_shape_type)type), .scale = {1, 1, 1}};
  source.shape.mark = node->mark;
  SS_TRY(ss_read_section(reader, node, &ss_section_shape, type, type_name, &source));
  SS_TRY(ss_finish_mesh(reader, node, &source));
  *shape = source.shape;
  if (shape->type == SS_SHAPE_HALF_SPACE) absorb_pose(shape);
  return SS_OK;
}

/* ---- the world ---- */

static ss_status read_world_shapes(ss_reader *reader, const ss_yaml *node, void *scene) {
  SS_TRY(ss_expect_list(reader, node, "shapes"));
  for (int i = 0; i < node->count; i++) {
    ss_shape_def shape;
    SS_TRY(ss_read_shape(reader, node->items[i].value, &shape));
    SS_TRY(ss_scene_add_world_shape(scene, &shape, reader->error));
  }
  return SS_OK;
}

static const ss_key world_keys[] = {
    {"shapes", read_world_shapes, 0, false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_world = {"world", world_keys};

ss_status ss_read_world(ss_reader *reader, const ss_yaml *node, void *scene) {
  return ss_read_section(reader, node, &ss_section_world, -1, NULL, scene);
}
