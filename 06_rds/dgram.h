/*
 * dgram.h - what is in our datagrams
 *
 * There is no length in them: a datagram arrives whole, and the kernel says how
 * long it is.
 */
#ifndef DGRAM_H
#define DGRAM_H

#include <stddef.h>
#include <stdint.h>

enum dgram_type {
	DGRAM_TEXT = 1, /* text, to be answered */
	DGRAM_ANSWER, /* text, the answer */
	DGRAM_NUMBERED, /* is counted, and not answered; 0 begins anew */
	DGRAM_TOTAL, /* asks for what was counted, or says it */
	DGRAM_ECHO, /* is sent back as it is */
	DGRAM_BORROW, /* lend me memory to write to */
	DGRAM_LENT, /* here; the key comes beside it */
	DGRAM_WRITTEN, /* it has been written to */
	DGRAM_BYE, /* that was all; answered with the same */
	DGRAM_TYPE_END
};

/* A datagram, as it goes over the wire. */
struct dgram {
	uint8_t magic[4]; /* RDS6 */
	uint16_t type; /* big-endian, like number */
	uint16_t zero;
	uint32_t number;
	char text[]; /* or anything else, up to the end of the datagram */
};

enum {
	DGRAM_HEADER = sizeof(struct dgram),
	DGRAM_TEXT_MAX = 1024, /* of what may be printed */
	DGRAM_MAX = 1 << 20 /* the most that RDS itself takes: 1 MiB */
};

/* Fills in what comes before the text. */
void dgram_header(struct dgram *dgram, enum dgram_type type, uint32_t number);

/* The same with this text, of which DGRAM_TEXT_MAX bytes fit. Returns the length. */
size_t dgram_text(struct dgram *dgram, enum dgram_type type, const char *text);

/*
 * Looks at length bytes that a peer has sent. Returns their type, or -1 after
 * reporting what is wrong with them.
 */
int dgram_check(const struct dgram *dgram, size_t length);

#endif
