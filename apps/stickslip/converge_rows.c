#include "converge.h"
#include "ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct told_row {
  converge_row row;
  bool has_joints; /* they follow */
  ss_status status;
  ss_error error;
} told_row;

/* Sums up the errors of a run while it goes. The velocity's L1 norm is the sum of h |v - v_ref| over the ends of the
 * steps, ST Table 1. */
typedef struct comparison {
  const reference *reference;
  double t;    /* end of the step before */
  long stride; /* reference samples per step */
  double velocity_l1, position_max;
} comparison;

static ss_status compare(void *user, const ss_sim *sim, ss_error *error) {
  comparison *c = user;
  const reference *r = c->reference;
  const ss_state *state = ss_sim_state(sim);
  (void)error;
  const long sample = state->step * c->stride - 1;
  const double *row = r->last; /* also after the shorter last step of a duration that is no multiple of h */
  if (!ss_sim_done(sim) && sample < r->n_taken) row = r->samples + (size_t)sample * (size_t)(r->n_q + r->n_v);
  c->velocity_l1 += (state->t - c->t) * velocity_distance(r, row, state);
  c->t = state->t;
  c->position_max = fmax(c->position_max, position_distance(r, row, state));
  return SS_OK;
}

static ss_status fill_row(converge_row *row, const ss_sim *sim, const reference *r, ss_error *error) {
  const ss_state *state = ss_sim_state(sim);
  const ss_report *report = ss_sim_report(sim);
  row->position_error = position_distance(r, r->last, state);
  row->velocity_error = velocity_distance(r, r->last, state);
  row->velocity_variation = report->velocity_variation;
  row->weighted_variation = report->weighted_variation;
  row->complementarity = report->certificate.complementarity;
  row->penetration = report->certificate.penetration;
  row->energy_created = report->certificate.energy_created;
  row->kinetic_growth = report->kinetic_growth;
  row->constraint_work = report->constraint_work;
  row->energy_excess = report->energy_excess;
  row->certified = report->certificate.certified;
  row->collisions = report->events[SS_COLLISION];
  row->split_blows = report->solves.split_blows;
  row->joint_errors = calloc((size_t)ss_model_joint_rows(ss_sim_model(sim)) + 1, sizeof(double));
  if (!row->joint_errors) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  ss_sim_joint_residuals(sim, row->joint_errors);
  return SS_OK;
}

static ss_status measure(converge_row *row, const session *s, const char *scheme, const reference *r, bool quiet,
                         ss_error *error) {
  ss_simulation simulation = s->simulation;
  simulation.scheme = scheme;
  simulation.step = row->h;
  simulation.tolerance = 0;
  comparison c = {.reference = r};
  const ss_observer observer = {.user = &c, .step = compare};
  const bool nested = r->spacing > 0 && is_multiple(row->h, r->spacing, &c.stride);
  ss_sim *sim = NULL;
  velocity_path path = {0};
  ss_status status = ss_sim_create(s->model, &simulation, &sim, error);
  ss_weak *weak = NULL;
  if (!status) status = path_start(&path, sim, 1, error);
  if (!status && ss_scheme_is_compliant(scheme)) {
    status = ss_weak_create(sim, &weak, error);
    if (status == SS_ERROR_UNSUPPORTED) status = SS_OK;
  }
  if (!status && nested) status = ss_sim_observe(sim, &observer, error);
  if (!status) status = run_to_end(sim, quiet ? NULL : scheme, &row->seconds, error);
  if (!status) status = fill_row(row, sim, r, error);
  if (!status && weak) {
    row->has_weak = true;
    row->weak = ss_weak_measure(weak);
  }
  if (!status) row->graph_distance = graph_distance(&path, &r->path);
  if (!status && nested) {
    row->velocity_error_l1 = c.velocity_l1;
    row->position_error_max = c.position_max;
  }
  path_release(&path);
  ss_weak_destroy(weak);
  ss_sim_destroy(sim);
  return status;
}

/* log of the error's ratio over log of the step's; log2 of the errors' ratio where the step was halved. */
static double observed_order(const converge_row *coarse, const converge_row *fine) {
  const double order = log(coarse->position_error / fine->position_error) / log(coarse->h / fine->h);
  return isfinite(order) ? order : (double)NAN;
}

static converge_row empty_row(double h) {
  return (converge_row){.h = h,
                        .position_error = NAN,
                        .velocity_error = NAN,
                        .velocity_error_l1 = NAN,
                        .position_error_max = NAN,
                        .order = NAN,
                        .velocity_variation = NAN,
                        .weighted_variation = NAN,
                        .complementarity = NAN,
                        .penetration = NAN,
                        .energy_created = NAN,
                        .graph_distance = NAN,
                        .kinetic_growth = NAN,
                        .constraint_work = NAN,
                        .energy_excess = NAN};
}

/* ---- all rows, on threads and ranks ---- */

typedef struct row_work {
  converge_table *tables;
  int n_steps;
  const session *session;
  const reference *reference;
  const double *steps;
  int n_joints;
  bool quiet;
  told_row *told; /* [tables * steps], of the first rank */
} row_work;

static void *do_row(void *user, long index, size_t *size) {
  const row_work *w = user;
  const size_t joints = sizeof(double) * (size_t)w->n_joints;
  *size = sizeof(told_row) + joints;
  char *bytes = calloc(1, *size);
  if (!bytes) ranks_abort("out of memory");
  told_row told = {.row = empty_row(w->steps[index % w->n_steps])};
  const char *scheme = w->tables[index / w->n_steps].scheme;
  told.status = measure(&told.row, w->session, scheme, w->reference, w->quiet, &told.error);
  if (told.row.joint_errors) memcpy(bytes + sizeof told, told.row.joint_errors, joints);
  told.has_joints = told.row.joint_errors != NULL;
  free(told.row.joint_errors);
  told.row.joint_errors = NULL;
  memcpy(bytes, &told, sizeof told);
  return bytes;
}

static void take_row(void *user, long index, const void *bytes, size_t size) {
  row_work *w = user;
  told_row *told = &w->told[index];
  memcpy(told, bytes, sizeof *told);
  if (!told->has_joints) return;
  told->row.joint_errors = calloc(1, size - sizeof *told + sizeof(double));
  if (!told->row.joint_errors) ranks_abort("out of memory");
  memcpy(told->row.joint_errors, (const char *)bytes + sizeof *told, size - sizeof *told);
}

static ss_status fill_tables(const row_work *w, int n_tables, ss_error *error) {
  ss_status first = SS_OK;
  for (int i = 0; i < n_tables * w->n_steps; i++) {
    const told_row *told = &w->told[i];
    converge_table *table = &w->tables[i / w->n_steps];
    converge_row *row = &table->rows[table->n++];
    *row = told->row;
    if (told->status == SS_ERROR_UNCERTIFIED)
      (void)fprintf(stderr, "stickslip: %s with step %g: %s\n", table->scheme, row->h, told->error.message);
    else if (told->status && !first)
      first = told->status, *error = told->error;
    if (i % w->n_steps > 0) row->order = observed_order(row - 1, row);
  }
  return first;
}

ss_status converge_rows(converge_table *tables, int n_tables, const session *s, const reference *r, const double *steps,
                        int n, long threads, ss_error *error) {
  const size_t all = (size_t)n_tables * (size_t)n;
  row_work w = {.tables = tables,
                .n_steps = n,
                .session = s,
                .reference = r,
                .steps = steps,
                .n_joints = ss_model_joint_rows(s->model),
                .quiet = threads > 1 || ranks_count() > 1,
                .told = calloc(all, sizeof *w.told)};
  bool good = w.told != NULL;
  for (int i = 0; i < n_tables; i++) {
    tables[i].rows = calloc((size_t)n, sizeof *tables[i].rows);
    good = good && tables[i].rows;
  }
  if (!good) {
    free(w.told);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  const ranks_job job = {.n = (long)all, .threads = threads, .work = do_row, .take = take_row, .user = &w};
  ranks_for(&job);
  const ss_status status = ranks_index() == 0 ? fill_tables(&w, n_tables, error) : SS_OK;
  free(w.told);
  return status;
}

void converge_table_release(converge_table *table) {
  for (int i = 0; i < table->n; i++) free(table->rows[i].joint_errors);
  free(table->rows);
  *table = (converge_table){0};
}
