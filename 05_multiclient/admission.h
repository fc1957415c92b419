/*
 * admission.h - how many may come, so that strangers leave room for others
 *
 * A stranger is who has connected and not yet shown who it is. It has no place, and
 * must not cost much: a thread, a descriptor and what OpenSSL holds for it, which
 * client_hello.h and tls.c limit; all of that until -t is over, at most.
 */
#ifndef ADMISSION_H
#define ADMISSION_H

#include <pthread.h>
#include <sys/socket.h>

#include "addr.h"

struct admission {
	/* Set these two and the lock, and zero the rest. */
	unsigned int clients; /* that may have a place at a time */
	unsigned int per_address; /* strangers of one address at a time */
	unsigned int strangers; /* all of them */
	pthread_mutex_t lock; /* for what follows */
	struct address *first; /* those with strangers */
};

/*
 * Makes room smaller, and says so, if this process may not have the descriptors for
 * it. Call it when all else is open, and before the first client. Returns 0, or -1
 * after reporting why there is no room at all.
 */
int admission_fit(struct admission *admission);

/*
 * One more stranger from this address, whose name is put into name. Returns 0, or -1
 * after reporting that it may not come, with an empty name.
 */
int admission_count(struct admission *admission, const struct sockaddr *from,
		    char name[ADDR_TEXT_SIZE]);

/* It is gone, or no stranger any more. Makes name empty; if it is, does nothing. */
void admission_forget(struct admission *admission, char name[ADDR_TEXT_SIZE]);

#endif
