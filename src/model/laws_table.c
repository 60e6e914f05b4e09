/* The laws a user can choose between, for `stickslip list laws`. */
#include <stickslip/scene.h>

const ss_table_row *ss_table_laws(void) {
  static const ss_table_row table[] = {
      {"polyhedral", "friction cone with `directions` sides, one corner along the slip (polygon: turning) or fixed"},
      {"pyramid", "friction bounded separately along two directions, one along the slip (polygon: turning) or fixed"},
      {"quadratic", "Coulomb's cone itself: a disc of friction forces; with moments an ellipsoid"},
      {"ellipsoid", "the same: friction forces, torsion and rolling resistance bounded together"},
      {"generators", "contacts: the convex hull of a list of forces and moments [d1, d2, torsion, roll1, roll2]"},
      {"anisotropic", "contacts: friction along an axis fixed to the first body, friction_across across it"},
      {"torsion", "materials, contacts: moment about the normal (soft finger), a length times the normal force"},
      {"rolling", "materials, contacts: moment against rolling, a length times the normal force"},
      {"poisson", "restitution of the impulse: compression, then a fraction e of it returned"},
      {"newton", "restitution of the speed: n.v+ = -e n.v-"},
      {NULL, NULL},
  };
  return table;
}
