/* Writes the worst cases of tests/cp_worst.h as problem files.   usage: worst_cases FOLDER */
#include "cp_worst.h"

#include <stdio.h>

int main(int argc, char **argv) {
  if (argc != 2) {
    (void)fprintf(stderr, "usage: worst_cases FOLDER\n");
    return 2;
  }
  for (int k = 0; k < WORST_CASES; k++) {
    char path[1024];
    ss_error error;
    owned_cp p = worst_cases[k].make(worst_cases[k].size);
    (void)snprintf(path, sizeof path, "%s/%s-%d.problem", argv[1], worst_cases[k].name, worst_cases[k].size);
    const ss_status status = ss_cp_write(&p.cp, path, &error);
    owned_free(&p);
    if (status) {
      (void)fprintf(stderr, "worst_cases: %s\n", error.message);
      return 1;
    }
  }
  return 0;
}
