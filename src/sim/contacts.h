/* Contacts as data: what the search finds, what the problem makes of it, what is reported (contact/ has the functions). */
#ifndef SS_SIM_CONTACTS_H
#define SS_SIM_CONTACTS_H

#include "core/threads.h"
#include "model/model.h"

enum { SS_MOST_BOUNCES = 1000 }; /* of one contact in one step; it does not bounce from then on */
#define SS_NEAR 1e-3             /* of the typical length: what is nearer is looked at even if nothing moves */
enum { SS_CONTACT_ROWS = 6 };    /* normal, two tangents, torsion, rolling about two tangents */

typedef struct ss_patch ss_patch; /* patch/patch.h */

/* What a friction row opposes: slip of the contact points, spin about the normal, rolling about a tangent. */
typedef enum ss_contact_motion { SS_MOTION_SLIP, SS_MOTION_SPIN, SS_MOTION_ROLL, SS_MOTIONS } ss_contact_motion;

typedef struct ss_contact {
  uint64_t key;        /* shape pair and feature: the identity that survives from step to step */
  const ss_pair *pair; /* NULL: not of two shapes, but a joint's limit or a gap of a system, which body[0] names */
  bool limit;          /* a joint's limit (limits.c), which has the next three fields instead of shapes */
  int joint;
  bool upper;
  double near;  /* near which the joint's angle is counted */
  int shape[2]; /* a and b, in the order of the pair table */
  int body[2];
  ss_contact_point at; /* at the start of the (part of the) step */
  double start_gap;    /* iterated schemes: the gap there, while `at` follows the iterates */
  double rate;         /* d gap/dt there */
  const ss_law *law;   /* valid until the next broad phase */
  double mu, restitution;
  bool closed;                               /* was touching at the end of the last step */
  bool idle;                                 /* in a crowd, between bodies that hardly move */
  bool met;                                  /* collided in the last step, and still approaches (event/crowd.c) */
  bool active;                               /* has rows in the step's problem */
  bool touching;                             /* gap at rounding level, or below */
  bool lands;                                /* gently: active before it touches (event/crowd.c) */
  double lands_at;                           /* when in the part it would, infinite: it does not, or not gently */
  bool was_stuck, pressed_before;            /* in the last (part of a) step */
  bool rested;                               /* at rest in the last step, a whole one */
  int place;                                 /* among those that deal, or are remembered; -1: it is not */
  bool kept;                                 /* and in this one: all that is known of it stays */
  int hits;                                  /* collisions in this step so far */
  int hops;                                  /* those of them that did not bounce, or took no time */
  ss_vec3 turn;                              /* acceleration of its slip by the forces of constraints */
  double grip;                               /* and by its own friction alone, in size */
  double last_load, last_ratio, last_when;   /* of that part: mean normal force, friction over its limit, its middle */
  double load, ratio, when;                  /* of this part */
  bool slow;                                 /* forces may turn its slip anywhere within the part */
  bool undirected;                           /* its friction polygon lies anyhow: neither slip nor a force turned it */
  bool fixed;                                /* the set of its friction does not turn with the slip, and has faces */
  int64_t last_face, face;                   /* fixed: which corners carry, in the last part and in this one */
  ss_vec3 direction[SS_CONTACT_ROWS];        /* of its rows: the normal, friction forces, friction moments */
  int row, n_rows;                           /* row -1: none */
  int n_forces;                              /* rows that are forces, the normal one included; the others are moments */
  ss_contact_motion motion[SS_CONTACT_ROWS]; /* what each friction row opposes */
  int block;
  ss_patch *patch; /* NULL: rigid. Otherwise n_rows rows and a block for each of its elements, one after the other */
  bool
      pressed_in; /* patch: appears in this part, which begins at t = 0: what it stores is part of the initial energy */
  int memory;     /* patch: where its numbers start in the sim's patch_start and patch_end */
  double impulse[SS_CONTACT_ROWS]; /* the solution */
  double blur;                     /* of its normal velocity: what the solution's residual leaves open */
  ss_vec3 pressed; /* its forces as a vector on body a, world frame; before the solve: that of the last step */
  ss_vec3 twisted; /* its moments, likewise */
  ss_vec3 force;   /* its forces over the size of the part that had them last */
  bool stuck;
  unsigned held, was_held;         /* bits of the motions with moments that friction holds, now and in the last part */
  double moment_ratio[SS_MOTIONS]; /* over their limits, of this part */
  double last_moment_ratio[SS_MOTIONS];
  bool opens;                           /* without a force; one of several feet that carry may have none and stay */
  bool slip_ends, spin_ends, roll_ends; /* with the solved part (event/events.c, event/transition.c) */
  double bounce, returned;              /* impact: restitution of this collision, impulse e c_n that it returns */
  ss_vec3 total;                        /* impact: impulse of all phases, on body a */
} ss_contact;

/* Motions that the contact's friction opposes, as bits. */
static inline unsigned ss_contact_motions(const ss_contact *c) {
  unsigned motions = 0;
  for (int k = 1; k < c->n_rows; k++) motions |= 1U << c->motion[k];
  return motions;
}

/* Two shapes that may touch: law and pair function looked up once. */
typedef struct ss_candidate {
  const ss_pair *pair;
  int shape[2];
  uint64_t key; /* of the two shapes: what the keys of their contacts have in common */
  ss_law law;
} ss_candidate;

/* What the near pairs gave last, at which positions: an impact leaves them where they are, and the next search finds the same. */
typedef struct ss_found_pair {
  int shape[2], list, first, count; /* which list its points are in; among the points */
  double aside;                     /* distance of a pair that was not looked at, or 0 */
} ss_found_pair;

typedef struct ss_found_list {
  ss_contact_point *points;
  int n, capacity;
  bool failed; /* no memory */
} ss_found_list;

typedef struct ss_found {
  double *q; /* [n_q] */
  double reach;
  ss_found_pair *pairs;                    /* in the order of the candidates */
  const ss_contact_point *points;          /* of them all, in their order: one of the lists */
  ss_found_list list[SS_MOST_THREADS + 1]; /* of each thread; of several together */
  int n_pairs, n_points, q_capacity, pair_capacity;
} ss_found;

/* Every pair that can collide at all, where they are few; grown during the run by the broad phase where they are many.
 */
typedef struct ss_candidates {
  ss_candidate *items;
  int n, capacity;
} ss_candidates;

/* Bodies by the clusters in which they may meet (contact/clusters.c). */
typedef struct ss_clusters {
  int count;
  int *number;       /* [n_bodies] of each body's cluster */
  int *list, *start; /* [n_bodies], [n_bodies + 1] the bodies by their clusters; where each cluster starts */
  int *parent;       /* [n_bodies] which body stands for a connected set of them */
  int *first_shape;  /* [n_bodies + 1] */
  double *box;       /* [n_shapes][6] grown by the way that bodies can go */
  int *order, axis;  /* [2 n_shapes] */
} ss_clusters;

/* What a contact has given to the bodies in this step (contact/dealt.c). */
typedef struct ss_dealt {
  uint64_t key;
  int order; /* the later, the larger */
  bool gone; /* when the step is done */
  ss_contact_report report;
} ss_dealt;

#endif
