/* A page: the data of one run in the form that the viewer shows, collected in memory and written at the end. The format
 * is docs/page-format.md; the HTML around it is the built viewer, embedded into the library. */
#ifndef SS_IO_PAGE_H
#define SS_IO_PAGE_H

#include "io/frame_contacts.h"
#include "io/recorder.h"
#include "io/signals.h"

#include <jansson.h>

enum { SS_PAGE_ENERGIES = 10, SS_PAGE_RESIDUALS = 3, SS_PAGE_APPLIED = 64, SS_PAGE_SIGNALS = 400 };
/* Fewer than SS_PAGE_APPLIED applied forces are shown; above SS_PAGE_SIGNALS numbers of outputs and joints the outputs alone. */
extern const char *const ss_page_energy_names[SS_PAGE_ENERGIES];
extern const char *const ss_page_residual_names[SS_PAGE_RESIDUALS];

typedef struct ss_page_event {
  double t;
  unsigned char kind; /* ss_event_kind */
  int body[2];
} ss_page_event;

/* A patch of a compliant contact in a frame, and what its elements carry (in the patch's frame: normal, tangents). */
typedef struct ss_page_patch {
  int body[2];
  float point[3], normal[3], tangent[3]; /* world frame */
  uint32_t first;                        /* of its elements */
} ss_page_patch;

typedef struct ss_page_element {
  float place[2], force[3];
  unsigned char state; /* 0 open, 1 sticks, 2 slips */
} ss_page_element;

/* How much of a run the page may hold, so that it stays small enough to be mailed. */
typedef struct ss_page_budget {
  long every;     /* steps per frame */
  bool velocity;  /* velocities fit in */
  long per_frame; /* contacts */
  long elements;  /* of patches, per frame */
} ss_page_budget;
ss_page_budget ss_page_plan(int n_bodies, long steps);

/* A zeroed page may be released. Arrays grow on demand. */
typedef struct ss_page {
  ss_page_layout layout;
  json_t *model, *run, *certificate, *ledger, *solves; /* NULL: unknown, or known already */
  json_t *timings;                                     /* NULL: not measured */
  ss_page_budget budget;
  long steps_per_row; /* 0 stands for 1; a result may have been recorded with --every */
  int n_bodies;
  long n_frames, frame_capacity;
  double *time;              /* [frame] */
  float *position;           /* [frame][body][3] */
  int16_t *orientation;      /* [frame][body][4], w x y z times 32767 */
  float *velocity, *angular; /* [frame][body][3]; NULL: left out */
  float *energy;             /* [frame][SS_PAGE_ENERGIES] */
  float *residual;           /* [frame][SS_PAGE_RESIDUALS], worst so far */
  bool has_residuals;
  bool has_contacts, contacts_cut;
  uint32_t *contact_count; /* [frame], as the run had them */
  uint32_t *contact_first; /* [frame + 1], as the page has them */
  ss_frame_contact *contacts;
  long n_contacts, contact_capacity;
  int n_applied;
  float *applied;      /* [frame][n_applied][6] force and torque, world frame */
  ss_signals recorded; /* of the simulation, where a page watches one */
  json_t *signal_sets; /* owner, name, width of each; NULL: there are none */
  int n_signals;
  float *signals; /* [frame][n_signals] outputs and joints (signals.h) */
  bool has_patches, patches_cut;
  uint32_t *patch_first; /* [frame + 1] */
  ss_page_patch *patches;
  ss_page_element *elements;
  long n_patches, patch_capacity, n_elements, element_capacity;
  ss_page_event *events;
  long n_events, event_capacity, events_total;
} ss_page;

void ss_page_release(ss_page *page);

/* Each frame: the motion of all bodies (SS_MOTION_COLUMNS each), then its contacts. */
ss_status ss_page_add_frame(ss_page *page, double t, const double *motion, const double energy[SS_PAGE_ENERGIES],
                            const double residual[SS_PAGE_RESIDUALS], ss_error *error);
/* 6 numbers per applied force of the frame that was added last. */
void ss_page_set_applied(ss_page *page, const double *applied);
/* n_signals numbers of the frame that was added last; the sets that go with them, so many that there is room for. */
void ss_page_set_signals(ss_page *page, const double *signals);
bool ss_page_plan_signals(ss_page *page, const ss_signal_set *sets, int n_sets, int n); /* false: out of memory */
/* Patches that no longer fit in are left out, and the page says so. */
ss_status ss_page_add_patch(ss_page *page, const ss_page_patch *patch, const ss_page_element *elements, long n,
                            ss_error *error);
/* Keeps the strongest ones where there are too many; sorts `contacts` for that. */
ss_status ss_page_add_contacts(ss_page *page, ss_frame_contact *contacts, long n, ss_error *error);
ss_status ss_page_add_event(ss_page *page, const ss_event *event, ss_error *error);

/* Bodies, shapes, joints and forces as the viewer needs them; NULL: out of memory. */
json_t *ss_page_model(const ss_model *model);
/* The run's numbers; NULL: out of memory. Numbers that are not finite become null. */
json_t *ss_page_number(double value);
json_t *ss_page_certificate(const ss_certificate *certificate, bool complete);
json_t *ss_page_solves(const ss_report *report);
json_t *ss_page_timings(const double seconds[SS_STAGES]);
json_t *ss_page_run(const ss_simulation *options, long steps, double end, bool complete);

/* What the page will hold of this simulation, before the first frame. False: out of memory. */
bool ss_page_prepare(ss_page *page, const ss_sim *sim);
/* Adds a frame with the present state (motions: room for SS_MOTION_COLUMNS per body); the numbers of the run so far. */
ss_status ss_page_capture(ss_page *page, ss_frame_contacts *contacts, double *motions, const ss_sim *sim,
                          ss_error *error);
ss_status ss_page_conclude(ss_page *page, const ss_sim *sim, bool complete, ss_error *error);

/* False where the library was built without the viewer; then error says what to do. */
bool ss_page_available(ss_error *error);
/* Refuses: a user-defined system has no bodies to show. */
ss_status ss_page_of_system(ss_error *error);
/* Writes the whole HTML file. */
ss_status ss_page_write(const ss_page *page, const char *path, ss_error *error);
/* The same into a stream; and the data alone. */
ss_status ss_page_put(const ss_page *page, FILE *stream, ss_error *error);
ss_status ss_page_put_data(const ss_page *page, FILE *stream, ss_error *error);

#endif
