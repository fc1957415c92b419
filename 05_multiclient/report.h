/*
 * report.h - a server's figures, when somebody asks for them
 */
#ifndef REPORT_H
#define REPORT_H

#include "figures.h"
#include "held.h"

/*
 * Makes SIGUSR1, which asks for the figures, readable at *fd instead of fatal.
 * Returns 0, or -1 after reporting why. The caller closes *fd.
 */
int report_signal(int *fd);

/* If SIGUSR1 has made fd readable, prints the figures. */
void report_if_asked(int fd, struct figures *figures, const struct held *held);

/* How many clients of now have failed, at any step. */
unsigned int report_failed(const struct figures *now);

/* Prints them as lines of the story. */
void report_print(struct figures *figures, const struct held *held);

#endif
