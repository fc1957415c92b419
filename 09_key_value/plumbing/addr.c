/*
 * addr.c - names and addresses
 */
#include "addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "log.h"

/* A kernel may have been booted without IPv6. */
static bool has_ipv6(void)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/*
 * getaddrinfo(3) may ask a name server, which may be silent, and looks neither
 * at the clock nor at stop_fd. So while it asks, a signal ends the program at
 * once: the program does not hold anything yet that the kernel would not free.
 */
static int ask(const char *host, const char *port, struct addrinfo *hints,
	       struct addrinfo **list)
{
	sigset_t signals, before;
	int err;

	/* An address needs no name server, so leave the signals blocked. */
	hints->ai_flags |= AI_NUMERICHOST;
	err = getaddrinfo(host, port, hints, list);
	if (err != EAI_NONAME)
		return err;
	hints->ai_flags &= ~AI_NUMERICHOST;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	/* Fails only for an argument that does not exist, so not here. */
	pthread_sigmask(SIG_UNBLOCK, &signals, &before);
	err = getaddrinfo(host, port, hints, list);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int addr_lookup(const char *host, const char *port, struct addrinfo **list)
{
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICSERV | (host ? 0 : AI_PASSIVE),
		.ai_socktype = SOCK_STREAM,
	};
	int err;

	/* A server on "::" can be reached over IPv4 as well. */
	if (!host)
		hints.ai_family = has_ipv6() ? AF_INET6 : AF_INET;
	err = ask(host, port, &hints, list);
	if (err)
		return log_fail(
			"cannot look up %s: %s; give an address that `ip addr` shows on the server, such as -a 192.0.2.1",
			host ? host : "this machine's addresses",
			err == EAI_SYSTEM ? strerror(errno) :
					    gai_strerror(err));
	return 0;
}

const char *addr_text(const struct sockaddr *addr, char text[ADDR_TEXT_SIZE])
{
	socklen_t length = addr->sa_family == AF_INET6 ?
				   sizeof(struct sockaddr_in6) :
				   sizeof(struct sockaddr_in);

	if (getnameinfo(addr, length, text, ADDR_TEXT_SIZE, NULL, 0,
			NI_NUMERICHOST))
		snprintf(text, ADDR_TEXT_SIZE, "(no address)");
	return text;
}

bool addr_is_loopback(const struct sockaddr *addr)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;

	if (addr->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&sin6->sin6_addr);
	return ntohl(sin->sin_addr.s_addr) >> 24 == 127;
}

/* Whether entry is an IP address that other machines can use; fills text. */
static bool gid_address(const struct ibv_gid_entry *entry,
			char text[ADDR_TEXT_SIZE])
{
	struct in6_addr ip;

	memcpy(&ip, entry->gid.raw, sizeof(ip));
	if (entry->gid_type != IBV_GID_TYPE_ROCE_V2 ||
	    IN6_IS_ADDR_LINKLOCAL(&ip))
		return false;
	if (IN6_IS_ADDR_V4MAPPED(&ip))
		return inet_ntop(AF_INET, &ip.s6_addr[12], text,
				 ADDR_TEXT_SIZE);
	return inet_ntop(AF_INET6, &ip, text, ADDR_TEXT_SIZE);
}

static bool port_address(struct ibv_context *verbs, uint8_t port_num,
			 char text[ADDR_TEXT_SIZE])
{
	struct ibv_gid_entry entry;
	struct ibv_port_attr port;

	if (ibv_query_port(verbs, port_num, &port))
		return false;
	/* The query fails for an empty table entry. */
	for (int i = 0; i < port.gid_tbl_len; i++)
		if (!ibv_query_gid_ex(verbs, port_num, i, &entry, 0) &&
		    gid_address(&entry, text))
			return true;
	return false;
}

static bool device_address(struct ibv_device *device, char text[ADDR_TEXT_SIZE])
{
	struct ibv_context *verbs = ibv_open_device(device);
	struct ibv_device_attr attr;
	bool found = false;

	if (!verbs)
		return false;
	if (ibv_query_device(verbs, &attr))
		attr.phys_port_cnt = 0;
	for (int port = 1; port <= attr.phys_port_cnt && !found; port++)
		found = port_address(verbs, port, text);
	/* Nothing was made in this context, so closing it cannot fail. */
	ibv_close_device(verbs);
	return found;
}

/*
 * Finds an address of this machine that has an RDMA device. Returns whether
 * there is one; *count is how many devices there are.
 */
static bool usable_address(char text[ADDR_TEXT_SIZE], int *count)
{
	struct ibv_device **devices = ibv_get_device_list(count);
	bool found = false;

	if (!devices)
		*count = 0;
	for (int i = 0; i < *count && !found; i++)
		found = device_address(devices[i], text);
	if (devices)
		ibv_free_device_list(devices);
	return found;
}

/* The GIDs of RoCE are IP addresses; those of InfiniBand and iWARP are not. */
static int explain_no_address(const char *text, int count)
{
	if (!count)
		return log_fail(
			"%s: no RDMA device leads there, and this machine has none; see `rdma link` [docs/troubleshooting.md#no-device]",
			text);
	return log_fail(
		"%s: no RDMA device leads there, and none here is a RoCE device with an address; on InfiniBand the addresses are those of IPoIB netdevs: compare `rdma link` and `ip addr` [docs/troubleshooting.md#no-device]",
		text);
}

int addr_explain_no_device(const struct sockaddr *addr)
{
	char text[ADDR_TEXT_SIZE], usable[ADDR_TEXT_SIZE];
	int count;

	addr_text(addr, text);
	if (!usable_address(usable, &count))
		return explain_no_address(text, count);
	if (addr_is_loopback(addr))
		return log_fail(
			"%s: a loopback address belongs to the netdev lo, which no RDMA device sits on; use %s, which is also this machine's [docs/troubleshooting.md#loopback]",
			text, usable);
	return log_fail(
		"%s: no RDMA device leads there; the one with the address %s is on another route: compare `ip route get %s` [docs/troubleshooting.md#addr-error-19]",
		text, usable, text);
}
