/* The parts of an impact's problem that do not meet: rows of different parts have no body in common. */
#ifndef SS_THEORY_PARTS_H
#define SS_THEORY_PARTS_H

#include <stickslip/cp.h>

struct ss_arena;

typedef struct ss_parts {
  const ss_cp *problem;
  int count;
  int *start;     /* [count + 1] where a part's rows start in `row` */
  int *row;       /* [n] rows of the problem, part by part, ascending within each */
  int *block;     /* [n] block of each row of the problem */
  int *local;     /* [n] place of each row of the problem within its part */
  ss_block *list; /* [n_blocks + 1] memory of the part that is posed */
} ss_parts;

/* The free rows must be one block at the start. */
ss_status ss_parts_find(const ss_cp *problem, struct ss_arena *arena, ss_parts *out, ss_error *error);

int ss_parts_free_rows(const ss_parts *parts, int part);
int ss_parts_contacts(const ss_parts *parts, int part); /* blocks that are not free */

/* A part as a problem with a dense matrix; its blocks are valid until the next one is posed. */
ss_status ss_parts_pose(const ss_parts *parts, int part, struct ss_arena *arena, ss_cp *out, ss_error *error);

double ss_parts_entry(const ss_cp *problem, int i, int j); /* of a dense or a sparse matrix */

#endif
