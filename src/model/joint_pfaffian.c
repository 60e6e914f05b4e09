/* Pfaffian joints: velocities that vanish without a position that does (MDI section 2).
 *
 *   rolling      The wheel (centre c, radius R, axle u; a ball without axle) touches the plane, fixed in a with normal n
 *                through p, at its lowest point C = c - R e, e = (n - (n.u) u)/s, s = |n - (n.u) u|, and the two bodies
 *                have one velocity there:
 *                    (c - p) . n - R s = 0                       holonomic: its gradient is n . (v_b(C) - v_a(C))
 *                    t . (v_b(C) - v_a(C)) = 0                   Pfaffian, two tangents t
 *                A disc that lies flat has no lowest point; its centre stands in.
 *   knife-edge   The skate's point P does not move across its blade in the plane with normal n, fixed in a:
 *                    l . (v_b(P) - v_a(P)) = 0,  l = n x blade / |n x blade|
 */
#include "model/joint_view.h"

void joint_rolling(joint_view *v) {
  const ss_vec3 n = mat3_column(&v->frame[0], 0), axle = mat3_column(&v->frame[1], 0);
  const double radius = v->joint->length;
  ss_vec3 up = n;
  double s = 1;
  if (!v->joint->ball) {
    up = v3_axpy(n, -v3_dot(n, axle), axle);
    s = v3_norm(up);
    up = s > 1e-12 ? v3_scale(1 / s, up) : v3(0, 0, 0);
  }
  const ss_vec3 contact = v3_axpy(v->point[1], -radius, up);
  const double gap = v3_dot(v3_sub(v->point[1], v->point[0]), n) - radius * s;
  add_points(v, gap, v3_neg(n), contact, contact);
  for (int axis = 1; axis <= 2; axis++) add_points(v, 0, v3_neg(mat3_column(&v->frame[0], axis)), contact, contact);
}

void joint_knife_edge(joint_view *v) {
  const ss_vec3 n = mat3_column(&v->frame[0], 0), blade = mat3_column(&v->frame[1], 0);
  const ss_vec3 across = v3_normalize(v3_cross(n, blade));
  add_points(v, 0, v3_neg(across), v->point[1], v->point[1]);
}
