/* stickslip man: the manual page in roff, from the tables that the parser reads. */
#include "commands.h"
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* Backslashes and dashes have a meaning in roff, and so have full stops and quotes at the start of a line. */
static void put_roff(const char *text) {
  bool line_start = true;
  for (; *text; text++) {
    if (line_start && (*text == '.' || *text == '\'')) (void)fputs("\\&", stdout);
    line_start = *text == '\n';
    if (*text == '\\')
      (void)fputs("\\e", stdout);
    else if (*text == '-')
      (void)fputs("\\-", stdout);
    else
      (void)putchar(*text);
  }
}

static void put_option(const option *o) {
  (void)printf(".TP\n.B ");
  put_roff(option_dashes(o));
  put_roff(o->name);
  if (option_takes_value(o)) {
    (void)printf(" \\fI");
    put_roff(o->argument);
    (void)printf("\\fR");
  }
  (void)printf("\n%s", o->kind == OPTION_REFUSED ? "(not in this version) " : "");
  put_roff(o->summary);
  (void)putchar('\n');
}

static void put_command(const usage *u, void *user) {
  (void)user;
  (void)printf(".SS \"stickslip %s \\fI", u->command);
  put_roff(u->positional);
  (void)printf("\\fR%s\"\n", u->options[0].name ? " [OPTIONS]" : "");
  put_roff(u->description);
  (void)putchar('\n');
  for (const option *o = u->options; o->name; o++) put_option(o);
  if (!u->examples) return;
  (void)printf(".PP\n.nf\n");
  put_roff(u->examples);
  (void)printf(".fi\n");
}

int command_man(int argc, char **argv) {
  const option options[] = {{0}};
  const usage command_line = {"man",
                              "",
                              0,
                              0,
                              "Prints this manual as a page for man(1). `cmake --install` installs it.",
                              options,
                              "  stickslip man > stickslip.1 && man ./stickslip.1\n"};
  const int parsed = parse_options(&command_line, argc, argv, NULL);
  if (parsed != PARSE_GO_ON) return parsed;
  (void)printf(".TH STICKSLIP 1 \"\" \"stickslip %s\" \"User Commands\"\n"
               ".SH NAME\nstickslip \\- simulate rigid mechanisms with contact, friction, impacts and joints\n"
               ".SH SYNOPSIS\n.B stickslip\n.I COMMAND\n.RI [ OPTIONS ]\n"
               ".SH DESCRIPTION\n"
               "Simulates scenes (YAML files) by complementarity time\\-stepping, certifies every step, and shows,\n"
               "plots and compares the results.\n.SH COMMANDS\n",
               SS_VERSION);
  for (const command *c = command_table(); c->name; c++) visit_usage(c, put_command, NULL);
  (void)printf(".SH \"EXIT STATUS\"\n.TP\n.B 0\ndone\n.TP\n.B 1\nthe run failed: no certified step was possible\n"
               ".TP\n.B 2\nbad input or usage\n.TP\n.B 128+N\nstopped by signal N\n");
  return EXIT_DONE;
}
