/*
 * connection.c - the life of one of many connections, and what all share
 */
#include "connection.h"

#include <errno.h>
#include <unistd.h>

#include "log.h"

int connecting_open(struct connecting *connecting, unsigned int jobs)
{
	if (!jobs)
		jobs = 2 * sysconf(_SC_NPROCESSORS_ONLN);
	sem_init(&connecting->jobs, 0, jobs);
	return device_open(connecting->open.devices, CONN_DEVICES,
			   connecting->open.network, NULL);
}

void connecting_close(struct connecting *connecting)
{
	conn_close(&connecting->open);
	sem_destroy(&connecting->jobs);
}

/* Its time begins when there is a job for it. */
static int reach(struct connecting *connecting, struct place *place)
{
	int ret;

	/* It can only fail with EINTR, and no signal comes to a thread. */
	while (sem_wait(&connecting->jobs) && errno == EINTR)
		;
	ret = place_reach(place, connecting->way);
	sem_post(&connecting->jobs);
	return ret;
}

static int converse(struct place *place)
{
	if (transfer_run(&place->transfer))
		return -1;
	return place_check(place);
}

/* Stays connected for so long, or until it is asked to stop. */
static int hold(struct place *place, int seconds)
{
	struct conn *conn = &place->conn;
	int64_t deadline = wait_deadline(seconds * 1000);

	log_line("holding the connection.");
	while (wait_readable(conn->oob.line.fd, -1, conn->patience.stop_fd,
			     deadline) > 0) {
		if (oob_check(&conn->oob))
			return -1;
		if (conn->oob.peer_done || conn->oob.peer_left)
			return log_fail(
				"the server ended the connection; see what it says");
	}
	if (errno != ETIMEDOUT && errno != ECANCELED)
		return wait_fail("the end of the hold", errno, &conn->patience);
	/* Whoever asked us to stop waits for the goodbye. */
	if (errno == ECANCELED)
		conn->patience.stop_fd = -1;
	return 0;
}

/* From the server's word on: steps 2 to 6 of ../client.c. */
static int live(struct connecting *connecting, struct place *place)
{
	struct conn *conn = &place->conn;

	if (conn_find_device(conn, &connecting->open))
		return -1;
	log_line("Using shared RDMA device %s",
		 ibv_get_device_name(conn->device->verbs->device));
	if (place_open(place))
		return -1;
	if (conn_connect(conn))
		return -1;
	if (converse(place))
		return -1;
	if (connecting->hold && hold(place, connecting->hold))
		return -1;
	/* A signal ends them all at once, so let the server take its time. */
	conn->patience.stop_fd = -1;
	return conn_disconnect(conn);
}

int connection_run(struct connecting *connecting)
{
	struct place place = {
		.conn = {
			.patience = connecting->open.patience,
			.network = connecting->open.network,
		},
		.transfer = {
			.mode = connecting->mode,
			.bytes = connecting->bytes,
		},
	};
	int ret;

	log_prefix("%s", "");
	ret = reach(connecting, &place);
	if (!ret)
		ret = live(connecting, &place);
	place_close(&place);
	return ret;
}
