/*
 * test_exchange.c - the exchange inside TLS, with a peer that may say anything
 *
 * That the peer has a good certificate is no reason to believe it.
 */
#define _GNU_SOURCE
#include "oob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "exchange_peer.h"

#include "exchange.h"
#include "params_wire.h"

/* Where the peer is, and what it says of itself. */
static const struct params good = {
	.qpn = 0x11,
	.psn = 0x123456,
	.gid.raw = { [10] = 0xff, 0xff, 192, 0, 2, 1 },
	.lid = 7,
	.mtu = IBV_MTU_1024,
	.mode = MODE_READ,
	.mem = { 0x55d0c0ffee00, 0x7f1, 1024 },
};

static struct oob *listener, *oob;
static struct params got;

/* The peer's next message: a header, and all of a body. */
static void say(enum params_type type, const void *body)
{
	size_t length = params_header(type, peer.says + peer.length);

	peer.length += PARAMS_HEADER;
	if (body)
		memcpy(peer.says + peer.length, body, length);
	peer.length += length;
}

static void say_params(const struct params *params)
{
	uint8_t body[PARAMS_MAX] = { 0 };

	wire_of(params, body);
	say(PARAMS_PARAMS, body);
}

/* The peer as a client: from now on, it says all that it has to. */
static void begin(enum ending ending)
{
	struct options options = options_of("server", "0");

	peer.ending = ending;
	listener = oob_listen(&options);
	assert_non_null(listener);
	peer.port = port_of(oob_fd(listener));
	assert_int_equal(pthread_create(&peer.thread, NULL, run_peer, NULL), 0);
	assert_true(wait_readable(oob_fd(listener), -1, -1,
				  wait_deadline(20000)) > 0);
	oob = CAPTURED(accept_client(listener, &patience));
	if (!oob)
		fail_msg("%s", said.err);
}

static void end(void)
{
	oob_close(oob);
	oob_close(listener);
	join_peer();
	peer = (struct peer){ 0 };
}

static int recv_params(bool roce)
{
	return CAPTURED(oob_recv_params(oob, &got, roce));
}

static void assert_refused(const char *reason)
{
	assert_int_equal(recv_params(true), -1);
	assert_memory_equal(said.err, "error: ", 7);
	assert_one_line(said.err, reason);
	end();
}

TEST(both_ways)
{
	uint8_t body[PARAMS_MAX];
	size_t length = params_encode(&good, body);

	say_params(&good);
	say(PARAMS_READY, NULL);
	begin(WAITS);
	assert_int_equal(recv_params(true), 0);
	assert_string_equal(said.err, "");
	assert_int_equal(got.psn, good.psn);
	assert_int_equal(got.mem.rkey, good.mem.rkey);
	assert_int_equal(oob_send_params(oob, &good), 0);
	assert_int_equal(oob_ready(oob), 0);
	oob_bye(oob);
	oob_close(oob);
	oob = NULL;
	oob_close(listener);
	listener = NULL;
	join_peer();
	/* Hello, the parameters, ready, and goodbye. */
	assert_int_equal(peer.heard_length,
			 4 * PARAMS_HEADER + HELLO_BODY + length);
	assert_memory_equal(peer.heard + 2 * PARAMS_HEADER + HELLO_BODY, body,
			    length);
	peer = (struct peer){ 0 };
}

/* It comes from 192.0.2.1: a queue pair elsewhere is somebody else's. */
TEST(another_address)
{
	struct params params = good;

	params.gid.raw[15] = 2;
	say_params(&params);
	begin(WAITS);
	assert_refused("the peer's GID is not the address");
	/* The same bytes, but not as an IPv4 address. */
	params = good;
	params.gid.raw[10] = 0;
	say_params(&params);
	begin(WAITS);
	assert_refused("the peer's GID is not the address");
	/* InfiniBand's GIDs are no addresses: the LID is one. */
	say_params(&params);
	begin(WAITS);
	assert_int_equal(recv_params(false), 0);
	end();
}

TEST(bad_params)
{
	struct params params = good;

	params.qpn = 1;
	say_params(&params);
	begin(WAITS);
	assert_refused("QPN 0x1 is not one");
	params = good;
	params.mem.length = 0;
	say_params(&params);
	begin(WAITS);
	assert_refused("are allowed");
}

TEST(wrong_message)
{
	static const enum params_type wrong[] = { PARAMS_HELLO, PARAMS_READY,
						  PARAMS_BYE };
	const uint8_t body[PARAMS_MAX] = { 0 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		say(wrong[i], body);
		say_params(&good);
		begin(WAITS);
		assert_refused("protocol error: message type");
	}
}

TEST(too_long)
{
	say_params(&good);
	peer.says[8] = 1;
	begin(WAITS);
	assert_refused("256 is the most");
}

/* Half of it, and then nothing; or an end of one kind or the other. */
TEST(half)
{
	say_params(&good);
	peer.length -= 1;
	patience.timeout_ms = 1500;
	begin(WAITS);
	assert_refused("the peer's parameters: nothing came within 1.5 s");
	patience.timeout_ms = 20000;
	say_params(&good);
	peer.length -= 1;
	begin(SAYS_GOODBYE);
	assert_refused("the peer closed the connection");
	say_params(&good);
	peer.length -= 1;
	begin(IS_CUT);
	assert_refused("closed the connection without a goodbye");
}

TEST(not_ready)
{
	static const enum params_type wrong[] = { PARAMS_HELLO, PARAMS_PARAMS,
						  PARAMS_BYE };
	const uint8_t body[PARAMS_MAX] = { 0 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		int ret;

		say_params(&good);
		say(wrong[i], body);
		begin(WAITS);
		assert_int_equal(recv_params(true), 0);
		ret = CAPTURED(oob_ready(oob));
		assert_int_equal(ret, -1);
		assert_one_line(said.err, "protocol error: message type");
		end();
	}
}

/* What oob_check() finds once there is something to find. */
static int check(void)
{
	int64_t deadline = wait_deadline(20000);
	int ret;

	do {
		wait_readable(oob_fd(oob), -1, -1, deadline);
		ret = CAPTURED(oob_check(oob));
	} while (ret == OOB_THERE && wait_deadline(0) < deadline);
	return ret;
}

TEST(check)
{
	static const struct {
		enum params_type type;
		enum ending ending;
		int found;
	} cases[] = {
		{ PARAMS_BYE, WAITS, OOB_SAID_BYE },
		{ PARAMS_BYE, SAYS_GOODBYE, OOB_SAID_BYE },
		{ PARAMS_READY, WAITS, -1 },
		{ 0, SAYS_GOODBYE, OOB_GONE },
		{ 0, IS_CUT, OOB_GONE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (cases[i].type)
			say(cases[i].type, NULL);
		begin(cases[i].ending);
		assert_int_equal(check(), cases[i].found);
		assert_int_equal(said.err_length > 0, cases[i].found == -1);
		end();
	}
	begin(WAITS);
	assert_int_equal(oob_check(oob), OOB_THERE);
	end();
}

/* The peer as a server, whose hello is all that it says. */
static struct oob *connect_to_peer(void)
{
	char port[8];
	struct options options;
	struct oob *connected;
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	peer.fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(peer.fd, (void *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(peer.fd, 1), 0);
	snprintf(port, sizeof(port), "%d", port_of(peer.fd));
	options = options_of("client", port);
	assert_int_equal(pthread_create(&peer.thread, NULL, run_peer, NULL), 0);
	connected = CAPTURED(connect_to_server(&options, &patience));
	return connected;
}

TEST(hello)
{
	uint8_t body[PARAMS_MAX] = { [3] = 1, [7] = 1, [11] = 1 };

	for (enum params_type type = PARAMS_HELLO; type <= PARAMS_BYE; type++) {
		say(type, body);
		oob = connect_to_peer();
		if (type == PARAMS_HELLO) {
			assert_non_null(oob);
			assert_string_equal(said.err, "");
		} else {
			assert_null(oob);
			assert_one_line(said.err, "protocol error: message");
		}
		oob_close(oob);
		join_peer();
		assert_true(peer.let_in);
		peer = (struct peer){ 0 };
	}
	say(PARAMS_HELLO, body);
	peer.says[4]--;
	assert_null(connect_to_peer());
	assert_one_line(said.err, "this program version");
	join_peer();
	peer = (struct peer){ 0 };
}

AROUND_ALL(make_files, remove_files)
