/*
 * rds.h - an RDS socket: datagrams that are not lost, doubled or reordered
 *
 * One socket for all peers. The kernel keeps the connections. See rds(7) and
 * rds-rdma(7) of rds-tools, and <linux/rds.h>. Functions return 0, or -1 after
 * reporting why, unless it says otherwise.
 */
#ifndef RDS_H
#define RDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netinet/in.h>
/* After it: of the two definitions of in6_addr, the first one counts. */
#include <linux/rds.h>

#include "wait.h"

enum dgram_type {
	DGRAM_NONE, /* a kernel's answer: it has no header */
	DGRAM_TEXT, /* text, to be answered */
	DGRAM_ANSWER, /* text, the answer */
	DGRAM_NUMBERED, /* is counted, and not answered; 0 begins anew */
	DGRAM_TOTAL, /* asks for what was counted, or says it */
	DGRAM_ECHO, /* is sent back as it is */
	DGRAM_BORROW, /* lend me memory to write to */
	DGRAM_LENT, /* here; the key comes beside it */
	DGRAM_WRITTEN, /* it has been written to */
	DGRAM_BYE, /* that was all; answered with the same */
	DGRAM_TYPE_END
};

/* A datagram of ours. It has no length in it: the kernel says how long it is. */
struct dgram {
	uint8_t magic[4]; /* RDS6 */
	uint16_t type; /* big-endian, like number */
	uint16_t zero;
	uint32_t number;
	char text[]; /* or anything else, up to the end of the datagram */
};

enum {
	DGRAM_HEADER = sizeof(struct dgram),
	DGRAM_TEXT_MAX = 1024, /* of what may be printed */
	DGRAM_MAX = 1 << 20 /* the most that RDS itself takes: 1 MiB */
};

/* Fills it in; DGRAM_TEXT_MAX bytes of text fit. Returns the length of it all. */
size_t dgram_fill(struct dgram *dgram, enum dgram_type type, uint32_t number,
		  const char *text);

/* The type of length bytes that a peer sent; -1 after reporting what is wrong. */
int dgram_check(const struct dgram *dgram, size_t length);

/* What one call of recvmsg(2) may bring: a datagram, or news, or both. */
struct rds_news {
	bool datagram; /* it is in rds->in: */
	size_t length; /* in bytes; may be 0 */
	struct sockaddr_in from; /* who has sent it */
	rds_rdma_cookie_t key; /* of memory that it lends us; 0: none */
	uint64_t ports; /* RDS_CONG_MONITOR_MASK() of ports to try again */
};

struct rds {
	struct patience patience; /* set this, and fd to -1 */
	int fd; /* -1: none */
	struct sockaddr_in local; /* what it is bound to */
	int transport; /* RDS_TRANS_TCP or RDS_TRANS_IB, as the kernel says */
	struct dgram *in, *out; /* of DGRAM_MAX bytes each */
	struct rds_news news; /* what came last */
	int status; /* RDS_RDMA_* of our RDMA operation; -1: not completed */
	bool congested; /* a congestion was reported */
};

/*
 * Opens a socket and binds it to local, whose address must be one of this
 * machine's; if its port is 0, the kernel chooses one. transport is an index into
 * "tcp|ib"; -1 leaves it to the kernel. Either way, end with rds_close().
 */
int rds_open(struct rds *rds, const struct sockaddr_in *local, int transport);
void rds_close(struct rds *rds);

/* The name of a transport: "tcp", "ib" or another. */
const char *rds_transport_name(int transport);

/* Sets an option of SOL_RDS, which has that name. */
int rds_set(struct rds *rds, int option, const char *name, const void *value,
	    socklen_t size);

/* What goes beside a datagram: the type, data and size of cmsg(3). */
struct rds_control {
	int type; /* RDS_CMSG_* */
	const void *data;
	size_t size; /* at most RDS_CONTROL_MAX */
};
#define RDS_CONTROL_MAX sizeof(struct rds_rdma_args)

/*
 * Hands length bytes to the kernel, with a control message (NULL: none). Never
 * waits. Returns 0, or -1 with errno: EAGAIN, ENOBUFS or what explain_send() can
 * explain.
 */
int rds_try(struct rds *rds, const struct sockaddr_in *to, const void *buf,
	    size_t length, const struct rds_control *control);

/*
 * Takes the next datagram, and other news from the kernel. Never waits: if
 * nothing has come, no member of rds->news is set. That is also so after a
 * datagram of more than DGRAM_MAX bytes, which this reports and ignores.
 */
int rds_take(struct rds *rds);

/* The moment when a step that begins now has taken too long. */
int64_t rds_deadline(const struct rds *rds);

/* Waits, and takes what comes. what is its name in error messages. */
int rds_wait(struct rds *rds, const char *what, int64_t deadline);

/* Sends, and waits for room in our buffer, and in the peer's port, if it must. */
int rds_send(struct rds *rds, const struct sockaddr_in *to, const void *buf,
	     size_t length, const struct rds_control *control);

/* Waits for a datagram from this peer, which must be of this type. */
int rds_expect(struct rds *rds, const struct sockaddr_in *peer,
	       enum dgram_type type, const char *what);

/* Sends a peer a datagram with this text, and waits for that answer. */
int rds_ask(struct rds *rds, const struct sockaddr_in *peer,
	    enum dgram_type type, const char *text, enum dgram_type answer,
	    const char *what);

/* Asks the kernel of a peer's host whether it is there: do so before all else. */
int rds_greet(struct rds *rds, const struct sockaddr_in *peer);

#endif
