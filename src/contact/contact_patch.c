/* Patches of the contacts of a step: where their deformations come from, and their end.
 *
 * A patch belongs to a contact's key. It appears with the contact, with the surfaces just touching (delta_n = the
 * overlap of the rigid shapes) or, at t = 0, with the deformations that the scene gives, moves with the contact point, keeps its deformations as long as the shapes overlap or
 * an element carries force, and vanishes with the contact. Its frame follows the normal with the least turn. */
#include "core/words.h"
#include "contact/contact.h"

#include <string.h>

ss_vec3 ss_element_shift(const ss_contact *c, int e) {
  const double *place = c->patch->place + 2 * (ptrdiff_t)e;
  return v3_add(v3_scale(place[0], c->direction[1]), v3_scale(place[1], c->direction[2]));
}

double ss_element_gap_at(const ss_sim *sim, const ss_contact *c, const ss_contact_point *at, const ss_pose body[2],
                         int e) {
  double gap = at->gap;
  if (c->patch->n_elements == 1) return gap;
  const ss_vec3 r = ss_element_shift(c, e);
  for (int side = 0; side < 2; side++) {
    const ss_shape *shape = &sim->model->shapes[c->shape[side]];
    const ss_pose pose = ss_shape_pose(shape, &body[side]);
    const ss_vec3 outward = side == 0 ? v3_neg(at->normal) : at->normal;
    gap += ss_shape_curvature(shape, &pose, outward, r) / 2;
  }
  return gap;
}

double ss_element_gap(const ss_sim *sim, const ss_contact *c, const ss_contact_point *at, int e) {
  const ss_pose body[2] = {ss_pose_of(sim->state.q, c->body[0]), ss_pose_of(sim->state.q, c->body[1])};
  return ss_element_gap_at(sim, c, at, body, e);
}

/* ---- the beginning: narrow phase ---- */

/* The frame of the last step, turned with the normal; planar: in the plane. */
static void carry_frame(const ss_sim *sim, ss_contact *c, const ss_touch *touch) {
  const ss_vec3 n = c->at.normal;
  ss_vec3 t = v3_perpendicular(n);
  if (sim->model->planar != SS_SPATIAL) {
    t = v3_cross(n, sim->model->plane_normal);
  } else if (touch && touch->patch >= 0) {
    const ss_vec3 old = v3(touch->tangent[0], touch->tangent[1], touch->tangent[2]);
    const ss_vec3 flat = v3_axpy(old, -v3_dot(old, n), n);
    if (v3_norm(flat) > 1e-3) t = flat;
  }
  c->direction[0] = n;
  c->direction[1] = v3_normalize(t);
  c->direction[2] = v3_cross(n, c->direction[1]);
}

/* Deformations of a patch that appears. Those that a scene gives for t = 0 must leave no overlap, BVP (12). */
static ss_status begin_deformations(const ss_sim *sim, ss_contact *c, double *delta, ss_error *error) {
  const ss_patch *p = c->patch;
  c->pressed_in = sim->state.t == 0;
  memset(delta, 0, sizeof(double) * 2 * (size_t)p->n);
  if (p->delta && c->pressed_in) memcpy(delta, p->delta, sizeof(double) * (size_t)p->n);
  for (int e = 0; e < p->n_elements; e++) {
    const double gap = ss_element_gap(sim, c, &c->at, e);
    double *normal = &delta[e * p->n_directions];
    if (!p->delta || !c->pressed_in)
      *normal = fmax(0, -gap);
    else if (gap + *normal < -1e-9 * sim->model->length)
      return ss_fail_place(error, SS_ERROR_INPUT, sim->model->file, c->law->compliance->def.mark,
                           "compliance: with this 'delta' the surfaces of '%s' and '%s' overlap by %g at t = 0: gap + "
                           "delta >= 0 must hold for every element",
                           ss_model_body_name(sim->model, c->body[0]), ss_model_body_name(sim->model, c->body[1]),
                           -gap - *normal);
  }
  return SS_OK;
}

ss_status ss_patch_attach(ss_sim *sim, ss_contact *c, const ss_touch *touch, ss_error *error) {
  ss_status status = ss_patch_find_law(sim, c, error);
  if (status != SS_OK) return status;
  const int n = c->patch->n;
  c->memory = sim->trial.n_patch;
  sim->trial.n_patch += 2 * n;
  status = ss_grow((void **)&sim->trial.patch_start, &sim->trial.patch_capacity[0], sim->trial.n_patch, sizeof(double),
                   error);
  if (status == SS_OK)
    status = ss_grow((void **)&sim->trial.patch_end, &sim->trial.patch_capacity[1], sim->trial.n_patch, sizeof(double),
                     error);
  if (status != SS_OK) return status;
  carry_frame(sim, c, touch);
  double *delta = ss_patch_start(sim, c);
  if (touch && touch->n_patch == 2 * n)
    memcpy(delta, sim->state.patch + touch->patch, sizeof(double) * 2 * (size_t)n);
  else if ((status = begin_deformations(sim, c, delta, error)) != SS_OK)
    return status;
  memcpy(ss_patch_end(sim, c), delta, sizeof(double) * 2 * (size_t)n);
  return SS_OK;
}

/* ---- the end ---- */

bool ss_patch_lives(const ss_sim *sim, const ss_contact *c) {
  if (!c->patch || !c->active) return false;
  if (c->closed) return true;
  const ss_pose a = ss_pose_of(sim->state.q, c->body[0]), b = ss_pose_of(sim->state.q, c->body[1]);
  ss_contact_point at;
  ss_contact_at(sim->model, c, &a, &b, &at);
  return at.gap <= 0;
}

ss_status ss_patch_store(ss_sim *sim, const ss_contact *c, ss_touch *touch, ss_error *error) {
  ss_state *s = &sim->state;
  const int count = 2 * c->patch->n;
  const ss_status status = ss_grow((void **)&s->patch, &s->patch_capacity, s->n_patch + count, sizeof *s->patch, error);
  if (status != SS_OK) return status;
  memcpy(s->patch + s->n_patch, ss_patch_end(sim, c), sizeof(double) * (size_t)count);
  touch->patch = s->n_patch;
  touch->n_patch = count;
  touch->tangent[0] = c->direction[1].x, touch->tangent[1] = c->direction[1].y, touch->tangent[2] = c->direction[1].z;
  s->n_patch += count;
  return SS_OK;
}

double ss_patch_overlap(const ss_sim *sim, const ss_contact *c, const ss_contact_point *at) {
  double largest = -HUGE_VAL;
  for (int e = 0; e < c->patch->n_elements; e++)
    largest = fmax(largest, -ss_element_gap(sim, c, at, e) - ss_patch_end(sim, c)[e * c->patch->n_directions]);
  return largest;
}

/* ---- energy ---- */

double ss_patch_stored(const ss_patch *p, const double *delta) { return ss_quadratic(p->K, delta, NULL, p->n) / 2; }

double ss_patches_energy(const ss_sim *sim) {
  double sum = 0;
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (ss_patch_lives(sim, &sim->trial.contacts[i]))
      sum += ss_patch_stored(sim->trial.contacts[i].patch, ss_patch_end(sim, &sim->trial.contacts[i]));
  return sum;
}

/* ---- what can be asked ---- */

int ss_patch_find_deformation(const ss_sim *sim, int a, int b, int element, int direction, double *sign) {
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    const bool turned = c->body[0] == b && c->body[1] == a;
    if (!c->patch || !(turned || (c->body[0] == a && c->body[1] == b)) || !ss_patch_lives(sim, c)) continue;
    const int d = c->patch->n_directions, component = element * d + direction;
    *sign = 1;
    if (element < c->patch->n_elements)
      return c->memory + (turned ? ss_patch_turned(c->patch, component, sign) : component);
    element -= c->patch->n_elements;
  }
  return -1;
}

int ss_sim_elements(const ss_sim *sim, int index, ss_element_report *out, int capacity) {
  const ss_contact *c = NULL;
  for (int i = 0, seen = 0; i < sim->trial.n_contacts && !c; i++)
    if (sim->trial.contacts[i].active && sim->trial.contacts[i].pair && seen++ == index) c = &sim->trial.contacts[i];
  if (!c || !c->patch || c->row < 0) return 0;
  const int d = c->patch->n_directions;
  const double *delta = ss_patch_end(sim, c), *slack = sim->trial.problem.slack + c->row;
  const double still = ss_patch_still(sim);
  for (int e = 0; e < c->patch->n_elements && e < capacity; e++) {
    ss_element_report *r = &out[e];
    *r = (ss_element_report){.place = {c->patch->place[2 * e], c->patch->place[2 * e + 1]}};
    for (int k = 0; k < d; k++) {
      r->deformation[k] = delta[e * d + k];
      r->force[k] = delta[c->patch->n + e * d + k] / sim->trial.problem.h;
    }
    for (int k = 1; k < c->n_rows; k++) r->slip[k - 1] = slack[e * c->n_rows + k];
    r->closed = r->force[0] > 0;
    /* at its limit an element has slipped, or is about to: that stays so while the load is held */
    const double limit = (c->patch->friction ? c->patch->friction[e] : c->mu) * r->force[0];
    const bool still_now = hypot(r->slip[0], r->slip[1]) <= still;
    r->stuck = r->closed && c->n_rows > 1 && still_now && hypot(r->force[1], r->force[2]) < 0.98 * limit;
  }
  return c->patch->n_elements;
}
