/*
 * dgram.c - what is in our datagrams
 */
#include "dgram.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "log.h"

#define MAGIC 0x52445336 /* "RDS6" */

struct wire {
	uint32_t magic;
	uint16_t type;
	uint16_t zero;
	uint32_t number;
};
static_assert(sizeof(struct wire) == DGRAM_HEADER, "no gaps on the wire");

void dgram_header(char *buf, enum dgram_type type, uint32_t number)
{
	struct wire wire = {
		.magic = htonl(MAGIC),
		.type = htons(type),
		.number = htonl(number),
	};

	/* A buffer of char need not be aligned: do not cast it. */
	memcpy(buf, &wire, sizeof(wire));
}

size_t dgram_encode(char *buf, const struct dgram *dgram)
{
	size_t length = dgram->length;

	if (length > DGRAM_TEXT_MAX)
		length = DGRAM_TEXT_MAX;
	dgram_header(buf, dgram->type, dgram->number);
	if (length)
		memcpy(buf + DGRAM_HEADER, dgram->text, length);
	return DGRAM_HEADER + length;
}

/* These may have any length, because nobody prints their contents. */
static bool may_be_long(enum dgram_type type)
{
	return type == DGRAM_NUMBERED || type == DGRAM_ECHO ||
	       type == DGRAM_BYE;
}

int dgram_decode(struct dgram *dgram, const char *buf, size_t length)
{
	struct wire wire;

	if (length < DGRAM_HEADER)
		return log_fail(
			"a datagram of %zu bytes: ours have %d and more; is it another program",
			length, DGRAM_HEADER);
	memcpy(&wire, buf, sizeof(wire));
	*dgram = (struct dgram){
		.type = ntohs(wire.type),
		.number = ntohl(wire.number),
		.text = buf + DGRAM_HEADER,
		.length = length - DGRAM_HEADER,
	};
	if (ntohl(wire.magic) != MAGIC)
		return log_fail(
			"a datagram that does not begin with RDS6; is it another program");
	if (!dgram->type || dgram->type >= DGRAM_TYPE_END || wire.zero)
		return log_fail(
			"a datagram of type %u: there is none; build both ends from the same source",
			dgram->type);
	if (dgram->length > DGRAM_TEXT_MAX && !may_be_long(dgram->type))
		return log_fail(
			"a datagram of type %u with %zu bytes of text: %d are the most; is it another program",
			dgram->type, dgram->length, DGRAM_TEXT_MAX);
	return 0;
}
