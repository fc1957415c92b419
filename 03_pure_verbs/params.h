/*
 * params.h - what two queue pairs must know about each other
 *
 * Here, a line of text.
 */
#ifndef PARAMS_H
#define PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "msg.h"

/* Raise it with every change to the exchange. */
#define PARAMS_VERSION 1

/* The most bytes that the parameters may take on the wire. */
#define PARAMS_MAX 256

struct params {
	uint32_t qpn; /* 24 bits: who we are */
	uint32_t psn; /* 24 bits: the number of our first packet */
	union ibv_gid gid; /* where: on RoCE an IP address */
	uint16_t lid; /* where: on InfiniBand */
	enum ibv_mtu mtu; /* the most that our port can take in a packet */
	enum mode mode; /* what our program runs */
	struct remote mem; /* the memory that the peer may use */
};

/* Writes params to wire and returns how many bytes it took. */
size_t params_encode(const struct params *params, char wire[PARAMS_MAX]);

/*
 * Reads params from the length bytes that a peer sent, and checks all of them.
 * roce: the GID must be an IP address. Returns 0 and params whose every field
 * makes sense, or -1 after reporting what does not.
 */
int params_decode(struct params *params, const char *wire, size_t length,
		  bool roce);

/* Whether every field is in its range. Returns 0, or -1 after reporting why. */
int params_check(const struct params *params, bool roce);

/* Prints params as one line of the story, after label. */
void params_print(const char *label, const struct params *params);

/* An MTU in bytes. */
int params_mtu_bytes(enum ibv_mtu mtu);

#endif
