/*
 * addr.h - names and addresses
 */
#ifndef ADDR_H
#define ADDR_H

#include <stdbool.h>

#include <netinet/in.h>

/* Long enough for any address that addr_text() writes. */
#define ADDR_TEXT_SIZE 32

/*
 * Looks up host (a name or an IPv4 address), which may end in ":PORT"; without
 * that, port is taken. Fills *addr in and returns 0, or -1 after reporting why.
 */
int addr_lookup(const char *host, const char *port, struct sockaddr_in *addr);

/*
 * Finds out from which of this machine's addresses the way to peer begins.
 * Sends nothing. Fills *local in, with port 0; returns 0, or -1 after reporting
 * why.
 */
int addr_way_to(const struct sockaddr_in *peer, struct sockaddr_in *local);

/* Whether the two are the same, with their ports. */
bool addr_same(const struct sockaddr_in *a, const struct sockaddr_in *b);

/* Writes the address without its port into text and returns text. */
const char *addr_text(const struct sockaddr_in *addr,
		      char text[ADDR_TEXT_SIZE]);

#endif
