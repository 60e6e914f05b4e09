/* Bodies: shapes, mass, centre of mass, inertia, free coordinates, start. */
#include "core/words.h"
#include "compile/compile.h"

#include <string.h>

static ss_mat3 tensor(const double inertia[6]) {
  return (ss_mat3){{{inertia[0], inertia[3], inertia[4]},
                    {inertia[3], inertia[1], inertia[5]},
                    {inertia[4], inertia[5], inertia[2]}}};
}

/* Adds mass (r.r 1 - r r^T) to the tensor: parallel axes. */
static void shift_inertia(double inertia[6], double mass, ss_vec3 r) {
  inertia[0] += mass * (r.y * r.y + r.z * r.z);
  inertia[1] += mass * (r.x * r.x + r.z * r.z);
  inertia[2] += mass * (r.x * r.x + r.y * r.y);
  inertia[3] -= mass * r.x * r.y;
  inertia[4] -= mass * r.x * r.z;
  inertia[5] -= mass * r.y * r.z;
}

/* Volume, centroid and inertia (density 1, about the centroid) of all shapes together. */
static ss_mass_properties sum_shapes(const ss_shape *shapes, int n) {
  ss_mass_properties sum = {0};
  for (int i = 0; i < n; i++) {
    const ss_mass_properties one = ss_shape_mass(&shapes[i]);
    sum.volume += one.volume;
    sum.centroid = v3_axpy(sum.centroid, one.volume, one.centroid);
  }
  if (sum.volume <= 0) return sum;
  sum.centroid = v3_scale(1 / sum.volume, sum.centroid);
  for (int i = 0; i < n; i++) {
    const ss_mass_properties one = ss_shape_mass(&shapes[i]);
    for (int k = 0; k < 6; k++) sum.inertia[k] += one.inertia[k];
    shift_inertia(sum.inertia, one.volume, v3_sub(one.centroid, sum.centroid));
  }
  return sum;
}

/* Inverse of a small symmetric positive definite matrix by Cholesky; false if it is not one. */
static bool invert_spd(const double *a, int n, double *inverse) {
  double l[36];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double s = a[i * n + j];
      for (int k = 0; k < j; k++) s -= l[i * n + k] * l[j * n + k];
      if (i == j) {
        if (!(s > 1e-14 * fabs(a[i * n + i]))) return false;
        l[i * n + i] = sqrt(s);
      } else {
        l[i * n + j] = s / l[j * n + j];
      }
    }
  for (int c = 0; c < n; c++) {
    double x[6];
    for (int i = 0; i < n; i++) {
      double s = i == c ? 1 : 0;
      for (int k = 0; k < i; k++) s -= l[i * n + k] * x[k];
      x[i] = s / l[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
      double s = x[i];
      for (int k = i + 1; k < n; k++) s -= l[k * n + i] * x[k];
      x[i] = s / l[i * n + i];
    }
    for (int i = 0; i < n; i++) inverse[i * n + c] = x[i];
  }
  return true;
}

static void assign_coordinates(ss_body *body, unsigned freedom) {
  body->freedom = freedom;
  int rotations = 0;
  for (int c = 0; c < 6; c++) {
    const bool free = freedom & 1u << c;
    body->slot[c] = (signed char)(free ? body->n : -1);
    if (!free) continue;
    body->coordinate[body->n++] = (signed char)c;
    rotations += c >= 3;
  }
  body->turns = rotations > 0;
  body->gyroscopic = rotations > 1;
}

/* All axes are alike: the torque (I w) x w vanishes, and F(v) = 0 is its exact Jacobian, which leaves A symmetric. */
static bool is_isotropic(const ss_mat3 *inertia) {
  const double size = 1e-14 * inertia->m[0][0];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (fabs(inertia->m[i][j] - (i == j ? inertia->m[0][0] : 0)) > size) return false;
  return true;
}

static ss_status mass_of(ss_body *body, const ss_body_def *def, const ss_mass_properties *shapes, const ss_scene *scene,
                         ss_error *error) {
  const bool has_mass = !isnan(def->mass), has_density = !isnan(def->density);
  if (has_mass == has_density)
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "body '%s' needs %s", def->name,
                         has_mass ? "either mass or density, not both" : "mass, or density with shapes");
  if (has_density && !(shapes->volume > 0))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark,
                         "body '%s' has a density but no shape with a volume; give mass", def->name);
  body->mass = has_mass ? def->mass : def->density * shapes->volume;
  if (!(body->mass > 0) || !isfinite(body->mass))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark,
                         "body '%s': mass must be positive and finite, not %g", def->name, body->mass);
  const bool by_shapes = !def->has_inertia && shapes->volume > 0;
  body->com = def->has_center_of_mass ? def->center_of_mass : by_shapes ? shapes->centroid : v3(0, 0, 0);
  double inertia[6] = {0};
  if (def->has_inertia) {
    memcpy(inertia, def->inertia, sizeof inertia);
  } else if (shapes->volume > 0) {
    const double density = body->mass / shapes->volume;
    for (int k = 0; k < 6; k++) inertia[k] = density * shapes->inertia[k];
    shift_inertia(inertia, body->mass, v3_sub(shapes->centroid, body->com));
  } else if (body->turns) {
    return ss_fail_place(
        error, SS_ERROR_INPUT, scene->file, def->mark,
        "body '%s' can turn but has no shape with a volume; give inertia, or lock its rotation with freedom",
        def->name);
  }
  body->inertia = tensor(inertia);
  if (is_isotropic(&body->inertia)) body->gyroscopic = false;
  return SS_OK;
}

/* A + B >= C for the moments about any three perpendicular axes; trace(I) 1 - 2 I is positive semi-definite. */
static bool moments_possible(const ss_mat3 *inertia) {
  const double trace = inertia->m[0][0] + inertia->m[1][1] + inertia->m[2][2];
  double a[9], inverse[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a[i * 3 + j] = (i == j ? trace * (1 + 1e-6) : 0) - 2 * inertia->m[i][j];
  return invert_spd(a, 3, inverse);
}

static ss_status mass_blocks(ss_body *body, const ss_body_def *def, const ss_scene *scene, ss_error *error) {
  for (int i = 0; i < body->n; i++)
    for (int j = 0; j < body->n; j++) {
      const int ci = body->coordinate[i], cj = body->coordinate[j];
      double value = 0;
      if (ci < 3 && ci == cj) value = body->mass;
      if (ci >= 3 && cj >= 3) value = body->inertia.m[ci - 3][cj - 3];
      body->m[i * body->n + j] = value;
    }
  double largest = 0, least = HUGE_VAL;
  for (int i = 0; i < body->n; i++) {
    largest = fmax(largest, fabs(body->m[i * body->n + i]));
    least = fmin(least, fabs(body->m[i * body->n + i]));
  }
  if (!(largest < 1e150) || (least > 0 && least < 1e-150))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark,
                         "body '%s': its mass %.3g or its inertia is too %s to compute with", def->name, body->mass,
                         largest < 1e150 ? "small" : "large");
  if (!invert_spd(body->m, body->n, body->minv))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "body '%s': inertia must be positive definite",
                         def->name);
  if ((body->freedom & (SS_RX | SS_RY | SS_RZ)) == (SS_RX | SS_RY | SS_RZ) && !moments_possible(&body->inertia))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark,
                         "body '%s': no body has these moments of inertia (one exceeds the sum of the other two)",
                         def->name);
  return SS_OK;
}

static ss_status start(ss_model *model, ss_body *body, const ss_body_def *def, ss_error *error) {
  const ss_quat orientation = quat_normalize(def->pose.orientation);
  const ss_vec3 arm = quat_rotate(orientation, body->com);
  body->pose = (ss_pose){v3_add(def->pose.position, arm), orientation};
  const ss_vec3 linear = v3_add(def->velocity, v3_cross(def->angular_velocity, arm));
  const ss_vec3 angular = quat_rotate(quat_conjugate(orientation), def->angular_velocity);
  const double c[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
  double energy = 0;
  for (int i = 0; i < body->n; i++) {
    model->v0[body->first + i] = c[body->coordinate[i]];
    for (int j = 0; j < body->n; j++)
      energy += fabs(body->m[i * body->n + j] * c[body->coordinate[i]] * c[body->coordinate[j]]);
  }
  if (!(energy < 1e300))
    return ss_fail_place(error, SS_ERROR_INPUT, model->file, def->mark,
                         "body '%s': its velocity at the start is too large to compute with", def->name);
  return SS_OK;
}

static ss_status compile_shapes(ss_model *model, const ss_shape_def *defs, int n, int body, const ss_scene *scene,
                                ss_error *error) {
  for (int i = 0; i < n; i++) {
    ss_shape *shape = &model->shapes[model->n_shapes];
    ss_error reason = {0};
    if (ss_shape_compile(model->arena, &defs[i], shape, &reason) != SS_OK)
      return ss_fail_place(error, reason.status, scene->file, defs[i].mark, "%s", reason.message);
    if (shape->mesh && body != SS_WORLD)
      return ss_fail_place(
          error, SS_ERROR_INPUT, scene->file, defs[i].mark,
          "%s: shapes of this type belong to the world, which does not move; give the body convex shapes",
          ss_table_shapes()[defs[i].type].name);
    shape->body = body;
    shape->material = ss_find_material(scene, defs[i].material ? defs[i].material : "default");
    if (shape->material < 0)
      return ss_fail_place(error, SS_ERROR_INPUT, scene->file, defs[i].mark, "no material is named '%s'",
                           defs[i].material ? defs[i].material : "default");
    model->n_shapes++;
  }
  return SS_OK;
}

static ss_status compile_body(ss_model *model, const ss_scene *scene, int index, ss_error *error) {
  const ss_body_def *def = &scene->bodies[index];
  ss_body *body = &model->bodies[index];
  if (strcmp(def->name, "world") == 0)
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "the name '%s' is taken", def->name);
  if (!(def->freedom & SS_ALL))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark,
                         "body '%s' has no freedom; put its shapes into the world instead", def->name);
  body->name = ss_arena_strdup(model->arena, def->name);
  if (!body->name) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  assign_coordinates(body, def->freedom);
  const int first_shape = model->n_shapes;
  ss_status status = compile_shapes(model, def->shapes, def->n_shapes, index, scene, error);
  if (status != SS_OK) return status;
  ss_shape *shapes = &model->shapes[first_shape];
  const ss_mass_properties total = sum_shapes(shapes, def->n_shapes);
  status = mass_of(body, def, &total, scene, error);
  if (status == SS_OK) status = mass_blocks(body, def, scene, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < def->n_shapes; i++) {
    shapes[i].local.position = v3_sub(shapes[i].local.position, body->com);
    body->reach = fmax(body->reach, v3_norm(shapes[i].local.position) + shapes[i].reach);
  }
  body->first = model->n_v;
  model->n_v += body->n;
  return start(model, body, def, error);
}

/* Keys of contacts with meshes (contact/candidates.c) have 12 bits for the mesh and 18 for the other shape. */
static ss_status check_mesh_numbers(const ss_model *model, ss_error *error) {
  for (int i = 0; i < model->n_shapes; i++)
    if (model->shapes[i].mesh && (model->n_shapes - i > 1 << 12 || model->n_shapes > 1 << 18))
      return ss_fail(error, SS_ERROR_INPUT,
                     "with a mesh or a height-field there can be 2^18 shapes, 2^12 of them in the world after it");
  return SS_OK;
}

ss_status ss_compile_bodies(ss_model *model, const ss_scene *scene, ss_error *error) {
  int shapes = scene->n_world_shapes;
  for (int i = 0; i < scene->n_bodies; i++) shapes += scene->bodies[i].n_shapes;
  model->n_bodies = scene->n_bodies;
  model->n_q = 7 * scene->n_bodies;
  model->bodies = SS_ARENA_ARRAY(model->arena, ss_body, scene->n_bodies);
  model->shapes = SS_ARENA_ARRAY(model->arena, ss_shape, shapes);
  model->v0 = SS_ARENA_ARRAY(model->arena, double, 6 * (size_t)scene->n_bodies);
  if (!model->bodies || !model->shapes || !model->v0) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < scene->n_bodies; i++) {
    const ss_status status = compile_body(model, scene, i, error);
    if (status != SS_OK) return status;
  }
  const ss_status status = compile_shapes(model, scene->world_shapes, scene->n_world_shapes, SS_WORLD, scene, error);
  return status == SS_OK ? check_mesh_numbers(model, error) : status;
}
