/* CSV trajectories: t, then thirteen columns per body, or two per coordinate of a user-defined system; then outputs and
 * joints (signals.h). */
#include "io/recorder.h"

#include "core/arena.h"
#include "io/csv.h"

#include <stickslip/system.h>

#include <errno.h>
#include <string.h>

enum { STREAM_BUFFER = 1 << 18 }; /* one write per few thousand numbers */

typedef struct csv_recorder {
  ss_recorder base;
  FILE *stream;
  ss_signals signals;
} csv_recorder;

static ss_status cannot_write(const ss_recorder *recorder, ss_error *error) {
  return ss_fail(error, SS_ERROR_IO, "cannot write '%s': %s", recorder->file.path, strerror(errno));
}

static int n_coordinates(const ss_model *model) { return ss_model_is_system(model) ? ss_model_coordinates(model) : 0; }

static ss_status csv_row(ss_recorder *recorder, const ss_sim *sim, ss_error *error) {
  FILE *stream = ((csv_recorder *)recorder)->stream;
  ss_signals *signals = &((csv_recorder *)recorder)->signals;
  const ss_status status = ss_signals_read(signals, sim, error);
  if (status) return status;
  bool good = ss_csv_number(stream, ss_sim_state(sim)->t, true);
  const int n = ss_model_bodies(ss_sim_model(sim));
  for (int body = 0; good && body < n; body++) {
    double columns[SS_MOTION_COLUMNS];
    const ss_motion motion = ss_sim_motion(sim, body);
    ss_motion_columns(&motion, columns);
    for (int i = 0; good && i < SS_MOTION_COLUMNS; i++) good = ss_csv_number(stream, columns[i], false);
  }
  const int coordinates = n_coordinates(ss_sim_model(sim));
  for (int i = 0; good && i < coordinates; i++)
    good =
        ss_csv_number(stream, ss_sim_state(sim)->q[i], false) && ss_csv_number(stream, ss_sim_state(sim)->v[i], false);
  for (int i = 0; good && i < signals->n; i++) good = ss_csv_number(stream, signals->values[i], false);
  return good && ss_csv_end_row(stream) ? SS_OK : cannot_write(recorder, error);
}

static ss_status csv_finish(ss_recorder *recorder, const ss_sim *sim, bool complete, ss_error *error) {
  (void)sim, (void)complete; /* a CSV file has no place for a mark; the process's exit code says it */
  csv_recorder *csv = (csv_recorder *)recorder;
  const bool failed = fclose(csv->stream) != 0;
  csv->stream = NULL;
  return failed ? cannot_write(recorder, error) : SS_OK;
}

static void csv_release(ss_recorder *recorder) {
  csv_recorder *csv = (csv_recorder *)recorder;
  if (csv->stream) (void)fclose(csv->stream);
  ss_signals_release(&csv->signals);
  ss_free(csv);
}

static const ss_recorder_kind csv_kind = {csv_row, NULL, csv_finish, csv_release};

static ss_status csv_header(csv_recorder *csv, const ss_sim *sim, ss_error *error) {
  bool good = ss_csv_header_start(csv->stream);
  const ss_model *model = ss_sim_model(sim);
  for (int body = 0; good && body < ss_model_bodies(model); body++)
    good = ss_csv_header_body(csv->stream, ss_model_body_name(model, body));
  for (int i = 0; good && i < n_coordinates(model); i++)
    good = ss_csv_header_coordinate(csv->stream, ss_model_coordinate_name(model, i));
  for (int i = 0; good && i < csv->signals.n_sets; i++) good = ss_csv_header_signal(csv->stream, &csv->signals.sets[i]);
  return good && ss_csv_end_row(csv->stream) ? SS_OK : cannot_write(&csv->base, error);
}

static ss_status csv_open_stream(csv_recorder *csv, const char *path, const ss_sim *sim, ss_error *error) {
  ss_status status = ss_output_file_create(&csv->base.file, path, error);
  if (status) return status;
  csv->stream = fopen(csv->base.file.working, "w");
  if (!csv->stream) return cannot_write(&csv->base, error);
  (void)setvbuf(csv->stream, NULL, _IOFBF, STREAM_BUFFER);
  status = csv_header(csv, sim, error);
  return status ? status : ss_recorder_start(&csv->base, sim, error);
}

ss_status ss_recorder_open_csv(const char *path, const ss_sim *sim, long every, ss_recorder **out, ss_error *error) {
  *out = NULL;
  if (every < 1) return ss_fail(error, SS_ERROR_INPUT, "a recorder needs every >= 1, got %ld", every);
  csv_recorder *csv = ss_alloc(sizeof *csv);
  if (!csv) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  csv->base = (ss_recorder){.kind = &csv_kind, .every = every};
  const ss_status status = ss_signals_create(&csv->signals, ss_sim_model(sim))
                               ? csv_open_stream(csv, path, sim, error)
                               : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (status) {
    ss_recorder_discard(&csv->base);
    return status;
  }
  *out = &csv->base;
  return SS_OK;
}
