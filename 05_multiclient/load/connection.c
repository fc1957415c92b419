/*
 * connection.c - the life of one of many connections, and what all share
 */
#include "connection.h"

#include "conn.h"
#include "content.h"
#include "data.h"
#include "hold.h"
#include "log.h"
#include "peer.h"
#include "retry.h"
#include "transfer.h"

int connecting_open(struct connecting *connecting,
		    const struct options *options, unsigned int jobs,
		    int stop_fd)
{
	connecting->options = options;
	connecting->patience = (struct patience){
		.timeout_ms = options->timeout_ms,
		.stop_fd = stop_fd,
	};
	turns_open(&connecting->turns);
	if (jobs)
		connecting->turns.places = jobs;
	connecting->prepared = oob_prepare(options);
	if (!connecting->prepared)
		return -1;
	return devices_open(&connecting->devices, options, NULL);
}

void connecting_close(struct connecting *connecting)
{
	devices_close(&connecting->devices);
	oob_close(connecting->prepared);
}

/* What ../conn.c does in conn_resolve(), with what is open already. */
static int resolve(struct conn *conn, struct connecting *connecting,
		   struct hello *hello)
{
	bool passing;
	int ret;

	conn->patience = connecting->patience;
	conn->oob = oob_connect(connecting->prepared, connecting->options,
				&conn->patience, hello, &passing);
	if (!conn->oob)
		return passing ? CONN_PASSING : -1;
	ret = conn_take_hello(conn, hello);
	return ret ? ret : conn_share(conn, &connecting->devices);
}

/* The same when it is the turn of number: its time begins then. */
static int resolve_in_turn(struct conn *conn, struct connecting *connecting,
			   unsigned int number, struct hello *hello)
{
	struct turn turn = { .turns = &connecting->turns, .number = number };
	int64_t deadline = 0;
	int ret;

	turn_take(&turn, &deadline);
	ret = resolve(conn, connecting, hello);
	turn_leave(&turn);
	return ret;
}

/* Up to as many times as -r says, while the problem may pass. */
static int resolve_patiently(struct conn *conn, struct connecting *connecting,
			     unsigned int number, struct hello *hello)
{
	unsigned int failures = 0;
	int ret;

	for (;;) {
		log_prefix("%s", "");
		*hello = (struct hello){ .number = 1 };
		ret = resolve_in_turn(conn, connecting, number, hello);
		if (ret != CONN_PASSING)
			return ret;
		conn_close(conn);
		if (retry_wait(++failures, connecting->options->retries,
			       &connecting->patience))
			return hello->number ? -1 : CONNECTION_FULL;
	}
}

static int converse(struct data *data, enum mode mode, unsigned int number)
{
	struct transfer transfer = { .data = data, .mode = mode };

	if (transfer_run(&transfer))
		return -1;
	return content_check(data, transfer.mode, true, CONTENT_SERVER, number);
}

/* From the server's hello to the goodbye: steps 2 to 8 of ../client.c. */
static int live(struct conn *conn, struct data *data,
		const struct options *options, unsigned int number)
{
	if (conn_choose_psn(conn, options))
		return -1;
	if (conn_create_qp(conn, DATA_SENDS, DATA_RECEIVES,
			   data_exposed_access(options->mode)))
		return -1;
	if (data_open(data, conn, options->mode, options->bytes))
		return -1;
	content_write(data, options->mode, CONTENT_CLIENT, number);
	if (data_post_receives(data))
		return -1;
	if (conn_connect(conn))
		return -1;
	if (converse(data, options->mode, number))
		return -1;
	if (options->hold && hold_connection(conn, options->hold))
		return -1;
	/* A signal ends them all at once, so let the server take its time. */
	conn->patience.stop_fd = -1;
	return peer_disconnect(conn);
}

int connection_run(struct connecting *connecting, unsigned int number)
{
	struct conn conn = { 0 };
	struct data data = { 0 };
	struct hello hello;
	int ret = resolve_patiently(&conn, connecting, number, &hello);

	if (!ret)
		ret = live(&conn, &data, connecting->options, hello.number);
	conn_end(&conn);
	if (data_drain(&data))
		ret = -1;
	data_close(&data);
	conn_close(&conn);
	return ret;
}
