/* Inputs, outputs and what expressions see of the state.
 *
 * An expression that depends on the state is a control law: it is evaluated once, at the start of a step (with automatic steps:
 * of every attempt at one), and held until its end, as a controller that samples the state would do. The same law written
 * outside (read, set inputs, step) gives the same motion. Whatever depends on t and inputs alone follows t within the step. */
#include "model/joint.h"
#include "sim/sim.h"

#include "core/words.h"

#include <string.h>

/* ---- variables ---- */

static double body_value(const ss_sim *sim, int body, int component) {
  const ss_motion m = ss_sim_motion(sim, body);
  const ss_vec3 v = component < 3 ? m.pose.position : component < 6 ? m.velocity : m.angular_velocity;
  return v3_get(v, component % 3);
}

static double joint_position(const ss_sim *sim, const ss_joint *joint, ss_row *row) {
  const ss_pose a = ss_pose_of(sim->state.q, joint->body[0]), b = ss_pose_of(sim->state.q, joint->body[1]);
  const double near = joint->n_angles ? sim->state.angle[joint->first_angle] : 0;
  return ss_joint_coordinate(sim->model, joint, SS_ACTION_MOTOR, &a, &b, near, row);
}

/* The coordinate of a distance joint grows with the distance; its row is that of the first body. */
static double joint_speed(const ss_sim *sim, const ss_joint *joint) {
  ss_row row = {.body = {SS_WORLD, SS_WORLD}};
  (void)joint_position(sim, joint, &row);
  return ss_row_dot(sim->model, &row, sim->state.v);
}

double ss_last_step(const ss_sim *sim) {
  if (sim->options.tolerance > 0) return ss_sim_step_size(sim);
  const double taken = sim->state.t - sim->saved.state.t;
  return taken > 0 ? taken : sim->options.step;
}

static double joint_force(const ss_sim *sim, const ss_joint *joint) {
  return joint->has_motor && sim->state.step > 0 ? sim->joints.motor_impulse[joint->motor] / ss_last_step(sim) : 0;
}

/* Normal forces add up; tangential ones do as vectors. */
static double contact_force(const ss_sim *sim, const ss_variable *variable) {
  double normal = 0;
  ss_vec3 tangent = {0, 0, 0};
  for (int i = 0; sim->dealt.done && i < sim->dealt.n; i++) {
    const ss_contact_report *c = &sim->dealt.list[i].report;
    const int low = c->body[0] < c->body[1] ? c->body[0] : c->body[1];
    const int high = c->body[0] < c->body[1] ? c->body[1] : c->body[0];
    if (low != variable->index[0] || high != variable->index[1]) continue;
    const double along = v3_dot(c->impulse, c->normal), sign = c->body[0] == low ? 1 : -1;
    normal += along;
    tangent = v3_axpy(tangent, sign, v3_axpy(c->impulse, -along, c->normal));
  }
  return (variable->kind == SS_VARIABLE_CONTACT_NORMAL ? normal : v3_norm(tangent)) / ss_last_step(sim);
}

static double read_variable(const void *user, int index) {
  const ss_sim *sim = user;
  const ss_variable *v = &sim->model->variables[index];
  switch (v->kind) {
  case SS_VARIABLE_INPUT:
    return sim->inputs.value[v->index[0]];
  case SS_VARIABLE_BODY:
    return body_value(sim, v->index[0], v->index[1]);
  case SS_VARIABLE_JOINT_POSITION:
    return joint_position(sim, &sim->model->joints[v->index[0]], NULL);
  case SS_VARIABLE_JOINT_SPEED:
    return joint_speed(sim, &sim->model->joints[v->index[0]]);
  case SS_VARIABLE_JOINT_FORCE:
    return joint_force(sim, &sim->model->joints[v->index[0]]);
  case SS_VARIABLE_CONTACT_NORMAL:
  case SS_VARIABLE_CONTACT_TANGENT:
    break;
  }
  return contact_force(sim, v);
}

double ss_signal_value(const ss_sim *sim, const ss_expression *expression, double t) {
  return ss_expression_evaluate(expression, t, read_variable, sim);
}

double ss_force_component(const ss_sim *sim, const ss_force *force, int i, double t) {
  const ss_expression *e = i < 3 ? force->force[i] : force->torque[i - 3];
  if (!e) return 0;
  return force->held[i] >= 0 ? sim->inputs.held[force->held[i]] : ss_signal_value(sim, e, t);
}

int ss_pushed_without_end(const ss_sim *sim, double from, double to) {
  for (int k = 0; k < sim->model->n_forces; k++) {
    const ss_force *force = &sim->model->forces[k];
    for (int i = 0; i < 12 && force->type == SS_FORCE_APPLIED; i++)
      if (!isfinite(ss_force_component(sim, force, i % 6, i < 6 ? from : to))) return force->body[0];
  }
  return -1;
}

ss_status ss_hold_signals(ss_sim *sim, ss_error *error) {
  const ss_model *model = sim->model;
  for (int i = 0; i < model->n_held; i++) {
    const ss_held *held = &model->held[i];
    const double value = ss_signal_value(sim, held->expression, sim->state.t);
    if (!isfinite(value) || (held->effort && value < 0))
      return ss_fail_place(error, SS_ERROR_CALLBACK, model->file, held->mark, "%s is %s at t = %.17g", held->what,
                           isfinite(value) ? "negative" : "not finite", sim->state.t);
    sim->inputs.held[i] = value;
  }
  return SS_OK;
}

void ss_clear_impulses(ss_sim *sim) {
  memset(sim->joints.impulse, 0, sizeof(double) * (size_t)sim->model->n_joint_rows);
  memset(sim->joints.motor_impulse, 0, sizeof(double) * (size_t)sim->model->n_motors);
}

/* ---- inputs and outputs ---- */

ss_status ss_sim_set_input(ss_sim *sim, int input, double value, ss_error *error) {
  if (input < 0 || input >= sim->model->n_inputs) return ss_fail(error, SS_ERROR_INPUT, "there is no input %d", input);
  if (!isfinite(value))
    return ss_fail(error, SS_ERROR_INPUT, "the input '%s' must be finite", sim->model->inputs[input].name);
  sim->inputs.value[input] = value;
  return SS_OK;
}

static ss_status unknown(const char *kind, const char *name, const ss_word_list *all, const ss_nearest *nearest,
                         ss_error *error) {
  if (all->used == 0)
    return ss_fail(error, SS_ERROR_INPUT, "there is no %s '%s': the scene declares none", kind,
                   ss_printable(name).text);
  if (nearest->best)
    return ss_fail(error, SS_ERROR_INPUT, "there is no %s '%s'; did you mean '%s'?", kind, ss_printable(name).text,
                   ss_printable(nearest->best).text);
  return ss_fail(error, SS_ERROR_INPUT, "there is no %s '%s' (there are %s)", kind, ss_printable(name).text, all->text);
}

ss_status ss_sim_set_input_named(ss_sim *sim, const char *name, double value, ss_error *error) {
  const int input = ss_model_find_input(sim->model, name);
  if (input >= 0) return ss_sim_set_input(sim, input, value, error);
  ss_word_list all = {0};
  ss_nearest nearest = {.word = name};
  for (int i = 0; i < sim->model->n_inputs; i++) {
    ss_word_list_add(&all, sim->model->inputs[i].name);
    ss_nearest_offer(&nearest, sim->model->inputs[i].name);
  }
  return unknown("input", name, &all, &nearest, error);
}

double ss_sim_input(const ss_sim *sim, int input) {
  return input >= 0 && input < sim->model->n_inputs ? sim->inputs.value[input] : (double)NAN;
}

double ss_sim_output(const ss_sim *sim, int output) {
  if (output < 0 || output >= sim->model->n_outputs) return NAN;
  return ss_signal_value(sim, sim->model->outputs[output].value, sim->state.t);
}

ss_status ss_sim_output_named(const ss_sim *sim, const char *name, double *value, ss_error *error) {
  const int output = ss_model_find_output(sim->model, name);
  *value = ss_sim_output(sim, output);
  if (output >= 0) return SS_OK;
  ss_word_list all = {0};
  ss_nearest nearest = {.word = name};
  for (int i = 0; i < sim->model->n_outputs; i++) {
    ss_word_list_add(&all, sim->model->outputs[i].name);
    ss_nearest_offer(&nearest, sim->model->outputs[i].name);
  }
  return unknown("output", name, &all, &nearest, error);
}

/* ---- joints ---- */

static const ss_joint *coordinate_joint(const ss_sim *sim, int joint) {
  const bool known = joint >= 0 && joint < sim->model->n_joints && ss_joint_has_coordinate(&sim->model->joints[joint]);
  return known ? &sim->model->joints[joint] : NULL;
}

double ss_sim_joint_position(const ss_sim *sim, int index) {
  const ss_joint *joint = coordinate_joint(sim, index);
  return joint ? joint_position(sim, joint, NULL) : (double)NAN;
}

double ss_sim_joint_speed(const ss_sim *sim, int index) {
  const ss_joint *joint = coordinate_joint(sim, index);
  return joint ? joint_speed(sim, joint) : (double)NAN;
}

double ss_sim_joint_force(const ss_sim *sim, int index) {
  const ss_joint *joint = coordinate_joint(sim, index);
  return joint ? joint_force(sim, joint) : (double)NAN;
}

/* J^T z of one body as a force and, about the joint's anchor, a moment, in the world's frame. */
static void add_reaction(const ss_sim *sim, const ss_joint *joint, int side, const ss_row *row, double z,
                         ss_joint_report *out) {
  const ss_body *body = &sim->model->bodies[joint->body[side]];
  double c[6] = {0};
  for (int i = 0; i < body->n; i++) c[body->coordinate[i]] = z * row->j[side][i];
  const ss_pose pose = ss_pose_of(sim->state.q, joint->body[side]);
  const ss_vec3 force = v3(c[0], c[1], c[2]), moment = quat_rotate(pose.orientation, v3(c[3], c[4], c[5]));
  const ss_vec3 arm = quat_rotate(pose.orientation, joint->anchor[side]);
  const double sign = side == 0 ? 1 : -1;
  out->reaction = v3_axpy(out->reaction, sign, force);
  if (body->turns) out->moment = v3_axpy(out->moment, sign, v3_sub(moment, v3_cross(arm, force)));
}

static void reactions(const ss_sim *sim, const double *impulse, const ss_row *rows, ss_joint_report *out, int n) {
  const double h = ss_last_step(sim);
  for (int k = 0; k < n; k++) {
    const ss_joint *joint = &sim->model->joints[k];
    const int side = joint->body[0] >= 0 ? 0 : 1;
    out[k].reaction = out[k].moment = v3(0, 0, 0);
    for (int i = 0; i < joint->n_rows; i++) {
      const int row = joint->first_row + i;
      add_reaction(sim, joint, side, &rows[row], impulse[row] / h, &out[k]);
    }
  }
}

ss_status ss_sim_joints(const ss_sim *sim, ss_joint_report *out, int capacity, ss_error *error) {
  const ss_model *model = sim->model;
  const int n = capacity < model->n_joints ? capacity : model->n_joints, rows = model->n_joint_rows;
  if (n <= 0) return SS_OK;
  for (int k = 0; k < n; k++)
    out[k] = (ss_joint_report){.position = ss_sim_joint_position(sim, k),
                               .speed = ss_sim_joint_speed(sim, k),
                               .force = ss_sim_joint_force(sim, k)};
  ss_joints_evaluate(model, sim->state.q, sim->state.angle, NULL, sim->basis.rows);
  if (sim->basis.n == rows) {
    reactions(sim, sim->joints.impulse, sim->basis.rows, out, n);
    return SS_OK;
  }
  double *impulse = ss_alloc(sizeof *impulse * (size_t)(rows + 1));
  if (!impulse) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const ss_status status = ss_sim_joint_impulses(sim, impulse, error);
  if (status == SS_OK) reactions(sim, impulse, sim->basis.rows, out, n);
  ss_free(impulse);
  return status;
}

/* ---- forces from outside ---- */

ss_status ss_sim_apply(ss_sim *sim, int body, ss_vec3 force, ss_vec3 torque, ss_error *error) {
  if (body < 0 || body >= sim->model->n_bodies)
    return ss_fail(error, SS_ERROR_INPUT, "apply: there is no body %d", body);
  const double numbers[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
  for (int i = 0; i < 6; i++)
    if (!isfinite(numbers[i])) return ss_fail(error, SS_ERROR_INPUT, "apply: force and torque must be finite");
  for (int i = 0; i < 6; i++) sim->inputs.push_force[6 * body + i] += numbers[i];
  sim->inputs.has_push_force = true;
  return SS_OK;
}

void ss_forget_pushes(ss_sim *sim) {
  if (!sim->inputs.has_push_force) return;
  memset(sim->inputs.push_force, 0, sizeof(double) * 6 * (size_t)sim->model->n_bodies);
  sim->inputs.has_push_force = false;
}

ss_status ss_sim_pull(ss_sim *sim, const ss_pull *pull, ss_error *error) {
  if (pull) {
    if (pull->body < 0 || pull->body >= sim->model->n_bodies)
      return ss_fail(error, SS_ERROR_INPUT, "pull: there is no body %d", pull->body);
    if (!v3_finite(pull->point) || !v3_finite(pull->target) || !(pull->stiffness >= 0) || !isfinite(pull->stiffness) ||
        !(pull->damping >= 0) || !isfinite(pull->damping))
      return ss_fail(error, SS_ERROR_INPUT, "pull: points must be finite, stiffness and damping not negative");
    sim->inputs.pull = *pull;
  }
  sim->inputs.pulled = pull != NULL;
  return SS_OK;
}
