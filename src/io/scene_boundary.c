/* Boundary-value problems: the section `boundary`, and `start`, which carries their solution.
 *
 *     boundary:
 *       unknown: [puck.vx]
 *       conditions: [final(puck.x) = 1, final(puck.vx) = 0]
 *
 * A condition is an equation between two expressions that are linear in initial(BODY.v) and final(BODY.q). The names
 * are replaced by parameters of the expression language; evaluating at zero and at the unit vectors gives the factors,
 * and evaluating elsewhere shows whether the equation is linear. */
#include "io/scene_reader.h"
#include "model/plane.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_QUANTITIES = 64, MOST_STARTS = 1000, MOST_CONTINUATION = 1000, MOST_SEGMENTS = 1000 };

/* ---- quantities ---- */

static const struct {
  const char *name;
  int coordinate;
} coordinates[] = {
    {"x", SS_POSITION},      {"y", SS_POSITION + 1},  {"z", SS_POSITION + 2}, {"rx", SS_ROTATION},
    {"ry", SS_ROTATION + 1}, {"rz", SS_ROTATION + 2}, {"vx", SS_VELOCITY},    {"vy", SS_VELOCITY + 1},
    {"vz", SS_VELOCITY + 2}, {"wx", SS_SPIN},         {"wy", SS_SPIN + 1},    {"wz", SS_SPIN + 2},
};

/* Planar scenes also have `angle` and `w`, about the plane's normal. -1: no such coordinate. */
static int find_coordinate(const ss_reader *reader, const char *name, size_t length) {
  const int normal = ss_plane_of(reader->scene->planar).normal;
  if (normal >= 0 && length == 5 && strncmp(name, "angle", 5) == 0) return SS_ROTATION + normal;
  if (normal >= 0 && length == 1 && name[0] == 'w') return SS_SPIN + normal;
  for (size_t i = 0; i < sizeof coordinates / sizeof *coordinates; i++)
    if (strlen(coordinates[i].name) == length && strncmp(coordinates[i].name, name, length) == 0)
      return coordinates[i].coordinate;
  return -1;
}

/* False: there is no such body. */
static bool find_body_or_world(const ss_reader *reader, const char *name, int *body) {
  const bool world = strcmp(name, "world") == 0;
  *body = world ? SS_WORLD : ss_find_body_name(&reader->names, name);
  return world || *body >= 0;
}

/* "delta(A, B).n", "delta(A, B, 5).t": a deformation of the patch between two bodies, BVP (13). */
static ss_status parse_deformation(ss_reader *reader, const ss_yaml *node, const char *text, ss_quantity *out) {
  char a[128], b[128], direction[8];
  int element = 1, length = 0;
  if (sscanf(text, "delta( %127[^,()] , %127[^,()] , %d ) . %7[a-z]%n", a, b, &element, direction, &length) != 4 &&
      sscanf(text, "delta( %127[^,()] , %127[^,()] ) . %7[a-z]%n", a, b, direction, &length) != 3)
    return SS_READ_FAIL(reader, node, "expected delta(A, B).n or delta(A, B, ELEMENT).n, not '%s'",
                        ss_printable(text).text);
  char *const names[2] = {a, b};
  int *const bodies[2] = {&out->body, &out->other};
  for (int i = 0; i < 2; i++) {
    for (size_t end = strlen(names[i]); end > 0 && names[i][end - 1] == ' '; end--) names[i][end - 1] = '\0';
    if (!find_body_or_world(reader, names[i], bodies[i]))
      return SS_READ_FAIL(reader, node, "no body is named '%s'", ss_printable(names[i]).text);
  }
  const char *found = strlen(direction) == 1 ? strchr("nto", direction[0]) : NULL;
  const bool planar = reader->scene->planar != SS_SPATIAL;
  if (!found || (planar && *found == 'o') || text[length] != '\0')
    return SS_READ_FAIL(reader, node, "a deformation is .n or .t%s, not '%s'", planar ? "" : " or .o",
                        ss_printable(text).text);
  if (element < 1) return SS_READ_FAIL(reader, node, "elements are counted from 1, not %d", element);
  if (!out->final) return SS_READ_FAIL(reader, node, "initial deformations are given by 'compliance: {delta: ...}'");
  out->coordinate = SS_DEFORMATION + (int)strcspn("nto", direction);
  out->element = element - 1;
  return SS_OK;
}

/* "BODY.coordinate"; the coordinate follows the last point. */
static ss_status parse_quantity(ss_reader *reader, const ss_yaml *node, const char *text, size_t length,
                                ss_quantity *out) {
  char name[256];
  while (length > 0 && text[0] == ' ') text++, length--;
  while (length > 0 && text[length - 1] == ' ') length--;
  if (length >= sizeof name) return SS_READ_FAIL(reader, node, "'%s' names a quantity that is too long", reader->key);
  memcpy(name, text, length);
  name[length] = '\0';
  if (strncmp(name, "delta(", 6) == 0) return parse_deformation(reader, node, name, out);
  char *point = strrchr(name, '.');
  if (!point)
    return SS_READ_FAIL(reader, node, "expected BODY.coordinate, such as puck.vx, not '%s'", ss_printable(name).text);
  out->coordinate = find_coordinate(reader, point + 1, strlen(point + 1));
  *point = '\0';
  out->body = ss_find_body_name(&reader->names, name);
  if (out->body < 0) return SS_READ_FAIL(reader, node, "no body is named '%s'", ss_printable(name).text);
  if (out->coordinate < 0)
    return SS_READ_FAIL(reader, node, "'%s' has no coordinate '%s' (one of x y z, rx ry rz, vx vy vz, wx wy wz%s)",
                        ss_printable(name).text, ss_printable(point + 1).text,
                        reader->scene->planar != SS_SPATIAL ? ", angle, w" : "");
  if (!out->final && out->coordinate < SS_VELOCITY)
    return SS_READ_FAIL(reader, node, "the initial positions are given: '%s.%s' cannot be asked for at t = 0",
                        ss_printable(name).text, ss_printable(point + 1).text);
  return SS_OK;
}

/* ---- conditions ---- */

/* An equation on the way to its factors. */
typedef struct equation {
  char text[2048]; /* with quantities replaced by names q_0, q_1, ..., and "=" by "-(" ... ")" */
  ss_quantity quantities[MOST_QUANTITIES];
  int n;
} equation;

static bool starts_word(const char *from, const char *at, const char *word) {
  if (strncmp(at, word, strlen(word)) != 0) return false;
  return at == from || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
}

static ss_status replace_quantity(ss_reader *reader, const ss_yaml *node, const char **at, equation *e) {
  const bool final = (*at)[0] == 'f';
  const char *open = *at + (final ? 6 : 8), *close = open;
  for (int depth = 0; *close && (*close != ')' || depth > 0); close++) depth += (*close == '(') - (*close == ')');
  if (!*close) return SS_READ_FAIL(reader, node, "missing ')' after '%s'", final ? "final(" : "initial(");
  if (e->n == MOST_QUANTITIES) return SS_READ_FAIL(reader, node, "more than %d quantities", MOST_QUANTITIES);
  ss_quantity *q = &e->quantities[e->n];
  q->final = final;
  SS_TRY(parse_quantity(reader, node, open, (size_t)(close - open), q));
  const size_t used = strlen(e->text);
  (void)snprintf(e->text + used, sizeof e->text - used, "q_%d", e->n++);
  *at = close + 1;
  return SS_OK;
}

static ss_status rewrite(ss_reader *reader, const ss_yaml *node, equation *e) {
  bool equals = false;
  size_t used = 0;
  for (const char *at = node->text; *at;) {
    if (used + 16 > sizeof e->text) return SS_READ_FAIL(reader, node, "the condition is too long");
    if (starts_word(node->text, at, "final(") || starts_word(node->text, at, "initial(")) {
      SS_TRY(replace_quantity(reader, node, &at, e));
      used = strlen(e->text);
    } else if (*at == '=') {
      if (equals) return SS_READ_FAIL(reader, node, "a condition has one '='");
      equals = true;
      memcpy(e->text + used, "-(", 3);
      used += 2;
      at++;
    } else {
      e->text[used++] = *at++;
      e->text[used] = '\0';
    }
  }
  if (!equals) return SS_READ_FAIL(reader, node, "expected an equation, such as final(puck.x) = 1");
  memcpy(e->text + used, ")", 2);
  if (e->n == 0) return SS_READ_FAIL(reader, node, "the condition mentions neither initial(...) nor final(...)");
  return SS_OK;
}

static ss_status evaluate(ss_reader *reader, const ss_yaml *node, const equation *e, const double *values,
                          double *out) {
  ss_parameter *all = SS_ARENA_ARRAY(reader->scratch, ss_parameter, reader->n_parameters + e->n);
  char(*names)[16] = ss_arena_alloc(reader->scratch, sizeof *names * (size_t)e->n);
  if (!all || !names) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < reader->n_parameters; i++) all[i] = reader->parameters[i];
  for (int i = 0; i < e->n; i++) {
    (void)snprintf(names[i], sizeof names[i], "q_%d", i);
    all[reader->n_parameters + i] = (ss_parameter){names[i], values[i]};
  }
  ss_error inner = {0};
  const ss_status status = ss_expression_constant(e->text, all, reader->n_parameters + e->n, out, &inner);
  if (status == SS_OK) return SS_OK;
  const bool infinite = strstr(inner.message, "is not finite") != NULL; /* that message shows the rewritten text */
  return ss_fail_place(reader->error, status, reader->file, node->mark, "condition '%s': %.300s",
                       ss_printable(node->text).text, infinite ? "it has a value that is not finite" : inner.message);
}

static ss_status read_condition(ss_reader *reader, const ss_yaml *node, ss_condition_def *out) {
  if (node->kind != SS_YAML_SCALAR)
    return SS_READ_FAIL(reader, node, "expected an equation, such as final(puck.x) = 1, not %s",
                        ss_yaml_kind_name(node));
  equation *e = SS_ARENA_ARRAY(reader->scratch, equation, 1);
  if (!e) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  SS_TRY(rewrite(reader, node, e));
  ss_quantity *quantities = SS_ARENA_ARRAY(reader->scene->arena, ss_quantity, e->n);
  double *factors = SS_ARENA_ARRAY(reader->scene->arena, double, e->n);
  out->text = ss_arena_strdup(reader->scene->arena, node->text);
  if (!quantities || !factors || !out->text) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  double values[MOST_QUANTITIES] = {0}, constant = 0, size = 0;
  SS_TRY(evaluate(reader, node, e, values, &constant));
  for (int i = 0; i < e->n; i++) {
    values[i] = 1;
    SS_TRY(evaluate(reader, node, e, values, &factors[i]));
    factors[i] -= constant;
    size += fabs(factors[i]);
    values[i] = 0;
  }
  for (int trial = 1; trial <= 3; trial++) {
    double expected = constant, got = 0;
    for (int i = 0; i < e->n; i++) {
      values[i] =
          (trial == 2 ? -1 : 1) * (trial * (2.25 - 0.75 * i) + 0.5); /* on both sides of zero: abs() is not linear */
      expected += factors[i] * values[i];
    }
    SS_TRY(evaluate(reader, node, e, values, &got));
    if (!(fabs(got - expected) <= 1e-9 * (1 + fabs(constant) + 100 * size)))
      return SS_READ_FAIL(reader, node, "the condition must be linear in initial(...) and final(...)");
  }
  memcpy(quantities, e->quantities, sizeof *quantities * (size_t)e->n);
  out->quantities = quantities;
  out->factors = factors;
  out->n = e->n;
  out->value = -constant;
  out->mark = node->mark;
  return SS_OK;
}

static ss_status read_conditions(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_boundary_def *b = object;
  SS_TRY(ss_expect_list(reader, node, "equations"));
  if (node->count == 0) return SS_READ_FAIL(reader, node, "there must be at least one condition");
  ss_condition_def *conditions = SS_ARENA_ARRAY(reader->scene->arena, ss_condition_def, node->count);
  if (!conditions) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < node->count; i++) SS_TRY(read_condition(reader, node->items[i].value, &conditions[i]));
  b->conditions = conditions;
  b->n_conditions = node->count;
  return SS_OK;
}

/* ---- unknowns ---- */

static bool is_free(const ss_scene *scene, const ss_quantity *q) {
  return q->coordinate >= SS_VELOCITY && q->coordinate < SS_DEFORMATION &&
         (scene->bodies[q->body].freedom >> (q->coordinate - SS_VELOCITY) & 1);
}

static ss_status read_unknown(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_boundary_def *b = object;
  SS_TRY(ss_expect_list(reader, node, "initial velocities, such as puck.vx"));
  if (node->count == 0) return SS_READ_FAIL(reader, node, "there must be at least one unknown velocity");
  ss_quantity *unknown = SS_ARENA_ARRAY(reader->scene->arena, ss_quantity, node->count);
  if (!unknown) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *item = node->items[i].value;
    const char *text = NULL;
    SS_TRY(ss_read_name(reader, item, &text));
    SS_TRY(parse_quantity(reader, item, text, strlen(text), &unknown[i]));
    if (!is_free(reader->scene, &unknown[i]))
      return SS_READ_FAIL(reader, item, "'%s' is locked by the body's freedom", ss_printable(text).text);
    for (int k = 0; k < i; k++)
      if (unknown[k].body == unknown[i].body && unknown[k].coordinate == unknown[i].coordinate)
        return SS_READ_FAIL(reader, item, "'%s' is listed twice", ss_printable(text).text);
  }
  b->unknown = unknown;
  b->n_unknown = node->count;
  return SS_OK;
}

/* Without a list, all velocities of all bodies are unknown, as in BVP (13). */
static ss_status all_unknown(ss_reader *reader, ss_boundary_def *b) {
  const ss_scene *scene = reader->scene;
  ss_quantity *unknown = SS_ARENA_ARRAY(scene->arena, ss_quantity, 6 * (size_t)scene->n_bodies);
  if (!unknown) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int body = 0; body < scene->n_bodies; body++)
    for (int k = 0; k < 6; k++) {
      const ss_quantity q = {.body = body, .coordinate = SS_VELOCITY + k};
      if (is_free(scene, &q)) unknown[b->n_unknown++] = q;
    }
  b->unknown = unknown;
  return SS_OK;
}

/* ---- the section ---- */

static ss_status read_count(ss_reader *reader, const ss_yaml *node, int most, int *count) {
  double value = 0;
  SS_TRY(ss_read_number(reader, node, &value));
  if (!(value >= 1 && value <= most) || fmod(value, 1) != 0)
    return SS_READ_FAIL(reader, node, "'%s' must be a whole number from 1 to %d, not %g", reader->key, most, value);
  *count = (int)value;
  return SS_OK;
}

static ss_status read_starts(ss_reader *reader, const ss_yaml *node, void *count) {
  return read_count(reader, node, MOST_STARTS, count);
}
static ss_status read_segments(ss_reader *reader, const ss_yaml *node, void *count) {
  return read_count(reader, node, MOST_SEGMENTS, count);
}
static ss_status read_steps(ss_reader *reader, const ss_yaml *node, void *count) {
  return read_count(reader, node, MOST_CONTINUATION, count);
}

static ss_status read_parameter(ss_reader *reader, const ss_yaml *node, void *text) {
  const char *name = NULL;
  SS_TRY(ss_read_name(reader, node, &name));
  bool declared = false;
  for (int i = 0; i < reader->n_parameters; i++) {
    if (strcmp(reader->parameters[i].name, name) != 0) continue;
    declared = true;
    reader->scene->boundary.target = reader->parameters[i].value;
  }
  if (!declared) return SS_READ_FAIL(reader, node, "the scene declares no parameter '%s'", ss_printable(name).text);
  *(const char **)text = ss_arena_strdup(reader->scene->arena, name);
  return *(const char **)text ? SS_OK : ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
}

static const ss_key continuation_keys[] = {
    {"parameter", read_parameter, offsetof(ss_boundary_def, parameter), true, 0},
    {"from", ss_read_number, offsetof(ss_boundary_def, from), true, 0},
    {"steps", read_steps, offsetof(ss_boundary_def, steps), false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_continuation = {"continuation", continuation_keys};

static ss_status read_continuation(ss_reader *reader, const ss_yaml *node, void *object) {
  return ss_read_section(reader, node, &ss_section_continuation, -1, NULL, object);
}

static const ss_word sensitivity_words[] = {
    {"differences", false, false},
    {"exact", true, false},
    {NULL, 0, false},
};
const ss_words ss_words_sensitivities = {"sensitivities", sensitivity_words};

static ss_status read_sensitivities(ss_reader *reader, const ss_yaml *node, void *exact) {
  int value = 0;
  SS_TRY(ss_read_word(reader, node, &ss_words_sensitivities, &value));
  *(bool *)exact = value;
  return SS_OK;
}

static const ss_key boundary_keys[] = {
    {"conditions", read_conditions, 0, true, 0},
    {"unknown", read_unknown, 0, false, 0},
    {"tolerance", ss_read_positive, offsetof(ss_boundary_def, tolerance), false, 0},
    {"starts", read_starts, offsetof(ss_boundary_def, starts), false, 0},
    {"seconds", ss_read_positive, offsetof(ss_boundary_def, seconds), false, 0},
    {"segments", read_segments, offsetof(ss_boundary_def, segments), false, 0},
    {"sensitivities", read_sensitivities, offsetof(ss_boundary_def, exact_sensitivities), false, 0},
    {"continuation", read_continuation, 0, false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_boundary = {"boundary", boundary_keys};

ss_status ss_read_boundary(ss_reader *reader, const ss_yaml *node, void *scene) {
  ss_boundary_def *b = &((ss_scene *)scene)->boundary;
  *b = (ss_boundary_def){.given = true, .tolerance = 1e-8, .starts = 8, .steps = 8, .segments = 1, .mark = node->mark};
  if (node->kind == SS_YAML_LIST)
    SS_TRY(read_conditions(reader, node, b));
  else
    SS_TRY(ss_read_section(reader, node, &ss_section_boundary, -1, NULL, b));
  if (!b->unknown) SS_TRY(all_unknown(reader, b));
  if (b->n_conditions < b->n_unknown)
    return SS_READ_FAIL(reader, node, "%d unknown velocities need at least as many conditions, not %d", b->n_unknown,
                        b->n_conditions);
  return SS_OK;
}

/* ---- start: velocities that replace those of the bodies ---- */

typedef struct start_def {
  int body;
  ss_pose pose;
  ss_vec3 velocity, angular_velocity;
} start_def;

static const ss_key start_keys[] = {
    {"body", ss_read_body, offsetof(start_def, body), true, 0},
    {"position", ss_read_vector, offsetof(start_def, pose.position), false, 0},
    {"orientation", ss_read_orientation, offsetof(start_def, pose.orientation), false, 0},
    {"velocity", ss_read_vector, offsetof(start_def, velocity), false, 0},
    {"angular_velocity", ss_read_angular_velocity, offsetof(start_def, angular_velocity), false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_start = {"start", start_keys};

ss_status ss_read_start(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_scene *scene = object;
  SS_TRY(ss_expect_list(reader, node, "bodies with positions and velocities"));
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *item = node->items[i].value;
    start_def start = {.body = SS_WORLD};
    const ss_yaml *name = item->kind == SS_YAML_MAP ? ss_yaml_get(item, "body") : NULL;
    const int body = name && name->kind == SS_YAML_SCALAR ? ss_find_body_name(&reader->names, name->text) : SS_WORLD;
    const ss_body_def *own = body >= 0 ? &scene->bodies[body] : NULL;
    if (own) start = (start_def){body, own->pose, own->velocity, own->angular_velocity};
    SS_TRY(ss_read_section(reader, item, &ss_section_start, -1, NULL, &start));
    if (start.body < 0) return SS_READ_FAIL(reader, item, "the world does not move");
    scene->bodies[start.body].pose = start.pose;
    scene->bodies[start.body].velocity = start.velocity;
    scene->bodies[start.body].angular_velocity = start.angular_velocity;
  }
  return SS_OK;
}
