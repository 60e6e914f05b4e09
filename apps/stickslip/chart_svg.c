/* Paper that is an SVG file. */
#include "chart_paper.h"

typedef struct svg_paper {
  chart_paper base;
  FILE *f;
} svg_paper;

static FILE *stream_of(const chart_paper *p) { return ((const svg_paper *)p)->f; }

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

static void svg_open(chart_paper *p, double width, double height) {
  (void)fprintf(stream_of(p),
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
                "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                width, height, width, height);
}

static void svg_close(chart_paper *p) { (void)fputs("</svg>\n", stream_of(p)); }

static void svg_begin(chart_paper *p, const chart_pen *pen) {
  FILE *f = stream_of(p);
  (void)fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%g\"", pen->color, pen->width);
  if (pen->round) (void)fputs(" stroke-linejoin=\"round\"", f);
  if (pen->dash && *pen->dash) (void)fprintf(f, " stroke-dasharray=\"%s\"", pen->dash);
  (void)fputs(" d=\"", f);
}

static void svg_to(chart_paper *p, double x, double y, bool down) {
  (void)fprintf(stream_of(p), "%c%.2f %.2f", down ? 'L' : 'M', x, y);
}

static void svg_end(chart_paper *p) { (void)fputs("\"/>\n", stream_of(p)); }

static void svg_dot(chart_paper *p, double x, double y, double radius, const char *color) {
  (void)fprintf(stream_of(p), "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%g\" fill=\"%s\"/>\n", x, y, radius, color);
}

static void svg_text(chart_paper *p, const chart_text *t) {
  static const char *const anchors[] = {[CHART_START] = "start", [CHART_MIDDLE] = "middle", [CHART_END] = "end"};
  FILE *f = stream_of(p);
  (void)fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%g\" fill=\"%s\"", t->x, t->y,
                anchors[t->anchor], t->size, t->color);
  if (t->bold) (void)fputs(" font-weight=\"bold\"", f);
  if (t->upwards) (void)fprintf(f, " transform=\"rotate(-90 %.1f %.1f)\"", t->x, t->y);
  (void)putc('>', f);
  chart_put_escaped(f, t->text);
  (void)fputs("</text>\n", f);
}

bool chart_write(const chart *c, FILE *stream) {
  svg_paper paper = {{svg_open, svg_close, svg_begin, svg_to, svg_end, svg_dot, svg_text}, stream};
  return chart_draw(c, &paper.base);
}
