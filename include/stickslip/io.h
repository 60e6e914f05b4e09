/* Files: scenes in, trajectories out. */
#ifndef STICKSLIP_IO_H
#define STICKSLIP_IO_H

#include <stickslip/sim.h>

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a YAML scene. `settings` are "name=value" texts that override declared parameters (--set); the value is a
 * constant expression. On failure error has file, line and column. */
ss_status ss_scene_load(const char *path, const char *const *settings, int n_settings, ss_scene **out, ss_error *error);

/* The same from memory; `name` stands for the file in messages. */
ss_status ss_scene_parse(const char *text, size_t length, const char *name, const char *const *settings, int n_settings,
                         ss_scene **out, ss_error *error);

/* Changes options by a YAML or JSON mapping of keys of the section `simulation`, with the same messages as in a scene; none is
 * required. {"step": 1e-3, "friction": {"cone": "quadratic"}} */
ss_status ss_simulation_override(ss_simulation *simulation, const char *text, size_t length, ss_error *error);

/* A URDF or MJCF model as a scene that compiles. The listener hears of everything that the scene leaves out or decides on
 * its own; where the model cannot be represented it fails. fixed_base: the base of a URDF robot is attached to the world
 * (otherwise it is free, if it has a mass). Files named by <include> are read, nothing else is. */
typedef void (*ss_import_listener)(void *user, const char *remark);
ss_status ss_import_model(const char *path, bool fixed_base, ss_import_listener listener, void *user, ss_scene **out,
                          ss_error *error);

/* Writes a scene as a YAML file. SS_ERROR_UNSUPPORTED: it has parts that importers do not make. */
ss_status ss_scene_write(const ss_scene *scene, FILE *stream, ss_error *error);

/* Recorders are observers: open one, attach it with ss_sim_observe, close it after the run. The file is created (and
 * proven writable) by open, under a temporary name beside `path` that close(complete = true) renames; a run that fails
 * leaves what it has under `path` too, marked incomplete. `every`: record each n-th step (and the last). */
typedef struct ss_recorder ss_recorder;
ss_status ss_recorder_open_hdf5(const char *path, const ss_sim *sim, long every, ss_recorder **out, ss_error *error);
ss_status ss_recorder_open_csv(const char *path, const ss_sim *sim, long every, ss_recorder **out, ss_error *error);
/* One self-contained HTML page that shows the run (docs/page-format.md); how often it records is its own choice, so that
 * the page stays small. SS_ERROR_UNSUPPORTED where the library was built without the viewer. */
ss_status ss_recorder_open_page(const char *path, const ss_sim *sim, ss_recorder **out, ss_error *error);
/* No file, but a hash of the numbers that the others would record, known when it is closed; equal for runs that are equal to
 * the last bit. */
ss_status ss_recorder_open_hash(const ss_sim *sim, long every, uint64_t *hash, ss_recorder **out, ss_error *error);
ss_observer ss_recorder_observer(ss_recorder *recorder);
ss_status ss_recorder_close(ss_recorder *recorder, const ss_sim *sim, bool complete, ss_error *error);
/* Instead of close: throws the file away (a run that never started). NULL is allowed. */
void ss_recorder_discard(ss_recorder *recorder);

/* A result, open for reading. Columns by name: t, energy.kinetic (potential, elastic, total, work, friction_loss,
 * impact_loss, damping_loss, remainder, stabilization), COORDINATE.q (v) of user-defined systems, BODY.x (y z qw qx qy qz vx vy vz wx wy wz),
 * the names of outputs, JOINT.position, speed, force (of its motor), fx fy fz mx my mz (its reaction on the first body); values
 * has ss_result_rows entries. */
typedef struct ss_result ss_result;
ss_status ss_result_open(const char *path, ss_result **out, ss_error *error);
void ss_result_close(ss_result *result);
long ss_result_rows(const ss_result *result);
ss_status ss_result_column(const ss_result *result, const char *name, double *values, ss_error *error);

/* A result as a page, like ss_recorder_open_page makes it, or laid out as a report to be read and printed. */
typedef enum ss_page_layout { SS_PAGE_VIEWER, SS_PAGE_REPORT, SS_PAGE_LIVE } ss_page_layout;
ss_status ss_page_from_result(const char *result, const char *page, ss_page_layout layout, ss_error *error);

/* The present moment of a simulation for whoever watches it run: the same page with a single frame, layout "live", and
 * the same data alone (without the model: it does not change). Events are those since it
 * was written last. */
typedef struct ss_snapshot ss_snapshot;
ss_status ss_snapshot_open(ss_sim *sim, ss_snapshot **out, ss_error *error); /* attaches itself */
void ss_snapshot_close(ss_snapshot *snapshot);                               /* no step may follow; NULL is allowed */
ss_status ss_snapshot_page(ss_snapshot *snapshot, FILE *stream, ss_error *error);
ss_status ss_snapshot_data(ss_snapshot *snapshot, FILE *stream, ss_error *error);

/* HDF5 result to CSV, the same columns as ss_recorder_open_csv. */
ss_status ss_export_csv(const char *result, const char *csv, ss_error *error);
ss_status ss_export_csv_stream(const char *result, FILE *csv, ss_error *error);

/* HDF5 result to VTK: the collection `pvd` (....pvd), to be opened in ParaView, and beside it one file per frame (each
 * `every`-th one, and the last) with the bodies' surfaces and the contacts. */
ss_status ss_export_vtk(const char *result, const char *pvd, long every, ss_error *error);

/* The bodies with their shapes, joints and forces as JSON: what results hold as `/model` and pages show (docs/page-format.md). To be
 * freed by free; NULL where memory is short. */
char *ss_model_json(const ss_model *model);

/* Saves everything a run needs to go on exactly as if it had not stopped, and takes it up again: read into a new sim of
 * the same scene, scheme and step (its duration may be longer). */
ss_status ss_checkpoint_write(const ss_sim *sim, const char *path, ss_error *error);
ss_status ss_checkpoint_read(ss_sim *sim, const char *path, ss_error *error);
/* The same in memory, to be freed by ss_checkpoint_free. */
ss_status ss_checkpoint_save(const ss_sim *sim, void **bytes, size_t *size, ss_error *error);
ss_status ss_checkpoint_load(ss_sim *sim, const void *bytes, size_t size, ss_error *error);
void ss_checkpoint_free(void *bytes);

#ifdef __cplusplus
}
#endif

#endif
