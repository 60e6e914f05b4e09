#include "parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

typedef struct queue {
  pthread_mutex_t mutex;
  long next, n;
  void (*work)(void *user, long index);
  void *user;
} queue;

static void *serve(void *argument) {
  queue *q = argument;
  for (;;) {
    (void)pthread_mutex_lock(&q->mutex);
    const long index = q->next < q->n ? q->next++ : -1;
    (void)pthread_mutex_unlock(&q->mutex);
    if (index < 0) return NULL;
    q->work(q->user, index);
  }
}

void parallel_for(long n, long threads, void (*work)(void *user, long index), void *user) {
  queue q = {.mutex = PTHREAD_MUTEX_INITIALIZER, .n = n, .work = work, .user = user};
  const long wanted = (threads < n ? threads : n) - 1; /* this one works too */
  pthread_t *others = wanted > 0 ? calloc((size_t)wanted, sizeof *others) : NULL;
  long started = 0;
  while (others && started < wanted && pthread_create(&others[started], NULL, serve, &q) == 0) started++;
  (void)serve(&q);
  for (long i = 0; i < started; i++) (void)pthread_join(others[i], NULL);
  free(others);
}

void parallel_alone(void (*finish)(void *user, long index), void *user, long index) {
  (void)pthread_mutex_lock(&alone);
  finish(user, index);
  (void)pthread_mutex_unlock(&alone);
}

long parallel_processors(void) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? n : 1;
}
