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
 * All clients share one completion queue and one shared receive queue. Each is a
 * state machine, which moves when something happens and never waits.
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

/* One turn: whatever has come, but not all of it if that is too much. */
static int turn(struct server *server)
{
	if (loop_turn(&server->loop, !server->hub.busy))
		return -1;
	if (server->hub.busy && guests_poll(&server->guests))
		return -1;
	if (!server->hub.busy)
		guests_free_gone(&server->guests);
	return 0;
}

/* Serves until told to stop, and then ends all connections. */
static int serve(struct server *server)
{
	const struct guests *guests = &server->guests;
	int ret = 0;

	/* With -e, until that many have come and all are gone. */
	while (!ret && !server->loop.asked &&
	       (guests->arrived < server->options->end_after ||
		guests->table.count))
		ret = turn(server);
	if (server->loop.asked && guests->table.count)
		log_fail(
			"%zu clients: given up, since this program was asked to stop",
			guests->table.count);
	guests_leave_all(&server->guests);
	while (!ret && guests->table.count)
		ret = turn(server);
	return ret;
}

static int server_open(struct server *server)
{
	const struct options *options = server->options;
	struct guests *guests = &server->guests;

	*guests = (struct guests){
		.hub = &server->hub,
		.loop = &server->loop,
		.quiet = !options->verbose,
		.timeouts = { options->timeout_ms, options->hold_ms,
			      options->timeout_ms },
		.on_finish = on_finish,
		.on_message = reply_request,
	};
	if (table_open(&guests->table, options->max))
		return -1;
	return door_open(server);
}

static void server_close(struct server *server)
{
	guests_free_all(&server->guests);
	region_close(&server->guests.local);
	hub_close(&server->hub);
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
