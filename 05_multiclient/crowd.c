/*
 * crowd.c - all clients of a server, with a thread for each
 */
#include "crowd.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include "explain.h"
#include "log.h"
#include "thread.h"

/* Strangers that may be shaking hands, or silent, at the same time. */
#define STRANGERS_MAX 2048

/* A socket and a completion channel; a stranger has only a socket. */
#define CLIENT_DESCRIPTORS 2

/* For the server itself: devices, signals, files that are open for a moment. */
#define DESCRIPTORS_SPARE 40

/* With fewer for all others, a silent stranger would delay them. */
#define DESCRIPTORS_LEAST 16

/* How long to leave the listener alone when no client can be taken. */
#define REST_MS 1000

/* ---- Figures ---- */

static struct figures figures_now(struct crowd *crowd)
{
	struct figures now;

	pthread_mutex_lock(&crowd->lock);
	now = crowd->figures;
	pthread_mutex_unlock(&crowd->lock);
	return now;
}

/* How many clients have failed, at any step. */
static unsigned int failed(const struct figures *figures)
{
	unsigned int sum = 0;

	for (int step = 0; step < STEP_DONE; step++)
		sum += figures->left[step];
	return sum;
}

static void print_figures(struct crowd *crowd)
{
	/* Printing may take long, so do not hold the lock. */
	struct figures now = figures_now(crowd);
	const struct held *held = &crowd->held;
	const unsigned int *left = now.left;

	log_line("[figures] connected: %u of %u; shaking hands: %u",
		 now.connected, crowd->max_clients, now.strangers);
	log_line("[figures] served: %u; refused: %u; failed: %u",
		 left[STEP_DONE], now.refused, failed(&now));
	log_line(
		"[figures] failed at: handshake %u, exchange %u, objects %u, transfer %u, goodbye %u",
		left[STEP_HANDSHAKE], left[STEP_EXCHANGE], left[STEP_OBJECTS],
		left[STEP_TRANSFER], left[STEP_GOODBYE]);
	log_line("[figures] objects held: %d PDs, %d CQs, %d QPs, %d MRs",
		 held->pds, held->cqs, held->qps, held->mrs);
}

/*
 * ---- Strangers, who have connected and not yet shown who they are ----
 *
 * A stranger has no place, and must not cost much: a thread, a descriptor and what
 * OpenSSL holds for it, which client_hello.h and tls.c limit; all of that until -t
 * is over, at most. Call these two with the lock.
 */

/*
 * A host with one IPv6 address can use every address with the same first 64 bits,
 * so these count as one.
 */
static void name_address(const struct sockaddr *from, char name[ADDR_TEXT_SIZE])
{
	struct sockaddr_in6 sin6;

	if (from->sa_family != AF_INET6) {
		addr_text(from, name);
		return;
	}
	memcpy(&sin6, from, sizeof(sin6));
	memset(&sin6.sin6_addr.s6_addr[8], 0, 8);
	addr_text((struct sockaddr *)&sin6, name);
}

/* One more, from this address. Fails after reporting that it may not come. */
static int add_stranger(struct client *client)
{
	unsigned int same = 0, most = client->crowd->max_strangers / 2;
	struct client **first = &client->crowd->strangers;

	name_address((struct sockaddr *)&client->oob.peer, client->address);
	for (struct client *one = *first; one; one = one->next)
		same += !strcmp(one->address, client->address);
	if (same >= most)
		return log_fail(
			"%s: as many strangers as one address may have at a time (%u): refused [docs/troubleshooting.md#server-full]",
			client->address, most);
	client->next = *first;
	*first = client;
	client->crowd->figures.strangers++;
	return 0;
}

/* It is gone, or no stranger any more. Returns whether it was one until now. */
static bool remove_stranger(struct client *client)
{
	struct client **link = &client->crowd->strangers;

	while (*link && *link != client)
		link = &(*link)->next;
	if (!*link)
		return false;
	*link = client->next;
	client->crowd->figures.strangers--;
	return true;
}

/* ---- In, and out ---- */

/* A handshake or a thread is over: there may be room for another one. */
static void tell_room(struct crowd *crowd)
{
	/* It cannot fail before it has been written to 2^64 times. */
	eventfd_write(crowd->room_fd, 1);
}

void crowd_let_in(struct client *client)
{
	struct crowd *crowd = client->crowd;
	struct figures *figures = &crowd->figures;

	pthread_mutex_lock(&crowd->lock);
	remove_stranger(client);
	/* Check and take under one lock: two must not take the last place. */
	if (figures->connected < crowd->max_clients) {
		figures->connected++;
		client->number = ++figures->number;
	} else {
		figures->refused++;
	}
	client->connected = figures->connected;
	pthread_mutex_unlock(&crowd->lock);
	tell_room(crowd);
}

/* It has left after this step. */
static void let_out(struct client *client, enum step step)
{
	struct crowd *crowd = client->crowd;
	struct figures *figures = &crowd->figures;
	bool stranger;

	pthread_mutex_lock(&crowd->lock);
	stranger = remove_stranger(client);
	if (client->number)
		figures->connected--;
	/* Who was refused has not failed. */
	if (stranger || client->number)
		figures->left[step]++;
	pthread_mutex_unlock(&crowd->lock);
	free(client);
}

/* ---- Threads ---- */

static void *run_client(void *argument)
{
	struct client *client = argument;
	struct crowd *crowd = client->crowd;
	pthread_t before;
	bool has_before;

	let_out(client, crowd->serve(client));
	/*
	 * Each thread that ends joins the one that ended before it. So at most
	 * one that has ended is not yet joined, and none is forgotten.
	 */
	pthread_mutex_lock(&crowd->lock);
	has_before = crowd->has_last;
	before = crowd->last;
	crowd->last = pthread_self();
	crowd->has_last = true;
	crowd->figures.threads--;
	tell_room(crowd);
	pthread_mutex_unlock(&crowd->lock);
	if (has_before)
		pthread_join(before, NULL);
	return NULL;
}

/* Returns 1; 0 if the client may not come; or -1. Call it with the lock. */
static int start_thread(struct client *client)
{
	struct crowd *crowd = client->crowd;
	pthread_t thread;

	if (add_stranger(client))
		return 0;
	crowd->taken++;
	if (!thread_start(&thread, run_client, client,
			  "this client is not served")) {
		crowd->figures.threads++;
		return 1;
	}
	remove_stranger(client);
	crowd->figures.left[STEP_HANDSHAKE]++;
	return -1;
}

/*
 * Takes the next client off the listener; its thread does the rest. Fails if the next
 * one would probably fail as well.
 */
static int take_client(struct crowd *crowd)
{
	struct client *client = calloc(1, sizeof(*client));
	int ret;

	if (!client)
		return explain_call("calloc", errno);
	client->crowd = crowd;
	ret = oob_next(&crowd->listener.oob, &client->oob);
	if (ret > 0) {
		pthread_mutex_lock(&crowd->lock);
		ret = start_thread(client);
		pthread_mutex_unlock(&crowd->lock);
	}
	if (ret > 0)
		return 0;
	oob_close(&client->oob);
	free(client);
	return ret;
}

/* ---- The end ---- */

/* From now on, new connections are refused. */
static void stop_listening(struct crowd *crowd)
{
	/* Not close(2): other threads may still use what belongs to it. */
	if (crowd->listening)
		shutdown(crowd->listener.oob.line.fd, SHUT_RDWR);
	crowd->listening = false;
}

/* The last clients give up what they wait for. */
static void cut(struct crowd *crowd)
{
	eventfd_write(crowd->cut_fd, 1);
	/* Each has deadlines of its own for what it still has to do. */
	crowd->deadline = wait_deadline(-1);
}

/* The first lets the last clients finish; the second does not. */
static int on_signal(struct crowd *crowd)
{
	struct signalfd_siginfo info;

	if (read(crowd->stop_fd, &info, sizeof(info)) != sizeof(info))
		return explain_call("read", errno);
	if (info.ssi_signo == SIGUSR1) {
		print_figures(crowd);
		return 0;
	}
	stop_listening(crowd);
	if (crowd->asked) {
		log_line("asked again to stop: not waiting any longer.");
		crowd->deadline = wait_deadline(0);
		return 0;
	}
	log_line("asked to stop: no new clients, up to %u s for the others.",
		 crowd->grace);
	crowd->asked = true;
	crowd->deadline = wait_deadline(crowd->grace * 1000);
	eventfd_write(crowd->closing_fd, 1);
	return 0;
}

/* ---- The main thread ---- */

/* A client is there, or a thread has ended. */
static void on_news(struct crowd *crowd, bool room)
{
	eventfd_t count;

	eventfd_read(crowd->room_fd, &count);
	/* After a failure, only a client that leaves from now on makes room. */
	if (room && take_client(crowd))
		/* Whatever ends this wait, step() will see it. */
		(void)wait_readable(crowd->room_fd, -1, crowd->stop_fd,
				    wait_deadline(REST_MS));
	if (crowd->taken == crowd->end_after && crowd->taken)
		stop_listening(crowd);
}

/* Waits for the next thing to happen and does it. Returns 0 or -1. */
static int step(struct crowd *crowd)
{
	bool room = crowd->listening &&
		    figures_now(crowd).strangers < crowd->max_strangers;
	int fd = room ? crowd->listener.oob.line.fd : crowd->room_fd;

	if (wait_readable(fd, -1, crowd->stop_fd, crowd->deadline) > 0)
		on_news(crowd, room);
	else if (errno == ECANCELED)
		return on_signal(crowd);
	else if (errno == ETIMEDOUT)
		cut(crowd);
	else
		return explain_call("poll", errno);
	return 0;
}

int crowd_run(struct crowd *crowd)
{
	int ret = 0;

	while (crowd->listening || figures_now(crowd).threads) {
		if (!step(crowd))
			continue;
		/* The last clients need our memory, and go on until we fail again. */
		if (ret)
			cut(crowd);
		ret = -1;
		stop_listening(crowd);
	}
	if (crowd->has_last)
		pthread_join(crowd->last, NULL);
	print_figures(crowd);
	return crowd->end_after && failed(&crowd->figures) ? -1 : ret;
}

/* ---- The beginning ---- */

static int open_eventfd(int *fd)
{
	*fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return *fd < 0 ? explain_call("eventfd", errno) : 0;
}

/* SIGUSR1 becomes readable where SIGINT and SIGTERM are, instead of fatal. */
static int add_usr1(int signal_fd)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return explain_call("sigprocmask", errno);
	if (signalfd(signal_fd, &signals, 0) < 0)
		return explain_call("signalfd", errno);
	return 0;
}

/* Fewer clients and strangers, after saying so, if we may not have the descriptors. */
static int fit_descriptors(struct crowd *crowd)
{
	unsigned long left = 0, clients;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return explain_call("getrlimit", errno);
	/* Anybody may raise the soft limit up to the hard one. */
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return explain_call("setrlimit", errno);
	if (limit.rlim_cur > DESCRIPTORS_SPARE)
		left = limit.rlim_cur - DESCRIPTORS_SPARE;
	if (left < DESCRIPTORS_LEAST)
		return log_fail(
			"%lu more descriptors are too few for a server; see \"ulimit -Hn\"",
			left);
	crowd->max_strangers =
		left / 4 < STRANGERS_MAX ? left / 4 : STRANGERS_MAX;
	clients = (left - crowd->max_strangers) / CLIENT_DESCRIPTORS;
	if (clients >= crowd->max_clients)
		return 0;
	crowd->max_clients = clients;
	log_line(
		"%lu more descriptors: room for %u clients and %u strangers at a time; for more, see \"ulimit -Hn\".",
		left, crowd->max_clients, crowd->max_strangers);
	return 0;
}

/* They are opened only here, and never for a client. */
static void say_devices(const struct device *list)
{
	for (int i = 0; i < CONN_DEVICES && list[i].verbs; i++)
		log_line("Opened shared RDMA device: %s",
			 ibv_get_device_name(list[i].verbs->device));
}

int crowd_open(struct crowd *crowd, const struct oob_way *way)
{
	crowd->room_fd = crowd->closing_fd = crowd->cut_fd = -1;
	crowd->deadline = wait_deadline(-1);
	pthread_mutex_init(&crowd->lock, NULL);
	if (open_eventfd(&crowd->closing_fd) || open_eventfd(&crowd->cut_fd) ||
	    open_eventfd(&crowd->room_fd) || add_usr1(crowd->stop_fd) ||
	    conn_listen(&crowd->listener, way))
		return -1;
	say_devices(crowd->listener.devices);
	if (fit_descriptors(crowd))
		return -1;
	log_line("listening on port %s.", way->port);
	crowd->listening = true;
	return 0;
}

void crowd_close(struct crowd *crowd)
{
	int fds[] = { crowd->room_fd, crowd->closing_fd, crowd->cut_fd };

	conn_close(&crowd->listener);
	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	pthread_mutex_destroy(&crowd->lock);
}
