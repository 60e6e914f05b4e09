/* A pool of C11 threads. They sleep between the ranges, and take the pieces of a range one after the other from a common counter.
 *
 * The threads of C need no library beside libc, so that a program that links the static library needs none either; with
 * STICKSLIP_THREADS=OFF, or where the C library has no threads, everything is done by the caller. */
#include "core/threads.h"

#include "core/arena.h"

#if !defined(__STDC_NO_THREADS__) && !defined(SS_WITHOUT_THREADS)

#include <stdatomic.h>
#include <string.h>
#include <threads.h>

struct ss_threads {
  int n; /* the caller's among them */
  thrd_t *others;
  int started; /* of the others */
  mtx_t pool, user;
  cnd_t begin, end;
  long round;  /* ranges so far */
  int waiting; /* threads that have not ended the present one */
  bool ends;
  ss_threads_work *work; /* of the present range */
  void *data;
  int size, piece;
  atomic_int next; /* first index that nobody has taken */
};

typedef struct worker_start {
  ss_threads *threads;
  int worker;
} worker_start;

static void do_pieces(ss_threads *t, int worker) {
  for (;;) {
    const int first = atomic_fetch_add(&t->next, t->piece);
    if (first >= t->size) return;
    t->work(t->data, worker, first, t->size - first < t->piece ? t->size : first + t->piece);
  }
}

static int run_worker(void *argument) {
  const worker_start start = *(worker_start *)argument;
  ss_free(argument);
  ss_threads *t = start.threads;
  long seen = 0;
  (void)mtx_lock(&t->pool);
  for (;;) {
    while (t->round == seen && !t->ends) (void)cnd_wait(&t->begin, &t->pool);
    if (t->ends) break;
    seen = t->round;
    (void)mtx_unlock(&t->pool);
    do_pieces(t, start.worker);
    (void)mtx_lock(&t->pool);
    if (--t->waiting == 0) (void)cnd_signal(&t->end);
  }
  (void)mtx_unlock(&t->pool);
  return 0;
}

static bool start_worker(ss_threads *t, int worker) {
  worker_start *start = ss_alloc(sizeof *start);
  if (!start) return false;
  *start = (worker_start){t, worker};
  if (thrd_create(&t->others[worker - 1], run_worker, start) == thrd_success) return true;
  ss_free(start);
  return false;
}

ss_status ss_threads_create(int n, ss_threads **out, ss_error *error) {
  *out = NULL;
  if (n > SS_MOST_THREADS) n = SS_MOST_THREADS;
  if (n <= 1) return SS_OK;
  ss_threads *t = ss_alloc(sizeof *t);
  thrd_t *others = ss_alloc(sizeof *others * (size_t)n);
  if (!t || !others) {
    ss_free(t);
    ss_free(others);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  memset(t, 0, sizeof *t);
  t->n = n;
  t->others = others;
  atomic_init(&t->next, 0);
  (void)mtx_init(&t->pool, mtx_plain);
  (void)mtx_init(&t->user, mtx_plain);
  (void)cnd_init(&t->begin);
  (void)cnd_init(&t->end);
  while (t->started < n - 1 && start_worker(t, t->started + 1)) t->started++;
  if (t->started < n - 1) {
    ss_threads_destroy(t);
    return ss_fail(error, SS_ERROR_MEMORY, "no %d threads to be had", n);
  }
  *out = t;
  return SS_OK;
}

void ss_threads_destroy(ss_threads *t) {
  if (!t) return;
  (void)mtx_lock(&t->pool);
  t->ends = true;
  (void)cnd_broadcast(&t->begin);
  (void)mtx_unlock(&t->pool);
  for (int k = 0; k < t->started; k++) (void)thrd_join(t->others[k], NULL);
  cnd_destroy(&t->begin);
  cnd_destroy(&t->end);
  mtx_destroy(&t->pool);
  mtx_destroy(&t->user);
  ss_free(t->others);
  ss_free(t);
}

int ss_threads_count(const ss_threads *t) { return t ? t->n : 1; }

void ss_threads_for(ss_threads *t, int n, int piece, ss_threads_work *work, void *user) {
  if (!t || n <= piece) {
    if (n > 0) work(user, 0, 0, n);
    return;
  }
  (void)mtx_lock(&t->pool);
  t->work = work;
  t->data = user;
  t->size = n;
  t->piece = piece;
  atomic_store(&t->next, 0);
  t->waiting = t->started;
  t->round++;
  (void)cnd_broadcast(&t->begin);
  (void)mtx_unlock(&t->pool);
  do_pieces(t, 0);
  (void)mtx_lock(&t->pool);
  while (t->waiting > 0) (void)cnd_wait(&t->end, &t->pool);
  (void)mtx_unlock(&t->pool);
}

void ss_threads_lock(ss_threads *t) {
  if (t) (void)mtx_lock(&t->user);
}

void ss_threads_unlock(ss_threads *t) {
  if (t) (void)mtx_unlock(&t->user);
}

#else

ss_status ss_threads_create(int n, ss_threads **out, ss_error *error) {
  (void)n;
  (void)error;
  *out = NULL;
  return SS_OK;
}

void ss_threads_destroy(ss_threads *threads) { (void)threads; }
int ss_threads_count(const ss_threads *threads) {
  (void)threads;
  return 1;
}

void ss_threads_for(ss_threads *threads, int n, int piece, ss_threads_work *work, void *user) {
  (void)threads;
  (void)piece;
  if (n > 0) work(user, 0, 0, n);
}

void ss_threads_lock(ss_threads *threads) { (void)threads; }
void ss_threads_unlock(ss_threads *threads) { (void)threads; }

#endif
