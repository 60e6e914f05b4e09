/* Every pair of shapes at rest on each other stays in place to 1e-9 of its size, and the run is sound: the lower one fixed or free on a
 * floor, aligned but for small offsets, turned about the vertical, in space and in a plane, under every scheme. What counts as a rest:
 * is_rest() in resting_pairs.h.
 *
 *     test_still                       shares of the positions, for 0.1, 0.5 and 10 s
 *     test_still SECONDS [SHARE [OF]]  one of SHARE positions (1: all; OF: which, from 0) for so long; prints those that move */
#include "resting_pairs.h"

static const double offsets[] = {0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-3};
static const double turns[] = {0, 1e-9, 0.3, 0.785398163397448309616, 1.570796326794896619};
enum { OFFSETS = 8, TURNS = 5 };

static double seconds = 0.5;
static long tried, moved;

/* The farthest that a body has gone or turned (at 0.1 from its middle) since the start. */
static double way_of(const run *r, const ss_motion *start) {
  double way = 0;
  for (int i = 0; i < ss_model_bodies(r->model); i++) {
    const ss_motion m = ss_sim_motion(r->sim, i);
    const ss_quat turn = quat_multiply(m.pose.orientation, quat_conjugate(start[i].pose.orientation));
    way = fmax(way, v3_norm(v3_sub(m.pose.position, start[i].pose.position)));
    way = fmax(way, 0.2 * v3_norm(v3(turn.x, turn.y, turn.z)));
  }
  return way;
}

static void stays(const position *p) {
  char text[4000];
  run r;
  ss_motion start[2];
  ss_error error = {0};
  write_position(p, text, sizeof text);
  run_parse(&r, text, NULL);
  for (int i = 0; i < ss_model_bodies(r.model); i++) start[i] = ss_sim_motion(r.sim, i);
  ss_status status = SS_OK;
  while (status == SS_OK && !ss_sim_done(r.sim)) status = ss_sim_step(r.sim, &error);
  const double way = way_of(&r, start);
  tried++;
  if (status != SS_OK || !(way < 1e-10) || !ss_sim_report(r.sim)->certificate.sound) {
    if (++moved <= 40)
      print_error("%s on %s%s, %s, off by %g, turned by %g: moved by %g%s %s\n", p->upper->name,
                  p->loose ? "free " : "", p->lower->name, p->scheme, p->offset, p->turn, way,
                  ss_sim_report(r.sim)->certificate.sound ? "" : ", doubtful", error.message);
  }
  run_close(&r);
}

/* One of `share` positions of every pair, another one for every pair; all are counted. */
static void try_pair(position p, long share, long of, long *count) {
  const int places = p.lower->kx > 0 ? 1 : OFFSETS; /* along x a place is as good as another */
  for (int scheme = 0; scheme < RESTING_SCHEMES; scheme++)
    for (int loose = 0; loose <= !p.lower->still; loose++)
      for (int offset = 0; offset < places; offset++)
        for (int turn = 0; turn < (p.planar ? 1 : TURNS); turn++) {
          p.scheme = resting_schemes[scheme];
          p.loose = loose;
          p.offset = offsets[offset];
          p.turn = turns[turn];
          p.duration = seconds;
          if (is_rest(&p) && (*count)++ % share == of) stays(&p);
        }
}

static void try_all(long share, long of) {
  long count = 0;
  tried = moved = 0;
  for (int u = 0; u < SPATIAL; u++)
    for (int l = 0; l < SPATIAL; l++)
      if (!spatial[u].still) try_pair((position){.upper = &spatial[u], .lower = &spatial[l]}, share, of, &count);
  for (int u = 0; u < FLAT; u++)
    for (int l = 0; l < FLAT; l++)
      if (!flat[u].still) try_pair((position){.upper = &flat[u], .lower = &flat[l], .planar = true}, share, of, &count);
}

static void test_a_short_time(void **state) {
  (void)state;
  seconds = 0.1;
  try_all(211, 7);
  assert_int_equal(moved, 0);
}

static void test_half_a_second(void **state) {
  (void)state;
  seconds = 0.5;
  try_all(401, 110);
  assert_int_equal(moved, 0);
}

static void test_ten_seconds(void **state) {
  (void)state;
  seconds = 10;
  try_all(9001, 100);
  assert_int_equal(moved, 0);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_short_time),
      cmocka_unit_test(test_half_a_second),
      cmocka_unit_test(test_ten_seconds),
  };
  if (argc == 1) return cmocka_run_group_tests(tests, NULL, NULL);
  seconds = strtod(argv[1], NULL);
  const long share = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
  try_all(share, argc > 3 ? strtol(argv[3], NULL, 10) % share : share - 1);
  (void)printf("pairs at rest for %g s: %ld positions, moved or doubtful: %ld\n", seconds, tried, moved);
  return moved > 0;
}
