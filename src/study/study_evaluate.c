/* One evaluation of a scene: from the point of a run to what was observed. A simulation; or a boundary-value problem and the
 * simulation of its first solution; or simulations with smaller and smaller steps against a reference, of which the finest
 * is observed. */
#include "study/study.h"

#include "core/math3.h"
#include "core/words.h"

#include <stickslip/bvp.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- measures over a run ---- */

typedef struct watch {
  const ss_study_file *file;
  int n_observations;
  bool objective; /* is measured too */
  const ss_run_numbers *numbers;
  double *value; /* all measures of all observations, then those of the objective */
  double *last;  /* at the end of the step before */
  double t;
} watch;

static const ss_observation *observation(const watch *w, int i) {
  return i < w->n_observations ? &w->file->observations[i] : &w->file->objective;
}

static int observations(const watch *w) { return w->n_observations + w->objective; }

static int measures(const watch *w) {
  int n = 0;
  for (int i = 0; i < observations(w); i++) n += observation(w, i)->n_measures;
  return n;
}

/* The mean is the integral (trapezoidal rule) until the end divides it by the time. */
static double fold(ss_over_time how, double so_far, double last, double now, double dt) {
  switch (how) {
  case SS_LARGEST:
    return fmax(so_far, now);
  case SS_SMALLEST:
    return fmin(so_far, now);
  case SS_MEAN:
    return so_far + dt * (last + now) / 2;
  case SS_AT_THE_START:
    return so_far;
  case SS_AT_THE_END:
    break;
  }
  return now;
}

static ss_status look(void *user, const ss_sim *sim, ss_error *error) {
  watch *w = user;
  (void)error;
  const double t = ss_sim_state(sim)->t;
  int k = 0;
  for (int i = 0; i < observations(w); i++)
    for (int j = 0; j < observation(w, i)->n_measures; j++, k++) {
      const ss_measure *m = &observation(w, i)->measures[j];
      const double now = ss_observable_value(&m->quantity, sim, w->numbers);
      w->value[k] = fold(m->how, w->value[k], w->last[k], now, t - w->t);
      w->last[k] = now;
    }
  w->t = t;
  return SS_OK;
}

static void look_first(watch *w, const ss_sim *sim) {
  (void)look(w, sim, NULL);
  int k = 0;
  for (int i = 0; i < observations(w); i++)
    for (int j = 0; j < observation(w, i)->n_measures; j++, k++)
      w->value[k] = observation(w, i)->measures[j].how == SS_MEAN ? 0 : w->last[k];
}

static ss_status conclude(watch *w, const ss_scene *scene, ss_evaluation *e, ss_error *error) {
  int k = 0;
  for (int i = 0; i < observations(w); i++) {
    const ss_observation *o = observation(w, i);
    for (int j = 0; j < o->n_measures; j++)
      if (o->measures[j].how == SS_MEAN) w->value[k + j] /= w->t;
    double *value = i < w->n_observations ? &e->observed[i] : &e->objective;
    SS_TRY(ss_observation_value(o, scene, w->value + k, w->t, value, error));
    k += o->n_measures;
  }
  return SS_OK;
}

/* ---- simulations ---- */

typedef struct workplace {
  ss_arena *arena;
  ss_scene *scene;
  ss_model *model;
  ss_sim *sim;
  ss_recorder *recorder;
  ss_run_numbers numbers;
} workplace;

/* To the end, or to where it is told to stop: then e->ended is false. */
static ss_status advance(ss_evaluation *e, ss_sim *sim, ss_error *error) {
  e->ended = false;
  if (e->stop) ss_sim_stop_when(sim, e->stop, e->user);
  while (!ss_sim_done(sim)) {
    if (e->stop && e->stop(e->user)) return SS_OK;
    const ss_status status = ss_sim_step(sim, error);
    if (status) return status == SS_ERROR_STOPPED ? SS_OK : status;
  }
  e->ended = true;
  return SS_OK;
}

static ss_status record(ss_evaluation *e, workplace *w, ss_error *error) {
  if (!e->record) return SS_OK;
  SS_TRY(ss_recorder_open_hdf5(e->record, w->sim, 1, &w->recorder, error));
  const ss_observer observer = ss_recorder_observer(w->recorder);
  return ss_sim_observe(w->sim, &observer, error);
}

/* "overlap 0.01, energy 2" */
static void list_doubts(const ss_certificate *certificate, char *text, size_t size) {
  const ss_doubt_info *table = ss_table_doubts();
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < SS_DOUBTS && used < size; i++) {
    if (certificate->doubts[i] == 0) continue;
    const int n =
        snprintf(text + used, size - used, "%s%s %.3g", used ? ", " : "", table[i].code, certificate->doubts[i]);
    used += n > 0 ? (size_t)n : 0;
  }
}

/* The simulation that is observed. The file of a failed one is kept, marked incomplete. */
static ss_status simulate(ss_evaluation *e, workplace *w, const ss_simulation *options, ss_error *error) {
  watch eye = {.file = e->file,
               .n_observations = e->study->n_observations,
               .objective = e->study->minimisation.given,
               .numbers = &w->numbers};
  eye.value = SS_ARENA_ARRAY(w->arena, double, measures(&eye) + 1);
  eye.last = SS_ARENA_ARRAY(w->arena, double, measures(&eye) + 1);
  if (!eye.value || !eye.last) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  SS_TRY(ss_sim_create(w->model, options, &w->sim, error));
  look_first(&eye, w->sim);
  const ss_observer observer = {.user = &eye, .step = look};
  SS_TRY(ss_sim_observe(w->sim, &observer, error));
  SS_TRY(record(e, w, error));
  ss_status status = advance(e, w->sim, error);
  if (w->recorder) {
    const ss_status closed = ss_recorder_close(w->recorder, w->sim, !status && e->ended, status ? NULL : error);
    w->recorder = NULL;
    if (!status) status = closed;
  }
  if (status || !e->ended) return status;
  e->certified = ss_sim_report(w->sim)->certificate.certified;
  list_doubts(&ss_sim_report(w->sim)->certificate, e->doubts, sizeof e->doubts);
  if (e->state) SS_TRY(ss_checkpoint_write(w->sim, e->state, error));
  return conclude(&eye, w->scene, e, error);
}

/* ---- kinds ---- */

static ss_status solve_boundary(ss_evaluation *e, workplace *w, const ss_simulation *options, ss_error *error) {
  ss_settings settings;
  ss_bvp_result *result = NULL;
  SS_TRY(ss_study_settings(e->study, e->run, e->design, w->arena, &settings, error));
  SS_TRY(ss_bvp_solve(w->scene, options, settings.parameters, settings.n_parameters, &result, error));
  w->numbers.solutions = result->n_solutions;
  w->numbers.residual = result->n_solutions ? result->solutions[0].residual : result->best.residual;
  w->numbers.simulations = (double)result->simulations;
  const bool found = result->n_solutions > 0;
  if (found)
    ss_bvp_apply(w->scene, result->solutions[0].unknown);
  else
    (void)ss_fail(error, SS_ERROR_UNSUPPORTED, "no solution found: %s (best residual %.3g)",
                  result->reason ? result->reason : "", result->best.residual);
  ss_bvp_result_destroy(result);
  e->no_solution = !found;
  return found ? SS_OK : SS_ERROR_UNSUPPORTED;
}

double ss_pose_distance(const double *a, const double *b, int bodies) {
  double sum = 0;
  for (int i = 0; i < 7 * bodies; i += 7) {
    for (int k = 0; k < 3; k++) sum += (b[i + k] - a[i + k]) * (b[i + k] - a[i + k]);
    const ss_quat p = {a[i + 3], a[i + 4], a[i + 5], a[i + 6]}, q = {b[i + 3], b[i + 4], b[i + 5], b[i + 6]};
    const ss_quat d = quat_multiply(quat_conjugate(p), q);
    const double angle = 2 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
    sum += angle * angle;
  }
  return sqrt(sum);
}

typedef struct end_state {
  double *q, *v;
} end_state;

static ss_status keep_end(const workplace *w, const ss_sim *sim, end_state *out, ss_error *error) {
  const size_t nq = 7 * (size_t)ss_model_bodies(w->model), nv = (size_t)ss_model_coordinates(w->model);
  out->q = SS_ARENA_ARRAY(w->arena, double, nq + 1);
  out->v = SS_ARENA_ARRAY(w->arena, double, nv + 1);
  if (!out->q || !out->v) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  memcpy(out->q, ss_sim_state(sim)->q, nq * sizeof *out->q);
  memcpy(out->v, ss_sim_state(sim)->v, nv * sizeof *out->v);
  return SS_OK;
}

static ss_status run_step(ss_evaluation *e, workplace *w, ss_simulation options, double step, end_state *end,
                          ss_error *error) {
  ss_sim *sim = NULL;
  options.step = step;
  options.tolerance = 0;
  ss_status status = ss_sim_create(w->model, &options, &sim, error);
  if (!status) status = advance(e, sim, error);
  if (!status && e->ended) status = keep_end(w, sim, end, error);
  ss_sim_destroy(sim);
  return status;
}

/* Errors of the last two step sizes; the finest is simulated again, observed. */
static ss_status converge(ss_evaluation *e, workplace *w, const ss_simulation *options, ss_error *error) {
  const ss_study *study = e->study;
  const int n = study->n_steps, bodies = ss_model_bodies(w->model);
  const double finest = study->steps[n - 1], reference = isnan(study->reference) ? finest / 16 : study->reference;
  end_state exact, end;
  double before = NAN, now = NAN;
  SS_TRY(run_step(e, w, *options, reference, &exact, error));
  for (int i = n - 2; i < n && e->ended; i++) {
    SS_TRY(run_step(e, w, *options, study->steps[i], &end, error));
    before = now;
    if (e->ended) now = ss_pose_distance(exact.q, end.q, bodies);
  }
  if (!e->ended) return SS_OK;
  double sum = 0;
  for (int i = 0; i < ss_model_coordinates(w->model); i++) sum += (end.v[i] - exact.v[i]) * (end.v[i] - exact.v[i]);
  w->numbers.position_error = now;
  w->numbers.velocity_error = sqrt(sum);
  w->numbers.order = log(before / now) / log(study->steps[n - 2] / finest);
  ss_simulation last = *options;
  last.step = finest;
  last.tolerance = 0;
  return simulate(e, w, &last, error);
}

static ss_status evaluate(ss_evaluation *e, workplace *w, ss_error *error) {
  ss_simulation options;
  SS_TRY(ss_study_open(e->study, e->run, e->design, w->arena, &w->scene, &options, error));
  if (e->study->kind == SS_STUDY_BVP) SS_TRY(solve_boundary(e, w, &options, error));
  SS_TRY(ss_model_create(w->scene, &w->model, error));
  return e->study->kind == SS_STUDY_CONVERGE ? converge(e, w, &options, error) : simulate(e, w, &options, error);
}

ss_status ss_study_evaluate(ss_evaluation *e, ss_error *error) {
  workplace w = {.arena = ss_arena_create(), .numbers = {NAN, NAN, NAN, NAN, NAN, NAN}};
  e->file = &e->study->files[ss_study_file_of(e->study, e->run)];
  e->certified = e->ended = e->no_solution = false;
  e->objective = NAN;
  e->doubts[0] = '\0';
  for (int i = 0; i < e->study->n_observations; i++) e->observed[i] = NAN;
  const ss_status status = w.arena ? evaluate(e, &w, error) : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  ss_recorder_discard(w.recorder);
  ss_sim_destroy(w.sim);
  ss_model_destroy(w.model);
  ss_scene_destroy(w.scene);
  ss_arena_destroy(w.arena);
  return status;
}
