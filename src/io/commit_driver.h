/* A file driver for HDF5 whose file can be read at any time, whatever happens to the process that writes it.
 *
 * HDF5 changes its tables in place: between two flushes, and while it flushes, the file on disk is no HDF5 file. Here it
 * writes to a second copy beside it, and a commit, after a flush, exchanges the two names in one system call and then
 * brings the older copy up to date. Under the name that everybody knows there is always the state of the last commit, to
 * the last byte. That costs the space and the writing of a second copy for as long as the file is open; a file that is
 * closed before its first commit is written once. */
#ifndef SS_IO_COMMIT_DRIVER_H
#define SS_IO_COMMIT_DRIVER_H

#include <stickslip/base.h>

#include <hdf5.h>

/* Makes files that are created with this property list such files. The file itself comes to be at the first commit, or
 * when it is closed; a copy that is written is beside it, with a name that ss_commit_copy_name tells. */
bool ss_commit_driver_set(hid_t file_access);

/* What has been written becomes what readers see; false: it could not all be written, then or before. */
bool ss_hdf5_commit(hid_t file);
/* Closes the file, with a last commit. */
bool ss_hdf5_close(hid_t file, const char *path);

/* dir/x.h5 -> dir/.x.h5.next; to be freed, NULL: no memory. */
char *ss_commit_copy_name(const char *path);

#endif
