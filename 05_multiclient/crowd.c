/*
 * crowd.c - all clients of a server, with a thread for each
 */
#include "crowd.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/eventfd.h>

#include "admission.h"
#include "log.h"
#include "report.h"
#include "thread.h"

/* Strangers that may be shaking hands, or silent, at the same time. */
#define STRANGERS_MAX 2048

/* How long to leave the listener alone when no client can be taken. */
#define REST_MS 1000

int crowd_open(struct crowd *crowd, const struct options *options,
	       void (*serve)(struct client *client))
{
	struct room room = { options->max, STRANGERS_MAX };

	*crowd = (struct crowd){
		.options = options,
		.figures.lock = PTHREAD_MUTEX_INITIALIZER,
		.serve = serve,
		.usr1_fd = -1,
		.room_fd = -1,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.addresses.lock = PTHREAD_MUTEX_INITIALIZER,
		.identities.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	turns_open(&crowd->turns);
	if (ending_open(&crowd->ending) || report_signal(&crowd->usr1_fd) ||
	    ending_eventfd(&crowd->room_fd) ||
	    listener_open(&crowd->listener, options) ||
	    admission_fit(&room, crowd->listener.devices.list, options->bytes))
		return -1;
	log_line("listening on port %s.", options->port);
	crowd->figures.max = room.clients;
	crowd->strangers_max = room.strangers;
	crowd->identities.max =
		options->per_identity ? (int)options->per_identity : INT_MAX;
	/* No address has more than half of the places for strangers. */
	crowd->addresses.max = options->per_address < room.strangers / 2 ?
				       options->per_address :
				       room.strangers / 2;
	crowd->listening = true;
	return 0;
}

void crowd_close(struct crowd *crowd)
{
	listener_close(&crowd->listener);
	if (crowd->room_fd >= 0)
		close(crowd->room_fd);
	if (crowd->usr1_fd >= 0)
		close(crowd->usr1_fd);
	ending_close(&crowd->ending);
}

static unsigned int count_threads(struct crowd *crowd)
{
	unsigned int threads;

	pthread_mutex_lock(&crowd->lock);
	threads = crowd->threads;
	pthread_mutex_unlock(&crowd->lock);
	return threads;
}

void crowd_room(struct crowd *crowd)
{
	/* It cannot fail before it has been written to 2^64 times. */
	eventfd_write(crowd->room_fd, 1);
}

static void forget_address(struct client *client)
{
	if (*client->address)
		share_return(&client->crowd->addresses, client->address);
	*client->address = 0;
}

int crowd_share(struct client *client)
{
	struct share *identities = &client->crowd->identities;
	const char *who = client->who.identity;
	int count;

	/* It is not a stranger any more. */
	forget_address(client);
	if (oob_who(client->oob, &client->who))
		return -1;
	count = share_take(identities, who);
	client->has_share = count > 0;
	if (!count)
		log_line(
			"%s has %d connections, and may have no more: refused.",
			*who ? who : "no identity", identities->max);
	return count > 0 ? 0 : -1;
}

/* Gives back what is counted for a client, and forgets it. */
static void free_client(struct client *client)
{
	if (client->has_share)
		share_return(&client->crowd->identities, client->who.identity);
	forget_address(client);
	free(client);
}

static void *run_client(void *argument)
{
	struct client *client = argument;
	struct crowd *crowd = client->crowd;
	pthread_t before;
	bool has_before;

	crowd->serve(client);
	free_client(client);
	/*
	 * Each thread that ends joins the one that ended before it. So at most
	 * one that has ended is not yet joined, and none is forgotten.
	 */
	pthread_mutex_lock(&crowd->lock);
	has_before = crowd->has_last;
	before = crowd->last;
	crowd->last = pthread_self();
	crowd->has_last = true;
	crowd->threads--;
	crowd_room(crowd);
	pthread_mutex_unlock(&crowd->lock);
	if (has_before)
		pthread_join(before, NULL);
	return NULL;
}

static int start_thread(struct client *client)
{
	struct crowd *crowd = client->crowd;
	pthread_t thread;
	int ret;

	pthread_mutex_lock(&crowd->lock);
	ret = thread_start(&thread, run_client, client,
			   "this client is not served");
	if (!ret)
		crowd->threads++;
	pthread_mutex_unlock(&crowd->lock);
	return ret;
}

/*
 * One more stranger from this address. A host with one IPv6 address can use
 * every address with the same first 64 bits, so these count as one.
 */
static int count_address(struct client *client)
{
	struct share *addresses = &client->crowd->addresses;
	struct sockaddr_storage from;
	int count;

	memcpy(&from, oob_peer(client->oob), sizeof(from));
	if (from.ss_family == AF_INET6)
		memset(&((struct sockaddr_in6 *)&from)->sin6_addr.s6_addr[8], 0,
		       8);
	addr_text((struct sockaddr *)&from, client->address);
	count = share_take(addresses, client->address);
	if (count > 0)
		return 0;
	if (count < 0)
		return -1;
	return log_fail(
		"%s: as many strangers as one address may have at a time (%d, see -X): refused [docs/troubleshooting.md#server-full]",
		client->address, addresses->max);
}

/* Takes one client off the listener; its thread does the rest. */
static int take_client(struct crowd *crowd)
{
	struct patience patience = {
		.timeout_ms = crowd->options->timeout_ms,
		.stop_fd = crowd->ending.closing_fd,
	};
	struct client *client = calloc(1, sizeof(*client));

	if (!client)
		return log_fail_errno("calloc", errno,
				      "a client is not served");
	client->crowd = crowd;
	client->turn.turns = &crowd->turns;
	client->turn.number = crowd->taken;
	client->oob = oob_accept(crowd->listener.oob, &patience);
	if (!client->oob) {
		free(client);
		return -1;
	}
	if (count_address(client)) {
		oob_close(client->oob);
		free(client);
		/* Others may come: there is no need to rest. */
		return 0;
	}
	figures_arrive(&crowd->figures);
	crowd->taken++;
	if (start_thread(client)) {
		figures_leave(&crowd->figures, STEP_HANDSHAKE);
		oob_close(client->oob);
		free_client(client);
		return -1;
	}
	return 0;
}

/* From now on, new connections are refused. */
static void stop_listening(struct crowd *crowd)
{
	if (crowd->listening)
		oob_stop(crowd->listener.oob);
	crowd->listening = false;
	crowd->resting = false;
}

/* The first signal lets the last clients finish; the second does not. */
static void on_stop(struct crowd *crowd, int stop_fd)
{
	stop_listening(crowd);
	ending_ask(&crowd->ending, stop_fd, crowd->options->grace);
	turns_close(&crowd->turns);
}

/* Somebody has sent SIGUSR1 or SIGHUP. */
static void on_asked(struct crowd *crowd)
{
	int signal = report_asked(crowd->usr1_fd);

	if (signal == SIGUSR1)
		report_print(&crowd->figures, &crowd->held);
	else if (signal == SIGHUP && !oob_renew(crowd->listener.oob))
		log_line("certificates read again.");
	else if (signal == SIGHUP)
		log_line("the certificates that were read before stay.");
}

/* A client is there, or a thread has ended. */
static void on_news(struct crowd *crowd, bool room)
{
	eventfd_t count;

	/* After a failure, only a client that leaves from now on makes room. */
	eventfd_read(crowd->room_fd, &count);
	crowd->resting = room && take_client(crowd);
	if (crowd->taken == crowd->options->end_after && crowd->taken)
		stop_listening(crowd);
}

/* Waits for the next thing to happen and does it. Returns 0 or -1. */
static int step(struct crowd *crowd, int stop_fd)
{
	bool room =
		crowd->listening && !crowd->resting &&
		figures_now(&crowd->figures).strangers < crowd->strangers_max;
	int fd = room ? oob_fd(crowd->listener.oob) : crowd->room_fd;
	int news = wait_readable(fd, crowd->usr1_fd, stop_fd,
				 crowd->resting ? wait_deadline(REST_MS) :
						  crowd->ending.deadline);

	if (news < 0 && errno == ECANCELED)
		on_stop(crowd, stop_fd);
	else if (news < 0 && errno == ETIMEDOUT && crowd->resting)
		crowd->resting = false;
	else if (news < 0 && errno == ETIMEDOUT)
		ending_cut(&crowd->ending);
	else if (news < 0)
		return log_fail_errno("poll", errno, "the server ends");
	if (news > 0 && news & WAIT_SECOND)
		on_asked(crowd);
	if (news > 0 && news & WAIT_FIRST)
		on_news(crowd, room);
	return 0;
}

int crowd_run(struct crowd *crowd, int stop_fd)
{
	int ret = 0;

	while (crowd->listening || count_threads(crowd)) {
		if (!step(crowd, stop_fd))
			continue;
		/* End cleanly, even now: the threads need our memory. */
		ret = -1;
		stop_listening(crowd);
		ending_cut(&crowd->ending);
	}
	if (crowd->has_last)
		pthread_join(crowd->last, NULL);
	report_print(&crowd->figures, &crowd->held);
	return ret;
}
