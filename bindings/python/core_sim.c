/* stickslip._core.Sim: one simulation with its events, and the buffers it is seen through. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

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
int core_positions(const ss_model *model) {
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
ss_status core_options(const ss_model *model, const char *text, Py_ssize_t length, bool endless, ss_simulation *o,
                       ss_error *error) {
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
  if (!PyArg_ParseTuple(args, "O!s#p", core_model_type, &model, &options, &length, &endless)) return NULL;
  ss_simulation o;
  ss_error error = {.status = SS_OK};
  if (core_options(((Model *)model)->model, options, length, endless, &o, &error)) return core_raise(&error);
  Sim *self = (Sim *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (!self) return NULL;
  Py_INCREF(model);
  self->model = model;
  ss_status status = ss_sim_create(((Model *)model)->model, &o, &self->sim, &error);
  const ss_observer observer = {.user = &self->events, .step = after_step, .event = on_event};
  if (!status) status = ss_sim_observe(self->sim, &observer, &error);
  if (status) {
    Py_DECREF(self);
    return core_raise(&error);
  }
  const ss_model *m = ((Model *)model)->model;
  self->nq = core_positions(m);
  self->nv = ss_model_coordinates(m);
  self->n_outputs = ss_model_outputs(m);
  self->q = calloc((size_t)self->nq + 1, sizeof(double));
  self->v = calloc((size_t)self->nv + 1, sizeof(double));
  if (!self->q || !self->v) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  self->watch.main_thread = true;
  ss_sim_stop_when(self->sim, core_interrupted, &self->watch);
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
  core_watch(&self->watch);
  Py_BEGIN_ALLOW_THREADS;
  for (long i = 0; i < n && !status && !ss_sim_done(self->sim); i++) {
    if (i > 0 && core_interrupted(&self->watch)) status = SS_ERROR_STOPPED;
    if (!status) status = ss_sim_step(self->sim, &error);
  }
  Py_END_ALLOW_THREADS;
  self->busy = false;
  look(self);
  if (status) return core_raise(&error);
  if (self->watch.raised) return NULL;
  Py_RETURN_NONE;
}

/* ---- looking at it ---- */

static PyObject *sim_views(PyObject *object, PyObject *unused) {
  (void)unused;
  Sim *self = (Sim *)object;
  const Py_ssize_t nq = self->nq, nv = self->nv;
  PyObject *q = core_view_of_doubles(object, self->q, false, 1, &nq);
  PyObject *v = core_view_of_doubles(object, self->v, false, 1, &nv);
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

void core_motion_numbers(const ss_sim *sim, int body, double out[13]) {
  const ss_motion m = ss_sim_motion(sim, body);
  const double numbers[13] = {m.pose.position.x,    m.pose.position.y,    m.pose.position.z,    m.pose.orientation.w,
                              m.pose.orientation.x, m.pose.orientation.y, m.pose.orientation.z, m.velocity.x,
                              m.velocity.y,         m.velocity.z,         m.angular_velocity.x, m.angular_velocity.y,
                              m.angular_velocity.z};
  memcpy(out, numbers, sizeof numbers);
}

static ss_motion motion_of(const double in[13]) {
  return (ss_motion){
      {{in[0], in[1], in[2]}, {in[3], in[4], in[5], in[6]}}, {in[7], in[8], in[9]}, {in[10], in[11], in[12]}};
}

/* 13 numbers as bytes: position, orientation, velocity, angular velocity */
static PyObject *sim_motion(PyObject *object, PyObject *index) {
  Sim *self = (Sim *)object;
  const long body = PyLong_AsLong(index);
  if (body == -1 && PyErr_Occurred()) return NULL;
  if (body < 0 || body >= ss_model_bodies(ss_sim_model(self->sim))) return core_raise_index("body");
  if (!begin(self)) return NULL;
  double numbers[13];
  core_motion_numbers(self->sim, (int)body, numbers);
  return PyBytes_FromStringAndSize((const char *)numbers, sizeof numbers);
}

static PyObject *sim_joint(PyObject *object, PyObject *args) {
  Sim *self = (Sim *)object;
  int joint, what;
  if (!PyArg_ParseTuple(args, "ii", &joint, &what) || !begin(self)) return NULL;
  if (joint < 0 || joint >= ss_model_joints(ss_sim_model(self->sim))) return core_raise_index("joint");
  return PyFloat_FromDouble(what == 0   ? ss_sim_joint_position(self->sim, joint)
                            : what == 1 ? ss_sim_joint_speed(self->sim, joint)
                                        : ss_sim_joint_force(self->sim, joint));
}

static PyObject *sim_reaction(PyObject *object, PyObject *index) {
  Sim *self = (Sim *)object;
  const long joint = PyLong_AsLong(index);
  if (joint == -1 && PyErr_Occurred()) return NULL;
  const int n = ss_model_joints(ss_sim_model(self->sim));
  if (joint < 0 || joint >= n) return core_raise_index("joint");
  if (!begin(self)) return NULL;
  ss_joint_report *all = calloc((size_t)n, sizeof *all);
  ss_error error = {.status = SS_ERROR_MEMORY};
  if (!all || ss_sim_joints(self->sim, all, n, &error)) {
    free(all);
    return core_raise(&error);
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
  if (ss_sim_set_input(((Sim *)object)->sim, input, value, &error)) return core_raise(&error);
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
  if (ss_sim_apply(((Sim *)object)->sim, body, f, m, &error)) return core_raise(&error);
  Py_RETURN_NONE;
}

/* Bodies by their numbers, and 13 numbers of each. */
ss_status core_place(ss_sim *sim, int n, const int *bodies, const double *numbers, ss_error *error) {
  ss_motion *motions = calloc((size_t)n + 1, sizeof *motions);
  if (!motions) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < n; i++) motions[i] = motion_of(numbers + (size_t)13 * (size_t)i);
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
      core_place(self->sim, n, (const int *)(const void *)bodies, (const double *)(const void *)numbers, &error);
  look(self);
  if (status) return core_raise(&error);
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

PyObject *core_certificate(const ss_sim *sim) {
  const ss_certificate *c = &ss_sim_report(sim)->certificate;
  PyObject *doubts = PyList_New(0);
  bool good = doubts != NULL;
  for (int i = 0; good && i < SS_DOUBTS; i++)
    if (c->doubts[i] != 0)
      good = core_append(doubts, Py_BuildValue("{s:s,s:d,s:s}", "code", ss_table_doubts()[i].code, "number",
                                               c->doubts[i], "meaning", ss_table_doubts()[i].meaning));
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
    if (!core_append(list, one)) Py_CLEAR(list);
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
  return begin((Sim *)object) ? core_certificate(((Sim *)object)->sim) : NULL;
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
  if (ss_checkpoint_save(self->sim, &bytes, &size, &error)) return core_raise(&error);
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
    return core_raise(&error);
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
  for (int i = 0; i < ss_model_bodies(model); i++, out += 13) core_motion_numbers(sim, i, out);
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

/* The exception at hand takes along what was recorded before. */
static void attach(PyObject *recorded) {
  PyObject *type, *exception, *trace;
  PyErr_Fetch(&type, &exception, &trace);
  PyErr_NormalizeException(&type, &exception, &trace);
  if (!recorded || PyObject_SetAttrString(exception, "recorded", recorded)) PyErr_Clear();
  PyErr_Restore(type, exception, trace);
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
  core_watch(&self->watch);
  Py_BEGIN_ALLOW_THREADS;
  while (!status && !ss_sim_done(self->sim)) {
    if (core_interrupted(&self->watch)) status = SS_ERROR_STOPPED;
    if (!status) status = ss_sim_step(self->sim, &error);
    const bool wanted = ss_sim_state(self->sim)->step % every == 0 || ss_sim_done(self->sim);
    if (!status && wanted) status = record(self->sim, &r, &error);
  }
  Py_END_ALLOW_THREADS;
  self->busy = false;
  look(self);
  PyObject *result = NULL;
  if (!self->watch.raised && r.n > 0)
    result = Py_BuildValue("(y#i)", (const char *)r.numbers, (Py_ssize_t)(sizeof(double) * r.n), r.width);
  free(r.numbers);
  free(r.joints);
  if (!status) return result;
  if (result && status != SS_ERROR_MEMORY) {
    (void)core_raise(&error);
    attach(result);
  } else if (!PyErr_Occurred())
    (void)core_raise(&error);
  Py_XDECREF(result);
  return NULL;
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
  core_watch(&self->watch);
  Py_BEGIN_ALLOW_THREADS;
  while (!status && steps && !ss_sim_done(self->sim)) status = ss_sim_step(self->sim, &error);
  Py_END_ALLOW_THREADS;
  self->busy = false;
  if (recorder) {
    const ss_status closed = ss_recorder_close(recorder, self->sim, !status, status ? NULL : &error);
    if (!status) status = closed;
  }
  look(self);
  if (status) return core_raise(&error);
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
PyType_Spec core_sim_spec = {"stickslip._core.Sim", sizeof(Sim), 0, Py_TPFLAGS_DEFAULT, sim_slots};
