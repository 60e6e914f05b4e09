/* Parameter studies: scenes, many runs. A study file says what varies and what is observed (docs/studies.md); runs are
 * numbered, independent of each other and may be done in any order, by any number of threads and processes. */
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
const char *ss_study_scene(const ss_study *study); /* path of the scene file; of the first, where there are several */
bool ss_study_is_random(const ss_study *study);
long ss_study_runs(const ss_study *study);
uint64_t ss_study_fingerprint(const ss_study *study); /* of the texts of the study and its scenes */
const char *ss_study_text(const ss_study *study);

/* What a run is: a simulation, a boundary-value problem with the simulation of its first solution, or simulations with
 * several step sizes against a reference. */
typedef enum ss_study_kind { SS_STUDY_SIMULATION, SS_STUDY_BVP, SS_STUDY_CONVERGE } ss_study_kind;
ss_study_kind ss_study_run_kind(const ss_study *study);

/* What is kept of runs beside the row of the table. */
typedef enum ss_study_failures { SS_KEEP_NO_FAILURES, SS_KEEP_FAILED_SCENES, SS_KEEP_FAILED_RESULTS } ss_study_failures;
typedef struct ss_study_keep {
  ss_study_failures failures; /* a scene file that reproduces the run; and an HDF5 result */
  long every;                 /* HDF5 results of each n-th run; 0: none */
  bool state;                 /* checkpoint of every run's last state */
} ss_study_keep;
ss_study_keep ss_study_kept(const ss_study *study);

/* What varies: parameters, and where several are given `scene`, `scheme` and `step`; `start` of a minimisation, `repeat`. */
int ss_study_variations(const ss_study *study);
const char *ss_study_variation_name(const ss_study *study, int variation);
typedef struct ss_study_value {
  double number;    /* NAN where there is a word */
  const char *word; /* scene, scheme; else NULL */
} ss_study_value;
ss_study_value ss_study_point(const ss_study *study, long run, int variation);

/* What is observed: the names of the columns; where something is minimised the design, `objective` and `evaluations` first. */
int ss_study_observations(const ss_study *study);
const char *ss_study_observation_name(const ss_study *study, int observation);

/* How a run ended. */
typedef enum ss_study_verdict {
  SS_VERDICT_STOPPED,     /* it did not end: no row */
  SS_VERDICT_CERTIFIED,   /* the duration was reached and every step solved its own problem */
  SS_VERDICT_DOUBTFUL,    /* the same, but something speaks against the run (docs/verdict.md) */
  SS_VERDICT_UNCERTIFIED, /* the duration was reached, but not every step was certified */
  SS_VERDICT_FAILED,      /* no certified step was found */
  SS_VERDICT_NO_SOLUTION, /* of the boundary-value problem; of the minimisation */
  SS_VERDICT_REFUSED,     /* the scene does not accept these values */
  SS_VERDICT_TIME_LIMIT,  /* the study's time_limit was reached */
  SS_VERDICT_ERROR,       /* memory, files */
  SS_STUDY_VERDICTS
} ss_study_verdict;
const char *ss_study_verdict_name(ss_study_verdict verdict); /* "certified", "no-solution" */

/* How to do a run. Zeroed: nothing is kept, nothing stops it. */
typedef struct ss_study_request {
  bool (*stop)(void);  /* where it returns true the run ends as SS_VERDICT_STOPPED */
  const char *folder;  /* for what is kept; NULL: nothing. It must be there */
  void (*alone)(bool); /* HDF5 is not for several threads: true before it is used, false after; NULL: one thread */
} ss_study_request;

/* Does one run. observed has ss_study_observations entries, NAN where a value is not finite or the run failed. *error
 * says why a run failed. */
ss_study_verdict ss_study_run(const ss_study *study, long run, const ss_study_request *request, double *observed,
                              ss_error *error);

/* Writes a scene file that reproduces the run: `stickslip run` (or bvp) does the same. SS_ERROR_UNSUPPORTED: the scene's
 * text cannot be changed so. */
ss_status ss_study_write_scene(const ss_study *study, long run, const char *path, ss_error *error);

/* FOLDER/run-000123SUFFIX */
void ss_study_run_path(const char *folder, long run, const char *suffix, char *path, size_t size);

/* Distance of two configurations, seven numbers per body as in ss_state.q: 2-norm over the positions, where a rotation counts
 * with the length of the relative rotation vector. */
double ss_pose_distance(const double *a, const double *b, int bodies);

/* The rows of a study as one HDF5 table: the compound dataset `table`, strings of fixed length, attributes name, study
 * (text), scene. The same rows make the same bytes. */
typedef struct ss_study_row {
  ss_study_verdict verdict;
  const double *observed;
  const char *error, *reproduce; /* NULL: none */
} ss_study_row;
ss_status ss_study_write_table(const ss_study *study, const ss_study_row *rows, const char *path, ss_error *error);

#ifdef __cplusplus
}
#endif

#endif
