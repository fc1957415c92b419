/*
 * listener.c - where a server waits for its clients
 */
#include "listener.h"

#include <errno.h>

#include "log.h"

int listener_open(struct listener *listener, const struct options *options)
{
	const struct sockaddr *local = NULL;

	listener->options = options;
	listener->oob = oob_listen(options);
	if (!listener->oob)
		return -1;
	/*
	 * A client's connection will show which device it comes by. If we
	 * listen on one address, its device must be there now.
	 */
	if (options->address)
		local = oob_local(listener->oob);
	if (devices_open(&listener->devices, options, local))
		return -1;
	log_line("listening on port %s.", options->port);
	return 0;
}

void listener_close(struct listener *listener)
{
	devices_close(&listener->devices);
	oob_close(listener->oob);
	*listener = (struct listener){ 0 };
}

int listener_wait(struct listener *listener, const struct patience *patience)
{
	if (wait_readable(oob_fd(listener->oob), -1, patience->stop_fd,
			  wait_deadline(-1)) < 0) {
		if (errno == ECANCELED)
			return 0;
		return wait_fail("a connection request", errno, patience);
	}
	return 1;
}
