/* The auditor: do shapes overlap that no contact holds? It asks the shapes themselves, through its own support functions, its
 * own distance algorithm (audit_convex.c), its own samples of surfaces (audit_surface.c) and its own list of near pairs
 * (audit.c), and shares nothing with the search for contacts (geom/, contact/), so that an error there is seen here. */
#ifndef SS_AUDIT_AUDIT_H
#define SS_AUDIT_AUDIT_H

#include "geom/geom.h"
#include "model/model.h"

/* A shape where it is now: a convex core, rounded off by a radius. */
typedef struct ss_probe {
  const ss_shape *shape;
  ss_vec3 center;
  ss_mat3 turn;
  double radius;     /* sphere, capsule; 0: the core itself */
  ss_vec3 sweep;     /* where it goes from there: all that it passes over counts */
  ss_vec3 low, high; /* box around it, without the sweep */
} ss_probe;

ss_pose ss_probe_pose(const ss_shape *shape, const double *q);
ss_probe ss_probe_make(const ss_shape *shape, const ss_pose *pose);
ss_probe ss_probe_at(const ss_shape *shape, const double *q);

/* Farthest point of the core in a direction, which need not be a unit vector. */
ss_vec3 ss_probe_support(const ss_probe *probe, ss_vec3 direction);

/* Depth of two convex shapes in each other: the shortest way that parts them, from below; 0 where it is at most `tolerance`.
 * Planar scenes (normal not zero): shortest way in the plane. *axis: a direction to try first, zero: none; receives one that
 * parts them, for the next time. */
double ss_convex_overlap(const ss_probe *a, const ss_probe *b, ss_vec3 normal, double tolerance, ss_vec3 *axis);

/* Depth of a convex shape below a half-space's surface. */
double ss_half_space_overlap(const ss_probe *half_space, const ss_probe *other);

/* Triangles of a mesh or height field, ordered along an axis. */
typedef struct ss_audited_surface ss_audited_surface;
ss_audited_surface *ss_surface_create(ss_arena *arena, const ss_shape *shape); /* NULL: out of memory */
/* Largest depth of sampled points of the convex shape behind the surface; 0: none is. Adds to the work, see ss_audit_work. */
double ss_surface_overlap(const ss_audited_surface *surface, const ss_probe *mesh, const ss_probe *other, double *work);

/* Least width of a shape; 0 for points, surfaces and half-spaces. */
double ss_shape_width(const ss_shape *shape);
/* Does the shape move by more than its width between its poses at the start and the end of a step? */
bool ss_may_pass(const ss_shape *shape, double width, const ss_pose ends[2]);
/* Both widths where two convex shapes pass through each other between the start and the end of a step; 0: they do not. */
double ss_convex_passage(const ss_shape *const shapes[2], const ss_pose ends[2][2], ss_vec3 normal);
/* The shape's width, or its way if it has none, where its middle passes through the surface. */
double ss_surface_passage(const ss_audited_surface *surface, const ss_pose mesh[2], const ss_shape *other,
                          const ss_pose ends[2]);

typedef struct ss_audit ss_audit;
ss_status ss_audit_create(const ss_model *model, ss_arena *arena, ss_audit **out, ss_error *error);
void ss_audit_free(ss_audit *audit);
/* What has been done so far: nanoseconds of a usual machine, from counts. The same on every machine, and for a run that was resumed. */
typedef struct ss_audit_work {
  double all;
  double surfaces; /* part of it: triangles */
} ss_audit_work;
ss_audit_work ss_audit_work_of(const ss_audit *audit);

/* What the search for contacts knows of a pair's depth at the present positions; 0: nothing. */
typedef double (*ss_known_depth)(void *user, int shape_a, int shape_b);

/* The worst overlap at positions q of which less than half is known; depth 0: there is none. */
typedef struct ss_overlap {
  double depth;
  int shape[2];
} ss_overlap;
ss_status ss_audit_positions(ss_audit *audit, const double *q, ss_known_depth known, void *user, ss_overlap *worst,
                             ss_error *error);
/* Widths of two shapes that have passed through each other on their way from `before` to q, the worst of them; depth 0: none has. */
ss_status ss_audit_ways(ss_audit *audit, const double *before, const double *q, ss_overlap *worst, ss_error *error);
/* Are there few enough shapes to look at the ways of every step? */
bool ss_audit_every_way(const ss_audit *audit);

#endif
