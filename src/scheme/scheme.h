/* From forces and contacts to the problem of a part, and from its solution to the end of the part. */
#ifndef SS_SCHEME_SCHEME_H
#define SS_SCHEME_SCHEME_H

#include "contact/contact.h"
#include "model/link.h"
#include "system/system.h"

ss_status ss_rows_step(ss_sim *sim, double h, ss_error *error);
/* Whether a crowd's contact carried force in the last part, and its gap needs no correction (event/crowd.c). */
bool ss_gap_stays(const ss_sim *sim, const ss_contact *c);
double ss_crowd_residual(const ss_sim *sim,
                         double unit); /* of its problem, in natural units, from which gaps err little */
void ss_keep_guess(ss_sim *sim);       /* free_guess, from the problem as it stands */
ss_status ss_rows_impact(ss_sim *sim, ss_error *error);
ss_status ss_rows_projection(ss_sim *sim, bool again, ss_error *error);
ss_status ss_discretise(ss_sim *sim, double alpha, ss_error *error);
void ss_spread(ss_sim *sim, double alpha);           /* its part without G: A^-1 J^T and g */
ss_status ss_assemble(ss_sim *sim, ss_error *error); /* its last part: G as a whole, in one of its forms */
void ss_advance(ss_sim *sim, double h);

/* Dense G of the problem as it stands, n x n: into the given array; into the problem's own. */
void ss_fill_dense(const ss_sim *sim, double *G);
ss_status ss_discretise_dense(ss_sim *sim, ss_error *error);

/* G of a large problem (assemble_rows.c), and what is done with G in either form: its diagonal, natural units and
 * back, a column of it. */
bool ss_rows_are_many(const ss_sim *sim);
ss_status ss_assemble_rows(ss_sim *sim, ss_error *error);
double ss_problem_diagonal(const ss_sim *sim, int i);
void ss_problem_rescale(ss_problem *problem, bool back);
void ss_problem_add_column(const ss_problem *problem, int column, double factor, double *out);
double ss_rows_meet(const ss_sim *sim, int i, int j); /* J_i A^-1 J_j^T without coupling */
void ss_rows_apply(const ss_sim *sim, const double *z,
                   double *out); /* G z of bodies without coupling; in scratch_v A^-1 J^T z */
int ss_rows_of(const ss_sim *sim, int i, int *col,
               double *value); /* row i of such a G, ascending; how many; NULL: counted */
void ss_rows_spread(const ss_sim *sim, const double *z,
                    double *out);      /* out += A^-1 J^T z, of bodies without coupling */
void ss_chain_rows(const ss_sim *sim); /* first_row, next_row */

/* Sparse G of the problem as it stands, in the sim's lu. */
ss_status ss_assemble_sparse(ss_sim *sim, int n, ss_error *error); /* of its first n rows */

/* Whether this force is a row with compliance (linearly implicit) in a step of size h, and with which kappa = 1/R
 * alpha. */
bool ss_force_is_row(const ss_sim *sim, const ss_force *force, double h, double *kappa);
/* Whether a force has a row in a step, and is so stiff that it acts as a link there: the change of its impulse over the step exceeds what stops
 * the mass that it acts on. */
bool ss_force_is_link(const ss_sim *sim, const ss_force *force, const ss_row *row);

/* Exact Jacobians: set up once; add to A, kt and A^-1 kt of a part of size h; coupled part of A^-1 J^T. */
ss_status ss_coupling_prepare(ss_sim *sim, ss_error *error);
void ss_couple(ss_sim *sim, double h);
void ss_couple_row(const ss_sim *sim, const ss_row *row, double *out);

/* Motors: their rows for a part of size h with gradients at q; their work over a fraction of it. */
void ss_motor_rows(ss_sim *sim, const double *q, double h);
double ss_motor_work(const ss_sim *sim, double fraction);

void ss_forces(ss_sim *sim, double h);
void ss_forces_none(ss_sim *sim);

/* delta = A^-1 (kt + J^T z) */
void ss_velocity_change(ss_sim *sim);

/* Pose of a body at tau inside the part: q (+) tau [v + gamma fraction delta]; delta may be NULL: none. */
ss_pose ss_advance_body(const ss_sim *sim, int body, const double *delta, double tau, double fraction);
void ss_store_pose(double *q, int body, ss_pose pose);
void ss_advance_bodies(const ss_sim *sim, const double *delta, double tau, double fraction, double *q);
void ss_path_velocity_of_bodies(ss_sim *sim, const ss_contact *c, double fraction); /* there, in scratch_v */

/* How material flows through them (patch_rows.c): velocities of both sides relative to the contact point, and what
 * they do to the gap of an element */
void ss_patch_flow(const ss_sim *sim, const ss_contact *contact, double h, ss_vec3 u[2]);
double ss_patch_convection(const ss_sim *sim, const ss_contact *contact, const ss_pose body[2], const ss_vec3 u[2],
                           int element);
/* By which deformations at the start are carried along in a step; those before, or NULL where there were none */
const double *ss_patch_transport(ss_sim *sim, const ss_contact *contact, double h, const ss_vec3 u[2]);
/* Patches in the step's problem (patch_rows.c). */
int ss_patch_elements(const ss_sim *sim); /* of all active contacts together */
ss_status ss_patch_rows(ss_sim *sim, ss_contact *contact, double h, ss_error *error);
void ss_patch_stiffen(const ss_sim *sim, double *G); /* adds R */
/* Large problems of patches, solved by their structure, without G (patch_newton.c). *certified is false where that
 * does not lead to a solution. */
bool ss_patch_is_large(const ss_sim *sim);
ss_status ss_patch_solve(ss_sim *sim, double alpha, bool *certified, ss_error *error);
void ss_patch_distribute(const ss_sim *sim, ss_contact *contact, const double *w);
void ss_patch_advance(ss_sim *sim, double h); /* patch_end */

/* Fills in the contact's directions and the guess of its impulses; the set of its friction block. */
void ss_friction_directions(const ss_sim *sim, ss_contact *c, const ss_contact_place *place);
ss_cone ss_friction_cone(const ss_sim *sim, const ss_contact *c);
/* Where that is SS_CONE_GENERATED: its corners, in the contact's rows (scheme/generators.c). */
const ss_friction_table *ss_friction_corners(const ss_sim *sim, const ss_contact *c);
ss_status ss_polytopes_create(ss_sim *sim, ss_error *error);
bool ss_has_corners(const ss_sim *sim); /* some pair has such a set */
/* Velocities along the friction rows of a contact with a fixed polygon at (t, q, v); out[0] is not used. */
void ss_friction_velocities(const ss_sim *sim, const ss_contact *c, double t, const double *q, const double *v,
                            double out[SS_CONTACT_ROWS]);

/* Friction sets that do not turn (friction_faces.c): the face that carries at slip w of the contact's rows, and whether it holds the
 * slip in some direction; how far the force has come to the end of what holds, 1 being there; whether this part lets go
 * what the last one held; what is left at the end of the part of the distance from the next border. */
int64_t ss_face_of_slip(const ss_sim *sim, const ss_contact *c, const double *w);
bool ss_face_holds(const ss_sim *sim, const ss_contact *c, int64_t face);
double ss_face_ratio(const ss_sim *sim, const ss_contact *c);
bool ss_face_let_go(const ss_sim *sim, const ss_contact *c);
double ss_face_left(const ss_sim *sim, const ss_contact *c, const double *v, const double *v_end);
/* Takes the share of the velocity that the last face held, unless it is too fast for an error, off the rows' offsets. */
void ss_face_keep_velocity(const ss_sim *sim, const ss_contact *c, double share, double too_fast, double *offset);

/* The joint equations that are posed (joint_basis.c): chosen at the present position; chosen again where the others stop following;
 * all of them, for questions about the mechanism, or the chosen ones again. */
ss_status ss_basis_select(ss_sim *sim, ss_error *error);
ss_status ss_basis_check(ss_sim *sim, ss_error *error);
void ss_basis_pose(ss_sim *sim, bool all);
/* Their residuals at (t, q). */
void ss_basis_residuals(ss_sim *sim, double t, const double *q, double *out);

ss_cp ss_problem_view(const ss_problem *problem);

/* Adds J and A to a large problem of some rows of the step's (NULL: of all), in natural units (factors.c). */
ss_status ss_add_factors(const ss_sim *sim, ss_factors *factors, const int *rows, ss_cp *problem, ss_error *error);
void ss_factors_free(ss_factors *factors);

/* What is left of a joined problem without its joints, in natural units, whose unit of speed is given; *posed is false where there is
 * nothing to solve: the guess does, with that residual, or joints depend on each other. Then its z with the joints', judged. */
ss_status ss_joined_pose(ss_sim *sim, double unit, ss_cp *problem, bool *posed, double *residual, ss_error *error);
double ss_joined_judge(ss_sim *sim, double unit);
void ss_joined_free(ss_joined *joined);

/* What the solved problem says of each contact (distribute.c); which motions friction holds, w: the contact's slacks. */
void ss_distribute(ss_sim *sim);
void ss_note_held(const ss_sim *sim, ss_contact *contact, const double *w);

#endif
