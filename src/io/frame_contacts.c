#include "io/frame_contacts.h"

#include "core/arena.h"
#include "core/math3.h"

static void put_vector(double out[3], ss_vec3 v, double scale) {
  out[0] = scale * v.x;
  out[1] = scale * v.y;
  out[2] = scale * v.z;
}

/* The force is the one on a body that can move. */
static ss_frame_contact convert(const ss_contact_report *report, double step, ss_contact_state state) {
  const int first = report->body[0] < 0 ? 1 : 0;
  const double sign = first ? -1 : 1;
  ss_frame_contact c = {.body = {report->body[first], report->body[1 - first]},
                        .friction = report->friction,
                        .state = (unsigned char)state};
  put_vector(c.point, report->point, 1);
  put_vector(c.normal, report->normal, sign);
  put_vector(c.force, report->impulse, sign / step);
  return c;
}

static bool same_pair(const int a[2], const int b[2]) {
  return (a[0] == b[0] && a[1] == b[1]) || (a[0] == b[1] && a[1] == b[0]);
}

/* Copies the present contacts to f->reports; negative: out of memory. */
static int read_contacts(ss_frame_contacts *f, const ss_sim *sim) {
  const int n = ss_sim_contacts(sim, f->reports, f->capacity);
  if (n <= f->capacity) return n;
  const int capacity = 2 * n;
  ss_contact_report *reports = ss_realloc(f->reports, sizeof *reports * (size_t)capacity);
  if (reports) f->reports = reports;
  ss_frame_contact *contacts = ss_realloc(f->contacts, sizeof *contacts * (size_t)(capacity + SS_FRAME_IMPACTS));
  if (contacts) f->contacts = contacts;
  if (!reports || !contacts) return -1;
  f->capacity = capacity;
  return ss_sim_contacts(sim, f->reports, f->capacity);
}

/* Several contacts of a pair can hit at once, each with an event: the last reading of them counts. */
static void forget_impact(ss_frame_contacts *f, const ss_event *event) {
  int kept = 0;
  for (int i = 0; i < f->n_impacts; i++) {
    const ss_frame_impact *old = &f->impacts[i];
    if (old->t == event->t && same_pair(old->contact.body, event->body)) continue;
    f->impacts[kept++] = *old;
  }
  f->n_impacts = kept;
}

ss_status ss_frame_contacts_event(ss_frame_contacts *f, const ss_sim *sim, const ss_event *event, ss_error *error) {
  if (event->kind != SS_COLLISION) return SS_OK;
  const int n = read_contacts(f, sim);
  if (n < 0) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  forget_impact(f, event);
  for (int i = 0; i < n && f->n_impacts < SS_FRAME_IMPACTS; i++) {
    const ss_contact_report *report = &f->reports[i];
    if (!same_pair(report->body, event->body) || v3_norm(report->impulse) == 0) continue;
    f->impacts[f->n_impacts++] = (ss_frame_impact){event->t, convert(report, ss_sim_step_size(sim), SS_CONTACT_IMPACT)};
  }
  return SS_OK;
}

static bool hit_since(const ss_frame_contacts *f, const int body[2], double since) {
  for (int i = 0; i < f->n_impacts; i++)
    if (f->impacts[i].t >= since && same_pair(f->impacts[i].contact.body, body)) return true;
  return false;
}

ss_status ss_frame_contacts_collect(ss_frame_contacts *f, const ss_sim *sim, ss_error *error) {
  const double step = ss_sim_step_size(sim), since = ss_sim_step_start(sim) - 1e-9 * step;
  const int n = read_contacts(f, sim);
  if (n < 0) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  f->n = 0;
  for (int i = 0; i < n; i++) {
    const ss_contact_report *report = &f->reports[i];
    if (hit_since(f, report->body, since)) continue;
    f->contacts[f->n++] = convert(report, step, report->stuck ? SS_CONTACT_STICK : SS_CONTACT_SLIP);
  }
  for (int i = 0; i < f->n_impacts; i++) f->contacts[f->n++] = f->impacts[i].contact;
  f->n_impacts = 0;
  return SS_OK;
}

void ss_frame_contacts_release(ss_frame_contacts *f) {
  ss_free(f->reports);
  ss_free(f->contacts);
  *f = (ss_frame_contacts){0};
}
