/* A simulation that runs while one watches: what `stickslip view --live` does, apart from how it is asked (live_server.c).
 * Its memory does not grow. */
#ifndef LIVE_H
#define LIVE_H

#include "json.h"
#include "session.h"

enum { LIVE_MESSAGE = 512 };

typedef struct live {
  const char *path;
  overrides overrides; /* those of the command line, and the parameters as they are now */
  char **settings;     /* owned "name=value" texts, one per parameter that was changed in the page */
  int n_settings;
  session session;
  ss_sim *sim;
  ss_snapshot *snapshot;
  bool running, stopped;
  double speed;               /* simulated seconds per second */
  double due;                 /* simulated time that is to be caught up */
  double published;           /* wall clock of the last change of the sequence */
  long sequence;              /* counts the states worth looking at */
  long generation;            /* counts the models: bodies, shapes, parameters */
  char message[LIVE_MESSAGE]; /* the last thing worth saying, "" if there is none */
} live;

/* A zeroed live may be closed. */
ss_status live_open(live *l, const char *path, const overrides *o, ss_error *error);
void live_close(live *l);

/* Lets wall-clock seconds pass; behind time it drops what it cannot catch up. */
void live_advance(live *l, double seconds);

/* Executes {"action": ...}: start, pause, step, reset, stop, speed (value), set (name, value), pull (body, point, target),
 * release. False: not possible; l->message says why, and everything goes on as before. */
bool live_command(live *l, const json_t *order);

/* The present state as JSON text, to be freed; NULL: out of memory. */
char *live_state(live *l, size_t *size);
char *live_page(live *l, size_t *size);

/* live_server.c: serves the page on the loopback until it is stopped; port 0: any free one. Returns the exit code. */
int live_serve(const char *path, const overrides *o, long port);

#endif
