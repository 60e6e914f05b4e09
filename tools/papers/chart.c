/* Plots: panels side by side, each with axes, curves and a legend, as SVG that needs nothing but itself. */
#include "papers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL_WIDTH = 430, HEIGHT = 330, LEFT = 66, RIGHT = 16, TOP = 52, BOTTOM = 46 };

static const char *const palette[] = {"#1f5fa8", "#d1541c", "#2a8a4a", "#7b4bb3", "#8a6d1a", "#555555"};
enum { COLORS = sizeof palette / sizeof *palette };

void series_add(series *s, double x, double y) {
  if (s->n == s->capacity) {
    s->capacity = s->capacity ? 2 * s->capacity : 256;
    s->x = realloc(s->x, sizeof *s->x * (size_t)s->capacity);
    s->y = realloc(s->y, sizeof *s->y * (size_t)s->capacity);
    if (!s->x || !s->y) die("out of memory");
  }
  s->x[s->n] = x;
  s->y[s->n++] = y;
}

void series_release(series *s, int n) {
  for (int i = 0; i < n; i++) {
    free(s[i].x);
    free(s[i].y);
    s[i] = (series){0};
  }
}

/* One axis: data (or its logarithm) from low to high onto pixels from start to start + length. */
typedef struct axis {
  double low, high, start, length;
  bool logarithmic;
} axis;

static double scaled(const axis *a, double value) { return a->logarithmic ? log10(value) : value; }
static double pixel(const axis *a, double value) {
  return a->start + a->length * (scaled(a, value) - a->low) / (a->high - a->low);
}

static void include(axis *a, double value) {
  const double s = scaled(a, value);
  if (!isfinite(s)) return;
  a->low = fmin(a->low, s);
  a->high = fmax(a->high, s);
}

static void widen(axis *a, double margin) {
  if (!(a->high > a->low)) a->low -= 0.5, a->high += 0.5;
  const double extra = margin * (a->high - a->low);
  a->low -= extra;
  a->high += extra;
}

/* One unit as long on both axes: the one with pixels to spare shows more. */
static void equalize(axis *x, axis *y) {
  const double unit = fmin(x->length / (x->high - x->low), fabs(y->length) / (y->high - y->low));
  axis *const both[] = {x, y};
  for (int i = 0; i < 2; i++) {
    const double middle = (both[i]->low + both[i]->high) / 2, half = fabs(both[i]->length) / unit / 2;
    both[i]->low = middle - half;
    both[i]->high = middle + half;
  }
}

/* 1, 2 or 5 times a power of ten, so that there are about five ticks. */
static double tick_distance(const axis *a) {
  if (a->logarithmic) return fmax(1, ceil((a->high - a->low) / 7));
  const double rough = (a->high - a->low) / 5, power = pow(10, floor(log10(rough)));
  return power * (rough < 1.5 * power ? 1 : rough < 3.5 * power ? 2 : rough < 7.5 * power ? 5 : 10);
}

static void tick_label(const axis *a, double at, char *text, size_t size) {
  if (a->logarithmic)
    (void)snprintf(text, size, "1e%d", (int)lround(at));
  else
    (void)snprintf(text, size, "%.6g", fabs(at) < 1e-12 * (a->high - a->low) ? 0 : at);
}

static void draw_axis(FILE *f, const axis *a, const axis *other, bool vertical, const char *label) {
  const double distance = tick_distance(a), from = other->start, to = other->start + other->length;
  for (double k = ceil(a->low / distance); k * distance <= a->high; k++) {
    const double at = k * distance, p = a->start + a->length * (at - a->low) / (a->high - a->low);
    char text[32];
    tick_label(a, at, text, sizeof text);
    if (vertical)
      (void)fprintf(
          f, "<path class=\"g\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
          from, p, to, from - 6, p + 4, text);
    else
      (void)fprintf(
          f, "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
          p, from, to, p, from + 16, text);
  }
  if (vertical)
    (void)fprintf(f, "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
                  from - 50, a->start + a->length / 2, label);
  else
    (void)fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", a->start + a->length / 2,
                  from + 36, label);
}

/* A polyline without the points that would fall on the one before. */
static void draw_line(FILE *f, const series *s, const axis *x, const axis *y) {
  double last_x = -1e9, last_y = -1e9;
  (void)fprintf(f, "<polyline class=\"l\" stroke=\"%s\" points=\"", palette[s->color % COLORS]);
  for (int i = 0; i < s->n; i++) {
    const double px = pixel(x, s->x[i]), py = pixel(y, s->y[i]);
    if (!isfinite(px) || !isfinite(py)) continue;
    if (fabs(px - last_x) + fabs(py - last_y) < 0.4 && i < s->n - 1) continue;
    (void)fprintf(f, "%.1f,%.1f ", px, py);
    last_x = px;
    last_y = py;
  }
  (void)fprintf(f, "\"/>\n");
}

static void draw_marks(FILE *f, const series *s, const axis *x, const axis *y) {
  for (int i = 0; i < s->n; i++)
    (void)fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", pixel(x, s->x[i]), pixel(y, s->y[i]),
                  palette[s->color % COLORS]);
}

static void draw_legend(FILE *f, const panel *p, double left) {
  double at = left;
  for (int i = 0; i < p->n_lines; i++) {
    const series *s = &p->lines[i];
    if (!s->label) continue;
    (void)fprintf(f, "<path class=\"l\" stroke=\"%s\" d=\"M%.1f %dh16\"/><text x=\"%.1f\" y=\"%d\">%s</text>\n",
                  palette[s->color % COLORS], at, TOP - 14, at + 20, TOP - 10, s->label);
    at += 34 + 6.6 * (double)strlen(s->label);
  }
}

static void draw_panel(FILE *f, const panel *p, int place) {
  axis x = {INFINITY, -INFINITY, place * PANEL_WIDTH + LEFT, PANEL_WIDTH - LEFT - RIGHT, p->logarithmic};
  axis y = {INFINITY, -INFINITY, HEIGHT - BOTTOM, -(HEIGHT - TOP - BOTTOM), p->logarithmic};
  for (int i = 0; i < p->n_lines; i++)
    for (int k = 0; k < p->lines[i].n; k++) {
      include(&x, p->lines[i].x[k]);
      include(&y, p->lines[i].y[k]);
    }
  widen(&x, p->logarithmic || p->equal ? 0.05 : 0);
  widen(&y, 0.05);
  if (p->equal) equalize(&x, &y);
  (void)fprintf(f, "<text class=\"t\" x=\"%.1f\" y=\"20\">%s</text>\n", x.start, p->title);
  draw_axis(f, &x, &y, false, p->x_label);
  draw_axis(f, &y, &x, true, p->y_label);
  for (int i = 0; i < p->n_lines; i++) {
    if (p->lines[i].style != MARKS) draw_line(f, &p->lines[i], &x, &y);
    if (p->lines[i].style != LINE) draw_marks(f, &p->lines[i], &x, &y);
  }
  draw_legend(f, p, x.start);
}

void page_chart(page *p, const char *name, const char *caption, const panel *panels, int n_panels) {
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/%s.svg", p->directory, name);
  FILE *f = fopen(path, "w");
  if (!f) die("cannot write %s", path);
  const int width = n_panels * PANEL_WIDTH;
  (void)fprintf(f,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
                "<style>text{font:11px sans-serif;fill:#333}.t{font-weight:bold;font-size:12px}"
                ".g{stroke:#ddd;fill:none}.l{fill:none;stroke-width:1.4;stroke-linejoin:round}</style>\n"
                "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                width, HEIGHT, width, HEIGHT, width, HEIGHT);
  for (int i = 0; i < n_panels; i++) draw_panel(f, &panels[i], i);
  (void)fputs("</svg>\n", f);
  const bool failed = ferror(f) != 0;
  if (fclose(f) || failed) die("cannot write %s", path);
  page_text(p, "![%s](%s.svg)\n\n*%s*\n\n", caption, name, caption);
}
