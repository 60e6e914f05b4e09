/* User-defined systems inside the library: the compiled definition, and the evaluation of its functions. */
#ifndef SS_SYSTEM_SYSTEM_H
#define SS_SYSTEM_SYSTEM_H

#include "contact/contact.h"

/* What is known of a configuration. */
enum {
  SS_SPOT_MASS = 1,
  SS_SPOT_GAPS = 2,       /* gap */
  SS_SPOT_NORMALS = 4,    /* normal, gap_rate */
  SS_SPOT_FRICTION = 8,   /* slip, slip_rate */
  SS_SPOT_JOINTS = 16,    /* theta */
  SS_SPOT_JOINT_ROWS = 32 /* nu, nu_rate */
};

/* The functions' values at one (t, q). */
typedef struct ss_spot {
  double t, *q; /* [n] */
  unsigned known;
  double *mass;             /* [n][n] */
  double *gap, *gap_rate;   /* [n_gaps] */
  double *normal;           /* [n_gaps][n] */
  double *slip, *slip_rate; /* [n_directions][n], [n_directions]: D, u */
  double *theta;            /* [n_joints + n_pfaffian], zero for Pfaffian rows */
  double *nu, *nu_rate;     /* [n_joints + n_pfaffian][n], []: rows, and velocities at v = 0 */
} ss_spot;

/* The start, the middle and the end of a part, and a place between: they are asked for again and again. */
enum { SS_SPOTS = 4 };

/* Belongs to one sim, or to the compiler's checks. */
typedef struct ss_system_work {
  const ss_system_model *system;
  ss_spot spots[SS_SPOTS];
  int oldest;            /* spot that is used next */
  double time_step;      /* for differences in t */
  double *mass;          /* [n][n] forces: M of the step */
  double *constant_mass; /* [n][n] the one of a constant mass, ... */
  bool mass_known;       /* ... once it is known */
  double *a, *inverse;   /* [n][n] forces: A, its inverse */
  double *scratch;       /* [n][n] */
  double *kq, *kv;       /* [n][n] forces */
  double *k;             /* [n] forces */
  double *row;           /* [n] the row asked for last */
  double *path_q;        /* [n] */
  double *moved;         /* [n] differences: a coordinate moved */
  double *column[4];     /* [most outputs] differences */
  ss_error failure;      /* of a function, the first one since the step began */
} ss_system_work;

/* NULL: out of memory. time_step: typical change of t, for differences. */
ss_system_work *ss_system_work_create(ss_arena *arena, const ss_system_model *system, double time_step);

/* The values asked for, at (t, q); valid until SS_SPOTS other configurations have been asked for. After a failure they are
 * numbers that do no harm. */
const ss_spot *ss_spot_at(ss_system_work *w, double t, const double *q, unsigned what);

void ss_system_force(ss_system_work *w, double t, const double *q, const double *v, double *k);
void ss_system_force_jacobian(ss_system_work *w, double t, const double *q, const double *v, double *kq, double *kv);
double ss_system_potential(ss_system_work *w, double t, const double *q);
void ss_system_power(ss_system_work *w, double t, const double *q, const double *v, double *applied, double *damped);

/* The same by differences, whether a function is given or not (differences.c). */
typedef int (*ss_system_function)(void *user, double t, const double *q, double *out);
void ss_differentiate(ss_system_work *w, const char *name, ss_system_function function, int n_out, double t,
                      const double *q, double *rows, double *rate);
void ss_differentiate_force(ss_system_work *w, double t, const double *q, const double *v, double *kq, double *kv);

/* Whether a call succeeded: refused is what the function returned, numbers its output. Else the failure is kept, and the
 * numbers are zero. */
bool ss_system_accept(ss_system_work *w, const char *name, int refused, double t, double *numbers, size_t count);

/* Pieces of its mechanics (sim/mechanics.h). */
void ss_system_begin_step(ss_sim *sim);
void ss_system_forces(ss_sim *sim, double h);
void ss_system_forces_none(ss_sim *sim);
void ss_system_force_work(ss_sim *sim, double h, double fraction);

/* Given Jacobians against differences at (t, q, v) (check.c). */
ss_status ss_system_check_jacobians(ss_system_work *w, double t, const double *q, const double *v, ss_error *error);

/* What a function of a system has refused since the step began; SS_OK for bodies. */
ss_status ss_system_refused(const ss_sim *sim, ss_error *error);
void ss_forgive(ss_sim *sim); /* systems: it did not happen */
/* Evaluates everything that a step's observers and the next step ask for, so that a refusal is known before. */
void ss_system_probe(ss_sim *sim);
ss_status ss_system_allocate(ss_sim *sim, ss_error *error);

/* A system's rows have all coordinates (dense_rows.c): A^-1 J^T and G of its problem, and ss_velocity_change. */
void ss_dense_spread(ss_sim *sim);
void ss_dense_fill(const ss_sim *sim, double *G);
void ss_dense_velocity_change(ss_sim *sim);
static inline ss_status ss_refused(const ss_sim *sim, ss_error *error) {
  return sim->system ? ss_system_refused(sim, error) : SS_OK;
}

#endif
