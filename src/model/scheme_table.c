/* The schemes, as a table (MATH section 1). All solve
 *
 *     A v+ = A v + kt + J^T z,    A = M - alpha h (F + Kv) - alpha gamma h^2 Kq,    q+ = q (+) h [(1-gamma) v + gamma
 * v+]
 *
 * with constraints on the weighted velocity alpha v+ + (1-alpha) v; they differ in the columns below only. */
#include "model/scheme_table.h"

#include <string.h>

static const ss_scheme schemes[] = {
    /* name                   alpha gamma given implicit position midpoint locates iterated theta compliant */
    {"stewart-trinkle", 1, 1, false, false, true, false, false, false, false, false},         /* ST (3) */
    {"stewart-trinkle-implicit", 1, 1, false, false, true, false, false, true, false, false}, /* ST section 3.4 */
    {"anitescu-potra", 1, 1, false, false, false, false, true, false, false, false},          /* MDI [4] */
    {"anitescu-potra-stiff", 1, 1, false, true, false, false, true, false, false, false},     /* MDI [5] */
    {"moreau", 1, 0.5, false, true, false, false, true, false, false, false},                 /* MDI section 4, [30] */
    {"trapezoidal", 0.5, 0.5, false, true, false, true, true, false, false, false},           /* LIT (5.3)-(5.9) */
    {"gavrea", 0.5, 0.5, true, true, false, false, true, false, false, false},                /* MDI (4.4) */
    {"compliant", 1, 1, false, false, false, false, false, false, false, true},               /* DCC (13) */
    {"compliant-theta", 0.5, 0.5, true, true, true, false, false, false, true, true},         /* BVP (16) */
};

static const ss_table_row table[] = {
    {"stewart-trinkle", "first order, contact at position level: robust, inelastic by nature"},
    {"stewart-trinkle-implicit", "the same, iterated until the new position is exactly feasible"},
    {"anitescu-potra", "first order, contact at velocity level, explicit forces"},
    {"anitescu-potra-stiff", "first order, springs and dampers linearly implicit"},
    {"moreau", "midpoint positions, implicit constraints"},
    {"trapezoidal", "second order, linearly implicit trapezoidal method"},
    {"gavrea", "the family itself: alpha and gamma given"},
    {"compliant", "contact patches that give: spread forces, stick and slip element by element"},
    {"compliant-theta", "the same at position level, with the theta rule and forces implicit in the theta state"},
    {NULL, NULL},
};
_Static_assert(sizeof table / sizeof *table == sizeof schemes / sizeof *schemes + 1, "one explanation per scheme");

const ss_table_row *ss_table_schemes(void) { return table; }

const ss_scheme *ss_scheme_find(const char *name) {
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
    if (strcmp(schemes[i].name, name) == 0) return &schemes[i];
  return NULL;
}

bool ss_scheme_is_compliant(const char *name) {
  const ss_scheme *scheme = ss_scheme_find(name);
  return scheme && scheme->compliant;
}
