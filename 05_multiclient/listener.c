/*
 * listener.c - where a server waits for its clients
 */
#include "listener.h"

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
	/* They are opened only here, and never for a client. */
	for (unsigned int i = 0; i < listener->devices.count; i++)
		log_line("Opened shared RDMA device: %s",
			 ibv_get_device_name(
				 listener->devices.list[i].verbs->device));
	return 0;
}

void listener_close(struct listener *listener)
{
	devices_close(&listener->devices);
	oob_close(listener->oob);
	*listener = (struct listener){ 0 };
}
