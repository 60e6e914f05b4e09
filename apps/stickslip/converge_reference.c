#include "converge.h"
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAMPLE_MEMORY = 1e9; /* bytes; beyond it only the last state is kept */

bool is_multiple(double step, double unit, long *multiple) {
  const double ratio = step / unit, whole = round(ratio);
  *multiple = ratio < 1e15 ? (long)whole : 0;
  return whole >= 1 && ratio < 1e15 && fabs(ratio - whole) <= 1e-9 * whole;
}

double position_distance(const reference *r, const double *row, const ss_state *state) {
  if (!r->coordinates) return ss_pose_distance(row, state->q, r->n_q / 7);
  double sum = 0;
  for (int i = 0; i < r->n_q; i++) sum += (state->q[i] - row[i]) * (state->q[i] - row[i]);
  return sqrt(sum);
}

double velocity_distance(const reference *r, const double *row, const ss_state *state) {
  double sum = 0;
  for (int i = 0; i < r->n_v; i++) {
    const double difference = state->v[i] - row[r->n_q + i];
    sum += difference * difference;
  }
  return sqrt(sum);
}

ss_status run_to_end(ss_sim *sim, const char *label, double *seconds, ss_error *error) {
  progress bar = progress_start(label ? label : "");
  bar.shown = bar.shown && label;
  const double start = wall_clock();
  ss_status status = SS_OK;
  while (!status && !ss_sim_done(sim)) {
    status = ss_sim_step(sim, error);
    progress_step(&bar, sim);
  }
  *seconds = wall_clock() - start;
  progress_clear(&bar);
  return status;
}

static void store(const reference *r, const ss_state *state, double *row) {
  memcpy(row, state->q, sizeof(double) * (size_t)r->n_q);
  memcpy(row + r->n_q, state->v, sizeof(double) * (size_t)r->n_v);
}

static ss_status take_sample(void *user, const ss_sim *sim, ss_error *error) {
  reference *r = user;
  const ss_state *state = ss_sim_state(sim);
  (void)error;
  if (!r->samples || state->step % r->stride != 0 || r->n_taken >= r->n_samples) return SS_OK;
  store(r, state, r->samples + (size_t)r->n_taken * (size_t)(r->n_q + r->n_v));
  r->n_taken++;
  return SS_OK;
}

static ss_status prepare_samples(reference *r, double finest, double duration, ss_error *error) {
  const size_t width = (size_t)(r->n_q + r->n_v);
  r->last = calloc(width + 1, sizeof *r->last);
  if (!r->last) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (!is_multiple(finest, r->step, &r->stride)) return SS_OK;
  const double count = floor(duration / finest * (1 + 1e-12));
  if (count < 1 || count * (double)width * (double)sizeof(double) > SAMPLE_MEMORY) return SS_OK;
  r->n_samples = (long)count;
  r->samples = malloc((size_t)r->n_samples * width * sizeof(double) + 1);
  if (!r->samples) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  r->spacing = finest;
  return SS_OK;
}

/* Four points of the reference's path per finest step, as far as it has them and memory allows. */
static long path_spacing(const reference *r, double finest, double duration) {
  const double steps = duration / r->step, width = 8 * (r->n_v + 1.);
  const double fine = floor(finest / r->step / 4), small = ceil(steps * width / SAMPLE_MEMORY);
  return (long)fmax(1, fmax(fine, small));
}

ss_status reference_run(reference *r, const session *s, double finest, ss_error *error) {
  ss_simulation simulation = s->simulation;
  simulation.scheme = r->scheme;
  simulation.step = r->step;
  simulation.tolerance = 0;
  r->n_v = ss_model_coordinates(s->model);
  r->coordinates = ss_model_is_system(s->model);
  r->n_q = r->coordinates ? r->n_v : 7 * ss_model_bodies(s->model);
  ss_sim *sim = NULL;
  const ss_observer observer = {.user = r, .step = take_sample};
  ss_status status = prepare_samples(r, finest, simulation.duration, error);
  if (!status) status = ss_sim_create(s->model, &simulation, &sim, error);
  if (!status) status = ss_sim_observe(sim, &observer, error);
  if (!status) status = path_start(&r->path, sim, path_spacing(r, finest, simulation.duration), error);
  if (!status) status = run_to_end(sim, "reference", &r->seconds, error);
  if (!status) {
    store(r, ss_sim_state(sim), r->last);
    r->certified = ss_sim_report(sim)->certificate.certified;
  }
  ss_sim_destroy(sim);
  return status;
}

void reference_release(reference *r) {
  free(r->last);
  free(r->samples);
  path_release(&r->path);
  r->last = r->samples = NULL;
}
