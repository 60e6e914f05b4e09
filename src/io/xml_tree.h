/* An XML document as a tree of elements with their places. The only file that knows expat is xml_tree.c. */
#ifndef SS_IO_XML_TREE_H
#define SS_IO_XML_TREE_H

#include "core/arena.h"

#include <stickslip/base.h>

typedef struct ss_xml ss_xml;
struct ss_xml {
  const char *name;
  const char **attributes; /* name, value, name, value ..., NULL */
  ss_mark mark;
  ss_xml *first, *next; /* first child, next sibling */
  ss_xml *last;         /* last child */
};

/* Reads a file. Text between elements is left out; a document type declaration is refused, so that no entity is ever
 * expanded and nothing else is read. */
ss_status ss_xml_read(const char *path, ss_arena *arena, ss_xml **out, ss_error *error);

const char *ss_xml_attribute(const ss_xml *element, const char *name); /* NULL: there is none */
const ss_xml *ss_xml_child(const ss_xml *element, const char *name);   /* the first one of this name, or NULL */
const ss_xml *ss_xml_next(const ss_xml *element, const char *name);    /* the next sibling of this name, or NULL */

#endif
