/*
 * sender.h - sends files, one after another
 */
#ifndef SENDER_H
#define SENDER_H

#include "stream.h"

/* The files of one client. Zero it, and set names, count and csv. */
struct sender {
	char **names;
	unsigned int count;
	bool csv; /* a line of comma-separated values for each */
	unsigned int next; /* the file that is to be sent now */
	unsigned int refused; /* that could not be sent, or were not taken */
	uint64_t kept; /* bytes of it that the server said it has */
	bool got_on; /* it has more than at the connection before */
};

/*
 * Sends the files from next on, and says goodbye. Returns 0, with those that
 * were not taken in refused; or -1 after reporting how the connection ended.
 * Then it can be called again with another one: the file that broke off is
 * continued.
 */
int sender_run(struct sender *sender, struct stream *stream);

#endif
