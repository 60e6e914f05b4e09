/* Contact problems with equations beside the contacts, put together from the matrices of a file (global_friction.c). */
#ifndef SS_GLOBAL_FRICTION_H
#define SS_GLOBAL_FRICTION_H

#include "problem_file/tokens.h"

/* w = W r + q with rolling friction, d = 5. */
ss_status file_rolling(tokens *t, int contacts, const matrix *W, const double *q, const double *mu,
                       const double *mu_rolling, ss_cp_file *out, ss_error *error);

typedef struct mixed_contacts {
  int d, contacts;
  const matrix *W, *V, *R;
  const double *q, *s, *mu;
} mixed_contacts;
ss_status file_mixed_friction(tokens *t, const mixed_contacts *p, ss_cp_file *out, ss_error *error);

typedef struct global_contacts {
  int d, contacts;
  const matrix *M, *H, *N; /* N: joints; NULL: none */
  const double *f, *w, *b; /* b: with N */
  const double *mu, *mu_rolling;
} global_contacts;
ss_status file_global_friction(tokens *t, const global_contacts *p, ss_cp_file *out, ss_error *error);

#endif
