/*
 * dgram.h - what is in our datagrams
 *
 * A header of 12 bytes, big-endian, then text or anything. There is no length:
 * a datagram arrives whole, and the kernel says how long it is.
 *
 *     magic 4 | type 2 | zero 2 | number 4 | payload ...
 */
#ifndef DGRAM_H
#define DGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
	DGRAM_HEADER = 12,
	DGRAM_TEXT_MAX = 1024, /* of what may be printed */
	DGRAM_MAX = 1 << 20 /* the most that RDS itself takes: 1 MiB */
};

enum dgram_type {
	DGRAM_TEXT = 1, /* text, to be answered */
	DGRAM_ANSWER, /* text, the answer */
	DGRAM_NUMBERED, /* is counted, and not answered; 0 begins anew */
	DGRAM_TOTAL, /* asks for what was counted, or says it */
	DGRAM_ECHO, /* is sent back as it is */
	DGRAM_READ_ON, /* to a server that waits: read your port again */
	DGRAM_BORROW, /* lend me memory to write to */
	DGRAM_LENT, /* here; the key comes beside it */
	DGRAM_WRITTEN, /* it has been written to */
	DGRAM_BYE, /* that was all; answered with the same */
	DGRAM_TYPE_END
};

struct dgram {
	enum dgram_type type;
	uint32_t number;
	const char *text; /* points into the buffer that was decoded */
	size_t length; /* of text, in bytes */
};

/* Writes the header of a datagram into buf, which has DGRAM_HEADER bytes. */
void dgram_header(char *buf, enum dgram_type type, uint32_t number);

/*
 * Writes a datagram with text into buf, which has DGRAM_HEADER and
 * DGRAM_TEXT_MAX bytes; cuts text that is too long. Returns its length.
 */
size_t dgram_encode(char *buf, const struct dgram *dgram);

/*
 * Reads length bytes that a peer sent. Returns 0, or -1 after reporting what is
 * wrong with them.
 */
int dgram_decode(struct dgram *dgram, const char *buf, size_t length);

#endif
