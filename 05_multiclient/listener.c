/*
 * listener.c - where a server waits for its clients
 *
 * Born in 01_send_recv, last changed in 03_pure_verbs.
 */
#include "listener.h"

#include <errno.h>

#include "addr.h"
#include "log.h"

/* With an address to listen on, the device must be the one that has it. */
static int open_device(struct listener *listener, const struct options *options)
{
	struct addrinfo *list;
	int ret;

	if (!options->address)
		return device_open(&listener->device, options, NULL);
	if (addr_lookup(options->address, options->port, &list))
		return -1;
	ret = device_open(&listener->device, options, list->ai_addr);
	freeaddrinfo(list);
	return ret;
}

int listener_open(struct listener *listener, const struct options *options)
{
	listener->options = options;
	if (open_device(listener, options))
		return -1;
	listener->oob = oob_listen(options);
	if (!listener->oob)
		return -1;
	log_line("listening on port %s.", options->port);
	return 0;
}

void listener_close(struct listener *listener)
{
	oob_close(listener->oob);
	device_close(&listener->device);
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
