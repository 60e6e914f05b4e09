/* The energy ledger (MATH section 5). With the mean velocity v_m = (v + v+)/2, kinetic energy changes by exactly
 * v_m . M (v+ - v), so that each impulse p does the work p . v_m; potential and elastic energy are differences of state
 * functions. What is left over is the scheme's numerical remainder. */
#include "observe/observe.h"

typedef struct motion_job {
  const ss_model *model;
  const double *v;
} motion_job;

static void add_kinetic(void *user, int from, int to, double *sum) {
  const motion_job *job = user;
  for (int k = from; k < to; k++) {
    const ss_body *body = &job->model->bodies[k];
    const double *vb = job->v + body->first;
    for (int i = 0; i < body->n; i++)
      for (int j = 0; j < body->n; j++) *sum += vb[i] * body->m[i * body->n + j] * vb[j];
  }
}

double ss_kinetic_energy_of_bodies(const ss_sim *sim, const double *v) {
  motion_job job = {sim->model, v};
  double sum;
  ss_sums(sim, sim->model->n_bodies, add_kinetic, &job, &sum, 1);
  return sum / 2;
}

double ss_potential_energy_of_bodies(const ss_sim *sim) {
  const ss_model *model = sim->model;
  double sum = 0;
  for (int k = 0; k < model->n_bodies; k++) {
    const double *p = sim->state.q + 7 * (size_t)k;
    sum -= model->bodies[k].mass * v3_dot(model->gravity, v3(p[0], p[1], p[2]));
  }
  return sum;
}

double ss_total_energy(const ss_sim *sim) {
  const double elastic = sim->model->n_forces ? ss_elastic_energy(sim->model, sim->state.q, sim->state.angle) : 0;
  return sim->mechanics->kinetic_energy(sim, sim->state.v) + sim->mechanics->potential_energy(sim) + elastic;
}

static double elastic_of(const ss_force *force, double length) {
  return 0.5 * force->stiffness * (length - force->rest_length) * (length - force->rest_length);
}

/* The part of the elastic energy that links have which the step cannot resolve. */
static double stiff_elastic(const ss_sim *sim) {
  double sum = 0;
  for (int k = 0; k < sim->model->n_forces; k++) {
    const ss_force *force = &sim->model->forces[k];
    if (force->type == SS_FORCE_APPLIED || force->stiffness == 0) continue;
    const ss_link link = ss_link_at(sim->model, force, sim->state.q, sim->state.angle, NULL);
    if (ss_force_is_link(sim, force, &link.row)) sum += elastic_of(force, link.length);
  }
  return sum;
}

/* What a damper takes in the part: its impulse is -h d g.va, whether it is a row or explicit (then va is v). */
static double damping_loss(const ss_sim *sim, const ss_force *force, const ss_link *link, double h, double fraction) {
  double kappa;
  const double weight = ss_force_is_row(sim, force, h, &kappa) ? sim->trial.asked.alpha : 0;
  const double change = ss_row_dot(sim->model, &link->row, sim->trial.delta);
  return fraction * h * force->damping * (link->rate + weight * change) * (link->rate + fraction / 2 * change);
}

/* The books of stiff links: what one stores and dissipates beyond the work that its row takes from the bodies. Called before the state moves
 * by `fraction` of the part of size h, and afterwards. */
void ss_ledger_links(ss_sim *sim, double h, double fraction, bool moved) {
  const ss_model *model = sim->model;
  const ss_problem *p = &sim->trial.problem;
  int row = p->n_joint;
  double kappa;
  for (int k = 0; k < model->n_forces; k++) {
    const ss_force *force = &model->forces[k];
    const bool has_row = ss_force_is_row(sim, force, h, &kappa);
    if (force->type == SS_FORCE_APPLIED) continue;
    const ss_link link = ss_link_at(model, force, sim->state.q, sim->state.angle, sim->state.v);
    double *open = &sim->scratch.link_balance[k];
    if (moved) {
      if (!isnan(*open)) sim->report.energy.linearization += *open + elastic_of(force, link.length);
    } else {
      *open = (double)NAN;
      if (has_row && ss_force_is_link(sim, force, &link.row)) {
        const double mean = ss_row_dot(model, &p->rows[row], sim->state.v) +
                            fraction / 2 * ss_row_dot(model, &p->rows[row], sim->trial.delta);
        *open =
            fraction * p->z[row] * mean + damping_loss(sim, force, &link, h, fraction) - elastic_of(force, link.length);
      }
    }
    row += has_row;
  }
}

static void balance(ss_sim *sim) {
  ss_energy *e = &sim->report.energy;
  e->kinetic = sim->mechanics->kinetic_energy(sim, sim->state.v);
  e->potential = sim->mechanics->potential_energy(sim);
  e->elastic = sim->model->n_forces ? ss_elastic_energy(sim->model, sim->state.q, sim->state.angle) : 0;
  if (sim->scheme->compliant) e->elastic += ss_patches_energy(sim);
  e->final = e->kinetic + e->potential + e->elastic;
  e->stiff_elastic = sim->model->n_forces ? stiff_elastic(sim) : 0;
  e->remainder =
      e->final - (e->initial + e->work - e->friction_loss - e->impact_loss - e->damping_loss + e->stabilization);
  ss_certificate *certificate = &sim->report.certificate;
  const double gained = e->final - e->initial - e->work - fmax(e->linearization, 0);
  certificate->energy_created = fmax(certificate->energy_created, fmax(gained, sim->report.created_by_impacts));
}

void ss_ledger_start(ss_sim *sim) {
  balance(sim);
  double square = 0;
  for (int i = 0; i < sim->model->n_q; i++)
    if (sim->system || i % 7 < 3) square += sim->state.q[i] * sim->state.q[i];
  sim->observed.kinetic_scale = fmax(2 * sim->report.energy.kinetic, sqrt(square) + 1);
  sim->report.energy.initial = sim->report.energy.final;
  sim->report.energy.remainder = 0;
  sim->report.certificate.energy_created = 0;
  ss_doubts_start(sim);
}

void ss_ledger_moved(ss_sim *sim) {
  sim->report.energy.work += ss_total_energy(sim) - sim->report.energy.final;
  balance(sim);
}

static double drive_of(const ss_sim *sim, int row) { return sim->system ? sim->trial.problem.drive[row] : 0; }

typedef struct loss_job {
  ss_sim *sim;
  double fraction;
} loss_job;

/* What impacts (the normal impulses) and friction take. */
static void add_losses(void *user, int from, int to, double *losses) {
  const loss_job *job = user;
  const ss_sim *sim = job->sim;
  for (int i = from; i < to; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->patch || c->row < 0 || c->impulse[0] == 0) continue;
    for (int k = 0; k < c->n_rows; k++) {
      const ss_row *row = &sim->trial.problem.rows[c->row + k];
      const double mean = ss_row_dot(sim->model, row, sim->state.v) +
                          job->fraction / 2 * ss_row_dot(sim->model, row, sim->trial.delta) + drive_of(sim, c->row + k);
      losses[k > 0] -= job->fraction * c->impulse[k] * mean;
    }
  }
}

static void contact_losses(ss_sim *sim, double h, double fraction) {
  ss_energy *e = &sim->report.energy;
  loss_job job = {sim, fraction};
  double losses[2];
  if (sim->scheme->compliant) ss_patches_watch(sim, h);
  for (int i = 0; sim->scheme->compliant && i < sim->trial.n_contacts; i++)
    if (sim->trial.contacts[i].patch) ss_patch_losses(sim, &sim->trial.contacts[i], h);
  ss_sums(sim, sim->trial.n_contacts, add_losses, &job, losses, 2);
  e->impact_loss += losses[0];
  e->friction_loss += losses[1];
}

/* Anitescu-Hart: the offsets s that pull positions back act against impulses z: the work -z s is theirs. What it takes
 * from a contact was booked as loss at the impact. */
static void stabilization_work(ss_sim *sim, double fraction) {
  const ss_problem *p = &sim->trial.problem;
  ss_energy *e = &sim->report.energy;
  for (int i = 0; i < p->n_joint; i++) e->stabilization -= fraction * p->z[i] * p->pushed[i];
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0) continue;
    const double work = -fraction * c->impulse[0] * p->pushed[c->row];
    e->stabilization += work;
    e->impact_loss += work;
  }
}

static void damping_losses(ss_sim *sim, double h, double fraction) {
  const ss_model *model = sim->model;
  for (int k = 0; k < model->n_forces; k++) {
    const ss_force *force = &model->forces[k];
    if (force->type == SS_FORCE_APPLIED || force->damping == 0) continue;
    const ss_link link = ss_link_at(model, force, sim->state.q, sim->state.angle, sim->state.v);
    const double loss = damping_loss(sim, force, &link, h, fraction);
    sim->report.energy.damping_loss += loss;
    if (ss_force_is_link(sim, force, &link.row)) sim->report.energy.stiff_damping += loss;
  }
}

void ss_force_work(ss_sim *sim, double h, double fraction) {
  if (sim->model->n_forces == 0 && !sim->inputs.pulled && !sim->inputs.has_push_force) return;
  damping_losses(sim, h, fraction);
  /* Where surfaces give, along the way that positions go, as their elastic energy is counted: what a force does to a
   * patch in a step would come from nowhere otherwise. */
  const double share = sim->scheme->compliant ? sim->trial.asked.gamma : 0.5;
  for (int i = 0; i < sim->model->n_v; i++)
    sim->report.energy.work +=
        fraction * sim->trial.applied[i] * (sim->state.v[i] + fraction * share * sim->trial.delta[i]);
}

/* z . (J va + drive) over joints and contacts; w = J va + s on their rows. */
static void add_constraint_work(void *user, int from, int to, double *work) {
  const ss_sim *sim = user;
  const ss_problem *p = &sim->trial.problem;
  for (int i = from; i < to; i++)
    if (i < p->n_joint || i >= p->first_contact) *work += p->z[i] * (p->slack[i] - p->offset[i] + drive_of(sim, i));
}

static void constraint_work(ss_sim *sim) {
  double work;
  ss_sums(sim, sim->trial.problem.n, add_constraint_work, sim, &work, 1);
  if (work > sim->report.constraint_work) sim->report.constraint_work = work;
}

/* Called before the state moves: the part of a step of size h that is taken, fraction of it. */
void ss_ledger_part(ss_sim *sim, double h, double fraction) {
  contact_losses(sim, h, fraction);
  if (!sim->scheme->compliant) constraint_work(sim);
  ss_bound_part(sim, h);
  if (sim->options.stabilization == SS_STABILIZATION_ANITESCU_HART) stabilization_work(sim, fraction);
  if (sim->model->n_motors) sim->report.energy.work += ss_motor_work(sim, fraction);
  sim->mechanics->force_work(sim, h, fraction);
}

double ss_ledger_open(const ss_sim *sim) {
  const ss_energy *e = &sim->report.energy;
  return ss_total_energy(sim) - (e->work - e->friction_loss - e->impact_loss - e->damping_loss + e->stabilization);
}

/* In a crowd's step bodies do not fall on until they collide, and their contacts act at its end. What that makes of the energy, of the
 * order of m g h v, belongs to the impacts: they are all in this one problem. */
void ss_ledger_crowd(ss_sim *sim, double open, double energy, double work) {
  ss_report *r = &sim->report;
  if (sim->model->n_forces || sim->model->n_joints) return;
  r->energy.impact_loss -= ss_ledger_open(sim) - open;
  const double gained = ss_total_energy(sim) - energy - (r->energy.work - work);
  if (gained > 1e-12 * fabs(energy)) r->created_by_impacts += gained;
}

void ss_ledger_step(ss_sim *sim) {
  balance(sim);
  const double kinetic = 2 * sim->report.energy.kinetic;
  if (kinetic > sim->observed.kinetic_scale)
    sim->report.kinetic_growth =
        fmax(sim->report.kinetic_growth, log(kinetic / sim->observed.kinetic_scale) / sim->state.t);
}
