/* From a definition to a model: everything is copied, then looked at as it is at t = 0. */
#include "system/system.h"

#include "la/dense.h"

#include <stdio.h>
#include <string.h>

ss_system ss_system_default(void) {
  ss_system system = {.simulation = ss_simulation_default()};
  system.simulation.stabilization =
      SS_STABILIZATION_NONE; /* what a system's coordinates conserve only its author knows */
  return system;
}

/* ---- the definition itself ---- */

static ss_status check_gap(const ss_gap_def *gap, int i, ss_error *error) {
  if (gap->directions < 0 || gap->directions > 2)
    return ss_fail(error, SS_ERROR_INPUT, "gap %d: it may have 0, 1 or 2 friction directions, not %d", i + 1,
                   gap->directions);
  if (!(gap->friction >= 0) || !isfinite(gap->friction))
    return ss_fail(error, SS_ERROR_INPUT, "gap %d: friction must not be negative: %g", i + 1, gap->friction);
  if (gap->friction > 0 && gap->directions == 0)
    return ss_fail(error, SS_ERROR_INPUT, "gap %d: friction needs one or two directions", i + 1);
  if (!(gap->restitution >= 0 && gap->restitution <= 1))
    return ss_fail(error, SS_ERROR_INPUT, "gap %d: restitution must be in [0, 1], not %g", i + 1, gap->restitution);
  return SS_OK;
}

static ss_status check_numbers(const char *what, const double *numbers, int n, bool positive, ss_error *error) {
  for (int i = 0; numbers && i < n; i++)
    if (!isfinite(numbers[i]) || (positive && !(numbers[i] > 0)))
      return ss_fail(error, SS_ERROR_INPUT, "%s[%d] must be %s, not %g", what, i, positive ? "positive" : "finite",
                     numbers[i]);
  return SS_OK;
}

static ss_status check_names(const ss_system *def, ss_error *error) {
  for (int i = 0; def->names && i < def->n; i++)
    for (int j = 0; j < i; j++)
      if (def->names[i] && def->names[j] && strcmp(def->names[i], def->names[j]) == 0)
        return ss_fail(error, SS_ERROR_INPUT, "two coordinates are named '%s'", def->names[i]);
  return SS_OK;
}

static ss_status check_definition(const ss_system *def, ss_error *error) {
  int directions = 0;
  if (def->n < 1) return ss_fail(error, SS_ERROR_INPUT, "a system needs at least one coordinate");
  if (!def->simulation.scheme || !def->simulation.solver)
    return ss_fail(error, SS_ERROR_INPUT, "a system's simulation must start from ss_system_default");
  if (!def->q0) return ss_fail(error, SS_ERROR_INPUT, "a system needs its coordinates q0 at t = 0");
  if (!def->mass) return ss_fail(error, SS_ERROR_INPUT, "a system needs the function 'mass'");
  if (def->n_joints < 0 || def->n_pfaffian < 0 || def->n_gaps < 0)
    return ss_fail(error, SS_ERROR_INPUT, "a system cannot have a negative number of joints, rows or gaps");
  if ((def->n_joints > 0 && !def->joints) || (def->n_pfaffian > 0 && !def->pfaffian) || (def->n_gaps > 0 && !def->gap))
    return ss_fail(error, SS_ERROR_INPUT, "a system with %s needs the function '%s'",
                   def->n_joints > 0 && !def->joints       ? "joints"
                   : def->n_pfaffian > 0 && !def->pfaffian ? "Pfaffian rows"
                                                           : "gaps",
                   def->n_joints > 0 && !def->joints       ? "joints"
                   : def->n_pfaffian > 0 && !def->pfaffian ? "pfaffian"
                                                           : "gap");
  if (def->n_gaps > 0 && !def->gaps) return ss_fail(error, SS_ERROR_INPUT, "a system with gaps needs their 'gaps'");
  ss_status status = check_names(def, error);
  if (status == SS_OK) status = check_numbers("q0", def->q0, def->n, false, error);
  if (status == SS_OK) status = check_numbers("v0", def->v0, def->n, false, error);
  if (status == SS_OK) status = check_numbers("scale", def->scale, def->n, true, error);
  if (status == SS_OK && (!(def->length >= 0) || !isfinite(def->length)))
    status = ss_fail(error, SS_ERROR_INPUT, "length must not be negative: %g", def->length);
  for (int i = 0; status == SS_OK && i < def->n_gaps; i++) {
    status = check_gap(&def->gaps[i], i, error);
    directions += def->gaps[i].directions;
  }
  if (status == SS_OK && directions > 0 && !def->friction)
    return ss_fail(error, SS_ERROR_INPUT, "a system with friction directions needs the function 'friction'");
  return status;
}

/* ---- copies ---- */

/* The given name, or the words with the number counted from 1. */
static const char *copy_name(ss_arena *arena, const char *name, const char *words, int number) {
  char made[64];
  (void)snprintf(made, sizeof made, "%s%d", words, number + 1);
  return ss_arena_strdup(arena, name ? name : made);
}

static bool copy_names(ss_model *model, ss_system_model *s, const ss_system *from) {
  ss_arena *arena = model->arena;
  const char **names = SS_ARENA_ARRAY(arena, const char *, from->n);
  s->row_names = SS_ARENA_ARRAY(arena, const char *, from->n_joints + from->n_pfaffian);
  bool memory = names && s->row_names;
  for (int i = 0; memory && i < from->n; i++)
    memory = (names[i] = copy_name(arena, from->names ? from->names[i] : NULL, "q", i)) != NULL;
  for (int i = 0; memory && i < from->n_joints; i++)
    memory = (s->row_names[i] = copy_name(arena, from->joint_names ? from->joint_names[i] : NULL, "joint ", i)) != NULL;
  for (int i = 0; memory && i < from->n_pfaffian; i++)
    memory = (s->row_names[from->n_joints + i] =
                  copy_name(arena, from->pfaffian_names ? from->pfaffian_names[i] : NULL, "Pfaffian ", i)) != NULL;
  s->def.names = names;
  s->def.joint_names = s->def.pfaffian_names = NULL; /* row_names has them */
  return memory;
}

static double *copy_numbers(ss_arena *arena, const double *from, int n, double otherwise) {
  double *copy = SS_ARENA_ARRAY(arena, double, n);
  for (int i = 0; copy && i < n; i++) copy[i] = from ? from[i] : otherwise;
  return copy;
}

static bool copy_gaps(ss_model *model, ss_system_model *s, const ss_system *from) {
  ss_gap_def *gaps = SS_ARENA_ARRAY(model->arena, ss_gap_def, from->n_gaps);
  s->laws = SS_ARENA_ARRAY(model->arena, ss_law, from->n_gaps);
  s->first_direction = SS_ARENA_ARRAY(model->arena, int, from->n_gaps);
  bool memory = gaps && s->laws && s->first_direction;
  for (int i = 0; memory && i < from->n_gaps; i++) {
    gaps[i] = from->gaps[i];
    memory = (gaps[i].name = copy_name(model->arena, from->gaps[i].name, "gap ", i)) != NULL;
    s->first_direction[i] = s->n_directions;
    s->n_directions += gaps[i].directions;
    s->laws[i] = (ss_law){.collide = true,
                          .friction = gaps[i].friction,
                          .restitution = gaps[i].restitution,
                          .tangents = gaps[i].directions,
                          .mu = gaps[i].friction,
                          .has_restitution_law = gaps[i].has_restitution_law,
                          .restitution_law = gaps[i].restitution_law};
    model->restitution_anywhere |= gaps[i].restitution > 0;
    model->friction_anywhere |= gaps[i].friction > 0;
    model->newton_anywhere |= gaps[i].has_restitution_law && gaps[i].restitution_law == SS_RESTITUTION_NEWTON;
  }
  s->def.gaps = gaps;
  return memory;
}

static bool copy_system(ss_model *model, ss_system_model *s, const ss_system *from) {
  s->def = *from;
  s->def.scale = copy_numbers(model->arena, from->scale, from->n, 1);
  model->system = s;
  model->n_q = model->n_v = from->n;
  model->n_joint_rows = from->n_joints + from->n_pfaffian;
  model->length = from->length > 0 ? from->length : 1;
  model->plane_normal = v3(0, 0, 1);
  model->scene_name = s->def.name = ss_arena_strdup(model->arena, from->name ? from->name : "system");
  model->source = ss_arena_strdup(model->arena, "");
  model->simulation = from->simulation;
  model->simulation.scheme = ss_arena_strdup(model->arena, from->simulation.scheme);
  model->simulation.solver = ss_arena_strdup(model->arena, from->simulation.solver);
  model->q0 = copy_numbers(model->arena, from->q0, from->n, 0);
  model->v0 = copy_numbers(model->arena, from->v0, from->n, 0);
  s->def.q0 = model->q0;
  s->def.v0 = model->v0;
  return s->def.scale && s->def.name && model->source && model->simulation.scheme && model->simulation.solver &&
         model->q0 && model->v0 && copy_names(model, s, from) && copy_gaps(model, s, from);
}

/* ---- the state at t = 0 ---- */

static ss_status check_mass(const ss_system_model *s, const double *mass, double *scratch, ss_error *error) {
  const int n = s->def.n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      const double a = mass[i * n + j], b = mass[j * n + i];
      if (fabs(a - b) > 1e-10 * sqrt(fabs(mass[i * n + i] * mass[j * n + j])))
        return ss_fail(error, SS_ERROR_INPUT,
                       "mass is not symmetric at the start: entries (%d, %d) and (%d, %d) are %g and %g", i + 1, j + 1,
                       j + 1, i + 1, a, b);
    }
  if (!ss_positive_definite(mass, n, 1e-14, scratch))
    return ss_fail(error, SS_ERROR_INPUT, "mass is not positive definite at the start");
  return SS_OK;
}

static ss_status check_start(const ss_model *model, ss_system_work *w, ss_error *error) {
  const ss_system_model *s = model->system;
  const ss_spot *at = ss_spot_at(w, 0, model->q0,
                                 SS_SPOT_MASS | SS_SPOT_GAPS | SS_SPOT_NORMALS | SS_SPOT_FRICTION | SS_SPOT_JOINTS |
                                     SS_SPOT_JOINT_ROWS);
  ss_system_force(w, 0, model->q0, model->v0, w->k);
  (void)ss_system_potential(w, 0, model->q0);
  if (w->failure.status) {
    if (error) *error = w->failure;
    return w->failure.status;
  }
  const ss_status status = check_mass(s, at->mass, w->scratch, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < s->def.n_joints; i++)
    if (fabs(at->theta[i]) > 1e-6 * model->length)
      return ss_fail(error, SS_ERROR_INPUT, "'%s' does not hold at the start: it is off by %g", s->row_names[i],
                     at->theta[i]);
  for (int i = 0; i < s->def.n_gaps; i++)
    if (at->gap[i] < -1e-3 * model->length)
      return ss_fail(error, SS_ERROR_INPUT, "'%s' overlaps at the start by %g", s->def.gaps[i].name, -at->gap[i]);
  return SS_OK;
}

/* At the start, and a little away from it, where zeros of the start are none; there the functions may refuse. */
static ss_status check_jacobians(const ss_model *model, ss_system_work *w, ss_error *error) {
  const int n = model->n_v;
  ss_status status = ss_system_check_jacobians(w, 0, model->q0, model->v0, error);
  if (status != SS_OK) return status;
  double *q = SS_ARENA_ARRAY(model->arena, double, n), *v = SS_ARENA_ARRAY(model->arena, double, n);
  if (!q || !v) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < n; i++) {
    const double away = 0.01 * model->system->def.scale[i] * (1 + 0.37 * (i % 5));
    q[i] = model->q0[i] + away;
    v[i] = model->v0[i] + away;
  }
  status = ss_system_check_jacobians(w, w->time_step / 3, q, v, error);
  return status == SS_ERROR_CALLBACK ? SS_OK : status;
}

static ss_status compile(ss_model *model, const ss_system *system, ss_error *error) {
  ss_status status = check_definition(system, error);
  if (status != SS_OK) return status;
  ss_system_model *s = SS_ARENA_ARRAY(model->arena, ss_system_model, 1);
  if (!s || !copy_system(model, s, system)) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const double step = system->simulation.step;
  ss_system_work *w = ss_system_work_create(model->arena, s, step > 0 && isfinite(step) ? step : 1e-3);
  if (!w) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  status = check_start(model, w, error);
  return status == SS_OK ? check_jacobians(model, w, error) : status;
}

ss_status ss_model_create_system(const ss_system *system, ss_model **out, ss_error *error) {
  *out = NULL;
  ss_model *model = ss_model_blank(error);
  if (!model) return SS_ERROR_MEMORY;
  const ss_status status = compile(model, system, error);
  if (status == SS_OK)
    *out = model;
  else
    ss_arena_destroy(model->arena); /* what `user` points to is not released */
  return status;
}

bool ss_model_is_system(const ss_model *model) { return model->system != NULL; }
int ss_model_gaps(const ss_model *model) { return model->system ? model->system->def.n_gaps : 0; }
const char *ss_model_gap_name(const ss_model *model, int gap) { return model->system->def.gaps[gap].name; }
