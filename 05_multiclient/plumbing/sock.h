/*
 * sock.h - TCP sockets that never block and know when their peer is gone
 */
#ifndef SOCK_H
#define SOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/socket.h>

#include "wait.h"

/*
 * Listens on address (NULL: all of this machine's) and port. Returns a
 * non-blocking socket that the caller closes, or -1 after reporting why.
 */
int sock_listen(const char *address, const char *port);

/* What sock_accept() returns if the next connection would fail as well. */
#define SOCK_BROKEN (-2)

/*
 * Takes the next connection, and the address that it comes from. Returns a
 * socket as above; -1 after reporting why this one cannot be taken, or
 * SOCK_BROKEN after reporting why none can.
 */
int sock_accept(int listener, struct sockaddr_storage *peer);

/*
 * Connects to address and port before the deadline. A name's addresses are
 * tried in turn, and share the time. Returns a socket as above, or -1 after
 * reporting why of each.
 */
int sock_connect(const char *address, const char *port,
		 const struct patience *patience, int64_t deadline);

/* The address of this end, which is one of this machine's. Returns 0 or -1. */
int sock_local(int fd, struct sockaddr_storage *addr);

/* The address of the other end. Returns 0, or -1 after reporting why. */
int sock_peer(int fd, struct sockaddr_storage *addr);

/* Whether err, of a call on a connection, means that nobody is there any more. */
bool sock_is_gone(int err);

#endif
