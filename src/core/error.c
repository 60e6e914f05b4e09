#include <stickslip/base.h>

#include <stdarg.h>
#include <stdio.h>

ss_status ss_fail(ss_error *error, ss_status status, const char *format, ...) {
  if (!error) return status;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  error->status = status;
  error->line = error->column = 0;
  error->file[0] = '\0';
  return status;
}

const char *ss_version(int *major, int *minor, int *patch) {
  if (major) *major = SS_VERSION_MAJOR;
  if (minor) *minor = SS_VERSION_MINOR;
  if (patch) *patch = SS_VERSION_PATCH;
  return SS_VERSION;
}
