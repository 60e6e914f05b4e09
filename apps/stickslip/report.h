/* The two kinds of reports. */
#ifndef REPORT_H
#define REPORT_H

#include <jansson.h>

/* Of the output of `stickslip converge --json`. Returns the exit code, failures are reported. */
int report_study(const char *path, const char *output);
/* The same of a study that is in memory already; `name` stands for its file in messages. */
int report_loaded_study(const json_t *study, const char *name, const char *output);

#endif
