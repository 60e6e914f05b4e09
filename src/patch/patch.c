/* Stiffness and damping of a patch.
 *
 * The influence matrix Xi of the elastic half-space (DCC appendix A, after Boussinesq and Cerruti) gives the
 * deformations from the forces: Xi = K^-1. Corrections to the printed formulas (MATH section 4): no pi in the diagonal
 * of xi_nn (with it Xi is indefinite), and the factor nu in xi_to. Two elastic bodies: delta is the displacement of a's
 * surface relative to b's, so compliances add, except for the coupling of normal and tangential directions, which
 * subtracts: pressed surfaces both move towards the load.
 *
 * Damping: C = 2 sqrt(K) (DCC), C = a + b K (Rayleigh), or given. Fails where K or C is not positive definite; C may be
 * zero. */
#include "patch/patch.h"

#include "la/symmetric.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static ss_status out_of_memory(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

/* What the two materials contribute to the four kinds of entries. */
typedef struct moduli {
  double normal;   /* (1 - nu^2) / E */
  double shear;    /* (1 + nu) nu / E: the part of xi_tt and xi_to that depends on the direction */
  double self;     /* (1 + nu) (2 - nu) / E */
  double coupling; /* (1 - 2 nu) (1 + nu) / (2 E), a's minus b's */
} moduli;

static void add_material(moduli *m, ss_elastic e, double side) {
  if (!(e.young > 0)) return;
  m->normal += (1 - e.poisson * e.poisson) / e.young;
  m->shear += (1 + e.poisson) * e.poisson / e.young;
  m->self += (1 + e.poisson) * (2 - e.poisson) / e.young;
  m->coupling += side * (1 - 2 * e.poisson) * (1 + e.poisson) / (2 * e.young);
}

/* Displacement in direction a (0 n, 1 t, 2 o) at the offset r from a unit force in direction b. */
static double influence(const moduli *m, const double r[2], int a, int b) {
  const double distance = hypot(r[0], r[1]);
  if (a == 0 && b == 0) return m->normal / (pi * distance);
  if (a == 0) return m->coupling / pi * r[b - 1] / (distance * distance);
  if (b == 0) return -m->coupling / pi * r[a - 1] / (distance * distance);
  const double along = r[a - 1] * r[b - 1] / (distance * distance);
  return ((a == b ? m->normal : 0) + m->shear * along) / (pi * distance);
}

static double self_influence(const moduli *m, double spacing, int a, int b) {
  if (a != b) return 0;
  return a == 0 ? 0.95 * m->normal / spacing : m->self / (sqrt(pi) * spacing);
}

static void fill_influence(const ss_patch *p, const moduli *m, double spacing, double *xi) {
  const int d = p->n_directions;
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < p->n; j++) {
      const double *ri = p->place + 2 * (ptrdiff_t)(i / d), *rj = p->place + 2 * (ptrdiff_t)(j / d);
      const double r[2] = {ri[0] - rj[0], ri[1] - rj[1]};
      xi[(size_t)i * (size_t)p->n + (size_t)j] =
          i / d == j / d ? self_influence(m, spacing, i % d, j % d) : influence(m, r, i % d, j % d);
    }
}

/* Numbers as the scene gives them: normal and tangential per element, or the whole matrix. */
static ss_status fill_given(const ss_patch *p, const double *numbers, int count, const char *what, double *out,
                            ss_error *error) {
  const size_t n = (size_t)p->n;
  if (count == 2) {
    for (size_t i = 0; i < n; i++) out[i * n + i] = numbers[i % (size_t)p->n_directions ? 1 : 0];
    return SS_OK;
  }
  if ((size_t)count != n * n)
    return ss_fail(error, SS_ERROR_INPUT, "%s: expected 2 numbers or a matrix of %d x %d, got %d numbers", what, p->n,
                   p->n, count);
  memcpy(out, numbers, sizeof(double) * n * n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      if (fabs(out[i * n + j] - out[j * n + i]) > 1e-9 * (fabs(out[i * n + i]) + fabs(out[j * n + j])))
        return ss_fail(error, SS_ERROR_INPUT, "%s must be symmetric", what);
  return SS_OK;
}

/* out = 2 sqrt(K) */
static ss_status critical(const ss_patch *p, double *out, ss_error *error) {
  const size_t n = (size_t)p->n;
  double *v = ss_alloc(sizeof(double) * n * (n + 2));
  if (!v) return out_of_memory(error);
  double *values = v + n * n, *scratch = values + n;
  bool good = ss_symmetric_eigen(p->K, p->n, v, values, scratch);
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

static ss_status fill_stiffness(ss_patch *p, const ss_compliance_def *def, const moduli *m, ss_error *error) {
  if (def->n_stiffness) return fill_given(p, def->stiffness, def->n_stiffness, "compliance: stiffness", p->K, error);
  fill_influence(p, m, def->spacing, p->K);
  if (ss_spd_invert(p->K, p->n)) return SS_OK;
  return ss_fail(error, SS_ERROR_INPUT, "compliance: the influence matrix is not positive definite");
}

static ss_status fill_damping(ss_patch *p, const ss_compliance_def *def, ss_error *error) {
  const size_t n = (size_t)p->n;
  if (def->law == SS_DAMPING_CRITICAL) return critical(p, p->C, error);
  if (def->law == SS_DAMPING_GIVEN)
    return fill_given(p, def->damping, def->n_damping, "compliance: damping", p->C, error);
  for (size_t i = 0; i < n * n; i++) p->C[i] = def->rayleigh[1] * p->K[i];
  for (size_t i = 0; i < n; i++) p->C[i * n + i] += def->rayleigh[0];
  return SS_OK;
}

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

ss_status ss_patch_create(const ss_compliance_def *def, ss_elastic a, ss_elastic b, int directions, ss_arena *arena,
                          ss_patch **out, ss_error *error) {
  moduli m = {0};
  add_material(&m, a, 1);
  add_material(&m, b, -1);
  if (!def->n_stiffness && !(m.normal > 0))
    return ss_fail(error, SS_ERROR_INPUT, "compliance: young is given neither for the scene nor for the materials");
  ss_patch *p = SS_ARENA_ARRAY(arena, ss_patch, 1);
  if (!p) return out_of_memory(error);
  p->n_elements = directions == 3 ? def->elements * def->elements : def->elements;
  p->n_directions = directions;
  p->n = p->n_elements * directions;
  const size_t square = (size_t)p->n * (size_t)p->n;
  p->place = SS_ARENA_ARRAY(arena, double, 2 * (size_t)p->n_elements);
  p->K = SS_ARENA_ARRAY(arena, double, 4 * square);
  if (!p->place || !p->K) return out_of_memory(error);
  p->C = p->K + square;
  p->flexibility = p->C + square;
  p->recovery = p->flexibility + square;
  place_elements(p, def);
  ss_status status = fill_stiffness(p, def, &m, error);
  if (status == SS_OK) status = fill_damping(p, def, error);
  *out = p;
  return status;
}

ss_status ss_patch_prepare(ss_patch *p, double h, ss_error *error) {
  if (p->h == h) return SS_OK;
  const size_t n = (size_t)p->n;
  for (size_t i = 0; i < n * n; i++) p->flexibility[i] = h * p->K[i] + p->C[i];
  p->h = 0;
  if (!ss_spd_invert(p->flexibility, p->n))
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
