/* The recorder behind `run --html` and `view SCENE`: frames in memory, one HTML file at the end. */
#include "core/arena.h"
#include "core/math3.h"
#include "io/page.h"

enum { MOST_IMPACTS = 64 }; /* remembered from one frame to the next */

/* An impact is over within its step: what it did is read while it happens. */
typedef struct impact {
  double t;
  ss_page_contact contact;
} impact;

typedef struct page_recorder {
  ss_recorder base;
  ss_page page;
  double *motion; /* SS_MOTION_COLUMNS per body */
  ss_contact_report *reports;
  ss_page_contact *contacts;
  int capacity; /* of the two above; contacts have room for the impacts too */
  impact impacts[MOST_IMPACTS];
  int n_impacts;
} page_recorder;

static void put_vector(float out[3], ss_vec3 v, double scale) {
  out[0] = (float)(scale * v.x);
  out[1] = (float)(scale * v.y);
  out[2] = (float)(scale * v.z);
}

/* The force is the one on a body that can move. */
static ss_page_contact convert(const ss_contact_report *report, double step, ss_page_state state) {
  const int first = report->body[0] < 0 ? 1 : 0;
  const double sign = first ? -1 : 1;
  ss_page_contact c = {.body = {report->body[first], report->body[1 - first]},
                       .friction = (float)report->friction,
                       .state = (unsigned char)state};
  put_vector(c.point, report->point, 1);
  put_vector(c.normal, report->normal, sign);
  put_vector(c.force, report->impulse, sign / step);
  return c;
}

static bool same_pair(const int a[2], const int b[2]) {
  return (a[0] == b[0] && a[1] == b[1]) || (a[0] == b[1] && a[1] == b[0]);
}

/* Copies the present contacts to r->reports; negative: out of memory. */
static int read_contacts(page_recorder *r, const ss_sim *sim) {
  const int n = ss_sim_contacts(sim, r->reports, r->capacity);
  if (n <= r->capacity) return n;
  const int capacity = 2 * n;
  ss_contact_report *reports = ss_realloc(r->reports, sizeof *reports * (size_t)capacity);
  if (reports) r->reports = reports;
  ss_page_contact *contacts = ss_realloc(r->contacts, sizeof *contacts * (size_t)(capacity + MOST_IMPACTS));
  if (contacts) r->contacts = contacts;
  if (!reports || !contacts) return -1;
  r->capacity = capacity;
  return ss_sim_contacts(sim, r->reports, r->capacity);
}

/* Several contacts of a pair can hit at once, each with an event: the last reading of them counts. */
static void forget_impact(page_recorder *r, const ss_event *event) {
  int kept = 0;
  for (int i = 0; i < r->n_impacts; i++) {
    const impact *old = &r->impacts[i];
    if (old->t == event->t && same_pair(old->contact.body, event->body)) continue;
    r->impacts[kept++] = *old;
  }
  r->n_impacts = kept;
}

static ss_status remember_impact(page_recorder *r, const ss_sim *sim, const ss_event *event, ss_error *error) {
  const int n = read_contacts(r, sim);
  if (n < 0) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  forget_impact(r, event);
  for (int i = 0; i < n && r->n_impacts < MOST_IMPACTS; i++) {
    const ss_contact_report *report = &r->reports[i];
    if (!same_pair(report->body, event->body) || v3_norm(report->impulse) == 0) continue;
    r->impacts[r->n_impacts++] = (impact){event->t, convert(report, ss_sim_options(sim)->step, SS_PAGE_IMPACT)};
  }
  return SS_OK;
}

static bool hit_since(const page_recorder *r, const int body[2], double since) {
  for (int i = 0; i < r->n_impacts; i++)
    if (r->impacts[i].t >= since && same_pair(r->impacts[i].contact.body, body)) return true;
  return false;
}

/* The impacts since the last frame, and the contacts of the last step that are not impacts themselves. */
static ss_status add_contacts(page_recorder *r, const ss_sim *sim, ss_error *error) {
  const double step = ss_sim_options(sim)->step, since = ss_sim_state(sim)->t - step * (1 + 1e-9);
  const int n = read_contacts(r, sim);
  if (n < 0) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  long used = 0;
  for (int i = 0; i < n; i++) {
    const ss_contact_report *report = &r->reports[i];
    if (hit_since(r, report->body, since)) continue;
    r->contacts[used++] = convert(report, step, report->stuck ? SS_PAGE_STICK : SS_PAGE_SLIP);
  }
  for (int i = 0; i < r->n_impacts; i++) r->contacts[used++] = r->impacts[i].contact;
  r->n_impacts = 0;
  return ss_page_add_contacts(&r->page, r->contacts, used, error);
}

static ss_status page_row(ss_recorder *recorder, const ss_sim *sim, ss_error *error) {
  page_recorder *r = (page_recorder *)recorder;
  const ss_report *report = ss_sim_report(sim);
  const ss_energy *e = &report->energy;
  const ss_certificate *c = &report->certificate;
  for (int body = 0; body < r->page.n_bodies; body++) {
    const ss_motion motion = ss_sim_motion(sim, body);
    ss_motion_columns(&motion, r->motion + (size_t)body * SS_MOTION_COLUMNS);
  }
  const double energy[SS_PAGE_ENERGIES] = {e->kinetic,       e->potential,   e->elastic,      e->final,    e->work,
                                           e->friction_loss, e->impact_loss, e->damping_loss, e->remainder};
  const double residual[SS_PAGE_RESIDUALS] = {c->complementarity, c->penetration, c->joint_drift};
  const ss_status status = ss_page_add_frame(&r->page, ss_sim_state(sim)->t, r->motion, energy, residual, error);
  return status ? status : add_contacts(r, sim, error);
}

static ss_status page_event(ss_recorder *recorder, const ss_sim *sim, const ss_event *event, ss_error *error) {
  page_recorder *r = (page_recorder *)recorder;
  const ss_status status = event->kind == SS_COLLISION ? remember_impact(r, sim, event, error) : SS_OK;
  return status ? status : ss_page_add_event(&r->page, event, error);
}

static json_t *ledger(const ss_energy *e) {
  return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "initial", ss_page_number(e->initial), "final",
                   ss_page_number(e->final), "work", ss_page_number(e->work), "friction_loss",
                   ss_page_number(e->friction_loss), "impact_loss", ss_page_number(e->impact_loss), "damping_loss",
                   ss_page_number(e->damping_loss), "remainder", ss_page_number(e->remainder));
}

static json_t *solves(const ss_report *r) {
  return json_pack("{s:I,s:I,s:I,s:o,s:I,s:o}", "count", (json_int_t)r->solves.count, "iterations",
                   (json_int_t)r->solves.iterations, "fallbacks", (json_int_t)r->solves.fallbacks, "seconds",
                   ss_page_number(r->solves.seconds), "contacts_maximum", (json_int_t)r->contacts_maximum,
                   "contacts_mean", ss_page_number(r->contacts_mean));
}

static ss_status page_finish(ss_recorder *recorder, const ss_sim *sim, bool complete, ss_error *error) {
  page_recorder *r = (page_recorder *)recorder;
  const ss_report *report = ss_sim_report(sim);
  const ss_state *state = ss_sim_state(sim);
  r->page.run = ss_page_run(ss_sim_options(sim), state->step, state->t, complete);
  r->page.certificate = ss_page_certificate(&report->certificate, complete);
  r->page.ledger = ledger(&report->energy);
  r->page.solves = solves(report);
  if (!r->page.run || !r->page.certificate || !r->page.ledger || !r->page.solves)
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  return ss_page_write(&r->page, r->base.file.working, error);
}

static void page_release(ss_recorder *recorder) {
  page_recorder *r = (page_recorder *)recorder;
  ss_page_release(&r->page);
  ss_free(r->motion);
  ss_free(r->reports);
  ss_free(r->contacts);
  ss_free(r);
}

static const ss_recorder_kind page_kind = {page_row, page_event, page_finish, page_release};

ss_status ss_recorder_open_page(const char *path, const ss_sim *sim, ss_recorder **out, ss_error *error) {
  *out = NULL;
  if (!ss_page_available(error)) return SS_ERROR_UNSUPPORTED;
  page_recorder *r = ss_alloc(sizeof *r);
  if (!r) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const int n = ss_model_bodies(ss_sim_model(sim));
  r->page = (ss_page){.n_bodies = n, .has_contacts = true, .has_residuals = true};
  r->page.budget = ss_page_plan(n, ss_sim_steps_total(sim));
  r->base = (ss_recorder){.kind = &page_kind, .every = r->page.budget.every};
  r->motion = ss_alloc(sizeof *r->motion * SS_MOTION_COLUMNS * (size_t)(n > 0 ? n : 1));
  r->contacts = ss_alloc(sizeof *r->contacts * MOST_IMPACTS);
  r->page.model = ss_page_model(ss_sim_model(sim));
  ss_status status =
      r->motion && r->contacts && r->page.model ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (!status) status = ss_output_file_create(&r->base.file, path, error);
  if (!status) status = ss_recorder_start(&r->base, sim, error);
  if (status) {
    ss_recorder_discard(&r->base);
    return status;
  }
  *out = &r->base;
  return SS_OK;
}
