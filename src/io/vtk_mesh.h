/* Surfaces of shapes as polygons, for programs that draw meshes. */
#ifndef SS_IO_VTK_MESH_H
#define SS_IO_VTK_MESH_H

#include "core/math3.h"

#include <jansson.h>

/* Points and polygons that grow; a polygon is its number of corners, then their indices. */
typedef struct ss_mesh {
  ss_vec3 *points;
  int n_points, point_capacity;
  int *polygons;
  int n_numbers, number_capacity, n_polygons;
  bool out_of_memory;
} ss_mesh;

/* Adds a shape of the model's JSON (docs/page-format.md) in its body's frame; `reach` is how far a half-space is drawn. False:
 * a shape that this cannot draw. */
bool ss_mesh_add_shape(ss_mesh *mesh, const json_t *shape, double reach);
void ss_mesh_release(ss_mesh *mesh);

#endif
