/* Stiffness and damping of pairs of materials and of bodies: each pair its own, two surfaces that give in series, the
 * same whichever body comes first, and in all units. */
#include "scene_runner.h"

#include "la/dense.h"
#include "patch/patch.h"

/* How deep a mass has sunk that is put down on a spring and a damper at t = 0: m d'' + c d' + k d = m g. */
static double sag(double m, double k, double c, double g, double t) {
  const double omega = sqrt(k / m), damping = c / (2 * m), ring = sqrt(omega * omega - damping * damping);
  return m * g / k * (1 - exp(-damping * t) * (cos(ring * t) + damping / ring * sin(ring * t)));
}

/* The schemes are of first order in contact: two runs, one with half the step, give the limit to second order. */
typedef struct twins {
  run coarse, fine;
} twins;

static void twins_open(twins *t, const char *text) {
  run_parse(&t->coarse, text, &(change){.step = 1e-4});
  run_parse(&t->fine, text, &(change){.step = 5e-5});
}

static void twins_step(twins *t) {
  run_step(&t->coarse);
  run_step(&t->fine);
  run_step(&t->fine);
}

static void twins_close(twins *t) {
  run_check(&t->coarse);
  run_check(&t->fine);
  run_close(&t->coarse);
  run_close(&t->fine);
}

static double depth(const twins *t, int body) {
  return 0.1 - (2 * run_position(&t->fine, body).z - run_position(&t->coarse, body).z);
}

/* Three balls: on a pair of materials, on a pair of bodies, and on what the scene says. */
static const char three[] = "materials: [{name: floor}, {name: cork}, {name: lead}]\n"
                            "contacts:\n"
                            "  - {between: [%s], compliance: {stiffness: [5000, 5000], damping: [40, 40]}}\n"
                            "  - {between: [%s], compliance: {stiffness: [700, 700], damping: {rayleigh: [1, 0.01]}}}\n"
                            "world: {shapes: [{type: half-space, normal: [0, 0, 1], material: floor}]}\n"
                            "bodies:\n"
                            "  - {name: a, mass: 2, freedom: [z], position: [0, 0, 0.1], shapes: [{type: sphere, "
                            "radius: 0.1, material: cork}]}\n"
                            "  - {name: b, mass: 3, freedom: [z], position: [1, 0, 0.1], shapes: [{type: sphere, "
                            "radius: 0.1, material: lead}]}\n"
                            "  - {name: c, mass: 1, freedom: [z], position: [2, 0, 0.1], shapes: [{type: sphere, "
                            "radius: 0.1, material: lead}]}\n"
                            "compliance: {stiffness: [1000, 1000], damping: [5, 5]}\n"
                            "simulation: {scheme: compliant-theta, theta: 0.5, step: 1e-4, duration: 0.25}\n";

static void each_pair_has_its_own(void **state) {
  (void)state;
  static const char *const between[2][2] = {{"cork, floor", "b, world"}, {"floor, cork", "world, b"}};
  for (int order = 0; order < 2; order++) {
    char text[2048];
    (void)snprintf(text, sizeof text, three, between[order][0], between[order][1]);
    twins pair;
    twins_open(&pair, text);
    while (!ss_sim_done(pair.coarse.sim)) {
      twins_step(&pair);
      const double t = ss_sim_state(pair.coarse.sim)->t;
      check_near(depth(&pair, 0), sag(2, 5000, 40, 9.81, t), 1e-7, "the pair of materials");
      check_near(depth(&pair, 1), sag(3, 700, 1 + 0.01 * 700, 9.81, t), 1e-7, "the pair of bodies");
      check_near(depth(&pair, 2), sag(1, 1000, 5, 9.81, t), 1e-7, "the scene");
    }
    twins_close(&pair);
  }
}

/* The later of two entries that fit counts, and what it leaves out is the scene's. */
static void later_entries_win(void **state) {
  (void)state;
  twins pair;
  twins_open(
      &pair,
      "contacts: [{between: [default, default], compliance: {stiffness: [10, 10], damping: [9, 9]}},\n"
      "  {between: [a, world], compliance: {stiffness: [2000, 2000]}}, {between: [a, world], friction: 0.5}]\n"
      "materials: [{name: default}]\n"
      "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
      "bodies: [{name: a, mass: 2, freedom: [z], position: [0, 0, 0.1], shapes: [{type: sphere, radius: 0.1}]}]\n"
      "compliance: {damping: [40, 40]}\n"
      "simulation: {scheme: compliant-theta, theta: 0.5, step: 1e-4, duration: 0.1}\n");
  while (!ss_sim_done(pair.coarse.sim)) twins_step(&pair);
  check_near(depth(&pair, 0), sag(2, 2000, 40, 9.81, 0.1), 1e-7, "the last entry, the scene's damping");
  twins_close(&pair);
}

/* Springs of two materials in series; their dampers have the same ratio, so that the law is exact. */
static void materials_in_series(void **state) {
  (void)state;
  twins pair;
  twins_open(
      &pair,
      "materials: [{name: floor, compliance: {stiffness: [3000, 1], damping: [30, 1]}},\n"
      "            {name: cork, compliance: {stiffness: [1500, 1], damping: {rayleigh: [0, 0.01]}}}, {name: stone}]\n"
      "world: {shapes: [{type: half-space, normal: [0, 0, 1], material: floor}]}\n"
      "bodies:\n"
      "  - {name: a, mass: 2, freedom: [z], position: [0, 0, 0.1], shapes: [{type: sphere, radius: 0.1, material: "
      "cork}]}\n"
      "  - {name: b, mass: 2, freedom: [z], position: [1, 0, 0.1], shapes: [{type: sphere, radius: 0.1, material: "
      "stone}]}\n"
      "simulation: {scheme: compliant-theta, theta: 0.5, step: 1e-4, duration: 0.2}\n");
  while (!ss_sim_done(pair.coarse.sim)) twins_step(&pair);
  check_near(depth(&pair, 0), sag(2, 1000, 10, 9.81, 0.2), 1e-7, "1/k = 1/3000 + 1/1500");
  check_near(depth(&pair, 1), sag(2, 3000, 30, 9.81, 0.2), 1e-7, "on a rigid body the floor alone");
  twins_close(&pair);
}

/* A surface of springs on an elastic half-space, and what cannot be joined. */
static void springs_on_a_half_space(void **state) {
  (void)state;
  ss_arena *arena = ss_arena_create();
  ss_error error = {0};
  ss_patch *p;
  const ss_compliance_def def = {.given = true, .elements = 1, .spacing = 0.5};
  ss_surface side[2] = {{.elastic = {100, 0.3}}, {.stiffness = {7, 3}}};
  run_require(ss_patch_create(&def, side, false, 3, arena, &p, &error), &error, "series");
  check_near(1 / p->K[0], 0.95 * (1 - 0.09) / (100 * 0.5) + 1.0 / 7, 1e-15, "normal");
  check_near(1 / p->K[8], 1.3 * 1.7 / (100 * sqrt(acos(-1)) * 0.5) + 1.0 / 3, 1e-15, "tangential");
  side[0].has_damping = true;
  assert_int_equal(ss_patch_create(&def, side, false, 3, arena, &p, &error), SS_ERROR_INPUT);
  side[1].has_damping = true;
  run_require(ss_patch_create(&def, side, false, 3, arena, &p, &error), &error, "both critical");
  const double normal = 2 * sqrt(100 * 0.5 / (0.95 * (1 - 0.09))), springs = 2 * sqrt(7);
  check_near(1 / p->C[0], 1 / normal + 1 / springs, 1e-14, "dampers in series");
  side[1].law = SS_DAMPING_GIVEN;
  assert_int_equal(ss_patch_create(&def, side, false, 3, arena, &p, &error), SS_ERROR_INPUT);
  ss_arena_destroy(arena);
}

/* ---- a table whose legs differ ---- */

enum { LEGS = 5 };

typedef struct leg {
  double x, y, k;
} leg;

/* Forces k (d + a x + b y) that carry the weight at (x, y): three equations for d, a, b, solved by Cramer's rule. */
static void elastic_forces(const leg *legs, double weight, double x, double y, double *out) {
  double m[3][3] = {{0}};
  const double right[3] = {weight, weight * x, weight * y};
  for (int i = 0; i < LEGS; i++) {
    const double u[3] = {1, legs[i].x, legs[i].y};
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) m[a][b] += legs[i].k * u[a] * u[b];
  }
  const ss_vec3 c0 = v3(m[0][0], m[1][0], m[2][0]), c1 = v3(m[0][1], m[1][1], m[2][1]);
  const ss_vec3 c2 = v3(m[0][2], m[1][2], m[2][2]), r = v3(right[0], right[1], right[2]);
  const double all = v3_dot(c0, v3_cross(c1, c2));
  const double d = v3_dot(r, v3_cross(c1, c2)) / all, a = v3_dot(c0, v3_cross(r, c2)) / all;
  const double b = v3_dot(c0, v3_cross(c1, r)) / all;
  for (int i = 0; i < LEGS; i++) out[i] = legs[i].k * (d + a * legs[i].x + b * legs[i].y);
}

static int write_table(char *text, size_t size, const leg *legs) {
  int n = snprintf(text, size, "materials:\n  - {name: floor, friction: 0.4}\n");
  for (int i = 0; i < LEGS; i++)
    n += snprintf(text + n, size - (size_t)n,
                  "  - {name: leg%d, friction: 0.4, compliance: {stiffness: [%g, %g], damping: [%g, %g]}}\n", i,
                  legs[i].k, legs[i].k, 0.02 * legs[i].k, 0.02 * legs[i].k);
  n += snprintf(text + n, size - (size_t)n,
                "world: {shapes: [{type: half-space, normal: [0, 0, 1], material: floor}]}\n"
                "bodies:\n  - name: table\n    mass: 10\n    inertia: [1, 1, 1.5]\n    center_of_mass: [-0.2, 0.1, "
                "0.7]\n    shapes:\n");
  for (int i = 0; i < LEGS; i++)
    n += snprintf(text + n, size - (size_t)n, "      - {type: point, position: [%g, %g, 0], material: leg%d}\n",
                  legs[i].x, legs[i].y, i);
  return n + snprintf(text + n, size - (size_t)n, "simulation: {scheme: compliant-theta, step: 0.002, duration: 1}\n");
}

static void every_leg_carries_its_share(void **state) {
  (void)state;
  static const leg legs[LEGS] = {
      {0.5, 0.3, 1e6}, {-0.6, 0.3, 1e6}, {-0.5, -0.4, 4e6}, {0.5, -0.3, 1e6}, {0, 0.45, 2e6}};
  char text[2048];
  double expected[LEGS];
  assert_true(write_table(text, sizeof text, legs) < (int)sizeof text);
  elastic_forces(legs, 98.1, -0.2, 0.1, expected);
  run r;
  run_parse(&r, text, NULL);
  run_finish(&r);
  ss_contact_report contacts[LEGS];
  assert_int_equal(ss_sim_contacts(r.sim, contacts, LEGS), LEGS);
  for (int i = 0; i < LEGS; i++) {
    int nearest = 0;
    for (int k = 1; k < LEGS; k++)
      if (hypot(contacts[i].point.x - legs[k].x, contacts[i].point.y - legs[k].y) <
          hypot(contacts[i].point.x - legs[nearest].x, contacts[i].point.y - legs[nearest].y))
        nearest = k;
    check_near(fabs(contacts[i].impulse.z) / 0.002, expected[nearest], 2e-5 * 98.1, "force of a leg");
  }
  run_close(&r);
}

/* ---- which body comes first ---- */

#define DISC                                                                                                           \
  "  - {name: disc, mass: 1, inertia: 0.005, position: [0.02, 0.15005], velocity: [0.3, -0.2], angular_velocity: 2, "  \
  "shapes: [{type: sphere, radius: 0.1, material: cork}]}\n"
#define SLAB                                                                                                           \
  "  - {name: slab, mass: 4, inertia: 0.1, position: [0, 0], shapes: [{type: box, size: [1, 0.1], material: "          \
  "steel}]}\n"
#define PAIR "contacts: [{between: [%s], friction: 2, compliance: {elements: 2, spacing: 1e-3, stiffness: %s}}]\n"
#define REST                                                                                                           \
  "planar: xy\ngravity: [0, -2]\nmaterials: [{name: cork}, {name: steel}]\ncompliance: {damping: {rayleigh: [0, "      \
  "1e-3]}}\n"                                                                                                          \
  "simulation: {scheme: %s, step: 1e-3, duration: 0.1}\n"

static void run_disc(const char *bodies, const char *between, const char *matrix, const char *scheme, double out[6]) {
  char text[2048], format[2048];
  (void)snprintf(format, sizeof format, "%sbodies:\n%s", PAIR REST, bodies);
  (void)snprintf(text, sizeof text, format, between, matrix, scheme);
  run r;
  run_parse(&r, text, NULL);
  run_finish(&r);
  for (int i = 0; i < 2; i++) {
    const int body = ss_scene_find_body(r.scene, i ? "slab" : "disc");
    const ss_vec3 p = run_position(&r, body);
    out[3 * i] = p.x, out[3 * i + 1] = p.y, out[3 * i + 2] = run_turn(&r, body).z;
  }
  run_close(&r);
}

/* A matrix that couples normal and tangential directions of two unequal elements: a force on the one moves the other. For
 * the other body the elements change places. */
static void the_order_of_bodies_does_not_matter(void **state) {
  (void)state;
  static const char matrix[] = "[[900, 120, 200, -80], [120, 700, 60, 150], [200, 60, 500, -90], [-80, 150, -90, 400]]";
  static const char turned[] = "[[500, -90, 200, 60], [-90, 400, -80, 150], [200, -80, 900, 120], [60, 150, 120, 700]]";
  static const char *const schemes[] = {"compliant", "compliant-theta"};
  for (int k = 0; k < 2; k++) {
    double first[6], other[6], plain[6];
    run_disc(DISC SLAB, "disc, slab", matrix, schemes[k], first);
    run_disc(DISC SLAB, "disc, slab", "[700, 700]", schemes[k], plain);
    assert_true(fabs(first[1] - plain[1]) > 1e-5 && fabs(first[0] - plain[0]) > 1e-5); /* the matrix matters */
    run_disc(SLAB DISC, "disc, slab", matrix, schemes[k], other);
    for (int i = 0; i < 6; i++) check_near(other[i], first[i], 1e-11, "bodies in the other order");
    run_disc(DISC SLAB, "slab, disc", turned, schemes[k], other);
    for (int i = 0; i < 6; i++) check_near(other[i], first[i], 1e-11, "names in the other order, the matrix turned");
    run_disc(DISC SLAB, "steel, cork", turned, schemes[k], other);
    for (int i = 0; i < 6; i++) check_near(other[i], first[i], 1e-11, "materials in the other order");
  }
}

/* In space: turning twice is nothing, and an isotropic matrix is the same from both sides. */
static void turned_matrices_in_space(void **state) {
  (void)state;
  enum { N = 12 };
  ss_arena *arena = ss_arena_create();
  ss_error error = {0};
  double given[N * N];
  uint64_t seed = 3;
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) given[i * N + j] = given[j * N + i] = i == j ? 10 : random_next(&seed);
  const ss_surface rigid[2] = {0};
  ss_compliance_def def = {.given = true, .elements = 2, .spacing = 1, .stiffness = given, .n_stiffness = N * N};
  ss_patch *once, *twice;
  run_require(ss_patch_create(&def, rigid, true, 3, arena, &once, &error), &error, "turned");
  def.stiffness = once->K;
  run_require(ss_patch_create(&def, rigid, true, 3, arena, &twice, &error), &error, "turned back");
  for (int i = 0; i < N * N; i++) check_near(twice->K[i], given[i], 0, "twice");
  /* an elastic body a on a rigid one, and the same body as b */
  const ss_compliance_def lattice = {.given = true, .elements = 2, .spacing = 1};
  ss_patch *a, *b;
  const ss_surface as_a[2] = {{.elastic = {5, 0.2}}}, as_b[2] = {[1] = {.elastic = {5, 0.2}}};
  run_require(ss_patch_create(&lattice, as_a, false, 3, arena, &a, &error), &error, "a");
  run_require(ss_patch_create(&lattice, as_b, false, 3, arena, &b, &error), &error, "b");
  def.stiffness = a->K;
  run_require(ss_patch_create(&def, rigid, true, 3, arena, &twice, &error), &error, "a turned");
  for (int i = 0; i < N * N; i++) check_near(twice->K[i], b->K[i], 1e-13, "the body as the other side");
  ss_arena_destroy(arena);
}

/* ---- units ---- */

/* Metres and seconds, millimetres and milliseconds: forces are in kg mm / ms^2 = 1000 N, so that stiffness is divided by
 * 1e6 and damping by 1000. */
static void units_scale(void **state) {
  (void)state;
  static const char *const units[2][2] = {{"m=1", "s=1"}, {"m=1000", "s=1000"}};
  double x[2], z[2], w[2];
  for (int k = 0; k < 2; k++) {
    run r;
    run_parse(
        &r,
        "parameters: {m: 1, s: 1}\n"
        "gravity: [0, 0, -9.81*m/s^2]\n"
        "materials: [{name: floor}, {name: cork}]\n"
        "contacts: [{between: [floor, cork], friction: 0.3, compliance: {stiffness: [4000/s^2, 3000/s^2], damping: "
        "[20/s, 15/s], elements: 3, spacing: 1e-3*m}}]\n"
        "world: {shapes: [{type: half-space, normal: [0, 0, 1], material: floor}]}\n"
        "bodies: [{name: a, mass: 2, position: [0, 0, 0.1*m], velocity: [m/s, 0, 0], inertia: "
        "[0.008*m^2, 0.008*m^2, 0.008*m^2], shapes: [{type: sphere, radius: 0.1*m, material: cork}]}]\n"
        "simulation: {scheme: compliant-theta, step: 1e-3*s, duration: 0.2*s}\n",
        &(change){.set = {units[k][0], units[k][1]}});
    run_finish(&r);
    const double m = k ? 1000 : 1;
    x[k] = run_position(&r, 0).x / m, z[k] = run_position(&r, 0).z / m;
    w[k] = run_turn(&r, 0).y * m; /* the second is m of the other times */
    run_close(&r);
  }
  assert_true(x[0] > 0.1);
  check_near(x[1], x[0], 1e-12, "x");
  check_near(z[1], z[0], 1e-12, "z");
  check_near(w[1], w[0], 1e-9, "spin");
}

/* A pair about which nobody says anything is an error that names it. */
static void a_pair_that_does_not_give(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "materials: [{name: floor}, {name: cork}, {name: lead}]\n"
            "contacts: [{between: [cork, floor], compliance: {stiffness: [1, 1]}}]\n"
            "world: {shapes: [{type: half-space, normal: [0, 0, 1], material: floor}]}\n"
            "bodies: [{name: a, mass: 2, freedom: [z], position: [0, 0, 0.1], shapes: [{type: sphere, radius: 0.1, "
            "material: lead}]}]\n"
            "simulation: {scheme: compliant, step: 1e-3, duration: 0.01}\n",
            NULL);
  ss_error error = {0};
  assert_int_equal(ss_sim_step(r.sim, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "'lead'"));
  assert_non_null(strstr(error.message, "'floor'"));
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_pair_has_its_own),       cmocka_unit_test(later_entries_win),
      cmocka_unit_test(materials_in_series),         cmocka_unit_test(springs_on_a_half_space),
      cmocka_unit_test(every_leg_carries_its_share), cmocka_unit_test(the_order_of_bodies_does_not_matter),
      cmocka_unit_test(turned_matrices_in_space),    cmocka_unit_test(units_scale),
      cmocka_unit_test(a_pair_that_does_not_give),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
