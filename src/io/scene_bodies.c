/* Bodies and the overrides for contacts between them. */
#include "io/scene_reader.h"
#include "model/plane.h"

#include <math.h>
#include <string.h>

/* ---- fields of a body ---- */

static ss_status read_inertia(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_body_def *body = object;
  body->has_inertia = true;
  const bool planar = reader->scene->planar != SS_SPATIAL;
  if (planar && node->kind == SS_YAML_SCALAR) { /* about the normal; the other two never act and are set alike */
    SS_TRY(ss_read_positive(reader, node, &body->inertia[0]));
    body->inertia[1] = body->inertia[2] = body->inertia[0];
    return SS_OK;
  }
  if (node->kind != SS_YAML_LIST || (node->count != 3 && node->count != 6))
    return SS_READ_FAIL(reader, node, "'inertia' must be [Ixx, Iyy, Izz] or [Ixx, Iyy, Izz, Ixy, Ixz, Iyz]%s",
                        planar ? ", or one number" : ": a single number is for planar scenes");
  return ss_read_numbers(reader, node, node->count, body->inertia);
}

static const ss_word freedom_words[] = {
    {"x", SS_X, false},   {"y", SS_Y, false},   {"z", SS_Z, false}, {"rx", SS_RX, false},
    {"ry", SS_RY, false}, {"rz", SS_RZ, false}, {NULL, 0, false},
};
const ss_words ss_words_freedom = {"freedom", freedom_words};

static ss_status read_freedom(ss_reader *reader, const ss_yaml *node, void *bits) {
  SS_TRY(ss_expect_list(reader, node, "x, y, z, rx, ry, rz"));
  const unsigned allowed = ss_plane_of(reader->scene->planar).freedom;
  unsigned freedom = 0;
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *item = node->items[i].value;
    int bit = 0;
    SS_TRY(ss_read_word(reader, item, &ss_words_freedom, &bit));
    if (freedom & (unsigned)bit) return SS_READ_FAIL(reader, item, "'%s' is listed twice in 'freedom'", item->text);
    if (!(allowed & (unsigned)bit))
      return SS_READ_FAIL(reader, item, "the freedom '%s' leads out of the scene's plane", item->text);
    freedom |= (unsigned)bit;
  }
  *(unsigned *)bits = freedom;
  return SS_OK;
}

static ss_status read_center_of_mass(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_body_def *body = object;
  body->has_center_of_mass = true;
  return ss_read_vector(reader, node, &body->center_of_mass);
}

static ss_status read_body_shapes(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_body_def *body = object;
  SS_TRY(ss_expect_list(reader, node, "shapes"));
  ss_shape_def *shapes = SS_ARENA_ARRAY(reader->scratch, ss_shape_def, node->count);
  if (!shapes) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < node->count; i++) SS_TRY(ss_read_shape(reader, node->items[i].value, &shapes[i]));
  body->shapes = shapes;
  body->n_shapes = node->count;
  return SS_OK;
}

static const ss_key body_keys[] = {
    {"name", ss_read_name, offsetof(ss_body_def, name), true, 0},
    {"mass", ss_read_positive, offsetof(ss_body_def, mass), false, 0},
    {"density", ss_read_positive, offsetof(ss_body_def, density), false, 0},
    {"inertia", read_inertia, 0, false, 0},
    {"freedom", read_freedom, offsetof(ss_body_def, freedom), false, 0},
    {"center_of_mass", read_center_of_mass, 0, false, 0},
    {"position", ss_read_vector, offsetof(ss_body_def, pose.position), false, 0},
    {"orientation", ss_read_orientation, offsetof(ss_body_def, pose.orientation), false, 0},
    {"velocity", ss_read_vector, offsetof(ss_body_def, velocity), false, 0},
    {"angular_velocity", ss_read_angular_velocity, offsetof(ss_body_def, angular_velocity), false, 0},
    {"shapes", read_body_shapes, 0, false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_body = {"body", body_keys};

/* ---- checks of a whole body ---- */

static ss_status check_mass(ss_reader *reader, const ss_yaml *node, const ss_body_def *body) {
  const ss_yaml *density = ss_yaml_get(node, "density");
  if (!density && isnan(body->mass))
    return SS_READ_FAIL(reader, node, "the body '%s' lacks 'mass' (or 'density' with shapes)",
                        ss_printable(body->name).text);
  if (!density) return SS_OK;
  if (!isnan(body->mass)) return SS_READ_FAIL(reader, density, "give either 'mass' or 'density', not both");
  for (int i = 0; i < body->n_shapes; i++)
    if (body->shapes[i].type != SS_SHAPE_POINT && body->shapes[i].type != SS_SHAPE_HALF_SPACE) return SS_OK;
  return SS_READ_FAIL(reader, density, "'density' needs shapes that have a volume");
}

static ss_status check_orientation(ss_reader *reader, const ss_yaml *node, const ss_body_def *body) {
  const ss_plane plane = ss_plane_of(reader->scene->planar);
  if (plane.normal < 0) return SS_OK;
  const ss_vec3 normal = ss_axis_vector(plane.normal);
  const ss_vec3 turned = quat_rotate(body->pose.orientation, normal);
  if (v3_norm(v3_sub(turned, normal)) <= 1e-9) return SS_OK;
  return SS_READ_FAIL(reader, ss_yaml_get(node, "orientation"),
                      "'orientation' turns the body out of the scene's plane");
}

static ss_status check_position(ss_reader *reader, const ss_yaml *node, const ss_body_def *body) {
  const ss_plane plane = ss_plane_of(reader->scene->planar);
  if (plane.normal < 0 || v3_get(body->pose.position, plane.normal) == 0) return SS_OK;
  return SS_READ_FAIL(reader, ss_yaml_get(node, "position"),
                      "'position' is off the scene's plane: %c must be 0, not %g", "xyz"[plane.normal],
                      v3_get(body->pose.position, plane.normal));
}

/* A velocity along a locked coordinate could only be dropped silently. Where the body turns, the velocity of its centre
 * of mass is not known here (except out of the plane of a planar scene) and is left to the model. */
static ss_status check_velocity(ss_reader *reader, const ss_yaml *node, const ss_body_def *body) {
  const ss_vec3 w = quat_rotate(quat_conjugate(body->pose.orientation), body->angular_velocity);
  const double speed = v3_norm(w);
  const int normal = ss_plane_of(reader->scene->planar).normal;
  const unsigned freedom = body->freedom & ss_plane_of(reader->scene->planar).freedom;
  for (int i = 0; i < 3; i++) {
    if (!(freedom & (unsigned)SS_RX << i) && fabs(v3_get(w, i)) > 1e-9 * speed)
      return SS_READ_FAIL(reader, ss_yaml_get(node, "angular_velocity"),
                          "'angular_velocity' turns the body about its %c axis, which it is not free to do", "xyz"[i]);
    if (!(freedom & (unsigned)SS_X << i) && v3_get(body->velocity, i) != 0 && (speed == 0 || i == normal))
      return SS_READ_FAIL(reader, ss_yaml_get(node, "velocity"),
                          "'velocity' moves the body along %c, which it is not free to do", "xyz"[i]);
  }
  return SS_OK;
}

ss_status ss_read_bodies(ss_reader *reader, const ss_yaml *node, void *scene) {
  SS_TRY(ss_expect_list(reader, node, "bodies"));
  if (node->count == 0) return SS_READ_FAIL(reader, node, "'bodies' is empty: expected at least one body");
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *item = node->items[i].value;
    ss_body_def body = ss_body_default(NULL);
    body.mark = item->mark;
    SS_TRY(ss_read_section(reader, item, &ss_section_body, -1, NULL, &body));
    SS_TRY(check_mass(reader, item, &body));
    SS_TRY(check_position(reader, item, &body));
    SS_TRY(check_orientation(reader, item, &body));
    SS_TRY(check_velocity(reader, item, &body));
    const ss_status status = ss_scene_add_body(scene, &body, reader->error);
    if (status == SS_ERROR_INPUT)
      return SS_READ_FAIL(reader, ss_yaml_get(item, "name"),
                          "a body cannot be named 'world': that is the immovable surroundings");
    SS_TRY(status);
  }
  return ss_index_bodies(reader, node);
}

/* ---- contacts ---- */

static bool is_material(const ss_scene *scene, const char *name) {
  for (int i = 0; i < scene->n_materials; i++)
    if (strcmp(scene->materials[i].name, name) == 0) return true;
  return false;
}

static ss_status read_contact_between(ss_reader *reader, const ss_yaml *node, void *two_names) {
  const char **names = two_names;
  SS_TRY(ss_expect_list(reader, node, "two names of bodies or materials"));
  if (node->count != 2)
    return SS_READ_FAIL(reader, node, "'between' must be a list of two names of bodies or materials, not %d",
                        node->count);
  for (int i = 0; i < 2; i++) {
    const ss_yaml *item = node->items[i].value;
    SS_TRY(ss_read_name(reader, item, &names[i]));
    const bool material = is_material(reader->scene, names[i]);
    const bool body = ss_find_body_name(&reader->names, names[i]) != SS_NO_BODY;
    if (material && body)
      return SS_READ_FAIL(reader, item, "'%s' is both a body and a material: rename one of them",
                          ss_printable(names[i]).text);
    if (!material && !body)
      return SS_READ_FAIL(reader, item, "'%s' is neither a body nor a material", ss_printable(names[i]).text);
    if (i == 1 && body && strcmp(names[0], names[1]) == 0)
      return SS_READ_FAIL(reader, item, "'between' names the same body twice");
  }
  return SS_OK;
}

static ss_status read_contact_axis(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_contact_def *contact = object;
  contact->has_axis = true;
  if (reader->scene->planar != SS_SPATIAL)
    return SS_READ_FAIL(reader, node, "'axis' is for spatial scenes: a planar one has a single tangent");
  return ss_read_direction(reader, node, &contact->axis);
}

static ss_status read_contact_law(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_contact_def *contact = object;
  int value = 0;
  SS_TRY(ss_read_word(reader, node, &ss_words_restitution, &value));
  contact->has_restitution_law = true;
  contact->restitution_law = (ss_restitution)value;
  return SS_OK;
}

static ss_status read_contact_polygon(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_contact_def *contact = object;
  int value = 0;
  SS_TRY(ss_read_word(reader, node, &ss_words_polygon, &value));
  contact->has_polygon = true;
  contact->polygon = (ss_polygon)value;
  return SS_OK;
}

/* Five numbers; those that are left out at the end are zero. */
static ss_status read_generator(ss_reader *reader, const ss_yaml *node, double *out) {
  const bool planar = reader->scene->planar != SS_SPATIAL;
  bool zero = true;
  SS_TRY(ss_expect_list(reader, node, "numbers [d1, d2, torsion, roll1, roll2]"));
  if (node->count < 1 || node->count > SS_GENERATOR)
    return SS_READ_FAIL(reader, node,
                        "a generator is a list of one to five numbers, [d1, d2, torsion, roll1, roll2], not %d",
                        node->count);
  for (int k = 0; k < SS_GENERATOR; k++) out[k] = 0;
  for (int k = 0; k < node->count; k++) {
    const ss_yaml *item = node->items[k].value;
    SS_TRY(ss_read_number(reader, item, &out[k]));
    zero &= out[k] == 0;
    if (planar && k != 0 && k != 4 && out[k] != 0)
      return SS_READ_FAIL(reader, item, "planar scenes have the tangent d1 and the moment roll2 only: this must be 0");
  }
  return zero ? SS_READ_FAIL(reader, node, "a generator must not be zero") : SS_OK;
}

static ss_status read_generators(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_contact_def *contact = object;
  SS_TRY(ss_expect_list(reader, node, "generators [d1, d2, torsion, roll1, roll2]"));
  if (node->count < 1 || node->count > SS_MOST_GENERATORS)
    return SS_READ_FAIL(reader, node, "'generators' must be a list of 1 to %d generators, not %d", SS_MOST_GENERATORS,
                        node->count);
  double(*rows)[SS_GENERATOR] = ss_arena_alloc(reader->scratch, sizeof *rows * (size_t)node->count);
  if (!rows) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < node->count; i++) SS_TRY(read_generator(reader, node->items[i].value, rows[i]));
  contact->n_generators = node->count;
  contact->generators = (const double(*)[SS_GENERATOR])rows;
  return SS_OK;
}

static const ss_key generator_keys[] = {
    {"generators", read_generators, 0, true, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_contact_friction = {"contact_friction", generator_keys};

/* A coefficient, or a set by its generators. */
static ss_status read_contact_friction(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_contact_def *contact = object;
  if (node->kind == SS_YAML_MAP) return ss_read_section(reader, node, &ss_section_contact_friction, -1, NULL, contact);
  return ss_read_nonnegative(reader, node, &contact->friction);
}

static const ss_key contact_keys[] = {
    {"between", read_contact_between, offsetof(ss_contact_def, between), true, 0},
    {"collide", ss_read_boolean, offsetof(ss_contact_def, collide), false, 0},
    {"friction", read_contact_friction, 0, false, 0},
    {"friction_across", ss_read_nonnegative, offsetof(ss_contact_def, friction_across), false, 0},
    {"axis", read_contact_axis, 0, false, 0},
    {"polygon", read_contact_polygon, 0, false, 0},
    {"restitution", ss_read_fraction, offsetof(ss_contact_def, restitution), false, 0},
    {"restitution_law", read_contact_law, 0, false, 0},
    {"torsion", ss_read_nonnegative, offsetof(ss_contact_def, torsion), false, 0},
    {"rolling", ss_read_nonnegative, offsetof(ss_contact_def, rolling), false, 0},
    {"compliance", ss_read_pair_compliance, offsetof(ss_contact_def, compliance), false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_contact = {"contact", contact_keys};

/* The axis needs both coefficients, or a polygon that it fixes, and a side that carries it. */
static ss_status check_anisotropy(ss_reader *reader, const ss_yaml *node, const ss_contact_def *contact) {
  static const char *const replaced[] = {"friction_across", "torsion", "rolling", "polygon"};
  const ss_yaml *across = ss_yaml_get(node, "friction_across");
  for (int i = 0; i < 4 && contact->n_generators > 0; i++)
    if (ss_yaml_get(node, replaced[i]))
      return SS_READ_FAIL(reader, ss_yaml_get(node, replaced[i]),
                          "'%s' has no place beside generators: they say it all", replaced[i]);
  if (!contact->has_axis && !across) return SS_OK;
  if (!contact->has_axis) return SS_READ_FAIL(reader, across, "'friction_across' needs 'axis'");
  const bool fixed =
      contact->n_generators > 0 || (contact->has_polygon && contact->polygon == SS_POLYGON_FIXED && !across);
  if (!fixed && (!across || isnan(contact->friction)))
    return SS_READ_FAIL(reader, ss_yaml_get(node, "axis"),
                        "'axis' needs 'friction' (along it) and 'friction_across', generators, or 'polygon: fixed'");
  if (strcmp(contact->between[0], contact->between[1]) == 0)
    return SS_READ_FAIL(reader, ss_yaml_get(node, "axis"),
                        "'axis' is fixed to the first of 'between', which must differ from the second");
  return SS_OK;
}

ss_status ss_read_contacts(ss_reader *reader, const ss_yaml *node, void *scene) {
  SS_TRY(ss_expect_list(reader, node, "contacts"));
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *item = node->items[i].value;
    ss_contact_def contact = {.collide = true,
                              .friction = NAN,
                              .restitution = NAN,
                              .friction_across = NAN,
                              .torsion = NAN,
                              .rolling = NAN,
                              .mark = item->mark};
    SS_TRY(ss_read_section(reader, item, &ss_section_contact, -1, NULL, &contact));
    if (item->count == 1)
      return SS_READ_FAIL(reader, item,
                          "the contact says nothing: expected 'collide', 'friction', 'polygon', 'restitution', "
                          "'torsion', 'rolling' or 'compliance'");
    SS_TRY(check_anisotropy(reader, item, &contact));
    SS_TRY(ss_scene_add_contact(scene, &contact, reader->error));
  }
  return SS_OK;
}
