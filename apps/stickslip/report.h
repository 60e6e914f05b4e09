/* The two kinds of reports. */
#ifndef REPORT_H
#define REPORT_H

/* Of the output of `stickslip converge --json`. Returns the exit code, failures are reported. */
int report_study(const char *path, const char *output);

#endif
