/*
 * listener.c - where a server waits for its clients
 */
#include "listener.h"

int listener_open(struct listener *listener, const struct options *options)
{
	const struct sockaddr *local = NULL;

	listener->options = options;
	listener->oob = oob_listen(options);
	if (!listener->oob)
		return -1;
	/*
	 * By which device a client comes, its connection will show. With an
	 * address to listen on, that is known now: it must be there.
	 */
	if (options->address)
		local = oob_local(listener->oob);
	return devices_open(&listener->devices, options, local);
}

void listener_close(struct listener *listener)
{
	devices_close(&listener->devices);
	oob_close(listener->oob);
	*listener = (struct listener){ 0 };
}
