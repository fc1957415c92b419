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
#include <stddef.h>
#include <stdint.h>

#include <sys/socket.h>

#include "params.h"
#include "tls.h"
#include "wait.h"

/* The most bytes that a line may have. */
#define LINE_LONGEST 256

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
	bool open, said_bye;
	int fd;
	SSL_CTX *ctx; /* a listener's, or a client's own */
	const struct oob_way *way; /* a listener's; borrowed */
	struct tls tls; /* and a deadline for the whole exchange */
	struct sockaddr_storage local; /* the address of this end, */
	struct sockaddr_storage peer; /* and of the other one */
};

/* The descriptor that is readable when there is a client, or news of the peer. */
int oob_fd(const struct oob *oob);

/* The address of this end, or the one to listen on. */
const struct sockaddr *oob_local(const struct oob *oob);

/* Server: listens. */
int oob_listen(struct oob *listener, const struct oob_way *way);

/*
 * Server: takes the next client, and says nothing to it yet. Returns 1; 0 if there
 * is none after all, perhaps after reporting why; or -1 after reporting why none
 * can come any more.
 */
int oob_next(struct oob *listener, struct oob *client);

/*
 * Server: says hello to a client that was taken off listener; client: connects,
 * and hears it. From then on, everything must happen within patience until
 * oob_ready() has returned.
 */
int oob_accept(struct oob *oob, const struct oob *listener,
	       const struct patience *patience);
int oob_connect(struct oob *oob, const struct oob_way *way,
		const struct patience *patience);

/*
 * Sends a line of length bytes. Receives one, puts a zero behind its newline, and
 * never takes more than fits: a peer may send without end. An error says that what
 * did not come.
 */
int oob_send_line(struct oob *oob, const char *line, size_t length);
int oob_recv_line(struct oob *oob, char line[LINE_LONGEST + 1],
		  const char *what, size_t *length);

/* Draws a PSN that nobody can predict. */
int oob_draw_psn(uint32_t *psn);

/*
 * Sends our parameters. Receives the peer's, and checks them with params_check(). roce:
 * they must be of the address where the peer was authenticated.
 */
int oob_send_params(struct oob *oob, const struct params *params);
int oob_recv_params(struct oob *oob, struct params *params, bool roce);

/* Says that our queue pair is ready, and waits for the peer's. */
int oob_ready(struct oob *oob);

/* What oob_check() finds: */
enum {
	OOB_GONE, /* cut, reset or silent for too long */
	OOB_THERE,
	OOB_SAID_BYE /* it has all that it wanted */
};

/* When oob_fd() is readable: which of these it is; or -1, after reporting why. */
int oob_check(struct oob *oob);

/* Says goodbye. Returns 0, too, if the peer is gone, which oob_check() finds. */
int oob_bye(struct oob *oob);

/* Nothing more will come: a failure for the peer, unless we have said goodbye. */
void oob_end(struct oob *oob);

/* Closes the connection, or ends listening. */
void oob_close(struct oob *oob);

/* Writes params as a line, and returns its length, which is at most that. */
size_t oob_encode(const struct params *params, char line[LINE_LONGEST]);

/* Reads a line of length bytes, and checks its form, but no values. */
int oob_decode(struct params *params, const char *line, size_t length);

#endif
