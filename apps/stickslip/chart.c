#include "chart.h"

#include "chart_axis.h"

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

void chart_put_escaped(FILE *f, const char *text) {
  for (; *text; text++) {
    switch (*text) {
    case '<':
      (void)fputs("&lt;", f);
      break;
    case '>':
      (void)fputs("&gt;", f);
      break;
    case '&':
      (void)fputs("&amp;", f);
      break;
    case '"':
      (void)fputs("&quot;", f);
      break;
    default:
      if ((unsigned char)*text >= ' ') (void)putc(*text, f);
    }
  }
}

static void put_text(FILE *f, double x, double y, const char *attributes, const char *text) {
  (void)fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
  chart_put_escaped(f, text);
  (void)fputs("</text>\n", f);
}

static void put_axes(FILE *f, const chart *c, const chart_axis *x, const chart_axis *y) {
  (void)fputs("<g stroke=\"#e3e3e3\" stroke-width=\"1\">\n", f);
  for (int i = 0; i < x->n; i++) {
    const double at = axis_place(x, x->ticks[i]);
    (void)fprintf(f, "<path d=\"M%.1f %.1fV%.1f\"/>\n", at, y->from, y->to);
  }
  for (int i = 0; i < y->n; i++) {
    const double at = axis_place(y, y->ticks[i]);
    (void)fprintf(f, "<path d=\"M%.1f %.1fH%.1f\"/>\n", x->from, at, x->to);
  }
  (void)fputs("</g>\n<g fill=\"#333\">\n", f);
  for (int i = 0; i < x->n; i++)
    put_text(f, axis_place(x, x->ticks[i]), y->from + 18, "text-anchor=\"middle\"", x->labels[i]);
  for (int i = 0; i < y->n; i++)
    put_text(f, x->from - 8, axis_place(y, y->ticks[i]) + 4, "text-anchor=\"end\"", y->labels[i]);
  (void)fprintf(f, "</g>\n<path d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\" stroke=\"#333\"/>\n", x->from, y->to, y->from,
                x->to);
  put_text(f, (x->from + x->to) / 2, y->from + 42, "text-anchor=\"middle\" font-size=\"14\"", c->x_label);
  char turn[96];
  (void)snprintf(turn, sizeof turn, "text-anchor=\"middle\" font-size=\"14\" transform=\"rotate(-90 18 %.1f)\"",
                 (y->from + y->to) / 2);
  put_text(f, 18, (y->from + y->to) / 2, turn, c->y_label);
  if (c->title) put_text(f, x->from, 24, "font-size=\"16\" font-weight=\"bold\"", c->title);
}

static void put_style(FILE *f, int i) {
  (void)fprintf(f, "stroke=\"%s\"", colors[i % COLORS]);
  const char *dash = dashes[i / COLORS % DASHES];
  if (*dash) (void)fprintf(f, " stroke-dasharray=\"%s\"", dash);
}

/* Points that fall on the one before, to a tenth of a pixel, are left out: long runs stay small files. */
static void put_line(FILE *f, const chart_series *s, const chart_axis *x, const chart_axis *y, int index) {
  (void)fputs("<path fill=\"none\" stroke-width=\"1.6\" stroke-linejoin=\"round\" ", f);
  put_style(f, index);
  (void)fputs(" d=\"", f);
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
    (void)fprintf(f, "%c%.2f %.2f", down ? 'L' : 'M', nx, ny);
    px = nx;
    py = ny;
    down = true;
  }
  (void)fputs("\"/>\n", f);
}

static void put_marks(FILE *f, const chart_series *s, const chart_axis *x, const chart_axis *y, int index) {
  for (long i = 0; i < s->n; i++)
    if (axis_shows(x, s->x[i]) && axis_shows(y, s->y[i]))
      (void)fprintf(f, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3.2\" fill=\"%s\"/>\n", axis_place(x, s->x[i]),
                    axis_place(y, s->y[i]), colors[index % COLORS]);
}

/* Lines of slope `order` through the upper right corner, clipped to the frame. */
static void put_order(FILE *f, const chart_axis *x, const chart_axis *y, int order) {
  const double span = fmin(x->high - x->low, (y->high - y->low) / order);
  const double from_x = axis_place(x, pow(10, x->high - span)), from_y = axis_place(y, pow(10, y->high - order * span));
  (void)fprintf(f, "<path d=\"M%.2f %.2fL%.2f %.2f\" stroke=\"#999\" stroke-dasharray=\"4 4\"/>\n", from_x, from_y,
                x->to, y->to);
  char label[24];
  (void)snprintf(label, sizeof label, "order %d", order);
  put_text(f, (from_x + 2 * x->to) / 3 - 6, (from_y + 2 * y->to) / 3, "text-anchor=\"end\" fill=\"#777\"", label);
}

static void put_legend(FILE *f, const chart *c, double left, double top) {
  for (int i = 0; i < c->n; i++) {
    const double y = top + LEGEND_LINE * i;
    (void)fprintf(f, "<path stroke-width=\"2\" d=\"M%.1f %.1fh22\" ", left, y - 4);
    put_style(f, i);
    (void)fputs("/>\n", f);
    put_text(f, left + 28, y, "fill=\"#222\"", c->series[i].name);
  }
}

static double legend_width(const chart *c) {
  if (c->n < 2) return 0;
  size_t longest = 0;
  for (int i = 0; i < c->n; i++) longest = strlen(c->series[i].name) > longest ? strlen(c->series[i].name) : longest;
  return 44 + 6.9 * (double)longest;
}

bool chart_write(const chart *c, FILE *f) {
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
  (void)fprintf(f,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
                "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                width, height, width, height);
  put_axes(f, c, &x, &y);
  if (c->orders && c->x_log && c->y_log)
    for (int order = 1; order <= 2; order++) put_order(f, &x, &y, order);
  for (int i = 0; i < c->n; i++) put_line(f, &c->series[i], &x, &y, i);
  for (int i = 0; c->marked && i < c->n; i++) put_marks(f, &c->series[i], &x, &y, i);
  if (c->n > 1) put_legend(f, c, WIDTH - RIGHT + 16, TOP + 12);
  (void)fputs("</svg>\n", f);
  return true;
}
