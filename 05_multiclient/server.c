/*
 * server.c - exchanges memory regions with many clients, and writes or reads
 *
 *     client                            server
 *     (exchange of parameters, memory regions included: see oob.h)
 *     RDMA WRITE or READ   -->          (no program has a part in it)
 *     (no program ...)     <--          RDMA WRITE or READ
 *     MSG_DONE (SEND)      -->          its memory may be looked at now
 *                          <--          MSG_DONE (SEND)
 *     (goodbye: see peer.h)
 *
 * Each client has a thread, and a queue pair, memory and protection domain of
 * its own; all of them share one open device. The two sides run at their own pace:
 * state.c says which order of events is legal.
 */
#include <locale.h>
#include <unistd.h>

#include "addr.h"
#include "conn.h"
#include "content.h"
#include "crowd.h"
#include "data.h"
#include "log.h"
#include "options.h"
#include "peer.h"
#include "report.h"
#include "transfer.h"

/* Writes or reads, and checks the result. */
static int converse(struct data *data, const struct options *options,
		    unsigned int number)
{
	struct transfer transfer = { .data = data, .mode = options->mode };

	if (transfer_run(&transfer))
		return -1;
	log_line("[LOG] %s: Both DONE, waiting for the client to disconnect",
		 options->mode == MODE_WRITE ? "WRITE" : "READ");
	return content_check(data, options->mode, options->counts,
			     CONTENT_CLIENT, number);
}

/* For this client it is full, whoever else may come. Returns 0. */
static unsigned int refuse_share(struct client *client, struct hello *hello)
{
	struct crowd *crowd = client->crowd;

	hello->connected = hello->max = crowd->identities.max;
	figures_refuse(&crowd->figures);
	crowd_room(crowd);
	oob_hello(client->oob, hello, crowd->ending.cut_fd);
	return 0;
}

/* Finds out who it is. Returns its number, or 0 if it is not let in. */
static unsigned int admit(struct client *client)
{
	struct crowd *crowd = client->crowd;
	char text[ADDR_TEXT_SIZE];
	struct hello hello = { .max = crowd->figures.max };

	/* Until it has a number, it has only an address. */
	log_prefix("%s: ", addr_text(oob_peer(client->oob), text));
	if (oob_handshake(client->oob, &client->turn)) {
		figures_leave(&crowd->figures, STEP_HANDSHAKE);
		return 0;
	}
	/* The places are for all, so one identity may not have all of them. */
	if (crowd_share(client))
		return refuse_share(client, &hello);
	/* Only clients that have shown who they are get a place. */
	hello.number = figures_let_in(&crowd->figures, &hello.connected);
	crowd_room(crowd);
	if (!hello.number) {
		log_line("server full (%u of %u): refused.", hello.connected,
			 hello.max);
		oob_hello(client->oob, &hello, crowd->ending.cut_fd);
		return 0;
	}
	log_prefix("Client %u: ", hello.number);
	if (!oob_print_peer(client->oob) &&
	    !oob_hello(client->oob, &hello, crowd->ending.cut_fd))
		return hello.number;
	figures_leave(&crowd->figures, STEP_EXCHANGE);
	return 0;
}

/* The life of one client that was let in: returns how far it came. */
static enum step serve_client(struct client *client, unsigned int number)
{
	struct crowd *crowd = client->crowd;
	const struct options *options = crowd->options;
	const struct patience patience = {
		.timeout_ms = options->timeout_ms,
		.stop_fd = crowd->ending.cut_fd,
	};
	struct conn conn = { .held = &crowd->held };
	struct data data = { 0 };
	enum step step = STEP_EXCHANGE;

	/* 1. Hear the number of the client's queue pair, and where it is. */
	if (conn_request(&conn, &crowd->listener.devices, client->oob,
			 &patience))
		goto out;
	/* 2. Choose the number of our first packet. */
	step = STEP_OBJECTS;
	if (conn_choose_psn(&conn, options))
		goto out;
	/* 3. Create the queue pair, and what it needs, for it alone. */
	if (conn_create_qp(&conn, DATA_SENDS, DATA_RECEIVES,
			   data_exposed_access(options->mode)))
		goto out;
	/* 4. Let the device use our memory, and the client some of it. */
	if (data_open(&data, &conn, options->mode, options->bytes))
		goto out;
	content_write(&data, options->mode, CONTENT_SERVER, number);
	/* 5. Post all receives, before the client can possibly send. */
	if (data_post_receives(&data))
		goto out;
	/* 6. Exchange parameters; from INIT to RTR to RTS. */
	step = STEP_EXCHANGE;
	if (conn_accept(&conn))
		goto out;
	/* 7. Write or read. */
	step = STEP_TRANSFER;
	if (converse(&data, options, number))
		goto out;
	/* 8. Let the client end the connection, which may take long. */
	step = STEP_GOODBYE;
	if (!peer_wait_disconnect(&conn, options->timeout_ms +
						 OPTIONS_HOLD_MAX * 1000))
		step = STEP_DONE;
out:
	log_line("[LOG] closing connection conn=%p", (void *)&conn);
	conn_end(&conn);
	if (data_drain(&data) && step == STEP_DONE)
		step = STEP_GOODBYE;
	data_close(&data);
	conn_close(&conn);
	return step;
}

/* What the thread of a client does, from its connection on. */
static void run_client(struct client *client)
{
	unsigned int number = admit(client);

	if (number)
		figures_leave(&client->crowd->figures,
			      serve_client(client, number));
	else
		/* Nothing else was created for it. */
		oob_close(client->oob);
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
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&stop_fd))
		return EXIT_FAILED;
	/* 2. Open the device, once for all clients, and listen. */
	if (crowd_open(&crowd, &options, run_client))
		goto out;
	/* 3. Serve, a thread for each client. */
	ret = crowd_run(&crowd, stop_fd);
	/* After COUNT connections, our exit status says how they went. */
	if (options.end_after && report_failed(&crowd.figures))
		ret = -1;
out:
	/* 4. Free everything. */
	crowd_close(&crowd);
	close(stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
