/* Audits: at the ends of steps, and wherever a step is recorded, the auditor looks at the positions (audit/audit.h). Shapes that
 * overlap and of which the contacts of the step know nothing are a doubt.
 *
 * Steps that are not recorded are audited, beside every 32nd, as long as all audits take no more than a share of the run: of the time that its steps
 * take. Both are predicted from counts, so that the same steps are audited on every machine. */
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

/* What the step has taken, in nanoseconds of a usual machine, rather too little: fitted to the scenes of scenes/, of most of which it
 * gives between a half and all. The search looks at the triangles of surfaces, too, and no less closely than the last audit did. */
static double step_work(const ss_sim *sim) {
  const ss_solves *now = &sim->report.solves, *before = &sim->saved.report.solves;
  const double solves = (double)(now->count - before->count), rows = (double)(now->rows - before->rows);
  return 150 + 20.0 * sim->model->n_v + 600 * fmax(0, solves) + 120 * fmax(0, rows) +
         0.5 * (double)sim->step.operations + 80.0 * sim->trial.n_contacts + 2 * sim->report.audit_work.surfaces;
}

static bool is_due(const ss_sim *sim) {
  static const double SHARE = 0.05;
  enum { MOST_APART = 32 }; /* steps; ways of fast bodies may use up the share */
  const ss_audit_account *work = &sim->report.audit_work;
  if (work->audits + work->last <= SHARE * work->steps || sim->state.step % MOST_APART == 0) return true;
  if (sim->crowd.slept == 1 || ss_sim_done(sim)) return true;
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
  if (!audit || sim->crowd.slept > 1) return SS_OK; /* what sleeps has been looked at */
  ss_audit_account *work = &sim->report.audit_work;
  if (sim->crowd.slept == 0) work->steps += step_work(sim);
  const bool due = is_due(sim);
  const ss_audit_work before = ss_audit_work_of(audit);
  ss_overlap worst;
  ss_status status = SS_OK;
  if (due) {
    status = ss_audit_positions(audit, sim->state.q, known_depth, sim, &worst, error);
    if (status != SS_OK) return status;
    sim->report.audits++;
    tell(sim, &worst);
    const ss_audit_work after = ss_audit_work_of(audit);
    work->last = after.all - before.all;
    work->surfaces = after.surfaces - before.surfaces;
  }
  if (due || ss_audit_every_way(audit)) {
    status = ss_audit_ways(audit, sim->saved.state.q, sim->state.q, &worst, error);
    if (status == SS_OK) tell(sim, &worst);
  }
  work->audits += ss_audit_work_of(audit).all - before.all;
  return status;
}
