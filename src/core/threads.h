/* Threads of one simulation: a pool that calls a function for pieces of a range. The only place of the library that knows threads.
 *
 * Results do not depend on their number: pieces write to places of their own, and whatever is added up or put in order is so
 * afterwards, by the caller. NULL stands for one thread. */
#ifndef SS_CORE_THREADS_H
#define SS_CORE_THREADS_H

#include <stickslip/base.h>

enum { SS_MOST_THREADS = 64 };

typedef struct ss_threads ss_threads;

/* n threads, at most SS_MOST_THREADS, the caller's among them; *out is NULL where that is one, or where there are none to be had. */
ss_status ss_threads_create(int n, ss_threads **out, ss_error *error);
void ss_threads_destroy(ss_threads *threads);
int ss_threads_count(const ss_threads *threads);

/* Calls work(user, worker, first, last) for pieces first .. last - 1 of 0 .. n - 1 of at most `piece` each; worker is below the count, and
 * no two calls at a time have the same. One piece is done by the caller. */
typedef void ss_threads_work(void *user, int worker, int first, int last);
void ss_threads_for(ss_threads *threads, int n, int piece, ss_threads_work *work, void *user);

/* Numbers that are joined over 0 .. n - 1: term adds those of first .. last - 1 to parts that start as 0. The pieces, and the order in
 * which they are joined, are the same for any number of threads; a short range is one piece. */
enum { SS_MOST_PARTS = 4 };
typedef void ss_threads_part(void *user, int first, int last, double *parts);
void ss_threads_fold(ss_threads *threads, int n, ss_threads_part *term, void *user, double *parts, int count,
                     double (*join)(double a, double b));
/* The same for a range that is one piece. */
enum { SS_ONE_PIECE = 512 };
static inline void ss_fold_piece(int n, ss_threads_part *term, void *user, double *parts, int count) {
  for (int i = 0; i < count; i++) parts[i] = 0;
  if (n > 0) term(user, 0, n, parts);
}
double ss_sum_of_two(double a, double b);
double ss_larger_of_two(double a, double b);

/* One at a time, within a piece. */
void ss_threads_lock(ss_threads *threads);
void ss_threads_unlock(ss_threads *threads);

#endif
