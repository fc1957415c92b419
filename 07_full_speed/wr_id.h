/*
 * wr_id.h - what a completion tells of its request
 *
 * All requests of a CQ are told apart in the same way. A wr_id has three
 * fields: how many requests of its queue are over when this one is, what it
 * was, and a number.
 */
#ifndef WR_ID_H
#define WR_ID_H

#include <stdint.h>

/* What a request was. */
enum request {
	REQUEST_OPERATION, /* of a benchmark */
	REQUEST_MESSAGE, /* of data.h; the number is its slot */
	REQUEST_RECEIVE, /* these are a channel's; the number is the slot */
	REQUEST_HEAD, /* a header of ours, */
	REQUEST_PART, /* or a part that we send or write: parts that are over */
	REQUEST_READ /* a part that we read; the number is its length */
};

/* The first field: it ends where the second one begins. */
#define REQUEST_OVER_MAX ((1 << 13) - 1)

/* over is 0 for one that is not signalled: it reports only if it fails. */
static inline uint64_t request_id(enum request of, unsigned int over,
				  uint64_t number)
{
	return number << 16 | (uint64_t)of << 13 | over;
}

static inline unsigned int request_over(uint64_t wr_id)
{
	return wr_id & REQUEST_OVER_MAX;
}

static inline enum request request_of(uint64_t wr_id)
{
	return wr_id >> 13 & 7;
}

static inline uint64_t request_number(uint64_t wr_id)
{
	return wr_id >> 16;
}

#endif
