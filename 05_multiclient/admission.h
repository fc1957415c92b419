/*
 * admission.h - how many may come, so that strangers leave room for others
 *
 * A stranger is who has connected and not yet shown who it is. It has no place, and
 * must not cost much: a thread, a descriptor and what OpenSSL holds for it, which
 * client_hello.h and tls.c limit; all of that until -t is over, at most.
 */
#ifndef ADMISSION_H
#define ADMISSION_H

#include <stdbool.h>

#include <sys/socket.h>

#include "addr.h"

/* Who is one. Zero it first. */
struct stranger {
	struct stranger *next;
	char address[ADDR_TEXT_SIZE];
};

struct admission {
	unsigned int clients; /* that may have a place at a time: set it */
	unsigned int
		strangers; /* that may be here at a time; of one address, half */
	struct stranger *first; /* those who are here */
};

/*
 * Makes room smaller, and says so, if this process may not have the descriptors for
 * it. Call it before the first client. Returns 0, or -1 after reporting why there is
 * no room at all.
 */
int admission_fit(struct admission *admission);

/* One more stranger, from this address: returns 0, or -1 after reporting that it may not come. */
int admission_add(struct admission *admission, struct stranger *stranger,
		  const struct sockaddr *from);

/* It is gone, or no stranger any more. Returns whether it was one until now. */
bool admission_remove(struct admission *admission, struct stranger *stranger);

#endif
