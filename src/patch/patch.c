/* Stiffness and damping of a patch.
 *
 * Two surfaces that give are in series: compliances add, K^-1 = Xi_a + Xi_b (influence.c). So do those of the dampers,
 * C^-1 = C_a^-1 + C_b^-1, where the materials have dampers of their own: exact where both have the same ratio of damping
 * to stiffness, else the law of a single spring and damper that has the right stiffness at rest and the right force at
 * a sudden blow. Else C = 2 sqrt(K) (DCC), C = a + b K (Rayleigh), or given.
 *
 * Fails where K or C is not positive definite; C may be zero, but not in one of two materials only. */
#include "patch/patch.h"

#include "la/dense.h"

#include <math.h>
#include <string.h>

static ss_status out_of_memory(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

/* Where component i lies in the frame of the other body: normal and first tangent point the other way, so that elements
 * change places along the first tangent; a's motion relative to b is b's relative to a, against the turned directions.
 * Along the second tangent, which stays, it changes its sign. */
int ss_patch_turned(const ss_patch *p, int i, double *sign) {
  const int d = p->n_directions, element = i / d;
  const int side = d == 3 ? (int)lround(sqrt(p->n_elements)) : p->n_elements;
  *sign = i % d == 2 ? -1 : 1;
  return (element / side * side + side - 1 - element % side) * d + i % d;
}

/* Numbers as the scene gives them: normal and tangential per element, or the whole matrix. */
static ss_status fill_given(const ss_patch *p, const double *numbers, int count, bool turned, const char *what,
                            double *out, ss_error *error) {
  const size_t n = (size_t)p->n;
  if (count == 2) {
    for (size_t i = 0; i < n; i++) out[i * n + i] = numbers[i % (size_t)p->n_directions ? 1 : 0];
    return SS_OK;
  }
  if ((size_t)count != n * n)
    return ss_fail(error, SS_ERROR_INPUT, "%s: expected 2 numbers or a matrix of %d x %d, got %d numbers", what, p->n,
                   p->n, count);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      const double value = numbers[i * n + j];
      if (fabs(value - numbers[j * n + i]) > 1e-9 * (fabs(numbers[i * n + i]) + fabs(numbers[j * n + j])))
        return ss_fail(error, SS_ERROR_INPUT, "%s must be symmetric", what);
      double row = 1, column = 1;
      const size_t to_i = turned ? (size_t)ss_patch_turned(p, (int)i, &row) : i;
      const size_t to_j = turned ? (size_t)ss_patch_turned(p, (int)j, &column) : j;
      out[to_i * n + to_j] = row * column * value;
    }
  return SS_OK;
}

/* out = 2 sqrt(K) */
static ss_status critical(const ss_patch *p, const double *K, double *out, ss_error *error) {
  const size_t n = (size_t)p->n;
  double *v = ss_alloc(sizeof(double) * n * (n + 2));
  if (!v) return out_of_memory(error);
  double *values = v + n * n, *scratch = values + n;
  bool good = ss_symmetric_eigen(K, p->n, v, values, scratch);
  for (size_t k = 0; k < n && good; k++) good = values[k] > 0;
  for (size_t i = 0; i < n && good; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = 0;
      for (size_t k = 0; k < n; k++) sum += v[i * n + k] * v[j * n + k] * sqrt(values[k]);
      out[i * n + j] = out[j * n + i] = 2 * sum;
    }
  ss_free(v);
  return good ? SS_OK : ss_fail(error, SS_ERROR_INPUT, "compliance: the stiffness is not positive definite");
}

static void rayleigh(const ss_patch *p, const double *K, const double factors[2], double *out) {
  const size_t n = (size_t)p->n;
  for (size_t i = 0; i < n * n; i++) out[i] = factors[1] * K[i];
  for (size_t i = 0; i < n; i++) out[i * n + i] += factors[0];
}

static ss_status fill_stiffness(const ss_patch *p, const ss_compliance_def *def, const ss_surface side[2], bool turned,
                                ss_error *error) {
  if (!ss_surface_gives(&side[0]) && !ss_surface_gives(&side[1]))
    return fill_given(p, def->stiffness, def->n_stiffness, turned, "compliance: stiffness", p->K, error);
  for (int i = 0; i < 2; i++)
    if (ss_surface_gives(&side[i])) ss_surface_influence(p, def, &side[i], i, p->K);
  if (ss_spd_inverse(p->K, p->n)) return SS_OK;
  return ss_fail(error, SS_ERROR_INPUT, "compliance: the influence matrix is not positive definite");
}

/* ---- damping ---- */

/* The dampers of one side: out = C_side. */
static ss_status side_damping(const ss_patch *p, const ss_compliance_def *def, const ss_surface *side, int which,
                              double *out, ss_error *error) {
  const size_t square = (size_t)p->n * (size_t)p->n;
  if (side->law == SS_DAMPING_GIVEN) return fill_given(p, side->damping, 2, false, "damping", out, error);
  double *K = ss_alloc(sizeof(double) * square);
  if (!K) return out_of_memory(error);
  memset(K, 0, sizeof(double) * square);
  ss_surface_influence(p, def, side, which, K);
  ss_status status = SS_OK;
  if (!ss_spd_inverse(K, p->n))
    status = ss_fail(error, SS_ERROR_INPUT, "compliance: the influence matrix is not positive definite");
  else if (side->law == SS_DAMPING_CRITICAL)
    status = critical(p, K, out, error);
  else
    rayleigh(p, K, side->damping, out);
  ss_free(K);
  return status;
}

static bool all_zero(const double *matrix, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (matrix[i] != 0) return false;
  return true;
}

/* C = (C_a^-1 + C_b^-1)^-1 in place of a; zero where both are. */
static ss_status in_series(const ss_patch *p, double *a, double *b, ss_error *error) {
  const size_t square = (size_t)p->n * (size_t)p->n;
  if (all_zero(a, square) && all_zero(b, square)) return SS_OK;
  bool good = ss_spd_inverse(a, p->n) && ss_spd_inverse(b, p->n);
  for (size_t i = 0; i < square; i++) a[i] += b[i];
  good = good && ss_spd_inverse(a, p->n);
  return good ? SS_OK
              : ss_fail(error, SS_ERROR_INPUT,
                        "compliance: of two materials both must have a positive damping, or none");
}

static ss_status damp_sides(const ss_patch *p, const ss_compliance_def *def, const ss_surface side[2],
                            ss_error *error) {
  const bool both = ss_surface_gives(&side[0]) && ss_surface_gives(&side[1]);
  const int first = ss_surface_gives(&side[0]) ? 0 : 1;
  ss_status status = side_damping(p, def, &side[first], first, p->C, error);
  if (status != SS_OK || !both) return status;
  const size_t square = (size_t)p->n * (size_t)p->n;
  double *other = ss_alloc(sizeof(double) * square);
  if (!other) return out_of_memory(error);
  memset(other, 0, sizeof(double) * square);
  status = side_damping(p, def, &side[1], 1, other, error);
  if (status == SS_OK) status = in_series(p, p->C, other, error);
  ss_free(other);
  return status;
}

static ss_status fill_damping(const ss_patch *p, const ss_compliance_def *def, const ss_surface side[2], bool turned,
                              ss_error *error) {
  if (side[0].has_damping || side[1].has_damping) return damp_sides(p, def, side, error);
  if (def->law == SS_DAMPING_CRITICAL) return critical(p, p->K, p->C, error);
  if (def->law == SS_DAMPING_GIVEN)
    return fill_given(p, def->damping, def->n_damping, turned, "compliance: damping", p->C, error);
  rayleigh(p, p->K, def->rayleigh, p->C);
  return SS_OK;
}

/* ---- the patch ---- */

/* A square lattice about the contact point; a line in planar scenes. */
static void place_elements(ss_patch *p, const ss_compliance_def *def) {
  const int side = def->elements;
  const double middle = (side - 1) / 2.0;
  for (int e = 0; e < p->n_elements; e++) {
    const int column = e % side, line = e / side;
    p->place[2 * e] = def->spacing * (column - middle);
    p->place[2 * e + 1] = p->n_directions == 3 ? def->spacing * (line - middle) : 0;
  }
}

/* Numbers per element and per component, in the order of this side's frame. */
static ss_status fill_elements(ss_patch *p, const ss_compliance_def *def, bool turned, ss_arena *arena,
                               ss_error *error) {
  const int d = p->n_directions;
  if (def->n_friction && !(p->friction = SS_ARENA_ARRAY(arena, double, p->n_elements))) return out_of_memory(error);
  if (def->n_delta && !(p->delta = SS_ARENA_ARRAY(arena, double, p->n))) return out_of_memory(error);
  for (int i = 0; i < p->n; i++) {
    double sign = 1;
    const int to = turned ? ss_patch_turned(p, i, &sign) : i;
    if (p->friction) p->friction[to / d] = def->friction[i / d];
    if (p->delta) p->delta[to] = sign * def->delta[i];
  }
  return SS_OK;
}

/* How the two surfaces share the compliance, by that of a single element; and E* where both are half-spaces or rigid. */
static void measure_sides(ss_patch *p, const ss_compliance_def *def, const ss_surface side[2]) {
  double sum = 0, compliance = 0;
  bool half_spaces = true;
  for (int i = 0; i < 2; i++) {
    const ss_elastic e = side[i].elastic;
    if (!ss_surface_gives(&side[i])) continue;
    half_spaces &= e.young > 0;
    if (e.young > 0) compliance += (1 - e.poisson * e.poisson) / e.young;
    p->share[i] = e.young > 0 ? (1 - e.poisson * e.poisson) / (e.young * def->spacing) : 1 / side[i].stiffness[0];
    sum += p->share[i];
  }
  for (int i = 0; i < 2; i++) p->share[i] = sum > 0 ? p->share[i] / sum : 0.5;
  p->modulus = half_spaces && compliance > 0 ? 1 / compliance : 0;
}

/* What the parts below rely on. */
static ss_status check(const ss_compliance_def *def, const ss_surface side[2], ss_error *error) {
  const bool gives[2] = {ss_surface_gives(&side[0]), ss_surface_gives(&side[1])};
  if (!gives[0] && !gives[1] && !def->n_stiffness)
    return ss_fail(error, SS_ERROR_INPUT,
                   "compliance: neither 'young' nor 'stiffness' is given for the scene, the pair or its materials");
  if (!(def->spacing > 0) && (def->elements > 1 || side[0].elastic.young > 0 || side[1].elastic.young > 0))
    return ss_fail(error, SS_ERROR_INPUT, "compliance: 'spacing' is given neither for the scene nor for the pair");
  if (gives[0] && gives[1] && side[0].has_damping != side[1].has_damping)
    return ss_fail(error, SS_ERROR_INPUT, "compliance: of two materials that give only one has a 'damping' of its own");
  return SS_OK;
}

static ss_status keep_base(ss_patch *p, ss_arena *arena, ss_error *error) {
  const size_t square = (size_t)p->n * (size_t)p->n;
  double *base = SS_ARENA_ARRAY(arena, double, 2 * square);
  if (!base) return out_of_memory(error);
  memcpy(base, p->K, sizeof(double) * 2 * square); /* C follows K */
  p->K0 = base;
  p->C0 = base + square;
  p->factor[0] = p->factor[1] = 1;
  return SS_OK;
}

void ss_patch_scale(ss_patch *p, const double factor[2]) {
  if (p->factor[0] == factor[0] && p->factor[1] == factor[1]) return;
  const size_t square = (size_t)p->n * (size_t)p->n;
  for (size_t i = 0; i < square; i++) p->K[i] = factor[0] * p->K0[i], p->C[i] = factor[1] * p->C0[i];
  memcpy(p->factor, factor, sizeof p->factor);
  p->h = 0; /* flexibility and recovery are no longer those */
}

ss_status ss_patch_create(const ss_compliance_def *def, const ss_surface side[2], bool turned, int directions,
                          ss_arena *arena, ss_patch **out, ss_error *error) {
  ss_status status = check(def, side, error);
  if (status != SS_OK) return status;
  ss_patch *p = SS_ARENA_ARRAY(arena, ss_patch, 1);
  if (!p) return out_of_memory(error);
  p->n_elements = directions == 3 ? def->elements * def->elements : def->elements;
  p->n_directions = directions;
  p->n = p->n_elements * directions;
  p->side = def->elements;
  p->spacing = def->spacing;
  if (def->influence == SS_INFLUENCE_HALF_PLANE) p->thickness = def->thickness > 0 ? def->thickness : 1;
  p->transport = def->transport;
  const size_t square = (size_t)p->n * (size_t)p->n;
  p->place = SS_ARENA_ARRAY(arena, double, 2 * (size_t)p->n_elements);
  p->K = SS_ARENA_ARRAY(arena, double, 4 * square);
  if (!p->place || !p->K) return out_of_memory(error);
  p->C = p->K + square;
  p->flexibility = p->C + square;
  p->recovery = p->flexibility + square;
  place_elements(p, def);
  status = fill_stiffness(p, def, side, turned, error);
  if (status == SS_OK) status = fill_damping(p, def, side, turned, error);
  if (status == SS_OK) status = fill_elements(p, def, turned, arena, error);
  if (status == SS_OK) measure_sides(p, def, side);
  if (status == SS_OK && p->transport) status = ss_patch_prepare_transport(p, def, side, arena, error);
  if (status == SS_OK && (def->stiffness_factor || def->damping_factor)) status = keep_base(p, arena, error);
  *out = p;
  return status;
}

ss_status ss_patch_prepare(ss_patch *p, double h, ss_error *error) {
  if (p->h == h) return SS_OK;
  const size_t n = (size_t)p->n;
  for (size_t i = 0; i < n * n; i++) p->flexibility[i] = h * p->K[i] + p->C[i];
  p->h = 0;
  if (!ss_spd_inverse(p->flexibility, p->n))
    return ss_fail(error, SS_ERROR_INPUT, "compliance: h K + C is not positive definite for h = %g", h);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      double sum = 0; /* K is symmetric: row j instead of column j */
      for (size_t k = 0; k < n; k++) sum += p->flexibility[i * n + k] * p->K[j * n + k];
      p->recovery[i * n + j] = sum;
    }
  p->h = h;
  return SS_OK;
}
