/* Damaged scenes: cut off, bits flipped, pieces of YAML inserted. Whatever happens, the
 * result is a scene or an error with a place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stickslip/io.h>

static const char seed_scene[] =
    "name: everything\nplanar: xz\nparameters: {L: 1, mu: L/2}\ngravity: [0, 0, -9.81]\n"
    "materials: [{name: ice, friction: mu, restitution: 0.5}]\n"
    "contacts: [{between: [a, b], collide: false}, {between: [ice, default], friction: 0.1}]\n"
    "world: {shapes: [{type: half-space, normal: z, offset: 0, material: ice}]}\n"
    "bodies:\n"
    "  - {name: a, mass: 1, inertia: &i 0.1, position: [L*sin(30 deg), 2^-1], orientation: 30 deg}\n"
    "  - name: b\n    density: 1e3\n    inertia: *i\n    velocity: [1, 0, 0]\n    angular_velocity: 4\n"
    "    shapes: [{type: box, size: [1, 2], orientation: {rpy: [0, 1, 0]}}, {type: sphere, radius: 1}]\n"
    "joints: [{type: revolute, between: [a, b], at: [0, 0]}, {type: distance, between: [world, b], length: 2}]\n"
    "forces:\n  - {type: spring-damper, between: [a, b], stiffness: 1, damping: 2, jacobian: exact}\n"
    "  - {type: applied, on: a, force: [\"if(t<1, 5, 0)\", 0], torque: cos(t)}\n"
    "simulation: {scheme: gavrea, alpha: 1, gamma: 1/2, step: 1e-2, duration: 1, friction: {directions: 6},\n"
    "  restitution: newton, events: [collision], stabilization: none, solver: auto, residual: 1e-9}\n";

static bool try_text(const char *text, size_t length) {
  char *exact = malloc(length ? length : 1); /* so that a sanitizer sees reads beyond the end */
  assert_non_null(exact);
  memcpy(exact, text, length);
  ss_scene *scene = NULL;
  ss_error error = {0};
  const ss_status status = ss_scene_parse(exact, length, "fuzz", NULL, 0, &scene, &error);
  free(exact);
  if (status == SS_OK) {
    assert_non_null(scene);
    assert_true(scene->n_bodies > 0 && scene->simulation.step > 0);
    ss_scene_destroy(scene);
    return true;
  }
  assert_null(scene);
  assert_true(status == SS_ERROR_INPUT || status == SS_ERROR_UNSUPPORTED);
  assert_true(error.line >= 1 && error.column >= 1 && error.message[0]);
  return false;
}

static void truncated_scenes(void **state) {
  (void)state;
  for (size_t length = 0; length < sizeof seed_scene - 1; length++) (void)try_text(seed_scene, length);
  assert_true(try_text(seed_scene, sizeof seed_scene - 1));
}

static uint32_t next_random(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

static void mutated_scenes(void **state) {
  (void)state;
  static const char *const pieces[] = {"[",   "]",    "{",   "}",  ":",    ",",     "- ", "\n", "*i",
                                       "&i ", "!!x ", "'",   "\"", "#",    "1e999", "(",  ")",  "-",
                                       "\t",  "? ",   "|\n", "%",  "\xC3", "\xFF",  "~",  "t",  "^^"};
  uint32_t random = 2463534242u;
  int accepted = 0;
  for (int i = 0; i < 4000; i++) {
    char text[sizeof seed_scene + 64];
    size_t length = sizeof seed_scene - 1;
    memcpy(text, seed_scene, length);
    const int edits = 1 + (int)(next_random(&random) % 4);
    for (int k = 0; k < edits; k++) {
      const size_t at = next_random(&random) % length;
      if (next_random(&random) % 2) {
        text[at] = (char)((unsigned char)text[at] ^ 1u << next_random(&random) % 8); /* a flipped bit */
      } else { /* a piece of YAML where it does not belong */
        const char *piece = pieces[next_random(&random) % (sizeof pieces / sizeof pieces[0])];
        const size_t n = strlen(piece);
        memmove(text + at + n, text + at, length - at);
        memcpy(text + at, piece, n);
        length += n;
      }
    }
    accepted += try_text(text, length);
  }
  assert_true(accepted > 0 && accepted < 4000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(truncated_scenes),
      cmocka_unit_test(mutated_scenes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
