/* Doubts: what speaks against a run whose steps are all certified. Every step solved its own problem; whether the problems
 * were the right ones is asked here, of numbers that the certificate and the ledger keep.
 *
 *     penetration, joint-drift    above LENGTH_SHARE of the smallest body's size. The size of a body is the smallest width of
 *                                 its thickest shape (a coin's thickness), so that nothing passes through unnoticed; angles
 *                                 count as lengths at that distance
 *     energy                      above ENERGY_SHARE of the run's energy scale, what forces and what impacts created apart
 *     patch                       the radius of Hertz's contact under a patch's load is larger than half its width
 *     pressed-in                  elements give by more than HALF of the smallest body's size: linear springs stand for no contact then, and
 *                                 what is pressed in so far comes out on the other side
 *     rounding                    half the last digit of the farthest position, added up over all steps, is above LENGTH_SHARE of the
 *                                 smallest body's size
 *     not-finite                  the next state is not finite; it was not applied
 *
 * The energy scale is the largest energy of the motion (kinetic, elastic, and what potential energy differs from the start's)
 * less what was created, plus the largest work of forces and motors, plus what it takes to lift every body by its own size, and
 * rounding: a box at rest whose energy changes by the last digits has a scale, too. It does not depend on where the origin is.
 *
 * Energy that forces create follows from the ledger: what there is and what was lost, less what there was and what work
 * has added. It contains what schemes and stabilisations do. Impacts that create energy are a sum of their own.
 *
 * How to add a doubt: a value in ss_doubt, a row in the table, a line in ss_doubts_update. */
#include "observe/observe.h"

static const double LENGTH_SHARE = 0.05, HALF = 0.5, ENERGY_SHARE = 0.02, ROUNDING = 1e-9;

static const ss_doubt_info table[SS_DOUBTS + 1] = {
    [SS_DOUBT_OVERLAP] = {"overlap", "depth of shapes that overlap and that no contact held",
                          "try a smaller step or another scheme; please report the scene"},
    [SS_DOUBT_PENETRATION] = {"penetration", "depth of contacts, above 5 % of the smallest body's size",
                              "try a smaller step, events: [collision], or stabilization: projection"},
    [SS_DOUBT_JOINT_DRIFT] =
        {"joint-drift", "distance by which joints came apart, above 5 % of the smallest body's size",
         "try stabilization: projection, a scheme of second order (trapezoidal), or a smaller step"},
    [SS_DOUBT_ENERGY] = {"energy", "energy from nowhere, above 2 % of what the motion had and got",
                         "try a smaller step, a linearly implicit scheme, or restitution: poisson"},
    [SS_DOUBT_PATCH] = {"patch", "radius of a contact (Hertz) over half the width of its patch, above 1",
                        "give the patch more elements, or a larger spacing"},
    [SS_DOUBT_PRESSED_IN] = {"pressed-in", "depth to which compliant bodies give, above half the smallest body's size",
                             "make contacts stiffer (compliance): so soft ones let bodies pass through each other"},
    [SS_DOUBT_ROUNDING] = {"rounding",
                           "what rounding may have moved far bodies by, above 5 % of the smallest body's size",
                           "put the scene's origin near its bodies, or take larger steps"},
    [SS_DOUBT_NOT_FINITE] = {"not-finite", "time of the first state that is not finite, which was not applied",
                             "try a smaller step, or a linearly implicit scheme for stiff springs and dampers"},
};

const ss_doubt_info *ss_table_doubts(void) { return table; }

/* Smallest width of a shape; 0 where it has none (a point, or the plane of a flat one). */
static double shape_width(const ss_shape *s) {
  switch (s->type) {
  case SS_SHAPE_SPHERE:
  case SS_SHAPE_CAPSULE:
    return 2 * s->radius;
  case SS_SHAPE_CYLINDER:
    return 2 * fmin(s->radius, s->half.x);
  case SS_SHAPE_BOX:
  case SS_SHAPE_ELLIPSOID:
    return 2 * fmin(s->half.x, fmin(s->half.y, s->half.z));
  case SS_SHAPE_ELLIPSE: { /* no width across the plane */
    const double all = s->half.x + s->half.y + s->half.z;
    return 2 * (all - fmax(s->half.x, fmax(s->half.y, s->half.z)));
  }
  default: {
    const ss_pose here = pose_identity();
    ss_vec3 low, high;
    if (!isfinite(s->reach) || !(s->reach > 0)) return 0;
    ss_shape_bounds(s, &here, &low, &high);
    const ss_vec3 d = v3_sub(high, low);
    return fmin(d.x, fmin(d.y, d.z));
  }
  }
}

/* Bodies without extent have the scene's typical length. */
static double smallest_size(const ss_model *model) {
  double smallest = HUGE_VAL;
  for (int k = 0; k < model->n_bodies; k++) {
    double size = 0;
    for (int i = 0; i < model->n_shapes; i++)
      if (model->shapes[i].body == k) size = fmax(size, shape_width(&model->shapes[i]));
    if (size > 0) smallest = fmin(smallest, size);
  }
  return isfinite(smallest) ? smallest : model->length;
}

/* Energy that lifts every body by the smallest size; without gravity, of the speed that the last digits of positions make in a step. */
static double resting_scale(const ss_sim *sim) {
  static const double digit = 0x1p-52;
  const double h = sim->options.tolerance > 0 ? sim->options.largest_step : sim->options.step;
  const double noise = digit * sim->model->length / h;
  double mass = 0;
  for (int k = 0; k < sim->model->n_bodies; k++) mass += sim->model->bodies[k].mass;
  return mass * (v3_norm(sim->model->gravity) * sim->report.body_size + noise * noise / ENERGY_SHARE);
}

void ss_doubts_start(ss_sim *sim) {
  const ss_model *model = sim->model;
  ss_report *r = &sim->report;
  r->certificate.sound = true;
  r->body_size = smallest_size(model);
  r->potential_start = r->energy.potential;
  r->energy_scale = r->energy.kinetic + r->energy.elastic;
  if (model->n_joint_rows == 0) return;
  for (int i = 0; i < model->n_joint_rows; i++) sim->joints.drift_length[i] = 1;
  if (sim->system) return;
  sim->mechanics->joints(sim, sim->state.t, sim->state.q, NULL, sim->basis.rows, NULL);
  for (int i = 0; i < model->n_joint_rows; i++)
    if (ss_row_only_turns(model, &sim->basis.rows[i])) sim->joints.drift_length[i] = r->body_size;
}

/* After the ledger's balance: energies of this step. */
static void measure_energy(ss_sim *sim) {
  ss_report *r = &sim->report;
  const ss_energy *e = &r->energy;
  const double kept = e->final - e->initial - e->work + e->impact_loss;
  const double given = kept + fmax(e->friction_loss, 0) + fmax(e->damping_loss, 0); /* neither may ever give energy */
  /* Stiff links: what turning stretches them by is not motion. If it became motion, it would be seen without them as well. */
  const double moving = given - e->stiff_elastic - fmax(e->stiff_damping, 0);
  /* The books of linearization have the links' dampers with their sign: turning may well make them give for a while. */
  const double books =
      kept + fmax(e->friction_loss, 0) + fmax(e->damping_loss - e->stiff_damping, 0) + e->stiff_damping;
  const double created = fmin(given, fmax(books - e->linearization, moving));
  const double motion = e->kinetic + e->elastic - fmin(e->stiff_elastic, fmax(e->linearization, 0)) +
                        fabs(e->potential - r->potential_start);
  r->created_by_forces = fmax(r->created_by_forces, created);
  const double rounding = ROUNDING * (fabs(e->potential) + fabs(e->initial));
  const double scale = fmax(motion - fmax(created, 0) - r->created_by_impacts, 0) + fabs(e->work) + rounding;
  r->energy_scale = fmax(r->energy_scale, scale);
}

/* Largest coordinate of a body's position. */
static double farthest(const ss_sim *sim) {
  double most = 0;
  for (int k = 0; k < sim->model->n_bodies; k++)
    for (int i = 0; i < 3; i++) most = fmax(most, fabs(sim->state.q[7 * (size_t)k + (size_t)i]));
  return most;
}

void ss_doubts_update(ss_sim *sim) {
  ss_certificate *c = &sim->report.certificate;
  const ss_report *r = &sim->report;
  measure_energy(sim);
  const double length = LENGTH_SHARE * r->body_size, created = fmax(r->created_by_forces, r->created_by_impacts);
  if (r->worst_penetration > length) c->doubts[SS_DOUBT_PENETRATION] = r->worst_penetration;
  if (r->worst_drift > length) c->doubts[SS_DOUBT_JOINT_DRIFT] = r->worst_drift;
  if (!sim->system && sim->crowd.slept == 0) sim->report.rounded += 0x1p-53 * farthest(sim);
  if (r->rounded > length) c->doubts[SS_DOUBT_ROUNDING] = r->rounded;
  if (r->patch_deformation > HALF * r->body_size) c->doubts[SS_DOUBT_PRESSED_IN] = r->patch_deformation;
  if (r->patch_filling > 1) c->doubts[SS_DOUBT_PATCH] = r->patch_filling;
  /* as it is now: the scale of a motion that has just begun is small */
  const double scale = r->energy_scale + resting_scale(sim);
  c->doubts[SS_DOUBT_ENERGY] = created > ENERGY_SHARE * scale ? created : 0;
  c->sound = true;
  for (int i = 0; i < SS_DOUBTS; i++) c->sound &= c->doubts[i] == 0;
}

bool ss_has_blown_up(const ss_sim *sim) {
  static const double most = 100;
  const ss_report *r = &sim->report;
  const double kinetic =
      sim->mechanics->kinetic_energy(sim, sim->state.v) - fabs(r->energy.work); /* in this step, too */
  const double created = fmax(kinetic, fmax(r->created_by_forces, r->created_by_impacts));
  return created > most * (r->energy_scale + resting_scale(sim));
}

static bool all_finite(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] - x[i]; /* NAN where one is not finite */
  return sum == 0;
}

bool ss_state_is_finite(const ss_sim *sim) {
  const ss_energy *e = &sim->report.energy;
  const double sums[] = {e->work,         e->friction_loss, e->impact_loss,
                         e->damping_loss, e->stabilization, ss_total_energy(sim)};
  return all_finite(sim->state.q, sim->model->n_q) && all_finite(sim->state.v, sim->model->n_v) &&
         all_finite(sums, (int)(sizeof sums / sizeof *sums));
}

void ss_doubts_not_finite(ss_sim *sim, double t) {
  sim->report.certificate.doubts[SS_DOUBT_NOT_FINITE] = t;
  sim->report.certificate.sound = false;
}

bool ss_problem_is_finite(const ss_sim *sim) {
  return all_finite(sim->trial.problem.g, sim->trial.problem.n) && all_finite(sim->trial.dv_free, sim->model->n_v);
}
