/* Figures: panels drawn by the charts of `stickslip plot`. */
#include "papers.h"

#include "chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void series_break(series *s) { series_add(s, (double)NAN, (double)NAN); }

void series_release(series *s, int n) {
  for (int i = 0; i < n; i++) {
    free(s[i].x);
    free(s[i].y);
    s[i] = (series){0};
  }
}

static void write_panel(const panel *p, const char *path) {
  chart c = {.title = p->title,
             .x_label = p->x_label,
             .y_label = p->y_label,
             .x_log = p->logarithmic,
             .y_log = p->logarithmic,
             .marked = p->logarithmic,
             .orders = p->logarithmic,
             .equal = p->equal};
  for (int i = 0; i < p->n_lines; i++) {
    const series *s = &p->lines[i];
    chart_series *line = chart_add(&c, s->label ? s->label : "", s->n);
    if (!line) die("out of memory");
    if (s->n == 0) continue;
    memcpy(line->x, s->x, sizeof(double) * (size_t)s->n);
    memcpy(line->y, s->y, sizeof(double) * (size_t)s->n);
  }
  FILE *f = fopen(path, "w");
  if (!f) die("cannot write %s", path);
  const bool drawn = chart_write(&c, f), failed = ferror(f) != 0;
  if (fclose(f) || failed || !drawn) die("cannot write %s", path);
  chart_release(&c);
}

void page_figure(page *p, const char *name, const char *caption, const panel *panels, int n_panels) {
  for (int i = 0; i < n_panels; i++) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s-%d.svg", p->directory, name, i + 1);
    write_panel(&panels[i], path);
    page_text(p, "<img src=\"%s-%d.svg\" alt=\"%s: %s\" width=\"%d%%\"/>\n", name, i + 1, caption, panels[i].title,
              n_panels > 2 ? 32 : 48);
  }
  page_text(p, "\n*%s*\n\n", caption);
}
