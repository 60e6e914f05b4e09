/* The recorder behind `run --html` and `view SCENE`: frames in memory, one HTML file at the end. */
#include "core/arena.h"
#include "io/page.h"

#include <stickslip/system.h>

#include <string.h>

typedef struct page_recorder {
  ss_recorder base;
  ss_page page;
  double *motion; /* SS_MOTION_COLUMNS per body */
  ss_frame_contacts contacts;
} page_recorder;

static void capture_applied(ss_page *page, const ss_sim *sim) {
  ss_applied_report forces[SS_PAGE_APPLIED];
  double numbers[6 * SS_PAGE_APPLIED];
  (void)ss_sim_applied(sim, forces, SS_PAGE_APPLIED);
  for (int i = 0; i < page->n_applied; i++) {
    const ss_vec3 f = forces[i].force, m = forces[i].torque;
    const double six[6] = {f.x, f.y, f.z, m.x, m.y, m.z};
    memcpy(numbers + (size_t)6 * (size_t)i, six, sizeof six);
  }
  ss_page_set_applied(page, numbers);
}

/* The reports are those of the contacts that were collected for this frame. */
static ss_status capture_patches(ss_page *page, const ss_contact_report *reports, const ss_sim *sim, ss_error *error) {
  const int contacts = ss_sim_contacts(sim, NULL, 0);
  ss_status status = SS_OK;
  for (int k = 0; !status && k < contacts; k++) {
    const int n = ss_sim_elements(sim, k, NULL, 0);
    if (n == 0) continue;
    ss_element_report *found = ss_alloc(sizeof *found * (size_t)n);
    ss_page_element *elements = ss_alloc(sizeof *elements * (size_t)n);
    if (found && elements) {
      (void)ss_sim_elements(sim, k, found, n);
      const ss_contact_report *c = &reports[k];
      const ss_page_patch patch = {.body = {c->body[0], c->body[1]},
                                   .point = {(float)c->point.x, (float)c->point.y, (float)c->point.z},
                                   .normal = {(float)c->normal.x, (float)c->normal.y, (float)c->normal.z},
                                   .tangent = {(float)c->tangent.x, (float)c->tangent.y, (float)c->tangent.z}};
      for (int i = 0; i < n; i++) {
        const ss_element_report *e = &found[i];
        elements[i] = (ss_page_element){.place = {(float)e->place[0], (float)e->place[1]},
                                        .force = {(float)e->force[0], (float)e->force[1], (float)e->force[2]},
                                        .state = (unsigned char)(!e->closed ? 0
                                                                 : e->stuck ? 1
                                                                            : 2)};
      }
      status = ss_page_add_patch(page, &patch, elements, n, error);
    } else {
      status = ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    }
    ss_free(found);
    ss_free(elements);
  }
  return status;
}

bool ss_page_prepare(ss_page *page, const ss_sim *sim) {
  const int applied = ss_sim_applied(sim, NULL, 0);
  page->n_applied = applied < SS_PAGE_APPLIED ? applied : 0;
  page->has_contacts = page->has_residuals = true;
  page->has_patches = ss_scheme_is_compliant(ss_sim_options(sim)->scheme);
  const ss_signals *s = &page->recorded;
  return ss_signals_create(&page->recorded, ss_sim_model(sim)) && ss_page_plan_signals(page, s->sets, s->n_sets, s->n);
}

ss_status ss_page_capture(ss_page *page, ss_frame_contacts *contacts, double *motions, const ss_sim *sim,
                          ss_error *error) {
  const ss_report *report = ss_sim_report(sim);
  const ss_energy *e = &report->energy;
  const ss_certificate *c = &report->certificate;
  for (int body = 0; body < page->n_bodies; body++) {
    const ss_motion motion = ss_sim_motion(sim, body);
    ss_motion_columns(&motion, motions + (size_t)body * SS_MOTION_COLUMNS);
  }
  const double energy[SS_PAGE_ENERGIES] = {e->kinetic,   e->potential,     e->elastic,     e->final,
                                           e->work,      e->friction_loss, e->impact_loss, e->damping_loss,
                                           e->remainder, e->stabilization};
  const double residual[SS_PAGE_RESIDUALS] = {c->complementarity, c->penetration, c->joint_drift};
  const ss_status status = ss_page_add_frame(page, ss_sim_state(sim)->t, motions, energy, residual, error);
  if (status) return status;
  if (page->n_applied) capture_applied(page, sim);
  if (page->n_signals) {
    const ss_status read = ss_signals_read(&page->recorded, sim, error);
    if (read) return read;
    ss_page_set_signals(page, page->recorded.values);
  }
  ss_status collected = ss_frame_contacts_collect(contacts, sim, error);
  if (!collected && page->has_patches) collected = capture_patches(page, contacts->reports, sim, error);
  return collected ? collected : ss_page_add_contacts(page, contacts->contacts, contacts->n, error);
}

static ss_status page_row(ss_recorder *recorder, const ss_sim *sim, ss_error *error) {
  page_recorder *r = (page_recorder *)recorder;
  return ss_page_capture(&r->page, &r->contacts, r->motion, sim, error);
}

static ss_status page_event(ss_recorder *recorder, const ss_sim *sim, const ss_event *event, ss_error *error) {
  page_recorder *r = (page_recorder *)recorder;
  const ss_status status = ss_frame_contacts_event(&r->contacts, sim, event, error);
  return status ? status : ss_page_add_event(&r->page, event, error);
}

static json_t *ledger(const ss_energy *e) {
  return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "initial", ss_page_number(e->initial), "final",
                   ss_page_number(e->final), "work", ss_page_number(e->work), "friction_loss",
                   ss_page_number(e->friction_loss), "impact_loss", ss_page_number(e->impact_loss), "damping_loss",
                   ss_page_number(e->damping_loss), "remainder", ss_page_number(e->remainder), "stabilization",
                   ss_page_number(e->stabilization));
}

ss_status ss_page_conclude(ss_page *page, const ss_sim *sim, bool complete, ss_error *error) {
  const ss_report *report = ss_sim_report(sim);
  const ss_state *state = ss_sim_state(sim);
  page->run = ss_page_run(ss_sim_options(sim), state->step, state->t, complete);
  page->certificate = ss_page_certificate(&report->certificate, complete);
  page->ledger = ledger(&report->energy);
  page->solves = ss_page_solves(report);
  const double *seconds = ss_sim_stage_seconds(sim);
  if (seconds) page->timings = ss_page_timings(seconds);
  if (!page->run || !page->certificate || !page->ledger || !page->solves || (seconds && !page->timings))
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  return SS_OK;
}

static ss_status page_finish(ss_recorder *recorder, const ss_sim *sim, bool complete, ss_error *error) {
  page_recorder *r = (page_recorder *)recorder;
  const ss_status status = ss_page_conclude(&r->page, sim, complete, error);
  if (status) return status;
  return ss_page_write(&r->page, r->base.file.working, error);
}

static void page_release(ss_recorder *recorder) {
  page_recorder *r = (page_recorder *)recorder;
  ss_page_release(&r->page);
  ss_free(r->motion);
  ss_frame_contacts_release(&r->contacts);
  ss_free(r);
}

static const ss_recorder_kind page_kind = {page_row, page_event, page_finish, page_release};

ss_status ss_recorder_open_page(const char *path, const ss_sim *sim, ss_recorder **out, ss_error *error) {
  *out = NULL;
  if (ss_model_is_system(ss_sim_model(sim))) return ss_page_of_system(error);
  if (!ss_page_available(error)) return SS_ERROR_UNSUPPORTED;
  page_recorder *r = ss_alloc(sizeof *r);
  if (!r) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const int n = ss_model_bodies(ss_sim_model(sim));
  r->page = (ss_page){.n_bodies = n};
  const bool prepared = ss_page_prepare(&r->page, sim);
  r->page.budget = ss_page_plan(n, ss_sim_steps_total(sim));
  r->base = (ss_recorder){.kind = &page_kind, .every = r->page.budget.every};
  r->motion = ss_alloc(sizeof *r->motion * SS_MOTION_COLUMNS * (size_t)(n > 0 ? n : 1));
  r->page.model = ss_page_model(ss_sim_model(sim));
  ss_status status = prepared && r->motion && r->page.model ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (!status) status = ss_output_file_create(&r->base.file, path, error);
  if (!status) status = ss_recorder_start(&r->base, sim, error);
  if (status) {
    ss_recorder_discard(&r->base);
    return status;
  }
  *out = &r->base;
  return SS_OK;
}
