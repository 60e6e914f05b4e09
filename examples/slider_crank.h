/* Slider-crank with a slider that has clearance in its guide (Flores, Leine, Glocker, Multibody System Dynamics 23 (2010)
 * 165): crank, rod and slider are three links in one chain, and the four corners of the slider may touch the guide.
 *
 *     q = (theta1, theta2, theta3)   angles of crank, rod and slider; M depends on q
 *     gaps                           two corners against the upper wall, two against the lower one */
#ifndef EXAMPLES_SLIDER_CRANK_H
#define EXAMPLES_SLIDER_CRANK_H

#include <stickslip/stickslip.h>

#include <math.h>

typedef struct slider_crank {
  double l1, l2, a, b, c; /* crank, rod, half length and half height of the slider, clearance */
  double m1, m2, m3, J1, J2, J3, g;
} slider_crank;

static const slider_crank slider_crank_of_flores = {.l1 = 0.153,
                                                    .l2 = 0.306,
                                                    .a = 0.05,
                                                    .b = 0.025,
                                                    .c = 0.001,
                                                    .m1 = 0.038,
                                                    .m2 = 0.038,
                                                    .m3 = 0.076,
                                                    .J1 = 7.4e-5,
                                                    .J2 = 5.9e-4,
                                                    .J3 = 2.7e-6,
                                                    .g = 9.81};

static inline int slider_crank_mass(void *user, double t, const double *q, double *M) {
  (void)t;
  const slider_crank *s = user;
  M[0] = s->J1 + (s->m1 / 4 + s->m2 + s->m3) * s->l1 * s->l1;
  M[1] = M[3] = (s->m2 / 2 + s->m3) * s->l1 * s->l2 * cos(q[1] - q[0]);
  M[4] = s->J2 + (s->m2 / 4 + s->m3) * s->l2 * s->l2;
  M[8] = s->J3;
  return 0;
}

static inline int slider_crank_force(void *user, double t, const double *q, const double *v, double *k) {
  (void)t;
  const slider_crank *s = user;
  const double coriolis = (s->m2 / 2 + s->m3) * s->l1 * s->l2 * sin(q[1] - q[0]);
  k[0] = coriolis * v[1] * v[1] - s->g * (s->m1 / 2 + s->m2 + s->m3) * s->l1 * cos(q[0]);
  k[1] = -coriolis * v[0] * v[0] - s->g * (s->m2 / 2 + s->m3) * s->l2 * cos(q[1]);
  return 0;
}

/* Corners in the slider's frame: left and right on top, left and right at the bottom. */
static inline void slider_crank_corner(const slider_crank *s, int corner, double *x, double *y) {
  *x = corner % 2 == 0 ? -s->a : s->a;
  *y = corner < 2 ? s->b : -s->b;
}

static inline int slider_crank_gap(void *user, double t, const double *q, double *phi) {
  (void)t;
  const slider_crank *s = user;
  for (int i = 0; i < 4; i++) {
    double x, y;
    slider_crank_corner(s, i, &x, &y);
    const double height = s->l1 * sin(q[0]) + s->l2 * sin(q[1]) + x * sin(q[2]) + y * cos(q[2]);
    phi[i] = s->b + s->c + (i < 2 ? -height : height);
  }
  return 0;
}

static inline int slider_crank_gap_gradients(void *user, double t, const double *q, double *n, double *rate) {
  (void)t, (void)rate;
  const slider_crank *s = user;
  for (int i = 0; i < 4; i++) {
    double x, y;
    slider_crank_corner(s, i, &x, &y);
    const double sign = i < 2 ? -1 : 1;
    n[3 * i] = sign * s->l1 * cos(q[0]);
    n[3 * i + 1] = sign * s->l2 * cos(q[1]);
    n[3 * i + 2] = sign * (x * cos(q[2]) - y * sin(q[2]));
  }
  return 0;
}

/* Velocities of the corners along the guide. */
static inline int slider_crank_friction(void *user, double t, const double *q, double *D, double *u) {
  (void)t, (void)u;
  const slider_crank *s = user;
  for (int i = 0; i < 4; i++) {
    double x, y;
    slider_crank_corner(s, i, &x, &y);
    D[3 * i] = -s->l1 * sin(q[0]);
    D[3 * i + 1] = -s->l2 * sin(q[1]);
    D[3 * i + 2] = -x * sin(q[2]) - y * cos(q[2]);
  }
  return 0;
}

static inline int slider_crank_potential(void *user, double t, const double *q, double *energy) {
  (void)t;
  const slider_crank *s = user;
  *energy = s->g * ((s->m1 / 2 + s->m2 + s->m3) * s->l1 * sin(q[0]) + (s->m2 / 2 + s->m3) * s->l2 * sin(q[1]));
  return 0;
}

/* gaps: memory for the four, which the model copies. */
static inline ss_system slider_crank_system(const slider_crank *data, ss_gap_def gaps[4]) {
  static const char *const names[3] = {"theta1", "theta2", "theta3"};
  static const char *const corners[4] = {"top left", "top right", "bottom left", "bottom right"};
  static const double q0[3] = {0, 0, 0}, v0[3] = {150, -75, 0};
  for (int i = 0; i < 4; i++)
    gaps[i] = (ss_gap_def){.name = corners[i], .directions = 1, .friction = 0.01, .restitution = 0.4};
  ss_system s = ss_system_default();
  s.name = "slider-crank with clearance";
  s.user = (void *)data; /* only read */
  s.n = 3;
  s.names = names;
  s.q0 = q0;
  s.v0 = v0;
  s.length = data->a;
  s.mass = slider_crank_mass;
  s.mass_at_midpoint = true;
  s.force = slider_crank_force;
  s.n_gaps = 4;
  s.gaps = gaps;
  s.gap = slider_crank_gap;
  s.gap_gradients = slider_crank_gap_gradients;
  s.friction = slider_crank_friction;
  s.potential = slider_crank_potential;
  s.simulation.scheme = "trapezoidal";
  s.simulation.step = 1e-4;
  s.simulation.duration = 0.2;
  s.simulation.restitution = SS_RESTITUTION_NEWTON;
  s.simulation.has_events = true;
  s.simulation.events = SS_EVENT_COLLISION | SS_EVENT_STICK_SLIP | SS_EVENT_TAKE_OFF;
  return s;
}

#endif
