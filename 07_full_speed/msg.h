/*
 * msg.h - the messages that go over the wire, and how they are checked
 *
 * Everything in a message has a fixed width and is big-endian, so that two
 * machines agree on it whatever they are.
 */
#ifndef MSG_H
#define MSG_H

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
	MSG_BENCH = 3, /* lend me length bytes for a benchmark */
	MSG_FILES = 4 /* take my files: mode, length of a part, depth */
};

/* How files go across; or that it is a benchmark. */
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

#endif
