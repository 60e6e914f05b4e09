/* Joint limits as contacts: gap and gradient of one end of a joint's range. */
#ifndef SS_CONTACT_LIMITS_H
#define SS_CONTACT_LIMITS_H

#include "contact/contact.h"
#include "model/joint.h"

double ss_limit_gap(const ss_model *model, const ss_contact *limit, const ss_pose *a, const ss_pose *b);
ss_row ss_limit_row(const ss_model *model, const ss_contact *limit, const ss_pose *a, const ss_pose *b);

#endif
