/*
 * gid.h - the GID that belongs to an IP address
 */
#ifndef GID_H
#define GID_H

#include <stdbool.h>

#include <infiniband/verbs.h>
#include <sys/socket.h>

/* An IP address as a GID: IPv6 as it is, IPv4 as ::ffff:a.b.c.d. */
void gid_of(const struct sockaddr *addr, union ibv_gid *gid);

/*
 * Whether entry of a port's table is addr. Several netdevs may have the same
 * link-local address: its scope says which one.
 */
bool gid_is_for(const struct ibv_gid_entry *entry, const struct sockaddr *addr);

/*
 * The index of the port's RoCE v2 GID that is the IP address local, or -1. The
 * table has other entries: the same address for RoCE v1, and at index 0 a
 * link-local one that reaches no other host. So a fixed index is a trap.
 */
int gid_find(struct ibv_context *verbs, uint8_t port_num,
	     const struct sockaddr *local);

/*
 * Asks for the GID at index of the port's table and writes it to *gid. roce: it
 * is a RoCE port, so an empty entry is an error. Returns 0, or -1 after
 * reporting why.
 */
int gid_query(struct ibv_context *verbs, uint8_t port_num, int index, bool roce,
	      union ibv_gid *gid);

#endif
