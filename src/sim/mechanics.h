/* What the pipeline asks of a mechanical model, and nothing else: the provider of mass matrix, forces, rows and gaps.
 *
 *     positions      advance, shift          q (+) tau v
 *     forces         A, kt, A^-1 kt          into the sim's workspace
 *     joints         nu . v + drive = 0      rows, residuals, prescribed velocities
 *     contacts       find, place, row, ...   gaps and the rows of their normals and friction directions
 *     measures       speeds, energies
 *
 * Two implement it: bodies with shapes and joints (step/body_mechanics.c, its functions in their own files), and systems that a
 * user defines by functions (system/system_mechanics.c). From the rows on there is no difference. */
#ifndef SS_SIM_MECHANICS_H
#define SS_SIM_MECHANICS_H

#include "model/row.h"
#include "sim/contacts.h"

/* Where the rows of a contact are taken. In a system the three axes of a contact's "world" are its normal and its two
 * friction directions: forces, velocities and the contact memory are vectors in it. */
typedef struct ss_contact_place {
  ss_pose pose[2];            /* bodies: of the two */
  const struct ss_spot *spot; /* systems: the functions' values at that configuration; NULL for bodies */
  ss_contact_point at;
  ss_vec3 drive; /* systems: velocities at v = 0 where gaps or surfaces move by themselves; zero for bodies */
} ss_contact_place;

typedef struct ss_mechanics {
  /* Once per step, with sim->step.h set: the acceleration that tolerances of speeds are measured by. */
  void (*begin_step)(ss_sim *sim);
  /* All contacts that may matter in a part of size h, with gap, rate and what is remembered of them. */
  ss_status (*find_contacts)(ss_sim *sim, double h, ss_error *error);
  /* A, kt and A^-1 kt of a part of size h; of an impact: A = M, no forces. */
  void (*forces)(ss_sim *sim, double h);
  void (*forces_none)(ss_sim *sim);
  /* Scalar joint equations at (t, q); any output may be NULL. Rows of systems stay valid for a few calls only. */
  void (*joints)(const ss_sim *sim, double t, const double *q, double *residuals, ss_row *rows, double *drive);
  /* q (+) tau [v + gamma fraction delta] of the present state, delta may be NULL: none; and q (+) twist. */
  void (*advance)(const ss_sim *sim, const double *delta, double tau, double fraction, double *q);
  void (*shift)(const ss_sim *sim, const double *twist, double *q);
  /* A contact at (t, q), and at tau inside the part, along the path that `advance` describes. */
  void (*place)(const ss_sim *sim, const ss_contact *c, double t, const double *q, ss_contact_place *out);
  void (*place_on_path)(const ss_sim *sim, const ss_contact *c, const double *delta, double tau, double fraction,
                        ss_contact_place *out);
  /* There: the row of a direction of force, the relative velocity and its normal part, without the drive. */
  ss_row (*row)(const ss_sim *sim, const ss_contact *c, const ss_contact_place *place, ss_vec3 direction);
  ss_vec3 (*velocity)(const ss_sim *sim, const ss_contact *c, const ss_contact_place *place, const double *v);
  double (*rate)(const ss_sim *sim, const ss_contact *c, const ss_contact_place *place, const double *v);
  /* How deep the contact is at (t, q), negative: apart. */
  double (*depth)(const ss_sim *sim, const ss_contact *c, const ss_contact_place *place);
  /* v + 2 gamma fraction delta, the velocity along the path, in scratch_v: of what the contact depends on. */
  void (*path_velocity)(ss_sim *sim, const ss_contact *c, double fraction);
  /* The gap cannot (bodies) or is not expected to (systems) change faster in the solved part; scratch_v: path velocity at
   * its end. */
  double (*closing_speed)(const ss_sim *sim, const ss_contact *c);
  /* No point of a body, and no gap, is faster at velocity v; INFINITY where v is not finite. */
  double (*largest_speed)(const ss_sim *sim, const double *v);
  double (*kinetic_energy)(const ss_sim *sim, const double *v);
  double (*potential_energy)(const ss_sim *sim);
  /* Work of forces over a fraction of the solved part, before the state moves. */
  void (*force_work)(ss_sim *sim, double h, double fraction);
} ss_mechanics;

extern const ss_mechanics ss_body_mechanics, ss_system_mechanics;

#endif
