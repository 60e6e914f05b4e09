/* Whole files in memory. */
#ifndef SS_IO_TEXT_FILE_H
#define SS_IO_TEXT_FILE_H

#include <stickslip/base.h>

enum { SS_TEXT_FILE_LIMIT = 64 << 20 }; /* bytes; for scenes and whatever else a person writes */

/* Reads the file; *text (ended by NUL, *length without it) is the caller's, to be freed with ss_free. Directories and
 * files beyond the limit (bytes) are refused. */
ss_status ss_text_file_read(const char *path, size_t limit, char **text, size_t *length, ss_error *error);

#endif
