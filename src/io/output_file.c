#define _XOPEN_SOURCE 700 /* realpath */

#include "io/output_file.h"

#include "core/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ss_status cannot_write(ss_error *error, const char *path, int reason) {
  return ss_fail(error, SS_ERROR_IO, "cannot write '%s': %s", path, strerror(reason));
}

static char *copy_text(const char *text) {
  char *copy = ss_alloc(strlen(text) + 1);
  if (copy) memcpy(copy, text, strlen(text) + 1);
  return copy;
}

/* A fresh name beside the final one; the process number keeps two runs apart, O_EXCL keeps everything else. */
static ss_status create_working(ss_output_file *file, const char *given, ss_error *error) {
  const size_t size = strlen(file->path) + 48;
  file->working = ss_alloc(size);
  if (!file->working) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int attempt = 0; attempt < 100; attempt++) {
    (void)snprintf(file->working, size, "%s.%ld-%d.tmp", file->path, (long)getpid(), attempt);
    const int descriptor = open(file->working, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      (void)close(descriptor);
      return SS_OK;
    }
    if (errno != EEXIST) break;
  }
  const int reason = errno;
  ss_free(file->working);
  file->working = NULL;
  return cannot_write(error, given, reason);
}

/* The working file of an existing path: beside a regular file, the thing itself for a device or a pipe. */
static ss_status create_over(ss_output_file *file, const char *given, const struct stat *existing, ss_error *error) {
  if (S_ISDIR(existing->st_mode)) return cannot_write(error, given, EISDIR);
  if (access(given, W_OK)) return cannot_write(error, given, errno);
  char resolved[PATH_MAX];
  if (!realpath(given, resolved)) return cannot_write(error, given, errno);
  file->path = copy_text(S_ISREG(existing->st_mode) ? resolved : given);
  if (!file->path) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (S_ISREG(existing->st_mode)) return create_working(file, given, error);
  file->working = copy_text(file->path);
  return file->working ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
}

/* Where a file of this name would come to be that does not exist yet: a symbolic link to it is followed, not replaced. */
static bool follow_links(const char *path, char target[PATH_MAX]) {
  if (strlen(path) >= PATH_MAX) return errno = ENAMETOOLONG, false;
  memcpy(target, path, strlen(path) + 1);
  for (int links = 0; links < 40; links++) {
    char to[PATH_MAX];
    const ssize_t length = readlink(target, to, sizeof to);
    if (length < 0) return true; /* no link */
    const char *slash = strrchr(target, '/');
    const size_t folder = to[0] == '/' || !slash ? 0 : (size_t)(slash - target) + 1;
    if (folder + (size_t)length >= PATH_MAX) return errno = ENAMETOOLONG, false;
    memcpy(target + folder, to, (size_t)length);
    target[folder + (size_t)length] = '\0';
  }
  return errno = ELOOP, false;
}

ss_status ss_output_file_create(ss_output_file *file, const char *path, ss_error *error) {
  *file = (ss_output_file){0};
  struct stat existing;
  char target[PATH_MAX];
  ss_status status;
  if (stat(path, &existing) == 0) {
    status = create_over(file, path, &existing, error);
  } else if (!path[0] || !follow_links(path, target)) {
    status = cannot_write(error, path, path[0] ? errno : ENOENT);
  } else {
    file->path = copy_text(target);
    status = file->path ? create_working(file, path, error) : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  if (status) ss_output_file_release(file);
  return status;
}

ss_status ss_output_file_require_regular(const ss_output_file *file, ss_error *error) {
  struct stat info;
  if (stat(file->working, &info)) return cannot_write(error, file->path, errno);
  if (!S_ISREG(info.st_mode)) return ss_fail(error, SS_ERROR_IO, "cannot write '%s': not a regular file", file->path);
  return SS_OK;
}

static bool is_direct(const ss_output_file *file) { return strcmp(file->path, file->working) == 0; }

ss_status ss_output_file_publish(const ss_output_file *file, ss_error *error) {
  if (is_direct(file) || rename(file->working, file->path) == 0) return SS_OK;
  return cannot_write(error, file->path, errno);
}

void ss_output_file_discard(const ss_output_file *file) {
  if (file->working && !is_direct(file)) (void)unlink(file->working);
}

void ss_output_file_release(ss_output_file *file) {
  ss_free(file->path);
  ss_free(file->working);
  *file = (ss_output_file){0};
}
