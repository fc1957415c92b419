/*
 * addr.h - names and addresses
 */
#ifndef ADDR_H
#define ADDR_H

#include <stdbool.h>
#include <stddef.h>

#include <netdb.h>
#include <sys/socket.h>

/* Long enough for any address that the functions here write. */
#define ADDR_TEXT_SIZE 64

/*
 * Looks up host (a name, an IPv4 or an IPv6 address; NULL: any address of
 * this machine) and port. Returns 0 and a list that the caller frees with
 * freeaddrinfo(), or -1 after reporting why.
 */
int addr_lookup(const char *host, const char *port, struct addrinfo **list);

/* Writes addr as numbers into text and returns text. */
const char *addr_text(const struct sockaddr *addr, char text[ADDR_TEXT_SIZE]);

/* Whether addr never leaves this machine: 127.0.0.0/8 or ::1. */
bool addr_is_loopback(const struct sockaddr *addr);

/*
 * Says that no RDMA device leads to addr and, if addr is a loopback address,
 * which address of this machine to use instead. Always returns -1.
 */
int addr_explain_no_device(const struct sockaddr *addr);

#endif
