/*
 * peer.c - is the peer still there, and is it done?
 */
#include "peer.h"

#include <errno.h>

#include "log.h"
#include "qp.h"

int peer_fd(const struct conn *conn)
{
	/* A peer that has said goodbye, or is gone, sends nothing more. */
	return conn->peer_done || conn->peer_left ? -1 : oob_fd(conn->oob);
}

int peer_check(struct conn *conn)
{
	switch (oob_check(conn->oob)) {
	case OOB_THERE:
		return 0;
	case OOB_SAID_BYE:
		/*
		 * It waits for our goodbye, so what is on its way can still
		 * arrive.
		 */
		conn->peer_done = true;
		return 0;
	case OOB_GONE:
		conn->peer_left = true;
		return qp_to_err(conn->qp);
	default:
		return -1;
	}
}

/*
 * Waits for the peer's goodbye, unless it has been said. A request to stop ends
 * the wait grace_ms later.
 */
static int wait_goodbye(struct conn *conn, int timeout_ms, int grace_ms)
{
	const struct patience patience = { timeout_ms, conn->patience.stop_fd };
	int64_t deadline = wait_deadline(timeout_ms);
	int stop_fd = patience.stop_fd, why = 0;

	while (!conn->peer_done && !conn->peer_left) {
		if (wait_readable(peer_fd(conn), -1, stop_fd, deadline) >= 0) {
			if (peer_check(conn))
				return -1;
			continue;
		}
		if (errno != ECANCELED || !grace_ms)
			return wait_fail("the peer's goodbye",
					 why ? why : errno, &patience);
		why = ECANCELED;
		stop_fd = -1;
		deadline = wait_deadline(grace_ms);
	}
	/* TCP ends the same way if the peer failed, was killed or cut off. */
	if (!conn->peer_done)
		return log_fail(
			"the peer's connection ended without a goodbye: it may lack something of what we sent, even if all of that completed with success; see what it says [docs/troubleshooting.md#left]");
	return 0;
}

int peer_disconnect(struct conn *conn)
{
	if (oob_bye(conn->oob))
		return -1;
	/* All else is done, so a request to stop leaves a second for this. */
	if (wait_goodbye(conn, conn->patience.timeout_ms, 1000))
		return -1;
	log_line("disconnected.");
	return 0;
}

int peer_wait_disconnect(struct conn *conn, int timeout_ms)
{
	if (wait_goodbye(conn, timeout_ms, 0))
		return -1;
	if (oob_bye(conn->oob))
		return -1;
	log_line("peer disconnected.");
	return 0;
}
