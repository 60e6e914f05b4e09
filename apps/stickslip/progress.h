/* A progress line on stderr, only where stderr is a terminal. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "cli.h"

typedef struct progress {
  bool shown;        /* stderr is a terminal */
  const char *label; /* what is running */
  double start;      /* wall clock */
  double last_check, last_draw;
  long stride, countdown; /* steps between two looks at the clock, so that they cost nothing */
} progress;

progress progress_start(const char *label);
void progress_step(progress *p, const ss_sim *sim);
void progress_clear(const progress *p);

/* Steps to the end, to a failure, to a signal, or for so many seconds (INFINITY: no limit), with a progress line. */
ss_status progress_advance(ss_sim *sim, double seconds, ss_error *error);

#endif
