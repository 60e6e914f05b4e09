#include "chart.h"

#include "chart_axis.h"
#include "chart_paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Okabe and Ito's colours, which people with colour-blindness can tell apart; then the same ones dashed. */
static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
enum { COLORS = sizeof colors / sizeof *colors };
static const char *const dashes[] = {"", "6 3", "2 2", "8 3 2 3"};
enum { DASHES = sizeof dashes / sizeof *dashes };

enum { WIDTH = 760, HEIGHT = 460, TOP = 44, BOTTOM = 58, LEFT = 78, RIGHT = 24, LEGEND_LINE = 19 };

/* ---- the chart as data ---- */

chart_series *chart_add(chart *c, const char *name, long n) {
  if (c->n == c->capacity) {
    const int capacity = c->capacity ? 2 * c->capacity : 8;
    chart_series *series = realloc(c->series, sizeof *series * (size_t)capacity);
    if (!series) return NULL;
    c->series = series;
    c->capacity = capacity;
  }
  const size_t length = strlen(name) + 1, points = (size_t)(n > 0 ? n : 1);
  chart_series s = {malloc(length), calloc(points, sizeof(double)), calloc(points, sizeof(double)), n};
  if (!s.name || !s.x || !s.y) {
    free(s.name);
    free(s.x);
    free(s.y);
    return NULL;
  }
  memcpy(s.name, name, length);
  c->series[c->n] = s;
  return &c->series[c->n++];
}

void chart_release(chart *c) {
  for (int i = 0; i < c->n; i++) {
    free(c->series[i].name);
    free(c->series[i].x);
    free(c->series[i].y);
  }
  free(c->series);
  c->series = NULL;
  c->n = c->capacity = 0;
}

/* ---- drawing ---- */

static void line(chart_paper *p, const chart_pen *pen, double x1, double y1, double x2, double y2) {
  p->begin(p, pen);
  p->to(p, x1, y1, false);
  p->to(p, x2, y2, true);
  p->end(p);
}

static void put_text(chart_paper *p, double x, double y, chart_anchor anchor, const char *color, const char *text) {
  p->text(p, &(chart_text){.x = x, .y = y, .anchor = anchor, .size = 12, .color = color, .text = text});
}

static void put_axes(chart_paper *p, const chart *c, const chart_axis *x, const chart_axis *y) {
  const chart_pen grid = {.color = "#e3e3e3", .width = 1}, frame = {.color = "#333333", .width = 1};
  for (int i = 0; i < x->n; i++) {
    const double at = axis_place(x, x->ticks[i]);
    line(p, &grid, at, y->from, at, y->to);
  }
  for (int i = 0; i < y->n; i++) {
    const double at = axis_place(y, y->ticks[i]);
    line(p, &grid, x->from, at, x->to, at);
  }
  for (int i = 0; i < x->n; i++)
    put_text(p, axis_place(x, x->ticks[i]), y->from + 18, CHART_MIDDLE, "#333333", x->labels[i]);
  for (int i = 0; i < y->n; i++)
    put_text(p, x->from - 8, axis_place(y, y->ticks[i]) + 4, CHART_END, "#333333", y->labels[i]);
  p->begin(p, &frame);
  p->to(p, x->from, y->to, false);
  p->to(p, x->from, y->from, true);
  p->to(p, x->to, y->from, true);
  p->end(p);
  chart_text label = {.x = (x->from + x->to) / 2,
                      .y = y->from + 42,
                      .anchor = CHART_MIDDLE,
                      .size = 14,
                      .color = "#000000",
                      .text = c->x_label};
  p->text(p, &label);
  label.x = 18;
  label.y = (y->from + y->to) / 2;
  label.upwards = true;
  label.text = c->y_label;
  p->text(p, &label);
  if (!c->title) return;
  p->text(p, &(chart_text){.x = x->from, .y = 24, .size = 16, .bold = true, .color = "#000000", .text = c->title});
}

static chart_pen pen_of(int i, double width) {
  return (chart_pen){.color = colors[i % COLORS], .width = width, .dash = dashes[i / COLORS % DASHES]};
}

/* Points that fall on the one before, to a tenth of a pixel, are left out: long runs stay small files. */
static void put_line(chart_paper *p, const chart_series *s, const chart_axis *x, const chart_axis *y, int index) {
  chart_pen pen = pen_of(index, 1.6);
  pen.round = true;
  p->begin(p, &pen);
  bool down = false;
  double px = 0, py = 0;
  for (long i = 0; i < s->n; i++) {
    const bool shown = axis_shows(x, s->x[i]) && axis_shows(y, s->y[i]);
    if (!shown) {
      down = false;
      continue;
    }
    const double nx = axis_place(x, s->x[i]), ny = axis_place(y, s->y[i]);
    if (down && hypot(nx - px, ny - py) < 0.1 && i + 1 < s->n) continue;
    p->to(p, nx, ny, down);
    px = nx;
    py = ny;
    down = true;
  }
  p->end(p);
}

static void put_marks(chart_paper *p, const chart_series *s, const chart_axis *x, const chart_axis *y, int index) {
  for (long i = 0; i < s->n; i++)
    if (axis_shows(x, s->x[i]) && axis_shows(y, s->y[i]))
      p->dot(p, axis_place(x, s->x[i]), axis_place(y, s->y[i]), 3.2, colors[index % COLORS]);
}

/* Lines of slope `order` through the upper right corner, clipped to the frame. */
static void put_order(chart_paper *p, const chart_axis *x, const chart_axis *y, int order) {
  const double span = fmin(x->high - x->low, (y->high - y->low) / order);
  const double from_x = axis_place(x, pow(10, x->high - span)), from_y = axis_place(y, pow(10, y->high - order * span));
  const chart_pen pen = {.color = "#999999", .width = 1, .dash = "4 4"};
  line(p, &pen, from_x, from_y, x->to, y->to);
  char label[24];
  (void)snprintf(label, sizeof label, "order %d", order);
  put_text(p, (from_x + 2 * x->to) / 3 - 6, (from_y + 2 * y->to) / 3, CHART_END, "#777777", label);
}

static void put_legend(chart_paper *p, const chart *c, double left, double top) {
  for (int i = 0; i < c->n; i++) {
    const double y = top + LEGEND_LINE * i;
    const chart_pen pen = pen_of(i, 2);
    line(p, &pen, left, y - 4, left + 22, y - 4);
    put_text(p, left + 28, y, CHART_START, "#222222", c->series[i].name);
  }
}

static double legend_width(const chart *c) {
  if (c->n < 2) return 0;
  size_t longest = 0;
  for (int i = 0; i < c->n; i++) longest = strlen(c->series[i].name) > longest ? strlen(c->series[i].name) : longest;
  return 44 + 6.9 * (double)longest;
}

bool chart_draw(const chart *c, chart_paper *p) {
  const double beside = legend_width(c), width = WIDTH + beside;
  double height = fmax(HEIGHT, TOP + BOTTOM + LEGEND_LINE * c->n);
  chart_axis x = axis_empty(c->x_log, LEFT, WIDTH - RIGHT), y = axis_empty(c->y_log, height - BOTTOM, TOP);
  for (int i = 0; i < c->n; i++) {
    for (long k = 0; k < c->series[i].n; k++) {
      const double px = c->series[i].x[k], py = c->series[i].y[k];
      if (!axis_shows(&x, px) || !axis_shows(&y, py)) continue;
      axis_see(&x, px);
      axis_see(&y, py);
    }
  }
  if (!axis_finish(&x) || !axis_finish(&y)) return false;
  if (c->equal) {
    y.from = y.to + (x.to - x.from) * (y.high - y.low) / (x.high - x.low);
    height = fmax(y.from + BOTTOM, TOP + BOTTOM + LEGEND_LINE * c->n);
  }
  p->open(p, width, height);
  put_axes(p, c, &x, &y);
  if (c->orders && c->x_log && c->y_log)
    for (int order = 1; order <= 2; order++) put_order(p, &x, &y, order);
  for (int i = 0; !c->scattered && i < c->n; i++) put_line(p, &c->series[i], &x, &y, i);
  for (int i = 0; c->marked && i < c->n; i++) put_marks(p, &c->series[i], &x, &y, i);
  if (c->n > 1) put_legend(p, c, WIDTH - RIGHT + 16, TOP + 12);
  p->close(p);
  return true;
}
