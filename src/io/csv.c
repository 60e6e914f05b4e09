#include "io/csv.h"

#include "io/recorder.h"

#include <math.h>
#include <string.h>

bool ss_csv_header_start(FILE *stream) { return fputs("t", stream) != EOF; }

static bool put_name(FILE *stream, const char *name, const char *column) {
  const bool quoted = strpbrk(name, ",\"\r\n") != NULL;
  if (fputs(quoted ? ",\"" : ",", stream) == EOF) return false;
  for (const char *c = name; *c; c++)
    if ((*c == '"' && putc('"', stream) == EOF) || putc(*c, stream) == EOF) return false;
  return fprintf(stream, "%s%s%s", column[0] ? "." : "", column, quoted ? "\"" : "") >= 0;
}

bool ss_csv_header_body(FILE *stream, const char *name) {
  for (int i = 0; i < SS_MOTION_COLUMNS; i++)
    if (!put_name(stream, name, ss_motion_column_names[i])) return false;
  return true;
}

bool ss_csv_header_coordinate(FILE *stream, const char *name) {
  for (int i = 0; i < SS_COORDINATE_COLUMNS; i++)
    if (!put_name(stream, name, ss_coordinate_columns[i])) return false;
  return true;
}

bool ss_csv_header_signal(FILE *stream, const ss_signal_set *set) {
  for (int i = 0; i < set->width; i++)
    if (!put_name(stream, set->owner ? set->owner : set->name, ss_signal_component(set->name, !set->owner, i)))
      return false;
  return true;
}

bool ss_csv_number(FILE *stream, double value, bool first) {
  if (!isfinite(value)) return first || putc(',', stream) != EOF; /* what has no value: an empty field */
  return fprintf(stream, first ? "%.17g" : ",%.17g", value) > 0;
}

bool ss_csv_end_row(FILE *stream) { return putc('\n', stream) != EOF; }
