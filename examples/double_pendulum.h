/* The double pendulum with a wall (LIT section 10.1) as user-defined systems: two bobs of mass 1 on rods of length 1, the
 * wall is x = 0.
 *
 *     pendulum_in_angles      q = (theta1, theta2): M depends on q, no joints
 *     pendulum_in_positions   q = (x1, y1, x2, y2): M is constant, the rods are joints Theta(q) = 0 */
#ifndef EXAMPLES_DOUBLE_PENDULUM_H
#define EXAMPLES_DOUBLE_PENDULUM_H

#include <stickslip/stickslip.h>

#include <math.h>

static const double pendulum_gravity = 9.81;
static const double pendulum_start[2] = {1.0471975511965976, 0.6283185307179586}; /* pi/3, pi/5 */

/* ---- angles ---- */

static inline int pendulum_angles_mass(void *user, double t, const double *q, double *M) {
  (void)user, (void)t;
  M[0] = 2;
  M[1] = M[2] = cos(q[0] - q[1]);
  M[3] = 1;
  return 0;
}

static inline int pendulum_angles_force(void *user, double t, const double *q, const double *v, double *k) {
  (void)user, (void)t;
  const double s = sin(q[0] - q[1]);
  k[0] = -s * v[1] * v[1] - 2 * pendulum_gravity * sin(q[0]);
  k[1] = s * v[0] * v[0] - pendulum_gravity * sin(q[1]);
  return 0;
}

static inline int pendulum_angles_gap(void *user, double t, const double *q, double *phi) {
  (void)user, (void)t;
  phi[0] = sin(q[0]);
  phi[1] = sin(q[0]) + sin(q[1]);
  return 0;
}

static inline int pendulum_angles_gap_gradients(void *user, double t, const double *q, double *n, double *rate) {
  (void)user, (void)t, (void)rate; /* the wall stands still: the rates stay zero */
  n[0] = n[2] = cos(q[0]);
  n[3] = cos(q[1]);
  return 0;
}

static inline int pendulum_angles_potential(void *user, double t, const double *q, double *energy) {
  (void)user, (void)t;
  *energy = -pendulum_gravity * (2 * cos(q[0]) + cos(q[1]));
  return 0;
}

/* gaps: memory for the two, which the model copies. */
static inline ss_system pendulum_in_angles(double restitution, ss_gap_def gaps[2]) {
  static const char *const names[2] = {"theta1", "theta2"};
  gaps[0] = (ss_gap_def){.name = "bob1", .restitution = restitution};
  gaps[1] = (ss_gap_def){.name = "bob2", .restitution = restitution};
  ss_system s = ss_system_default();
  s.name = "double pendulum with a wall, in angles";
  s.n = 2;
  s.names = names;
  s.q0 = pendulum_start;
  s.mass = pendulum_angles_mass;
  s.force = pendulum_angles_force;
  s.n_gaps = 2;
  s.gaps = gaps;
  s.gap = pendulum_angles_gap;
  s.gap_gradients = pendulum_angles_gap_gradients;
  s.potential = pendulum_angles_potential;
  s.simulation.scheme = "trapezoidal";
  s.simulation.step = 0x1p-9;
  s.simulation.duration = 2.5;
  return s;
}

/* ---- positions ---- */

static inline int pendulum_positions_mass(void *user, double t, const double *q, double *M) {
  (void)user, (void)t, (void)q;
  for (int i = 0; i < 4; i++) M[i * 4 + i] = 1;
  return 0;
}

static inline int pendulum_positions_force(void *user, double t, const double *q, const double *v, double *k) {
  (void)user, (void)t, (void)q, (void)v;
  k[1] = k[3] = -pendulum_gravity;
  return 0;
}

static inline int pendulum_positions_joints(void *user, double t, const double *q, double *theta) {
  (void)user, (void)t;
  theta[0] = hypot(q[0], q[1]) - 1;
  theta[1] = hypot(q[2] - q[0], q[3] - q[1]) - 1;
  return 0;
}

static inline int pendulum_positions_gap(void *user, double t, const double *q, double *phi) {
  (void)user, (void)t;
  phi[0] = q[0];
  phi[1] = q[2];
  return 0;
}

static inline int pendulum_positions_potential(void *user, double t, const double *q, double *energy) {
  (void)user, (void)t;
  *energy = pendulum_gravity * (q[1] + q[3]);
  return 0;
}

static inline ss_system pendulum_in_positions(double restitution, ss_gap_def gaps[2], double start[4]) {
  static const char *const names[4] = {"x1", "y1", "x2", "y2"}, *const rods[2] = {"rod1", "rod2"};
  start[0] = sin(pendulum_start[0]);
  start[1] = -cos(pendulum_start[0]);
  start[2] = start[0] + sin(pendulum_start[1]);
  start[3] = start[1] - cos(pendulum_start[1]);
  ss_system s = pendulum_in_angles(restitution, gaps);
  s.name = "double pendulum with a wall, in positions";
  s.n = 4;
  s.names = names;
  s.q0 = start;
  s.mass = pendulum_positions_mass;
  s.constant_mass = true;
  s.force = pendulum_positions_force;
  s.n_joints = 2;
  s.joint_names = rods;
  s.joints = pendulum_positions_joints;
  s.gap = pendulum_positions_gap;
  s.gap_gradients = NULL; /* by differences */
  s.potential = pendulum_positions_potential;
  return s;
}

#endif
