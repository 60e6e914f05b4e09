/* A trial: the problem of a part of a step is posed, solved, judged and followed to where it leads. All of that is in sim->trial, from
 * what was asked to v+, q+ and the state of each contact. Who wants to try another part and may have to come back sets the trial aside
 * (ss_trial_keep), which costs a copy of the contacts; to come back is to swap (ss_trial_back), and nothing is solved again.
 *
 * Solver and judge see it in natural units, z' = z/(d s) and w' = d w/s: d (one per row, one per friction block) makes
 * the diagonal of G about 1, s makes the largest |g| about 1. Both z' and w' are then square roots of energies, so that
 * min(z', w') is meant as written, and the residual does not depend on the user's units or on how masses differ. d and s
 * are powers of two: going there and back is exact. */
#include "step/step.h"

#include <string.h>

static double power_near(double x) { return x > 0 && isfinite(x) ? ldexp(1, ilogb(x)) : 1; }

/* 2^-(exponent/2), rounded down: with the floor other units give other powers, and nothing else changes. */
static double root_power(double x) {
  const int exponent = ilogb(x);
  return ldexp(1, -(exponent >= 0 ? exponent / 2 : (exponent - 1) / 2));
}

/* d of rows first .. first + size - 1, which share it. */
static void scale_rows(ss_sim *sim, int first, int size) {
  ss_problem *p = &sim->trial.problem;
  double sum = 0;
  for (int i = first; i < first + size; i++) sum += ss_problem_diagonal(sim, i);
  const double d = sum > 0 && isfinite(sum) ? root_power(sum / size) : 1;
  for (int i = first; i < first + size; i++) {
    p->scale[i] = d;
    p->weight[i] = d * d;
  }
}

static void scale_block(ss_sim *sim, int b) {
  const ss_block *block = &sim->trial.problem.blocks[b];
  const int together = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
  for (int i = block->first; i < block->first + block->size; i += together) scale_rows(sim, i, together);
}

typedef struct unit_job {
  ss_problem *problem;
  double unit;  /* of speed */
  double least; /* what is slower need not be resolved */
  bool back;
} unit_job;

static void convert_blocks(void *user, int worker, int from, int to) {
  (void)worker;
  const unit_job *job = user;
  ss_problem *p = job->problem;
  const double unit = job->back ? 1 / job->unit : job->unit;
  for (int b = from; b < to; b++) {
    ss_block *block = &p->blocks[b];
    for (int i = block->first; i < block->first + block->size; i++) {
      const double d = job->back ? 1 / p->scale[i] : p->scale[i];
      p->g[i] *= d / unit;
      p->slack[i] *= d / unit;
      p->z[i] /= d * unit;
    }
    const double d = p->scale[block->first], factor = (job->back ? 1 / d : d) * unit;
    block->extra /= factor;
    block->lower /= factor;
    block->upper /= factor;
  }
}

enum { BLOCKS_AT_A_TIME = 256 };

/* To natural units, or back to the user's. */
static void convert(ss_sim *sim, double s, bool back) {
  ss_problem *p = &sim->trial.problem;
  unit_job job = {.problem = p, .unit = s, .back = back};
  ss_problem_rescale(p, back);
  ss_threads_for(sim->threads, p->n_blocks, BLOCKS_AT_A_TIME, convert_blocks, &job);
}

/* Compliances in the choice between redundant impulses: 1, and of contacts what their surfaces say (the limit of vanishing
 * compliance, docs/theory.md). Compliant schemes have theirs in the problem itself. */
static void weigh_rows(ss_sim *sim) {
  ss_problem *p = &sim->trial.problem;
  if (sim->scheme->compliant || !sim->model->compliant) return;
  for (int k = 0; k < sim->trial.n_contacts; k++) {
    const ss_contact *c = &sim->trial.contacts[k];
    for (int i = c->row; c->row >= 0 && i < c->row + c->n_rows; i++) p->weight[i] *= c->law->softness;
  }
}

static void find_largest(void *user, int from, int to, double *largest) {
  const unit_job *job = user;
  const ss_problem *p = job->problem;
  for (int i = from; i < to; i++) *largest = fmax(*largest, p->scale[i] * fmax(fabs(p->g[i]), job->least));
}

/* Returns s. What is slower than a thousandth of the present speeds need not be resolved by itself, nor what active sets take for none (1e-9
 * of a step's fall, with the usual residual of 1e-8): so well rows of redundant contacts agree with each other, and in a very short part friction
 * has no impulses to make up for it. */
static double to_natural_units(ss_sim *sim, double speed) {
  static const double share = 0.1;
  ss_problem *p = &sim->trial.problem;
  unit_job job = {.problem = p};
  if (speed > 0) job.least = fmax(1e-3 * speed, share * sim->step.h * sim->step.acceleration);
  ss_each(sim, p->n_blocks, scale_block);
  const double s = power_near(ss_most(sim, p->n, find_largest, &job));
  weigh_rows(sim);
  convert(sim, s, false);
  return s;
}

/* Whether there are forces of the last part to start from. Few rows start from zero as well: what comes of it is more exact. */
bool ss_has_guess(const double *z, int n) {
  enum { FEW = 64 };
  for (int i = 0; i < n && n > FEW; i++)
    if (z[i] != 0) return true;
  return n <= FEW;
}

/* What the guess of a divided problem makes of it: its slacks, in user's units, and which islands rest with it. */
static ss_status look_at_guess(ss_sim *sim, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  SS_TRY(ss_find_islands(sim, error));
  ss_rows_apply(sim, p->z, p->slack);
  for (int i = 0; i < p->n; i++) p->slack[i] += p->g[i];
  ss_rest_begin(sim);
  return SS_OK;
}

/* Where the energy has blown up, a step may try a few solvers only. */
static bool is_spent(const ss_sim *sim) {
  enum { MOST_TRIED = 200 }; /* questions: before each method, sweep round and Newton step */
  return sim->step.tried > MOST_TRIED && ss_has_blown_up(sim);
}

/* Asked between the solvers that are tried. */
static bool has_to_stop(void *user) {
  ss_sim *sim = user;
  ss_threads_lock(sim->threads);
  bool stops = sim->watch.stop && sim->watch.stop(sim->watch.stop_user);
  if (!stops) {
    sim->step.tried++;
    stops = is_spent(sim);
  }
  ss_threads_unlock(sim->threads);
  return stops;
}

/* The judge of the selection costs as much as a small solve: it looks at solves 1, 2, 4, 8, ... and at every 64th, where the solution is
 * another one than the last step's. */
bool ss_judges_selection(const ss_sim *sim) {
  enum { EVERY = 64 };
  const long count = sim->report.solves.count + 1; /* the present one */
  return (count & (count - 1)) == 0 || count % EVERY == 0;
}

/* ---- joints and stiff forces alone ---- */

/* w = alpha J A^-1 J^T z + R z + g through the velocity change, from the rows and not from the factors, weighed in natural units. */
static double judge_linear(ss_sim *sim, double speed) {
  const ss_problem *p = &sim->trial.problem;
  double worst = 0, largest = 0;
  ss_rows_apply(sim, p->z, p->slack);
  for (int i = 0; i < p->n; i++) {
    p->slack[i] += p->g[i];
    const double w = fabs(p->scale[i] * p->slack[i]);
    if (!(w <= worst)) worst = w; /* a NaN stays */
    largest = fmax(largest, p->scale[i] * fmax(fabs(p->g[i]), 1e-3 * speed));
  }
  return largest > 0 ? worst / (2 * largest) : worst;
}

/* They are linear, G z = -g, and sparse: a chain costs O(n). One step of iterative refinement on what the judge finds. False: not
 * accurate enough. */
static bool solve_linear(ss_sim *sim, const ss_solving *how) {
  ss_problem *p = &sim->trial.problem;
  ss_solves *solves = &sim->report.solves;
  ss_lu *lu = ss_problem_lu(sim);
  const double start = ss_seconds();
  (void)ss_lu_factor(lu, 1e-12); /* pivots of dependent rows come out at rounding level */
  ss_lu_solve(lu, p->g, p->z);
  for (int i = 0; i < p->n; i++) p->z[i] = -p->z[i];
  double residual = judge_linear(sim, how->speed), *correction = p->slack; /* G correction = w */
  if (!(residual <= 1e-15)) {
    ss_lu_solve(lu, p->slack, correction);
    for (int i = 0; i < p->n; i++) p->z[i] -= correction[i];
    residual = judge_linear(sim, how->speed);
  }
  const bool solved = residual <= how->residual;
  solves->seconds += ss_seconds() - start;
  solves->iterations++;
  solves->fallbacks += !solved;
  solves->count += solved;
  solves->rows += solved ? p->n : 0;
  if (solved && how->applied) ss_certify_problem(sim, residual);
  return solved;
}

/* ---- with a solver that knows of complementarity ---- */

/* Operations that the contact solvers may still take in this step: some fifteen seconds. A solve of 500 rows that goes well takes 1e7 to 1e8; a
 * step that needs so many is one of thousands of parts, or one whose problems no method solves. */
static double work_left(const ss_sim *sim) {
  static const double most = 2e10, per_row = 1e6;
  return most + per_row * sim->trial.problem.n - (double)sim->step.operations;
}

/* The problem as a solver gets it, and what comes of it. */
typedef struct attempt {
  ss_cp problem;
  ss_cp_options options;
  ss_cp_result result;
  double unit; /* of speed, in which it is */
  double *z;
  bool warm, posed; /* posed: else it is solved already, or not to be solved in this form */
  double residual, uneven, start;
} attempt;

/* Contacts alone, which no matrix joins. */
static bool has_islands(const ss_problem *p) { return p->divided && !p->joined; }

/* In natural units. */
static ss_status pose_for_solver(ss_sim *sim, const ss_solving *how, attempt *a, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  const double left = work_left(sim);
  if (!(left > 0)) return ss_fail_of_solving(sim, error);
  if (has_islands(p)) SS_TRY(look_at_guess(sim, error));
  const double unit = to_natural_units(sim, how->speed);
  *a = (attempt){.problem = ss_problem_view(p), .unit = unit, .z = p->z, .posed = true, .start = ss_seconds()};
  a->options = (ss_cp_options){.solver = how->solver,
                               .tolerance = fmin(how->residual, ss_crowd_residual(sim, unit)),
                               .total = left,
                               .stop = has_to_stop,
                               .stop_user = sim};
  a->problem.compliance = p->weight;
  a->warm = p->joined || (!p->divided && ss_has_guess(p->z, p->n));
  if (!p->joined) return p->divided ? SS_OK : ss_add_factors(sim, &sim->solver.factors, NULL, &a->problem, error);
  a->z = p->z + p->n_free;
  return ss_joined_pose(sim, unit, &a->problem, &a->posed, &a->residual, error);
}

/* What came of it is judged and counted, and the problem is in the user's units again. */
static ss_status judge(ss_sim *sim, const ss_solving *how, attempt *a, ss_status status, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  ss_solves *solves = &sim->report.solves;
  bool *certified = &sim->trial.certified;
  *certified = false;
  solves->seconds += ss_seconds() - a->start;
  solves->count++;
  solves->rows += p->n;
  solves->iterations += a->result.iterations;
  solves->fallbacks += a->result.fallbacks;
  sim->step.operations += (long long)a->result.operations;
  if (status == SS_OK) {
    if (p->joined && a->posed) a->residual = ss_joined_judge(sim, a->unit);
    if (!p->divided) a->residual = ss_cp_judge(&a->problem, p->z, p->slack);
    *certified = a->residual <= how->residual; /* false for NaN */
  }
  if (*certified && how->applied) {
    if (!p->divided && a->result.iterations > 1 && ss_judges_selection(sim))
      a->uneven = ss_cp_judge_selection(&a->problem, p->z, sim->solver.cp);
    ss_certify_problem(sim, a->residual);
    sim->report.certificate.selection = fmax(sim->report.certificate.selection, a->uneven);
  }
  convert(sim, a->unit, true);
  if (has_islands(p) && *certified) ss_rest_end(sim);
  p->blur = 4 * a->residual; /* the judge divides by 1 + |g| <= 3 */
  p->unit = a->unit;
  return status == SS_ERROR_STOPPED && is_spent(sim) ? ss_fail_of_work(sim, error) : status;
}

ss_status ss_solve_problem(ss_sim *sim, ss_solving how, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  sim->trial.certified = true;
  p->blur = 0;
  p->unit = 1;
  if (p->n == 0 || (p->sparse && solve_linear(sim, &how))) return SS_OK;
  if (p->sparse) SS_TRY(ss_discretise_dense(sim, error));
  for (;;) {
    attempt a;
    SS_TRY(pose_for_solver(sim, &how, &a, error));
    ss_status status = SS_OK;
    if (has_islands(p))
      status = ss_solve_islands(sim, &a.options, &a.result, &a.residual, &a.uneven, error);
    else if (a.posed)
      status = ss_cp_solve(&a.problem, &a.options, a.warm, a.z, sim->solver.cp, &a.result, error);
    status = judge(sim, &how, &a, status, error);
    if (status != SS_OK || sim->trial.certified || !p->joined) return status;
    sim->report.solves.fallbacks++; /* as a whole only where that does not help */
    SS_TRY(ss_discretise_dense(sim, error));
  }
}

ss_status ss_solve(ss_sim *sim, ss_error *error) {
  SS_TRY(ss_solve_problem(sim, ss_solving_usual(sim), error));
  if (sim->trial.certified) ss_distribute(sim);
  return SS_OK;
}

/* ---- trials ---- */

/* Forces, rows and matrices. Large patches are solved then already, by their structure. */
static ss_status pose(ss_sim *sim, ss_error *error) {
  ss_trial *t = &sim->trial;
  sim->mechanics->forces(sim, t->asked.h);
  SS_TRY(ss_rows_step(sim, t->asked.h, error));
  SS_TRY(ss_calm(sim, error));
  ss_lap(sim, SS_STAGE_ROWS);
  SS_TRY(ss_refused(sim, error));
  t->certified = false;
  if (ss_patch_is_large(sim)) SS_TRY(ss_patch_solve(sim, t->asked.alpha, &t->certified, error));
  if (t->certified) {
    ss_lap(sim, SS_STAGE_SOLVE);
    return SS_OK;
  }
  const ss_status status = ss_discretise(sim, t->asked.alpha, error);
  ss_lap(sim, SS_STAGE_ROWS);
  return status;
}

/* Where it leads. */
static bool advance(ss_sim *sim) {
  ss_trial *t = &sim->trial;
  sim->report.solves.calmed += t->calmed;
  ss_advance(sim, t->asked.h);
  const bool finite = isfinite(sim->mechanics->largest_speed(sim, t->v_end));
  sim->step.not_finite = !finite;
  ss_lap(sim, SS_STAGE_ADVANCE);
  return finite;
}

ss_status ss_trial_solve(ss_sim *sim, ss_asked asked, ss_error *error) {
  ss_trial *t = &sim->trial;
  t->asked = asked;
  for (;;) {
    SS_TRY(pose(sim, error));
    /* Friction polygons that nothing has given a direction are turned first; those that turn out to slide without one,
     * afterwards, and the problem is solved again. */
    bool solve = !t->certified, turn = solve && ss_polygon_is_doubtful(sim);
    if (t->certified) ss_distribute(sim);
    for (int round = 0; solve; round++) {
      if (turn) SS_TRY(ss_turn_polygons(sim, error));
      SS_TRY(ss_solve_problem(sim, ss_solving_usual(sim), error));
      if (t->certified) ss_distribute(sim);
      turn = solve = t->certified && round == 0 && !sim->watch.variation && ss_polygon_is_astray(sim);
    }
    ss_lap(sim, SS_STAGE_SOLVE);
    if (!t->calmed || (t->certified && !ss_calm_gives(sim))) break;
    sim->crowd.calm_fails = true; /* once more, and bodies at rest are not stopped */
  }
  t->certified = t->certified && advance(sim);
  return SS_OK;
}

/* ---- trials set aside ---- */

static void exchange(ss_trial *a, ss_trial *b) {
  const ss_trial kept = *a;
  *a = *b;
  *b = kept;
}

ss_status ss_trial_reserve(ss_sim *sim, ss_error *error) {
  const int n = sim->trial.n_contacts, patches = sim->trial.n_patch;
  ss_trial *t;
  for (int i = 1; (t = ss_trial_free(sim, i)); i++) {
    SS_TRY(SS_GROW(t->contacts, t->contact_capacity, n, error));
    SS_TRY(SS_GROW(t->patch_start, t->patch_capacity[0], patches, error));
    SS_TRY(SS_GROW(t->patch_end, t->patch_capacity[1], patches, error));
  }
  return SS_OK;
}

void ss_trial_keep(ss_sim *sim) {
  ss_trial *now = &sim->trial, *next = &sim->kept[sim->n_kept];
  const size_t patches = sizeof(double) * (size_t)now->n_patch;
  ss_keep_guess(sim);
  if (now->n_contacts) memcpy(next->contacts, now->contacts, sizeof *next->contacts * (size_t)now->n_contacts);
  if (patches) memcpy(next->patch_start, now->patch_start, patches);
  if (patches) memcpy(next->patch_end, now->patch_end, patches);
  next->n_contacts = now->n_contacts;
  next->n_active = now->n_active;
  next->n_patch = now->n_patch;
  next->asked = now->asked;
  next->certified = now->certified;
  next->problem.first_contact = 0;
  exchange(now, next);
  sim->n_kept++;
}

void ss_trial_back(ss_sim *sim) {
  exchange(&sim->trial, &sim->kept[--sim->n_kept]);
  sim->solver.joined.factorised = sim->solver.joined.condensed = false; /* they are those of the other one */
}

void ss_trial_drop(ss_sim *sim) { sim->n_kept--; }
