/* Documents: HTML files to be read or printed, which load nothing. */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include "output.h"

/* Creates the file and starts the document; NULL: reported. */
output_file *document_open(const char *path, const char *title, const char *subject);
/* Ends and closes it; an exit code, failures are reported. */
int document_close(output_file *o);

void document_text(FILE *f, const char *text);                     /* escaped; NULL is empty */
void document_element(FILE *f, const char *tag, const char *text); /* <tag>text</tag> */
void document_number(FILE *f, double value); /* a cell of a table; a dash where it is not finite */

#endif
