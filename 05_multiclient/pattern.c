/*
 * pattern.c - what the memory of client N holds, so that both ends can check
 */
#include "pattern.h"

#include <stdio.h>
#include <string.h>

#include "log.h"

static char letter(enum role role, unsigned int number)
{
	return (role == ROLE_SERVER ? 'a' : 'A') + (number - 1) % 26;
}

static void write_text(char text[PATTERN_MIN], enum role role,
		       unsigned int number)
{
	memset(text, 0, PATTERN_MIN);
	if (role == ROLE_SERVER)
		snprintf(text, PATTERN_MIN,
			 "message from passive/server side to client %u",
			 number);
	else
		snprintf(text, PATTERN_MIN,
			 "message from active/client side, client %u", number);
}

/* The byte at i of what role writes. */
static char expected(const char text[PATTERN_MIN], size_t i, char filler)
{
	return i < PATTERN_MIN ? text[i] : filler;
}

void pattern_fill(char *buf, size_t size, enum role role, unsigned int number)
{
	char text[PATTERN_MIN];

	write_text(text, role, number);
	for (size_t i = 0; i < size; i++)
		buf[i] = expected(text, i, letter(role, number));
}

int pattern_check(const char *buf, size_t size, enum role role,
		  unsigned int number)
{
	char text[PATTERN_MIN], filler = letter(role, number);

	write_text(text, role, number);
	for (size_t i = 0; i < size; i++)
		if (buf[i] != expected(text, i, filler))
			return log_fail(
				"byte %zu of the memory is 0x%02x and "
				"should be 0x%02x: these bytes are "
				"another client's, or nobody's"
				" [docs/troubleshooting.md#wrong-bytes]",
				i, (unsigned char)buf[i],
				(unsigned char)expected(text, i, filler));
	log_line("all %zu bytes are right, letter %c.", size, filler);
	return 0;
}
