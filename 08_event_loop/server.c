/*
 * server.c - sends back the messages of many clients, in one thread
 *
 *     client                     server
 *     (connect as in 01_send_recv)
 *     a message (SEND)    -->    up to 1024 bytes
 *                         <--    the same bytes (SEND)
 *     (as often as the client likes)
 *     (disconnect as in 01_send_recv)
 *
 * All clients share one completion queue and one shared receive queue (of each device).
 * Each is a state machine, which moves when something happens and never waits.
 */
#include <errno.h>
#include <stdlib.h>

#include "addr.h"
#include "explain.h"
#include "explain_cm.h"
#include "guests.h"
#include "log.h"
#include "options.h"

/* How many events of the CM one turn of the loop handles at most. */
#define CM_BUDGET 16

static struct {
	const char *address; /* NULL: all of this machine's, IPv4 as well */
	const char *port;
	int seconds, max, hold;
	int end_after; /* clients; 0: never */
	bool once;
} options = { .port = "20886", .seconds = 10, .max = 10000, .hold = 3600 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS", "listen on this name or address only",
	  .text = &options.address, .otherwise = "all of this machine's" },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.port,
	  .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS", "how long the peer may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'm', "max", "CLIENTS", "clients at a time; refuse the others",
	  .number = &options.max, .min = 1, .max = 12000 },
	{ 'w', "hold", "SECONDS",
	  "how long a client may stay connected without a message",
	  .number = &options.hold, .min = 1, .max = 86400 },
	{ 'e', "end-after", "COUNT", "serve COUNT clients, then exit",
	  .number = &options.end_after, .min = 1, .max = 1000000,
	  .otherwise = "never" },
	{ '1', "once", .help = "serve one client, then exit",
	  .flag = &options.once },
	{ 0 },
};

static const char purpose[] =
	"usage: ./server [OPTION]...\n\n"
	"Waits for clients and sends each of their messages back, in one thread for all of\n"
	"them. Ends on SIGINT (Ctrl-C) or SIGTERM.\n\n"
	"example: ./server -a 192.0.2.1";

struct server {
	struct loop loop;
	struct conn listener; /* of which all clients share the channel */
	struct watch requests; /* that channel */
	struct guests guests;
};

/* ---- Who may come ---- */

/* What those by the device of verbs share; it is opened for the first. Or NULL. */
static struct shared *shared_of(struct server *server,
				struct ibv_context *verbs)
{
	struct shared *shared = server->guests.shared;

	while (shared && shared->verbs != verbs)
		shared = shared->next;
	if (shared)
		return shared;
	shared = calloc(1, sizeof(*shared));
	if (!shared) {
		explain_call("calloc", errno);
		return NULL;
	}
	if (shared_open(shared, &server->loop, verbs)) {
		shared_close(shared);
		free(shared);
		return NULL;
	}
	shared->next = server->guests.shared;
	server->guests.shared = shared;
	return shared;
}

/*
 * While there is no receive, the client's device tries again, every 41 ms (the IBTA
 * specification, 9.7.5.2.8).
 */
static int accept_guest(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .retry_count = 6,
					 .rnr_retry_count = 6 };
	struct ibv_qp_attr attr = { .min_rnr_timer = 24 };
	int err;

	if (rdma_accept(id, &param))
		return explain_call("rdma_accept", errno);
	err = ibv_modify_qp(id->qp, &attr, IBV_QP_MIN_RNR_TIMER);
	/* The client may be in error by now, and a completion will say why. */
	return err && err != EINVAL ? explain_call("ibv_modify_qp", err) : 0;
}

/* Whether there is room for a client, and what it asks for can be had. */
static bool is_welcome(const struct server *server,
		       const struct rdma_conn_param *asked)
{
	if (server->loop.asked) {
		log_line("refused: the server ends.");
		return false;
	}
	if (server->guests.count >= (unsigned int)options.max) {
		log_line("server full (%d): refused.", options.max);
		return false;
	}
	/* Its number is our queue pair's, too: we would never hear that it fails. */
	if (asked->rnr_retry_count == 7) {
		log_line(
			"refused: its echoes would be sent for ever where it has no receive (rnr_retry_count 7; at most 6 is allowed).");
		return false;
	}
	return true;
}

/* A client asks for a connection: makes it a guest, or refuses it. */
static void on_request(struct server *server, struct rdma_cm_id *id,
		       const struct rdma_conn_param *asked)
{
	struct guest *guest = NULL;
	struct shared *shared = NULL;

	if (is_welcome(server, asked))
		shared = shared_of(server, id->verbs);
	if (shared)
		guest = guests_add(&server->guests, shared, id);
	if (!guest) {
		/* A client that has given up need not hear of it. */
		if (rdma_reject(id, NULL, 0) && errno != EINVAL)
			explain_call("rdma_reject", errno);
		if (rdma_destroy_id(id))
			explain_call("rdma_destroy_id", errno);
		return;
	}
	log_prefix("Client %u: ", guest->number);
	log_line("received connection request.");
	if (accept_guest(id))
		guests_leave(&server->guests, guest);
	log_prefix("%s", "");
}

/* ---- What the CM says ---- */

static void on_guest(struct server *server, struct guest *guest,
		     const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		guests_welcome(&server->guests, guest);
		return;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return;
	case RDMA_CM_EVENT_DISCONNECTED:
		/* If it is not we who have begun. */
		guest->has_left |= guest->state != GUEST_LEAVES;
		break;
	default:
		log_prefix("Client %u: ", guest->number);
		explain_event(event, RDMA_CM_EVENT_ESTABLISHED);
		log_prefix("%s", "");
	}
	guests_leave(&server->guests, guest);
}

/* Returns 0, or -1 if all is lost. */
static int on_cm_event(struct server *server, struct rdma_cm_event *event)
{
	/* Our copy: acknowledging frees the event. */
	struct rdma_cm_event copy = *event;

	/* rdma_destroy_id() waits for this. It is over whatever it returns. */
	if (rdma_ack_cm_event(event))
		explain_call("rdma_ack_cm_event", errno);
	switch (copy.event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		on_request(server, copy.id, &copy.param.conn);
		return 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return explain_event(&copy, RDMA_CM_EVENT_CONNECT_REQUEST);
	case RDMA_CM_EVENT_ADDR_CHANGE:
		return 0;
	default:
		on_guest(server, copy.id->context, &copy);
		return 0;
	}
}

/* The CM's channel can be read. */
static int on_cm(void *owner)
{
	struct server *server = owner;
	struct rdma_cm_event *event;

	for (int budget = CM_BUDGET; budget;
	     budget = loop_left(&server->loop, budget - 1)) {
		if (rdma_get_cm_event(server->listener.events, &event))
			return errno == EAGAIN ?
				       0 :
				       explain_call("rdma_get_cm_event", errno);
		if (on_cm_event(server, event))
			return -1;
	}
	return 0;
}

/* ---- From nothing to a server, and back ---- */

static int start_listening(struct server *server)
{
	struct conn *listener = &server->listener;
	struct addrinfo *list;
	int ret;

	if (addr_lookup(options.address, options.port, &list))
		return -1;
	ret = conn_listen(listener, list);
	freeaddrinfo(list);
	if (ret)
		return -1;
	server->requests =
		(struct watch){ listener->events->fd, on_cm, server };
	return loop_add(&server->loop, &server->requests);
}

/* One turn: whatever has come, but not all of it if that is too much. */
static int turn(struct server *server)
{
	struct guests *guests = &server->guests;

	if (loop_turn(&server->loop, guests_sleep(guests)))
		return -1;
	return guests_turn(guests);
}

/* Serves until told to stop, and then ends all connections. */
static int serve(struct server *server)
{
	const struct guests *guests = &server->guests;
	unsigned int end = options.once ? 1 : options.end_after;
	int ret = 0;

	/* With -e, until that many have come and all are gone. */
	while (!ret && !server->loop.asked &&
	       (!end || guests->arrived < end || guests->count))
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

static void server_close(struct server *server)
{
	struct shared *shared;

	guests_close(&server->guests);
	while ((shared = server->guests.shared)) {
		server->guests.shared = shared->next;
		shared_close(shared);
		free(shared);
	}
	conn_close(&server->listener);
	loop_close(&server->loop);
}

int main(int argc, char **argv)
{
	struct server server = { 0 };
	int ret = -1, status = options_parse(rows, purpose, argc, argv);
	int step_ms = options.seconds * 1000;

	if (status != OPTIONS_GO_ON)
		return status;
	server.guests = (struct guests){
		.loop = &server.loop,
		.timeouts = { step_ms, options.hold * 1000, step_ms, step_ms },
	};
	guests_open(&server.guests);
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (loop_open(&server.loop))
		goto out;
	/* 2. Listen. */
	if (start_listening(&server))
		goto out;
	/* 3. Serve all clients, in one thread. */
	ret = serve(&server);
out:
	/* 4. Free everything. */
	server_close(&server);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
