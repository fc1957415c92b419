/*
 * head.h - the header of each message in a stream of files, and how it is checked
 *
 *     sender                            receiver
 *     BEGIN (name, size)  -->
 *                         <--           READY (how much it has already)
 *     data, by SEND, WRITE or READ      as long as there are credits
 *                         <--           CREDIT (more of them)
 *     END (SHA-256)       -->
 *                         <--           STORED
 *
 * REFUSED may take the place of READY and of STORED, and come in between.
 */
#ifndef HEAD_H
#define HEAD_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of a header on the wire, and of the longest text after one. */
#define HEAD_SIZE 40
#define HEAD_TEXT 256

enum head_type {
	HEAD_BEGIN = 1, /* a file: number is its size; the text its name */
	HEAD_READY, /* number: bytes that are there; the text their SHA-256 */
	HEAD_REFUSED, /* number: enum refusal */
	HEAD_DATA, /* length bytes of it follow */
	HEAD_HERE, /* length bytes of it are at addr, to be read */
	HEAD_END, /* that was all; the text is its SHA-256 */
	HEAD_STORED, /* it has arrived whole, and has its name */
	HEAD_GIVE_UP, /* forget it, and say READY for the next one */
	HEAD_CREDIT, /* nothing but credits */
	HEAD_BYE /* there are no more files */
};

/* Why a file is refused. */
enum refusal {
	REFUSAL_NAME = 1,
	REFUSAL_NO_DIRECTORY,
	REFUSAL_NOT_WRITTEN,
	REFUSAL_WRONG_DATA,
	REFUSAL_THERE,
	REFUSAL_NO_ROOM,
	REFUSAL_COUNT
};

/* A header as the program sees it: host byte order. */
struct head {
	enum head_type type;
	unsigned int credits; /* receives that were posted again */
	uint32_t done; /* parts taken since the beginning, the low 32 bits */
	uint32_t length; /* bytes that follow, or that are there to be read */
	uint64_t number; /* see above */
	union { /* one field on the wire */
		uint64_t addr; /* HERE: where they are */
		uint64_t version; /* BEGIN: of the file */
	};
	uint32_t rkey; /* HERE */
};

/* Why, in words that say what to do. */
const char *head_refusal(uint64_t number);

/* Writes head as HEAD_SIZE bytes to wire. */
void head_encode(const struct head *head, void *wire);

/*
 * Reads the header of a message of size bytes, and trusts none of it: returns
 * 0, or -1 after reporting what is wrong.
 */
int head_decode(struct head *head, const void *wire, size_t size);

#endif
