/*
 * counts.h - what has come of numbered messages, by sender
 *
 * Born in 06_rds.
 */
#ifndef COUNTS_H
#define COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include <netinet/in.h>

enum {
	COUNTS_SENDERS = 16, /* who is new takes the place of the oldest */
	COUNTS_TEXT = 128
};

struct count {
	struct sockaddr_in from;
	uint32_t next; /* the number that is due */
	uint32_t received;
	uint32_t missed; /* numbers that were skipped */
	uint32_t late; /* numbers that had been passed: doubled, or late */
};

struct counts {
	struct count senders[COUNTS_SENDERS];
	size_t newest; /* where the next new sender goes */
};

/* A message with this number came from there; number 0 begins anew. */
void counts_number(struct counts *counts, const struct sockaddr_in *from,
		   uint32_t number);

/* Writes what has come from there into text and returns its length. */
size_t counts_text(const struct counts *counts, const struct sockaddr_in *from,
		   char text[COUNTS_TEXT]);

#endif
