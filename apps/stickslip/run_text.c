/* The summary that `stickslip run` prints: what ran, where it ended, what it is worth. */
#include "run_result.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BODIES_SHOWN = 10 };

bool run_certified(const run_result *r) { return r->complete && ss_sim_report(r->sim)->certificate.certified; }

static void print_head(const run_result *r) {
  const ss_simulation *o = ss_sim_options(r->sim);
  const ss_state *state = ss_sim_state(r->sim);
  (void)printf("%s", session_name(r->session));
  if (session_source(r->session)) (void)printf(" (%s)", session_source(r->session));
  const ss_steps *s = &ss_sim_report(r->sim)->steps;
  if (o->tolerance > 0)
    (void)printf("\n  %s, tolerance %.3g (%ld steps of %.2g to %.2g, %ld rejected)", o->scheme, o->tolerance,
                 s->accepted, s->smallest, s->largest, s->rejected);
  else
    (void)printf("\n  %s, step %.6g", o->scheme, o->step);
  (void)printf(", solver %s: %ld steps to t = %.6g in %.3g s", o->solver, state->step, state->t, r->wall_seconds);
  if (r->wall_seconds > 0) {
    const double factor = state->t / r->wall_seconds;
    (void)printf(factor < 10 ? " (%.2gx real time)" : " (%.0fx real time)", factor);
  }
  (void)printf("\n\n");
}

static void print_bodies(const ss_sim *sim) {
  const ss_model *model = ss_sim_model(sim);
  const int n = ss_model_bodies(model), shown = n < BODIES_SHOWN ? n : BODIES_SHOWN;
  int width = 4;
  for (int body = 0; body < shown; body++) {
    const int length = (int)strlen(ss_model_body_name(model, body));
    if (length > width) width = length < 24 ? length : 24;
  }
  (void)printf("  %-*s %35s %35s\n", width, "body", "position", "velocity");
  for (int body = 0; body < shown; body++) {
    const ss_motion m = ss_sim_motion(sim, body);
    const ss_vec3 p = m.pose.position, v = m.velocity;
    (void)printf("  %-*.*s %11.6g %11.6g %11.6g %11.4g %11.4g %11.4g\n", width, width, ss_model_body_name(model, body),
                 p.x, p.y, p.z, v.x, v.y, v.z);
  }
  if (shown < n) (void)printf("  ... and %d more bodies\n", n - shown);
  (void)printf("\n");
}

static void print_coordinates(const ss_sim *sim) {
  const ss_model *model = ss_sim_model(sim);
  const ss_state *state = ss_sim_state(sim);
  const int n = ss_model_coordinates(model), shown = n < BODIES_SHOWN ? n : BODIES_SHOWN;
  (void)printf("  %-24s %11s %11s\n", "coordinate", "q", "v");
  for (int i = 0; i < shown; i++)
    (void)printf("  %-24.24s %11.6g %11.4g\n", ss_model_coordinate_name(model, i), state->q[i], state->v[i]);
  if (shown < n) (void)printf("  ... and %d more coordinates\n", n - shown);
  (void)printf("\n");
}

/* Which of the things that can create energy has: where one accounts for most of it, what to do. */
static const char *cause_of_energy(const run_result *r, double created) {
  const ss_report *report = ss_sim_report(r->sim);
  if (report->created_by_impacts > created / 2)
    return ss_sim_newton_may_create(r->sim)
               ? "by impacts: Newton's law of restitution with friction can do that; try restitution: poisson"
               : "by impacts with restitution and friction: try a smaller step";
  if (!(ss_sim_options(r->sim)->step < r->explicit_step))
    return "by springs that the scheme takes explicitly: use a smaller step, or a linearly implicit scheme";
  if (report->energy.stabilization > created / 2)
    return "by pushing positions back onto their constraints: try a smaller step, or stabilization: projection";
  return "try a smaller step or another scheme";
}

static void print_overlap(const run_result *r) {
  const ss_model *model = ss_sim_model(r->sim);
  const ss_event *e = &ss_sim_report(r->sim)->overlap;
  (void)printf("      between %s and %s at t = %.6g, where it was deepest\n", ss_model_body_name(model, e->body[0]),
               ss_model_body_name(model, e->body[1]), e->t);
}

/* One line per doubt: code, number, what it is; then what to change. */
static void print_doubts(const run_result *r) {
  const ss_certificate *c = &ss_sim_report(r->sim)->certificate;
  for (int i = 0; i < SS_DOUBTS; i++) {
    if (c->doubts[i] == 0) continue;
    const ss_doubt_info *info = &ss_table_doubts()[i];
    (void)printf("    %s %.3g: %s\n", info->code, c->doubts[i], info->meaning);
    if (i == SS_DOUBT_OVERLAP) print_overlap(r);
    (void)printf("      %s\n", i == SS_DOUBT_ENERGY ? cause_of_energy(r, c->doubts[i]) : info->advice);
  }
}

/* Elastic energy of links that the step cannot resolve is not motion. */
static void explain_stiff_links(const run_result *r) {
  const ss_energy *e = &ss_sim_report(r->sim)->energy;
  if (ss_sim_report(r->sim)->certificate.sound && fabs(e->linearization) > 0.01 * (e->kinetic + fabs(e->initial)))
    (void)printf(
        "    NOTE: springs too stiff for the step act as rigid links; turning within steps stretches them by O(h^2),\n"
        "    which times their stiffness is the energy called linearization (%.3g). No motion has it: %.3g is stored\n"
        "    as elastic energy, their dampers have taken %.3g. It falls with the step\n",
        e->linearization, e->stiff_elastic, e->stiff_damping);
}

/* Explicit springs blow up above the limit, however small the residuals are. */
static void warn_of_step(const run_result *r) {
  const ss_simulation *o = ss_sim_options(r->sim);
  if (o->tolerance == 0 && !(o->step < r->explicit_step))
    (void)printf(
        "    NOTE: the step %.3g is above %.3g, where springs and dampers become unstable that the scheme takes\n"
        "    explicitly: use a smaller step, or a linearly implicit scheme (anitescu-potra-stiff)\n",
        o->step, r->explicit_step);
}

/* A property of the scheme (docs/compliant-contact.md). */
static void warn_of_rolling(const run_result *r) {
  const ss_report *report = ss_sim_report(r->sim);
  if (report->patch_rolled > 0.5 * report->patch_deformation)
    (void)printf(
        "    NOTE: bodies roll over patches of several elements; the scheme compliant presses the front of a patch in\n"
        "    and lifts its rear by the way that material makes there (%.2g, elements give by %.2g): use\n"
        "    compliant-theta, or compliance: {transport: true}\n",
        report->patch_rolled, report->patch_deformation);
}

static void print_certificate(const run_result *r) {
  const ss_certificate *c = &ss_sim_report(r->sim)->certificate;
  if (run_certified(r) && c->sound)
    (void)printf("  CERTIFIED: every step solves its own problem, and nothing speaks against the run\n");
  else if (run_certified(r))
    (void)printf("  DOUBTFUL: every step solves its own problem, but\n");
  else
    (void)printf("  DOUBTFUL: the run is not certified%s%s\n", r->message ? ": " : "", r->message ? r->message : "");
  print_doubts(r);
  (void)printf("    complementarity %.1e   penetration %.1e   joint drift %.1e\n", c->complementarity, c->penetration,
               c->joint_drift);
  (void)printf("    cone %.1e   dissipation %.1e   selection %.1e   energy created %.1e\n", c->cone, c->dissipation,
               c->selection, c->energy_created);
  warn_of_step(r);
  explain_stiff_links(r);
  warn_of_rolling(r);
  const long fails = ss_sim_report(r->sim)->solves.newton_fails;
  if (fails)
    (void)printf("    NOTE: in %ld impacts Newton's law of restitution contradicts itself: they followed Poisson's\n",
                 fails);
  const long passed_on = ss_sim_report(r->sim)->solves.passed_on;
  if (passed_on)
    (void)printf("    NOTE: in %ld impacts a blow went on through bodies that touched, with restitution: the law acts "
                 "on all of\n"
                 "    them at once, and all of them leave. Gaps of 1e-9 between them make it a sequence of impacts\n",
                 passed_on);
  const long unreturned = ss_sim_report(r->sim)->solves.unreturned;
  if (unreturned)
    (void)printf("    NOTE: in %ld impacts no certified decompression was found: they did not bounce\n", unreturned);
  (void)printf("\n");
}

static void print_energy(const ss_energy *e) {
  (void)printf("  energy    initial %.6g + work %.6g - friction %.6g - impacts %.6g - damping %.6g", e->initial,
               e->work, e->friction_loss, e->impact_loss, e->damping_loss);
  if (e->stabilization != 0) (void)printf(" + stabilization %.2g", e->stabilization);
  (void)printf(" + remainder %.2g", e->remainder);
  if (fabs(e->linearization) > 1e-6 * (fabs(e->initial) + e->kinetic))
    (void)printf(" (linearization %.3g, else %.2g)", e->linearization, e->remainder - e->linearization);
  (void)printf(" = final %.6g\n", e->final);
}

static void print_events(const run_result *r) {
  const ss_model *model = ss_sim_model(r->sim);
  const long *count = ss_sim_report(r->sim)->events;
  const ss_energy *energy = &ss_sim_report(r->sim)->energy;
  const double noise = 1e-12 * (fabs(energy->initial) + fabs(energy->kinetic));
  long total = 0;
  for (int kind = 0; kind < SS_EVENT_KINDS; kind++) total += count[kind];
  (void)printf("  events    %ld collisions, %ld stick-slip, %ld take-off", count[SS_COLLISION],
               count[SS_STICK] + count[SS_SLIP], count[SS_TAKE_OFF]);
  if (count[SS_LIMIT_HIT]) (void)printf(", %ld limits hit", count[SS_LIMIT_HIT]);
  const long ends = count[SS_SPIN_END] + count[SS_ROLL_END];
  const long beginnings = count[SS_SPIN_BEGIN] + count[SS_ROLL_BEGIN];
  if (beginnings) (void)printf(", %ld beginnings of spin and rolling", beginnings);
  if (ends) (void)printf(", %ld ends of spin and rolling", ends);
  if (count[SS_FACET]) (void)printf(", %ld changes of friction facets", count[SS_FACET]);
  (void)printf("\n");
  for (long i = 0; i < r->events->n; i++) {
    const ss_event *e = &r->events->items[i];
    (void)printf("            t = %-12.9g %-10s %s", e->t, ss_event_name(e->kind),
                 ss_model_body_name(model, e->body[0]));
    if (!ss_model_is_system(model)) (void)printf(" - %s", ss_model_body_name(model, e->body[1]));
    if (e->energy_created > noise) (void)printf("   energy created %.3g", e->energy_created);
    (void)printf("\n");
  }
  if (r->events->n < total && r->events->n > 0)
    (void)printf("            ... and %ld more (--events N)\n", total - r->events->n);
}

static void print_outputs(const ss_sim *sim) {
  const ss_model *model = ss_sim_model(sim);
  for (int i = 0; i < ss_model_outputs(model); i++) {
    const double value = ss_sim_output(sim, i);
    (void)printf("  %s %s", i ? "         " : "outputs  ", ss_model_output_name(model, i));
    (void)(isfinite(value) ? printf(" = %.6g\n", value) : printf(" has no value\n"));
  }
}

static void print_timings(const double *seconds) {
  double total = 0;
  for (int i = 0; i < SS_STAGES; i++) total += seconds[i];
  (void)printf("  timings   ");
  for (int i = 0; i < SS_STAGES; i++)
    (void)printf("%s%s %.0f %%", i ? ", " : "", ss_stage_name((ss_stage)i), total > 0 ? 100 * seconds[i] / total : 0);
  (void)printf(" of %.3g s\n", total);
}

void run_print_text(const run_result *r) {
  const ss_report *report = ss_sim_report(r->sim);
  print_head(r);
  if (ss_model_is_system(ss_sim_model(r->sim)))
    print_coordinates(r->sim);
  else
    print_bodies(r->sim);
  print_certificate(r);
  print_outputs(r->sim);
  print_energy(&report->energy);
  print_events(r);
  (void)printf("  contacts  %ld at most, %.3g on average\n", report->contacts_maximum, report->contacts_mean);
  if (report->audits) (void)printf("  audit     %ld of %ld steps\n", report->audits, ss_sim_state(r->sim)->step);
  (void)printf("  solves    %ld with %ld iterations and %ld fallbacks in %.3g s\n", report->solves.count,
               report->solves.iterations, report->solves.fallbacks, report->solves.seconds);
  if (ss_sim_stage_seconds(r->sim)) print_timings(ss_sim_stage_seconds(r->sim));
  const bool theta = strcmp(ss_sim_options(r->sim)->scheme, "compliant-theta") == 0;
  if (theta)
    (void)printf("  outer     %ld iterations of the theta rule, not converged in %ld parts\n", report->solves.outer,
                 report->solves.unconverged);
  else if (report->solves.outer)
    (void)printf("  feasible  %ld iterations to exact feasibility, contraction %.2g, not reached in %ld parts\n",
                 report->solves.outer, report->solves.contraction, report->solves.not_contracting);
  if (r->solutions) solutions_print_text(r->solutions, ss_sim_model(r->sim));
  for (size_t i = 0; i < sizeof r->outputs / sizeof r->outputs[0]; i++)
    if (r->outputs[i]) (void)printf("  written   %s\n", r->outputs[i]);
  if (r->hash) (void)printf("  hash      %016" PRIx64 "\n", *r->hash);
}
