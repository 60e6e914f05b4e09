/* The table of solvers. */
#include "cp/climb.h"

#include <string.h>

static const solver_row rows[] = {
    {"active-set", solve_active_set},
    {"lemke", solve_lemke},
    {"lemke-restarted", solve_lemke_restarted},
    {"keller", solve_keller},
    {"fischer-burmeister", solve_fischer_burmeister},
    {"alart-curnier", solve_alart_curnier},
    {"nsgs", solve_nsgs},
    {"nsgs-newton", solve_nsgs_newton},
    {"wedged", solve_wedged},
    {"enumeration", solve_enumeration},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* These take sparse matrices and operators as they are; the others get them dense, if they are not too large. */
static const solver_row of_any_form[] = {
    {"large", solve_large},
    {"proximal-newton", solve_proximal_newton},
    {"friction-form", solve_friction_form},
    {"nsgs-sparse", solve_nsgs_sparse},
    {"nsgs-accelerated", solve_nsgs_accelerated},
    {"admm", solve_admm},
    {"interior-point", solve_interior_point},
};
enum { N_OF_ANY_FORM = sizeof of_any_form / sizeof *of_any_form };

static const ss_cp_solver_info infos[] = {
    {"auto", "a strategy of few methods, the selection of one solution, and the judge"},
    {"active-set", "primal-dual active sets (semismooth Newton) from the given start; all cones"},
    {"lemke", "Lemke's method with a lexicographic ratio test; not for the quadratic cone in 3D"},
    {"lemke-restarted", "one covering vector after the other, few pivots for each, for matrices with long paths"},
    {"keller",
     "principal pivoting (Keller, Dantzig) with a lexicographic rule; free rows, LCPs and boxes, no friction"},
    {"fischer-burmeister",
     "globalised nonsmooth Newton method on smooth merits; free rows, LCPs and boxes, no friction"},
    {"alart-curnier", "globalised nonsmooth Newton method on the natural map; all cones"},
    {"nsgs", "Gauss-Seidel sweeps over the blocks, each solved exactly; all cones"},
    {"nsgs-newton", "Gauss-Seidel sweeps and damped Newton steps in turn; all cones"},
    {"proximal-newton", "the limit of vanishing compliance, by Newton's method from the soft side; all cones"},
    {"wedged", "contacts that are wedged between each other taken for joints, the rest by auto; all cones"},
    {"enumeration", "all combinations of contact states; small problems, not for the quadratic cone in 3D"},
    {"large", "contacts that hang together through no body, one island after the other, each by auto"},
    {"friction-form", "contacts found in a plain LCP, posed as friction blocks and solved by auto"},
    {"nsgs-sparse", "Gauss-Seidel sweeps over a sparse matrix or an operator; all cones"},
    {"nsgs-accelerated", "the same with Anderson acceleration, for packings; all cones"},
    {"admm", "alternating directions in the velocities, one factorisation for many passes; all cones"},
    {"interior-point",
     "primal-dual path following with a sparse factorisation, then Newton steps on the states; all cones"},
    {NULL, NULL},
};

const ss_cp_solver_info *ss_cp_solvers(void) { return infos; }

static const solver_row *find_row(const solver_row *table, int count, const char *name) {
  for (int k = 0; k < count; k++)
    if (strcmp(name, table[k].name) == 0) return &table[k];
  return NULL;
}

const solver_row *find_solver(const char *name, bool *any_form) {
  const solver_row *row = find_row(of_any_form, N_OF_ANY_FORM, name);
  *any_form = row != NULL;
  return row ? row : find_row(rows, N_ROWS, name);
}
