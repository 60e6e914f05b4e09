/* The object that `stickslip run --json` prints. */
#include "json.h"
#include "run_result.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *body_json(const ss_sim *sim, int body) {
  const ss_motion m = ss_sim_motion(sim, body);
  return json_pack("{s:o, s:o, s:o, s:o}", "position", json_vector(m.pose.position), "orientation",
                   json_quaternion(m.pose.orientation), "velocity", json_vector(m.velocity), "angular_velocity",
                   json_vector(m.angular_velocity));
}

static json_t *coordinates_json(const ss_sim *sim) {
  const ss_model *model = ss_sim_model(sim);
  const ss_state *state = ss_sim_state(sim);
  json_t *all = json_object();
  for (int i = 0; all && i < ss_model_coordinates(model); i++) {
    json_t *one = json_pack("{s:o, s:o}", "q", json_number(state->q[i]), "v", json_number(state->v[i]));
    if (json_object_set_new(all, ss_model_coordinate_name(model, i), one)) return NULL;
  }
  return all;
}

/* position and speed where the joint has them, force where it has a motor, reaction and moment on its first body. */
static json_t *joint_json(const ss_model *model, int joint, const ss_joint_report *report) {
  json_t *one =
      json_pack("{s:o, s:o}", "reaction", json_vector(report->reaction), "moment", json_vector(report->moment));
  bool good = one != NULL;
  if (good && ss_model_joint_has_position(model, joint))
    good = !json_object_set_new(one, "position", json_number(report->position)) &&
           !json_object_set_new(one, "speed", json_number(report->speed));
  if (good && ss_model_joint_has_motor(model, joint))
    good = !json_object_set_new(one, "force", json_number(report->force));
  return good ? one : NULL;
}

static json_t *joints_json(const ss_sim *sim) {
  const ss_model *model = ss_sim_model(sim);
  const int n = ss_model_joints(model);
  ss_joint_report *reports = calloc((size_t)n + 1, sizeof *reports);
  json_t *all = reports && !ss_sim_joints(sim, reports, n, NULL) ? json_object() : NULL;
  for (int i = 0; all && i < n; i++)
    if (json_object_set_new(all, ss_model_joint_name(model, i), joint_json(model, i, &reports[i]))) {
      json_decref(all);
      all = NULL;
    }
  free(reports);
  return all;
}

static json_t *final_json(const ss_sim *sim) {
  const ss_model *model = ss_sim_model(sim);
  if (ss_model_is_system(model))
    return json_pack("{s:o, s:o}", "t", json_number(ss_sim_state(sim)->t), "coordinates", coordinates_json(sim));
  json_t *bodies = json_object();
  for (int body = 0; bodies && body < ss_model_bodies(model); body++)
    if (json_object_set_new(bodies, ss_model_body_name(model, body), body_json(sim, body))) return NULL;
  return json_pack("{s:o, s:o, s:o}", "t", json_number(ss_sim_state(sim)->t), "bodies", bodies, "joints",
                   joints_json(sim));
}

/* The outputs at the end; NULL: out of memory. */
static json_t *outputs_json(const ss_sim *sim) {
  const ss_model *model = ss_sim_model(sim);
  json_t *all = json_object();
  for (int i = 0; all && i < ss_model_outputs(model); i++)
    if (json_object_set_new(all, ss_model_output_name(model, i), json_number(ss_sim_output(sim, i)))) return NULL;
  return all;
}

static json_t *doubts_json(const ss_certificate *c) {
  json_t *list = json_array();
  for (int i = 0; list && i < SS_DOUBTS; i++) {
    if (c->doubts[i] == 0) continue;
    const ss_doubt_info *info = &ss_table_doubts()[i];
    json_t *entry =
        json_pack("{s:s, s:o, s:s}", "code", info->code, "number", json_number(c->doubts[i]), "meaning", info->meaning);
    if (json_array_append_new(list, entry)) return NULL;
  }
  return list;
}

static json_t *certificate_json(const run_result *r) {
  const ss_certificate *c = &ss_sim_report(r->sim)->certificate;
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:I}", "complementarity",
                   json_number(c->complementarity), "penetration", json_number(c->penetration), "joint_drift",
                   json_number(c->joint_drift), "cone", json_number(c->cone), "dissipation",
                   json_number(c->dissipation), "selection", json_number(c->selection), "energy_created",
                   json_number(c->energy_created), "certified", run_certified(r), "sound", c->sound, "doubts",
                   doubts_json(c), "audited_steps", (json_int_t)ss_sim_report(r->sim)->audits);
}

static json_t *energy_json(const ss_energy *e) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "initial", json_number(e->initial),
                   "final", json_number(e->final), "kinetic", json_number(e->kinetic), "potential",
                   json_number(e->potential), "elastic", json_number(e->elastic), "work", json_number(e->work),
                   "friction_loss", json_number(e->friction_loss), "impact_loss", json_number(e->impact_loss),
                   "damping_loss", json_number(e->damping_loss), "stabilization", json_number(e->stabilization),
                   "linearization", json_number(e->linearization), "remainder", json_number(e->remainder));
}

static json_t *events_json(const run_result *r) {
  const ss_model *model = ss_sim_model(r->sim);
  const long *count = ss_sim_report(r->sim)->events;
  json_t *list = json_array();
  for (long i = 0; list && i < r->events->n; i++) {
    const ss_event *e = &r->events->items[i];
    json_t *entry =
        json_pack("{s:o, s:s, s:[o, o]}", "t", json_number(e->t), "kind", ss_event_name(e->kind), "between",
                  json_text(ss_model_body_name(model, e->body[0])), json_text(ss_model_body_name(model, e->body[1])));
    if (entry && e->energy_created > 0 && json_object_set_new(entry, "energy_created", json_number(e->energy_created)))
      return NULL;
    if (json_array_append_new(list, entry)) return NULL;
  }
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "collisions", (json_int_t)count[SS_COLLISION],
                   "limits", (json_int_t)count[SS_LIMIT_HIT], "stick_slip",
                   (json_int_t)(count[SS_STICK] + count[SS_SLIP]), "take_off", (json_int_t)count[SS_TAKE_OFF],
                   "spin_end", (json_int_t)count[SS_SPIN_END], "roll_end", (json_int_t)count[SS_ROLL_END], "spin_begin",
                   (json_int_t)count[SS_SPIN_BEGIN], "roll_begin", (json_int_t)count[SS_ROLL_BEGIN], "facet",
                   (json_int_t)count[SS_FACET], "list", list);
}

static json_t *solves_json(const ss_solves *s) {
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "count",
                   (json_int_t)s->count, "iterations", (json_int_t)s->iterations, "fallbacks", (json_int_t)s->fallbacks,
                   "cuts", (json_int_t)s->cuts, "outer", (json_int_t)s->outer, "not_contracting",
                   (json_int_t)s->not_contracting, "unconverged", (json_int_t)s->unconverged, "newton_fails",
                   (json_int_t)s->newton_fails, "unreturned", (json_int_t)s->unreturned, "passed_on",
                   (json_int_t)s->passed_on, "split_blows", (json_int_t)s->split_blows, "calmed", (json_int_t)s->calmed,
                   "rows", (json_int_t)s->rows, "impacts", (json_int_t)s->impacts, "contraction",
                   json_number(s->contraction), "seconds", json_number(s->seconds));
}

/* What the tolerance has led to. */
static json_t *step_control_json(const ss_simulation *o, const ss_steps *s) {
  return json_pack("{s:o, s:o, s:I, s:I, s:o, s:o}", "tolerance", json_number(o->tolerance), "largest_step",
                   json_number(o->largest_step), "accepted", (json_int_t)s->accepted, "rejected",
                   (json_int_t)s->rejected, "smallest", json_number(s->smallest), "largest", json_number(s->largest));
}

static json_t *timings_json(const double *seconds) {
  json_t *object = json_object();
  for (int i = 0; object && i < SS_STAGES; i++)
    if (json_object_set_new(object, ss_stage_name((ss_stage)i), json_number(seconds[i]))) return NULL;
  return object;
}

int run_print_json(const run_result *r) {
  const ss_simulation *o = ss_sim_options(r->sim);
  const ss_report *report = ss_sim_report(r->sim);
  json_t *contacts = json_pack("{s:I, s:o}", "maximum", (json_int_t)report->contacts_maximum, "mean",
                               json_number(report->contacts_mean));
  json_t *root = json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "scene",
      json_text(session_name(r->session)), "file", json_text(r->session->path), "scheme", json_text(o->scheme),
      "solver", json_text(o->solver), "step", json_number(o->step), "duration", json_number(o->duration), "steps",
      (json_int_t)ss_sim_state(r->sim)->step, "wall_seconds", json_number(r->wall_seconds), "complete", r->complete,
      "final", final_json(r->sim), "certificate", certificate_json(r), "energy", energy_json(&report->energy), "events",
      events_json(r), "contacts", contacts, "solves", solves_json(&report->solves), "velocity_variation",
      json_number(report->velocity_variation), "weighted_variation", json_number(report->weighted_variation),
      "constraint_work", json_number(report->constraint_work), "kinetic_growth", json_number(report->kinetic_growth),
      "energy_excess", json_number(report->energy_excess));
  if (root && json_object_set_new(root, "created_by_impacts", json_number(report->created_by_impacts))) root = NULL;
  if (root && ss_model_outputs(ss_sim_model(r->sim)) && json_object_set_new(root, "outputs", outputs_json(r->sim)))
    root = NULL;
  if (root && json_object_set_new(root, "start_velocity_residual", json_number(r->start_residual))) root = NULL;
  if (root && isfinite(r->explicit_step) && json_object_set_new(root, "explicit_step", json_number(r->explicit_step)))
    root = NULL;
  if (root && o->tolerance > 0 && json_object_set_new(root, "step_control", step_control_json(o, &report->steps)))
    root = NULL;
  const double *seconds = ss_sim_stage_seconds(r->sim);
  if (root && seconds && json_object_set_new(root, "timings", timings_json(seconds))) root = NULL;
  if (root && r->solutions &&
      json_object_set_new(root, "solutions", solutions_json(r->solutions, ss_sim_model(r->sim))))
    root = NULL;
  if (root && r->hash) {
    char hex[20];
    (void)snprintf(hex, sizeof hex, "%016" PRIx64, *r->hash);
    if (json_object_set_new(root, "hash", json_string(hex))) root = NULL;
  }
  if (root && r->message && json_object_set_new(root, "error", json_text(r->message))) root = NULL;
  return json_print(root);
}
