/* The command line. One subcommand per file; this table is all that connects them. */
#include "cli.h"
#include "commands.h"
#include "ranks.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const command commands[] = {
    {"run", "simulate a scene, certify every step, record the motion", command_run},
    {"converge", "errors and observed order over a range of step sizes and schemes", command_converge},
    {"sweep", "parameter studies: one scene, many runs, a table of what was observed", command_sweep},
    {"check", "validate a scene: degrees of freedom, redundant constraints, consistency at t = 0", command_check},
    {"solve", "complementarity problems from files: solve, judge, compare solvers, find all solutions", command_solve},
    {"view", "write a page that shows a scene or a result, to be opened in a browser", command_view},
    {"plot", "draw curves of results and of convergence studies as SVG or PNG", command_plot},
    {"report", "write a document about a result: picture, plots, events, certificate", command_report},
    {"bvp", "initial velocities for which the motion meets conditions at its end", command_bvp},
    {"import", "turn a robot (URDF, MJCF) into a scene", command_import},
    {"export", "turn a result file into another format", command_export},
    {"list", "what there is to choose from: schemes, solvers, joints, forces, shapes, laws", command_list},
    {"bench", "steps per second on this machine, and where the time goes", command_bench},
    {"completion", "print the completion of command lines for a shell", command_completion},
    {"man", "print the manual page", command_man},
    {NULL, NULL, NULL},
};

const command *command_table(void) { return commands; }

static void print_overview(FILE *stream) {
  (void)fprintf(stream, "usage: stickslip COMMAND ...\n\n"
                        "Simulates rigid mechanisms with contact, friction, impacts and joints.\n\n");
  for (const command *c = commands; c->name; c++) (void)fprintf(stream, "  %-11s %s\n", c->name, c->summary);
  (void)fprintf(stream, "\n  stickslip COMMAND --help explains a command; stickslip --version prints the version.\n"
                        "  Exit code: 0 done, 1 the run failed (no certified step possible), 2 bad input or usage.\n");
}

static int unknown_command(const char *name) {
  const char *near = nearest_name(name, commands, sizeof(command));
  if (near) return usage_error("unknown command '%s'; did you mean '%s'?", name, near);
  return usage_error("unknown command '%s'; see stickslip --help", name);
}

/* `help` alone is the overview, `help run` is `run --help`. */
static int print_help(const char *name) {
  if (!name) {
    print_overview(stdout);
    return EXIT_DONE;
  }
  char first[16], second[] = "--help";
  (void)snprintf(first, sizeof first, "%s", name);
  char *arguments[] = {first, second, NULL};
  for (const command *c = commands; c->name; c++)
    if (strcmp(c->name, name) == 0) return c->run(2, arguments);
  return unknown_command(name);
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    print_overview(stderr);
    return EXIT_USAGE;
  }
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return print_help(NULL);
  if (strcmp(name, "help") == 0) return print_help(argc > 2 ? argv[2] : NULL);
  if (strcmp(name, "--version") == 0) {
    const char *mpi = ranks_library();
    (void)printf("stickslip %s%s%s%s\n", SS_VERSION, mpi ? " (" : ", built without MPI", mpi ? mpi : "",
                 mpi ? ")" : "");
    return EXIT_DONE;
  }
  for (const command *c = commands; c->name; c++)
    if (strcmp(c->name, name) == 0) return c->run(argc - 1, argv + 1);
  return unknown_command(name);
}

int main(int argc, char **argv) {
  (void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow further is an error with a message */
  const int code = dispatch(argc, argv);
  if ((fflush(stdout) || ferror(stdout)) && code == EXIT_DONE) return usage_error("cannot write to standard output");
  return code;
}
