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
	 * As long, and ours until the socket is closed: what goes out, and what
	 * an RDMA operation reads, which may go on when we have given it up.
	 */
	char *out;
	unsigned int sends; /* how often session_go_on() was called */
	bool told; /* that somebody has sent what was not asked for */
	const struct options *options; /* borrowed */
	const struct patience *patience; /* borrowed */
};

/*
 * Looks the servers up, binds one socket to talk to all of them. Returns 0, or
 * -1 having said why; in either case session_close() ends it.
 */
int session_open(struct session *session, const struct options *options,
		 const struct patience *patience);
void session_close(struct session *session);

/*
 * Asks the kernel of each server's host whether it is there, and waits for its
 * answer. To be done before anything else is sent: see the README on the first
 * contact. Returns 0, or -1 having said why.
 */
int session_greet(struct session *session);

/*
 * To be asked by a loop that sends: one that never has to wait would not notice
 * that the program shall stop. Returns 0, or -1 having said so.
 */
int session_go_on(struct session *session);

/*
 * Sends length bytes, and waits for room in the send buffer and for the end of
 * the peer's congestion if it must. control may be NULL. Returns 0, or -1
 * having said why.
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
 * Waits for the kernel to bring something: a datagram, now in session->buf, or
 * news of another kind. what names it in an error. Whatever comes, the wait is
 * over with the deadline. Returns 0, or -1 having said why.
 */
int session_wait(struct session *session, const char *what, int64_t deadline,
		 struct rds_news *news);

/*
 * Waits for a datagram from this server, which must be of this type; its text
 * is in session->buf. RDS knows no connections, so anybody may send to our
 * port: what others send is ignored, having said so once in a session. Returns
 * 0, or -1 having said why.
 */
int session_expect(struct session *session, const struct sockaddr_in *from,
		   enum dgram_type type, const char *what, struct dgram *dgram,
		   struct rds_news *news);

/* Says goodbye to each server, and waits until it has answered. */
int session_bye(struct session *session);

#endif
