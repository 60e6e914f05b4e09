/* Random scenes: planar and spatial, all shapes, joints, laws, schemes and stabilisations that go together. A seed is a
 * scene, for ever: numbers are drawn in a fixed order, and nothing else decides. */
#ifndef TESTS_RANDOM_SCENES_H
#define TESTS_RANDOM_SCENES_H

#include "scene_transform.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { RANDOM_TEXT = 16384 };

typedef struct random_scene {
  uint64_t state;
  char text[RANDOM_TEXT]; /* YAML, upright, in metres, kilograms and seconds */
  size_t used;
  transform how; /* turned, and in other units */
  bool planar;
  bool driven;   /* applied forces: not transformed */
  bool attached; /* a joint or spring to the world */
  bool round;    /* a quadratic cone: no direction is preferred */
  bool locates;  /* collisions */
  double restitution, friction;
  const char *scheme, *stabilization;
} random_scene;

static inline uint64_t draw_bits(random_scene *s) { /* splitmix64 */
  uint64_t x = s->state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
static inline double draw(random_scene *s, double low, double high) {
  return low + (high - low) * ((double)(draw_bits(s) >> 11) * 0x1p-53);
}
static inline int pick(random_scene *s, int n) { return (int)(draw_bits(s) % (uint64_t)n); }
static inline bool chance(random_scene *s, double p) { return draw(s, 0, 1) < p; }
static inline const char *word(random_scene *s, const char *const *list) {
  int n = 0;
  while (list[n]) n++;
  return list[pick(s, n)];
}

static inline void put(random_scene *s, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int n = vsnprintf(s->text + s->used, sizeof s->text - s->used, format, list);
  va_end(list);
  if (n > 0) s->used += (size_t)n < sizeof s->text - s->used ? (size_t)n : sizeof s->text - s->used - 1;
}

static inline void put_shape(random_scene *s) {
  static const char *const spatial[] = {"sphere", "box", "capsule", "cylinder", "ellipsoid", "convex", NULL};
  static const char *const flat[] = {"sphere", "box", "capsule", "ellipse", "points", NULL};
  const char *type = word(s, s->planar ? flat : spatial);
  const char *axis = s->planar ? (chance(s, 0.5) ? "x" : "y") : (const char *const[]){"x", "y", "z"}[pick(s, 3)];
  const double a = draw(s, 0.08, 0.25), b = draw(s, 0.1, 0.4), c = draw(s, 0.1, 0.4);
  if (strcmp(type, "sphere") == 0)
    put(s, "{type: sphere, radius: %.17g}", a);
  else if (strcmp(type, "box") == 0)
    put(s, "{type: box, size: [%.17g, %.17g, %.17g]}", 2 * a, b, c);
  else if (strcmp(type, "capsule") == 0 || strcmp(type, "cylinder") == 0)
    put(s, "{type: %s, radius: %.17g, length: %.17g, axis: %s}", type, 0.6 * a, b, axis);
  else if (strcmp(type, "ellipsoid") == 0)
    put(s, "{type: ellipsoid, semi_axes: [%.17g, %.17g, %.17g]}", a, 0.6 * b, 0.6 * c);
  else if (strcmp(type, "ellipse") == 0)
    put(s, "{type: ellipse, semi_axes: [%.17g, %.17g]}", a, 0.6 * b);
  else if (strcmp(type, "points") == 0)
    put(s, "{type: point, position: [%.17g, 0, 0]}, {type: point, position: [-%.17g, 0, 0]}", a, a);
  else {
    put(s, "{type: convex, points: [");
    for (int i = 5 + pick(s, 8); i > 0; i--)
      put(s, "[%.17g, %.17g, %.17g]%s", draw(s, -0.25, 0.25), draw(s, -0.25, 0.25), draw(s, -0.25, 0.25),
          i > 1 ? ", " : "");
    put(s, "]}");
  }
}

static inline void put_body(random_scene *s, int i, bool still) {
  const double high = 0.7 + 0.8 * i, x = draw(s, -0.4, 0.4), y = draw(s, -0.4, 0.4);
  put(s, "  - {name: b%d, mass: %.17g, ", i, exp(draw(s, log(0.3), log(30))));
  if (s->planar)
    put(s, "inertia: %.17g, position: [%.17g, %.17g], orientation: %.17g, ", draw(s, 0.01, 0.3), x, high,
        draw(s, -3, 3));
  else
    put(s, "position: [%.17g, %.17g, %.17g], orientation: {rpy: [%.17g, %.17g, %.17g]}, ", x, y, high, draw(s, -3, 3),
        draw(s, -1.5, 1.5), draw(s, -3, 3));
  const double u = draw(s, -1, 1), v = draw(s, -1, 1), w = draw(s, -1, 1);
  const double p = draw(s, -3, 3), q = draw(s, -3, 3), r = draw(s, -3, 3);
  if (still)
    put(s, s->planar ? "velocity: [0.3, 0]" : "velocity: [0.3, 0.1, 0]");
  else if (s->planar)
    put(s, "velocity: [%.17g, %.17g], angular_velocity: %.17g", u, w, r);
  else
    put(s, "velocity: [%.17g, %.17g, %.17g], angular_velocity: [%.17g, %.17g, %.17g]", u, v, w, p, q, r);
  put(s, ", shapes: [");
  put_shape(s);
  put(s, "]}\n");
}

/* Between the first two bodies, which start with the same velocity; or of the first and the world, where it stands still. */
static inline void put_joint(random_scene *s) {
  static const char *const spatial[] = {"distance",  "revolute", "spherical",     "prismatic", "fixed", "cylindrical",
                                        "universal", "planar",   "point-on-line", "screw",     NULL};
  static const char *const flat[] = {"distance", "revolute", "prismatic", "fixed", NULL};
  const char *type = word(s, s->planar ? flat : spatial);
  const bool axis = strchr("rpcs", type[0]) && strcmp(type, "spherical") != 0 && strcmp(type, "planar") != 0;
  const bool plane_axis = s->planar && strcmp(type, "revolute") != 0;
  const char *direction = s->planar ? (chance(s, 0.5) ? "x" : "y") : (const char *const[]){"x", "y", "z"}[pick(s, 3)];
  const double x = draw(s, -0.2, 0.2), y = draw(s, -0.2, 0.2);
  const bool limited = chance(s, 0.4);
  put(s, "joints:\n  - {type: %s, between: [b0, b1]", type);
  if (strcmp(type, "distance") != 0) put(s, s->planar ? ", at: [%.17g, 1.1]" : ", at: [%.17g, %.17g, 1.1]", x, y);
  if (axis && (!s->planar || plane_axis)) put(s, ", axis: %s", direction);
  if (strcmp(type, "planar") == 0) put(s, ", normal: %s", direction);
  if (strcmp(type, "universal") == 0) put(s, ", axes: [x, y]");
  if (strcmp(type, "screw") == 0) put(s, ", pitch: 0.1");
  if (limited && (strcmp(type, "revolute") == 0 || strcmp(type, "prismatic") == 0 || strcmp(type, "cylindrical") == 0))
    put(s, ", limits: [-0.3, 0.5]");
  put(s, "}\n");
}

static inline void put_forces(random_scene *s, int n) {
  const bool pulled = chance(s, 0.25), linked = n > 1 && chance(s, 0.2), driven = chance(s, 0.15);
  const double stiffness = exp(draw(s, log(30), log(3000))), damping = draw(s, 0, 3);
  if (!pulled && !linked && !driven) return;
  put(s, "forces:\n");
  if (pulled)
    put(s,
        "  - {type: spring-damper, between: [world, b0], anchors: [[0.1, %s], [0.05, 0, 0]], stiffness: %.17g, "
        "damping: %.17g}\n",
        s->planar ? "3, 0" : "0, 3", stiffness, damping);
  if (linked)
    put(s, "  - {type: spring, between: [b0, b1], anchors: [[0, 0.05, 0], [0.05, 0, 0]], stiffness: %.17g}\n",
        stiffness / 4);
  if (driven) put(s, "  - {type: applied, on: b0, force: [5*sin(3*t), 0%s]}\n", s->planar ? "" : ", 0");
  s->driven = driven;
  s->attached |= pulled;
}

static inline void put_world(random_scene *s) {
  const bool cluttered = chance(s, 0.35);
  const double tilt = chance(s, 0.4) ? draw(s, -0.3, 0.3) : 0;
  if (s->planar) {
    put(s, "world:\n  shapes:\n    - {type: half-space, normal: [%.17g, 1, 0]}\n", tilt);
    if (cluttered)
      put(s, "    - {type: half-space, normal: [1, 0, 0], offset: -1}\n    - {type: sphere, radius: 0.2, position: "
             "[-0.4, 0, 0]}\n"
             "    - {type: box, size: [0.5, 0.3, 1], position: [0.4, 0.1, 0]}\n");
    return;
  }
  put(s, "world:\n  shapes:\n    - {type: half-space, normal: [%.17g, 0, 1]}\n", tilt);
  if (cluttered)
    put(s, "    - {type: half-space, normal: [1, 0, 0], offset: -1}\n    - {type: box, size: [0.5, 0.5, 0.3], "
           "position: [0.4, 0, 0.1]}\n"
           "    - {type: cylinder, radius: 0.2, length: 2, axis: y, position: [-0.4, 0, 0.1]}\n");
}

/* Only what goes together: the library refuses the rest, with a message. */
static inline void put_simulation(random_scene *s, bool moments) {
  static const char *const schemes[] = {"stewart-trinkle", "stewart-trinkle-implicit",
                                        "anitescu-potra",  "anitescu-potra-stiff",
                                        "moreau",          "trapezoidal",
                                        "gavrea",          NULL};
  static const char *const cones[] = {"polyhedral", "pyramid", "quadratic", NULL};
  static const char *const events[] = {"[]", "[collision]", "[collision, stick-slip, take-off]", NULL};
  static const char *const laws[] = {"poisson", "newton", NULL};
  static const char *const stabilizations[] = {"none", "anitescu-hart", "projection", NULL};
  static const double steps[] = {0.02, 0.01, 0.005};
  s->scheme = word(s, schemes);
  const char *cone = word(s, cones), *located = word(s, events), *law = word(s, laws);
  s->stabilization = word(s, stabilizations);
  if (strcmp(s->stabilization, "none") == 0 && s->state >> 40 & 1) s->stabilization = "exact";
  const double step = steps[pick(s, 3)];
  if (moments && !s->planar && strcmp(cone, "polyhedral") == 0) cone = "pyramid";
  const bool contacts_moved = strcmp(s->scheme, "moreau") == 0 || strcmp(s->scheme, "gavrea") == 0;
  if (contacts_moved && strcmp(s->stabilization, "anitescu-hart") == 0) s->stabilization = "projection";
  const bool position = strncmp(s->scheme, "stewart", 7) == 0;
  const bool needs = (s->restitution > 0 && (position || strcmp(s->stabilization, "projection") == 0)) ||
                     (strcmp(s->stabilization, "anitescu-hart") == 0 && strcmp(s->scheme, "trapezoidal") == 0);
  if (needs && strcmp(located, "[]") == 0) located = "[collision]";
  s->round = strcmp(cone, "quadratic") == 0 || s->planar;
  s->locates = strcmp(located, "[]") != 0;
  put(s,
      "simulation: {scheme: %s, %sstep: %g, duration: 0.9, friction: {cone: %s}, restitution: %s, events: %s, "
      "stabilization: %s}\n",
      s->scheme, strcmp(s->scheme, "gavrea") == 0 ? "alpha: 0.6, gamma: 0.5, " : "", step, cone, law, located,
      s->stabilization);
}

static inline transform draw_transform(random_scene *s) {
  transform t = transform_none();
  const double angle = draw(s, -3, 3), p = draw(s, -1, 1), q = draw(s, -1, 1), r = draw(s, -1, 1);
  const int length = pick(s, 21) - 10, mass = pick(s, 21) - 10, time = pick(s, 21) - 10;
  if (chance(s, 0.5)) t.turn = s->planar ? quat_exp(v3(0, 0, angle)) : quat_exp(v3(3 * p, 3 * q, 3 * r));
  if (chance(s, 0.4)) t.length = ldexp(1, length), t.mass = ldexp(1, mass), t.time = ldexp(1, time);
  if (s->driven) t = transform_none();
  return t;
}

static inline void draw_scene(random_scene *s, uint64_t seed) {
  static const double restitutions[] = {0, 0, 0.5, 1}, frictions[] = {0, 0.2, 0.6, 1};
  *s = (random_scene){.state = seed * 0x2545f4914f6cdd1du + 1};
  s->planar = chance(s, 0.3);
  s->restitution = restitutions[pick(s, 4)];
  s->friction = frictions[pick(s, 4)];
  const int n = 1 + pick(s, 5);
  const bool jointed = n > 1 && chance(s, 0.5), torsion = chance(s, 0.1), rolling = chance(s, 0.1);
  if (s->planar) put(s, "planar: xy\n");
  put(s, "materials: [{name: default, friction: %g, restitution: %g%s%s}]\n", s->friction, s->restitution,
      torsion && !s->planar ? ", torsion: 0.01" : "", rolling ? ", rolling: 0.01" : "");
  put_world(s);
  put(s, "bodies:\n");
  for (int i = 0; i < n; i++) put_body(s, i, jointed && i < 2);
  if (jointed) put_joint(s);
  put_forces(s, n);
  put_simulation(s, rolling || torsion);
  s->how = draw_transform(s);
}

#endif
