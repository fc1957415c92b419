/*
 * ending.h - how a server that has clients comes to its end
 *
 * The first signal keeps new clients out, and gives those that are there some
 * time; a second one, or the end of that time, cuts off what is left.
 */
#ifndef ENDING_H
#define ENDING_H

#include <stdbool.h>
#include <stdint.h>

struct ending {
	bool asked; /* to stop, by a signal */
	int64_t deadline; /* for the last clients after that */
	int closing_fd; /* readable: no new clients, give up handshakes */
	int cut_fd; /* readable: the last clients give up, too */
};

/* Returns 0, or -1 after reporting why. Either way, end with ending_close(). */
int ending_open(struct ending *ending);
void ending_close(struct ending *ending);

/*
 * To be called when a signal has made stop_fd readable. grace: how many seconds
 * the last clients may take.
 */
void ending_ask(struct ending *ending, int stop_fd, unsigned int grace);

/* To be called at the deadline: the last clients give up what they wait for. */
void ending_cut(struct ending *ending);

/*
 * Opens a descriptor that eventfd_write() makes readable. Returns 0, or -1
 * after reporting why.
 */
int ending_eventfd(int *fd);

#endif
