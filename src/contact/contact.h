/* Contacts: which pairs of shapes may touch in this step, and where; what is remembered and reported of them. */
#ifndef SS_CONTACT_CONTACT_H
#define SS_CONTACT_CONTACT_H

#include "model/joint.h"
#include "patch/patch.h"

#include <string.h>

/* The item with this key among n of the given size that start with their keys, in order; NULL: none has it. */
static inline const void *ss_key_find(const void *items, int n, size_t size, uint64_t key) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    const char *item = (const char *)items + size * (size_t)middle;
    uint64_t own;
    memcpy(&own, item, sizeof own);
    if (own == key) return item;
    if (own < key)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

/* Fills in a candidate for shapes i and j; false if they never collide. */
bool ss_candidate_make(const ss_model *model, int i, int j, ss_candidate *out);

/* World pose of a shape whose body has pose p. */
static inline ss_pose ss_shape_pose(const ss_shape *shape, const ss_pose *body) {
  return shape->body < 0 ? shape->local : pose_compose(body, &shape->local);
}

/* Whether capsules around the two shapes say that they are farther apart than `distance`. */
bool ss_shapes_are_apart(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double distance);

/* A lower bound of their distance from the same capsules; 0 where they say nothing. */
double ss_shapes_distance(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb);

uint64_t ss_contact_key(const ss_candidate *candidate, uint32_t feature);
/* The shapes of a contact's key; the key of the same contact in another model, where shape i has the number number[i]. */
void ss_key_shapes(const ss_model *model, uint64_t key, int shape[2]);
uint64_t ss_key_renumber(const ss_model *from, const ss_model *to, const int *number, uint64_t key);

/* Contact point of a known feature with its two bodies at these poses. */
void ss_contact_at(const ss_model *model, const ss_contact *contact, const ss_pose *body_a, const ss_pose *body_b,
                   ss_contact_point *out);

/* How deep its two shapes are in each other at these poses, by all features that the pair has there: a feature that has
 * been left behind (an edge turned away) may have any gap. Negative: apart, by this feature alone. */
double ss_contact_depth(const ss_model *model, const ss_contact *contact, const ss_pose *body_a, const ss_pose *body_b);

/* Velocity of a's contact point relative to b's. */
ss_vec3 ss_contact_velocity(const ss_model *model, const ss_contact *contact, const ss_contact_point *at,
                            const ss_pose *body_a, const ss_pose *body_b, const double *v);

/* Its normal part: d gap/dt at a contact point for bodies at these poses with these velocities. */
double ss_contact_rate(const ss_model *model, const ss_contact *contact, const ss_contact_point *at,
                       const ss_pose *body_a, const ss_pose *body_b, const double *v);

/* At t = 0 no two bodies may overlap deeply; sets model->pressed_in. */
ss_status ss_check_overlap(ss_model *model, const ss_scene *scene, ss_error *error);

/* Joint limits as contacts: gap and gradient of one end of a joint's range. */
double ss_limit_gap(const ss_model *model, const ss_contact *limit, const ss_pose *a, const ss_pose *b);
ss_row ss_limit_row(const ss_model *model, const ss_contact *limit, const ss_pose *a, const ss_pose *b);

/* ---- of a simulation ---- */

ss_status ss_broad_phase_prepare(ss_sim *sim, ss_error *error); /* once */
ss_status ss_broad_phase(ss_sim *sim, double h, ss_error *error);
double ss_search_reach(const ss_sim *sim, double h); /* contacts whose gaps are wider are not looked for */
/* No points of the shapes of two bodies approach each other faster. */
double ss_approach_speed(const ss_model *model, const int body[2], const double *v);
double ss_body_speed(const ss_model *model, int body, const double *v); /* of the fastest point of its shapes */
double ss_largest_speed_of_bodies(const ss_sim *sim, const double *v);
double ss_closing_speed_of_bodies(const ss_sim *sim, const ss_contact *c); /* along the path of the solved part */
/* Whether near pairs that were not looked at may have met in the part of size h that has been solved; all are looked at then. */
bool ss_aside_may_meet(ss_sim *sim, double h);
/* The pairs that the broad phase has left. */
static inline const ss_candidates *ss_near_pairs(const ss_sim *sim) {
  return sim->search.few_pairs && !sim->search.bounded ? &sim->search.all : &sim->search.near;
}
/* Bodies that may meet if none goes farther than `way`: sim->search.parts. */
ss_status ss_clusters_create(ss_sim *sim, ss_error *error);
void ss_clusters_find(ss_sim *sim, double way);
ss_status ss_narrow_phase(ss_sim *sim, double h, ss_error *error); /* after it */
/* Features that overlap by more than `deep` at positions q_end and are not among the contacts join them, as they are at the start
 * of the part; how many. */
ss_status ss_add_features(ss_sim *sim, const double *q_end, double deep, int *added, ss_error *error);
ss_status ss_limits_append(ss_sim *sim, ss_error *error); /* as contacts */

/* The gap of a limit cannot change faster in the solved part, at whose end velocities are v_end. */
double ss_limit_speed(const ss_sim *sim, const ss_contact *limit, const double *v_end);

/* Impulses of the step: none yet; those of the solved part, of which a fraction is taken, or of an impact; that is all. */
void ss_deal_begin(ss_sim *sim);
/* Contacts stay told as they are, whatever the search finds meanwhile, until the next step or ss_deal_begin. */
ss_status ss_deal_keep(ss_sim *sim, ss_error *error);
ss_status ss_deal(ss_sim *sim, double fraction, ss_error *error);
void ss_deal_more(ss_sim *sim, uint64_t key, ss_vec3 impulse); /* of a contact that has dealt in this part */
ss_status ss_deal_also(ss_sim *sim, const ss_contact *c, ss_vec3 impulse, ss_error *error); /* of any contact */
void ss_deal_end(ss_sim *sim);

/* Contact memory. */
ss_status ss_touch_store(ss_sim *sim, ss_error *error);
void ss_touch_sort(ss_touch *touch, int n);
bool ss_touch_keeps(const ss_sim *sim, ss_contact *c); /* at rest, of a solved part: as it is remembered */
const ss_touch *ss_touch_find(const ss_state *state, uint64_t key);
void ss_contact_remember(const ss_sim *sim, ss_contact *contact); /* what the last step knew of it */

/* Patches of contacts (contact_patch.c). */
ss_status ss_patch_attach(ss_sim *sim, ss_contact *contact, const ss_touch *touch, ss_error *error);
void ss_patch_drop_travelling(ss_sim *sim);                       /* contacts that repeat others (travelling.c) */
ss_vec3 ss_element_shift(const ss_contact *contact, int element); /* from the contact point, world */
double ss_element_gap(const ss_sim *sim, const ss_contact *contact, const ss_contact_point *at, int element);
double ss_element_gap_at(const ss_sim *sim, const ss_contact *contact, const ss_contact_point *at,
                         const ss_pose body[2], int element);
bool ss_patch_lives(const ss_sim *sim, const ss_contact *contact);
/* Where in patch_end the deformation of an element between bodies a and b lies (elements of all their patches are counted
 * on), and its sign in the frame whose normal points to a; -1: there is no such element now, its deformation is 0. */
int ss_patch_find_deformation(const ss_sim *sim, int a, int b, int element, int direction, double *sign);
ss_status ss_patch_store(ss_sim *sim, const ss_contact *contact, ss_touch *touch, ss_error *error);
/* Largest overlap of the deformed surfaces at the end of the step. */
double ss_patch_overlap(const ss_sim *sim, const ss_contact *contact, const ss_contact_point *at);
double ss_patch_stored(const ss_patch *patch, const double *delta); /* elastic energy */
double ss_patches_energy(const ss_sim *sim);                        /* of all contacts at the end of the step */

/* Deformations, then impulses of a contact's patch at the two ends of the part. */
static inline double *ss_patch_start(const ss_sim *sim, const ss_contact *c) {
  return sim->trial.patch_start + c->memory;
}
static inline double *ss_patch_end(const ss_sim *sim, const ss_contact *c) { return sim->trial.patch_end + c->memory; }
/* The slip up to which an element sticks; where nothing moves but the elements, theirs are lengths per step. */
static inline double ss_patch_still(const ss_sim *sim) {
  return 1e-9 * sim->part.speed_bound + 1e-14 * sim->model->length / sim->step.h;
}

#endif
