#include "chart_axis.h"

#include <math.h>
#include <stdio.h>

chart_axis axis_empty(bool log, double from, double to) {
  return (chart_axis){.log = log, .low = INFINITY, .high = -INFINITY, .from = from, .to = to};
}

bool axis_shows(const chart_axis *axis, double value) { return isfinite(value) && (!axis->log || value > 0); }

static double position(const chart_axis *axis, double value) { return axis->log ? log10(value) : value; }

void axis_see(chart_axis *axis, double value) {
  if (!axis_shows(axis, value)) return;
  axis->low = fmin(axis->low, position(axis, value));
  axis->high = fmax(axis->high, position(axis, value));
}

double axis_place(const chart_axis *axis, double value) {
  return axis->from + (axis->to - axis->from) * (position(axis, value) - axis->low) / (axis->high - axis->low);
}

static void add_tick(chart_axis *axis, double value, const char *label) {
  if (axis->n == AXIS_TICKS) return;
  axis->ticks[axis->n] = value;
  (void)snprintf(axis->labels[axis->n++], sizeof axis->labels[0], "%s", label);
}

/* 1, 2 or 5 times a power of ten, so that about `wanted` of them fit in. */
static double round_step(double span, int wanted) {
  const double raw = span / wanted, power = pow(10, floor(log10(raw)));
  const double factor = raw / power;
  return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

/* As many decimals as the step needs; scientific where that would be long. */
static void label_number(char *text, size_t size, double value, double step, double largest) {
  if (largest >= 1e5 || largest < 1e-3) {
    const int digits = (int)fmax(0, floor(log10(largest) + 1e-9) - floor(log10(step) + 1e-9));
    (void)snprintf(text, size, value == 0 ? "0" : "%.*e", digits, value); // NOLINT: both formats are literals
    return;
  }
  const int decimals = (int)fmax(0, -floor(log10(step) + 1e-9));
  (void)snprintf(text, size, "%.*f", decimals, value);
}

static void linear_ticks(chart_axis *axis) {
  const double step = round_step(axis->high - axis->low, 6);
  axis->low = step * floor(axis->low / step + 1e-9);
  axis->high = step * ceil(axis->high / step - 1e-9);
  const double largest = fmax(fabs(axis->low), fabs(axis->high));
  const long first = lround(axis->low / step), last = lround(axis->high / step);
  for (long i = first; i <= last; i++) {
    char label[24];
    label_number(label, sizeof label, (double)i * step, step, largest);
    add_tick(axis, (double)i * step, label);
  }
}

/* Powers of ten; where there are few, 2 and 5 times them as well. */
static void log_ticks(chart_axis *axis) {
  const double span = axis->high - axis->low;
  const bool fine = span < 2.5;
  const int every = (int)ceil(span / 10);
  const int first = (int)floor(axis->low), last = (int)ceil(axis->high);
  for (int decade = first; decade <= last; decade++) {
    static const int factors[] = {1, 2, 5};
    for (int k = 0; k < (fine ? 3 : 1); k++) {
      const double value = factors[k] * pow(10, decade);
      if (log10(value) < axis->low - 1e-9 || log10(value) > axis->high + 1e-9) continue;
      char label[24] = "";
      if ((decade - first) % (every > 0 ? every : 1) == 0) {
        if (decade >= -3 && decade < 5)
          (void)snprintf(label, sizeof label, "%g", value);
        else
          (void)snprintf(label, sizeof label, "%de%d", factors[k], decade);
      }
      add_tick(axis, value, label);
    }
  }
}

bool axis_finish(chart_axis *axis) {
  if (!(axis->low <= axis->high)) return false;
  if (axis->high - axis->low <= 1e-13 * fmax(fabs(axis->low), fabs(axis->high)) || axis->high == axis->low) {
    const double half = axis->log ? 0.5 : axis->low != 0 ? 0.5 * fabs(axis->low) : 0.5;
    axis->low -= half;
    axis->high += half;
  }
  if (axis->log) {
    const double pad = 0.04 * (axis->high - axis->low);
    axis->low -= pad;
    axis->high += pad;
    log_ticks(axis);
  } else {
    linear_ticks(axis);
  }
  return true;
}
