/* A page of the present moment: one frame, written again and again while the simulation runs. Memory does not grow. */
#include "core/arena.h"
#include "io/page.h"

struct ss_snapshot {
  const ss_sim *sim;
  ss_page page;
  double *motion;
  ss_frame_contacts contacts;
  ss_error failure; /* of an event, which cannot report it itself */
};

enum { MOST_EVENTS = 1000 }; /* between two snapshots; further ones are only counted */

static ss_status after_step(void *user, const ss_sim *sim, ss_error *error) {
  (void)sim;
  ss_snapshot *s = user;
  if (s->failure.status && error) *error = s->failure;
  return s->failure.status;
}

static void on_event(void *user, const ss_sim *sim, const ss_event *event) {
  ss_snapshot *s = user;
  if (s->failure.status || ss_frame_contacts_event(&s->contacts, sim, event, &s->failure)) return;
  if (s->page.n_events < MOST_EVENTS)
    (void)ss_page_add_event(&s->page, event, &s->failure);
  else
    s->page.events_total++;
}

ss_status ss_snapshot_open(ss_sim *sim, ss_snapshot **out, ss_error *error) {
  *out = NULL;
  if (!ss_page_available(error)) return SS_ERROR_UNSUPPORTED;
  ss_snapshot *s = ss_alloc(sizeof *s);
  if (!s) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const int n = ss_model_bodies(ss_sim_model(sim));
  *s = (ss_snapshot){.sim = sim};
  s->page = (ss_page){.layout = SS_PAGE_LIVE, .n_bodies = n};
  const bool prepared = ss_page_prepare(&s->page, sim);
  s->page.budget = ss_page_plan(n, 1);
  s->motion = ss_alloc(sizeof *s->motion * SS_MOTION_COLUMNS * (size_t)(n > 0 ? n : 1));
  const ss_observer observer = {.user = s, .step = after_step, .event = on_event};
  ss_status status = prepared && s->motion ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (!status) status = ss_sim_observe(sim, &observer, error);
  if (status)
    ss_snapshot_close(s);
  else
    *out = s;
  return status;
}

void ss_snapshot_close(ss_snapshot *s) {
  if (!s) return;
  ss_page_release(&s->page);
  ss_free(s->motion);
  ss_frame_contacts_release(&s->contacts);
  ss_free(s);
}

static void forget(ss_page *page) {
  json_decref(page->run);
  json_decref(page->certificate);
  json_decref(page->ledger);
  json_decref(page->solves);
  json_decref(page->timings);
  page->run = page->certificate = page->ledger = page->solves = page->timings = NULL;
  page->n_patches = page->n_elements = 0;
  page->n_frames = page->n_contacts = page->n_events = page->events_total = 0;
}

static ss_status write(ss_snapshot *s, FILE *stream, ss_status (*put)(const ss_page *, FILE *, ss_error *),
                       ss_error *error) {
  ss_status status = ss_page_capture(&s->page, &s->contacts, s->motion, s->sim, error);
  if (!status) status = ss_page_conclude(&s->page, s->sim, true, error);
  if (!status) status = put(&s->page, stream, error);
  forget(&s->page);
  return status;
}

ss_status ss_snapshot_page(ss_snapshot *s, FILE *stream, ss_error *error) {
  s->page.model = ss_page_model(ss_sim_model(s->sim));
  const ss_status status =
      s->page.model ? write(s, stream, ss_page_put, error) : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  json_decref(s->page.model);
  s->page.model = NULL;
  return status;
}

ss_status ss_snapshot_data(ss_snapshot *s, FILE *stream, ss_error *error) {
  return write(s, stream, ss_page_put_data, error);
}
