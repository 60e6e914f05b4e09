/* The only place of the command line that knows threads. */
#ifndef PARALLEL_H
#define PARALLEL_H

/* Calls work(user, index) for every index below n, `threads` at a time, in no particular order; it must not mind. With
 * one thread (or where no other can be started) they are called in order. */
void parallel_for(long n, long threads, void (*work)(void *user, long index), void *user);

/* finish is called by one thread at a time, so that what it writes is whole. */
void parallel_alone(void (*finish)(void *user, long index), void *user, long index);

long parallel_processors(void); /* at least 1 */

#endif
