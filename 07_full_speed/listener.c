/*
 * listener.c - where a server waits for its clients
 */
#include "listener.h"

#include <errno.h>
#include <netinet/in.h>

#include "addr.h"
#include "cm.h"
#include "cm_help.h"
#include "log.h"

/* How many clients may wait while we serve one. */
#define BACKLOG 16

static int bind_to(struct rdma_cm_id *id, const struct addrinfo *ai)
{
	if (ai->ai_family == AF_INET6 && cm_take_ipv4(id))
		return -1;
	if (rdma_bind_addr(id, ai->ai_addr))
		return cm_explain_bind(id, ai, errno);
	/* An id that is bound to one address already knows its device. */
	if (!id->verbs && addr_is_loopback(ai->ai_addr))
		return addr_explain_no_device(ai->ai_addr);
	return 0;
}

static int listen_on(struct listener *listener, const struct addrinfo *ai)
{
	if (rdma_create_id(listener->events, &listener->id, NULL, RDMA_PS_TCP))
		return cm_explain_create(errno);
	if (bind_to(listener->id, ai))
		return -1;
	if (rdma_listen(listener->id, BACKLOG))
		return log_fail_errno("rdma_listen", errno,
				      "give another port with -p");
	log_line("listening on port %u.",
		 ntohs(rdma_get_src_port(listener->id)));
	return 0;
}

int listener_open(struct listener *listener, const char *host, const char *port)
{
	struct addrinfo *list;
	int ret = -1;

	if (addr_lookup(host, port, &list))
		return -1;
	listener->events = cm_open_channel();
	/* A name may have several addresses: use the first that works. */
	for (struct addrinfo *ai = list; ai && ret && listener->events;
	     ai = ai->ai_next) {
		ret = listen_on(listener, ai);
		if (ret)
			cm_destroy_id(&listener->id);
	}
	freeaddrinfo(list);
	return ret;
}

void listener_close(struct listener *listener)
{
	cm_destroy_id(&listener->id);
	if (listener->events)
		rdma_destroy_event_channel(listener->events);
	*listener = (struct listener){ 0 };
}

int listener_wait(struct listener *listener, struct rdma_cm_id **id,
		  const struct patience *patience)
{
	int ret;

	do {
		if (wait_readable(listener->events->fd, -1, patience->stop_fd,
				  wait_deadline(-1)) < 0) {
			if (errno == ECANCELED)
				return 0;
			return wait_fail("a connection request", errno,
					 patience);
		}
		/* Without waiting: we may have been woken for nothing. */
		ret = cm_expect(listener->events, RDMA_CM_EVENT_CONNECT_REQUEST,
				NULL, id);
	} while (ret && ret != CM_NO_MORE);
	return ret ? -1 : 1;
}
