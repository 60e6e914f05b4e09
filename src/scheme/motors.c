/* Motors: a box row per motor. The impulse z of at most h * effort in either direction brings the joint's rate to the
 * wanted speed, that of the end of the part where it depends on time, or acts in full where that is not enough:
 *
 *     -h effort <= z <= h effort,    w = alpha (r.v+ - speed) >= 0 at the lower bound, <= 0 at the upper, 0 between
 *
 * The row asks for the speed at the end of the step, not of the weighted velocity: r.va = speed would make the rate
 * swing about the speed from step to step for alpha < 1 (MDI section 9.1). In w = r.va + s this is an offset,
 * s = -(1 - alpha) r.v - alpha speed. */
#include "scheme/scheme.h"

static double speed_at(const ss_sim *sim, const ss_joint *joint, double t) {
  if (!joint->motor_speed_at) return joint->motor_speed;
  return joint->motor_held[0] >= 0 ? sim->inputs.held[joint->motor_held[0]]
                                   : ss_signal_value(sim, joint->motor_speed_at, t);
}

static double effort_at(const ss_sim *sim, const ss_joint *joint, double t) {
  if (!joint->motor_effort_at) return joint->motor_effort;
  if (joint->motor_held[1] >= 0) return sim->inputs.held[joint->motor_held[1]];
  return fmax(ss_signal_value(sim, joint->motor_effort_at, t), 0);
}

void ss_motor_rows(ss_sim *sim, const double *q, double h) {
  const ss_model *model = sim->model;
  ss_problem *p = &sim->trial.problem;
  p->first_motor = p->n;
  for (int k = 0; k < model->n_joints; k++) {
    const ss_joint *joint = &model->joints[k];
    if (!joint->has_motor) continue;
    const ss_pose a = ss_pose_of(q, joint->body[0]), b = ss_pose_of(q, joint->body[1]);
    ss_row *row = &p->rows[p->n];
    (void)ss_joint_coordinate(model, joint, SS_ACTION_MOTOR, &a, &b, 0, row);
    const double rate = ss_row_dot(model, row, sim->state.v), most = h * effort_at(sim, joint, sim->state.t + h);
    const double speed = speed_at(sim, joint, sim->state.t + h), behind = speed - rate;
    p->offset[p->n] = -(1 - sim->trial.asked.alpha) * rate - sim->trial.asked.alpha * speed;
    p->compliance[p->n] = 0;
    p->z[p->n] = fabs(behind) <= 1e-9 * (1 + fabs(speed)) ? 0 : behind > 0 ? most : -most;
    p->blocks[p->n_blocks++] =
        (ss_block){.kind = SS_BLOCK_BOX, .first = p->n, .size = 1, .lower = -most, .upper = most};
    p->n++;
  }
}

double ss_motor_work(const ss_sim *sim, double fraction) {
  const ss_problem *p = &sim->trial.problem;
  double work = 0;
  for (int i = p->first_motor; i < p->first_motor + sim->model->n_motors; i++) {
    const double start = ss_row_dot(sim->model, &p->rows[i], sim->state.v);
    work += fraction * p->z[i] * (start + fraction / 2 * ss_row_dot(sim->model, &p->rows[i], sim->trial.delta));
  }
  return work;
}
