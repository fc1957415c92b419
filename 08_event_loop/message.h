/*
 * message.h - what client and server send each other
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "transfer.h"

/* The most bytes that follow a request. */
#define MSG_MAX_REQUEST 4096

/* The first two are those of 02_write_read, and so is the layout of all four. */
enum msg_type {
	MSG_MR = 1, /* here is my memory: mode, addr, rkey, length */
	MSG_DONE = 2, /* I am done with your memory */
	MSG_REQUEST = 3, /* mode, length; then that many bytes follow */
	MSG_ANSWER = 4 /* addr: their checksum; length: how many they were */
};

/* A message, as it goes over the wire. What its type does not use is 0. */
struct msg {
	uint8_t magic[4]; /* RDMA */
	uint8_t version;
	uint8_t type;
	uint8_t mode; /* of a MSG_REQUEST: MODE_WRITE, or 0 */
	uint8_t reserved; /* 0 */
	uint64_t addr; /* big-endian, like all that follows */
	uint32_t rkey;
	uint32_t length; /* bytes */
};

_Static_assert(sizeof(struct msg) == 24, "no gaps in struct msg");

/* A request with its bytes, as it goes over the wire. */
struct request {
	struct msg msg;
	char data[MSG_MAX_REQUEST];
};

/* Takes addr, rkey and length as the program has them. */
struct msg msg_make(enum msg_type type, int mode, uint64_t addr, uint32_t rkey,
		    uint32_t length);

/*
 * Trusts nothing in a message that a peer has sent, with what follows in length
 * bytes. Returns 0, or -1 after reporting what makes no sense.
 */
int msg_check(const struct msg *msg, uint32_t length);

/* FNV-1a with 64 bits, of length bytes. It finds mistakes and no malice. */
uint64_t msg_checksum(const void *bytes, size_t length);

#endif
