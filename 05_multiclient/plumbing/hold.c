/*
 * hold.c - a client that stays when all is said
 */
#include "hold.h"

#include <errno.h>

#include "log.h"

int hold_connection(struct conn *conn, int seconds)
{
	int64_t deadline = wait_deadline(seconds * 1000);

	log_line("holding the connection.");
	while (wait_readable(conn_peer_fd(conn), -1, conn->patience.stop_fd,
			     deadline) > 0) {
		if (conn_check_peer(conn))
			return -1;
		if (conn->peer_left)
			return log_fail("the server ended the connection; see "
					"what it says");
	}
	if (errno == ETIMEDOUT || errno == ECANCELED)
		return 0;
	return wait_fail("the end of the hold", errno, &conn->patience);
}
