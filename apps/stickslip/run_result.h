/* What `stickslip run` has to tell at the end, and the two ways of telling it. */
#ifndef RUN_RESULT_H
#define RUN_RESULT_H

#include "run_solutions.h"

/* The first events of a run, as many as are wanted. */
typedef struct event_list {
  ss_event *items;
  long n, capacity, limit;
  bool out_of_memory;
} event_list;

typedef struct run_result {
  const session *session;
  const ss_sim *sim;
  const event_list *events;
  const solution_study *solutions; /* NULL: not asked for */
  double wall_seconds;
  double start_residual; /* max |nu^T v| of the joints where the run started */
  double explicit_step;  /* with which explicit springs and dampers are stable where the run ended */
  bool complete;         /* the duration was reached */
  const char *message;   /* why not */
  const char *outputs[3];
  const uint64_t *hash; /* of all recorded numbers; NULL: not asked for */
} run_result;

/* Certified: the duration was reached and every step solved its own problem. */
bool run_certified(const run_result *r);

void run_print_text(const run_result *r); /* run_text.c */
int run_print_json(const run_result *r);  /* run_json.c */

#endif
