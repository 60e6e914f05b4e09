/* Contact problems with equations beside the contacts, put together from the matrices of a file (read_joined.c). */
#ifndef SS_CP_JOINED_H
#define SS_CP_JOINED_H

#include "cp/tokens.h"

typedef struct joined {
  int equations, d, contacts; /* d = 5: rolling friction */
  matrix A;                   /* all rows; those of the contacts after the equations */
  double *g;
} joined;

/* `m`, or its transpose, times a factor, at a place of the whole: rows as the file counts them, d per contact. */
typedef struct part {
  const matrix *m;
  int row, col;
  double factor;
  bool transposed;
} part;

size_t joined_entries(const matrix *m);
ss_status joined_create(tokens *t, int equations, int d, int contacts, size_t entries, joined *out, ss_error *error);
void joined_add(joined *j, const part *p);
void joined_vector(joined *j, int row, int count, double factor, const double *x);
ss_status file_joined(tokens *t, joined *j, const double *mu, const double *mu_rolling, ss_cp_file *out,
                      ss_error *error);

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

/* The same with matrices by their entries, without joints, and without the velocities as unknowns (read_sparse.c). */
ss_status file_global_sparse(tokens *t, const global_contacts *p, ss_cp_file *out, ss_error *error);

#endif
