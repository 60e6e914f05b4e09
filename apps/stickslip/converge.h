/* `stickslip converge`: a reference run, then one run per scheme and step size, measured against it. */
#ifndef CONVERGE_H
#define CONVERGE_H

#include "json.h"
#include "session.h"

/* ---- converge_steps.c ---- */

/* "2^-5:2^-11": successive halvings from the first to the last, the last included. "0.1,0.05": a list. Every number is
 * a constant expression. The array is to be freed. */
ss_status steps_parse(const char *text, double **steps, int *n, ss_error *error);

/* ---- converge_graph.c ---- */

/* The weighted velocity at the ends of the steps (MDI (4.10): the sequence that has bounded variation). */
typedef struct velocity_path {
  int width;
  long n, capacity, every; /* each every-th step is kept, and the last */
  double *points;          /* [n][1 + width]: t, v */
} velocity_path;

/* Starts recording. A zeroed path may be released. */
ss_status path_start(velocity_path *path, ss_sim *sim, long every, ss_error *error);
void path_release(velocity_path *path);

/* Hausdorff distance of the filled-in graphs; NAN where there is nothing to compare. */
double graph_distance(const velocity_path *a, const velocity_path *b);

/* ---- converge_reference.c ---- */

/* States of the reference run: the last one, and those at all multiples of `spacing` where the grids nest. */
typedef struct reference {
  const char *scheme;
  double step, seconds;
  bool certified;
  int n_q, n_v;
  bool coordinates; /* of a user-defined system; else q has seven numbers per body */
  double *last;     /* n_q positions, n_v velocities */
  double spacing;   /* 0: no samples, because the step sizes do not nest or the samples would not fit */
  long stride;      /* reference steps per sample */
  long n_samples;   /* sample k is at t = (k + 1) spacing */
  long n_taken;
  double *samples; /* n_samples rows like `last` */
  velocity_path path;
} reference;

/* `finest` is the smallest step that will be compared. A zeroed reference may be released. */
ss_status reference_run(reference *r, const session *s, double finest, ss_error *error);
void reference_release(reference *r);

/* Distances of a state from a row of the reference: 2-norm over the positions, where a rotation counts with the length
 * of the relative rotation vector, and 2-norm over the velocity coordinates. */
double position_distance(const reference *r, const double *row, const ss_state *state);
double velocity_distance(const reference *r, const double *row, const ss_state *state);

/* Whether `step` is a whole multiple of `unit`, up to rounding; *multiple says which. */
bool is_multiple(double step, double unit, long *multiple);

/* ---- converge_rows.c ---- */

typedef struct converge_row {
  double h, position_error, velocity_error;
  double velocity_error_l1, position_error_max; /* over all times of the row's grid; NAN where grids do not nest */
  double *joint_errors;                         /* NULL where the run failed */
  double order;                                 /* NAN in the first row */
  double velocity_variation, weighted_variation, complementarity, penetration, energy_created;
  double graph_distance;                                 /* of the weighted velocities, from the reference */
  double kinetic_growth, constraint_work, energy_excess; /* ss_report: the energy estimates of the theorems */
  bool has_weak;
  ss_weak_residuals weak; /* compliant schemes: BVP Definition 2 */
  long collisions, split_blows;
  bool certified;
  double seconds;
} converge_row;

typedef struct converge_table {
  const char *scheme;
  converge_row *rows;
  int n;
} converge_table;

/* Fills in all tables, on threads and ranks; those of the first rank are complete. A step size at which no certified step
 * exists is a row without errors, reported on stderr. */
ss_status converge_rows(converge_table *tables, int n_tables, const session *s, const reference *r, const double *steps,
                        int n, long threads, ss_error *error);
void converge_table_release(converge_table *table);

/* Runs sim to its end under a progress line (label NULL: without); *seconds is the wall time. */
ss_status run_to_end(ss_sim *sim, const char *label, double *seconds, ss_error *error); /* converge_reference.c */

/* ---- converge_weak.c ---- */

void weak_print_text(const converge_table *table);
json_t *weak_json(const converge_row *row); /* null where it was not measured; NULL: no memory */

/* ---- converge_output.c ---- */

void converge_print_text(const session *s, const reference *r, const converge_table *tables, int n);
json_t *converge_json(const session *s, const reference *r, const converge_table *tables, int n); /* NULL: no memory */

#endif
