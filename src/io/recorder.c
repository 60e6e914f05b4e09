#include "io/recorder.h"

#include <stdio.h>
#include <string.h>

const char *const ss_motion_column_names[SS_MOTION_COLUMNS] = {"x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                                               "vx", "vy", "vz", "wx", "wy", "wz"};

const char *const ss_coordinate_columns[SS_COORDINATE_COLUMNS] = {"q", "v"};

void ss_motion_columns(const ss_motion *m, double columns[SS_MOTION_COLUMNS]) {
  const ss_vec3 p = m->pose.position, v = m->velocity, w = m->angular_velocity;
  const ss_quat o = m->pose.orientation;
  const double row[SS_MOTION_COLUMNS] = {p.x, p.y, p.z, o.w, o.x, o.y, o.z, v.x, v.y, v.z, w.x, w.y, w.z};
  for (int i = 0; i < SS_MOTION_COLUMNS; i++) columns[i] = row[i];
}

static ss_status record(ss_recorder *recorder, const ss_sim *sim, ss_error *error) {
  recorder->last_step = ss_sim_state(sim)->step;
  const ss_status status = recorder->kind->row(recorder, sim, &recorder->failure);
  if (status && error) *error = recorder->failure;
  return status;
}

static bool keeps(void *user, const ss_sim *sim) {
  return ss_sim_state(sim)->step % ((const ss_recorder *)user)->every == 0 || ss_sim_done(sim);
}

static ss_status observe_step(void *user, const ss_sim *sim, ss_error *error) {
  ss_recorder *recorder = user;
  if (recorder->failure.status) {
    if (error) *error = recorder->failure;
    return recorder->failure.status;
  }
  return keeps(user, sim) ? record(recorder, sim, error) : SS_OK;
}

static void observe_event(void *user, const ss_sim *sim, const ss_event *event) {
  ss_recorder *recorder = user;
  if (recorder->kind->event && !recorder->failure.status)
    (void)recorder->kind->event(recorder, sim, event, &recorder->failure);
}

ss_status ss_recorder_start(ss_recorder *recorder, const ss_sim *sim, ss_error *error) {
  return record(recorder, sim, error);
}

ss_observer ss_recorder_observer(ss_recorder *recorder) {
  return (ss_observer){.user = recorder, .step = observe_step, .event = observe_event, .keeps = keeps};
}

/* A run that stopped early has a last state that `every` may have skipped. */
static ss_status record_last(ss_recorder *recorder, const ss_sim *sim, ss_error *error) {
  if (recorder->failure.status) {
    if (error) *error = recorder->failure;
    return recorder->failure.status;
  }
  return ss_sim_state(sim)->step == recorder->last_step ? SS_OK : record(recorder, sim, error);
}

/* What could not be finished does not replace an older result: it stays where it is, and the message says where. */
static void say_where(const ss_output_file *file, ss_error *error) {
  if (!error || strcmp(file->path, file->working) == 0) return;
  const size_t used = strlen(error->message);
  (void)snprintf(error->message + used, sizeof error->message - used, " (what was written is in '%s')", file->working);
}

ss_status ss_recorder_close(ss_recorder *recorder, const ss_sim *sim, bool complete, ss_error *error) {
  if (!recorder) return SS_OK;
  ss_status status = record_last(recorder, sim, error);
  const ss_status finished = recorder->kind->finish(recorder, sim, complete && !status, status ? NULL : error);
  if (!status) status = finished;
  if (!status && recorder->file.path) status = ss_output_file_publish(&recorder->file, error);
  if (status && recorder->file.path) say_where(&recorder->file, error);
  ss_output_file_release(&recorder->file);
  recorder->kind->release(recorder);
  return status;
}

void ss_recorder_discard(ss_recorder *recorder) {
  if (!recorder) return;
  ss_output_file file = recorder->file;
  recorder->kind->release(recorder); /* closes it, and only then is there nothing that would write it */
  ss_output_file_discard(&file);
  ss_output_file_release(&file);
}
