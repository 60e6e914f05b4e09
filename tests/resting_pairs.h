/* Shapes that can be put on each other, every one on every other, and the scenes in which they are. */
#ifndef TESTS_RESTING_PAIRS_H
#define TESTS_RESTING_PAIRS_H

#include "scene_runner.h"

#define PRISM                                                                                                          \
  "{type: convex, points: [[0.1,0,-0.05],[0.05,0.08,-0.05],[-0.05,0.08,-0.05],[-0.1,0,-0.05],[-0.05,-0.08,-0.05],"     \
  "[0.05,-0.08,-0.05],[0.1,0,0.05],[0.05,0.08,0.05],[-0.05,0.08,0.05],[-0.1,0,0.05],[-0.05,-0.08,0.05],[0.05,-0.08,"   \
  "0.05]]}"
#define WEDGE                                                                                                          \
  "{type: convex, points: [[0.2,0,-0.05],[-0.1,0.15,-0.05],[-0.1,-0.15,-0.05],[0.2,0,0.05],[-0.1,0.15,0.05],"          \
  "[-0.1,-0.15,0.05]]}"
#define MESH                                                                                                           \
  "{type: mesh, vertices: "                                                                                            \
  "[[-0.1,-0.1,-0.05],[0.1,-0.1,-0.05],[0.1,0.1,-0.05],[-0.1,0.1,-0.05],[-0.1,-0.1,0.05],[0.1,-0."                     \
  "1,0.05],[0.1,0.1,0.05],[-0.1,0.1,0.05]], triangles: [[0,2,1],[0,3,2],[4,5,6],[4,6,7],[0,1,5],[0,5,4],[1,2,6],[1,6," \
  "5],[2,3,7],[2,7,6],[3,0,4],[3,4,7]]}"

typedef struct piece {
  const char *name, *shape;
  double height; /* of the centre above what it rests on, and of its top above the centre */
  double kx, ky; /* curvatures along x and y where it touches */
  double foot;   /* flat: how far its face goes along x, over |y| < 0.1 */
  double rolls;  /* radius about y; 0: it does not */
  bool still;    /* as the lower one only: it cannot move */
} piece;

static const piece spatial[] = {
    {"half-space", "{type: half-space, normal: z}", 0, 0, 0, 1, 0, true},
    {"height-field", "{type: height-field, spacing: [0.4, 0.4], heights: [[0,0,0],[0,0,0],[0,0,0]]}", 0, 0, 0, 0.4, 0,
     true},
    {"fine height-field", "{type: height-field, spacing: [0.1, 0.1], heights: [[0,0,0,0],[0,0,0,0],[0,0,0,0]]}", 0, 0,
     0, 0.15, 0, true},
    {"mesh", MESH, 0.05, 0, 0, 0.1, 0, true},
    {"box", "{type: box, size: [0.2, 0.2, 0.1]}", 0.05, 0, 0, 0.1, 0, false},
    {"plate", "{type: box, size: [0.3, 0.2, 0.002]}", 0.001, 0, 0, 0.15, 0, false},
    {"rod", "{type: box, size: [0.01, 0.01, 0.4]}", 0.2, 0, 0, 0.005, 0, false},
    {"standing cylinder", "{type: cylinder, radius: 0.1, length: 0.1, axis: z}", 0.05, 0, 0, 0.1, 0, false},
    {"coin", "{type: cylinder, radius: 0.1, length: 0.004, axis: z}", 0.002, 0, 0, 0.1, 0, false},
    {"convex", PRISM, 0.05, 0, 0, 0.1, 0, false},
    {"wedge", WEDGE, 0.05, 0, 0, 0, 0, false},
    {"cylinder along x", "{type: cylinder, radius: 0.1, length: 0.2, axis: x}", 0.1, 0, 1 / 0.1, 0, 0, false},
    {"cylinder along y", "{type: cylinder, radius: 0.1, length: 0.2, axis: y}", 0.1, 1 / 0.1, 0, 0, 0.1, false},
    {"long cylinder", "{type: cylinder, radius: 0.05, length: 0.7, axis: y}", 0.05, 1 / 0.05, 0, 0, 0.05, false},
    {"capsule along x", "{type: capsule, radius: 0.05, length: 0.1, axis: x}", 0.05, 0, 1 / 0.05, 0, 0, false},
    {"capsule along y", "{type: capsule, radius: 0.1, length: 0.2, axis: y}", 0.1, 1 / 0.1, 0, 0, 0.1, false},
    {"long capsule", "{type: capsule, radius: 0.03, length: 0.7, axis: y}", 0.03, 1 / 0.03, 0, 0, 0.03, false},
    {"standing capsule", "{type: capsule, radius: 0.05, length: 0.1, axis: z}", 0.1, 1 / 0.05, 1 / 0.05, 0, 0, false},
    {"sphere", "{type: sphere, radius: 0.1}", 0.1, 1 / 0.1, 1 / 0.1, 0, 0.1, false},
    {"ellipsoid", "{type: ellipsoid, semi_axes: [0.1, 0.08, 0.05]}", 0.05, 0.05 / 0.01, 0.05 / 0.0064, 0, 0, false},
};
static const piece flat[] = {
    {"half-plane", "{type: half-space, normal: y}", 0, 0, 0, 1, 0, true},
    {"box", "{type: box, size: [0.2, 0.1, 0.1]}", 0.05, 0, 0, 0.1, 0, false},
    {"convex", "{type: convex, points: [[-0.1, -0.05], [0.1, -0.05], [0.05, 0.05], [-0.05, 0.05]]}", 0.05, 0, 0, 0.1, 0,
     false},
    {"capsule along x", "{type: capsule, radius: 0.05, length: 0.2, axis: x}", 0.05, 0, 0, 0.1, 0, false},
    {"capsule along y", "{type: capsule, radius: 0.05, length: 0.2, axis: y}", 0.15, 1 / 0.05, 0, 0, 0, false},
    {"sphere", "{type: sphere, radius: 0.1}", 0.1, 1 / 0.1, 0, 0, 0.1, false},
    {"ellipse", "{type: ellipse, semi_axes: [0.1, 0.05]}", 0.05, 0.05 / 0.01, 0, 0, 0, false},
};
enum { SPATIAL = sizeof spatial / sizeof *spatial, FLAT = sizeof flat / sizeof *flat };

static const char *const resting_schemes[] = {"moreau",          "trapezoidal",          "anitescu-potra",
                                              "stewart-trinkle", "anitescu-potra-stiff", "stewart-trinkle-implicit"};
enum { RESTING_SCHEMES = 6 };

/* The upper one on the lower one, or so much above; the lower one is part of the world, or free (`loose`) on a floor. */
typedef struct position {
  const piece *upper, *lower;
  bool planar, loose;
  const char *scheme;
  double offset, turn; /* along x; about the vertical */
  double lift;
  double push, spin; /* velocity along x, angular velocity about y: in space */
  double duration;
} position;

static inline void write_position(const position *p, char *text, size_t size) {
  char place[400], under[100];
  const double foot = p->loose ? p->lower->height : 0, top = foot + p->lower->height + p->upper->height + p->lift;
  if (p->planar)
    (void)snprintf(place, sizeof place, "[%.17g, %.17g]", p->offset, top);
  else
    (void)snprintf(place, sizeof place,
                   "[%.17g, 0, %.17g], orientation: {axis: [0, 0, 1], angle: %.17g}, velocity: [%.17g, 0, 0], "
                   "angular_velocity: [0, %.17g, 0]",
                   p->offset, top, p->turn, p->push, p->spin);
  (void)snprintf(under, sizeof under, p->planar ? "[0, %.17g]" : "[0, 0, %.17g]", foot);
  const char *floor = p->planar ? flat[0].shape : spatial[0].shape;
  int used = snprintf(text, size, "%smaterials: [{name: default, friction: 0.5}]\nworld: {shapes: [%s]}\nbodies:\n",
                      p->planar ? "planar: xy\n" : "", p->loose ? floor : p->lower->shape);
  used += snprintf(text + used, size - (size_t)used, "  - {name: upper, density: 1000, position: %s, shapes: [%s]}\n",
                   place, p->upper->shape);
  if (p->loose)
    used += snprintf(text + used, size - (size_t)used, "  - {name: lower, density: 1000, position: %s, shapes: [%s]}\n",
                     under, p->lower->shape);
  (void)snprintf(text + used, size - (size_t)used, "simulation: {scheme: %s, step: 0.005, duration: %.17g}\n",
                 p->scheme, p->duration);
}

/* Does the upper one rest on the lower one, by statics: does it stay, but for what the last digits do in ten seconds?
 *
 * With K the sum of both curvatures where they touch and h the height of the centre of mass above, the potential energy of a rocking by the
 * small angles a, rolling, is m g a.(1/K - h) a/2. So it rests where K h < 1 in all directions (flat on flat: K = 0). At K h = 1 it is
 * indifferent on what is flat, a ball on a floor; on what is round the next term, which is negative for circles, decides. Elsewhere
 * it is a balance: the last digit of a number grows by e^100 in ten seconds in these sizes.
 * A free round one below (radius r, turned by b) makes the energy m g ((r - h) a^2/2 - r a b): indefinite, it rolls away from under anything. */
static inline bool is_rest(const position *p) {
  const double c = cos(p->turn), s = sin(p->turn), h = p->upper->height;
  const double kx = p->lower->kx + c * c * p->upper->kx + s * s * p->upper->ky,
               mixed = c * s * (p->upper->kx - p->upper->ky);
  const double ky = p->lower->ky + s * s * p->upper->kx + c * c * p->upper->ky;
  const double most = h * ((kx + ky) / 2 + hypot((kx - ky) / 2, mixed));
  if (p->lower->kx == 0 && p->lower->ky == 0) return most < 1 + 1e-9;
  return !p->loose && most < 1 - 1e-9;
}

#endif
