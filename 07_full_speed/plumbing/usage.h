/*
 * usage.h - what -h prints
 *
 * Born in 01_send_recv.
 */
#ifndef USAGE_H
#define USAGE_H

#include "options.h"

/* One text for each enum role. */
extern const char *const usage[];

#endif
