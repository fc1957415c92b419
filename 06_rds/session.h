/*
 * session.h - the client's socket, and the servers that it talks to
 *
 * Functions return 0, or -1 after reporting why.
 */
#ifndef SESSION_H
#define SESSION_H

#include "dgram.h"
#include "rds.h"

enum {
	SESSION_PEERS = 8
};

struct session {
	struct rds rds; /* set its patience, and fd to -1 */
	struct sockaddr_in peers[SESSION_PEERS];
	int peer_count;
	/*
	 * DGRAM_MAX bytes each: what came last, and what goes out. An RDMA
	 * operation reads from out, perhaps after we have stopped waiting for
	 * it, so that stays until the socket is closed.
	 */
	struct dgram *in, *out;
	bool told; /* a datagram that nobody asked for was reported */
	bool completed; /* our RDMA operation is: */
	int status; /* how, RDS_RDMA_* */
};

/*
 * Looks up the servers, "HOST[:PORT],...", and binds one socket to talk to all of
 * them: to the address local, or to the one on the way to the first server
 * (NULL). Either way, end with session_close().
 */
int session_open(struct session *session, const char *servers, const char *port,
		 const char *local, int transport);
void session_close(struct session *session);

/*
 * Asks the kernel of this peer's host whether it is there. Do so before you send
 * anything else: see the README on the first contact.
 */
int session_greet(struct session *session, const struct sockaddr_in *peer);

/* The same of all servers' hosts, of each once. */
int session_greet_all(struct session *session);

/*
 * Sends length bytes, and waits for room in the send buffer and for the end of
 * the peer's congestion if it must. control may be NULL.
 */
int session_send(struct session *session, const struct sockaddr_in *to,
		 const void *buf, size_t length,
		 const struct rds_control *control);

/* The moment when a step that begins now has taken too long. */
int64_t session_deadline(const struct session *session);

/*
 * Waits until the kernel has something: a datagram, which is then in
 * session->in, or other news. what is its name in error messages. The wait ends
 * at the deadline in any case.
 */
int session_wait(struct session *session, const char *what, int64_t deadline,
		 struct rds_news *news);

/* Waits until the kernel says that this peer's port may have room again. */
int session_wait_uncongested(struct session *session,
			     const struct sockaddr_in *peer, int64_t deadline);

/*
 * Waits for a datagram from this server, which must be of this type. A socket of
 * RDS has no connection, so anybody may send to our port: this ignores what others
 * send, and reports it once.
 */
int session_expect(struct session *session, const struct sockaddr_in *peer,
		   enum dgram_type type, const char *what,
		   struct rds_news *news);

/* Sends a server a datagram with this text, and waits for that answer. */
int session_ask(struct session *session, const struct sockaddr_in *peer,
		enum dgram_type type, const char *text, enum dgram_type answer,
		const char *what, struct rds_news *news);

/* Says goodbye to each server, and waits until it has answered. */
int session_bye(struct session *session);

#endif
