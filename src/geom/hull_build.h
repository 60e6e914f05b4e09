/* Convex hulls of points. */
#ifndef SS_GEOM_HULL_BUILD_H
#define SS_GEOM_HULL_BUILD_H

#include "core/arena.h"
#include "geom/hull.h"

typedef enum ss_hull_status { SS_HULL_OK, SS_HULL_MEMORY, SS_HULL_FLAT } ss_hull_status;

/* The hull, its origin in its centroid, which is given in the points' frame. */
ss_hull_status ss_hull_build(ss_arena *arena, const ss_vec3 *points, int n, struct ss_hull **out, ss_vec3 *centroid);

#endif
