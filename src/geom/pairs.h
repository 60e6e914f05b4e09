/* What the pair files share. One file per family defines constants of type ss_pair; pairs.c puts them into the table.
 *
 * Everywhere: a is the first shape, b the second, normals point from b to a. Points are spheres of radius 0. */
#ifndef SS_GEOM_PAIRS_H
#define SS_GEOM_PAIRS_H

#include "geom/box.h"
#include "geom/geom.h"
#include "geom/segment.h"

extern const ss_pair ss_pair_sphere_sphere;
extern const ss_pair ss_pair_sphere_half_space;
extern const ss_pair ss_pair_sphere_box;
extern const ss_pair ss_pair_sphere_capsule;
extern const ss_pair ss_pair_half_space_box;
extern const ss_pair ss_pair_half_space_capsule;
extern const ss_pair ss_pair_half_space_ellipsoid;
extern const ss_pair ss_pair_sphere_ellipsoid;
extern const ss_pair ss_pair_capsule_ellipsoid;
extern const ss_pair ss_pair_hull_ellipsoid;
extern const ss_pair ss_pair_ellipsoid_ellipsoid;
extern const ss_pair ss_pair_sphere_cylinder;
extern const ss_pair ss_pair_half_space_cylinder;
extern const ss_pair ss_pair_hull_cylinder; /* the first one may be a capsule */
extern const ss_pair ss_pair_ellipsoid_cylinder;
extern const ss_pair ss_pair_cylinder_cylinder;
extern const ss_pair ss_pair_hull_hull; /* the second one may be a capsule */
extern const ss_pair ss_pair_sphere_hull;
extern const ss_pair ss_pair_half_space_hull;
extern const ss_pair ss_pair_box_box;
extern const ss_pair ss_pair_box_capsule;
extern const ss_pair ss_pair_capsule_capsule;
extern const ss_pair ss_pair_convex_mesh; /* the second one may be a height field */

/* The axes of a frame in world coordinates: columns of its rotation matrix. */
static inline ss_vec3 quat_axis_x(ss_quat q) {
  return v3(1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y));
}
static inline ss_vec3 quat_axis_z(ss_quat q) {
  return v3(2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y));
}

/* Length of d, and its direction in *unit; `fallback` where d is zero. No overflow, no underflow. */
static inline double length_and_direction(ss_vec3 d, ss_vec3 fallback, ss_vec3 *unit) {
  const double square = v3_dot(d, d);
  if (square > 1e-280 && square < 1e280) {
    const double length = sqrt(square);
    *unit = v3_scale(1 / length, d);
    return length;
  }
  const double largest = fmax(fmax(fabs(d.x), fabs(d.y)), fabs(d.z));
  if (!(largest > 0)) {
    *unit = fallback;
    return 0;
  }
  const ss_vec3 scaled = v3(d.x / largest, d.y / largest, d.z / largest);
  const double length = v3_norm(scaled);
  *unit = v3_scale(1 / length, scaled);
  return length * largest;
}

/* Signed distance of p (in the box's frame) from the box's surface, with the closest surface point and the outward
 * normal there; inside, the nearest face counts. */
static inline double box_distance(ss_vec3 half, ss_vec3 p, ss_vec3 *normal, ss_vec3 *surface) {
  *surface = box_clamp(half, p);
  const double outside = length_and_direction(v3_sub(p, *surface), v3(0, 0, 0), normal);
  if (outside > 0) return outside;
  const double depth[3] = {half.x - fabs(p.x), half.y - fabs(p.y), half.z - fabs(p.z)};
  const int k = depth[0] < depth[1] ? (depth[0] < depth[2] ? 0 : 2) : depth[1] < depth[2] ? 1 : 2;
  *normal = axis_vector(k, v3_get(p, k) < 0 ? -1 : 1);
  *surface = v3_axpy(p, depth[k], *normal);
  return -depth[k];
}

/* Two spheres, the heart of all round pairs. Centres are relative to `origin`, a point near both, so that the gap does
 * not suffer from a scene far from the world's origin. `fallback`: the normal where the centres coincide. */
static inline void contact_of_spheres(ss_vec3 ca, double ra, ss_vec3 cb, double rb, ss_vec3 origin, ss_vec3 fallback,
                                      uint32_t feature, ss_contact_point *out) {
  ss_vec3 n;
  const double distance = length_and_direction(v3_sub(ca, cb), fallback, &n);
  out->gap = distance - (ra + rb);
  out->normal = n;
  out->point_a = v3_add(origin, v3_axpy(ca, -ra, n));
  out->point_b = v3_add(origin, v3_axpy(cb, rb, n));
  out->feature = feature;
}

static inline ss_segment capsule_axis(const ss_shape *capsule, const ss_pose *pose, ss_vec3 origin) {
  return (ss_segment){v3_sub(pose->position, origin), quat_axis_x(pose->orientation), capsule->half.x};
}

/* Puts `contact` in the place of the one of SS_PAIR_CONTACTS that is needed least, or leaves it out. */
void ss_contacts_replace(ss_contact_point out[SS_PAIR_CONTACTS], const ss_contact_point *contact);

/* Appends a contact to the n that are there; where there is no room the least needed one gives way. */
static inline int contact_add(ss_contact_point out[SS_PAIR_CONTACTS], int n, const ss_contact_point *contact,
                              double reach) {
  if (!(contact->gap <= reach)) return n;
  if (n < SS_PAIR_CONTACTS) {
    out[n] = *contact;
    return n + 1;
  }
  ss_contacts_replace(out, contact);
  return n;
}

/* What is round and lies on a face touches it along a line, whose ends are ends of the shape over the face, or places where it crosses the
 * face's border. Next to a corner of the face both such an end and the corner are as near but for rounding; the end is seen along the
 * face's normal, the corner askew as soon as it is beside the line: the shape would roll off it. So does an end of the shape that is
 * beside the face. So what is `spare` (corners, such ends) is no contact where an end of the line is next to it, as near, and seen along another normal. An edge
 * crosses the line if it is at SS_ACROSS (a sine) to it, in between its own ends but for SS_EDGE_ENDS (of its half length); along an edge it
 * is the edge's corners that are the line's ends. Takes spare contacts out; returns how many are left. */
#define SS_ACROSS    0.02
#define SS_EDGE_ENDS 1e-12
typedef bool (*ss_feature_is)(const void *context, uint32_t feature);
int ss_contacts_without_spare(ss_contact_point *out, int n, ss_feature_is line_end, ss_feature_is spare,
                              const void *context, double size);

#endif
