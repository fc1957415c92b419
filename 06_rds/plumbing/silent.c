/*
 * silent.c - hosts that do not acknowledge what they are sent
 *
 * It is a host's kernel that acknowledges, and not a program: a host that is
 * given up is given up with all its ports.
 */
#include "silent.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "info.h"
#include "ipv4.h"
#include "log.h"

bool silent_has(const struct silent *silent, const struct sockaddr_in *to)
{
	int64_t now = wait_deadline(0);

	for (size_t i = 0; i < SILENT_MAX; i++)
		if (silent->hosts[i].host.s_addr == to->sin_addr.s_addr &&
		    silent->hosts[i].until > now)
			return true;
	return false;
}

/* Bytes that may be queued for sending, as RDS counts. */
static long room_of(struct rds *rds)
{
	socklen_t length = sizeof(int);
	int bytes = 0;

	/* Fails only for a bad option or address, so not here. */
	getsockopt(rds->fd, SOL_SOCKET, SO_SNDBUF, &bytes, &length);
	/* As for every socket, the kernel says twice the size; RDS uses half. */
	return bytes / 2;
}

/*
 * Which host has most of what is queued, if that is as much as the buffer
 * takes. While we waited, nothing was added: all of it is old.
 */
static struct in_addr find_silent(const struct info_queue *queue, long room,
				  struct in_addr otherwise)
{
	struct in_addr host = otherwise;
	long bytes, most = 0, all = 0;

	for (size_t i = 0; i < queue->count; i++) {
		all += queue->messages[i].bytes;
		/* In order: those of a host stand together. */
		if (!i || queue->messages[i - 1].host.s_addr !=
				  queue->messages[i].host.s_addr)
			bytes = 0;
		bytes += queue->messages[i].bytes;
		if (bytes > most) {
			most = bytes;
			host = queue->messages[i].host;
		}
	}
	return all >= room ? host : otherwise;
}

/* RDS cancels what goes to one port of a host, so once for each. */
static void cancel(struct rds *rds, const struct info_queue *queue,
		   struct sockaddr_in to)
{
	for (size_t i = 0; i < queue->count; i++) {
		const struct info_message *message = &queue->messages[i];

		if (message->host.s_addr != to.sin_addr.s_addr ||
		    (i && message[-1].host.s_addr == message->host.s_addr &&
		     message[-1].port == message->port))
			continue;
		to.sin_port = message->port;
		rds_set(rds, RDS_CANCEL_SENT_TO, "RDS_CANCEL_SENT_TO", &to,
			sizeof(to));
	}
}

void silent_add(struct silent *silent, struct rds *rds,
		const struct sockaddr_in *to)
{
	struct silent_host *place = &silent->hosts[silent->next];
	int ms = rds->patience.timeout_ms * SILENT_TIMES;
	struct sockaddr_in host = *to;
	struct info_queue queue;
	char text[IPV4_TEXT_SIZE];

	/* If this fails, it says so, and there is less to cancel. */
	info_queue(rds, &queue);
	host.sin_addr = find_silent(&queue, room_of(rds), to->sin_addr);
	cancel(rds, &queue, host);
	free(queue.messages);
	silent->next = (silent->next + 1) % SILENT_MAX;
	*place = (struct silent_host){ host.sin_addr, wait_deadline(ms) };
	log_line(
		"%s acknowledges nothing: what was queued for it is cancelled, and it is not answered for %g s.",
		ipv4_text(&host, text), ms / 1000.0);
}
