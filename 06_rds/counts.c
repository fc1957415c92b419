/*
 * counts.c - what has come of numbered messages, by sender
 *
 * Born in 06_rds.
 */
#include "counts.h"

#include <inttypes.h>
#include <stdio.h>

#include "addr.h"

/* The sender's entry, or the one that a new sender is to have. */
static size_t find(const struct counts *counts, const struct sockaddr_in *from)
{
	for (size_t i = 0; i < COUNTS_SENDERS; i++)
		if (addr_same(&counts->senders[i].from, from))
			return i;
	return counts->newest;
}

void counts_number(struct counts *counts, const struct sockaddr_in *from,
		   uint32_t number)
{
	size_t i = find(counts, from);
	struct count *count = &counts->senders[i];

	if (!addr_same(&count->from, from))
		counts->newest = (i + 1) % COUNTS_SENDERS;
	if (!addr_same(&count->from, from) || number == 0)
		*count = (struct count){ .from = *from };
	count->received++;
	if (number < count->next) {
		count->late++;
		return;
	}
	count->missed += number - count->next;
	count->next = number + 1;
}

size_t counts_text(const struct counts *counts, const struct sockaddr_in *from,
		   char text[COUNTS_TEXT])
{
	const struct count *count = &counts->senders[find(counts, from)];

	if (!addr_same(&count->from, from))
		return snprintf(text, COUNTS_TEXT, "no numbered messages");
	if (!count->missed && !count->late)
		return snprintf(text, COUNTS_TEXT,
				"%" PRIu32 " messages, all of them, in order",
				count->received);
	return snprintf(text, COUNTS_TEXT,
			"%" PRIu32 " messages; missed: %" PRIu32
			", doubled or late: %" PRIu32,
			count->received, count->missed, count->late);
}
