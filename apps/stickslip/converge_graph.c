/* The filled-in graph of a velocity: the points (t, v(t)), with jumps filled in by straight lines. Sequences of functions
 * of bounded variation converge in this sense where they do not at every time: a jump that comes a little late is a small
 * error. The graphs of two runs are polygons through the ends of their steps; their distance is Hausdorff's, with time and
 * velocity measured in the user's units. */
#include "converge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUBDIVISION = 4, WINDOW = 4096 };

static ss_status path_append(velocity_path *p, double t, const double *v, ss_error *error) {
  if (p->n == p->capacity) {
    const long capacity = p->capacity ? 2 * p->capacity : 1024;
    double *points = realloc(p->points, (size_t)capacity * (size_t)(p->width + 1) * sizeof *points);
    if (!points) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    p->points = points;
    p->capacity = capacity;
  }
  double *point = p->points + (size_t)p->n++ * (size_t)(p->width + 1);
  point[0] = t;
  memcpy(point + 1, v, sizeof(double) * (size_t)p->width);
  return SS_OK;
}

static ss_status path_step(void *user, const ss_sim *sim, ss_error *error) {
  velocity_path *p = user;
  const ss_state *state = ss_sim_state(sim);
  if (state->step % p->every != 0 && !ss_sim_done(sim)) return SS_OK;
  return path_append(p, state->t, ss_sim_weighted_velocity(sim), error);
}

ss_status path_start(velocity_path *p, ss_sim *sim, long every, ss_error *error) {
  *p = (velocity_path){.width = ss_model_coordinates(ss_sim_model(sim)), .every = every};
  const ss_observer observer = {.user = p, .step = path_step};
  const ss_status status = path_append(p, ss_sim_state(sim)->t, ss_sim_weighted_velocity(sim), error);
  return status ? status : ss_sim_observe(sim, &observer, error);
}

void path_release(velocity_path *p) {
  free(p->points);
  *p = (velocity_path){0};
}

static const double *vertex(const velocity_path *p, long i) { return p->points + (size_t)i * (size_t)(p->width + 1); }

/* Square of the distance from x to the segment a b. */
static double to_segment(const double *x, const double *a, const double *b, int n) {
  double along = 0, length = 0, sum = 0;
  for (int i = 0; i < n; i++) {
    along += (x[i] - a[i]) * (b[i] - a[i]);
    length += (b[i] - a[i]) * (b[i] - a[i]);
  }
  const double s = length > 0 ? fmin(fmax(along / length, 0), 1) : 0;
  for (int i = 0; i < n; i++) {
    const double d = x[i] - a[i] - s * (b[i] - a[i]);
    sum += d * d;
  }
  return sum;
}

/* Distance from x to the path; *near is the segment at which the search begins, moved along as x advances in time. */
static double to_path(const double *x, const velocity_path *p, long *near) {
  const int n = p->width + 1;
  while (*near + 2 < p->n && vertex(p, *near + 1)[0] < x[0]) ++*near;
  double best = to_segment(x, vertex(p, *near), vertex(p, *near + 1), n);
  for (long k = *near + 1; k + 1 < p->n && k < *near + WINDOW; k++) {
    const double ahead = vertex(p, k)[0] - x[0];
    if (ahead > 0 && ahead * ahead >= best) break;
    best = fmin(best, to_segment(x, vertex(p, k), vertex(p, k + 1), n));
  }
  for (long k = *near - 1; k >= 0 && k > *near - WINDOW; k--) {
    const double behind = x[0] - vertex(p, k + 1)[0];
    if (behind * behind >= best) break;
    best = fmin(best, to_segment(x, vertex(p, k), vertex(p, k + 1), n));
  }
  return sqrt(best);
}

static double one_sided(const velocity_path *from, const velocity_path *to, double *x) {
  double worst = 0;
  long near = 0;
  for (long i = 0; i + 1 < from->n; i++)
    for (int k = 0; k <= SUBDIVISION; k++) {
      const double s = (double)k / SUBDIVISION;
      for (int j = 0; j <= from->width; j++) x[j] = (1 - s) * vertex(from, i)[j] + s * vertex(from, i + 1)[j];
      worst = fmax(worst, to_path(x, to, &near));
    }
  return worst;
}

double graph_distance(const velocity_path *a, const velocity_path *b) {
  if (a->n < 2 || b->n < 2 || a->width != b->width) return (double)NAN;
  double *x = malloc(sizeof *x * (size_t)(a->width + 1));
  if (!x) return (double)NAN;
  const double distance = fmax(one_sided(a, b, x), one_sided(b, a, x));
  free(x);
  return distance;
}
