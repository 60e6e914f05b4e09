/* Joints that hold points and directions together. Each is a list of equations Theta(q) = 0 (MATH section 1, LIT
 * section 4), where p are the anchors and x y z the axes of the joint frame in each body:
 *
 *   distance        |p_a - p_b| - length
 *   spherical       p_a - p_b                                   3 equations, world axes
 *   revolute        spherical, and y_a . x_b, z_a . x_b         the axis stays the axis
 *   prismatic       (p_b - p_a) . y_a, . z_a, and no turning    sliding along x_a
 *   fixed           spherical, and no turning
 *   cylindrical     (p_b - p_a) . y_a, . z_a, y_a . x_b, z_a . x_b
 *   universal       spherical, and x_a . x_b                    two axes, one in each body, stay perpendicular
 *   planar          (p_b - p_a) . x_a, y_a . x_b, z_a . x_b     x is the plane's normal
 *   point-on-line   (p_b - p_a) . y_a, . z_a                    the line is a's, the point b's
 *
 * "No turning" is x_a . y_b, y_a . z_b, z_a . x_b: sines of small angles, regular near alignment. Normals are fixed in
 * a and turn with it, so that its row is taken at the place of b's anchor: a is the frame, the guide or the world, and b
 * may spin fast without turning the directions in which it is held. */
#include "model/joint_view.h"

static void add_coincident(joint_view *v) {
  const ss_vec3 d = v3_sub(v->point[0], v->point[1]);
  add_component(v, 0, d.x);
  add_component(v, 1, d.y);
  add_component(v, 2, d.z);
}

static void add_no_turning(joint_view *v) {
  add_perpendicular(v, 0, 1);
  add_perpendicular(v, 1, 2);
  add_perpendicular(v, 2, 0);
}

/* (p_b - p_a) . normal = 0 for an axis of a's frame. */
static void add_in_plane(joint_view *v, int axis) {
  const ss_vec3 normal = mat3_column(&v->frame[0], axis);
  add_points(v, v3_dot(v3_sub(v->point[1], v->point[0]), normal), v3_neg(normal), v->point[1], v->point[1]);
}

static void add_parallel_axes(joint_view *v) {
  add_perpendicular(v, 1, 0);
  add_perpendicular(v, 2, 0);
}

void joint_distance(joint_view *v) {
  const ss_vec3 d = v3_sub(v->point[0], v->point[1]);
  const double length = v3_norm(d);
  add_points(v, length - v->joint->length, v3_scale(1 / length, d), v->point[0], v->point[1]);
}

void joint_spherical(joint_view *v) { add_coincident(v); }

void joint_revolute(joint_view *v) {
  add_coincident(v);
  add_parallel_axes(v);
}

void joint_prismatic(joint_view *v) {
  add_in_plane(v, 1);
  add_in_plane(v, 2);
  add_no_turning(v);
}

void joint_fixed(joint_view *v) {
  add_coincident(v);
  add_no_turning(v);
}

void joint_cylindrical(joint_view *v) {
  add_in_plane(v, 1);
  add_in_plane(v, 2);
  add_parallel_axes(v);
}

void joint_universal(joint_view *v) {
  add_coincident(v);
  add_perpendicular(v, 0, 0);
}

void joint_planar(joint_view *v) {
  add_in_plane(v, 0);
  add_parallel_axes(v);
}

void joint_point_on_line(joint_view *v) {
  add_in_plane(v, 1);
  add_in_plane(v, 2);
}
