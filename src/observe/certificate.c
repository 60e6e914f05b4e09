/* The certificate: maxima over all accepted steps of what the judge and the positions say (MATH section 5). */
#include "observe/observe.h"

#include <string.h>

void ss_certify_problem(ss_sim *sim, double residual) {
  ss_certificate *c = &sim->report.certificate;
  if (residual > c->complementarity) c->complementarity = residual;
  if (sim->trial.problem.n == sim->trial.problem.n_free) return;
  const ss_cp problem = ss_problem_view(&sim->trial.problem);
  double cone = 0, dissipation = 0;
  ss_cp_friction_defects(&problem, sim->trial.problem.z, sim->trial.problem.slack, &cone, &dissipation);
  c->cone = fmax(c->cone, cone);
  c->dissipation = fmax(c->dissipation, dissipation);
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
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *contact = &sim->trial.contacts[i];
    ss_contact_place place;
    sim->mechanics->place(sim, contact, sim->state.t, sim->state.q, &place);
    const bool turns = contact->limit && sim->model->joints[contact->joint].n_angles > 0;
    const double unit = turns ? sim->report.body_size : 1;
    double depth = 0;
    if (contact->patch)
      depth = ss_patch_overlap(sim, contact, &place.at);
    else if (-place.at.gap > fmin(c->penetration, sim->report.worst_penetration / unit))
      depth = sim->mechanics->depth(sim, contact, &place);
    c->penetration = fmax(c->penetration, depth);
    sim->report.worst_penetration = fmax(sim->report.worst_penetration, depth * unit);
  }
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
