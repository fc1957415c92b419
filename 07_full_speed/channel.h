/*
 * channel.h - a stream of messages with a full queue, and credits
 *
 * Both sides post depth receives, and post each again as soon as its message is
 * dealt with. The contents of files go one of three ways, from one region of
 * depth parts into another:
 *
 *   send   SEND: behind the header, into the data of the next receive
 *   write  WRITE with immediate data, into the part of the ring that is next; the
 *          immediate value is the length
 *   read   the header says where it is; the receiver reads it into its own
 */
#ifndef CHANNEL_H
#define CHANNEL_H

#include "data.h"
#include "flow.h"
#include "head.h"
#include "request.h"

/* What the last completion brought, and what is due when it is dealt with. */
struct held {
	bool receive; /* slot is to be posted again */
	bool credit; /* and the peer gets it back */
	bool part; /* and the place of a part */
	unsigned int slot;
};

struct channel {
	struct data *data; /* borrowed */
	enum mode mode;
	bool receives; /* files; otherwise it sends them */
	unsigned int depth; /* parts, and receives */
	size_t bytes; /* of a part */
	struct region parts; /* depth of them */
	struct region heads; /* headers and texts, to be received and sent */
	struct remote ring; /* write: the receiver's parts */
	struct flow flow;
	struct requests requests;
	/* Parts since the beginning, in 64 bits: places follow from them. */
	uint64_t posted; /* that we have sent, written, announced or read */
	uint64_t complete; /* of these, those whose requests are complete */
	uint64_t taken; /* receiver: dealt with; sender: what that says */
	uint64_t arrived; /* receiver: that have come, or were announced */
	struct held held;
};

/* What a completion means. */
struct news {
	enum {
		NEWS_NONE, /* one of our requests is complete, or credits came */
		NEWS_MESSAGE, /* head and text */
		NEWS_PART /* receiver: the next part, part and length */
	} what;
	struct head head;
	const char *text; /* head.length bytes; until the next channel_next() */
	const char *part;
	uint32_t length;
};

/* The most parts. */
#define CHANNEL_DEPTH_MAX 1024

/* How many requests depth parts and all that belongs to them may need. */
unsigned int channel_sends(unsigned int depth);

/*
 * Registers the memory of a channel on data's connection and posts its receives:
 * depth parts of bytes each. Set data, mode, receives, depth and bytes; zero the
 * rest. Returns 0, or -1 after reporting why. Either way, end with
 * channel_close(), after data_close().
 */
int channel_open(struct channel *channel);
void channel_close(struct channel *channel);

/* The part that is to be filled next, if it is free and may be sent; or NULL. */
char *channel_part(const struct channel *channel);

/* Sends length bytes of it. Returns 0, or -1 after reporting why. */
int channel_send_part(struct channel *channel, uint32_t length);

/* Whether channel_send() would not have to wait. */
bool channel_may_send(const struct channel *channel);

/*
 * Waits until channel_send() would not, or until the peer says something or a part
 * comes, which is then in *news. Returns 0, or -1 after reporting why.
 */
int channel_wait(struct channel *channel, struct news *news);

/*
 * Sends a header, with length bytes of text behind it, once there is a credit.
 * Only credits may be due from the peer. Returns 0, or -1.
 */
int channel_send(struct channel *channel, struct head *head, const void *text,
		 size_t length);

/* Waits until all that we have posted has been sent. Returns 0, or -1. */
int channel_flush(struct channel *channel);

/*
 * Waits for the next completion, and returns what it means in *news. What the
 * last one has brought is dealt with now: its receive is posted again, and its
 * credit goes back. Returns 0, or -1 after reporting why.
 */
int channel_next(struct channel *channel, struct news *news);

/*
 * The same without waiting, while the last one is still in use: it stays as it is.
 * Only credits may be due. Returns 1, 0 if nothing has come, or -1.
 */
int channel_try(struct channel *channel, struct news *news);

#endif
