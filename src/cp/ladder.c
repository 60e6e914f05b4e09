/* The ladder that "auto" climbs.
 *
 * Problems that are large and sparse begin with rungs of their own, which take the matrix in any form; for the others it is made dense,
 * where it is not too large for them to come to an end in bearable time. The first z with a residual within the tolerance is taken.
 * Where nothing solves the problem, the best z is returned with the outcome of the first rung that said why. */
#include "cp/climb.h"
#include "cp/islands.h"
#include "cp/reduce.h"
#include "cp/storage.h"

#include <limits.h>
#include <math.h>

/* What a problem is like; a rung names what it needs. */
enum trait {
  COLD = 1,        /* no starting guess, or none that active sets can mend */
  WARM = 2,        /* the last step's z */
  PLAIN = 4,       /* no friction: pivots are few, and sure */
  FRICTION = 8,    /* with mu > 0 */
  PLANAR = 16,     /* friction in the plane only */
  SPATIAL = 32,    /* contacts with two tangents or more */
  NO_SPATIAL = 64, /* rows, boxes, the plane: sweeps and Newton steps seldom fail */
  FLAT = 128,      /* spatial, with polygons and pyramids only */
  DISC = 256,      /* discs: directions that are hard to guess where they slide */
  NO_SET = 512,    /* only free rows: nothing to guess */
  TINY = 1024,     /* an LCP of few rows or few pivots */
  JOINTS = 2048,   /* free rows beside discs */
  SPARSE = 4096,   /* large and sparse: a rung for any form of the matrix */
  UNTRIED = 8192,  /* a rung that repeats what one for sparse problems has done is only for others */
  BODIES = 16384,  /* given by the factors alone: sweeps go through the bodies */
  NO_BODIES = 32768,
  FACTORS = 65536,   /* the factors are there */
  NO_PIVOTS = 131072 /* friction, or more variables than pivots are made for */
};

/* Where a rung starts. */
typedef enum rung_start {
  GIVEN,        /* from the caller's z, or from nothing where there is none */
  NOTHING,      /* a start that active sets do not mend is a bad one */
  BEST,         /* from the best z so far, however far it is */
  BEST_IF_NEAR, /* the same, and only tried where that is nearly a solution, */
  BEST_IF_CLOSE /* or has lost digits only */
} rung_start;

typedef struct span {
  int least, most;
} span;

typedef struct rung {
  solver_row row;
  unsigned needs;
  rung_start start;
  span rows, variables; /* of the problem, and of the LCP that it makes */
  int limit;            /* iterations; 0: the solver's own choice */
} rung;

enum {
  ALL = INT_MAX,
  SOME = 24,          /* rows: from here on sparsity and redundancy are worth their administration */
  SOME_FLAT = 40,     /* the same where other solvers are good as well */
  LOOSE = 64,         /* up to here a wrong guess of states costs nothing */
  MORE = 100,         /* up to here some Newton steps cost less than the factors of G */
  MANY = 240,         /* sweeps get long */
  MANY_FACTORS = 400, /* steps of the bodies are worth their administration */
  TINIEST_LCP = 12,   /* variables: pivots take no longer than two Newton steps */
  TINY_LCP = 40,      /* variables: pivots take no longer than what is tried where Newton steps fail */
  SMALL_LCP = 60,     /* a dense tableau is the fastest */
  MEDIUM_LCP = 300,   /* faster than many sweeps, where few have not helped; a second path as well */
  SURE_LCP = 400,     /* pivots solve more than a curve in the same time */
  SPARSE_LCP = 800,   /* pivots on sparse matrices take no longer than steps in the range */
  ATTEMPT_LCP = 1600, /* an attempt with few pivots is worth its time */
  PLAIN_LCP = 2000,   /* without friction */
  LARGE_LCP = 3000,   /* slow, but sure */
  PATH_ROWS = 600,    /* up to which factorisations cost as little as some sweeps */
  BEARABLE_ROWS = 1200,
  DENSE_ROWS = SS_CP_DENSE_ROWS,
  REDUNDANT_ROWS = 20000
};

/* One after the other, where the problem has the traits and the size. */
/* clang-format off */
static const rung ladder[] = {
    /* solver                                        needs                                start          rows                                 variables                     limit */
    {{"nsgs", solve_weakly_coupled},                 SPARSE | COLD | SPATIAL,             GIVEN,         {0, MODERATE_ROWS},                  {0, ALL},                     0},
    {{"active-set", solve_active_set},               SPARSE | WARM,                       GIVEN,         {0, MODERATE_ROWS},                  {0, ALL},                     3},
    {{"range-newton", solve_redundant},              SPARSE | SPATIAL,                    GIVEN,         {0, MODERATE_ROWS},                  {0, ALL},                     300},
    {{"nsgs-accelerated", solve_nsgs_accelerated},   SPARSE | SPATIAL,                    NOTHING,       {0, MODERATE_ROWS},                  {0, ALL},                     60},
    {{"body-newton", solve_body_newton},             SPARSE | SPATIAL | FACTORS,          NOTHING,       {MANY_FACTORS, MODERATE_ROWS},       {0, ALL},                     300},
    {{"lemke", solve_lemke},                         SPARSE | FLAT,                       GIVEN,         {0, MODERATE_ROWS},                  {SMALL_LCP + 1, SPARSE_LCP},  1000},
    {{"range-newton", solve_range_newton},           SPARSE | SPATIAL,                    BEST,          {0, MODERATE_ROWS},                  {0, ALL},                     200},
    {{"ray", solve_refuted},                         SPARSE | FRICTION,                   GIVEN,         {0, MODERATE_ROWS},                  {0, ALL},                     0},
    {{"wedged", solve_wedged},                       SPARSE | SPATIAL,                    GIVEN,         {0, MODERATE_ROWS},                  {0, ALL},                     0},
    {{"lemke", solve_lemke},                         SPARSE | FLAT,                       GIVEN,         {0, MODERATE_ROWS},                  {SMALL_LCP + 1, ATTEMPT_LCP}, 4000},
    {{"continuation", solve_continuation},           SPARSE | SPATIAL,                    NOTHING,       {0, MODERATE_ROWS},                  {0, ALL},                     400},
    {{"nsgs-accelerated", solve_swept},              SPARSE | NO_BODIES,                  BEST,          {0, ALL},                            {0, ALL},                     0},
    {{"interior-point", solve_interior_cheap},       SPARSE | PLAIN,                      GIVEN,         {0, ALL},                            {0, ALL},                     60},
    {{"range-newton", solve_redundant},              SPARSE | NO_PIVOTS | NO_BODIES,      NOTHING,       {MODERATE_ROWS + 1, DENSE_ROWS},     {0, ALL},                     0},
    {{"continuation", solve_continuation_few},       SPARSE | SPATIAL | NO_BODIES,        NOTHING,       {MODERATE_ROWS + 1, DENSE_ROWS},     {0, ALL},                     400},
    {{"range-newton", solve_redundant},              SPARSE | NO_PIVOTS | NO_BODIES,      NOTHING,       {DENSE_ROWS + 1, REDUNDANT_ROWS},    {0, ALL},                     600},
    {{"body-newton", solve_body_newton},             SPARSE | BODIES,                     GIVEN,         {MODERATE_ROWS + 1, ALL},            {0, ALL},                     0},
    {{"patches", solve_patches},                     SPARSE | NO_PIVOTS,                  BEST,          {MODERATE_ROWS + 1, ALL},            {0, ALL},                     0},
    {{"body-newton", solve_body_newton},             SPARSE | NO_BODIES | FACTORS,        BEST,          {MODERATE_ROWS + 1, ALL},            {0, ALL},                     0},
    {{"smoothing", solve_smoothing_last},            SPARSE | NO_PIVOTS | NO_BODIES,      BEST,          {MODERATE_ROWS + 1, ALL},            {0, ALL},                     0},
    {{"interior-point", solve_interior_last},        SPARSE | NO_PIVOTS,                  BEST,          {MODERATE_ROWS + 1, ALL},            {0, ALL},                     0},
    {{"lemke", solve_tiny_lcp},                      COLD | TINY,                         GIVEN,         {0, ALL},                            {0, ALL},                     0},
    {{"nsgs", solve_weakly_coupled},                 COLD | PLANAR,                       GIVEN,         {SOME, ALL},                         {0, ALL},                     0},
    {{"nsgs-newton", solve_few_loaded},              COLD | FRICTION | SPATIAL,           GIVEN,         {LOOSE + 1, MORE},                   {0, ALL},                     12},
    {{"nsgs", solve_weakly_coupled},                 COLD | FRICTION | SPATIAL | UNTRIED, GIVEN,         {MORE + 1, ALL},                     {0, ALL},                     0},
    {{"active-set", solve_active_set},               WARM,                                GIVEN,         {0, ALL},                            {0, ALL},                     12},
    {{"active-set", solve_active_set},               COLD | NO_SET,                       NOTHING,       {LOOSE + 1, ALL},                    {0, ALL},                     12},
    {{"nsgs-newton", solve_few_contacts},            COLD | DISC,                         GIVEN,         {0, LOOSE},                          {0, ALL},                     40},
    {{"active-set", solve_active_set},               COLD | JOINTS,                       NOTHING,       {0, LOOSE},                          {0, ALL},                     12},
    {{"lemke", solve_tiny_friction},                 COLD | FLAT,                         GIVEN,         {0, LOOSE},                          {0, TINIEST_LCP},             0},
    {{"active-set", solve_active_set},               COLD | FLAT,                         NOTHING,       {0, LOOSE},                          {0, TINY_LCP},                5},
    {{"lemke", solve_tiny_friction},                 COLD | FLAT,                         GIVEN,         {0, LOOSE},                          {TINIEST_LCP + 1, TINY_LCP},  0},
    {{"active-set", solve_active_set},               COLD | FLAT,                         NOTHING,       {0, LOOSE},                          {TINY_LCP + 1, ALL},          12},
    {{"active-set", solve_active_set},               COLD | NO_SPATIAL,                   NOTHING,       {0, LOOSE},                          {0, ALL},                     12},
    {{"nsgs-newton", solve_few_contacts},            COLD | FLAT,                         GIVEN,         {0, SOME - 1},                       {0, ALL},                     16},
    {{"nsgs-newton", solve_few_contacts},            COLD | PLANAR,                       GIVEN,         {0, SOME - 1},                       {0, ALL},                     16},
    {{"lemke", solve_lemke},                         0,                                   GIVEN,         {0, ALL},                            {0, SMALL_LCP},               0},
    {{"lemke-covered", solve_lemke_covered},         0,                                   GIVEN,         {0, ALL},                            {0, SMALL_LCP},               0},
    {{"lemke", solve_lemke_short},                   PLAIN,                               GIVEN,         {0, ALL},                            {SMALL_LCP + 1, PLAIN_LCP},   0},
    {{"keller", solve_keller_short},                 PLAIN,                               GIVEN,         {0, ALL},                            {SMALL_LCP + 1, PLAIN_LCP},   0},
    {{"lemke-restarted", solve_lemke_restarted},     PLAIN,                               GIVEN,         {0, ALL},                            {SMALL_LCP + 1, PLAIN_LCP},   0},
    {{"range-newton", solve_redundant},              DISC | UNTRIED,                      GIVEN,         {SOME_FLAT + 1, ALL},                {0, ALL},                     200},
    {{"range-newton", solve_redundant},              FLAT | UNTRIED,                      GIVEN,         {SOME_FLAT, ALL},                    {0, ALL},                     120},
    {{"active-set", solve_at_rest},                  COLD | FRICTION,                     GIVEN,         {LOOSE + 1, MANY},                   {0, ALL},                     12},
    {{"range-newton", solve_range_newton},           COLD | DISC,                         GIVEN,         {0, SOME_FLAT},                      {0, ALL},                     60},
    {{"nsgs-newton", solve_few_contacts},            COLD | FLAT,                         GIVEN,         {SOME, LOOSE},                       {0, ALL},                     40},
    {{"nsgs-newton", solve_few_contacts},            COLD | PLANAR,                       GIVEN,         {SOME, LOOSE},                       {0, ALL},                     40},
    {{"nsgs-accelerated", solve_nsgs_accelerated},   COLD | FLAT,                         GIVEN,         {SOME_FLAT + 1, LOOSE},              {0, ALL},                     60},
    {{"nsgs-accelerated", solve_nsgs_accelerated},   COLD,                                GIVEN,         {LOOSE + 1, MANY},                   {0, ALL},                     60},
    {{"nsgs-accelerated", solve_nsgs_accelerated},   COLD | SPATIAL | UNTRIED,            GIVEN,         {MANY + 1, ALL},                     {0, ALL},                     60},
    {{"nsgs-newton", solve_nsgs_newton},             COLD | FLAT,                         GIVEN,         {0, LOOSE},                          {0, ALL},                     40},
    {{"nsgs-newton", solve_nsgs_newton},             COLD | NO_SPATIAL,                   GIVEN,         {0, MANY},                           {0, ALL},                     40},
    {{"nsgs-newton", solve_nsgs_newton},             COLD | DISC,                         GIVEN,         {LOOSE + 1, MORE},                   {0, ALL},                     18},
    {{"nsgs-newton", solve_nsgs_newton},             0,                                   GIVEN,         {MANY + 1, ALL},                     {0, ALL},                     100},
    {{"ray", solve_refuted},                         UNTRIED,                             GIVEN,         {0, ALL},                            {0, ALL},                     0},
    {{"continuation", solve_continuation},           COLD | DISC,                         GIVEN,         {0, SOME_FLAT},                      {0, ALL},                     40},
    {{"wedged", solve_wedged},                       DISC | UNTRIED,                      GIVEN,         {0, ALL},                            {0, ALL},                     0},
    {{"continuation", solve_continuation},           COLD | DISC,                         GIVEN,         {SOME_FLAT + 1, LOOSE},              {0, ALL},                     40},
    {{"range-newton", solve_range_newton},           COLD | DISC,                         GIVEN,         {SOME_FLAT + 1, LOOSE},              {0, ALL},                     60},
    {{"lemke", solve_lemke},                         PLAIN,                               GIVEN,         {0, ALL},                            {PLAIN_LCP + 1, LARGE_LCP},   0},
    {{"lemke", solve_lemke},                         FRICTION,                            GIVEN,         {0, ALL},                            {SMALL_LCP + 1, SURE_LCP},    800},
    {{"range-newton", solve_range_newton},           COLD | FLAT | UNTRIED,               BEST_IF_CLOSE, {LOOSE + 1, ALL},                    {0, ALL},                     120},
    {{"continuation", solve_continuation},           COLD | FLAT | UNTRIED,               GIVEN,         {LOOSE + 1, ALL},                    {SMALL_LCP + 1, ALL},         30},
    {{"smoothing", solve_smoothing_cheap},           COLD | FLAT | UNTRIED,               GIVEN,         {LOOSE + 1, ALL},                    {0, ALL},                     15},
    {{"lemke-covered", solve_lemke_covered},         FRICTION,                            GIVEN,         {0, ALL},                            {SMALL_LCP + 1, MEDIUM_LCP},  2000},
    {{"lemke", solve_lemke},                         SPATIAL | UNTRIED,                   GIVEN,         {SOME, ALL},                         {SMALL_LCP + 1, ATTEMPT_LCP}, 4000},
    {{"smoothing", solve_smoothing_cheap},           SPARSE | SPATIAL,                    NOTHING,       {0, MODERATE_ROWS},                  {0, ALL},                     90},
    {{"wedged", solve_wedged},                       FLAT | UNTRIED,                      GIVEN,         {0, ALL},                            {0, ALL},                     0},
    {{"range-newton", solve_range_newton},           COLD | FLAT | UNTRIED,               BEST,          {LOOSE + 1, ALL},                    {0, ALL},                     120},
    {{"range-newton", solve_range_newton},           COLD | DISC | UNTRIED,               BEST,          {LOOSE + 1, ALL},                    {0, ALL},                     60},
    {{"smoothing", solve_smoothing_cheap},           COLD | DISC | UNTRIED,               GIVEN,         {LOOSE + 1, MANY},                   {0, ALL},                     40},
    {{"continuation", solve_continuation},           SPATIAL | UNTRIED,                   GIVEN,         {SOME, ALL},                         {0, ALL},                     400},
    {{"smoothing", solve_smoothing_cheap},           COLD | DISC | UNTRIED,               GIVEN,         {MANY + 1, ALL},                     {0, ALL},                     40},
    {{"patches", solve_patches},                     SPARSE,                              BEST,          {PATH_ROWS + 1, MODERATE_ROWS},      {0, ALL},                     0},
    {{"range-newton", solve_range_newton},           DISC,                                GIVEN,         {SOME, ALL},                         {0, ALL},                     0},
    {{"range-newton", solve_range_newton},           FLAT,                                GIVEN,         {SOME_FLAT, ALL},                    {0, ALL},                     0},
    {{"smoothing", solve_smoothing},                 0,                                   GIVEN,         {0, ALL},                            {0, ALL},                     150},
    {{"range-newton", solve_range_newton},           0,                                   BEST_IF_NEAR,  {0, ALL},                            {0, ALL},                     0},
    {{"prox", solve_prox},                           0,                                   GIVEN,         {0, ALL},                            {0, ALL},                     150},
    {{"interior-point", solve_interior_point},       0,                                   GIVEN,         {0, ALL},                            {0, ALL},                     0},
    {{"continuation", solve_continuation},           FRICTION,                            GIVEN,         {SOME, ALL},                         {0, ALL},                     0},
    {{"lemke", solve_lemke},                         FRICTION,                            GIVEN,         {0, ALL},                            {SMALL_LCP + 1, LARGE_LCP},   0},
    {{"lemke-covered", solve_lemke_covered},         FRICTION,                            GIVEN,         {0, ALL},                            {SMALL_LCP + 1, LARGE_LCP},   0},
    {{"prox", solve_prox},                           0,                                   GIVEN,         {0, ALL},                            {0, ALL},                     3000},
    {{"facets", solve_facets},                       0,                                   GIVEN,         {0, ALL},                            {0, ALL},                     0},
    {{"lemke-regularized", solve_lemke_regularized}, FRICTION,                            GIVEN,         {0, ALL},                            {MEDIUM_LCP + 1, LARGE_LCP},  0},
    {{"enumeration", solve_enumeration},             0,                                   GIVEN,         {0, ALL},                            {0, ALL},                     0},
    {{"admm", solve_admm},                           0,                                   GIVEN,         {0, ALL},                            {0, ALL},                     0},
    {{"nsgs-newton", solve_nsgs_newton},             0,                                   GIVEN,         {0, ALL},                            {0, ALL},                     3000},
    {{"range-newton", solve_range_newton},           0,                                   BEST_IF_NEAR,  {0, ALL},                            {0, ALL},                     0},
};
/* clang-format on */
enum { N_RUNGS = sizeof ladder / sizeof *ladder };

static unsigned traits_of(const ss_cp *problem, bool warm, int variables) {
  const bool friction = has_friction(problem), spatial = has_spatial_friction(problem), disc = has_disc(problem);
  const bool sparse = is_large_and_sparse(problem);
  return (warm ? WARM : COLD) | (friction ? FRICTION : PLAIN) | (disc ? DISC : 0U) | (spatial ? SPATIAL : NO_SPATIAL) |
         (spatial && !disc ? FLAT : 0U) | (friction && !spatial ? PLANAR : 0U) | (only_free(problem) ? NO_SET : 0U) |
         (disc && some_free(problem) ? JOINTS : 0U) | (is_tiny_lcp(problem) ? TINY : 0U) | (sparse ? SPARSE : 0U) |
         (sparse && friction && problem->n <= MODERATE_ROWS ? 0U : UNTRIED) |
         (operator_has_bodies(problem->factors) ? FACTORS : 0U) |
         (friction || variables > LARGE_LCP || problem->n > SS_CP_DENSE_ROWS ? NO_PIVOTS : 0U);
}

static bool within(span s, int x) { return s.least <= x && x <= s.most; }

static bool worth_trying(const climb *c, const rung *r, unsigned traits, int variables) {
  if (r->needs & ~traits) return false;
  if (!within(r->rows, c->problem->n) || !within(r->variables, variables)) return false;
  const int bearable = r->needs & PLAIN ? SS_CP_DENSE_ROWS : BEARABLE_ROWS;
  if (traits & SPARSE && !(r->needs & SPARSE) && c->problem->n > bearable) return false;
  if (r->start == BEST_IF_CLOSE) return c->result->residual < nearly_solved;
  return r->start != BEST_IF_NEAR || c->result->residual < polish_below;
}

/* A step's answer that is within the tolerance, but not near rounding errors, spoils the start of the next step. Sweeps
 * improve what active sets cannot: contacts on the edge between two states. */
static ss_status refine(climb *c, ss_error *error) {
  static const solver_row row = {"nsgs-newton", solve_nsgs_newton};
  static const double above = 1e-12;
  enum { LIMIT = 20, MOST_ROWS = 600 };
  if (!(c->result->residual > above) || c->problem->n > MOST_ROWS) return SS_OK;
  ss_outcome outcome;
  return try_row(c, &row, LIMIT, c->z, &outcome, error);
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

/* Other forms of the matrix than the one that is given. */
typedef struct forms {
  ss_cp dense, listed;
  ss_sparse rows;
} forms;

static ss_status make_dense(climb *c, forms *f, ss_error *error) {
  if (c->problem->G) return SS_OK;
  const ss_status status = storage_dense(c->problem, c->workspace, &f->dense, error);
  if (operator_has_bodies(c->problem->factors)) f->dense.factors = c->problem->factors;
  if (!status) c->problem = &f->dense;
  return status;
}

/* The rows beside the factors: most methods ask for them. */
static ss_status list_rows(climb *c, forms *f, ss_error *error) {
  f->listed = *c->problem;
  f->listed.sparse = &f->rows;
  const ss_status status = storage_rows(c->problem, c->workspace, &f->rows, error);
  if (!status) c->problem = &f->listed;
  return status;
}

/* The z that a rung starts from; NULL: nothing. */
static const double *start_of(const climb *c, const rung *r, bool warm) {
  const double *given = warm ? c->start : NULL;
  if (r->start == NOTHING) return NULL;
  if (r->start == GIVEN) return given;
  return c->result->residual < HUGE_VAL ? c->z : given;
}

/* The outcome of a failure is that of the first rung that gave a reason: a ray of Lemke's method says more than the
 * iteration limit of the others. */
static ss_status climb_rungs(climb *c, bool warm, bool bodies, forms *f, ss_error *error) {
  ss_outcome first = SS_SOLVED;
  const int variables = lcp_variables(c->problem);
  unsigned traits = traits_of(c->problem, warm, variables) | (bodies ? BODIES : NO_BODIES);
  for (int k = 0; k < N_RUNGS; k++) {
    const rung *r = &ladder[k];
    if (!worth_trying(c, r, traits, variables)) continue;
    ss_outcome outcome;
    ss_status status = r->needs & SPARSE ? SS_OK : make_dense(c, f, error);
    if (!status) status = try_row(c, &r->row, r->limit, start_of(c, r, warm), &outcome, error);
    if (status) return status;
    if (c->result->residual <= c->options->tolerance) return warm && !(traits & SPARSE) ? refine(c, error) : SS_OK;
    if (traits & WARM & r->needs) { /* the states before are not those of this problem: from the top, as without them */
      traits ^= WARM | COLD;
      k = -1;
    }
    if (outcome == SS_NOT_ADMITTED) continue;
    c->result->fallbacks++;
    if (proved_impossible(c)) return SS_OK;
    if (at_rounding_level(c)) {
      c->result->outcome = SS_STALLED;
      return SS_OK;
    }
    if (outcome != SS_SOLVED && (first == SS_SOLVED || first == SS_LIMIT)) first = outcome;
  }
  if (first != SS_SOLVED) c->result->outcome = first;
  if (first == SS_RAY && c->result->residual < nearly_solved) c->result->outcome = SS_STALLED; /* then it was none */
  return SS_OK;
}

ss_status climb_ladder(climb *c, bool warm, ss_error *error) {
  const ss_cp *given = c->problem;
  const bool large = is_large_and_sparse(given);
  const bool bodies = operator_has_bodies(given->factors) && !given->sparse && !given->G;
  forms f;
  ss_status status = SS_OK;
  if (!given->G && !large && given->n > SS_CP_DENSE_ROWS) {
    c->result->outcome = SS_NOT_ADMITTED;
    return SS_OK;
  }
  if (given->n <= MODERATE_ROWS || !large)
    status = make_dense(c, &f, error);
  else if (given->factors && !given->sparse)
    status = list_rows(c, &f, error);
  if (!status) status = climb_rungs(c, warm, bodies, &f, error);
  judge_as_given(c, given);
  return status;
}
