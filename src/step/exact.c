/* Stabilisation `exact`: at the end of every step the joints hold, positions and velocities, and what the scheme has made of
 * the energy stays. From the step's result q, v:
 *
 *     q+ = q (+) d     min |d|_M       Theta(q+) = 0                                  Newton, d = M^-1 nu^T z
 *     v+               min |v+ - v|_M  nu(q+).v+ = 0, the same energy and momentum
 *
 * A velocity projected on the joints alone loses |v - Pv|_M^2/2 in every step: O(h^4) in smooth motion, but always a loss; a chain
 * of 20 links at 1/240 comes to rest by it. So v+ = Pv + beta u: u is Pv, each body's translation and rotation times the share of its
 * energy that the projection took, made to respect the joints and freed of momentum where the mechanism does not hang
 * on the world; beta (near 1/2) restores the energy. Gravity does work on d, O(h^3) of either sign, which schemes of first order
 * add up to O(h): it is taken from u, in the same way. beta u = O(h^3), so that the order of the scheme stays. Mechanisms are bodies that joints connect, each with its own beta. RATTLE's multipliers on both sides of the
 * step are the alternative: they keep the energy where they exist, which for a link that turns by half a radian per step
 * they often do not.
 *
 * Closed contacts of a mechanism keep gap and normal velocity: their rows join those of the joints, as far as they do not
 * follow from them. The first step returns no kinetic energy: initial velocities may contradict the joints. */
#include "core/sets.h"
#include "scheme/assemble_joints.h"
#include "step/step.h"

#include <string.h>

enum { MOST_ITERATIONS = 12, MODES = 6 };
static const double slow_convergence = 0.003; /* per iteration; slower: factorised anew */

/* ---- mechanisms ---- */

/* mechanism[k]: of body k, or -1 where it has no joint. The first body of a set stands for it. */
static void find_mechanisms(ss_exact *x, const ss_model *model) {
  int *parent = x->mechanism;
  for (int k = 0; k < model->n_bodies; k++) parent[k] = k;
  for (int i = 0; i < model->n_joints; i++) {
    const ss_joint *j = &model->joints[i];
    if (j->n_rows && j->body[0] >= 0 && j->body[1] >= 0) ss_set_join(parent, j->body[0], j->body[1]);
  }
  for (int k = 0; k < model->n_bodies; k++) x->first[k] = ss_set_of(parent, k);
  for (int i = 0; i < model->n_joints; i++) {
    const ss_joint *j = &model->joints[i];
    for (int side = 0; side < 2 && j->n_rows; side++) {
      if (j->body[side] < 0) continue;
      ss_mechanism *m = &x->mechanisms[x->first[j->body[side]]]; /* by its first body, for now */
      m->jointed = true;
      m->grounded |= j->body[1 - side] < 0;
    }
  }
  for (int k = 0; k < model->n_bodies; k++) {
    if (x->first[k] != k) {
      x->mechanism[k] = x->mechanism[x->first[k]];
      continue;
    }
    const ss_mechanism m = x->mechanisms[k];
    x->mechanism[k] = m.jointed ? x->n : -1;
    if (m.jointed) x->mechanisms[x->n++] = m; /* n <= k */
  }
}

ss_status ss_exact_prepare(ss_sim *sim, ss_error *error) {
  const ss_model *model = sim->model;
  ss_exact *x = &sim->exact;
  x->on = sim->options.stabilization == SS_STABILIZATION_EXACT && model->n_joint_rows > 0 && !sim->scheme->iterated;
  if (!x->on || sim->system) return SS_OK;
  const size_t rows = (size_t)model->n_joint_rows, bodies = (size_t)model->n_bodies;
  x->mechanism = SS_ARENA_ARRAY(sim->arena, int, bodies);
  x->first = SS_ARENA_ARRAY(sim->arena, int, bodies);
  x->mechanisms = SS_ARENA_ARRAY(sim->arena, ss_mechanism, bodies);
  x->rows = SS_ARENA_ARRAY(sim->arena, ss_row, rows);
  x->lu_rows = SS_ARENA_ARRAY(sim->arena, ss_lu_row, rows);
  x->w = SS_ARENA_ARRAY(sim->arena, double, 12 * rows);
  x->residual = SS_ARENA_ARRAY(sim->arena, double, rows);
  x->z = SS_ARENA_ARRAY(sim->arena, double, rows);
  x->unit = SS_ARENA_ARRAY(sim->arena, double, rows);
  x->modes = SS_ARENA_ARRAY(sim->arena, double, ((size_t)MODES + 1) * (size_t)model->n_v);
  x->q = SS_ARENA_ARRAY(sim->arena, double, (size_t)model->n_q);
  x->v = SS_ARENA_ARRAY(sim->arena, double, (size_t)model->n_v);
  if (!x->mechanism || !x->first || !x->mechanisms || !x->rows || !x->lu_rows || !x->w || !x->residual || !x->z ||
      !x->unit || !x->modes || !x->q || !x->v)
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  x->pressing = SS_ARENA_ARRAY(sim->arena, ss_pressing, SS_MOST_PRESSING);
  x->meets = SS_ARENA_ARRAY(sim->arena, double, 3 * SS_MOST_PRESSING * rows);
  if (!x->pressing || !x->meets) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  find_mechanisms(x, model);
  sim->mechanics->joints(sim, 0, sim->state.q, NULL, x->rows, NULL);
  for (int i = 0; i < model->n_joint_rows; i++) x->unit[i] = ss_row_length(model, &x->rows[i]);
  return SS_OK;
}

void ss_exact_free(ss_exact *x) { ss_lu_free(&x->lu); }

/* ---- projection on the joints ---- */

/* Residuals and perhaps rows of the posed equations at the present position; the largest residual, as a length. */
static double evaluate(ss_sim *sim, bool rows) {
  ss_exact *x = &sim->exact;
  const ss_basis *basis = &sim->basis;
  double worst = 0;
  sim->mechanics->joints(sim, sim->state.t, sim->state.q, sim->joints.residuals, rows ? x->rows : NULL, NULL);
  for (int i = 0; i < basis->n; i++) {
    if (rows && basis->row[i] != i) x->rows[i] = x->rows[basis->row[i]]; /* ascending */
    x->residual[i] = sim->joints.residuals[basis->row[i]];
    const double off = x->unit[basis->row[i]] * fabs(x->residual[i]);
    if (!(off <= worst)) worst = off;
  }
  return worst;
}

/* w = M^-1 row^T, packed per side. */
static void spread(const ss_model *model, const ss_row *row, double *w) {
  for (int side = 0; side < 2; side++) {
    if (row->body[side] < 0) continue;
    const ss_body *b = &model->bodies[row->body[side]];
    ss_body_spread(b, b->minv, row->j[side], w + (ptrdiff_t)6 * side);
  }
}

/* Contacts that a joint's row meets; returns how many. */
static int find_near(const ss_exact *x, const ss_row *row, int *near) {
  int n = 0;
  for (int i = 0; i < x->n_pressing; i++) {
    bool meets = false;
    for (int side = 0; side < 2; side++)
      for (int other = 0; other < 2; other++)
        meets |= row->body[side] >= 0 && row->body[side] == x->pressing[i].row.body[other];
    if (meets) near[n++] = i;
  }
  return n;
}

/* B^T = nu M^-1 N^T and X = (nu M^-1 nu^T)^-1 B^T, a line per joint row; N M^-1 N^T - B X, of which the lower half. */
static void couple_pressing(ss_sim *sim) {
  const ss_model *model = sim->model;
  ss_exact *x = &sim->exact;
  const int n = x->n_pressing, joints = sim->basis.n;
  const size_t size = (size_t)n * (size_t)joints;
  for (int i = 0; i < n; i++) {
    ss_pressing *c = &x->pressing[i];
    spread(model, &c->row, c->w);
    c->direction = c->normal;
    for (int j = 0; j <= i; j++) x->schur[i * n + j] = ss_row_meets(model, &x->pressing[j].row, &c->row, c->w);
  }
  memset(x->meets, 0, sizeof(double) * size);
  int near[SS_MOST_PRESSING], n_near = 0; /* contacts that have a body in common with a joint */
  for (int k = 0; k < joints; k++) {
    const ss_row *row = &x->rows[k];
    if (k == 0 || memcmp(row->body, row[-1].body, sizeof row->body) != 0) n_near = find_near(x, row, near);
    for (int e = 0; e < n_near; e++)
      x->meets[k * n + near[e]] = ss_row_meets(model, row, &x->pressing[near[e]].row, x->pressing[near[e]].w);
  }
  x->coupled = x->meets + size;
  memcpy(x->coupled, x->meets, sizeof(double) * size);
  ss_lu_solve_columns(&x->lu, n, x->coupled, x->coupled + size);
  for (int k = 0; k < joints; k++)
    for (int i = 0; i < n; i++)
      if (x->meets[k * n + i] != 0)
        ss_short_add(x->schur + (ptrdiff_t)i * n, -x->meets[k * n + i], x->coupled + (ptrdiff_t)k * n, i + 1);
}

/* What the contacts that press add to the joints: S = N M^-1 N^T - B (nu M^-1 nu^T)^-1 B^T, B = N M^-1 nu^T, Cholesky; rows
 * that follow from those before are left free. */
static void factorise_pressing(ss_sim *sim) {
  static const double dependent = 1e-8;
  ss_exact *x = &sim->exact;
  const int n = x->n_pressing;
  couple_pressing(sim);
  for (int i = 0; i < n; i++) {
    ss_pressing *c = &x->pressing[i];
    const double diagonal = ss_row_meets_itself(sim->model, &c->row, c->w);
    double *l = x->schur + (ptrdiff_t)i * n;
    for (int j = 0; j <= i; j++) {
      double sum = l[j];
      for (int k = 0; k < j; k++) sum -= l[k] * x->schur[j * n + k];
      if (j < i) l[j] = x->pressing[j].free ? 0 : sum / x->schur[j * n + j];
      if (j == i) c->free = !(sum > dependent * diagonal);
      if (j == i) l[j] = c->free ? 0 : sqrt(sum);
    }
  }
}

/* M^-1 nu^T and the factors of nu M^-1 nu^T, with the rows of the last evaluation; contacts beside them. Not before something is to be
 * corrected: a mechanism at rest needs none. */
static ss_status factorise(ss_sim *sim, ss_error *error) {
  const ss_model *model = sim->model;
  ss_exact *x = &sim->exact;
  x->factorised = true;
  ss_lu *lu = &x->lu;
  for (int i = 0; i < sim->basis.n; i++) {
    x->lu_rows[i] = (ss_lu_row){{x->rows[i].body[0], x->rows[i].body[1]}};
    spread(model, &x->rows[i], x->w + 12 * (size_t)i);
  }
  const ss_status status = ss_lu_analyse(lu, sim->basis.n, x->lu_rows, error);
  if (status != SS_OK) return status;
  lu->symmetric = true;
  ss_assemble_joints(model, lu, x->rows, x->w, 1, NULL);
  (void)ss_lu_factor(lu, 1e-12);
  if (x->n_pressing) factorise_pressing(sim);
  return SS_OK;
}

static void add_row(const ss_model *model, const ss_row *row, const double *w, double factor, double *out) {
  for (int side = 0; side < 2; side++) {
    if (row->body[side] < 0) continue;
    const ss_body *b = &model->bodies[row->body[side]];
    ss_short_add(out + b->first, factor, w + (ptrdiff_t)6 * side, b->n);
  }
}

/* Multipliers of the contacts that press: S y = -(off - B (nu M^-1 nu^T)^-1 residual). */
static void respond_pressing(ss_sim *sim, double *out) {
  ss_exact *x = &sim->exact;
  const int n = x->n_pressing, joints = sim->basis.n;
  double y[SS_MOST_PRESSING];
  for (int i = 0; i < n; i++) y[i] = -x->pressing[i].off;
  for (int k = 0; k < joints; k++) ss_short_add(y, x->residual[k], x->coupled + (ptrdiff_t)k * n, n);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) y[i] -= x->schur[i * n + k] * y[k];
    y[i] = x->pressing[i].free ? 0 : y[i] / x->schur[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) y[i] -= x->schur[k * n + i] * y[k];
    y[i] = x->pressing[i].free ? 0 : y[i] / x->schur[i * n + i];
  }
  for (int i = 0; i < n; i++) {
    x->pressing[i].y = y[i];
    add_row(sim->model, &x->pressing[i].row, x->pressing[i].w, y[i], out);
  }
  for (int k = 0; k < joints; k++) x->z[k] -= ss_short_dot(x->coupled + (ptrdiff_t)k * n, y, n);
}

/* out += M^-1 (nu^T z + N^T y) that takes away the residuals and the contacts' deviations; nu, N where they were factorised. */
static void respond(ss_sim *sim, double *out) {
  ss_exact *x = &sim->exact;
  ss_lu_solve(&x->lu, x->residual, x->z);
  for (int i = 0; i < sim->basis.n; i++) x->z[i] = -x->z[i];
  if (x->n_pressing) respond_pressing(sim, out);
  for (int i = 0; i < sim->basis.n; i++) add_row(sim->model, &x->rows[i], x->w + 12 * (size_t)i, x->z[i], out);
}

/* ---- contacts that press ---- */

static bool belongs(const ss_sim *sim, const ss_contact *c) {
  for (int side = 0; side < 2; side++)
    if (c->body[side] >= 0 && sim->exact.mechanism[c->body[side]] >= 0) return true;
  return false;
}

static void find_pressing(ss_sim *sim) {
  ss_exact *x = &sim->exact;
  x->n_pressing = 0;
  for (int i = 0; i < sim->trial.n_contacts && x->n_pressing < SS_MOST_PRESSING; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (!c->closed || c->patch || !belongs(sim, c)) continue;
    ss_pressing *p = &x->pressing[x->n_pressing++];
    ss_contact_place place;
    sim->mechanics->place(sim, c, sim->state.t, sim->state.q, &place);
    p->contact = c;
    p->gap = place.at.gap;
    p->normal = place.at.normal;
    p->row = sim->mechanics->row(sim, c, &place, p->normal);
    p->rate = ss_row_dot(sim->model, &p->row, sim->state.v);
    p->off = p->y = 0;
    p->free = false;
  }
}

/* Deviations of gaps; the largest. */
static double deviate(ss_sim *sim) {
  ss_exact *x = &sim->exact;
  double worst = 0;
  for (int i = 0; i < x->n_pressing; i++) {
    ss_pressing *p = &x->pressing[i];
    ss_contact_place place;
    sim->mechanics->place(sim, p->contact, sim->state.t, sim->state.q, &place);
    p->off = place.at.gap - p->gap;
    if (!p->free) worst = fmax(worst, fabs(p->off));
  }
  return worst;
}

/* The contacts' rows become those of the present position. */
static void renew_pressing(ss_sim *sim) {
  ss_exact *x = &sim->exact;
  for (int i = 0; i < x->n_pressing; i++) {
    ss_pressing *p = &x->pressing[i];
    ss_contact_place place;
    sim->mechanics->place(sim, p->contact, sim->state.t, sim->state.q, &place);
    p->normal = place.at.normal;
    p->row = sim->mechanics->row(sim, p->contact, &place, p->normal);
  }
}

/* The angles that the state counts stay near enough to count full turns by. */
static void shift(ss_sim *sim) {
  memset(sim->trial.delta, 0, sizeof(double) * (size_t)sim->model->n_v);
  respond(sim, sim->trial.delta);
  sim->mechanics->shift(sim, sim->trial.delta, sim->trial.q_end);
  memcpy(sim->state.q, sim->trial.q_end, sizeof(double) * (size_t)sim->model->n_q);
}

static double small_gap(const ss_sim *sim) { return 1e-11 * sim->model->length; }

/* Newton's method from the kept position, which is evaluated and off the joints by so much; *held where it leads to the joints. Rows
 * are those of the end. Contacts keep the rows that they began with, so that new factors help the joints alone. */
static ss_status hold_positions(ss_sim *sim, double joints, bool *held, ss_error *error) {
  ss_exact *x = &sim->exact;
  const double small = small_gap(sim), near = 1e-9 * sim->model->length, poor = 0.5;
  double worst = joints, last = HUGE_VAL, last_joints = HUGE_VAL;
  bool rows = true; /* are those of the present position, or of one so near that they do not change */
  ss_status status = SS_OK;
  x->factorised = false;
  for (int k = 0; status == SS_OK && k < MOST_ITERATIONS && worst > small; k++) {
    if (k > 0 && worst > poor * last && (worst <= 10 * small || k > 3)) break;
    const bool slow = k > 0 && joints > slow_convergence * last_joints && last_joints > near && joints > small;
    if (slow && !rows) (void)evaluate(sim, true);
    if (slow || !x->factorised) status = factorise(sim, error);
    if (status != SS_OK) break;
    last = worst;
    last_joints = joints;
    shift(sim);
    const bool turned = last > near, ends = last <= 1e3 * near; /* so near this is mostly the last time */
    joints = evaluate(sim, turned && ends);
    worst = fmax(joints, deviate(sim));
    if (turned) rows = ends;
  }
  *held = worst <= 10 * small;
  if (*held && !rows) (void)evaluate(sim, true);
  if (*held || status != SS_OK) return status;
  memcpy(sim->state.q, x->q, sizeof(double) * (size_t)sim->model->n_q);
  (void)evaluate(sim, true);
  x->factorised = false;
  return SS_OK;
}

static ss_status tell_impulse(ss_sim *sim, const ss_pressing *p, ss_error *error) {
  if (p->y == 0 || p->contact->limit) return SS_OK;
  return ss_deal_also(sim, p->contact, v3_scale(p->y, p->direction), error);
}

static double small_speed(const ss_sim *sim) { return 1e-10 * sim->part.speed_bound; }

/* Residuals of a velocity; the largest, as that of a point. */
static double evaluate_velocity(ss_sim *sim, const double *v) {
  ss_exact *x = &sim->exact;
  double worst = 0;
  for (int i = 0; i < sim->basis.n; i++) {
    x->residual[i] = ss_row_dot(sim->model, &x->rows[i], v);
    const double off = x->unit[sim->basis.row[i]] * fabs(x->residual[i]);
    if (!(off <= worst)) worst = off;
  }
  return worst;
}

/* With the rows of hold_positions and factors near them. */
static ss_status hold_velocities(ss_sim *sim, ss_error *error) {
  ss_exact *x = &sim->exact;
  const double small = small_speed(sim);
  double last = HUGE_VAL;
  ss_status status = SS_OK;
  if (memcmp(sim->state.q, x->q, sizeof(double) * (size_t)sim->model->n_q) != 0) renew_pressing(sim);
  for (int k = 0; status == SS_OK && k < MOST_ITERATIONS; k++) {
    double worst = evaluate_velocity(sim, sim->state.v);
    for (int i = 0; i < x->n_pressing; i++) {
      ss_pressing *p = &x->pressing[i];
      p->off = ss_row_dot(sim->model, &p->row, sim->state.v) - p->rate;
      if (!p->free) worst = fmax(worst, fabs(p->off));
    }
    if (worst <= small || (k > 3 && worst > 0.5 * last)) break;
    if (worst > slow_convergence * last || !x->factorised) status = factorise(sim, error);
    if (status != SS_OK) break;
    last = worst;
    respond(sim, sim->state.v);
    for (int i = 0; i < sim->basis.n; i++) sim->joints.impulse[sim->basis.row[i]] += x->z[i];
    for (int i = 0; status == SS_OK && i < x->n_pressing; i++) status = tell_impulse(sim, &x->pressing[i], error);
  }
  return status;
}

/* ---- energy ---- */

/* What gravitational energy of a body has grown by since q was kept. */
static double lifted(const ss_sim *sim, int body) {
  const double *p = sim->state.q + 7 * (size_t)body, *p0 = sim->exact.q + 7 * (size_t)body;
  const ss_vec3 d = v3(p[0] - p0[0], p[1] - p0[1], p[2] - p0[2]);
  return -sim->model->bodies[body].mass * v3_dot(sim->model->gravity, d);
}

/* What each mechanism has lost of its gravitational and, if that is to be returned, its kinetic energy since q and v were kept; from
 * differences, so that nothing large cancels. Returns the kinetic energy that is not. */
static double count_losses(ss_sim *sim, bool kinetic) {
  static const double rounding = 1e-14;
  const ss_model *model = sim->model;
  ss_exact *x = &sim->exact;
  double left = 0;
  for (int i = 0; i < x->n; i++) x->mechanisms[i].lacks = x->mechanisms[i].rounding = 0;
  for (int k = 0; k < model->n_bodies; k++) {
    const ss_body *b = &model->bodies[k];
    if (x->mechanism[k] < 0) continue;
    ss_mechanism *m = &x->mechanisms[x->mechanism[k]];
    const double *v = sim->state.v + b->first, *v0 = x->v + b->first;
    double lost = 0;
    for (int i = 0; i < b->n; i++) {
      m->rounding += rounding * v[i] * b->m[i * b->n + i] * v[i];
      for (int j = 0; j < b->n; j++) lost -= (v[i] - v0[i]) * b->m[i * b->n + j] * (v[j] + v0[j]) / 2;
    }
    m->lacks += (kinetic ? lost : 0) - lifted(sim, k);
    left += kinetic ? 0 : lost;
  }
  return left;
}

/* Velocities of a mechanism's bodies as they move with it as one rigid body: along or about axis `mode`. */
static void rigid_mode(const ss_sim *sim, int mechanism, int mode, ss_vec3 centre, double *out) {
  const ss_vec3 axis = v3(mode % 3 == 0, mode % 3 == 1, mode % 3 == 2);
  for (int k = 0; k < sim->model->n_bodies; k++) {
    if (sim->exact.mechanism[k] != mechanism) continue;
    const ss_body *b = &sim->model->bodies[k];
    const ss_pose pose = ss_pose_of(sim->state.q, k);
    ss_vec3 linear = axis, turn = v3(0, 0, 0);
    if (mode >= 3) {
      linear = v3_cross(axis, v3_sub(pose.position, centre));
      turn = quat_rotate(quat_conjugate(pose.orientation), axis);
    }
    const double c[6] = {linear.x, linear.y, linear.z, turn.x, turn.y, turn.z};
    for (int i = 0; i < b->n; i++) out[b->first + i] = c[b->coordinate[i]];
  }
}

/* out = M v of the bodies of a mechanism, zero elsewhere. */
static void weigh(const ss_sim *sim, int mechanism, const double *v, double *out) {
  memset(out, 0, sizeof(double) * (size_t)sim->model->n_v);
  for (int k = 0; k < sim->model->n_bodies; k++) {
    const ss_body *b = &sim->model->bodies[k];
    for (int i = 0; sim->exact.mechanism[k] == mechanism && i < b->n; i++)
      out[b->first + i] = ss_short_dot(b->m + (ptrdiff_t)i * b->n, v + b->first, b->n);
  }
}

static double product(const ss_sim *sim, const double *weighed, const double *v) {
  double sum = 0;
  for (int i = 0; i < sim->model->n_v; i++) sum += weighed[i] * v[i];
  return sum;
}

static void add(const ss_sim *sim, int mechanism, double factor, const double *mode, double *out) {
  for (int k = 0; k < sim->model->n_bodies; k++) {
    const ss_body *b = &sim->model->bodies[k];
    if (sim->exact.mechanism[k] == mechanism) ss_short_add(out + b->first, factor, mode + b->first, b->n);
  }
}

/* Whether the joints of a mechanism allow a velocity; those with a gear on the world's axes, or bodies that cannot turn, may not. */
static bool joints_allow(const ss_sim *sim, int mechanism, const double *v) {
  static const double rounding = 1e-6; /* rows are those of a place so near */
  for (int i = 0; i < sim->basis.n; i++) {
    const ss_row *row = &sim->exact.rows[i];
    double sum = 0, size = 0;
    for (int side = 0; side < 2; side++) {
      const ss_row_piece piece = ss_row_side(sim->model, row, side);
      for (int k = 0; k < piece.n && sim->exact.mechanism[row->body[side]] == mechanism; k++) {
        sum += piece.j[k] * v[piece.first + k];
        size += fabs(piece.j[k] * v[piece.first + k]);
      }
    }
    if (fabs(sum) > rounding * size) return false;
  }
  return true;
}

static ss_vec3 centre_of_mass(const ss_sim *sim, int mechanism) {
  const ss_model *model = sim->model;
  double mass = 0;
  ss_vec3 centre = v3(0, 0, 0);
  for (int k = 0; k < model->n_bodies; k++) {
    if (sim->exact.mechanism[k] != mechanism) continue;
    mass += model->bodies[k].mass;
    centre = v3_axpy(centre, model->bodies[k].mass, ss_pose_of(sim->state.q, k).position);
  }
  return v3_scale(1 / mass, centre);
}

/* Sums over a mechanism's bodies: E^T M E and E^T M v, E its modes. */
static void project_modes(const ss_sim *sim, int mechanism, const double *v, double gram[MODES][MODES], double *right) {
  const double *modes = sim->exact.modes;
  const size_t size = (size_t)sim->model->n_v;
  for (int k = 0; k < sim->model->n_bodies; k++) {
    const ss_body *b = &sim->model->bodies[k];
    if (sim->exact.mechanism[k] != mechanism) continue;
    for (int i = 0; i < MODES; i++) {
      const double *e = modes + (size_t)i * size + b->first;
      double own[6];
      for (int c = 0; c < b->n; c++) own[c] = ss_short_dot(b->m + (ptrdiff_t)c * b->n, e, b->n);
      for (int j = 0; j <= i; j++) gram[i][j] += ss_short_dot(own, modes + (size_t)j * size + b->first, b->n);
      right[i] += ss_short_dot(own, v + b->first, b->n);
    }
  }
}

/* The motion as one rigid body that is nearest to a velocity of a mechanism, in the mass norm, and has its momentum; of those along and
 * about the axes that its joints allow, or of all. Cholesky; modes that follow from those before are left out. */
static void rigid_motion(ss_sim *sim, int mechanism, const double *v, bool allowed, double *out) {
  const size_t size = (size_t)sim->model->n_v;
  double *modes = sim->exact.modes, gram[MODES][MODES] = {{0}}, x[MODES] = {0};
  const ss_vec3 centre = centre_of_mass(sim, mechanism);
  for (int i = 0; i < MODES; i++) rigid_mode(sim, mechanism, i, centre, modes + (size_t)i * size);
  project_modes(sim, mechanism, v, gram, x);
  for (int i = 0; i < MODES; i++) {
    const double whole = gram[i][i];
    bool good = whole > 0 && (!allowed || joints_allow(sim, mechanism, modes + (size_t)i * size));
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) gram[i][j] -= gram[i][k] * gram[j][k];
      gram[i][j] = gram[j][j] > 0 ? gram[i][j] / gram[j][j] : 0;
      gram[i][i] -= gram[i][j] * gram[i][j];
      x[i] -= gram[i][j] * x[j];
    }
    good = good && gram[i][i] > 1e-12 * whole;
    gram[i][i] = good ? sqrt(gram[i][i]) : 0;
    x[i] = good ? x[i] / gram[i][i] : 0;
  }
  memset(out, 0, sizeof(double) * size);
  for (int i = MODES - 1; i >= 0; i--) {
    for (int j = i + 1; j < MODES; j++) x[i] -= gram[j][i] * x[j];
    x[i] = gram[i][i] > 0 ? x[i] / gram[i][i] : 0;
    if (x[i] != 0) add(sim, mechanism, x[i], modes + (size_t)i * size, out);
  }
}

/* Takes from a velocity of a mechanism its motion as one rigid body, and with it all momentum. */
static void remove_rigid_motion(ss_sim *sim, int mechanism, double *v) {
  double *motion = sim->exact.modes + (size_t)MODES * (size_t)sim->model->n_v;
  rigid_motion(sim, mechanism, v, false, motion);
  if (!joints_allow(sim, mechanism, motion)) rigid_motion(sim, mechanism, v, true, motion);
  add(sim, mechanism, -1, motion, v);
}

/* Of translation or rotation, which are apart: the first coordinates, or the others. */
static double block_energy(const ss_body *b, const double *v, bool turn) {
  int split = 0;
  while (split < b->n && b->coordinate[split] < 3) split++;
  const int first = turn ? split : 0, end = turn ? b->n : split;
  double sum = 0;
  for (int i = first; i < end; i++)
    for (int j = first; j < end; j++) sum += v[i] * b->m[i * b->n + j] * v[j];
  return sum / 2;
}

/* u: where energy was lost it is returned. Translation and rotation of each body, times the share of their energy that the
 * correction of velocities has taken, less what the correction of positions has lifted; on the joints and without momentum. */
static void returning_direction(ss_sim *sim, bool kinetic, double *u) {
  const ss_model *model = sim->model;
  ss_exact *x = &sim->exact;
  memset(u, 0, sizeof(double) * (size_t)model->n_v);
  for (int k = 0; k < model->n_bodies; k++) {
    const ss_body *b = &model->bodies[k];
    if (x->mechanism[k] < 0) continue;
    const double *v = sim->state.v + b->first;
    double lost[6];
    for (int i = 0; i < b->n; i++) lost[i] = x->v[b->first + i] - v[i];
    const double energy[2] = {block_energy(b, v, false), block_energy(b, v, true)}, up = lifted(sim, k);
    const double whole = energy[0] + energy[1], fall = fabs(up) < whole ? up / whole : copysign(whole > 0, up);
    for (int turn = 0; turn < 2; turn++) {
      const double own = energy[turn], taken = kinetic ? block_energy(b, lost, turn) : 0;
      const double share = (own > taken ? taken / own : own > 0) - fall;
      for (int i = 0; i < b->n; i++)
        if ((b->coordinate[i] >= 3) == turn) u[b->first + i] = share * v[i];
    }
  }
  for (int k = 0; k < MOST_ITERATIONS; k++) {
    const double worst = evaluate_velocity(sim, u);
    for (int i = 0; i < x->n_pressing; i++) x->pressing[i].off = ss_row_dot(model, &x->pressing[i].row, u);
    if (k > 0 && worst <= 1e-10 * sim->part.speed_bound) break;
    respond(sim, u);
  }
  for (int i = 0; i < x->n; i++)
    if (!x->mechanisms[i].grounded) remove_rigid_motion(sim, i, u);
}

static bool is_lacking(const ss_mechanism *m) { return fabs(m->lacks) > m->rounding; }

/* v + beta u, such that the mechanism has what it lacks; what it still lacks then is kept. */
static void return_energy(ss_sim *sim, int mechanism, const double *u) {
  static const double most = 4; /* beta is 1/2 in smooth motion: more would be another story */
  ss_mechanism *m = &sim->exact.mechanisms[mechanism];
  if (!is_lacking(m)) return;
  double *weighed = sim->exact.modes;
  weigh(sim, mechanism, u, weighed);
  const double a = product(sim, weighed, u) / 2, b = product(sim, weighed, sim->state.v);
  const double square = b * b + 4 * a * m->lacks;
  if (b == 0 || !(square >= 0)) return;
  const double beta = fmin(fmax(2 * m->lacks / (b + copysign(sqrt(square), b)), -most), most);
  add(sim, mechanism, beta, u, sim->state.v);
  m->lacks -= beta * (b + beta * a);
}

ss_status ss_hold_joints(ss_sim *sim, ss_error *error) {
  ss_exact *x = &sim->exact;
  ss_energy *energy = &sim->report.energy;
  const ss_model *model = sim->model;
  if (sim->system) return ss_project(sim, error);
  const double off = evaluate(sim, true);
  x->residuals_known = true;
  if (off <= small_gap(sim) && evaluate_velocity(sim, sim->state.v) <= small_speed(sim)) return SS_OK; /* at rest */
  if (model->n_forces) energy->stabilization -= ss_elastic_energy(model, sim->state.q, sim->state.angle);
  memcpy(x->q, sim->state.q, sizeof(double) * (size_t)model->n_q);
  memcpy(x->v, sim->state.v, sizeof(double) * (size_t)model->n_v);
  find_pressing(sim);
  bool held;
  ss_status status = hold_positions(sim, off, &held, error);
  if (status == SS_OK && !held && x->n_pressing) { /* contacts whose places jump, or that leave the joints no way */
    x->n_pressing = 0;
    status = hold_positions(sim, off, &held, error);
  }
  if (status == SS_OK) status = hold_velocities(sim, error);
  if (status != SS_OK) return status;
  const bool kinetic = sim->state.step > 0;
  energy->stabilization -= count_losses(sim, kinetic);
  bool lacking = false;
  for (int i = 0; i < x->n; i++) lacking |= is_lacking(&x->mechanisms[i]);
  if (lacking && !x->factorised) status = factorise(sim, error);
  if (status != SS_OK) return status;
  if (lacking) returning_direction(sim, kinetic, sim->scratch.v);
  for (int i = 0; i < x->n && lacking; i++) return_energy(sim, i, sim->scratch.v);
  for (int i = 0; i < x->n; i++) energy->stabilization -= x->mechanisms[i].lacks;
  if (model->n_forces) energy->stabilization += ss_elastic_energy(model, sim->state.q, sim->state.angle);
  return SS_OK;
}
