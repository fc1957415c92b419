/*
 * message.h - what goes over the wire, and how it is checked
 *
 * First come messages of one size, by which the two sides agree on how files go
 * across: see hello.h. Then each message begins with a header:
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
 *
 * Everything has a fixed width and is big-endian, so that two machines agree on it
 * whatever they are.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/* Raise it with every change to what follows. */
#define MSG_VERSION 3

/* The bytes of one message on the wire; all types have the same size. */
#define MSG_SIZE 24

/* The most bytes of memory that a message may describe. */
#define MSG_MAX_LENGTH (64 << 20)

enum msg_type {
	MSG_MR = 1, /* here is my memory: mode, addr, rkey, length */
	MSG_DONE = 2, /* I am done with your memory */
	MSG_BENCH = 3, /* in bench/: lend me length bytes */
	MSG_FILES = 4 /* take my files: mode, length of a part, depth */
};

/* How files go across; or that it is bench/. */
enum mode {
	MODE_WRITE = 1,
	MODE_READ = 2,
	MODE_BENCH = 3,
	MODE_SEND = 4
};

/* Memory of the peer, as the peer described it. */
struct remote {
	uint64_t addr;
	uint32_t rkey;
	uint32_t length; /* bytes */
};

/* A message as the program sees it: host byte order. */
struct msg {
	enum msg_type type;
	enum mode mode; /* MSG_MR, MSG_FILES; otherwise 0 */
	struct remote mem; /* MSG_MR; the others: see above; or 0 */
	uint32_t depth; /* MSG_FILES: parts at a time; on the wire, in rkey */
};

/* The word for mode on the command line. */
const char *msg_mode_name(enum mode mode);

/* Writes msg as MSG_SIZE bytes to wire. */
void msg_encode(const struct msg *msg, void *wire);

/* Checks that the peer's memory can be what it says. Returns 0, or -1. */
int msg_check_memory(const struct remote *mem);

/*
 * Reads a message from length bytes that a peer sent, and checks all of them.
 * Returns 0 and a message that makes sense, or -1 after reporting what does
 * not.
 */
int msg_decode(struct msg *msg, const void *wire, size_t length);

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
