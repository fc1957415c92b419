/*
 * load.c - many clients in one program, and one thread
 *
 * Each of them does what ../client.c does. All are on one completion queue and one
 * shared receive queue, like the clients of the server.
 */
#include <locale.h>

#include "crowd.h"

int main(int argc, char **argv)
{
	struct crowd crowd = { 0 };
	struct options options;
	int ret = -1, status;

	setlocale(LC_CTYPE, "C.UTF-8");
	status = options_parse(&options, ROLE_LOAD, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	crowd.options = &options;
	/* 1. Find the server, and get ready to wait for everything at once. */
	if (crowd_open(&crowd))
		goto out;
	/* 2. Connect, ask, and leave. */
	ret = crowd_run(&crowd);
out:
	/* 3. Free everything. */
	crowd_close(&crowd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
