/* The first rank hands out pieces of work and collects what is told of them; its main thread does nothing else, so that long
 * pieces do not keep others waiting. On every rank the main thread alone talks MPI (MPI_THREAD_FUNNELED), others work.
 *
 *     rank k -> 0   REPORT: how many are wanted, seconds spent, results of finished pieces
 *     rank 0 -> k   PIECES: numbers of pieces (none: there are no more), when to ask again
 *
 * Pieces are handed out in lots that take about a tenth of a second, with more than a hundred ranks longer, so that the first
 * rank hears a thousand reports a second at most. They get smaller towards the end: short pieces cost few messages and long
 * ones are balanced. Where lots are larger than one piece a rank asks again before it runs dry. Waiting is done asleep, not
 * spinning. */
#include "ranks.h"

#include "cli.h"
#include "parallel.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef STICKSLIP_MPI
#include <mpi.h>
#endif

static int rank_index, rank_count = 1;
static FILE *complaints; /* standard error as it was */

int ranks_count(void) { return rank_count; }
int ranks_index(void) { return rank_index; }

/* Set by Open MPI, by PMIx (Slurm), by MPICH and its kin. */
static int launched_ranks(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK"};
  int most = 0;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const char *value = getenv(names[i]);
    if (!value) continue;
    const int n = i == 3 ? 1 : (int)strtol(value, NULL, 10);
    if (n > most) most = n;
  }
  return most;
}

/* ---- one rank: threads alone ---- */

typedef struct piece {
  long index;
  size_t size;
  void *bytes; /* what is told of it */
} piece;

typedef struct finished {
  const ranks_job *job;
  piece piece;
} finished;

static void take_finished(void *user, long index) {
  const finished *f = user;
  f->job->take(f->job->user, index, f->piece.bytes, f->piece.size);
}

static void do_piece(void *user, long index) {
  const ranks_job *job = user;
  if ((job->done && job->done[index]) || (job->stop && job->stop())) return;
  finished f = {.job = job};
  f.piece.bytes = job->work(job->user, index, &f.piece.size);
  if (f.piece.bytes) parallel_alone(take_finished, &f, index);
  free(f.piece.bytes);
}

static void run_here(const ranks_job *job) {
  ranks_job copy = *job;
  parallel_for(job->n, job->threads, do_piece, &copy);
}

#ifndef STICKSLIP_MPI

const char *ranks_library(void) { return NULL; }

int ranks_start(void) {
  complaints = stderr;
  const int n = launched_ranks();
  return n > 1 ? usage_error("started as one of %d ranks, but built without MPI (docs/studies.md)", n) : EXIT_DONE;
}

int ranks_end(int code) { return code; }
bool ranks_agree(bool first) { return first; }

void ranks_abort(const char *message) {
  (void)fprintf(complaints, "stickslip: %s\n", message);
  exit(EXIT_USAGE);
}

void ranks_for(const ranks_job *job) { run_here(job); }

#else

const char *ranks_library(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "MPI";
  text[strcspn(text, ",\n")] = '\0';
  return text;
}

static bool initialised;

int ranks_start(void) {
  complaints = stderr;
  if (launched_ranks() == 0) return EXIT_DONE;
  int provided = 0;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    return usage_error("MPI could not be started");
  initialised = true;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank_index);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  if (rank_index == 0) return EXIT_DONE;
  FILE *copy = fdopen(dup(STDERR_FILENO), "w");
  if (copy) complaints = copy;
  if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
    return usage_error("cannot open /dev/null");
  return EXIT_DONE;
}

int ranks_end(int code) {
  if (!initialised) return code;
  (void)fflush(stdout);
  (void)MPI_Finalize();
  return rank_index == 0 ? code : EXIT_DONE;
}

bool ranks_agree(bool first) {
  int value = first;
  if (rank_count > 1) (void)MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return value != 0;
}

void ranks_abort(const char *message) {
  (void)fprintf(complaints, "stickslip: rank %d: %s\n", rank_index, message);
  (void)fflush(complaints);
  if (initialised) (void)MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
  exit(EXIT_USAGE);
}

/* ---- several ranks: threads of one rank share a board ---- */

enum { REPORT = 1, PIECES = 2 };
static const double LOT_SECONDS = 0.1, REPORT_SECONDS = 1e-3; /* of a thread; between two reports to the first rank */
static const long LEAST_WAIT = 20000, LONGEST_WAIT = 500000;  /* nanoseconds */

typedef struct board {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  const ranks_job *job;
  long next;   /* the first rank: what was not handed out begins here */
  long *queue; /* others: what they were given */
  long head, tail, capacity;
  bool last;                /* no more will come */
  long low;                 /* ask for more where so many are left; 0: where a thread has nothing to do */
  long busy, idle, running; /* threads: at work, waiting, not ended */
  piece *out;               /* others: finished, not yet told */
  long n_out, out_capacity;
  double spent; /* seconds of work, and how many pieces: the first rank's of all, others' since they reported */
  long pieces, threads;
} board;

static void *grow(void *memory, long *capacity, size_t size) {
  *capacity = *capacity ? 2 * *capacity : 256;
  void *more = realloc(memory, (size_t)*capacity * size);
  if (!more) ranks_abort("out of memory");
  return more;
}

/* The next piece for a thread of this rank; -1: none now. */
static long pop(board *b) {
  const ranks_job *job = b->job;
  if (job->stop && job->stop()) {
    b->last = true;
    b->head = b->tail;
    b->next = job->n;
    return -1;
  }
  if (rank_index != 0) return b->head < b->tail ? b->queue[b->head++] : -1;
  while (b->next < job->n && job->done && job->done[b->next]) b->next++;
  return b->next < job->n ? b->next++ : -1;
}

static void tell(board *b, piece p) {
  if (!p.bytes) return;
  if (rank_index == 0) {
    b->job->take(b->job->user, p.index, p.bytes, p.size);
    free(p.bytes);
    return;
  }
  if (b->n_out == b->out_capacity) b->out = grow(b->out, &b->out_capacity, sizeof *b->out);
  b->out[b->n_out++] = p;
}

static void *serve(void *argument) {
  board *b = argument;
  (void)pthread_mutex_lock(&b->mutex);
  for (;;) {
    const long index = pop(b);
    if (index < 0 && b->last) break;
    if (index < 0) {
      b->idle++;
      (void)pthread_cond_broadcast(&b->changed);
      (void)pthread_cond_wait(&b->changed, &b->mutex);
      b->idle--;
      continue;
    }
    b->busy++;
    if (b->tail - b->head <= b->low) (void)pthread_cond_broadcast(&b->changed);
    (void)pthread_mutex_unlock(&b->mutex);
    const double start = wall_clock();
    piece p = {.index = index};
    p.bytes = b->job->work(b->job->user, index, &p.size);
    (void)pthread_mutex_lock(&b->mutex);
    b->busy--;
    b->spent += wall_clock() - start;
    b->pieces++;
    tell(b, p);
  }
  b->running--;
  (void)pthread_cond_broadcast(&b->changed);
  (void)pthread_mutex_unlock(&b->mutex);
  return NULL;
}

static void nap(long *nanoseconds) {
  const struct timespec wait = {0, *nanoseconds};
  (void)nanosleep(&wait, NULL);
  *nanoseconds = 2 * *nanoseconds < LONGEST_WAIT ? 2 * *nanoseconds : LONGEST_WAIT;
}

/* ---- messages ---- */

typedef struct report_head {
  long wanted, threads, pieces, told;
  double spent;
  bool final;
} report_head;

typedef struct buffer {
  char *bytes;
  size_t used, capacity;
} buffer;

static void put(buffer *m, const void *bytes, size_t size) {
  if (m->used + size > m->capacity) {
    m->capacity = 2 * (m->used + size);
    m->bytes = realloc(m->bytes, m->capacity);
    if (!m->bytes) ranks_abort("out of memory");
  }
  memcpy(m->bytes + m->used, bytes, size);
  m->used += size;
}

static const char *get(const char *at, void *bytes, size_t size) {
  memcpy(bytes, at, size);
  return at + size;
}

/* Waits asleep for a message and receives it. False: there is none, and `wait` is false. */
static bool receive(int tag, bool wait, buffer *m, int *source) {
  MPI_Status status;
  int there = 0, size = 0;
  for (long pause = LEAST_WAIT;; nap(&pause)) {
    (void)MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status);
    if (there || !wait) break;
  }
  if (!there) return false;
  (void)MPI_Get_count(&status, MPI_BYTE, &size);
  m->used = 0;
  if (m->capacity < (size_t)size) {
    m->capacity = (size_t)size;
    m->bytes = realloc(m->bytes, m->capacity);
    if (!m->bytes) ranks_abort("out of memory");
  }
  m->used = (size_t)size;
  *source = status.MPI_SOURCE;
  (void)MPI_Recv(m->bytes, size, MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return true;
}

/* ---- the first rank ---- */

/* How many pieces a rank gets that asks for `wanted` because so many of its threads have nothing to do. */
static long lot_size(const board *b, const report_head *head, long *low) {
  *low = 0;
  const double mean = b->pieces ? b->spent / (double)b->pieces : (double)INFINITY;
  const double seconds = fmax(LOT_SECONDS, REPORT_SECONDS * rank_count);
  if (!(mean < seconds / 2)) return head->wanted;
  const double all = (double)b->threads * (double)rank_count;
  const double by_time = seconds / fmax(mean, 1e-9), by_share = (double)(b->job->n - b->next) / (3 * all);
  const double lot = fmin(fmin(by_time, by_share), 1e5) * (double)head->threads;
  if (lot <= (double)head->wanted) return head->wanted;
  *low = (long)lot / 2;
  return (long)lot;
}

static void hand_out(board *b, const report_head *head, int rank, buffer *m) {
  long low = 0;
  const long most = lot_size(b, head, &low);
  m->used = 0;
  put(m, &low, sizeof low);
  for (long i = 0; i < most; i++) {
    const long index = pop(b);
    if (index < 0) break;
    put(m, &index, sizeof index);
  }
  (void)MPI_Send(m->bytes, (int)m->used, MPI_BYTE, rank, PIECES, MPI_COMM_WORLD);
}

/* Returns whether that was the rank's last message. */
static bool answer(board *b, buffer *m, int rank) {
  report_head head;
  const char *at = get(m->bytes, &head, sizeof head);
  (void)pthread_mutex_lock(&b->mutex);
  b->spent += head.spent;
  b->pieces += head.pieces;
  for (long i = 0; i < head.told; i++) {
    long index = 0;
    size_t size = 0;
    at = get(at, &index, sizeof index);
    at = get(at, &size, sizeof size);
    b->job->take(b->job->user, index, at, size);
    at += size;
  }
  if (!head.final) hand_out(b, &head, rank, m);
  (void)pthread_mutex_unlock(&b->mutex);
  return head.final;
}

static void manage(board *b) {
  buffer m = {0};
  int others = rank_count - 1, source = 0;
  for (long pause = LEAST_WAIT;;) {
    if (others > 0 && receive(REPORT, false, &m, &source)) {
      others -= answer(b, &m, source);
      pause = LEAST_WAIT;
      continue;
    }
    (void)pthread_mutex_lock(&b->mutex);
    const bool over = b->running == 0 && others == 0;
    if (b->job->idle) b->job->idle(b->job->user);
    (void)pthread_mutex_unlock(&b->mutex);
    if (over) break;
    nap(&pause);
  }
  free(m.bytes);
}

/* ---- others ---- */

static bool hungry(const board *b) { return !b->last && b->tail - b->head <= b->low && (b->low > 0 || b->idle > 0); }

static void pack(board *b, buffer *m, bool final) {
  const report_head head = {.wanted = b->idle > 0 ? b->idle : 1,
                            .threads = b->job->threads,
                            .pieces = b->pieces,
                            .told = b->n_out,
                            .spent = b->spent,
                            .final = final};
  m->used = 0;
  put(m, &head, sizeof head);
  for (long i = 0; i < b->n_out; i++) {
    put(m, &b->out[i].index, sizeof b->out[i].index);
    put(m, &b->out[i].size, sizeof b->out[i].size);
    put(m, b->out[i].bytes, b->out[i].size);
    free(b->out[i].bytes);
  }
  b->n_out = b->pieces = 0;
  b->spent = 0;
}

static void unpack(board *b, const buffer *m) {
  const char *at = get(m->bytes, &b->low, sizeof b->low), *end = m->bytes + m->used;
  if (at == end) b->last = true;
  if (b->head == b->tail) b->head = b->tail = 0;
  while (at < end) {
    if (b->tail == b->capacity) b->queue = grow(b->queue, &b->capacity, sizeof *b->queue);
    at = get(at, &b->queue[b->tail++], sizeof *b->queue);
  }
  (void)pthread_cond_broadcast(&b->changed);
}

static void obey(board *b) {
  buffer m = {0};
  int source = 0;
  for (bool final = false; !final;) {
    (void)pthread_mutex_lock(&b->mutex);
    while (!hungry(b) && b->running > 0) (void)pthread_cond_wait(&b->changed, &b->mutex);
    final = b->running == 0;
    pack(b, &m, final);
    (void)pthread_mutex_unlock(&b->mutex);
    (void)MPI_Send(m.bytes, (int)m.used, MPI_BYTE, 0, REPORT, MPI_COMM_WORLD);
    if (final) break;
    (void)receive(PIECES, true, &m, &source);
    (void)pthread_mutex_lock(&b->mutex);
    unpack(b, &m);
    (void)pthread_mutex_unlock(&b->mutex);
  }
  free(m.bytes);
}

void ranks_for(const ranks_job *job) {
  if (rank_count == 1) {
    run_here(job);
    return;
  }
  board b = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .job = job};
  b.threads = job->threads;
  b.running = job->threads;
  b.last = rank_index == 0; /* its threads take from the whole */
  pthread_t *threads = calloc((size_t)job->threads, sizeof *threads);
  if (!threads) ranks_abort("out of memory");
  for (long i = 0; i < job->threads; i++)
    if (pthread_create(&threads[i], NULL, serve, &b)) ranks_abort("a thread could not be started");
  if (rank_index == 0)
    manage(&b);
  else
    obey(&b);
  for (long i = 0; i < job->threads; i++) (void)pthread_join(threads[i], NULL);
  free(threads);
  free(b.queue);
  free(b.out);
}

#endif
