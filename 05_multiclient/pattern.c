/*
 * pattern.c - what the memory of client N holds, so that both ends can check
 *
 * Born in 05_multiclient.
 */
#include "pattern.h"

#include <stdio.h>
#include <string.h>

#include "log.h"

/* The text comes first, and ends with a zero; the letters follow. */
#define TEXT_SIZE 64

static char letter(enum role role, unsigned int number)
{
	return (role == ROLE_SERVER ? 'a' : 'A') + (number - 1) % 26;
}

static void write_text(char text[TEXT_SIZE], enum role role,
		       unsigned int number)
{
	memset(text, 0, TEXT_SIZE);
	if (role == ROLE_SERVER)
		snprintf(text, TEXT_SIZE,
			 "message from passive/server side to client %u",
			 number);
	else
		snprintf(text, TEXT_SIZE,
			 "message from active/client side, client %u", number);
}

/* The byte at i of what role writes. */
static char expected(const char text[TEXT_SIZE], size_t i, char filler)
{
	return i < TEXT_SIZE ? text[i] : filler;
}

void pattern_fill(char *buf, size_t size, enum role role, unsigned int number)
{
	char text[TEXT_SIZE];

	write_text(text, role, number);
	for (size_t i = 0; i < size; i++)
		buf[i] = expected(text, i, letter(role, number));
}

int pattern_check(const char *buf, size_t size, enum role role,
		  unsigned int number)
{
	char text[TEXT_SIZE], filler = letter(role, number);

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
