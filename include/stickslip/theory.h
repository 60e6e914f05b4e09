/* What the theory promises of a simulation in its present configuration: assumptions of the convergence theorems, checked
 * by small optimisation problems. */
#ifndef STICKSLIP_THEORY_H
#define STICKSLIP_THEORY_H

#include <stickslip/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A touching contact, alone on its bodies and their joints. */
typedef struct ss_theory_contact {
  int body[2];
  ss_vec3 point, normal; /* world frame; the normal points from body[1] to body[0] */
  double friction;
  /* Normal velocity per normal impulse while it slides in the worst direction, over that without friction. Below zero a
   * sliding contact can press itself into the surface: the paradox of Painleve, where the step problem has several
   * solutions or the contact jams. */
  double sliding_response;
  double critical_friction; /* coefficient at which it vanishes; INFINITY: none */
  ss_vec3 self_balancing;   /* force on body[0] in the balance of ss_theory; zero where the cone is pointed */
} ss_theory_contact;

/* Pointedness of the friction cone (MDI Definition 3.1). Impulses are measured by the change of velocity that they cause,
 * in the norm of kinetic energy, |f|^2 = f . M^-1 f.
 *
 *     reduced   joints eliminated (MDI (3.8)):  sum over contacts of |n_j c_j| <= reduced_constant |f| for every f in the
 *               cone: 1 where contacts do not work against each other, infinite where it is not pointed
 *     total     with the joints' multipliers among the forces (MDI (3.4)): a bound of the same kind for
 *               sum |n_j c_j| + |nu c_nu|; not pointed where joints are redundant */
typedef struct ss_theory {
  ss_theory_contact *contacts;
  int n_contacts;
  int joint_rows, joint_rank;
  bool reduced_pointed, total_pointed;
  double reduced_constant, total_constant;
  /* Contacts and joint rows in parts of the mechanism that are too large to be examined: nothing above counts them, their
   * joint rows are taken as independent, and contacts among joints have no sliding response (NAN). */
  int unexamined_contacts, unexamined_joint_rows;
  double *joint_stress; /* [joint_rows] multipliers of the self-balancing forces where the total cone is not pointed */
  bool definite;        /* the system matrix of a step, with its full Jacobians, is positive definite */
  double definite_step; /* and stays so for steps up to this size (INFINITY: beyond all tried) */
  double explicit_step; /* ss_sim_explicit_step */
  bool newton_may_create; /* ss_sim_newton_may_create */
} ss_theory;

/* Examines the present configuration; the state is not changed. */
ss_status ss_sim_theory(ss_sim *sim, ss_theory *out, ss_error *error);
/* Springs and dampers that the scheme takes explicitly are stable with steps below this size in the present configuration
 * (2/omega without damping); INFINITY: there are none, or it is a thousand times the simulation's own step. */
ss_status ss_sim_explicit_step(ss_sim *sim, double *out, ss_error *error);
/* Forces and torques that depend on the state, which are held over a step, in the present configuration: steps below `step`
 * are stable (INFINITY: all, or there are no such forces); `growth` is the rate at which the energy of their oscillations grows
 * with the simulation's step (negative: it decays). */
typedef struct ss_feedback {
  double step, growth;
} ss_feedback;
ss_status ss_sim_feedback(ss_sim *sim, ss_feedback *out, ss_error *error);
/* Whether impacts obey Newton's law of restitution with friction, which can create energy: the law prescribes how fast
 * contacts part, whatever friction has done to the impulse meanwhile (Kane's paradox). */
bool ss_sim_newton_may_create(const ss_sim *sim);
void ss_theory_release(ss_theory *theory); /* a zeroed one may be released */

#ifdef __cplusplus
}
#endif

#endif
