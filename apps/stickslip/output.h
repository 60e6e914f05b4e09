/* Files that the commands write: they appear under their names only when they are finished, and never take the place of a
 * file that the command reads. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct output_file output_file;

/* path NULL or "-": standard output. NULL: reported. */
output_file *output_open(const char *path);
FILE *output_stream(const output_file *o);
/* Closes it and gives the file its name; an exit code, failures are reported. */
int output_close(output_file *o);
/* Closes it and leaves no trace. */
void output_discard(output_file *o);

/* Whether it can be written is known before hours are spent; an exit code. NULL and "-" can. */
int output_check(const char *path);

/* Looks for what killed processes have left of this output (NULL: nothing to do): removed, or, where it is data that can be
 * read, said on standard error. */
void output_tidy(const char *path, bool data);

/* n paths each, NULL ones are skipped. An exit code: an output that is one of the inputs, or two that are the same file,
 * are reported. */
int outputs_distinct(const char *const *inputs, int n_inputs, const char *const *outputs, int n_outputs);
/* For outputs that are files and nothing else: "-", which would be one of that name, is reported as well. */
int outputs_are_files(const char *const *inputs, int n_inputs, const char *const *outputs, int n_outputs);
/* HDF5, CSV and HTML by their options -o, --csv and --html (NULL: not asked for): an exit code, a name that ends like one of the other
 * formats is reported. */
int outputs_named_well(const char *hdf5, const char *csv, const char *html);

#endif
