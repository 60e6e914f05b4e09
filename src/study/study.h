/* What a study file becomes: variations, how they are combined, observations. */
#ifndef SS_STUDY_STUDY_H
#define SS_STUDY_STUDY_H

#include "core/arena.h"
#include "study/sampling.h"

#include <stickslip/io.h>
#include <stickslip/study.h>

typedef enum ss_variation_kind {
  SS_VARY_PARAMETER,
  SS_VARY_SCENE,
  SS_VARY_SCHEME,
  SS_VARY_STEP,
  SS_VARY_START, /* of a minimisation */
  SS_VARY_REPEAT /* of a point, with other noise */
} ss_variation_kind;

typedef struct ss_variation {
  ss_variation_kind kind;
  const char *name;
  ss_study_value *values; /* [count]; NULL: a range or a distribution that is sampled */
  long count;
  double from, to; /* the range; -INFINITY, INFINITY: a distribution without ends */
  bool ranged;     /* sampled between from and to, even where values are listed for grids */
  bool logarithmic;
  bool normal; /* with these, of the logarithm where logarithmic */
  double mean, deviation;
  bool crossed; /* all its values are run; otherwise it is sampled */
} ss_variation;

/* A parameter that follows from others. */
typedef struct ss_dependent {
  const char *name, *text;
} ss_dependent;

/* Noise on the start of a repeated run: a normal deviation of one coordinate of a body. */
typedef struct ss_noise {
  int *body;     /* [n_files] */
  int component; /* x y z rx ry rz vx vy vz wx wy wz */
  double deviation;
} ss_noise;

/* A number of a simulation that has a name: of a body's motion, or of the report. */
typedef struct ss_observable {
  int body;   /* -1: of the report or of the run */
  int output; /* -1: none; likewise the joint, whose component is position speed force */
  int joint;
  int component; /* of the motion: x y z qw qx qy qz vx vy vz wx wy wz */
  const struct ss_report_number *number;
} ss_observable;

/* The longest quantity that `text` starts with. Returns its length in characters; 0: none. */
size_t ss_observable_match(const ss_scene *scene, const char *text, ss_observable *out);
/* What a run knows beside its simulation. NAN: not of this kind of run. */
typedef struct ss_run_numbers {
  double solutions, residual, simulations;      /* bvp */
  double order, position_error, velocity_error; /* converge: of the finest step; the order from the last two */
} ss_run_numbers;
double ss_observable_value(const ss_observable *quantity, const ss_sim *sim, const ss_run_numbers *numbers);
bool ss_observable_is_of(const ss_observable *quantity, ss_study_kind kind); /* whether such runs have it */
/* Names near to a word that is none, for messages. */
const char *ss_observable_nearest(const ss_scene *scene, const char *word, size_t length, char *text, size_t size);

typedef enum ss_over_time { SS_AT_THE_END, SS_AT_THE_START, SS_LARGEST, SS_SMALLEST, SS_MEAN } ss_over_time;

/* A quantity of an observation, with the name that stands for it in the expression. */
typedef struct ss_measure {
  ss_observable quantity;
  ss_over_time how;
  const char *stand_in;
} ss_measure;

typedef struct ss_observation {
  const char *name;
  const char *text; /* the expression, quantities replaced by names of the same length */
  ss_measure *measures;
  int n_measures;
} ss_observation;

/* A scene of the study, as text: runs do not read files, but for meshes. */
typedef struct ss_study_file {
  const char *path, *word; /* the word is what the study calls it */
  const char *text;
  size_t length;
  ss_parameter *parameters; /* as declared, then the inputs */
  int n_parameters, n_inputs;
  ss_observation *observations; /* [n_observations] */
  ss_observation objective;
} ss_study_file;

typedef struct ss_minimisation {
  bool given;
  ss_variation *over; /* [n]: ranges */
  int n;
  long starts, evaluations;
  double tolerance;
} ss_minimisation;

struct ss_study {
  ss_arena *arena;
  const char *file, *name, *text;
  ss_study_kind kind;
  ss_study_file *files;
  int n_files;
  ss_variation *variations;
  int n_variations;
  ss_dependent *dependents;
  int n_dependents;
  ss_sampling sampling;
  long samples; /* 1 for grids */
  long runs;
  uint64_t seed;
  long repeats;
  uint64_t noise_seed;
  ss_noise *noise;
  int n_noise;
  ss_minimisation minimisation;
  const char *scheme, *solver; /* NULL: the scene's */
  double step, duration;       /* NAN: the scene's */
  double *steps;               /* converge: from coarse to fine */
  int n_steps;
  double reference;  /* converge: step of the reference; NAN: a sixteenth of the finest */
  double time_limit; /* seconds for a run; NAN: none */
  ss_study_keep keep;
  const char **observed; /* names of the columns, those of a minimisation first */
  int n_observations;    /* without those */
};

/* ---- one evaluation of a scene (study_run.c), of which a run consists of one or, where it minimises, of many ---- */

typedef struct ss_evaluation {
  const ss_study *study;
  const ss_study_file *file;
  long run;
  const double *design; /* [minimisation.n]; NULL: none */
  bool (*stop)(void *user);
  void *user;
  const char *record; /* path of an HDF5 result; NULL: none */
  const char *state;  /* path of a checkpoint of the last state; NULL: none */
  double *observed;   /* [n_observations] */
  double objective;
  bool certified, ended; /* ended: not stopped */
  bool no_solution;      /* of a boundary-value problem */
  char doubts[200];      /* "overlap 0.01, energy 2"; empty: none */
} ss_evaluation;

/* Does it. An error says why there is no result. */
ss_status ss_study_evaluate(ss_evaluation *e, ss_error *error);

/* "name=value" of all parameters that vary, depend or are designed, in the arena; and inputs likewise. */
typedef struct ss_settings {
  const char **parameters, **inputs;
  int n_parameters, n_inputs;
} ss_settings;
ss_status ss_study_settings(const ss_study *study, long run, const double *design, ss_arena *arena, ss_settings *out,
                            ss_error *error);
/* The scene of a run with its simulation's options, noise included. */
ss_status ss_study_open(const ss_study *study, long run, const double *design, ss_arena *arena, ss_scene **scene,
                        ss_simulation *options, ss_error *error);
int ss_study_file_of(const ss_study *study, long run);
/* The coordinate s in [0, 1) of a range or distribution. */
double ss_variation_sampled(const ss_variation *v, double s);

/* Minimises f over a box (minimise.c). f may return INFINITY; it returns false where everything is to stop. */
typedef struct ss_minimum {
  double *x; /* [n]: the start, then the best point */
  double value;
  long evaluations;
} ss_minimum;
bool ss_nelder_mead(int n, const double *low, const double *high, double tolerance, long most,
                    bool (*f)(void *user, const double *x, double *value), void *user, ss_minimum *out);

/* Finds the quantities of an expression. error->column is the place in the text, counted from 1. */
ss_status ss_observation_parse(const char *name, const char *text, const ss_scene *scene, ss_arena *arena,
                               ss_observation *out, ss_error *error);
/* Its value where the measures are these; NAN where it is not finite. */
ss_status ss_observation_value(const ss_observation *observation, const ss_scene *scene, const double *measured,
                               double t, double *value, ss_error *error);

#endif
