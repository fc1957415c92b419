/*
 * ranges.h - the options that are whole numbers
 */
#ifndef RANGES_H
#define RANGES_H

#include <stdbool.h>

#include "options.h"

/* Whether text is a whole number from min to max; if so, it is *number. */
bool ranges_number(const char *text, long min, long max, long *number);

/*
 * Puts text, the value of the option with this letter, where it belongs in
 * options. Returns OPTIONS_GO_ON, or EXIT_USAGE having said why not.
 */
int ranges_option(struct options *options, char letter, const char *text);

#endif
