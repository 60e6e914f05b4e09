/* The entry points of the subcommands, one per file. */
#ifndef COMMANDS_H
#define COMMANDS_H

int command_run(int argc, char **argv);
int command_converge(int argc, char **argv);
int command_check(int argc, char **argv);
int command_solve(int argc, char **argv);
int command_view(int argc, char **argv);
int command_plot(int argc, char **argv);
int command_report(int argc, char **argv);
int command_bvp(int argc, char **argv);
int command_sweep(int argc, char **argv);
int command_import(int argc, char **argv);
int command_export(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_list(int argc, char **argv);
int command_completion(int argc, char **argv);
int command_man(int argc, char **argv);

#endif
