/* Shapes and contact points: what the step needs to know about geometry, and nothing about motion.
 *
 * A pair of shapes has features: corner 3 against the plane, the two closest points. Each feature has a gap that is a
 * smooth function of the configuration near contact, so that it can be followed through a step and its root located. */
#ifndef SS_GEOM_GEOM_H
#define SS_GEOM_GEOM_H

#include "core/arena.h"
#include "core/math3.h"

#include <stickslip/scene.h>

/* A shape, compiled: unit axes, half sizes, fixed in its owner's centre-of-mass frame. */
typedef struct ss_shape {
  ss_shape_type type;
  int body;     /* SS_WORLD: immovable */
  int material; /* index into the scene's materials */
  ss_pose
      local; /* in the body's centre-of-mass frame; capsule, cylinder: axis along local x; half-space: normal along local z,
                    surface through the local origin */
  double radius; /* sphere, capsule, cylinder; 0: point */
  ss_vec3 half;  /* box: half edge lengths; capsule, cylinder: half.x is half the distance of the (centres of the) ends;
                    ellipsoid: semi-axes (ellipse: 0 across the plane) */
  const struct ss_hull *hull; /* convex; NULL: all others */
  const struct ss_mesh *mesh; /* mesh, height-field: in the shape's frame; NULL: all others */
  double reach;               /* radius of the bounding sphere about the local origin; INFINITY: half-space */
} ss_shape;

/* One feature of a pair at one configuration. */
typedef struct ss_contact_point {
  double gap;               /* signed distance: positive apart */
  ss_vec3 normal;           /* world, unit, from b towards a: the direction in which a is pushed */
  ss_vec3 point_a, point_b; /* world, on the two surfaces; point_a - point_b = gap normal */
  uint32_t feature;
  bool
      left; /* ss_gap: the feature's points are not on both shapes any more; gap and normal are those of something next to it */
} ss_contact_point;

enum { SS_PAIR_CONTACTS = 32 }; /* at most so many features of a pair at once */

/* All features of the pair whose gap is at most `reach`, with shapes at the given world poses (of the shapes, not of
 * the bodies). Returns how many. Accurate to rounding; finite for every finite input, touching or overlapping ones too.
 */
typedef int (*ss_collide)(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                          ss_contact_point out[SS_PAIR_CONTACTS]);

/* One feature (a number that ss_collide gave) at any configuration. */
typedef void (*ss_gap)(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                       ss_contact_point *out);

typedef struct ss_pair {
  ss_collide collide;
  ss_gap gap;
} ss_pair;

/* The pair table (upper triangle in the order of ss_shape_type). *swapped: call with a and b exchanged, i.e. give the
 * second shape first. NULL: these two do not collide with each other in this version (two half-spaces never do). */
const ss_pair *ss_pair_find(ss_shape_type a, ss_shape_type b, bool *swapped);

/* Second fundamental form of the surface where its outward normal is `normal`: the surface falls away from its tangent
 * plane by r.Kr/2 at the tangential offset r (Hertz's paraboloid). All vectors in the world's frame. Corners and edges
 * count as flat: a patch on them is a small flat punch. */
double ss_shape_curvature(const ss_shape *shape, const ss_pose *pose, ss_vec3 normal, ss_vec3 r);

/* Checks the definition and compiles it; body, material and the shift to the centre of mass are the model's affair. What
 * does not fit into an ss_shape is in the arena. */
ss_status ss_shape_compile(ss_arena *arena, const ss_shape_def *definition, ss_shape *out, ss_error *error);

/* Volume, centroid and second moments: inertia tensor for density 1 about the centroid, in the body's frame (six
 * entries Ixx Iyy Izz Ixy Ixz Iyz). Points and half-spaces have none: volume 0. */
typedef struct ss_mass_properties {
  double volume;
  ss_vec3 centroid;
  double inertia[6];
} ss_mass_properties;
ss_mass_properties ss_shape_mass(const ss_shape *shape);

/* Point in world coordinates of the shape's box corner etc. is private to the pairs. Axis-aligned bounds, world: */
void ss_shape_bounds(const ss_shape *shape, const ss_pose *pose, ss_vec3 *low, ss_vec3 *high);

#endif
