/* Variations of the parts of a step.
 *
 * The discrete step is differentiated as it is computed, by the implicit function theorem at the solution found:
 *
 *     delta = A^-1 (kt + J^T z),   w = J (v + alpha delta) + s + R z,   the active set's equations for (z, w)
 *
 *     d w = (d/dx w at fixed z) dx + G dz,   C^T d w + D dy = 0,   dz = B dy         (cp/active.c)
 *
 * so that stick stays stick, slip stays slip and turns its direction, open stays open, whatever a finite disturbance would
 * do. Derivatives of the smooth data at fixed z (forces, gradients, gaps) are central differences along dx, which are
 * good to about ten digits: nothing is solved in them. The theta rule's forces depend on the solution itself; there the
 * same holds for (z, delta) together.
 *
 * Where a part ends in an event its length varies too: d tau = - d(event) / (d event / d tau), for the gap at a collision and
 * for the slip at an arrest; the next part begins earlier or later by that (saltation). The end of sticking or contact
 * is found by bisection, in steps, and does not vary; forces are continuous there.
 *
 * Undefined at a transition that happens exactly at the end of a step, or with contacts that only just touch: the active
 * set's side of the kink is taken. */
#include "sensitivity/variation.h"

#include "sensitivity/variation_part.h"

static ss_status out_of_memory_here(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

enum { MOST_ROWS = 1500 };

static bool law_varies(const ss_compliance_law *law) {
  return law->def.transport || law->def.stiffness_factor || law->def.damping_factor;
}

ss_status ss_variation_possible(const ss_sim *sim, ss_error *error) {
  if (sim->scheme->iterated)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities are not available for the scheme %s",
                   sim->scheme->name);
  if (sim->options.stabilization == SS_STABILIZATION_PROJECTION)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities are not available with stabilization: projection");
  if (sim->options.tolerance > 0)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities are not available with an automatic step size");
  if (sim->model->n_motors)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities are not available for motors");
  if (ss_has_corners(sim))
    return ss_fail(error, SS_ERROR_UNSUPPORTED,
                   "exact sensitivities are not available for friction by generators, nor for the polyhedral cone with "
                   "torsion or rolling resistance");
  if (sim->model->n_held)
    return ss_fail(error, SS_ERROR_UNSUPPORTED,
                   "exact sensitivities are not available for forces that depend on the state: use differences");
  bool varies = law_varies(&sim->model->compliance);
  for (int i = 0; i < sim->model->n_overrides; i++)
    varies |= sim->model->overrides[i].compliance && law_varies(sim->model->overrides[i].compliance);
  if (sim->scheme->compliant && varies)
    return ss_fail(error, SS_ERROR_UNSUPPORTED,
                   "exact sensitivities are not available with transport through patches or factors of their laws");
  return SS_OK;
}

void ss_variation_detach(ss_sim *sim, ss_variation *variation) {
  sim->watch.variation = NULL;
  ss_free(variation->q);
  ss_free(variation->patch);
  ss_free(variation->patch_end);
  ss_free(variation->z[0]);
  *variation = (ss_variation){0};
}

static ss_status create_outcome(const part_work *w, outcome *o, ss_error *error) {
  o->delta = SS_ARENA_ARRAY(w->arena, double, w->sim->model->n_v + 1);
  o->patch = SS_ARENA_ARRAY(w->arena, double, w->sim->trial.n_patch + 1);
  return o->delta && o->patch ? SS_OK : out_of_memory_here(error);
}

/* ---- all directions ---- */

static ss_status prepare(part_work *w, ss_error *error) {
  ss_sim *sim = w->sim;
  ss_variation *x = sim->watch.variation;
  const direction still = {NULL, NULL, NULL, 0, 0};
  if (sim->part.ends & SS_ENDS_JAM)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities: a contact jams at t = %.6g", sim->state.t);
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (sim->trial.contacts[i].row >= 0 && sim->trial.contacts[i].fixed)
      return ss_fail(error, SS_ERROR_UNSUPPORTED,
                     "exact sensitivities: not through the corners of a fixed friction polygon (t = %.6g)",
                     sim->state.t);
  if (sim->trial.problem.n > MOST_ROWS)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "exact sensitivities: a problem with %d rows is too large",
                   sim->trial.problem.n);
  ss_status status = nominal_save(sim, w->arena, &w->kept, error);
  if (status == SS_OK) status = response_create(sim, w->arena, &w->plus, error);
  if (status == SS_OK) status = response_create(sim, w->arena, &w->minus, error);
  w->dz = SS_ARENA_ARRAY(w->arena, double, sim->trial.problem.n + 1);
  w->zero = SS_ARENA_ARRAY(w->arena, double, sim->model->n_v + 1);
  if (!w->dz || !w->zero) return out_of_memory_here(error);
  if (status == SS_OK)
    status = ss_grow((void **)&x->patch_end, &x->patch_end_capacity, x->n * sim->trial.n_patch, sizeof(double), error);
  if (status == SS_OK) status = part_prepare_feedback(w, error);
  if (status != SS_OK) return status;
  direction nothing = still;
  nothing.q = nothing.v = w->zero;
  move_state(sim, &w->kept, &nothing, 0);
  status = part_evaluate(w, w->h, w->kept.delta, &w->minus, error);
  return status == SS_OK ? part_prepare_matrix(w, error) : status;
}

/* Variations of the deformations at the start of the part, contact by contact, from those of the state. */
static void gather_patches(const ss_sim *sim, const double *from, double *out) {
  zero_numbers(out, (size_t)(sim->trial.n_patch + 1));
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    const ss_touch *touch = c->patch ? ss_touch_find(&sim->state, c->key) : NULL;
    if (touch && touch->n_patch == 2 * c->patch->n)
      copy_numbers(out + c->memory, from + touch->patch, (size_t)c->patch->n);
  }
}

static ss_status vary(part_work *w, double remaining, double tau, const ss_contact *hit, bool arrested,
                      ss_error *error) {
  ss_sim *sim = w->sim;
  ss_variation *x = sim->watch.variation;
  const int nv = sim->model->n_v;
  outcome o = {0}, longer = {0};
  double *q = SS_ARENA_ARRAY(w->arena, double, 2 * (size_t)nv + 2);
  double *patch = SS_ARENA_ARRAY(w->arena, double, sim->trial.n_patch + 1);
  ss_status status = q && patch ? create_outcome(w, &o, error) : out_of_memory_here(error);
  if (status == SS_OK) status = create_outcome(w, &longer, error);
  if (status != SS_OK) return status;
  double *v = q + nv, slip_rate = 0, stretch = 0;
  const direction lengthen = {w->zero, w->zero, NULL, 0, 1};
  nominal_restore(sim, &w->kept);
  arrest stop = {0};
  if (arrested) stop = part_find_arrest(sim);
  const bool at_once = stop.contact && part_ends_at_once(sim, &stop);
  for (int k = 0; at_once && k < x->n && status == SS_OK; k++)
    status = part_stick_at_once(w, &stop, x->q + (ptrdiff_t)k * nv, x->v + (ptrdiff_t)k * nv, error);
  if (at_once) return status;
  if (stop.contact) {
    status = part_respond(w, &lengthen, &longer, error);
    if (status == SS_OK) slip_rate = part_vary_slip(w, &stop, &lengthen, &longer, q, v);
  }
  /* A part that was solved again for its own length has a length that varies with it, h = (1 + margin) tau. */
  const bool refined = hit && sim->part.refined;
  if (refined && status == SS_OK) {
    status = part_respond(w, &lengthen, &longer, error);
    if (status == SS_OK) stretch = part_vary_collision(w, &lengthen, &longer, hit, tau, q, v);
  }
  for (int k = 0; k < x->n && status == SS_OK; k++) {
    double *dq = x->q + (ptrdiff_t)k * nv, *dv = x->v + (ptrdiff_t)k * nv;
    gather_patches(sim, x->patch ? x->patch + (ptrdiff_t)k * sim->state.n_patch : NULL, patch);
    const bool fixed = stop.contact && slip_rate != 0;
    direction d = {dq, dv, patch, x->t[k],
                   fixed || refined || (sim->part.ends & SS_ENDS_RELEASE) ? 0 : -x->t[k] * w->h / remaining};
    status = part_respond(w, &d, &o, error);
    if (status != SS_OK) break;
    if (fixed) {
      o.h = -part_vary_slip(w, &stop, &d, &o, q, v) / slip_rate;
      for (int i = 0; i < nv; i++) o.delta[i] += o.h * longer.delta[i];
    }
    if (refined) {
      const double ratio = w->h / tau;
      o.h = ratio * part_vary_collision(w, &d, &o, hit, tau, q, v) / (1 - ratio * stretch);
      for (int i = 0; i < nv; i++) o.delta[i] += o.h * longer.delta[i];
    }
    const double dtau = hit ? part_vary_collision(w, &d, &o, hit, tau, q, v) : o.h;
    part_vary_end(w, &d, &o, tau, dtau, q, v);
    copy_numbers(dq, q, (size_t)nv);
    copy_numbers(dv, v, (size_t)nv);
    if (sim->trial.n_patch)
      copy_numbers(x->patch_end + (ptrdiff_t)k * sim->trial.n_patch, o.patch, (size_t)sim->trial.n_patch);
    x->t[k] = tau >= remaining ? 0 : x->t[k] + dtau;
  }
  return status;
}

static ss_status vary_part(ss_sim *sim, double remaining, double h, double tau, int hit, ss_error *error) {
  part_work w = {.sim = sim, .arena = ss_arena_create(), .h = h};
  if (!w.arena) return out_of_memory_here(error);
  ss_status status = prepare(&w, error);
  if (status == SS_OK)
    status = vary(&w, remaining, tau, hit >= 0 ? &w.kept.contacts[hit] : NULL, sim->part.ends & SS_ENDS_ARREST, error);
  if (w.zero) { /* the problem as it was solved: the ledger reads it */
    const direction still = {w.zero, w.zero, NULL, 0, 0};
    move_state(sim, &w.kept, &still, 0);
    if (status == SS_OK) status = part_evaluate(&w, h, w.kept.delta, &w.minus, error);
    nominal_restore(sim, &w.kept);
  }
  ss_arena_destroy(w.arena);
  return status;
}

static ss_status vary_store(ss_sim *sim, ss_error *error) {
  ss_variation *x = sim->watch.variation;
  const int width = sim->state.n_patch;
  ss_status status = ss_grow((void **)&x->patch, &x->patch_capacity, x->n * width, sizeof(double), error);
  for (int i = 0; i < sim->trial.n_contacts && status == SS_OK; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    const ss_touch *touch = c->patch ? ss_touch_find(&sim->state, c->key) : NULL;
    if (!touch || touch->patch < 0) continue;
    for (int k = 0; k < x->n; k++)
      copy_numbers(x->patch + (ptrdiff_t)k * width + touch->patch,
                   x->patch_end + (ptrdiff_t)k * sim->trial.n_patch + c->memory, (size_t)c->patch->n);
  }
  return status;
}

static const ss_variation_calls calls = {vary_part, ss_vary_phase, ss_vary_impact, vary_store};

ss_status ss_variation_attach(ss_sim *sim, ss_variation *variation, int n, const double *dv, ss_error *error) {
  const size_t nv = (size_t)sim->model->n_v;
  *variation = (ss_variation){.n = n};
  variation->q = ss_alloc(sizeof(double) * (2 * nv * (size_t)n + (size_t)n + nv));
  if (!variation->q) return out_of_memory_here(error);
  variation->v = variation->q + nv * (size_t)n;
  variation->t = variation->v + nv * (size_t)n;
  variation->v_before = variation->t + n;
  copy_numbers(variation->v, dv, nv * (size_t)n);
  sim->watch.variation = variation;
  sim->watch.vary = &calls;
  return SS_OK;
}
