/* Whether rows of a plain LCP are the directions of a contact. */
#ifndef SS_CP_DIRECTIONS_H
#define SS_CP_DIRECTIONS_H

#include "cp/recognise.h"

/* A search for contacts (recognise.c). */
typedef struct search {
  const ss_cp *problem; /* dense or sparse */
  recognition *out;
  ss_cp_workspace *workspace;
  double largest;    /* |g| */
  double *size;      /* [n] largest entry of each column, rows of lambdas apart */
  double *row_size;  /* [n] of each row, that of lambda apart; set for directions */
  int *nonzeros;     /* [n] of each column; set for lambdas */
  int *lambda;       /* [n_lambdas] rows that a lambda may have */
  bool *nonnegative; /* [n] rows of that kind */
  bool *is_lambda;   /* [n] listed there */
  int n_lambdas;
  double *line[3]; /* [n] sparse problems: zero between two uses */
} search;

/* Compares the rows and g of one gathering, and puts its directions in order. */
ss_status directions_fit(search *s, gathering *f, bool *fit, ss_error *error);

/* Compares the columns of all of them, and drops those that do not fit. */
ss_status columns_fit(search *s, ss_error *error);

#endif
