/* The matrix of joints, joint by joint. */
#ifndef SS_SCHEME_ASSEMBLE_JOINTS_H
#define SS_SCHEME_ASSEMBLE_JOINTS_H

#include "la/sparse_lu.h"
#include "model/row.h"

/* alpha J A^-1 J^T + R by w = A^-1 J^T, packed like the rows; compliance may be NULL. lu->symmetric is known. */
void ss_assemble_joints(const ss_model *model, ss_lu *lu, const ss_row *rows, const double *w, double alpha,
                        const double *compliance);

#endif
