/* What the example programs of user-defined systems share: from a definition to a run, recorded where a file is named. */
#ifndef EXAMPLES_RUN_SYSTEM_H
#define EXAMPLES_RUN_SYSTEM_H

#include <stickslip/stickslip.h>

#include <stdio.h>
#include <string.h>

/* A recorder by the file's ending, .h5 or else CSV. */
static inline ss_status open_recorder(const char *path, ss_sim *sim, ss_recorder **out, ss_error *error) {
  const char *dot = strrchr(path, '.');
  ss_status status = dot && strcmp(dot, ".h5") == 0 ? ss_recorder_open_hdf5(path, sim, 1, out, error)
                                                    : ss_recorder_open_csv(path, sim, 1, out, error);
  if (status) return status;
  const ss_observer observer = ss_recorder_observer(*out);
  status = ss_sim_observe(sim, &observer, error);
  return status;
}

/* Runs the system to its end, calling the observer; the report is that of the run. path may be NULL: nothing is recorded.
 * Returns the program's exit code and prints what is wrong. */
static inline int run_system(const ss_system *system, const ss_observer *observer, const char *path,
                             ss_report *report) {
  ss_error error = {0};
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  ss_recorder *recorder = NULL;
  ss_status status = ss_model_create_system(system, &model, &error);
  if (!status) status = ss_sim_create(model, NULL, &sim, &error);
  if (!status && observer) status = ss_sim_observe(sim, observer, &error);
  if (!status && path) status = open_recorder(path, sim, &recorder, &error);
  while (!status && !ss_sim_done(sim)) status = ss_sim_step(sim, &error);
  if (recorder) {
    ss_error closing = {0};
    const ss_status closed = ss_recorder_close(recorder, sim, !status, &closing);
    if (!status && closed) status = closed, error = closing;
  }
  if (status)
    (void)fprintf(stderr, "%s\n", error.message);
  else
    *report = *ss_sim_report(sim);
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  return status ? 1 : 0;
}

static inline ss_status ignore_step(void *user, const ss_sim *sim, ss_error *error) {
  (void)user, (void)sim, (void)error;
  return SS_OK;
}

#endif
