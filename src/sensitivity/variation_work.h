/* Pieces of the variation: data of the step's problem at a moved state, and the response of its solution. */
#ifndef SS_SENSITIVITY_VARIATION_WORK_H
#define SS_SENSITIVITY_VARIATION_WORK_H

#include "cp/active.h"
#include "sensitivity/variation.h"

#include <string.h>

/* There may be none of them, and then no memory for them. */
static inline void copy_numbers(double *to, const double *from, size_t n) {
  if (n) memcpy(to, from, sizeof *to * n);
}
static inline void zero_numbers(double *to, size_t n) {
  if (n) memset(to, 0, sizeof *to * n);
}

/* A direction in the data of a part or impact. */
typedef struct direction {
  const double *q, *v, *patch; /* patch: like sim->trial.patch_start; may be NULL */
  double t, h;
} direction;

/* What the simulation holds at the nominal state, to be put back. */
typedef struct nominal {
  double *q, *v, t;
  double *z, *slack, *delta, *v_end, *q_end;
  double *patch_start, *patch_end;
  ss_contact *contacts;
} nominal;

/* The data at a state with multipliers held: w = J (v + alpha delta) + s + R z, delta = A^-1 (kt + J^T z). */
typedef struct response {
  double *w;     /* [n] */
  double *delta; /* [n_v] */
  double *patch; /* [n_patch] deformations at the end */
} response;

ss_status nominal_save(const ss_sim *sim, ss_arena *arena, nominal *out, ss_error *error);
void nominal_restore(ss_sim *sim, const nominal *kept);

ss_status response_create(const ss_sim *sim, ss_arena *arena, response *out, ss_error *error);

/* state = nominal (+) s d */
void move_state(ss_sim *sim, const nominal *kept, const direction *d, double s);

/* How far to go along d from the nominal state for a central difference. */
double difference_size(const ss_sim *sim, const nominal *kept, const direction *d, double h);

/* Contacts at the moved state, with the memory that they had before the solve. */
void relook(ss_sim *sim);

/* w of the problem as it stands, velocities v, multipliers z with their velocity change delta. */
void slack_of(const ss_sim *sim, const double *v, double alpha, const double *delta, const double *z, double *w);

/* W z: velocity change of multipliers alone. */
void spread_multipliers(ss_sim *sim, const double *z, double *out);

/* out = d z for dw in the data and dextra (NULL: none) in the blocks: the equations of the active set, linear. */
ss_status vary_multipliers(const ss_cp *problem, const double *z, const double *slack, const double *dw,
                           const double *dextra, ss_cp_workspace *memory, double *out, ss_error *error);

#endif
