/* The one CSV dialect (RFC 4180): comma, quotes only where a name needs them, numbers that round-trip. */
#ifndef SS_IO_CSV_H
#define SS_IO_CSV_H

#include "io/signals.h"

#include <stdbool.h>
#include <stdio.h>

/* "t" and, for each body, its thirteen motion columns; for each coordinate of a system, q and v. All return false when the stream fails. */
bool ss_csv_header_start(FILE *stream);
bool ss_csv_header_body(FILE *stream, const char *name);
bool ss_csv_header_coordinate(FILE *stream, const char *name);
bool ss_csv_header_signal(FILE *stream, const ss_signal_set *set); /* outputs and joints, after the bodies */
bool ss_csv_number(FILE *stream, double value, bool first);
bool ss_csv_end_row(FILE *stream);

#endif
