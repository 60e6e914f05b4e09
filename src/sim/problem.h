/* The problem of a part of a step, from its rows to its solution, and the memory of those who make and solve it. Each field says its
 * shape and the stage that computes it. */
#ifndef SS_SIM_PROBLEM_H
#define SS_SIM_PROBLEM_H

#include "la/sparse_lu.h"
#include "model/row.h"
#include "sim/contacts.h"

#include <stickslip/cp.h>

/* G by its rows without zeros. */
typedef struct ss_listed {
  int *start;    /* [n + 1] */
  int *col;      /* [capacity] */
  double *value; /* [capacity] */
  int row_capacity, capacity;
  ss_sparse matrix; /* a view of them */
} ss_listed;

typedef struct ss_problem {
  int n, n_blocks, capacity, block_capacity; /* capacity: rows that the arrays below can hold */
  int n_joint, n_free; /* rows 0 .. n_joint-1: joints; then stiff forces; from n_free on: contacts */
  ss_row *rows;        /* [n] rows: gradients J */
  double *numbers;     /* the memory of all arrays of numbers below */
  double *offset;      /* [n] rows: s in  w = J va + s + R z */
  double *compliance;  /* [n] rows: R, zero for rigid rows */
  double *pushed;      /* [n] rows: the part of the offset that pushes a position back onto its constraint */
  double *w;           /* [n][12] discretise: A^-1 J^T, packed per side like the rows; systems: [n][n_v] */
  double *dense;       /* [n][n_v] rows: the gradients' numbers, systems only */
  double *drive;       /* [n] rows: velocities of constraints that move by themselves, part of offset; systems only */
  double *G, *g;       /* [n][n], [n] discretise; G only where the problem is not sparse */
  size_t G_capacity;   /* numbers */
  ss_listed listed;    /* discretise: G of a large problem */
  bool large;          /* discretise: many rows, among them contacts: G is listed */
  bool sparse;         /* discretise: joints and stiff forces alone, and many: G is in the sim's lu */
  double alpha;        /* discretise: weight of v+ */
  bool structured;     /* solve: by the structure of patches, without G */
  bool divided;        /* discretise: contacts alone, in islands, or joined; G is not assembled as a whole */
  bool joined;         /* discretise: joints beside contacts; the joints are eliminated (scheme/eliminate_joints.c) */
  double *z;           /* [n] rows: guess from the last step; solve: the multipliers */
  double *slack;       /* [n] solve: w = G z + g by the judge */
  double *scale;       /* [n] solve: d of the natural units */
  double *weight;      /* [n] solve: compliances that choose between redundant impulses, in natural units */
  int *next_row;       /* [n][2] discretise: next (row, side) that touches the same body, or -1 */
  ss_block *blocks;    /* [n_blocks] rows */
  int first_motor;     /* rows: where the motors' rows start */
  int first_contact;   /* and the contacts' */
  double h;            /* size of the step it belongs to; 0: an impact */
  double blur, unit;   /* solve: what the slacks are worth, in natural units, and that unit */
} ss_problem;

/* Solve: the matrix of a large problem, or of an island of it, as factors (scheme/factors.c). */
typedef struct ss_factors {
  int *column;   /* [2 n_bodies + 1] first column of each body, or -1; then those of the bodies that are touched */
  double *A;     /* their blocks */
  int *start;    /* [2 n + 2] where the rows of J start, then those of R */
  int *col;      /* [12 n] J's columns */
  double *value; /* [13 n] J's numbers, then R's */
  int body_capacity[2], row_capacity[3];
  ss_cp_operator operator; /* a view of them */
} ss_factors;

/* What a thread needs to solve an island of the problem (step/solve_islands.c). */
typedef struct ss_island_work {
  ss_block *blocks; /* of the island in hand, as are those below */
  int *row;         /* [3 n + 1] its rows in the problem; the problem's rows in it; where its matrix's lines start */
  double *g;        /* [4 n] g; from n on z; from 2 n on w; from 3 n on weights */
  double *G;
  int *col;
  ss_sparse matrix;
  int block_capacity, row_capacity[2], G_capacity[2];
  ss_factors factors;
  ss_cp_workspace *cp;
  int iterations, fallbacks; /* of its islands */
  long long operations;      /* likewise */
  double uneven;             /* ss_cp_judge_selection: the most of their new solutions */
  int failed;                /* first of its islands that ended in an error, and that error; -1: none */
  ss_status status;
  ss_error error;
} ss_island_work;

/* Solve: the islands of the problem. */
typedef struct ss_islands {
  int *body;        /* [2 n_bodies] which body stands for a connected set of them, and that set's number */
  int count;        /* rows: 0; else they have been found */
  int *island;      /* [n_blocks] */
  double *part;     /* [n_blocks] what each block adds to a number of its island */
  int *order;       /* [2 n_blocks + 1] the blocks by their islands; where each island starts */
  bool *rests;      /* [count] its bodies are at rest with the guess, and stay there (event/crowd.c) */
  double *work;     /* [3 n_blocks] event/crowd.c: of each island with the guess; from n_blocks on, with the solution;
                       * then the largest |g| of each */
  double *residual; /* [count] */
  int body_capacity, block_capacity[6];
  ss_island_work *workers; /* [n_workers] one for each thread */
  int n_workers;
} ss_islands;

/* Solve: joints eliminated from a problem with contacts (scheme/eliminate_joints.c). f: rows of joints and stiff forces, m: the others. */
typedef struct ss_joined {
  bool factorised;  /* the factors of G_ff are in the sim's lu */
  bool condensed;   /* what follows is that of the present problem */
  bool turned;      /* z was found with discs, and the polygons were turned to it */
  double *coupling; /* [m][f] G_cf */
  double *response; /* [f][m] G_ff^-1 G_fc; and as much working space */
  double *S;        /* [3][m][m] what is left of G; in natural units; compliance in them */
  double *numbers;  /* [6 n] */
  ss_block *blocks; /* of the others */
  int capacity[4], block_capacity;
} ss_joined;

/* Bodies that forces with exact Jacobians couple: one dense block of A for all of them (scheme/coupling.c). */
typedef struct ss_coupling {
  int n;               /* coordinates in the block; 0: no such force */
  int *offset;         /* [n_bodies] where a body's coordinates start in it, or -1 */
  bool by_default;     /* forces that do not say otherwise are among them */
  bool active;         /* in this part of the step */
  double *a, *inverse; /* [n][n] */
  double *vector;      /* [n] scratch */
  double *w;           /* [problem.n][n] discretise: coupled part of A^-1 J^T */
  int w_capacity;
} ss_coupling;

/* The joints' scalar equations that are posed; the others follow from them (scheme/joint_basis.c). */
typedef struct ss_basis {
  int n;         /* all n_joint_rows of them where none is redundant */
  int *row;      /* [n] ascending */
  bool *posed;   /* [n_joint_rows] */
  ss_row *rows;  /* [n_joint_rows] scratch: all rows */
  double *drive; /* [n_joint_rows] scratch: their prescribed velocities, systems only */
} ss_basis;

/* Bodies that joints connect, not through the world. */
typedef struct ss_mechanism {
  bool jointed, grounded; /* a joint holds it to the world */
  double lacks, rounding; /* hold: energy that it had before; what of that is not known */
} ss_mechanism;

/* A closed contact while joints are corrected. */
enum { SS_MOST_PRESSING = 32 };
typedef struct ss_pressing {
  const ss_contact *contact;
  double gap, rate;          /* kept */
  ss_vec3 normal, direction; /* of the row, and of w */
  ss_row row;
  double w[12];  /* M^-1 row^T */
  bool free;     /* follows from the others */
  double off, y; /* deviation, multiplier */
} ss_pressing;

/* Stabilisation `exact` (step/exact.c); the arrays are of bodies only. */
typedef struct ss_exact {
  bool on;
  bool factorised;          /* hold: for the present rows, or some near them */
  bool residuals_known;     /* hold: the sim's residuals are those of the present position */
  int n;                    /* mechanisms */
  ss_mechanism *mechanisms; /* [n] */
  int *mechanism;           /* [n_bodies] of the body, or -1 */
  int *first;               /* [n_bodies] first body of the same set */
  ss_row *rows;             /* [basis.n] hold: gradients of the posed equations, */
  double *w;                /* [basis.n][12] M^-1 nu^T, */
  double *residual, *z;     /* [basis.n] residuals and multipliers */
  double *unit;             /* [n_joint_rows] what makes lengths of residuals */
  double *modes;            /* [2][6][n_v] motions as one rigid body; times their masses; [n_v] one of them */
  double *q, *v;            /* [n_q], [n_v] where the correction began */
  ss_pressing *pressing;    /* [n_pressing] contacts that keep their gaps */
  int n_pressing;
  double *meets, *coupled; /* [basis.n][n_pressing] nu M^-1 rows^T; (nu M^-1 nu^T)^-1 times that */
  double
      schur[SS_MOST_PRESSING * SS_MOST_PRESSING]; /* hold: Cholesky factors of what is left of them beside the joints */
  ss_lu lu;                                       /* of nu M^-1 nu^T */
  ss_lu_row *lu_rows;                             /* [basis.n] */
} ss_exact;

#endif
