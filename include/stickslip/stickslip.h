/* stickslip: rigid bodies that touch, stick, slip, collide and come apart; every step certified.
 *
 *     scene.h  describe a system      sim.h  simulate it      cp.h  complementarity problems alone
 *     io.h     files                  base.h statuses, errors, small types      theory.h  what theorems promise
 *     bvp.h    boundary-value problems                study.h   parameter studies
 *     system.h  systems given by functions of their coordinates       weak.h  what a compliant trajectory is worth */
#ifndef STICKSLIP_H
#define STICKSLIP_H

#include <stickslip/base.h>
#include <stickslip/bvp.h>
#include <stickslip/cp.h>
#include <stickslip/expression.h>
#include <stickslip/io.h>
#include <stickslip/scene.h>
#include <stickslip/sim.h>
#include <stickslip/study.h>
#include <stickslip/system.h>
#include <stickslip/theory.h>
#include <stickslip/weak.h>

#endif
