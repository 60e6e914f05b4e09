/* stickslip check: is the scene sound, and what does it consist of? */
#include "check_theory.h"
#include "commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct findings {
  int bodies, coordinates, joint_rows, joint_rank, contacts;
  double joint_residual;    /* max over the scalar joint equations */
  const char *worst_joint;  /* the joint it belongs to; NULL without joints */
  double velocity_residual; /* max |nu^T v| */
  ss_contact_report *contact_list;
  ss_theory theory;
} findings;

static bool consistent(const findings *f) {
  return is_consistent(f->joint_residual) && is_consistent(f->velocity_residual);
}

static ss_status examine_joints(const ss_sim *sim, findings *f, ss_error *error) {
  const ss_model *model = ss_sim_model(sim);
  double *residuals = calloc((size_t)f->joint_rows + 1, sizeof *residuals);
  if (!residuals) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  ss_sim_joint_residuals(sim, residuals);
  for (int row = 0; row < f->joint_rows; row++) {
    if (f->worst_joint && !(fabs(residuals[row]) > f->joint_residual)) continue;
    f->joint_residual = fabs(residuals[row]);
    f->worst_joint = ss_model_joint_row_name(model, row);
  }
  free(residuals);
  f->joint_rank = ss_sim_joint_rank(sim);
  if (f->joint_rank < 0) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  f->velocity_residual = ss_sim_joint_velocity_residual(sim);
  return SS_OK;
}

/* Contacts are found by the step: those that a very short first one starts with. */
static ss_status examine_contacts(const session *s, findings *f, ss_error *error) {
  ss_simulation simulation = s->simulation;
  simulation.step = ldexp(simulation.step, -30);
  ss_sim *sim = NULL;
  ss_status status = ss_sim_create(s->model, &simulation, &sim, error);
  if (!status) status = ss_sim_step(sim, error);
  if (!status) {
    f->contacts = ss_sim_contacts(sim, NULL, 0);
    f->contact_list = calloc((size_t)f->contacts + 1, sizeof *f->contact_list);
    if (f->contact_list)
      (void)ss_sim_contacts(sim, f->contact_list, f->contacts);
    else
      status = ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  ss_sim_destroy(sim);
  return status;
}

static ss_status examine(const session *s, ss_sim *sim, findings *f, ss_error *error) {
  const ss_model *model = s->model;
  f->bodies = ss_model_bodies(model);
  f->coordinates = ss_model_coordinates(model);
  f->joint_rows = ss_model_joint_rows(model);
  ss_status status = examine_joints(sim, f, error);
  if (!status) status = examine_contacts(s, f, error);
  return status ? status : ss_sim_theory(sim, &f->theory, error);
}

static void print_text(const session *s, const findings *f) {
  (void)printf("%s: valid\n", session_name(s));
  if (!ss_model_is_system(s->model)) (void)printf("  bodies                  %d\n", f->bodies);
  for (int body = 0; body < f->bodies && body < 20; body++)
    (void)printf("    %-20s  mass %.6g\n", ss_model_body_name(s->model, body), ss_model_body_mass(s->model, body));
  (void)printf("  velocity coordinates    %d\n", f->coordinates);
  (void)printf("  joint equations         %d, of which %d redundant\n", f->joint_rows, f->joint_rows - f->joint_rank);
  (void)printf("  degrees of freedom      %d\n", f->coordinates - f->joint_rank);
  (void)printf("  contacts at t = 0       %d\n", f->contacts);
  for (int i = 0; i < f->contacts && i < 20; i++)
    (void)printf("    %s - %s, gap %.3g\n", ss_model_body_name(s->model, f->contact_list[i].body[0]),
                 ss_model_body_name(s->model, f->contact_list[i].body[1]), f->contact_list[i].gap);
  (void)printf("  consistency at t = 0    joint residual %.2e%s%s%s, joint velocity residual %.2e%s\n",
               f->joint_residual, f->worst_joint ? " (" : "", f->worst_joint ? f->worst_joint : "",
               f->worst_joint ? ")" : "", f->velocity_residual, consistent(f) ? "" : "  NOT CONSISTENT");
  theory_print_text(s, &f->theory);
}

static json_t *contacts_json(const session *s, const findings *f) {
  json_t *list = json_array();
  for (int i = 0; list && i < f->contacts; i++) {
    const ss_contact_report *c = &f->contact_list[i];
    json_t *entry =
        json_pack("{s:[o, o], s:o, s:o, s:o}", "between", json_text(ss_model_body_name(s->model, c->body[0])),
                  json_text(ss_model_body_name(s->model, c->body[1])), "gap", json_number(c->gap), "point",
                  json_vector(c->point), "normal", json_vector(c->normal));
    if (json_array_append_new(list, entry)) return NULL;
  }
  return list;
}

static json_t *bodies_json(const session *s, const findings *f) {
  json_t *list = json_array();
  for (int body = 0; list && body < f->bodies; body++) {
    json_t *entry = json_pack("{s:o, s:o}", "name", json_text(ss_model_body_name(s->model, body)), "mass",
                              json_number(ss_model_body_mass(s->model, body)));
    if (json_array_append_new(list, entry)) return NULL;
  }
  return list;
}

static int print_json(const session *s, const findings *f) {
  json_t *root = json_pack("{s:o, s:o, s:b, s:o, s:i, s:i, s:i, s:i, s:i, s:o, s:{s:o, s:o, s:o, s:b}}", "scene",
                           json_text(session_name(s)), "file", json_text(s->path), "valid", 1, "bodies",
                           bodies_json(s, f), "coordinates", f->coordinates, "joint_rows", f->joint_rows, "joint_rank",
                           f->joint_rank, "redundant_constraints", f->joint_rows - f->joint_rank, "degrees_of_freedom",
                           f->coordinates - f->joint_rank, "contacts", contacts_json(s, f), "consistency",
                           "joint_residual", json_number(f->joint_residual), "worst_joint", json_text(f->worst_joint),
                           "joint_velocity_residual", json_number(f->velocity_residual), "consistent", consistent(f));
  if (root && json_object_update_missing_new(root, theory_json(s, &f->theory))) return json_print(NULL);
  return json_print(root);
}

int command_check(int argc, char **argv) {
  bool json = false;
  overrides o = overrides_none();
  const option options[] = {
      {"set", OPTION_LIST, &o.set, "NAME=VALUE", "override a declared parameter; may be repeated"},
      {"json", OPTION_FLAG, &json, NULL, "print one JSON object"},
      {0}};
  const usage command_line = {
      "check",
      "SCENE",
      1,
      1,
      "Validates a scene and prints its bodies, degrees of freedom (velocity coordinates minus the rank of the joint\n"
      "equations), redundant joint equations, contacts at t = 0, and whether the start respects the joints.\n"
      "What the convergence theorems assume is checked too: whether the friction cone is pointed (contacts and joints\n"
      "cannot press against each other without end) with its constant, or the forces that balance each other; "
      "contacts\n"
      "that can jam while they slide (Painleve); and whether the step is small enough for a positive definite system\n"
      "matrix.",
      options,
      "  stickslip check scenes/double-pendulum-wall.yaml\n  stickslip check scene.yaml --set L=2 --json\n"};
  const char *path = NULL;
  int code = parse_options(&command_line, argc, argv, &path);
  if (code == PARSE_GO_ON) {
    session s = {0};
    ss_sim *sim = NULL;
    findings f = {0};
    ss_error error = {0};
    ss_status status = session_open_any(&s, path, &o, &error);
    if (!status) status = ss_sim_create(s.model, &s.simulation, &sim, &error);
    if (!status) status = examine(&s, sim, &f, &error);
    if (!status) session_note_touching(&s), session_note_feedback(sim);
    if (status)
      code = report_error(&error);
    else if (json)
      code = print_json(&s, &f);
    else
      print_text(&s, &f), code = EXIT_DONE;
    free(f.contact_list);
    ss_theory_release(&f.theory);
    ss_sim_destroy(sim);
    session_close(&s);
  }
  free((void *)o.set.items);
  return code;
}
