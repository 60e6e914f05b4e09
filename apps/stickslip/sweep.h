/* stickslip sweep: what the files of the command share. */
#ifndef SWEEP_H
#define SWEEP_H

#include "json.h"

typedef struct sweep_run {
  ss_study_verdict verdict; /* SS_VERDICT_STOPPED: not done */
  bool reproducible;        /* there is a scene file of it */
  double *observed;         /* [ss_study_observations] */
  char *error;              /* why it failed; NULL: it did not */
} sweep_run;

typedef struct sweep {
  const ss_study *study;
  const char *file;   /* of the study */
  const char *folder; /* for what is kept of runs */
  sweep_run *runs;    /* [ss_study_runs]; the first rank's are complete */
  double *memory;     /* all observations */
  long finished, failed;
  long threads, ranks;
  double seconds, busy; /* wall time; the runs' together */
} sweep;

bool sweep_done(const sweep_run *run);
bool sweep_failed(const sweep_run *run);
/* Where its scene is; false: there is none. */
bool sweep_reproduce(const sweep *s, long run, char *path, size_t size);
/* "mu = 0.1, L = 2" */
void sweep_describe(const sweep *s, long run, char *text, size_t size);

/* sweep_output.c */
void sweep_print_text(const sweep *s);
int sweep_print_csv(const sweep *s, const char *path);
int sweep_print_json(const sweep *s);
int sweep_write_table(const sweep *s, const char *path); /* HDF5 */

/* sweep_report.c: the study as a document. Returns an exit code; failures are reported. */
int sweep_write_html(const sweep *s, const char *path);

/* sweep_journal.c: finished runs are kept in files, line by line, so that a study that was stopped goes on. Every rank writes
 * its own, PATH of the first and PATH.1, PATH.2 ... of others. */
typedef struct sweep_journal sweep_journal;
/* Reads what all journals of the study have into the sweep. Returns an exit code; failures are reported. `retry`: failed
 * runs do not count. */
int sweep_journal_read(const char *path, bool retry, sweep *s);
/* Opens the journal of this rank, to go on behind its last whole line. */
int sweep_journal_open(sweep_journal **journal, const char *path, const sweep *s);
bool sweep_journal_add(sweep_journal *journal, const sweep *s, long run,
                       const sweep_run *r);      /* false: it cannot be written */
int sweep_journal_close(sweep_journal *journal); /* NULL is allowed */

#endif
