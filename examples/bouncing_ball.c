/* A scene built in C, without any file: a ball is dropped on the floor and bounces until it rests. Prints the height
 * over time as two columns, and each collision as a comment. */
#include <stickslip/stickslip.h>

#include <stdio.h>

static ss_status build_scene(ss_scene *scene, ss_error *error) {
  const ss_material_def rubber = {.name = "default", .friction = 0.5, .restitution = 0.8};
  ss_status status = ss_scene_add_material(scene, &rubber, error);
  if (status) return status;

  ss_shape_def floor = ss_shape_default(SS_SHAPE_HALF_SPACE);
  floor.normal = (ss_vec3){0, 0, 1};
  status = ss_scene_add_world_shape(scene, &floor, error);
  if (status) return status;

  ss_shape_def sphere = ss_shape_default(SS_SHAPE_SPHERE);
  sphere.radius = 0.1;
  ss_body_def ball = ss_body_default("ball");
  ball.mass = 1;
  ball.pose.position = (ss_vec3){0, 0, 1};
  ball.velocity = (ss_vec3){0.5, 0, 0};
  ball.shapes = &sphere;
  ball.n_shapes = 1;
  status = ss_scene_add_body(scene, &ball, error);

  scene->simulation.scheme = "trapezoidal";
  scene->simulation.step = 0.01;
  scene->simulation.duration = 2;
  return status;
}

static void print_event(void *user, const ss_sim *sim, const ss_event *event) {
  (void)user, (void)sim;
  (void)printf("# %s at t = %.9g\n", ss_event_name(event->kind), event->t);
}

static ss_status print_height(void *user, const ss_sim *sim, ss_error *error) {
  (void)user, (void)error;
  (void)printf("%.4f %.9f\n", ss_sim_state(sim)->t, ss_sim_motion(sim, 0).pose.position.z);
  return SS_OK;
}

int main(void) {
  ss_error error = {0};
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  const ss_observer observer = {.step = print_height, .event = print_event};

  ss_status status = ss_scene_create(&scene, &error);
  if (!status) status = build_scene(scene, &error);
  if (!status) status = ss_model_create(scene, &model, &error);
  if (!status) status = ss_sim_create(model, &scene->simulation, &sim, &error);
  if (!status) status = ss_sim_observe(sim, &observer, &error);
  while (!status && !ss_sim_done(sim)) status = ss_sim_step(sim, &error);

  if (status)
    (void)fprintf(stderr, "%s\n", error.message);
  else
    (void)printf("# %s\n", ss_sim_report(sim)->certificate.certified ? "certified" : "NOT certified");
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  return status ? 1 : 0;
}
