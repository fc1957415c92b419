/*
 * oob.h - out of band: what two sides say to each other before RDMA works
 *
 *     client                          server
 *                      <--            hello: version
 *     params           -->
 *                      <--            params
 *     (both: INIT to RTR to RTS)
 *     ready            -->
 *                      <--            ready
 *     (RDMA; the connection stays open as the sign of life)
 *     bye              -->
 *                      <--            bye
 *
 * The server speaks first, and a client creates nothing before it knows who the
 * server is. Here, all of it goes over TLS, as lines of text.
 *
 * Functions return 0, or -1 after reporting why, unless it says otherwise.
 */
#ifndef OOB_H
#define OOB_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/socket.h>

#include "line.h"
#include "params.h"
#include "tls.h"
#include "wait.h"

/* Where the server is, and who is who, as options say. */
struct oob_way {
	const char *address; /* NULL: a server listens on all it has */
	const char *port;
	struct tls_files files;
	const char *list; /* server: who may come, and for what; NULL: all */
	const char *word; /* server: for what: write or read */
};

/* One end of the exchange, or what a server listens on. Zero it first. */
struct oob {
	bool open;
	struct line line; /* its socket, and a deadline for the whole exchange */
	struct sockaddr_storage local; /* the address of this end, */
	struct sockaddr_storage peer; /* and of the other one */
	bool peer_done; /* the peer has said goodbye */
	bool peer_left; /* or is gone without a goodbye */
	bool said_bye; /* we have */
	SSL_CTX *ctx; /* a listener's, or a client's own */
	const struct oob *listener; /* of a server's connection; borrowed */
	const struct oob_way *way; /* a listener's; borrowed */
};

/* Server: listens. */
int oob_listen(struct oob *listener, const struct oob_way *way);

/*
 * Server: takes the next client, and says nothing to it yet. Returns 1; 0 if there
 * is none after all, perhaps after reporting why; or -1 after reporting why none
 * can come any more.
 */
int oob_next(struct oob *listener, struct oob *client);

/*
 * Server: says hello to a client; client: connects, and hears it. From then on,
 * everything must happen within patience until oob_ready() has returned.
 */
int oob_accept(struct oob *oob, const struct patience *patience);
int oob_connect(struct oob *oob, const struct oob_way *way,
		const struct patience *patience);

/* Draws a PSN that nobody can predict. */
int oob_draw_psn(uint32_t *psn);

/*
 * Sends our parameters; receives the peer's, and checks them. roce: they must be of the
 * address where the peer was authenticated.
 */
int oob_send_params(struct oob *oob, const struct params *params);
int oob_recv_params(struct oob *oob, struct params *params, bool roce);

/* Says that our queue pair is ready, and waits for the peer's. */
int oob_ready(struct oob *oob);

/* When there is something to read: whether the peer is done, or has left. */
int oob_check(struct oob *oob);

/* Says goodbye. Returns 0, too, if the peer is gone, which oob_check() finds. */
int oob_bye(struct oob *oob);

/* Nothing more will come: a failure for the peer, unless we have said goodbye. */
void oob_end(struct oob *oob);

/* Closes the connection, or ends listening. */
void oob_close(struct oob *oob);

#endif
