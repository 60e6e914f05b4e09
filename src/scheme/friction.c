/* Friction directions of a contact: what the set S of a friction block means in the world (ST section 3.1).
 *
 * The block's friction impulses are z = mu c_n s with s in a set S of unit size. A direction of the world enters as a
 * row, and its length says how large S is along it: with rows (mu_1/mu) e_1 and (mu_2/mu) e_2 the disc becomes the ellipse
 * with half axes mu_1, mu_2, and the moments of torsion and rolling resistance are rows (length/mu) times a unit moment.
 * Maximum dissipation over S is maximum dissipation over its image, so that no solver knows of any of this.
 *
 *     planar scenes   one tangent; rolling resistance about the plane's normal is bounded on its own
 *     spatial scenes  two tangents; with torsion or rolling resistance S is a box (pyramid) or a ball (quadratic)
 *
 * With generators S is the hull of their list, in a frame that does not turn: every number of a generator that is not always zero has a row,
 * as long as it is at most (scheme/generators.c).
 *
 * A gap of a system has its normal and its friction directions as the axes of a space of its own: the first axis is the
 * normal, and where there is one direction the third one stands in for the plane's normal.
 *
 * The first force row points where the contact will slip, at the weighted velocity va, unless the polygon is fixed
 * (scheme/friction_faces.c): a turning polygon has its corner there, so that the friction force does not depend on how the scene is turned, and opposes the slip of the middle of the step and
 * not that of its start, which would cost an order where the slip turns. */
#include "scheme/scheme.h"

static bool in_plane(const ss_sim *sim, const ss_contact *c) {
  return sim->model->planar != SS_SPATIAL || c->law->tangents == 1;
}

/* Principal directions in the tangent plane and how large S is along them, in units of mu. */
typedef struct tangent_frame {
  ss_vec3 e[2];
  double size[2];
} tangent_frame;

/* Where the first corner of a fixed polygon points unless an axis says otherwise: as x is seen in the tangent plane. */
static ss_vec3 default_direction(ss_vec3 n) {
  static const double steep = 0.985; /* x is within ten degrees of the normal */
  const ss_vec3 axis = fabs(n.x) < steep ? v3(1, 0, 0) : v3(0, 1, 0);
  return v3_normalize(v3_axpy(axis, -v3_dot(axis, n), n));
}

static tangent_frame frame_of(const ss_contact *c, const ss_contact_place *place) {
  const ss_law *law = c->law;
  const ss_vec3 n = place->at.normal;
  tangent_frame f = {.size = {law->friction / c->mu, (law->anisotropic ? law->across : law->friction) / c->mu}};
  f.e[0] = c->fixed || law->generators ? default_direction(n) : v3_perpendicular(n);
  if (law->has_axis) {
    const ss_vec3 axis = quat_rotate(place->pose[law->frame].orientation, law->axis);
    const ss_vec3 flat = v3_axpy(axis, -v3_dot(axis, n), n);
    if (v3_norm(flat) > 1e-9 * v3_norm(axis)) f.e[0] = v3_normalize(flat);
  }
  f.e[1] = v3_cross(n, f.e[0]);
  return f;
}

static void add_force(ss_contact *c, ss_vec3 direction, double guess) {
  c->direction[c->n_rows] = direction;
  c->motion[c->n_rows] = SS_MOTION_SLIP;
  c->impulse[c->n_rows++] = guess;
  c->n_forces = c->n_rows;
}

/* Where the contact will slip, in the scaled plane. (Its own friction counts for what is slow: it may be large and yet in
 * balance with other forces of constraints.) A fast slip under a scheme of second order: at the weighted velocity,
 * by the forces that are known and those of constraints in the last part. A slow one, which forces may turn anywhere within the part: where the known
 * forces drive it, because a corner that follows a slow slip closely overshoots, step by step to the other side. */
static void expect_slip(const ss_sim *sim, ss_contact *c, const ss_contact_place *place, const tangent_frame *f,
                        double slip[2]) {
  static const double share = 0.2;
  double pushed[2], turned[2], fast = 0, change = sim->trial.problem.h * sim->trial.problem.h * c->grip * c->grip;
  for (int i = 0; i < 2; i++) {
    const ss_row row = sim->mechanics->row(sim, c, place, v3_scale(f->size[i], f->e[i]));
    slip[i] = ss_row_dot(sim->model, &row, sim->state.v) + f->size[i] * v3_dot(place->drive, f->e[i]);
    pushed[i] = ss_row_dot(sim->model, &row, sim->trial.dv_free);
    turned[i] = sim->trial.problem.h * f->size[i] * v3_dot(c->turn, f->e[i]);
    fast += slip[i] * slip[i];
    change += pushed[i] * pushed[i] + turned[i] * turned[i];
  }
  const bool follow = sim->scheme->rows_at_midpoint && change <= share * share * fast;
  c->slow = sim->scheme->rows_at_midpoint && !follow && !c->was_stuck && sim->trial.problem.h > 0;
  for (int i = 0; i < 2; i++) slip[i] += follow ? sim->trial.asked.alpha * pushed[i] + turned[i] : pushed[i];
}

/* Both tangents, turned so that the first one points along the slip in the scaled plane. */
static void two_forces(const ss_sim *sim, ss_contact *c, const ss_contact_place *place, const tangent_frame *f) {
  double held[2], slip[2];
  for (int i = 0; i < 2; i++) held[i] = v3_dot(c->pressed, f->e[i]) / f->size[i];
  double x = held[0], y = held[1];
  /* a force at rounding level has no direction; a foot that sticks without load has none */
  const double load = v3_dot(c->pressed, place->at.normal);
  const bool holds = c->was_stuck && load > 0 && sqrt(x * x + y * y) > 1e-6 * c->mu * load;
  c->slow = false;
  if (!holds) {
    expect_slip(sim, c, place, f, slip);
    x = slip[0];
    y = slip[1];
  }
  const double length = sqrt(x * x + y * y);
  const bool turned =
      holds || length > (c->was_stuck ? 1e-9 : 1e-13) * sim->part.speed_bound; /* what sticks does not slip */
  c->undirected = !turned;
  const double cosine = turned ? x / length : 1, sine = turned ? y / length : 0;
  const ss_vec3 a = v3_scale(f->size[0], f->e[0]), b = v3_scale(f->size[1], f->e[1]);
  add_force(c, v3_add(v3_scale(cosine, a), v3_scale(sine, b)), cosine * held[0] + sine * held[1]);
  add_force(c, v3_sub(v3_scale(cosine, b), v3_scale(sine, a)), cosine * held[1] - sine * held[0]);
}

static void add_moment(ss_contact *c, ss_contact_motion motion, ss_vec3 axis, double length) {
  const double size = length / c->mu;
  c->motion[c->n_rows] = motion;
  c->direction[c->n_rows] = v3_scale(size, axis);
  c->impulse[c->n_rows++] = v3_dot(c->twisted, axis) / size;
}

/* The angular velocity of body a relative to b, for these velocities. */
static ss_vec3 relative_turn(const ss_sim *sim, const ss_contact *c, const ss_contact_place *place, const double *v) {
  ss_vec3 linear, turn[2];
  for (int side = 0; side < 2; side++) {
    ss_twist_of(sim->model, v, c->body[side], &linear, &turn[side]);
    turn[side] = quat_rotate(place->pose[side].orientation, turn[side]);
  }
  return v3_sub(turn[0], turn[1]);
}

/* Rolling is bounded along two tangents. Where they are bounded separately, the first one lies where the moment that holds it points,
 * or along the rolling that there is or will be: the limit does not depend on how the scene is turned. */
static void two_moments(const ss_sim *sim, ss_contact *c, const ss_contact_place *place, const tangent_frame *f) {
  const ss_vec3 n = place->at.normal, tangential = v3_axpy(c->twisted, -v3_dot(c->twisted, n), n);
  const double held = v3_norm(tangential), limit = c->law->rolling * v3_dot(c->pressed, n);
  ss_vec3 axis = f->e[0];
  if (c->was_held >> SS_MOTION_ROLL & 1 && limit > 0 && held > 1e-6 * limit) {
    axis = v3_scale(1 / held, tangential);
  } else {
    const ss_vec3 turn =
        v3_add(relative_turn(sim, c, place, sim->state.v), relative_turn(sim, c, place, sim->trial.dv_free));
    const ss_vec3 rolls = v3_axpy(turn, -v3_dot(turn, n), n);
    const double rate = v3_norm(rolls);
    if (rate * c->law->rolling > 1e-9 * sim->part.speed_bound) axis = v3_scale(1 / rate, rolls);
  }
  add_moment(c, SS_MOTION_ROLL, axis, c->law->rolling);
  add_moment(c, SS_MOTION_ROLL, v3_cross(n, axis), c->law->rolling);
}

static void spatial(const ss_sim *sim, ss_contact *c, const ss_contact_place *place) {
  const tangent_frame f = frame_of(c, place);
  if (f.size[0] > 0 && f.size[1] > 0 && !c->fixed)
    two_forces(sim, c, place, &f);
  else
    for (int i = 0; i < 2; i++)
      if (f.size[i] > 0) add_force(c, v3_scale(f.size[i], f.e[i]), v3_dot(c->pressed, f.e[i]) / f.size[i]);
  if (c->law->torsion > 0) add_moment(c, SS_MOTION_SPIN, place->at.normal, c->law->torsion);
  if (c->law->rolling > 0 && sim->options.cone != SS_CONE_QUADRATIC && !c->fixed)
    two_moments(sim, c, place, &f);
  else
    for (int i = 0; i < 2 && c->law->rolling > 0; i++) add_moment(c, SS_MOTION_ROLL, f.e[i], c->law->rolling);
}

/* What the five numbers of a generator are forces along, and moments about. */
static void generator_axes(const ss_sim *sim, const ss_contact *c, const ss_contact_place *place,
                           ss_vec3 axes[SS_GENERATOR]) {
  const ss_vec3 n = place->at.normal;
  if (in_plane(sim, c)) {
    axes[0] = v3_normalize(v3_cross(n, sim->model->plane_normal));
    axes[1] = v3_cross(n, axes[0]);
  } else {
    const tangent_frame f = frame_of(c, place);
    axes[0] = f.e[0], axes[1] = f.e[1];
  }
  axes[2] = n, axes[3] = axes[0], axes[4] = axes[1];
}

static void velocities_by_generators(const ss_sim *sim, const ss_contact *c, const ss_contact_place *place,
                                     ss_vec3 velocity, const double *v, double *out) {
  const ss_friction_table *table = c->law->generators;
  ss_vec3 axes[SS_GENERATOR], turn = v3(0, 0, 0);
  generator_axes(sim, c, place, axes);
  if (c->n_rows > c->n_forces) turn = relative_turn(sim, c, place, v);
  for (int k = 0; k < table->n_rows; k++)
    out[1 + k] = table->size[k] / c->mu * v3_dot(axes[table->axis[k]], table->axis[k] < 2 ? velocity : turn);
}

/* A row for every number of the generators. */
static void by_generators(const ss_sim *sim, ss_contact *c, const ss_contact_place *place) {
  const ss_friction_table *table = c->law->generators;
  ss_vec3 axes[SS_GENERATOR];
  generator_axes(sim, c, place, axes);
  static const ss_contact_motion motions[SS_GENERATOR] = {SS_MOTION_SLIP, SS_MOTION_SLIP, SS_MOTION_SPIN,
                                                          SS_MOTION_ROLL, SS_MOTION_ROLL};
  for (int k = 0; k < table->n_rows; k++) {
    const ss_vec3 axis = axes[table->axis[k]];
    const double size = table->size[k] / c->mu;
    if (table->axis[k] < 2)
      add_force(c, v3_scale(size, axis), v3_dot(c->pressed, axis) / size);
    else
      add_moment(c, motions[table->axis[k]], axis, table->size[k]);
  }
}

/* Whether its friction has a set that does not turn, with faces (scheme/friction_faces.c). */
static bool is_fixed(const ss_sim *sim, const ss_contact *c) {
  const ss_law *law = c->law;
  if (law->generators) return law->generators->n_rows > 1;
  if (ss_polygon_of(sim, law) == SS_POLYGON_TURNING || sim->options.cone == SS_CONE_QUADRATIC) return false;
  return !in_plane(sim, c) && law->friction > 0 && (!law->anisotropic || law->across > 0);
}

void ss_friction_velocities(const ss_sim *sim, const ss_contact *c, double t, const double *q, const double *v,
                            double out[SS_CONTACT_ROWS]) {
  ss_contact_place place;
  sim->mechanics->place(sim, c, t, q, &place);
  const ss_vec3 velocity = v3_add(sim->mechanics->velocity(sim, c, &place, v), place.drive);
  if (c->law->generators) {
    velocities_by_generators(sim, c, &place, velocity, v, out);
    return;
  }
  const tangent_frame f = frame_of(c, &place);
  for (int i = 0; i < 2; i++) out[1 + i] = f.size[i] * v3_dot(velocity, f.e[i]);
  if (c->n_rows == 3) return;
  const ss_vec3 relative = relative_turn(sim, c, &place, v);
  int row = 3;
  if (c->law->torsion > 0) out[row++] = c->law->torsion / c->mu * v3_dot(relative, place.at.normal);
  for (int i = 0; i < 2 && c->law->rolling > 0; i++) out[row++] = c->law->rolling / c->mu * v3_dot(relative, f.e[i]);
}

void ss_friction_directions(const ss_sim *sim, ss_contact *c, const ss_contact_place *place) {
  const ss_vec3 n = place->at.normal;
  c->n_rows = 0;
  c->fixed = c->mu > 0 && is_fixed(sim, c);
  add_force(c, n, v3_dot(c->pressed, n));
  if (c->mu == 0) return;
  if (c->law->generators) {
    by_generators(sim, c, place);
  } else if (!in_plane(sim, c)) {
    spatial(sim, c, place);
  } else {
    if (c->law->friction > 0) {
      const ss_vec3 tangent = v3_normalize(v3_cross(n, sim->model->plane_normal));
      const double size = c->law->friction / c->mu;
      add_force(c, v3_scale(size, tangent), v3_dot(c->pressed, tangent) / size);
    }
    if (c->law->rolling > 0) add_moment(c, SS_MOTION_ROLL, sim->model->plane_normal, c->law->rolling);
  }
}

/* The set S of the block that these directions make. */
ss_cone ss_friction_cone(const ss_sim *sim, const ss_contact *c) {
  if (c->law->generators) return SS_CONE_GENERATED;
  if (sim->model->planar != SS_SPATIAL && c->n_rows > 2) return SS_CONE_PYRAMID;
  return sim->options.cone == SS_CONE_POLYHEDRAL && c->n_rows > c->n_forces ? SS_CONE_GENERATED : sim->options.cone;
}
