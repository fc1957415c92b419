/*
 * message.h - what goes over the wire, and how it is checked
 *
 *     sender                            receiver
 *     HELLO (name, sizes) -->           (registers memory, posts receives)
 *                         <--           WELCOME (where to write, what it has already)
 *     data, by SEND, WRITE or READ      as long as there are credits
 *                         <--           CREDIT (more of them)
 *     END (SHA-256)       -->
 *                         <--           STORED
 *
 * REFUSED may take the place of WELCOME and of STORED.
 * Each message begins with a header, which has a fixed size and is big-endian, so
 * that two machines agree on it whatever they are. Only data that is written has none.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/* Raise it with every change to what follows. */
#define MESSAGE_VERSION 4

/* The bytes of a header on the wire, and of the longest text after one. */
#define HEAD_SIZE 40
#define HEAD_TEXT 256

/* The most bytes of memory that one side may ask the other for. */
#define MEMORY_MAX (64 << 20)

enum head_type {
	HEAD_HELLO = 1, /* a file: number is its size; the text its name */
	HEAD_WELCOME, /* number: bytes that are there; the text their SHA-256 */
	HEAD_REFUSED, /* number: enum refusal */
	HEAD_DATA, /* length bytes of it follow */
	HEAD_HERE, /* length bytes of it are at addr, to be read */
	HEAD_END, /* that was all; the text is its SHA-256; none: forget it */
	HEAD_STORED, /* it has arrived whole, and has its name */
	HEAD_CREDIT /* nothing but credits */
};

/* How files go across; or that it is bench/. */
enum mode {
	MODE_SEND = 1,
	MODE_WRITE,
	MODE_READ,
	MODE_BENCH
};

/* A header as the program sees it: host byte order. */
struct head {
	enum head_type type;
	unsigned int credits; /* receives that were posted, or posted again */
	uint32_t done; /* parts taken since the beginning, the low 32 bits */
	uint32_t length; /* bytes that follow, or that are there to be read */
	uint64_t number; /* see above */
	union { /* one field on the wire */
		uint64_t addr; /* WELCOME, HERE: where they are */
		uint64_t version; /* HELLO: of the file */
	};
	union {
		uint32_t rkey; /* WELCOME, HERE: of the memory there */
		uint32_t bytes; /* HELLO: of a part */
	};
	union { /* in all others, 0 */
		enum mode mode; /* HELLO */
		uint32_t depth; /* WELCOME: parts at a time */
	};
};

/* The word for mode on the command line. */
const char *mode_name(enum mode mode);

/* Writes head as HEAD_SIZE bytes to wire. */
void head_encode(const struct head *head, void *wire);

/*
 * Reads the header of a message of size bytes, and trusts none of it: returns
 * 0, or -1 after reporting what is wrong.
 */
int head_decode(struct head *head, const void *wire, size_t size);

#endif
