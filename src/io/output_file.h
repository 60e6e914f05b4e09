/* A file that appears under its name only when it is finished: written beside it, then renamed. */
#ifndef SS_IO_OUTPUT_FILE_H
#define SS_IO_OUTPUT_FILE_H

#include <stickslip/base.h>

typedef struct ss_output_file {
  char *path;    /* where it will be; symbolic links resolved */
  char *working; /* where it is being written; equal to path for devices and pipes, which cannot be renamed over */
} ss_output_file;

/* Proves that `path` can be written by creating the working file. A zeroed ss_output_file may be released. */
ss_status ss_output_file_create(ss_output_file *file, const char *path, ss_error *error);
/* For a file that must be seekable: fails for devices and pipes. */
ss_status ss_output_file_require_regular(const ss_output_file *file, ss_error *error);
/* Renames to the final place, after its content has reached the disk: neither a crash nor a power failure leaves half a file
 * under that name. */
ss_status ss_output_file_publish(const ss_output_file *file, ss_error *error);
/* Removes the working file, for openings that fail half-way. */
void ss_output_file_discard(const ss_output_file *file);
void ss_output_file_release(ss_output_file *file);

/* Working files of processes that were killed before they could finish `path`. Calls `found` for each one; it returns true
 * for those that are to be removed. What is not meant to be read by anybody, an empty file or the second copy of one, is
 * removed without asking. */
void ss_output_file_leftovers(const char *path, bool (*found)(void *user, const char *working), void *user);

#endif
