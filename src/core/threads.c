/* A pool of C11 threads. They live as long as the pool, and take the pieces of a range one after the other from a common counter.
 * Between ranges they look for the next one for some microseconds, then they sleep. The caller waits for pieces that are being
 * done, not for threads: who comes late finds the range closed. It, too, sleeps after some microseconds, and leaves its processor to those
 * who work.
 *
 * The threads of C need no library beside libc, so that a program that links the static library needs none either; with
 * STICKSLIP_THREADS=OFF, or where the C library has no threads, everything is done by the caller. */
#include "core/threads.h"

#include "core/arena.h"

#include <math.h>

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
  atomic_long round; /* ranges so far, twice; odd: the present one may be joined */
  atomic_int inside; /* of the others: at the present range, or looking whether they may join it */
  atomic_int asleep; /* of the others: waiting for `begin` */
  atomic_bool busy;  /* from before the present range until nobody is inside it */
  atomic_bool waits; /* the caller, for `end`: the last one who leaves the range tells it */
  atomic_bool ends;
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

static bool is_news(ss_threads *t, long seen) {
  const long round = atomic_load(&t->round);
  return atomic_load(&t->ends) || (round % 2 != 0 && round != seen);
}

enum { LOOKS = 20000 }; /* before one sleeps */

/* Until there is another range to join, or the end: at first awake, because the next one often follows at once. */
static void await_news(ss_threads *t, long seen) {
  for (int k = 0; k < LOOKS; k++)
    if (is_news(t, seen)) return;
  (void)mtx_lock(&t->pool);
  atomic_fetch_add(&t->asleep, 1);
  while (!is_news(t, seen)) (void)cnd_wait(&t->begin, &t->pool);
  atomic_fetch_sub(&t->asleep, 1);
  (void)mtx_unlock(&t->pool);
}

static void leave(ss_threads *t) {
  if (atomic_fetch_sub(&t->inside, 1) > 1 || !atomic_load(&t->waits)) return;
  (void)mtx_lock(&t->pool);
  (void)cnd_signal(&t->end);
  (void)mtx_unlock(&t->pool);
}

/* Until nobody is inside any more. */
static void await_others(ss_threads *t) {
  for (int k = 0; k < LOOKS; k++)
    if (atomic_load(&t->inside) == 0) return;
  (void)mtx_lock(&t->pool);
  atomic_store(&t->waits, true);
  while (atomic_load(&t->inside) > 0) (void)cnd_wait(&t->end, &t->pool);
  atomic_store(&t->waits, false);
  (void)mtx_unlock(&t->pool);
}

static int run_worker(void *argument) {
  const worker_start start = *(worker_start *)argument;
  ss_free(argument);
  ss_threads *t = start.threads;
  for (long seen = 0;;) {
    await_news(t, seen);
    if (atomic_load(&t->ends)) return 0;
    atomic_fetch_add(&t->inside, 1);
    seen = atomic_load(&t->round); /* the caller closes it before it looks who is inside */
    if (seen % 2 != 0) do_pieces(t, start.worker);
    leave(t);
  }
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
  atomic_init(&t->round, 0);
  atomic_init(&t->inside, 0);
  atomic_init(&t->asleep, 0);
  atomic_init(&t->busy, false);
  atomic_init(&t->waits, false);
  atomic_init(&t->ends, false);
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
  atomic_store(&t->ends, true);
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

static void wake_sleepers(ss_threads *t) {
  if (atomic_load(&t->asleep) == 0) return;
  (void)mtx_lock(&t->pool);
  (void)cnd_broadcast(&t->begin);
  (void)mtx_unlock(&t->pool);
}

/* Within a piece there are no others to be had, nor where the range is closed and others still work. */
static bool may_share(ss_threads *t) { return t && !atomic_load(&t->busy); }

static void share_pieces(ss_threads *t, int n, int piece, ss_threads_work *work, void *user) {
  atomic_store(&t->busy, true);
  t->work = work;
  t->data = user;
  t->size = n;
  t->piece = piece;
  atomic_store(&t->next, 0);
  atomic_fetch_add(&t->round, 1);
  wake_sleepers(t);
  do_pieces(t, 0);
  atomic_fetch_add(&t->round, 1);
  await_others(t);
  atomic_store(&t->busy, false);
}

void ss_threads_lock(ss_threads *t) {
  if (t) (void)mtx_lock(&t->user);
}

void ss_threads_unlock(ss_threads *t) {
  if (t) (void)mtx_unlock(&t->user);
}

#else

static bool may_share(ss_threads *t) {
  (void)t;
  return false;
}

static void share_pieces(ss_threads *t, int n, int piece, ss_threads_work *work, void *user) {
  (void)t;
  (void)piece;
  work(user, 0, 0, n);
}

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

void ss_threads_lock(ss_threads *threads) { (void)threads; }
void ss_threads_unlock(ss_threads *threads) { (void)threads; }

#endif

void ss_threads_for(ss_threads *t, int n, int piece, ss_threads_work *work, void *user) {
  if (n > piece && may_share(t))
    share_pieces(t, n, piece, work, user);
  else if (n > 0)
    work(user, 0, 0, n);
}

/* ---- sums ---- */

enum { PIECES = 64 }; /* of a range, at most: they do not depend on the number of threads */

typedef struct fold_job {
  ss_threads_part *term;
  void *user;
  int n, piece;
  double part[PIECES][SS_MOST_PARTS];
} fold_job;

static void fold_pieces(void *data, int worker, int from, int to) {
  (void)worker;
  fold_job *job = data;
  for (int k = from; k < to; k++) {
    const int first = k * job->piece, last = first + job->piece;
    for (int i = 0; i < SS_MOST_PARTS; i++) job->part[k][i] = 0;
    job->term(job->user, first, last < job->n ? last : job->n, job->part[k]);
  }
}

void ss_threads_fold(ss_threads *t, int n, ss_threads_part *term, void *user, double *sums, int count,
                     double (*join)(double a, double b)) {
  if (n <= SS_ONE_PIECE) {
    ss_fold_piece(n, term, user, sums, count);
    return;
  }
  const int least = (n + PIECES - 1) / PIECES, piece = least < SS_ONE_PIECE ? SS_ONE_PIECE : least;
  const int pieces = (n + piece - 1) / piece;
  fold_job job;
  job.term = term;
  job.user = user;
  job.n = n;
  job.piece = piece;
  ss_threads_for(t, pieces, 1, fold_pieces, &job);
  for (int k = 0; k < pieces; k++)
    for (int i = 0; i < count; i++) sums[i] = k == 0 ? job.part[0][i] : join(sums[i], job.part[k][i]);
}

double ss_sum_of_two(double a, double b) { return a + b; }
double ss_larger_of_two(double a, double b) { return a >= b || isnan(a) ? a : b; } /* NaN stays */
