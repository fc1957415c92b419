/*
 * ranges.c - the options that are whole numbers
 */
#include "ranges.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "pattern.h"

/* The options that are whole numbers, their ranges, and where they go. */
static const struct range {
	char letter;
	long min, max;
	size_t offset; /* of an int or an unsigned int in struct options */
} ranges[] = {
	{ 'i', 1, 255, offsetof(struct options, port_num) },
	{ 'G', 0, 255, offsetof(struct options, gid_index) },
	{ 'm', 1, 100000, offsetof(struct options, max) },
	{ 'g', 0, 3600, offsetof(struct options, grace) },
	{ 'e', 1, 1000000, offsetof(struct options, end_after) },
	{ 'c', 1, 100000, offsetof(struct options, clients) },
	{ 'k', 1, 1000000, offsetof(struct options, cycles) },
	{ 'w', 0, OPTIONS_HOLD_MAX, offsetof(struct options, hold) },
	{ 'r', 0, 1000, offsetof(struct options, tries) },
	{ 'b', PATTERN_MIN, MSG_MAX_LENGTH, offsetof(struct options, bytes) },
};

bool ranges_number(const char *text, long min, long max, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(text, &end, 10);
	return end != text && !*end && !errno && *number >= min &&
	       *number <= max;
}

int ranges_option(struct options *options, char letter, const char *text)
{
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		const struct range *range = &ranges[i];
		long number;
		int value;

		if (range->letter != letter)
			continue;
		if (!ranges_number(text, range->min, range->max, &number)) {
			log_fail("-%c %s: give a whole number from %ld to %ld",
				 letter, text, range->min, range->max);
			return EXIT_USAGE;
		}
		value = number;
		memcpy((char *)options + range->offset, &value, sizeof(value));
		return OPTIONS_GO_ON;
	}
	return EXIT_USAGE;
}
