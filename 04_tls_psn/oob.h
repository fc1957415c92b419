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
 * server is. Here, all of it goes over TLS.
 */
#ifndef OOB_H
#define OOB_H

#include <stdbool.h>

#include "options.h"
#include "params.h"
#include "wait.h"

struct oob;

/*
 * Listens for clients. Returns NULL after reporting why. The caller frees it
 * with oob_close().
 */
struct oob *oob_listen(const struct options *options);

/* The descriptor that is readable when there is a client, or news of it. */
int oob_fd(const struct oob *oob);

/*
 * Server: takes the next client and says hello; client: connects, and hears it.
 * From then on, everything must happen within patience until oob_ready() has
 * returned. Both return NULL after reporting why; free with oob_close().
 */
struct oob *oob_accept(struct oob *listener, const struct patience *patience);
struct oob *oob_connect(const struct options *options,
			const struct patience *patience);

/*
 * Whether a listener's last oob_accept() failed for a reason that will make the
 * next one fail as well.
 */
bool oob_is_broken(const struct oob *listener);

/* The address of this end of the connection, or the one to listen on. */
const struct sockaddr *oob_local(const struct oob *oob);

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
