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

/* The bytes of a message on the wire. */
#define MSG_SIZE 8

/* The most bytes of memory that a message may describe. */
#define MSG_MAX_LENGTH (64 << 20)

enum msg_type {
	MSG_DONE = 2 /* I am done with your memory */
};

/* What a side does with the other's memory. */
enum mode {
	MODE_WRITE = 1,
	MODE_READ = 2
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
};

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
