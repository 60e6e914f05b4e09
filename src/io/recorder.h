/* What the recorders share: when to record, where the file goes, and the columns of a row. */
#ifndef SS_IO_RECORDER_H
#define SS_IO_RECORDER_H

#include "io/output_file.h"

#include <stickslip/io.h>

/* Per body: position 3, orientation 4 (w x y z), velocity 3, angular velocity 3. */
enum { SS_MOTION_COLUMNS = 13 };
extern const char *const ss_motion_column_names[SS_MOTION_COLUMNS];
void ss_motion_columns(const ss_motion *motion, double columns[SS_MOTION_COLUMNS]);

/* Per coordinate of a user-defined system: its value and its rate. */
enum { SS_COORDINATE_COLUMNS = 2 };
extern const char *const ss_coordinate_columns[SS_COORDINATE_COLUMNS];

/* A kind of recorder embeds this as its first member. */
struct ss_recorder {
  const struct ss_recorder_kind *kind;
  ss_output_file file;
  long every;
  long last_step;   /* the last one recorded */
  ss_error failure; /* of an event, which cannot report it itself: the next step does */
};

typedef struct ss_recorder_kind {
  ss_status (*row)(ss_recorder *recorder, const ss_sim *sim, ss_error *error);
  /* May be NULL. */
  ss_status (*event)(ss_recorder *recorder, const ss_sim *sim, const ss_event *event, ss_error *error);
  /* Writes what is buffered and closes the file. Called once, also after a failure. */
  ss_status (*finish)(ss_recorder *recorder, const ss_sim *sim, bool complete, ss_error *error);
  void (*release)(ss_recorder *recorder); /* frees the recorder itself; its file may still be open */
} ss_recorder_kind;

/* Ends the opening of a recorder whose file is ready: records the state at the start. */
ss_status ss_recorder_start(ss_recorder *recorder, const ss_sim *sim, ss_error *error);

#endif
