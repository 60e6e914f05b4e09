#include "io/xml_tree.h"

#include "core/words.h"
#include "io/text_file.h"

#include <expat.h>
#include <limits.h>
#include <string.h>

enum { DEEPEST = 200 };

typedef struct reader {
  XML_Parser parser;
  ss_arena *arena;
  ss_xml *open[DEEPEST]; /* the elements around the place of reading */
  int depth;
  ss_xml *root;
  const char *refusal; /* why reading was stopped; NULL: it was not */
} reader;

static void stop(reader *r, const char *why) {
  r->refusal = why;
  (void)XML_StopParser(r->parser, XML_FALSE);
}

static void on_start(void *user, const XML_Char *name, const XML_Char **attributes) {
  reader *r = user;
  size_t n = 0;
  while (attributes[n]) n++;
  if (r->depth == DEEPEST) {
    stop(r, "elements are nested too deeply");
    return;
  }
  ss_xml *e = SS_ARENA_ARRAY(r->arena, ss_xml, 1);
  const char **copy = SS_ARENA_ARRAY(r->arena, const char *, n + 1);
  if (e) *e = (ss_xml){.name = ss_arena_strdup(r->arena, name), .attributes = copy};
  bool good = e && copy && e->name;
  for (size_t i = 0; good && i < n; i++) {
    copy[i] = ss_arena_strdup(r->arena, attributes[i]);
    good = copy[i] != NULL;
  }
  if (!good) {
    stop(r, "out of memory");
    return;
  }
  e->mark = (ss_mark){(int)XML_GetCurrentLineNumber(r->parser), (int)XML_GetCurrentColumnNumber(r->parser) + 1};
  ss_xml *parent = r->depth > 0 ? r->open[r->depth - 1] : NULL;
  if (!parent)
    r->root = e;
  else if (parent->last)
    parent->last->next = e;
  else
    parent->first = e;
  if (parent) parent->last = e;
  r->open[r->depth++] = e;
}

static void on_end(void *user, const XML_Char *name) {
  (void)name;
  ((reader *)user)->depth--;
}

static void on_doctype(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *public_id,
                       int internal) {
  (void)name, (void)system, (void)public_id, (void)internal;
  stop(user, "document type declarations are refused: they could name other files or expand without end");
}

ss_status ss_xml_read(const char *path, ss_arena *arena, ss_xml **out, ss_error *error) {
  char *text = NULL;
  size_t length = 0;
  SS_TRY(ss_text_file_read(path, SS_TEXT_FILE_LIMIT, &text, &length, error));
  reader r = {.parser = XML_ParserCreate(NULL), .arena = arena};
  ss_status status = SS_OK;
  if (!r.parser || length > INT_MAX) {
    status = ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  } else {
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
    if (XML_Parse(r.parser, text, (int)length, 1) != XML_STATUS_OK) {
      const ss_mark mark = {(int)XML_GetCurrentLineNumber(r.parser), (int)XML_GetCurrentColumnNumber(r.parser) + 1};
      status = ss_fail_place(error, SS_ERROR_INPUT, path, mark, "not valid XML: %s",
                             r.refusal ? r.refusal : XML_ErrorString(XML_GetErrorCode(r.parser)));
    }
  }
  if (r.parser) XML_ParserFree(r.parser);
  ss_free(text);
  *out = r.root;
  return status;
}

const char *ss_xml_attribute(const ss_xml *e, const char *name) {
  for (const char **a = e->attributes; a && *a; a += 2)
    if (strcmp(a[0], name) == 0) return a[1];
  return NULL;
}

static const ss_xml *named(const ss_xml *e, const char *name) {
  while (e && strcmp(e->name, name) != 0) e = e->next;
  return e;
}

const ss_xml *ss_xml_child(const ss_xml *e, const char *name) { return named(e->first, name); }
const ss_xml *ss_xml_next(const ss_xml *e, const char *name) { return named(e->next, name); }
