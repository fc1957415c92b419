/*
 * pattern.h - what the memory of client N holds, so that both ends can check
 *
 * A letter for each client: 'A' for client 1, 'B' for client 2, after 'Z' from
 * 'A' again; what the server writes is in lower case. So bytes that got to the
 * wrong client, or were never written, show.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stddef.h>

#include "options.h"

/* The least memory: the text with its zeros; the letters follow. */
#define PATTERN_MIN 64

/* Fills size bytes with what role writes for or as client number. */
void pattern_fill(char *buf, size_t size, enum role role, unsigned int number);

/*
 * Checks that the other side, which is role, has written all size bytes as
 * pattern_fill() does. Says so and returns 0, or -1 having said which byte is
 * wrong.
 */
int pattern_check(const char *buf, size_t size, enum role role,
		  unsigned int number);

#endif
