/* What the files of stickslip._core share; core.c says what they are. */
#ifndef STICKSLIP_PYTHON_CORE_H
#define STICKSLIP_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stickslip/stickslip.h>

#include <stdatomic.h>

/* ---- errors ---- */

/* Raises the library's error as the package's exception, unless a signal's handler has raised something. Returns NULL. */
PyObject *core_raise(const ss_error *error);
PyObject *core_raise_index(const char *what);

/* ---- buffers that numpy looks at: `memory` stays as long as `owner` ---- */

PyObject *core_view(PyObject *owner, void *memory, char format, Py_ssize_t item, bool writable, int dimensions,
                    const Py_ssize_t *shape);
PyObject *core_view_of_doubles(PyObject *owner, double *memory, bool writable, int dimensions, const Py_ssize_t *shape);

/* Appends to a list and drops the reference to the item; false where either failed. */
bool core_append(PyObject *list, PyObject *item);

/* ---- signals ---- */

typedef struct {
  double last;       /* when signals were looked at last */
  bool raised;       /* a handler has raised something: whoever asks again is told so again */
  bool main_thread;  /* of a batch: the thread that called, which alone may look */
  atomic_bool *stop; /* of a batch */
} Watch;

double core_seconds(void);
void core_watch(Watch *watch);
bool core_interrupted(void *watch);

/* ---- models ---- */

typedef struct {
  PyObject_HEAD;
  ss_scene *scene;
  ss_model *model;
} Model;

extern PyTypeObject *core_model_type;

/* How many numbers the positions have. */
int core_positions(const ss_model *model);
ss_status core_options(const ss_model *model, const char *text, Py_ssize_t length, bool endless, ss_simulation *o,
                       ss_error *error);

/* ---- simulations ---- */

/* Position, orientation, velocity, angular velocity of a body's frame. */
void core_motion_numbers(const ss_sim *sim, int body, double out[13]);
ss_status core_place(ss_sim *sim, int n, const int *bodies, const double *numbers, ss_error *error);
PyObject *core_certificate(const ss_sim *sim);

/* ---- what the module is made of ---- */

extern PyType_Spec core_sim_spec, core_batch_spec;
PyObject *core_solve(PyObject *self, PyObject *args);
PyObject *core_solvers(PyObject *self, PyObject *unused);

#endif
