/* A share of the scenes of wide range (./dev trials --wide): each ends sound, doubtful for a reason, or with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "wide_trial.h"

static void test_outcomes(void **state) {
  (void)state;
  static wide_scene scene;
  int count[WIDE_KINDS] = {0};
  for (unsigned long seed = 100; seed < 130; seed++) {
    wide_trial result = {0};
    draw_wide_scene(&scene, seed);
    wide_run(&scene, &result);
    if (result.kind == WIDE_WRONG || result.seconds > 20 || (result.kind != WIDE_SOUND && !result.message[0]))
      fail_msg("seed %lu: %s after %.3g s: %s", seed, wide_name(result.kind), result.seconds, result.message);
    count[result.kind]++;
  }
  assert_true(count[WIDE_SOUND] >= 12); /* they are not all absurd */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_outcomes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
