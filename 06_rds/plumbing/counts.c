/*
 * counts.c - which numbered messages have arrived, by sender
 */
#include "counts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "ipv4.h"

static bool is_free(const struct count *count)
{
	return count->from.sin_family != AF_INET;
}

/* The sender's entry; NULL: it has none. */
static struct count *find(struct counts *counts, const struct sockaddr_in *from)
{
	for (size_t i = 0; i < COUNTS_SENDERS; i++)
		if (!is_free(&counts->senders[i]) &&
		    ipv4_same(&counts->senders[i].from, from))
			return &counts->senders[i];
	return NULL;
}

static struct count *find_free(struct counts *counts)
{
	for (size_t i = 0; i < COUNTS_SENDERS; i++)
		if (is_free(&counts->senders[i]))
			return &counts->senders[i];
	return NULL;
}

void counts_number(struct counts *counts, const struct sockaddr_in *from,
		   uint32_t number)
{
	struct count *count = find(counts, from);

	if (!count || number == 0) {
		if (!count)
			count = find_free(counts);
		if (!count)
			return;
		*count = (struct count){ .from = *from };
	}
	count->received++;
	if (number < count->next) {
		count->late++;
		return;
	}
	count->missed += number - count->next;
	count->next = number + 1;
}

void counts_forget(struct counts *counts, const struct sockaddr_in *from)
{
	struct count *count = find(counts, from);

	if (count)
		*count = (struct count){ 0 };
}

size_t counts_text(struct counts *counts, const struct sockaddr_in *from,
		   char text[COUNTS_TEXT])
{
	const struct count *count = find(counts, from);

	if (!count && !find_free(counts))
		return snprintf(
			text, COUNTS_TEXT,
			"not counted: %d others are being counted, and have not said goodbye",
			COUNTS_SENDERS);
	if (!count)
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
