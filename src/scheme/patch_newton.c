/* Large problems of patches, by their structure.
 *
 *     G = alpha J A^-1 J^T + diag(R_p)          R_p = E^-1 / h of patch p, J: at most twelve columns per patch
 *
 * Semismooth Newton on the natural map (cp/active.c lists the unknowns y of the contact states: z = z_ref + B y, tested
 * by C^T w + D y = e), but the linear system is never assembled. With T_p = C^T R_p B + D and the velocity change U =
 * A^-1 J^T B y of the bodies,
 *
 *     T_p y_p + alpha C^T J_p U = r_p,      A U = sum_p B^T J_p^T y_p + J_f^T z_f,      alpha J_f U + R_f z_f = r_f
 *
 * so that each patch is factored on its own and what couples them are the few coordinates of the bodies: eliminating
 * y_p leaves one small system per group of bodies that touch each other, with the joints (z_f) in it. A patch whose
 * elements all stick needs no factoring at all: T_p^-1 = h E is known.
 *
 * It starts from the last step's z, and halves steps that do not bring the residual down. Where the states do not settle
 * all the same, the caller goes on with the whole matrix, or with a shorter step. */
#include "scheme/patch_newton.h"

#include <string.h>

enum { LARGE = 48, MOST_PASSES = 60, MOST_HALVINGS = 4 };

/* Limits and motors of joints have rows of their own kind: then the whole matrix is for the solvers that know them. */
bool ss_patch_is_large(const ss_sim *sim) {
  if (!sim->scheme->compliant || sim->trial.problem.n <= LARGE || sim->trial.coupling.active ||
      sim->model->n_motors > 0)
    return false;
  if (sim->basis.n < sim->model->n_joint_rows) return false;
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (sim->trial.contacts[i].row >= 0 && !sim->trial.contacts[i].patch) return false;
  return true;
}

/* ---- memory ---- */

static ss_status allocate(patch_newton *k, ss_error *error) {
  ss_sim *sim = k->sim;
  ss_cp_workspace *memory = sim->solver.cp;
  const ss_problem *p = &sim->trial.problem;
  const int bodies = sim->model->n_bodies;
  int patch = 1;
  for (int q = 0; q < sim->trial.n_contacts; q++)
    if (sim->trial.contacts[q].row >= 0 && sim->trial.contacts[q].patch->n > patch)
      patch = sim->trial.contacts[q].patch->n;
  const int wide = 1 + BODY_COLUMNS > patch ? 1 + BODY_COLUMNS : patch;
  k->parent = SCRATCH(memory, int, 3 * (size_t)bodies);
  k->place = SCRATCH(memory, int, bodies + p->n_free);
  k->matrix = SCRATCH(memory, double *, 2 * (size_t)bodies);
  k->t = SCRATCH(memory, double, (size_t)patch *(size_t)wide);
  k->bj = SCRATCH(memory, double, (size_t)patch *BODY_COLUMNS);
  k->x = SCRATCH(memory, double, (size_t)p->n *(1 + BODY_COLUMNS));
  k->u = SCRATCH(memory, double, sim->model->n_v + 1);
  k->line = SCRATCH(memory, double, patch);
  if (!k->parent || !k->place || !k->matrix || !k->t || !k->bj || !k->x || !k->u || !k->line)
    return out_of_memory(error);
  k->group = k->parent + bodies;
  k->size = k->group + bodies;
  k->right = k->matrix + bodies;
  const int largest = newton_form_groups(k);
  k->pivot = SCRATCH(memory, int, largest > patch ? largest : patch);
  if (!k->pivot) return out_of_memory(error);
  for (int g = 0; g < k->n_groups; g++) {
    k->matrix[g] = SCRATCH(memory, double, (size_t)k->size[g] * (size_t)k->size[g]);
    k->right[g] = SCRATCH(memory, double, k->size[g]);
    if (!k->matrix[g] || !k->right[g]) return out_of_memory(error);
  }
  return SS_OK;
}

/* ---- the judge's view: natural units, as in step/solve_problem.c ---- */

typedef struct natural {
  patch_newton *k;
  const double *scale; /* [n] d */
  double unit;         /* s */
  double *z;           /* [n] scratch */
} natural;

static void apply_natural(const void *user, const double *z, double *w) {
  const natural *v = user;
  const int n = v->k->sim->trial.problem.n;
  for (int i = 0; i < n; i++) v->z[i] = z[i] * v->scale[i] * v->unit;
  newton_apply(v->k, v->z, w);
  for (int i = 0; i < n; i++) w[i] *= v->scale[i] / v->unit;
}

static double power_near(double x) { return x > 0 && isfinite(x) ? ldexp(1, ilogb(x)) : 1; }

static void set_scales(const ss_problem *p, const double *diagonal) {
  for (int b = 0; b < p->n_blocks; b++) {
    const ss_block *block = &p->blocks[b];
    const int together = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    for (int i = block->first; i < block->first + block->size; i += together) {
      double sum = 0;
      for (int j = 0; j < together; j++) sum += diagonal[i + j];
      const double d = sum > 0 && isfinite(sum) ? ldexp(1, -(ilogb(sum / together) / 2)) : 1;
      for (int j = 0; j < together; j++) p->scale[i + j] = d;
    }
  }
}

/* Residual of p->z in natural units, with z and w in them in zs and p->slack. */
static double judge(patch_newton *k, double *zs, double *gs) {
  ss_problem *p = &k->sim->trial.problem;
  const double speed = k->sim->part.speed_bound;
  double largest = 0;
  for (int i = 0; i < p->n; i++) largest = fmax(largest, p->scale[i] * fmax(fabs(p->g[i]), 1e-3 * speed));
  k->unit = power_near(largest);
  const natural view = {k, p->scale, k->unit, k->set.w};
  for (int i = 0; i < p->n; i++) {
    zs[i] = p->z[i] / (p->scale[i] * k->unit);
    gs[i] = p->g[i] * p->scale[i] / k->unit;
  }
  const ss_cp problem = {
      .n = p->n, .n_blocks = p->n_blocks, .g = gs, .blocks = p->blocks, .apply = apply_natural, .user = &view};
  return ss_cp_judge(&problem, zs, p->slack);
}

/* The judge's verdict on the accepted z joins the certificate; p->slack goes back to the user's units. */
static void certify(patch_newton *k, double residual, const double *zs) {
  ss_problem *p = &k->sim->trial.problem;
  ss_certificate *certificate = &k->sim->report.certificate;
  const ss_cp problem = {.n = p->n, .n_blocks = p->n_blocks, .blocks = p->blocks};
  double cone, dissipation;
  ss_cp_friction_defects(&problem, zs, p->slack, &cone, &dissipation);
  certificate->complementarity = fmax(certificate->complementarity, residual);
  certificate->cone = fmax(certificate->cone, cone);
  certificate->dissipation = fmax(certificate->dissipation, dissipation);
  for (int i = 0; i < p->n; i++) p->slack[i] *= k->unit / p->scale[i];
}

/* ---- the method ---- */

static double residual_of(patch_newton *k, double *z, double *zs, double *gs) {
  ss_problem *p = &k->sim->trial.problem;
  double *keep = p->z;
  p->z = z;
  const double residual = judge(k, zs, gs);
  p->z = keep;
  return residual;
}

/* Steps that do not bring the residual down are halved towards the iterate before: whole patches that flip between
 * sticking and sliding would go on doing so. */
static double shorten(patch_newton *k, const double *before, double last, double *z, double *zs, double *gs) {
  double residual = residual_of(k, z, zs, gs);
  for (int halving = 0; halving < MOST_HALVINGS && !(residual < last); halving++) {
    for (int i = 0; i < k->sim->trial.problem.n; i++) z[i] = (z[i] + before[i]) / 2;
    residual = residual_of(k, z, zs, gs);
  }
  return residual;
}

static ss_status iterate(patch_newton *k, bool *certified, ss_error *error) {
  ss_problem *p = &k->sim->trial.problem;
  const size_t n = (size_t)p->n;
  double *z = SCRATCH(k->sim->solver.cp, double, 5 * n);
  if (!z) return out_of_memory(error);
  double *w = z + n, *zs = w + n, *gs = zs + n, *before = gs + n;
  const double tolerance = k->sim->options.residual;
  memcpy(z, p->z, sizeof(double) * n);
  double last = HUGE_VAL;
  for (int pass = 0; pass < MOST_PASSES; pass++) {
    newton_apply(k, z, w);
    const int changed = active_set_guess(&k->set, z, w);
    if (pass > 0 && (last <= 1e-3 * tolerance || (changed == 0 && last <= tolerance))) {
      *certified = true;
      (void)residual_of(k, z, zs, gs); /* leaves w of this z in the slack */
      certify(k, last, zs);
      p->blur = 4 * last;
      p->unit = k->unit;
      p->structured = true;
      memcpy(p->z, z, sizeof(double) * n);
      return SS_OK;
    }
    memcpy(before, z, sizeof(double) * n);
    if (!newton_solve_states(k, z, w)) return SS_OK;
    last = shorten(k, before, pass > 0 ? last : (double)HUGE_VAL, z, zs, gs);
    k->sim->report.solves.iterations++;
  }
  return SS_OK;
}

ss_status ss_patch_solve(ss_sim *sim, double alpha, bool *certified, ss_error *error) {
  const double start = ss_seconds();
  const scratch_mark mark = scratch_now(sim->solver.cp);
  patch_newton k = {.sim = sim, .alpha = alpha};
  ss_problem *p = &sim->trial.problem;
  *certified = false;
  ss_spread(sim, alpha);
  ss_status status = allocate(&k, error);
  if (status == SS_OK) {
    const ss_cp problem = {.n = p->n, .n_blocks = p->n_blocks, .g = p->g, .blocks = p->blocks};
    double *diagonal = SCRATCH(sim->solver.cp, double, p->n);
    status = diagonal ? SS_OK : out_of_memory(error);
    if (diagonal) {
      newton_diagonal(&k, diagonal);
      set_scales(p, diagonal);
      status = active_set_create_bare(&problem, diagonal, sim->solver.cp, &k.set, error);
    }
    if (status == SS_OK) status = iterate(&k, certified, error);
  }
  scratch_release(sim->solver.cp, mark);
  sim->report.solves.count++;
  sim->report.solves.seconds += ss_seconds() - start;
  return status;
}
