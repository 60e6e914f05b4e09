/* What the files of the structured Newton method share (patch_newton.c has the equations). */
#ifndef SS_SCHEME_PATCH_NEWTON_H
#define SS_SCHEME_PATCH_NEWTON_H

#include "cp/active.h"
#include "scheme/scheme.h"

enum { BODY_COLUMNS = 12 };

typedef struct patch_newton {
  ss_sim *sim;
  double alpha;
  int n_groups;
  int *parent; /* [n_bodies] union-find */
  int *group;  /* [n_bodies] */
  int *place;  /* [n_bodies + n_free] of the body's first coordinate, of the free row, in its group's system */
  int *size;   /* [n_bodies] of the groups' systems */
  int *pivot;  /* [largest system] */
  double **matrix, **right; /* [n_bodies] of the groups */
  double *t;                /* [n_p][n_p] of the largest patch */
  double *x;                /* [n][1 + 12] T^-1 [r, C^T J], by unknown */
  double *bj;               /* [n_p][12] B^T J of the patch at hand */
  double *line;             /* [n_p] */
  double *u;                /* [n_v] a velocity change */
  double unit;              /* of impulses: the s of natural units, see step/solve_problem.c */
  active_set set;
} patch_newton;

/* Component of the patch that the contact's i-th row belongs to. */
static inline int patch_component(const ss_contact *c, int i) {
  return i / c->n_rows * c->patch->n_directions + i % c->n_rows;
}

/* w = G z + g without G (patch_apply.c). */
void newton_apply(patch_newton *k, const double *z, double *w);
void newton_diagonal(const patch_newton *k, double *diagonal); /* of G */

/* The equations of the contact states (patch_system.c). */
int newton_form_groups(patch_newton *k);                         /* the size of the largest system */
bool newton_solve_states(patch_newton *k, double *z, double *w); /* z: solves them; false: a system is singular */

#endif
