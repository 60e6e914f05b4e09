/* How far a computed trajectory is from a weak solution of the frictional compliant contact problem (BVP Definition 2).
 *
 * Positions, velocities and deformations are taken as linear between the ends of the steps, contact forces as constant in
 * them, and the definition's integrals are evaluated on that trajectory with Gauss' rule: gaps, gradients, forces and the
 * compliance law at the times in between, not the scheme's equations. All numbers go to zero with the step. */
#ifndef STICKSLIP_WEAK_H
#define STICKSLIP_WEAK_H

#include <stickslip/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_weak_residuals {
  double momentum;        /* (a) largest |v(t) - v(0) - int M^-1 (f + Gamma^T lambda)| over the ends of the steps */
  double kinematics;      /* (a) likewise |q(t) - q(0) - int G v| (rotations as angles) */
  double compliance;      /* (a) likewise of deformations, int C^-1 (lambda - K delta), over a patch's life; lengths */
  double gap;             /* (b) largest -(Psi_n + delta_n), lengths */
  double complementarity; /* (b) |int lambda_n (Psi_n + delta_n)|, force times length times time */
  double cone;            /* (c) int of what friction exceeds mu lambda_n by; impulses */
  double friction; /* (c) largest violation over all test functions: int mu lambda_n |s| + lambda_t . s; energy */
  double friction_tested; /* (c) the same over a family of smooth ones */
} ss_weak_residuals;

typedef struct ss_weak ss_weak;

/* Watches a simulation from its present state on; SS_ERROR_UNSUPPORTED for schemes without patches, and for limits and
 * motors, which the definition does not have. Destroy it before the simulation. */
ss_status ss_weak_create(ss_sim *sim, ss_weak **out, ss_error *error);
void ss_weak_destroy(ss_weak *weak);
ss_weak_residuals ss_weak_measure(const ss_weak *weak);

#ifdef __cplusplus
}
#endif

#endif
