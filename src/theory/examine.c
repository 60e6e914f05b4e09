/* The assumptions of the theorems, checked in the present configuration (include/stickslip/theory.h).
 *
 * All touching contacts and all joints are posed as an impact's problem (A = M): its matrix is the Gram matrix of their
 * impulses in the norm of kinetic energy. With weight_j = |n_j| the nearest point to zero of the friction cone's section
 * sum_j |n_j| c_j = 1 has the distance d, and sum_j |n_j| c_j <= |f| / d for every f of the cone. Where d = 0, the impulses of
 * that point balance each other: they are the proof that the cone is not pointed. */
#include <stickslip/theory.h>

#include "step/workspace.h"
#include "theory/cone.h"

#include <string.h>

static const double balanced = 1e-7; /* distances below count as zero: d^2 is known up to rounding */

/* Rows of all joints and of the contacts that touch, at the present configuration. */
static ss_status pose(ss_sim *sim, ss_error *error) {
  double speed_tolerance;
  bool collides;
  sim->h = sim->options.step;
  sim->mechanics->begin_step(sim);
  sim->speed_bound = sim->mechanics->largest_speed(sim, sim->state.v);
  ss_status status = sim->mechanics->find_contacts(sim, 0, error);
  if (status != SS_OK) return status;
  ss_active_set(sim, &speed_tolerance, &collides);
  for (int i = 0; i < sim->n_contacts; i++) sim->contacts[i].active = false;
  sim->mechanics->forces_none(sim);
  ss_basis_pose(sim, true);
  status = ss_rows_impact(sim, error);
  if (status == SS_OK) status = ss_discretise(sim, 1, error);
  if (status == SS_OK && (sim->problem.sparse || sim->problem.large)) status = ss_discretise_dense(sim, error);
  ss_basis_pose(sim, false);
  return status == SS_OK ? ss_refused(sim, error) : status;
}

/* How the contact answers a normal impulse while it slides in the worst direction. */
static void sliding_response(const ss_cone_gram *gram, const ss_block *block, ss_theory_contact *out) {
  const double *row = gram->reduced + (size_t)block->first * ((size_t)gram->n + 1);
  double s[SS_CONTACT_ROWS];
  const double normal = row[0], worst = ss_cone_support(block, row, s);
  out->sliding_response = normal > 0 ? worst / normal : 1;
  out->critical_friction = worst < normal ? block->mu * normal / (normal - worst) : HUGE_VAL;
}

static ss_vec3 contact_force(const ss_contact *c, const double *z) {
  ss_vec3 force = {0, 0, 0};
  for (int k = 0; k < c->n_forces; k++) force = v3_axpy(force, z[c->row + k], c->direction[k]);
  return force;
}

static void fill_contacts(const ss_sim *sim, const ss_cone_gram *gram, const double *z, ss_theory *out) {
  for (int i = 0; i < sim->n_contacts; i++) {
    const ss_contact *c = &sim->contacts[i];
    if (c->row < 0) continue;
    ss_theory_contact *contact = &out->contacts[out->n_contacts++];
    *contact = (ss_theory_contact){.body = {c->body[0], c->body[1]},
                                   .point = v3_scale(0.5, v3_add(c->at.point_a, c->at.point_b)),
                                   .normal = c->at.normal,
                                   .friction = c->mu};
    sliding_response(gram, &sim->problem.blocks[c->block], contact);
    if (!out->reduced_pointed) contact->self_balancing = contact_force(c, z);
  }
}

/* |nu c_nu| <= |f| + |contacts' part| <= |f| (1 + reach reduced_constant), with reach the largest |n_j s| / |n_j|; and
 * single multipliers, each weighted by its row, by the softest combination of normalised rows. */
static double total_constant(const ss_cone_gram *gram, const double *weight, double reduced) {
  if (gram->n_free == 0) return reduced;
  double reach = 1, stiffest = 0;
  for (int b = 0; b < gram->problem->n_blocks; b++) {
    const ss_block *block = &gram->problem->blocks[b];
    double sum = 0;
    for (int i = 0; block->kind != SS_BLOCK_FREE && i < block->size; i++)
      sum += (i ? block->mu : 1) * sqrt(gram->problem->G[(size_t)(block->first + i) * ((size_t)gram->n + 1)]);
    reach = fmax(reach, sum / weight[b]);
  }
  for (int i = 0; i < gram->n_free; i++) stiffest = fmax(stiffest, gram->problem->G[(size_t)i * ((size_t)gram->n + 1)]);
  const double joints = sqrt(stiffest / gram->softest);
  if (gram->n == gram->n_free) return joints;
  return reduced + joints * (1 + reach * reduced);
}

static ss_status examine_cone(const ss_sim *sim, ss_arena *arena, ss_theory *out, ss_error *error) {
  const ss_cp problem = ss_problem_view(&sim->problem);
  ss_cone_gram gram;
  ss_nearest_point nearest;
  double *weight = SS_ARENA_ARRAY(arena, double, problem.n_blocks + 1);
  if (!weight) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int b = 0; b < problem.n_blocks; b++) {
    const double square = problem.G[(size_t)problem.blocks[b].first * ((size_t)problem.n + 1)];
    weight[b] = square > 0 ? sqrt(square) : 1;
  }
  ss_status status = ss_cone_gram_create(&problem, arena, &gram, error);
  if (status == SS_OK) status = ss_cone_nearest(&gram, weight, arena, &nearest, error);
  if (status != SS_OK) return status;
  const bool any = problem.n > gram.n_free;
  out->joint_rows = gram.n_free;
  out->joint_rank = gram.rank;
  out->reduced_pointed = !any || nearest.upper > balanced;
  out->total_pointed = out->reduced_pointed && gram.rank == gram.n_free;
  out->reduced_constant = !any ? 1 : out->reduced_pointed ? 1 / nearest.lower : HUGE_VAL;
  out->total_constant = out->total_pointed ? total_constant(&gram, weight, out->reduced_constant) : HUGE_VAL;
  fill_contacts(sim, &gram, nearest.z, out);
  if (!out->reduced_pointed)
    ss_cone_balance(&gram, nearest.z);
  else if (!out->total_pointed)
    ss_cone_stress(&gram, nearest.z);
  if (!out->total_pointed) memcpy(out->joint_stress, nearest.z, sizeof(double) * (size_t)gram.n_free);
  return SS_OK;
}

/* Largest step, up to a thousand times the sim's own, for which the full Jacobians leave A positive definite. */
static void examine_step(ss_sim *sim, ss_theory *out) {
  const double h = sim->options.step;
  double low = 0, high = 1024 * h;
  sim->mechanics->forces(sim, h);
  out->definite = sim->definite;
  sim->mechanics->forces(sim, high);
  out->definite_step = INFINITY;
  for (int k = 0; !sim->definite && k < 60; k++) {
    const double middle = (low + high) / 2;
    sim->mechanics->forces(sim, middle);
    *(sim->definite ? &low : &high) = middle;
    sim->definite = false;
    out->definite_step = low;
  }
}

ss_status ss_sim_theory(ss_sim *sim, ss_theory *out, ss_error *error) {
  *out = (ss_theory){0};
  ss_status status = pose(sim, error);
  if (status != SS_OK) return status;
  ss_arena *arena = ss_arena_create();
  out->contacts = ss_alloc(sizeof *out->contacts * (size_t)(sim->n_contacts + 1));
  out->joint_stress = ss_alloc(sizeof(double) * (size_t)(sim->problem.n_free + 1));
  if (!arena || !out->contacts || !out->joint_stress)
    status = ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  else
    status = examine_cone(sim, arena, out, error);
  if (status == SS_OK) examine_step(sim, out);
  sim->n_contacts = 0; /* the next step finds its own */
  ss_arena_destroy(arena);
  if (status != SS_OK) ss_theory_release(out);
  return status;
}

void ss_theory_release(ss_theory *theory) {
  ss_free(theory->contacts);
  ss_free(theory->joint_stress);
  *theory = (ss_theory){0};
}
