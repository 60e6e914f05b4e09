/* Parameter studies: one scene, many runs. A study file says what varies and what is observed (docs/studies.md); runs are
 * numbered, independent of each other and may be done in any order, by any number of threads. */
#ifndef STICKSLIP_STUDY_H
#define STICKSLIP_STUDY_H

#include <stickslip/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_study ss_study; /* immutable: shared by threads */

/* Reads a YAML study and the scene that it names (relative to the study's folder), and checks that the two fit. */
ss_status ss_study_load(const char *path, ss_study **out, ss_error *error);
void ss_study_destroy(ss_study *study);

const char *ss_study_name(const ss_study *study);  /* its own, or that of the scene */
const char *ss_study_scene(const ss_study *study); /* path of the scene file */
bool ss_study_is_random(const ss_study *study);
long ss_study_runs(const ss_study *study);

/* What varies: parameters, and where several are given `scheme` and `step`. */
int ss_study_variations(const ss_study *study);
const char *ss_study_variation_name(const ss_study *study, int variation);
typedef struct ss_study_value {
  double number;    /* NAN where there is a word */
  const char *word; /* scheme; else NULL */
} ss_study_value;
ss_study_value ss_study_point(const ss_study *study, long run, int variation);

/* What is observed: the names of the columns. */
int ss_study_observations(const ss_study *study);
const char *ss_study_observation_name(const ss_study *study, int observation);

/* Does one run. *certified: the duration was reached and every step solved its own problem. observed has
 * ss_study_observations entries, NAN where a value is not finite or the run failed. A failure of this run alone is an
 * error that says why: a value that the scene does not accept, or no certified step. `stop` may be NULL; where it returns
 * true the run ends, with SS_OK and *certified = false. */
ss_status ss_study_run(const ss_study *study, long run, bool (*stop)(void), double *observed, bool *certified,
                       ss_error *error);

#ifdef __cplusplus
}
#endif

#endif
