/* States at which the segments may begin, before Newton's method makes them fit. */
#include "bvp/multiple.h"

#include <string.h>

/* The states of a run with u, as far as it gets; then the last one. */
bool multiple_guess_by_run(multiple *w) {
  trajectory *t = &w->now;
  for (int k = 0; k + 1 < w->segments; k++)
    if (!multiple_fly(w, k, t->u, &t->knot[k], &t->knot[k + 1], t->f) &&
        (w->s->status != SS_OK ||
         multiple_failed(w, ss_knot_copy(w->model, &t->knot[k], &t->knot[k + 1], &w->s->error))))
      return false;
  return true;
}

/* The increments of the final positions with the least norm for which the conditions hold, from the initial state at
 * rest: the conditions are met in turn, again and again (Kaczmarz). */
static void least_change(const multiple *w, double *target) {
  const ss_boundary_def *b = w->s->boundary;
  memset(target, 0, sizeof(double) * 6 * (size_t)w->model->n_bodies);
  for (int sweep = 0; sweep < 200; sweep++)
    for (int i = 0; i < b->n_conditions; i++) {
      const ss_condition_def *c = &b->conditions[i];
      double rest = c->value, norm = 0;
      for (int k = 0; k < c->n; k++) {
        const ss_quantity *q = &c->quantities[k];
        if (!q->final || q->coordinate >= SS_VELOCITY) continue;
        const ss_body_def *body = &w->s->scene.bodies[q->body];
        const int axis = q->coordinate % 3;
        const double start = q->coordinate < SS_ROTATION ? v3_get(body->pose.position, axis)
                                                         : v3_get(quat_log(body->pose.orientation), axis);
        rest -= c->factors[k] * (start + target[6 * q->body + q->coordinate]);
        norm += c->factors[k] * c->factors[k];
      }
      for (int k = 0; norm > 0 && k < c->n; k++) {
        const ss_quantity *q = &c->quantities[k];
        if (q->final && q->coordinate < SS_VELOCITY) target[6 * q->body + q->coordinate] += c->factors[k] * rest / norm;
      }
    }
}

/* States on the way from the initial position to one that meets the conditions, at constant speed; the
 * first evaluation puts them back on the joints. */
bool multiple_guess_between(multiple *w) {
  const ss_model *model = w->model;
  double *target = ss_alloc(sizeof(double) * (6 * (size_t)model->n_bodies + 2 * (size_t)model->n_v));
  if (!target) return multiple_no_memory(w);
  double *way = target + (ptrdiff_t)6 * model->n_bodies;
  least_change(w, target);
  for (int body = 0; body < model->n_bodies; body++) {
    const ss_body *b = &model->bodies[body];
    for (int i = 0; i < b->n; i++) way[b->first + i] = target[6 * body + b->coordinate[i]];
  }
  bool good = true;
  for (int k = 1; k < w->segments && good; k++) {
    ss_state *knot = &w->now.knot[k];
    good = !multiple_failed(w, ss_knot_copy(model, &w->now.knot[0], knot, &w->s->error));
    if (!good) break;
    ss_knot_move(model, knot, way, (double)w->first[k] / (double)w->first[w->segments]);
    for (int i = 0; i < model->n_v; i++) knot->v[i] = way[i] / w->s->options.duration;
  }
  ss_free(target);
  return good;
}
