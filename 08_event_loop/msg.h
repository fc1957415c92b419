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
#define MSG_VERSION 1

/* The bytes of one message on the wire, without those that follow a request. */
#define MSG_SIZE 24

/* The most bytes that follow a request. */
#define MSG_MAX_REQUEST 4096

/* The most bytes of memory that a message may describe. */
#define MSG_MAX_LENGTH (64 << 20)

enum msg_type {
	MSG_MR = 1, /* here is my memory: mode, addr, rkey, length */
	MSG_DONE = 2, /* I am done with your memory */
	MSG_REQUEST = 3, /* mode, length; then that many bytes follow */
	MSG_ANSWER = 4 /* checksum of these bytes; length: how many they were */
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
	enum mode mode; /* MSG_MR; MSG_REQUEST: write, or 0; otherwise 0 */
	struct remote mem; /* what the type says; otherwise 0 */
	uint64_t checksum; /* MSG_ANSWER; otherwise 0 */
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
