/* User-defined systems: a mechanism given by functions of its own coordinates instead of bodies, shapes and joints.
 *
 *     M(t,q) dv/dt = k(t,q,v) + nu c_nu + A^T c_A + n c_n + D beta,     dq/dt = v
 *     Theta(t,q) = 0          joints, nu = dTheta/dq
 *     A(t,q) v = b(t,q)       Pfaffian rows
 *     Phi(t,q) >= 0           gaps, n = dPhi/dq, with friction along the directions D(t,q)
 *
 * (ST (1), LIT (2.3), MDI section 2.) The system is compiled to a model like a scene is, and everything after that is the
 * same: ss_sim_create, ss_sim_step, schemes, solvers, events, restitution, stabilisation, certificate, ledger, recorders,
 * checkpoints. Only the compliant schemes are refused: patches belong to surfaces, which a system does not have.
 *
 * Functions get the `user` pointer, read t, q, v and fill in their outputs, which are all zero when they are called.
 * Matrices are row-major. A function returns 0, or anything else to refuse: the step then fails with SS_ERROR_CALLBACK and
 * a message that names the function, and the state is the one before the step. So it does where a number is NaN or
 * infinite. Differences call a function near the configuration too, and up to a step before and after the time. Functions
 * must not depend on anything but their arguments and what `user` points to: steps are repeated, and
 * simulations of one model may run in several threads. docs/systems.md has a complete example. */
#ifndef STICKSLIP_SYSTEM_H
#define STICKSLIP_SYSTEM_H

#include <stickslip/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_gap_def {
  const char *name;   /* NULL: "gap N" */
  int directions;     /* 0: no friction; 1 or 2 friction directions */
  double friction;    /* coefficient; 0: no friction */
  double restitution; /* in [0, 1] */
  bool has_restitution_law;
  ss_restitution restitution_law;
} ss_gap_def;

typedef struct ss_system {
  const char *name; /* NULL: "system" */
  void *user;
  void (*release)(void *user); /* called when the model is destroyed; NULL: the user's own business */

  /* ---- coordinates ---- */
  int n;
  const char *const *names; /* [n]; NULL: q1, q2, ... */
  const double *q0, *v0;    /* [n] at t = 0; v0 NULL: at rest */
  const double *scale;      /* [n] typical sizes, by which differences and errors of steps are measured; NULL: 1 */
  double length;            /* typical size of gaps and joint residuals: tolerances are relative to it; 0: 1 */

  /* ---- mass and forces ---- */
  int (*mass)(void *user, double t, const double *q, double *M); /* [n][n] symmetric, positive definite */
  bool constant_mass;                                            /* evaluated once, at the start */
  /* Where M(t,q) is taken in a step of size h. At the start (LIT (2.7)) a mass that depends on q makes the trapezoidal
   * method one of first order (LIT Theorem 3.3); at (t + h/2, q + h v/2) it stays one of second order. */
  bool mass_at_midpoint;
  int (*force)(void *user, double t, const double *q, const double *v,
               double *k); /* [n] with Coriolis terms; or NULL */
  /* dk/dq and dk/dv, [n][n] each, for the schemes that are linearly implicit; NULL: by differences. */
  int (*force_jacobian)(void *user, double t, const double *q, const double *v, double *Kq, double *Kv);
  bool approximate_jacobian; /* it leaves something out on purpose (LIT (9.2)): not checked */
  bool unchecked_gradients;  /* nor are joint_gradients and gap_gradients: functions with kinks at the start */

  /* ---- joints ---- */
  int n_joints;
  const char *const *joint_names; /* [n_joints], of Theta; NULL: "joint N" */
  int (*joints)(void *user, double t, const double *q, double *theta);
  /* dTheta/dq [n_joints][n] and dTheta/dt [n_joints]; NULL: by differences. */
  int (*joint_gradients)(void *user, double t, const double *q, double *nu, double *rate);
  int n_pfaffian;
  const char *const *pfaffian_names;                                            /* [n_pfaffian]; NULL: "Pfaffian N" */
  int (*pfaffian)(void *user, double t, const double *q, double *A, double *b); /* [n_pfaffian][n], [n_pfaffian] */

  /* ---- gaps ---- */
  int n_gaps;
  const ss_gap_def *gaps; /* [n_gaps] */
  int (*gap)(void *user, double t, const double *q, double *phi);
  /* dPhi/dq [n_gaps][n] and dPhi/dt [n_gaps]; NULL: by differences. */
  int (*gap_gradients)(void *user, double t, const double *q, double *n, double *rate);
  /* The slip velocity is D v + u, with a row of D and a number in u for every direction of every gap, in their order. u is
   * the speed of a surface that moves by itself (a belt: minus its speed). A row's length says how large the friction
   * force may be along it: two rows of different length make friction anisotropic. */
  int (*friction)(void *user, double t, const double *q, double *D, double *u);

  /* ---- for the energy ledger ---- */
  int (*potential)(void *user, double t, const double *q, double *energy); /* NULL: all forces are booked as work */
  /* Power of the forces in k that have no potential: what is fed in, and what dampers take (>= 0). NULL: there are none. */
  int (*power)(void *user, double t, const double *q, const double *v, double *applied, double *damped);

  ss_simulation simulation; /* start from ss_simulation_default */
} ss_system;

/* All fields zero, but simulation. */
ss_system ss_system_default(void);

/* Copies what the fields point to, except `user`, which must outlive the model (and is released with it where there is a
 * `release`; not where this function fails). Checks everything at t = 0: SS_ERROR_INPUT
 * where a mass is not symmetric positive definite, joints do not hold, gaps overlap by more than a thousandth of the
 * length, or a given Jacobian differs from the difference quotient: the message names function, row and column. */
ss_status ss_model_create_system(const ss_system *system, ss_model **out, ss_error *error);

/* A shared library that `stickslip run`, `converge` and `check` take instead of a scene (its name ends with .so) has a
 * function stickslip_system of this type. It fills in *system, which has the defaults already; parameters are those of
 * --set, and one that it does not know is its to refuse: a status and error->message. The library need not be linked with
 * this one. */
typedef ss_status ss_system_entry(ss_system *system, const ss_parameter *parameters, int n_parameters, ss_error *error);

/* Models of systems have no bodies; ss_model_coordinates counts the q, ss_state.q has them. */
bool ss_model_is_system(const ss_model *model);
const char *ss_model_coordinate_name(const ss_model *model, int coordinate); /* NULL where it is a model of bodies */
int ss_model_gaps(const ss_model *model);
const char *ss_model_gap_name(const ss_model *model, int gap);

#ifdef __cplusplus
}
#endif

#endif
