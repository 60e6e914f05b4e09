/* stickslip._core.Batch: n simulations of one model, stepped on several threads. */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  PyObject_HEAD;
  PyObject *model;
  ss_sim **sims; /* [n] */
  Watch *watches;
  ss_error *errors;
  void **starts; /* saved states at the start, for resets */
  size_t *start_sizes;
  int n, nq, nv, n_inputs, n_outputs;
  double *t, *q, *v, *inputs, *outputs; /* [n], [n][nq] ... */
  unsigned char *failed;                /* [n] */
  atomic_bool stop;
  bool busy;
} Batch;

static void batch_look(Batch *b, int i) {
  const ss_state *state = ss_sim_state(b->sims[i]);
  b->t[i] = state->t;
  memcpy(b->q + (size_t)i * (size_t)b->nq, state->q, sizeof(double) * (size_t)b->nq);
  memcpy(b->v + (size_t)i * (size_t)b->nv, state->v, sizeof(double) * (size_t)b->nv);
  for (int k = 0; k < b->n_outputs; k++)
    b->outputs[(size_t)i * (size_t)b->n_outputs + (size_t)k] = ss_sim_output(b->sims[i], k);
}

static bool batch_allocate(Batch *b) {
  const size_t n = (size_t)b->n + 1;
  b->sims = calloc(n, sizeof(ss_sim *));
  b->watches = calloc(n, sizeof *b->watches);
  b->errors = calloc(n, sizeof *b->errors);
  b->starts = calloc(n, sizeof *b->starts);
  b->start_sizes = calloc(n, sizeof *b->start_sizes);
  b->t = calloc(n, sizeof(double));
  b->q = calloc(n * (size_t)(b->nq + 1), sizeof(double));
  b->v = calloc(n * (size_t)(b->nv + 1), sizeof(double));
  b->inputs = calloc(n * (size_t)(b->n_inputs + 1), sizeof(double));
  b->outputs = calloc(n * (size_t)(b->n_outputs + 1), sizeof(double));
  b->failed = calloc(n, 1);
  return b->sims && b->watches && b->errors && b->starts && b->start_sizes && b->t && b->q && b->v && b->inputs &&
         b->outputs && b->failed;
}

static PyObject *batch_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  (void)keywords;
  PyObject *model;
  const char *options;
  Py_ssize_t length;
  int n, endless;
  if (!PyArg_ParseTuple(args, "O!s#ip", core_model_type, &model, &options, &length, &n, &endless)) return NULL;
  if (n < 1) {
    PyErr_SetString(PyExc_ValueError, "a batch needs at least one copy");
    return NULL;
  }
  const ss_model *m = ((Model *)model)->model;
  ss_simulation o;
  ss_error error = {.status = SS_OK};
  if (core_options(m, options, length, endless, &o, &error)) return core_raise(&error);
  Batch *self = (Batch *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (!self) return NULL;
  Py_INCREF(model);
  self->model = model;
  self->n = n;
  self->nq = core_positions(m);
  self->nv = ss_model_coordinates(m);
  self->n_inputs = ss_model_inputs(m);
  self->n_outputs = ss_model_outputs(m);
  ss_status status = SS_OK;
  if (!batch_allocate(self)) {
    self->n = 0; /* there is nothing to be destroyed */
    status = ss_fail(&error, SS_ERROR_MEMORY, "out of memory");
  }
  for (int i = 0; !status && i < n; i++) {
    status = ss_sim_create(m, &o, &self->sims[i], &error);
    if (!status) status = ss_checkpoint_save(self->sims[i], &self->starts[i], &self->start_sizes[i], &error);
    if (!status && PyErr_CheckSignals()) status = SS_ERROR_STOPPED; /* thousands take their time */
    if (status) break;
    self->watches[i].stop = &self->stop;
    ss_sim_stop_when(self->sims[i], core_interrupted, &self->watches[i]);
    for (int k = 0; k < self->n_inputs; k++)
      self->inputs[(size_t)i * (size_t)self->n_inputs + (size_t)k] = ss_sim_input(self->sims[i], k);
    batch_look(self, i);
  }
  if (status) {
    Py_DECREF(self);
    return core_raise(&error);
  }
  return (PyObject *)self;
}

static void batch_dealloc(PyObject *object) {
  Batch *b = (Batch *)object;
  PyTypeObject *type = Py_TYPE(object);
  for (int i = 0; b->sims && i < b->n; i++) ss_sim_destroy(b->sims[i]);
  for (int i = 0; b->starts && i < b->n; i++) ss_checkpoint_free(b->starts[i]);
  void *const memory[] = {b->sims, b->watches, b->errors, b->starts,  b->start_sizes, b->t,
                          b->q,    b->v,       b->inputs, b->outputs, b->failed};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
  Py_XDECREF(b->model);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

/* Threads take copies one after the other; which one takes which changes nothing in the result. */
typedef struct {
  Batch *batch;
  long steps;
  atomic_int next;
} Work;

static void step_copy(Work *work, int i, bool main_thread) {
  Batch *b = work->batch;
  ss_status status = SS_OK;
  b->watches[i].main_thread = main_thread;
  b->watches[i].raised = false;
  b->errors[i].status = SS_OK;
  if (b->failed[i]) return; /* until it is reset */
  for (int k = 0; !status && k < b->n_inputs; k++)
    status = ss_sim_set_input(b->sims[i], k, b->inputs[(size_t)i * (size_t)b->n_inputs + (size_t)k], &b->errors[i]);
  for (long k = 0; !status && k < work->steps && !ss_sim_done(b->sims[i]); k++) {
    if (core_interrupted(&b->watches[i])) status = b->errors[i].status = SS_ERROR_STOPPED;
    if (!status) status = ss_sim_step(b->sims[i], &b->errors[i]);
  }
  b->failed[i] = status != SS_OK && status != SS_ERROR_STOPPED;
  batch_look(b, i);
}

static void step_copies(Work *work, bool main_thread) {
  for (int i; (i = atomic_fetch_add(&work->next, 1)) < work->batch->n;) step_copy(work, i, main_thread);
}

static void *step_thread(void *work) {
  step_copies(work, false);
  return NULL;
}

enum { MOST_THREADS = 256 };

static PyObject *raise_of_copy(int i, const ss_error *its) {
  ss_error error = *its;
  (void)snprintf(error.message, sizeof error.message, "copy %d: %.480s", i, its->message);
  return core_raise(&error);
}

static bool batch_is_free(const Batch *b) {
  if (b->busy) PyErr_SetString(PyExc_RuntimeError, "this batch is being stepped by another thread");
  return !b->busy;
}

static PyObject *batch_step(PyObject *object, PyObject *args) {
  Batch *b = (Batch *)object;
  long steps;
  int threads;
  if (!PyArg_ParseTuple(args, "li", &steps, &threads)) return NULL;
  if (!batch_is_free(b)) return NULL;
  if (threads > b->n) threads = b->n;
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  Work work = {.batch = b, .steps = steps};
  pthread_t others[MOST_THREADS];
  int n = 0;
  b->busy = true;
  atomic_store(&b->stop, false);
  Py_BEGIN_ALLOW_THREADS;
  while (n + 1 < threads && pthread_create(&others[n], NULL, step_thread, &work) == 0) n++;
  step_copies(&work, true);
  for (int i = 0; i < n; i++) (void)pthread_join(others[i], NULL);
  Py_END_ALLOW_THREADS;
  b->busy = false;
  if (PyErr_Occurred()) return NULL;
  for (int i = 0; i < b->n; i++) /* news: the copy that failed first of all in their order */
    if (b->failed[i] && b->errors[i].status) return raise_of_copy(i, &b->errors[i]);
  Py_RETURN_NONE;
}

static PyObject *batch_views(PyObject *object, PyObject *unused) {
  (void)unused;
  Batch *b = (Batch *)object;
  const Py_ssize_t n = b->n, q[] = {n, b->nq}, v[] = {n, b->nv}, in[] = {n, b->n_inputs}, out[] = {n, b->n_outputs};
  PyObject *views[6] = {
      core_view_of_doubles(object, b->t, false, 1, &n),        core_view_of_doubles(object, b->q, false, 2, q),
      core_view_of_doubles(object, b->v, false, 2, v),         core_view_of_doubles(object, b->inputs, true, 2, in),
      core_view_of_doubles(object, b->outputs, false, 2, out), core_view(object, b->failed, '?', 1, false, 1, &n)};
  bool good = true;
  for (int i = 0; i < 6; i++) good = good && views[i];
  PyObject *all = good ? Py_BuildValue("(OOOOOO)", views[0], views[1], views[2], views[3], views[4], views[5]) : NULL;
  for (int i = 0; i < 6; i++) Py_XDECREF(views[i]);
  return all;
}

static bool batch_index(const Batch *b, long i) {
  if (i < 0 || i >= b->n) (void)core_raise_index("copy");
  return i >= 0 && i < b->n && batch_is_free(b);
}

static PyObject *batch_reset(PyObject *object, PyObject *index) {
  Batch *b = (Batch *)object;
  const long i = PyLong_AsLong(index);
  if ((i == -1 && PyErr_Occurred()) || !batch_index(b, i)) return NULL;
  ss_error error = {.status = SS_OK};
  if (ss_checkpoint_load(b->sims[i], b->starts[i], b->start_sizes[i], &error)) return core_raise(&error);
  b->failed[i] = 0;
  for (int k = 0; k < b->n_inputs; k++)
    b->inputs[(size_t)i * (size_t)b->n_inputs + (size_t)k] = ss_sim_input(b->sims[i], k);
  batch_look(b, (int)i);
  Py_RETURN_NONE;
}

static PyObject *batch_motions(PyObject *object, PyObject *unused) {
  (void)unused;
  Batch *b = (Batch *)object;
  if (!batch_is_free(b)) return NULL;
  const int bodies = ss_model_bodies(((Model *)b->model)->model);
  const size_t row = 13 * (size_t)bodies;
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(sizeof(double) * row * (size_t)b->n));
  if (!bytes) return NULL;
  double *out = (double *)(void *)PyBytes_AsString(bytes);
  for (int i = 0; i < b->n; i++)
    for (int k = 0; k < bodies; k++) core_motion_numbers(b->sims[i], k, out + (size_t)i * row + 13 * (size_t)k);
  return bytes;
}

/* place(copy, numbers): 13 per body, all bodies */
static PyObject *batch_place(PyObject *object, PyObject *args) {
  Batch *b = (Batch *)object;
  const char *numbers;
  Py_ssize_t size;
  int i;
  if (!PyArg_ParseTuple(args, "iy#", &i, &numbers, &size) || !batch_index(b, i)) return NULL;
  const int bodies = ss_model_bodies(((Model *)b->model)->model);
  int *all = calloc((size_t)bodies + 1, sizeof *all);
  if (!all) return PyErr_NoMemory();
  for (int k = 0; k < bodies; k++) all[k] = k;
  ss_error error = {.status = SS_OK};
  const ss_status status = size == (Py_ssize_t)(13 * sizeof(double)) * bodies
                               ? core_place(b->sims[i], bodies, all, (const double *)(const void *)numbers, &error)
                               : ss_fail(&error, SS_ERROR_INPUT, "place needs 13 numbers per body");
  free(all);
  batch_look(b, i);
  if (!status) Py_RETURN_NONE;
  return raise_of_copy(i, &error);
}

static PyObject *batch_certificate(PyObject *object, PyObject *index) {
  Batch *b = (Batch *)object;
  const long i = PyLong_AsLong(index);
  if ((i == -1 && PyErr_Occurred()) || !batch_index(b, i)) return NULL;
  return core_certificate(b->sims[i]);
}

static PyMethodDef batch_methods[] = {{"step", batch_step, METH_VARARGS, NULL},
                                      {"views", batch_views, METH_NOARGS, NULL},
                                      {"reset", batch_reset, METH_O, NULL},
                                      {"motions", batch_motions, METH_NOARGS, NULL},
                                      {"place", batch_place, METH_VARARGS, NULL},
                                      {"certificate", batch_certificate, METH_O, NULL},
                                      {NULL, NULL, 0, NULL}};
static PyType_Slot batch_slots[] = {
    {Py_tp_new, (void *)batch_new}, {Py_tp_dealloc, (void *)batch_dealloc}, {Py_tp_methods, batch_methods}, {0, NULL}};
PyType_Spec core_batch_spec = {"stickslip._core.Batch", sizeof(Batch), 0, Py_TPFLAGS_DEFAULT, batch_slots};
