/* What a chart is drawn on: SVG (chart_svg.c) or PNG (chart_png.c). Coordinates are pixels, y downwards. */
#ifndef CHART_PAPER_H
#define CHART_PAPER_H

#include "chart.h"

typedef struct chart_pen {
  const char *color; /* "#rrggbb" */
  double width;
  const char *dash; /* lengths, separated by blanks; NULL or "": solid */
  bool round;       /* corners */
} chart_pen;

typedef enum chart_anchor { CHART_START, CHART_MIDDLE, CHART_END } chart_anchor;

typedef struct chart_text {
  double x, y;
  chart_anchor anchor;
  double size;
  bool bold, upwards;
  const char *color, *text;
} chart_text;

typedef struct chart_paper chart_paper;
struct chart_paper {
  void (*open)(chart_paper *paper, double width, double height);
  void (*close)(chart_paper *paper);
  void (*begin)(chart_paper *paper, const chart_pen *pen); /* of a path */
  void (*to)(chart_paper *paper, double x, double y, bool down);
  void (*end)(chart_paper *paper);
  void (*dot)(chart_paper *paper, double x, double y, double radius, const char *color);
  void (*text)(chart_paper *paper, const chart_text *text);
};

/* False: nothing to draw; then the paper has not been opened. */
bool chart_draw(const chart *c, chart_paper *paper);

#endif
