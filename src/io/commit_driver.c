#define _GNU_SOURCE /* renameat2 */

#include "io/commit_driver.h"

#include "core/arena.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 1 << 14, COPY = 1 << 20 };

typedef struct commit_file {
  H5FD_t base; /* HDF5's own part */
  char *path, *copy;
  haddr_t end_allocated, end;
  int ahead;      /* descriptor of the copy that HDF5 writes */
  int committed;  /* of the file that readers see; -1: none so far */
  uint8_t *dirty; /* one bit per page: written since the last commit */
  size_t n_dirty; /* bytes */
  bool failed;    /* something was lost: nothing is committed any more */
} commit_file;

/* ---- the superblock ---- */

/* Jenkins' lookup3 (public domain) of at most 48 bytes, as HDF5 has it at the end of its superblock. */
static uint32_t rotate(uint32_t x, int k) { return (x << k) | (x >> (32 - k)); }

static uint32_t checksum(const uint8_t *bytes, size_t length) {
  uint32_t a = 0xdeadbeef + (uint32_t)length, b = a, c = a;
  uint8_t last[12] = {0};
  for (; length > 12; length -= 12, bytes += 12) {
    uint32_t w[3];
    for (int i = 0; i < 3; i++)
      w[i] = bytes[4 * i] | (uint32_t)bytes[4 * i + 1] << 8 | (uint32_t)bytes[4 * i + 2] << 16 |
             (uint32_t)bytes[4 * i + 3] << 24;
    a += w[0], b += w[1], c += w[2];
    a = (a - c) ^ rotate(c, 4), c += b;
    b = (b - a) ^ rotate(a, 6), a += c;
    c = (c - b) ^ rotate(b, 8), b += a;
    a = (a - c) ^ rotate(c, 16), c += b;
    b = (b - a) ^ rotate(a, 19), a += c;
    c = (c - b) ^ rotate(b, 4), b += a;
  }
  memcpy(last, bytes, length);
  uint32_t w[3];
  for (int i = 0; i < 3; i++)
    w[i] = last[4 * i] | (uint32_t)last[4 * i + 1] << 8 | (uint32_t)last[4 * i + 2] << 16 |
           (uint32_t)last[4 * i + 3] << 24;
  a += w[0], b += w[1], c += w[2];
  c = (c ^ b) - rotate(b, 14);
  a = (a ^ c) - rotate(c, 11);
  b = (b ^ a) - rotate(a, 25);
  c = (c ^ b) - rotate(b, 16);
  a = (a ^ c) - rotate(c, 4);
  b = (b ^ a) - rotate(a, 14);
  return (c ^ b) - rotate(b, 24);
}

enum { SUPERBLOCK = 48, FLAGS = 11 };

/* HDF5 marks a file that is open for writing, and refuses to read a file so marked. A commit can be read: the mark is
 * taken off. Version 3 of the superblock, with addresses of eight bytes, is what this program writes. */
static bool is_superblock(const uint8_t *bytes, haddr_t address, size_t size) {
  static const uint8_t signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 3, 8, 8};
  return address == 0 && size >= SUPERBLOCK && memcmp(bytes, signature, sizeof signature) == 0;
}

static void take_mark_off(uint8_t block[SUPERBLOCK]) {
  block[FLAGS] = 0;
  const uint32_t sum = checksum(block, SUPERBLOCK - 4);
  for (int i = 0; i < 4; i++) block[SUPERBLOCK - 4 + i] = (uint8_t)(sum >> 8 * i);
}

/* ---- bytes ---- */

static bool write_all(int descriptor, const void *bytes, size_t size, haddr_t at) {
  const char *next = bytes;
  while (size > 0) {
    const ssize_t n = pwrite(descriptor, next, size, (off_t)at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    next += n, at += (haddr_t)n, size -= (size_t)n;
  }
  return true;
}

/* What is beyond the end reads as zero. */
static bool read_all(int descriptor, void *bytes, size_t size, haddr_t at) {
  char *next = bytes;
  while (size > 0) {
    const ssize_t n = pread(descriptor, next, size, (off_t)at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) return memset(next, 0, size), true;
    next += n, at += (haddr_t)n, size -= (size_t)n;
  }
  return true;
}

static bool copy_bytes(char buffer[COPY], int from, int to, haddr_t at, haddr_t size) {
  while (size > 0) {
    const size_t part = size < COPY ? (size_t)size : COPY;
    if (!read_all(from, buffer, part, at) || !write_all(to, buffer, part, at)) return false;
    at += part, size -= part;
  }
  return true;
}

/* ---- what has been written since the last commit ---- */

static bool mark_dirty(commit_file *f, haddr_t at, size_t size) {
  const size_t first = (size_t)(at / PAGE), last = (size_t)((at + size - 1) / PAGE);
  if (last / 8 >= f->n_dirty) {
    const size_t larger = 2 * (last / 8 + 32);
    uint8_t *dirty = ss_realloc(f->dirty, larger);
    if (!dirty) return false;
    memset(dirty + f->n_dirty, 0, larger - f->n_dirty);
    f->dirty = dirty;
    f->n_dirty = larger;
  }
  for (size_t i = first; i <= last; i++) f->dirty[i / 8] |= (uint8_t)(1u << i % 8);
  return true;
}

static bool is_dirty(const commit_file *f, size_t page) {
  return page / 8 < f->n_dirty && (f->dirty[page / 8] >> page % 8 & 1);
}

/* Copies the pages that differ, run by run. The buffer is not kept: one that glibc has to map, once freed, makes it keep
 * smaller blocks, and HDF5 asks for one per chunk that it compresses. */
static bool catch_up(const commit_file *f, int from, int to) {
  const size_t n = (size_t)((f->end + PAGE - 1) / PAGE);
  char *buffer = ss_alloc(COPY);
  bool good = buffer != NULL;
  for (size_t i = 0; good && i < n; i++) {
    size_t k = i;
    while (k < n && is_dirty(f, k)) k++;
    if (k == i) continue;
    const haddr_t at = (haddr_t)i * PAGE, stop = (haddr_t)k * PAGE;
    good = copy_bytes(buffer, from, to, at, (stop < f->end ? stop : f->end) - at);
    i = k;
  }
  ss_free(buffer);
  if (f->dirty) memset(f->dirty, 0, f->n_dirty);
  return good && ftruncate(to, (off_t)f->end) == 0;
}

/* ---- commits ---- */

/* The names change places; at no time is there no file under the first one. */
static bool exchange_names(const char *path, const char *copy) {
#ifdef RENAME_EXCHANGE
  if (renameat2(AT_FDCWD, copy, AT_FDCWD, path, RENAME_EXCHANGE) == 0) return true;
#endif
  char old[PATH_MAX]; /* not every file system can do that at once */
  if (snprintf(old, sizeof old, "%s.old", copy) >= (int)sizeof old) return false;
  return link(path, old) == 0 && rename(copy, path) == 0 && rename(old, copy) == 0;
}

static int create_copy(const commit_file *f) { return open(f->copy, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); }

static bool first_commit(commit_file *f) {
  if (rename(f->copy, f->path)) return false;
  f->committed = f->ahead;
  f->ahead = create_copy(f);
  return f->ahead >= 0 && catch_up(f, f->committed, f->ahead); /* so far all of it is marked as written */
}

static bool next_commit(commit_file *f) {
  if (!exchange_names(f->path, f->copy)) return false;
  const int now = f->ahead;
  f->ahead = f->committed;
  f->committed = now;
  return catch_up(f, f->committed, f->ahead);
}

bool ss_hdf5_commit(hid_t file) {
  void *handle = NULL;
  if (H5Fflush(file, H5F_SCOPE_LOCAL) < 0 || H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0) return false;
  commit_file *f = handle;
  if (f->failed) return false;
  f->failed = !(f->committed < 0 ? first_commit(f) : next_commit(f));
  return !f->failed;
}

char *ss_commit_copy_name(const char *path) {
  const char *slash = strrchr(path, '/');
  const size_t folder = slash ? (size_t)(slash - path) + 1 : 0, size = strlen(path) + 8;
  char *name = ss_alloc(size);
  if (name) (void)snprintf(name, size, "%.*s.%s.next", (int)folder, path, path + folder);
  return name;
}

/* ---- HDF5's side ---- */

static void release(commit_file *f) {
  if (f->ahead >= 0) (void)close(f->ahead);
  if (f->committed >= 0) (void)close(f->committed);
  ss_free(f->path);
  ss_free(f->copy);
  ss_free(f->dirty);
  ss_free(f);
}

/* What stands under the name already, an empty file that has kept it, goes: without a commit there is nothing to read. */
static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t most) {
  (void)access;
  (void)most;
  if (!(flags & H5F_ACC_CREAT)) return NULL;
  commit_file *f = ss_alloc(sizeof *f);
  if (!f) return NULL;
  f->ahead = f->committed = -1;
  f->path = ss_alloc(strlen(name) + 1);
  f->copy = ss_commit_copy_name(name);
  if (f->path) memcpy(f->path, name, strlen(name) + 1);
  if (f->path && f->copy) f->ahead = create_copy(f);
  if (f->ahead >= 0 && (unlink(name) == 0 || errno == ENOENT)) return &f->base;
  if (f->ahead >= 0) (void)unlink(f->copy);
  release(f);
  return NULL;
}

/* A file that could not be written stays what it was at its last commit; that its copy is still there tells of it. */
static herr_t close_file(H5FD_t *file) {
  commit_file *f = (commit_file *)file;
  if (!f->failed) (void)rename(f->copy, f->path);
  release(f);
  return 0;
}

bool ss_hdf5_close(hid_t file, const char *path) {
  char *copy = ss_commit_copy_name(path);
  const bool closed = H5Fclose(file) >= 0, kept = !copy || unlink(copy) == 0;
  ss_free(copy);
  return closed && !kept;
}

static int compare(const H5FD_t *a, const H5FD_t *b) { return a == b ? 0 : (uintptr_t)a < (uintptr_t)b ? -1 : 1; }

static herr_t query(const H5FD_t *file, unsigned long *flags) {
  (void)file;
  if (flags)
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

static haddr_t get_end_allocated(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const commit_file *)file)->end_allocated;
}

static herr_t set_end_allocated(H5FD_t *file, H5FD_mem_t type, haddr_t address) {
  (void)type;
  ((commit_file *)file)->end_allocated = address;
  return 0;
}

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const commit_file *)file)->end;
}

static herr_t get_handle(H5FD_t *file, hid_t access, void **handle) {
  (void)access;
  *handle = file;
  return 0;
}

static herr_t read_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, void *bytes) {
  (void)type;
  (void)transfer;
  return read_all(((const commit_file *)file)->ahead, bytes, size, at) ? 0 : -1;
}

/* HDF5 cannot close a file that it cannot write, and crashes when the program ends. It is told that all is well;
 * ss_hdf5_commit and ss_hdf5_close say what has happened. */
static herr_t write_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, const void *bytes) {
  (void)type;
  (void)transfer;
  commit_file *f = (commit_file *)file;
  if (size == 0) return 0;
  uint8_t block[SUPERBLOCK];
  bool good = mark_dirty(f, at, size);
  if (is_superblock(bytes, at, size)) {
    memcpy(block, bytes, SUPERBLOCK);
    take_mark_off(block);
    good = good && write_all(f->ahead, block, SUPERBLOCK, 0) &&
           write_all(f->ahead, (const char *)bytes + SUPERBLOCK, size - SUPERBLOCK, SUPERBLOCK);
  } else {
    good = good && write_all(f->ahead, bytes, size, at);
  }
  if (at + size > f->end) f->end = at + size;
  f->failed |= !good;
  return 0;
}

/* To the end of what is allocated, which a reader expects to be there. */
static herr_t truncate_file(H5FD_t *file, hid_t transfer, hbool_t closing) {
  (void)transfer;
  (void)closing;
  commit_file *f = (commit_file *)file;
  if (f->end == f->end_allocated) return 0;
  f->failed |= ftruncate(f->ahead, (off_t)f->end_allocated) != 0;
  f->end = f->end_allocated;
  return 0;
}

bool ss_commit_driver_set(hid_t access) {
  static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)511, /* of the range for drivers of one's own */
#endif
    .name = "stickslip-commit",
    .maxaddr = (haddr_t)1 << 62,
    .fc_degree = H5F_CLOSE_WEAK,
    .open = open_file,
    .close = close_file,
    .cmp = compare,
    .query = query,
    .get_eoa = get_end_allocated,
    .set_eoa = set_end_allocated,
    .get_eof = get_end,
    .get_handle = get_handle,
    .read = read_bytes,
    .write = write_bytes,
    .truncate = truncate_file,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
  };
  const hid_t id = H5FDregister(&driver);
  const bool good = id >= 0 && H5Pset_driver(access, id, NULL) >= 0;
  if (id >= 0) (void)H5FDunregister(id); /* the property list, and then the file, keep it */
  return good;
}
