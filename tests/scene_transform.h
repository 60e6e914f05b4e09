/* Scenes turned, moved, mirrored, in other units: what a description becomes, and what its motion must become. */
#ifndef TESTS_SCENE_TRANSFORM_H
#define TESTS_SCENE_TRANSFORM_H

#include <stickslip/stickslip.h>

#include "core/math3.h"

#include <stdint.h>
#include <string.h>

/* x -> length * (rotation (mirrored x) ) + shift; times and masses are multiplied. */
typedef struct transform {
  ss_quat turn;
  ss_vec3 shift;
  bool mirror; /* x -> -x first */
  double length, mass, time;
} transform;

static inline transform transform_none(void) { return (transform){quat_identity(), {0, 0, 0}, false, 1, 1, 1}; }

/* A scene owns what it lets be read only. */
static inline void *transform_writable(const void *read_only) {
  void *same;
  memcpy(&same, &read_only, sizeof same);
  return same;
}

/* Directions, and axes of rotation (which a mirror turns the other way). */
static inline ss_vec3 transform_direction(const transform *t, ss_vec3 v) {
  return quat_rotate(t->turn, t->mirror ? v3(-v.x, v.y, v.z) : v);
}
static inline ss_vec3 transform_axial(const transform *t, ss_vec3 v) {
  return quat_rotate(t->turn, t->mirror ? v3(v.x, -v.y, -v.z) : v);
}
static inline ss_vec3 transform_place(const transform *t, ss_vec3 x) {
  return v3_add(v3_scale(t->length, transform_direction(t, x)), v3_scale(t->length, t->shift));
}
static inline ss_vec3 transform_local(const transform *t,
                                      ss_vec3 x) { /* in a body's frame, which turns with the body */
  return v3_scale(t->length, t->mirror ? v3(-x.x, x.y, x.z) : x);
}
static inline ss_quat transform_mirrored(const transform *t, ss_quat q) {
  return t->mirror ? (ss_quat){q.w, q.x, -q.y, -q.z} : q;
}

static inline void transform_mesh(const transform *t, ss_shape_def *s) {
  ss_vec3 *points = transform_writable(s->points);
  int *triangles = transform_writable(s->triangles);
  double *heights = transform_writable(s->heights);
  for (int i = 0; i < s->n_points; i++) points[i] = transform_local(t, points[i]);
  for (int i = 0; t->mirror && i < s->n_triangles; i++) {
    const int corner = triangles[3 * i];
    triangles[3 * i] = triangles[3 * i + 1], triangles[3 * i + 1] = corner;
  }
  for (int i = 0; i < s->rows * s->columns; i++) heights[i] *= t->length;
  s->spacing = v3_scale(t->length, s->spacing);
}

static inline void transform_shape(const transform *t, ss_shape_def *s, bool world) {
  const double l = t->length;
  s->pose.position = world ? transform_place(t, s->pose.position) : transform_local(t, s->pose.position);
  s->pose.orientation = transform_mirrored(t, s->pose.orientation);
  if (world) s->pose.orientation = quat_multiply(t->turn, s->pose.orientation);
  s->radius *= l;
  s->length *= l;
  s->size = v3_scale(l, s->size);
  s->semi_axes = v3_scale(l, s->semi_axes);
  transform_mesh(t, s);
  if (t->mirror) s->axis = v3(-s->axis.x, s->axis.y, s->axis.z);
  if (s->type != SS_SHAPE_HALF_SPACE) return;
  s->pose = pose_identity();
  s->normal = world       ? transform_direction(t, s->normal)
              : t->mirror ? v3(-s->normal.x, s->normal.y, s->normal.z)
                          : s->normal;
  s->offset *= l;
  if (world) s->offset += l * v3_dot(v3_normalize(s->normal), t->shift);
}

static inline void transform_body(const transform *t, ss_body_def *b) {
  const double l = t->length, inertia = t->mass * l * l;
  b->mass *= t->mass;
  b->density *= t->mass / (l * l * l);
  for (int i = 0; i < 6; i++) b->inertia[i] *= i == 3 || i == 4 ? (t->mirror ? -inertia : inertia) : inertia;
  b->center_of_mass = transform_local(t, b->center_of_mass);
  b->pose.position = transform_place(t, b->pose.position);
  b->pose.orientation = quat_multiply(t->turn, transform_mirrored(t, b->pose.orientation));
  b->velocity = v3_scale(l / t->time, transform_direction(t, b->velocity));
  b->angular_velocity = v3_scale(1 / t->time, transform_axial(t, b->angular_velocity));
  for (int i = 0; i < b->n_shapes; i++) transform_shape(t, transform_writable(&b->shapes[i]), false);
}

/* Directions are in the world's frame: joints that are given by a point of it. */
static inline void transform_joint(const transform *t, ss_joint_def *j) {
  const bool slides = j->type == SS_JOINT_PRISMATIC || j->type == SS_JOINT_CYLINDRICAL || j->type == SS_JOINT_SCREW ||
                      j->type == SS_JOINT_DISTANCE;
  const double l = t->length, measure = slides ? l : t->mirror ? -1 : 1; /* of limits: an angle about a mirrored axis */
  j->at = transform_place(t, j->at);
  if (j->has_axis) j->axis = transform_direction(t, j->axis);
  if (j->has_normal) j->normal = transform_direction(t, j->normal);
  for (int k = 0; k < 2; k++) {
    if (j->has_axes) j->axes[k] = transform_direction(t, j->axes[k]);
    j->anchor[k] = j->body[k] == SS_WORLD ? transform_place(t, j->anchor[k]) : transform_local(t, j->anchor[k]);
    j->limits[k] *= measure;
  }
  if (j->has_limits && measure < 0) {
    const double low = j->limits[1];
    j->limits[1] = j->limits[0];
    j->limits[0] = low;
  }
  j->length *= l;
  j->pitch *= t->mirror ? -l : l;
}

static inline void transform_scene(const transform *t, ss_scene *scene) {
  const double l = t->length;
  scene->gravity = v3_scale(l / (t->time * t->time), transform_direction(t, scene->gravity));
  for (int i = 0; i < scene->n_world_shapes; i++) transform_shape(t, &scene->world_shapes[i], true);
  for (int i = 0; i < scene->n_bodies; i++) transform_body(t, &scene->bodies[i]);
  for (int i = 0; i < scene->n_joints; i++) transform_joint(t, &scene->joints[i]);
  for (int i = 0; i < scene->n_materials; i++) {
    scene->materials[i].torsion *= l;
    scene->materials[i].rolling *= l;
  }
  for (int i = 0; i < scene->n_forces; i++) {
    ss_force_def *f = &scene->forces[i];
    for (int k = 0; k < 2; k++)
      f->anchor[k] = f->body[k] == SS_WORLD ? transform_place(t, f->anchor[k]) : transform_local(t, f->anchor[k]);
    f->stiffness *= t->mass / (t->time * t->time);
    f->damping *= t->mass / t->time;
    f->rest_length *= l;
  }
  scene->simulation.step *= t->time;
  scene->simulation.duration *= t->time;
}

#endif
