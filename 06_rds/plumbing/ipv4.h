/*
 * ipv4.h - names and addresses
 */
#ifndef IPV4_H
#define IPV4_H

#include <stdbool.h>

#include <netinet/in.h>

/* Long enough for any address that ipv4_text() writes. */
#define IPV4_TEXT_SIZE 32

/*
 * Looks up host (a name or an IPv4 address), which may end in ":PORT"; without
 * that, port is taken. Fills *addr in and returns 0, or -1 after reporting why.
 */
int ipv4_lookup(const char *host, const char *port, struct sockaddr_in *addr);

/*
 * Looks up "HOST[:PORT],...", at most max of them. Returns how many there are, or
 * -1 after reporting why.
 */
int ipv4_list(const char *text, const char *port, struct sockaddr_in *addrs,
	      int max);

/*
 * Finds out from which of this machine's addresses the way to peer begins.
 * Sends nothing. Fills *local in, with port 0; returns 0, or -1 after reporting
 * why.
 */
int ipv4_way_to(const struct sockaddr_in *peer, struct sockaddr_in *local);

/* Whether the two are the same, with their ports. */
bool ipv4_same(const struct sockaddr_in *a, const struct sockaddr_in *b);

/* Writes the address without its port into text and returns text. */
const char *ipv4_text(const struct sockaddr_in *addr,
		      char text[IPV4_TEXT_SIZE]);

#endif
