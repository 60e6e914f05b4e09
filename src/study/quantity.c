/* The quantities that a study can observe, by name: BODY.x and the like, energy.work, certificate.penetration ... */
#include "study/study.h"

#include "core/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum number_type { NUMBER_DOUBLE, NUMBER_LONG, NUMBER_BOOL } number_type;

typedef enum number_source { OF_REPORT, OF_STATE, OF_RUN } number_source;

struct ss_report_number {
  const char *name;
  number_type type;
  size_t offset; /* in ss_report, ss_state or ss_run_numbers */
  number_source source;
  ss_study_kind kind; /* OF_RUN: of these only */
};

static const struct ss_report_number numbers[] = {
    {"energy.initial", NUMBER_DOUBLE, offsetof(ss_report, energy.initial), OF_REPORT, 0},
    {"energy.final", NUMBER_DOUBLE, offsetof(ss_report, energy.final), OF_REPORT, 0},
    {"energy.kinetic", NUMBER_DOUBLE, offsetof(ss_report, energy.kinetic), OF_REPORT, 0},
    {"energy.potential", NUMBER_DOUBLE, offsetof(ss_report, energy.potential), OF_REPORT, 0},
    {"energy.elastic", NUMBER_DOUBLE, offsetof(ss_report, energy.elastic), OF_REPORT, 0},
    {"energy.work", NUMBER_DOUBLE, offsetof(ss_report, energy.work), OF_REPORT, 0},
    {"energy.friction_loss", NUMBER_DOUBLE, offsetof(ss_report, energy.friction_loss), OF_REPORT, 0},
    {"energy.impact_loss", NUMBER_DOUBLE, offsetof(ss_report, energy.impact_loss), OF_REPORT, 0},
    {"energy.damping_loss", NUMBER_DOUBLE, offsetof(ss_report, energy.damping_loss), OF_REPORT, 0},
    {"energy.stabilization", NUMBER_DOUBLE, offsetof(ss_report, energy.stabilization), OF_REPORT, 0},
    {"energy.linearization", NUMBER_DOUBLE, offsetof(ss_report, energy.linearization), OF_REPORT, 0},
    {"energy.remainder", NUMBER_DOUBLE, offsetof(ss_report, energy.remainder), OF_REPORT, 0},
    {"certificate.complementarity", NUMBER_DOUBLE, offsetof(ss_report, certificate.complementarity), OF_REPORT, 0},
    {"certificate.penetration", NUMBER_DOUBLE, offsetof(ss_report, certificate.penetration), OF_REPORT, 0},
    {"certificate.joint_drift", NUMBER_DOUBLE, offsetof(ss_report, certificate.joint_drift), OF_REPORT, 0},
    {"certificate.cone", NUMBER_DOUBLE, offsetof(ss_report, certificate.cone), OF_REPORT, 0},
    {"certificate.dissipation", NUMBER_DOUBLE, offsetof(ss_report, certificate.dissipation), OF_REPORT, 0},
    {"certificate.energy_created", NUMBER_DOUBLE, offsetof(ss_report, certificate.energy_created), OF_REPORT, 0},
    {"certificate.certified", NUMBER_BOOL, offsetof(ss_report, certificate.certified), OF_REPORT, 0},
    {"certificate.sound", NUMBER_BOOL, offsetof(ss_report, certificate.sound), OF_REPORT, 0},
    {"events.collisions", NUMBER_LONG, offsetof(ss_report, events[SS_COLLISION]), OF_REPORT, 0},
    {"events.stick", NUMBER_LONG, offsetof(ss_report, events[SS_STICK]), OF_REPORT, 0},
    {"events.slip", NUMBER_LONG, offsetof(ss_report, events[SS_SLIP]), OF_REPORT, 0},
    {"events.take_off", NUMBER_LONG, offsetof(ss_report, events[SS_TAKE_OFF]), OF_REPORT, 0},
    {"events.facet", NUMBER_LONG, offsetof(ss_report, events[SS_FACET]), OF_REPORT, 0},
    {"events.limits", NUMBER_LONG, offsetof(ss_report, events[SS_LIMIT_HIT]), OF_REPORT, 0},
    {"contacts.maximum", NUMBER_LONG, offsetof(ss_report, contacts_maximum), OF_REPORT, 0},
    {"contacts.mean", NUMBER_DOUBLE, offsetof(ss_report, contacts_mean), OF_REPORT, 0},
    {"solves.count", NUMBER_LONG, offsetof(ss_report, solves.count), OF_REPORT, 0},
    {"solves.iterations", NUMBER_LONG, offsetof(ss_report, solves.iterations), OF_REPORT, 0},
    {"solves.fallbacks", NUMBER_LONG, offsetof(ss_report, solves.fallbacks), OF_REPORT, 0},
    {"solves.cuts", NUMBER_LONG, offsetof(ss_report, solves.cuts), OF_REPORT, 0},
    {"velocity.variation", NUMBER_DOUBLE, offsetof(ss_report, velocity_variation), OF_REPORT, 0},
    {"cost.steps", NUMBER_LONG, offsetof(ss_state, step), OF_STATE, 0},
    {"bvp.solutions", NUMBER_DOUBLE, offsetof(ss_run_numbers, solutions), OF_RUN, SS_STUDY_BVP},
    {"bvp.residual", NUMBER_DOUBLE, offsetof(ss_run_numbers, residual), OF_RUN, SS_STUDY_BVP},
    {"bvp.simulations", NUMBER_DOUBLE, offsetof(ss_run_numbers, simulations), OF_RUN, SS_STUDY_BVP},
    {"converge.order", NUMBER_DOUBLE, offsetof(ss_run_numbers, order), OF_RUN, SS_STUDY_CONVERGE},
    {"converge.position_error", NUMBER_DOUBLE, offsetof(ss_run_numbers, position_error), OF_RUN, SS_STUDY_CONVERGE},
    {"converge.velocity_error", NUMBER_DOUBLE, offsetof(ss_run_numbers, velocity_error), OF_RUN, SS_STUDY_CONVERGE},
};
enum { N_NUMBERS = sizeof numbers / sizeof numbers[0], N_COMPONENTS = 13 };

static const char *const components[N_COMPONENTS] = {"x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                                     "vx", "vy", "vz", "wx", "wy", "wz"};

static bool continues_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* Length of `name` if text starts with it as a whole word. */
static size_t starts_with(const char *text, const char *name) {
  const size_t length = strlen(name);
  return strncmp(text, name, length) == 0 && !continues_word(text[length]) ? length : 0;
}

static size_t match_body(const char *text, const char *name, int *component) {
  const size_t length = strlen(name);
  if (strncmp(text, name, length) != 0 || text[length] != '.') return 0;
  for (*component = 0; *component < N_COMPONENTS; ++*component) {
    const size_t more = starts_with(text + length + 1, components[*component]);
    if (more) return length + 1 + more;
  }
  return 0;
}

static const char *const joint_components[] = {"position", "speed", "force"};

/* outputs.NAME, JOINT.position: where longer than `longest`, which is a body's or the report's. */
static size_t match_output_or_joint(const ss_scene *scene, const char *text, size_t longest, ss_observable *out) {
  static const char prefix[] = "outputs.";
  const size_t skip = strncmp(text, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
  for (int i = 0; skip && i < scene->n_outputs; i++) {
    const size_t length = starts_with(text + skip, scene->outputs[i].name);
    if (!length || length + skip <= longest) continue;
    longest = length + skip;
    *out = (ss_observable){.body = -1, .output = i, .joint = -1};
  }
  for (int i = 0; i < scene->n_joints; i++) {
    const char *name = scene->joints[i].name;
    const size_t length = name ? strlen(name) : 0;
    if (!length || strncmp(text, name, length) != 0 || text[length] != '.') continue;
    for (int k = 0; k < 3; k++) {
      const size_t more = starts_with(text + length + 1, joint_components[k]);
      if (!more || length + 1 + more <= longest) continue;
      longest = length + 1 + more;
      *out = (ss_observable){.body = -1, .output = -1, .joint = i, .component = k};
    }
  }
  return longest;
}

size_t ss_observable_match(const ss_scene *scene, const char *text, ss_observable *out) {
  size_t longest = 0;
  for (int i = 0; i < N_NUMBERS; i++) {
    const size_t length = starts_with(text, numbers[i].name);
    if (length > longest) *out = (ss_observable){.body = -1, .output = -1, .joint = -1, .number = &numbers[i]};
    if (length > longest) longest = length;
  }
  for (int body = 0; body < scene->n_bodies; body++) {
    int component = 0;
    const size_t length = match_body(text, scene->bodies[body].name, &component);
    if (length > longest) *out = (ss_observable){.body = body, .output = -1, .joint = -1, .component = component};
    if (length > longest) longest = length;
  }
  const size_t other = match_output_or_joint(scene, text, longest, out);
  return other > longest ? other : longest;
}

bool ss_observable_is_of(const ss_observable *q, ss_study_kind kind) {
  return !q->number || q->number->source != OF_RUN || q->number->kind == kind;
}

static const char *source_of(const struct ss_report_number *number, const ss_sim *sim, const ss_run_numbers *run) {
  switch (number->source) {
  case OF_REPORT:
    return (const char *)ss_sim_report(sim);
  case OF_STATE:
    return (const char *)ss_sim_state(sim);
  case OF_RUN:
    break;
  }
  return (const char *)run;
}

double ss_observable_value(const ss_observable *q, const ss_sim *sim, const ss_run_numbers *run) {
  if (q->body >= 0) {
    const ss_motion m = ss_sim_motion(sim, q->body);
    const double values[N_COMPONENTS] = {
        m.pose.position.x,    m.pose.position.y,    m.pose.position.z,   m.pose.orientation.w, m.pose.orientation.x,
        m.pose.orientation.y, m.pose.orientation.z, m.velocity.x,        m.velocity.y,         m.velocity.z,
        m.angular_velocity.x, m.angular_velocity.y, m.angular_velocity.z};
    return values[q->component];
  }
  if (q->output >= 0) return ss_sim_output(sim, q->output);
  if (q->joint >= 0)
    return q->component == 0   ? ss_sim_joint_position(sim, q->joint)
           : q->component == 1 ? ss_sim_joint_speed(sim, q->joint)
                               : ss_sim_joint_force(sim, q->joint);
  const char *at = source_of(q->number, sim, run) + q->number->offset;
  switch (q->number->type) {
  case NUMBER_DOUBLE:
    return *(const double *)(const void *)at;
  case NUMBER_LONG:
    return (double)*(const long *)(const void *)at;
  case NUMBER_BOOL:
    break;
  }
  return *(const bool *)(const void *)at ? 1 : 0;
}

const char *ss_observable_nearest(const ss_scene *scene, const char *word, size_t length, char *text, size_t size) {
  char wanted[64], candidate[128];
  (void)snprintf(wanted, sizeof wanted, "%.*s", (int)(length < sizeof wanted ? length : sizeof wanted - 1), word);
  ss_nearest nearest = {.word = wanted};
  for (int i = 0; i < N_NUMBERS; i++) ss_nearest_offer(&nearest, numbers[i].name);
  const char *known = nearest.best;
  (void)snprintf(text, size, "%s", known ? known : "");
  for (int i = 0; i < scene->n_bodies * N_COMPONENTS; i++) {
    const char *before = nearest.best;
    (void)snprintf(candidate, sizeof candidate, "%s.%s", scene->bodies[i / N_COMPONENTS].name,
                   components[i % N_COMPONENTS]);
    ss_nearest_offer(&nearest, candidate);
    if (nearest.best == before) continue;
    (void)snprintf(text, size, "%s", candidate);
    nearest.best = text; /* the candidate is overwritten by the next one */
  }
  return nearest.best ? text : NULL;
}
