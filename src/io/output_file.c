#define _XOPEN_SOURCE 700 /* realpath */

#include "io/output_file.h"

#include "core/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
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

/* Some file systems cannot, and say so. */
static bool reach_disk(const char *path, int flags) {
  const int descriptor = open(path, flags | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool good = fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
  const int reason = errno;
  (void)close(descriptor);
  errno = reason;
  return good;
}

static void folder_of(const char *path, char folder[PATH_MAX]) {
  const char *slash = strrchr(path, '/');
  const int length = !slash ? 1 : slash == path ? 1 : (int)(slash - path);
  (void)snprintf(folder, PATH_MAX, "%.*s", length, slash ? path : ".");
}

ss_status ss_output_file_publish(const ss_output_file *file, ss_error *error) {
  if (is_direct(file)) return SS_OK;
  char folder[PATH_MAX];
  folder_of(file->path, folder);
  if (!reach_disk(file->working, O_RDONLY) || rename(file->working, file->path))
    return cannot_write(error, file->path, errno);
  (void)reach_disk(folder, O_RDONLY | O_DIRECTORY); /* the new name; the file is there in any case */
  return SS_OK;
}

/* ---- what others have left ---- */

/* The process in "x.h5.1234-0.tmp" or ".x.h5.1234-0.tmp.next" of the base name x.h5; 0: the name is none of these. */
static long writer_of(const char *entry, const char *base, bool *copy) {
  *copy = entry[0] == '.' && base[0] != '.';
  if (*copy) entry++;
  const size_t length = strlen(base);
  if (strncmp(entry, base, length) != 0 || entry[length] != '.') return 0;
  char *end;
  const long process = strtol(entry + length + 1, &end, 10);
  if (process <= 0 || *end != '-') return 0;
  end += 1 + strspn(end + 1, "0123456789");
  return strcmp(end, *copy ? ".tmp.next" : ".tmp") == 0 ? process : 0;
}

void ss_output_file_leftovers(const char *path, bool (*found)(void *user, const char *working), void *user) {
  char target[PATH_MAX], folder[PATH_MAX];
  if (!path[0] || !follow_links(path, target)) return;
  folder_of(target, folder);
  const char *slash = strrchr(target, '/'), *base = slash ? slash + 1 : target;
  DIR *entries = opendir(folder);
  if (!entries) return;
  for (const struct dirent *e = readdir(entries); e; e = readdir(entries)) {
    bool copy;
    char name[PATH_MAX];
    struct stat info;
    const long process = writer_of(e->d_name, base, &copy);
    if (process == 0 || kill((pid_t)process, 0) == 0 || errno != ESRCH) continue;
    if (snprintf(name, sizeof name, "%s%s%s", slash ? folder : "", slash ? "/" : "", e->d_name) >= (int)sizeof name)
      continue;
    if (stat(name, &info) || !S_ISREG(info.st_mode)) continue;
    if (copy || info.st_size == 0 || found(user, name)) (void)unlink(name);
  }
  (void)closedir(entries);
}

void ss_output_file_discard(const ss_output_file *file) {
  if (file->working && !is_direct(file)) (void)unlink(file->working);
}

void ss_output_file_release(ss_output_file *file) {
  ss_free(file->path);
  ss_free(file->working);
  *file = (ss_output_file){0};
}
