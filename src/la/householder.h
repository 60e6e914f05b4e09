/* Orthogonal elimination of dense matrices, row-major. */
#ifndef SS_LA_HOUSEHOLDER_H
#define SS_LA_HOUSEHOLDER_H

#include <stdbool.h>

/* Turns the leading `pivots` columns of a [rows][columns] into upper triangular form by reflections that act on all
 * columns. Rows from `pivots` on then are free of those columns. */
void ss_triangularise(double *a, int rows, int columns, int pivots);

/* Solves U x = b with the n x n upper triangle in the leading columns of a (rows are `columns` apart); b and x may be the same.
 * Diagonal entries below `smallest` times the largest one belong to directions that nothing determines: x is zero there.
 * False: there were some. */
bool ss_back_substitute(const double *a, int columns, int n, double smallest, const double *b, double *x);

#endif
