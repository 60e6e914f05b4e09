/* The recorder behind `run --html` and `view SCENE`: frames in memory, one HTML file at the end. */
#include "core/arena.h"
#include "io/page.h"

#include <stickslip/system.h>

typedef struct page_recorder {
  ss_recorder base;
  ss_page page;
  double *motion; /* SS_MOTION_COLUMNS per body */
  ss_frame_contacts contacts;
} page_recorder;

ss_status ss_page_capture(ss_page *page, ss_frame_contacts *contacts, double *motions, const ss_sim *sim,
                          ss_error *error) {
  const ss_report *report = ss_sim_report(sim);
  const ss_energy *e = &report->energy;
  const ss_certificate *c = &report->certificate;
  for (int body = 0; body < page->n_bodies; body++) {
    const ss_motion motion = ss_sim_motion(sim, body);
    ss_motion_columns(&motion, motions + (size_t)body * SS_MOTION_COLUMNS);
  }
  const double energy[SS_PAGE_ENERGIES] = {e->kinetic,       e->potential,   e->elastic,      e->final,    e->work,
                                           e->friction_loss, e->impact_loss, e->damping_loss, e->remainder};
  const double residual[SS_PAGE_RESIDUALS] = {c->complementarity, c->penetration, c->joint_drift};
  const ss_status status = ss_page_add_frame(page, ss_sim_state(sim)->t, motions, energy, residual, error);
  if (status) return status;
  const ss_status collected = ss_frame_contacts_collect(contacts, sim, error);
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
  return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "initial", ss_page_number(e->initial), "final",
                   ss_page_number(e->final), "work", ss_page_number(e->work), "friction_loss",
                   ss_page_number(e->friction_loss), "impact_loss", ss_page_number(e->impact_loss), "damping_loss",
                   ss_page_number(e->damping_loss), "remainder", ss_page_number(e->remainder));
}

ss_status ss_page_conclude(ss_page *page, const ss_sim *sim, bool complete, ss_error *error) {
  const ss_report *report = ss_sim_report(sim);
  const ss_state *state = ss_sim_state(sim);
  page->run = ss_page_run(ss_sim_options(sim), state->step, state->t, complete);
  page->certificate = ss_page_certificate(&report->certificate, complete);
  page->ledger = ledger(&report->energy);
  page->solves = ss_page_solves(report);
  if (!page->run || !page->certificate || !page->ledger || !page->solves)
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
  r->page = (ss_page){.n_bodies = n, .has_contacts = true, .has_residuals = true};
  r->page.budget = ss_page_plan(n, ss_sim_steps_total(sim));
  r->base = (ss_recorder){.kind = &page_kind, .every = r->page.budget.every};
  r->motion = ss_alloc(sizeof *r->motion * SS_MOTION_COLUMNS * (size_t)(n > 0 ? n : 1));
  r->page.model = ss_page_model(ss_sim_model(sim));
  ss_status status = r->motion && r->page.model ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (!status) status = ss_output_file_create(&r->base.file, path, error);
  if (!status) status = ss_recorder_start(&r->base, sim, error);
  if (status) {
    ss_recorder_discard(&r->base);
    return status;
  }
  *out = &r->base;
  return SS_OK;
}
