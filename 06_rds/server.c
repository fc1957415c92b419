/*
 * server.c - answers datagrams of any number of clients, from one socket
 *
 *     client                            server
 *     socket, bind                      socket, bind
 *     sendmsg   -- DGRAM_TEXT -->       recvmsg
 *     recvmsg   <-- DGRAM_ANSWER --     sendmsg
 *     sendmsg   -- DGRAM_BYE -->        recvmsg
 *     recvmsg   <-- DGRAM_BYE --        sendmsg
 *
 * There is nothing to connect and nothing to disconnect. The other types of
 * datagrams are in dgram.h.
 */
#include <errno.h>
#include <locale.h>
#include <unistd.h>

#include "ipv4.h"
#include "answer.h"
#include "log.h"
#include "options.h"
#include "rds.h"
#include "wait.h"

/* Finds the server's own address, and binds its socket, or both, to it. */
static int listen_on(struct answer *answer, const struct options *options)
{
	struct sockaddr_in local;
	char text[IPV4_TEXT_SIZE];

	if (ipv4_lookup(options->addresses[0], options->port, &local))
		return -1;
	if (rds_open(&answer->rds, &local, options->transport))
		return -1;
	if (options->wait && ntohs(local.sin_port) == 65535)
		return log_fail(
			"-w: there is no port after 65535; choose one up to 65534 with -p");
	if (options->wait) {
		local.sin_port = htons(ntohs(local.sin_port) + 1);
		if (rds_open(&answer->control, &local, options->transport))
			return -1;
	}
	log_line("listening on %s port %d over %s%s.", ipv4_text(&local, text),
		 ntohs(answer->rds.local.sin_port),
		 rds_transport_name(answer->rds.transport),
		 options->wait ? ", and not reading yet" : "");
	return 0;
}

/* Takes one datagram after another until told to stop. */
static int serve(struct answer *answer, bool wait, int stop_fd)
{
	int ready, ret = 0;

	while (ret == 0 || ret == ANSWER_READ_ON) {
		if (ret == ANSWER_READ_ON)
			wait = false;
		lend_expire(&answer->lend, &answer->rds);
		ready = wait_readable(wait ? -1 : answer->rds.fd,
				      answer->control.fd, stop_fd,
				      lend_deadline(&answer->lend));
		if (ready < 0 && errno == ECANCELED)
			return 0;
		if (ready < 0 && errno == ETIMEDOUT)
			continue;
		if (ready < 0)
			return log_fail_errno("poll", errno, "cannot go on");
		ret = ready & WAIT_SECOND ? answer_control(answer) :
					    answer_next(answer);
	}
	return ret == ANSWER_BYE ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct answer answer = { .rds.fd = -1, .control.fd = -1 };
	struct patience patience = { .stop_fd = -1 };
	struct options options;
	int ret = -1, status;

	setlocale(LC_CTYPE, "C.UTF-8");
	status = options_parse(&options, ROLE_SERVER, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	patience.timeout_ms = options.timeout_ms;
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&patience.stop_fd))
		goto out;
	/* 2. Allocate memory for datagrams, and to lend. */
	if (answer_open(&answer, options.once, &patience))
		goto out;
	/* 3. Bind. */
	if (listen_on(&answer, &options))
		goto out;
	/* 4. Serve. */
	ret = serve(&answer, options.wait, patience.stop_fd);
out:
	/* 5. Free everything. */
	answer_close(&answer);
	if (patience.stop_fd >= 0)
		close(patience.stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
