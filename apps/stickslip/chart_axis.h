/* One axis of a chart: the range of the data, round ticks, and the map to the paper. */
#ifndef CHART_AXIS_H
#define CHART_AXIS_H

#include <stdbool.h>

enum { AXIS_TICKS = 40 }; /* at most */

typedef struct chart_axis {
  bool log;
  double low, high;            /* of the data, then of the axis; log: their decimal logarithms */
  double from, to;             /* paper coordinates of low and high */
  int n;                       /* ticks */
  double ticks[AXIS_TICKS];    /* values (not logarithms) */
  char labels[AXIS_TICKS][24]; /* empty: a tick without a label */
} chart_axis;

/* Start from an empty axis, show it all values, finish it; false: it has seen no value it can show. */
chart_axis axis_empty(bool log, double from, double to);
void axis_see(chart_axis *axis, double value);
bool axis_finish(chart_axis *axis);

bool axis_shows(const chart_axis *axis, double value); /* finite, and positive where logarithmic */
double axis_place(const chart_axis *axis, double value);

#endif
