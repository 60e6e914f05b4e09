/* Work that is spread over threads and, where the program was started by mpirun, over ranks. The only place of the command
 * line that knows MPI; without it, or without a launcher, there is one rank. */
#ifndef RANKS_H
#define RANKS_H

#include <stdbool.h>
#include <stddef.h>

/* Before options are read. Ranks but the first write nothing to standard output and error from here on. Returns an exit
 * code: started by a launcher as one of several, but built without MPI, is reported. */
int ranks_start(void);
/* After the command; the exit code that this rank is to return: the first one's is the job's. */
int ranks_end(int code);

int ranks_count(void);
int ranks_index(void);
const char *ranks_library(void); /* "Open MPI v4.1.4"; NULL: built without */

/* Collective. True on all ranks where it is on the first. */
bool ranks_agree(bool first);
/* Ends all ranks at once, with a message: what one of them cannot go on without has failed. */
void ranks_abort(const char *message);

typedef struct ranks_job {
  long n;           /* pieces of work */
  const bool *done; /* [n], on the first rank: these are not needed; NULL: all are */
  long threads;     /* of this rank */
  /* Any thread of any rank: does a piece, returns what is to be told of it (to be freed); NULL: nothing. */
  void *(*work)(void *user, long index, size_t *size);
  /* The first rank, one at a time, in no particular order: what was told. */
  void (*take)(void *user, long index, const void *told, size_t size);
  /* The first rank, now and then, while others work; may be NULL. */
  void (*idle)(void *user);
  bool (*stop)(void); /* no new piece is begun where it says so; may be NULL */
  void *user;
} ranks_job;

/* Collective: returns when all pieces are done (on the first rank) or no more are to be had (on others). */
void ranks_for(const ranks_job *job);

#endif
