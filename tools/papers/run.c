/* Runs of scenes through the public interface. */
#include "papers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *scene_directory;

static void require(ss_status status, const ss_error *error, const char *scene) {
  if (status == SS_OK) return;
  if (error->line) die("%s:%d:%d: %s", error->file, error->line, error->column, error->message);
  die("%s: %s", scene, error->message);
}

static void note_event(void *user, const ss_sim *sim, const ss_event *event) {
  run *r = user;
  (void)sim;
  if (r->n_events == r->event_capacity) {
    r->event_capacity = r->event_capacity ? 2 * r->event_capacity : 64;
    r->events = realloc(r->events, sizeof *r->events * (size_t)r->event_capacity);
    if (!r->events) die("out of memory");
  }
  r->events[r->n_events++] = *event;
}

static ss_status ignore_step(void *user, const ss_sim *sim, ss_error *error) {
  (void)user, (void)sim, (void)error;
  return SS_OK;
}

/* Status of ss_sim_create; everything before it must succeed. */
static ss_status open_run(run *r, const setup *s, ss_error *error_out) {
  char path[1024];
  ss_error error = {0};
  int n = 0;
  *r = (run){0};
  while (n < (int)(sizeof s->set / sizeof *s->set) && s->set[n]) n++;
  (void)snprintf(path, sizeof path, "%s/%s.yaml", scene_directory, s->scene);
  require(ss_scene_load(path, s->set, n, &r->scene, &error), &error, s->scene);
  for (int i = 0; s->inelastic && i < r->scene->n_materials; i++) r->scene->materials[i].restitution = 0;
  for (int i = 0; s->inelastic && i < r->scene->n_contacts; i++) r->scene->contacts[i].restitution = 0;
  ss_simulation options = r->scene->simulation;
  if (s->scheme) options.scheme = s->scheme;
  if (s->step > 0) options.step = s->step;
  if (s->tolerance > 0) options.tolerance = s->tolerance, options.largest_step = options.duration / 64;
  if (s->duration > 0) options.duration = s->duration;
  if (s->all_events) {
    options.has_events = true;
    options.events = SS_EVENTS_ALL;
  }
  require(ss_model_create(r->scene, &r->model, &error), &error, s->scene);
  const ss_status status = ss_sim_create(r->model, &options, &r->sim, error_out);
  if (status) return status;
  const ss_observer observer = {.user = r, .step = ignore_step, .event = note_event};
  require(ss_sim_observe(r->sim, &observer, &error), &error, s->scene);
  return SS_OK;
}

void run_open(run *r, const setup *s) {
  ss_error error = {0};
  require(open_run(r, s, &error), &error, s->scene);
}

bool run_try(run *r, const setup *s) {
  ss_error error = {0};
  if (open_run(r, s, &error) == SS_OK) return true;
  run_close(r);
  return false;
}

bool run_step(run *r) {
  if (ss_sim_done(r->sim)) return false;
  ss_error error = {0};
  require(ss_sim_step(r->sim, &error), &error, ss_model_scene_name(r->model));
  return true;
}

void run_to_end(run *r) {
  while (run_step(r)) continue;
}

void run_close(run *r) {
  ss_sim_destroy(r->sim);
  ss_model_destroy(r->model);
  ss_scene_destroy(r->scene);
  free(r->events);
  *r = (run){0};
}

const ss_report *run_report(const run *r) { return ss_sim_report(r->sim); }

ss_vec3 run_position(const run *r, int body) { return ss_sim_motion(r->sim, body).pose.position; }

history history_record(const setup *s, long every) {
  run r;
  run_open(&r, s);
  const long n = (ss_sim_steps_total(r.sim) + every - 1) / every;
  history h = {.n_q = 7 * ss_model_bodies(r.model), .n_v = ss_model_coordinates(r.model), .every = every};
  h.step = (double)every * ss_sim_options(r.sim)->step;
  h.q = malloc(sizeof(double) * (size_t)n * (size_t)h.n_q);
  h.v = malloc(sizeof(double) * (size_t)n * (size_t)h.n_v);
  if (!h.q || !h.v) die("out of memory");
  while (run_step(&r)) {
    const ss_state *state = ss_sim_state(r.sim);
    if (state->step % every != 0 && !ss_sim_done(r.sim)) continue;
    memcpy(h.q + h.n * h.n_q, state->q, sizeof(double) * (size_t)h.n_q);
    memcpy(h.v + h.n * h.n_v, state->v, sizeof(double) * (size_t)h.n_v);
    h.n++;
  }
  if (!run_report(&r)->certificate.certified) die("%s is not certified", s->scene);
  run_close(&r);
  return h;
}

history history_end(const run *r) {
  const ss_state *state = ss_sim_state(r->sim);
  history h = {.n_q = 7 * ss_model_bodies(r->model), .n_v = ss_model_coordinates(r->model), .n = 1, .every = 1};
  h.q = malloc(sizeof(double) * (size_t)h.n_q);
  h.v = malloc(sizeof(double) * (size_t)h.n_v);
  if (!h.q || !h.v) die("out of memory");
  memcpy(h.q, state->q, sizeof(double) * (size_t)h.n_q);
  memcpy(h.v, state->v, sizeof(double) * (size_t)h.n_v);
  return h;
}

void history_release(history *h) {
  free(h->q);
  free(h->v);
  *h = (history){0};
}

/* Angle between two orientations w x y z. */
static double turn_between(const double *a, const double *b) {
  const double w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  const double x = a[0] * b[1] - a[1] * b[0] - a[2] * b[3] + a[3] * b[2];
  const double y = a[0] * b[2] - a[2] * b[0] - a[3] * b[1] + a[1] * b[3];
  const double z = a[0] * b[3] - a[3] * b[0] - a[1] * b[2] + a[2] * b[1];
  return 2 * atan2(sqrt(x * x + y * y + z * z), fabs(w));
}

double position_error(const history *a, long i, const history *b, long j) {
  const double *p = a->q + i * a->n_q, *r = b->q + j * b->n_q;
  double largest = 0;
  for (int k = 0; k < a->n_q; k += 7) {
    for (int c = 0; c < 3; c++) largest = fmax(largest, fabs(p[k + c] - r[k + c]));
    largest = fmax(largest, turn_between(p + k + 3, r + k + 3));
  }
  return largest;
}

double velocity_error(const history *a, long i, const history *b, long j) {
  const double *p = a->v + i * a->n_v, *r = b->v + j * b->n_v;
  double largest = 0;
  for (int k = 0; k < a->n_v; k++) largest = fmax(largest, fabs(p[k] - r[k]));
  return largest;
}

double final_error(const history *a, const history *b) {
  const double *p = a->q + (a->n - 1) * a->n_q, *r = b->q + (b->n - 1) * b->n_q;
  double sum = 0;
  for (int k = 0; k < a->n_q; k += 7) {
    for (int c = 0; c < 3; c++) sum += (p[k + c] - r[k + c]) * (p[k + c] - r[k + c]);
    const double turn = turn_between(p + k + 3, r + k + 3);
    sum += turn * turn;
  }
  return sqrt(sum);
}
