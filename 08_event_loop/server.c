/*
 * server.c - answers the requests of many clients, in one thread
 *
 *     client                            server
 *     (connect, and the transfer of 02_write_read)
 *     MSG_REQUEST, data (SEND) -->      up to 4 KiB
 *     (no program ...)         <--      RDMA WRITE of the data, if asked for
 *                              <--      MSG_ANSWER (SEND): its checksum
 *     (as often as the client likes)
 *     (disconnect as in 01_send_recv)
 *
 * All clients share one completion queue and one shared receive queue (of each device).
 * Each is a state machine, which moves when something happens and never waits.
 */
#include <locale.h>

#include "content.h"
#include "door.h"
#include "late.h"
#include "log.h"
#include "options.h"
#include "reply.h"

/* The transfer of a guest is finished: looks at what it wrote. */
static int on_finish(struct guests *guests, struct guest *guest)
{
	(void)guests;
	log_line("[LOG] WRITE: Both DONE, waiting for requests");
	return content_check(&guest->data, MODE_WRITE, false);
}

static void on_leave(struct guests *guests, struct guest *guest)
{
	(void)guests;
	if (guest->conn.peer_left)
		log_line("peer disconnected after %lu requests.", guest->count);
}

/* One turn: whatever has come, but not all of it if that is too much. */
static int turn(struct server *server)
{
	struct guests *guests = &server->guests;

	if (loop_turn(&server->loop, !guests_are_busy(guests)))
		return -1;
	return guests_turn(guests);
}

/* Serves until told to stop, and then ends all connections. */
static int serve(struct server *server)
{
	const struct guests *guests = &server->guests;
	int ret = 0;

	/* With -e, until that many have come and all are gone. */
	while (!ret && !server->loop.asked &&
	       (guests->arrived < server->options->end_after || guests->count))
		ret = turn(server);
	if (server->loop.asked && guests->count)
		log_fail(
			"%u clients: given up, since this program was asked to stop",
			guests->count);
	guests_leave_all(&server->guests);
	while (!ret && guests->count)
		ret = turn(server);
	return ret;
}

static int server_open(struct server *server)
{
	const struct options *options = server->options;
	struct guests *guests = &server->guests;

	*guests = (struct guests){
		.loop = &server->loop,
		.quiet = !options->verbose,
		.timeouts = { options->timeout_ms, options->hold_ms,
			      options->timeout_ms, options->timeout_ms,
			      options->timeout_ms },
		.on_finish = on_finish,
		.on_message = reply_request,
		.on_sent = reply_go_on,
		.on_leave = on_leave,
	};
	return door_open(server);
}

static void server_close(struct server *server)
{
	guests_free_all(&server->guests);
	door_close_hubs(server);
	listener_close(&server->listener);
	loop_close(&server->loop);
}

int main(int argc, char **argv)
{
	struct server server = { 0 };
	struct options options;
	int ret = -1, status;

	setlocale(LC_CTYPE, "C.UTF-8");
	status = options_parse(&options, ROLE_SERVER, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	server.options = &options;
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (loop_open(&server.loop, late_on_time, &server.guests))
		goto out;
	/* 2. Listen. */
	if (server_open(&server))
		goto out;
	/* 3. Serve all clients, in one thread. */
	ret = serve(&server);
out:
	/* 4. Free everything. */
	server_close(&server);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
