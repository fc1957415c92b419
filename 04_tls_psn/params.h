/*
 * params.h - what two queue pairs must know about each other
 *
 * Here, a message of fixed width behind a header.
 */
#ifndef PARAMS_H
#define PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "msg.h"

/* Raise it with every change to the exchange. */
#define PARAMS_VERSION 2

/* The bytes of a header; the body may have at most PARAMS_MAX. */
#define PARAMS_HEADER 12
#define PARAMS_MAX 256

/* The messages of the exchange: each has one length and no other. */
enum params_type {
	PARAMS_HELLO = 1,
	PARAMS_PARAMS = 2,
	PARAMS_READY = 3,
	PARAMS_BYE = 4
};

struct params {
	uint32_t qpn; /* 24 bits: who we are */
	uint32_t psn; /* 24 bits: the number of our first packet */
	union ibv_gid gid; /* where: on RoCE an IP address */
	uint16_t lid; /* where: on InfiniBand */
	enum ibv_mtu mtu; /* the most that our port can take in a packet */
	enum mode mode; /* what our program runs */
	struct remote mem; /* the memory that the peer may use */
};

/* Writes the header of a message of type; returns the length that follows. */
size_t params_header(enum params_type type, uint8_t wire[PARAMS_HEADER]);

/*
 * Checks the header of a message that must be of type, before anything of
 * what it announces is read. Returns 0, or -1 after reporting what is wrong.
 */
int params_check_header(enum params_type type,
			const uint8_t wire[PARAMS_HEADER]);

/* Writes params to wire and returns how many bytes it took. */
size_t params_encode(const struct params *params, uint8_t wire[PARAMS_MAX]);

/*
 * Reads params from the length bytes that a peer sent, and checks all of them.
 * roce: the GID must be an IP address. Returns 0 and params whose every field
 * makes sense, or -1 after reporting what does not.
 */
int params_decode(struct params *params, const uint8_t *wire, size_t length,
		  bool roce);

/* Whether every field is in its range. Returns 0, or -1 after reporting why. */
int params_check(const struct params *params, bool roce);

/* Prints params as one line of the story, after label. */
void params_print(const char *label, const struct params *params);

/* An MTU in bytes. */
int params_mtu_bytes(enum ibv_mtu mtu);

#endif
