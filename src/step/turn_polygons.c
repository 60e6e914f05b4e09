/* Where the corner of a turning polygon points when slip and forces before do not say it: in an impact, and in a contact that
 * neither slips nor holds anything and is pushed by others (a rolling ball that is hit).
 *
 * The problem is solved with Coulomb's disc first. Its friction impulses say where the corners belong: a polygon with a
 * corner there contains them, and opposes the slip by as much, so that the disc's solution solves the polygons' problem,
 * too. The answer then does not depend on how the scene is turned. The tangents of a contact are rotated in their (scaled)
 * plane, and with them their rows and columns of everything that has been computed.
 *
 * Where the disc's problem is large or not solved soon, the polygons stay where they are; also in a run that carries
 * sensitivities along, which differentiates the problem as it is posed. */
#include "step/step.h"

#include <string.h>

enum { MANY_ROWS = 200 }; /* from which discs cost more than their directions are worth */

/* Whether the contact's friction is a polygon that may be turned. */
static bool turns(const ss_sim *sim, const ss_contact *c) {
  return c->row >= 0 && !c->patch && !c->fixed && c->mu > 0 && c->n_forces == 3 && c->n_rows == 3 &&
         ss_friction_cone(sim, c) == SS_CONE_POLYHEDRAL;
}

static void rotate(double *a, double *b, size_t n, double cosine, double sine) {
  for (size_t i = 0; i < n; i++) {
    const double x = a[i], y = b[i];
    a[i] = cosine * x + sine * y;
    b[i] = cosine * y - sine * x;
  }
}

/* The first tangent becomes cosine times itself plus sine times the second one. */
static void turn_tangents(ss_sim *sim, ss_contact *c, double cosine, double sine) {
  ss_problem *p = &sim->trial.problem;
  const int i = c->row + 1, j = i + 1;
  const ss_vec3 a = c->direction[1], b = c->direction[2];
  c->direction[1] = v3_add(v3_scale(cosine, a), v3_scale(sine, b));
  c->direction[2] = v3_sub(v3_scale(cosine, b), v3_scale(sine, a));
  double *const numbers[] = {p->offset, p->g, p->z, p->slack};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) rotate(numbers[k] + i, numbers[k] + j, 1, cosine, sine);
  if (sim->system) {
    const size_t n = (size_t)sim->model->n_v;
    rotate(p->drive + i, p->drive + j, 1, cosine, sine);
    rotate(p->dense + (size_t)i * n, p->dense + (size_t)j * n, n, cosine, sine);
    rotate(p->w + (size_t)i * n, p->w + (size_t)j * n, n, cosine, sine);
    return;
  }
  for (int side = 0; side < 2; side++) {
    if (p->rows[i].body[side] < 0) continue;
    const size_t n = (size_t)sim->model->bodies[p->rows[i].body[side]].n, at = 6 * (size_t)side;
    rotate(p->rows[i].j[side], p->rows[j].j[side], n, cosine, sine);
    rotate(p->w + 12 * (size_t)i + at, p->w + 12 * (size_t)j + at, n, cosine, sine);
  }
  const size_t n = (size_t)sim->trial.coupling.n;
  if (sim->trial.coupling.active)
    rotate(sim->trial.coupling.w + (size_t)i * n, sim->trial.coupling.w + (size_t)j * n, n, cosine, sine);
}

/* Along the friction impulse; along the slip where there is none. */
static void turn_corner(ss_sim *sim, ss_contact *c) {
  const ss_problem *p = &sim->trial.problem;
  const double limit = c->mu * (p->z[c->row] + p->blocks[c->block].extra);
  double x = p->z[c->row + 1], y = p->z[c->row + 2], length = hypot(x, y);
  if (length <= 1e-9 * limit || limit <= 0) {
    x = p->slack[c->row + 1], y = p->slack[c->row + 2], length = hypot(x, y);
    if (length <= 1e-9 * sim->part.speed_bound) return;
  }
  turn_tangents(sim, c, x / length, y / length);
}

/* Solves the problem as it stands with discs in place of the polygons; in z and slack. Not at any price: wedged bodies may
 * have discs that take thousands of sweeps. */
static ss_status solve_discs(ss_sim *sim, bool *solved, ss_error *error) {
  static const double accurate = 1e-13;
  ss_problem *p = &sim->trial.problem;
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (turns(sim, &sim->trial.contacts[i])) p->blocks[sim->trial.contacts[i].block].cone = SS_CONE_QUADRATIC;
  ss_solving how = ss_solving_usual(sim);
  how.solver = "auto"; /* it shares the load: every contact that is pressed has a direction */
  how.residual = fmin(how.residual, accurate);
  how.applied = false;
  const ss_status status = ss_solve_problem(sim, how, error);
  *solved = status == SS_OK && p->blur <= 4 * sim->options.residual;
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (turns(sim, &sim->trial.contacts[i])) p->blocks[sim->trial.contacts[i].block].cone = SS_CONE_POLYHEDRAL;
  return status;
}

ss_status ss_turn_polygons(ss_sim *sim, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  bool any = false, solved;
  if (p->large || p->n >= MANY_ROWS || sim->watch.variation) return SS_OK;
  for (int i = 0; i < sim->trial.n_contacts; i++) any |= turns(sim, &sim->trial.contacts[i]);
  if (!any) return SS_OK;
  if (p->divided && !p->joined) SS_TRY(ss_discretise_dense(sim, error));
  SS_TRY(solve_discs(sim, &solved, error));
  if (!solved) {
    memset(p->z, 0, sizeof(double) * (size_t)p->n);
    return SS_OK;
  }
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (turns(sim, &sim->trial.contacts[i])) turn_corner(sim, &sim->trial.contacts[i]);
  sim->solver.joined.condensed = false;
  sim->solver.joined.turned = p->joined;
  return p->joined ? SS_OK : ss_discretise_dense(sim, error);
}

bool ss_polygon_is_doubtful(const ss_sim *sim) {
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (sim->trial.contacts[i].slow && turns(sim, &sim->trial.contacts[i])) return true;
  return false;
}

bool ss_polygon_is_astray(const ss_sim *sim) {
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->undirected && turns(sim, c) && c->impulse[0] > 0 && !c->stuck) return true;
  }
  return false;
}
