/* Where the curves of `stickslip plot` come from. */
#ifndef PLOT_H
#define PLOT_H

#include "chart.h"
#include "cli.h"

typedef struct plot_request {
  const char *const *inputs;
  int n_inputs;
  const char *x; /* NULL: t, or h for convergence studies */
  const text_list *y;
} plot_request;

/* What `stickslip converge --json` wrote starts with a brace; HDF5 does not. */
bool plot_is_study(const char *path);

/* Fill in series and labels. Return PARSE_GO_ON, or the exit code after a reported failure. */
int plot_results(const plot_request *request, chart *c);
int plot_studies(const plot_request *request, chart *c);

#endif
