/* Ctrl-C ends a run in good order: the loop stops after the problem that is being solved, the step
 * does not count, results are saved, the exit code is 128 + signal. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

void interrupt_catch(void); /* SIGINT, SIGTERM, SIGHUP; a second one kills as usual */
int interrupt_signal(void); /* 0: none */

#endif
