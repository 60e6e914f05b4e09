#include "io/mesh_file.h"

#include "core/math3.h"
#include "core/words.h"
#include "io/text_file.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- growing arrays ---- */

typedef struct reading {
  const char *path;
  ss_arena *arena;
  ss_mesh_data *out;
  int point_room, triangle_room;
  int line;
  ss_error *error;
} reading;

#define FAIL(r, ...) ss_fail_place((r)->error, SS_ERROR_INPUT, (r)->path, (ss_mark){(r)->line, 1}, __VA_ARGS__)

/* Room for one more element; what is left behind is freed with the arena. NULL: out of memory. */
static void *with_room(ss_arena *arena, void *array, int count, int *room, size_t size) {
  if (count < *room) return array;
  if (*room > INT_MAX / 4) return NULL;
  const int larger = *room ? 2 * *room : 256;
  void *grown = ss_arena_alloc(arena, size * (size_t)larger);
  if (grown && count > 0) memcpy(grown, array, size * (size_t)count);
  *room = larger;
  return grown;
}

static ss_status add_point(reading *r, ss_vec3 p) {
  ss_mesh_data *m = r->out;
  m->points = with_room(r->arena, m->points, m->n_points, &r->point_room, sizeof *m->points);
  if (!m->points) return ss_fail(r->error, SS_ERROR_MEMORY, "out of memory");
  m->points[m->n_points++] = p;
  return SS_OK;
}

static ss_status add_triangle(reading *r, int a, int b, int c) {
  ss_mesh_data *m = r->out;
  m->triangles = with_room(r->arena, m->triangles, m->n_triangles, &r->triangle_room, 3 * sizeof *m->triangles);
  if (!m->triangles) return ss_fail(r->error, SS_ERROR_MEMORY, "out of memory");
  int *t = m->triangles + 3 * (size_t)m->n_triangles++;
  t[0] = a, t[1] = b, t[2] = c;
  return SS_OK;
}

/* ---- words of a line ---- */

static const char *skip_blanks(const char *s) {
  while (*s == ' ' || *s == '\t' || *s == '\r') s++;
  return s;
}

static bool at_end(const char *s) { return *s == '\0' || *s == '\n' || *s == '#'; }

static const char *next_line(const char *s) {
  while (*s != '\0' && *s != '\n') s++;
  return *s == '\n' ? s + 1 : s;
}

/* The word's length; *s is moved to its start. */
static size_t word_at(const char **s) {
  *s = skip_blanks(*s);
  size_t n = 0;
  while (!at_end(*s + n) && !isspace((unsigned char)(*s)[n])) n++;
  return n;
}

static bool is_word(const char *s, size_t n, const char *word) { return strlen(word) == n && memcmp(s, word, n) == 0; }

/* The list ends with NULL. */
static bool is_one_of(const char *s, size_t n, const char *const *words) {
  while (*words && !is_word(s, n, *words)) words++;
  return *words != NULL;
}

/* The word for a message; the file may hold anything. */
static ss_printable_text shown(const char *s, size_t n) {
  ss_printable_text out;
  const size_t length = n < 40 ? n : 40;
  for (size_t i = 0; i < length; i++) out.text[i] = '!' <= s[i] && s[i] <= '~' ? s[i] : '?';
  out.text[length] = '\0';
  return out;
}

/* A finite number that is followed by a blank or the end. Lines end before strtod, which would go on to the next one. */
static bool number_at(const char **s, double *x) {
  *s = skip_blanks(*s);
  if (at_end(*s)) return false;
  char *end = NULL;
  *x = strtod(*s, &end);
  if (end == *s || !isfinite(*x) || !(at_end(end) || isspace((unsigned char)*end))) return false;
  *s = end;
  return true;
}

static ss_status read_point(reading *r, const char *s) {
  double x[3];
  for (int i = 0; i < 3; i++)
    if (!number_at(&s, &x[i])) return FAIL(r, "expected three finite numbers");
  return add_point(r, v3(x[0], x[1], x[2]));
}

/* ---- OBJ ---- */

/* a, a/b, a//c, a/b/c: the point's number from 1, or counted back from the last one where negative. */
static ss_status corner_of_face(reading *r, const char *s, size_t length, int *point) {
  char *end = NULL;
  const long number = strtol(s, &end, 10);
  const bool whole = end > s && (end == s + length || *end == '/');
  const long index = number < 0 ? r->out->n_points + number : number - 1;
  if (!whole) return FAIL(r, "expected the number of a point, not '%s'", shown(s, length).text);
  if (index < 0 || index >= r->out->n_points)
    return FAIL(r, "there is no point %ld: %d have been given so far", number, r->out->n_points);
  *point = (int)index;
  return SS_OK;
}

static ss_status read_face(reading *r, const char *s) {
  int first = 0, before = 0, count = 0;
  for (size_t n = word_at(&s); n > 0; s += n, n = word_at(&s)) {
    int point = 0;
    SS_TRY(corner_of_face(r, s, n, &point));
    if (count == 0) first = point;
    if (count >= 2) SS_TRY(add_triangle(r, first, before, point));
    before = point;
    count++;
  }
  return count >= 3 ? SS_OK : FAIL(r, "a face has three corners at least, not %d", count);
}

static ss_status read_obj(reading *r, const char *text) {
  static const char *const ignored[] = {"vt", "vn", "vp", "o", "g", "s", "usemtl", "mtllib", "l", "p", "mg", NULL};
  for (const char *line = text; *line; line = next_line(line), r->line++) {
    const char *s = line;
    const size_t n = word_at(&s);
    if (n == 0) continue;
    if (is_word(s, n, "v")) {
      SS_TRY(read_point(r, s + n));
    } else if (is_word(s, n, "f")) {
      SS_TRY(read_face(r, s + n));
    } else if (!is_one_of(s, n, ignored)) {
      return FAIL(r, "unknown statement '%s' of an OBJ file", shown(s, n).text);
    }
  }
  return SS_OK;
}

/* ---- STL ---- */

static uint32_t little_endian(const unsigned char *b) {
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double float_at(const unsigned char *b) {
  const uint32_t bits = little_endian(b);
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

enum { STL_HEAD = 84, STL_TRIANGLE = 50 };

/* Header (80 bytes), number of triangles, then each: normal and three corners as floats, two bytes. */
static ss_status read_stl_binary(reading *r, const char *text, size_t length) {
  const unsigned char *b = (const unsigned char *)text;
  r->line = 0;
  if (length < STL_HEAD) return FAIL(r, "a binary STL file has 84 bytes at least, not %zu", length);
  const uint32_t n = little_endian(b + 80);
  if (length != STL_HEAD + (size_t)STL_TRIANGLE * n)
    return FAIL(r, "byte 80: %u triangles need a file of %zu bytes, not %zu", n, STL_HEAD + (size_t)STL_TRIANGLE * n,
                length);
  for (uint32_t i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      const size_t at = STL_HEAD + (size_t)STL_TRIANGLE * i + 12 * (size_t)(k + 1);
      const ss_vec3 p = v3(float_at(b + at), float_at(b + at + 4), float_at(b + at + 8));
      if (!v3_finite(p)) return FAIL(r, "byte %zu: a corner is not finite", at);
      SS_TRY(add_point(r, p));
    }
    const int first = r->out->n_points - 3;
    SS_TRY(add_triangle(r, first, first + 1, first + 2));
  }
  return SS_OK;
}

/* solid, facet normal, outer loop, three times vertex x y z, endloop, endfacet, endsolid: the corners say it all. */
static ss_status read_stl_text(reading *r, const char *text) {
  static const char *const ignored[] = {"solid", "facet", "outer", "endfacet", "endsolid", NULL};
  int corners = 0;
  for (const char *line = text; *line; line = next_line(line), r->line++) {
    const char *s = line;
    const size_t n = word_at(&s);
    if (n == 0) continue;
    if (is_word(s, n, "vertex")) {
      SS_TRY(read_point(r, s + n));
      corners++;
    } else if (is_word(s, n, "endloop")) {
      if (corners != 3) return FAIL(r, "a facet has three corners, not %d", corners);
      const int first = r->out->n_points - 3;
      SS_TRY(add_triangle(r, first, first + 1, first + 2));
      corners = 0;
    } else if (!is_one_of(s, n, ignored)) {
      return FAIL(r, "unknown statement '%s' of an STL file", shown(s, n).text);
    }
  }
  return corners == 0 ? SS_OK : FAIL(r, "the file ends inside a facet");
}

/* Binary files may begin with "solid" too, but their length fits. */
static ss_status read_stl(reading *r, const char *text, size_t length) {
  const bool fits =
      length >= STL_HEAD && length == STL_HEAD + (size_t)STL_TRIANGLE * little_endian((const unsigned char *)text + 80);
  const char *s = text;
  const size_t n = word_at(&s);
  return !fits && is_word(s, n, "solid") ? read_stl_text(r, text) : read_stl_binary(r, text, length);
}

/* ---- */

static bool ends_with(const char *path, const char *ending) {
  const size_t n = strlen(path), m = strlen(ending);
  return n > m && strcasecmp(path + n - m, ending) == 0;
}

ss_status ss_mesh_file_read(const char *path, ss_arena *arena, ss_mesh_data *out, ss_error *error) {
  *out = (ss_mesh_data){0};
  reading r = {.path = path, .arena = arena, .out = out, .line = 1, .error = error};
  const bool obj = ends_with(path, ".obj"), stl = ends_with(path, ".stl");
  if (!obj && !stl)
    return ss_fail_place(error, SS_ERROR_INPUT, path, (ss_mark){0, 0}, "mesh files end in .obj or .stl");
  char *text = NULL;
  size_t length = 0;
  SS_TRY(ss_text_file_read(path, SS_TEXT_FILE_LIMIT, &text, &length, error));
  ss_status status = obj ? read_obj(&r, text) : read_stl(&r, text, length);
  r.line = 0;
  if (status == SS_OK && out->n_triangles == 0) status = FAIL(&r, "the file has no triangles");
  ss_free(text);
  return status;
}

static const char *skip_separators(const char *s) {
  while (*s == ' ' || *s == '\t' || *s == '\r' || *s == ',' || *s == ';') s++;
  return s;
}

/* One line: its numbers are appended; returns their number in *count. */
static ss_status read_row(reading *r, const char *s, double **heights, int *n, int *room, int *count) {
  *count = 0;
  for (s = skip_separators(s); !at_end(s); s = skip_separators(s)) {
    char *end = NULL;
    const double x = strtod(s, &end);
    if (end == s || !isfinite(x)) return FAIL(r, "expected a finite number as entry %d of the row", *count + 1);
    *heights = with_room(r->arena, *heights, *n, room, sizeof **heights);
    if (!*heights) return ss_fail(r->error, SS_ERROR_MEMORY, "out of memory");
    (*heights)[(*n)++] = x;
    (*count)++;
    s = end;
  }
  return SS_OK;
}

static ss_status read_rows(reading *r, const char *text, double **heights, int *rows, int *columns) {
  int n = 0, room = 0;
  for (const char *line = text; *line; line = next_line(line), r->line++) {
    int count = 0;
    SS_TRY(read_row(r, line, heights, &n, &room, &count));
    if (count == 0) continue;
    if (*rows > 0 && count != *columns)
      return FAIL(r, "this row has %d numbers, the first one has %d", count, *columns);
    *columns = count;
    (*rows)++;
  }
  r->line = 0;
  return *rows > 0 ? SS_OK : FAIL(r, "the file has no numbers");
}

ss_status ss_height_file_read(const char *path, ss_arena *arena, double **heights, int *rows, int *columns,
                              ss_error *error) {
  *heights = NULL;
  *rows = *columns = 0;
  char *text = NULL;
  size_t length = 0;
  SS_TRY(ss_text_file_read(path, SS_TEXT_FILE_LIMIT, &text, &length, error));
  reading r = {.path = path, .arena = arena, .line = 1, .error = error};
  const ss_status status = read_rows(&r, text, heights, rows, columns);
  ss_free(text);
  return status;
}

char *ss_path_beside(ss_arena *arena, const char *beside, const char *name) {
  const char *slash = beside ? strrchr(beside, '/') : NULL;
  if (name[0] == '/' || !slash) return ss_arena_strdup(arena, name);
  const size_t folder = (size_t)(slash - beside) + 1, n = strlen(name);
  char *path = ss_arena_alloc(arena, folder + n + 1);
  if (!path) return NULL;
  memcpy(path, beside, folder);
  memcpy(path + folder, name, n + 1);
  return path;
}
