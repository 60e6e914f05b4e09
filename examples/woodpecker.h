/* The woodpecker toy (Pfeiffer 1984; parameters of Glocker 1995, also in Glocker and Studer 2005): a sleeve on a pole, and
 * a bird on a spring that is fixed to the sleeve. The sleeve jams at its upper or lower edge, the beak hits the pole, and
 * in between the toy slides down a little.
 *
 *     q = (y, phi_M, phi_S)   height of the sleeve, angles of sleeve and bird, both small: M is constant, forces and gaps
 *                             are linear
 *     gaps                    beak; lower edge of the sleeve; upper edge of the sleeve, each with friction along the pole */
#ifndef EXAMPLES_WOODPECKER_H
#define EXAMPLES_WOODPECKER_H

#include <stickslip/stickslip.h>

typedef struct woodpecker {
  double m_M, J_M, m_S, J_S;                /* masses and moments of inertia of sleeve and bird */
  double c_phi, g;                          /* spring, gravity */
  double r_0, r_M, h_M, l_M, l_G, h_S, l_S; /* radii of pole and sleeve, half height, distances */
  double friction, restitution[3];          /* of the three contacts */
} woodpecker;

static const woodpecker woodpecker_of_glocker = {.m_M = 0.0003,
                                                 .J_M = 5e-9,
                                                 .m_S = 0.0045,
                                                 .J_S = 7e-7,
                                                 .c_phi = 0.0056,
                                                 .g = 9.81,
                                                 .r_0 = 0.0025,
                                                 .r_M = 0.0031,
                                                 .h_M = 0.0058,
                                                 .l_M = 0.010,
                                                 .l_G = 0.015,
                                                 .h_S = 0.02,
                                                 .l_S = 0.0201,
                                                 .friction = 0.3,
                                                 .restitution = {0.5, 0, 0}};

static inline int woodpecker_mass(void *user, double t, const double *q, double *M) {
  (void)t, (void)q;
  const woodpecker *w = user;
  const double arm[3] = {1, w->l_M, w->l_G}; /* of the bird's centre of mass: height per coordinate */
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) M[i * 3 + j] = w->m_S * arm[i] * arm[j];
  M[0] += w->m_M;
  M[4] += w->J_M;
  M[8] += w->J_S;
  return 0;
}

static inline int woodpecker_force(void *user, double t, const double *q, const double *v, double *k) {
  (void)t, (void)v;
  const woodpecker *w = user;
  const double torque = w->c_phi * (q[2] - q[1]);
  k[0] = -(w->m_S + w->m_M) * w->g;
  k[1] = torque - w->m_S * w->g * w->l_M;
  k[2] = -torque - w->m_S * w->g * w->l_G;
  return 0;
}

static inline int woodpecker_gap(void *user, double t, const double *q, double *phi) {
  (void)t;
  const woodpecker *w = user;
  phi[0] = w->l_M + w->l_G - w->l_S - w->r_0 - w->h_S * q[2];
  phi[1] = w->r_M - w->r_0 + w->h_M * q[1];
  phi[2] = w->r_M - w->r_0 - w->h_M * q[1];
  return 0;
}

static inline int woodpecker_gap_gradients(void *user, double t, const double *q, double *n, double *rate) {
  (void)t, (void)q, (void)rate;
  const woodpecker *w = user;
  n[2] = -w->h_S;
  n[4] = w->h_M;
  n[7] = -w->h_M;
  return 0;
}

/* Velocities along the pole of the beak and of the sleeve's edges. */
static inline int woodpecker_friction(void *user, double t, const double *q, double *D, double *u) {
  (void)t, (void)q, (void)u;
  const woodpecker *w = user;
  D[0] = D[3] = D[6] = 1;
  D[1] = w->l_M;
  D[2] = w->l_G - w->l_S;
  D[4] = D[7] = w->r_M;
  return 0;
}

static inline int woodpecker_potential(void *user, double t, const double *q, double *energy) {
  (void)t;
  const woodpecker *w = user;
  const double turn = q[2] - q[1];
  *energy = w->c_phi * turn * turn / 2 + w->m_M * w->g * q[0] + w->m_S * w->g * (q[0] + w->l_M * q[1] + w->l_G * q[2]);
  return 0;
}

/* Fills in s, which has the defaults. gaps: memory for the three, which the model copies. */
static inline void woodpecker_define(const woodpecker *w, ss_gap_def gaps[3], ss_system *s) {
  static const char *const names[3] = {"y", "phi_M", "phi_S"}, *const gap_names[3] = {"beak", "lower edge",
                                                                                      "upper edge"};
  static const double q0[3] = {0, -0.1036, -0.2788}, v0[3] = {-0.3411, 0, -7.4583};
  static const double scale[3] = {0.01, 0.1, 0.1};
  for (int i = 0; i < 3; i++)
    gaps[i] =
        (ss_gap_def){.name = gap_names[i], .directions = 1, .friction = w->friction, .restitution = w->restitution[i]};
  s->name = "woodpecker toy";
  s->user = (void *)w; /* only read */
  s->n = 3;
  s->names = names;
  s->q0 = q0;
  s->v0 = v0;
  s->scale = scale;
  s->length = w->r_0;
  s->mass = woodpecker_mass;
  s->constant_mass = true;
  s->force = woodpecker_force;
  s->n_gaps = 3;
  s->gaps = gaps;
  s->gap = woodpecker_gap;
  s->gap_gradients = woodpecker_gap_gradients;
  s->friction = woodpecker_friction;
  s->potential = woodpecker_potential;
  s->simulation.scheme = "trapezoidal";
  s->simulation.step = 1e-4;
  s->simulation.duration = 2;
  s->simulation.restitution = SS_RESTITUTION_NEWTON;
  s->simulation.has_events = true;
  s->simulation.events = SS_EVENT_COLLISION | SS_EVENT_STICK_SLIP | SS_EVENT_TAKE_OFF;
}

static inline ss_system woodpecker_system(const woodpecker *w, ss_gap_def gaps[3]) {
  ss_system s = ss_system_default();
  woodpecker_define(w, gaps, &s);
  return s;
}

#endif
