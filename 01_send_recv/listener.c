/*
 * listener.c - where a server waits for its clients
 */
#include "listener.h"

#include <errno.h>
#include <netinet/in.h>

#include "addr.h"
#include "cm_help.h"
#include "log.h"

/* How many clients may wait while one is being served. */
#define BACKLOG 16

static int bind_and_listen(struct rdma_cm_id *id, const struct addrinfo *ai)
{
	int only = 0;

	/* On "::" it takes IPv4 as well, whatever net.ipv6.bindv6only says. */
	if (ai->ai_family == AF_INET6 &&
	    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only,
			    sizeof(only)))
		return log_fail_errno("rdma_set_option", errno,
				      "IPv4 would not be taken");
	if (rdma_bind_addr(id, ai->ai_addr))
		return cm_explain_bind(id, ai, errno);
	/* Bound to one address, an id knows its device already. */
	if (!id->verbs && addr_is_loopback(ai->ai_addr))
		return addr_explain_no_device(ai->ai_addr);
	if (rdma_listen(id, BACKLOG))
		return log_fail_errno("rdma_listen", errno,
				      "give another port with -p");
	log_line("listening on port %u.", ntohs(rdma_get_src_port(id)));
	return 0;
}

static void destroy_id(struct listener *listener)
{
	if (listener->id && rdma_destroy_id(listener->id))
		log_fail_errno("rdma_destroy_id", errno, "of the listener");
	listener->id = NULL;
}

static int listen_on(struct listener *listener, const struct addrinfo *ai)
{
	if (rdma_create_id(listener->events, &listener->id, NULL, RDMA_PS_TCP))
		return log_fail_errno("rdma_create_id", errno,
				      "may this user open "
				      "/dev/infiniband/rdma_cm"
				      " [docs/troubleshooting.md#permission]");
	if (!bind_and_listen(listener->id, ai))
		return 0;
	destroy_id(listener);
	return -1;
}

int listener_open(struct listener *listener, const struct options *options)
{
	struct addrinfo *list;
	int ret = -1;

	if (addr_lookup(options->address, options->port, &list))
		return -1;
	listener->events = cm_open_channel();
	/* A name may have several addresses; the first that works is taken. */
	for (struct addrinfo *ai = list; ai && ret && listener->events;
	     ai = ai->ai_next)
		ret = listen_on(listener, ai);
	freeaddrinfo(list);
	return ret;
}

void listener_close(struct listener *listener)
{
	destroy_id(listener);
	if (listener->events)
		rdma_destroy_event_channel(listener->events);
	*listener = (struct listener){ 0 };
}

int listener_wait(struct listener *listener, const struct patience *patience)
{
	if (wait_readable(listener->events->fd, -1, patience->stop_fd,
			  wait_deadline(-1)) < 0) {
		if (errno == ECANCELED)
			return 0;
		return wait_fail("a connection request", errno, patience);
	}
	return 1;
}
