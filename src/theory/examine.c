/* The assumptions of the theorems, checked in the present configuration (include/stickslip/theory.h).
 *
 * All touching contacts and all joints are posed as an impact's problem (A = M): its matrix is the Gram matrix of their
 * impulses in the norm of kinetic energy. With weight_j = |n_j| the nearest point to zero of the friction cone's section
 * sum_j |n_j| c_j = 1 has the distance d, and sum_j |n_j| c_j <= |f| / d for every f of the cone. Where d = 0, the impulses of
 * that point balance each other: they are the proof that the cone is not pointed. Parts of the mechanism that have no body
 * in common are examined one by one; a part's cost grows with the cube of its rows, so that the largest are left out. */
#include <stickslip/theory.h>

#include "step/step.h"
#include "theory/cone.h"
#include "theory/parts.h"

#include <string.h>

enum { MOST_ROWS = 800 };            /* of a part: about a second */
static const double balanced = 1e-7; /* distances below count as zero: d^2 is known up to rounding */

/* Rows of all joints and of the contacts that touch, at the present configuration. */
static ss_status pose(ss_sim *sim, ss_error *error) {
  sim->step.h = sim->options.step;
  sim->mechanics->begin_step(sim);
  sim->part.speed_bound = sim->mechanics->largest_speed(sim, sim->state.v);
  ss_status status = sim->mechanics->find_contacts(sim, 0, error);
  if (status != SS_OK) return status;
  ss_active_set(sim);
  for (int i = 0; i < sim->trial.n_contacts; i++) sim->trial.contacts[i].active = false;
  sim->mechanics->forces_none(sim);
  ss_basis_pose(sim, true);
  status = ss_rows_impact(sim, error);
  if (status == SS_OK) status = ss_discretise(sim, 1, error);
  if (status == SS_OK && sim->trial.problem.divided) status = ss_assemble(sim, error);
  if (status == SS_OK && sim->trial.problem.sparse) { /* by its rows, which the parts are found from */
    status = ss_assemble_rows(sim, error);
    sim->trial.problem.large = true;
  }
  ss_basis_pose(sim, false);
  return status == SS_OK ? ss_refused(sim, error) : status;
}

/* What is known of all parts together. */
typedef struct survey {
  ss_sim *sim;
  ss_cp problem;
  ss_parts parts;
  double squares;           /* sum of the squares of the parts' constants */
  double reach;             /* largest |n_j s| / |n_j| */
  double stiffest, softest; /* squares of joint rows, and of their softest combination */
  double *z;                /* [n] impulses that balance each other */
  int proof;                /* what z proves: 2 reduced cone not pointed, 1 joints redundant, 0 nothing yet */
  double *response;         /* [n_blocks][2] sliding response, critical friction */
} survey;

/* How the contact answers a normal impulse while it slides in the worst direction; row: its normal row of the matrix that
 * remains across the joints. */
static void sliding_response(const ss_block *block, const double *row, double *out) {
  double s[SS_CONTACT_ROWS];
  const double normal = row[0], worst = ss_cone_support(block, row, s);
  out[0] = normal > 0 ? worst / normal : 1;
  out[1] = worst < normal ? block->mu * normal / (normal - worst) : HUGE_VAL;
}

static ss_vec3 contact_force(const ss_contact *c, const double *z) {
  ss_vec3 force = {0, 0, 0};
  for (int k = 0; k < c->n_forces; k++) force = v3_axpy(force, z[c->row + k], c->direction[k]);
  return force;
}

static void fill_contacts(const survey *y, ss_theory *out) {
  const ss_sim *sim = y->sim;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0) continue;
    ss_theory_contact *contact = &out->contacts[out->n_contacts++];
    *contact = (ss_theory_contact){.body = {c->body[0], c->body[1]},
                                   .point = v3_scale(0.5, v3_add(c->at.point_a, c->at.point_b)),
                                   .normal = c->at.normal,
                                   .friction = c->mu,
                                   .sliding_response = y->response[2 * c->block],
                                   .critical_friction = y->response[2 * c->block + 1]};
    if (!out->reduced_pointed) contact->self_balancing = contact_force(c, y->z);
  }
}

/* |nu c_nu| <= |f| + |contacts' part| <= |f| (1 + reach reduced_constant); and single multipliers, each weighted by its
 * row, by the softest combination of normalised rows. */
static double total_constant(const survey *y, const ss_theory *theory) {
  if (theory->joint_rows == 0) return theory->reduced_constant;
  const double joints = sqrt(y->stiffest / y->softest);
  if (y->problem.n == theory->joint_rows) return joints;
  return theory->reduced_constant + joints * (1 + y->reach * theory->reduced_constant);
}

static void measure_rows(survey *y, const ss_cone_gram *gram, const double *weight) {
  const ss_cp *part = gram->problem;
  for (int b = 0; b < part->n_blocks; b++) {
    const ss_block *block = &part->blocks[b];
    double sum = 0;
    for (int i = 0; block->kind != SS_BLOCK_FREE && i < block->size; i++)
      sum += (i ? block->mu : 1) * sqrt(part->G[(size_t)(block->first + i) * ((size_t)part->n + 1)]);
    y->reach = fmax(y->reach, sum / weight[b]);
  }
  for (int i = 0; i < gram->n_free; i++) y->stiffest = fmax(y->stiffest, part->G[(size_t)i * ((size_t)part->n + 1)]);
  y->softest = fmin(y->softest, gram->softest);
}

/* Keeps the impulses of the first part that proves as much. */
static void keep_proof(survey *y, int part, const ss_cone_gram *gram, bool pointed, double *z) {
  const int proof = !pointed ? 2 : gram->rank < gram->n_free ? 1 : 0;
  if (proof <= y->proof) return;
  y->proof = proof;
  if (proof == 2)
    ss_cone_balance(gram, z);
  else
    ss_cone_stress(gram, z);
  memset(y->z, 0, sizeof(double) * (size_t)y->problem.n);
  for (int i = 0; i < gram->n; i++) y->z[y->parts.row[y->parts.start[part] + i]] = z[i];
}

static ss_status examine_part(survey *y, int part, ss_arena *arena, ss_theory *out, ss_error *error) {
  ss_cp problem;
  ss_cone_gram gram;
  ss_nearest_point nearest;
  ss_status status = ss_parts_pose(&y->parts, part, arena, &problem, error);
  if (status != SS_OK) return status;
  double *weight = SS_ARENA_ARRAY(arena, double, problem.n_blocks + 1);
  if (!weight) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int b = 0; b < problem.n_blocks; b++) {
    const double square = problem.G[(size_t)problem.blocks[b].first * ((size_t)problem.n + 1)];
    weight[b] = square > 0 ? sqrt(square) : 1;
  }
  status = ss_cone_gram_create(&problem, arena, &gram, error);
  if (status == SS_OK) status = ss_cone_nearest(&gram, weight, arena, &nearest, error);
  if (status != SS_OK) return status;
  const bool any = problem.n > gram.n_free, pointed = !any || nearest.upper > balanced;
  out->joint_rank += gram.rank;
  out->reduced_pointed = out->reduced_pointed && pointed;
  if (any && pointed) y->squares += 1 / (nearest.lower * nearest.lower);
  measure_rows(y, &gram, weight);
  for (int i = gram.n_free, b = gram.n_free > 0; b < problem.n_blocks; i += problem.blocks[b++].size)
    sliding_response(&problem.blocks[b], gram.reduced + (size_t)i * ((size_t)gram.n + 1),
                     y->response + 2 * (size_t)y->parts.block[y->parts.row[y->parts.start[part] + i]]);
  keep_proof(y, part, &gram, pointed, nearest.z);
  return SS_OK;
}

/* Without joints the matrix itself tells how contacts slide; with joints they would have to be eliminated. */
static void skip_part(survey *y, int part, ss_theory *out) {
  const int n_free = ss_parts_free_rows(&y->parts, part);
  out->joint_rank += n_free;
  out->unexamined_joint_rows += n_free;
  out->unexamined_contacts += ss_parts_contacts(&y->parts, part);
  for (int k = y->parts.start[part] + n_free; k < y->parts.start[part + 1];) {
    const int b = y->parts.block[y->parts.row[k]];
    const ss_block *block = &y->problem.blocks[b];
    double row[SS_CONTACT_ROWS];
    for (int i = 0; i < block->size; i++) row[i] = ss_parts_entry(&y->problem, block->first, block->first + i);
    sliding_response(block, row, y->response + 2 * (size_t)b);
    if (n_free) y->response[2 * b] = y->response[2 * b + 1] = (double)NAN;
    k += block->size;
  }
}

/* The parts' cones are at right angles to each other: 1/d^2 of the whole is the sum of the parts' 1/d^2. */
static ss_status examine_cone(ss_sim *sim, ss_arena *arena, ss_theory *out, ss_error *error) {
  survey y = {.sim = sim, .problem = ss_problem_view(&sim->trial.problem), .reach = 1, .softest = HUGE_VAL};
  y.z = SS_ARENA_ARRAY(arena, double, y.problem.n + 1);
  y.response = SS_ARENA_ARRAY(arena, double, 2 * y.problem.n_blocks + 1);
  if (!y.z || !y.response) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  ss_status status = ss_parts_find(&y.problem, arena, &y.parts, error);
  out->joint_rows = sim->trial.problem.n_free;
  out->reduced_pointed = true;
  for (int part = 0; status == SS_OK && part < y.parts.count; part++) {
    if (y.parts.start[part + 1] - y.parts.start[part] > MOST_ROWS) {
      skip_part(&y, part, out);
      continue;
    }
    ss_arena *scratch = ss_arena_create();
    status = scratch ? examine_part(&y, part, scratch, out, error) : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    ss_arena_destroy(scratch);
  }
  if (status != SS_OK) return status;
  out->total_pointed = out->reduced_pointed && out->joint_rank == out->joint_rows;
  out->reduced_constant = !out->reduced_pointed ? HUGE_VAL : y.squares > 0 ? sqrt(y.squares) : 1;
  out->total_constant = out->total_pointed ? total_constant(&y, out) : HUGE_VAL;
  fill_contacts(&y, out);
  if (!out->total_pointed) memcpy(out->joint_stress, y.z, sizeof(double) * (size_t)out->joint_rows);
  return SS_OK;
}

/* Largest step, up to a thousand times the sim's own, for which the full Jacobians leave A positive definite. */
static void examine_step(ss_sim *sim, ss_theory *out) {
  const double h = sim->options.step;
  double low = 0, high = 1024 * h;
  sim->mechanics->forces(sim, h);
  out->definite = sim->trial.definite;
  sim->mechanics->forces(sim, high);
  out->definite_step = INFINITY;
  for (int k = 0; !sim->trial.definite && k < 60; k++) {
    const double middle = (low + high) / 2;
    sim->mechanics->forces(sim, middle);
    *(sim->trial.definite ? &low : &high) = middle;
    sim->trial.definite = false;
    out->definite_step = low;
  }
}

ss_status ss_sim_theory(ss_sim *sim, ss_theory *out, ss_error *error) {
  *out = (ss_theory){0};
  ss_status status = pose(sim, error);
  if (status != SS_OK) return status;
  ss_arena *arena = ss_arena_create();
  out->contacts = ss_alloc(sizeof *out->contacts * (size_t)(sim->trial.n_contacts + 1));
  out->joint_stress = ss_alloc(sizeof(double) * (size_t)(sim->trial.problem.n_free + 1));
  if (!arena || !out->contacts || !out->joint_stress)
    status = ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  else
    status = examine_cone(sim, arena, out, error);
  if (status == SS_OK) examine_step(sim, out);
  if (status == SS_OK) status = ss_sim_explicit_step(sim, &out->explicit_step, error);
  out->newton_may_create = ss_sim_newton_may_create(sim);
  sim->trial.n_contacts = sim->dealt.n = 0; /* the next step finds its own */
  ss_arena_destroy(arena);
  if (status != SS_OK) ss_theory_release(out);
  return status;
}

void ss_theory_release(ss_theory *theory) {
  ss_free(theory->contacts);
  ss_free(theory->joint_stress);
  *theory = (ss_theory){0};
}
