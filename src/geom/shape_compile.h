/* Shapes that take a file of their own to compile. */
#ifndef SS_GEOM_SHAPE_COMPILE_H
#define SS_GEOM_SHAPE_COMPILE_H

#include "geom/geom.h"

/* "mesh: triangles must be ...", at the definition's place. */
ss_status ss_shape_reject(ss_error *error, const ss_shape_def *definition, const char *key, const char *expected);

ss_status ss_compile_convex(ss_arena *arena, const ss_shape_def *definition, ss_shape *out, ss_error *error);
ss_status ss_compile_mesh(ss_arena *arena, const ss_shape_def *definition, ss_shape *out, ss_error *error);
ss_status ss_compile_height_field(ss_arena *arena, const ss_shape_def *definition, ss_shape *out, ss_error *error);

#endif
