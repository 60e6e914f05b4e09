#include "session.h"

#include <math.h>
#include <string.h>

overrides overrides_none(void) {
  return (overrides){.step = NAN, .tolerance = NAN, .duration = NAN, .alpha = NAN, .gamma = NAN};
}

static ss_status check_name(const char *what, const char *name, const void *table, size_t stride, ss_error *error) {
  for (const char *row = table;; row += stride) {
    const char *known;
    memcpy(&known, row, sizeof known);
    if (!known) break;
    if (strcmp(known, name) == 0) return SS_OK;
  }
  const char *near = nearest_name(name, table, stride);
  if (near) return ss_fail(error, SS_ERROR_INPUT, "unknown %s '%s'; did you mean '%s'?", what, name, near);
  return ss_fail(error, SS_ERROR_INPUT, "unknown %s '%s'; see stickslip list %ss", what, name, what);
}

ss_status check_scheme(const char *name, ss_error *error) {
  return check_name("scheme", name, ss_table_schemes(), sizeof(ss_table_row), error);
}

/* A fixed step, or a tolerance: what the command line says replaces either in the scene. */
static ss_status apply_step(ss_simulation *simulation, const overrides *o, ss_error *error) {
  if (!isnan(o->step) && !isnan(o->tolerance))
    return ss_fail(error, SS_ERROR_INPUT, "--step and --tolerance exclude each other");
  if (!isnan(o->step)) {
    if (!(o->step > 0)) return ss_fail(error, SS_ERROR_INPUT, "--step must be positive, got %g", o->step);
    simulation->step = o->step;
    simulation->tolerance = simulation->largest_step = 0;
  }
  if (!isnan(o->tolerance)) {
    if (!(o->tolerance > 0))
      return ss_fail(error, SS_ERROR_INPUT, "--tolerance must be positive, got %g", o->tolerance);
    simulation->tolerance = o->tolerance;
    /* of the scene's duration, so that --duration does not change the steps */
    if (simulation->largest_step == 0) simulation->largest_step = simulation->duration / 64;
  }
  if (o->estimate) {
    const bool halves = strcmp(o->estimate, "halves") == 0;
    if (!halves && strcmp(o->estimate, "pair") != 0)
      return ss_fail(error, SS_ERROR_INPUT, "--estimate must be pair or halves, got '%s'", o->estimate);
    if (simulation->tolerance == 0)
      return ss_fail(error, SS_ERROR_INPUT, "--estimate belongs to --tolerance: a fixed step asks for no error");
    simulation->estimate = halves ? SS_ESTIMATE_HALVES : SS_ESTIMATE_PAIR;
  }
  return SS_OK;
}

/* Kinds of events by name, with commas between them, or "none". */
static ss_status apply_events(ss_simulation *simulation, const char *kinds, ss_error *error) {
  simulation->has_events = true;
  simulation->events = 0;
  if (strcmp(kinds, "none") == 0) return SS_OK;
  for (const char *word = kinds;; word++) {
    const size_t length = strcspn(word, ",");
    const unsigned bit = ss_event_bit(word, length);
    if (!bit)
      return ss_fail(error, SS_ERROR_INPUT,
                     "--events: '%.*s' is neither a whole number nor a kind of event (collision, stick-slip, take-off, "
                     "facet, none)",
                     (int)(length < 40 ? length : 40), word);
    simulation->events |= bit;
    word += length;
    if (!*word) return SS_OK;
  }
}

ss_status require_weights(const char *own_scheme, double alpha, double gamma, ss_error *error) {
  if (strcmp(own_scheme, "gavrea") == 0 || (!isnan(alpha) && !isnan(gamma))) return SS_OK;
  return ss_fail(error, SS_ERROR_INPUT,
                 "the scheme gavrea needs --alpha and --gamma: the scene, of scheme %s, has none", own_scheme);
}

static ss_status apply_overrides(ss_simulation *simulation, const overrides *o, ss_error *error) {
  if (o->scheme) {
    if (check_scheme(o->scheme, error)) return SS_ERROR_INPUT;
    if (strcmp(o->scheme, "gavrea") == 0 && require_weights(simulation->scheme, o->alpha, o->gamma, error))
      return SS_ERROR_INPUT;
    simulation->scheme = o->scheme;
  }
  if (o->solver) {
    const bool automatic = strcmp(o->solver, "auto") == 0;
    if (!automatic && check_name("solver", o->solver, ss_cp_solvers(), sizeof(ss_cp_solver_info), error))
      return SS_ERROR_INPUT;
    simulation->solver = o->solver;
  }
  ss_status status = apply_step(simulation, o, error);
  if (!status && o->events) status = apply_events(simulation, o->events, error);
  if (status) return status;
  if (!isnan(o->duration)) {
    if (!(o->duration > 0)) return ss_fail(error, SS_ERROR_INPUT, "--duration must be positive, got %g", o->duration);
    simulation->duration = o->duration;
  }
  if ((!isnan(o->alpha) || !isnan(o->gamma)) && strcmp(simulation->scheme, "gavrea") != 0)
    return ss_fail(error, SS_ERROR_INPUT, "--alpha and --gamma belong to the scheme gavrea, not to %s",
                   simulation->scheme);
  if (!isnan(o->alpha)) simulation->alpha = o->alpha;
  if (!isnan(o->gamma)) simulation->gamma = o->gamma;
  return SS_OK;
}

static ss_status load_scene(session *s, const char *path, const overrides *o, ss_error *error) {
  ss_status status = ss_scene_load(path, o->set.items, o->set.n, &s->scene, error);
  if (status) return status;
  s->simulation = s->scene->simulation;
  status = apply_overrides(&s->simulation, o, error);
  return status ? status : ss_model_create(s->scene, &s->model, error);
}

ss_status session_open(session *s, const char *path, const overrides *o, ss_error *error) {
  s->path = path;
  if (session_is_library(path))
    return ss_fail(
        error, SS_ERROR_INPUT,
        "'%s' is a system in a shared library, which run, converge and check take; this command needs a scene", path);
  return load_scene(s, path, o, error);
}

ss_status session_open_any(session *s, const char *path, const overrides *o, ss_error *error) {
  s->path = path;
  if (!session_is_library(path)) return load_scene(s, path, o, error);
  const ss_status status = session_load_system(s, path, &o->set, error);
  return status ? status : apply_overrides(&s->simulation, o, error);
}

void session_close(session *s) {
  ss_model_destroy(s->model);
  ss_scene_destroy(s->scene);
  session_unload_system(s);
  *s = (session){0};
}

void session_note_touching(const session *s) {
  int body[2];
  if (ss_model_is_system(s->model) || !ss_model_joined_touch(s->model, body)) return;
  const char *a = ss_model_body_name(s->model, body[0]), *b = ss_model_body_name(s->model, body[1]);
  (void)fprintf(
      stderr,
      "stickslip: NOTE: '%s' and '%s' are joined and touch: their contacts repeat what the joint does, take time,\n"
      "and may wedge them. If they are not meant to touch, add to the scene:\n"
      "contacts: [{between: [%s, %s], collide: false}]\n",
      a, b, a, b);
}

void session_note_feedback(ss_sim *sim) {
  ss_feedback feedback;
  const ss_simulation *o = ss_sim_options(sim);
  if (o->tolerance > 0 || ss_sim_feedback(sim, &feedback, NULL)) return;
  static const double noticeable = 0.05;
  if (o->step >= feedback.step)
    (void)fprintf(
        stderr,
        "stickslip: NOTE: the step %.3g is above %.3g, where forces that depend on the state become unstable: they\n"
        "are held over a step. Use a smaller step, or a spring or damper, which is implicit\n",
        o->step, feedback.step);
  else if (feedback.growth * o->duration > noticeable)
    (void)fprintf(
        stderr,
        "stickslip: NOTE: forces that depend on the state are held over a step, which feeds energy into their\n"
        "oscillation at a rate of %.2g per unit of time with the step %.3g. Use a smaller step, more damping, or a\n"
        "spring, which is implicit\n",
        feedback.growth, o->step);
}

const char *session_name(const session *s) {
  if (!s->scene) return ss_model_scene_name(s->model);
  return s->scene->name ? s->scene->name : s->scene->file;
}

const char *session_source(const session *s) { return s->scene ? s->scene->source : NULL; }
