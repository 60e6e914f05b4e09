/* Checkpoints: everything a run needs to go on bit by bit as if it had not stopped.
 *
 * A header line, then pieces (size, bytes) in a fixed order, then a checksum over all of it. The pieces are the numbers as
 * they are in memory: a checkpoint belongs to one version of the program on one kind of machine, and says so when it is
 * read elsewhere. */
#include "core/words.h"
#include "io/output_file.h"
#include "io/text_file.h"
#include "compile/fingerprint.h"
#include "step/step.h"

#include <stickslip/io.h>
#include <stickslip/system.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char header[] = "stickslip checkpoint " SS_VERSION "\n";

typedef struct piece {
  void *bytes;
  size_t size;
} piece;

/* What the last step's contacts have said and given, which outputs and reports are read off until the next one. */
typedef struct contact_reports {
  int told, dealt; /* how many ss_sim_contacts lists; impulses of the step, in the order of their sums */
  int done;        /* the step is, and impulses are known */
} contact_reports;

enum { PIECES = 24, TOUCHES = PIECES - 3, PATCHES, REPORTS };

/* The pieces in their order; those of variable length last. */
static void list_pieces(ss_sim *sim, ss_fingerprint *print, contact_reports *count, ss_contact_report *reports,
                        piece out[PIECES]) {
  const ss_model *model = sim->model;
  ss_state *s = &sim->state;
  const size_t nq = sizeof(double) * (size_t)model->n_q, nv = sizeof(double) * (size_t)model->n_v;
  const piece all[PIECES] = {
      {print, sizeof *print},
      {&s->t, sizeof s->t},
      {&s->step, sizeof s->step},
      {s->q, nq},
      {s->v, nv},
      {s->angle, sizeof(double) * (size_t)model->n_angles},
      {sim->observed.previous_v, nv},
      {sim->observed.previous_weighted, nv},
      {&sim->report, sizeof sim->report},
      {&sim->control, sizeof sim->control},
      {sim->estimate.past, (SS_PAST + 1) * nv},
      {sim->basis.posed, sizeof *sim->basis.posed * (size_t)model->n_joint_rows},
      {sim->joints.free_guess, sizeof(double) * ss_free_rows(model)},
      {sim->inputs.value, sizeof(double) * (size_t)model->n_inputs},
      {sim->inputs.push_force, sizeof(double) * 6 * (size_t)model->n_bodies},
      {sim->joints.impulse,
       sizeof(double) * (size_t)model->n_joint_rows}, /* of the last step: reactions are read off */
      {sim->joints.motor_impulse, sizeof(double) * (size_t)model->n_motors},
      {&sim->saved.state.t, sizeof sim->saved.state.t},
      {sim->trial.delta, nv}, /* what the last part changed, and in which time: decides what counts as a landing */
      {&sim->trial.asked.h, sizeof sim->trial.asked.h},
      {count, sizeof *count},
      {s->touch, sizeof *s->touch * (size_t)s->n_touch},
      {s->patch, sizeof *s->patch * (size_t)s->n_patch},
      {reports, sizeof *reports * ((size_t)count->told + (size_t)count->dealt)},
  };
  memcpy(out, all, sizeof all);
}

/* NULL: out of memory. */
static ss_contact_report *collect(const ss_sim *sim, contact_reports *count) {
  *count = (contact_reports){ss_sim_contacts(sim, NULL, 0), sim->dealt.done ? sim->dealt.n : 0, sim->dealt.done};
  ss_contact_report *reports = ss_alloc(sizeof *reports * ((size_t)count->told + (size_t)count->dealt + 1));
  if (!reports) return NULL;
  (void)ss_sim_contacts(sim, reports, count->told);
  for (int i = 0; i < count->dealt; i++) reports[count->told + i] = sim->dealt.list[i].report;
  return reports;
}

static bool put(const ss_sim *sim, FILE *stream) {
  ss_sim readable = *sim; /* list_pieces serves reading too, and so asks for a sim it may write to */
  ss_fingerprint print = ss_fingerprint_of(sim->model, &sim->options);
  uint64_t hash = ss_hash_bytes(ss_hash_start, header, sizeof header - 1);
  contact_reports count;
  ss_contact_report *reports = collect(sim, &count);
  if (!reports) return false;
  piece pieces[PIECES];
  list_pieces(&readable, &print, &count, reports, pieces);
  bool written = fwrite(header, sizeof header - 1, 1, stream) == 1;
  for (int i = 0; i < PIECES; i++) {
    const uint64_t size = pieces[i].size;
    hash = ss_hash_bytes(ss_hash_bytes(hash, &size, sizeof size), pieces[i].bytes, pieces[i].size);
    written &= fwrite(&size, sizeof size, 1, stream) == 1;
    written &= size == 0 || fwrite(pieces[i].bytes, pieces[i].size, 1, stream) == 1;
  }
  ss_free(reports);
  return written && fwrite(&hash, sizeof hash, 1, stream) == 1;
}

ss_status ss_checkpoint_write(const ss_sim *sim, const char *path, ss_error *error) {
  ss_output_file file = {0};
  ss_status status = ss_output_file_create(&file, path, error);
  FILE *stream = status == SS_OK ? fopen(file.working, "wb") : NULL;
  if (status == SS_OK && !stream) status = ss_fail(error, SS_ERROR_IO, "cannot write '%s': %s", path, strerror(errno));
  if (status == SS_OK) {
    bool written = put(sim, stream);
    written &= fclose(stream) == 0;
    if (!written) status = ss_fail(error, SS_ERROR_IO, "cannot write '%s': %s", path, strerror(errno));
    if (status == SS_OK) status = ss_output_file_publish(&file, error);
  }
  if (status != SS_OK && file.working) ss_output_file_discard(&file);
  ss_output_file_release(&file);
  return status;
}

ss_status ss_checkpoint_save(const ss_sim *sim, void **bytes, size_t *size, ss_error *error) {
  char *text = NULL;
  *bytes = NULL;
  FILE *stream = open_memstream(&text, size);
  const bool written = stream && put(sim, stream);
  if (stream && fclose(stream) == 0 && written) {
    *bytes = text;
    return SS_OK;
  }
  free(text);
  return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
}

void ss_checkpoint_free(void *bytes) { free(bytes); } /* open_memstream's, which is malloc's */

static ss_status damaged(const char *path, ss_error *error) {
  return ss_fail(error, SS_ERROR_INPUT, "'%s' is not a checkpoint of this version of the program, or is damaged", path);
}

/* Checks the frame: header, pieces that fill the file exactly, checksum. */
static bool frame_holds(const char *text, size_t length, piece found[PIECES]) {
  size_t at = sizeof header - 1;
  if (length < at + sizeof(uint64_t) || memcmp(text, header, at) != 0) return false;
  for (int i = 0; i < PIECES; i++) {
    uint64_t size;
    if (length - at < sizeof size) return false;
    memcpy(&size, text + at, sizeof size);
    at += sizeof size;
    if (size > length - at) return false;
    found[i] = (piece){(void *)(text + at), (size_t)size};
    at += (size_t)size;
  }
  uint64_t stored;
  if (length - at != sizeof stored) return false;
  memcpy(&stored, text + at, sizeof stored);
  return stored == ss_hash_bytes(ss_hash_start, text, at);
}

/* Says what the checkpoint's run and this one do not have in common; SS_OK: nothing. */
static ss_status compare(const ss_fingerprint *saved, const ss_fingerprint *own, const char *path, ss_error *error) {
  char list[512] = "";
  size_t used = 0;
  for (int i = 0; i < SS_FINGERPRINT_PARTS; i++) {
    if (saved->part[i] == own->part[i]) continue;
    const int n = snprintf(list + used, sizeof list - used, "%s%s", used ? "; " : "", ss_fingerprint_names[i]);
    used = used + (size_t)n < sizeof list ? used + (size_t)n : sizeof list - 1;
  }
  if (!used) return SS_OK;
  return ss_fail(error, SS_ERROR_INPUT, "the checkpoint '%s' is of another run, which differs in %s", path, list);
}

/* A time that a run of this step can have reached. */
static bool time_is_possible(const ss_sim *sim, const piece *own, const piece *found) {
  static const double most_steps = 9e15; /* whole numbers are exact below */
  double t;
  if (own->bytes != &sim->state.t) return true;
  memcpy(&t, found->bytes, sizeof t);
  return t >= 0 && isfinite(t) && (sim->options.tolerance > 0 || t / sim->options.step < most_steps);
}

static ss_status restore(ss_sim *sim, const piece found[PIECES], const char *path, ss_error *error) {
  ss_fingerprint print;
  const ss_fingerprint own = ss_fingerprint_of(sim->model, &sim->options);
  if (found[0].size != sizeof print) return damaged(path, error);
  memcpy(&print, found[0].bytes, sizeof print);
  SS_TRY(compare(&print, &own, path, error));
  contact_reports count;
  if (found[TOUCHES - 1].size != sizeof count) return damaged(path, error);
  memcpy(&count, found[TOUCHES - 1].bytes, sizeof count);
  const size_t reports = found[REPORTS].size / sizeof(ss_contact_report);
  if (count.told < 0 || count.dealt < 0 || (size_t)count.told + (size_t)count.dealt != reports || reports > INT_MAX)
    return damaged(path, error);
  const int touches = (int)(found[TOUCHES].size / sizeof(ss_touch));
  const int numbers = (int)(found[PATCHES].size / sizeof(double));
  SS_TRY(ss_grow((void **)&sim->state.touch, &sim->state.touch_capacity, touches, sizeof(ss_touch), error));
  SS_TRY(ss_grow((void **)&sim->state.patch, &sim->state.patch_capacity, numbers, sizeof(double), error));
  SS_TRY(ss_grow((void **)&sim->dealt.list, &sim->dealt.capacity, count.dealt, sizeof *sim->dealt.list, error));
  SS_TRY(ss_grow((void **)&sim->dealt.told, &sim->dealt.told_capacity, (int)reports, sizeof *sim->dealt.told, error));
  sim->state.n_touch = touches;
  sim->state.n_patch = numbers;
  piece pieces[PIECES];
  list_pieces(sim, &print, &count, sim->dealt.told, pieces);
  for (int i = 0; i < PIECES; i++)
    if (found[i].size != pieces[i].size || !time_is_possible(sim, &pieces[i], &found[i])) return damaged(path, error);
  for (int i = 0; i < PIECES; i++)
    if (pieces[i].size) memcpy(pieces[i].bytes, found[i].bytes, pieces[i].size);
  ss_basis_pose(sim, false);
  sim->inputs.has_push_force = false;
  for (int i = 0; i < 6 * sim->model->n_bodies; i++) sim->inputs.has_push_force |= sim->inputs.push_force[i] != 0;
  sim->trial.n_contacts = sim->trial.n_active = 0; /* what there is of the last step's contacts is their reports */
  sim->crowd.asleep = 0;
  ss_deal_begin(sim);
  for (int i = 0; i < count.dealt; i++)
    sim->dealt.list[i] = (ss_dealt){.order = i, .gone = true, .report = sim->dealt.told[count.told + i]};
  sim->dealt.n = count.dealt;
  sim->dealt.n_told = count.told;
  sim->dealt.done = count.done != 0;
  sim->trial.problem.first_contact = 0; /* what was posed before has nothing to say about the next guess */
  /* A run that ended inside a step of its grid goes on with the rest of that step. */
  if (sim->options.tolerance == 0) sim->state.step = (long)floor(sim->state.t / sim->options.step * (1 + 1e-12));
  memcpy(sim->observed.weighted, sim->observed.previous_weighted, sizeof(double) * (size_t)sim->model->n_v);
  return SS_OK;
}

static ss_status load(ss_sim *sim, const char *text, size_t length, const char *path, ss_error *error) {
  piece found[PIECES];
  return frame_holds(text, length, found) ? restore(sim, found, path, error) : damaged(path, error);
}

ss_status ss_checkpoint_read(ss_sim *sim, const char *path, ss_error *error) {
  char *text = NULL;
  size_t length = 0;
  ss_status status = ss_text_file_read(path, SS_TEXT_FILE_LIMIT, &text, &length, error);
  if (status != SS_OK) return status;
  status = load(sim, text, length, path, error);
  ss_free(text);
  return status;
}

ss_status ss_checkpoint_load(ss_sim *sim, const void *bytes, size_t size, ss_error *error) {
  return load(sim, bytes, size, "in memory", error);
}
