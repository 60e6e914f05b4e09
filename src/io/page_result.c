/* A page from an HDF5 result: the same frames, contacts and events that a page recorder would have seen. */
#include "core/arena.h"
#include "core/words.h"
#include "io/page_patches.h"
#include "io/recorder_signals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static ss_status out_of_memory(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

/* ---- what the run was ---- */

static ss_status read_model(const ss_result *r, ss_page *page, ss_error *error) {
  char *text = ss_hdf5_read_text(r->file, "model");
  if (!text)
    return ss_fail(error, SS_ERROR_INPUT, "'%s' does not contain the shapes of its bodies; record it again", r->path);
  page->model = json_loads(text, 0, NULL);
  ss_free(text);
  return page->model ? SS_OK : ss_result_damaged(r, error);
}

static double attribute(hid_t object, const char *name) {
  double value = NAN;
  return ss_hdf5_get_number(object, name, &value) ? value : (double)NAN;
}

/* Results that were recorded before there were doubts have none. */
static void read_doubts(hid_t certificate, ss_certificate *c) {
  if (H5Lexists(certificate, "doubts", H5P_DEFAULT) <= 0) return;
  const hid_t group = H5Gopen2(certificate, "doubts", H5P_DEFAULT);
  for (int i = 0; group >= 0 && i < SS_DOUBTS; i++) {
    const double number = attribute(group, ss_table_doubts()[i].code);
    c->doubts[i] = isnan(number) ? 0 : number;
    c->sound &= c->doubts[i] == 0;
  }
  if (group >= 0) (void)H5Gclose(group);
}

static ss_status read_run(const ss_result *r, ss_page *page, double end, ss_error *error) {
  char *text = ss_hdf5_read_text(r->file, "run");
  json_t *run = text ? json_loads(text, 0, NULL) : NULL;
  const char *scheme = json_string_value(json_object_get(run, "scheme"));
  const char *solver = json_string_value(json_object_get(run, "solver"));
  const ss_simulation options = {.scheme = scheme ? scheme : "",
                                 .solver = solver ? solver : "",
                                 .step = attribute(r->file, "step"),
                                 .duration = attribute(r->file, "duration")};
  const bool complete = attribute(r->file, "complete") == 1;
  const double ratio = options.step > 0 ? ceil(end / options.step - 1e-6) : 0;
  const long steps = ratio > 0 && ratio < 1e15 ? (long)ratio : 0;
  page->run = ss_page_run(&options, steps, end, complete);
  if (r->n_rows > 1 && steps > 0) page->steps_per_row = lround((double)steps / (double)(r->n_rows - 1));
  json_decref(run);
  ss_free(text);
  const hid_t group = H5Gopen2(r->file, "certificate", H5P_DEFAULT);
  if (group < 0) return ss_result_damaged(r, error);
  ss_certificate certificate = {.complementarity = attribute(group, "complementarity"),
                                .penetration = attribute(group, "penetration"),
                                .joint_drift = attribute(group, "joint_drift"),
                                .cone = attribute(group, "cone"),
                                .dissipation = attribute(group, "dissipation"),
                                .energy_created = attribute(group, "energy_created"),
                                .certified = attribute(group, "certified") == 1,
                                .sound = true};
  read_doubts(group, &certificate);
  (void)H5Gclose(group);
  page->certificate = ss_page_certificate(&certificate, complete);
  return page->run && page->certificate ? SS_OK : out_of_memory(error);
}

/* Results that were recorded before there were statistics have none. */
static ss_status read_solves(const ss_result *r, ss_page *page, ss_error *error) {
  if (H5Lexists(r->file, "solves", H5P_DEFAULT) <= 0) return SS_OK;
  const hid_t group = H5Gopen2(r->file, "solves", H5P_DEFAULT);
  if (group < 0) return ss_result_damaged(r, error);
  const char *const names[] = {"count", "iterations", "fallbacks", "seconds", "contacts_maximum", "contacts_mean"};
  double value[6];
  bool good = true;
  for (int i = 0; i < 6; i++) {
    value[i] = attribute(group, names[i]);
    good = good && value[i] >= 0 && value[i] < 1e18;
  }
  (void)H5Gclose(group);
  if (!good) return ss_result_damaged(r, error);
  const ss_report report = {.solves = {.count = (long)value[0],
                                       .iterations = (long)value[1],
                                       .fallbacks = (long)value[2],
                                       .seconds = value[3]},
                            .contacts_maximum = (long)value[4],
                            .contacts_mean = value[5]};
  page->solves = ss_page_solves(&report);
  return page->solves ? SS_OK : out_of_memory(error);
}

/* Only where they were measured. */
static ss_status read_timings(const ss_result *r, ss_page *page, ss_error *error) {
  if (H5Lexists(r->file, "timings", H5P_DEFAULT) <= 0) return SS_OK;
  const hid_t group = H5Gopen2(r->file, "timings", H5P_DEFAULT);
  if (group < 0) return ss_result_damaged(r, error);
  double seconds[SS_STAGES];
  for (int i = 0; i < SS_STAGES; i++) seconds[i] = attribute(group, ss_stage_name((ss_stage)i));
  (void)H5Gclose(group);
  page->timings = ss_page_timings(seconds);
  return page->timings ? SS_OK : out_of_memory(error);
}

/* How many columns of applied forces there are, from the model; arrows of many are left out. */
static void count_applied(const ss_result *r, ss_page *page) {
  if (H5Lexists(r->file, "applied", H5P_DEFAULT) <= 0) return;
  const json_t *forces = json_object_get(page->model, "forces");
  int n = 0;
  for (size_t i = 0; i < json_array_size(forces); i++) {
    const char *type = json_string_value(json_object_get(json_array_get(forces, i), "type"));
    n += type && strcmp(type, "applied") == 0;
  }
  page->n_applied = n < SS_PAGE_APPLIED ? n : 0;
}

/* ---- frames with their contacts ---- */

/* The contacts of the whole result; they ascend by frame. */
typedef struct contact_table {
  hsize_t n, at;
  double *frame, *a, *b, *point, *normal, *force, *friction, *state;
  ss_frame_contact *present; /* of one frame */
  hsize_t capacity;
} contact_table;

static void release_contacts(contact_table *c) {
  double *const columns[] = {c->frame, c->a, c->b, c->point, c->normal, c->force, c->friction, c->state};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) ss_free(columns[i]);
  ss_free(c->present);
}

static bool read_contacts(const ss_result *r, contact_table *c) {
  hsize_t length[5] = {0};
  c->frame = ss_result_numbers(r, "contacts/frame", &length[0]);
  c->a = ss_result_numbers(r, "contacts/a", &length[1]);
  c->b = ss_result_numbers(r, "contacts/b", &length[2]);
  c->friction = ss_result_numbers(r, "contacts/friction", &length[3]);
  c->state = ss_result_numbers(r, "contacts/state", &length[4]);
  c->n = length[0];
  for (int i = 1; i < 5; i++)
    if (length[i] != c->n) return false;
  if (!c->frame || !c->a || !c->b || !c->friction || !c->state) return false;
  c->point = ss_result_vectors(r, "contacts/point", c->n, 3);
  c->normal = ss_result_vectors(r, "contacts/normal", c->n, 3);
  c->force = ss_result_vectors(r, "contacts/force", c->n, 3);
  return c->point && c->normal && c->force;
}

static bool is_body(double index, hsize_t n_bodies) { return index >= -1 && index < (double)n_bodies; }

static bool contact_at(const contact_table *c, hsize_t i, hsize_t n_bodies, ss_frame_contact *out) {
  if (!is_body(c->a[i], n_bodies) || !is_body(c->b[i], n_bodies) || !(c->state[i] >= 0 && c->state[i] <= 2))
    return false;
  *out =
      (ss_frame_contact){.body = {(int)c->a[i], (int)c->b[i]}, .friction = c->friction[i], .state = (int)c->state[i]};
  for (hsize_t k = 0; k < 3; k++) {
    out->point[k] = c->point[3 * i + k];
    out->normal[k] = c->normal[3 * i + k];
    out->force[k] = c->force[3 * i + k];
  }
  return true;
}

/* Impacts of frames that the page leaves out are shown in the next one that it has. */
static ss_status add_contacts(const ss_result *r, ss_page *page, contact_table *c, hsize_t row, ss_error *error) {
  hsize_t end = c->at, n = 0;
  while (end < c->n && c->frame[end] <= (double)row) end++;
  if (end - c->at > c->capacity) {
    ss_frame_contact *grown = ss_realloc(c->present, sizeof *grown * 2 * (end - c->at));
    if (!grown) return out_of_memory(error);
    c->present = grown;
    c->capacity = 2 * (end - c->at);
  }
  for (; c->at < end; c->at++) {
    ss_frame_contact contact;
    if (!contact_at(c, c->at, r->n_bodies, &contact)) return ss_result_damaged(r, error);
    if (contact.state == SS_CONTACT_IMPACT || c->frame[c->at] == (double)row) c->present[n++] = contact;
  }
  return ss_page_add_contacts(page, c->present, (long)n, error);
}

typedef struct frame_source {
  ss_result *result;
  ss_page *page;
  double *motion;
  double *energy[SS_PAGE_ENERGIES]; /* [row] */
  double *worst[SS_PAGE_RESIDUALS]; /* [row]; NULL: an older result */
  double *applied;                  /* [row][6 n_applied] */
  double *signals;                  /* [row][n of the result's signals] */
  contact_table contacts;
  ss_patch_source patches;
} frame_source;

static ss_status add_frame(frame_source *s, hsize_t first, hsize_t row, ss_error *error) {
  double residual[SS_PAGE_RESIDUALS] = {0};
  double energy[SS_PAGE_ENERGIES];
  for (int i = 0; i < SS_PAGE_ENERGIES; i++) energy[i] = s->energy[i][first + row];
  for (int i = 0; i < SS_PAGE_RESIDUALS && s->page->has_residuals; i++) residual[i] = s->worst[i][first + row];
  for (hsize_t body = 0; body < s->result->n_bodies; body++)
    ss_result_motion(s->result, row, body, s->motion + body * SS_MOTION_COLUMNS);
  SS_TRY(ss_page_add_frame(s->page, s->result->t[row], s->motion, energy, residual, error));
  if (s->applied) ss_page_set_applied(s->page, s->applied + (first + row) * 6 * (hsize_t)s->page->n_applied);
  if (s->page->n_signals) ss_page_set_signals(s->page, s->signals + (first + row) * (hsize_t)s->result->signals->n);
  if (s->page->has_patches) SS_TRY(ss_patch_source_frame(&s->patches, s->result, s->page, first + row, error));
  return s->page->has_contacts ? add_contacts(s->result, s->page, &s->contacts, first + row, error) : SS_OK;
}

static ss_status add_frames(frame_source *s, ss_error *error) {
  ss_result *r = s->result;
  for (hsize_t first = 0; first < r->n_rows; first += SS_HDF5_BLOCK) {
    const hsize_t left = r->n_rows - first, count = left < SS_HDF5_BLOCK ? left : SS_HDF5_BLOCK;
    SS_TRY(ss_result_read_block(r, first, count, error));
    for (hsize_t row = 0; row < count; row++) {
      const bool wanted = (first + row) % (hsize_t)s->page->budget.every == 0 || first + row + 1 == r->n_rows;
      if (wanted) SS_TRY(add_frame(s, first, row, error));
    }
  }
  return SS_OK;
}

/* What results have only since it is recorded: residuals, applied forces, patches. */
static ss_status read_extras(frame_source *s, ss_error *error) {
  ss_result *r = s->result;
  s->page->has_residuals = H5Lexists(r->file, "worst", H5P_DEFAULT) > 0;
  for (int i = 0; i < SS_PAGE_RESIDUALS && s->page->has_residuals; i++) {
    char path[64];
    hsize_t n = 0;
    (void)snprintf(path, sizeof path, "worst/%s", ss_page_residual_names[i]);
    s->worst[i] = ss_result_numbers(r, path, &n);
    if (!s->worst[i] || n != r->n_rows) return ss_result_damaged(r, error);
  }
  if (s->page->n_applied > 0) {
    s->applied = ss_result_vectors(r, "applied", r->n_rows, 6 * s->page->n_applied);
    if (!s->applied) return ss_result_damaged(r, error);
  }
  const ss_signal_columns *signals = r->signals;
  if (!ss_page_plan_signals(s->page, signals->sets, signals->n_sets, signals->n)) return out_of_memory(error);
  if (s->page->n_signals && !(s->signals = ss_signal_columns_read_all(signals, r))) return ss_result_damaged(r, error);
  s->page->has_patches = H5Lexists(r->file, "patches", H5P_DEFAULT) > 0;
  return s->page->has_patches ? ss_patch_source_open(&s->patches, r, error) : SS_OK;
}

static ss_status read_frames(frame_source *s, ss_error *error) {
  ss_result *r = s->result;
  s->motion = ss_alloc(sizeof *s->motion * SS_MOTION_COLUMNS * (r->n_bodies > 0 ? r->n_bodies : 1));
  if (!s->motion) return out_of_memory(error);
  for (int i = 0; i < SS_PAGE_ENERGIES; i++) {
    char path[64];
    hsize_t n = 0;
    (void)snprintf(path, sizeof path, "energy/%s", ss_page_energy_names[i]);
    const bool newer = i == SS_PAGE_ENERGIES - 1; /* older results do not have the last column */
    if (newer && H5Lexists(r->file, path, H5P_DEFAULT) <= 0) {
      s->energy[i] = ss_alloc(sizeof(double) * (size_t)(r->n_rows + 1));
      if (!s->energy[i]) return out_of_memory(error);
      memset(s->energy[i], 0, sizeof(double) * (size_t)(r->n_rows + 1));
      continue;
    }
    s->energy[i] = ss_result_numbers(r, path, &n);
    if (!s->energy[i] || n != r->n_rows) return ss_result_damaged(r, error);
  }
  SS_TRY(read_extras(s, error));
  s->page->has_contacts = H5Lexists(r->file, "contacts", H5P_DEFAULT) > 0;
  if (s->page->has_contacts && !read_contacts(r, &s->contacts)) return ss_result_damaged(r, error);
  return add_frames(s, error);
}

static void release_source(frame_source *s) {
  ss_free(s->motion);
  for (int i = 0; i < SS_PAGE_ENERGIES; i++) ss_free(s->energy[i]);
  for (int i = 0; i < SS_PAGE_RESIDUALS; i++) ss_free(s->worst[i]);
  ss_free(s->applied);
  ss_free(s->signals);
  release_contacts(&s->contacts);
  ss_patch_source_release(&s->patches);
}

/* final = initial + work - losses + remainder: the last row of the energies, and the first total. */
static ss_status read_ledger(const frame_source *s, ss_error *error) {
  const hsize_t last = s->result->n_rows - 1;
  json_t *ledger = json_object();
  bool good = json_object_set_new(ledger, "initial", ss_page_number(s->energy[3][0])) == 0 &&
              json_object_set_new(ledger, "final", ss_page_number(s->energy[3][last])) == 0;
  for (int i = 4; good && i < SS_PAGE_ENERGIES; i++)
    good = json_object_set_new(ledger, ss_page_energy_names[i], ss_page_number(s->energy[i][last])) == 0;
  s->page->ledger = ledger;
  return good ? SS_OK : out_of_memory(error);
}

/* ---- events ---- */

static bool event_kind(const char *name, ss_event_kind *kind) {
  for (int k = 0; k < SS_EVENT_KINDS; k++) {
    *kind = (ss_event_kind)k;
    if (strcmp(ss_event_name(*kind), name) == 0) return true;
  }
  return false;
}

static char *read_kinds(const ss_result *r, hsize_t n, size_t size) {
  char *kinds = ss_alloc(size * (n > 0 ? n : 1));
  const hid_t type = H5Tcopy(H5T_C_S1), dataset = H5Dopen2(r->file, "events/kind", H5P_DEFAULT);
  hsize_t length = 0;
  const bool good = kinds && type >= 0 && dataset >= 0 && H5Tset_size(type, size) >= 0 &&
                    ss_hdf5_length(dataset, &length) && length == n &&
                    (n == 0 || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, kinds) >= 0);
  if (dataset >= 0) (void)H5Dclose(dataset);
  if (type >= 0) (void)H5Tclose(type);
  if (good) return kinds;
  ss_free(kinds);
  return NULL;
}

static ss_status add_events(const ss_result *r, ss_page *page, const double *t, const double *a, const double *b,
                            const char *kinds, size_t size, hsize_t n, ss_error *error) {
  for (hsize_t i = 0; i < n; i++) {
    ss_event event = {.t = t[i]};
    char name[32] = {0};
    memcpy(name, kinds + i * size, size);
    if (!event_kind(name, &event.kind) || !is_body(a[i], r->n_bodies) || !is_body(b[i], r->n_bodies))
      return ss_result_damaged(r, error);
    event.body[0] = (int)a[i];
    event.body[1] = (int)b[i];
    SS_TRY(ss_page_add_event(page, &event, error));
  }
  return SS_OK;
}

static ss_status read_events(const ss_result *r, ss_page *page, ss_error *error) {
  enum { KIND_SIZE = 16 };
  hsize_t n = 0, n_a = 0, n_b = 0;
  double *t = ss_result_numbers(r, "events/t", &n);
  double *a = ss_result_numbers(r, "events/a", &n_a), *b = ss_result_numbers(r, "events/b", &n_b);
  char *kinds = t ? read_kinds(r, n, KIND_SIZE) : NULL;
  const bool good = t && a && b && kinds && n_a == n && n_b == n;
  const ss_status status =
      good ? add_events(r, page, t, a, b, kinds, KIND_SIZE, n, error) : ss_result_damaged(r, error);
  ss_free(t);
  ss_free(a);
  ss_free(b);
  ss_free(kinds);
  return status;
}

/* ---- the whole ---- */

static ss_status read_page(ss_result *r, ss_page *page, ss_error *error) {
  if (r->n_rows == 0) return ss_fail(error, SS_ERROR_INPUT, "'%s' has no rows", r->path);
  double end = 0;
  if (!ss_hdf5_read_rows(r->time, r->n_rows, r->n_rows - 1, 1, 0, &end)) return ss_result_damaged(r, error);
  SS_TRY(read_model(r, page, error));
  SS_TRY(read_run(r, page, end, error));
  SS_TRY(read_solves(r, page, error));
  SS_TRY(read_timings(r, page, error));
  SS_TRY(read_events(r, page, error));
  count_applied(r, page);
  frame_source source = {.result = r, .page = page};
  ss_status status = read_frames(&source, error);
  if (!status) status = read_ledger(&source, error);
  release_source(&source);
  return status;
}

static ss_status write_page(const ss_page *page, const char *path, ss_error *error) {
  ss_output_file file;
  SS_TRY(ss_output_file_create(&file, path, error));
  ss_status status = ss_page_write(page, file.working, error);
  if (!status) status = ss_output_file_publish(&file, error);
  if (status) ss_output_file_discard(&file);
  ss_output_file_release(&file);
  return status;
}

ss_status ss_page_from_result(const char *result, const char *path, ss_page_layout layout, ss_error *error) {
  if (!ss_page_available(error)) return SS_ERROR_UNSUPPORTED;
  ss_result *r;
  SS_TRY(ss_result_open(result, &r, error));
  if (r->n_coordinates) {
    ss_result_close(r);
    return ss_page_of_system(error);
  }
  ss_page page = {
      .layout = layout, .n_bodies = (int)r->n_bodies, .budget = ss_page_plan((int)r->n_bodies, (long)r->n_rows)};
  const ss_hdf5_quiet quiet = ss_hdf5_quiet_begin();
  ss_status status = read_page(r, &page, error);
  ss_hdf5_quiet_end(quiet);
  if (!status) status = write_page(&page, path, error);
  ss_page_release(&page);
  ss_result_close(r);
  return status;
}
