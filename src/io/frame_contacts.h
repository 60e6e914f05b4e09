/* The contacts that belong to a recorded frame: those of its step, and the impacts since the frame before, which are over
 * within their step and are therefore read while they happen. */
#ifndef SS_IO_FRAME_CONTACTS_H
#define SS_IO_FRAME_CONTACTS_H

#include <stickslip/sim.h>

typedef enum ss_contact_state { SS_CONTACT_STICK, SS_CONTACT_SLIP, SS_CONTACT_IMPACT } ss_contact_state;

typedef struct ss_frame_contact {
  int body[2];                          /* the first one can move; -1: the world */
  double point[3], normal[3], force[3]; /* world frame; force on body[0]: impulse over the length of a step */
  double friction;
  int state; /* ss_contact_state */
} ss_frame_contact;

typedef struct ss_frame_impact {
  double t;
  ss_frame_contact contact;
} ss_frame_impact;

enum { SS_FRAME_IMPACTS = 64 }; /* remembered from one frame to the next */

/* A zeroed one is ready for use. */
typedef struct ss_frame_contacts {
  ss_frame_contact *contacts; /* of the frame that was collected last */
  int n;
  ss_contact_report *reports;
  int capacity; /* of the reports; contacts have room for the impacts too */
  ss_frame_impact impacts[SS_FRAME_IMPACTS];
  int n_impacts;
} ss_frame_contacts;

/* To be called for every event, and once per frame. */
ss_status ss_frame_contacts_event(ss_frame_contacts *f, const ss_sim *sim, const ss_event *event, ss_error *error);
ss_status ss_frame_contacts_collect(ss_frame_contacts *f, const ss_sim *sim, ss_error *error);
void ss_frame_contacts_release(ss_frame_contacts *f);

#endif
