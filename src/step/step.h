/* The step: parts, trials, events (event/ is a room of this module). */
#ifndef SS_STEP_STEP_H
#define SS_STEP_STEP_H

#include "core/words.h"
#include "observe/observe.h"

/* ---- one step (step.c) ---- */

/* From the present state to time `end`, events and all; may fail on the way. */
ss_status ss_step_advance(ss_sim *sim, double end, bool *collided, ss_error *error);
/* What is left of it is the next part. collides: something does, in a crowd. */
void ss_part_begin(ss_sim *sim, bool collides);
/* Back to the state and the report that were saved; positions, velocities and angles of one state to another. */
void ss_step_restore(ss_sim *sim);
void ss_place_copy(const ss_sim *sim, ss_state *to, const ss_state *from);
void ss_angles_start(ss_sim *sim);  /* joints' angles follow positions that were put there */
void ss_observe_start(ss_sim *sim); /* there is no velocity before the present one */
/* A step whose size its error decides (automatic.c); the start is saved. */
ss_status ss_step_automatic(ss_sim *sim, bool *collided, ss_error *error);
void ss_automatic_start(ss_sim *sim);
/* What estimates go by: the part that has just been accepted, of size tau, and back to the step's start. */
void ss_estimate_note(ss_sim *sim, double tau, double fraction);
void ss_estimate_save(ss_sim *sim);
void ss_estimate_restore(ss_sim *sim);

/* Puts positions and velocities back on the joints and contacts, in the mass norm. */
ss_status ss_project(ss_sim *sim, ss_error *error);

/* Stabilisation `exact` (exact.c): once; at the end of a step. */
ss_status ss_exact_prepare(ss_sim *sim, ss_error *error);
void ss_exact_free(ss_exact *exact);
ss_status ss_hold_joints(ss_sim *sim, ss_error *error);

/* Clusters, each by itself (apart.c): whether scenes like this one may have several; whether the step from the present state to time `end`
 * has, before the state is saved; the step. *took is false where that cannot be: nothing has happened then. */
bool ss_may_be_apart(const ss_sim *sim);
ss_status ss_apart_find(ss_sim *sim, double end, bool *several, ss_error *error);
ss_status ss_apart_advance(ss_sim *sim, double end, bool *took, bool *collided, ss_error *error);
void ss_apart_free(struct ss_apart *apart);

/* ---- trials (trial.c): what comes of them is sim->trial ---- */

/* Poses, solves and judges the problem for a part, and computes where it ends. */
ss_status ss_trial_solve(ss_sim *sim, ss_asked asked, ss_error *error);
/* The same for schemes whose problem is posed at its own solution, and for the theta rule (iterated.c). */
ss_status ss_attempt_iterated(ss_sim *sim, ss_asked asked, ss_error *error);
ss_status ss_attempt_theta(ss_sim *sim, ss_asked asked, ss_error *error);
/* Theta rule: the theta state of a velocity change; whether forces depend on it at all. */
void ss_theta_state(ss_sim *sim, double h, const double *delta);
bool ss_theta_iterates(const ss_sim *sim);
/* As the scheme does it, with the part's weights, for a size h; positions pushed back gently. */
static inline ss_status ss_attempt(ss_sim *sim, double h, ss_error *error) {
  ss_asked asked = sim->part.asked;
  asked.h = h;
  return sim->chosen.attempt(sim, asked, error);
}
ss_status ss_attempt_gently(ss_sim *sim, double h, ss_error *error);
/* Whether the trial pushes positions back; the same once more with less of it where that is violent (push.c). */
bool ss_pushes(const ss_sim *sim);
ss_status ss_push_gently(ss_sim *sim, ss_error *error);
/* Makes room for the contacts of trials that are set aside. */
ss_status ss_trial_reserve(ss_sim *sim, ss_error *error);
/* Sets the trial aside; the next one starts from its contacts. Each is followed by one of the others: back to it, or it is not
 * needed any more. */
void ss_trial_keep(ss_sim *sim);
void ss_trial_back(ss_sim *sim);
void ss_trial_drop(ss_sim *sim);

/* How a problem is solved. */
typedef struct ss_solving {
  const char *solver;
  double residual; /* that is accepted */
  double speed;    /* slower than a thousandth of it need not be resolved */
  bool applied;    /* else it does not count for the certificate */
} ss_solving;
static inline ss_solving ss_solving_usual(const ss_sim *sim) {
  return (ss_solving){sim->options.solver, sim->options.residual, sim->part.speed_bound, true};
}
/* Solves and judges the problem as it stands (trial.certified); the other one also says what that means for each contact. */
ss_status ss_solve_problem(ss_sim *sim, ss_solving how, ss_error *error);
ss_status ss_solve(ss_sim *sim, ss_error *error);
bool ss_has_guess(const double *z, int n); /* there are forces of the last part to start from, or few rows */
bool ss_judges_selection(const ss_sim *sim);
/* The end of a run whose step has used up its work: where its energy has blown up; the contact solvers'. */
ss_status ss_fail_of_work(const ss_sim *sim, ss_error *error);
ss_status ss_fail_of_solving(const ss_sim *sim, ss_error *error);

/* A divided problem in natural units, island by island, from the problem's z, whose slacks are known; the largest residual. */
ss_status ss_solve_islands(ss_sim *sim, const ss_cp_options *options, ss_cp_result *result, double *residual,
                           double *uneven, ss_error *error);
ss_status ss_islands_prepare(ss_sim *sim, ss_error *error);
void ss_islands_free(ss_islands *islands);
ss_status ss_find_islands(ss_sim *sim,
                          ss_error *error);    /* of the rows as they stand, once: islands.island of each block */
int ss_island_of(const ss_sim *sim, int body); /* -1: none */
/* Turns the polygons of the problem as it stands to where Coulomb's disc would have its friction; whether a polygon that
 * nothing has given a direction slides in the solved problem (turn_polygons.c). */
ss_status ss_turn_polygons(ss_sim *sim, ss_error *error);
bool ss_polygon_is_doubtful(const ss_sim *sim);
bool ss_polygon_is_astray(const ss_sim *sim);

/* ---- events ---- */

void ss_active_set(ss_sim *sim); /* and whether they collide now (part.impact) */
/* The table of events (events.c): shortens the trial to the first of them, or asks for another one (part.again); what happens at the
 * end of the part once the state is there; what the solution says of each contact, which is told. */
ss_status ss_locate_events(ss_sim *sim, ss_error *error);
void ss_events_happen(ss_sim *sim);
void ss_tell_contacts(ss_sim *sim);
/* Shorten the trial, so that it ends right after a jam, where slip ends, where sticking or contact ends (transition.c). */
ss_status ss_locate_jam(ss_sim *sim, ss_error *error);
ss_status ss_locate_arrest(ss_sim *sim, ss_error *error);
ss_status ss_locate_release(ss_sim *sim, ss_error *error);
/* Whether friction lets go a moment that it held, or its share of what can be held has reached `limit`; where in a part of size h one will;
 * where in it a quantity crosses its limit. */
bool ss_moments_let_go(const ss_contact *contact, double limit);
double ss_moments_foreseen(const ss_sim *sim, const ss_contact *contact, double h);
double ss_crossing(double before, double when_before, double now, double when, double limit, double h);
void ss_note_ends(ss_sim *sim); /* which contacts' spin and rolling end with the solved part */
/* The velocities that friction opposes, at time t and configuration q: slip of the points, and where there are moments, spin about
 * the normal and rolling about the tangents, as lengths per time. */
enum { SS_SLIP_KINDS = 3 };
void ss_slips_at(const ss_sim *sim, const ss_contact *contact, double t, const double *q, const double *v,
                 ss_vec3 out[SS_SLIP_KINDS]);
/* Ends the part at its earliest collision (part.end, part.hit); gentle landings are only noted, unless all are to be located. */
ss_status ss_locate_collision(ss_sim *sim, ss_error *error);
double ss_first_collision(ss_sim *sim, bool locate_all);
/* All touching contacts collide; where that has no certified solution, nothing has happened. */
ss_status ss_impact(ss_sim *sim, ss_error *error);
bool ss_obeys_newton(const ss_sim *sim, const ss_contact *c);
/* Whether velocities alternate about their constraints; those nearest to v that do not, at (t, q); and the state takes them
 * (consistent.c). */
bool ss_velocities_alternate(const ss_sim *sim);
void ss_consistent_velocity(ss_sim *sim, double t, const double *q, const double *v, double *out);
void ss_make_consistent(ss_sim *sim);

/* ---- crowds (crowd.c) ---- */

enum { SS_CROWD = 16 }; /* closed contacts, or such as have collided in the step: fewer are no crowd */
/* Gentle landings: the part's limit; whether a contact without restitution to speak of is below it at this rate of its gap; the first
 * collision in the trial, where gentle landings before it are held. */
void ss_landing_begin(ss_sim *sim);
double ss_landing_speed(const ss_sim *sim, const ss_contact *c);
bool ss_lands_gently(const ss_sim *sim, const ss_contact *c, double rate);
bool ss_settles(const ss_sim *sim, const ss_contact *c); /* at the start of a step */
ss_status ss_land(ss_sim *sim, ss_error *error);
/* A whole step at once: whether the crowd is so dense; whether something closes in it; weights, contacts and restitution of
 * the part; solves it. */
bool ss_crowd_is_dense(const ss_sim *sim, double h);
bool ss_crowd_collides(const ss_sim *sim, double h);
void ss_crowd_begin(ss_sim *sim, double h);
ss_status ss_crowd_part(ss_sim *sim, ss_error *error);
/* Rest: whether bodies are so slow; the rows of the part as they stand, by which they are stopped; whether the solved problem takes
 * energy from nowhere by it. Islands at rest: which may be, with the guess; those that are, after the judge. */
void ss_find_idle(ss_sim *sim); /* at the state's velocities */
static inline bool ss_is_idle(const ss_sim *sim, int body) { return body < 0 || sim->crowd.idle[body]; }
bool ss_calms(const ss_sim *sim);
ss_status ss_calm(ss_sim *sim, ss_error *error);
bool ss_calm_gives(ss_sim *sim);
void ss_rest_begin(ss_sim *sim);
void ss_rest_end(ss_sim *sim);

#endif
