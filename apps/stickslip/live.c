#include "live.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A scene ends; whoever watches decides when to stop. So many steps are never reached. */
static const double STEPS = 1e9;
static const double SLICE = 0.02;       /* seconds of computing between two looks at the server */
static const double PICTURE = 1.0 / 60; /* seconds between two states */
static const double PULL_PERIOD = 0.5;  /* seconds of the oscillation of a body that is pulled */
static const double PULL_STEPS = 40;    /* and at least so many steps: the spring is explicit */

static void publish(live *l) {
  l->sequence++;
  l->published = wall_clock();
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
say(live *l, bool result, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(l->message, sizeof l->message, format, arguments);
  va_end(arguments);
  return result;
}

/* ---- opening, and opening again ---- */

static void drop_sim(live *l) {
  ss_snapshot_close(l->snapshot);
  ss_sim_destroy(l->sim);
  l->snapshot = NULL;
  l->sim = NULL;
}

static ss_status create_sim(const session *s, ss_sim **sim, ss_snapshot **snapshot, ss_error *error) {
  ss_simulation options = s->simulation;
  options.duration = fmax(options.duration, STEPS * options.step);
  ss_status status = ss_sim_create(s->model, &options, sim, error);
  if (!status) status = ss_snapshot_open(*sim, snapshot, error);
  return status;
}

/* Real time, or slower where the scene is over in less than two seconds. */
static double comfortable_speed(double duration) {
  static const double speeds[] = {1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001};
  size_t i = 0;
  while (i + 1 < sizeof speeds / sizeof *speeds && duration / speeds[i] < 2) i++;
  return speeds[i];
}

ss_status live_open(live *l, const char *path, const overrides *o, ss_error *error) {
  l->path = path;
  l->overrides = *o;
  ss_status status = session_open(&l->session, path, o, error);
  if (!status) status = create_sim(&l->session, &l->sim, &l->snapshot, error);
  if (!status) l->speed = comfortable_speed(l->session.simulation.duration);
  return status;
}

void live_close(live *l) {
  drop_sim(l);
  session_close(&l->session);
  for (int i = 0; i < l->n_settings; i++) free(l->settings[i]);
  free(l->settings);
  l->settings = NULL;
  l->n_settings = 0;
}

/* ---- time ---- */

static bool one_step(live *l) {
  ss_error error = {0};
  if (!ss_sim_step(l->sim, &error)) return true;
  l->running = false;
  return say(l, false, "stopped: %s", error.message);
}

void live_advance(live *l, double seconds) {
  if (!l->running) return;
  const double step = l->session.simulation.step, start = wall_clock();
  l->due += fmin(seconds, 0.1) * l->speed;
  bool moved = false;
  while (l->running && l->due >= step) {
    l->due -= step;
    moved = one_step(l);
    if (wall_clock() - start < SLICE) continue;
    l->due = fmin(l->due, step);
  }
  if (!l->running || (moved && wall_clock() - l->published >= PICTURE)) publish(l);
}

/* ---- commands ---- */

static bool reset(live *l) {
  ss_error error = {0};
  drop_sim(l);
  l->due = 0;
  if (create_sim(&l->session, &l->sim, &l->snapshot, &error)) {
    l->stopped = true; /* it could be created before: out of memory */
    return say(l, false, "%s", error.message);
  }
  return say(l, true, "reset");
}

static bool set_speed(live *l, const json_t *order) {
  const double speed = json_number_value(json_object_get(order, "value"));
  if (!(speed > 0) || speed > 1000) return say(l, false, "the speed must be positive, and at most 1000");
  l->speed = speed;
  return true;
}

/* The command line's settings, then the page's, then the new one: the last one counts. */
static const char **all_settings(const live *l, const char *new_one, int *n) {
  const text_list *given = &l->overrides.set;
  const char **all = calloc((size_t)(given->n + l->n_settings) + 1, sizeof *all);
  *n = 0;
  if (!all) return NULL;
  for (int i = 0; i < given->n; i++) all[(*n)++] = given->items[i];
  for (int i = 0; i < l->n_settings; i++) all[(*n)++] = l->settings[i];
  all[(*n)++] = new_one;
  return all;
}

/* In place of the older one for the same name. */
static bool remember(live *l, char *setting) {
  const size_t length = (size_t)(strchr(setting, '=') - setting) + 1;
  for (int i = 0; i < l->n_settings; i++) {
    if (strncmp(l->settings[i], setting, length) != 0) continue;
    free(l->settings[i]);
    l->settings[i] = setting;
    return true;
  }
  char **grown = realloc(l->settings, sizeof *grown * ((size_t)l->n_settings + 1));
  if (!grown) return false;
  l->settings = grown;
  l->settings[l->n_settings++] = setting;
  return true;
}

/* Compiles the scene again. The state goes on where the new model allows it; otherwise it restarts, and why is said. */
static bool recompile(live *l, const char *setting) {
  session s = {0};
  ss_sim *sim = NULL;
  ss_snapshot *snapshot = NULL;
  ss_error error = {0}, why = {0};
  overrides o = l->overrides;
  o.set.items = all_settings(l, setting, &o.set.n);
  ss_status status = o.set.items ? session_open(&s, l->path, &o, &error) : SS_ERROR_MEMORY;
  free((void *)o.set.items);
  if (!status) status = create_sim(&s, &sim, &snapshot, &error);
  if (status) {
    ss_snapshot_close(snapshot);
    ss_sim_destroy(sim);
    session_close(&s);
    return say(l, false, "%s", error.message[0] ? error.message : "out of memory");
  }
  const bool goes_on = !ss_sim_adopt(sim, l->sim, &why);
  drop_sim(l);
  session_close(&l->session);
  l->session = s;
  l->sim = sim;
  l->snapshot = snapshot;
  l->generation++;
  return goes_on ? say(l, true, "%s: the motion goes on", setting)
                 : say(l, true, "%s: restarted, because %s", setting, why.message);
}

static bool set_parameter(live *l, const json_t *order) {
  const char *name = json_string_value(json_object_get(order, "name"));
  const json_t *value = json_object_get(order, "value");
  if (!name || strchr(name, '=') || !(json_is_string(value) || json_is_number(value)))
    return say(l, false, "set needs a name, and a value: a number or an expression");
  enum { SIZE = 256 };
  char *setting = malloc(SIZE);
  if (!setting) return say(l, false, "out of memory");
  const int length = json_is_string(value) ? snprintf(setting, SIZE, "%s=%s", name, json_string_value(value))
                                           : snprintf(setting, SIZE, "%s=%.17g", name, json_number_value(value));
  const bool fits = length > 0 && length < SIZE;
  if (fits && recompile(l, setting) && remember(l, setting)) return true;
  free(setting);
  return fits ? false : say(l, false, "the value is too long");
}

/* An input changes at once: nothing is compiled, the motion goes on. */
static bool set_input(live *l, const json_t *order) {
  const char *name = json_string_value(json_object_get(order, "name"));
  const json_t *value = json_object_get(order, "value");
  if (!name || !json_is_number(value)) return say(l, false, "input needs a name and a number");
  ss_error error = {0};
  return !ss_sim_set_input_named(l->sim, name, json_number_value(value), &error) || say(l, false, "%s", error.message);
}

static bool read_vector(const json_t *array, ss_vec3 *v) {
  if (json_array_size(array) != 3) return false;
  double x[3];
  for (size_t i = 0; i < 3; i++) {
    if (!json_is_number(json_array_get(array, i))) return false;
    x[i] = json_number_value(json_array_get(array, i));
  }
  *v = (ss_vec3){x[0], x[1], x[2]};
  return true;
}

/* As stiff as the step allows, damped half critically, for the mass of this body. */
static bool pull(live *l, const json_t *order) {
  ss_pull p = {.body = -1};
  const json_t *body = json_object_get(order, "body");
  if (json_is_integer(body)) p.body = (int)json_integer_value(body);
  if (p.body < 0 || p.body >= ss_model_bodies(l->session.model)) return say(l, false, "pull: there is no such body");
  if (!read_vector(json_object_get(order, "point"), &p.point) ||
      !read_vector(json_object_get(order, "target"), &p.target))
    return say(l, false, "pull needs a point and a target: three numbers each");
  const double period = fmax(PULL_PERIOD, PULL_STEPS * l->session.simulation.step);
  const double mass = ss_model_body_mass(l->session.model, p.body), rate = 2 * acos(-1) / period;
  p.stiffness = mass * rate * rate;
  p.damping = mass * rate;
  ss_error error = {0};
  return !ss_sim_pull(l->sim, &p, &error) || say(l, false, "%s", error.message);
}

static bool act(live *l, const char *action, const json_t *order) {
  if (strcmp(action, "speed") == 0) return set_speed(l, order);
  if (strcmp(action, "set") == 0) return set_parameter(l, order);
  if (strcmp(action, "input") == 0) return set_input(l, order);
  if (strcmp(action, "pull") == 0) return pull(l, order);
  if (strcmp(action, "release") == 0) return !ss_sim_pull(l->sim, NULL, NULL);
  if (strcmp(action, "reset") == 0) return reset(l);
  if (strcmp(action, "stop") == 0) {
    l->stopped = true;
  } else if (strcmp(action, "start") == 0) {
    l->running = true;
    l->due = 0;
  } else if (strcmp(action, "pause") == 0) {
    l->running = false;
  } else if (strcmp(action, "step") == 0) {
    l->running = false;
    return one_step(l);
  } else {
    return say(l, false,
               "unknown action; there are start, pause, step, reset, speed, set, input, pull, release and stop");
  }
  return true;
}

bool live_command(live *l, const json_t *order) {
  const char *action = json_string_value(json_object_get(order, "action"));
  l->message[0] = '\0';
  const bool done = action ? act(l, action, order) : say(l, false, "the command has no action");
  publish(l);
  return done;
}

/* ---- what is shown ---- */

static json_t *parameters(const ss_scene *scene) {
  json_t *object = json_object();
  for (int i = 0; object && i < scene->n_parameters; i++)
    if (json_object_set_new(object, scene->parameters[i].name, json_number(scene->parameters[i].value))) {
      json_decref(object);
      return NULL;
    }
  return object;
}

static json_t *inputs(const ss_sim *sim) {
  const ss_model *model = ss_sim_model(sim);
  json_t *object = json_object();
  for (int i = 0; object && i < ss_model_inputs(model); i++)
    if (json_object_set_new(object, ss_model_input_name(model, i), json_number(ss_sim_input(sim, i)))) {
      json_decref(object);
      return NULL;
    }
  return object;
}

static char *write_text(live *l, size_t *size, bool (*put)(live *, FILE *)) {
  char *text = NULL;
  FILE *stream = open_memstream(&text, size);
  if (!stream) return NULL;
  const bool good = put(l, stream);
  if (!fclose(stream) && good) return text;
  free(text);
  return NULL;
}

static bool put_state(live *l, FILE *stream) {
  json_t *head = json_pack("{s:I, s:I, s:b, s:o, s:I, s:o, s:o, s:o}", "sequence", (json_int_t)l->sequence,
                           "generation", (json_int_t)l->generation, "running", l->running, "speed",
                           json_number(l->speed), "steps", (json_int_t)ss_sim_state(l->sim)->step, "message",
                           json_text(l->message), "parameters", parameters(l->session.scene), "inputs", inputs(l->sim));
  char *text = head ? json_dumps(head, JSON_COMPACT) : NULL;
  json_decref(head);
  if (!text) return false;
  text[strlen(text) - 1] = '\0'; /* the object goes on with the frame */
  const bool written = fprintf(stream, "%s,\"frame\":", text) > 0;
  free(text);
  return written && !ss_snapshot_data(l->snapshot, stream, NULL) && fputs("}\n", stream) >= 0;
}

static bool put_page(live *l, FILE *stream) { return !ss_snapshot_page(l->snapshot, stream, NULL); }

char *live_state(live *l, size_t *size) { return write_text(l, size, put_state); }
char *live_page(live *l, size_t *size) { return write_text(l, size, put_page); }
