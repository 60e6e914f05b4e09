/* Makes a simulation of a model and options, and frees it. */
#include "audit/audit.h"
#include "step/step.h"

#include <stdio.h>
#include <string.h>

static bool is_solver(const char *name) {
  const ss_cp_solver_info *row = ss_cp_solvers();
  while (row->name && strcmp(row->name, name) != 0) row++;
  return row->name != NULL;
}

static ss_status check_options(const ss_sim *sim, ss_error *error) {
  const ss_simulation *o = &sim->options;
  if (!sim->scheme) return ss_fail(error, SS_ERROR_INPUT, "no scheme is named '%s'", o->scheme ? o->scheme : "");
  if (!is_solver(o->solver)) return ss_fail(error, SS_ERROR_INPUT, "no solver is named '%s'", o->solver);
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
  if (!sim->scheme->theta &&
      (!(sim->chosen.alpha > 0) || sim->chosen.alpha > 1 || !(sim->chosen.gamma >= 0) || sim->chosen.gamma > 1))
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
  if (o->stabilization == SS_STABILIZATION_ANITESCU_HART && sim->chosen.alpha != sim->chosen.gamma)
    return ss_fail(
        error, SS_ERROR_INPUT,
        "anitescu-hart needs a scheme whose constraints act on the velocity that moves the positions (alpha = "
        "gamma): with %s it would create energy; use projection",
        sim->scheme->name);
  /* Where the mean of old and new velocity leads out of a penetration, the new one is twice as fast: harmless for drift, not
   * for the way that an approaching body makes within a step. */
  if (o->stabilization == SS_STABILIZATION_ANITESCU_HART && sim->chosen.alpha < 1 && !sim->scheme->compliant &&
      !ss_locates(sim, SS_EVENT_COLLISION) && sim->model->n_shapes > 1)
    return ss_fail(error, SS_ERROR_INPUT,
                   "with contacts and %s, anitescu-hart needs events: [collision]: bodies that are pushed out of each "
                   "other after an impact would gain energy; or use projection",
                   sim->scheme->name);
  if (sim->scheme->position_level && !ss_locates(sim, SS_EVENT_COLLISION) && sim->model->restitution_anywhere)
    return ss_fail(error, SS_ERROR_INPUT, "with restitution, %s needs events: [collision]", sim->scheme->name);
  if (o->stabilization == SS_STABILIZATION_PROJECTION && !ss_locates(sim, SS_EVENT_COLLISION) &&
      sim->model->restitution_anywhere && sim->model->n_shapes > 1)
    return ss_fail(
        error, SS_ERROR_INPUT,
        "with restitution, projection needs events: [collision]: it ends the approach of bodies that overlap");
  return SS_OK;
}

static ss_status allocate_trial(ss_sim *sim, ss_error *error) {
  const ss_model *model = sim->model;
  ss_trial *t = &sim->trial;
  const int nq = model->n_q, nv = model->n_v, bodies = model->n_bodies;
  const ss_room rooms[] = {
      SS_ROOM(t->mid_q, nq),     SS_ROOM(t->iterate_memory, nq + nv),
      SS_ROOM(t->theta_q, nq),   SS_ROOM(t->theta_v, nv),
      SS_ROOM(t->guess, nv),     SS_ROOM(t->ainv, 36 * bodies),
      SS_ROOM(t->kt, nv),        SS_ROOM(t->applied, nv),
      SS_ROOM(t->delta, nv),     SS_ROOM(t->dv_free, nv),
      SS_ROOM(t->v_end, nv),     SS_ROOM(t->q_end, nq),
      SS_ROOM(t->rests, bodies), SS_ROOM(t->touched, bodies),
  };
  SS_TRY(ss_arena_arrays(sim->arena, rooms, sizeof rooms / sizeof *rooms, error));
  t->force_q = sim->scheme->theta ? t->theta_q : sim->state.q;
  t->force_v = sim->scheme->theta ? t->theta_v : sim->state.v;
  for (int k = 0; k < bodies; k++)
    memcpy(t->ainv + 36 * (size_t)k, model->bodies[k].minv, sizeof model->bodies[k].minv);
  return ss_coupling_prepare(sim, error);
}

static ss_status allocate(ss_sim *sim, ss_error *error) {
  const ss_model *m = sim->model;
  const int nq = m->n_q, nv = m->n_v, ns = m->n_shapes, bodies = m->n_bodies, joint_rows = m->n_joint_rows;
  const ss_room rooms[] = {
      SS_ROOM(sim->state.q, nq),
      SS_ROOM(sim->state.v, nv),
      SS_ROOM(sim->state.angle, m->n_angles),
      SS_ROOM(sim->saved.state.q, nq),
      SS_ROOM(sim->saved.state.v, nv),
      SS_ROOM(sim->saved.state.angle, m->n_angles),
      SS_ROOM(sim->saved.past, (SS_PAST + 1) * nv),
      SS_ROOM(sim->estimate.past, (SS_PAST + 1) * nv),
      SS_ROOM(sim->estimate.whole_q, nq),
      SS_ROOM(sim->observed.weighted, nv),
      SS_ROOM(sim->observed.previous_weighted, nv),
      SS_ROOM(sim->observed.previous_v, nv),
      SS_ROOM(sim->scratch.v, nv),
      SS_ROOM(sim->scratch.consistent, 2 * nv),
      SS_ROOM(sim->scratch.link_balance, m->n_forces),
      SS_ROOM(sim->joints.residuals, joint_rows),
      SS_ROOM(sim->joints.drift_length, joint_rows),
      SS_ROOM(sim->joints.impulse, joint_rows),
      SS_ROOM(sim->joints.motor_impulse, m->n_motors),
      SS_ROOM(sim->joints.free_guess, ss_free_rows(m)),
      SS_ROOM(sim->inputs.value, m->n_inputs),
      SS_ROOM(sim->inputs.held, m->n_held),
      SS_ROOM(sim->inputs.push_force, 6 * bodies),
      SS_ROOM(sim->basis.row, joint_rows),
      SS_ROOM(sim->basis.posed, joint_rows),
      SS_ROOM(sim->basis.rows, joint_rows),
      SS_ROOM(sim->basis.drive, joint_rows),
      SS_ROOM(sim->search.bounds, 6 * ns),
      SS_ROOM(sim->search.listed, 6 * ns),
      SS_ROOM(sim->search.order, 2 * ns),
      SS_ROOM(sim->solver.first_row, bodies),
      SS_ROOM(sim->crowd.idle, bodies),
      SS_ROOM(sim->crowd.still, bodies),
  };
  SS_TRY(ss_arena_arrays(sim->arena, rooms, sizeof rooms / sizeof *rooms, error));
  for (int i = 0; i < ns; i++) sim->search.order[i] = i;
  if (m->system) SS_TRY(ss_system_allocate(sim, error));
  if (ns > 1) SS_TRY(ss_audit_create(m, sim->arena, &sim->watch.audit, error));
  for (size_t i = 0; i < sizeof sim->kept / sizeof *sim->kept; i++) {
    SS_TRY(allocate_trial(sim, error));
    sim->kept[i] = sim->trial;
    sim->trial = (ss_trial){0};
  }
  SS_TRY(allocate_trial(sim, error));
  SS_TRY(ss_cp_workspace_create(&sim->solver.cp, error));
  SS_TRY(ss_islands_prepare(sim, error));
  return ss_broad_phase_prepare(sim, error);
}

void ss_angles_start(ss_sim *sim) {
  for (int k = 0; k < sim->model->n_joints; k++) {
    const ss_joint *joint = &sim->model->joints[k];
    const ss_pose a = ss_pose_of(sim->state.q, joint->body[0]), b = ss_pose_of(sim->state.q, joint->body[1]);
    double *angle = sim->state.angle + joint->first_angle; /* the turn nearest to the present one */
    for (int i = 0; i < joint->n_angles; i++) angle[i] = ss_joint_angle(sim->model, joint, i, &a, &b, angle[i], NULL);
  }
}

void ss_observe_start(ss_sim *sim) {
  double *const velocities[] = {sim->observed.weighted, sim->observed.previous_v, sim->observed.previous_weighted};
  for (int i = 0; i < 3; i++) memcpy(velocities[i], sim->state.v, sizeof(double) * (size_t)sim->model->n_v);
}

static void start(ss_sim *sim) {
  const ss_model *model = sim->model;
  sim->part.asked = sim->trial.asked = (ss_asked){.alpha = sim->chosen.alpha, .gamma = sim->chosen.gamma};
  for (int k = 0; k < model->n_bodies; k++) ss_store_pose(sim->state.q, k, model->bodies[k].pose);
  ss_angles_start(sim);
  for (int i = 0; i < model->n_inputs; i++) sim->inputs.value[i] = model->inputs[i].value;
  if (model->system) memcpy(sim->state.q, model->q0, sizeof(double) * (size_t)model->n_q);
  memcpy(sim->state.v, model->v0, sizeof(double) * (size_t)model->n_v);
  ss_observe_start(sim);
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

/* What the options make of the scheme. */
static void choose(ss_sim *sim) {
  ss_chosen *c = &sim->chosen;
  ss_simulation *o = &sim->options;
  c->automatic = strcmp(o->solver, "auto") == 0;
  sim->scheme = ss_scheme_find(o->scheme);
  if (!sim->scheme) return;
  if (sim->scheme->theta) o->alpha = o->gamma = 1 - o->theta;
  c->alpha = sim->scheme->given ? o->alpha : sim->scheme->alpha;
  c->gamma = sim->scheme->given ? o->gamma : sim->scheme->gamma;
  c->attempt = sim->scheme->theta ? ss_attempt_theta : sim->scheme->iterated ? ss_attempt_iterated : ss_trial_solve;
  const bool collisions = sim->scheme->locates_collisions || sim->model->restitution_anywhere;
  const unsigned usual = o->tolerance > 0 ? SS_EVENTS_ALL : SS_EVENT_COLLISION;
  c->located = o->has_events ? o->events : collisions ? usual : 0;
}

static ss_status prepare(ss_sim *sim, ss_error *error) {
  if (sim->options.tolerance > 0) {
    if (sim->options.largest_step == 0) sim->options.largest_step = sim->options.duration / 64;
    sim->options.step = sim->options.largest_step; /* what is said of steps holds for the largest one */
  }
  SS_TRY(copy_names(sim, error));
  choose(sim);
  SS_TRY(place_in_scene(sim, check_options(sim, error), error));
  sim->chosen.divides = ss_may_be_apart(sim);
  SS_TRY(allocate(sim, error));
  SS_TRY(place_in_scene(sim, ss_polytopes_create(sim, error), error));
  start(sim);
  SS_TRY(ss_hold_signals(sim, error));
  SS_TRY(ss_basis_select(sim, error));
  SS_TRY(ss_exact_prepare(sim, error));
  return ss_refused(sim, error);
}

ss_status ss_sim_create(const ss_model *model, const ss_simulation *options, ss_sim **out, ss_error *error) {
  *out = NULL;
  if (!model) return ss_fail(error, SS_ERROR_INPUT, "there is no model to simulate: was it compiled?");
  if (options && (!options->scheme || !options->solver))
    return ss_fail(error, SS_ERROR_INPUT,
                   "the options name no scheme or no solver: start from a copy of *ss_model_simulation(model)");
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
  const ss_status status = prepare(sim, error);
  if (status != SS_OK) ss_sim_destroy(sim);
  *out = status == SS_OK ? sim : NULL;
  return status;
}

static void free_trial(ss_trial *trial) {
  ss_problem *p = &trial->problem;
  void *const memory[] = {
      trial->contacts, trial->patch_start, trial->patch_end, trial->coupling.w, p->rows,  p->numbers, p->G,
      p->listed.start, p->listed.col,      p->listed.value,  p->next_row,       p->blocks};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) ss_free(memory[i]);
}

void ss_sim_destroy(ss_sim *sim) {
  if (!sim) return;
  ss_threads_destroy(sim->threads);
  free_trial(&sim->trial);
  for (size_t i = 0; i < sizeof sim->kept / sizeof *sim->kept; i++) free_trial(&sim->kept[i]);
  ss_audit_free(sim->watch.audit);
  ss_cp_workspace_destroy(sim->solver.cp);
  ss_free(sim->search.all.items);
  ss_free(sim->search.near.items);
  ss_free(sim->search.found.q);
  ss_free(sim->search.found.pairs);
  for (int k = 0; k <= SS_MOST_THREADS; k++) ss_free(sim->search.found.list[k].points);
  ss_free(sim->dealt.list);
  ss_free(sim->dealt.told);
  ss_free(sim->state.touch);
  ss_free(sim->saved.state.touch);
  ss_free(sim->state.patch);
  ss_free(sim->saved.state.patch);
  ss_free(sim->solver.lu_rows);
  ss_islands_free(&sim->solver.islands);
  ss_joined_free(&sim->solver.joined);
  ss_factors_free(&sim->solver.factors);
  for (int i = 0; i < 2; i++) ss_lu_free(&sim->solver.lu[i]);
  ss_exact_free(&sim->exact);
  ss_apart_free(sim->apart);
  ss_arena_destroy(sim->arena);
}
