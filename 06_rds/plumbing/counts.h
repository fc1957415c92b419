/*
 * counts.h - which numbered messages have arrived, by sender
 */
#ifndef COUNTS_H
#define COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include <netinet/in.h>

enum {
	COUNTS_SENDERS = 64, /* at a time; one more is not counted */
	COUNTS_TEXT = 128
};

struct count {
	struct sockaddr_in from;
	uint32_t next; /* the number that is due */
	uint32_t received;
	uint32_t missed; /* numbers that were skipped */
	uint32_t late; /* numbers below next: doubled, or late */
};

struct counts {
	struct count senders[COUNTS_SENDERS]; /* unused if its family is 0 */
};

/*
 * Counts a message with this number from there; number 0 restarts the count. If
 * there is no place for one more sender, it counts nothing, and counts_text()
 * says so.
 */
void counts_number(struct counts *counts, const struct sockaddr_in *from,
		   uint32_t number);

/* Writes what has come from there into text and returns its length. */
size_t counts_text(struct counts *counts, const struct sockaddr_in *from,
		   char text[COUNTS_TEXT]);

/* Frees the place of a sender that has gone. */
void counts_forget(struct counts *counts, const struct sockaddr_in *from);

#endif
