/*
 * server.c - exchanges memory regions with many clients, and writes or reads
 *
 *     client                            server
 *     (exchange of parameters, memory regions included: see oob.h)
 *     MSG_NONCE (SEND)     -->
 *     MSG_ECHO             <--          (and the same the other way round)
 *     RDMA WRITE or READ   -->          (no program has a part in it)
 *     (no program ...)     <--          RDMA WRITE or READ
 *     MSG_DONE (SEND)      -->          its memory may be looked at now
 *                          <--          MSG_DONE (SEND)
 *     (goodbye)
 *
 * Each client has a thread, and a queue pair, memory and protection domain of
 * its own; all of them share one open device. The two sides run at their own pace:
 * state.c says which order of events is legal.
 */
#include <locale.h>
#include <unistd.h>

#include <netinet/in.h>

#include "conn.h"
#include "crowd.h"
#include "data.h"
#include "log.h"
#include "options.h"
#include "pattern.h"
#include "probe.h"
#include "transfer.h"

/* The most requests that are posted at a time: nonce, echo, an operation. */
#define SENDS 3

/* All that belongs to one client, and to its thread. */
struct session {
	struct client *client;
	struct conn conn;
	struct data data;
	enum mode mode;
	unsigned int number;
	enum step step; /* how far it has come */
};

/* Where what the client writes goes, or what we read from it. */
static const struct region *result_region(const struct data *data,
					  enum mode mode)
{
	return mode == MODE_WRITE ? &data->exposed : &data->local;
}

/* Writes or reads, and looks at each byte. */
static int converse(struct session *session)
{
	struct data *data = &session->data;
	struct transfer transfer = {
		.data = data,
		.mode = session->mode,
		.peer = session->conn.peer.mem,
	};
	const struct region *result = result_region(data, session->mode);

	if (transfer_run(&transfer))
		return -1;
	log_line("[LOG] %s: Both DONE, waiting for the client to disconnect",
		 session->mode == MODE_WRITE ? "WRITE" : "READ");
	transfer_print_result(&transfer);
	return pattern_check(result->buf, result->size, ROLE_CLIENT,
			     session->number);
}

/* The memory that this client may use, and what it will find there. */
static int make_data(struct session *session)
{
	struct data *data = &session->data;
	struct conn *conn = &session->conn;
	const struct region *ours;

	if (data_open(data, conn, session->mode,
		      session->client->crowd->options->bytes))
		return -1;
	/* What the client will find: what we write, or what it reads. */
	ours = session->mode == MODE_WRITE ? &data->local : &data->exposed;
	pattern_fill(ours->buf, ours->size, ROLE_SERVER, session->number);
	return 0;
}

/* How many regions there are, however far data_open() or data_close() came. */
static int count_regions(const struct data *data)
{
	return !!data->messages.mr + !!data->local.mr + !!data->exposed.mr;
}

static int open_data(struct session *session)
{
	int ret = make_data(session);

	session->conn.held->mrs += count_regions(&session->data);
	return ret;
}

static void close_data(struct session *session)
{
	int before = count_regions(&session->data);

	data_close(&session->data);
	session->conn.held->mrs -= before - count_regions(&session->data);
}

/* Finds out who it is, and lets it in if there is room: 0; 1 if not; or -1. */
static int admit(struct session *session)
{
	struct client *client = session->client;
	struct crowd *crowd = client->crowd;
	char name[INET6_ADDRSTRLEN];
	struct hello hello;
	int ret;

	/* Until it has a number, it has but an address. */
	oob_peer_name(client->oob, name, sizeof(name));
	log_prefix("%s: ", name);
	ret = oob_handshake(client->oob);
	figures_handshake(&crowd->figures, !ret, figures_now() - client->since,
			  &hello);
	crowd_room(crowd);
	if (ret)
		return -1;
	session->number = hello.number;
	if (hello.number) {
		log_prefix("Client %u: ", hello.number);
		if (oob_print_peer(client->oob))
			return -1;
	}
	if (oob_hello(client->oob, &hello, crowd->cut_fd))
		return -1;
	if (hello.number)
		return 0;
	log_line("server full (%u of %u): refused.", hello.connected,
		 hello.max);
	return 1;
}

/* The life of one client that was let in. Returns 0, or -1 having said why. */
static int serve_client(struct session *session)
{
	struct crowd *crowd = session->client->crowd;
	struct conn *conn = &session->conn;
	struct data *data = &session->data;
	struct patience patience = {
		.timeout_ms = crowd->options->timeout_ms,
		.stop_fd = crowd->cut_fd,
	};
	struct remote mem;
	int ret = -1;

	/* 1. Hear what the client's queue pair is called, and where it is. */
	session->step = STEP_EXCHANGE;
	if (conn_request(conn, &crowd->listener, session->client->oob,
			 &patience))
		goto out;
	/* 2. Create the queue pair, and what it needs, for it alone. */
	session->step = STEP_OBJECTS;
	if (conn_create_qp(conn, SENDS, DATA_RECEIVES,
			   data_exposed_access(session->mode)))
		goto out;
	/* 3. Let the device use our memory, and the client some of it. */
	if (open_data(session))
		goto out;
	/* 4. Post all receives, before the client can possibly send. */
	if (data_post_receives(data))
		goto out;
	/* 5. Exchange parameters; from INIT to RTR to RTS. */
	session->step = STEP_EXCHANGE;
	mem = data_offer(data);
	if (conn_accept(conn, session->mode, &mem))
		goto out;
	figures_setup(&crowd->figures, figures_now() - session->client->since);
	/* 6. See that what is sent arrives, then write or read. */
	session->step = STEP_ECHO;
	if (probe_path(data))
		goto out;
	session->step = STEP_TRANSFER;
	if (converse(session))
		goto out;
	/* 7. Let the client end the connection. */
	session->step = STEP_GOODBYE;
	ret = conn_wait_disconnect(conn);
out:
	log_line("[LOG] closing connection conn=%p", (void *)conn);
	if (data_drain(data))
		ret = -1;
	close_data(session);
	conn_close(conn);
	return ret;
}

/* What the thread of a client does, from its connection on. */
static void run_client(struct client *client)
{
	struct figures *figures = &client->crowd->figures;
	struct session session = {
		.client = client,
		.conn.held = &client->crowd->held,
		.mode = client->crowd->options->mode,
	};
	int ret = admit(&session);
	size_t bytes;

	if (ret) {
		/* Neither was anything made for it, nor will it be. */
		oob_close(client->oob);
		if (ret < 0 && session.number)
			figures_failed(figures, STEP_EXCHANGE);
		return;
	}
	if (serve_client(&session)) {
		figures_failed(figures, session.step);
		return;
	}
	bytes = client->crowd->options->bytes;
	figures_served(figures, bytes, bytes);
}

int main(int argc, char **argv)
{
	struct crowd crowd;
	struct options options;
	int stop_fd = -1, ret = -1, status;

	setlocale(LC_CTYPE, "C.UTF-8");
	status = options_parse(&options, ROLE_SERVER, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	/* 1. From now on, SIGINT and SIGTERM end the program in order. */
	if (wait_for_signals(&stop_fd))
		return EXIT_FAILED;
	/* 2. Open the device, once for all clients, and listen. */
	if (crowd_open(&crowd, &options, run_client))
		goto out;
	/* 3. Serve, a thread for each client. */
	ret = crowd_run(&crowd, stop_fd);
	/* With an end in sight, who starts us wants to know how it went. */
	if (options.end_after && figures_failures(&crowd.figures))
		ret = -1;
out:
	/* 4. Free everything. */
	crowd_close(&crowd);
	close(stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
