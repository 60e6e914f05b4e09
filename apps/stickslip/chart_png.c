/* Paper that is a PNG file, drawn by cairo at twice the size, for print. */
#include "chart_paper.h"

#ifdef STICKSLIP_CAIRO

#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <stdlib.h>

static const double SCALE = 2;

typedef struct png_paper {
  chart_paper base;
  cairo_surface_t *surface;
  cairo_t *cairo;
} png_paper;

static cairo_t *cairo_of(const chart_paper *p) { return ((const png_paper *)p)->cairo; }

static void set_color(cairo_t *cr, const char *color) {
  const unsigned long bits = strtoul(color + 1, NULL, 16);
  cairo_set_source_rgb(cr, (double)(bits >> 16 & 255) / 255, (double)(bits >> 8 & 255) / 255,
                       (double)(bits & 255) / 255);
}

static void png_open(chart_paper *p, double width, double height) {
  png_paper *png = (png_paper *)p;
  png->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(SCALE * width), (int)(SCALE * height));
  png->cairo = cairo_create(png->surface);
  cairo_scale(png->cairo, SCALE, SCALE);
  set_color(png->cairo, "#ffffff");
  cairo_paint(png->cairo);
}

static void png_close(chart_paper *p) { cairo_surface_flush(((png_paper *)p)->surface); }

static void png_begin(chart_paper *p, const chart_pen *pen) {
  cairo_t *cr = cairo_of(p);
  double lengths[8];
  int n = 0;
  for (const char *at = pen->dash ? pen->dash : ""; *at && n < 8;) {
    char *end;
    lengths[n] = strtod(at, &end);
    if (end == at) break;
    n++;
    at = end;
  }
  set_color(cr, pen->color);
  cairo_set_line_width(cr, pen->width);
  cairo_set_line_join(cr, pen->round ? CAIRO_LINE_JOIN_ROUND : CAIRO_LINE_JOIN_MITER);
  cairo_set_dash(cr, lengths, n, 0);
}

static void png_to(chart_paper *p, double x, double y, bool down) {
  if (down)
    cairo_line_to(cairo_of(p), x, y);
  else
    cairo_move_to(cairo_of(p), x, y);
}

static void png_end(chart_paper *p) { cairo_stroke(cairo_of(p)); }

static void png_dot(chart_paper *p, double x, double y, double radius, const char *color) {
  cairo_t *cr = cairo_of(p);
  set_color(cr, color);
  cairo_arc(cr, x, y, radius, 0, 6.283185307179586);
  cairo_fill(cr);
}

static void png_text(chart_paper *p, const chart_text *t) {
  cairo_t *cr = cairo_of(p);
  cairo_text_extents_t extents;
  cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         t->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cr, t->size);
  cairo_text_extents(cr, t->text, &extents);
  set_color(cr, t->color);
  cairo_save(cr);
  cairo_translate(cr, t->x, t->y);
  if (t->upwards) cairo_rotate(cr, -1.5707963267948966);
  const double share = t->anchor == CHART_START ? 0 : t->anchor == CHART_MIDDLE ? 0.5 : 1;
  cairo_move_to(cr, -share * extents.x_advance, 0);
  cairo_show_text(cr, t->text);
  cairo_restore(cr);
}

chart_png_result chart_write_png(const chart *c, const char *path) {
  png_paper paper = {.base = {png_open, png_close, png_begin, png_to, png_end, png_dot, png_text}};
  if (!chart_draw(c, &paper.base)) return CHART_PNG_EMPTY;
  bool written = cairo_status(paper.cairo) == CAIRO_STATUS_SUCCESS;
  written = written && cairo_surface_write_to_png(paper.surface, path) == CAIRO_STATUS_SUCCESS;
  cairo_destroy(paper.cairo);
  cairo_surface_destroy(paper.surface);
  cairo_debug_reset_static_data(); /* fonts are kept for a next picture: there is none */
  FcFini();
  return written ? CHART_PNG_DONE : CHART_PNG_FAILED;
}

#else

chart_png_result chart_write_png(const chart *c, const char *path) {
  (void)c;
  (void)path;
  return CHART_PNG_NOT_BUILT;
}

#endif
