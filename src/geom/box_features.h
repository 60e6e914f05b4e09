/* Features of a pair of boxes: what each one's gap is (see box_box.c for which of them are reported when). */
#ifndef SS_GEOM_BOX_FEATURES_H
#define SS_GEOM_BOX_FEATURES_H

#include "geom/pairs.h"

/* Box a seen from b's frame. */
typedef struct ss_boxes {
  ss_vec3 center; /* of a */
  ss_mat3 axes;   /* columns: a's axes */
  ss_vec3 half_a, half_b;
  double size;      /* radius of the smaller bounding sphere */
  double tolerance; /* a length: what is nearer than this to an edge or corner is on it */
} ss_boxes;

ss_boxes ss_boxes_make(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb);

static inline ss_vec3 boxes_corner_a(const ss_boxes *boxes, uint32_t corner) {
  return v3_add(boxes->center, mat3_mul(&boxes->axes, box_corner(boxes->half_a, corner)));
}
ss_segment ss_boxes_edge_a(const ss_boxes *boxes, uint32_t edge);

/* Distance of the two slabs perpendicular to n. */
double ss_boxes_separation(const ss_boxes *boxes, ss_vec3 n);

/* Contact points in b's frame. The bool says whether the points belong to the boxes, or a corner beside a face is above
 * the face's plane: what a caller may report. The contact is filled in anyway. */
bool ss_boxes_corner_on_b(const ss_boxes *boxes, uint32_t corner_a, uint32_t face_b, ss_contact_point *out);
bool ss_boxes_corner_on_a(const ss_boxes *boxes, uint32_t corner_b, uint32_t face_a, ss_contact_point *out);
void ss_boxes_edges(const ss_boxes *boxes, uint32_t edge_a, uint32_t edge_b, ss_contact_point *out);
bool ss_boxes_crossing(const ss_boxes *boxes, uint32_t edge_a, uint32_t edge_b, bool face_of_a, uint32_t face,
                       double margin, ss_contact_point *out);

/* Any of these, by its number. */
void ss_boxes_feature(const ss_boxes *boxes, uint32_t feature, ss_contact_point *out);

void ss_boxes_to_world(ss_contact_point *contact, const ss_pose *pb);

#endif
