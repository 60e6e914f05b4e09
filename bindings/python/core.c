/* stickslip._core: what the Python package needs of the library, and nothing more; the package itself is Python
 * (bindings/python/stickslip). Written against the limited API, so that one wheel serves all versions from 3.11 on.
 *
 *     Model    a compiled scene, shared by simulations
 *     Sim      a simulation; t, q, v, inputs and outputs are copied to buffers of its own after every step, which numpy arrays may
 *              look at as long as they live
 *     Batch    n simulations of one model, stepped on several threads
 *     solve    a complementarity problem
 *
 * The GIL is released while steps and solvers run. A signal ends them: the step that was begun is undone. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stickslip/stickslip.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- errors ---- */

static PyObject *raise_error(const ss_error *error) {
  if (PyErr_Occurred()) return NULL; /* a signal's */
  if (error->status == SS_ERROR_MEMORY) return PyErr_NoMemory();
  PyObject *errors = PyImport_ImportModule("stickslip._errors");
  PyObject *exception = errors ? PyObject_CallMethod(errors, "make", "issii", (int)error->status, error->message,
                                                     error->file, error->line, error->column)
                               : NULL;
  if (exception) PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
  Py_XDECREF(exception);
  Py_XDECREF(errors);
  return NULL;
}

static PyObject *raise_index(const char *what) {
  PyErr_Format(PyExc_IndexError, "there is no such %s", what);
  return NULL;
}

/* ---- buffers that numpy looks at ---- */

typedef struct {
  PyObject_HEAD;
  PyObject *owner;
  void *memory;
  Py_ssize_t shape[3], strides[3];
  int dimensions;
  char format[2];
  bool writable;
} View;

static PyTypeObject *view_type, *model_type, *sim_type, *batch_type;

static PyObject *new_view(PyObject *owner, void *memory, char format, Py_ssize_t item, bool writable, int dimensions,
                          const Py_ssize_t *shape) {
  View *view = PyObject_New(View, view_type);
  if (!view) return NULL;
  Py_INCREF(owner);
  view->owner = owner;
  view->memory = memory;
  view->writable = writable;
  view->dimensions = dimensions;
  view->format[0] = format;
  view->format[1] = '\0';
  for (int i = dimensions - 1; i >= 0; i--) {
    view->shape[i] = shape[i];
    view->strides[i] = i == dimensions - 1 ? item : view->strides[i + 1] * shape[i + 1];
  }
  return (PyObject *)view;
}

static PyObject *view_of_doubles(PyObject *owner, double *memory, bool writable, int dimensions,
                                 const Py_ssize_t *shape) {
  return new_view(owner, memory, 'd', sizeof(double), writable, dimensions, shape);
}

static int view_get(PyObject *self, Py_buffer *out, int flags) {
  View *view = (View *)self;
  if ((flags & PyBUF_WRITABLE) && !view->writable) {
    PyErr_SetString(PyExc_BufferError, "this view is read-only");
    return -1;
  }
  Py_ssize_t length = view->dimensions ? view->strides[0] * view->shape[0] : 0;
  memset(out, 0, sizeof *out);
  Py_INCREF(self);
  out->obj = self;
  out->buf = view->memory;
  out->len = length;
  out->readonly = !view->writable;
  out->itemsize = view->strides[view->dimensions - 1];
  out->format = view->format;
  out->ndim = view->dimensions;
  out->shape = view->shape;
  out->strides = view->strides;
  return 0;
}

static void view_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(((View *)self)->owner);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyType_Slot view_slots[] = {
    {Py_tp_dealloc, (void *)view_dealloc}, {Py_bf_getbuffer, (void *)view_get}, {0, NULL}};
static PyType_Spec view_spec = {"stickslip._core.View", sizeof(View), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, view_slots};

/* ---- signals ---- */

typedef struct {
  double last;       /* when signals were looked at last */
  bool raised;       /* a handler has raised something: whoever asks again is told so again */
  bool main_thread;  /* of a batch: the thread that called, which alone may look */
  atomic_bool *stop; /* of a batch */
} Watch;

static double seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Twenty times a second: whether a signal's handler has raised something. Called without the GIL. */
static bool interrupted(void *user) {
  Watch *watch = user;
  if (watch->stop && atomic_load_explicit(watch->stop, memory_order_relaxed)) return true;
  if (watch->raised) return true;
  const double now = seconds();
  if (!watch->main_thread || now - watch->last < 0.05) return false;
  watch->last = now;
  const PyGILState_STATE state = PyGILState_Ensure();
  watch->raised = PyErr_CheckSignals() != 0;
  PyGILState_Release(state);
  if (watch->raised && watch->stop) atomic_store(watch->stop, true);
  return watch->raised;
}

static void watch_begins(Watch *watch) {
  watch->last = seconds();
  watch->raised = false;
}

/* ---- models ---- */

typedef struct {
  PyObject_HEAD;
  ss_scene *scene;
  ss_model *model;
} Model;

static const char **strings_of(PyObject *list, Py_ssize_t *n) {
  *n = PyList_Size(list);
  if (*n < 0) return NULL;
  const char **texts = calloc((size_t)*n + 1, sizeof *texts);
  for (Py_ssize_t i = 0; texts && i < *n; i++) {
    texts[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
    if (texts[i]) continue;
    free((void *)texts);
    return NULL;
  }
  if (!texts) (void)PyErr_NoMemory();
  return texts;
}

static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  (void)keywords;
  const char *text, *name;
  Py_ssize_t length, n;
  int is_file;
  PyObject *list;
  if (!PyArg_ParseTuple(args, "s#spO!", &text, &length, &name, &is_file, &PyList_Type, &list)) return NULL;
  const char **settings = strings_of(list, &n);
  if (!settings) return NULL;
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_error error = {.status = SS_OK};
  ss_status status = is_file ? ss_scene_load(text, settings, (int)n, &scene, &error)
                             : ss_scene_parse(text, (size_t)length, name, settings, (int)n, &scene, &error);
  free((void *)settings);
  if (!status) status = ss_model_create(scene, &model, &error);
  if (status) {
    ss_scene_destroy(scene);
    return raise_error(&error);
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Model *self = (Model *)allocate(type, 0);
  if (!self) {
    ss_model_destroy(model);
    ss_scene_destroy(scene);
    return NULL;
  }
  self->scene = scene;
  self->model = model;
  return (PyObject *)self;
}

static void model_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  ss_model_destroy(((Model *)self)->model);
  ss_scene_destroy(((Model *)self)->scene);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static bool append(PyObject *list, PyObject *item) {
  const bool good = item && PyList_Append(list, item) == 0;
  Py_XDECREF(item);
  return good;
}

static PyObject *model_names(PyObject *self, PyObject *unused) {
  (void)unused;
  const Model *m = (Model *)self;
  PyObject *bodies = PyList_New(0), *joints = PyList_New(0), *inputs = PyList_New(0), *outputs = PyList_New(0),
           *parameters = PyList_New(0);
  bool good = bodies && joints && inputs && outputs && parameters;
  for (int i = 0; good && i < ss_model_bodies(m->model); i++)
    good = append(bodies, PyUnicode_FromString(ss_model_body_name(m->model, i)));
  for (int i = 0; good && i < ss_model_joints(m->model); i++)
    good = append(joints, Py_BuildValue("(sOO)", ss_model_joint_name(m->model, i),
                                        ss_model_joint_has_position(m->model, i) ? Py_True : Py_False,
                                        ss_model_joint_has_motor(m->model, i) ? Py_True : Py_False));
  for (int i = 0; good && i < ss_model_inputs(m->model); i++)
    good = append(inputs, Py_BuildValue("(sd)", ss_model_input_name(m->model, i), ss_model_input_default(m->model, i)));
  for (int i = 0; good && i < ss_model_outputs(m->model); i++)
    good = append(outputs, PyUnicode_FromString(ss_model_output_name(m->model, i)));
  for (int i = 0; good && i < m->scene->n_parameters; i++)
    good = append(parameters, Py_BuildValue("(sd)", m->scene->parameters[i].name, m->scene->parameters[i].value));
  PyObject *result =
      good ? Py_BuildValue("{s:O,s:O,s:O,s:O,s:O,s:s,s:d,s:d}", "bodies", bodies, "joints", joints, "inputs", inputs,
                           "outputs", outputs, "parameters", parameters, "name", ss_model_scene_name(m->model), "step",
                           ss_model_simulation(m->model)->step, "duration", ss_model_simulation(m->model)->duration)
           : NULL;
  Py_XDECREF(bodies);
  Py_XDECREF(joints);
  Py_XDECREF(inputs);
  Py_XDECREF(outputs);
  Py_XDECREF(parameters);
  return result;
}

/* What results hold of it. */
static PyObject *model_json(PyObject *self, PyObject *unused) {
  (void)unused;
  char *text = ss_model_json(((Model *)self)->model);
  PyObject *result = text ? PyUnicode_FromString(text) : PyErr_NoMemory();
  free(text);
  return result;
}

static PyMethodDef model_methods[] = {
    {"names", model_names, METH_NOARGS, NULL}, {"json", model_json, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyType_Slot model_slots[] = {
    {Py_tp_new, (void *)model_new}, {Py_tp_dealloc, (void *)model_dealloc}, {Py_tp_methods, model_methods}, {0, NULL}};
static PyType_Spec model_spec = {"stickslip._core.Model", sizeof(Model), 0, Py_TPFLAGS_DEFAULT, model_slots};

/* ---- one simulation with its events, and the buffers it is seen through ---- */

typedef struct {
  ss_event *items;
  long n, capacity;
} Events;

enum { MOST_EVENTS = 1000000 };

static ss_status after_step(void *user, const ss_sim *sim, ss_error *error) {
  (void)user, (void)sim, (void)error;
  return SS_OK;
}

static void on_event(void *user, const ss_sim *sim, const ss_event *event) {
  (void)sim;
  Events *events = user;
  if (events->n == MOST_EVENTS) return;
  if (events->n == events->capacity) {
    const long capacity = 2 * events->capacity + 64;
    ss_event *grown = realloc(events->items, sizeof *grown * (size_t)capacity);
    if (!grown) return; /* the counts in the report are right all the same */
    events->items = grown;
    events->capacity = capacity;
  }
  events->items[events->n++] = *event;
}

typedef struct {
  PyObject_HEAD;
  PyObject *model;
  ss_sim *sim;
  Events events;
  Watch watch;
  int nq, nv, n_outputs;
  double *q, *v; /* copies: where the library keeps its own is its affair */
  double t;
  long steps;
  bool done;
  bool busy; /* a step runs in another thread: nobody may look at `sim` meanwhile */
} Sim;

/* Positions are numbers of bodies (7 each) or of a user-defined system. */
static int positions_of(const ss_model *model) {
  return ss_model_is_system(model) ? ss_model_coordinates(model) : 7 * ss_model_bodies(model);
}

static void look(Sim *s) {
  const ss_state *state = ss_sim_state(s->sim);
  s->t = state->t;
  s->steps = state->step;
  s->done = ss_sim_done(s->sim);
  memcpy(s->q, state->q, sizeof(double) * (size_t)s->nq);
  memcpy(s->v, state->v, sizeof(double) * (size_t)s->nv);
}

/* The scene's own options, with what the text says (JSON). Without a duration a simulation goes on as long as it is stepped. */
static ss_status read_options(const ss_model *model, const char *text, Py_ssize_t length, bool endless,
                              ss_simulation *o, ss_error *error) {
  *o = *ss_model_simulation(model);
  const ss_status status = ss_simulation_override(o, text, (size_t)length, error);
  if (status || !endless) return status;
  if (o->tolerance > 0 && o->largest_step == 0) o->largest_step = o->duration / 64;
  const double step = o->tolerance > 0 ? o->largest_step : o->step;
  if (1e9 * step > o->duration) o->duration = 1e9 * step;
  return SS_OK;
}

static PyObject *sim_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  (void)keywords;
  PyObject *model;
  const char *options;
  Py_ssize_t length;
  int endless;
  if (!PyArg_ParseTuple(args, "O!s#p", model_type, &model, &options, &length, &endless)) return NULL;
  ss_simulation o;
  ss_error error = {.status = SS_OK};
  if (read_options(((Model *)model)->model, options, length, endless, &o, &error)) return raise_error(&error);
  Sim *self = (Sim *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (!self) return NULL;
  Py_INCREF(model);
  self->model = model;
  ss_status status = ss_sim_create(((Model *)model)->model, &o, &self->sim, &error);
  const ss_observer observer = {.user = &self->events, .step = after_step, .event = on_event};
  if (!status) status = ss_sim_observe(self->sim, &observer, &error);
  if (status) {
    Py_DECREF(self);
    return raise_error(&error);
  }
  const ss_model *m = ((Model *)model)->model;
  self->nq = positions_of(m);
  self->nv = ss_model_coordinates(m);
  self->n_outputs = ss_model_outputs(m);
  self->q = calloc((size_t)self->nq + 1, sizeof(double));
  self->v = calloc((size_t)self->nv + 1, sizeof(double));
  if (!self->q || !self->v) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  self->watch.main_thread = true;
  ss_sim_stop_when(self->sim, interrupted, &self->watch);
  look(self);
  return (PyObject *)self;
}

static void sim_dealloc(PyObject *object) {
  Sim *self = (Sim *)object;
  PyTypeObject *type = Py_TYPE(object);
  ss_sim_destroy(self->sim);
  free(self->events.items);
  free(self->q);
  free(self->v);
  Py_XDECREF(self->model);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

static bool begin(Sim *self) {
  if (self->busy) PyErr_SetString(PyExc_RuntimeError, "this simulation is being stepped by another thread");
  return !self->busy;
}

static PyObject *sim_step(PyObject *object, PyObject *count) {
  Sim *self = (Sim *)object;
  const long n = PyLong_AsLong(count);
  if (n == -1 && PyErr_Occurred()) return NULL;
  if (n < 0) {
    PyErr_Format(PyExc_ValueError, "the number of steps must not be negative: %ld", n);
    return NULL;
  }
  if (!begin(self)) return NULL;
  ss_error error = {.status = SS_OK};
  ss_status status = SS_OK;
  self->busy = true;
  watch_begins(&self->watch);
  Py_BEGIN_ALLOW_THREADS;
  for (long i = 0; i < n && !status && !ss_sim_done(self->sim); i++) {
    if (i > 0 && interrupted(&self->watch)) status = SS_ERROR_STOPPED;
    if (!status) status = ss_sim_step(self->sim, &error);
  }
  Py_END_ALLOW_THREADS;
  self->busy = false;
  look(self);
  if (status) return raise_error(&error);
  if (self->watch.raised) return NULL;
  Py_RETURN_NONE;
}

/* ---- looking at it ---- */

static PyObject *sim_views(PyObject *object, PyObject *unused) {
  (void)unused;
  Sim *self = (Sim *)object;
  const Py_ssize_t nq = self->nq, nv = self->nv;
  PyObject *q = view_of_doubles(object, self->q, false, 1, &nq);
  PyObject *v = view_of_doubles(object, self->v, false, 1, &nv);
  PyObject *both = q && v ? Py_BuildValue("(OO)", q, v) : NULL;
  Py_XDECREF(q);
  Py_XDECREF(v);
  return both;
}

static PyObject *sim_t(PyObject *object, void *unused) {
  (void)unused;
  return PyFloat_FromDouble(((Sim *)object)->t);
}

static PyObject *sim_steps(PyObject *object, void *unused) {
  (void)unused;
  return PyLong_FromLong(((Sim *)object)->steps);
}

static PyObject *sim_done(PyObject *object, void *unused) {
  (void)unused;
  return PyBool_FromLong(((Sim *)object)->done);
}

static PyObject *sim_options(PyObject *object, void *unused) {
  (void)unused;
  const ss_simulation *o = ss_sim_options(((Sim *)object)->sim);
  return Py_BuildValue("{s:s,s:s,s:d,s:d}", "scheme", o->scheme, "solver", o->solver, "step", o->step, "duration",
                       o->duration);
}

static void put_motion(const ss_sim *sim, int body, double out[13]) {
  const ss_motion m = ss_sim_motion(sim, body);
  const double numbers[13] = {m.pose.position.x,    m.pose.position.y,    m.pose.position.z,    m.pose.orientation.w,
                              m.pose.orientation.x, m.pose.orientation.y, m.pose.orientation.z, m.velocity.x,
                              m.velocity.y,         m.velocity.z,         m.angular_velocity.x, m.angular_velocity.y,
                              m.angular_velocity.z};
  memcpy(out, numbers, sizeof numbers);
}

static ss_motion get_motion(const double in[13]) {
  return (ss_motion){
      {{in[0], in[1], in[2]}, {in[3], in[4], in[5], in[6]}}, {in[7], in[8], in[9]}, {in[10], in[11], in[12]}};
}

/* 13 numbers as bytes: position, orientation, velocity, angular velocity */
static PyObject *sim_motion(PyObject *object, PyObject *index) {
  Sim *self = (Sim *)object;
  const long body = PyLong_AsLong(index);
  if (body == -1 && PyErr_Occurred()) return NULL;
  if (body < 0 || body >= ss_model_bodies(ss_sim_model(self->sim))) return raise_index("body");
  if (!begin(self)) return NULL;
  double numbers[13];
  put_motion(self->sim, (int)body, numbers);
  return PyBytes_FromStringAndSize((const char *)numbers, sizeof numbers);
}

static PyObject *sim_joint(PyObject *object, PyObject *args) {
  Sim *self = (Sim *)object;
  int joint, what;
  if (!PyArg_ParseTuple(args, "ii", &joint, &what) || !begin(self)) return NULL;
  if (joint < 0 || joint >= ss_model_joints(ss_sim_model(self->sim))) return raise_index("joint");
  return PyFloat_FromDouble(what == 0   ? ss_sim_joint_position(self->sim, joint)
                            : what == 1 ? ss_sim_joint_speed(self->sim, joint)
                                        : ss_sim_joint_force(self->sim, joint));
}

static PyObject *sim_reaction(PyObject *object, PyObject *index) {
  Sim *self = (Sim *)object;
  const long joint = PyLong_AsLong(index);
  if (joint == -1 && PyErr_Occurred()) return NULL;
  const int n = ss_model_joints(ss_sim_model(self->sim));
  if (joint < 0 || joint >= n) return raise_index("joint");
  if (!begin(self)) return NULL;
  ss_joint_report *all = calloc((size_t)n, sizeof *all);
  ss_error error = {.status = SS_ERROR_MEMORY};
  if (!all || ss_sim_joints(self->sim, all, n, &error)) {
    free(all);
    return raise_error(&error);
  }
  const ss_joint_report r = all[joint];
  free(all);
  return Py_BuildValue("((ddd)(ddd))", r.reaction.x, r.reaction.y, r.reaction.z, r.moment.x, r.moment.y, r.moment.z);
}

static PyObject *sim_set_input(PyObject *object, PyObject *args) {
  int input;
  double value;
  if (!PyArg_ParseTuple(args, "id", &input, &value) || !begin((Sim *)object)) return NULL;
  ss_error error = {.status = SS_OK};
  if (ss_sim_set_input(((Sim *)object)->sim, input, value, &error)) return raise_error(&error);
  Py_RETURN_NONE;
}

static PyObject *sim_input(PyObject *object, PyObject *index) {
  if (!begin((Sim *)object)) return NULL;
  return PyFloat_FromDouble(ss_sim_input(((Sim *)object)->sim, (int)PyLong_AsLong(index)));
}

static PyObject *sim_output(PyObject *object, PyObject *index) {
  if (!begin((Sim *)object)) return NULL;
  return PyFloat_FromDouble(ss_sim_output(((Sim *)object)->sim, (int)PyLong_AsLong(index)));
}

static PyObject *sim_apply(PyObject *object, PyObject *args) {
  int body;
  ss_vec3 f, m;
  if (!PyArg_ParseTuple(args, "idddddd", &body, &f.x, &f.y, &f.z, &m.x, &m.y, &m.z)) return NULL;
  ss_error error = {.status = SS_OK};
  if (!begin((Sim *)object)) return NULL;
  if (ss_sim_apply(((Sim *)object)->sim, body, f, m, &error)) return raise_error(&error);
  Py_RETURN_NONE;
}

/* Bodies by their numbers, and 13 numbers of each. */
static ss_status place(ss_sim *sim, int n, const int *bodies, const double *numbers, ss_error *error) {
  ss_motion *motions = calloc((size_t)n + 1, sizeof *motions);
  if (!motions) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < n; i++) motions[i] = get_motion(numbers + (size_t)13 * (size_t)i);
  const ss_status status = ss_sim_place(sim, n, bodies, motions, error);
  free(motions);
  return status;
}

static PyObject *sim_place(PyObject *object, PyObject *args) {
  Sim *self = (Sim *)object;
  const char *bodies, *numbers;
  Py_ssize_t n_bodies, n_numbers;
  if (!PyArg_ParseTuple(args, "y#y#", &bodies, &n_bodies, &numbers, &n_numbers)) return NULL;
  const int n = (int)(n_bodies / (Py_ssize_t)sizeof(int));
  if (n_numbers != (Py_ssize_t)(13 * sizeof(double)) * n) {
    PyErr_SetString(PyExc_ValueError, "place needs 13 numbers per body");
    return NULL;
  }
  if (!begin(self)) return NULL;
  ss_error error = {.status = SS_OK};
  const ss_status status =
      place(self->sim, n, (const int *)(const void *)bodies, (const double *)(const void *)numbers, &error);
  look(self);
  if (status) return raise_error(&error);
  Py_RETURN_NONE;
}

/* bytes of this struct for every contact; the package has the same as a numpy type */
typedef struct {
  int32_t body[2];
  double point[3], normal[3], gap, force[3], impulse[3], friction;
  uint8_t stuck, padding[7];
} Contact;

static void put_vector(double out[3], ss_vec3 v, double factor) {
  out[0] = factor * v.x;
  out[1] = factor * v.y;
  out[2] = factor * v.z;
}

static PyObject *sim_contacts(PyObject *object, PyObject *unused) {
  (void)unused;
  Sim *self = (Sim *)object;
  if (!begin(self)) return NULL;
  const int n = ss_sim_contacts(self->sim, NULL, 0);
  ss_contact_report *reports = calloc((size_t)n + 1, sizeof *reports);
  PyObject *bytes = reports ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)sizeof(Contact) * n) : PyErr_NoMemory();
  if (bytes) {
    Contact *out = (Contact *)(void *)PyBytes_AsString(bytes);
    (void)ss_sim_contacts(self->sim, reports, n);
    const double h = ss_sim_step_size(self->sim);
    for (int i = 0; i < n; i++) {
      const ss_contact_report *c = &reports[i];
      out[i] = (Contact){.body = {c->body[0], c->body[1]}, .gap = c->gap, .friction = c->friction, .stuck = c->stuck};
      put_vector(out[i].point, c->point, 1);
      put_vector(out[i].normal, c->normal, 1);
      put_vector(out[i].impulse, c->impulse, 1);
      put_vector(out[i].force, c->impulse, 1 / h);
    }
  }
  free(reports);
  return bytes;
}

/* ---- what it is worth: the names of run --json ---- */

static PyObject *certificate_of(const ss_sim *sim) {
  const ss_certificate *c = &ss_sim_report(sim)->certificate;
  PyObject *doubts = PyList_New(0);
  bool good = doubts != NULL;
  for (int i = 0; good && i < SS_DOUBTS; i++)
    if (c->doubts[i] != 0)
      good = append(doubts, Py_BuildValue("{s:s,s:d,s:s}", "code", ss_table_doubts()[i].code, "number", c->doubts[i],
                                          "meaning", ss_table_doubts()[i].meaning));
  PyObject *result =
      good ? Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:O,s:O,s:O}", "complementarity", c->complementarity,
                           "penetration", c->penetration, "joint_drift", c->joint_drift, "cone", c->cone, "dissipation",
                           c->dissipation, "selection", c->selection, "energy_created", c->energy_created, "certified",
                           c->certified ? Py_True : Py_False, "sound", c->sound ? Py_True : Py_False, "doubts", doubts)
           : NULL;
  Py_XDECREF(doubts);
  return result;
}

static PyObject *energy_of(const ss_sim *sim) {
  const ss_energy *e = &ss_sim_report(sim)->energy;
  return Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d}", "initial", e->initial, "final", e->final,
                       "kinetic", e->kinetic, "potential", e->potential, "elastic", e->elastic, "work", e->work,
                       "friction_loss", e->friction_loss, "impact_loss", e->impact_loss, "damping_loss",
                       e->damping_loss, "stabilization", e->stabilization, "linearization", e->linearization,
                       "remainder", e->remainder);
}

static PyObject *events_of(const ss_sim *sim, const Events *events) {
  const long *count = ss_sim_report(sim)->events;
  PyObject *list = PyList_New(0);
  for (long i = 0; list && i < events->n; i++) {
    const ss_event *e = &events->items[i];
    PyObject *one = Py_BuildValue("{s:d,s:s,s:[ss]}", "t", e->t, "kind", ss_event_name(e->kind), "between",
                                  ss_model_body_name(ss_sim_model(sim), e->body[0]),
                                  ss_model_body_name(ss_sim_model(sim), e->body[1]));
    if (!append(list, one)) Py_CLEAR(list);
  }
  if (!list) return NULL;
  PyObject *result =
      Py_BuildValue("{s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:O}", "collisions", count[SS_COLLISION], "limits",
                    count[SS_LIMIT_HIT], "stick_slip", count[SS_STICK] + count[SS_SLIP], "take_off", count[SS_TAKE_OFF],
                    "spin_end", count[SS_SPIN_END], "roll_end", count[SS_ROLL_END], "spin_begin", count[SS_SPIN_BEGIN],
                    "roll_begin", count[SS_ROLL_BEGIN], "facet", count[SS_FACET], "list", list);
  Py_DECREF(list);
  return result;
}

static PyObject *sim_certificate(PyObject *object, void *unused) {
  (void)unused;
  return begin((Sim *)object) ? certificate_of(((Sim *)object)->sim) : NULL;
}

static PyObject *sim_energy(PyObject *object, void *unused) {
  (void)unused;
  return begin((Sim *)object) ? energy_of(((Sim *)object)->sim) : NULL;
}

static PyObject *sim_events(PyObject *object, void *unused) {
  (void)unused;
  return begin((Sim *)object) ? events_of(((Sim *)object)->sim, &((Sim *)object)->events) : NULL;
}

/* ---- saving and restoring ---- */

/* Behind the checkpoint, which has a sum of its own: the events so far, how many there are, and a sum over these. */
typedef struct {
  int64_t events;
  uint64_t sum;
} Tail;

/* FNV-1a */
static uint64_t sum_of(const void *bytes, size_t n) {
  uint64_t sum = 14695981039346656037u;
  for (size_t i = 0; i < n; i++) sum = (sum ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
  return sum;
}

static PyObject *sim_save(PyObject *object, PyObject *unused) {
  (void)unused;
  Sim *self = (Sim *)object;
  if (!begin(self)) return NULL;
  void *bytes = NULL;
  size_t size = 0;
  ss_error error = {.status = SS_OK};
  if (ss_checkpoint_save(self->sim, &bytes, &size, &error)) return raise_error(&error);
  const size_t events = sizeof *self->events.items * (size_t)self->events.n;
  const Tail tail = {self->events.n, sum_of(self->events.items, events)};
  PyObject *result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(size + events + sizeof tail));
  char *out = result ? PyBytes_AsString(result) : NULL;
  if (out) {
    memcpy(out, bytes, size);
    if (events) memcpy(out + size, self->events.items, events);
    memcpy(out + size + events, &tail, sizeof tail);
  }
  ss_checkpoint_free(bytes);
  return result;
}

/* Splits what sim_save has put together: the size of the checkpoint, or 0 where these are other bytes. */
static size_t split(const char *bytes, size_t size, Tail *tail) {
  if (size < sizeof *tail) return 0;
  memcpy(tail, bytes + size - sizeof *tail, sizeof *tail);
  const size_t before = size - sizeof *tail;
  if (tail->events < 0 || (uint64_t)tail->events > before / sizeof(ss_event)) return 0;
  const size_t events = sizeof(ss_event) * (size_t)tail->events;
  return tail->sum == sum_of(bytes + before - events, events) ? before - events : 0;
}

static PyObject *sim_restore(PyObject *object, PyObject *args) {
  Sim *self = (Sim *)object;
  const char *bytes;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "y#", &bytes, &size) || !begin(self)) return NULL;
  Tail tail = {0};
  const size_t state = split(bytes, (size_t)size, &tail);
  const size_t events = state ? (size_t)size - state - sizeof tail : 0;
  ss_event *items = malloc(events + sizeof *items);
  if (!items) return PyErr_NoMemory();
  if (events) memcpy(items, bytes + state, events);
  ss_error error = {.status = SS_OK};
  const ss_status status = ss_checkpoint_load(self->sim, bytes, state, &error);
  look(self);
  if (status) {
    free(items);
    return raise_error(&error);
  }
  free(self->events.items);
  self->events = (Events){items, (long)tail.events, (long)tail.events + 1};
  Py_RETURN_NONE;
}

/* ---- a whole run, recorded ---- */

enum { ENERGIES = 10, JOINT_NUMBERS = 9 };

typedef struct {
  double *numbers;
  size_t n, capacity;
  int width;
  ss_joint_report *joints;
} Recording;

static ss_status record(const ss_sim *sim, Recording *r, ss_error *error) {
  const ss_model *model = ss_sim_model(sim);
  if (r->n + (size_t)r->width > r->capacity) {
    const size_t capacity = 2 * r->capacity + 256 * (size_t)r->width;
    double *grown = realloc(r->numbers, sizeof *grown * capacity);
    if (!grown) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    r->numbers = grown;
    r->capacity = capacity;
  }
  double *out = r->numbers + r->n;
  *out++ = ss_sim_state(sim)->t;
  for (int i = 0; i < ss_model_bodies(model); i++, out += 13) put_motion(sim, i, out);
  const ss_energy *e = &ss_sim_report(sim)->energy;
  const double energy[ENERGIES] = {e->kinetic,       e->potential,   e->elastic,      e->final,     e->work,
                                   e->friction_loss, e->impact_loss, e->damping_loss, e->remainder, e->stabilization};
  memcpy(out, energy, sizeof energy);
  out += ENERGIES;
  for (int i = 0; i < ss_model_outputs(model); i++) *out++ = ss_sim_output(sim, i);
  const int joints = ss_model_joints(model);
  const ss_status status = ss_sim_joints(sim, r->joints, joints, error);
  if (status) return status;
  for (int i = 0; i < joints; i++) {
    const ss_joint_report *j = &r->joints[i];
    const double nine[JOINT_NUMBERS] = {j->position,   j->speed,    j->force,    j->reaction.x, j->reaction.y,
                                        j->reaction.z, j->moment.x, j->moment.y, j->moment.z};
    memcpy(out, nine, sizeof nine);
    out += JOINT_NUMBERS;
  }
  r->n += (size_t)r->width;
  return SS_OK;
}

/* record(every): steps to the end; (bytes, numbers per row). The columns are those that the package names. */
static PyObject *sim_record(PyObject *object, PyObject *args) {
  Sim *self = (Sim *)object;
  long every;
  if (!PyArg_ParseTuple(args, "l", &every) || !begin(self)) return NULL;
  const ss_model *model = ss_sim_model(self->sim);
  const int joints = ss_model_joints(model);
  Recording r = {.width = 1 + 13 * ss_model_bodies(model) + ENERGIES + ss_model_outputs(model) + JOINT_NUMBERS * joints,
                 .joints = calloc((size_t)joints + 1, sizeof(ss_joint_report))};
  ss_error error = {.status = SS_ERROR_MEMORY};
  ss_status status = r.joints ? record(self->sim, &r, &error) : SS_ERROR_MEMORY;
  self->busy = true;
  watch_begins(&self->watch);
  Py_BEGIN_ALLOW_THREADS;
  while (!status && !ss_sim_done(self->sim)) {
    if (interrupted(&self->watch)) status = SS_ERROR_STOPPED;
    if (!status) status = ss_sim_step(self->sim, &error);
    const bool wanted = ss_sim_state(self->sim)->step % every == 0 || ss_sim_done(self->sim);
    if (!status && wanted) status = record(self->sim, &r, &error);
  }
  Py_END_ALLOW_THREADS;
  self->busy = false;
  look(self);
  PyObject *result = NULL;
  if (status)
    (void)raise_error(&error);
  else if (!self->watch.raised)
    result = Py_BuildValue("(y#i)", (const char *)r.numbers, (Py_ssize_t)(sizeof(double) * r.n), r.width);
  free(r.numbers);
  free(r.joints);
  return result;
}

/* page(path, steps): writes the page of the steps from here to the end, or of this moment alone */
static PyObject *sim_page(PyObject *object, PyObject *args) {
  Sim *self = (Sim *)object;
  const char *path;
  int steps;
  if (!PyArg_ParseTuple(args, "sp", &path, &steps) || !begin(self)) return NULL;
  ss_error error = {.status = SS_OK};
  ss_recorder *recorder = NULL;
  ss_status status = ss_recorder_open_page(path, self->sim, &recorder, &error);
  const ss_observer observer = recorder ? ss_recorder_observer(recorder) : (ss_observer){0};
  if (!status) status = ss_sim_observe(self->sim, &observer, &error);
  self->busy = true;
  watch_begins(&self->watch);
  Py_BEGIN_ALLOW_THREADS;
  while (!status && steps && !ss_sim_done(self->sim)) status = ss_sim_step(self->sim, &error);
  Py_END_ALLOW_THREADS;
  self->busy = false;
  if (recorder) {
    const ss_status closed = ss_recorder_close(recorder, self->sim, !status, status ? NULL : &error);
    if (!status) status = closed;
  }
  look(self);
  if (status) return raise_error(&error);
  if (self->watch.raised) return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef sim_methods[] = {{"step", sim_step, METH_O, NULL},
                                    {"views", sim_views, METH_NOARGS, NULL},
                                    {"motion", sim_motion, METH_O, NULL},
                                    {"joint", sim_joint, METH_VARARGS, NULL},
                                    {"reaction", sim_reaction, METH_O, NULL},
                                    {"set_input", sim_set_input, METH_VARARGS, NULL},
                                    {"input", sim_input, METH_O, NULL},
                                    {"output", sim_output, METH_O, NULL},
                                    {"apply", sim_apply, METH_VARARGS, NULL},
                                    {"place", sim_place, METH_VARARGS, NULL},
                                    {"contacts", sim_contacts, METH_NOARGS, NULL},
                                    {"save", sim_save, METH_NOARGS, NULL},
                                    {"restore", sim_restore, METH_VARARGS, NULL},
                                    {"record", sim_record, METH_VARARGS, NULL},
                                    {"page", sim_page, METH_VARARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
static PyGetSetDef sim_properties[] = {{"t", sim_t, NULL, NULL, NULL},
                                       {"steps", sim_steps, NULL, NULL, NULL},
                                       {"done", sim_done, NULL, NULL, NULL},
                                       {"options", sim_options, NULL, NULL, NULL},
                                       {"certificate", sim_certificate, NULL, NULL, NULL},
                                       {"energy", sim_energy, NULL, NULL, NULL},
                                       {"events", sim_events, NULL, NULL, NULL},
                                       {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot sim_slots[] = {{Py_tp_new, (void *)sim_new},
                                  {Py_tp_dealloc, (void *)sim_dealloc},
                                  {Py_tp_methods, sim_methods},
                                  {Py_tp_getset, sim_properties},
                                  {0, NULL}};
static PyType_Spec sim_spec = {"stickslip._core.Sim", sizeof(Sim), 0, Py_TPFLAGS_DEFAULT, sim_slots};

/* ---- batches ---- */

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
  int n;
  if (!PyArg_ParseTuple(args, "O!s#i", model_type, &model, &options, &length, &n)) return NULL;
  if (n < 1) {
    PyErr_SetString(PyExc_ValueError, "a batch needs at least one copy");
    return NULL;
  }
  const ss_model *m = ((Model *)model)->model;
  ss_simulation o;
  ss_error error = {.status = SS_OK};
  if (read_options(m, options, length, true, &o, &error)) return raise_error(&error);
  Batch *self = (Batch *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (!self) return NULL;
  Py_INCREF(model);
  self->model = model;
  self->n = n;
  self->nq = positions_of(m);
  self->nv = ss_model_coordinates(m);
  self->n_inputs = ss_model_inputs(m);
  self->n_outputs = ss_model_outputs(m);
  ss_status status = batch_allocate(self) ? SS_OK : ss_fail(&error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; !status && i < n; i++) {
    status = ss_sim_create(m, &o, &self->sims[i], &error);
    if (!status) status = ss_checkpoint_save(self->sims[i], &self->starts[i], &self->start_sizes[i], &error);
    if (status) break;
    self->watches[i].stop = &self->stop;
    ss_sim_stop_when(self->sims[i], interrupted, &self->watches[i]);
    for (int k = 0; k < self->n_inputs; k++)
      self->inputs[(size_t)i * (size_t)self->n_inputs + (size_t)k] = ss_sim_input(self->sims[i], k);
    batch_look(self, i);
  }
  if (status) {
    Py_DECREF(self);
    return raise_error(&error);
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
  for (long k = 0; !status && k < work->steps; k++) {
    if (interrupted(&b->watches[i])) status = b->errors[i].status = SS_ERROR_STOPPED;
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
  for (int i = 0; i < b->n; i++)
    if (b->failed[i] && b->errors[i].status) { /* news: the copy that failed first of all in their order */
      ss_error error = b->errors[i];
      (void)snprintf(error.message, sizeof error.message, "copy %d: %.480s", i, b->errors[i].message);
      return raise_error(&error);
    }
  Py_RETURN_NONE;
}

static PyObject *batch_views(PyObject *object, PyObject *unused) {
  (void)unused;
  Batch *b = (Batch *)object;
  const Py_ssize_t n = b->n, q[] = {n, b->nq}, v[] = {n, b->nv}, in[] = {n, b->n_inputs}, out[] = {n, b->n_outputs};
  PyObject *views[6] = {
      view_of_doubles(object, b->t, false, 1, &n),        view_of_doubles(object, b->q, false, 2, q),
      view_of_doubles(object, b->v, false, 2, v),         view_of_doubles(object, b->inputs, true, 2, in),
      view_of_doubles(object, b->outputs, false, 2, out), new_view(object, b->failed, '?', 1, false, 1, &n)};
  bool good = true;
  for (int i = 0; i < 6; i++) good = good && views[i];
  PyObject *all = good ? Py_BuildValue("(OOOOOO)", views[0], views[1], views[2], views[3], views[4], views[5]) : NULL;
  for (int i = 0; i < 6; i++) Py_XDECREF(views[i]);
  return all;
}

static bool batch_index(const Batch *b, long i) {
  if (i < 0 || i >= b->n) (void)raise_index("copy");
  return i >= 0 && i < b->n && batch_is_free(b);
}

static PyObject *batch_reset(PyObject *object, PyObject *index) {
  Batch *b = (Batch *)object;
  const long i = PyLong_AsLong(index);
  if ((i == -1 && PyErr_Occurred()) || !batch_index(b, i)) return NULL;
  ss_error error = {.status = SS_OK};
  if (ss_checkpoint_load(b->sims[i], b->starts[i], b->start_sizes[i], &error)) return raise_error(&error);
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
    for (int k = 0; k < bodies; k++) put_motion(b->sims[i], k, out + (size_t)i * row + 13 * (size_t)k);
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
                               ? place(b->sims[i], bodies, all, (const double *)(const void *)numbers, &error)
                               : ss_fail(&error, SS_ERROR_INPUT, "place needs 13 numbers per body");
  free(all);
  batch_look(b, i);
  if (!status) Py_RETURN_NONE;
  return raise_error(&error);
}

static PyObject *batch_certificate(PyObject *object, PyObject *index) {
  Batch *b = (Batch *)object;
  const long i = PyLong_AsLong(index);
  if ((i == -1 && PyErr_Occurred()) || !batch_index(b, i)) return NULL;
  return certificate_of(b->sims[i]);
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
static PyType_Spec batch_spec = {"stickslip._core.Batch", sizeof(Batch), 0, Py_TPFLAGS_DEFAULT, batch_slots};

/* ---- complementarity problems ---- */

/* (kind, size, lower, upper, cone, directions, mu, extra) of each block, in the order of the rows */
static ss_block *read_blocks(PyObject *list, int *n) {
  *n = (int)PyList_Size(list);
  ss_block *blocks = calloc((size_t)*n + 1, sizeof *blocks);
  int first = 0;
  for (int i = 0; blocks && i < *n; i++) {
    int kind, cone;
    ss_block *b = &blocks[i];
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "iiddiidd", &kind, &b->size, &b->lower, &b->upper, &cone,
                          &b->directions, &b->mu, &b->extra)) {
      free(blocks);
      return NULL;
    }
    b->kind = (ss_block_kind)kind;
    b->cone = (ss_cone)cone;
    b->first = first;
    first += b->size;
  }
  if (!blocks) (void)PyErr_NoMemory();
  return blocks;
}

/* solve(n, G, indptr, indices, g, blocks, solver, tolerance, limit, guess): G is dense where indptr is empty */
static PyObject *core_solve(PyObject *self, PyObject *args) {
  (void)self;
  int n, limit;
  const char *G, *indptr, *indices, *g, *solver, *guess;
  Py_ssize_t nG, n_indptr, n_indices, ng, n_guess;
  double tolerance;
  PyObject *list;
  if (!PyArg_ParseTuple(args, "iy#y#y#y#O!sdiy#", &n, &G, &nG, &indptr, &n_indptr, &indices, &n_indices, &g, &ng,
                        &PyList_Type, &list, &solver, &tolerance, &limit, &guess, &n_guess))
    return NULL;
  int n_blocks;
  ss_block *blocks = read_blocks(list, &n_blocks);
  if (!blocks) return NULL;
  const ss_sparse sparse = {n, n, (const int *)(const void *)indptr, (const int *)(const void *)indices,
                            (const double *)(const void *)G};
  const ss_cp problem = {.n = n,
                         .n_blocks = n_blocks,
                         .G = n_indptr ? NULL : (const double *)(const void *)G,
                         .g = (const double *)(const void *)g,
                         .blocks = blocks,
                         .sparse = n_indptr ? &sparse : NULL};
  ss_cp_options options = ss_cp_options_default();
  Watch watch = {.last = seconds(), .main_thread = true};
  options.solver = solver;
  if (tolerance > 0) options.tolerance = tolerance;
  options.iteration_limit = limit;
  options.stop = interrupted;
  options.stop_user = &watch;
  ss_error error = {.status = SS_OK};
  ss_cp_workspace *workspace = NULL;
  ss_cp_result result = {.residual = 0};
  double *numbers = calloc(2 * (size_t)n + 1, sizeof *numbers);
  ss_status status = numbers ? ss_cp_validate(&problem, &error) : ss_fail(&error, SS_ERROR_MEMORY, "out of memory");
  if (!status) status = ss_cp_workspace_create(&workspace, &error);
  const bool warm = n_guess == (Py_ssize_t)sizeof(double) * n && n_guess > 0;
  if (!status && warm) memcpy(numbers, guess, (size_t)n_guess);
  const double start = seconds();
  Py_BEGIN_ALLOW_THREADS;
  if (!status) status = ss_cp_solve(&problem, &options, warm, numbers, workspace, &result, &error);
  if (!status) result.residual = ss_cp_judge(&problem, numbers, numbers + n);
  Py_END_ALLOW_THREADS;
  const double spent = seconds() - start;
  ss_cp_workspace_destroy(workspace);
  PyObject *answer = NULL;
  if (status)
    (void)raise_error(&error);
  else if (!watch.raised)
    answer = Py_BuildValue(
        "{s:y#,s:y#,s:s,s:d,s:i,s:s,s:O,s:d}", "z", (const char *)numbers, (Py_ssize_t)sizeof(double) * n, "w",
        (const char *)(numbers + n), (Py_ssize_t)sizeof(double) * n, "status", ss_outcome_name(result.outcome),
        "residual", result.residual, "iterations", result.iterations, "solver", result.solver ? result.solver : solver,
        "no_solution", result.no_solution ? Py_True : Py_False, "seconds", spent);
  free(numbers);
  free(blocks);
  return answer;
}

/* ---- the module ---- */

static PyObject *core_version(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return PyUnicode_FromString(ss_version(NULL, NULL, NULL));
}

static PyMethodDef functions[] = {
    {"solve", core_solve, METH_VARARGS, NULL}, {"version", core_version, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "stickslip._core", .m_size = -1,
                                    .m_methods = functions};

static bool add_type(PyObject *m, const char *name, PyType_Spec *spec, PyTypeObject **type) {
  *type = (PyTypeObject *)PyType_FromSpec(spec);
  return *type && PyModule_AddObjectRef(m, name, (PyObject *)*type) == 0;
}

PyMODINIT_FUNC PyInit__core(void) {
  PyObject *m = PyModule_Create(&module);
  if (m && add_type(m, "View", &view_spec, &view_type) && add_type(m, "Model", &model_spec, &model_type) &&
      add_type(m, "Sim", &sim_spec, &sim_type) && add_type(m, "Batch", &batch_spec, &batch_type))
    return m;
  Py_XDECREF(m);
  return NULL;
}
