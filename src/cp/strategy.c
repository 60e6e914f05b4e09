/* The strategy of "auto": which methods are tried, in which order, with how much work.
 *
 * Rows that cost little and mostly succeed where they are admitted stand first. Where it cannot be foretold which of the others will
 * solve a problem, they take turns: in the first round each may take as many operations as some hundred sweeps, in every later one GROWTH
 * times as many, so that the time is at most a small factor above that of the best of them. Every z is judged; the first one within the
 * tolerance is taken, and where nothing solves the problem the best one, with the outcome of the first row that said why. */
#include "cp/climb.h"
#include "cp/reduce.h"
#include "cp/storage.h"

#include <limits.h>
#include <math.h>

/* What a problem is like; a row names what it needs. */
enum trait {
  WARM = 1,     /* the last step's z */
  COLD = 2,     /* no starting guess, or none that leads to the solution */
  PLAIN = 4,    /* no friction */
  FRICTION = 8, /* with mu > 0 */
  DISC = 16,    /* discs in space */
  FLAT = 32,    /* polygons, pyramids and intervals only: pivots can solve it */
  SPARSE = 64,  /* large and sparse: a row for any form of the matrix */
  FINE = 256,   /* the last digits are wanted, or cost little */
  MIDDLE = 512, /* friction without a starting guess, or a large sparse LCP: the middle of the cones is a start */
};

/* Where a row starts. */
typedef enum row_start {
  GIVEN,   /* from the caller's z, or from nothing where there is none */
  NOTHING, /* a start that active sets do not mend is a bad one */
  BEST,    /* from the best z so far */
} row_start;

/* Forms of the matrix that a method takes. */
typedef enum row_form { DENSE, ANY } row_form;

typedef struct span {
  int least, most;
} span;

/* How much a row may do. */
enum { ONCE = 0, TURNS = -1 }; /* as much as it likes, once; by the round's work. Else: so many iterations, once */

typedef struct strategy_row {
  solver_row row;
  unsigned needs;
  row_form form;
  row_start start;
  span rows;
  int variables; /* at most, of the LCP that it makes */
  int limit;
} strategy_row;

enum { ALL = INT_MAX, ROUNDS = 3, GROWTH = 8, FEW = 24, SMALL = 64, DENSE_ROWS = 1200 };
/* clang-format off */
static const strategy_row strategy[] = {
    /* method                                        needs             form   start    rows               variables  limit */
    {{"active-set", solve_active_set},               WARM,             DENSE, GIVEN,   {0, FEW - 1},      ALL,       12},
    {{"proximal-newton", solve_proximal_newton},     WARM | FINE,      ANY,   GIVEN,   {FEW, ALL},        ALL,       12},
    {{"nsgs-newton", solve_few_contacts},            COLD | DISC,      DENSE, NOTHING, {0, SMALL},        ALL,       40},
    {{"active-set", solve_active_set},               COLD,             DENSE, NOTHING, {0, SMALL},        ALL,       12},
    {{"nsgs-accelerated", solve_nsgs_accelerated},   SPARSE,           ANY,   BEST,    {0, ALL},          ALL,       60},
    {{"lemke", solve_lemke},                         FLAT,             DENSE, NOTHING, {0, ALL},          3000,      TURNS},
    {{"interior-point", solve_interior_point},       WARM|FRICTION|FINE, ANY, GIVEN,   {0, ALL},          ALL,       TURNS},
    {{"proximal-newton", solve_proximal_newton},     COLD | FINE,      ANY,   NOTHING, {0, ALL},          ALL,       TURNS},
    {{"wedged", solve_wedged},                       FRICTION,         DENSE, NOTHING, {0, 199},          ALL,       TURNS},
    {{"interior-point", solve_interior_point},       MIDDLE | FINE,    ANY,   NOTHING, {0, ALL},          ALL,       TURNS},
    {{"admm", solve_admm},                           FRICTION|SPARSE,  ANY,   BEST,    {0, ALL},          ALL,       TURNS},
    {{"nsgs-accelerated", solve_nsgs_accelerated},   SPARSE,           ANY,   BEST,    {0, ALL},          ALL,       TURNS},
    {{"lemke-restarted", solve_lemke_restarted},     PLAIN,            DENSE, NOTHING, {0, ALL},          3000,      ONCE},
    {{"ray", solve_refuted},                         COLD,             DENSE, NOTHING, {0, ALL},          ALL,       ONCE},
    {{"nsgs-newton", solve_nsgs_newton},             COLD,             DENSE, BEST,    {0, 600},          ALL,       20},
    {{"enumeration", solve_enumeration},             0,                DENSE, NOTHING, {0, ALL},          ALL,       ONCE},
};
/* clang-format on */
enum { N_ROWS = sizeof strategy / sizeof *strategy };

const char *ss_cp_strategy_row(int row) { return row >= 0 && row < N_ROWS ? strategy[row].row.name : NULL; }

static unsigned traits_of(const ss_cp *problem, const ss_cp_options *options, bool warm) {
  const bool friction = has_friction(problem), disc = has_disc(problem), large = is_large_and_sparse(problem),
             rough = is_rough(problem, options), sparse = large || (rough && friction);
  return (warm ? WARM : COLD) | (friction ? FRICTION : PLAIN) | (disc ? DISC : FLAT) | (sparse ? SPARSE : 0U) |
         (sparse && rough ? 0U : FINE) | ((friction ? !warm : sparse) ? MIDDLE : 0U);
}

static bool is_admitted(const climb *c, const strategy_row *r, unsigned traits, int variables) {
  if (r->needs & ~traits || c->options->without >> (r - strategy) & 1) return false;
  if (traits & SPARSE && r->form == DENSE && c->problem->n > DENSE_ROWS) return false;
  return r->rows.least <= c->problem->n && c->problem->n <= r->rows.most && variables <= r->variables;
}

/* A step's answer that is within the tolerance, but not near rounding errors, spoils the start of the next step. Sweeps
 * improve what active sets cannot: contacts on the edge between two states. */
static bool wants_refinement(const climb *c) {
  static const double above = 1e-12;
  enum { MOST_ROWS = 600 };
  const bool small = c->warm && !(c->rounds.traits & SPARSE) && c->problem->n <= MOST_ROWS;
  return small && c->result->residual > above && !is_coarse(c->options);
}

/* Whether the best z is as good as numbers of double precision can be: their last digit moves a slack by more than the
 * residual, and by much more than the tolerance (light bodies under heavy ones, mass ratios of 1e8). */
static bool at_rounding_level(const climb *c) {
  static const double epsilon = 0x1p-52, hopeless = 8;
  const size_t n = (size_t)c->problem->n;
  if (!c->problem->G || !(c->result->residual < nearly_solved)) return false;
  double largest = 0, size = 0;
  for (size_t i = 0; i < n; i++) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += fabs(c->problem->G[i * n + j] * c->z[j]);
    size = fmax(size, sum);
    largest = fmax(largest, fabs(c->problem->g[i]));
  }
  const double bound = epsilon * size / (1 + largest);
  return c->result->residual <= bound && hopeless * c->options->tolerance < bound;
}

static ss_status make_dense(climb *c, ss_error *error) {
  ss_cp *dense = &c->rounds.dense;
  if (c->problem->G) return SS_OK;
  const ss_status status = storage_dense(c->problem, c->workspace, dense, error);
  if (operator_has_bodies(c->problem->factors)) dense->factors = c->problem->factors;
  if (!status) c->problem = dense;
  return status;
}

/* The rows beside the factors: most methods ask for them. */
static ss_status list_rows(climb *c, ss_error *error) {
  rounds *s = &c->rounds;
  s->listed = *c->problem;
  s->listed.sparse = &s->rows;
  const ss_status status = storage_rows(c->problem, c->workspace, &s->rows, error);
  if (!status) c->problem = &s->listed;
  return status;
}

/* The z that a row starts from; NULL: nothing. */
static const double *start_of(const climb *c, const strategy_row *r) {
  const double *given = c->warm ? c->start : NULL;
  if (r->start == NOTHING) return NULL;
  if (r->start == GIVEN) return given;
  return c->result->residual < HUGE_VAL ? c->z : given;
}

/* Whether the row is tried in this round: the first one, or a later one if it takes turns and has ended for want of work. */
static bool is_due(const rounds *s, const strategy_row *r) {
  return s->round == 0 || (r->limit == TURNS && s->unfinished >> s->k & 1);
}

/* Operations of one sweep over the contacts. */
static double sweep_work(const ss_cp *problem) {
  const double n = problem->n;
  if (problem->factors && !problem->factors->whole.start) return 8.0 * problem->factors->J.start[problem->n];
  return 2 * (problem->sparse ? problem->sparse->start[problem->n] : n * n);
}

double first_work(const ss_cp *problem) {
  static const double factorisations = 30, most = 1e8, sweeps = 500;
  const double n = problem->n, swept = sweeps * sweep_work(problem);
  const bool crowd = operator_has_bodies(problem->factors) && is_large_and_sparse(problem) && has_friction(problem);
  return crowd ? 4 * swept : fmax(fmin(factorisations * n * n * n, most), swept);
}

/* Whether the caller's operations are used up; the outcome says so. */
static bool is_spent(climb *c) {
  const bool spent = c->options->total > 0 && c->result->operations > c->options->total;
  if (spent) c->result->outcome = SS_LIMIT;
  return spent;
}

static ss_status try_row(climb *c, const strategy_row *r, ss_error *error) {
  const ss_status status = r->form == ANY ? SS_OK : make_dense(c, error);
  c->now.row = &r->row;
  c->now.limit = r->limit > 0 ? r->limit : 0;
  c->now.work = c->rounds.work;
  c->now.from = start_of(c, r);
  return status;
}

static void refine(climb *c) {
  static const solver_row row = {"nsgs-newton", solve_nsgs_newton};
  enum { LIMIT = 20 };
  c->rounds.refines = true;
  c->now.row = &row;
  c->now.limit = LIMIT;
  c->now.from = c->z;
}

static ss_status begin(climb *c, bool *admitted, ss_error *error) {
  rounds *s = &c->rounds;
  const ss_cp *given = c->problem;
  const bool large = is_large_and_sparse(given);
  ss_status status = SS_OK;
  s->begun = true;
  *admitted = given->G || large || given->n <= SS_CP_DENSE_ROWS;
  if (!*admitted) {
    c->result->outcome = SS_NOT_ADMITTED;
    return SS_OK;
  }
  if (!large || (given->n <= MODERATE_ROWS && !is_coarse(c->options)))
    status = make_dense(c, error);
  else if (given->factors && !given->sparse)
    status = list_rows(c, error);
  s->first = SS_SOLVED;
  s->variables = lcp_variables(c->problem);
  s->traits = traits_of(c->problem, c->options, c->warm);
  s->work = first_work(c->problem);
  return status;
}

/* What the attempt that has been made says; false: the climb ends with it, or with `refine`. */
static bool goes_on(climb *c) {
  rounds *s = &c->rounds;
  const strategy_row *r = &strategy[s->k];
  const ss_outcome outcome = c->now.result.outcome;
  if (s->refines) return false;
  const bool solved = c->result->residual <= c->options->tolerance;
  if (c->options->trace) c->options->trace(c->options->trace_user, s->k, solved ? SS_SOLVED : outcome);
  if (solved) return false;
  const unsigned long bit = 1UL << s->k++;
  s->unfinished = outcome == SS_LIMIT ? s->unfinished | bit : s->unfinished & ~bit;
  if (outcome == SS_NOT_ADMITTED) return true;
  c->result->fallbacks++;
  if (proved_impossible(c)) return false;
  if (outcome != SS_SOLVED && (s->first == SS_SOLVED || s->first == SS_LIMIT)) s->first = outcome;
  if (s->traits & r->needs & WARM) s->traits |= COLD; /* the states before are not those of this problem */
  return true;
}

/* The rows that take turns and need `trait`. */
static unsigned long turns_for(unsigned trait) {
  unsigned long rows = 0;
  for (int k = 0; k < N_ROWS; k++) rows |= strategy[k].limit == TURNS && strategy[k].needs & trait ? 1UL << k : 0;
  return rows;
}

/* The next round; false: there is none. The outcome of a failure is that of the first row that gave a reason: a ray of Lemke's method
 * says more than the iteration limit of the others. */
static bool next_round(climb *c) {
  rounds *s = &c->rounds;
  s->k = 0;
  s->work *= GROWTH;
  if (at_rounding_level(c)) {
    c->result->outcome = SS_STALLED;
    return false;
  }
  if (++s->round == ROUNDS - 1 && !(s->traits & FINE) && c->problem->n <= DENSE_ROWS) { /* what was to be spared */
    s->unfinished |= turns_for(FINE);
    s->traits |= FINE;
  }
  if (s->round < ROUNDS) return true;
  if (s->first != SS_SOLVED) c->result->outcome = s->first;
  if (s->first == SS_RAY && c->result->residual < nearly_solved) c->result->outcome = SS_STALLED; /* then it was none */
  return false;
}

ss_status strategy_next(climb *c, ss_error *error) {
  rounds *s = &c->rounds;
  bool on = true;
  const bool first = !s->begun;
  const ss_status status = first ? begin(c, &on, error) : SS_OK;
  if (status) return status;
  if (!first) on = goes_on(c);
  const bool ends_well = !on && !s->refines && c->result->residual <= c->options->tolerance;
  c->now = (attempt){.options = *c->options};
  if (ends_well && wants_refinement(c)) refine(c);
  for (; on; s->k++) {
    if (s->k == N_ROWS && !next_round(c)) break;
    const strategy_row *r = &strategy[s->k];
    if (is_spent(c)) break;
    if (is_admitted(c, r, s->traits, s->variables) && is_due(s, r)) return try_row(c, r, error);
  }
  return SS_OK;
}
