// A user in C++: steps a scene, reads an output, catches a mistake.
#include <stickslip/stickslip.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

static void check(ss_status status, const ss_error &error) {
  if (status != SS_OK) throw std::runtime_error(error.message);
}

int main() {
  const std::string text = "inputs: {push: 2}\n"
                           "gravity: [0, 0, 0]\n"
                           "bodies: [{name: a, mass: 1, freedom: [x], position: [0, 0, 0]}]\n"
                           "forces: [{type: applied, on: a, force: [push, 0, 0]}]\n"
                           "outputs: [{name: speed, value: a.vx}]\n"
                           "simulation: {scheme: stewart-trinkle, step: 0.1, duration: 1}\n";
  ss_error error = {};
  ss_scene *scene = nullptr;
  ss_model *model = nullptr;
  ss_sim *sim = nullptr;
  try {
    check(ss_scene_parse(text.c_str(), text.size(), "text", nullptr, 0, &scene, &error), error);
    check(ss_model_create(scene, &model, &error), error);
    check(ss_sim_create(model, nullptr, &sim, &error), error);
    while (!ss_sim_done(sim)) check(ss_sim_step(sim, &error), error);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  const double speed = ss_sim_output(sim, 0);
  const bool refused = ss_sim_set_input_named(sim, "pull", 1, &error) == SS_ERROR_INPUT;
  int major = -1, minor = -1;
  const bool same = std::strcmp(ss_version(&major, &minor, nullptr), SS_VERSION) == 0 && major == SS_VERSION_MAJOR &&
                    minor == SS_VERSION_MINOR;
  std::printf("C++: speed %g, version %s\n", speed, ss_version(nullptr, nullptr, nullptr));
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  return std::fabs(speed - 2) < 1e-12 && refused && same ? 0 : 1;
}
