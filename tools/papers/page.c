/* Pages and their bands. */
#include "papers.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void die(const char *format, ...) {
  va_list arguments;
  (void)fputs("papers: ", stderr);
  va_start(arguments, format);
  (void)vfprintf(stderr, format, arguments);
  va_end(arguments);
  (void)fputc('\n', stderr);
  exit(1);
}

page page_open(const char *directory, const char *name, const char *title) {
  char path[1024];
  page p = {.directory = directory, .name = name, .title = title};
  (void)snprintf(path, sizeof path, "%s/%s.md", directory, name);
  p.stream = fopen(path, "w");
  if (!p.stream) die("cannot write %s", path);
  page_text(&p, "# %s\n\n", title);
  return p;
}

page page_keep(const char *directory, const char *name, const char *title, const char *missing) {
  char line[1024];
  page p = {.directory = directory, .name = name, .title = title};
  (void)fprintf(stderr, "papers: %s: skipped, cannot read %s; set STICKSLIP_DATA\n", name, missing);
  (void)snprintf(line, sizeof line, "%s/%s.md", directory, name);
  FILE *file = fopen(line, "r");
  if (!file) return p;
  while (fgets(line, sizeof line, file)) { /* rows as page_close writes them */
    const bool outside = strstr(line, "| **OUTSIDE** |\n") != NULL;
    p.n_failed += outside;
    p.n_checks += outside || strstr(line, "| ok |\n");
  }
  (void)fclose(file);
  return p;
}

void page_text(page *p, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vfprintf(p->stream, format, arguments);
  va_end(arguments);
}

static bool inside(const check *c) { return c->value >= c->low && c->value <= c->high; } /* false for NaN */

void page_check(page *p, double value, double low, double high, const char *name, ...) {
  if (p->n_checks == p->capacity) {
    p->capacity = p->capacity ? 2 * p->capacity : 32;
    p->checks = realloc(p->checks, sizeof *p->checks * (size_t)p->capacity);
    if (!p->checks) die("out of memory");
  }
  check *c = &p->checks[p->n_checks++];
  *c = (check){.value = value, .low = low, .high = high};
  va_list arguments;
  va_start(arguments, name);
  (void)vsnprintf(c->name, sizeof c->name, name, arguments);
  va_end(arguments);
  if (inside(c)) return;
  p->n_failed++;
  (void)fprintf(stderr, "papers: %s: %s is %.6g, outside [%g, %g]\n", p->name, c->name, value, low, high);
}

/* What is at rounding level differs between machines: it is not spelled out. */
static void put_value(page *p, double value) {
  if (value != 0 && fabs(value) < 1e-11)
    page_text(p, "below 1e-11");
  else
    page_text(p, "%.4g", value);
}

void page_close(page *p) {
  page_text(p, "\n## Bands\n\n`./dev papers` fails if one of these numbers leaves its band.\n\n"
               "| quantity | value | from | to | |\n|---|---|---|---|---|\n");
  for (int i = 0; i < p->n_checks; i++) {
    const check *c = &p->checks[i];
    page_text(p, "| %s | ", c->name);
    put_value(p, c->value);
    page_text(p, " | %.4g | %.4g | %s |\n", c->low, c->high, inside(c) ? "ok" : "**OUTSIDE**");
  }
  const bool failed = ferror(p->stream) != 0;
  if (fclose(p->stream) || failed) die("cannot write %s/%s.md", p->directory, p->name);
  p->stream = NULL;
  free(p->checks);
  p->checks = NULL;
}
