/* What a force on one element of a surface does to all of them.
 *
 * The influence matrix Xi of the elastic half-space (DCC appendix A, after Boussinesq and Cerruti) gives the
 * deformations from the forces. Corrections to the printed formulas (MATH section 4): no pi in the diagonal of xi_nn (with
 * it Xi is indefinite), and the factor nu in xi_to. Deformations are those of a's surface relative to b's: of the two
 * bodies' matrices only the coupling of normal and tangential directions differs in sign, because pressed surfaces both
 * move towards the load. A surface of springs has a diagonal matrix.
 *
 * Planar scenes may have the half-plane instead (Flamant): displacements are logarithms, known up to a constant that the
 * datum fixes; pressures, contact widths and creep do not depend on it. */
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

static moduli moduli_of(const ss_compliance_def *def, ss_elastic e, int which) {
  const bool coupled = def->has_coupling ? def->coupling : !def->transport;
  const double sign = !coupled ? 0 : which ? -1 : 1;
  return (moduli){.normal = (1 - e.poisson * e.poisson) / e.young,
                  .shear = (1 + e.poisson) * e.poisson / e.young,
                  .self = (1 + e.poisson) * (2 - e.poisson) / e.young,
                  .coupling = sign * (1 - 2 * e.poisson) * (1 + e.poisson) / (2 * e.young)};
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

/* ---- even loads over square cells ---- */

/* Integrals over the cell, at the offset r from its middle: of 1/d, x^2/d^3, y^2/d^3, x y/d^3, x/d^2 and y/d^2. */
typedef struct cell_integrals {
  double inverse, along[2], cross, pull[2];
} cell_integrals;

static double pull_term(double x, double y, double d) { return y * log(d) - y + (x == 0 ? 0 : x * atan(y / x)); }

static cell_integrals integrate_cell(const double r[2], double width) {
  cell_integrals sum = {0};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      const double x = r[0] + (i ? width : -width) / 2, y = r[1] + (j ? width : -width) / 2, d = hypot(x, y);
      const double sign = i == j ? 1 : -1, in_x = y * log(x + d), in_y = x * log(y + d);
      sum.along[0] += sign * in_x;
      sum.along[1] += sign * in_y;
      sum.inverse += sign * (in_x + in_y);
      sum.cross -= sign * d;
      sum.pull[0] += sign * pull_term(x, y, d);
      sum.pull[1] += sign * pull_term(y, x, d);
    }
  return sum;
}

/* As influence(), for a unit force that is spread over a cell. */
static double cell_influence(const moduli *m, const double r[2], double width, int a, int b) {
  const cell_integrals c = integrate_cell(r, width);
  const double unit = 1 / (pi * width * width);
  if (a == 0 && b == 0) return unit * m->normal * c.inverse;
  if (a == 0) return unit * m->coupling * c.pull[b - 1];
  if (b == 0) return -unit * m->coupling * c.pull[a - 1];
  return unit * (a == b ? m->normal * c.inverse + m->shear * c.along[a - 1] : m->shear * c.cross);
}

/* ---- the half-plane: a line of elements, each loaded evenly over its width, through the thickness ---- */

/* Integral of ln |y|. */
static double log_integral(double y) { return y == 0 ? 0 : y * (log(fabs(y)) - 1); }

/* Displacement in direction a (0 n, 1 t) at the offset x from an element with a unit force in direction b. Tangential
 * loads act like normal ones (plane strain); displacements are those relative to the datum. */
static double line_influence(const moduli *m, const ss_compliance_def *def, double datum, double x, int a, int b) {
  const double width = def->spacing, thickness = def->thickness > 0 ? def->thickness : 1;
  const double low = x - width / 2, high = x + width / 2;
  if (a == b) {
    const double logarithm = (log_integral(high) - log_integral(low)) / width;
    return 2 * m->normal / (pi * thickness) * (log(datum) - logarithm);
  }
  const double side = fmax(-1, fmin(1, 2 * x / width)); /* mean of the sign over the width */
  return (a == 0 ? 1 : -1) * m->coupling / thickness * side;
}

/* ---- all entries ---- */

static double datum_of(const ss_patch *p, const ss_compliance_def *def) {
  return def->datum > 0 ? def->datum : 10 * p->side * p->spacing;
}

static double entry(const ss_patch *p, const ss_compliance_def *def, const moduli *m, const double r[2], bool self,
                    int a, int b) {
  if (def->influence == SS_INFLUENCE_HALF_PLANE) return line_influence(m, def, datum_of(p, def), r[0], a, b);
  if (def->influence == SS_INFLUENCE_CELLS) return cell_influence(m, r, def->spacing, a, b);
  return self ? self_influence(m, def->spacing, a, b) : influence(m, r, a, b);
}

bool ss_surface_gives(const ss_surface *side) { return side->elastic.young > 0 || side->stiffness[0] > 0; }

void ss_surface_influence(const ss_patch *p, const ss_compliance_def *def, const ss_surface *side, int which,
                          double *out) {
  const int d = p->n_directions;
  if (!(side->elastic.young > 0)) {
    for (int i = 0; i < p->n; i++) out[(size_t)i * (size_t)p->n + (size_t)i] += 1 / side->stiffness[i % d ? 1 : 0];
    return;
  }
  const moduli m = moduli_of(def, side->elastic, which);
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < p->n; j++) {
      const double *ri = p->place + 2 * (ptrdiff_t)(i / d), *rj = p->place + 2 * (ptrdiff_t)(j / d);
      const double r[2] = {ri[0] - rj[0], ri[1] - rj[1]};
      out[(size_t)i * (size_t)p->n + (size_t)j] += entry(p, def, &m, r, i / d == j / d, i % d, j % d);
    }
}

void ss_surface_influence_at(const ss_patch *p, const ss_compliance_def *def, const ss_surface *side, int which,
                             const double place[2], double *out) {
  const int d = p->n_directions;
  if (!(side->elastic.young > 0)) return; /* springs know nothing of each other */
  const moduli m = moduli_of(def, side->elastic, which);
  for (int a = 0; a < d; a++)
    for (int j = 0; j < p->n; j++) {
      const double *rj = p->place + 2 * (ptrdiff_t)(j / d);
      const double r[2] = {place[0] - rj[0], place[1] - rj[1]};
      out[(size_t)a * (size_t)p->n + (size_t)j] += entry(p, def, &m, r, false, a, j % d);
    }
}
