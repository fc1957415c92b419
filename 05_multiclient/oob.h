/*
 * oob.h - out of band: what two sides say to each other before RDMA works
 *
 *     client                          server
 *                      <--            hello: version; your number, or "full"
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
 * server is. Here, all of it goes over TLS.
 */
#ifndef OOB_H
#define OOB_H

#include <stdbool.h>

#include "options.h"
#include "params.h"
#include "turn.h"
#include "wait.h"
#include "who.h"

struct oob;

/*
 * Listens for clients. Returns NULL after reporting why. The caller frees it
 * with oob_close().
 */
struct oob *oob_listen(const struct options *options);

/* The descriptor that is readable when there is a client, or news of it. */
int oob_fd(const struct oob *oob);

/* Stops listening: the kernel refuses all who connect from now on. */
void oob_stop(struct oob *listener);

/*
 * Server: reads certificate, key and CA anew, for all who connect from now on.
 * Returns 0, or -1 after reporting why the old ones stay.
 */
int oob_renew(struct oob *listener);

/*
 * Client: reads certificate, key and CA, once for all connections to come.
 * Returns NULL after reporting why. Free with oob_close().
 */
struct oob *oob_prepare(const struct options *options);

/*
 * Server: takes the next client off the listener, and does not wait. From then
 * on, everything must happen within patience until oob_ready() has returned.
 * Returns NULL after reporting why; free with oob_close().
 */
struct oob *oob_accept(struct oob *listener, const struct patience *patience);

/*
 * Server: the TLS handshake, which computes only when it is its turn. Returns
 * 0, or -1 after reporting why, such as that the client is not in the list.
 */
int oob_handshake(struct oob *oob, struct turn *turn);

/*
 * Server: tells the client its number, or that there is no room for it. From
 * then on, stop_fd ends each wait. Returns 0, or -1 after reporting why.
 */
int oob_hello(struct oob *oob, const struct hello *hello, int stop_fd);

/*
 * Client: connects, with what oob_prepare() has read, and hears the server's
 * hello. Patience, return value and freeing are as for oob_accept(). If it
 * failed, *passing says whether it may work later, as when the server refused
 * or was late.
 */
struct oob *oob_connect(const struct oob *prepared,
			const struct options *options,
			const struct patience *patience, struct hello *hello,
			bool *passing);

/* Who the client is, by its certificate, after the handshake. Returns 0 or -1. */
int oob_who(const struct oob *oob, struct who *who);

/* Prints who the other end is, after the handshake. Returns 0 or -1. */
int oob_print_peer(const struct oob *oob);

/* The address of this end of the connection, or the one to listen on. */
const struct sockaddr *oob_local(const struct oob *oob);

/* The address of the other end. */
const struct sockaddr *oob_peer(const struct oob *oob);

/* Sends our parameters. Returns 0, or -1 after reporting why. */
int oob_send_params(struct oob *oob, const struct params *params);

/* Receives and checks the peer's (see params_decode). Returns 0 or -1. */
int oob_recv_params(struct oob *oob, struct params *params, bool roce);

/* Says that our queue pair is ready and waits for the peer's. 0 or -1. */
int oob_ready(struct oob *oob);

/* What oob_check() finds: */
enum {
	OOB_GONE, /* cut, reset or silent for too long */
	OOB_THERE,
	OOB_SAID_BYE /* it has all that it wanted */
};

/*
 * When oob_fd() is readable: which of these it is; or -1, after reporting why.
 */
int oob_check(struct oob *oob);

/*
 * Says goodbye. Returns 0, also if the peer is gone, which oob_check() finds out;
 * or -1 after reporting why it cannot be said.
 */
int oob_bye(struct oob *oob);

/* Closes the connection, or ends listening, and frees oob (NULL: nothing). */
void oob_close(struct oob *oob);

#endif
