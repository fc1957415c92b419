/*
 * session.h - the client's socket, and the servers that it talks to
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>

#include "dgram.h"
#include "options.h"
#include "rds.h"
#include "wait.h"

struct session {
	struct rds rds;
	struct sockaddr_in peers[OPTIONS_MAX_PEERS];
	int peer_count;
	char *buf; /* of DGRAM_MAX bytes: what came last */
	/*
	 * As long, and unchanged until the socket is closed: what goes out, and
	 * what an RDMA operation reads, which may continue after we have
	 * stopped waiting for it.
	 */
	char *out;
	unsigned int sends; /* how often session_go_on() was called */
	bool told; /* a datagram that nobody asked for was reported */
	const struct options *options; /* borrowed */
	const struct patience *patience; /* borrowed */
};

/*
 * Looks the servers up, and binds one socket to talk to all of them. Returns 0,
 * or -1 after reporting why. Either way, end with session_close().
 */
int session_open(struct session *session, const struct options *options,
		 const struct patience *patience);
void session_close(struct session *session);

/*
 * Asks the kernel of each server's host whether it is there, and waits for its
 * answer. Call this before you send anything else: see the README on the first
 * contact. Returns 0, or -1 after reporting why.
 */
int session_greet(struct session *session);

/*
 * A loop that sends must call this, because a loop that never has to wait would
 * not notice that the program must stop. Returns 0, or -1 after saying so.
 */
int session_go_on(struct session *session);

/*
 * Sends length bytes, and waits for room in the send buffer and for the end of
 * the peer's congestion if it must. control may be NULL. Returns 0, or -1 after
 * reporting why.
 */
int session_send(struct session *session, const struct sockaddr_in *to,
		 const void *buf, size_t length,
		 const struct rds_control *control);

/* The same with a datagram of at most DGRAM_TEXT_MAX bytes of text. */
int session_send_text(struct session *session, const struct sockaddr_in *to,
		      enum dgram_type type, const char *text);

/* The moment when a step that begins now has taken too long. */
int64_t session_deadline(const struct session *session);

/*
 * Waits until the kernel has something: a datagram, which is then in
 * session->buf, or other news. what is its name in error messages. The wait
 * ends at the deadline in any case. Returns 0, or -1 after reporting why.
 */
int session_wait(struct session *session, const char *what, int64_t deadline,
		 struct rds_news *news);

/*
 * Waits for a datagram from this server, which must be of this type; its text
 * is in session->buf. A socket of RDS has no connection, so anybody may send to
 * our port: this ignores what others send, and reports it once in a session.
 * Returns 0, or -1 after reporting why.
 */
int session_expect(struct session *session, const struct sockaddr_in *from,
		   enum dgram_type type, const char *what, struct dgram *dgram,
		   struct rds_news *news);

/* Says goodbye to each server, and waits until it has answered. */
int session_bye(struct session *session);

#endif
