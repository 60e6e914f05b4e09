/* What the subcommands share: exit codes, option tables, messages. Data goes to stdout, messages go to stderr. */
#ifndef CLI_H
#define CLI_H

#include <stickslip/stickslip.h>

/* The contract's exit codes: done; no certified step was possible; bad input or usage; stopped by a signal (the shell's
 * own convention, 128 + signal). */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SIGNAL = 128 };

typedef struct command {
  const char *name;
  const char *summary;
  int (*run)(int argc, char **argv); /* argv[0] is the command's name */
} command;

const command *command_table(void); /* main.c: all of them, ended by a row without a name */

/* ---- options.c ---- */

typedef enum option_kind {
  OPTION_FLAG,   /* bool * */
  OPTION_TEXT,   /* const char ** */
  OPTION_NUMBER, /* double *: a constant expression such as 2^-5 */
  OPTION_COUNT,  /* long *: a whole number, at least 0 */
  OPTION_LIST,   /* text_list *: may be given several times */
  OPTION_REFUSED /* part of the contract, not of this version: named in the message, never ignored */
} option_kind;

typedef struct text_list {
  const char **items;
  int n;
} text_list;

typedef struct option {
  const char *name; /* without the dashes; "o" is written -o. NULL ends a table */
  option_kind kind;
  void *target;
  const char *argument; /* what the usage calls the value */
  const char *summary;
} option;

/* One subcommand's command line, as a table: the parser and --help read the same rows. */
typedef struct usage {
  const char *command;
  const char *positional; /* e.g. "SCENE" */
  int min_positionals, max_positionals;
  const char *description;
  const option *options;
  const char *examples;
} usage;

enum { PARSE_GO_ON = -1 };

/* Fills in the targets and the positionals (max_positionals entries). Returns PARSE_GO_ON, or the exit code to end
 * with: after --help, or after a usage error that has been reported. Lists point into argv; free their items
 * afterwards. */
int parse_options(const usage *usage, int argc, char **argv, const char **positionals);

/* Shows a command's own table, which only its entry point knows, without running it. */
typedef void usage_visitor(const usage *usage, void *user);
void visit_usage(const command *command, usage_visitor *visit, void *user);

bool option_takes_value(const option *option);
const char *option_dashes(const option *option); /* "-" or "--" */

/* ---- messages.c ---- */

/* "file:line:column: message" where there is a place, "stickslip: message" elsewhere. Returns the exit code. */
int report_error(const ss_error *error);
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
int usage_error(const char *format, ...); /* EXIT_USAGE */

/* The name nearest to `word` in a table of `stride`-sized rows that start with a name and end with NULL; NULL if none
 * is near enough to be what was meant. */
const char *nearest_name(const char *word, const void *table, size_t stride);

double wall_clock(void); /* seconds, monotonic */

#endif
