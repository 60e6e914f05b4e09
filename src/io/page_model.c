/* The model as the viewer needs it: shapes and anchors in the bodies' own frames, as in the scene file. */
#include "io/page.h"

#include "geom/hull.h"
#include "geom/mesh.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

json_t *ss_page_number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *vector(ss_vec3 v) { return json_pack("[f,f,f]", v.x, v.y, v.z); }
static json_t *quaternion(ss_quat q) { return json_pack("[f,f,f,f]", q.w, q.x, q.y, q.z); }
/* Text from a scene file is UTF-8; anything else is left out rather than written wrongly. */
static json_t *text(const char *t) {
  json_t *string = json_string(t ? t : "");
  return string ? string : json_string("");
}

/* Takes the value over; a NULL value (out of memory) is a failure. */
static bool set(json_t *object, const char *key, json_t *value) { return json_object_set_new(object, key, value) == 0; }

static json_t *release_unless(bool good, json_t *value) {
  if (good) return value;
  json_decref(value);
  return NULL;
}

/* From the centre-of-mass frame to the body's own. */
static ss_vec3 body_point(const ss_model *model, int body, ss_vec3 point) {
  return body < 0 ? point : v3_add(point, model->bodies[body].com);
}

/* Corners, three by three, counterclockwise seen from outside. */
static json_t *triangles(const struct ss_hull *hull) {
  json_t *list = json_array();
  bool good = list != NULL;
  for (int f = 0; f < hull->n_faces; f++)
    for (int k = 1; k + 1 < hull->face[f].count; k++) {
      const int *loop = hull->loop + hull->face[f].first;
      const int corner[3] = {loop[0], loop[k], loop[k + 1]};
      for (int c = 0; good && c < 3; c++) good = json_array_append_new(list, vector(hull->vertex[corner[c]])) == 0;
    }
  return release_unless(good, list);
}

/* To seven digits: what is drawn needs no more, and a page holds it as text. */
static json_t *rounded(double x) {
  char text[32];
  (void)snprintf(text, sizeof text, "%.7g", x);
  return json_real(strtod(text, NULL));
}

/* Numbers in a row, three by three. A planar scene's height field is drawn as deep as its boxes are. */
static json_t *mesh_vertices(const ss_model *model, const ss_shape *s) {
  json_t *list = json_array();
  bool good = list != NULL;
  const bool strip = model->planar != SS_SPATIAL && s->type == SS_SHAPE_HEIGHT_FIELD;
  for (int i = 0; i < s->mesh->n_vertices; i++) {
    const ss_vec3 v = s->mesh->vertex[i];
    const double x[3] = {v.x, strip ? (v.y < 0 ? -0.5 : 0.5) : v.y, v.z};
    for (int k = 0; good && k < 3; k++) good = json_array_append_new(list, rounded(x[k])) == 0;
  }
  return release_unless(good, list);
}

static json_t *mesh_faces(const struct ss_mesh *mesh) {
  json_t *list = json_array();
  bool good = list != NULL;
  for (int i = 0; i < 3 * mesh->n_triangles && good; i++)
    good = json_array_append_new(list, json_integer(mesh->triangle[i / 3].corner[i % 3])) == 0;
  return release_unless(good, list);
}

static json_t *shape(const ss_model *model, const ss_shape *s) {
  json_t *o = json_object();
  bool good = set(o, "type", text(ss_table_shapes()[s->type].name)) &&
              set(o, "position", vector(body_point(model, s->body, s->local.position))) &&
              set(o, "orientation", quaternion(s->local.orientation));
  if (s->radius > 0) good = good && set(o, "radius", json_real(s->radius));
  if (s->type == SS_SHAPE_CAPSULE || s->type == SS_SHAPE_CYLINDER)
    good = good && set(o, "length", json_real(2 * s->half.x));
  const bool round = s->type == SS_SHAPE_ELLIPSOID || s->type == SS_SHAPE_ELLIPSE;
  if (s->type == SS_SHAPE_BOX || round) good = good && set(o, "size", vector(v3_scale(2, s->half)));
  if (s->hull) good = good && set(o, "triangles", triangles(s->hull));
  if (s->mesh) good = good && set(o, "vertices", mesh_vertices(model, s)) && set(o, "faces", mesh_faces(s->mesh));
  return release_unless(good, o);
}

static json_t *shapes_of(const ss_model *model, int body) {
  json_t *list = json_array();
  bool good = list != NULL;
  for (int i = 0; good && i < model->n_shapes; i++)
    if (model->shapes[i].body == body) good = json_array_append_new(list, shape(model, &model->shapes[i])) == 0;
  return release_unless(good, list);
}

static json_t *inertia(const ss_body *b) {
  const double(*m)[3] = b->inertia.m;
  return json_pack("[f,f,f,f,f,f]", m[0][0], m[1][1], m[2][2], m[0][1], m[0][2], m[1][2]);
}

static json_t *bodies(const ss_model *model) {
  json_t *list = json_array();
  bool good = list != NULL;
  for (int i = 0; good && i < model->n_bodies; i++) {
    json_t *o = json_object();
    good = set(o, "name", text(model->bodies[i].name)) && set(o, "mass", ss_page_number(model->bodies[i].mass)) &&
           set(o, "center_of_mass", vector(model->bodies[i].com)) && set(o, "inertia", inertia(&model->bodies[i])) &&
           set(o, "shapes", shapes_of(model, i));
    good = json_array_append_new(list, o) == 0 && good;
  }
  return release_unless(good, list);
}

static json_t *link(const ss_model *model, const char *type, const int body[2], const ss_vec3 anchor[2]) {
  json_t *o = json_object();
  json_t *anchors = json_array();
  bool good = anchors != NULL;
  for (int side = 0; good && side < 2; side++)
    good = json_array_append_new(anchors, vector(body_point(model, body[side], anchor[side]))) == 0;
  good = set(o, "type", text(type)) && good;
  good = set(o, "bodies", json_pack("[i,i]", body[0], body[1])) && good;
  good = set(o, "anchors", anchors) && good;
  return release_unless(good, o);
}

static bool has_axis(const ss_joint *j) {
  return j->type == SS_JOINT_REVOLUTE || j->type == SS_JOINT_PRISMATIC || j->type == SS_JOINT_CYLINDRICAL ||
         j->type == SS_JOINT_SCREW || j->type == SS_JOINT_POINT_ON_LINE;
}

static json_t *joints(const ss_model *model) {
  json_t *list = json_array();
  bool good = list != NULL;
  for (int i = 0; good && i < model->n_joints; i++) {
    const ss_joint *j = &model->joints[i];
    json_t *o = link(model, ss_table_joints()[j->type].name, j->body, j->anchor);
    good = o && (!has_axis(j) || set(o, "axis", vector(quat_rotate(j->frame[0], v3(1, 0, 0)))));
    good = json_array_append_new(list, o) == 0 && good;
  }
  return release_unless(good, list);
}

static json_t *forces(const ss_model *model) {
  json_t *list = json_array();
  bool good = list != NULL;
  for (int i = 0; good && i < model->n_forces; i++) {
    const ss_force *f = &model->forces[i];
    if (f->joint) continue; /* its joint is drawn */
    const int between[2] = {f->body[0], f->type == SS_FORCE_APPLIED ? SS_WORLD : f->body[1]};
    good = json_array_append_new(list, link(model, ss_table_forces()[f->type].name, between, f->anchor)) == 0;
  }
  return release_unless(good, list);
}

static json_t *planar(ss_planar plane) {
  static const char *const names[] = {[SS_PLANAR_XY] = "xy", [SS_PLANAR_XZ] = "xz", [SS_PLANAR_YZ] = "yz"};
  return plane == SS_SPATIAL ? json_null() : json_string(names[plane]);
}

json_t *ss_page_model(const ss_model *model) {
  json_t *o = json_object();
  const bool good = set(o, "name", text(model->scene_name)) && set(o, "source", text(model->source)) &&
                    set(o, "file", text(model->file)) && set(o, "text", text(model->text)) &&
                    set(o, "planar", planar(model->planar)) && set(o, "gravity", vector(model->gravity)) &&
                    set(o, "bodies", bodies(model)) && set(o, "world", shapes_of(model, SS_WORLD)) &&
                    set(o, "joints", joints(model)) && set(o, "forces", forces(model));
  return release_unless(good, o);
}

char *ss_model_json(const ss_model *model) {
  json_t *json = ss_page_model(model);
  char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(json);
  return text; /* jansson's, which is malloc's */
}

static json_t *doubts(const ss_certificate *c) {
  json_t *list = json_array();
  bool good = list != NULL;
  for (int i = 0; good && i < SS_DOUBTS; i++) {
    if (c->doubts[i] == 0) continue;
    const ss_doubt_info *info = &ss_table_doubts()[i];
    json_t *o = json_object();
    good = set(o, "code", text(info->code)) && set(o, "number", ss_page_number(c->doubts[i])) &&
           set(o, "meaning", text(info->meaning)) && set(o, "advice", text(info->advice));
    good = json_array_append_new(list, release_unless(good, o)) == 0 && good;
  }
  return release_unless(good, list);
}

json_t *ss_page_certificate(const ss_certificate *c, bool complete) {
  json_t *o = json_object();
  const bool good = set(o, "complementarity", ss_page_number(c->complementarity)) &&
                    set(o, "penetration", ss_page_number(c->penetration)) &&
                    set(o, "joint_drift", ss_page_number(c->joint_drift)) && set(o, "cone", ss_page_number(c->cone)) &&
                    set(o, "dissipation", ss_page_number(c->dissipation)) &&
                    set(o, "energy_created", ss_page_number(c->energy_created)) &&
                    set(o, "certified", json_boolean(c->certified && complete)) &&
                    set(o, "sound", json_boolean(c->sound)) && set(o, "doubts", doubts(c));
  return release_unless(good, o);
}

json_t *ss_page_run(const ss_simulation *options, long steps, double end, bool complete) {
  json_t *o = json_object();
  const bool good = set(o, "scheme", text(options->scheme)) && set(o, "solver", text(options->solver)) &&
                    set(o, "step", ss_page_number(options->step)) &&
                    set(o, "duration", ss_page_number(options->duration)) && set(o, "steps", json_integer(steps)) &&
                    set(o, "end", ss_page_number(end)) && set(o, "complete", json_boolean(complete));
  return release_unless(good, o);
}

json_t *ss_page_timings(const double seconds[SS_STAGES]) {
  json_t *o = json_object();
  bool good = o != NULL;
  for (int i = 0; good && i < SS_STAGES; i++) good = set(o, ss_stage_name((ss_stage)i), ss_page_number(seconds[i]));
  return release_unless(good, o);
}

json_t *ss_page_solves(const ss_report *r) {
  json_t *o = json_object();
  const bool good =
      set(o, "count", json_integer(r->solves.count)) && set(o, "iterations", json_integer(r->solves.iterations)) &&
      set(o, "fallbacks", json_integer(r->solves.fallbacks)) && set(o, "seconds", ss_page_number(r->solves.seconds)) &&
      set(o, "contacts_maximum", json_integer(r->contacts_maximum)) &&
      set(o, "contacts_mean", ss_page_number(r->contacts_mean));
  return release_unless(good, o);
}
