/* Springs and dampers at configuration q: length, rate and gradient of the length; angles are counted near those of the
 * state, or, where that is NULL, near rest. */
#ifndef SS_MODEL_LINK_H
#define SS_MODEL_LINK_H

#include "model/joint.h"

typedef struct ss_link {
  double length, rate;
  ss_row row;
} ss_link;
ss_link ss_link_at(const ss_model *model, const ss_force *force, const double *q, const double *angle, const double *v);
double ss_elastic_energy(const ss_model *model, const double *q, const double *angle); /* of all of them */

#endif
