/*
 * client.c - talks to one or more servers from one socket
 *
 * The datagrams are drawn in server.c.
 */
#include <locale.h>
#include <unistd.h>

#include "log.h"
#include "options.h"
#include "session.h"
#include "work.h"

/* What the command line asks for. */
static int work(struct session *session)
{
	switch (session->options->work) {
	case WORK_TALK:
		return work_talk(session);
	case WORK_COUNT:
		return work_count(session);
	case WORK_CONGEST:
		return work_congest(session);
	case WORK_WRITE:
		return work_write(session);
	case WORK_BENCH:
		return work_bench(session);
	case WORK_FILL:
		return work_fill(session);
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct patience patience = { .stop_fd = -1 };
	struct session session = { .rds.fd = -1 };
	struct options options;
	int ret = -1, status;

	setlocale(LC_CTYPE, "C.UTF-8");
	status = options_parse(&options, ROLE_CLIENT, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	patience.timeout_ms = options.timeout_ms;
	/* 1. From now on, SIGINT and SIGTERM end all waiting. */
	if (wait_for_signals(&patience.stop_fd))
		goto out;
	/* 2. Bind one socket, for all servers. */
	if (session_open(&session, &options, &patience))
		goto out;
	/* 3. Is there a kernel at these addresses? For `fill` there is not. */
	if (options.work != WORK_FILL && session_greet(&session))
		goto out;
	/* 4. Send and receive. There is nothing to connect. */
	if (work(&session))
		goto out;
	/* 5. Say goodbye: no kernel will, since there is no connection. */
	ret = options.work == WORK_FILL ? 0 : session_bye(&session);
out:
	/* 6. Free everything. */
	session_close(&session);
	if (patience.stop_fd >= 0)
		close(patience.stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
