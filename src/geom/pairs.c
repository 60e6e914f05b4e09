/* Which function serves which pair of shapes. */
#include "geom/pairs.h"

/* Row a, column b, a <= b. Points are spheres of radius 0; two points never meet, nor do two half-spaces. Meshes and height
 * fields are in the world, and so never meet each other; a half-space that moves passes through them. */
/* clang-format off */
static const ss_pair *const table[SS_SHAPE_TYPES][SS_SHAPE_TYPES] = {
#define PAIR(name) &ss_pair_##name
#define ROW(type) [SS_SHAPE_##type]
#define ON_MESH ROW(MESH) = PAIR(convex_mesh), ROW(HEIGHT_FIELD) = PAIR(convex_mesh)
  ROW(POINT) = {
    ROW(SPHERE) = PAIR(sphere_sphere), ROW(HALF_SPACE) = PAIR(sphere_half_space), ROW(BOX) = PAIR(sphere_box), ROW(CONVEX) = PAIR(sphere_hull), ROW(CAPSULE) = PAIR(sphere_capsule),
    ROW(ELLIPSOID) = PAIR(sphere_ellipsoid), ROW(ELLIPSE) = PAIR(sphere_ellipsoid), ROW(CYLINDER) = PAIR(sphere_cylinder), ON_MESH},
  ROW(SPHERE) = {
    ROW(SPHERE) = PAIR(sphere_sphere), ROW(HALF_SPACE) = PAIR(sphere_half_space), ROW(BOX) = PAIR(sphere_box), ROW(CONVEX) = PAIR(sphere_hull), ROW(CAPSULE) = PAIR(sphere_capsule),
    ROW(ELLIPSOID) = PAIR(sphere_ellipsoid), ROW(ELLIPSE) = PAIR(sphere_ellipsoid), ROW(CYLINDER) = PAIR(sphere_cylinder), ON_MESH},
  ROW(HALF_SPACE) = {
    ROW(BOX) = PAIR(half_space_box), ROW(CONVEX) = PAIR(half_space_hull), ROW(CAPSULE) = PAIR(half_space_capsule),
    ROW(ELLIPSOID) = PAIR(half_space_ellipsoid), ROW(ELLIPSE) = PAIR(half_space_ellipsoid), ROW(CYLINDER) = PAIR(half_space_cylinder)},
  ROW(BOX) = {
    ROW(BOX) = PAIR(box_box), ROW(CONVEX) = PAIR(hull_hull), ROW(CAPSULE) = PAIR(box_capsule),
    ROW(ELLIPSOID) = PAIR(hull_ellipsoid), ROW(ELLIPSE) = PAIR(hull_ellipsoid), ROW(CYLINDER) = PAIR(hull_cylinder), ON_MESH},
  ROW(CONVEX) = {
    ROW(CONVEX) = PAIR(hull_hull), ROW(CAPSULE) = PAIR(hull_hull),
    ROW(ELLIPSOID) = PAIR(hull_ellipsoid), ROW(ELLIPSE) = PAIR(hull_ellipsoid), ROW(CYLINDER) = PAIR(hull_cylinder), ON_MESH},
  ROW(CAPSULE) = {
    ROW(CAPSULE) = PAIR(capsule_capsule),
    ROW(ELLIPSOID) = PAIR(capsule_ellipsoid), ROW(ELLIPSE) = PAIR(capsule_ellipsoid), ROW(CYLINDER) = PAIR(hull_cylinder), ON_MESH},
  ROW(ELLIPSOID) = {
    ROW(ELLIPSOID) = PAIR(ellipsoid_ellipsoid), ROW(ELLIPSE) = PAIR(ellipsoid_ellipsoid), ROW(CYLINDER) = PAIR(ellipsoid_cylinder), ON_MESH},
  ROW(ELLIPSE) = {ROW(ELLIPSE) = PAIR(ellipsoid_ellipsoid), ROW(CYLINDER) = PAIR(ellipsoid_cylinder), ON_MESH},
  ROW(CYLINDER) = {ROW(CYLINDER) = PAIR(cylinder_cylinder), ON_MESH},
};
/* clang-format on */

const ss_pair *ss_pair_find(ss_shape_type a, ss_shape_type b, bool *swapped) {
  *swapped = a > b;
  return a > b ? table[b][a] : table[a][b];
}
