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

static void distribute(ss_sim *sim) {
  ss_each(sim, sim->trial.n_contacts, distribute_to);
  if (sim->chosen.located & SS_EVENT_STICK_SLIP) share_ratios(sim);
}

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
  const ss_status status = ss_find_islands(sim, error);
  if (status != SS_OK) return status;
  ss_rows_apply(sim, p->z, p->slack);
  for (int i = 0; i < p->n; i++) p->slack[i] += p->g[i];
  ss_rest_begin(sim);
  return SS_OK;
}

/* Asked between the solvers that are tried. Where the energy has blown up, a step may try a few only. */
static bool has_to_stop(void *user) {
  enum { MOST_TRIED = 200 }; /* questions: before each method, sweep round and Newton step */
  ss_sim *sim = user;
  ss_threads_lock(sim->threads);
  bool stops = sim->watch.stop && sim->watch.stop(sim->watch.stop_user);
  if (!stops) stops = sim->step.spent = ++sim->step.tried > MOST_TRIED && ss_has_blown_up(sim);
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

/* Joints and stiff forces alone; false: not accurate enough. */
static bool solve_linear(ss_sim *sim, const ss_solving *how) {
  ss_solves *solves = &sim->report.solves;
  const double start = ss_seconds(), residual = ss_solve_sparse(sim, how->speed);
  solves->seconds += ss_seconds() - start;
  solves->iterations++;
  if (!(residual <= how->residual)) {
    solves->fallbacks++;
    return false;
  }
  solves->count++;
  solves->rows += sim->trial.problem.n;
  if (how->applied) ss_certify_problem(sim, residual);
  return true;
}

/* Operations that the contact solvers may still take in this step: some fifteen seconds. A solve of 500 rows that goes well takes 1e7 to 1e8; a
 * step that needs so many is one of thousands of parts, or one whose problems no method solves. */
static double work_left(const ss_sim *sim) {
  static const double most = 3.5e10, per_row = 1e6;
  return most + per_row * sim->trial.problem.n - (double)sim->step.operations;
}

/* With a solver that knows of complementarity; in natural units. */
static ss_status solve_contacts(ss_sim *sim, ss_solving how, bool *certified, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  ss_solves *solves = &sim->report.solves;
  const double left = work_left(sim);
  if (!(left > 0)) return ss_fail_of_solving(sim, error);
  ss_status status = p->divided && !p->joined ? look_at_guess(sim, error) : SS_OK;
  if (status != SS_OK) return status;
  const double s = to_natural_units(sim, how.speed), start = ss_seconds();
  const ss_cp_options options = {.solver = how.solver,
                                 .tolerance = fmin(how.residual, ss_crowd_residual(sim, s)),
                                 .total = left,
                                 .stop = has_to_stop,
                                 .stop_user = sim};
  ss_cp problem = ss_problem_view(p);
  problem.compliance = p->weight;
  ss_cp_result result = {0};
  double residual = 0, uneven = 0;
  if (p->joined)
    status = ss_solve_joined(sim, s, &options, &result, &residual, error);
  else if (p->divided)
    status = ss_solve_islands(sim, &options, &result, &residual, &uneven, error);
  else if ((status = ss_add_factors(sim, &sim->solver.factors, NULL, &problem, error)) == SS_OK)
    status = ss_cp_solve(&problem, &options, ss_has_guess(p->z, p->n), p->z, sim->solver.cp, &result, error);
  solves->seconds += ss_seconds() - start;
  solves->count++;
  solves->rows += p->n;
  solves->iterations += result.iterations;
  solves->fallbacks += result.fallbacks;
  sim->step.operations += (long long)result.operations;
  if (status == SS_OK) {
    if (!p->divided) residual = ss_cp_judge(&problem, p->z, p->slack);
    *certified = residual <= how.residual; /* false for NaN */
    if (*certified && how.applied) ss_certify_problem(sim, residual);
    if (!p->divided && *certified && how.applied && result.iterations > 1 && ss_judges_selection(sim))
      uneven = ss_cp_judge_selection(&problem, p->z, sim->solver.cp);
    if (*certified && how.applied) sim->report.certificate.selection = fmax(sim->report.certificate.selection, uneven);
  }
  convert(sim, s, true);
  if (p->divided && !p->joined && status == SS_OK && *certified) ss_rest_end(sim);
  p->blur = 4 * residual; /* the judge divides by 1 + |g| <= 3 */
  p->unit = s;
  return status == SS_ERROR_STOPPED && sim->step.spent ? ss_fail_of_work(sim, error) : status;
}

ss_status ss_solve_problem(ss_sim *sim, ss_solving how, bool *certified, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  ss_status status = SS_OK;
  *certified = true;
  p->blur = 0;
  p->unit = 1;
  if (p->n == 0 || (p->sparse && solve_linear(sim, &how))) return SS_OK;
  if (p->sparse) status = ss_discretise_dense(sim, error);
  if (status == SS_OK && p->joined) { /* as a whole only where that does not help */
    status = solve_contacts(sim, how, certified, error);
    if (status != SS_OK || *certified) return status;
    sim->report.solves.fallbacks++;
    status = ss_discretise_dense(sim, error);
  }
  return status == SS_OK ? solve_contacts(sim, how, certified, error) : status;
}

/* ---- trials ---- */

/* Forces, rows and matrices. *certified: large patches are solved already, by their structure. */
static ss_status pose(ss_sim *sim, bool *certified, ss_error *error) {
  const ss_asked *asked = &sim->trial.asked;
  sim->mechanics->forces(sim, asked->h);
  ss_status status = ss_rows_step(sim, asked->h, error);
  if (status == SS_OK) status = ss_calm(sim, error);
  ss_lap(sim, SS_STAGE_ROWS);
  if (status == SS_OK) status = ss_refused(sim, error);
  *certified = false;
  if (status == SS_OK && ss_patch_is_large(sim)) status = ss_patch_solve(sim, asked->alpha, certified, error);
  if (status != SS_OK || *certified) {
    ss_lap(sim, SS_STAGE_SOLVE);
    return status;
  }
  status = ss_discretise(sim, asked->alpha, error);
  ss_lap(sim, SS_STAGE_ROWS);
  return status;
}

/* Where it leads. */
static bool advance(ss_sim *sim) {
  ss_trial *t = &sim->trial;
  sim->report.solves.calmed += t->calmed;
  ss_advance(sim, t->asked.h);
  t->h = t->asked.h;
  const bool finite = isfinite(sim->mechanics->largest_speed(sim, t->v_end));
  sim->step.not_finite = !finite;
  ss_lap(sim, SS_STAGE_ADVANCE);
  return finite;
}

ss_status ss_trial_solve(ss_sim *sim, ss_asked asked, bool *certified, ss_error *error) {
  sim->trial.asked = asked;
  for (;;) {
    ss_status status = pose(sim, certified, error);
    if (status != SS_OK) return status;
    /* Friction polygons that nothing has given a direction are turned first; those that turn out to slide without one,
     * afterwards, and the problem is solved again. */
    bool solve = !*certified, turn = solve && ss_polygon_is_doubtful(sim);
    if (*certified) distribute(sim);
    for (int round = 0; solve; round++) {
      if (turn) status = ss_turn_polygons(sim, error);
      if (status == SS_OK) status = ss_solve_problem(sim, ss_solving_usual(sim), certified, error);
      if (status != SS_OK) return status;
      if (*certified) distribute(sim);
      turn = solve = *certified && round == 0 && !sim->watch.variation && ss_polygon_is_astray(sim);
    }
    ss_lap(sim, SS_STAGE_SOLVE);
    if (!sim->trial.calmed || (*certified && !ss_calm_gives(sim))) break;
    sim->crowd.calm_fails = true; /* once more, and bodies at rest are not stopped */
  }
  *certified = *certified && advance(sim);
  return SS_OK;
}

ss_status ss_solve(ss_sim *sim, bool *certified, ss_error *error) {
  const ss_status status = ss_solve_problem(sim, ss_solving_usual(sim), certified, error);
  if (status == SS_OK && *certified) distribute(sim);
  return status;
}

/* ---- trials set aside ---- */

static void exchange(ss_trial *a, ss_trial *b) {
  const ss_trial kept = *a;
  *a = *b;
  *b = kept;
}

ss_status ss_trial_reserve(ss_sim *sim, ss_error *error) {
  ss_status status = SS_OK;
  ss_trial *t;
  for (int i = 1; status == SS_OK && (t = ss_trial_free(sim, i)); i++) {
    const int n = sim->trial.n_contacts, patches = sim->trial.n_patch;
    status = ss_grow((void **)&t->contacts, &t->contact_capacity, n, sizeof *t->contacts, error);
    if (status == SS_OK)
      status = ss_grow((void **)&t->patch_start, &t->patch_capacity[0], patches, sizeof *t->patch_start, error);
    if (status == SS_OK)
      status = ss_grow((void **)&t->patch_end, &t->patch_capacity[1], patches, sizeof *t->patch_end, error);
  }
  return status;
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
  next->h = now->h;
  next->problem.first_contact = 0;
  exchange(now, next);
  sim->n_kept++;
}

void ss_trial_back(ss_sim *sim) {
  exchange(&sim->trial, &sim->kept[--sim->n_kept]);
  sim->solver.joined.factorised = sim->solver.joined.condensed = false; /* they are those of the other one */
}

void ss_trial_drop(ss_sim *sim) { sim->n_kept--; }
