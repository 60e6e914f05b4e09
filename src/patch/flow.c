/* The deformations of a patch after material has moved through it: fields on the lattice of elements, interpolated by
 * cubics. Around the patch, two rings wide, the field is what the forces on the elements make of the half-space there, or
 * zero for springs (patch_rows.c says what this is for). */
#include "patch/patch.h"

#include <math.h>
#include <string.h>

enum { RING = 2 }; /* what a cubic needs */

/* Place of an element, or of a ghost, in the ring's array: column along the first tangent, line along the second. */
static int in_ring(const ss_patch *p, int column, int line) {
  const int width = p->side + 2 * RING;
  return p->n_directions == 3 ? (line + RING) * width + column + RING : column + RING;
}

static int lines_of(const ss_patch *p) { return p->n_directions == 3 ? p->side : 1; }
static bool is_ghost(const ss_patch *p, int column, int line) {
  return column < 0 || column >= p->side || line < 0 || line >= lines_of(p);
}

static int first_line(const ss_patch *p) { return p->n_directions == 3 ? -RING : 0; }

static ss_status multiply_by_stiffness(const ss_patch *p, double *lines, size_t count, ss_error *error) {
  const size_t n = (size_t)p->n;
  double *line = ss_alloc(sizeof(double) * n);
  if (!line) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < n; j++) line[j] = 0;
    for (size_t k = 0; k < n; k++)
      for (size_t j = 0; j < n; j++) line[j] += lines[i * n + k] * p->K[k * n + j];
    memcpy(lines + i * n, line, sizeof(double) * n);
  }
  ss_free(line);
  return SS_OK;
}

ss_status ss_patch_prepare_transport(ss_patch *p, const ss_compliance_def *def, const ss_surface side[2],
                                     ss_arena *arena, ss_error *error) {
  const int d = p->n_directions, width = p->side + 2 * RING, all = d == 3 ? width * width : width;
  const size_t ghosts = (size_t)(all - p->n_elements), n = (size_t)p->n;
  p->ring = SS_ARENA_ARRAY(arena, double, 2 * (size_t)all * (size_t)d);
  if (!p->ring) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (!(side[0].elastic.young > 0) && !(side[1].elastic.young > 0)) return SS_OK;
  p->ghost = SS_ARENA_ARRAY(arena, double, ghosts *(size_t)d *n);
  if (!p->ghost) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const double middle = (p->side - 1) / 2.0;
  size_t at = 0;
  for (int line = first_line(p); line < lines_of(p) - first_line(p); line++)
    for (int column = -RING; column < p->side + RING; column++) {
      if (!is_ghost(p, column, line)) continue;
      const double place[2] = {p->spacing * (column - middle), d == 3 ? p->spacing * (line - middle) : 0};
      for (int i = 0; i < 2; i++)
        if (ss_surface_gives(&side[i]))
          ss_surface_influence_at(p, def, &side[i], i, place, p->ghost + at * (size_t)d * n);
      at++;
    }
  return multiply_by_stiffness(p, p->ghost, ghosts * (size_t)d, error);
}

/* The patch with its rings. */
static void fill_ring(const ss_patch *p, const double *delta) {
  const int d = p->n_directions, n = p->n;
  const double *ghost = p->ghost;
  for (int line = first_line(p); line < lines_of(p) - first_line(p); line++)
    for (int column = -RING; column < p->side + RING; column++) {
      double *out = p->ring + (ptrdiff_t)in_ring(p, column, line) * d;
      for (int a = 0; a < d; a++) {
        out[a] = 0;
        if (!is_ghost(p, column, line)) {
          out[a] = delta[(line * p->side + column) * d + a];
          continue;
        }
        for (int j = 0; ghost && j < n; j++) out[a] += ghost[j] * delta[j];
        if (ghost) ghost += n;
      }
    }
}

/* Weights of the points -1, 0, 1, 2 of a cubic at f in [0, 1). */
static void cubic(double f, double w[4]) {
  w[0] = -f * (f - 1) * (f - 2) / 6;
  w[1] = (f + 1) * (f - 1) * (f - 2) / 2;
  w[2] = -(f + 1) * f * (f - 2) / 2;
  w[3] = (f + 1) * f * (f - 1) / 6;
}

/* delta at the places r - shift, |shift| at most 1 along each tangent. */
static void shift_once(const ss_patch *p, const double shift[2], double *delta) {
  const int d = p->n_directions, width = p->side + 2 * RING;
  double wx[4], wy[4] = {0, 1, 0, 0};
  const int bx = (int)floor(-shift[0]), by = d == 3 ? (int)floor(-shift[1]) : 0;
  cubic(-shift[0] - bx, wx);
  if (d == 3) cubic(-shift[1] - by, wy);
  fill_ring(p, delta);
  for (int line = 0; line < lines_of(p); line++)
    for (int column = 0; column < p->side; column++)
      for (int a = 0; a < d; a++) {
        double sum = 0;
        for (int j = 0; j < 4; j++)
          for (int i = 0; i < 4 && wy[j] != 0; i++) {
            const int x = column + bx + i - 1, y = line + by + j - 1;
            if (x >= -RING && x < width - RING && wx[i] != 0)
              sum += wx[i] * wy[j] * p->ring[(ptrdiff_t)in_ring(p, x, d == 3 ? y : 0) * d + a];
          }
        delta[(line * p->side + column) * d + a] = sum;
      }
}

void ss_patch_shift(const ss_patch *p, const double shift[2], double *delta) {
  const double size = fmax(fabs(shift[0]), p->n_directions == 3 ? fabs(shift[1]) : 0);
  if (size > p->side) { /* nothing of it is left */
    memset(delta, 0, sizeof(double) * (size_t)p->n);
    return;
  }
  const int times = size > 1 ? (int)ceil(size) : 1;
  const double part[2] = {shift[0] / times, shift[1] / times};
  for (int i = 0; i < times; i++) shift_once(p, part, delta);
}
