/*
 * hints.h - what a failure of a socket means, and what to try
 *
 * Each prints one line, as log_fail() does, and returns -1.
 */
#ifndef HINTS_H
#define HINTS_H

#include <stddef.h>

#include <netinet/in.h>

/* Says that a call, or setting an option of that name, failed with err, an errno. */
int explain_call(const char *call, int err);

/* Says that bind(2) to addr failed with err. */
int explain_bind(const struct sockaddr_in *addr, int err);

/* Says that sendmsg(2) of length bytes failed with err. */
int explain_send(const struct sockaddr_in *to, size_t length, int err);

/* Says that a datagram of more than size bytes has come. */
int explain_long(const struct sockaddr_in *from, size_t size);

/* What the status of an RDMA operation means, RDS_RDMA_*. Prints nothing. */
const char *hint_status(int status);

#endif
