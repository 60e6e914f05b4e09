/* Audits: at the ends of steps, and wherever a step is recorded, the auditor looks at the positions (audit/audit.h). Shapes that
 * overlap and of which the contacts of the step know nothing are a doubt. */
#include "audit/audit.h"
#include "observe/observe.h"

/* How deep two shapes are in each other by the geometry that the search goes by, where it has the pair in its list: the next step
 * will hold what it finds there. Features of the last part may have been left behind; the pair is asked anew. What is known counts
 * as penetration. */
static double known_depth(void *user, int shape_a, int shape_b) {
  ss_sim *sim = user;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    const bool same = c->shape[0] == shape_a && c->shape[1] == shape_b;
    if (!c->pair || !(same || (c->shape[0] == shape_b && c->shape[1] == shape_a))) continue;
    const ss_shape *a = &sim->model->shapes[c->shape[0]], *b = &sim->model->shapes[c->shape[1]];
    const ss_pose body_a = ss_pose_of(sim->state.q, a->body), body_b = ss_pose_of(sim->state.q, b->body);
    const ss_pose pose_a = ss_shape_pose(a, &body_a), pose_b = ss_shape_pose(b, &body_b);
    ss_contact_point points[SS_PAIR_CONTACTS];
    const int n = c->pair->collide(a, &pose_a, b, &pose_b, 0, points);
    double depth = 0;
    for (int k = 0; k < n; k++) depth = fmax(depth, -points[k].gap);
    /* For the verdict; the certificate tells the gaps that rows hold. Patches give by themselves. */
    if (!sim->scheme->compliant) sim->report.worst_penetration = fmax(sim->report.worst_penetration, depth);
    return depth;
  }
  return 0;
}

static bool is_due(const ss_sim *sim) {
  if (sim->state.step % ss_audit_stride(sim->watch.audit) == 0 || ss_sim_done(sim)) return true;
  for (int i = 0; i < sim->watch.n_observers; i++)
    if (sim->watch.observers[i].keeps && sim->watch.observers[i].keeps(sim->watch.observers[i].user, sim)) return true;
  return false;
}

static void tell(ss_sim *sim, const ss_overlap *found) {
  ss_report *r = &sim->report;
  if (found->depth <= r->certificate.doubts[SS_DOUBT_OVERLAP]) return;
  r->certificate.doubts[SS_DOUBT_OVERLAP] = found->depth;
  r->overlap = (ss_event){.t = sim->state.t,
                          .kind = SS_COLLISION,
                          .body = {sim->model->shapes[found->shape[0]].body, sim->model->shapes[found->shape[1]].body}};
}

ss_status ss_audit_step(ss_sim *sim, ss_error *error) {
  ss_audit *audit = sim->watch.audit;
  if (!audit || sim->crowd.slept > ss_audit_stride(audit)) return SS_OK; /* what sleeps has been looked at */
  const bool due = is_due(sim);
  ss_overlap worst;
  ss_status status = SS_OK;
  if (due) {
    status = ss_audit_positions(audit, sim->state.q, known_depth, sim, &worst, error);
    if (status != SS_OK) return status;
    sim->report.audits++;
    tell(sim, &worst);
  }
  if (due || ss_audit_every_way(audit)) {
    status = ss_audit_ways(audit, sim->saved.state.q, sim->state.q, &worst, error);
    if (status == SS_OK) tell(sim, &worst);
  }
  return status;
}
