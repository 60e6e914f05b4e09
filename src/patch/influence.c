/* What a force on one element of a surface does to all of them.
 *
 * The influence matrix Xi of the elastic half-space (DCC appendix A, after Boussinesq and Cerruti) gives the
 * deformations from the forces. Corrections to the printed formulas (MATH section 4): no pi in the diagonal of xi_nn (with
 * it Xi is indefinite), and the factor nu in xi_to. Deformations are those of a's surface relative to b's: of the two
 * bodies' matrices only the coupling of normal and tangential directions differs in sign, because pressed surfaces both
 * move towards the load. A surface of springs has a diagonal matrix. */
#include "patch/patch.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* What the material contributes to the four kinds of entries. */
typedef struct moduli {
  double normal;   /* (1 - nu^2) / E */
  double shear;    /* (1 + nu) nu / E: the part of xi_tt and xi_to that depends on the direction */
  double self;     /* (1 + nu) (2 - nu) / E */
  double coupling; /* (1 - 2 nu) (1 + nu) / (2 E), with the sign of the side */
} moduli;

static moduli moduli_of(ss_elastic e, int which) {
  return (moduli){.normal = (1 - e.poisson * e.poisson) / e.young,
                  .shear = (1 + e.poisson) * e.poisson / e.young,
                  .self = (1 + e.poisson) * (2 - e.poisson) / e.young,
                  .coupling = (which ? -1 : 1) * (1 - 2 * e.poisson) * (1 + e.poisson) / (2 * e.young)};
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

static void add_half_space(const ss_patch *p, const moduli *m, double spacing, double *xi) {
  const int d = p->n_directions;
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < p->n; j++) {
      const double *ri = p->place + 2 * (ptrdiff_t)(i / d), *rj = p->place + 2 * (ptrdiff_t)(j / d);
      const double r[2] = {ri[0] - rj[0], ri[1] - rj[1]};
      xi[(size_t)i * (size_t)p->n + (size_t)j] +=
          i / d == j / d ? self_influence(m, spacing, i % d, j % d) : influence(m, r, i % d, j % d);
    }
}

bool ss_surface_gives(const ss_surface *side) { return side->elastic.young > 0 || side->stiffness[0] > 0; }

void ss_surface_influence(const ss_patch *p, const ss_surface *side, int which, double spacing, double *out) {
  if (side->elastic.young > 0) {
    const moduli m = moduli_of(side->elastic, which);
    add_half_space(p, &m, spacing, out);
    return;
  }
  for (int i = 0; i < p->n; i++)
    out[(size_t)i * (size_t)p->n + (size_t)i] += 1 / side->stiffness[i % p->n_directions ? 1 : 0];
}
