/*
 * info.c - the tables that the kernel's RDS has about itself, as in rds-info
 *
 * getsockopt(2) with RDS_INFO_* copies a whole table of the kernel's. It
 * returns the size of an entry; with too small a buffer it fails with ENOSPC
 * and says how much is needed.
 */
#include "info.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "ipv4.h"
#include "log.h"

struct table {
	char *bytes;
	size_t count; /* of entries */
	size_t size; /* of an entry */
};

/* The caller frees table->bytes, even after a failure. */
static int read_table(struct rds *rds, int option, size_t size,
		      struct table *table)
{
	socklen_t length = 0;
	char *bytes;
	int n;

	*table = (struct table){ .size = size };
	/* A table may grow between the question and the answer. */
	while ((n = getsockopt(rds->fd, SOL_RDS, option, table->bytes,
			       &length)) < 0) {
		if (errno != ENOSPC)
			return log_fail_errno(
				"RDS_INFO", errno,
				"cannot read the kernel's table %d", option);
		bytes = realloc(table->bytes, length);
		if (!bytes)
			return log_fail("no memory for %u bytes of a table",
					length);
		table->bytes = bytes;
	}
	if ((size_t)n < size)
		return log_fail(
			"RDS_INFO: the kernel's table %d has entries of %d bytes, not %zu; is it older than this program's <linux/rds.h>",
			option, n, size);
	/* A newer kernel may have added something at the end. */
	table->size = n;
	table->count = length / n;
	return 0;
}

/* Entries are packed, so copy them before use. */
static void entry(const struct table *table, size_t i, void *to, size_t size)
{
	memcpy(to, table->bytes + i * table->size, size);
}

static int count_sockets(struct rds *rds, uint32_t address, int *count)
{
	struct rds_info_socket socket;
	struct table table;
	int ret;

	*count = 0;
	ret = read_table(rds, RDS_INFO_SOCKETS, sizeof(socket), &table);
	for (size_t i = 0; ret == 0 && i < table.count; i++) {
		entry(&table, i, &socket, sizeof(socket));
		*count += socket.bound_addr == address;
	}
	free(table.bytes);
	return ret;
}

/* The kernel's name for a transport, in a connection's entry. */
static const char *kernel_name(int transport)
{
	return transport == RDS_TRANS_IB ? "infiniband" : "tcp";
}

/* What there is between two addresses: here is ours, there is the peer's. */
static int count_connections(struct rds *rds, uint32_t there, int *count,
			     int *loopback)
{
	struct rds_info_connection conn;
	struct table table;
	int ret;

	*count = *loopback = 0;
	ret = read_table(rds, RDS_INFO_CONNECTIONS, sizeof(conn), &table);
	for (size_t i = 0; ret == 0 && i < table.count; i++) {
		entry(&table, i, &conn, sizeof(conn));
		if (conn.laddr != rds->local.sin_addr.s_addr ||
		    conn.faddr != there)
			continue;
		if (!strcmp((char *)conn.transport, "loopback"))
			++*loopback;
		else if (!strcmp((char *)conn.transport,
				 kernel_name(rds->transport)))
			++*count;
	}
	free(table.bytes);
	return ret;
}

int info_connections(struct rds *rds, const struct sockaddr_in *peer)
{
	char here[IPV4_TEXT_SIZE], there[IPV4_TEXT_SIZE];
	int sockets, count, loopback;

	if (count_sockets(rds, rds->local.sin_addr.s_addr, &sockets) ||
	    count_connections(rds, peer->sin_addr.s_addr, &count, &loopback))
		return -1;
	ipv4_text(&rds->local, here);
	ipv4_text(peer, there);
	log_line("RDS sockets on %s: %d.", here, sockets);
	if (loopback)
		log_line(
			"connections from %s to %s: none; the kernel carries it itself (loopback: %d).",
			here, there, loopback);
	else
		log_line("connections from %s to %s over %s: %d.", here, there,
			 rds_transport_name(rds->transport), count);
	return 0;
}

/* The IPv4 address in an IPv6 one, as ::ffff:a.b.c.d. */
static bool same_address(struct in6_addr a, struct in_addr b)
{
	return IN6_IS_ADDR_V4MAPPED(&a) && a.s6_addr32[3] == b.s_addr;
}

/* Adds this socket's messages in one of the two queues. */
static int add_messages(struct rds *rds, int option, struct info_queue *queue)
{
	struct rds6_info_message message;
	struct info_message *grown;
	struct table table;
	int ret;

	ret = read_table(rds, option, sizeof(message), &table);
	grown = realloc(queue->messages, (queue->count + table.count + 1) *
						 sizeof(*queue->messages));
	if (grown)
		queue->messages = grown;
	else
		ret = log_fail("no memory for %zu messages of a table",
			       table.count);
	for (size_t i = 0; ret == 0 && i < table.count; i++) {
		entry(&table, i, &message, sizeof(message));
		if (message.lport != rds->local.sin_port ||
		    !same_address(message.laddr, rds->local.sin_addr))
			continue;
		queue->messages[queue->count++] = (struct info_message){
			.host.s_addr = message.faddr.s6_addr32[3],
			.port = message.fport,
			.bytes = message.len,
		};
	}
	free(table.bytes);
	return ret;
}

/* For qsort(3): by host, then by port. */
static int in_order(const void *a, const void *b)
{
	const struct info_message *x = a, *y = b;

	if (x->host.s_addr != y->host.s_addr)
		return x->host.s_addr < y->host.s_addr ? -1 : 1;
	return (int)x->port - y->port;
}

int info_queue(struct rds *rds, struct info_queue *queue)
{
	*queue = (struct info_queue){ 0 };
	/*
	 * Messages that are not yet sent, and those that are kept to be sent
	 * again. In the tables without a 6, Linux 6.1 says 0.0.0.0 for every
	 * address.
	 */
	if (add_messages(rds, RDS6_INFO_SEND_MESSAGES, queue) ||
	    add_messages(rds, RDS6_INFO_RETRANS_MESSAGES, queue))
		return -1;
	if (queue->count)
		qsort(queue->messages, queue->count, sizeof(*queue->messages),
		      in_order);
	return 0;
}
