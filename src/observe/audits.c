/* Audits: at the ends of steps, and wherever a step is recorded, the auditor looks at the positions (audit/audit.h). Shapes that
 * overlap and of which the contacts of the step know nothing are a doubt. */
#include "audit/audit.h"
#include "step/workspace.h"

/* How deep two shapes are in each other by the contacts that the search has found in the last part of the step. */
static double known_depth(void *user, int shape_a, int shape_b) {
  const ss_sim *sim = user;
  double depth = 0;
  for (int i = 0; i < sim->n_contacts; i++) {
    const ss_contact *c = &sim->contacts[i];
    if (!c->pair) continue;
    if (!(c->shape[0] == shape_a && c->shape[1] == shape_b) && !(c->shape[0] == shape_b && c->shape[1] == shape_a))
      continue;
    ss_contact_place place;
    sim->mechanics->place(sim, c, sim->state.t, sim->state.q, &place);
    depth = fmax(depth, sim->mechanics->depth(sim, c, &place));
  }
  return depth;
}

static bool is_due(const ss_sim *sim) {
  if (sim->state.step % ss_audit_stride(sim->audit) == 0 || ss_sim_done(sim)) return true;
  for (int i = 0; i < sim->n_observers; i++)
    if (sim->observers[i].keeps && sim->observers[i].keeps(sim->observers[i].user, sim)) return true;
  return false;
}

ss_status ss_audit_step(ss_sim *sim, ss_error *error) {
  if (!sim->audit || !is_due(sim)) return SS_OK;
  ss_report *r = &sim->report;
  ss_overlap worst;
  const ss_status status = ss_audit_positions(sim->audit, sim->state.q, known_depth, sim, &worst, error);
  if (status != SS_OK) return status;
  r->audits++;
  if (worst.depth <= r->certificate.doubts[SS_DOUBT_OVERLAP]) return SS_OK;
  r->certificate.doubts[SS_DOUBT_OVERLAP] = worst.depth;
  r->overlap = (ss_event){.t = sim->state.t,
                          .kind = SS_COLLISION,
                          .body = {sim->model->shapes[worst.shape[0]].body, sim->model->shapes[worst.shape[1]].body}};
  return SS_OK;
}
