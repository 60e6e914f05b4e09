/* The runs of a study: evaluations, what they come to, what is kept of them. */
#include "study/study.h"

#include "core/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const verdicts[SS_STUDY_VERDICTS] = {
    "stopped", "certified", "doubtful", "uncertified", "failed", "no-solution", "refused", "time-limit", "error"};

const char *ss_study_verdict_name(ss_study_verdict verdict) { return verdicts[verdict]; }

void ss_study_run_path(const char *folder, long run, const char *suffix, char *path, size_t size) {
  (void)snprintf(path, size, "%s/run-%06ld%s", folder, run, suffix);
}

/* ---- when to stop ---- */

typedef struct limit {
  bool (*stop)(void);
  double until; /* INFINITY: no limit */
  bool stopped, late;
} limit;

static double seconds_now(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool stops(void *user) {
  limit *l = user;
  if (l->stop && l->stop()) l->stopped = true;
  if (isfinite(l->until) && seconds_now() > l->until) l->late = true;
  return l->stopped || l->late;
}

/* ---- one run ---- */

typedef struct one_run {
  ss_evaluation e;
  limit limit;
  const ss_study_request *request;
  double design[SS_SOBOL_DIMENSIONS];
  double best; /* of the minimisation */
  ss_error *error;
} one_run;

static ss_study_verdict verdict_of(const one_run *r, ss_status status) {
  if (r->limit.stopped) return SS_VERDICT_STOPPED;
  if (r->limit.late) return SS_VERDICT_TIME_LIMIT;
  switch (status) {
  case SS_OK:
    if (!r->e.certified) return SS_VERDICT_UNCERTIFIED;
    return r->e.doubts[0] ? SS_VERDICT_DOUBTFUL : SS_VERDICT_CERTIFIED;
  case SS_ERROR_UNCERTIFIED:
    return SS_VERDICT_FAILED;
  case SS_ERROR_INPUT:
    return SS_VERDICT_REFUSED;
  case SS_ERROR_UNSUPPORTED:
    return r->e.no_solution ? SS_VERDICT_NO_SOLUTION : SS_VERDICT_REFUSED;
  case SS_ERROR_STOPPED:
    return SS_VERDICT_STOPPED;
  case SS_ERROR_MEMORY:
  case SS_ERROR_IO:
  case SS_ERROR_CALLBACK:
    break;
  }
  return SS_VERDICT_ERROR;
}

static ss_status evaluate(one_run *r) {
  const bool alone = r->e.record && r->request->alone;
  if (alone) r->request->alone(true);
  const ss_status status = ss_study_evaluate(&r->e, r->error);
  if (alone) r->request->alone(false);
  return status;
}

/* ---- minimisation ---- */

static bool objective(void *user, const double *x, double *value) {
  one_run *r = user;
  for (int i = 0; i < r->e.study->minimisation.n; i++) r->design[i] = x[i];
  const ss_status status = ss_study_evaluate(&r->e, r->error);
  *value = status || !r->e.ended || !isfinite(r->e.objective) ? (double)INFINITY : r->e.objective;
  return !r->limit.stopped && !r->limit.late && status != SS_ERROR_MEMORY;
}

/* The middle of the box, then Sobol points. */
static void start_design(const ss_study *study, long start, double *x) {
  for (int i = 0; i < study->minimisation.n; i++) {
    const ss_variation *v = &study->minimisation.over[i];
    const double s = start == 0 ? 0.5 : ss_sampling_coordinate(SS_SAMPLE_SOBOL, study->seed, start, 1, i);
    x[i] = v->from + s * (v->to - v->from);
  }
}

static long start_of(const ss_study *study, long run) {
  for (int i = 0; i < study->n_variations; i++)
    if (study->variations[i].kind == SS_VARY_START) return (long)ss_study_point(study, run, i).number;
  return 0;
}

static ss_study_verdict minimise(one_run *r, double *columns) {
  const ss_study *study = r->e.study;
  const ss_minimisation *m = &study->minimisation;
  double low[SS_SOBOL_DIMENSIONS], high[SS_SOBOL_DIMENSIONS], x[SS_SOBOL_DIMENSIONS];
  for (int i = 0; i < m->n; i++) {
    low[i] = m->over[i].from;
    high[i] = m->over[i].to;
  }
  start_design(study, start_of(study, r->e.run), x);
  ss_minimum best = {.x = x};
  const char *record = r->e.record, *state = r->e.state;
  r->e.record = r->e.state = NULL; /* of the best point only */
  r->e.design = r->design;
  const bool ended = ss_nelder_mead(m->n, low, high, m->tolerance, m->evaluations, objective, r, &best);
  columns[m->n + 1] = (double)best.evaluations;
  if (!ended) return verdict_of(r, SS_ERROR_MEMORY);
  for (int i = 0; i < m->n; i++) r->design[i] = x[i];
  r->e.record = record;
  r->e.state = state;
  const ss_status status = evaluate(r);
  const ss_study_verdict verdict = verdict_of(r, status);
  if (!isfinite(best.value)) {
    if (!status) (void)ss_fail(r->error, SS_ERROR_INPUT, "the objective is not finite at any point that was tried");
    return status ? verdict : SS_VERDICT_NO_SOLUTION;
  }
  for (int i = 0; i < m->n; i++) columns[i] = x[i];
  columns[m->n] = best.value;
  return verdict;
}

/* ---- what is kept ---- */

static ss_study_verdict do_run(one_run *r, double *observed) {
  const ss_study *study = r->e.study;
  const int first = ss_study_observations(study) - study->n_observations;
  r->e.observed = observed + first;
  for (int i = 0; i < ss_study_observations(study); i++) observed[i] = NAN;
  const ss_study_verdict verdict = first ? minimise(r, observed) : verdict_of(r, evaluate(r));
  if (verdict == SS_VERDICT_TIME_LIMIT)
    (void)ss_fail(r->error, SS_ERROR_STOPPED, "the time limit of %g s was reached", study->time_limit);
  if (verdict == SS_VERDICT_DOUBTFUL) (void)ss_fail(r->error, SS_ERROR_UNCERTIFIED, "%s", r->e.doubts);
  if (verdict == SS_VERDICT_UNCERTIFIED)
    (void)ss_fail(r->error, SS_ERROR_UNCERTIFIED, "not every step could be certified");
  return verdict;
}

/* A file that cannot be written does not change what the run came to; that it is missing tells. */
static void keep_failure(one_run *r, const char *folder) {
  const ss_study *study = r->e.study;
  char path[1024];
  ss_study_run_path(folder, r->e.run, ".yaml", path, sizeof path);
  (void)ss_study_write_scene(study, r->e.run, path, NULL);
  if (study->keep.failures != SS_KEEP_FAILED_RESULTS || study->minimisation.given || r->e.record) return;
  ss_error unwanted;
  double *again = ss_alloc(sizeof *again * (size_t)(study->n_observations + 1));
  if (!again) return;
  ss_study_run_path(folder, r->e.run, ".h5", path, sizeof path);
  one_run second = {.e = r->e, .request = r->request, .limit = {r->limit.stop, (double)INFINITY, false, false}};
  second.e.user = &second.limit;
  second.e.record = path;
  second.e.observed = again;
  second.error = &unwanted;
  (void)evaluate(&second);
  ss_free(again);
}

ss_study_verdict ss_study_run(const ss_study *study, long run, const ss_study_request *request, double *observed,
                              ss_error *error) {
  static const ss_study_request nothing = {0};
  ss_error unwanted = {0};
  char record[1024], state[1024];
  one_run r = {.e = {.study = study, .run = run, .stop = stops},
               .request = request ? request : &nothing,
               .error = error ? error : &unwanted};
  r.limit = (limit){r.request->stop, isnan(study->time_limit) ? (double)INFINITY : seconds_now() + study->time_limit,
                    false, false};
  r.e.user = &r.limit;
  const char *folder = r.request->folder;
  if (folder && study->keep.every > 0 && run % study->keep.every == 0) {
    ss_study_run_path(folder, run, ".h5", record, sizeof record);
    r.e.record = record;
  }
  if (folder && study->keep.state) {
    ss_study_run_path(folder, run, ".state", state, sizeof state);
    r.e.state = state;
  }
  const ss_study_verdict verdict = do_run(&r, observed);
  if (folder && verdict > SS_VERDICT_CERTIFIED && study->keep.failures != SS_KEEP_NO_FAILURES) keep_failure(&r, folder);
  return verdict;
}
