/* Rest that is rest, with alpha < 1.
 *
 * Constraints on va = alpha v+ + (1-alpha) v keep velocities that lie beside them for ever: with alpha = 1/2 what an impact or
 * a solver's residual leaves, however small, changes its sign with every step (MDI section 9.1), and the forces of a heap at
 * rest change with it. Each step would be a new problem, which the forces before do not solve. In a crowd (landing.c) bodies
 * that hold each other and are all slower than what gravity makes of a 16th of the step are therefore stopped, by
 *
 *     J v+ = 0    instead of    J va = 0        offset -(1-alpha) J v, for all rows of all contacts of the island
 *
 * (For some of the rows alone, feet that repeat each other would contradict each other.) The impulses z do the work z.Jv/2 by
 * it. Where that is above zero, with the forces before or with those that are found, the island is left as it is: in the next
 * step it has the other sign. No energy is created.
 * Positions move by the speed times h/2, once. Bodies that move are not touched: their order is two. Nor are mechanisms, whose
 * joints have rows of the same kind, and systems.
 *
 * An island is at rest where its bodies are slower than what the residual leaves open (16 residual g h), where the impulses of
 * the last part change that by no more, and where these impulses solve the problem of bodies at rest, by the judge. Its
 * velocities are then set to zero, and positions stay as they are, to the last bit: the next step has the same problem, and
 * the same answer. The error is a momentum of at most m 16 residual g h per body and step. */
#include "step/workspace.h"

bool ss_is_idle(const ss_sim *sim, int body) {
  return ss_body_speed(sim->model, body, sim->state.v) <= sim->h * sim->acceleration / 16;
}

bool ss_calms(const ss_sim *sim) {
  return sim->landing_speed > 0 && !sim->calm_fails && sim->alpha < 1 && !sim->system && !sim->iterate_q &&
         !sim->solves_to_collisions && sim->model->n_joints == 0 && sim->model->n_forces == 0;
}

static double row_speed(const ss_sim *sim, int i) {
  return ss_row_dot(sim->model, &sim->problem.rows[i], sim->state.v);
}

/* The work that stopping each island does with the problem's z; infinite where one of its bodies moves. */
static void weigh(const ss_sim *sim, double *works) {
  const ss_problem *p = &sim->problem;
  const ss_islands *s = &sim->islands;
  for (int b = 0; b < p->n_blocks; b++) works[s->island[b]] = 0;
  for (int b = 0; b < p->n_blocks; b++) {
    const ss_row *row = &p->rows[p->blocks[b].first];
    double *work = &works[s->island[b]];
    if (!ss_is_idle(sim, row->body[0]) || !ss_is_idle(sim, row->body[1])) *work = INFINITY;
    for (int i = p->blocks[b].first; i < p->blocks[b].first + p->blocks[b].size; i++)
      *work += p->z[i] * row_speed(sim, i);
  }
}

ss_status ss_calm(ss_sim *sim, ss_error *error) {
  ss_problem *p = &sim->problem;
  sim->calmed = false;
  if (!ss_calms(sim)) return SS_OK;
  int count;
  const ss_status status = ss_find_islands(sim, &count, error);
  if (status != SS_OK) return status;
  weigh(sim, sim->islands.work);
  for (int i = 0; i < sim->n_contacts; i++) {
    const ss_contact *c = &sim->contacts[i];
    if (c->row < 0 || c->lands || sim->islands.work[sim->islands.island[c->block]] > 0) continue;
    for (int k = c->row; k < c->row + c->n_rows; k++) {
      const double speed = row_speed(sim, k);
      p->offset[k] -= (1 - sim->alpha) * speed;
      sim->calmed = sim->calmed || speed != 0;
    }
  }
  return SS_OK;
}

/* ---- at rest ---- */

/* A velocity that the residual leaves open; gravity makes more of it at once where nothing holds. */
static double open_speed(const ss_sim *sim) {
  return fmin(16 * sim->options.residual, 1. / 16) * sim->h * sim->acceleration;
}

static bool may_rest(const ss_sim *sim) {
  return sim->landing_speed > 0 && sim->problem.h > 0 && !sim->iterate_q && !sim->solves_to_collisions &&
         sim->model->n_joints == 0 && sim->model->n_forces == 0 && !sim->pulled;
}

static bool is_still(const ss_sim *sim, int body, const double *change) {
  const double most = open_speed(sim);
  return ss_body_speed(sim->model, body, sim->state.v) <= most && ss_body_speed(sim->model, body, change) <= most;
}

/* scratch_v: A^-1 J^T z of the guess */
void ss_rest_begin(ss_sim *sim) {
  ss_problem *p = &sim->problem;
  ss_islands *s = &sim->islands;
  const bool may = may_rest(sim);
  double *change = sim->scratch_v;
  for (int k = 0; k < s->count; k++) s->rests[k] = may;
  if (!may) return;
  for (int i = 0; i < sim->model->n_v; i++) change[i] += sim->dv_free[i];
  for (int b = 0; b < p->n_blocks; b++) {
    const int first = p->blocks[b].first;
    const ss_row *row = &p->rows[first];
    bool *rests = &s->rests[s->island[b]];
    *rests = *rests && is_still(sim, row->body[0], change) && is_still(sim, row->body[1], change);
  }
  for (int i = 0; i < sim->n_contacts; i++) {
    const ss_contact *c = &sim->contacts[i];
    if (c->row >= 0 && (c->lands || c->at.gap > ss_touch_gap(sim) || p->pushed[c->row] != 0))
      s->rests[s->island[c->block]] = false;
  }
  for (int b = 0; b < p->n_blocks; b++)
    for (int i = p->blocks[b].first; s->rests[s->island[b]] && i < p->blocks[b].first + p->blocks[b].size; i++)
      p->slack[i] = p->alpha * ss_row_dot(sim->model, &p->rows[i], change);
}

void ss_rest_end(ss_sim *sim) {
  const ss_problem *p = &sim->problem;
  const ss_islands *s = &sim->islands;
  for (int b = 0; b < p->n_blocks; b++) {
    const ss_row *row = &p->rows[p->blocks[b].first];
    for (int side = 0; side < 2 && s->rests[s->island[b]]; side++)
      if (row->body[side] >= 0) sim->rests[row->body[side]] = true;
  }
}

bool ss_calm_gives(ss_sim *sim) {
  const ss_problem *p = &sim->problem;
  const ss_islands *s = &sim->islands;
  if (!sim->calmed) return false;
  double *found = s->work + p->n_blocks;
  weigh(sim, found);
  for (int b = 0; b < p->n_blocks; b++)
    if (s->work[s->island[b]] <= 0 && found[s->island[b]] > 0) return true;
  return false;
}
