/* How to simulate: the section `simulation`. */
#include "io/scene_reader.h"

#include <stickslip/io.h>

#include <math.h>
#include <string.h>

enum { MOST_DIRECTIONS = 1024 };

/* Schemes of the contract that are not in the table of schemes yet. */
static const ss_word later_scheme_words[] = {
    {NULL, 0, false},
};
const ss_words ss_words_later_scheme = {"scheme", later_scheme_words};

static const ss_word cone_words[] = {
    {"polyhedral", SS_CONE_POLYHEDRAL, false},
    {"pyramid", SS_CONE_PYRAMID, false},
    {"quadratic", SS_CONE_QUADRATIC, false},
    {"ellipsoid", SS_CONE_QUADRATIC, false},
    {NULL, 0, false},
};
const ss_words ss_words_cone = {"cone", cone_words};

static const ss_word polygon_words[] = {
    {"turning", SS_POLYGON_TURNING, false},
    {"fixed", SS_POLYGON_FIXED, false},
    {NULL, 0, false},
};
const ss_words ss_words_polygon = {"polygon", polygon_words};

static const ss_word restitution_words[] = {
    {"poisson", SS_RESTITUTION_POISSON, false},
    {"newton", SS_RESTITUTION_NEWTON, false},
    {NULL, 0, false},
};
const ss_words ss_words_restitution = {"restitution_law", restitution_words};

static const ss_word event_words[] = {
    {"collision", SS_EVENT_COLLISION, false},
    {"stick-slip", SS_EVENT_STICK_SLIP, false},
    {"take-off", SS_EVENT_TAKE_OFF, false},
    {"facet", SS_EVENT_FACET, false},
    {NULL, 0, false},
};
const ss_words ss_words_event = {"event", event_words};

unsigned ss_event_bit(const char *name, size_t length) {
  for (const ss_word *word = event_words; word->name; word++)
    if (strlen(word->name) == length && memcmp(word->name, name, length) == 0) return (unsigned)word->value;
  return 0;
}

static const ss_word stabilization_words[] = {
    {"none", SS_STABILIZATION_NONE, false},
    {"anitescu-hart", SS_STABILIZATION_ANITESCU_HART, false},
    {"projection", SS_STABILIZATION_PROJECTION, false},
    {"exact", SS_STABILIZATION_EXACT, false},
    {NULL, 0, false},
};
const ss_words ss_words_stabilization = {"stabilization", stabilization_words};

static const ss_word estimate_words[] = {
    {"pair", SS_ESTIMATE_PAIR, false},
    {"halves", SS_ESTIMATE_HALVES, false},
    {NULL, 0, false},
};
const ss_words ss_words_estimate = {"estimate", estimate_words};

/* A table of the library as words. The names are not copied. */
typedef struct named_choice {
  const char *what;
  const char *(*name)(int row);
} named_choice;

static const char *scheme_name(int row) { return ss_table_schemes()[row].name; }
static const char *solver_name(int row) { return ss_cp_solvers()[row].name; }

static ss_status read_choice(ss_reader *reader, const ss_yaml *node, const named_choice *choice, const char **out) {
  const char *text = NULL;
  SS_TRY(ss_read_name(reader, node, &text));
  ss_nearest nearest = {.word = text};
  ss_word_list all = {0};
  for (int i = 0; choice->name(i); i++) {
    const char *name = choice->name(i);
    if (strcmp(name, text) == 0) {
      *out = name;
      return SS_OK;
    }
    ss_nearest_offer(&nearest, name);
    ss_word_list_add(&all, name);
  }
  const ss_printable_text shown = ss_printable(text);
  const char *ours = ss_our_word(choice->what, text);
  if (ours) return SS_READ_FAIL(reader, node, "unknown %s '%s': write %s", choice->what, shown.text, ours);
  if (nearest.best)
    return SS_READ_FAIL(reader, node, "unknown %s '%s'; did you mean '%s'? (one of %s)", choice->what, shown.text,
                        nearest.best, all.text);
  return SS_READ_FAIL(reader, node, "unknown %s '%s' (one of %s)", choice->what, shown.text, all.text);
}

ss_status ss_read_scheme(ss_reader *reader, const ss_yaml *node, void *text) {
  const named_choice schemes = {"scheme", scheme_name};
  const ss_status status = read_choice(reader, node, &schemes, text);
  if (status != SS_ERROR_INPUT || node->kind != SS_YAML_SCALAR) return status;
  for (const ss_word *later = later_scheme_words; later->name; later++)
    if (strcmp(later->name, node->text) == 0)
      return ss_fail_place(reader->error, SS_ERROR_UNSUPPORTED, reader->file, node->mark,
                           "the scheme '%s' is not available in this version", later->name);
  return status;
}

ss_status ss_read_solver(ss_reader *reader, const ss_yaml *node, void *text) {
  const named_choice solvers = {"solver", solver_name};
  return read_choice(reader, node, &solvers, text);
}

static ss_status read_restitution(ss_reader *reader, const ss_yaml *node, void *law) {
  int value = 0;
  SS_TRY(ss_read_word(reader, node, &ss_words_restitution, &value));
  *(ss_restitution *)law = (ss_restitution)value;
  return SS_OK;
}

static ss_status read_stabilization(ss_reader *reader, const ss_yaml *node, void *choice) {
  int value = 0;
  SS_TRY(ss_read_word(reader, node, &ss_words_stabilization, &value));
  *(ss_stabilization *)choice = (ss_stabilization)value;
  return SS_OK;
}

static ss_status read_events(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_simulation *simulation = object;
  SS_TRY(ss_expect_list(reader, node, "events"));
  simulation->has_events = true;
  simulation->events = 0;
  for (int i = 0; i < node->count; i++) {
    int bit = 0;
    SS_TRY(ss_read_word(reader, node->items[i].value, &ss_words_event, &bit));
    simulation->events |= (unsigned)bit;
  }
  return SS_OK;
}

static ss_status read_estimate(ss_reader *reader, const ss_yaml *node, void *choice) {
  int value = 0;
  SS_TRY(ss_read_word(reader, node, &ss_words_estimate, &value));
  *(ss_estimate *)choice = (ss_estimate)value;
  return SS_OK;
}

/* ---- friction ---- */

static ss_status read_cone(ss_reader *reader, const ss_yaml *node, void *cone) {
  int value = 0;
  SS_TRY(ss_read_word(reader, node, &ss_words_cone, &value));
  *(ss_cone *)cone = (ss_cone)value;
  return SS_OK;
}

static ss_status read_polygon(ss_reader *reader, const ss_yaml *node, void *polygon) {
  int value = 0;
  SS_TRY(ss_read_word(reader, node, &ss_words_polygon, &value));
  *(ss_polygon *)polygon = (ss_polygon)value;
  return SS_OK;
}

static ss_status read_directions(ss_reader *reader, const ss_yaml *node, void *directions) {
  double value;
  SS_TRY(ss_read_number(reader, node, &value));
  if (!(value >= 4 && value <= MOST_DIRECTIONS) || fmod(value, 2) != 0)
    return SS_READ_FAIL(reader, node, "'directions' must be an even number from 4 to %d, not %g", MOST_DIRECTIONS,
                        value);
  *(int *)directions = (int)value;
  return SS_OK;
}

static const ss_key friction_keys[] = {
    {"cone", read_cone, offsetof(ss_simulation, cone), false, 0},
    {"directions", read_directions, offsetof(ss_simulation, directions), false, 0},
    {"polygon", read_polygon, offsetof(ss_simulation, polygon), false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_friction = {"friction", friction_keys};

static ss_status read_friction(ss_reader *reader, const ss_yaml *node, void *object) {
  const ss_simulation *simulation = object;
  SS_TRY(ss_read_section(reader, node, &ss_section_friction, -1, NULL, object));
  const ss_yaml *directions = ss_yaml_get(node, "directions");
  if (directions && simulation->cone != SS_CONE_POLYHEDRAL)
    return SS_READ_FAIL(reader, directions, "'directions' belongs to the polyhedral cone only");
  const ss_yaml *polygon = ss_yaml_get(node, "polygon");
  if (polygon && simulation->cone == SS_CONE_QUADRATIC)
    return SS_READ_FAIL(reader, polygon,
                        "'polygon' belongs to the polyhedral cone and the pyramid: a disc has no corners");
  return SS_OK;
}

/* ---- the section ---- */

static const ss_key simulation_keys[] = {
    {"scheme", ss_read_scheme, offsetof(ss_simulation, scheme), false, 0},
    {"alpha", ss_read_number, offsetof(ss_simulation, alpha), false, 0},
    {"gamma", ss_read_fraction, offsetof(ss_simulation, gamma), false, 0},
    {"theta", ss_read_fraction, offsetof(ss_simulation, theta), false, 0},
    {"step", ss_read_positive, offsetof(ss_simulation, step), false, 0},
    {"duration", ss_read_positive, offsetof(ss_simulation, duration), true, 0},
    {"friction", read_friction, 0, false, 0},
    {"restitution", read_restitution, offsetof(ss_simulation, restitution), false, 0},
    {"events", read_events, 0, false, 0},
    {"stabilization", read_stabilization, offsetof(ss_simulation, stabilization), false, 0},
    {"solver", ss_read_solver, offsetof(ss_simulation, solver), false, 0},
    {"tolerance", ss_read_positive, offsetof(ss_simulation, tolerance), false, 0},
    {"largest_step", ss_read_positive, offsetof(ss_simulation, largest_step), false, 0},
    {"estimate", read_estimate, offsetof(ss_simulation, estimate), false, 0},
    {"residual", ss_read_positive, offsetof(ss_simulation, residual), false, 0},
    {"sleep", ss_read_boolean, offsetof(ss_simulation, sleep), false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_simulation = {"simulation", simulation_keys};

/* alpha in (0, 1] and gamma in [0, 1] are what makes `gavrea` a scheme (MDI section 4); the others have their own. */
static ss_status check_weights(ss_reader *reader, const ss_yaml *node, const ss_simulation *simulation) {
  static const char *const weights[] = {"alpha", "gamma"};
  const bool gavrea = strcmp(simulation->scheme, "gavrea") == 0;
  for (int i = 0; i < 2; i++) {
    const ss_yaml *weight = ss_yaml_get(node, weights[i]);
    if (gavrea && !weight) return SS_READ_FAIL(reader, node, "the scheme 'gavrea' needs the key '%s'", weights[i]);
    if (!gavrea && weight)
      return SS_READ_FAIL(reader, weight, "'%s' belongs to the scheme 'gavrea', not to '%s'", weights[i],
                          simulation->scheme);
  }
  const ss_yaml *theta = ss_yaml_get(node, "theta");
  if (theta && strcmp(simulation->scheme, "compliant-theta") != 0)
    return SS_READ_FAIL(reader, theta, "'theta' belongs to the scheme 'compliant-theta', not to '%s'",
                        simulation->scheme);
  if (gavrea && !(simulation->alpha > 0 && simulation->alpha <= 1))
    return SS_READ_FAIL(reader, ss_yaml_get(node, "alpha"), "'alpha' must be above 0 and at most 1, not %g",
                        simulation->alpha);
  return SS_OK;
}

/* A fixed step, or a tolerance from which the steps follow. */
static ss_status check_step(ss_reader *reader, const ss_yaml *node, ss_simulation *simulation) {
  const ss_yaml *step = ss_yaml_get(node, "step"), *tolerance = ss_yaml_get(node, "tolerance");
  const ss_yaml *largest = ss_yaml_get(node, "largest_step");
  if (!step && !tolerance) return SS_READ_FAIL(reader, node, "the simulation lacks the key 'step' (or 'tolerance')");
  if (step && tolerance)
    return SS_READ_FAIL(reader, tolerance,
                        "'step' and 'tolerance' exclude each other: with a tolerance the steps are chosen, up to "
                        "'largest_step'; the residual up to which a step counts as certified is 'residual'");
  if (largest && !tolerance) return SS_READ_FAIL(reader, largest, "'largest_step' belongs to 'tolerance'");
  const ss_yaml *estimate = ss_yaml_get(node, "estimate");
  if (estimate && !tolerance) return SS_READ_FAIL(reader, estimate, "'estimate' belongs to 'tolerance'");
  if (tolerance && ss_scheme_is_compliant(simulation->scheme))
    return SS_READ_FAIL(reader, tolerance,
                        "the scheme %s needs a fixed 'step': the matrices of its patches belong to one step size",
                        simulation->scheme);
  if (tolerance && !largest) simulation->largest_step = simulation->duration / 64;
  return SS_OK;
}

ss_status ss_read_simulation(ss_reader *reader, const ss_yaml *node, void *scene) {
  ss_simulation *simulation = &((ss_scene *)scene)->simulation;
  simulation->mark = node->mark;
  SS_TRY(ss_read_section(reader, node, &ss_section_simulation, -1, NULL, simulation));
  SS_TRY(check_step(reader, node, simulation));
  return check_weights(reader, node, simulation);
}

/* The same keys on top of what is there: none is required, and a step takes the place of a tolerance. */
static ss_status override_simulation(ss_reader *reader, const ss_yaml *map, ss_simulation *simulation) {
  ss_key keys[sizeof simulation_keys / sizeof *simulation_keys];
  memcpy(keys, simulation_keys, sizeof keys);
  for (ss_key *key = keys; key->name; key++) key->required = false;
  const ss_section section = {"simulation", keys};
  SS_TRY(ss_read_section(reader, map, &section, -1, NULL, simulation));
  const ss_yaml *step = ss_yaml_get(map, "step"), *tolerance = ss_yaml_get(map, "tolerance");
  if (step && tolerance) return SS_READ_FAIL(reader, tolerance, "'step' and 'tolerance' exclude each other");
  if (step) simulation->tolerance = 0;
  return SS_OK;
}

ss_status ss_simulation_override(ss_simulation *simulation, const char *text, size_t length, ss_error *error) {
  ss_error unwanted;
  ss_reader reader = {.file = "simulation", .key = "simulation", .error = error ? error : &unwanted};
  ss_simulation changed = *simulation;
  ss_status status = ss_scene_create(&reader.scene, reader.error); /* numbers may name what it declares: nothing */
  if (status != SS_OK) return status;
  reader.scratch = ss_arena_create();
  const ss_yaml *root = NULL;
  status = reader.scratch ? ss_yaml_parse(text, length, reader.file, reader.scratch, &root, reader.error)
                          : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (status == SS_OK) status = override_simulation(&reader, root, &changed);
  ss_arena_destroy(reader.scratch);
  ss_scene_destroy(reader.scene);
  if (status == SS_OK) *simulation = changed;
  return status;
}
