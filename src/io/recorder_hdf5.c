/* HDF5 trajectories that explain themselves:
 *
 *     /                     attributes: format, version, scene_name, scheme, solver, step, duration, complete (0 or 1)
 *     /run                  scheme, solver, version, build, and a fingerprint of the model, part by part (JSON)
 *     /scene                the scene file's text (absent if the scene was built in C)
 *     /body_names           [B] in the order of the scene; events refer to it
 *     /time                 [N]
 *     /bodies/NAME/         position [N,3], orientation [N,4] (w x y z), velocity [N,3], angular_velocity [N,3]; world
 *                           frame; attributes name, index. In NAME, '/' and '%' are written as %2F and %25
 *     /motion/              instead, of more than 256 bodies: the same as [N,B,3] and [N,B,4] (recorder_bodies.h)
 *     /energy/              kinetic potential elastic total work friction_loss impact_loss damping_loss remainder stabilization, [N]
 *     /worst/               complementarity penetration joint_drift, [N]: maxima over the run so far
 *     /applied              [N, 6 A] force and torque (world frame) of each applied force, in the order of the scene
 *     /outputs/, /joints/   outputs, positions, speeds and reactions of joints (recorder_signals.h)
 *     /events/              t, kind (text), a, b (index of a body, -1: the world), energy_created, [E]
 *     /contacts/            frame (row of /time), a, b (as in events; a is never the world), point, normal, force [K,3]
 *                           (world frame, on a; impulse over the length of a step), friction, state (0 stick, 1 slip,
 *                           2 impact), [K]
 *     /patches/, /elements/ compliant schemes: every contact patch, every element of it (recorder_elements.h)
 *     /model                shapes, joints and forces as the viewer needs them (JSON; docs/page-format.md)
 *     /certificate          attributes: the run's certificate and energy_created, certified, sound (0 or 1)
 *     /certificate/doubts   attributes: the number of each doubt, named by its code; none: sound
 *     /timings              attributes: seconds per stage of the steps, where they were measured
 *     /solves               attributes: count, iterations, fallbacks, seconds, contacts_maximum, contacts_mean
 *
 * Rows are buffered in blocks of SS_HDF5_BLOCK; a step costs a few copies and allocates nothing. Every second all of it is
 * committed: a run that is killed leaves a file that can be read, with complete = 0 (commit_driver.h). */
#include "io/recorder.h"

#include "core/arena.h"
#include "io/commit_driver.h"
#include "io/hdf5_file.h"
#include "io/page.h"
#include "io/recorder_bodies.h"
#include "io/recorder_coordinates.h"
#include "io/recorder_elements.h"
#include "io/recorder_signals.h"
#include "compile/fingerprint.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ENERGY_COLUMNS = 10, EVENT_COLUMNS = 5, CONTACT_COLUMNS = 8, KIND_SIZE = 16 };

typedef struct hdf5_recorder {
  ss_recorder base;
  hid_t file, kind_type;
  int n_rows, n_events, n_contacts; /* in the blocks, not yet in the file */
  long frame;                       /* rows so far */
  double last_row, last_commit;     /* wall clock */
  ss_hdf5_column time;
  ss_body_table bodies;
  ss_hdf5_column energy[ENERGY_COLUMNS];
  ss_hdf5_column worst[SS_PAGE_RESIDUALS];
  ss_hdf5_column applied; /* n_applied forces and torques; none: not created */
  int n_applied;
  ss_applied_report *forces;
  ss_hdf5_column events[EVENT_COLUMNS];     /* t, kind, a, b, energy_created */
  ss_hdf5_column contacts[CONTACT_COLUMNS]; /* frame, a, b, point, normal, force, friction, state */
  ss_frame_contacts present;
  ss_element_table elements;
  ss_coordinate_table coordinates;
  ss_signal_table signals;
} hdf5_recorder;

static ss_status cannot_write(const hdf5_recorder *h, ss_error *error) {
  return ss_fail(error, SS_ERROR_IO, "cannot write '%s': HDF5 could not write to it", h->base.file.path);
}

/* ---- rows and events ---- */

static bool append_rows(hdf5_recorder *h) {
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  bool good = ss_hdf5_column_append(&h->time, h->n_rows);
  for (int i = 0; i < ENERGY_COLUMNS; i++) good = ss_hdf5_column_append(&h->energy[i], h->n_rows) && good;
  good = ss_coordinate_table_append(&h->coordinates, h->n_rows) && good;
  good = ss_signal_table_append(&h->signals, h->n_rows) && good;
  for (int i = 0; i < SS_PAGE_RESIDUALS; i++) good = ss_hdf5_column_append(&h->worst[i], h->n_rows) && good;
  if (h->n_applied) good = ss_hdf5_column_append(&h->applied, h->n_rows) && good;
  h->n_rows = 0;
  ss_hdf5_quiet_end(quiet);
  return good;
}

static bool append_events(hdf5_recorder *h) {
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  bool good = true;
  for (int i = 0; i < EVENT_COLUMNS; i++) good = ss_hdf5_column_append(&h->events[i], h->n_events) && good;
  h->n_events = 0;
  ss_hdf5_quiet_end(quiet);
  return good;
}

static bool append_contacts(hdf5_recorder *h) {
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  bool good = true;
  for (int i = 0; i < CONTACT_COLUMNS; i++) good = ss_hdf5_column_append(&h->contacts[i], h->n_contacts) && good;
  h->n_contacts = 0;
  ss_hdf5_quiet_end(quiet);
  return good;
}

static void put(const ss_hdf5_column *column, int row, const void *value) {
  memcpy(ss_hdf5_column_row(column, row), value, column->row_size);
}

static bool put_contact(hdf5_recorder *h, const ss_frame_contact *c) {
  const int frame = (int)h->frame;
  const void *const values[CONTACT_COLUMNS] = {&frame,    &c->body[0], &c->body[1],  c->point,
                                               c->normal, c->force,    &c->friction, &c->state};
  for (int i = 0; i < CONTACT_COLUMNS; i++) put(&h->contacts[i], h->n_contacts, values[i]);
  return ++h->n_contacts < ss_hdf5_column_room(&h->contacts[0]) || append_contacts(h);
}

static ss_status put_contacts(hdf5_recorder *h, const ss_sim *sim, ss_error *error) {
  const ss_status status = ss_frame_contacts_collect(&h->present, sim, error);
  if (status) return status;
  for (int i = 0; i < h->present.n; i++)
    if (!put_contact(h, &h->present.contacts[i])) return cannot_write(h, error);
  return SS_OK;
}

static void put_applied(hdf5_recorder *h, const ss_sim *sim) {
  (void)ss_sim_applied(sim, h->forces, h->n_applied);
  double *row = ss_hdf5_column_row(&h->applied, h->n_rows);
  for (int i = 0; i < h->n_applied; i++) {
    const ss_vec3 f = h->forces[i].force, m = h->forces[i].torque;
    const double numbers[6] = {f.x, f.y, f.z, m.x, m.y, m.z};
    memcpy(row + 6 * i, numbers, sizeof numbers);
  }
}

/* ---- what the run is worth ---- */

/* Written at every commit and again at the end. */
static hid_t open_group(hid_t parent, const char *name) {
  return H5Lexists(parent, name, H5P_DEFAULT) > 0 ? H5Gopen2(parent, name, H5P_DEFAULT)
                                                  : H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

/* The group `doubts`: an attribute for each, named by its code. */
static bool write_doubts(hid_t certificate, const ss_certificate *c) {
  const hid_t group = open_group(certificate, "doubts");
  bool good = group >= 0;
  for (int i = 0; good && i < SS_DOUBTS; i++)
    if (c->doubts[i] != 0) good = ss_hdf5_set_number(group, ss_table_doubts()[i].code, c->doubts[i]);
  if (group >= 0) (void)H5Gclose(group);
  return good;
}

static bool write_certificate(hid_t file, const ss_certificate *c, bool complete) {
  const hid_t group = open_group(file, "certificate");
  const bool good = group >= 0 && ss_hdf5_set_number(group, "complementarity", c->complementarity) &&
                    ss_hdf5_set_number(group, "penetration", c->penetration) &&
                    ss_hdf5_set_number(group, "joint_drift", c->joint_drift) &&
                    ss_hdf5_set_number(group, "cone", c->cone) &&
                    ss_hdf5_set_number(group, "dissipation", c->dissipation) &&
                    ss_hdf5_set_number(group, "energy_created", c->energy_created) &&
                    ss_hdf5_set_integer(group, "certified", c->certified && complete) &&
                    ss_hdf5_set_integer(group, "sound", c->sound) && write_doubts(group, c);
  if (group >= 0) (void)H5Gclose(group);
  return good;
}

static bool write_solves(hid_t file, const ss_report *r) {
  const hid_t group = open_group(file, "solves");
  const bool good = group >= 0 && ss_hdf5_set_integer(group, "count", r->solves.count) &&
                    ss_hdf5_set_integer(group, "iterations", r->solves.iterations) &&
                    ss_hdf5_set_integer(group, "fallbacks", r->solves.fallbacks) &&
                    ss_hdf5_set_number(group, "seconds", r->solves.seconds) &&
                    ss_hdf5_set_integer(group, "contacts_maximum", r->contacts_maximum) &&
                    ss_hdf5_set_number(group, "contacts_mean", r->contacts_mean);
  if (group >= 0) (void)H5Gclose(group);
  return good;
}

static bool write_timings(hid_t file, const ss_sim *sim) {
  const double *seconds = ss_sim_stage_seconds(sim);
  if (!seconds) return true;
  const hid_t group = open_group(file, "timings");
  bool good = group >= 0;
  for (int i = 0; good && i < SS_STAGES; i++) good = ss_hdf5_set_number(group, ss_stage_name((ss_stage)i), seconds[i]);
  if (group >= 0) (void)H5Gclose(group);
  return good;
}

/* ---- commits ---- */

/* Seconds. What a run that is killed had recorded earlier is in the file that it leaves. */
static const double COMMIT = 1;

static double wall_clock(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Now, or before the next row, if that takes as long as the last one. */
static bool commit_is_due(hdf5_recorder *h) {
  const double now = wall_clock(), row = now - h->last_row;
  h->last_row = now;
  return now - h->last_commit + row >= COMMIT;
}

/* Everything so far into the file. */
static bool write_all(hdf5_recorder *h, const ss_sim *sim, bool complete) {
  bool good = append_rows(h);
  good = ss_body_table_append(&h->bodies) && good;
  good = append_events(h) && good;
  good = append_contacts(h) && good;
  good = ss_element_table_append(&h->elements) && good;
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  good = good && write_certificate(h->file, &ss_sim_report(sim)->certificate, complete) &&
         write_solves(h->file, ss_sim_report(sim)) && write_timings(h->file, sim) &&
         ss_hdf5_set_integer(h->file, "complete", complete);
  ss_hdf5_quiet_end(quiet);
  return good;
}

static bool commit(hdf5_recorder *h, const ss_sim *sim) {
  bool good = write_all(h, sim, false);
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  good = good && ss_hdf5_commit(h->file);
  ss_hdf5_quiet_end(quiet);
  h->last_row = h->last_commit = wall_clock();
  return good;
}

/* ---- a row, an event ---- */

static ss_status hdf5_row(ss_recorder *recorder, const ss_sim *sim, ss_error *error) {
  hdf5_recorder *h = (hdf5_recorder *)recorder;
  put(&h->time, h->n_rows, &ss_sim_state(sim)->t);
  ss_coordinate_table_put(&h->coordinates, sim, h->n_rows);
  const ss_energy *e = &ss_sim_report(sim)->energy;
  const double energy[ENERGY_COLUMNS] = {e->kinetic,   e->potential,     e->elastic,     e->final,
                                         e->work,      e->friction_loss, e->impact_loss, e->damping_loss,
                                         e->remainder, e->stabilization};
  for (int i = 0; i < ENERGY_COLUMNS; i++) put(&h->energy[i], h->n_rows, &energy[i]);
  const ss_certificate *c = &ss_sim_report(sim)->certificate;
  const double worst[SS_PAGE_RESIDUALS] = {c->complementarity, c->penetration, c->joint_drift};
  for (int i = 0; i < SS_PAGE_RESIDUALS; i++) put(&h->worst[i], h->n_rows, &worst[i]);
  if (h->n_applied) put_applied(h, sim);
  bool written = ss_body_table_put(&h->bodies, sim);
  ss_status status = written ? put_contacts(h, sim, error) : cannot_write(h, error);
  if (!status) status = ss_signal_table_put(&h->signals, sim, h->n_rows, error);
  if (!status) status = ss_element_table_put(&h->elements, sim, h->frame, &written, error);
  if (status) return status;
  if (!written) return cannot_write(h, error);
  h->frame++;
  if (++h->n_rows == ss_hdf5_column_room(&h->time) && !append_rows(h)) return cannot_write(h, error);
  return commit_is_due(h) && !commit(h, sim) ? cannot_write(h, error) : SS_OK;
}

static ss_status hdf5_event(ss_recorder *recorder, const ss_sim *sim, const ss_event *event, ss_error *error) {
  hdf5_recorder *h = (hdf5_recorder *)recorder;
  const ss_status status = ss_frame_contacts_event(&h->present, sim, event, error);
  if (status) return status;
  char kind[KIND_SIZE] = {0};
  (void)snprintf(kind, sizeof kind, "%s", ss_event_name(event->kind));
  put(&h->events[0], h->n_events, &event->t);
  put(&h->events[1], h->n_events, kind);
  put(&h->events[2], h->n_events, &event->body[0]);
  put(&h->events[3], h->n_events, &event->body[1]);
  put(&h->events[4], h->n_events, &event->energy_created);
  if (++h->n_events < ss_hdf5_column_room(&h->events[0]) || append_events(h)) return SS_OK;
  return cannot_write(h, error);
}

/* ---- the end ---- */

/* Closes everything that is open; true if nothing was lost. */
static bool close_all(hdf5_recorder *h) {
  bool good = ss_hdf5_column_release(&h->time);
  good = ss_body_table_release(&h->bodies) && good;
  for (int i = 0; i < ENERGY_COLUMNS; i++) good = ss_hdf5_column_release(&h->energy[i]) && good;
  for (int i = 0; i < SS_PAGE_RESIDUALS; i++) good = ss_hdf5_column_release(&h->worst[i]) && good;
  good = ss_hdf5_column_release(&h->applied) && good;
  for (int i = 0; i < EVENT_COLUMNS; i++) good = ss_hdf5_column_release(&h->events[i]) && good;
  for (int i = 0; i < CONTACT_COLUMNS; i++) good = ss_hdf5_column_release(&h->contacts[i]) && good;
  good = ss_element_table_release(&h->elements) && good;
  good = ss_coordinate_table_release(&h->coordinates) && good;
  good = ss_signal_table_release(&h->signals) && good;
  if (h->kind_type >= 0) (void)H5Tclose(h->kind_type);
  if (h->file >= 0) good = ss_hdf5_close(h->file, h->base.file.working) && good;
  h->file = h->kind_type = H5I_INVALID_HID;
  return good;
}

static ss_status hdf5_finish(ss_recorder *recorder, const ss_sim *sim, bool complete, ss_error *error) {
  hdf5_recorder *h = (hdf5_recorder *)recorder;
  bool good = write_all(h, sim, complete);
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  good = close_all(h) && good;
  ss_hdf5_quiet_end(quiet);
  return good ? SS_OK : cannot_write(h, error);
}

static void hdf5_release(ss_recorder *recorder) {
  hdf5_recorder *h = (hdf5_recorder *)recorder;
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  (void)close_all(h);
  ss_hdf5_quiet_end(quiet);
  ss_frame_contacts_release(&h->present);
  ss_free(h->forces);
  ss_free(h);
}

static const ss_recorder_kind hdf5_kind = {hdf5_row, hdf5_event, hdf5_finish, hdf5_release};

/* ---- the beginning ---- */

static bool create_columns(hid_t file, const char *name, ss_hdf5_column *columns, const char *const *names,
                           const hid_t *types, const int *widths, int n) {
  const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool good = group >= 0;
  for (int i = 0; good && i < n; i++)
    good = ss_hdf5_column_create(&columns[i], group, names[i], types ? types[i] : H5T_NATIVE_DOUBLE,
                                 widths ? widths[i] : 0);
  if (group >= 0) (void)H5Gclose(group);
  return good;
}

static bool create_contacts(hdf5_recorder *h) {
  static const char *const names[CONTACT_COLUMNS] = {"frame",  "a",     "b",        "point",
                                                     "normal", "force", "friction", "state"};
  static const int widths[CONTACT_COLUMNS] = {0, 0, 0, 3, 3, 3, 0, 0};
  const hid_t types[CONTACT_COLUMNS] = {H5T_NATIVE_INT,    H5T_NATIVE_INT,    H5T_NATIVE_INT,    H5T_NATIVE_DOUBLE,
                                        H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, H5T_NATIVE_INT};
  return create_columns(h->file, "contacts", h->contacts, names, types, widths, CONTACT_COLUMNS);
}

static bool create_applied(hdf5_recorder *h, const ss_sim *sim) {
  h->n_applied = ss_sim_applied(sim, NULL, 0);
  if (h->n_applied == 0) return true;
  h->forces = ss_alloc(sizeof *h->forces * (size_t)h->n_applied);
  return h->forces && ss_hdf5_column_create(&h->applied, h->file, "applied", H5T_NATIVE_DOUBLE, 6 * h->n_applied);
}

static bool create_tables(hdf5_recorder *h) {
  static const char *const energy[ENERGY_COLUMNS] = {"kinetic",   "potential",     "elastic",     "total",
                                                     "work",      "friction_loss", "impact_loss", "damping_loss",
                                                     "remainder", "stabilization"};
  static const char *const events[EVENT_COLUMNS] = {"t", "kind", "a", "b", "energy_created"};
  h->kind_type = H5Tcopy(H5T_C_S1);
  if (h->kind_type < 0 || H5Tset_size(h->kind_type, KIND_SIZE) < 0) return false;
  const hid_t types[EVENT_COLUMNS] = {H5T_NATIVE_DOUBLE, h->kind_type, H5T_NATIVE_INT, H5T_NATIVE_INT,
                                      H5T_NATIVE_DOUBLE};
  return ss_hdf5_column_create(&h->time, h->file, "time", H5T_NATIVE_DOUBLE, 0) &&
         create_columns(h->file, "energy", h->energy, energy, NULL, NULL, ENERGY_COLUMNS) &&
         create_columns(h->file, "worst", h->worst, ss_page_residual_names, NULL, NULL, SS_PAGE_RESIDUALS) &&
         create_columns(h->file, "events", h->events, events, types, NULL, EVENT_COLUMNS) && create_contacts(h);
}

static bool write_model(hid_t file, const ss_model *model) {
  char *text = ss_model_json(model);
  const bool good = text && ss_hdf5_write_text(file, "model", text);
  free(text);
  return good;
}

/* What the run was made of; of fixed size, unlike the attributes, and therefore what the program itself reads. */
static bool write_run(hid_t file, const ss_sim *sim) {
  const ss_simulation *options = ss_sim_options(sim);
  const ss_fingerprint print = ss_fingerprint_of(ss_sim_model(sim), options);
  json_t *parts = json_object();
  for (int i = 0; parts && i < SS_FINGERPRINT_PARTS; i++) {
    char hex[20];
    (void)snprintf(hex, sizeof hex, "%016llx", (unsigned long long)print.part[i]);
    (void)json_object_set_new(parts, ss_fingerprint_names[i], json_string(hex));
  }
  json_t *run = json_pack("{s:s, s:s, s:s, s:s, s:o*}", "scheme", options->scheme, "solver", options->solver, "version",
                          SS_VERSION, "build", ss_build_id, "fingerprint", parts);
  char *text = run ? json_dumps(run, JSON_COMPACT) : NULL;
  const bool good = text && ss_hdf5_write_text(file, "run", text);
  free(text);
  json_decref(run);
  return good;
}

static bool describe_run(hid_t file, const ss_sim *sim) {
  const ss_simulation *options = ss_sim_options(sim);
  const char *text = ss_model_scene_text(ss_sim_model(sim));
  return ss_hdf5_set_text(file, "format", "stickslip result 1") && ss_hdf5_set_text(file, "version", SS_VERSION) &&
         ss_hdf5_set_text(file, "scene_name", ss_model_scene_name(ss_sim_model(sim))) &&
         ss_hdf5_set_text(file, "scheme", options->scheme) && ss_hdf5_set_text(file, "solver", options->solver) &&
         ss_hdf5_set_number(file, "step", options->step) && ss_hdf5_set_number(file, "duration", options->duration) &&
         ss_hdf5_set_integer(file, "complete", 0) && (!text || ss_hdf5_write_text(file, "scene", text)) &&
         write_model(file, ss_sim_model(sim)) && write_run(file, sim);
}

static ss_status hdf5_create(hdf5_recorder *h, const char *path, const ss_sim *sim, ss_error *error) {
  ss_status status = ss_output_file_create(&h->base.file, path, error);
  if (status) return status;
  status = ss_output_file_require_regular(&h->base.file, error);
  if (status) return status;
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  h->file = ss_hdf5_create(h->base.file.working);
  const bool good =
      h->file >= 0 && describe_run(h->file, sim) && ss_body_table_create(&h->bodies, h->file, ss_sim_model(sim)) &&
      create_tables(h) && ss_coordinate_table_create(&h->coordinates, h->file, ss_sim_model(sim)) &&
      ss_signal_table_create(&h->signals, h->file, ss_sim_model(sim)) && create_applied(h, sim) &&
      (!ss_scheme_is_compliant(ss_sim_options(sim)->scheme) || ss_element_table_create(&h->elements, h->file));
  ss_hdf5_quiet_end(quiet);
  return good ? ss_recorder_start(&h->base, sim, error) : cannot_write(h, error);
}

ss_status ss_recorder_open_hdf5(const char *path, const ss_sim *sim, long every, ss_recorder **out, ss_error *error) {
  *out = NULL;
  if (every < 1) return ss_fail(error, SS_ERROR_INPUT, "a recorder needs every >= 1, got %ld", every);
  hdf5_recorder *h = ss_alloc(sizeof *h);
  if (!h) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  h->base = (ss_recorder){.kind = &hdf5_kind, .every = every};
  h->file = h->kind_type = H5I_INVALID_HID;
  h->last_row = -INFINITY; /* the first row is committed at once */
  const ss_status status = hdf5_create(h, path, sim, error);
  if (status) {
    ss_recorder_discard(&h->base);
    return status;
  }
  *out = &h->base;
  return SS_OK;
}
