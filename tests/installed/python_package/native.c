/* A compiled extension of somebody's Python package that links libstickslip.so. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stickslip/stickslip.h>

static PyObject *run(PyObject *self, PyObject *text) {
  (void)self;
  Py_ssize_t length = 0;
  const char *scene_text = PyUnicode_AsUTF8AndSize(text, &length);
  if (!scene_text) return NULL;
  ss_error error = {.status = SS_OK};
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  ss_status status = ss_scene_parse(scene_text, (size_t)length, "text", NULL, 0, &scene, &error);
  if (!status) status = ss_model_create(scene, &model, &error);
  if (!status) status = ss_sim_create(model, NULL, &sim, &error);
  Py_BEGIN_ALLOW_THREADS;
  while (!status && !ss_sim_done(sim)) status = ss_sim_step(sim, &error);
  Py_END_ALLOW_THREADS;
  PyObject *height = status ? NULL : PyFloat_FromDouble(ss_sim_motion(sim, 0).pose.position.z);
  if (status) PyErr_SetString(PyExc_ValueError, error.message);
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  return height;
}

static PyMethodDef methods[] = {{"run", run, METH_O, "height of the first body at the end"}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "native", .m_size = 0, .m_methods = methods};
PyMODINIT_FUNC PyInit_native(void) { return PyModule_Create(&module); }
