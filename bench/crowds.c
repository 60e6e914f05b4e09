/* crowds: walls, pyramids and balls in a bin, timed. Usage:
 *
 *     crowds SCENE [--threads N] [--residual R] [--scheme S] [--seconds T] [--limit CPU] [--sleep 0|1]
 *
 * SCENE is wallWxH (running bond, T = 2 s), pyramidN (2 s), ballsN (N balls, a cube of them, fall into a bin, 4 s) or bouncesN (N balls far
 * from each other bounce with e = 0.8, 1 s): step 1/240, friction 0.5, else no restitution, Coulomb's disc. Prints one line: CPU time of all threads and of the calling one, and wall time, per simulated second, time of a step in its last tenth over
 * its contacts, stages, solves, penetration over the smallest radius or half side, motion of what should rest, and a hash of the final
 * state, which must not depend on the number of threads. Times count only beside those of another program in the same run. */
#include <stickslip/stickslip.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef struct crowd {
  ss_scene *scene;
  ss_error error;
  double size; /* smallest radius or half side */
  bool stands;
  int n;
} crowd;

static void stop_if(ss_status status, const ss_error *error) {
  if (status == SS_OK) return;
  (void)fprintf(stderr, "crowds: %s\n", error->message);
  exit(1);
}

static void add_plane(crowd *c, ss_vec3 normal, double offset) {
  ss_shape_def shape = ss_shape_default(SS_SHAPE_HALF_SPACE);
  shape.normal = normal;
  shape.offset = offset;
  stop_if(ss_scene_add_world_shape(c->scene, &shape, &c->error), &c->error);
}

static void add_body(crowd *c, ss_shape_def shape, ss_vec3 at) {
  char name[16];
  (void)snprintf(name, sizeof name, "b%d", c->n++);
  ss_body_def body = ss_body_default(name);
  body.density = 1000;
  body.pose.position = at;
  body.shapes = &shape;
  body.n_shapes = 1;
  stop_if(ss_scene_add_body(c->scene, &body, &c->error), &c->error);
}

static void add_box(crowd *c, ss_vec3 size, ss_vec3 at) {
  ss_shape_def shape = ss_shape_default(SS_SHAPE_BOX);
  shape.size = size;
  add_body(c, shape, at);
}

/* Even rows have `width` bricks, odd ones a half brick at each end. */
static void add_wall(crowd *c, int width, int height) {
  const double length = 0.4, side = 0.2, gap = 0.002, pitch = length + gap, half = length / 2 - gap / 2;
  for (int k = 0; k < height; k++) {
    const double z = (k + 0.5) * side;
    const int odd = k % 2;
    for (int i = 0; i < width - odd; i++)
      add_box(c, (ss_vec3){length, side, side}, (ss_vec3){(i + 0.5 + 0.5 * odd) * pitch, 0, z});
    if (!odd) continue;
    add_box(c, (ss_vec3){half, side, side}, (ss_vec3){gap / 2 + half / 2, 0, z});
    add_box(c, (ss_vec3){half, side, side}, (ss_vec3){width * pitch - gap / 2 - half / 2, 0, z});
  }
  c->size = side / 2;
}

static void add_pyramid(crowd *c, int rows) {
  const double side = 0.4, pitch = 0.42;
  for (int k = 0; k < rows; k++)
    for (int i = 0; i < rows - k; i++)
      add_box(c, (ss_vec3){side, side, side}, (ss_vec3){(i + 0.5 * k) * pitch, 0, (k + 0.5) * side});
  c->size = side / 2;
}

static double random_next(unsigned long long *seed) { /* between -1 and 1 */
  *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(*seed >> 11) * 0x1p-52 - 1;
}

static void add_balls(crowd *c, int side) {
  const double radius = 0.1, pitch = 0.23, half = 0.5 * side * pitch, off = 0.01;
  unsigned long long seed = 1;
  for (int sign = -1; sign <= 1; sign += 2) {
    add_plane(c, (ss_vec3){sign, 0, 0}, -half);
    add_plane(c, (ss_vec3){0, sign, 0}, -half);
  }
  for (int i = 0; i < side * side * side; i++) {
    const int x = i % side, y = i / side % side, z = i / side / side;
    ss_shape_def shape = ss_shape_default(SS_SHAPE_SPHERE);
    shape.radius = radius;
    const double dx = off * random_next(&seed), dy = off * random_next(&seed), dz = off * random_next(&seed);
    add_body(c, shape, (ss_vec3){(x + 0.5) * pitch - half + dx, (y + 0.5) * pitch - half + dy, 0.5 + z * pitch + dz});
  }
  c->size = radius;
}

static void add_bounces(crowd *c, int n) {
  const int side = (int)ceil(sqrt(n));
  unsigned long long seed = 1;
  for (int i = 0; i < n; i++) {
    ss_shape_def shape = ss_shape_default(SS_SHAPE_SPHERE);
    shape.radius = c->size = 0.1;
    const int x = i % side, y = i / side;
    add_body(c, shape, (ss_vec3){3. * x, 3. * y, 0.6 + 0.4 * random_next(&seed)});
  }
}

static double make(crowd *c, const char *name) {
  int a, b;
  stop_if(ss_scene_create(&c->scene, &c->error), &c->error);
  const bool bounces = sscanf(name, "bounces%d", &a) == 1;
  const ss_material_def material = {.name = "default", .friction = 0.5, .restitution = bounces ? 0.8 : 0};
  stop_if(ss_scene_add_material(c->scene, &material, &c->error), &c->error);
  add_plane(c, (ss_vec3){0, 0, 1}, 0);
  c->stands = !bounces;
  if (bounces) {
    add_bounces(c, a);
    return 1;
  }
  if (sscanf(name, "wall%dx%d", &a, &b) == 2) {
    add_wall(c, a, b);
    return 2;
  }
  if (sscanf(name, "pyramid%d", &a) == 1) {
    add_pyramid(c, a);
    return 2;
  }
  if (sscanf(name, "balls%d", &a) == 1) {
    c->stands = false;
    add_balls(c, (int)lround(cbrt(a)));
    return 4;
  }
  (void)fprintf(stderr, "crowds: wallWxH, pyramidN, ballsN or bouncesN, not '%s'\n", name);
  exit(2);
}

static double now(clockid_t id) {
  struct timespec t;
  (void)clock_gettime(id, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* FNV-1a */
static unsigned long long hash_state(const ss_sim *sim, int n) {
  unsigned long long hash = 14695981039346656037ULL;
  for (int i = 0; i < n; i++) {
    const ss_motion m = ss_sim_motion(sim, i);
    const double numbers[] = {m.pose.position.x,    m.pose.position.y,    m.pose.position.z,    m.pose.orientation.w,
                              m.pose.orientation.x, m.pose.orientation.y, m.pose.orientation.z, m.velocity.x,
                              m.velocity.y,         m.velocity.z,         m.angular_velocity.x, m.angular_velocity.y,
                              m.angular_velocity.z};
    unsigned char bytes[sizeof numbers];
    memcpy(bytes, numbers, sizeof numbers);
    for (size_t k = 0; k < sizeof bytes; k++) hash = (hash ^ bytes[k]) * 1099511628211ULL;
  }
  return hash;
}

typedef struct timing {
  double cpu, caller, wall, last, first,
      slowest; /* caller: of its thread; last: CPU of the steps in the last tenth, each */
  int steps;
} timing;

static timing run(ss_sim *sim, int steps, double limit) {
  timing t = {0};
  ss_error error = {0};
  double *each = calloc((size_t)steps, sizeof *each);
  if (!each) exit(1);
  while (t.steps < steps && t.cpu < limit) {
    const double cpu = now(CLOCK_PROCESS_CPUTIME_ID), caller = now(CLOCK_THREAD_CPUTIME_ID),
                 wall = now(CLOCK_MONOTONIC);
    stop_if(ss_sim_step(sim, &error), &error);
    t.wall += now(CLOCK_MONOTONIC) - wall;
    t.caller += now(CLOCK_THREAD_CPUTIME_ID) - caller;
    t.cpu += each[t.steps] = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    t.slowest = fmax(t.slowest, each[t.steps++]);
  }
  const int tail = t.steps / 10 + 1;
  for (int k = t.steps - tail > 0 ? t.steps - tail : 0; k < t.steps; k++) t.last += each[k] / tail;
  t.first = each[0];
  free(each);
  return t;
}

static void print(const char *name, const crowd *c, ss_sim *sim, const timing *t) {
  const ss_report *r = ss_sim_report(sim);
  const double *stage = ss_sim_stage_seconds(sim), simulated = t->steps / 240.;
  const int contacts = ss_sim_contacts(sim, NULL, 0);
  struct rusage usage;
  (void)getrusage(RUSAGE_SELF, &usage);
  double moved = 0;
  for (int i = 0; i < c->n && c->stands; i++) {
    const ss_vec3 a = ss_sim_motion(sim, i).pose.position, b = c->scene->bodies[i].pose.position;
    moved = fmax(moved, fmax(fabs(a.x - b.x), fmax(fabs(a.y - b.y), fabs(a.z - b.z))));
  }
  (void)printf(
      "%s bodies %d t %.3f cpu/s %.4g caller/s %.4g wall/s %.4g first %.4g ms last %.4g ms slowest %.4g ms contacts %d "
      "us/contact %.3g",
      name, c->n, simulated, t->cpu / simulated, t->caller / simulated, t->wall / simulated, 1e3 * t->first,
      1e3 * t->last, 1e3 * t->slowest, contacts, contacts ? 1e6 * t->last / contacts : 0);
  for (int i = 0; stage && i < SS_STAGES; i++) (void)printf(" %s %.3f", ss_stage_name((ss_stage)i), stage[i]);
  (void)printf(
      " solves %ld iterations %ld stick %ld slip %ld penetration %.2g moved %.2g certified %d MB %ld hash %016llx\n",
      r->solves.count, r->solves.iterations, r->events[SS_STICK], r->events[SS_SLIP],
      r->certificate.penetration / c->size, moved, r->certificate.certified, usage.ru_maxrss / 1024,
      hash_state(sim, c->n));
}

int main(int argc, char **argv) {
  if (argc < 2) {
    (void)fprintf(stderr, "usage: crowds SCENE [--threads N] [--residual R] [--scheme S] [--seconds T] [--limit CPU] "
                          "[--sleep 0|1]\n");
    return 2;
  }
  crowd c = {0};
  double duration = make(&c, argv[1]), limit = INFINITY;
  ss_simulation *options = &c.scene->simulation;
  int threads = 1;
  options->scheme = "trapezoidal";
  options->cone = SS_CONE_QUADRATIC;
  options->residual = 1e-8;
  options->step = 1. / 240;
  for (int i = 2; i + 1 < argc; i += 2) {
    const char *value = argv[i + 1];
    if (!strcmp(argv[i], "--threads")) threads = (int)strtol(value, NULL, 10);
    if (!strcmp(argv[i], "--residual")) options->residual = strtod(value, NULL);
    if (!strcmp(argv[i], "--scheme")) options->scheme = value;
    if (!strcmp(argv[i], "--seconds")) duration = strtod(value, NULL);
    if (!strcmp(argv[i], "--sleep")) options->sleep = *value != '0';
    if (!strcmp(argv[i], "--limit")) limit = strtod(value, NULL);
  }
  options->duration = duration;
  ss_model *model;
  ss_sim *sim;
  stop_if(ss_model_create(c.scene, &model, &c.error), &c.error);
  stop_if(ss_sim_create(model, options, &sim, &c.error), &c.error);
  stop_if(ss_sim_use_threads(sim, threads, &c.error), &c.error);
  ss_sim_time_stages(sim, true);
  const timing t = run(sim, (int)lround(duration * 240), limit);
  print(argv[1], &c, sim, &t);
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(c.scene);
  return 0;
}
