/* Statuses, errors and the small value types that every other header uses. */
#ifndef STICKSLIP_BASE_H
#define STICKSLIP_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SS_VERSION_MAJOR 0
#define SS_VERSION_MINOR 1
#define SS_VERSION_PATCH 0
#define SS_VERSION       "0.1.0"

/* The library's own: those above are of the headers a program was compiled with. Either output may be NULL. */
const char *ss_version(int *major, int *minor, int *patch);

/* Every function that can fail returns one of these and fills in an ss_error. */
typedef enum ss_status {
  SS_OK = 0,
  SS_ERROR_MEMORY,      /* an allocation failed */
  SS_ERROR_INPUT,       /* the scene, a file or an argument is wrong */
  SS_ERROR_UNSUPPORTED, /* understood, but not available in this version */
  SS_ERROR_IO,          /* a file could not be read or written */
  SS_ERROR_UNCERTIFIED, /* no step could be found that solves its own problem */
  SS_ERROR_CALLBACK,    /* a function of a user-defined system refused, or returned what is not a number */
  SS_ERROR_STOPPED      /* the caller wanted the step to stop (ss_sim_stop_when) */
} ss_status;

/* What went wrong and, where a file is involved, in which place of it (line and column count from 1; 0: no place). */
typedef struct ss_error {
  ss_status status;
  int line, column;
  char file[256];
  char message[512];
} ss_error;

/* Fills in *error (which may be NULL) and returns status, so that a failure is one line: return ss_fail(...). */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
ss_status
ss_fail(ss_error *error, ss_status status, const char *format, ...);

typedef struct ss_vec3 {
  double x, y, z;
} ss_vec3;

/* Unit quaternion; rotates from the body's frame to the world's. */
typedef struct ss_quat {
  double w, x, y, z;
} ss_quat;

typedef struct ss_pose {
  ss_vec3 position;
  ss_quat orientation;
} ss_pose;

/* A row of the tables of things to choose from: name and one line of explanation; a NULL name ends the table. */
typedef struct ss_table_row {
  const char *name;
  const char *summary;
} ss_table_row;

/* Place in a scene file; {0, 0} for what was built in C. */
typedef struct ss_mark {
  int line, column;
} ss_mark;

#ifdef __cplusplus
}
#endif

#endif
