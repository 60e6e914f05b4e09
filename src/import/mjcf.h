/* What the files that read MJCF share. */
#ifndef SS_IMPORT_MJCF_H
#define SS_IMPORT_MJCF_H

#include "import/import.h"

typedef struct ss_mjcf_class ss_mjcf_class;
struct ss_mjcf_class {
  const char *name;
  const ss_mjcf_class *parent;
  const ss_xml *xml; /* <default> */
  ss_mjcf_class *next;
};

typedef struct ss_mjcf {
  ss_import *import;
  ss_mjcf_class *classes; /* all of them */
  double angle;           /* of the file's unit, in radians */
  char sequence[4];       /* of Euler angles */
  bool autolimits, no_contact;
  const ss_xml *root;  /* <mujoco> */
  const char *meshdir; /* "": none */
  enum { SS_INERTIA_AUTO, SS_INERTIA_GIVEN, SS_INERTIA_FROM_GEOMS } inertia;
  int unnamed;
} ss_mjcf;

/* ---- mjcf_values.c: attributes with their defaults ---- */

/* Splices in the files that <include> names. */
ss_status ss_mjcf_include(ss_import *import, ss_xml *element, int depth);
ss_status ss_mjcf_read_defaults(ss_mjcf *m, const ss_xml *mujoco);
const ss_mjcf_class *ss_mjcf_class_named(const ss_mjcf *m, const char *name);
/* The class that applies to an element: its own, or that of the bodies around it. */
const ss_mjcf_class *ss_mjcf_class_of(const ss_mjcf *m, const ss_xml *element, const ss_mjcf_class *around);
const char *ss_mjcf_text(const ss_xml *element, const ss_mjcf_class *class, const char *attribute);
/* How many numbers the attribute has (at most `most`); 0: it is not there. Wrong ones are an error in *status. */
int ss_mjcf_numbers(const ss_mjcf *m, const ss_xml *element, const ss_mjcf_class *class, const char *attribute,
                    double *numbers, int most, ss_status *status);
bool ss_mjcf_is(const ss_xml *element, const ss_mjcf_class *class, const char *attribute, const char *value);
/* Notes that an attribute is left out, where it is there and not zero. */
void ss_mjcf_left_out(const ss_mjcf *m, const ss_xml *element, const ss_mjcf_class *class, const char *attribute);
/* pos and whichever orientation there is. */
ss_pose ss_mjcf_pose(const ss_mjcf *m, const ss_xml *element, const ss_mjcf_class *class, ss_status *status);

/* ---- mjcf_asset.c ---- */

/* The mesh or height field that the geom names, as a shape at the geom's place. False: it is left out, and that is noted. */
bool ss_mjcf_asset(const ss_mjcf *m, const ss_xml *geom, const ss_mjcf_class *class, ss_shape_def *shape,
                   ss_status *status);

/* ---- mjcf_geom.c ---- */

/* Adds the geom's shape to the part where it can touch, its mass to *mass. */
ss_status ss_mjcf_geom(ss_mjcf *m, const ss_xml *geom, const ss_mjcf_class *around, ss_import_part *part,
                       ss_import_mass *mass);

#endif
