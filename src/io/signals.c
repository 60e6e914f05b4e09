#include "io/signals.h"

#include "core/arena.h"

#include <math.h>
#include <string.h>

enum { MOST_SETS = 5 }; /* of a joint */

static void add(ss_signals *s, const char *owner, const char *name, int width) {
  s->sets[s->n_sets++] = (ss_signal_set){owner, name, width, s->n};
  s->n += width;
}

bool ss_signals_create(ss_signals *s, const ss_model *model) {
  const int joints = ss_model_joints(model);
  *s = (ss_signals){.n_outputs = ss_model_outputs(model), .n_joints = joints <= SS_JOINTS_RECORDED ? joints : 0};
  s->sets = ss_alloc(sizeof *s->sets * (size_t)(s->n_outputs + MOST_SETS * s->n_joints + 1));
  s->joints = ss_alloc(sizeof *s->joints * (size_t)(s->n_joints + 1));
  if (!s->sets || !s->joints) return false;
  for (int i = 0; i < s->n_outputs; i++) add(s, NULL, ss_model_output_name(model, i), 1);
  for (int k = 0; k < s->n_joints; k++) {
    const char *name = ss_model_joint_name(model, k);
    if (ss_model_joint_has_position(model, k)) add(s, name, "position", 1);
    if (ss_model_joint_has_position(model, k)) add(s, name, "speed", 1);
    if (ss_model_joint_has_motor(model, k)) add(s, name, "force", 1);
    add(s, name, "reaction", 3);
    add(s, name, "moment", 3);
  }
  s->values = ss_alloc(sizeof *s->values * (size_t)(s->n + 1));
  return s->values != NULL;
}

void ss_signals_release(ss_signals *s) {
  ss_free(s->sets);
  ss_free(s->joints);
  ss_free(s->values);
  *s = (ss_signals){0};
}

ss_status ss_signals_read(ss_signals *s, const ss_sim *sim, ss_error *error) {
  const ss_model *model = ss_sim_model(sim);
  const ss_status status = ss_sim_joints(sim, s->joints, s->n_joints, error);
  if (status) return status;
  double *next = s->values;
  for (int i = 0; i < s->n_outputs; i++) {
    const double value = ss_sim_output(sim, i);
    *next++ =
        isfinite(value) ? value : (double)NAN; /* no value: a quotient of contact forces where there is no contact */
  }
  for (int k = 0; k < s->n_joints; k++) {
    const ss_joint_report *j = &s->joints[k];
    if (ss_model_joint_has_position(model, k)) *next++ = j->position;
    if (ss_model_joint_has_position(model, k)) *next++ = j->speed;
    if (ss_model_joint_has_motor(model, k)) *next++ = j->force;
    const double six[6] = {j->reaction.x, j->reaction.y, j->reaction.z, j->moment.x, j->moment.y, j->moment.z};
    memcpy(next, six, sizeof six);
    next += 6;
  }
  return SS_OK;
}

const char *ss_signal_component(const char *set_name, bool output, int k) {
  static const char *const reaction[3] = {"fx", "fy", "fz"}, *const moment[3] = {"mx", "my", "mz"};
  if (output) return "";
  if (strcmp(set_name, "reaction") == 0) return reaction[k];
  return strcmp(set_name, "moment") == 0 ? moment[k] : set_name;
}
