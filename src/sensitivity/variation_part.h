/* One part of a step in a variation: the response of its solution to a direction (variation_part.c), and its end
 * (variation_end.c). */
#ifndef SS_SENSITIVITY_VARIATION_PART_H
#define SS_SENSITIVITY_VARIATION_PART_H

#include "sensitivity/variation_work.h"

typedef struct part_work {
  ss_sim *sim;
  ss_arena *arena;
  nominal kept;
  double h;
  double *G;          /* [n][n] of the solved problem; with the theta rule's feedback */
  double *feedback_w; /* theta rule: [n][n_v] d w / d guess; NULL: none */
  double *feedback;   /* [n_v][n_v] (1 - d delta / d guess)^-1 */
  response plus, minus;
  double *dz, *zero; /* [n]; [n_v] zeros */
} part_work;

/* What a direction leads to. */
typedef struct outcome {
  double *delta; /* [n_v] d(v+ - v) */
  double *patch; /* [n_patch] */
  double h;
} outcome;

/* The slip that a part brought to an end. */
typedef struct arrest {
  const ss_contact *contact;
  int kind;
} arrest;

/* The data with the multipliers of the nominal solution, at the state as it stands. */
ss_status part_evaluate(part_work *w, double h, const double *guess, response *out, ss_error *error);

/* Matrices of the nominal solution: feedback first. */
ss_status part_prepare_feedback(part_work *w, ss_error *error);
ss_status part_prepare_matrix(part_work *w, ss_error *error);

/* Where a direction leads, to the end of the part's own length. */
ss_status part_respond(part_work *w, const direction *d, outcome *out, ss_error *error);

/* Variation of q (+) tau [v + gamma f delta], f = tau/h, and of v + f delta. */
void part_vary_end(const part_work *w, const direction *d, const outcome *o, double tau, double dtau, double *q,
                   double *v);

/* d tau of a collision at tau: the gap (of a contact that began at the surface: its excess over the start's) stays
 * zero. */
double part_vary_collision(part_work *w, const direction *d, const outcome *o, const ss_contact *hit, double tau,
                           double *q, double *v);

arrest part_find_arrest(const ss_sim *sim);
bool part_ends_at_once(const ss_sim *sim, const arrest *a);
ss_status part_stick_at_once(part_work *w, const arrest *a, const double *dq, double *dv, ss_error *error);

/* d(before . after) of the slip along a direction and its outcome. */
double part_vary_slip(part_work *w, const arrest *a, const direction *d, const outcome *o, double *q, double *v);

#endif
