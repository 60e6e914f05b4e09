/* Random scenes of wide range, as an attacker would draw them: sizes from 1e-3 to 1e3, mass ratios up to 1e6, steps from 1e-5 to
 * 0.1 of the natural time, friction up to 5, aligned and degenerate positions, all shapes, surfaces, joints, forces, schemes, cones,
 * stabilisations and events, whether they go together or not. A seed is a scene, for ever.
 *
 * Every run must end sound, or doubtful for a reason, or with a message; never with a wrong verdict, and never not at all. */
#ifndef TESTS_WIDE_SCENES_H
#define TESTS_WIDE_SCENES_H

#include "random_scenes.h"

typedef struct wide_scene {
  random_scene s; /* its text, and the source of numbers */
  double size, duration, gravity;
  int bodies;
  bool aligned, floor; /* floor: bodies that are far below it have fallen through */
} wide_scene;

static inline double draw_power(random_scene *s, double low, double high) { return pow(10, draw(s, low, high)); }

static inline void put_wide_shape(wide_scene *w) {
  random_scene *s = &w->s;
  static const char *const spatial[] = {"sphere",    "box",    "capsule", "cylinder", "cylinder",
                                        "ellipsoid", "convex", "box",     NULL};
  static const char *const flat[] = {"sphere", "box", "capsule", "ellipse", "convex", NULL};
  const char *type = word(s, s->planar ? flat : spatial);
  const char *axis = (const char *const[]){"x", "y", "z"}[pick(s, s->planar ? 2 : 3)];
  const bool equal = chance(s, 0.4); /* equal sizes meet edge on edge */
  const double a = w->size * (equal ? 0.2 : draw(s, 0.05, 0.3)), b = w->size * (equal ? 0.4 : draw(s, 0.02, 0.5)),
               c = w->size * (equal ? 0.4 : draw(s, 0.02, 0.5));
  if (strcmp(type, "sphere") == 0)
    put(s, "{type: sphere, radius: %.17g}", a);
  else if (strcmp(type, "box") == 0)
    put(s, "{type: box, size: [%.17g, %.17g, %.17g]}", 2 * a, b, c);
  else if (strcmp(type, "capsule") == 0 || strcmp(type, "cylinder") == 0)
    put(s, "{type: %s, radius: %.17g, length: %.17g, axis: %s}", type, a, b, axis);
  else if (strcmp(type, "ellipsoid") == 0)
    put(s, "{type: ellipsoid, semi_axes: [%.17g, %.17g, %.17g]}", a, 0.6 * b, 0.6 * c);
  else if (strcmp(type, "ellipse") == 0)
    put(s, "{type: ellipse, semi_axes: [%.17g, %.17g]}", a, 0.6 * b);
  else {
    put(s, "{type: convex, points: [");
    for (int i = 4 + pick(s, 9); i > 0; i--) {
      put(s, "[%.17g, %.17g", w->size * draw(s, -0.25, 0.25), w->size * draw(s, -0.25, 0.25));
      if (!s->planar) put(s, ", %.17g", w->size * draw(s, -0.25, 0.25));
      put(s, i > 1 ? "], " : "]");
    }
    put(s, "]}");
  }
}

static inline void put_wide_world(wide_scene *w) {
  random_scene *s = &w->s;
  const double z = w->size;
  w->floor = true;
  put(s, "world:\n  shapes:\n");
  switch (pick(s, s->planar ? 2 : 5)) {
  case 0:
    put(s, "    - {type: half-space, normal: [0, %s]}\n", s->planar ? "1, 0" : "0, 1");
    break;
  case 1:
    if (s->planar)
      put(s, "    - {type: box, size: [%g, %g, %g], position: [0, %g, 0]}\n", 200 * z, 2 * z, 2 * z, -z);
    else
      put(s, "    - {type: box, size: [%g, %g, %g], position: [0, 0, %g]}\n", 200 * z, 200 * z, 2 * z, -z);
    break;
  case 2:
    put(s, "    - {type: cylinder, radius: %g, length: %g, axis: z, position: [0, 0, %g]}\n", 100 * z, 2 * z, -z);
    break;
  case 3:
    w->floor = false; /* it may be left behind */
    put(s, "    - {type: height-field, spacing: %g, heights: [", 2 * z);
    for (int i = 0; i < 7; i++) {
      put(s, i ? ", [" : "[");
      for (int k = 0; k < 7; k++) put(s, "%s%g", k ? ", " : "", z * draw(s, -0.3, 0));
      put(s, "]");
    }
    put(s, "]}\n");
    break;
  default:
    w->floor = false;
    put(s, "    - {type: mesh, vertices: [[%g, %g, 0], [%g, %g, 0], [%g, %g, 0], [%g, %g, 0], [0, 0, %g]],\n", -9 * z,
        -9 * z, 9 * z, -9 * z, 9 * z, 9 * z, -9 * z, 9 * z, -z * draw(s, 0, 0.5));
    put(s, "       triangles: [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]}\n");
  }
  if (chance(s, 0.2)) put(s, "    - {type: half-space, normal: [1, 0, 0], offset: %g}\n", -3 * z);
}

static inline void put_wide_body(wide_scene *w, int i, double mass, bool still) {
  random_scene *s = &w->s;
  const double z = w->size, high = z * (0.8 + 1.3 * i), side = w->aligned ? 0 : 0.3 * z;
  const double x = draw(s, -side, side), y = draw(s, -side, side);
  put(s, "  - {name: b%d, mass: %.17g, ", i, mass);
  if (s->planar) {
    put(s, "inertia: %.17g, position: [%.17g, %.17g], ", mass * z * z * draw(s, 0.01, 0.3), x, high);
    if (!w->aligned) put(s, "orientation: %.17g, ", draw(s, -3, 3));
  } else {
    put(s, "position: [%.17g, %.17g, %.17g], ", x, y, high);
    if (!w->aligned)
      put(s, "orientation: {rpy: [%.17g, %.17g, %.17g]}, ", draw(s, -3, 3), draw(s, -1.5, 1.5), draw(s, -3, 3));
  }
  const double speed = still || w->aligned ? 0 : z / w->duration * draw(s, 0, 3), spin = speed / z;
  if (s->planar)
    put(s, "velocity: [%.17g, %.17g], angular_velocity: %.17g", speed * draw(s, -1, 1), speed * draw(s, -1, 1),
        spin * draw(s, -3, 3));
  else
    put(s, "velocity: [%.17g, %.17g, %.17g], angular_velocity: [%.17g, %.17g, %.17g]", speed * draw(s, -1, 1),
        speed * draw(s, -1, 1), speed * draw(s, -1, 1), spin * draw(s, -3, 3), spin * draw(s, -3, 3),
        spin * draw(s, -3, 3));
  put(s, ", shapes: [");
  put_wide_shape(w);
  put(s, "]}\n");
}

static inline void put_wide_joints(wide_scene *w) {
  random_scene *s = &w->s;
  static const char *const spatial[] = {"distance",  "revolute", "spherical",     "prismatic", "fixed", "cylindrical",
                                        "universal", "planar",   "point-on-line", "screw",     NULL};
  static const char *const flat[] = {"distance", "revolute", "prismatic", "fixed", NULL};
  const int chain = 1 + pick(s, w->bodies - 1);
  put(s, "joints:\n");
  for (int i = 0; i < chain; i++) {
    const char *type = word(s, s->planar ? flat : spatial);
    const char *direction = (const char *const[]){"x", "y", "z"}[pick(s, s->planar ? 2 : 3)];
    const double high = w->size * (0.8 + 1.3 * (i + 0.5));
    put(s, "  - {type: %s, between: [b%d, b%d]", type, i, i + 1);
    if (strcmp(type, "distance") != 0) put(s, s->planar ? ", at: [0, %.17g]" : ", at: [0, 0, %.17g]", high);
    const bool turns = strcmp(type, "revolute") == 0, slides = strchr("pcs", type[0]) && type[1] != 'l';
    if (strcmp(type, "planar") == 0)
      put(s, ", normal: %s", direction);
    else if (strcmp(type, "universal") == 0)
      put(s, ", axes: [x, y]");
    else if ((turns && !s->planar) || (slides && strcmp(type, "spherical") != 0))
      put(s, ", axis: %s", direction);
    if (strcmp(type, "screw") == 0) put(s, ", pitch: %g", 0.1 * w->size);
    if (turns && chance(s, 0.3)) put(s, ", limits: [-0.3, 0.5]");
    if (turns && chance(s, 0.2)) put(s, ", motor: {speed: 1, torque: %g}", draw_power(s, -3, 3));
    put(s, "}\n");
  }
}

/* Stiffnesses in units of the weight over the size. */
static inline void put_wide_forces(wide_scene *w, double mass) {
  random_scene *s = &w->s;
  const double unit = mass / (w->duration * w->duration);
  put(s, "forces:\n");
  for (int i = pick(s, 3); i >= 0; i--) {
    const int a = pick(s, w->bodies), b = pick(s, w->bodies), other = a == b ? (a + 1) % w->bodies : b;
    if (chance(s, 0.3)) {
      put(s, "  - {type: applied, on: b%d, force: [%g*sin(3*t), 0%s]}\n", a, unit * w->size, s->planar ? "" : ", 0");
      continue;
    }
    put(s, "  - {type: spring-damper, between: [b%d, b%d], anchors: [[0, %g, 0], [0, %g, 0]], ", a, other,
        0.1 * w->size, -0.1 * w->size);
    const double stiffness = unit * draw_power(s, 0, 7);
    const double damping = chance(s, 0.4) ? 0 : unit * w->duration * draw_power(s, -2, 4);
    put(s, "stiffness: %.17g, damping: %.17g%s}\n", stiffness, damping, chance(s, 0.2) ? ", jacobian: exact" : "");
  }
}

static inline void put_wide_simulation(wide_scene *w) {
  random_scene *s = &w->s;
  static const char *const schemes[] = {"stewart-trinkle", "stewart-trinkle-implicit",
                                        "anitescu-potra",  "anitescu-potra-stiff",
                                        "moreau",          "trapezoidal",
                                        "trapezoidal",     "gavrea",
                                        "compliant",       NULL};
  static const char *const cones[] = {"polyhedral", "pyramid", "quadratic", "{cone: polyhedral, directions: 16}", NULL};
  static const char *const events[] = {"[]", "[collision]", "[collision, stick-slip, take-off]", "[stick-slip]", NULL};
  static const char *const stabilizations[] = {"none", "anitescu-hart", "projection", NULL};
  const char *scheme = word(s, schemes), *cone = word(s, cones);
  put(s, "simulation:\n  scheme: %s\n  duration: %.17g\n", scheme, w->duration);
  if (strcmp(scheme, "gavrea") == 0) put(s, "  alpha: %g\n  gamma: %g\n", draw(s, 0.5, 1), draw(s, 0.3, 1));
  if (chance(s, 0.12) && strcmp(scheme, "compliant") != 0)
    put(s, "  tolerance: %.17g\n", w->size / w->duration * draw_power(s, -5, -2));
  else
    put(s, "  step: %.17g\n", w->duration / draw_power(s, 1, 3));
  if (cone[0] == '{')
    put(s, "  friction: %s\n", cone);
  else
    put(s, "  friction: {cone: %s}\n", cone);
  put(s, "  restitution: %s\n", chance(s, 0.5) ? "poisson" : "newton");
  if (chance(s, 0.6) && strcmp(scheme, "compliant") != 0) put(s, "  events: %s\n", word(s, events));
  if (chance(s, 0.6)) put(s, "  stabilization: %s\n", word(s, stabilizations));
  if (strcmp(scheme, "compliant") == 0)
    put(s, "compliance: {stiffness: [%g, %g], elements: 3, spacing: %g}\n", draw_power(s, 2, 5), draw_power(s, 2, 5),
        0.05 * w->size);
}

static inline void draw_wide_scene(wide_scene *w, uint64_t seed) {
  static const double restitutions[] = {0, 0, 0, 0.3, 0.8, 1}, frictions[] = {0, 0.1, 0.3, 0.7, 1, 2, 5},
                      spreads[] = {0, 0.5, 1.5, 3};
  *w = (wide_scene){.s = {.state = seed * 0x2545f4914f6cdd1du + 7}};
  random_scene *s = &w->s;
  s->planar = chance(s, 0.25);
  w->size = chance(s, 0.5) ? 1 : draw_power(s, -3, 3);
  w->gravity = chance(s, 0.1) ? 0 : 9.81;
  w->duration = draw(s, 0.5, 2) * sqrt(w->size);
  w->aligned = chance(s, 0.5);
  w->bodies = 1 + pick(s, chance(s, 0.2) ? 20 : 6);
  const double mass = draw_power(s, -2, 2), spread = spreads[pick(s, 4)];
  const bool jointed = w->bodies > 1 && chance(s, 0.35), sprung = w->bodies > 1 && chance(s, 0.3);
  if (s->planar) put(s, "planar: xy\n");
  put(s, "gravity: [0, %s%g%s]\n", s->planar ? "" : "0, ", -w->gravity, s->planar ? ", 0" : "");
  put(s, "materials: [{name: default, friction: %g, restitution: %g}]\n", frictions[pick(s, 7)],
      restitutions[pick(s, 6)]);
  put_wide_world(w);
  put(s, "bodies:\n");
  for (int i = 0; i < w->bodies; i++) put_wide_body(w, i, mass * draw_power(s, -spread, spread), jointed);
  if (jointed) put_wide_joints(w);
  if (sprung) put_wide_forces(w, mass);
  put_wide_simulation(w);
}

#endif
