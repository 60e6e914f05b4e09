/* The woodpecker toy for the command line, as a shared library:
 *
 *     stickslip run build/woodpecker.so --duration 1 -o woodpecker.h5
 *     stickslip run build/woodpecker.so --set friction=0.4 --scheme moreau --step 1e-5
 *     stickslip converge build/woodpecker.so --duration 0.07 --steps 2^-11:2^-14 */
#include "../woodpecker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct definition {
  woodpecker data;
  ss_gap_def gaps[3];
} definition;

/* The field that a parameter sets; NULL: there is none. */
static double *field(woodpecker *w, const char *name) {
  const struct {
    const char *name;
    double *value;
  } fields[] = {{"friction", &w->friction}, {"restitution", &w->restitution[0]}, {"c_phi", &w->c_phi}, {"g", &w->g}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (strcmp(fields[i].name, name) == 0) return fields[i].value;
  return NULL;
}

ss_system_entry stickslip_system;

ss_status stickslip_system(ss_system *system, const ss_parameter *parameters, int n_parameters, ss_error *error) {
  definition *d = malloc(sizeof *d);
  if (!d) return SS_ERROR_MEMORY;
  d->data = woodpecker_of_glocker;
  for (int i = 0; i < n_parameters; i++) {
    double *value = field(&d->data, parameters[i].name);
    if (!value) {
      (void)snprintf(error->message, sizeof error->message,
                     "the woodpecker has no parameter '%s'; there are friction, restitution, c_phi, g",
                     parameters[i].name);
      free(d);
      return error->status = SS_ERROR_INPUT;
    }
    *value = parameters[i].value;
  }
  woodpecker_define(&d->data, d->gaps, system);
  system->release = free; /* d->data comes first in d */
  return SS_OK;
}
