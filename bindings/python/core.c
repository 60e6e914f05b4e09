/* stickslip._core: what the Python package needs of the library, and nothing more; the package itself is Python
 * (bindings/python/stickslip). Written against the limited API, so that one wheel serves all versions from 3.11 on.
 *
 *     Model    a compiled scene, shared by simulations                                        core.c
 *     Sim      a simulation; t, q and v are copied to buffers of its own after every step,    core_sim.c
 *              which numpy arrays may look at as long as they live
 *     Batch    n simulations of one model, stepped on several threads                         core_batch.c
 *     solve    a complementarity problem                                                      core_solve.c
 *
 * The GIL is released while steps and solvers run. A signal ends them: the step that was begun is undone.
 *
 * Here: what the four share, models, and the module. */
#include "core.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- errors ---- */

PyObject *core_raise(const ss_error *error) {
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

PyObject *core_raise_index(const char *what) {
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

PyTypeObject *core_model_type;
static PyTypeObject *view_type, *sim_type, *batch_type;

PyObject *core_view(PyObject *owner, void *memory, char format, Py_ssize_t item, bool writable, int dimensions,
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

PyObject *core_view_of_doubles(PyObject *owner, double *memory, bool writable, int dimensions,
                               const Py_ssize_t *shape) {
  return core_view(owner, memory, 'd', sizeof(double), writable, dimensions, shape);
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

double core_seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Twenty times a second: whether a signal's handler has raised something. Called without the GIL. */
bool core_interrupted(void *user) {
  Watch *watch = user;
  if (watch->stop && atomic_load_explicit(watch->stop, memory_order_relaxed)) return true;
  if (watch->raised) return true;
  const double now = core_seconds();
  if (!watch->main_thread || now - watch->last < 0.05) return false;
  watch->last = now;
  const PyGILState_STATE state = PyGILState_Ensure();
  watch->raised = PyErr_CheckSignals() != 0;
  PyGILState_Release(state);
  if (watch->raised && watch->stop) atomic_store(watch->stop, true);
  return watch->raised;
}

void core_watch(Watch *watch) {
  watch->last = core_seconds();
  watch->raised = false;
}

/* ---- models ---- */

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
    return core_raise(&error);
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

bool core_append(PyObject *list, PyObject *item) {
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
    good = core_append(bodies, PyUnicode_FromString(ss_model_body_name(m->model, i)));
  for (int i = 0; good && i < ss_model_joints(m->model); i++)
    good = core_append(joints, Py_BuildValue("(sOO)", ss_model_joint_name(m->model, i),
                                             ss_model_joint_has_position(m->model, i) ? Py_True : Py_False,
                                             ss_model_joint_has_motor(m->model, i) ? Py_True : Py_False));
  for (int i = 0; good && i < ss_model_inputs(m->model); i++)
    good = core_append(inputs,
                       Py_BuildValue("(sd)", ss_model_input_name(m->model, i), ss_model_input_default(m->model, i)));
  for (int i = 0; good && i < ss_model_outputs(m->model); i++)
    good = core_append(outputs, PyUnicode_FromString(ss_model_output_name(m->model, i)));
  for (int i = 0; good && i < m->scene->n_parameters; i++)
    good = core_append(parameters, Py_BuildValue("(sd)", m->scene->parameters[i].name, m->scene->parameters[i].value));
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

/* ---- the module ---- */

static PyObject *core_version(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return PyUnicode_FromString(ss_version(NULL, NULL, NULL));
}

static PyMethodDef functions[] = {{"solve", core_solve, METH_VARARGS, NULL},
                                  {"solvers", core_solvers, METH_NOARGS, NULL},
                                  {"version", core_version, METH_NOARGS, NULL},
                                  {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "stickslip._core", .m_size = -1,
                                    .m_methods = functions};

static bool add_type(PyObject *m, const char *name, PyType_Spec *spec, PyTypeObject **type) {
  *type = (PyTypeObject *)PyType_FromSpec(spec);
  return *type && PyModule_AddObjectRef(m, name, (PyObject *)*type) == 0;
}

PyMODINIT_FUNC PyInit__core(void) {
  PyObject *m = PyModule_Create(&module);
  if (m && add_type(m, "View", &view_spec, &view_type) && add_type(m, "Model", &model_spec, &core_model_type) &&
      add_type(m, "Sim", &core_sim_spec, &sim_type) && add_type(m, "Batch", &core_batch_spec, &batch_type))
    return m;
  Py_XDECREF(m);
  return NULL;
}
