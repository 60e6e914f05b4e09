#include "check_theory.h"

#include <math.h>
#include <stdio.h>

enum { SHOWN = 10 };
static const double NEGLIGIBLE = 1e-9; /* of the largest force in a balance */

static double length(ss_vec3 a) { return sqrt(a.x * a.x + a.y * a.y + a.z * a.z); }

static double largest_force(const ss_theory *t) {
  double largest = 0;
  for (int i = 0; i < t->n_contacts; i++) largest = fmax(largest, length(t->contacts[i].self_balancing));
  return largest;
}

static double largest_stress(const ss_theory *t) {
  double largest = 0;
  for (int i = 0; i < t->joint_rows; i++) largest = fmax(largest, fabs(t->joint_stress[i]));
  return largest;
}

/* Rounding noise is printed as zero. */
static ss_vec3 rounded(ss_vec3 a, double scale) {
  const double noise = 1e-12 * scale;
  return (ss_vec3){fabs(a.x) > noise ? a.x / scale : 0, fabs(a.y) > noise ? a.y / scale : 0,
                   fabs(a.z) > noise ? a.z / scale : 0};
}

static bool paradox(const ss_theory_contact *c) { return c->sliding_response < 0; }

/* ---- text ---- */

/* A part that is not pointed decides; without one the parts that were left out leave it open. */
static bool undecided(const ss_theory *t, bool pointed) {
  return pointed && t->unexamined_contacts + t->unexamined_joint_rows > 0;
}

static void print_cone(const ss_theory *t, const char *name, bool pointed, double constant) {
  if (undecided(t, pointed))
    (void)printf("    %-21s not examined: %d contacts and %d joint equations\n", name, t->unexamined_contacts,
                 t->unexamined_joint_rows);
  else if (pointed)
    (void)printf("    %-21s pointed, constant %.4g\n", name, constant);
  else
    (void)printf("    %-21s NOT POINTED\n", name);
}

static void print_balance(const session *s, const ss_theory *t) {
  const double force = largest_force(t), stress = largest_stress(t);
  (void)printf("    forces that balance each other, of any size:\n");
  int shown = 0;
  for (int i = 0; i < t->n_contacts && shown < SHOWN; i++) {
    const ss_theory_contact *c = &t->contacts[i];
    if (length(c->self_balancing) <= NEGLIGIBLE * force || force == 0) continue;
    const ss_vec3 f = rounded(c->self_balancing, force), p = rounded(c->point, 1);
    (void)printf("      %s - %s at (%.4g, %.4g, %.4g): force (%.4g, %.4g, %.4g)\n",
                 ss_model_body_name(s->model, c->body[0]), ss_model_body_name(s->model, c->body[1]), p.x, p.y, p.z, f.x,
                 f.y, f.z);
    shown++;
  }
  for (int i = 0; i < t->joint_rows && shown < SHOWN; i++) {
    if (fabs(t->joint_stress[i]) <= NEGLIGIBLE * fmax(force, stress)) continue;
    (void)printf("      joint %s: %.4g\n", ss_model_joint_row_name(s->model, i),
                 t->joint_stress[i] / (force > 0 ? force : stress));
    shown++;
  }
}

static void print_paradox(const session *s, const ss_theory *t) {
  int count = 0;
  for (int i = 0; i < t->n_contacts; i++) count += paradox(&t->contacts[i]);
  (void)printf("  Painleve's paradox      %s\n", count ? "possible" : "no contact");
  for (int i = 0, shown = 0; i < t->n_contacts && shown < SHOWN; i++) {
    const ss_theory_contact *c = &t->contacts[i];
    if (!paradox(c)) continue;
    (void)printf("    %s - %s can jam while it slides: friction %.4g exceeds %.4g\n",
                 ss_model_body_name(s->model, c->body[0]), ss_model_body_name(s->model, c->body[1]), c->friction,
                 c->critical_friction);
    shown++;
  }
}

/* Above half the limit (omega h = 1) the energy of explicit springs swings by more than half. */
static const char *spring_verdict(double share) {
  if (share >= 1) return "NOT STABLE with this step: use a smaller one, or anitescu-potra-stiff";
  return share >= 0.5 ? "inaccurate with this step: use a smaller one, or anitescu-potra-stiff" : "fine with this step";
}

void theory_print_text(const session *s, const ss_theory *t) {
  (void)printf("  friction cone\n");
  print_cone(t, "total", t->total_pointed, t->total_constant);
  print_cone(t, "reduced by joints", t->reduced_pointed, t->reduced_constant);
  if (!t->total_pointed) print_balance(s, t);
  print_paradox(s, t);
  (void)printf("  system matrix           %s", t->definite ? "positive definite" : "NOT POSITIVE DEFINITE");
  if (isfinite(t->definite_step))
    (void)printf(" with this step; up to step %.4g\n", t->definite_step);
  else
    (void)printf(" for every step\n");
  if (isfinite(t->explicit_step))
    (void)printf("  explicit springs        %s; stable with steps below %.4g here\n",
                 spring_verdict(s->simulation.step / t->explicit_step), t->explicit_step);
  if (t->newton_may_create)
    (void)printf(
        "  restitution             Newton's law with friction: impacts can create energy, which the run tells; "
        "poisson seldom does\n");
}

/* ---- JSON ---- */

static json_t *pair_json(const session *s, const int body[2]) {
  return json_pack("[o, o]", json_text(ss_model_body_name(s->model, body[0])),
                   json_text(ss_model_body_name(s->model, body[1])));
}

static json_t *balance_json(const session *s, const ss_theory *t) {
  json_t *list = json_array();
  const double largest = largest_force(t), stress = largest_stress(t);
  for (int i = 0; list && i < t->n_contacts; i++) {
    const ss_theory_contact *c = &t->contacts[i];
    if (!(length(c->self_balancing) > NEGLIGIBLE * largest)) continue;
    json_t *entry = json_pack("{s:o, s:o, s:o}", "between", pair_json(s, c->body), "point", json_vector(c->point),
                              "force", json_vector(c->self_balancing));
    if (json_array_append_new(list, entry)) return NULL;
  }
  for (int i = 0; list && !t->total_pointed && i < t->joint_rows; i++) {
    if (!(fabs(t->joint_stress[i]) > NEGLIGIBLE * fmax(largest, stress))) continue;
    json_t *entry = json_pack("{s:o, s:i, s:o}", "joint", json_text(ss_model_joint_row_name(s->model, i)), "row", i,
                              "multiplier", json_number(t->joint_stress[i]));
    if (json_array_append_new(list, entry)) return NULL;
  }
  return list;
}

static json_t *paradox_json(const session *s, const ss_theory *t) {
  json_t *list = json_array();
  for (int i = 0; list && i < t->n_contacts; i++) {
    const ss_theory_contact *c = &t->contacts[i];
    json_t *entry = json_pack("{s:o, s:o, s:o, s:o, s:b}", "between", pair_json(s, c->body), "friction",
                              json_number(c->friction), "critical_friction", json_number(c->critical_friction),
                              "sliding_response", json_number(c->sliding_response), "paradox", paradox(c));
    if (json_array_append_new(list, entry)) return NULL;
  }
  return list;
}

static json_t *cone_json(const ss_theory *t, bool pointed, double constant) {
  const bool open = undecided(t, pointed);
  return json_pack("{s:o, s:o}", "pointed", open ? json_null() : json_boolean(pointed), "constant",
                   open ? json_null() : json_number(constant));
}

json_t *theory_json(const session *s, const ss_theory *t) {
  json_t *cone =
      json_pack("{s:o, s:o, s:i, s:i, s:o}", "total", cone_json(t, t->total_pointed, t->total_constant), "reduced",
                cone_json(t, t->reduced_pointed, t->reduced_constant), "unexamined_contacts", t->unexamined_contacts,
                "unexamined_joint_rows", t->unexamined_joint_rows, "self_balancing", balance_json(s, t));
  return json_pack("{s:o, s:o, s:{s:b, s:o}, s:o, s:b}", "friction_cone", cone, "painleve", paradox_json(s, t),
                   "system_matrix", "positive_definite", t->definite, "up_to_step", json_number(t->definite_step),
                   "explicit_step", json_number(t->explicit_step), "newton_may_create", t->newton_may_create);
}
