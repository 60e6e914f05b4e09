/* The certificate: maxima over all accepted steps of what the judge and the positions say (MATH section 5). */
#include "observe/observe.h"

#include <string.h>

enum { CONE, DISSIPATION, DEFECTS };

static void find_defects(void *user, int from, int to, double *defects) {
  const ss_problem *p = &((const ss_sim *)user)->trial.problem;
  const ss_cp some = {.n_blocks = to - from, .blocks = p->blocks + from};
  ss_cp_friction_defects(&some, p->z, p->slack, &defects[CONE], &defects[DISSIPATION]);
}

void ss_certify_problem(ss_sim *sim, double residual) {
  ss_certificate *c = &sim->report.certificate;
  if (residual > c->complementarity) c->complementarity = residual;
  if (sim->trial.problem.n == sim->trial.problem.n_free) return;
  double defects[DEFECTS];
  ss_threads_fold(sim->threads, sim->trial.problem.n_blocks, find_defects, sim, defects, DEFECTS, ss_larger_of_two);
  c->cone = fmax(c->cone, defects[CONE]);
  c->dissipation = fmax(c->dissipation, defects[DISSIPATION]);
}

/* The deepest contact, and what that is as a length. What has stayed at rest has been looked at. */
static void find_deepest(void *user, int from, int to, double *deepest) {
  const ss_sim *sim = user;
  const ss_report *r = &sim->report;
  for (int i = from; i < to; i++) {
    const ss_contact *contact = &sim->trial.contacts[i];
    if (contact->kept) continue;
    ss_contact_place place;
    sim->mechanics->place(sim, contact, sim->state.t, sim->state.q, &place);
    const bool turns = contact->limit && sim->model->joints[contact->joint].n_angles > 0;
    const double unit = turns ? r->body_size : 1;
    double depth = 0;
    if (contact->patch)
      depth = ss_patch_overlap(sim, contact, &place.at);
    else if (-place.at.gap > fmin(r->certificate.penetration, r->worst_penetration / unit))
      depth = sim->mechanics->depth(sim, contact, &place);
    deepest[0] = fmax(deepest[0], depth);
    deepest[1] = fmax(deepest[1], depth * unit);
  }
}

void ss_certify_position(ss_sim *sim) {
  ss_certificate *c = &sim->report.certificate;
  if (sim->model->n_joint_rows) {
    if (!sim->exact.residuals_known)
      sim->mechanics->joints(sim, sim->state.t, sim->state.q, sim->joints.residuals, NULL, NULL);
    sim->exact.residuals_known = false;
    for (int i = 0; i < sim->model->n_joint_rows; i++) {
      const double drift = fabs(sim->joints.residuals[i]);
      c->joint_drift = fmax(c->joint_drift, drift);
      sim->report.worst_drift = fmax(sim->report.worst_drift, drift * sim->joints.drift_length[i]);
    }
  }
  double deepest[2];
  ss_threads_fold(sim->threads, sim->trial.n_contacts, find_deepest, sim, deepest, 2, ss_larger_of_two);
  c->penetration = fmax(c->penetration, deepest[0]);
  sim->report.worst_penetration = fmax(sim->report.worst_penetration, deepest[1]);
}

static double distance(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

/* Total variation of the natural and of the weighted velocity sequence (MDI (4.9)-(4.11)). */
void ss_measure_variation(ss_sim *sim, bool collided) {
  const int n = sim->model->n_v;
  ss_report *report = &sim->report;
  for (int i = 0; i < n; i++)
    sim->observed.weighted[i] =
        collided ? sim->state.v[i]
                 : (1 - sim->chosen.alpha) * sim->observed.previous_v[i] + sim->chosen.alpha * sim->state.v[i];
  report->velocity_variation += distance(sim->state.v, sim->observed.previous_v, n);
  report->weighted_variation += distance(sim->observed.weighted, sim->observed.previous_weighted, n);
  memcpy(sim->observed.previous_v, sim->state.v, sizeof(double) * (size_t)n);
  memcpy(sim->observed.previous_weighted, sim->observed.weighted, sizeof(double) * (size_t)n);
}

const char *ss_event_name(ss_event_kind kind) {
  static const char *const names[SS_EVENT_KINDS] = {"collision", "stick",    "slip",  "take-off",   "limit",
                                                    "spin-end",  "roll-end", "facet", "spin-begin", "roll-begin"};
  return (unsigned)kind < SS_EVENT_KINDS ? names[kind] : NULL;
}

void ss_emit(ss_sim *sim, ss_event_kind kind, const ss_contact *contact, double energy_created) {
  if (contact->limit && kind == SS_COLLISION) kind = SS_LIMIT_HIT;
  sim->watch.kept_quiet = true;
  if (sim->watch.quiet) return;
  const ss_event event = {sim->state.t, kind, {contact->body[0], contact->body[1]}, energy_created};
  sim->report.events[kind]++;
  for (int i = 0; i < sim->watch.n_observers; i++)
    if (sim->watch.observers[i].event) sim->watch.observers[i].event(sim->watch.observers[i].user, sim, &event);
}
