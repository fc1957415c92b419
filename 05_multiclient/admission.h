/*
 * admission.h - for how many clients this process has enough of everything
 *
 * A client that is let in and then fails, since there is no memory or thread
 * for it, learns less than one that is told that the server is full.
 */
#ifndef ADMISSION_H
#define ADMISSION_H

#include "device.h"

/* How many there is room for at a time. */
struct room {
	unsigned int clients;
	unsigned int strangers; /* that have not yet shown who they are */
};

/*
 * Makes *room smaller, and says so, if this process may not have the
 * descriptors, threads or locked memory for it. Silently limits the room for
 * strangers, if they could take more than a quarter of the memory. Call it
 * when all else is open, and before the first client. Returns 0, or -1 after
 * reporting why there is no room at all.
 */
int admission_fit(struct room *room, const struct device *device, size_t bytes);

/* One of the three: what is left of it, and what a client or stranger costs. */
struct supply {
	unsigned long left;
	const char *what;
	const char *hint; /* how to get more */
	unsigned int client, stranger;
};
int admission_share(struct room *room, const struct supply *supply);

/* How many strangers fit into a quarter of that many kB of memory. */
unsigned int admission_strangers(unsigned long kb);

#endif
