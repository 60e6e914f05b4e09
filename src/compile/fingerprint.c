/* Numbers and names are taken one by one: structs have padding and pointers, which differ from run to run. */
#include "compile/fingerprint.h"

#include "geom/hull.h"
#include "geom/mesh.h"

#include <string.h>

const char *const ss_fingerprint_names[SS_FINGERPRINT_PARTS] = {"the build of the program",
                                                                "the text of the scene",
                                                                "parameters",
                                                                "bodies and their freedom",
                                                                "masses and inertias",
                                                                "poses and velocities at t = 0",
                                                                "geometry",
                                                                "materials and contact laws",
                                                                "joints",
                                                                "forces, inputs and outputs",
                                                                "gravity",
                                                                "scheme, step and other options"};

typedef uint64_t hash;

static void text(hash *h, const char *word) {
  *h = word ? ss_hash_bytes(*h, word, strlen(word) + 1) : ss_hash_bytes(*h, "\1", 2);
}

static void integer(hash *h, long number) { *h = ss_hash_bytes(*h, &number, sizeof number); }
static void numbers(hash *h, const double *x, size_t n) {
  if (n > 0) *h = ss_hash_bytes(*h, x, sizeof *x * n);
}
static void number(hash *h, double x) { numbers(h, &x, 1); }

static void vector(hash *h, ss_vec3 v) {
  const double x[3] = {v.x, v.y, v.z};
  numbers(h, x, 3);
}

static void rotation(hash *h, ss_quat q) {
  const double x[4] = {q.w, q.x, q.y, q.z};
  numbers(h, x, 4);
}

static void pose(hash *h, const ss_pose *p) {
  vector(h, p->position);
  rotation(h, p->orientation);
}

static void expression(hash *h, const ss_expression *e) {
  integer(h, e != NULL);
  if (e) *h = ss_hash_bytes(*h, &(uint64_t){ss_expression_hash(e)}, sizeof(uint64_t));
}

/* ---- parts ---- */

static void bodies(const ss_model *m, hash *names, hash *masses, hash *start) {
  for (int i = 0; i < m->n_bodies; i++) {
    const ss_body *b = &m->bodies[i];
    text(names, b->name);
    integer(names, b->freedom);
    number(masses, b->mass);
    numbers(masses, &b->inertia.m[0][0], 9);
    vector(masses, b->com);
    pose(start, &b->pose);
  }
  integer(names, m->planar);
  if (m->v0) numbers(start, m->v0, (size_t)m->n_v);
  if (m->q0) numbers(start, m->q0, (size_t)m->n_q);
}

static hash geometry(const ss_model *m) {
  hash h = ss_hash_start;
  for (int i = 0; i < m->n_shapes; i++) {
    const ss_shape *s = &m->shapes[i];
    integer(&h, s->type);
    integer(&h, s->body);
    pose(&h, &s->local);
    number(&h, s->radius);
    vector(&h, s->half);
    for (int k = 0; s->hull && k < s->hull->n_vertices; k++) vector(&h, s->hull->vertex[k]);
    for (int k = 0; s->mesh && k < s->mesh->n_vertices; k++) vector(&h, s->mesh->vertex[k]);
    for (int k = 0; s->mesh && k < s->mesh->n_triangles; k++)
      for (int c = 0; c < 3; c++) integer(&h, s->mesh->triangle[k].corner[c]);
  }
  return h;
}

static void compliance(hash *h, const ss_compliance_law *law) {
  integer(h, law != NULL);
  if (!law) return;
  const ss_compliance_def *d = &law->def;
  const double own[] = {d->elastic.young, d->elastic.poisson, d->spacing, d->rayleigh[0], d->rayleigh[1]};
  numbers(h, own, sizeof own / sizeof *own);
  numbers(h, d->stiffness, (size_t)d->n_stiffness);
  numbers(h, d->damping, (size_t)d->n_damping);
  numbers(h, d->friction, (size_t)d->n_friction);
  numbers(h, d->delta, (size_t)d->n_delta);
  integer(h, d->elements);
  integer(h, d->given + 2 * d->has_damping + 4 * law->own_stiffness + 8 * law->own_damping);
  integer(h, d->law);
}

static hash materials(const ss_model *m) {
  hash h = ss_hash_start;
  for (int i = 0; i < m->n_shapes; i++) {
    const ss_shape *a = &m->shapes[i];
    integer(&h, a->material);
  }
  for (int i = 0; i < m->n_materials; i++) {
    const ss_material_def *d = &m->materials[i];
    const ss_surface *c = &d->compliance;
    text(&h, d->name);
    const double own[] = {d->friction,        d->restitution,  d->torsion,      d->rolling,    c->elastic.young,
                          c->elastic.poisson, c->stiffness[0], c->stiffness[1], c->damping[0], c->damping[1]};
    numbers(&h, own, sizeof own / sizeof *own);
    integer(&h, c->law + 8 * c->has_damping);
  }
  for (int i = 0; i < m->n_overrides; i++) {
    const ss_law_override *o = &m->overrides[i];
    for (int side = 0; side < 2; side++) {
      integer(&h, o->body[side]);
      integer(&h, o->material[side]);
    }
    const double own[] = {o->friction, o->restitution, o->across, o->torsion, o->rolling};
    numbers(&h, own, sizeof own / sizeof *own);
    integer(&h, o->collide + 2 * o->has_axis + 4 * o->has_restitution_law + 8 * o->has_polygon);
    integer(&h, o->restitution_law);
    integer(&h, o->polygon);
    vector(&h, o->axis);
    if (o->generators) {
      integer(&h, o->generators->n);
      for (int k = 0; k < o->generators->n_rows; k++) integer(&h, o->generators->axis[k]);
      numbers(&h, o->generators->size, (size_t)o->generators->n_rows);
      numbers(&h, o->generators->corners, (size_t)o->generators->n * (size_t)o->generators->n_rows);
    }
    compliance(&h, o->compliance);
  }
  compliance(&h, &m->compliance);
  for (int i = 0; m->system && i < m->system->def.n_gaps; i++) {
    number(&h, m->system->laws[i].friction);
    number(&h, m->system->laws[i].restitution);
  }
  return h;
}

static hash joints(const ss_model *m) {
  hash h = ss_hash_start;
  for (int i = 0; i < m->n_joints; i++) {
    const ss_joint *j = &m->joints[i];
    integer(&h, j->type);
    text(&h, j->name);
    for (int side = 0; side < 2; side++) {
      integer(&h, j->body[side]);
      vector(&h, j->anchor[side]);
      rotation(&h, j->frame[side]);
      rotation(&h, j->start[side]);
    }
    const double own[] = {j->length,    j->weight[0], j->weight[1], j->weight[2],   j->pitch,
                          j->limits[0], j->limits[1], j->origin,    j->motor_speed, j->motor_effort};
    numbers(&h, own, sizeof own / sizeof *own);
    integer(&h, j->ball + 2 * j->has_limits + 4 * j->has_motor);
    expression(&h, j->motor_speed_at);
    expression(&h, j->motor_effort_at);
  }
  integer(&h, m->n_joint_rows);
  return h;
}

static hash forces(const ss_model *m) {
  hash h = ss_hash_start;
  for (int i = 0; i < m->n_forces; i++) {
    const ss_force *f = &m->forces[i];
    integer(&h, f->type);
    for (int side = 0; side < 2; side++) {
      integer(&h, f->body[side]);
      vector(&h, f->anchor[side]);
    }
    const double own[] = {f->stiffness, f->rest_length, f->damping};
    numbers(&h, own, 3);
    integer(&h, f->jacobian);
    if (f->joint) integer(&h, (int)(f->joint - m->joints));
    for (int k = 0; k < 3; k++) {
      expression(&h, f->force[k]);
      expression(&h, f->torque[k]);
    }
  }
  for (int i = 0; i < m->n_inputs; i++) {
    text(&h, m->inputs[i].name);
    number(&h, m->inputs[i].value);
  }
  for (int i = 0; i < m->n_outputs; i++) {
    text(&h, m->outputs[i].name);
    expression(&h, m->outputs[i].value);
  }
  return h;
}

static hash options(const ss_simulation *o) {
  hash h = ss_hash_start;
  text(&h, o->scheme);
  text(&h, o->solver);
  const double own[] = {o->alpha, o->gamma, o->theta, o->step, o->tolerance, o->largest_step, o->residual};
  numbers(&h, own, sizeof own / sizeof *own);
  const long words[] = {o->estimate,    o->cone,       o->directions, o->polygon,
                        o->restitution, o->has_events, o->events,     o->stabilization};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) integer(&h, words[i]);
  return h;
}

ss_fingerprint ss_fingerprint_of(const ss_model *m, const ss_simulation *o) {
  ss_fingerprint f;
  for (int i = 0; i < SS_FINGERPRINT_PARTS; i++) f.part[i] = ss_hash_start;
  text(&f.part[SS_PART_BUILD], ss_build_id);
  text(&f.part[SS_PART_TEXT], m->text);
  f.part[SS_PART_PARAMETERS] = m->parameters;
  bodies(m, &f.part[SS_PART_BODIES], &f.part[SS_PART_MASSES], &f.part[SS_PART_START]);
  for (int i = 0; m->system && i < m->n_v; i++) text(&f.part[SS_PART_BODIES], ss_model_coordinate_name(m, i));
  f.part[SS_PART_GEOMETRY] = geometry(m);
  f.part[SS_PART_MATERIALS] = materials(m);
  f.part[SS_PART_JOINTS] = joints(m);
  f.part[SS_PART_FORCES] = forces(m);
  vector(&f.part[SS_PART_GRAVITY], m->gravity);
  f.part[SS_PART_OPTIONS] = options(o);
  return f;
}
