/* A scene on its way from the command line to a simulation: loaded, overridden, compiled. */
#ifndef SESSION_H
#define SESSION_H

#include "cli.h"

/* What the command line may override. NAN and NULL: what the scene says. */
typedef struct overrides {
  const char *scheme, *solver, *estimate;
  const char *events; /* kinds to be located: names with commas between them, or "none" */
  double step, tolerance, duration, alpha, gamma;
  text_list set; /* name=value */
} overrides;

overrides overrides_none(void);

typedef struct session {
  ss_scene *scene;  /* NULL: a user-defined system */
  void *library;    /* which comes from this shared library */
  const char *path; /* as named */
  ss_model *model;
  ss_simulation simulation; /* the scene's, with the overrides */
} session;

/* Loads and compiles a scene, or where `any` a system in a shared library too. A zeroed session may be closed at any time. */
ss_status session_open(session *s, const char *path, const overrides *o, ss_error *error);
ss_status session_open_any(session *s, const char *path, const overrides *o, ss_error *error);
void session_close(session *s);

/* The scheme gavrea is two numbers, alpha and gamma: a scene of another scheme has none, so that both must be given. */
ss_status require_weights(const char *own_scheme, double alpha, double gamma, ss_error *error);

/* Checks the name against the table of schemes. */
ss_status check_scheme(const char *name, ss_error *error);

/* To standard error: bodies that are joined and touch, and what to write if they are not meant to. */
void session_note_touching(const session *s);
/* A note where the step is too long for forces that depend on the state. */
void session_note_feedback(ss_sim *sim);

/* The scene's name, or its file where it has none. */
const char *session_name(const session *s);
const char *session_source(const session *s); /* NULL: it names none */

/* How far apart the joints may be at t = 0 in positions and velocities and still count as consistent; what the scene
 * compiler accepts is coarser, so that a few printed digits suffice as input. */
static inline bool is_consistent(double joint_residual) { return joint_residual <= 1e-6; }

/* session_system.c */
bool session_is_library(const char *path); /* ends with .so */
ss_status session_load_system(session *s, const char *path, const text_list *set, ss_error *error);
void session_unload_system(session *s);

#endif
