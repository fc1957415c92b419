/*
 * refusal.h - why a file is not taken
 */
#ifndef REFUSAL_H
#define REFUSAL_H

#include <stdint.h>

enum refusal {
	REFUSAL_NONE = 0,
	REFUSAL_NAME,
	REFUSAL_NO_DIRECTORY,
	REFUSAL_NOT_WRITTEN, /* the disk, or somebody who works with the same part */
	REFUSAL_WRONG_DATA,
	REFUSAL_THERE,
	REFUSAL_NO_ROOM,
	REFUSAL_COUNT
};

/* Why, in words that say what to do; number is a peer's word. */
const char *refusal_words(uint64_t number);

#endif
