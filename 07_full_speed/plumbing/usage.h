/*
 * usage.h - what -h prints
 */
#ifndef USAGE_H
#define USAGE_H

#include "options.h"

/* One text for each enum role. */
extern const char *const usage[];

#endif
