/* The wall clock. */
#ifndef SS_CORE_CLOCK_H
#define SS_CORE_CLOCK_H

double ss_seconds(void);

#endif
