/* What speaks against a run with patches: contacts that are larger than their patches, and rolling under the scheme `compliant`.
 *
 * The radius of a contact is Hertz's for the load of the patch, E* of the two half-spaces and the mean curvature,
 * a^3 = 3 N / (4 E* kappa); in line contact a^2 = 4 N / (pi E* kappa thickness). Springs and flat surfaces have none: there
 * the patch itself says what touches, as a single element does.
 *
 * The normal condition of `compliant` is on velocities of material points, which pass through a patch whose gaps belong to
 * places in it (scheme/patch_rows.c): what rolls is pressed in at the front and lifted at the rear, without end. */
#include "observe/observe.h"

/* Mean of both bodies' curvatures along the tangents; planar: along the one tangent. */
static double curvature(const ss_sim *sim, const ss_contact *c, const ss_pose body[2]) {
  const bool spatial = c->patch->n_directions == 3;
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    const ss_shape *shape = &sim->model->shapes[c->shape[side]];
    const ss_pose pose = ss_shape_pose(shape, &body[side]);
    const ss_vec3 outward = side == 0 ? v3_neg(c->at.normal) : c->at.normal;
    for (int k = 1; k <= (spatial ? 2 : 1); k++) sum += ss_shape_curvature(shape, &pose, outward, c->direction[k]);
  }
  return spatial ? sum / 2 : sum;
}

static double filling(const ss_sim *sim, const ss_contact *c, const ss_pose body[2], double h) {
  const ss_patch *p = c->patch;
  const bool line = p->thickness > 0;
  if (!(p->modulus > 0) || p->n_elements == 1 || (p->n_directions == 2 && !line)) return 0;
  const double kappa = curvature(sim, c, body), load = c->impulse[0] / h;
  if (!(kappa > 0) || !(load > 0)) return 0;
  const double radius = line ? sqrt(4 * load / (acos(-1) * p->modulus * kappa * p->thickness))
                             : cbrt(3 * load / (4 * p->modulus * kappa));
  return radius / (p->side * p->spacing / 2);
}

/* Fastest change of an element's gap by rolling alone. */
static double rolling(const ss_sim *sim, const ss_contact *c, const ss_pose body[2], double h) {
  if (sim->scheme->position_level || c->patch->transport || c->patch->n_elements == 1) return 0;
  ss_vec3 u[2];
  ss_patch_flow(sim, c, h, u);
  const int ends[] = {0, c->patch->side - 1, c->patch->n_elements - c->patch->side, c->patch->n_elements - 1};
  double fastest = 0;
  for (int i = 0; i < 4; i++) fastest = fmax(fastest, fabs(ss_patch_convection(sim, c, body, u, ends[i])));
  return fastest;
}

/* Where K changes with the positions, what patches store changes with it: work of whatever changes K. */
static void stiffening_work(ss_sim *sim) {
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (!c->patch || !c->patch->K0 || c->row < 0 || !(c->patch->kept > 0)) continue;
    if (!ss_touch_find(&sim->state, c->key)) continue; /* it has just appeared */
    const double change = 1 - c->patch->kept / c->patch->factor[0];
    sim->report.energy.work += change * ss_patch_stored(c->patch, ss_patch_start(sim, c));
  }
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (sim->trial.contacts[i].patch && sim->trial.contacts[i].patch->K0)
      sim->trial.contacts[i].patch->kept = sim->trial.contacts[i].patch->factor[0];
}

void ss_patches_watch(ss_sim *sim, double h) {
  ss_report *r = &sim->report;
  double fastest = 0;
  stiffening_work(sim);
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (!c->patch || c->row < 0 || !(c->impulse[0] > 0)) continue;
    const ss_pose body[2] = {ss_pose_of(sim->state.q, c->body[0]), ss_pose_of(sim->state.q, c->body[1])};
    r->patch_filling = fmax(r->patch_filling, filling(sim, c, body, h));
    fastest = fmax(fastest, rolling(sim, c, body, h));
    for (int e = 0; e < c->patch->n_elements; e++)
      r->patch_deformation = fmax(r->patch_deformation, ss_patch_end(sim, c)[e * c->patch->n_directions]);
  }
  r->patch_rolled += h * fastest;
}

/* ---- what the ledger books of a patch ---- */

/* Energy that flows out of the patch with its material: what the bodies lose to the patch beyond what it stores and what
 * its dampers and friction take: stored energy before and after the transport, what the implicit law counts for the way
 * back, and the normal forces' work on the way that the gap of a place and the deformation of the material that comes there
 * make (patch_rows.c). In steady rolling these cancel but for what the elements do not resolve. */
static double carried_away(const ss_sim *sim, const ss_contact *c, double h) {
  const ss_patch *p = c->patch;
  const ss_touch *touch = p->transport && c->row >= 0 ? ss_touch_find(&sim->state, c->key) : NULL;
  if (!touch || touch->n_patch != 2 * p->n) return 0;
  const double *before = sim->state.patch + touch->patch, *start = ss_patch_start(sim, c);
  const ss_pose body[2] = {ss_pose_of(sim->state.q, c->body[0]), ss_pose_of(sim->state.q, c->body[1])};
  double sum = (ss_quadratic(p->K, before, NULL, p->n) - ss_quadratic(p->K, start, NULL, p->n) +
                ss_quadratic(p->K, ss_patch_end(sim, c), start, p->n)) /
               2;
  ss_vec3 u[2];
  ss_patch_flow(sim, c, h, u);
  for (int e = 0; e < p->n_elements; e++) {
    const int normal = e * p->n_directions;
    const double way = start[normal] - before[normal] - h * ss_patch_convection(sim, c, body, u, e);
    sum += sim->trial.problem.z[c->row + e * c->n_rows] / h * way;
  }
  return sum;
}

/* Friction takes -z_t.s_t, the dampers h delta'.C delta'. A patch that vanishes gives up what it still stores. */
void ss_patch_losses(ss_sim *sim, const ss_contact *c, double h) {
  ss_energy *e = &sim->report.energy;
  for (int i = 0; c->row >= 0 && i < c->n_rows * c->patch->n_elements; i++)
    if (i % c->n_rows) e->friction_loss -= sim->trial.problem.z[c->row + i] * sim->trial.problem.slack[c->row + i];
  if (c->pressed_in && c->row >= 0)
    e->initial += ss_quadratic(c->patch->K, ss_patch_start(sim, c), NULL, c->patch->n) / 2;
  e->damping_loss += carried_away(sim, c, h);
  e->damping_loss += ss_quadratic(c->patch->C, ss_patch_end(sim, c), ss_patch_start(sim, c), c->patch->n) / h;
}
