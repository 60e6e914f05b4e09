/* Complementarity problems: one problem type, its judge and its solvers. Needs no mechanics.
 *
 *     w = G z + g,   each block of (z, w) in its declared relation
 *
 * Blocks stand one after the other and cover all n rows:
 *
 *     SS_BLOCK_FREE         w = 0, z free (joints, stiff springs; any size)
 *     SS_BLOCK_NONNEGATIVE  0 <= z  perp  w >= 0 (frictionless contacts, limits; any size)
 *     SS_BLOCK_BOX          lower <= z <= upper; w >= 0 at lower, w <= 0 at upper, w = 0 between (size 1)
 *     SS_BLOCK_FRICTION     z = (normal, tangential...), w = (normal speed, tangential velocity...), size 2 to 6:
 *                           0 <= z_n perp w_n >= 0, and z_t maximises -w_t . z_t over the set mu (z_n + extra) S, where
 *                           extra >= 0 is given (usually 0; the decompression of an impact needs it) and S is
 *                             polyhedral   the regular polygon with `directions` corners, the first one along z_t1
 *                                          (size 2: the interval [-1, 1])
 *                                          (size 3 at most)
 *                             pyramid      the square |s_1| <= 1, |s_2| <= 1; with more rows the cube
 *                             quadratic    the unit disc; with more rows the ball
 *                             generated    the convex hull of 0 and the `directions` corners `generators`
 *
 * Which solution: where contacts are redundant there are many, and "auto" returns the limit of vanishing compliance,
 *
 *     z = lim z(eps) for eps -> 0,   z(eps) solves   w = (G + eps C) z + g with the same blocks,
 *
 * C the diagonal matrix of `compliance`. Without friction it is the solution of least sum C_i z_i^2. It does not depend on the numbering, on
 * the start or on the method. result.selected says that it was reached.
 *
 * The residual that decides whether a z is a solution is computed by ss_cp_judge from the problem's data alone; it
 * shares no code with any solver. */
#ifndef STICKSLIP_CP_H
#define STICKSLIP_CP_H

#include <stickslip/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ss_block_kind { SS_BLOCK_FREE, SS_BLOCK_NONNEGATIVE, SS_BLOCK_BOX, SS_BLOCK_FRICTION } ss_block_kind;

typedef enum ss_cone { SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID, SS_CONE_QUADRATIC, SS_CONE_GENERATED } ss_cone;

enum { SS_FRICTION_ROWS = 6 }; /* no friction block has more: normal, two tangents, torsion, two of rolling */

typedef struct ss_block {
  ss_block_kind kind;
  int first, size;     /* rows first .. first + size - 1 */
  double lower, upper; /* box */
  ss_cone cone;        /* friction */
  int directions; /* friction, polyhedral: even, at least 4 (ignored where size is 2); generated: corners, at least 1 */
  double mu;      /* friction */
  double extra;   /* friction: normal impulse that counts for the set besides z_n: mu (z_n + extra) S; usually 0 */
  const double *generators; /* friction, generated: [directions][size - 1], the caller's */
} ss_block;

/* A matrix by its rows: row i has value[k] in column col[k] for start[i] <= k < start[i + 1], columns ascending. */
typedef struct ss_sparse {
  int rows, cols;
  const int *start; /* [rows + 1] */
  const int *col;
  const double *value;
} ss_sparse;

enum { SS_CP_BODY_ROWS = 12 }; /* no block of an operator's A is larger */

/* G = J A^-1 J^T + R, in general not symmetric. A is block-diagonal (masses), or any sparse matrix that has an inverse, whose
 * factors are sparse too: masses with stiff springs between them, or with joints K the matrix [M K^T; K 0], where the columns of
 * J that belong to the joints' multipliers are empty. */
typedef struct ss_cp_operator {
  ss_sparse J; /* n x m */
  int n_bodies;
  const int *first; /* [n_bodies + 1] first row of each block of A, from 0 to m */
  const double *A;  /* the blocks one after the other, each row-major */
  ss_sparse R;      /* n x n; start is NULL where there is none */
  ss_sparse whole;  /* m x m: A, where it does not consist of blocks (n_bodies is 0 then); else start is NULL */
} ss_cp_operator;

/* The caller owns all arrays. The matrix is given in one of three forms: G dense and row-major, G[i * n + j]; `sparse`;
 * `factors`. Solvers that need it dense take up to SS_CP_DENSE_ROWS rows of the other two. Factors may stand beside a matrix, for
 * solvers that know the bodies; the judge goes by the matrix then. */
enum { SS_CP_DENSE_ROWS = 3000 };
typedef struct ss_cp {
  int n, n_blocks;
  const double *G;
  const double *g;
  const ss_block *blocks;
  /* Instead of a matrix: w = G z + g. The judge takes such problems (its w must not be NULL), the solvers do not. */
  void (*apply)(const void *user, const double *z, double *w);
  const void *user;
  const ss_sparse *sparse;
  const ss_cp_operator *factors;
  const double *compliance; /* [n] positive weights of the selection; NULL: all one */
  /* The same where rows that give have been eliminated, beside a dense G: C is a symmetric matrix [n][n], and the limit is that of
   * w = (G + eps C) z + g + eps c, c [n]. */
  const double *compliance_matrix, *compliance_offset;
} ss_cp;

/* What a solver says of itself; whether to believe it is the judge's affair. */
typedef enum ss_outcome {
  SS_SOLVED,
  SS_LIMIT,       /* iteration limit */
  SS_RAY,         /* ended on a secondary ray: no solution found */
  SS_STALLED,     /* breakdown: singular basis, not finite; or rounding errors leave nothing better */
  SS_NOT_ADMITTED /* this solver does not handle such a problem (block kind, size) */
} ss_outcome;

const char *ss_outcome_name(ss_outcome outcome);

/* The order in which the sweeps of nsgs and nsgs-sparse visit the contacts. */
typedef enum ss_cp_order { SS_ORDER_GIVEN, SS_ORDER_BREADTH, SS_ORDER_SHUFFLED } ss_cp_order;

typedef struct ss_cp_options {
  const char *solver;  /* a name from ss_cp_solvers(); "auto": a strategy of few of them, and the selection (above) */
  double tolerance;    /* residual that counts as solved */
  int iteration_limit; /* 0: the solver's own choice */
  double work;         /* operations (multiplications) that a method may take, roughly; 0: its own choice */
  double total;        /* the same for all methods of "auto" together; 0: what their rounds add up to */
  double relaxation;   /* nsgs, nsgs-sparse: length of a contact's step, between 0 and 2; 0 stands for 1 */
  ss_cp_order order;   /* nsgs, nsgs-sparse */
  /* Asked before each solver of "auto" and between the rounds of long ones: where it says true, ss_cp_solve returns SS_ERROR_STOPPED. NULL:
   * never. */
  bool (*stop)(void *user);
  void *stop_user;
  bool any;         /* any solution will do: no selection */
  unsigned without; /* bits of rows of "auto" that are left out, and who is told of every attempt: for bench/strategy */
  void (*trace)(void *user, int row, ss_outcome outcome);
  void *trace_user;
} ss_cp_options;

ss_cp_options ss_cp_options_default(void);

typedef struct ss_cp_result {
  ss_outcome outcome;
  double residual;    /* by ss_cp_judge */
  int iterations;     /* pivots, sweeps or bases tried, over all solvers that were tried */
  double operations;  /* that they took, roughly */
  int fallbacks;      /* how many methods failed before the one that solved */
  const char *solver; /* the one that produced z */
  bool selected;      /* z is the limit of vanishing compliance */
  bool no_solution;   /* proved, up to rounding: the inequalities contradict each other */
} ss_cp_result;

/* Memory for the solvers, grown on demand and then reused: a second solve of the same size allocates nothing. */
typedef struct ss_cp_workspace ss_cp_workspace;
ss_status ss_cp_workspace_create(ss_cp_workspace **out, ss_error *error);
void ss_cp_workspace_destroy(ss_cp_workspace *workspace);

/* Solves; z (n numbers) is the starting guess where `warm` says so, and the answer afterwards. The outcome is data:
 * the status is SS_OK also where no solution was found. */
ss_status ss_cp_solve(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error);

/* Natural residual of z: the largest over all blocks of |w| (free), |min(z, w)| (nonnegative), |z - clamp(z - w)|
 * (box), and |min(z_n, w_n)|, |z_t - P(z_t - w_t)| (friction; P projects on mu max(z_n + extra, 0) S), divided by 1 + max |g|.
 * Infinite where z or the data are not finite. w (n numbers, may be NULL) receives G z + g. */
double ss_cp_judge(const ss_cp *problem, const double *z, double *w);

/* How far z, a solution, is from the limit of vanishing compliance among those with the same states: the part of C z, on the closed rows,
 * that lies in the left kernel of their equations, between 0 (it is the limit) and 1. Shares no code with the solvers. Negative where it
 * cannot be said: more than 240 rows. */
double ss_cp_judge_selection(const ss_cp *problem, const double *z, ss_cp_workspace *workspace);

/* A proof that there is no solution (Farkas): numbers y, one for each row, for which y . w >= 0 wherever w is a slack that the
 * blocks allow, but y . (G z + g) < 0 for every z that they allow. y is 0 on tangential rows and on boxes with two bounds, >= 0 on
 * normal and nonnegative rows and boxes with a lower bound, <= 0 on boxes with an upper one. Returns how far below 0 the sum is, relative
 * to the sizes of its terms, or 0 where y proves nothing. Shares no code with the solvers; holds up to rounding (1e-12). */
double ss_cp_judge_ray(const ss_cp *problem, const double *y);

/* Looks for such a y (n numbers), along the rays of Lemke's method. *margin is what the judge says of it; 0: none was found, which
 * says nothing. Problems of up to SS_CP_DENSE_ROWS rows. */
ss_status ss_cp_find_ray(const ss_cp *problem, ss_cp_workspace *workspace, double *y, double *margin, ss_error *error);

/* The cone part of the residual: how far the friction impulses lie outside their set, and how much more power another impulse of
 * the set would dissipate than the one chosen (maximum-dissipation defect), both as maxima over the blocks. */
void ss_cp_friction_defects(const ss_cp *problem, const double *z, const double *w, double *cone, double *dissipation);

/* How large a friction impulse (the block's tangential rows) is in units of the set S: the least r with z_t in r S. Friction is at its limit
 * where it is mu (z_n + extra). */
double ss_cp_friction_gauge(const ss_block *block, const double *zt);

/* Calls `found` for every solution of a small problem (complementary bases are enumerated; friction must be polyhedral,
 * pyramid or planar). Fails with SS_ERROR_UNSUPPORTED above the size that can be enumerated. */
typedef void (*ss_cp_found)(void *user, const double *z);
ss_status ss_cp_all_solutions(const ss_cp *problem, double tolerance, ss_cp_workspace *workspace, ss_cp_found found,
                              void *user, int *count, ss_error *error);

/* How one row or contact behaves in a solution: nonnegative rows open (z = 0) or active; boxes at a bound or between;
 * friction open, sticking or sliding. */
typedef enum ss_cp_state {
  SS_STATE_OPEN,
  SS_STATE_ACTIVE,
  SS_STATE_LOWER,
  SS_STATE_BETWEEN,
  SS_STATE_UPPER,
  SS_STATE_STICKS,
  SS_STATE_SLIDES
} ss_cp_state;
const char *ss_cp_state_name(ss_cp_state state);

/* The states in the order of the rows, one per nonnegative row, box and friction block, none for free rows; returns how
 * many (at most n). w is G z + g. */
int ss_cp_states(const ss_cp *problem, const double *z, const double *w, ss_cp_state *states);

typedef enum ss_answer { SS_UNKNOWN, SS_NO, SS_YES } ss_answer;
const char *ss_answer_name(ss_answer answer);

typedef enum ss_solution_set { SS_SET_UNKNOWN, SS_SET_NONE, SS_SET_SOME, SS_SET_ONE, SS_SET_SEVERAL } ss_solution_set;
const char *ss_solution_set_name(ss_solution_set set); /* unknown, none, at-least-one, one, several */

/* What can be said about a problem besides its solution. The classes of the LCP are those of the matrix M that remains
 * when the free rows are eliminated and cones and boxes written as inequalities: the one that the pivoting methods see. */
typedef struct ss_cp_diagnosis {
  ss_answer symmetric, positive_definite, positive_semidefinite; /* of G */
  int variables;                                                 /* of the LCP; 0: it has none (discs) */
  ss_answer p, copositive, strictly_copositive;                  /* of the LCP */
  ss_solution_set solutions;
  const char *reason; /* why `solutions` is what it is */
  bool ray;           /* Lemke's method ended on a ray */
  int found;          /* solutions found by enumeration; -1: too many combinations of states */
  bool continuum;     /* some of them are not isolated */
  bool same_w;        /* all of them have the same w: the motion is determined, the impulses are not */
} ss_cp_diagnosis;

/* `effort` bounds the numbers of combinations of states and of principal submatrices that are looked at; 0: the largest
 * possible, seconds. */
ss_status ss_cp_diagnose(const ss_cp *problem, double tolerance, int effort, ss_cp_workspace *workspace,
                         ss_cp_diagnosis *out, ss_error *error);

/* Checks sizes, blocks and numbers; every entry point above may assume what this has accepted. */
ss_status ss_cp_validate(const ss_cp *problem, ss_error *error);

/* Plain text, exact (hexadecimal floats); docs/problem-format.md. */
ss_status ss_cp_write(const ss_cp *problem, const char *path, ss_error *error);

/* A problem from a file: the format above, and those of other programs (docs/problem-format.md has the list; the text
 * decides which one it is, not the name). */
typedef struct ss_cp_file {
  ss_cp problem;
  const char *kind; /* lcp, mixed-lcp, box-lcp, friction, rolling-friction, global-friction, mechanical, general */
  void *memory;     /* owner of all arrays */
} ss_cp_file;
ss_status ss_cp_read(const char *path, ss_cp_file *out, ss_error *error);
void ss_cp_file_release(ss_cp_file *file); /* a zeroed one may be released */

/* Name of the method in a row of the strategy of "auto"; NULL: there is no such row. */
const char *ss_cp_strategy_row(int row);

/* The table of solvers, ended by a row whose name is NULL. */
typedef ss_table_row ss_cp_solver_info;
const ss_cp_solver_info *ss_cp_solvers(void);

#ifdef __cplusplus
}
#endif

#endif
