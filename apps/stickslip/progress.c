#include "progress.h"

#include "interrupt.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* Seconds between two redraws, and between two looks at the clock: a few looks per redraw. */
static const double REDRAW = 0.1, LOOK = 0.02;

progress progress_start(const char *label) {
  const double now = wall_clock();
  return (progress){.shown = isatty(STDERR_FILENO),
                    .label = label,
                    .start = now,
                    .last_check = now,
                    .last_draw = now,
                    .stride = 1,
                    .countdown = 1};
}

/* One write per redraw, cut to a narrow terminal's line, because a line that wraps cannot be redrawn. */
static void draw(const progress *p, const ss_sim *sim, double now) {
  enum { WIDTH = 12 };
  const double t = ss_sim_state(sim)->t, duration = ss_sim_options(sim)->duration, spent = now - p->start;
  const double done = duration > 0 ? fmin(t / duration, 1) : 1;
  const int filled = (int)(done * WIDTH);
  char line[256];
  (void)snprintf(line, sizeof line, "[%.*s%.*s] t %.4g/%.4g  %.2gx real time  %d contacts  res %.0e  %.0f s left  %s",
                 filled, "############", WIDTH - filled, "............", t, duration, t / spent,
                 ss_sim_contacts(sim, NULL, 0), ss_sim_report(sim)->certificate.complementarity,
                 done > 0 ? spent * (1 - done) / done : 0, p->label);
  (void)fprintf(stderr, "\r\x1b[K%.79s", line);
}

void progress_step(progress *p, const ss_sim *sim) {
  if (!p->shown || --p->countdown > 0) return;
  const double now = wall_clock(), elapsed = now - p->last_check;
  if (elapsed < LOOK / 2 && p->stride < 1L << 30)
    p->stride *= 2;
  else if (elapsed > 2 * LOOK && p->stride > 1)
    p->stride /= 2;
  p->countdown = p->stride;
  p->last_check = now;
  if (now - p->last_draw < REDRAW) return;
  p->last_draw = now;
  draw(p, sim, now);
}

void progress_clear(const progress *p) {
  if (p->shown) (void)fputs("\r\x1b[K", stderr);
}

static bool has_to_stop(void *user) {
  const double *end = user;
  return interrupt_signal() != 0 || (isfinite(*end) && wall_clock() > *end);
}

ss_status progress_advance(ss_sim *sim, double seconds, ss_error *error) {
  progress bar = progress_start("");
  ss_status status = SS_OK;
  double end = wall_clock() + seconds;
  ss_sim_stop_when(sim, has_to_stop, &end); /* a step may take long */
  while (!status && !ss_sim_done(sim) && !has_to_stop(&end)) {
    status = ss_sim_step(sim, error);
    progress_step(&bar, sim);
  }
  ss_sim_stop_when(sim, NULL, NULL);
  progress_clear(&bar);
  return status == SS_ERROR_STOPPED ? SS_OK : status; /* as after a step */
}
