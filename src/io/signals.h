/* Outputs and joints as columns of numbers: what recorders write beside the motion of the bodies.
 *
 *     NAME                              each output
 *     JOINT.position, JOINT.speed       joints that have a coordinate
 *     JOINT.force                       those with a motor: what it gave, mean over the last step
 *     JOINT.fx fy fz mx my mz           reaction on the first body, world frame, about the joint's anchor, likewise */
#ifndef SS_IO_SIGNALS_H
#define SS_IO_SIGNALS_H

#include <stickslip/sim.h>

enum { SS_JOINTS_RECORDED = 256 }; /* of more joints nothing is recorded but what outputs ask for */

/* The columns that lie side by side in one dataset. */
typedef struct ss_signal_set {
  const char *owner; /* joint; NULL: an output */
  const char *name;  /* of the output, or position, speed, force, reaction, moment */
  int width, first;  /* numbers, and where they start */
} ss_signal_set;

typedef struct ss_signals {
  int n_sets, n; /* n: numbers of all sets together */
  int n_outputs, n_joints;
  ss_signal_set *sets;
  ss_joint_report *joints; /* [n_joints] */
  double *values;          /* [n] */
} ss_signals;

/* Names are the model's; it must outlive this. A zeroed object may be released. */
bool ss_signals_create(ss_signals *signals, const ss_model *model); /* false: out of memory */
void ss_signals_release(ss_signals *signals);
ss_status ss_signals_read(ss_signals *signals, const ss_sim *sim, ss_error *error); /* fills in values */

/* Name of number k of a set after the owner: "" for outputs, "position", "fx". */
const char *ss_signal_component(const char *set_name, bool output, int k);

#endif
