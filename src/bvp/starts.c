/* Where searches begin: velocities that are sampled by one run each, the best of which become starts.
 *
 * The map from velocities to the end is flat where nothing is touched that matters (a puck at rest, or one that misses),
 * and has a branch for every order of events. Derivatives there lead nowhere; a look at many velocities does. Those are
 *
 *     the scene's own, and those against them
 *     rest
 *     each body that has unknown velocities aimed at every other one, slowly, in half and in a fifth of the duration
 *     points of Halton's sequence in boxes of a third, once and three times the scene's own speed scale, around rest and
 *     around the scene's velocities
 *
 * The speed scale is the largest of: how far conditions want a body to go over the duration, distances of bodies over the
 * duration, what gravity does in half of it. Spins are speeds over the bodies' size. The scene's own velocities have no part
 * in it: they may be a hundred times too fast.
 *
 * Of the samples those are taken that come nearest to the conditions, but not two that are near each other. */
#include "bvp/bvp.h"

#include "core/math3.h"

#include <string.h>

enum { AIMS = 3 };

static double body_size(const ss_body_def *body) {
  double size = 0;
  for (int i = 0; i < body->n_shapes; i++) {
    const ss_shape_def *shape = &body->shapes[i];
    const double extent = fmax(v3_norm(shape->size) / 2, v3_norm(shape->semi_axes));
    size = fmax(size, fmax(shape->radius + shape->length / 2, extent));
  }
  return size > 0 && isfinite(size) ? size : 1;
}

/* How far the conditions want bodies to go: where a single final position stands alone in one. */
static double wanted_way(const ss_shooting *s) {
  double way = 0;
  for (int i = 0; i < s->m; i++) {
    const ss_condition_def *c = &s->boundary->conditions[i];
    double rest = c->value, largest = 0;
    for (int k = 0; k < c->n; k++) {
      const ss_quantity *q = &c->quantities[k];
      if (!q->final || q->coordinate >= SS_ROTATION) continue;
      rest -= c->factors[k] * v3_get(s->scene.bodies[q->body].pose.position, q->coordinate);
      largest = fmax(largest, fabs(c->factors[k]));
    }
    if (largest > 0) way = fmax(way, fabs(rest) / largest);
  }
  return way;
}

static double speed_scale(const ss_shooting *s) {
  const ss_scene *scene = &s->scene;
  double way = wanted_way(s);
  for (int i = 0; i < scene->n_bodies; i++)
    for (int k = 0; k < i; k++)
      way = fmax(way, v3_norm(v3_sub(scene->bodies[i].pose.position, scene->bodies[k].pose.position)));
  const double T = s->options.duration, speed = fmax(way / T, v3_norm(scene->gravity) * T / 2);
  return speed > 0 ? speed : 1;
}

/* ---- the sequence ---- */

static double halton(int index, int base) {
  double value = 0, part = 1;
  for (int i = index; i > 0; i /= base) {
    part /= base;
    value += part * (i % base);
  }
  return value;
}

static int prime(int index) {
  int found = 0, candidate = 1;
  while (found <= index) {
    bool is_prime = true;
    candidate++;
    for (int k = 2; k * k <= candidate && is_prime; k++) is_prime = candidate % k != 0;
    found += is_prime;
  }
  return candidate;
}

/* ---- samples ---- */

/* All unknown velocities of `body` towards `target` in the time; the others as they are. */
static void aim(const ss_shooting *s, int body, int target, double time, double *u) {
  const ss_vec3 way = v3_sub(s->scene.bodies[target].pose.position, s->scene.bodies[body].pose.position);
  for (int j = 0; j < s->n; j++) {
    const ss_quantity *q = &s->boundary->unknown[j];
    if (q->body == body) u[j] = q->coordinate < SS_SPIN ? v3_get(way, q->coordinate - SS_VELOCITY) / time : 0;
  }
}

static bool is_unknown(const ss_shooting *s, int body) {
  for (int j = 0; j < s->n; j++)
    if (s->boundary->unknown[j].body == body && s->boundary->unknown[j].coordinate < SS_SPIN) return true;
  return false;
}

static void add(ss_samples *samples, const double *u, int n) {
  if (samples->n < samples->capacity) memcpy(samples->u + (ptrdiff_t)samples->n++ * n, u, sizeof(double) * (size_t)n);
}

static void add_aimed(const ss_shooting *s, ss_samples *samples, double *u) {
  static const double parts[AIMS] = {1, 0.5, 0.2};
  for (int k = 0; k < AIMS; k++)
    for (int body = 0; body < s->scene.n_bodies; body++)
      for (int target = 0; target < s->scene.n_bodies && is_unknown(s, body); target++) {
        if (target == body || samples->n > samples->capacity / 2) continue;
        memset(u, 0, sizeof(double) * (size_t)s->n);
        aim(s, body, target, parts[k] * s->options.duration, u);
        add(samples, u, s->n);
      }
}

static void add_sequence(const ss_shooting *s, const double *own, const double *scale, ss_samples *samples, double *u) {
  static const double widths[3] = {1, 1. / 3, 3};
  for (int index = 1; samples->n < samples->capacity; index++) {
    const double *middle = index % 4 == 3 ? own : NULL;
    for (int j = 0; j < s->n; j++)
      u[j] = (middle ? middle[j] : 0) + widths[index % 3] * scale[j] * (2 * halton(index, prime(j)) - 1);
    add(samples, u, s->n);
  }
}

/* scale[n]: of each unknown. */
static void fill_scales(const ss_shooting *s, double *scale) {
  const double speed = speed_scale(s);
  for (int j = 0; j < s->n; j++) {
    const ss_quantity *q = &s->boundary->unknown[j];
    scale[j] = q->coordinate < SS_SPIN ? speed : speed / body_size(&s->scene.bodies[q->body]);
  }
}

/* ---- the best of them ---- */

static double distance(const ss_samples *samples, int a, const double *b, int n) {
  const double *u = samples->u + (ptrdiff_t)a * n;
  double sum = 0;
  for (int j = 0; j < n; j++) sum += pow((u[j] - b[j]) / samples->scale[j], 2);
  return sqrt(sum);
}

static int best_left(const ss_samples *samples) {
  int best = -1;
  for (int i = 0; i < samples->n; i++)
    if (!samples->used[i] && isfinite(samples->residual[i]) &&
        (best < 0 || samples->residual[i] < samples->residual[best]))
      best = i;
  return best;
}

/* Marks the sample and those near it as used. */
static void use(ss_samples *samples, int chosen, int n) {
  static const double near = 0.2;
  const double *u = samples->u + (ptrdiff_t)chosen * n;
  for (int i = 0; i < samples->n; i++) samples->used[i] |= distance(samples, i, u, n) < near;
  samples->used[chosen] = true;
}

bool ss_samples_next(ss_samples *samples, int n, double *u) {
  const int best = best_left(samples);
  if (best < 0) return false;
  memcpy(u, samples->u + (ptrdiff_t)best * n, sizeof(double) * (size_t)n);
  use(samples, best, n);
  return true;
}

ss_status ss_samples_create(ss_shooting *s, const double *own, int count, ss_arena *arena, ss_samples *samples,
                            ss_error *error) {
  const size_t n = (size_t)s->n;
  *samples = (ss_samples){.capacity = count,
                          .u = SS_ARENA_ARRAY(arena, double, (size_t)count *n),
                          .residual = SS_ARENA_ARRAY(arena, double, count),
                          .scale = SS_ARENA_ARRAY(arena, double, n),
                          .used = SS_ARENA_ARRAY(arena, bool, count)};
  double *u = SS_ARENA_ARRAY(arena, double, n), *f = SS_ARENA_ARRAY(arena, double, s->m);
  if (!samples->u || !samples->residual || !samples->scale || !samples->used || !u || !f)
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  fill_scales(s, samples->scale);
  add(samples, u, s->n); /* rest */
  for (size_t j = 0; j < n; j++) u[j] = -own[j];
  add(samples, u, s->n);
  add_aimed(s, samples, u);
  add_sequence(s, own, samples->scale, samples, u);
  s->method = "sample";
  int run = 0;
  for (; run < samples->n && s->status == SS_OK; run++) {
    const bool good = ss_shoot(s, samples->u + (ptrdiff_t)run * s->n, f);
    if (s->out_of_time) break;
    samples->residual[run] = good ? ss_largest(f, s->m) : (double)INFINITY;
  }
  samples->n = run;
  return SS_OK;
}
