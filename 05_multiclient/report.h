/*
 * report.h - a server's figures, when somebody asks for them
 */
#ifndef REPORT_H
#define REPORT_H

#include "figures.h"
#include "held.h"

/*
 * Makes SIGUSR1, which asks for the figures, and SIGHUP, which asks for the new
 * certificates, readable at *fd instead of fatal. Returns 0, or -1 after reporting
 * why. The caller closes *fd.
 */
int report_signal(int *fd);

/* Which of the two signals has made fd readable; 0: none. */
int report_asked(int fd);

/* How many clients have failed at any step, as now says. */
unsigned int report_failed(const struct figures *now);

/* Prints them as lines of the story. */
void report_print(struct figures *figures, const struct held *held);

#endif
