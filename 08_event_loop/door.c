/*
 * door.c - how clients come and go
 */
#include "door.h"

#include <errno.h>
#include <stdlib.h>

#include "cm.h"
#include "cm_help.h"
#include "content.h"
#include "log.h"

/* How many events of the CM one turn of the loop handles at most. */
#define CM_BUDGET 16

/* Memory and an SRQ for all clients that come by the device of verbs. */
static int open_hub(struct server *server, struct hub *hub,
		    struct ibv_context *verbs)
{
	const struct options *options = server->options;
	/* Two completions for each receive, and two for each client. */
	unsigned int entries = 2 * RECEIVES + 2 * options->max;
	struct data greeting = { 0 };

	if (hub_open(hub, &server->loop, verbs, entries, options->max,
		     options->bytes))
		return -1;
	greeting.local = hub->local;
	content_write(&greeting, MODE_WRITE, "passive/server");
	return 0;
}

/* The hub of that device; it is opened when the first client comes by it. Or NULL. */
static struct hub *hub_of(struct server *server, struct ibv_context *verbs)
{
	struct hub *hub = server->guests.hubs;

	while (hub && hub->verbs != verbs)
		hub = hub->next;
	if (hub)
		return hub;
	hub = calloc(1, sizeof(*hub));
	if (!hub) {
		log_fail_errno("calloc", errno, "a client is not served");
		return NULL;
	}
	if (open_hub(server, hub, verbs)) {
		hub_close(hub);
		free(hub);
		return NULL;
	}
	hub->next = server->guests.hubs;
	server->guests.hubs = hub;
	return hub;
}

void door_close_hubs(struct server *server)
{
	struct hub *hub;

	while ((hub = server->guests.hubs)) {
		server->guests.hubs = hub->next;
		hub_close(hub);
		free(hub);
	}
}

/*
 * The client's requests may find no receive until more are posted: it must try
 * again for as long as that takes, every 41 ms (the IBTA specification, 9.7.5.2.8).
 */
static int accept_guest(struct guest *guest,
			const struct rdma_conn_param *asked)
{
	struct rdma_conn_param param = {
		/*
		 * READs at a time: each costs memory, and our clients need none.
		 * No more than the client has asked for.
		 */
		.initiator_depth = asked->initiator_depth > 0,
		.responder_resources = asked->responder_resources > 0,
		.retry_count = 6,
		.rnr_retry_count = 6,
	};
	struct ibv_qp_attr attr = { .min_rnr_timer = 24 };
	int err;

	if (rdma_accept(guest->conn.id, &param))
		return log_fail_errno("rdma_accept", errno,
				      "did the client give up in the meantime");
	err = ibv_modify_qp(guest->conn.qp, &attr, IBV_QP_MIN_RNR_TIMER);
	/* The client may be in error by now, and a completion will say why. */
	if (err && err != EINVAL)
		return log_fail_errno("ibv_modify_qp", err, "min_rnr_timer");
	return 0;
}

/* Whether there is room for a client, and what it asks for can be had. */
static bool is_welcome(const struct server *server,
		       const struct rdma_conn_param *asked)
{
	if (server->loop.asked) {
		log_line("refused: the server ends.");
		return false;
	}
	if (server->guests.count >= server->options->max) {
		log_line("server full (%u): refused.", server->options->max);
		return false;
	}
	/* Its number is our queue pair's, too: we would never hear that it fails. */
	if (asked->rnr_retry_count == 7) {
		log_line(
			"refused: its answers would be sent for ever where it has no receive (rnr_retry_count 7; at most 6 is allowed).");
		return false;
	}
	return true;
}

/*
 * A client asks for a connection: makes it a guest, or refuses it. asked: what it
 * has asked for.
 */
static void on_request(struct server *server, struct rdma_cm_id *id,
		       const struct rdma_conn_param *asked)
{
	struct guest *guest = NULL;
	struct hub *hub = NULL;

	if (is_welcome(server, asked))
		hub = hub_of(server, id->verbs);
	if (hub)
		guest = guests_add(&server->guests, hub, id);
	if (!guest) {
		if (rdma_reject(id, NULL, 0))
			log_fail_errno("rdma_reject", errno,
				       "the client has to find out by itself");
		cm_destroy_id(&id);
		return;
	}
	log_prefix("Client %u: ", guest->number);
	log_line("received connection request.");
	if (accept_guest(guest, asked))
		guests_leave(&server->guests, guest);
	log_prefix("%s", "");
}

/* What the CM says of a guest. */
static void on_guest(struct server *server, struct guest *guest,
		     const struct rdma_cm_event *event)
{
	log_prefix("Client %u: ", guest->number);
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		guest->conn.established = true;
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		guests_left(&server->guests, guest);
		break;
	default:
		cm_explain_event(event, RDMA_CM_EVENT_ESTABLISHED);
		guests_leave(&server->guests, guest);
	}
	log_prefix("%s", "");
}

/* Returns 0, or -1 if all is lost. */
static int on_cm_event(struct server *server, struct rdma_cm_event *event)
{
	/* Our copy: acknowledging frees the event. */
	struct rdma_cm_event copy = *event;

	if (copy.event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		cm_explain_event(event, RDMA_CM_EVENT_CONNECT_REQUEST);
	/* rdma_destroy_id() waits for this. It is over whatever it returns. */
	if (rdma_ack_cm_event(event))
		log_fail_errno("rdma_ack_cm_event", errno,
			       "rdma_destroy_id() may hang");
	switch (copy.event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		on_request(server, copy.id, &copy.param.conn);
		return 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return -1;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		return 0;
	default:
		on_guest(server, copy.id->context, &copy);
		return 0;
	}
}

/* The CM's channel can be read. */
static int on_cm(void *owner)
{
	struct server *server = owner;
	struct rdma_cm_event *event;

	for (int budget = CM_BUDGET; budget;
	     budget = loop_left(&server->loop, budget - 1)) {
		if (rdma_get_cm_event(server->listener.events, &event)) {
			if (errno == EAGAIN)
				return 0;
			return log_fail_errno("rdma_get_cm_event", errno,
					      "the event channel is unusable");
		}
		if (on_cm_event(server, event))
			return -1;
	}
	return 0;
}

int door_open(struct server *server)
{
	const struct options *options = server->options;
	struct listener *listener = &server->listener;

	if (listener_open(listener, options->address, options->port))
		return -1;
	server->requests =
		(struct watch){ listener->events->fd, on_cm, server };
	return loop_add(&server->loop, &server->requests);
}
