/* What a study file becomes: variations, how they are combined, observations. */
#ifndef SS_STUDY_STUDY_H
#define SS_STUDY_STUDY_H

#include "core/arena.h"

#include <stickslip/io.h>
#include <stickslip/study.h>

typedef enum ss_variation_kind { SS_VARY_PARAMETER, SS_VARY_SCHEME, SS_VARY_STEP } ss_variation_kind;

typedef struct ss_variation {
  ss_variation_kind kind;
  const char *name;
  ss_study_value *values; /* [count]; NULL: a range that is sampled */
  long count;
  double from, to;
  bool logarithmic;
} ss_variation;

/* A number of a simulation that has a name: of a body's motion, or of the report. */
typedef struct ss_observable {
  int body;      /* -1: of the report */
  int component; /* of the motion: x y z qw qx qy qz vx vy vz wx wy wz */
  const struct ss_report_number *number;
} ss_observable;

/* The longest quantity that `text` starts with. Returns its length in characters; 0: none. */
size_t ss_observable_match(const ss_scene *scene, const char *text, ss_observable *out);
double ss_observable_value(const ss_observable *quantity, const ss_sim *sim);
/* Names near to a word that is none, for messages. */
const char *ss_observable_nearest(const ss_scene *scene, const char *word, size_t length, char *text, size_t size);

typedef enum ss_over_time { SS_AT_THE_END, SS_LARGEST, SS_SMALLEST, SS_MEAN } ss_over_time;

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

struct ss_study {
  ss_arena *arena;
  const char *file, *name, *scene;
  ss_variation *variations;
  int n_variations;
  bool random;
  long runs;
  uint64_t seed;
  const char *scheme, *solver; /* NULL: the scene's */
  double step, duration;       /* NAN: the scene's */
  ss_observation *observations;
  int n_observations;
};

/* Finds the quantities of an expression. error->column is the place in the text, counted from 1. */
ss_status ss_observation_parse(const char *name, const char *text, const ss_scene *scene, ss_arena *arena,
                               ss_observation *out, ss_error *error);
/* Its value where the measures are these; NAN where it is not finite. */
ss_status ss_observation_value(const ss_observation *observation, const ss_scene *scene, const double *measured,
                               double t, double *value, ss_error *error);

#endif
