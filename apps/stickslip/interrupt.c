#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

/* The only state a signal handler may touch. */
static volatile sig_atomic_t caught;

static void on_signal(int number) { caught = number; }

void interrupt_catch(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND | SA_RESTART};
  (void)sigemptyset(&action.sa_mask);
  (void)sigaction(SIGINT, &action, NULL);
  (void)sigaction(SIGTERM, &action, NULL);
  struct sigaction hangup;
  if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) /* nohup */
    (void)sigaction(SIGHUP, &action, NULL);
}

int interrupt_signal(void) { return caught; }
