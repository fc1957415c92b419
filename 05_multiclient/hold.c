/*
 * hold.c - a client that stays when everything is done
 */
#include "hold.h"

#include <errno.h>

#include "log.h"
#include "peer.h"

int hold_connection(struct conn *conn, int seconds)
{
	int64_t deadline = wait_deadline(seconds * 1000);

	log_line("holding the connection.");
	while (wait_readable(peer_fd(conn), -1, conn->patience.stop_fd,
			     deadline) > 0) {
		if (peer_check(conn))
			return -1;
		if (conn->peer_left || conn->peer_done)
			return log_fail(
				"the server ended the connection; see what it says");
	}
	if (errno == ETIMEDOUT || errno == ECANCELED)
		return 0;
	return wait_fail("the end of the hold", errno, &conn->patience);
}
