/* The quantities that a study can observe, by name: BODY.x and the like, energy.work, certificate.penetration ... */
#include "study/study.h"

#include "core/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum number_type { NUMBER_DOUBLE, NUMBER_LONG, NUMBER_BOOL } number_type;

struct ss_report_number {
  const char *name;
  number_type type;
  size_t offset; /* in ss_report */
};

static const struct ss_report_number numbers[] = {
    {"energy.initial", NUMBER_DOUBLE, offsetof(ss_report, energy.initial)},
    {"energy.final", NUMBER_DOUBLE, offsetof(ss_report, energy.final)},
    {"energy.kinetic", NUMBER_DOUBLE, offsetof(ss_report, energy.kinetic)},
    {"energy.potential", NUMBER_DOUBLE, offsetof(ss_report, energy.potential)},
    {"energy.elastic", NUMBER_DOUBLE, offsetof(ss_report, energy.elastic)},
    {"energy.work", NUMBER_DOUBLE, offsetof(ss_report, energy.work)},
    {"energy.friction_loss", NUMBER_DOUBLE, offsetof(ss_report, energy.friction_loss)},
    {"energy.impact_loss", NUMBER_DOUBLE, offsetof(ss_report, energy.impact_loss)},
    {"energy.damping_loss", NUMBER_DOUBLE, offsetof(ss_report, energy.damping_loss)},
    {"energy.stabilization", NUMBER_DOUBLE, offsetof(ss_report, energy.stabilization)},
    {"energy.remainder", NUMBER_DOUBLE, offsetof(ss_report, energy.remainder)},
    {"certificate.complementarity", NUMBER_DOUBLE, offsetof(ss_report, certificate.complementarity)},
    {"certificate.penetration", NUMBER_DOUBLE, offsetof(ss_report, certificate.penetration)},
    {"certificate.joint_drift", NUMBER_DOUBLE, offsetof(ss_report, certificate.joint_drift)},
    {"certificate.cone", NUMBER_DOUBLE, offsetof(ss_report, certificate.cone)},
    {"certificate.dissipation", NUMBER_DOUBLE, offsetof(ss_report, certificate.dissipation)},
    {"certificate.energy_created", NUMBER_DOUBLE, offsetof(ss_report, certificate.energy_created)},
    {"certificate.certified", NUMBER_BOOL, offsetof(ss_report, certificate.certified)},
    {"certificate.sound", NUMBER_BOOL, offsetof(ss_report, certificate.sound)},
    {"events.collisions", NUMBER_LONG, offsetof(ss_report, events[SS_COLLISION])},
    {"events.stick", NUMBER_LONG, offsetof(ss_report, events[SS_STICK])},
    {"events.slip", NUMBER_LONG, offsetof(ss_report, events[SS_SLIP])},
    {"events.take_off", NUMBER_LONG, offsetof(ss_report, events[SS_TAKE_OFF])},
    {"events.facet", NUMBER_LONG, offsetof(ss_report, events[SS_FACET])},
    {"events.limits", NUMBER_LONG, offsetof(ss_report, events[SS_LIMIT_HIT])},
    {"contacts.maximum", NUMBER_LONG, offsetof(ss_report, contacts_maximum)},
    {"contacts.mean", NUMBER_DOUBLE, offsetof(ss_report, contacts_mean)},
    {"solves.count", NUMBER_LONG, offsetof(ss_report, solves.count)},
    {"solves.iterations", NUMBER_LONG, offsetof(ss_report, solves.iterations)},
    {"solves.fallbacks", NUMBER_LONG, offsetof(ss_report, solves.fallbacks)},
    {"solves.cuts", NUMBER_LONG, offsetof(ss_report, solves.cuts)},
    {"velocity.variation", NUMBER_DOUBLE, offsetof(ss_report, velocity_variation)},
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

size_t ss_observable_match(const ss_scene *scene, const char *text, ss_observable *out) {
  size_t longest = 0;
  for (int i = 0; i < N_NUMBERS; i++) {
    const size_t length = starts_with(text, numbers[i].name);
    if (length > longest) *out = (ss_observable){.body = -1, .number = &numbers[i]};
    if (length > longest) longest = length;
  }
  for (int body = 0; body < scene->n_bodies; body++) {
    int component = 0;
    const size_t length = match_body(text, scene->bodies[body].name, &component);
    if (length > longest) *out = (ss_observable){.body = body, .component = component};
    if (length > longest) longest = length;
  }
  return longest;
}

double ss_observable_value(const ss_observable *q, const ss_sim *sim) {
  if (q->body >= 0) {
    const ss_motion m = ss_sim_motion(sim, q->body);
    const double values[N_COMPONENTS] = {
        m.pose.position.x,    m.pose.position.y,    m.pose.position.z,   m.pose.orientation.w, m.pose.orientation.x,
        m.pose.orientation.y, m.pose.orientation.z, m.velocity.x,        m.velocity.y,         m.velocity.z,
        m.angular_velocity.x, m.angular_velocity.y, m.angular_velocity.z};
    return values[q->component];
  }
  const char *at = (const char *)ss_sim_report(sim) + q->number->offset;
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
