/*
 * dgram.c - what is in our datagrams
 */
#include "dgram.h"

#include <arpa/inet.h>
#include <string.h>

#include "log.h"

_Static_assert(sizeof(struct dgram) == 12, "no gaps on the wire");

static const uint8_t magic[4] = { 'R', 'D', 'S', '6' };

void dgram_header(struct dgram *dgram, enum dgram_type type, uint32_t number)
{
	memcpy(dgram->magic, magic, sizeof(magic));
	dgram->type = htons(type);
	dgram->zero = 0;
	dgram->number = htonl(number);
}

size_t dgram_text(struct dgram *dgram, enum dgram_type type, const char *text)
{
	size_t length = strnlen(text, DGRAM_TEXT_MAX);

	dgram_header(dgram, type, 0);
	memcpy(dgram->text, text, length);
	return DGRAM_HEADER + length;
}

int dgram_check(const struct dgram *dgram, size_t length)
{
	int type;

	if (length < DGRAM_HEADER)
		return log_fail(
			"a datagram of %zu bytes: ours have %d and more; is it another program",
			length, DGRAM_HEADER);
	if (memcmp(dgram->magic, magic, sizeof(magic)))
		return log_fail(
			"a datagram that does not begin with RDS6; is it another program");
	type = ntohs(dgram->type);
	if (!type || type >= DGRAM_TYPE_END || dgram->zero)
		return log_fail(
			"a datagram of type %d: there is none; build both ends from the same source",
			type);
	/* The others may have any length, because nobody prints them. */
	if (length > DGRAM_HEADER + DGRAM_TEXT_MAX && type != DGRAM_NUMBERED &&
	    type != DGRAM_ECHO && type != DGRAM_BYE)
		return log_fail(
			"a datagram of type %d with %zu bytes of text: %d are the most; is it another program",
			type, length - DGRAM_HEADER, DGRAM_TEXT_MAX);
	return type;
}
