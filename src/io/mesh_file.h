/* Mesh files (OBJ, STL) and tables of heights. */
#ifndef SS_IO_MESH_FILE_H
#define SS_IO_MESH_FILE_H

#include "core/arena.h"

#include <stickslip/base.h>

typedef struct ss_mesh_data {
  ss_vec3 *points;
  int n_points;
  int *triangles; /* three points each, from 0 */
  int n_triangles;
} ss_mesh_data;

/* By its ending: .obj (polygons are cut into triangles), .stl (text or binary). The data are in the arena. Errors name the
 * file and the line; of a binary file the byte. */
ss_status ss_mesh_file_read(const char *path, ss_arena *arena, ss_mesh_data *out, ss_error *error);

/* Numbers separated by blanks, commas or semicolons; each line is a row, all of the same length; # starts a comment. */
ss_status ss_height_file_read(const char *path, ss_arena *arena, double **heights, int *rows, int *columns,
                              ss_error *error);

/* The path of a file that is named in another one: relative names count from where that is. In the arena; NULL: no memory. */
char *ss_path_beside(ss_arena *arena, const char *beside, const char *name);

#endif
