/*
 * params.h - what two queue pairs, and their programs, must know about each other
 */
#ifndef PARAMS_H
#define PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "line.h"

/* What a side does with the other's memory, in the order of the words for it. */
enum mode {
	MODE_WRITE = 1,
	MODE_READ = 2
};

/* Memory of the peer, as the peer has described it. */
struct remote {
	uint64_t addr;
	uint32_t rkey;
	uint32_t length; /* bytes */
};

/* The most bytes of memory that a peer may have, or we. */
#define PARAMS_MAX_LENGTH (64 << 20)

struct params {
	uint32_t qpn; /* 24 bits: who we are */
	uint32_t psn; /* 24 bits: the number of our first packet */
	union ibv_gid gid; /* where: on RoCE an IP address */
	uint16_t lid; /* where: on InfiniBand */
	enum ibv_mtu mtu; /* the most that our port can take in a packet */
	enum mode mode; /* what our program runs */
	struct remote mem; /* the memory that the peer may use */
};

/* Prints params as one line of the story, after label. */
void params_print(const char *label, const struct params *params);

/* Writes params as a line, and returns its length. */
size_t params_encode(const struct params *params, char line[LINE_LONGEST]);

/*
 * Reads such a line of a peer. roce: its GID must be an IP address. Returns 0; or -1
 * after reporting what has not our form, or is out of range.
 */
int params_decode(struct params *params, const char *line, bool roce);

/* An MTU in bytes. */
int params_mtu_bytes(enum ibv_mtu mtu);

#endif
