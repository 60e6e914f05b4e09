/* The sim's life and what can be asked of it. */
#include "audit/audit.h"
#include "step/workspace.h"

#include <stdio.h>
#include <string.h>

ss_status ss_grow(void **array, int *capacity, int needed, size_t element, ss_error *error) {
  if (needed <= *capacity) return SS_OK;
  const int larger = needed < 16 ? 16 : needed + needed / 2;
  void *memory = ss_realloc(*array, element * (size_t)larger);
  if (!memory) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  *array = memory;
  *capacity = larger;
  return SS_OK;
}

static ss_status check_options(const ss_sim *sim, ss_error *error) {
  const ss_simulation *o = &sim->options;
  if (!sim->scheme) return ss_fail(error, SS_ERROR_INPUT, "no scheme is named '%s'", o->scheme ? o->scheme : "");
  if (!(o->tolerance >= 0) || !isfinite(o->tolerance))
    return ss_fail(error, SS_ERROR_INPUT, "the tolerance must be positive, or 0 for a fixed step, not %g",
                   o->tolerance);
  if (o->tolerance > 0 && sim->scheme->compliant)
    return ss_fail(error, SS_ERROR_UNSUPPORTED,
                   "the scheme %s needs a fixed step: the matrices of its patches belong to one step size", o->scheme);
  if (o->tolerance > 0 && (!(o->largest_step > 0) || !isfinite(o->largest_step)))
    return ss_fail(error, SS_ERROR_INPUT, "the largest step must be positive, not %g", o->largest_step);
  if (!(o->step > 0) || !isfinite(o->step))
    return ss_fail(error, SS_ERROR_INPUT, "the step must be positive, not %g", o->step);
  if (!(o->duration > 0) || !isfinite(o->duration))
    return ss_fail(error, SS_ERROR_INPUT, "the duration must be positive, not %g", o->duration);
  if (o->step > 1e6 * o->duration)
    return ss_fail(error, SS_ERROR_INPUT, "the step %g is far beyond the duration %g", o->step, o->duration);
  if (o->duration / o->step > 9e15)
    return ss_fail(error, SS_ERROR_INPUT, "the step %g is too small for the duration", o->step);
  if (sim->scheme->theta && !(o->theta >= 0 && o->theta <= 1))
    return ss_fail(error, SS_ERROR_INPUT, "theta must be in [0, 1], not %g", o->theta);
  if (!sim->scheme->theta && (!(sim->alpha > 0) || sim->alpha > 1 || !(sim->gamma >= 0) || sim->gamma > 1))
    return ss_fail(error, SS_ERROR_INPUT, "alpha must be in (0, 1] and gamma in [0, 1]");
  if (sim->scheme->compliant && sim->model->system)
    return ss_fail(error, SS_ERROR_UNSUPPORTED,
                   "the scheme %s is for patches between the surfaces of bodies, which a system does not have",
                   sim->scheme->name);
  if (sim->scheme->compliant && !sim->model->compliant)
    return ss_fail(error, SS_ERROR_INPUT, "the scheme %s needs the section compliance:", sim->scheme->name);
  if (!sim->scheme->compliant && sim->model->pressed_in > 0)
    return ss_fail(error, SS_ERROR_INPUT,
                   "bodies overlap by %g at the start: only a compliant scheme takes that for a "
                   "deformation, not %s",
                   sim->model->pressed_in, sim->scheme->name);
  if (sim->scheme->compliant && sim->model->restitution_anywhere)
    return ss_fail(error, SS_ERROR_INPUT,
                   "restitution has no place in the scheme %s: stiffness and damping decide how bodies bounce",
                   sim->scheme->name);
  if (sim->scheme->compliant && sim->options.has_events && sim->options.events)
    return ss_fail(error, SS_ERROR_INPUT, "the scheme %s locates no events", sim->scheme->name);
  if (o->stabilization == SS_STABILIZATION_ANITESCU_HART && sim->alpha != sim->gamma)
    return ss_fail(
        error, SS_ERROR_INPUT,
        "anitescu-hart needs a scheme whose constraints act on the velocity that moves the positions (alpha = "
        "gamma): with %s it would create energy; use projection",
        sim->scheme->name);
  /* Where the mean of old and new velocity leads out of a penetration, the new one is twice as fast: harmless for drift, not
   * for the way that an approaching body makes within a step. */
  if (o->stabilization == SS_STABILIZATION_ANITESCU_HART && sim->alpha < 1 && !sim->scheme->compliant &&
      !sim->locate_collisions && sim->model->n_shapes > 1)
    return ss_fail(error, SS_ERROR_INPUT,
                   "with contacts and %s, anitescu-hart needs events: [collision]: bodies that are pushed out of each "
                   "other after an impact would gain energy; or use projection",
                   sim->scheme->name);
  if (sim->scheme->position_level && !sim->locate_collisions && sim->model->restitution_anywhere)
    return ss_fail(error, SS_ERROR_INPUT, "with restitution, %s needs events: [collision]", sim->scheme->name);
  if (o->stabilization == SS_STABILIZATION_PROJECTION && !sim->locate_collisions && sim->model->restitution_anywhere &&
      sim->model->n_shapes > 1)
    return ss_fail(
        error, SS_ERROR_INPUT,
        "with restitution, projection needs events: [collision]: it ends the approach of bodies that overlap");
  return SS_OK;
}

static ss_status allocate(ss_sim *sim, ss_error *error) {
  const ss_model *model = sim->model;
  const size_t nq = (size_t)model->n_q, nv = (size_t)model->n_v, ns = (size_t)model->n_shapes;
  struct {
    double **array;
    size_t size;
  } const arrays[] = {
      {&sim->state.angle, (size_t)model->n_angles},
      {&sim->angle_saved, (size_t)model->n_angles},
      {&sim->state.q, nq},
      {&sim->state.v, nv},
      {&sim->mid_q, nq},
      {&sim->iterate_memory, nq + nv},
      {&sim->theta_q, nq},
      {&sim->theta_v, nv},
      {&sim->guess, nv},
      {&sim->ainv, 36 * (size_t)model->n_bodies},
      {&sim->kt, nv},
      {&sim->applied, nv},
      {&sim->dv_free, nv},
      {&sim->delta, nv},
      {&sim->v_end, nv},
      {&sim->q_end, nq},
      {&sim->weighted, nv},
      {&sim->previous_weighted, nv},
      {&sim->previous_v, nv},
      {&sim->q_saved, nq},
      {&sim->whole_q, nq},
      {&sim->past, (SS_PAST + 1) * nv},
      {&sim->past_saved, (SS_PAST + 1) * nv},
      {&sim->v_saved, nv},
      {&sim->residuals, (size_t)model->n_joint_rows},
      {&sim->drift_length, (size_t)model->n_joint_rows},
      {&sim->joint_impulse, (size_t)model->n_joint_rows},
      {&sim->scratch_v, nv},
      {&sim->input, (size_t)model->n_inputs},
      {&sim->held, (size_t)model->n_held},
      {&sim->motor_impulse, (size_t)model->n_motors},
      {&sim->push_force, 6 * (size_t)model->n_bodies},
      {&sim->free_guess, ss_free_rows(model)},
      {&sim->consistent, 2 * nv},
      {&sim->link_balance, (size_t)model->n_forces},
      {&sim->bounds, 6 * ns},
      {&sim->listed, 6 * ns},
  };
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    *arrays[i].array = SS_ARENA_ARRAY(sim->arena, double, arrays[i].size);
    if (!*arrays[i].array) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  const size_t nj = (size_t)model->n_joint_rows;
  sim->basis.row = SS_ARENA_ARRAY(sim->arena, int, nj);
  sim->basis.posed = SS_ARENA_ARRAY(sim->arena, bool, nj);
  sim->basis.rows = SS_ARENA_ARRAY(sim->arena, ss_row, nj);
  sim->basis.drive = SS_ARENA_ARRAY(sim->arena, double, nj);
  if (!sim->basis.row || !sim->basis.posed || !sim->basis.rows || !sim->basis.drive)
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  sim->order = SS_ARENA_ARRAY(sim->arena, int, 2 * ns);
  sim->first_row = SS_ARENA_ARRAY(sim->arena, int, model->n_bodies);
  sim->rests = SS_ARENA_ARRAY(sim->arena, bool, model->n_bodies);
  sim->touched = SS_ARENA_ARRAY(sim->arena, bool, model->n_bodies);
  if (!sim->touched || !sim->rests || !sim->order || !sim->first_row)
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < model->n_shapes; i++) sim->order[i] = i;
  ss_status status = model->system ? ss_system_allocate(sim, error) : SS_OK;
  if (status == SS_OK && model->n_shapes > 1) status = ss_audit_create(model, sim->arena, &sim->audit, error);
  if (status == SS_OK) status = ss_coupling_prepare(sim, error);
  if (status == SS_OK) status = ss_cp_workspace_create(&sim->cp, error);
  return status == SS_OK ? ss_broad_phase_prepare(sim, error) : status;
}

static void start(ss_sim *sim) {
  const ss_model *model = sim->model;
  sim->force_q = sim->scheme->theta ? sim->theta_q : sim->state.q;
  sim->force_v = sim->scheme->theta ? sim->theta_v : sim->state.v;
  for (int k = 0; k < model->n_bodies; k++) {
    ss_store_pose(sim->state.q, k, model->bodies[k].pose);
    memcpy(sim->ainv + 36 * (size_t)k, model->bodies[k].minv, sizeof model->bodies[k].minv);
  }
  for (int k = 0; k < model->n_joints; k++) {
    const ss_joint *joint = &model->joints[k];
    const ss_pose a = ss_pose_of(sim->state.q, joint->body[0]), b = ss_pose_of(sim->state.q, joint->body[1]);
    for (int i = 0; i < joint->n_angles; i++)
      sim->state.angle[joint->first_angle + i] = ss_joint_angle(model, joint, i, &a, &b, 0, NULL);
  }
  for (int i = 0; i < model->n_inputs; i++) sim->input[i] = model->inputs[i].value;
  if (model->system) memcpy(sim->state.q, model->q0, sizeof(double) * (size_t)model->n_q);
  memcpy(sim->state.v, model->v0, sizeof(double) * (size_t)model->n_v);
  memcpy(sim->weighted, model->v0, sizeof(double) * (size_t)model->n_v);
  memcpy(sim->previous_v, model->v0, sizeof(double) * (size_t)model->n_v);
  memcpy(sim->previous_weighted, model->v0, sizeof(double) * (size_t)model->n_v);
  sim->steps_total = (long)ceil(sim->options.duration / sim->options.step * (1 - 1e-12));
  if (sim->steps_total < 1) sim->steps_total = 1;
  ss_automatic_start(sim);
  sim->report.certificate.certified = true;
  sim->mechanics->begin_step(sim);
  ss_ledger_start(sim);
}

/* Options that do not fit are those of the section simulation, or replace them. */
static ss_status place_in_scene(const ss_sim *sim, ss_status status, ss_error *error) {
  if (!status || !error || error->file[0] || !sim->model->file || !sim->options.mark.line) return status;
  (void)snprintf(error->file, sizeof error->file, "%s", sim->model->file);
  error->line = sim->options.mark.line;
  error->column = sim->options.mark.column;
  return status;
}

static ss_status copy_names(ss_sim *sim, ss_error *error) {
  sim->options.scheme = ss_arena_strdup(sim->arena, sim->options.scheme);
  sim->options.solver = ss_arena_strdup(sim->arena, sim->options.solver ? sim->options.solver : "auto");
  if (!sim->options.scheme || !sim->options.solver) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  return SS_OK;
}

ss_status ss_sim_create(const ss_model *model, const ss_simulation *options, ss_sim **out, ss_error *error) {
  *out = NULL;
  ss_arena *arena = ss_arena_create();
  ss_sim *sim = arena ? SS_ARENA_ARRAY(arena, ss_sim, 1) : NULL;
  if (!sim) {
    ss_arena_destroy(arena);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  sim->arena = arena;
  sim->model = model;
  sim->mechanics = model->system ? &ss_system_mechanics : &ss_body_mechanics;
  sim->options = options ? *options : model->simulation;
  if (sim->options.tolerance > 0) {
    if (sim->options.largest_step == 0) sim->options.largest_step = sim->options.duration / 64;
    sim->options.step = sim->options.largest_step; /* what is said of steps holds for the largest one */
  }
  ss_status status = copy_names(sim, error);
  if (status == SS_OK) {
    sim->automatic = strcmp(sim->options.solver, "auto") == 0;
    sim->scheme = ss_scheme_find(sim->options.scheme);
    if (sim->scheme) {
      if (sim->scheme->theta) sim->options.alpha = sim->options.gamma = 1 - sim->options.theta;
      sim->alpha = sim->scheme->given ? sim->options.alpha : sim->scheme->alpha;
      sim->gamma = sim->scheme->given ? sim->options.gamma : sim->scheme->gamma;
      sim->scheme_alpha = sim->alpha;
      sim->scheme_gamma = sim->gamma;
      const bool collisions = sim->scheme->locates_collisions || model->restitution_anywhere;
      const unsigned usual = sim->options.tolerance > 0 ? SS_EVENTS_ALL : SS_EVENT_COLLISION;
      sim->located = sim->options.has_events ? sim->options.events : collisions ? usual : 0;
      sim->locate_collisions = (sim->located & SS_EVENT_COLLISION) != 0;
      sim->solves_to_collisions = (sim->located & ~(unsigned)SS_EVENT_COLLISION) != 0;
    }
    status = place_in_scene(sim, check_options(sim, error), error);
  }
  if (status == SS_OK) status = allocate(sim, error);
  if (status == SS_OK) status = place_in_scene(sim, ss_polytopes_create(sim, error), error);
  if (status == SS_OK) {
    start(sim);
    status = ss_hold_signals(sim, error);
    if (status == SS_OK) status = ss_basis_select(sim, error);
    if (status == SS_OK) status = ss_exact_prepare(sim, error);
    if (status == SS_OK) status = ss_refused(sim, error);
  }
  if (status == SS_OK)
    *out = sim;
  else
    ss_sim_destroy(sim);
  return status;
}

void ss_sim_destroy(ss_sim *sim) {
  if (!sim) return;
  ss_audit_free(sim->audit);
  ss_cp_workspace_destroy(sim->cp);
  ss_free(sim->all.items);
  ss_free(sim->near.items);
  ss_free(sim->contacts);
  ss_free(sim->found.q);
  ss_free(sim->found.pairs);
  ss_free(sim->found.points);
  ss_free(sim->dealt);
  ss_free(sim->state.touch);
  ss_free(sim->touch_saved);
  ss_free(sim->state.patch);
  ss_free(sim->patch_start);
  ss_free(sim->patch_end);
  ss_free(sim->patch_saved);
  ss_free(sim->coupling.w);
  ss_free(sim->problem.rows);
  ss_free(sim->problem.numbers);
  ss_free(sim->problem.G);
  ss_free(sim->problem.listed.start);
  ss_free(sim->problem.listed.col);
  ss_free(sim->problem.listed.value);
  ss_free(sim->lu_rows);
  ss_islands_free(&sim->islands);
  ss_factors_free(&sim->factors);
  for (int i = 0; i < 2; i++) ss_lu_free(&sim->lu[i]);
  ss_exact_free(&sim->exact);
  ss_free(sim->problem.next_row);
  ss_free(sim->problem.blocks);
  ss_arena_destroy(sim->arena);
}

bool ss_sim_done(const ss_sim *sim) {
  if (sim->options.tolerance > 0) return sim->state.t >= sim->options.duration * (1 - 1e-12);
  return sim->state.step >= sim->steps_total;
}

double ss_sim_step_size(const ss_sim *sim) {
  return sim->options.tolerance > 0 && sim->control.size[0] > 0 ? sim->control.size[0] : sim->options.step;
}

double ss_sim_step_start(const ss_sim *sim) { return sim->t_saved; }

long ss_sim_steps_total(const ss_sim *sim) { return sim->steps_total; }
const ss_model *ss_sim_model(const ss_sim *sim) { return sim->model; }
const ss_simulation *ss_sim_options(const ss_sim *sim) { return &sim->options; }
const ss_state *ss_sim_state(const ss_sim *sim) { return &sim->state; }
const double *ss_sim_weighted_velocity(const ss_sim *sim) { return sim->weighted; }
const ss_report *ss_sim_report(const ss_sim *sim) { return &sim->report; }

ss_motion ss_sim_motion(const ss_sim *sim, int index) {
  if (index < 0 || index >= sim->model->n_bodies) return (ss_motion){.pose = pose_identity()}; /* the world's */
  const ss_body *body = &sim->model->bodies[index];
  const ss_pose pose = ss_pose_of(sim->state.q, index);
  const ss_vec3 arm = quat_rotate(pose.orientation, body->com);
  ss_vec3 linear, angular;
  ss_twist_of(sim->model, sim->state.v, index, &linear, &angular);
  const ss_vec3 turn = quat_rotate(pose.orientation, angular);
  return (ss_motion){{v3_sub(pose.position, arm), pose.orientation}, v3_sub(linear, v3_cross(turn, arm)), turn};
}

void ss_sim_joint_residuals(const ss_sim *sim, double *residuals) {
  sim->mechanics->joints(sim, sim->state.t, sim->state.q, residuals, NULL, NULL);
}

const char *ss_stage_name(ss_stage stage) {
  static const char *const names[SS_STAGES] = {
      [SS_STAGE_SEARCH] = "search",   [SS_STAGE_ROWS] = "rows",     [SS_STAGE_SOLVE] = "solve",
      [SS_STAGE_ADVANCE] = "advance", [SS_STAGE_EVENTS] = "events", [SS_STAGE_OBSERVE] = "observe"};
  return names[stage];
}

void ss_sim_stop_when(ss_sim *sim, bool (*stop)(void *user), void *user) {
  sim->stop = stop;
  sim->stop_user = user;
}

void ss_sim_time_stages(ss_sim *sim, bool on) { sim->timed = on; }
const double *ss_sim_stage_seconds(const ss_sim *sim) { return sim->timed ? sim->stage_seconds : NULL; }

ss_status ss_sim_observe(ss_sim *sim, const ss_observer *observer, ss_error *error) {
  const int most = (int)(sizeof sim->observers / sizeof *sim->observers);
  if (sim->n_observers == most)
    return ss_fail(error, SS_ERROR_INPUT, "at most %d observers can watch a simulation", most);
  sim->observers[sim->n_observers++] = *observer;
  return SS_OK;
}
