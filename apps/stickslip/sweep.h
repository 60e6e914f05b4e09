/* stickslip sweep: what the files of the command share. */
#ifndef SWEEP_H
#define SWEEP_H

#include "json.h"

typedef struct sweep_run {
  bool done, certified;
  double *observed; /* [ss_study_observations] */
  char *error;      /* why it failed; NULL: it did not */
} sweep_run;

typedef struct sweep {
  const ss_study *study;
  const char *file; /* of the study */
  sweep_run *runs;  /* [ss_study_runs] */
  double *memory;   /* all observations */
  long finished, failed;
  long threads;
  double seconds;
} sweep;

/* "mu = 0.1, L = 2" */
void sweep_describe(const sweep *s, long run, char *text, size_t size);

/* sweep_output.c */
void sweep_print_text(const sweep *s);
int sweep_print_csv(const sweep *s, const char *path);
int sweep_print_json(const sweep *s);

/* sweep_report.c: the study as a document. Returns an exit code; failures are reported. */
int sweep_write_html(const sweep *s, const char *path);

/* sweep_journal.c: finished runs are kept in a file, line by line, so that a study that was stopped goes on. */
typedef struct sweep_journal sweep_journal;
/* Reads what is there into the sweep. Returns an exit code; failures are reported. */
int sweep_journal_open(sweep_journal **journal, const char *path, sweep *s);
void sweep_journal_add(sweep_journal *journal, const sweep *s, long run);
int sweep_journal_close(sweep_journal *journal); /* NULL is allowed */

#endif
