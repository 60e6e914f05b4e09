/* MJCF attributes: defaults and their classes, included files, the many ways to write an orientation. */
#include "import/mjcf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- included files ---- */

static const char *beside(ss_import *i, const char *name) {
  const char *slash = name[0] == '/' ? NULL : strrchr(i->file, '/');
  const size_t folder = slash ? (size_t)(slash - i->file) + 1 : 0;
  char *path = ss_arena_alloc(i->arena, folder + strlen(name) + 1);
  if (!path) return NULL;
  memcpy(path, i->file, folder);
  (void)snprintf(path + folder, strlen(name) + 1, "%s", name);
  return path;
}

ss_status ss_mjcf_include(ss_import *i, ss_xml *element, int depth) {
  enum { DEEPEST = 10, MOST_FILES = 1000 };
  ss_xml *before = NULL;
  for (ss_xml *e = element->first; e;) {
    if (strcmp(e->name, "include") != 0) {
      SS_TRY(ss_mjcf_include(i, e, depth));
      before = e;
      e = e->next;
      continue;
    }
    const char *name = ss_xml_attribute(e, "file"), *path = name ? beside(i, name) : NULL;
    if (!path) return SS_IMPORT_FAIL(i, e, "<include> needs a file");
    if (depth == DEEPEST) return SS_IMPORT_FAIL(i, e, "files include each other");
    if (++i->n_included > MOST_FILES) return SS_IMPORT_FAIL(i, e, "more than %d files are included", MOST_FILES);
    ss_xml *root = NULL;
    SS_TRY(ss_xml_read(path, i->arena, &root, i->error));
    SS_TRY(ss_mjcf_include(i, root, depth + 1));
    ss_xml *first = root->first ? root->first : e->next, *last = root->last;
    if (last) last->next = e->next;
    if (before)
      before->next = first;
    else
      element->first = first;
    if (last) before = last;
    e = e->next;
  }
  return SS_OK;
}

/* ---- defaults ---- */

static ss_status read_class(ss_mjcf *m, const ss_xml *e, const ss_mjcf_class *parent) {
  ss_mjcf_class *class = SS_ARENA_ARRAY(m->import->arena, ss_mjcf_class, 1);
  if (!class) return ss_fail(m->import->error, SS_ERROR_MEMORY, "out of memory");
  const char *name = ss_xml_attribute(e, "class");
  *class = (ss_mjcf_class){.name = name ? name : "main", .parent = parent, .xml = e, .next = m->classes};
  m->classes = class;
  for (const ss_xml *c = ss_xml_child(e, "default"); c; c = ss_xml_next(c, "default")) SS_TRY(read_class(m, c, class));
  return SS_OK;
}

ss_status ss_mjcf_read_defaults(ss_mjcf *m, const ss_xml *mujoco) {
  for (const ss_xml *e = ss_xml_child(mujoco, "default"); e; e = ss_xml_next(e, "default"))
    SS_TRY(read_class(m, e, ss_mjcf_class_named(m, "main")));
  return SS_OK;
}

const ss_mjcf_class *ss_mjcf_class_named(const ss_mjcf *m, const char *name) {
  const ss_mjcf_class *class = m->classes;
  while (class && strcmp(class->name, name) != 0) class = class->next;
  return class;
}

const ss_mjcf_class *ss_mjcf_class_of(const ss_mjcf *m, const ss_xml *e, const ss_mjcf_class *around) {
  const char *name = ss_xml_attribute(e, "class");
  return name ? ss_mjcf_class_named(m, name) : around ? around : ss_mjcf_class_named(m, "main");
}

const char *ss_mjcf_text(const ss_xml *e, const ss_mjcf_class *class, const char *attribute) {
  const char *text = ss_xml_attribute(e, attribute);
  for (; !text && class; class = class->parent)
    for (const ss_xml *d = ss_xml_child(class->xml, e->name); d && !text; d = ss_xml_next(d, e->name))
      text = ss_xml_attribute(d, attribute);
  return text;
}

int ss_mjcf_numbers(const ss_mjcf *m, const ss_xml *e, const ss_mjcf_class *class, const char *attribute,
                    double *numbers, int most, ss_status *status) {
  const char *text = ss_mjcf_text(e, class, attribute);
  if (!text || *status) return 0;
  const int n = ss_import_count(text, numbers, most);
  if (n > 0) return n;
  *status = SS_IMPORT_FAIL(m->import, e, "<%s %s=\"%s\">: expected at most %d numbers", e->name, attribute,
                           ss_printable(text).text, most);
  return 0;
}

bool ss_mjcf_is(const ss_xml *e, const ss_mjcf_class *class, const char *attribute, const char *value) {
  const char *text = ss_mjcf_text(e, class, attribute);
  return text && strcmp(text, value) == 0;
}

void ss_mjcf_left_out(const ss_mjcf *m, const ss_xml *e, const ss_mjcf_class *class, const char *attribute) {
  double numbers[16] = {0};
  const char *text = ss_mjcf_text(e, class, attribute);
  const int n = text ? ss_import_count(text, numbers, 16) : 0;
  bool zero = true;
  for (int k = 0; k < n; k++) zero = zero && numbers[k] == 0;
  if (text && !(n > 0 && zero)) ss_import_note(m->import, "%s of a %s: left out", attribute, e->name);
}

/* ---- poses ---- */

static ss_quat euler(const ss_mjcf *m, const double *angle) {
  ss_quat q = quat_identity();
  for (int k = 0; k < 3; k++) {
    const char c = m->sequence[k];
    const int axis = (c | 32) - 'x';
    const ss_quat turn =
        ss_quat_from_axis(v3(axis == 0 ? 1 : 0, axis == 1 ? 1 : 0, axis == 2 ? 1 : 0), m->angle * angle[k]);
    q = c >= 'x' ? quat_multiply(q, turn) : quat_multiply(turn, q); /* lower case: axes that turn along */
  }
  return q;
}

ss_pose ss_mjcf_pose(const ss_mjcf *m, const ss_xml *e, const ss_mjcf_class *class, ss_status *status) {
  ss_pose pose = pose_identity();
  double x[6];
  if (ss_mjcf_numbers(m, e, class, "pos", x, 3, status) == 3) pose.position = v3(x[0], x[1], x[2]);
  if (ss_mjcf_numbers(m, e, class, "quat", x, 4, status) == 4)
    pose.orientation = quat_normalize((ss_quat){x[0], x[1], x[2], x[3]});
  else if (ss_mjcf_numbers(m, e, class, "axisangle", x, 4, status) == 4)
    pose.orientation = ss_quat_from_axis(v3(x[0], x[1], x[2]), m->angle * x[3]);
  else if (ss_mjcf_numbers(m, e, class, "euler", x, 3, status) == 3)
    pose.orientation = euler(m, x);
  else if (ss_mjcf_numbers(m, e, class, "xyaxes", x, 6, status) == 6)
    pose.orientation = ss_quat_from_axes(v3(x[0], x[1], x[2]), v3(x[3], x[4], x[5]));
  else if (ss_mjcf_numbers(m, e, class, "zaxis", x, 3, status) == 3)
    pose.orientation = ss_quat_between(v3(0, 0, 1), v3_normalize(v3(x[0], x[1], x[2])));
  return pose;
}
