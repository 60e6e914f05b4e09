/* The patches of an HDF5 result on their way to a page. */
#ifndef SS_IO_PAGE_PATCHES_H
#define SS_IO_PAGE_PATCHES_H

#include "io/page.h"
#include "io/result.h"

/* Both tables ascend by frame. A zeroed one may be released. */
typedef struct ss_patch_source {
  hsize_t n, n_elements, at, element;                       /* rows, and where reading is */
  double *frame, *a, *b, *count, *point, *normal, *tangent; /* of /patches */
  double *place, *force, *state;                            /* of /elements */
} ss_patch_source;

ss_status ss_patch_source_open(ss_patch_source *source, const ss_result *result, ss_error *error);
/* Adds the patches of a row of the result to the page's last frame; rows must ascend, some may be left out. */
ss_status ss_patch_source_frame(ss_patch_source *source, const ss_result *result, ss_page *page, hsize_t row,
                                ss_error *error);
void ss_patch_source_release(ss_patch_source *source);

#endif
