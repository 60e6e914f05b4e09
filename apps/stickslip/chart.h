/* Line charts as SVG or PNG: round ticks, linear or logarithmic axes, several series, a legend. */
#ifndef CHART_H
#define CHART_H

#include <stdbool.h>
#include <stdio.h>

typedef struct chart_series {
  char *name; /* owned, as are the arrays */
  double *x, *y;
  long n;
} chart_series;

typedef struct chart {
  const char *title; /* NULL: none */
  const char *x_label, *y_label;
  bool x_log, y_log;
  bool marked;    /* a dot at every point: few points, e.g. a convergence study */
  bool scattered; /* and no lines between them */
  bool equal;     /* one unit is as long on both axes: paths in space */
  bool orders;    /* dashed lines of slope 1 and 2: logarithmic axes only */
  chart_series *series;
  int n, capacity;
} chart;

/* A new series with room for n points, zeroed; NULL: out of memory. */
chart_series *chart_add(chart *c, const char *name, long n);
void chart_release(chart *c);

/* False: nothing to draw (no finite point; with a logarithmic axis no positive one). */
bool chart_write(const chart *c, FILE *stream);

/* The same as an image of twice the size. */
typedef enum chart_png_result {
  CHART_PNG_DONE,
  CHART_PNG_EMPTY,
  CHART_PNG_FAILED,
  CHART_PNG_NOT_BUILT
} chart_png_result;
chart_png_result chart_write_png(const chart *c, const char *path);

/* Text as XML wants it: shared with the report. */
void chart_put_escaped(FILE *stream, const char *text);

#endif
