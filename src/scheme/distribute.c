/* What the solution of a problem says of each contact: its impulses and forces, whether it sticks, slides or opens, how near friction
 * is to its limit, and where there are moments, which motions they hold (event/transition.c locates where one is let go).
 *
 * Where forces and moments have one limit together, motions begin with very different speeds once the set has let go: a disc that is
 * twisted hard and pulled weakly slips a million times more slowly than it spins. It slips nevertheless, from the first moment on. So a
 * motion counts as held then only where its speed vanishes beside the others', not beside the speeds of the scene. */
#include "scheme/scheme.h"

/* Friction over its limit: 1 where it slides, in the norm of the block's set. */
static double friction_ratio(const ss_sim *sim, const ss_contact *c) {
  if (c->n_rows < 2 || !(c->impulse[0] > 0)) return 0;
  if (c->fixed) return ss_face_ratio(sim, c);
  if (ss_friction_cone(sim, c) == SS_CONE_GENERATED)
    return ss_cp_friction_gauge(&sim->trial.problem.blocks[c->block], c->impulse + 1) / (c->mu * c->impulse[0]);
  const bool box = ss_friction_cone(sim, c) == SS_CONE_PYRAMID, ball = ss_friction_cone(sim, c) == SS_CONE_QUADRATIC;
  double square = 0, largest = 0;
  for (int k = 1; k < (ball ? c->n_rows : c->n_forces); k++) {
    square += c->impulse[k] * c->impulse[k];
    largest = fmax(largest, fabs(c->impulse[k]));
  }
  return (box ? largest : sqrt(square)) / (c->mu * c->impulse[0]);
}

/* Whether two contacts hold the same bodies on the same plane by the same friction, both of them stuck. */
static bool hold_together(const ss_sim *sim, const ss_contact *a, const ss_contact *b) {
  static const double parallel = 1e-9;
  return a->body[0] == b->body[0] && a->body[1] == b->body[1] && a->stuck && b->stuck && a->mu == b->mu &&
         a->law->generators == b->law->generators && a->fixed == b->fixed && a->n_rows == a->n_forces &&
         b->n_rows == b->n_forces && !a->limit && !b->limit && ss_friction_cone(sim, a) != SS_CONE_PYRAMID &&
         ss_friction_cone(sim, b) != SS_CONE_PYRAMID && v3_dot(a->direction[0], b->direction[0]) > 1 - parallel;
}

/* How feet that stand together share their load is not unique, and says nothing of when they will slide: their sum does. */
static void share_ratios(ss_sim *sim) {
  for (int i = 0, end; i < sim->trial.n_contacts; i = end) {
    ss_contact *first = &sim->trial.contacts[i];
    ss_vec3 force = first->pressed;
    double sum[SS_CONTACT_ROWS];
    memcpy(sum, first->impulse, sizeof sum);
    for (end = i + 1; end < sim->trial.n_contacts && hold_together(sim, first, &sim->trial.contacts[end]); end++) {
      force = v3_add(force, sim->trial.contacts[end].pressed);
      for (int k = 0; k < first->n_rows; k++) sum[k] += sim->trial.contacts[end].impulse[k];
    }
    if (end == i + 1) continue;
    if (first->fixed || first->law->generators) { /* in a frame that does not turn: the same rows for all of them */
      const double all = ss_cp_friction_gauge(&sim->trial.problem.blocks[first->block], sum + 1) / (first->mu * sum[0]);
      for (int k = i; k < end; k++) sim->trial.contacts[k].ratio = all;
      continue;
    }
    const double load = v3_dot(force, first->direction[0]);
    const double ratio = v3_norm(v3_axpy(force, -load, first->direction[0])) / (first->mu * load);
    for (int k = i; k < end; k++) sim->trial.contacts[k].ratio = ratio;
  }
}

/* Size of a friction vector's part that belongs to each motion. */
static void sizes(const ss_contact *c, const double *x, double out[SS_MOTIONS]) {
  for (int m = 0; m < SS_MOTIONS; m++) out[m] = 0;
  for (int k = 1; k < c->n_rows; k++) out[c->motion[k]] = hypot(out[c->motion[k]], x[k]);
}

void ss_note_held(const ss_sim *sim, ss_contact *c, const double *w) {
  static const double beside = 1e-9;
  const bool presses = c->impulse[0] > 0, box = ss_friction_cone(sim, c) == SS_CONE_PYRAMID;
  double speed[SS_MOTIONS], whole = 0;
  sizes(c, w, speed);
  for (int m = 0; m < SS_MOTIONS; m++) whole = hypot(whole, speed[m]);
  double still = fmax(1e-9 * sim->part.speed_bound, c->was_held ? c->blur : 0);
  if (!box && whole > still) still = fmax(beside * whole, c->blur);
  const unsigned motions = ss_contact_motions(c);
  c->held = 0;
  for (int m = SS_MOTION_SPIN; m < SS_MOTIONS; m++) {
    if (motions >> m & 1 && (presses || c->was_held >> m & 1) && speed[m] <= still) c->held |= 1U << m;
    c->moment_ratio[m] = box ? 0 : c->ratio;
  }
  if (c->n_forces > 1) c->stuck = (presses || c->was_stuck) && speed[SS_MOTION_SLIP] <= still;
  for (int k = c->n_forces; k < c->n_rows && presses && box; k++) {
    double *ratio = &c->moment_ratio[c->motion[k]];
    *ratio = fmax(*ratio, fabs(c->impulse[k]) / (c->mu * c->impulse[0]));
  }
}

/* Impulses and slip of an active contact, from z and w. */
static void distribute_to(ss_sim *sim, int i) {
  const ss_problem *p = &sim->trial.problem;
  const double *w = p->slack;
  ss_contact *c = &sim->trial.contacts[i];
  c->kept = ss_touch_keeps(sim, c);
  if (c->kept) return;
  c->stuck = c->opens = false;
  c->face = 0;
  c->when = (double)NAN;
  c->load = c->ratio = 0;
  c->pressed = c->twisted = c->turn = v3(0, 0, 0);
  c->impulse[0] = c->blur = c->grip = 0;
  c->held = 0;
  if (c->row < 0) return;
  c->blur = p->blur * p->unit / p->scale[c->row];
  if (c->patch) {
    ss_patch_distribute(sim, c, w);
    return;
  }
  double slip = 0;
  for (int k = 0; k < c->n_rows; k++) {
    ss_vec3 *sum = k < c->n_forces ? &c->pressed : &c->twisted;
    c->impulse[k] = p->z[c->row + k];
    *sum = v3_axpy(*sum, c->impulse[k], c->direction[k]);
    if (k == 0 || k >= c->n_forces) continue;
    slip += w[c->row + k] * w[c->row + k];
    if (p->h > 0) /* G z = w - g */
      c->turn = v3_axpy(c->turn, (w[c->row + k] - p->g[c->row + k]) / (p->h * v3_dot(c->direction[k], c->direction[k])),
                        c->direction[k]);
  }
  if (p->h > 0) c->force = v3_scale(1 / p->h, c->pressed);
  c->when = p->h > 0 ? sim->state.t + p->h / 2 : (double)NAN; /* an impact says nothing of forces */
  c->load = c->impulse[0] / p->h;
  /* a foot without load neither starts to stick nor lets go while the others hold it */
  /* nor does one that stuck slide at a speed that the residual leaves open */
  const double still = fmax(1e-9 * sim->part.speed_bound, c->was_stuck ? c->blur : 0);
  c->stuck = c->n_forces > 1 && (c->impulse[0] > 0 || c->was_stuck) && sqrt(slip) <= still;
  c->opens = !(c->impulse[0] > 0) && w[c->row] > 1e-9 * sim->part.speed_bound;
  if (c->fixed && c->impulse[0] > 0) c->face = ss_face_of_slip(sim, c, w + c->row);
  c->ratio = friction_ratio(sim, c);
  if (c->n_rows > c->n_forces) ss_note_held(sim, c, w + c->row);
  if (c->n_forces == 3 && p->h > 0)
    c->grip = ss_problem_diagonal(sim, c->row + 1) * hypot(c->impulse[1], c->impulse[2]) / p->h;
  if (c->stuck) c->turn = v3(0, 0, 0); /* where it would slip to is not where it did not */
}

void ss_distribute(ss_sim *sim) {
  ss_each(sim, sim->trial.n_contacts, distribute_to);
  if (ss_locates(sim, SS_EVENT_STICK_SLIP)) share_ratios(sim);
}
