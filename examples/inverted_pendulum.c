/* A rod upright on a cart, held by feedback from outside: read the state, set an input, step. */
#include <stickslip/stickslip.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char text[] =
    "planar: xy\n"
    "inputs: {push: 0}\n"
    "bodies:\n"
    "  - {name: cart, mass: 1, freedom: [x], position: [0, 0]}\n"
    "  - {name: rod, mass: 0.1, inertia: 0.00833, position: [0.5*sin(0.1), 0.5*cos(0.1)], orientation: -0.1}\n"
    "joints: [{name: pin, type: revolute, between: [cart, rod], anchors: [[0, 0], [0, -0.5]]}]\n"
    "forces: [{type: applied, on: cart, force: [push, 0]}]\n"
    "outputs: [{name: lean, value: 0.1 - pin.position}]\n"
    "simulation: {scheme: trapezoidal, step: 0.005, duration: 10}\n";

int main(void) {
  ss_error error = {.status = SS_OK};
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  ss_status status = ss_scene_parse(text, strlen(text), "inverted pendulum", NULL, 0, &scene, &error);
  if (!status) status = ss_model_create(scene, &model, &error);
  if (!status) status = ss_sim_create(model, NULL, &sim, &error);
  double worst = 0;
  while (!status && !ss_sim_done(sim)) {
    const ss_motion cart = ss_sim_motion(sim, 0);
    const double lean = ss_sim_output(sim, 0), rate = -ss_sim_joint_speed(sim, 0);
    worst = fmax(worst, fabs(lean));
    status = ss_sim_set_input(sim, 0, 40 * lean + 8 * rate + 2 * cart.pose.position.x + 3 * cart.velocity.x, &error);
    if (!status) status = ss_sim_step(sim, &error);
  }
  if (status)
    (void)fprintf(stderr, "%s\n", error.message);
  else
    (void)printf("after %g s the rod leans by %.1e, at most it was %.3f; certified: %s\n", ss_sim_state(sim)->t,
                 ss_sim_output(sim, 0), worst, ss_sim_report(sim)->certificate.certified ? "yes" : "no");
  const bool upright = !status && fabs(ss_sim_output(sim, 0)) < 1e-3;
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  return upright ? 0 : 1;
}
