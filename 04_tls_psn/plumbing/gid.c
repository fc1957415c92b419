/*
 * gid.c - the GID that belongs to an IP address
 */
#include "gid.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "log.h"

void gid_of(const struct sockaddr *addr, union ibv_gid *gid)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;

	if (addr->sa_family == AF_INET6) {
		memcpy(gid->raw, &sin6->sin6_addr, 16);
		return;
	}
	memset(gid->raw, 0, 10);
	memset(gid->raw + 10, 0xff, 2);
	memcpy(gid->raw + 12, &sin->sin_addr, 4);
}

static bool is_in_scope(const struct sockaddr *local, uint32_t netdev)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)local;

	return local->sa_family != AF_INET6 || !sin6->sin6_scope_id ||
	       !netdev || sin6->sin6_scope_id == netdev;
}

bool gid_is_for(const struct ibv_gid_entry *entry, const struct sockaddr *addr)
{
	union ibv_gid gid;

	gid_of(addr, &gid);
	return !memcmp(entry->gid.raw, gid.raw, 16) &&
	       is_in_scope(addr, entry->ndev_ifindex);
}

int gid_find(struct ibv_context *verbs, uint8_t port_num,
	     const struct sockaddr *local)
{
	struct ibv_gid_entry entry;
	struct ibv_port_attr port;

	if (ibv_query_port(verbs, port_num, &port))
		return -1;
	/* The query fails for an empty table entry. */
	for (int i = 0; i < port.gid_tbl_len; i++)
		if (!ibv_query_gid_ex(verbs, port_num, i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    gid_is_for(&entry, local))
			return i;
	return -1;
}

int gid_query(struct ibv_context *verbs, uint8_t port_num, int index, bool roce,
	      union ibv_gid *gid)
{
	static const union ibv_gid empty;
	int err = ibv_query_gid(verbs, port_num, index, gid);

	if (err)
		return log_fail_errno(
			"ibv_query_gid", err > 0 ? err : errno,
			"GID index %d: give another with -g; scripts/setup_rxe.sh --status lists them",
			index);
	if (roce && !memcmp(gid, &empty, sizeof(empty)))
		return log_fail(
			"GID index %d is empty; give another with -g, or none; scripts/setup_rxe.sh --status lists them",
			index);
	return 0;
}
