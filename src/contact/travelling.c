/* Contact points that travel over the bodies although these hardly turn.
 *
 * A patch is a piece of material. The points of a manifold are fixed in one of the bodies (corners, points of a rim) or go
 * slowly over both (edges that cross); but the lowest point of a cylinder that stands is anywhere on its rim, and jumps to
 * the other side with the sign of the tilt. A patch of its own there, beside those of the fixed points, would press on one
 * side in one step and on the other in the next, for ever and with energy from nowhere. So it counts only where fewer than
 * three other points of the two shapes hold them: where the cylinder stands on its rim. */
#include "contact/contact.h"

static const double turn = 1e-5, fast = 4; /* fast: in units of the smaller shape's reach per radian */

/* How far the contact point goes over the surface it is fixed on best, for a turn of b about the axis, per radian. */
static double travel(const ss_sim *sim, const ss_contact *c, ss_vec3 axis) {
  const ss_shape *a = &sim->model->shapes[c->shape[0]], *b = &sim->model->shapes[c->shape[1]];
  const ss_pose body[2] = {ss_pose_of(sim->state.q, c->body[0]), ss_pose_of(sim->state.q, c->body[1])};
  const ss_pose pa = ss_shape_pose(a, &body[0]), pb = ss_shape_pose(b, &body[1]);
  ss_pose turned = pb;
  turned.orientation = quat_normalize(quat_multiply(quat_exp(v3_scale(turn, axis)), pb.orientation));
  ss_contact_point at;
  c->pair->gap(a, &pa, b, &turned, c->at.feature, &at);
  const double over_a = v3_norm(v3_sub(pose_local(&pa, at.point_a), pose_local(&pa, c->at.point_a)));
  const double over_b = v3_norm(v3_sub(pose_local(&turned, at.point_b), pose_local(&pb, c->at.point_b)));
  return fmin(over_a, over_b) / turn;
}

static bool travels(const ss_sim *sim, const ss_contact *c) {
  const double reach = fmin(sim->model->shapes[c->shape[0]].reach, sim->model->shapes[c->shape[1]].reach);
  return isfinite(reach) && fmax(travel(sim, c, c->direction[1]), travel(sim, c, c->direction[2])) > fast * reach;
}

/* Contacts of the same two shapes stand side by side in the list, in which no limits are yet. */
static bool same_shapes(const ss_contact *a, const ss_contact *b) {
  return a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1];
}

static bool touches(const ss_contact *c) { return c->at.gap <= 0 || c->closed; }

void ss_patch_drop_travelling(ss_sim *sim) {
  int kept = 0;
  for (int first = 0, last; first < sim->trial.n_contacts; first = last) {
    int touching = 0;
    for (last = first;
         last < sim->trial.n_contacts && same_shapes(&sim->trial.contacts[first], &sim->trial.contacts[last]); last++)
      touching += touches(&sim->trial.contacts[last]);
    for (int i = first; i < last; i++) {
      const ss_contact *c = &sim->trial.contacts[i];
      if (touching - touches(c) >= 3 && travels(sim, c)) continue;
      sim->trial.contacts[kept++] = sim->trial.contacts[i];
    }
  }
  sim->trial.n_contacts = kept;
}
