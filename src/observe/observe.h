/* Who looks on: the energy ledger, the certificate, doubts, audits and events. */
#ifndef SS_OBSERVE_OBSERVE_H
#define SS_OBSERVE_OBSERVE_H

#include "scheme/scheme.h"

double ss_kinetic_energy_of_bodies(const ss_sim *sim, const double *v);
double ss_potential_energy_of_bodies(const ss_sim *sim);
void ss_force_work(ss_sim *sim, double h, double fraction);

/* What speaks against patches (patch_watch.c). */
void ss_patches_watch(ss_sim *sim, double h);
void ss_patch_losses(ss_sim *sim, const ss_contact *contact, double h); /* to the ledger */

void ss_ledger_start(ss_sim *sim);
double ss_total_energy(const ss_sim *sim);
void ss_ledger_part(ss_sim *sim, double h, double fraction);
void ss_ledger_links(ss_sim *sim, double h, double fraction, bool moved);
void ss_ledger_step(ss_sim *sim);
/* The energy that no column explains so far; after a crowd's part the impacts explain what was not open before it. */
double ss_ledger_open(const ss_sim *sim);
void ss_ledger_crowd(ss_sim *sim, double open, double energy, double work);
void ss_bound_part(ss_sim *sim, double h); /* LIT Theorem 9.1 */
void ss_certify_problem(ss_sim *sim, double residual);
void ss_certify_position(ss_sim *sim);
void ss_measure_variation(ss_sim *sim, bool collided);

ss_status ss_audit_step(ss_sim *sim, ss_error *error); /* where one is due */

/* Doubts (doubts.c): at the start; after the ledger and the certificate of a step; where a state that is not finite has
 * ended the run, at time t. */
void ss_doubts_start(ss_sim *sim);
void ss_doubts_update(ss_sim *sim);
void ss_doubts_not_finite(ss_sim *sim, double t);
bool ss_has_blown_up(const ss_sim *sim);      /* nearly all of the energy came from nowhere */
bool ss_state_is_finite(const ss_sim *sim);   /* positions, velocities, energies */
bool ss_problem_is_finite(const ss_sim *sim); /* what the last problem was made of */
void ss_emit(ss_sim *sim, ss_event_kind kind, const ss_contact *contact, double energy_created);
void ss_ledger_moved(ss_sim *sim); /* the state was changed from outside */

/* Weak solutions (weak.c): the part that is about to be accepted. */
ss_status ss_weak_part(ss_sim *sim, double h, ss_error *error);

#endif
