/* A scene as a file: the parts of a scene that importers make. What is not among them is refused, not left out. */
#include <stickslip/io.h>

#include "core/math3.h"
#include "core/words.h"
#include "io/scene_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shortest text that is read back as the same number. */
static void put_number(FILE *f, double x) {
  char text[40];
  for (int digits = 6; digits <= 17; digits++) {
    (void)snprintf(text, sizeof text, "%.*g", digits, x);
    if (strtod(text, NULL) == x) break;
  }
  (void)fputs(text, f);
}

static void put_numbers(FILE *f, const double *x, int n) {
  (void)fputc('[', f);
  for (int i = 0; i < n; i++) {
    if (i) (void)fputs(", ", f);
    put_number(f, x[i] == 0 ? 0 : x[i]); /* no -0 */
  }
  (void)fputc(']', f);
}

static void put_vector(FILE *f, ss_vec3 v) { put_numbers(f, (const double[]){v.x, v.y, v.z}, 3); }

/* Plain where nothing could be misread, in quotes elsewhere. */
static void put_name(FILE *f, const char *name) {
  static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const bool letter = (name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z');
  if (letter && strspn(name, safe) == strlen(name)) {
    (void)fputs(name, f);
    return;
  }
  (void)fputc('"', f);
  for (; *name; name++) {
    if (*name == '"' || *name == '\\') (void)fputc('\\', f);
    if ((unsigned char)*name < 32)
      (void)fprintf(f, "\\x%02x", (unsigned)(unsigned char)*name);
    else
      (void)fputc(*name, f);
  }
  (void)fputc('"', f);
}

static void put_key(FILE *f, const char *key) { (void)fprintf(f, ", %s: ", key); }

static void put_pose(FILE *f, const ss_pose *pose) {
  if (v3_norm(pose->position) > 0) {
    put_key(f, "position");
    put_vector(f, pose->position);
  }
  const ss_quat q = pose->orientation;
  if (q.x == 0 && q.y == 0 && q.z == 0) return;
  put_key(f, "orientation");
  put_numbers(f, (const double[]){q.w, q.x, q.y, q.z}, 4);
}

static void put_points(FILE *f, const char *key, const ss_vec3 *points, int n) {
  put_key(f, key);
  (void)fputc('[', f);
  for (int i = 0; i < n; i++) {
    if (i > 0) (void)fputs(", ", f);
    put_vector(f, points[i]);
  }
  (void)fputc(']', f);
}

static void put_triangles(FILE *f, const int *t, int n) {
  put_key(f, "triangles");
  for (int i = 0; i < n; i++)
    (void)fprintf(f, "%s[%d, %d, %d]", i > 0 ? ", " : "[", t[3 * i], t[3 * i + 1], t[3 * i + 2]);
  (void)fputc(']', f);
}

static void put_heights(FILE *f, const ss_shape_def *s) {
  put_key(f, "spacing");
  put_numbers(f, (const double[]){s->spacing.x, s->spacing.y}, 2);
  put_key(f, "heights");
  for (int i = 0; i < s->rows; i++) {
    (void)fputs(i > 0 ? ", " : "[", f);
    put_numbers(f, s->heights + (size_t)i * (size_t)s->columns, s->columns);
  }
  (void)fputc(']', f);
}

static void put_shape(FILE *f, const ss_shape_def *s) {
  (void)fprintf(f, "{type: %s", ss_table_shapes()[s->type].name);
  const bool lengthy = s->type == SS_SHAPE_CAPSULE || s->type == SS_SHAPE_CYLINDER;
  if (s->type == SS_SHAPE_SPHERE || lengthy) {
    put_key(f, "radius");
    put_number(f, s->radius);
  }
  if (lengthy) {
    put_key(f, "length");
    put_number(f, s->length);
    put_key(f, "axis");
    put_vector(f, s->axis);
  }
  if (s->type == SS_SHAPE_BOX) {
    put_key(f, "size");
    put_vector(f, s->size);
  }
  if (s->type == SS_SHAPE_ELLIPSOID) {
    put_key(f, "semi_axes");
    put_vector(f, s->semi_axes);
  }
  if (s->type == SS_SHAPE_CONVEX) put_points(f, "points", s->points, s->n_points);
  if (s->type == SS_SHAPE_MESH) {
    put_points(f, "vertices", s->points, s->n_points);
    put_triangles(f, s->triangles, s->n_triangles);
  }
  if (s->type == SS_SHAPE_HEIGHT_FIELD) put_heights(f, s);
  if (s->type == SS_SHAPE_HALF_SPACE) {
    put_key(f, "normal");
    put_vector(f, s->normal);
    put_key(f, "offset");
    put_number(f, s->offset);
  } else {
    put_pose(f, &s->pose);
  }
  if (s->material && strcmp(s->material, "default") != 0) {
    put_key(f, "material");
    put_name(f, s->material);
  }
  (void)fputc('}', f);
}

static void put_shapes(FILE *f, const char *indent, const ss_shape_def *shapes, int n) {
  (void)fprintf(f, "%sshapes:\n", indent);
  for (int i = 0; i < n; i++) {
    (void)fprintf(f, "%s  - ", indent);
    put_shape(f, &shapes[i]);
    (void)fputc('\n', f);
  }
}

static void put_body(FILE *f, const ss_body_def *b) {
  (void)fputs("  - {name: ", f);
  put_name(f, b->name);
  put_key(f, "mass");
  put_number(f, b->mass);
  put_key(f, "inertia");
  put_numbers(f, b->inertia, 6);
  if (b->has_center_of_mass && v3_norm(b->center_of_mass) > 0) {
    put_key(f, "center_of_mass");
    put_vector(f, b->center_of_mass);
  }
  put_pose(f, &b->pose);
  if (b->freedom != SS_ALL) {
    static const char *const names[6] = {"x", "y", "z", "rx", "ry", "rz"};
    static const unsigned bits[6] = {SS_X, SS_Y, SS_Z, SS_RX, SS_RY, SS_RZ};
    (void)fputs(", freedom: [", f);
    for (int i = 0, n = 0; i < 6; i++)
      if (b->freedom & bits[i]) (void)fprintf(f, "%s%s", n++ ? ", " : "", names[i]);
    (void)fputc(']', f);
  }
  if (b->n_shapes > 0) {
    (void)fputs(", shapes: [", f);
    for (int i = 0; i < b->n_shapes; i++) {
      (void)fputs(i ? ",\n       " : "\n       ", f);
      put_shape(f, &b->shapes[i]);
    }
    (void)fputc(']', f);
  }
  (void)fputs("}\n", f);
}

static const char *name_of(const ss_scene *scene, int body) {
  return body == SS_WORLD ? "world" : scene->bodies[body].name;
}

static void put_between(FILE *f, const char *a, const char *b) {
  (void)fputs("between: [", f);
  put_name(f, a);
  (void)fputs(", ", f);
  put_name(f, b);
  (void)fputc(']', f);
}

/* Angles beyond a full turn say that they are radians. */
static void put_limits(FILE *f, const ss_joint_def *j) {
  (void)fputc('[', f);
  for (int i = 0; i < 2; i++) {
    if (i) (void)fputs(", ", f);
    put_number(f, j->limits[i] == 0 ? 0 : j->limits[i]);
    if (j->type == SS_JOINT_REVOLUTE && !(fabs(j->limits[i]) <= 6.28)) (void)fputs(" rad", f);
  }
  (void)fputc(']', f);
}

static void put_joint(FILE *f, const ss_scene *scene, const ss_joint_def *j) {
  (void)fprintf(f, "  - {type: %s, ", ss_table_joints()[j->type].name);
  if (j->name) {
    (void)fputs("name: ", f);
    put_name(f, j->name);
    (void)fputs(", ", f);
  }
  put_between(f, name_of(scene, j->body[0]), name_of(scene, j->body[1]));
  put_key(f, "at");
  put_vector(f, j->at);
  if (j->has_axis) {
    put_key(f, "axis");
    put_vector(f, j->axis);
  }
  if (j->has_normal) {
    put_key(f, "normal");
    put_vector(f, j->normal);
  }
  if (j->has_axes) {
    (void)fputs(", axes: [", f);
    put_vector(f, j->axes[0]);
    (void)fputs(", ", f);
    put_vector(f, j->axes[1]);
    (void)fputc(']', f);
  }
  if (j->has_limits) {
    put_key(f, "limits");
    put_limits(f, j);
  }
  if (j->has_spring) {
    (void)fputs(", spring: {stiffness: ", f);
    put_number(f, j->spring_stiffness);
    put_key(f, "damping");
    put_number(f, j->spring_damping);
    if (!isnan(j->spring_rest)) {
      put_key(f, "rest");
      put_number(f, j->spring_rest);
    }
    (void)fputc('}', f);
  }
  (void)fputs("}\n", f);
}

static void put_materials(FILE *f, const ss_scene *scene) {
  if (scene->n_materials > 0) (void)fputs("materials:\n", f);
  for (int i = 0; i < scene->n_materials; i++) {
    (void)fputs("  - {name: ", f);
    put_name(f, scene->materials[i].name);
    put_key(f, "friction");
    put_number(f, scene->materials[i].friction);
    put_key(f, "restitution");
    put_number(f, scene->materials[i].restitution);
    (void)fputs("}\n", f);
  }
}

static void put_contacts(FILE *f, const ss_scene *scene) {
  if (scene->n_contacts > 0) (void)fputs("contacts:\n", f);
  for (int i = 0; i < scene->n_contacts; i++) {
    (void)fputs("  - {", f);
    put_between(f, scene->contacts[i].between[0], scene->contacts[i].between[1]);
    (void)fputs(", collide: false}\n", f);
  }
}

static void put_inputs(FILE *f, const ss_scene *scene) {
  for (int i = 0; i < scene->n_inputs; i++) {
    (void)fprintf(f, "%s%s: ", i ? ", " : "inputs: {", scene->inputs[i].name);
    put_number(f, scene->inputs[i].value);
  }
  if (scene->n_inputs > 0) (void)fputs("}\n", f);
}

static void put_outputs(FILE *f, const ss_scene *scene) {
  if (scene->n_outputs > 0) (void)fputs("outputs:\n", f);
  for (int i = 0; i < scene->n_outputs; i++) {
    (void)fputs("  - {name: ", f);
    put_name(f, scene->outputs[i].name);
    put_key(f, "value");
    put_name(f, scene->outputs[i].text); /* in quotes: it may contain a comma */
    (void)fputs("}\n", f);
  }
}

/* What stands for a shape in a planar scene may be another one in space. */
static bool may_be_written(const ss_scene *s, const ss_shape_def *shapes, int n) {
  bool good = true;
  for (int i = 0; i < n && s->planar != SS_SPATIAL; i++)
    good = good && shapes[i].type != SS_SHAPE_CONVEX && shapes[i].type != SS_SHAPE_HEIGHT_FIELD &&
           shapes[i].type != SS_SHAPE_ELLIPSE;
  return good;
}

static bool has_only_what_is_written(const ss_scene *s) {
  bool good = s->n_forces == 0 && s->n_parameters == 0 && !s->compliance.given;
  for (int i = 0; i < s->n_contacts; i++) good = good && !s->contacts[i].collide && !s->contacts[i].compliance;
  for (int i = 0; i < s->n_bodies; i++) {
    const ss_body_def *b = &s->bodies[i];
    good = good && b->has_inertia && may_be_written(s, b->shapes, b->n_shapes);
  }
  good = good && may_be_written(s, s->world_shapes, s->n_world_shapes);
  for (int i = 0; i < s->n_joints; i++) {
    const ss_joint_type t = s->joints[i].type;
    good = good && s->joints[i].has_at && !s->joints[i].has_motor &&
           (t == SS_JOINT_REVOLUTE || t == SS_JOINT_PRISMATIC || t == SS_JOINT_SPHERICAL || t == SS_JOINT_FIXED ||
            t == SS_JOINT_CYLINDRICAL || t == SS_JOINT_UNIVERSAL || t == SS_JOINT_PLANAR);
  }
  return good;
}

ss_status ss_scene_write(const ss_scene *scene, FILE *f, ss_error *error) {
  if (!has_only_what_is_written(scene))
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "this scene has parts that can only be written by hand");
  if (scene->name) {
    (void)fputs("name: ", f);
    put_name(f, scene->name);
    (void)fputc('\n', f);
  }
  put_inputs(f, scene);
  for (const ss_word *word = ss_words_planar.rows; word->name; word++)
    if (scene->planar != SS_SPATIAL && word->value == (int)scene->planar) (void)fprintf(f, "planar: %s\n", word->name);
  (void)fputs("gravity: ", f);
  put_vector(f, scene->gravity);
  (void)fputc('\n', f);
  put_materials(f, scene);
  if (scene->n_world_shapes > 0) {
    (void)fputs("world:\n", f);
    put_shapes(f, "  ", scene->world_shapes, scene->n_world_shapes);
  }
  (void)fputs("bodies:\n", f);
  for (int i = 0; i < scene->n_bodies; i++) put_body(f, &scene->bodies[i]);
  put_contacts(f, scene);
  if (scene->n_joints > 0) (void)fputs("joints:\n", f);
  for (int i = 0; i < scene->n_joints; i++) put_joint(f, scene, &scene->joints[i]);
  put_outputs(f, scene);
  (void)fprintf(f, "simulation: {scheme: %s, step: ", scene->simulation.scheme);
  put_number(f, scene->simulation.step);
  (void)fputs(", duration: ", f);
  put_number(f, scene->simulation.duration);
  const ss_stabilization stabilization = scene->simulation.stabilization;
  for (const ss_word *word = ss_words_stabilization.rows; word->name; word++)
    if (word->value == (int)stabilization && stabilization != ss_simulation_default().stabilization)
      (void)fprintf(f, ", stabilization: %s", word->name);
  (void)fputs("}\n", f);
  return ferror(f) ? ss_fail(error, SS_ERROR_IO, "cannot write the scene") : SS_OK;
}
